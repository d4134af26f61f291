"""Ground truth over Spark is the reference engine's, however the stream is stored and cut, and
whatever is killed on the way.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from cluster import (
    bound,
    classic,
    lines,
    run,
    shell,
    spark,
    until,
)
from hypothesis import example, given
from hypothesis import strategies as st

from conformance.__main__ import main
from conformance.spark import comparison, output, session
from conformance.spark import part_jobs as truth
from conformance.spark.comparison import TruthComparison
from conformance.spark.streams import in_memory, survey, table
from conformance.spark.streams import lines as lines_of
from conformance.spark.streams import rows as rows_of
from conformance.spark.streams import stream as streams
from conformance.spark.truth_query import TruthQuery
from conformance.verdict.outcomes import Outcome
from refengine import from_table, profile, stream
from refengine.core import engine
from refengine.model.elements import Relation, Stream
from refengine.model.errors import InvalidStream, RefengineError
from refengine.rdf.lines import parse_line_with_time
from refengine.rdf.queries import read_query
from refengine.rdf.recordings import Recording, relation_from_json
from tools import sg1, sg1_spark

TEMPERATURES = """
PREFIX : <http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#>
SELECT ?sensor ?value { ?obs :procedure ?sensor ; :result [ :floatValue ?value ] }"""


def asked(
    body: str = "SELECT ?x { ?x <urn:p> ?y }", kind: str = "time", **fields: object
) -> TruthQuery:
    window = {"stream": "s", "kind": kind, "size": 10} | ({"slide": 10} if kind == "time" else {})
    return TruthQuery(
        from_table({"body": body, "windows": [window]}),
        profile("csparql").but(**{"t0": 0, "horizon": "none", **fields}).semantics(),
    )


def line(name: str, at: int) -> str:
    return f'<urn:{name}> <urn:p> <urn:o> "{at}" .\n'


def rows(table: pyarrow.Table | pyarrow.RecordBatch) -> list[tuple]:
    return [tuple(row.values())[:7] for row in table.to_pylist()]


# Parts, in a worker


def batch(*given: tuple) -> pyarrow.RecordBatch:
    return rows_of.batch(table.SCHEMA, given)


def test_rows_of_one_time_and_place_are_an_element():
    """However they come: a part sorts what it reads."""
    given = [
        batch((2, 1, "<urn:a>", "<urn:p>", "<urn:b>"), (1, 2, "<urn:a>", "<urn:p>", "<urn:c>")),
        batch((1, 1, "<urn:d>", "<urn:p>", "<urn:c>"), (1, 2, "<urn:a>", "<urn:p>", "<urn:b>")),
    ]
    found = list(truth.elements(table.ordered(pyarrow.Table.from_batches(given))))
    assert [(sorted((s, o) for s, _, o in e.graph), e.app, e.sys) for e in found] == [
        ([("<urn:d>", "<urn:c>")], 1, 1),
        ([("<urn:a>", "<urn:b>"), ("<urn:a>", "<urn:c>")], 1, 2),
        ([("<urn:a>", "<urn:b>")], 2, 3),
    ]
    assert (
        list(
            truth.elements(table.ordered(pyarrow.Table.from_batches(map(table._canonical, given))))
        )
        == found
    )


def test_what_a_part_ends_with():
    """By hand: 11 closes [0,10) with a, 21 closes [10,20) with b and c; the part of 11 gives the
    former, that of 21 the latter.
    """
    given = [
        (at, n, f"<urn:{name}>", "<urn:p>", "<urn:o>")
        for n, (name, at) in enumerate((("a", 1), ("b", 11), ("c", 12), ("d", 21)))
    ]
    first = [
        found
        for one in truth._reports(
            asked(), 1, truth.Part(None, 20), in_memory._rows, [batch(*given[:3])]
        )
        for found in one.to_pylist()
    ]
    assert [(one["opens"], one["closes"], one["elements"], one["rows"]) for one in first[:-1]] == [
        (0, 10, 1, '[{"x":{"type":"uri","value":"urn:a"}}]')
    ]
    assert (first[-1]["end"], first[-1]["detail"]) == ("done", "incremental")
    (*second, end) = [
        found
        for one in truth._reports(
            asked(), 1, truth.Part(20, None, 10), in_memory._rows, [batch(*given[1:])]
        )
        for found in one.to_pylist()
    ]
    assert [(one["opens"], one["trigger"], one["elements"]) for one in second] == [
        (10, 21, 2)
    ] and end["end"] == "done"
    (end,) = [
        found
        for one in truth._reports(
            asked(), 1, truth.Part(20, None, 20), in_memory._rows, [batch(*given[3:])]
        )
        for found in one.to_pylist()
    ]
    assert end["end"] == "short"
    (end,) = [
        found
        for one in truth._reports(
            asked(horizon=5), 1, truth.Part(), in_memory._rows, [batch(*given)]
        )
        for found in one.to_pylist()
    ]
    assert (
        end["end"] == "error"
        and type(truth.unpickle_error(end["detail"])).__name__ == "InvalidSemantics"
    )


@pytest.mark.parametrize(
    ("query", "first", "count"),
    [(asked(), 20, 1), (asked(r2s="Istream", base="previous-new"), None, 2)],
)
def test_a_part_that_is_asked_for_the_definition(query, first, count):
    """The same rows, in a part and where the stream is not cut; the last row says who."""
    given = [(at, n, f"<urn:{at}>", "<urn:p>", "<urn:o>") for n, at in enumerate((1, 11, 12, 21))]
    quick, plain = (
        [
            found
            for one in truth._reports(
                replace(query, is_definition_asked=is_definition_asked),
                1,
                truth.Part(first, None, None),
                in_memory._rows,
                [batch(*given)],
            )
            for found in one.to_pylist()
        ]
        for is_definition_asked in (False, True)
    )
    assert plain[:-1] == quick[:-1] and len(plain) == count + 1
    said = [(some[-1]["end"], some[-1]["detail"]) for some in (quick, plain)]
    assert said == [("done", "incremental"), ("done", "the definition: it was asked for")]


def test_a_run_by_the_definition_is_another_run():
    """Its manifest says so, and a run that is resumed must have the same; a worker gets it, too."""
    quick = asked()
    plain = replace(quick, is_definition_asked=True)
    assert pickle.loads(pickle.dumps(plain)) == plain
    manifests = [output.TruthPlan(one, "s.n3t").manifest()["asked"] for one in (quick, plain)]
    assert [manifest["definition"] for manifest in manifests] == [False, True]


def test_the_option_asks_for_the_definition(monkeypatch, tmp_path):
    (tmp_path / "q.toml").write_text(QUERY)
    plans = []
    monkeypatch.setattr(output.TruthPlan, "check", lambda plan: plans.append(plan))
    monkeypatch.setattr(session, "check_master", lambda master: 1 / 0)
    words = ["truth", f"{tmp_path}/q.toml", "--stream", "s.n3t", "--semantics", "csparql", "t0=0"]
    for more in ([], ["--definition"]):
        with pytest.raises(ZeroDivisionError):
            main([*words, "-o", str(tmp_path / "out"), *more])
    assert [plan.truth_query.is_definition_asked for plan in plans] == [False, True]


def test_a_report_beyond_64_bits_is_unsupported():
    given = [(2**63 - 2, 1, "<urn:a>", "<urn:p>", "<urn:o>")]
    *_, end = [
        found
        for one in truth._reports(
            asked(horizon="flush"), 2**63 - 2, truth.Part(), in_memory._rows, [batch(*given)]
        )
        for found in one.to_pylist()
    ]
    assert (
        end["end"] == "error"
        and str(truth.unpickle_error(end["detail"]))
        == "MOD-1: a report whose times need more than 64 bits"
    )


# Rows


def test_a_line_that_is_no_triple_has_its_place():
    content = (
        (line("a", 5) + "<urn:a> <urn:p> .\n# comment\n\n" + line("b", 4) + line("c", 5)).encode()
        + b"\xff\n"
        + line("d", 2**63).encode()
    )
    found = list(lines_of._lines(pyarrow.py_buffer(content), 1, -(2**63)))
    assert [(time, number, triple[0]) for number, time, triple, _ in found if triple] == [
        (5, 1, "<urn:a>"),
        (5, 6, "<urn:c>"),
    ]
    assert [(number, why) for number, _, triple, why in found if triple is None] == [
        (2, 'IO-1: a line must be s p o "ms"; got 2 terms'),
        (5, "MOD-2: t_app decreases from 5 to 4"),
        (7, "IO-1: not UTF-8: invalid start byte"),
        (8, "MOD-1: t_app must be within 64 bits"),
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_segments_of_a_file_are_its_lines(monkeypatch, end):
    """Read by segments, what is wanted of a file is what is found in it as a whole; a byte order
    mark, faults, no end of the last line.
    """
    monkeypatch.setattr(lines_of, "LINES", 3)
    text = (
        "\ufeff"
        + "".join(line(f"n{at}", at)[:-1] + end for at in (1, 2, 2, 5))
        + f"?{end}{end}# c{end}"
        + line("late", 4)[:-1]
        + end
        + line("z", 9)[:-1]
    )
    content = text.encode()
    (surveyed,) = lines_of._surveys(100, [files(("f", content))])
    [file] = survey.files(pyarrow.Table.from_batches([surveyed]))
    assert (file.triples, file.faults, list(file.instants)) == (
        5,
        2,
        [(1, 1), (2, 2), (5, 1), (9, 1)],
    )
    assert [(one[2], one[3], one[4], one[5]) for one in file.index] == [
        (1, -(2**63), 1, 2),
        (4, 2, 5, 5),
        (7, 5, 9, 9),
    ]
    whole = [
        (time, (0, number), triple)
        for number, time, triple, _ in lines_of._lines(pyarrow.py_buffer(content), 1, -(2**63))
        if triple
    ]
    for since in range(11):
        for stop in range(since + 1, 11):
            segments = [
                lines_of.Segment(*one) for one in file.index if one[4] < stop and one[5] >= since
            ]
            assert lines_of._rows({"f": (0, segments)}, since, stop, [files(("f", content))]) == [
                row for row in whole if since <= row[0] < stop
            ]


def files(*given: tuple[str, bytes]) -> pyarrow.RecordBatch:
    """As Spark's binaryFile gives them."""
    return pyarrow.RecordBatch.from_pydict(
        {"file_path": [name for name, _ in given], "content": [content for _, content in given]}
    )


