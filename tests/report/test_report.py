"""Reports are made of results alone: pages, EARL, Markdown, badges; what is wrong with results is
said with its line.
"""

from __future__ import annotations

import copy
import json
import os
import re
import signal
import tomllib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl
from xml.etree import ElementTree

import pytest
import reports
from reports import BAD, DUE, MIXED, RIGHT, WRONG, evidence, report, result, write
from suite_run import run_suite

import conformance
from conformance import corpus, schemas
from conformance.__main__ import main
from conformance.harness import engine_file
from conformance.report import (
    badge,
    earl,
    markdown,
    page,
    pairs,
    result_list,
    source,
    texts,
)
from conformance.report.drawings import charts
from conformance.report.source import InvalidResults
from conformance.verdict import evidence as evidence_of
from conformance.verdict import outcomes
from conformance.verdict.engine_report import EngineReport
from conformance.verdict.results import DiagnosedCause
from refengine import Relation, from_table, profile, row, stream
from refengine.core.question import Question
from refengine.core.values import Closure
from refengine.drawings import drawing, timeline

ROOT = Path(__file__).parents[2]


def told(html: str) -> dict:
    """The data of a page."""
    return reports.page_data(html)


def shown(*found, **options) -> str:
    """The page of results."""
    return page.page(source.of(found), **options)


def detail_of(told: dict) -> str:
    """The details of a fail with some evidence."""
    (entry,) = source.of([result(outcome="fail", evidence=told)]).entries
    return result_list.detail(entry)


# Results as they are read


def test_the_results_of_the_suite_are_what_the_schema_says():
    found = conformance.check_engine("reference", smoke=True)
    for one in [*found, *MIXED, reports.hostile()]:
        line = json.loads(json.dumps(one.as_json()))
        schemas.validator("result").validate(line)
        assert schemas.accepts("result")(line)


def metric(window, scores, gracious=None, delay=3, sizes=(1, 1, 1)) -> dict:
    """The measures of a window: precision and recall, and the sizes of what it has."""
    precision, recall = scores
    elements, expected, actual = sizes
    return {
        **{"window": window, "precision": precision, "recall": recall, "gracious": gracious},
        **{"delay": delay, "elements": elements, "expected": expected, "actual": actual},
    }


MEASURED = {
    "metrics": [metric([0, 10], (1, 0.5))],
    "samples": [{"at": 0, "rss": 1, "cpu": 0.5, "threads": 2}],
    "semantics": {"t0": 0},
    "before": 1,
    "diverges": 0,
}


def whole_result() -> dict:
    """A result in which all is."""
    more = {
        **MEASURED,
        "rests_on": {"row": {"x": reports.integer("1")}, "is_lacking": True, "elements": [0]},
    }
    whole = json.loads(
        json.dumps(result(known=reports.KNOWN, evidence={**WRONG, **more}).as_json())
    )
    schemas.validator("result").validate(whole)
    return whole


def keys_of(value, most: int | None = 1):
    """The keys of a table, the first places of a list, and nothing of all else."""
    match value:
        case dict():
            return value
        case list():
            return range(len(value[:most]))
        case _:
            return ()


def broken(whole: dict) -> list[dict]:
    """The same with one thing wrong, wherever something can be."""
    found = []

    def visit(path: tuple) -> None:
        here = whole
        for step in path:
            here = here[step]
        if path:
            for wrong in (None, True, 7, -1, 1.5, "", "x", [], {}, [1], {"x": 1}):
                changed = copy.deepcopy(whole)
                _at(changed, path[:-1])[path[-1]] = wrong
                found.append(changed)
        if isinstance(here, dict):
            changed = copy.deepcopy(whole)
            _at(changed, path)["unknown"] = 1
            found.append(changed)
            for key in here:
                changed = copy.deepcopy(whole)
                del _at(changed, path)[key]
                found.append(changed)
        for key in keys_of(here):
            visit((*path, key))

    visit(())
    return found


def with_first_items(value: object) -> object:
    """The same with the first item alone of each list, which is the one that is broken."""
    match value:
        case dict():
            return {key: with_first_items(item) for key, item in value.items()}
        case list():
            return [with_first_items(item) for item in value[:1]]
        case _:
            return value


def _at(value, path: tuple):
    for step in path:
        value = value[step]
    return value


def test_the_quick_check_of_a_result_is_that_of_the_schema():
    validator, accepts = schemas.validator("result"), schemas.accepts("result")
    found = [(validator.is_valid(line), accepts(line)) for line in broken(whole_result())]
    assert all(slow == quick for slow, quick in found)
    assert sum(slow for slow, _ in found) > 50 and sum(not slow for slow, _ in found) > 500


STREAM = {"elements": [{"at": 1, "graph": ":a :p :b", "batch": 1, "end": 2}]}
RECORDED = {
    "profile": {"profile": "csparql"},
    "answers": [[{"x": ":a"}]],
    "outcome": "pass",
    "missing": 1,
    "timestamps": [1],
    "windows": [[0, 10], []],
}
TABLES = {  # of each schema, in which much is
    "case": [
        {
            **next(case.table for case in corpus.cases() if "expect" in case.table),
            "streams": {"s": STREAM},
            "judge": [RECORDED],
        },
        *(
            next(case.table for case in corpus.cases() if kind in case.table)
            for kind in ("judge", "refuse", "read", "render")
        ),
    ],
    "engine": [
        tomllib.loads(path.read_text(encoding="utf-8"))
        for path in sorted(engine_file.FILES.glob("*.toml"))
    ],
    "command": [
        {"seq": 1, "command": "start", "protocol": 1},
        {"seq": 2, "command": "end"},
        {"seq": 3, "command": "advance", "at": 1},
        {
            "seq": 2,
            "command": "register",
            "query": "{}",
            "dialect": "table",
            "streams": ["s", "r"],
            "static": "",
            "semantics": {"t0": 0},
        },
        {"seq": 3, "command": "push", "stream": "s", "at": 1, "graph": "", "batch": 1, "end": 2},
    ],
    "reply": [
        {
            "seq": 1,
            "reply": "result",
            "protocol": 1,
            "engine": "mine",
            "version": "1",
            "configurable": True,
        },
        {
            "seq": 2,
            "reply": "result",
            "relations": [
                {
                    "rows": [{"x": {"type": "uri", "value": "urn:a"}}],
                    "window": [0, 10],
                    "instant": 1,
                }
            ],
        },
        {"seq": 3, "reply": "unsupported", "reason": "no", "link": "https://example.org"},
        {"seq": 4, "reply": "error", "context": "no"},
    ],
}


@pytest.mark.parametrize("name", TABLES)
def test_the_quick_check_of_what_is_read_is_that_of_its_schema(name: str):
    """Which is asked, for its words, where the quick check says no."""
    validator, accepts = schemas.validator(name), schemas.accepts(name)
    found = [
        (validator.is_valid(line), accepts(line))
        for whole in TABLES[name]
        for line in (whole, *broken(with_first_items(whole)))
    ]
    assert all(slow == quick for slow, quick in found)
    assert sum(slow for slow, _ in found) >= len(TABLES[name])
    assert sum(not slow for slow, _ in found) > 50
    assert all(accepts(whole) for whole in TABLES[name][1:])


