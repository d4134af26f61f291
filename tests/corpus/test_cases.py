"""The corpus: every file is a case, every case holds on the reference engine."""

from collections import Counter
from contextlib import suppress
from dataclasses import replace

import pytest

from conformance import corpus

FILES = sorted(corpus.CASES.rglob("*.toml"))


def _loaded():
    for path in FILES:
        with suppress(corpus.InvalidCase):  # test_every_file_lints says so
            yield corpus.load(path)


CASES = list(_loaded())

# By path, what each case gave on the reference engine after all wrong engines of its rule were
# tried: filled by test_wrong_engines_fail.py, which the same worker runs first.
AFTER_WRONG_ENGINES: dict[str, list[str]] = {}


def test_every_file_lints():
    """A file that is no case is an error that names it."""
    for path in FILES:
        case = corpus.load(path)
        assert case.rule in case.table["derivation"], f"{path.name}: the derivation cites no rule"
        for stream in case.table.get("streams", ()):
            for element in stream.get("elements", ()):
                corpus.triples(element["graph"])


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=pytest.mark.xdist_group(case.rule)) for case in CASES],
    ids=lambda c: c.id,
)
def test_case_holds_on_the_reference(case):
    lines = AFTER_WRONG_ENGINES.get(case.path)
    assert (corpus.check(case) if lines is None else lines) == []


def test_a_report_that_takes_back_is_marked():
    [case] = [one for one in CASES if one.path == "report/rep-16-three-panes.toml"]
    reports = [
        {key: value for key, value in report.items() if key != "takes_back"}
        for report in case.table["expect"][2]["reports"]
    ]
    [line] = corpus.check(
        replace(
            case, table={**case.table, "expect": [{**case.table["expect"][2], "reports": reports}]}
        )
    )
    assert line.endswith("expected a report, got a report that takes back")


def test_there_are_cases():
    assert CASES


def test_no_two_cases_share_a_name():
    assert [name for name, count in Counter(case.name for case in CASES).items() if count > 1] == []


def test_a_folder_holds_the_cases_of_one_section():
    sections = {(case.path.split("/")[0], case.rule.split("-")[0]) for case in CASES}
    assert sorted(sections) == sorted(set(dict(sections).items())), (
        "a folder with rules of two sections"
    )
    assert len({prefix for _, prefix in sections}) == len(sections), "a section in two folders"


# The checker itself: it must be able to fail, and its lines must say what and where.

TEXT = """
rule = "WIN-2"
name = "a window holds what is within its borders"
derivation = "WIN-2: a stand-in, to see the checker fail."
[query]
body = "PREFIX : <http://example.org/> SELECT ?x WHERE { ?x :p ?y }"
windows = [{ stream = "s", kind = "time", size = 10, slide = 10 }]
[[streams]]
name = "s"
elements = [{ at = 3, graph = ":a :p 1" }, { at = 4, graph = ":b :p 1 ." }]
[[expect]]
semantics = { profile = "csparql", t0 = 0 }
reports = [{ window = [0, 10], evaluation = 9, trigger = 16, instant = 10, rows = [{ x = ":a" }, { x = ":b" }] }]
"""  # noqa: E501
REFUSE = (
    '[[refuse]]\nsemantics = { profile = "csparql" }\nerror = "UnknownField"\nmessage = '
    '"leaves t0 unknown"\n'
)


@pytest.fixture
def case(tmp_path):
    def load(*replacements, more=""):
        text = TEXT + more
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "case.toml").write_text(text)
        return corpus.load(tmp_path / "case.toml", tmp_path)

    return load


def test_a_case_that_holds_gives_no_lines(case):
    assert corpus.check(case(more=REFUSE)) == []
    assert case().id == "WIN-2-a-window-holds-what-is-within-its-borders"


@pytest.mark.parametrize(
    "old, new, line",
    [
        (
            ', { x = ":b" }]',
            "]",
            "WIN-2 at t=9: window [0,10): expected {x: :a}, got {x: :a}, {x: :b}",
        ),
        (
            '[{ x = ":a" }, { x = ":b" }]',
            "[]",
            "WIN-2 at t=9: window [0,10): expected no rows, got {x: :a}, {x: :b}",
        ),
        (
            '{ x = ":b" }',
            '{ x = ":a" }',
            "WIN-2 at t=9: window [0,10): expected {x: :a}, {x: :a}, got {x: :a}, {x: :b}",
        ),
        (
            "window = [0, 10]",
            "window = [0, 11]",
            "WIN-2 at t=9: expected window [0,11), got [0,10)",
        ),
        (
            "evaluation = 9",
            "evaluation = 10",
            "WIN-2 at t=10: window [0,10): expected evaluation 10, got 9",
        ),
        (
            "trigger = 16",
            "trigger = 12",
            "WIN-2 at t=9: window [0,10): expected trigger 12, got 16",
        ),
        ("instant = 10", "instant = 9", "WIN-2 at t=9: window [0,10): expected instant 9, got 10"),
        (
            "reports = [{",
            "reports = []\n[[expect]]\nsemantics = { profile = 'csparql', t0 = 0 }\nreports = [{",
            "WIN-2 expect[0] at t=9: expected no more reports, got window [0,10): {x: :a}, {x: :b}",
        ),
        (
            "reports = [{",
            "reports = [{ window = [-10, 0], evaluation = -1, rows = [] }, {",
            "WIN-2 at t=9: expected window [0,10): {x: :a}, {x: :b}, got no report",
        ),
        (
            "t0 = 0",
            "t0 = 0, tick = 'batch'",
            "WIN-2: expected 1 report, got InvalidSemantics: TICK-3: the batch tick needs a "
            "batch id on every element",
        ),
        (
            "size = 10",
            "siz = 10",
            "WIN-2: expected 1 report, got InvalidQuery: windows[0]: QRY-1: unknown key 'siz'; "
            "did you mean 'size'?",
        ),
    ],
)
def test_a_difference_is_one_line(case, old, new, line):
    assert line in corpus.check(case((old, new)))