def test_lines_that_have_been_changed_are_not_read():
    content = (line("a", 1) + line("b", 5)).encode()
    [file] = survey.files(
        pyarrow.Table.from_batches(lines_of._surveys(100, [files(("file:///a%20b.n3t", content))]))
    )
    wanted = {file.name: (0, [lines_of.Segment(*one) for one in file.index])}
    assert (
        len(lines_of._rows(wanted, 0, 9, [files((file.name, content + line("c", 7).encode()))]))
        == 2
    ), "a file that grows has what it had"
    for other in (content.replace(b"urn:b", b"urn:c"), content[: len(content) // 2], b""):
        with pytest.raises(
            InvalidStream, match=r"^/a b\.n3t: IO-1: has been changed since it was surveyed"
        ):
            lines_of._rows(wanted, 0, 9, [files((file.name, other))])


def test_files_come_in_the_order_of_their_names():
    """And not of what they are in a URL, where a blank is %20 and comes
    after an exclamation mark.
    """
    names = ["file:///s/a%20b.n3t", "file:///s/a!b.n3t", "file:///s/a%25.n3t"]
    pieces = [
        one
        for name in names
        for one in lines_of._surveys(100, [files((name, line("a", 5).encode()))])
    ]
    assert [
        survey.path_of(file.name) for file in survey.files(pyarrow.Table.from_batches(pieces))
    ] == ["/s/a b.n3t", "/s/a!b.n3t", "/s/a%.n3t"]


def test_stretches_of_time():
    """At most so many, and of each the first instant: by hand, in units of 4 ms."""
    instants = survey.TimeHistogram(4)
    instants.add([(-9, 1), (-8, 1), (0, 2), (3, 1), (5, 1), (4, 5)])
    assert list(instants) == [(-9, 1), (-8, 1), (0, 3), (4, 6)] and (
        instants.shift,
        instants.first,
        instants.last,
    ) == (2, -9, 5)


@pytest.mark.parametrize(
    "given",
    [
        (None, 1, "<urn:a>", "<urn:p>", "<urn:o>"),
        (1, None, "<urn:a>", "<urn:p>", "<urn:o>"),
        (1, 1, "<urn:a>", None, "<urn:o>"),
        (1, 1, "<urn:a> <urn:p>", "<urn:p>", "<urn:o>"),
        (1, 1, '<urn:a> <urn:p> <urn:o> "1" . #', "<urn:p>", "<urn:o>"),
        (1, 1, "#", "<urn:p>", "<urn:o>"),
        (1, 1, "<urn:a>", "<urn:p>", '<urn:o> "7" . #'),
        (1, 1, "<urn:a>", "<urn:p>", '<urn:o> "1" . #'),
        (1, 1, "<urn:a>", "<urn:p> <urn:q>", ""),
        (1, 1, "<urn:a>", "_:p", "<urn:o>"),
        (1, 1, "<urn:a>", "<urn:p>", '<urn:o> "1" .\n<urn:a>'),
    ],
)
def test_a_row_that_is_no_triple(given):
    with pytest.raises(RefengineError, match=r"^IO-1: "):
        table.triple(*given)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_in_text_files(end):
    content = f"{line('a', 5)[:-1]} # c{end}{end}{line('b', 6)[:-1]}{end}".encode()
    assert [
        (time, number, why)
        for number, time, _, why in lines_of._lines(pyarrow.py_buffer(content), 1, 0)
    ] == [(5, 1, None), (6, 3, None)]


def test_terms_of_rows_are_canonical():
    assert table.triple(3, 1, "<urn:a>", "<urn:p>", '"\\u0041"') == ("<urn:a>", "<urn:p>", '"A"')
    assert table.triple(3, 1, "_:b", "<urn:p>", '"A"@EN') == (
        "_:b",
        "<urn:p>",
        parse_line_with_time('_:b <urn:p> "A"@EN "3" .', "")[0][2],
    )


IRI, LITERAL = "<http://x.org/a>", '"a b"'
PIECES = [
    "",
    IRI,
    LITERAL,
    "_:b",
    "\t",
    "\n",
    " ",
    '"',
    f"{IRI}\t{IRI}",
    f"{IRI}\t{IRI}\t{IRI}\n{IRI}",
    '"a',
    'b"',
    "<http://x.org/a",
    ">",
    '"\\u0041"',
    "<urn:x>",
    "#",
]


@given(
    st.lists(
        st.tuples(*[st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map("".join)] * 3)
        | st.just((IRI, IRI, LITERAL)),
        min_size=1,
        max_size=3,
    )
)
@example([(f"{IRI}\t{IRI}\t{IRI}\n{IRI}", IRI, IRI)])
@example([(IRI, f'{IRI}\t"a', 'b"'), (IRI, IRI, IRI)])
@example([(IRI, IRI, LITERAL), (IRI, IRI, IRI)])
def test_rows_that_are_looked_at_together_are_triples_as_they_stand(triples):
    """The quick look finds nothing right that the slow one does not."""
    rows_ = batch(*((1, n, *one) for n, one in enumerate(triples)))
    if table._plain(rows_):
        assert [table.triple(1, 1, *one) for one in triples] == triples
    else:
        assert not {*triples} <= {(IRI, IRI, LITERAL), (IRI, IRI, IRI)}, (
            "what is plain is seen to be"
        )


def stored(some: pyarrow.Table, **options: object) -> bytes:
    into = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(some, into, **options)
    return into.getvalue().to_pybytes()


ROWS = [
    (5, 1, "<urn:a>", "<urn:p>", "<urn:o>"),
    (-3, 7, "<urn:b>", "<urn:p>", '"\\u0041"'),
    (5, 0, "<urn:c>", "<urn:p>", "<urn:o>"),
    (9, 2, "x", "<urn:p>", "<urn:o>"),
    (8, 2, "<urn:d>", "<urn:p>", "<urn:o>"),
]


@pytest.mark.parametrize(
    "text",
    [
        pyarrow.string(),
        pyarrow.large_string(),
        pyarrow.dictionary(pyarrow.int32(), pyarrow.string()),
    ],
)
def test_groups_of_rows_that_a_part_needs(text):
    """In groups of two, and any order; what is no triple has the number of its row; a part has what
    is of its time, sorted.
    """
    some = pyarrow.Table.from_batches([batch(*ROWS)])
    kinds = [pyarrow.int16(), pyarrow.int32(), text, text, text]
    content = stored(
        some.cast(pyarrow.schema(zip(some.schema.names, kinds, strict=True))).append_column(
            "more", [[None] * 5]
        ),
        row_group_size=2,
    )
    [file] = survey.files(
        pyarrow.Table.from_batches(table._surveys(100, [files(("file:///f", content))]))
    )
    assert (file.triples, file.canonical, file.faults, [one[:3] for one in file.index]) == (
        4,
        3,
        1,
        [[0, -3, 5], [1, 5, 5], [2, 8, 8]],
    )
    assert list(file.instants) == [(-3, 1), (5, 2), (8, 1)]
    [fault] = [
        one for some in table._faults([files(("file:///f", content))]) for one in some.to_pylist()
    ]
    assert (fault["file"], fault["line"]) == ("file:///f", 4) and fault["error"].startswith(
        "IO-1: no RDF term at column 1"
    )
    groups = {number: digest for number, _, _, digest in file.index}
    found = list(
        table._rows(
            {"file:///f": ({0: groups[0], 1: groups[1]}, False)},
            -3,
            6,
            [files(("file:///f", content))],
        )
    )
    assert [(time, element, one[0], one[2]) for time, element, one in found] == [
        (-3, 7, "<urn:b>", '"A"'),
        (5, 0, "<urn:c>", "<urn:o>"),
        (5, 1, "<urn:a>", "<urn:o>"),
    ]
    assert (
        list(
            table._rows(
                {"file:///f": ({2: groups[2]}, False)}, 10, 11, [files(("file:///f", content))]
            )
        )
        == []
    )
    fewer = stored(
        some.slice(0, 4)
        .cast(pyarrow.schema(zip(some.schema.names, kinds, strict=True)))
        .append_column("more", [[None] * 4]),
        row_group_size=2,
    )
    for other in (fewer, content[:-1], content.replace(b"urn:d", b"urn:e"), b""):
        with pytest.raises(
            InvalidStream, match=r"^/f: IO-1: has been changed since it was surveyed"
        ):
            list(table._rows({"file:///f": (groups, False)}, -3, 9, [files(("file:///f", other))]))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "cannot be read as Parquet: "),
        (b"PAR1 no more of it PAR1", "cannot be read as Parquet: "),
        (
            stored(pyarrow.Table.from_batches([batch(*ROWS)]).append_column("time", [[1] * 5])),
            "needs the columns time int64, "
            "each once; has 'time int64, "
            "element int64, subject "
            "string, ",
        ),
        (
            stored(
                pyarrow.Table.from_batches([batch((1, 1, "<urn:abcdef>", "<urn:p>", "<urn:o>"))]),
                use_dictionary=False,
                compression="none",
                write_statistics=False,
            ).replace(b"abcdef", b"ab\xff\xfeef"),
            "cannot be read as Parquet: ",
        ),
        (
            stored(pyarrow.table({"time": ["1"], "subject": ["<urn:a>"]})),
            "needs the columns time int64, "
            "element int64, predicate "
            "string, object string, each "
            "once; has 'time string, "
            "subject string'",
        ),
    ],
)
def test_a_file_that_is_no_table(content, reason):
    with pytest.raises(InvalidStream) as error:
        survey.files(
            pyarrow.Table.from_batches(
                table._surveys(100, [files(("file:///x/y%20z.parquet", content))])
            )
        )
    assert str(error.value).startswith(f"/x/y z.parquet: IO-1: {reason}")