def test_no_number_of_a_result_is_without_bounds():
    """Each is tried with one that no page could draw, as an integer and as a float."""
    gracious = {"precision": 1, "recall": 1, "window": [1, 2]}
    more = {
        **MEASURED,
        "elements": [{"stream": "s", "at": 1, "end": 2, "graph": ""}],
        "metrics": [metric([0, 10], (1, 0.5), gracious)],
    }
    whole = json.loads(json.dumps(result(evidence={**WRONG, **more}).as_json()))

    def numbers(value, path=()):
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield path
        for key in keys_of(value, most=None):
            yield from numbers(value[key], (*path, key))

    places = list(numbers(whole))
    assert len(places) > 30 and schemas.accepts("result")(whole)
    for path in places:
        for wrong in (10**400, -(10**400), 1e300):
            changed = copy.deepcopy(whole)
            _at(changed, path[:-1])[path[-1]] = wrong
            assert not schemas.accepts("result")(changed), path


def test_what_is_at_a_bound_is_drawn(tmp_path):
    far = [report("1", window=[-(2**64), 2**64], instant=2**64)]
    metrics = [{**METRICS[1], "window": [-(2**64), 2**64], "delay": 2**65, "elements": 2**63 - 1}]
    samples = [
        {"at": 0, "rss": 0, "cpu": 0, "threads": 0},
        {"at": 5e-324, "rss": 2**63 - 1, "cpu": 2**63 - 1, "threads": 0},
        {**SAMPLES[3], "at": 0.001},
    ]
    told = {
        **evidence(far, far),
        "metrics": metrics,
        "samples": samples,
        "before": 1.0,
        "diverges": 2**63 - 1,
        "elements_total": 0,
    }
    path, out = tmp_path / "r.ndjson", tmp_path / "out.html"
    path.write_text(json.dumps(result(outcome="fail", evidence=told).as_json()))
    assert main(["report", str(path), "-o", str(out)]) == 0
    detail = reports.page_data(out.read_text())["details"][0]
    assert not re.search(r'"-?(nan|inf)|[ ,](nan|inf)', detail)
    assert "Elements (3)" in detail
    assert "-2 more" not in detail
    axis = drawing.Axis([0, 10**400], 0, 100)
    assert axis(0) == 0 and axis(10**400) == axis(10**500) == 100


def test_more_are_not_those_that_came_before_than_are_due():
    found, _ = pairs.pair_reports(evidence([report("1")], DUE, before=2**62), "fail")
    assert [(pair.due is None, pair.actual is None) for pair in found] == [
        (False, True),
        (False, True),
        (True, False),
    ]


def test_a_total_is_no_less_than_its_rows():
    told = evidence([{**report("1", "2"), "total": 0}, report("4")], DUE)
    assert pairs.pair_reports(told, "fail")[1] == 1
    assert "2 rows" in result_list.detail(
        source.of([result(outcome="fail", evidence=told)]).entries[0]
    )
    assert (
        pairs.mismatch_tables(
            source.of([result(engine=name, rule="", evidence=told) for name in "ab"]).entries
        )[0].note
        == ""
    )


def test_many_rows_that_differ_are_compared_without_tolerance():
    """Pairing by tolerance would take the square of their number."""

    def rows(shift: float) -> dict:
        return report(
            *(f"{1 + n * 1e-12 + shift}" for n in range(1000)),
            "7.50" if shift else "7.5",
            kind="double",
        )

    (pair,), first = pairs.pair_reports(evidence([rows(5e-13)], [rows(0)]), "fail")
    assert first == 0
    assert "without tolerance" in pair.note
    assert len(pair.lacking) == len(pair.surplus) == pairs.ROWS
    assert not any("7.5" in term for line in (*pair.lacking, *pair.surplus) for _, term in line), (
        "7.50 is 7.5"
    )
    same = report(*map(str, range(1000))), report(*(f"{n}.0" for n in range(1000)), kind="decimal")
    assert pairs.pair_reports(evidence([same[0]], [same[1]]), "fail")[1] is None


def test_names_steer_no_terminal(tmp_path, capsys):
    name = "\x1b]0;evil\x07\u202e"
    path = write(
        tmp_path / "r.ndjson",
        result(engine="a", case=name),
        result(engine=name),
        result(engine="a", suite=name),
        result(engine=name, suite=name, case="b"),
    )
    path.write_text(path.read_text() * 2)
    assert main(["report", str(path), "--badge", str(tmp_path / "b.svg")]) == 0
    error = capsys.readouterr().err
    assert "has no result for" in error
    assert "more than once" in error
    assert all(line.isprintable() for line in error.splitlines())


def test_a_link_of_the_matrix_finds_what_it_leads_to():
    """However long the names are: the page's script compares what the list has."""
    long = "x" * 1000
    html = shown(
        result(engine=long, suite=long, rule=long, case=long),
        result(engine=long, suite=long + "2", rule="", case=long),
    )
    data = told(html)
    links = [
        dict(parse_qsl(link))
        for link in re.findall(r'class="cell [^"]*" href="#([^"]*)"', html.replace("&amp;", "&"))
    ]
    assert len(links) == 2
    for link in links:
        found = [row for row in data["rows"] if data["engines"][row[0]] == link["engine"]]
        for name, place in (("suite", 0), ("rule", 1), ("case", 2)):
            values = [data["cases"][row[1]][place] for row in found]
            values = [data["suites"][value] for value in values] if name == "suite" else values
            assert link.get(name, values[0]) in values


def test_the_columns_of_an_engine_add_up():
    html = shown(*MIXED)
    cells = re.findall(
        r"<td[^>]*>(\d+)</td>", re.search(r'engine=mine">mine</a>.*?</tr>', html, re.DOTALL)[0]
    )
    assert cells == ["1", "1", "1", "0", "1", "1", "1", "6"]