@pytest.mark.parametrize(
    "old, new, line",
    [
        (
            '"UnknownField"',
            '"InvalidQuery"',
            "WIN-2: expected InvalidQuery: …leaves t0 unknown…, got UnknownField: SEM-3: ",
        ),
        (
            'message = "leaves t0 unknown"',
            'message = "tick"',
            "WIN-2: expected UnknownField: …tick…, got UnknownField: SEM-3: ",
        ),
        (
            'profile = "csparql" }',
            'profile = "csparql", t0 = 0 }',
            "WIN-2: expected UnknownField: …leaves t0 unknown…, got 1 report",
        ),
    ],
)
def test_a_refusal_that_does_not_come_is_a_line(case, old, new, line):
    (got,) = corpus.check(case((old, new), more=REFUSE))
    assert got.startswith(line)


@pytest.mark.parametrize(
    "old, new, message",
    [
        (
            "derivation =",
            "derivaton =",
            "case.toml: case: unknown key 'derivaton'; did you mean 'derivation'?",
        ),
        (
            "reports =",
            "report =",
            "case.toml: expect[0]: case: unknown key 'report'; did you mean 'reports'?",
        ),
        (
            "window = [0, 10]",
            "windw = [0, 10]",
            "case.toml: expect[0].reports[0]: case: unknown key 'windw'; did you mean 'window'?",
        ),
        (
            "at = 4",
            "att = 4",
            "case.toml: streams[0].elements[1]: case: unknown key 'att'; did you mean 'at'?",
        ),
        (
            'elements = [{ at = 3, graph = ":a :p 1" }, { at = 4, graph = ":b :p 1 ." }]',
            "",
            "a stream has either elements, or a format",
        ),
        ("[[expect]]", "[[refuse]]", "case.toml: refuse[0]: case: unknown key 'reports'"),
        ('rule = "WIN-2"', 'rule = "WIN2"', "case.toml: rule: case: 'WIN2' does not match"),
        ('rule = "WIN-2"', "rule = WIN-2", "case.toml: case: not TOML: "),
        ("[[expect]]", "[expect]", "case.toml: expect: case: "),
        (
            TEXT[TEXT.index("[[expect]]") :],
            "",
            "case.toml: case: a case has at least one of expect, judge, refuse, read, render, "
            "adaptive and bounded",
        ),
    ],
)
def test_a_file_that_is_no_case_is_named_with_its_key(case, old, new, message):
    with pytest.raises(corpus.InvalidCase) as error:
        case((old, new))
    assert message in str(error.value)


@pytest.mark.parametrize(
    "old, new, message",
    [
        (
            'x = ":a"',
            'xs = ":a"',
            "case.toml: rows: case: the query has no variable 'xs'; did you mean 'x'?",
        ),
        ('x = ":a"', 'x = "a"', "case.toml: case: not Turtle: "),
        ('x = ":a"', 'x = ":a, :b"', "case.toml: case: not one Turtle term: ':a, :b'"),
        ('":a :p 1"', '":a :p"', "case.toml: case: not Turtle: ':a :p'"),
    ],
)
def test_a_term_that_is_none_is_named(case, old, new, message):
    with pytest.raises(corpus.InvalidCase) as error:
        corpus.check(case((old, new)))
    assert message in str(error.value)


def test_turtle_keeps_lexical_forms_and_labels():
    assert corpus.term("01") == '"01"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert corpus.term("'a'@EN") == '"a"@en'
    assert corpus.term("_:b") == "_:b"
    assert corpus.triples(":a :p 1.50") == {
        (
            "<http://example.org/a>",
            "<http://example.org/p>",
            '"1.50"^^<http://www.w3.org/2001/XMLSchema#decimal>',
        )
    }


@pytest.mark.parametrize(
    "turtle",
    [
        ":a",
        "5",
        "-5",
        "1.50",
        "true",
        '"a"',
        '"a"@en',
        '"01"^^xsd:double',
        "_:b",
        "<urn:x>",
        ":",
        '""',
    ],
)
def test_terms_are_shown_as_turtle(turtle):
    assert corpus.show_term(corpus.term(turtle)) == turtle