# Comparisons


def reported(*bags: str) -> pyarrow.Table:
    """Reports of windows [0,10), [10,20), …, each with a row a letter."""
    told = [
        (
            10 * n + 9,
            10 * n + 10,
            10 * n + 10,
            10 * n,
            10 * n + 10,
            3,
            json.dumps([{"x": {"type": "uri", "value": f"urn:{x}"}} for x in bag]),
        )
        for n, bag in enumerate(bags)
    ]
    return rows_of.batch(truth.SCHEMA, [(*one, None, None) for one in told] or [(None,) * 9]).slice(
        0, len(told)
    )


def recorded(*bags: str, timestamps: tuple[int, ...] = ()) -> Recording:
    relations = [
        Relation(
            ("x",),
            relation_from_json(
                [{"x": {"type": "uri", "value": f"urn:{x}"}} for x in bag], ("x",), "", {}
            ).rows,
        )
        for bag in bags
    ]
    return Recording(tuple(relations), timestamps or (None,) * len(relations))


def judged(expected: list[str], recording: Recording, cut: int = 1) -> TruthComparison:
    """What Spark would be given, here; the reports in two parts."""
    whole = pyarrow.Table.from_batches([reported(*expected)]).select(truth.REPORT)
    parts = [whole.slice(0, cut), whole.slice(cut)]
    found = []
    for start, part in ((0, parts[0]), (min(cut, whole.num_rows), parts[1])):
        if part.num_rows:
            found += comparison._places(
                asked(),
                len(recording),
                comparison.rows_to_compare(part, start, recording).to_batches(),
            )
    return comparison.fold(asked(), parts, recording, found)