def changed(**keys) -> str:
    """A result as a line, with other values of some keys."""
    return json.dumps({**result().as_json(), **keys})


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "no JSON: Expecting property name"),
        ("[]", "no result: [] is not of type 'object'"),
        ('{"engine": NaN}', "no JSON: NaN is no number of JSON"),
        ('{"engine": ' + "9" * 5000 + "}", "no JSON: an integer of thousands of digits"),
        ("[" * 100_000, "no JSON: nested too deeply"),
        (changed(colour=1), "no result: Additional properties are not allowed ('colour' was "),
        (changed(outcome="passed"), "no result: outcome: 'passed' is not one of"),
        (changed(evidence={**RIGHT, "cut": 1}), "no result: evidence.cut: 1 is not of type 'bool"),
        ('{"engine": 1e400}', "no JSON: '1e400' is beyond every number here"),
        (changed(evidence={**RIGHT, "before": 10**400}), "no result: evidence.before: 1000"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_written(tmp_path, capsys, line, reason):
    path, out = write(tmp_path / "results.ndjson", result()), tmp_path / "out.html"
    path.write_text(path.read_text() + "\n" + line + "\n")
    out.write_text("as it was")
    assert main(["report", str(path), "-o", str(out)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and f"{path}:3: results: {reason}" in error
    assert out.read_text() == "as it was"
    assert sorted(os.listdir(tmp_path)) == [
        "out.html",
        "results.ndjson",
    ]


def test_files_without_a_result_are_refused(tmp_path, capsys):
    """By what reads some result of them, too."""
    empty, out = tmp_path / "empty.ndjson", tmp_path / "x.html"
    empty.write_text("\n")
    for words in (["report", str(empty), "-o", str(out)], ["replay", str(empty), "X"]):
        assert main(words) == 2
        assert capsys.readouterr().err == (
            f"conformance: {empty}: results: no result is there; --results of a run writes a line "
            "for each\n"
        )
    assert not out.exists()


def test_a_run_that_has_not_ended_is_named(tmp_path, capsys):
    """Its file looks complete: what is left to do is in the file beside it."""
    path = write(tmp_path / "r.ndjson", result())
    so_far = tmp_path / "r.ndjson.partial"
    so_far.write_text("{}\n")
    words = ["report", str(path), "--badge", str(tmp_path / "x.svg")]
    assert main(words) == 0
    error = capsys.readouterr().err
    assert error.startswith(f"conformance: {path} is of a run that has not ended: {so_far} is ")
    so_far.unlink()
    assert main(words) == 0 and capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            ["nowhere", "-o", "x.html"],
            "nowhere: results: cannot be read: No such file or directory",
        ),
        ([".", "-o", "x.html"], ".: results: cannot be read: not a regular file"),
        (["r.ndjson"], "usage: nothing to write: give -o, --earl, --markdown or --badge"),
        (["r.ndjson", "-o", "x", "--badge", "./x"], "usage: two outputs would go to one file"),
        (
            ["r.ndjson", "-o", "./r.ndjson"],
            "r.ndjson: usage: this output would replace the input r.ndjson",
        ),
        (
            ["r.ndjson", "--date", "2026-02-28", "-o", "x.html"],
            "--date: usage: is for --earl, which is not given",
        ),
        (
            ["r.ndjson", "-o", "no/where.html"],
            "no/where.html: usage: cannot write: No such file or directory",
        ),
        (
            ["r.ndjson", "--earl", "x.ttl", "--date", "2026-02-30"],
            "--date: usage: a date is YYYY-MM-DD, got '2026-02-30'",
        ),
        (
            ["r.ndjson", "--earl", "x.ttl", "--spec-iri", "SPEC.md"],
            "--spec-iri: usage: an address is https://HOST/PATH, without #, got 'SPEC.md'",
        ),
    ],
)
def test_what_is_named_wrongly_is_one_line(tmp_path, monkeypatch, capsys, words, reason):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "r.ndjson", result())
    assert main(["report", *words]) == 2
    assert capsys.readouterr().err == f"conformance: {reason}\n"
    assert os.listdir(tmp_path) == ["r.ndjson"]


def test_results_are_not_overwritten_by_their_page(tmp_path, capsys):
    path = write(tmp_path / "r.ndjson", result())
    before = path.read_bytes()
    (tmp_path / "link.html").symlink_to(path)
    for out in (path, tmp_path / "link.html"):
        assert main(["report", str(path), "-o", str(out)]) == 2
        assert "this output would replace the input" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_an_interrupt_comes_before_every_output_or_after_all(tmp_path, monkeypatch, capsys):
    path, outs = write(tmp_path / "r.ndjson", result()), [tmp_path / "a.html", tmp_path / "b.ttl"]
    words = ["report", str(path), "-o", str(outs[0]), "--earl", str(outs[1])]
    chmod, replace = os.chmod, os.replace

    def interrupted(function):
        def wrapped(*words):
            function(*words)
            os.kill(os.getpid(), signal.SIGINT)

        return wrapped

    for out in outs:
        out.write_text("old")
    monkeypatch.setattr(os, "chmod", interrupted(chmod))
    assert main(words) == 130
    assert capsys.readouterr().err == "conformance: interrupted; nothing was written\n"
    assert [out.read_text() for out in outs] == ["old", "old"] and len(os.listdir(tmp_path)) == 3
    monkeypatch.setattr(os, "chmod", chmod)
    monkeypatch.setattr(os, "replace", interrupted(replace))
    assert main(words) == 0
    assert "old" not in [out.read_text() for out in outs]
    assert len(os.listdir(tmp_path)) == 3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_files_are_merged_and_duplicates_and_gaps_named(tmp_path, capsys):
    first = write(tmp_path / "1.ndjson", *MIXED)
    second = write(
        tmp_path / "2.ndjson",
        result(outcome="fail", evidence=WRONG),
        result(engine="third", suite="yabench", case="small", rule=""),
    )
    out = tmp_path / "out.html"
    assert main(["report", str(first), str(second), "-o", str(out)]) == 0
    error = capsys.readouterr().err
    assert (
        "conformance: given more than once, the last counts: mine corpus WIN-2-a-border\n" in error
    )
    assert (
        "conformance: other has no result for 4 cases of corpus: R2R-5-witnesses, REP-1-a-close, "
        "WIN-12-now, … 1 more\n"
    ) in error
    assert error.count("\n") == 2, "no engine lacks what its suite has not"
    html = out.read_text(encoding="utf-8")
    assert "1 result given more than once" in html and "mine · corpus · WIN-2-a-border" in html
    assert "other has no result for 4 cases of corpus" in html and "<li>WIN-3-a-window</li>" in html
    for files, outcome in (([first, second], "fail"), ([second, first], "pass")):
        found = {one.result.key: one.result for one in source.read_results(files).entries}
        assert found["mine", "corpus", "WIN-2-a-border"].outcome == outcome


def test_the_same_results_give_the_same_bytes(tmp_path):
    """In whatever order and files they come."""
    one = write(tmp_path / "1.ndjson", *MIXED)
    two, three = write(tmp_path / "2.ndjson", *MIXED[4:]), write(tmp_path / "3.ndjson", *MIXED[:4])
    for number, files in enumerate(([one], [two, three], [three, two])):
        outs = [
            word
            for name in ("html", "earl", "markdown", "badge")
            for word in (f"--{name}", str(tmp_path / f"{name}{number}"))
        ]
        assert main(["report", *map(str, files), *outs]) == 0
    for name in ("html", "earl", "markdown", "badge"):
        assert len({(tmp_path / f"{name}{number}").read_bytes() for number in range(3)}) == 1


# The page


