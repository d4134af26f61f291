"""A run over elements without a report says why: each reason, with the value that shows something,
which is then tried.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from refengine.__main__ import main
from refengine.core import engine, silence
from refengine.core.profiles import profile
from refengine.core.query import Query, from_table
from refengine.model.elements import Stream, stream

TUMBLING = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
BODY = "SELECT ?x WHERE { ?x <urn:p> ?y }"
ELEMENTS = [(("<urn:a>", "<urn:p>", "<urn:b>"), app) for app in (1, 2, 9)]


def query(*windows: dict[str, Any], body: str = BODY) -> Query:
    return from_table({"windows": list(windows) or [TUMBLING], "body": body})


def run(
    asked: Query, streams: dict[str, Stream], name: str = "csparql", **fields: Any
) -> tuple[int, str | None]:
    """Return the number of reports, and why there is none."""
    semantics = profile(name).but(**fields).semantics()
    planned = engine.plan(asked, streams, semantics)
    counts = silence.EvaluationCounts()
    for step in engine.steps(asked, planned):
        counts.add(step)
    return counts.emitted, silence.why_silent(asked, streams, planned, counts)


OF_TWO = ({**TUMBLING, "triggers": True}, {**TUMBLING, "stream": "t"})
PERIODIC = {"period": 10, "anchor": 5}
# the fields of a silent run, its reason, and the fields that are to be written in their place
SILENT: list[tuple[Query, dict[str, Any], str, dict[str, Any]]] = [
    # the last window is closed by nothing
    (
        query(),
        {"t0": 0, "horizon": "none"},
        "nothing comes after 9 to close a window, by horizon=none (ENG-1)",
        {"horizon": "flush"},
    ),
    # all elements are before the first window
    # the latest t0 that is whole slides before 55 and not after 1: 55 - 6 * 10
    (
        query(),
        {"t0": 55},
        "the first window is [55, 65) by t0=55, and the elements come from 1 to 9 (WIN-3)",
        {"t0": -5},
    ),
    # both
    (
        query(),
        {"t0": 50, "horizon": "none"},
        "horizon=none (ENG-1), and the first window is [50, 60) by t0=50, and",
        {"horizon": "flush", "t0": 0},
    ),
    # a tuple-based window begins after the last element
    (
        query({"stream": "s", "kind": "tuple", "size": 2, "slide": 2}),
        {"t0": 8, "closure": "(]"},
        "the first window is (8, 10] by t0=8, and the elements come from 1 to 3 (WIN-3)",
        {"t0": 0},
    ),
    # a landmark window begins after the last element
    (
        query({"stream": "s", "kind": "landmark"}),
        {"t0": 20, "report": "content-change"},
        "the first window begins at 20 by t0=20, and the elements come from 1 to 9 (WIN-3)",
        {"t0": 1},
    ),
    # a window of the two is never ready
    (
        query(*OF_TWO),
        {"t0": 0, "trigger": "all"},
        "not every window that trigger=all asks for is ready at once (REP-12)",
        {"trigger": "any"},
    ),
    # the leading window is never ready
    (
        query(*reversed(OF_TWO)),
        {"t0": 0, "trigger": "leading"},
        "not every window that trigger=leading asks for is ready at once (REP-12)",
        {"trigger": "any"},
    ),
    # the marked window is never ready
    (
        query(TUMBLING, {**TUMBLING, "stream": "t", "triggers": True}),
        {"t0": 0, "trigger": "explicit"},
        "not every window that trigger=explicit asks for is ready at once (REP-12)",
        {"trigger": "any"},
    ),
    # the horizon does not pass the end of the window
    # [0, 10) closes when time passes 10, and it ends there
    (
        query(),
        {"t0": 0, "horizon": 10, "close_rule": "passed"},
        "no element comes after the end of a window, as close_rule=passed asks (TICK-6)",
        {"close_rule": "reached"},
    ),
    # the period misses the closing
    # windows close at 10 and 20; the periods are 5, 15, 25
    (
        query(),
        {"t0": 0, "report": "non-empty,periodic,window-close", **PERIODIC},
        "the period meets no instant at which a window closes (REP-5)",
        {"report": "non-empty,window-close", "period": "none", "anchor": "none"},
    ),
    # the period is longer than the stream
    # time ends at 9 + 10 + 2, and the periods are 0 and 1000
    (
        query(),
        {"t0": 0, "report": "non-empty,periodic", "period": 1000, "anchor": 0},
        "report=non-empty,periodic holds at no instant while a window has elements (REP-6)",
        {"report": "content-change", "period": "none", "anchor": "none"},
    ),
    # the body matches nothing
    (
        query(body="SELECT ?x WHERE { ?x <urn:q> ?y }"),
        {"t0": 0, "empty": "suppress"},
        "the body matches nothing at any of the 1 evaluations over elements (R2R-1), and empty "
        "outputs are not sent by empty=suppress (R2S-5)",
        {"empty": "emit"},
    ),
    # no empty output follows one that is not
    (
        query(body="SELECT ?x WHERE { ?x <urn:q> ?y }"),
        {"t0": 0, "empty": "once"},
        "empty outputs are not sent by empty=once (R2S-9)",
        {"empty": "emit"},
    ),
    # no row is ever gone
    (
        query(),
        {"t0": 0, "r2s": "Dstream", "base": "previous", "empty": "suppress"},
        "Dstream gives no row for any of the 1 answers (R2S-3)",
        {"r2s": "Rstream", "base": "none"},
    ),
]


@pytest.mark.parametrize(("asked", "fields", "reason", "instead"), SILENT, ids=lambda _: "")
def test_a_silent_run_says_why_and_what_would_show_something(asked, fields, reason, instead):
    streams = {"s": stream(ELEMENTS), "t": Stream(())}
    count, note = run(asked, streams, **fields)
    assert count == 0 and note is not None
    assert note.startswith("no report: ") and reason in note
    words = " ".join(f"{name}={value}" for name, value in instead.items())
    assert f"; write {words} to see " in note
    count, note = run(asked, streams, **{**fields, **instead})
    assert count > 0 and note is None


def test_where_no_other_value_shows_anything_the_conditions_are_named():
    """The elements are at 1, 2 and 9, in the gaps between [0, 1) and [100, 101)."""
    asked = query({**TUMBLING, "size": 1, "slide": 100})
    count, note = run(asked, {"s": stream(ELEMENTS)}, t0=0)
    assert (count, note) == (
        0,
        "no report: the conditions non-empty,window-close hold at no instant at which a window has "
        "an element (REP-6)",
    )


def test_a_run_with_reports_and_one_without_elements_are_not_explained():
    assert run(query(), {"s": stream(ELEMENTS)}, t0=0) == (1, None)
    assert run(query(), {"s": Stream(())}, t0=0) == (0, None)
    # an empty report is a report
    nothing = query(body="SELECT ?x WHERE { ?x <urn:q> ?y }")
    assert run(nothing, {"s": stream(ELEMENTS)}, t0=0, empty="emit") == (1, None)


# The command line

SILENT_RUNS = {
    "rsp-js": "nothing comes after 9000 to close a window, by horizon=none (ENG-1); write "
    "horizon=flush to see some",
    "csparql t0=50000": "the first window is [50000, 60000) by t0=50000, and the elements come "
    "from 1000 to 9000 (WIN-3); write t0=0 to see some",
}


@pytest.mark.parametrize("semantics", SILENT_RUNS)
@pytest.mark.parametrize("definition", [[], ["--definition"]])
def test_the_command_line_notes_it(tmp_path, capsys, semantics, definition):
    (tmp_path / "q.toml").write_text(
        'windows = [{ stream = "s", kind = "time", size = 10000, slide = 10000 }]\n'
        f'body = "{BODY}"\n'
    )
    lines = (f'<urn:a> <urn:p> "{second}" "{second}000" .\n' for second in (1, 2, 9))
    (tmp_path / "s.n3t").write_text("".join(lines))
    words = ["run", str(tmp_path / "q.toml"), "--stream", str(tmp_path / "s.n3t"), *definition]
    assert main([*words, "--semantics", *semantics.split()]) == 0
    out, err = capsys.readouterr()
    note, provenance = err.splitlines()
    assert not out and note == f"refengine: note: no report: {SILENT_RUNS[semantics]}"
    assert provenance.startswith("refengine: provenance: ")

    instead = note.rpartition("; write ")[2].removesuffix(" to see some")
    assert main([*words, "--semantics", *semantics.split()[:1], instead]) == 0
    out, err = capsys.readouterr()
    assert len(json.loads(out)["results"]["bindings"]) == 3 and "no report" not in err


def test_late_elements_are_noted_beside_it(tmp_path, capsys):
    (tmp_path / "q.toml").write_text(
        f'windows = [{{ stream = "s", kind = "time", size = 10, slide = 10 }}]\nbody = "{BODY}"\n'
    )
    (tmp_path / "s.n3t").write_text(
        '<urn:a> <urn:p> 1 "9" .\n<urn:a> <urn:p> 1 "2" .\n'.replace(" 1 ", ' "1" ')
    )
    words = ["run", str(tmp_path / "q.toml"), "--stream", str(tmp_path / "s.n3t")]
    fields = ["csparql", "t0=0", "horizon=none", "allowed_lateness=0"]
    assert main([*words, "--semantics", *fields]) == 0
    err = capsys.readouterr().err
    assert "1 late elements dropped, the first at 2" in err and "no report: nothing comes" in err