@pytest.mark.parametrize(
    ("expected", "answers", "first"),
    [
        (
            ["a", "b", "c"],
            ["a", "b", "c"],
            "pass: 3 relations; not recorded: 0 before the first, 0 after the last",
        ),
        (
            ["a", "b", "c"],
            ["b", "c"],
            "pass: 2 relations; not recorded: 1 before the first, 0 after the last",
        ),
        (
            ["a", "b", "c"],
            ["a", "b"],
            "pass: 2 relations; not recorded: 0 before the first, 1 after the last",
        ),
        (
            ["a", "b", "c"],
            ["b"],
            "pass: 1 relation; not recorded: 1 before the first, 1 after the last",
        ),
        (["", ""], [""], "pass: 1 relation; not recorded: 0 before the first, 1 after the last"),
        ([], [], "pass: 0 relations; not recorded: 0 before the first, 0 after the last"),
        (
            ["a"],
            [],
            "fail: first divergence, after the last of 0 relations: window [0, 10) at "
            "t=9, 3 elements",
        ),
        (
            ["a", "b", "c"],
            [],
            "fail: first divergence, after the last of 0 relations: window [0, 10) at "
            "t=9, 3 elements",
        ),
        (
            ["a", "b", "c"],
            ["a"],
            "fail: first divergence, after the last of 1 relation: window "
            "[10, 20) at t=19, 3 elements",
        ),
        (
            ["a", "b", "c"],
            ["a", "c", "c"],
            "fail: first divergence, relation 2 of 3: window [10, 20) at t=19, 3 elements",
        ),
        (
            ["a", "b"],
            ["x", "b"],
            "fail: first divergence, relation 1 of 2: window [0, 10) at t=9, 3 elements",
        ),
        (["a", "b"], ["a", "b", "c"], "fail: relation 3 of 3: the semantics reports nothing more"),
        ([], ["a"], "fail: relation 1 of 1: the semantics reports nothing more"),
        (["aab"], ["aba"], "pass: 1 relation; not recorded: 0 before the first, 0 after the last"),
        (
            ["aab"],
            ["abb"],
            "fail: first divergence, relation 1 of 1: window [0, 10) at t=9, 3 elements",
        ),
    ],
)
def test_verdicts(expected, answers, first):
    """ORA-3: consecutive, and at most one missing at each end; as bags."""
    for cut in range(len(expected) + 1):
        found = judged(expected, recorded(*answers), cut)
        assert found.argument.splitlines()[0] == first and found.outcome == first.partition(":")[0]