def test_a_page_has_the_engines_the_matrix_and_every_result():
    html = shown(*MIXED)
    assert "8 results of 2 engines." in html
    assert "<strong>2</strong> of them are fails or errors" in html
    assert (
        '<a aria-label="WIN-3, mine: fail 1" class="cell fail" '
        'href="#rule=WIN-3&amp;engine=mine" title="1 fail">fail <small>1</small></a>'
    ) in html
    assert 'class="cell known" href="#rule=REP-1&amp;engine=mine" title="1 known to fail">' in html
    assert 'class="cell error" href="#suite=csrbench&amp;case=Q1&amp;engine=mine"' in html
    rules = ("WIN-2", "WIN-3", "WIN-12", "REP-1", "R2R-5", "Q1")
    places = [html.index(f'<th scope="row">{rule}</th>') for rule in rules]
    assert places == sorted(places), "the order of SPEC.md, and of numbers"
    data = told(html)
    assert len(data["rows"]) == 8
    assert [data["cases"][row[1]][2] for row in data["rows"][:3]] == [
        "WIN-3-a-window",
        "Q1",
        "REP-1-a-close",
    ]
    assert data["texts"][data["rows"][0][4]] == "first divergence, relation 2 of 2: window [10, 20)"


def test_a_cell_has_the_worst_of_its_results():
    found = [
        result(case=f"WIN-2-{n}", outcome=outcome)
        for n, outcome in enumerate(("pass", "fail", "error", "disputed", "fail"))
    ]
    assert 'title="2 fail, 1 error, 1 disputed, 1 pass">fail <small>2/5</small>' in shown(*found)


def test_a_page_is_one_file_that_asks_for_nothing():
    html = shown(*MIXED, reports.hostile())
    assert not re.search(r"<(link|img|iframe|object|embed|base)\b(?![^>]*href=\"data:,\")", html)
    assert not re.search(
        r"\ssrc=|url\(|@import|\bfetch\(|XMLHttpRequest|import\(",
        html.split('id="data">')[0] + html.rpartition("</script>\n<script>")[2],
    )
    assert "default-src 'none'" in html and html.count("<script") == 3


def test_what_a_reader_opens_stands_packed_behind_what_he_sees_first():
    """600 fails with long explanations: the headline, the causes, the rules and the list come
    first, and the whole page is a fraction of its details.
    """
    found = [
        result(
            case=f"WIN-2-{number}",
            outcome="fail",
            evidence=WRONG,
            explanation="\n".join(f"line {number * line} of an explanation" for line in range(200)),
            causes=(reports.CLOSURE,),
        )
        for number in range(600)
    ]
    html = shown(*found)
    first, _, packed = html.partition('id="packed">')
    for text in ("600 of 600 fails explained", 'id="diagnosis-title"', 'id="matrix-title"'):
        assert text in first
    assert '"WIN-2-599"' in first, "the list"
    assert len(first) < 250_000, "of which a quarter are style, script and the list"
    details = told(html)["details"]
    assert len(details) == 600 and sum(map(len, details)) > 5_000_000
    assert len(html) < 1_000_000
    assert "<" not in packed.partition("</script>")[0], "nothing in it ends the element"


def test_no_text_of_a_result_is_markup():
    """Neither in the page's own, nor in what its script puts into it."""
    html = shown(
        reports.hostile(),
        reports.hostile("</script><img src=x onerror=alert(1)>"),
        reports.hostile("'\"><svg onload=alert(1)>&\u202e"),
    )
    data = told(html)
    page_itself = html.split('<script type="application/json"')[0]
    for part in (page_itself, *data["details"]):
        assert not re.search(r"<script>alert|<img|<svg onload|\u202e", part)
        assert not re.search(r'href="(?!https?://|#|data:,")', part)
    assert html.count("<script") == html.count("</script>") == 3
    assert any("&lt;script&gt;alert(1)&lt;/script&gt;" in part for part in data["details"])
    assert not [part for part in data["details"] if 'href="https://example.org/?' in part], (
        "an address of the web has no < in it"
    )


@pytest.mark.parametrize(
    ("text", "is_link"),
    [
        ("https://example.org/issues/1?a=b&c#d", True),
        ("http://localhost:8080", True),
        ("javascript:alert(1)", False),
        ("https://a b", False),
        ("https://example.org/\nx", False),
        ("https://user@evil.org", False),
        (" https://example.org", False),
        ("https://example.org/" + "x" * 2000, False),
        ("data:text/html,x", False),
        ("", False),
    ],
)
def test_links_are_those_of_the_web(text, is_link):
    assert texts.link(text) == (text if is_link else "")


def test_long_texts_are_cut():
    long = "x" * 100_000
    html = shown(*[reports.hostile(long + str(number)) for number in range(3)])
    assert len(html) < 200_000


def test_equal_results_are_drawn_once_and_what_is_left_out_is_said(monkeypatch):
    found = [result(engine=f"e{n}", case=f"WIN-2-{m}") for n in range(3) for m in range(4)]
    data = told(shown(*found))
    assert len(data["rows"]) == 12
    assert len(data["details"]) == 1
    assert {row[5] for row in data["rows"]} == {0}
    monkeypatch.setattr(result_list, "DRAWN", 2)
    monkeypatch.setattr(result_list, "LISTED", 7)
    monkeypatch.setattr(page, "ENGINES", 1)
    html = shown(*MIXED)
    data = told(html)
    assert (
        len(data["rows"]) == 7
        and [row[5] >= 0 for row in data["rows"]] == [True, True] + [False] * 5
    ), "the worst are drawn"
    assert "the list has the first 7 of 8 results, the worst first" in html
    assert "the matrix has 1 of 2 engines" in html
    assert (
        "5 results of the list have only the first line of their explanation and no drawing; "
        "2 have all details"
    ) in html


def test_results_that_share_their_details_are_all_counted(monkeypatch):
    monkeypatch.setattr(result_list, "DRAWN", 1)
    equal = [result(case=f"WIN-2-{number}") for number in range(3)]
    other = result(case="WIN-2-x", evidence=WRONG)
    assert (
        "1 results of the list have only the first line of their explanation and no drawing; "
        "3 have all details"
    ) in shown(*equal, other)


def test_no_results_are_a_page():
    """That of a run of pytest in which nothing was asked: `report` refuses files without a
    result.
    """
    nothing = source.of([])
    assert "0 results of 0 engines." in page.page(nothing)
    assert "nothing judged" in badge.badge(nothing.entries)
    assert list(earl.turtle(nothing, None, None)) and list(markdown.markdown_lines(nothing))


# What differs


def test_values_are_compared_and_the_first_difference_is_marked():
    found, first = pairs.pair_reports(
        evidence([report("2", "1"), report("3.0", kind="decimal")], DUE), "fail"
    )
    assert first is None and not any(pair.differs for pair in found), (
        "3.0 is 3, and rows have no order"
    )
    found, first = pairs.pair_reports(WRONG, "fail")
    assert first == 1 and [pair.differs for pair in found] == [False, True]
    assert [[dict(row) for row in rows] for rows in (found[1].lacking, found[1].surplus)] == [
        [{"x": f'"3"^^<{reports.XSD}integer>'}],
        [{"x": f'"4"^^<{reports.XSD}integer>'}],
    ]


def test_what_is_lacking_or_too_many_differs():
    found, first = pairs.pair_reports(evidence(DUE[:1], DUE), "fail")
    assert first == 1 and len(found[1].lacking) == 1 and found[1].actual is None
    found, first = pairs.pair_reports(evidence([*DUE, report(window=[20, 30])], DUE), "fail")
    assert first == 2 and found[2].due is None and not found[2].surplus, (
        "a report without rows is one too many all the same"
    )