def test_measures_of_windows():
    """By hand. YABench: a; of b, c one came, c, and d beside it: 1/2 and 1/2; nothing: both empty,
    1 and 1. Delays 5 and 1. LSBench: of a, b, c one, b, is not recorded; of a, c, d one, d, was not
    expected.
    """
    found = judged(["a", "bc", ""], recorded("a", "cd", "", timestamps=(15, 21, 30)))
    assert [(one["precision"], one["recall"], one["delay"]) for one in found.measures] == [
        (1, 1, 5),
        (0.5, 0.5, 1),
        (1, 1, 0),
    ]
    assert [
        (one["window"], one["expected"], one["actual"], one["elements"]) for one in found.measures
    ][1] == ([10, 20], 2, 2, 3)
    assert found.mismatch == pytest.approx((100 / 3, 100 / 3))
    assert found.argument.splitlines()[1:5] == [
        "    expected 2 rows",
        "    recorded 2 rows",
        "    lacking: {x: <urn:b>}",
        "    too many: {x: <urn:d>}",
    ]
    assert found.argument.splitlines()[-2:] == [
        "  YABench: precision 0.8333, recall 0.8333, median delay 1 ms, mean of 3",
        "  LSBench: 33.33 % of what is expected is not recorded, 33.33 % of what is recorded "
        "is not expected",
    ]


def test_measures_leave_out_what_was_not_recorded_and_keep_what_was_not_expected():
    """As metrics.run has them: of a pass the ends, and of a fail answers beyond the last report."""
    found = judged(["a", "b", "c"], recorded("b"))
    assert found.outcome is Outcome.PASS and [
        (one["window"], one["precision"], one["recall"]) for one in found.measures
    ] == [([10, 20], 1, 1)]
    found = judged(["a"], recorded("a", "b", ""))
    assert [
        (one["window"], one["precision"], one["recall"], one["actual"]) for one in found.measures
    ] == [([0, 10], 1, 1, 1), (None, 0, 0, 1), (None, 1, 1, 0)]


def test_what_the_driver_cannot_hold_is_said_not_to_be_measured(monkeypatch):
    """Three rows are expected and three recorded: of LSBench's measure five are too few to hold
    them, and six enough.
    """
    for most, mismatch, last in (
        (5, (None, None), "undefined or not measured of what is expected"),
        (6, (100 / 3, 100 / 3), "33.33 % of what is expected"),
    ):
        monkeypatch.setattr(comparison, "FOLDED", most)
        found = judged(["a", "bc", ""], recorded("a", "cd", ""))
        assert found.mismatch == pytest.approx(mismatch) and found.argument.splitlines()[
            -1
        ].startswith(f"  LSBench: {last}")
    assert judged([], recorded()).argument.splitlines()[-2] == "  YABench: not measured"


def test_what_cannot_be_compared_is_its_error():
    whole = pyarrow.Table.from_batches([reported("a")]).select(truth.REPORT)
    other = Recording(
        (
            Relation(
                ("z",),
                relation_from_json([{"z": {"type": "uri", "value": "urn:a"}}], ("z",), "", {}).rows,
            ),
        ),
        (None,),
    )
    with pytest.raises(InvalidStream, match="unknown key 'z'"):
        comparison.fold(
            asked(),
            [whole],
            other,
            comparison._places(
                asked(), 1, comparison.rows_to_compare(whole, 0, other).to_batches()
            ),
        )


# What needs Spark


@pytest.fixture(scope="module")
def connected(master) -> Iterator:
    """A session in this process."""
    with session.open_session(master, light=True) as found:
        yield found


def written(folder: Path, *files: str) -> str:
    folder.mkdir()
    for number, text in enumerate(files):
        (folder / f"part-{number}.n3t").write_text(text)
    return str(folder)


def found_by(
    spark_session, wanted: output.TruthPlan, out: Path, resume: bool = False
) -> output.Truth:
    with output.open_folder(out, wanted, resume) as done:
        return output.compute_truth(spark_session, wanted, out, done, 2, lambda some, of: None)


def definition(wanted: output.TruthPlan, stream: Stream) -> list[tuple]:
    return [
        truth._row(report)[:7]
        for report in engine.evaluate(
            wanted.truth_query.query, {"s": stream}, wanted.truth_query.semantics
        )
    ]


@spark
def test_the_truth_by_hand_and_a_recording_beside_it(connected, tmp_path):
    """Two files, cut in two: 11 closes [0,10) with a; 35 closes [10,20) with b, and [20,30), in the
    gap, with nothing.
    """
    path = written(tmp_path / "stream", line("a", 1) + line("b", 11), line("c", 35))
    answers = recorded("a", "bc", "")
    for kind, fields in (
        ("close", {"report": "window-close"}),
        (
            "change",
            {"report": "content-change", "r2s": "Istream", "base": "previous", "empty": "suppress"},
        ),
    ):
        wanted = output.TruthPlan(
            asked(**fields, tick="tuple"), path, parts=2, recording=answers, engine="mine", case="q"
        )
        found = found_by(connected, wanted, tmp_path / kind)
        assert (
            found.triples == 3
            and len(found.parts) == 2
            and found.uncut is None
            and found.provenance == ["incremental"]
        )
        told = [
            (row[0], row[3], row[4], json.loads(row[6]))
            for part in found.parts
            for row in rows(part)
        ]
        uri = lambda name: [{"x": {"type": "uri", "value": f"urn:{name}"}}]  # noqa: E731
        if kind == "close":
            assert told == [(9, 0, 10, uri("a")), (19, 10, 20, uri("b")), (29, 20, 30, [])]
            assert (
                found.comparison.outcome is Outcome.FAIL
                and "relation 2 of 3: window [10, 20) at t=19, 1 element"
                in found.comparison.argument
            )
            assert [(one["precision"], one["recall"]) for one in found.comparison.measures] == [
                (1, 1),
                (0.5, 1),
                (1, 1),
            ]
            [result] = lines(tmp_path / kind / "results.ndjson")
            assert (
                json.loads(result)["engine"],
                json.loads(result)["suite"],
                json.loads(result)["outcome"],
            ) == ("mine", "truth", "fail")
            measured = pyarrow.parquet.read_table(tmp_path / kind / "measures.parquet").to_pylist()
            assert [(one["opens"], one["closes"], one["precision"]) for one in measured] == [
                (0, 10, 1),
                (10, 20, 0.5),
                (20, 30, 1),
            ]
        else:
            assert [bag for *_, bag in told] == [uri("a"), uri("b")]
            assert [one["window"] for one in found.comparison.measures] == [[0, 10], [10, 20]]


@spark
def test_however_it_is_stored_and_cut_it_is_the_definition(connected, tmp_path):
    """SG1 in lines and in rows; window close and content change; one part, and some."""
    parameters = sg1.Parameters(stations=4, interval=1000, duration=8000)
    text = b"".join(sg1.chunks(parameters)).decode().splitlines(keepends=True)
    written(tmp_path / "lines", "".join(text[:100]), "".join(text[100:101]), "".join(text[101:]))
    triples = [parse_line_with_time(one, "") for one in text]
    columns = {
        "time": [t for _, t in triples],
        "element": [2**40 * (n - 100) for n in range(len(triples))],
        **{
            n: [triple[i] for triple, _ in triples]
            for i, n in enumerate(("subject", "predicate", "object"))
        },
    }
    (tmp_path / "rows").mkdir()
    pyarrow.parquet.write_table(
        pyarrow.table(columns).take(list(reversed(range(len(triples))))),
        tmp_path / "rows" / "x.parquet",
    )
    whole = stream(triples)
    query = from_table(
        {
            "body": TEMPERATURES,
            "windows": [{"stream": "s", "kind": "time", "size": 2000, "slide": 1500}],
        }
    )
    for number, (name, parts, fields) in enumerate(
        (
            ("lines", 3, {"report": "window-close", "horizon": "flush"}),
            (
                "rows",
                6,
                {
                    "report": "content-change",
                    "r2s": "Istream",
                    "base": "previous",
                    "empty": "suppress",
                    "t0": "first-element",
                },
            ),
            ("lines", 1, {"report": "window-close"}),
        )
    ):
        chosen = profile("csparql").but(**{"t0": -700, "tick": "tuple", **fields}).semantics()
        wanted = output.TruthPlan(TruthQuery(query, chosen), str(tmp_path / name), parts=parts)
        found = found_by(connected, wanted, tmp_path / f"out{number}")
        assert len(found.parts) == 1 if parts == 1 else 2 < len(found.parts) <= parts
        assert [row for part in found.parts for row in rows(part)] == definition(wanted, whole)