def test_a_window_that_is_another_one_differs():
    _, first = pairs.pair_reports(evidence([DUE[0], report("3", window=[20, 30])], DUE), "fail")
    assert first == 1


def test_reports_that_were_not_recorded_shift_the_others():
    """`before` are due and were not seen; `diverges` is the oracle's own word."""
    found, first = pairs.pair_reports(evidence(DUE[1:], DUE, before=1), "fail")
    assert first is None
    assert found[0].actual is None
    assert not found[0].differs
    assert not found[1].differs
    assert pairs.pair_reports(evidence(DUE[1:], DUE, before=1, diverges=0), "fail")[1] == 1


def test_a_case_can_be_made_of_the_evidence():
    """It has all keys of the windows, the batch ids and the static data."""
    triple = ("<urn:a>", "<urn:p>", "<urn:b>")
    windows = [
        {"stream": "s", "kind": "partition", "size": 2, "by": ["subject"]},
        {"stream": "s", "kind": "rows", "size": 2, "unit": "triples", "name": "urn:w"},
        {"stream": "s", "kind": "time", "size": 10, "slide": 5, "triggers": True},
    ]
    body = "SELECT ?x WHERE { ?x <urn:p> ?y }"
    elements = stream([(triple, 3, 1), (triple, 5, 1), (triple, 7, 2, 9)])
    static = frozenset({triple, (*triple, "<urn:g>")})
    question = Question(from_table({"windows": windows, "body": body}), {"s": elements}, static)
    told = evidence_of.evidence(question, [], None, None)
    assert not list(schemas.problems("result", result(evidence=told).as_json()))

    stated = [{k: v for k, v in window.items() if v is not None} for window in told["windows"]]
    assert stated == windows
    assert from_table({"windows": stated, "body": told["query"]}) == question.query
    assert [(e["at"], e["batch"], e.get("end")) for e in told["elements"]] == [
        (3, 1, None),
        (5, 1, None),
        (7, 2, 9),
    ]
    assert told["static"] == ("<urn:a> <urn:p> <urn:b> .\n<urn:a> <urn:p> <urn:b> <urn:g> .\n")
    assert not told["cut"]
    [report] = evidence_of.evidence(
        question,
        [EngineReport(Relation(("x",), Counter()), window=(-1, 9))],
        None,
        profile("csparql").but(t0=0).semantics(),
        window_closure=Closure.LEFT_OPEN,
    )["actual"]
    assert report["window"] == [0, 10]
    many = frozenset((f"<urn:{n}>", "<urn:p>", "<urn:b>") for n in range(1000))
    assert evidence_of.evidence(replace(question, static=many), [], None, None)["cut"]


def test_the_evidence_of_a_verdict_says_where_it_begins_and_ends():
    """Windows of 10 that hold a, b, c; recorded are b and c, then b and d. The last answers that a
    recording lacks are no fault.
    """
    query = from_table(
        {
            "windows": [{"stream": "s", "kind": "time", "size": 10, "slide": 10}],
            "body": "SELECT ?x WHERE { ?x <urn:p> ?y }",
        }
    )
    elements = stream(
        [
            ((f"<urn:{name}>", "<urn:p>", "<urn:y>"), at)
            for name, at in (("a", 3), ("b", 13), ("c", 23), ("e", 33))
        ]
    )
    for names, wanted in (
        ("bc", {"before": 1}),
        ("bd", {"before": 1, "diverges": 1}),
        ("ab", {}),
        ("ad", {"diverges": 1}),
    ):
        answers = [
            EngineReport(Relation(("x",), Counter([row({"x": f"<urn:{name}>"})]))) for name in names
        ]
        question = Question(query, {"s": elements})
        found = outcomes.judge_relations(
            question, profile("csparql").but(t0=0), [a.relation for a in answers], missing=2
        )
        told = evidence_of.of_verdict(question, answers, found.judgement)
        assert {key: told[key] for key in ("before", "diverges") if key in told} == wanted, names
        _found, first = pairs.pair_reports(told, "fail" if "diverges" in wanted else "pass")
        assert first == (
            wanted["diverges"] + wanted.get("before", 0) if "diverges" in wanted else None
        )


def test_a_pass_has_no_difference_whatever_the_order_of_arrival():
    found, first = pairs.pair_reports(evidence(DUE[::-1], DUE), "pass")
    assert first is None and not any(pair.differs for pair in found)


def test_what_is_no_term_or_left_out_is_not_compared():
    bad = {"rows": [{"x": {"type": "uri", "value": "no iri"}}], "total": 1}
    found, first = pairs.pair_reports(evidence([bad], [bad]), "fail")
    assert first is None and "not compared: rows[0].x" in found[0].note
    cut = {**report("1"), "total": 3}
    found, first = pairs.pair_reports(evidence([cut], DUE[:1]), "fail")
    assert first == 0 and "left out" in found[0].note


# The time line


def drawn(told: dict, outcome: str = "fail") -> drawing.Drawing:
    return timeline.timeline(told, *pairs.pair_reports(told, outcome))


def of(found: drawing.Drawing, kind: str) -> list[drawing.Shape]:
    """The shapes of which all words are of their class."""
    return [
        shape
        for shape in found.shapes
        if set(kind.split()) <= set(str(shape.attributes["class"]).split())
    ]


def test_a_time_line_has_elements_windows_and_reports():
    found = drawn(WRONG)
    elements, due, given = of(found, "element"), of(found, "due"), of(found, "given")
    assert [shape.attributes["cx"] for shape in elements] == sorted(
        shape.attributes["cx"] for shape in elements
    )
    assert len(elements) == 3
    assert elements[0].title == '2: :a :p "1" .'
    assert [shape.title for shape in due] == [
        "report 1 [0, 10) at 10: 2 rows",
        "report 2 [10, 20) at 20: 1 row",
    ]
    assert (
        due[0].attributes["x"]
        < elements[0].attributes["cx"]
        < elements[1].attributes["cx"]
        < due[1].attributes["x"]
        < elements[2].attributes["cx"]
    )
    assert {shape.attributes["y"] for shape in due} == {due[0].attributes["y"]}, (
        "windows that meet share a lane"
    )
    assert all(shape.attributes["y"] > due[0].attributes["y"] for shape in given), (
        "what was given is below"
    )
    assert [shape.title for shape in of(found, "first")] == [
        "report 2 [10, 20) at 20: 1 row",
        "report 2 [10, 20): 1 row",
    ]
    assert len(of(found, "mark")) == 1


def test_a_time_line_says_in_words_what_it_shows():
    assert drawn(WRONG).label == (
        "Time line from 0 to 20: 3 elements, 2 expected reports, 2 reports of the engine. "
        "The first difference is report 2: expected [10, 20) with 1 row, "
        "reported [10, 20) with 1 row."
    )
    assert drawn(evidence([], DUE)).label.endswith(
        "expected [0, 10) with 2 rows, reported nothing."
    )
    assert drawn(RIGHT, "pass").label.endswith("2 reports of the engine.")