@spark
def test_what_is_not_bounded_in_time_is_not_cut_and_says_so(connected, tmp_path):
    path = written(tmp_path / "stream", line("a", 1) + line("b", 11), line("c", 35))
    wanted = output.TruthPlan(
        asked(kind="rows", report="content-change", closure=None, r2s="Istream", base="previous"),
        path,
        parts=3,
    )
    found = found_by(connected, wanted, tmp_path / "out")
    assert len(
        found.parts
    ) == 1 and "windows of kind rows, which have no bounds in time" in "\n".join(
        output.describe_truth(found)
    )
    # what comes at 35 is seen by the next arrival (TICK-4)
    assert [row[0] for row in rows(found.parts[0])] == [1, 11]


@spark
def test_a_line_that_is_no_triple_stops_the_run_or_is_set_aside(connected, tmp_path):
    broken = line("a", 1) + "<urn:x> nonsense\n" + line("b", 11) + "?\n"
    path = written(tmp_path / "stream", broken, line("c", 35))
    wanted = output.TruthPlan(asked(report="window-close", tick="tuple"), path, parts=2)
    with pytest.raises(InvalidStream) as error:
        found_by(connected, wanted, tmp_path / "stopped")
    assert (
        str(error.value).startswith(f"{path}/part-0.n3t:2: IO-1: ")
        and len(error.value.__notes__) == 2
    )
    assert (
        error.value.__notes__[-1] == "2 lines are no triples; --on-error=quarantine sets them aside"
    )
    aside = output.TruthPlan(wanted.truth_query, path, parts=2, quarantine=True)
    found = found_by(connected, aside, tmp_path / "aside")
    assert (
        found.quarantined == 2
        and "2 lines are no triples and were set aside: quarantine.ndjson"
        in list(output.describe_truth(found))
    )
    assert [
        (one["line"], Path(one["file"]).name)
        for one in map(json.loads, lines(tmp_path / "aside" / "quarantine.ndjson"))
    ] == [(2, "part-0.n3t"), (4, "part-0.n3t")]
    assert [row[3] for part in found.parts for row in rows(part)] == [0, 10, 20]


@spark
def test_a_stream_that_is_another_one_is_not_gone_on_with(connected, tmp_path):
    path = written(tmp_path / "stream", line("a", 1), line("c", 35))
    wanted = output.TruthPlan(asked(report="window-close", tick="tuple"), path, parts=2)
    found = found_by(connected, wanted, tmp_path / "out")
    assert [
        row
        for part in found_by(connected, wanted, tmp_path / "out", resume=True).parts
        for row in rows(part)
    ] == [row for part in found.parts for row in rows(part)]
    before = (tmp_path / "stream" / "part-0.n3t").stat()
    # as long, at the same instant, and as old
    (tmp_path / "stream" / "part-0.n3t").write_text(line("b", 1))
    os.utime(tmp_path / "stream" / "part-0.n3t", ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(
        RefengineError,
        match="out: usage: the stream is not what it was when the run began; name another folder",
    ):
        found_by(connected, wanted, tmp_path / "out", resume=True)


@spark
def test_streams_that_are_none(connected, tmp_path):
    for name, files, reason in (
        ("none", (), "a file of a stream cannot end in|no data_NN.ttl"),
        ("empty", ("# nothing\n",), "IO-1: no triple"),
        (
            "back",
            (line("a", 9), line("b", 3)),
            "back/part-1.n3t: MOD-2: t_app decreases from 9, of .*/back/part-0.n3t, to 3",
        ),
    ):
        with pytest.raises(InvalidStream, match=reason):
            _ = streams.open_stream(connected, written(tmp_path / name, *files)).extent
    with pytest.raises(InvalidStream, match=r"no such file or folder$"):
        streams.open_stream(connected, str(tmp_path / "nowhere"))
    for number, (name, content) in enumerate(
        (
            ("_b.n3t", line("b", 3)),
            ("b.parquet", ""),
            ("sub/.b.n3t", line("b", 3)),
            ("_sub/b.n3t", line("b", 3)),
        )
    ):
        folder = Path(written(tmp_path / f"hidden{number}", line("a", 1)))
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
        with pytest.raises(
            InvalidStream,
            match=f"hidden{number}/{name}: IO-1: is not read by "
            "Spark: it is empty, or leads nowhere, or a "
            "name of its path begins with _",
        ):
            streams.open_stream(connected, str(folder))
    (tmp_path / "path=1").mkdir()
    for number, name in enumerate(("a b.n3t", "a!b.n3t", "c/d.n3t", "c/length=0.n3t")):
        (tmp_path / "path=1" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "path=1" / name).write_text(line("a", number))
    assert [
        file.triples for file in streams.open_stream(connected, str(tmp_path / "path=1")).files
    ] == [
        1,
        1,
        1,
        1,
    ]
    (tmp_path / "rows [of] it").mkdir()
    columns = {
        "time": [1, 2, 3],
        "element": [1, 1, 1],
        "subject": ["<urn:a>", "a", "<urn:c>"],
        "predicate": ["<urn:p>"] * 3,
        "object": ["<urn:o>"] * 3,
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "rows [of] it" / "x.parquet")
    with pytest.raises(
        InvalidStream, match=r"rows \[of\] it/x.parquet:2: IO-1: no RDF term at " r"column 1"
    ):
        found_by(
            connected, output.TruthPlan(asked(), str(tmp_path / "rows [of] it")), tmp_path / "out"
        )
    (tmp_path / "rows").mkdir()
    pyarrow.parquet.write_table(
        pyarrow.table({"time": ["1"], "subject": ["<urn:a>"]}), tmp_path / "rows" / "x.parquet"
    )
    with pytest.raises(
        InvalidStream,
        match="needs the columns time int64, element int64, "
        "predicate string, object string, each once; has "
        "'time string, subject string'",
    ):
        _ = streams.open_stream(connected, str(tmp_path / "rows")).files


@spark
def test_a_part_that_ends_with_an_error_is_that_error(connected, tmp_path):
    path = written(tmp_path / "stream", line("a", 1) + line("b", 11))
    with pytest.raises(
        RefengineError, match="horizon 5 is not after the last element, at 11"
    ) as error:
        found_by(connected, output.TruthPlan(asked(horizon=5), path), tmp_path / "out")
    assert type(error.value).__name__ == "InvalidSemantics"


@spark
@pytest.mark.parametrize(("count", "parts"), [(3, 3), (5, 8), (200, 36)])
def test_sg1_is_the_same_as_a_job(connected, tmp_path, count, parts):
    """Rounds are parts, and, where there are too few, stations of a round."""
    parameters, out = (
        sg1.Parameters(stations=9, interval=1000, duration=4000, seed=7, lowest=-3, highest=90),
        tmp_path / "sg1",
    )
    assert sg1_spark.write_parquet(connected, parameters, str(out), count) == parts
    found = (
        pyarrow.parquet.read_table(out)
        .sort_by([("time", "ascending"), ("element", "ascending")])
        .to_pylist()
    )
    text = "".join(
        f'{row["subject"]} {row["predicate"]} {row["object"]} "{row["time"]}" .\n' for row in found
    )
    assert text.encode() == b"".join(sg1.chunks(parameters))
    if count == 3:
        with pytest.raises(
            RefengineError, match="sg1: usage: is there already; name another folder"
        ):
            sg1_spark.write_parquet(connected, parameters, str(out), count)
        wanted = output.TruthPlan(
            TruthQuery(
                from_table(
                    {
                        "body": TEMPERATURES,
                        "windows": [{"stream": "s", "kind": "time", "size": 2000, "slide": 1500}],
                    }
                ),
                asked().semantics,
            ),
            str(out),
        )
        found = found_by(connected, wanted, tmp_path / "out")
        assert [row for part in found.parts for row in rows(part)] == definition(
            wanted, stream([parse_line_with_time(one, "") for one in text.splitlines()])
        )


QUERY = (
    f"body = '''{TEMPERATURES}'''\nwindows = [{{ stream = 's', kind = 'time', size = "
    f"2000, slide = 1500 }}]\n"
)


@spark
def test_a_driver_that_is_killed_goes_on(master, tmp_path):
    """By force, once a part is written; what is done is not done again, and what comes of it is the
    definition.
    """
    parameters = sg1.Parameters(stations=4, interval=1000, duration=8000)
    text = b"".join(sg1.chunks(parameters)).decode()
    path, out = written(tmp_path / "stream", text), tmp_path / "out"
    (tmp_path / "query.toml").write_text(QUERY)
    words = shell(
        "truth",
        tmp_path / "query.toml",
        "--stream",
        path,
        "--parts",
        5,
        "--parallel",
        1,
        "--spark",
        master,
        "-o",
        out,
    )
    words += ["--semantics", "csparql", "t0=0", "report=window-close", "tick=tuple"]
    running = bound(
        words,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=classic(),
    )
    until(
        lambda: (
            ((out / "parts").is_dir() and len(list((out / "parts").glob("*.parquet"))) >= 2)
            or running.poll() is not None
        ),
        120,
    )
    assert running.poll() is None, running.communicate()
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    done = {file: file.stat().st_ino for file in (out / "parts").glob("*.parquet")}
    assert 2 <= len(done) < 5
    told = run(words, 2, env=classic()).stderr
    assert told == (
        f"conformance: {out}: usage: not empty: go on with the run there with --resume, or "
        "name another folder\n"
    )
    said = run([*words, "--resume"], 0, env=classic()).stdout
    assert all(file.stat().st_ino == inode for file, inode in done.items())
    query, chosen = (
        read_query(tmp_path / "query.toml"),
        profile("csparql").but(t0=0, report="window-close", tick="tuple").semantics(),
    )
    wanted = definition(
        output.TruthPlan(TruthQuery(query, chosen), path),
        stream([parse_line_with_time(one, "") for one in text.splitlines()]),
    )
    parts = [pyarrow.parquet.read_table(out / "parts" / f"{n:05d}.parquet") for n in range(5)]
    assert [row for part in parts for row in rows(part)] == wanted
    assert said == f"224 triples, 5 parts, {len(wanted)} reports; by incremental\n"