def test_differences_are_told_by_more_than_their_colour():
    found = drawn(WRONG)
    assert [shape.text for shape in of(found, "rows")] == ["2 rows", "≠ 1 row", "2 rows", "≠ 1 row"]
    assert [shape.text for shape in of(found, "mark-name")] == ["first difference"]
    (absent,) = of(drawn(evidence([], DUE)), "absent")
    (due,) = of(drawn(evidence([], DUE)), "due first")
    assert absent.attributes["x"] == due.attributes["x"], "where the report should be"
    assert not of(drawn(RIGHT, "pass"), "mark-name") and not of(drawn(RIGHT, "pass"), "absent")


def test_the_key_of_a_time_line_has_what_is_drawn():
    def key(told: dict) -> list[str]:
        html = detail_of(told)
        return re.findall(r'<i class="swatch[^>]*></i>([^<]*)', html)

    assert key(WRONG) == ["expected", "reported", "the first difference"]
    wrong = evidence([report("9"), report("8"), report("7")], DUE)
    assert key(wrong) == [
        "expected",
        "reported",
        "≠ reported, differs",
        "≠ reported, not expected",
        "the first difference",
        "placed by its number, since it names no window",
    ]
    lacking = evidence([report("9", window=[0, 10])], DUE)
    assert key(lacking)[1] == "≠ expected, not reported"


def test_elements_that_follow_are_counted_where_the_drawn_ones_end():
    found = drawn({**evidence([], DUE), "elements_total": 9, "elements": WRONG["elements"][:2]})
    (note,) = of(found, "none")[:1]
    assert note.text == "7 more elements follow, which are not in the results file"
    assert note.attributes["x"] == round(of(found, "element")[-1].attributes["cx"], 1)


def test_elements_have_names_where_there_is_room():
    number = f'"1"^^<{reports.XSD}integer>'
    graph = f"<http://example.org/a> <http://example.org/p> {number} .\n"
    elements = [{"stream": "s", "at": at, "graph": graph} for at in (0, 50, 52, 100)]
    found = drawn({**evidence([], None), "elements": [*elements, elements[1]]})
    names = [(shape.text, shape.attributes["x"]) for shape in of(found, "element-name")]
    places = {shape.attributes["cx"] for shape in of(found, "element")}
    assert {x for _, x in names} < places
    assert [text for text, _ in names] == [":a", ":a :p 1"]


def test_overlapping_windows_have_lanes():
    assert drawing.lanes([(0, 10), (5, 15), (10, 20), (11, 12), (15, 20)], -0.5) == [0, 1, 0, 2, 1]


def test_a_report_without_a_window_is_at_its_instant_else_at_its_number():
    found = drawn(evidence([report("1", "2", instant=10), report("3")], DUE))
    points = [shape for shape in of(found, "given") if shape.tag == "path"]
    assert len(points) == 1 and points[0].attributes["d"].startswith("M")
    assert len(of(found, "given unsure")) == 1
    assert "placed by its number" in of(found, "given unsure")[0].title
    clock = drawn(evidence([report("1", "2", instant=1_400_000_000_000), report("3")], DUE))
    assert len(of(clock, "given unsure")) == 2, "an engine's own clock is no place in the stream"


def test_an_empty_time_is_drawn_shorter():
    told = evidence([], [report("1", window=[0, 10]), report("1", window=[10**9, 10**9 + 10])])
    found = drawn(told)
    first, second = of(found, "due")
    assert first.attributes["width"] > 30
    assert second.attributes["width"] > 30
    assert len(of(found, "break")) == 1


def test_of_many_reports_those_around_the_first_difference_are_drawn():
    due = [report(str(n), window=[10 * n, 10 * n + 10]) for n in range(500)]
    given = [*due[:400], report("x", kind="string"), *due[401:]]
    found = drawn(evidence(given, due))
    assert len(of(found, "due")) == timeline.REPORTS
    assert of(found, "due first")[0].title.startswith("report 401 ")
    assert "3 more elements are not drawn" in [shape.text for shape in found.shapes]


@pytest.mark.parametrize(
    "told",
    [
        evidence([], []),
        evidence([], None),
        {
            **evidence([report("1")], [report("1")]),
            "elements": [],
            "elements_total": 0,
            "windows": [],
        },
        evidence([report("1", instant=5)], [report("1", instant=5)]),
        evidence([report("1", window=[5, 5])], [report("1", window=[2**62, 2**63 - 1])]),
        {**evidence([], []), "elements": [{"stream": "other", "at": 5, "end": 9, "graph": ""}] * 9},
    ],
)
def test_whatever_there_is_can_be_drawn(told):
    numbers = [
        value
        for shape in drawn(told).shapes
        for value in shape.attributes.values()
        if isinstance(value, (int, float))
    ]
    assert all(-9 <= number <= drawing.WIDTH + 9 for number in numbers)
    assert "<svg" in detail_of(told)


# Charts and mismatch

GRACIOUS = {"precision": 1.0, "recall": 0.5, "window": [11, 20]}
METRICS = [
    metric([0, 10], (1.0, 1.0), None, 5, (3, 2, 2)),
    metric([10, 20], (0.5, 0.25), GRACIOUS, -2, (4, 4, 2)),
    metric(None, (0.0, 0.0), None, None, (0, 0, 1)),
]
# CPU seconds 0, 0.1, 0.4, 0.9
SAMPLES = [
    {"at": 0.5 * n, "rss": 50_000_000 + n, "cpu": 0.1 * n * n, "threads": 4} for n in range(4)
]


def test_charts_are_drawn_where_their_data_are():
    assert charts.charts(RIGHT) == []
    assert [title for title, _ in charts.charts({**RIGHT, "samples": SAMPLES})] == [
        "Memory, CPU and threads"
    ]
    scores, delays, resources = (
        drawing for _, drawing in charts.charts({**RIGHT, "metrics": METRICS, "samples": SAMPLES})
    )
    assert "window [10, 20]: precision 50.0%" in [shape.title for shape in of(scores, "precision")]
    assert "window [10, 20]: recall 50.0%, gracious" in [
        shape.title for shape in of(scores, "recall hollow")
    ]
    assert [shape.title for shape in of(scores, "due")] == ["[0, 10]", "[10, 20]"]
    assert [shape.title for shape in of(scores, "given")] == ["[11, 20]"]
    assert len(of(delays, "stem")) == 2
    assert "window [10, 20]: 4 expected" in [shape.title for shape in of(delays, "expected")]
    assert [of(resources, name)[0].title for name in ("rss", "cpu", "threads")] == [
        "memory, MB: from 50 to 50",
        "CPU, % of one core: from 20 to 100",
        "threads: from 4 to 4",
    ]
    html = shown(
        result(rule="", suite="yabench", evidence={**RIGHT, "metrics": METRICS, "samples": SAMPLES})
    )
    assert [
        title in told(html)["details"][0]
        for title in ("Precision and recall", "Delay, and sizes", "Memory, CPU")
    ] == [True] * 3
    assert charts.charts({"metrics": [METRICS[2]], "samples": SAMPLES[:1]}), (
        "one of each, and none with a window"
    )


def test_charts_say_in_words_what_they_show():
    made = charts.charts({**RIGHT, "metrics": METRICS, "samples": SAMPLES})
    assert [drawing.label for _, drawing in made] == [
        "3 windows: precision from 0% to 100%, recall from 0% to 100%",
        "3 windows: delay from -2 to 5, elements from 0 to 4, rows expected from 0 to 4, "
        "rows given from 1 to 2",
        "4 samples; memory, MB: from 50 to 50; CPU, % of one core: from 20 to 100; "
        "threads: from 4 to 4",
    ]
    scores = made[0][1]
    assert {shape.tag for shape in of(scores, "precision")} == {"circle"}
    assert {shape.tag for shape in of(scores, "recall")} == {"rect"}, "not told by colour alone"


def test_what_is_left_out_of_a_chart_is_said_and_no_peak_is():
    titles = [title for title, _ in charts.charts({"metrics": METRICS[:1] * 300})]
    assert titles == [
        "Precision and recall of each window (the first 120 of 300 windows)",
        "Delay, and sizes (the first 120 of 300 windows)",
    ]
    samples = [
        {"at": n / 2, "rss": 9e8 if n == 4001 else 5e7, "cpu": 0, "threads": 1} for n in range(6000)
    ]
    ((_, resources),) = charts.charts({"samples": samples})
    (line,) = of(resources, "rss")
    assert line.title == "memory, MB: from 50 to 900"
    assert 2000 <= len(line.attributes["points"].split()) <= 2002
    assert min(float(point.split(",")[1]) for point in line.attributes["points"].split()) == 22


def test_mismatch_is_that_of_the_metrics(monkeypatch):
    """The measure is another module's; here it is handed what each engine gave."""
    asked = []

    def mismatches(outputs):
        asked.append(
            {name: [sorted(bag.elements()) for bag in output] for name, output in outputs.items()}
        )
        return {("0", "1"): 12.5, ("1", "0"): None}

    monkeypatch.setattr(pairs, "mismatches", mismatches)
    one, two = (result(engine=name, suite="lsbench", case="Q1", rule="") for name in ("a", "b"))
    (table,) = pairs.mismatch_tables(source.of([one, two, result()]).entries)
    assert table.engines == ["a", "b"]
    assert table.rows == [
        ("a", ["", "12.5 %"]),
        ("b", ["undefined", ""]),
    ]
    assert [row[0][1] for row in asked[0]["0"][0]] == [
        f'"{n}"^^<{reports.XSD}integer>' for n in (1, 2)
    ]
    assert '<h2 id="mismatch-title">' in shown(one, two)
    assert "mismatch-title" not in shown(one, result())
    cut = result(
        engine="b",
        suite="lsbench",
        case="Q1",
        rule="",
        evidence=evidence([{**report("1"), "total": 9}], DUE),
    )
    assert (
        pairs.mismatch_tables(source.of([one, cut]).entries)[0].note
        == "rows are left out of the results"
    )


# Markdown, badge, JUnit


def test_markdown_has_a_table_and_the_fails():
    lines = list(markdown.markdown_lines(source.of(MIXED)))
    assert "| mine | 1 | 2 | 1 | 1 | 1 | 0 | 1 |" in lines
    assert "| other | 2 | 0 | 0 | 0 | 0 | 0 | 0 |" in lines
    assert (
        "| mine | WIN-3-a-window | fail | first divergence, relation 2 of 2: window \\[10, 20\\) |"
    ) in lines
    assert "| mine | REP-1-a-close | fail | it answers\\\\nlate; no link |" in lines
    assert any(line.startswith("- other has no result for 4 cases of corpus") for line in lines)


def test_markdown_shows_what_it_is_given():
    told = markdown.escape_markdown("a|b `c` <script>&amp; [x](javascript:y) *z* ~w~ \\ @me\n# no")
    assert told == (
        "a\\|b \\`c\\` &lt;script&gt;&amp;amp; \\[x\\]\\(javascript:y\\) \\*z\\* \\~w\\~ "
        "\\\\ &#64;&#8203;me\\\\n# no"
    )
    lines = list(markdown.markdown_lines(source.of([reports.hostile()])))
    assert not any("<script" in line for line in lines)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Closes #1, o/r#12, gh-3", "Closes #&#8203;1, o/r#&#8203;12, gh-&#8203;3"),
        (
            "https://a.example www.a.example me@a.example",
            "https:&#8203;//a.example www&#8203;.a.example me&#64;&#8203;a.example",
        ),
        ("# big", "&#8203;# big"),
        ("    - 1", "&#8203;- 1"),
        ("1. one", "&#8203;1. one"),
        ("WIN-2 #x 1.5", "WIN-2 #x 1.5"),
    ],
)
def test_markdown_of_an_engine_closes_no_issue_and_names_nobody(text, written):
    assert markdown.escape_markdown(text) == written


def read_badge(*found) -> tuple[str, str]:
    """The words and the colour of the badge of results."""
    root = ElementTree.fromstring(badge.badge(source.of(found).entries))
    words, right = root.get("aria-label"), list(root.iter("{http://www.w3.org/2000/svg}rect"))[2]
    return words.removeprefix("RSP conformance: "), right.get("fill")


def test_a_badge_says_how_many_pass_if_nothing_is_known_of_rules():
    assert read_badge(*MIXED) == ("3 of 6 pass, 1 known", badge.COLOURS["wrong"])
    assert read_badge(result(), MIXED[2]) == ("1 of 2 pass, 1 known", badge.COLOURS["known"])
    assert read_badge(result(), MIXED[4]) == ("1 of 1 pass", badge.COLOURS["right"])
    assert read_badge(MIXED[4]) == ("nothing judged", badge.COLOURS["none"])
    assert read_badge(EXAMINED, result("other")) == ("2 of 2 pass", badge.COLOURS["right"])


EXAMINED = result(caught_wrong_engine="WIN-2 both borders")


def test_a_badge_says_how_many_rules_hold():
    broken = result(case="b", rule="WIN-3", outcome="fail", evidence=WRONG)
    late = (reports.KnownDeviation("it is late", "https://example.org", ("REP-1", "REP-2")),)
    known = result(case="c", rule="WIN-4", outcome="fail", known=late, evidence=WRONG)
    silent = result(
        case="d", rule="WIN-5", caught_wrong_engine="WIN-5 x", evidence=evidence([], [])
    )
    unreached = result(
        case="e", rule="WIN-6", outcome="unsupported", caught_wrong_engine="WIN-6 x", evidence=None
    )
    errors = [result(case=case, rule="WIN-2", outcome="error", evidence=None) for case in "fg"]
    benchmark = result(case="Q1", rule="", suite="csrbench", outcome="fail", evidence=WRONG)
    right, brown, red = (badge.COLOURS[tone] for tone in ("right", "known", "wrong"))
    assert read_badge(EXAMINED, unreached) == ("1 of 1 rules in reach hold", right)
    assert read_badge(EXAMINED, known, silent) == (
        "1 of 2 rules in reach hold, 1 not shown, 2 wrong beyond it",
        brown,
    )
    assert read_badge(EXAMINED, known, broken) == (
        "1 of 1 rules in reach hold, 3 wrong beyond it",
        red,
    )
    reached = {"rule": "REP-1", "evidence": WRONG, "caught_wrong_engine": "REP-1 x"}
    of_rep_1 = result(case="h", outcome="fail", **reached)
    assert read_badge(EXAMINED, known, of_rep_1) == (
        "1 of 2 rules in reach hold, 1 known to be broken, 1 wrong beyond it, 1 fail",
        red,
    )
    assert read_badge(EXAMINED, of_rep_1) == (
        "1 of 2 rules in reach hold, 1 unexplained",
        red,
    )
    assert read_badge(EXAMINED, *errors) == ("1 of 1 rules in reach hold, 2 errors", red)
    assert read_badge(EXAMINED, benchmark) == ("1 of 1 rules in reach hold, 1 fail", red)
    both = (EXAMINED, result("other", caught_wrong_engine="WIN-2 x"))
    assert read_badge(*both) == ("2 of 2 rules in reach hold", right), "those of each engine"


def test_pytest_writes_the_page_and_junit_has_the_properties(tmp_path):
    html, xml = tmp_path / "page.html", tmp_path / "junit.xml"
    words = [
        "--engine-command=sh tests/harnesses/tumbling.sh",
        "--engine-semantics=csparql t0=0",
        "-k",
        "upper-border-of-a-right-open or less-than-the-size-makes-windows-that-overlap",
    ]
    before = write(tmp_path / "before.ndjson", result(engine="before"))
    words += [f"--report={html}", f"--junitxml={xml}", f"--baseline={before}", "-vv"]
    found = run_suite(*words)
    assert found.returncode == 1, found.stdout + found.stderr
    assert "<summary>new: 2</summary>" in html.read_text(encoding="utf-8"), "since the baseline"
    data = told(html.read_text(encoding="utf-8"))
    assert len(data["rows"]) == 2 and [row[2] for row in data["rows"]] == [1, 0], "the fail first"
    of_run = ElementTree.parse(xml).iterfind("testsuite/properties/property")
    told_of_run = {one.get("name"): one.get("value") for one in of_run}
    counts = re.search(
        r"holds (\d+), broken (\d+), unexplained (\d+), not shown (\d+)", found.stdout
    ).groups()
    names = ("rules-hold", "rules-broken", "rules-unexplained", "rules-not-shown")
    assert counts == tuple(told_of_run[f"{name}:command"] for name in names)
    assert f"conformance: command: {told_of_run['cause-1:command']}\n" in found.stdout
    cases = list(ElementTree.parse(xml).iter("testcase"))
    properties = [{p.get("name"): p.get("value") for p in case.iter("property")} for case in cases]
    assert all(set(found) == {"outcome", "rule", "explanation"} for found in properties)
    assert len(properties) == 2
    assert {found["outcome"] for found in properties} == {"pass", "fail"}
    assert {found["rule"] for found in properties} == {"WIN-1", "WIN-2"}
    assert any("first divergence" in found["explanation"] for found in properties)
    bad = run_suite(*words, f"--report={tmp_path}/no/page.html")
    assert bad.returncode == 4
    assert "usage: cannot write" in bad.stderr
    assert "Traceback" not in bad.stderr


def test_a_schema_with_an_unknown_keyword_is_no_quick_check():
    with pytest.raises(LookupError, match="no check of multipleOf"):
        schemas._compiled({"multipleOf": 2}, {}, {})


def test_bad_results_are_an_error_of_ours(tmp_path):
    path = tmp_path / "latin.ndjson"
    path.write_bytes(b'{"engine": "\xe9"}\n')
    with pytest.raises(InvalidResults, match=re.escape(f"{path}:1: results: not UTF-8")):
        source.read_results([path])
    assert BAD in reports.hostile().engine


def test_markdown_counts_the_rules_in_reach_and_names_those_that_are_broken():
    shown = result(caught_wrong_engine="WIN-2 both borders")
    reached = {"evidence": WRONG, "outcome": "fail", "caught_wrong_engine": "x"}
    broken = result(case="REP-1-a-close", rule="REP-1", causes=(reports.LATE,), **reached)
    unexplained = result(case="WIN-3-a", rule="WIN-3", **reached)
    lines = list(markdown.markdown_lines(source.of([shown, broken, unexplained])))
    head = "| rules in reach | holds | broken | unexplained | not shown | which are broken |"
    assert head in lines
    assert "| mine | 1 | 0 | 1 | 1 | TICK-6 |" in lines, "REP-1 itself is not shown"


def test_markdown_says_nothing_of_the_rules_of_results_that_were_not_examined():
    lines = markdown.markdown_lines(source.of(MIXED))
    assert not any(line.startswith("| rules in reach") for line in lines)


def test_markdown_has_the_diagnosis_with_the_causes_of_most_fails_first():
    closure = DiagnosedCause("closure is [] | (WIN-2)", ("WIN-2",), True, "")
    t0 = DiagnosedCause("t0 is 5 (WIN-3)", ("WIN-3",), True, "")
    small = {**WRONG, "elements_total": 2}
    told = [("a", WRONG, (t0,)), ("b", WRONG, (closure, t0)), ("c", small, (t0,)), ("d", WRONG, ())]
    fails = [
        result(case=case, outcome="fail", evidence=found, causes=causes)
        for case, found, causes in told
    ]
    undiagnosed = result("other", outcome="fail", evidence=WRONG)
    lines = list(markdown.markdown_lines(source.of([*fails, undiagnosed])))
    start = lines.index("## Diagnosis")
    assert lines[start + 2 : start + 8] == [
        "| engine | cause | rules | fails | smallest case |",
        "|---|---|---|---:|---|",
        "| mine | t0 is 5 \\(WIN-3\\) | WIN-3 | 3 | c |",
        "| mine | closure is \\[\\] \\| \\(WIN-2\\) | WIN-2 | 1 | b |",
        "| mine | no cause was found |  | 1 | d |",
        "",
    ]


def test_markdown_says_which_rules_are_not_shown_and_not_more_than_the_first(monkeypatch):
    monkeypatch.setattr(markdown, "LISTED", 2)
    silent = [
        result(case=rule, rule=rule, caught_wrong_engine="x", evidence=evidence([], []))
        for rule in ("WIN-3", "WIN-4", "WIN-5")
    ]
    unreached = result(
        case="e", rule="WIN-6", outcome="unsupported", caught_wrong_engine="WIN-6 x", evidence=None
    )
    lines = list(markdown.markdown_lines(source.of([EXAMINED, *silent, unreached])))
    start = lines.index("## Rules that are not shown")
    assert lines[start + 2 :] == [
        "| engine | rule | why |",
        "|---|---|---|",
        "| mine | WIN-3 | 1 case silent |",
        "| mine | WIN-4 | 1 case silent |",
        "\n… 1 more",
    ]
