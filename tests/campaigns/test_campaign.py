"""Campaigns: what is drawn, what is found in engines with a known defect, how small it becomes, and
what is written of it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from faulty_library import LIBRARY, library

from conformance.__main__ import main
from conformance.campaigns.again import check_findings, read_case
from conformance.campaigns.asking import CaseVerdict, LiveEngine, error_symptom, with_reply_limit
from conformance.campaigns.campaign import Campaign
from conformance.campaigns.causes import add_listed_cases, find_causes, group_by_kind
from conformance.campaigns.drawing import Drawing
from conformance.campaigns.drawn_case import query_table
from conformance.campaigns.findings import Origin, write_findings
from conformance.corpus.check_case import check
from conformance.harness import engine_file
from conformance.harness.pool import Harnesses
from conformance.verdict.results import Outcome
from refengine import Question, profile, stream
from refengine.core.query import from_table

REFERENCE = engine_file.engine("reference-windows")


def campaign_against(tested, cases: int, seed: int = 1) -> Campaign:
    """A campaign of so many cases, whose harness is stopped."""
    harnesses = Harnesses()
    try:
        live = LiveEngine(tested, harnesses)
        live.start()
        campaign = Campaign(Drawing.of(tested, seed), live)
        campaign.run(range(cases))
        add_listed_cases(campaign)
        return campaign
    finally:
        harnesses.stop()


def causes_of(campaign: Campaign):
    """The causes of what a campaign has found."""
    return find_causes(campaign.live.tested, list(campaign.found.values()), campaign.passes)


# What is drawn


def test_a_seed_and_a_number_give_a_case():
    one, same, other = (Drawing.of(REFERENCE, seed) for seed in (3, 3, 4))
    cases = [one.case(number) for number in range(40)]
    assert cases == [same.case(number) for number in reversed(range(40))][::-1]
    assert cases != [other.case(number) for number in range(40)]


def test_what_is_drawn_has_what_users_trip_over():
    drawing = Drawing.of(REFERENCE, 1)
    cases = [case for number in range(400) if (case := drawing.case(number)) is not None]
    windows = [case.query.windows[0] for case in cases]
    times = [[one.app for _, one in case.elements] for case in cases]
    sliding = [window for window in windows if window.slide and window.size]
    assert any(window.slide > window.size for window in sliding)
    assert any(window.slide < window.size and window.size % window.slide for window in sliding)
    assert any(window.by for window in windows) and any(window.lag for window in windows)
    assert len({window.kind for window in windows}) == 9
    assert any(later < at for one in times for at, later in pairwise(one))
    assert any(later == at for one in times for at, later in pairwise(one))
    assert any(one and one[0] < 0 for one in times) and any(one == [] for one in times)
    assert any(at > 10**12 for one in times for at in one)
    assert len({case.semantics for case in cases}) > 200


def test_only_what_an_engine_can_be_asked_is_drawn():
    tested = replace(engine_file.engine("polars"), package=None)
    drawing = Drawing.of(tested, 1)
    windows = {drawing.case(number).query.windows[0] for number in range(100)}
    assert {window.kind for window in windows} == {"time"}
    assert not any(window.by or window.lag for window in windows)


def test_the_table_of_a_drawn_query_is_that_query():
    drawing = Drawing.of(engine_file.engine("reference"), 2)
    queries = [case.query for number in range(60) if (case := drawing.case(number)) is not None]
    assert [from_table(query_table(query)) for query in queries] == queries


# What is found


def test_nothing_is_found_in_the_reference_engine():
    for name in ("reference-windows", "reference"):
        campaign = campaign_against(engine_file.engine(name), 40)
        assert campaign.found == {} and campaign.judged > 30


def test_it_is_no_error_to_refuse_what_a_later_window_asks():
    """The sum of 1, 1E16 and -1E16 depends on its order (QRY-3): the window [10, 20) has no
    average, whatever [0, 10) has.
    """
    query = from_table(
        windows=[{"stream": "s", "kind": "time", "size": 10, "slide": 10}],
        body="SELECT (AVG(?o) AS ?a) WHERE { ?s <urn:n> ?o }",
    )
    numbers = [(1, "1"), (11, "1.0E0"), (12, "1.0E16"), (13, "-1.0E16")]
    elements = [(("<urn:a>", "<urn:n>", number_term(text)), at) for at, text in numbers]
    drawn = Drawing.of(engine_file.engine("reference"), 1).case(0)
    case = replace(
        drawn,
        question=Question(query, {"s": stream(elements)}),
        semantics=profile("csparql").but(t0=0).semantics(),
    )
    live = LiveEngine(engine_file.engine("reference"), Harnesses())
    assert live.error(case, "push: refused").outcome is Outcome.UNSUPPORTED
    first = case.with_elements(case.elements[:1])
    assert live.error(first, "push: refused").outcome is Outcome.ERROR


def number_term(text: str) -> str:
    """A number as a literal: an integer, or a double."""
    return f'"{text}"^^<http://www.w3.org/2001/XMLSchema#{"double" if "E" in text else "integer"}>'


DEFECTS = {
    # an element on a border is lost: one at 0 in [0, 1) shows it
    "lost = lambda one: one.at % window.slide == 0": [0],
    # the second of two elements is lost, wherever they are
    "elements = elements[:1] + elements[2:]": [0, 0],
    # a window with gaps is as large as its slide: it states [0, 2) for [0, 1)
    "window = window._replace(size=max(window.size, window.slide))": [0],
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_becomes_a_small_stream(tmp_path, defect):
    campaign = campaign_against(library(tmp_path / "a", defect), 20)
    smallest = min((one.verdict for one in campaign.found.values()), key=lambda one: one.case.size)
    assert [one.app for _, one in smallest.case.elements] == DEFECTS[defect]
    window = smallest.case.query.windows[0]
    assert max(window.size, window.slide) <= 2


CRASHES = {
    "if elements: raise ValueError(chr(27) + '[2J' + 'x' * 9_000)": "end: ValueError: ",
    "if elements: os.write(2, b'y' * 99_999); os._exit(3)": "end: the process ended with exit",
    "if elements: raise ValueError('<img src=x>')": "end: ValueError: ",
    "if elements: time.sleep(60)": "end: no reply within #",
}


@pytest.mark.parametrize("defect", CRASHES)
def test_a_crash_becomes_a_small_stream_and_its_text_is_bounded(tmp_path, defect):
    tested = with_reply_limit(library(tmp_path / "a", defect), 0.3)
    campaign = campaign_against(tested, 3)
    [cause] = group_by_kind(list(campaign.found.values()))
    assert cause.title.startswith(CRASHES[defect])
    assert [one.app for _, one in cause.smallest.verdict.case.elements] == [0]
    findings = list(check_findings([cause], tested))
    write_findings(tmp_path / "out", findings, Origin(tested, campaign.live.named, "fuzz"))
    assert check(read_case(tmp_path / "out" / "cause-1.toml")) == []
    for file in (tmp_path / "out").iterdir():
        text = file.read_text(encoding="utf-8")
        assert "\x1b" not in text and max(map(len, text.splitlines())) < 8_000
        assert "<img" not in text or file.suffix != ".md"


def test_an_error_is_told_from_others_by_what_no_case_changes():
    one = error_symptom("push: KeyError: 'a7'; it said: x")
    assert one == error_symptom("push: KeyError: 'b'") == "push: KeyError: '…'"
    assert error_symptom("end: more than 5 bytes") == error_symptom("end: more than 17 bytes")
    assert len(error_symptom("x" * 999)) == 120


class LateHarness:
    """An live whose engine does something after its last reply about a case with elements."""

    def __init__(self) -> None:
        self.asked = 0
        self.late_fault = ""
        self.before = 0

    def ask(self, case, *, is_confirmed=False, is_settled=False) -> CaseVerdict:
        self.asked += 1
        self.late_fault = "wrote a line" * bool(self.before)
        self.before = len(case.elements) * (not is_settled)
        if is_settled and case.elements:
            return CaseVerdict(case, Outcome.ERROR, "wrote a line", "wrote a line")
        return CaseVerdict(case, Outcome.PASS)


def test_what_comes_after_the_last_reply_is_an_error_of_its_own_case():
    campaign = Campaign(Drawing.of(REFERENCE, 1), LateHarness())
    campaign.run(range(12))
    found = [one.verdict for one in campaign.found.values()]
    assert {one.symptom for one in found} == {"wrote a line"}
    assert {len(one.case.elements) for one in found} == {1}
    assert campaign.numbers["error"] > 3 and campaign.numbers["pass"] == 12


# What is known

FIELDS = """
[[deviations]]
reason = "both borders belong to a window"
link = "https://example.org/1"
cases = []
fields = { closure = "[]" }
"""
LISTED = """
[[deviations]]
reason = "an element on a border is lost"
link = "https://example.org/2"
cases = [
  "WIN-2-an-element-on-the-upper-border-of-a-right-open-window-belongs-to-the-next",
]
"""
BORDERS = (
    "window = window._replace(size=window.size); lost = lambda one: one.at % window.slide == 0"
)


def test_a_known_deviation_is_not_reported_again(tmp_path):
    closed = LIBRARY.replace("one.at < closes", "one.at <= closes")
    tested = library(tmp_path / "a", "pass", FIELDS.replace("cases = []", 'cases = ["X-1-y"]'))
    (tmp_path / "a" / "asks.py").write_text(closed.replace("DEFECT", "pass"), encoding="utf-8")
    campaign = campaign_against(tested, 40)
    causes = causes_of(campaign)
    assert campaign.numbers["known fail"] > 3 and campaign.numbers["fail"] == 0
    assert [cause.title for cause in causes] == ["both borders belong to a window"]
    assert all(cause.known for cause in causes)


def test_a_deviation_in_no_field_is_known_by_the_shape_of_its_case(tmp_path):
    known = causes_of(campaign_against(library(tmp_path / "b", BORDERS, LISTED), 12))
    assert [cause.title for cause in known if cause.known] == ["an element on a border is lost"]
    assert len(known[-1].smallest.verdict.case.elements) <= 2


# What is written


def fuzz(*words) -> int:
    """The exit code of the command."""
    return main(["fuzz", *map(str, words)])


def files_in(folder) -> dict[str, str]:
    """The text of each file of a folder."""
    return {file.name: file.read_text(encoding="utf-8") for file in sorted(folder.iterdir())}


def test_the_files_of_a_campaign(tmp_path, capsys):
    """The library loses the element at 0 in [0, 1)."""
    tested = library(tmp_path / "a", "lost = lambda one: one.at % window.slide == 0")
    out, again = tmp_path / "out", tmp_path / "again"
    assert fuzz(tested.file, "--cases", 8, "--out", out) == 1
    said = capsys.readouterr()
    assert "8 cases judged" in said.out and "--seed 1 --first 8" in said.out
    assert "conformance: case " in said.err
    assert fuzz(tested.file, "--cases", 8, "--out", again) == 1
    assert files_in(out) == files_in(again)
    capsys.readouterr()

    report = (out / "cause-1.md").read_text(encoding="utf-8")
    for words in (
        "- Engine: Mine; its harness says: mine 2",
        "- window of kind time, size 1, slide 1",
        "- element 0 at 0",
        "## What came\n\n- nothing",
        "- window 0 to 1: element 0",
        f"fuzz {tested.file} --case cause-1.toml",
        "--seed 1 --cases 8",
    ):
        assert words in report
    assert "urn:" not in report

    case = read_case(out / "cause-1.toml")
    assert check(case) == [] and case.suite == "windows"
    assert fuzz(tested.file, "--case", out / "cause-1.toml") == 1
    assert capsys.readouterr().out.count("cause-1.toml: fail") == 2
    right = library(tmp_path / "right", "pass")
    assert fuzz(right.file, "--case", out / "cause-1.toml") == 0
    assert main(["case", str(out / "results.ndjson"), "cause-1"]) == 0
    assert 'kind = "time"' in capsys.readouterr().out


def test_a_campaign_goes_on_where_it_ended(tmp_path, capsys):
    tested = library(tmp_path / "a", "pass")
    assert fuzz(tested.file, "--cases", 5, "--first", 7, "--out", tmp_path / "out") == 0
    assert "--first 12" in capsys.readouterr().out and not (tmp_path / "out").exists()


def test_an_interrupted_campaign_writes_what_is_known(tmp_path, capsys, monkeypatch):
    tested = library(tmp_path / "a", "lost = lambda one: one.at % window.slide == 0")
    run_case = Campaign._run_case

    def interrupted(self, number):
        if number == 6:
            raise KeyboardInterrupt
        return run_case(self, number)

    monkeypatch.setattr(Campaign, "_run_case", interrupted)
    assert fuzz(tested.file, "--out", tmp_path / "out") == 130
    assert "--first 6" in capsys.readouterr().out
    assert "interrupted" in (tmp_path / "out" / "cause-1.md").read_text(encoding="utf-8")


def test_wrong_uses_are_errors_of_one_line(tmp_path, capsys):
    tested = library(tmp_path / "a", "pass")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    for words in (
        ["no-such-engine"],
        [tested.file, "--cases", "0"],
        [tested.file, "--time", "0"],
        [tested.file, "--time", "nan"],
        [tested.file, "--first", "-1"],
        [tested.file, "--out", tmp_path / "full"],
        [tested.file, "--out", tmp_path / "full" / "x" / "out"],
        [tested.file, "--case", tmp_path / "none.toml"],
    ):
        assert fuzz(*words) == 2
        assert len(capsys.readouterr().err.strip().splitlines()) == 1
    broken = library(tmp_path / "b", "import nothing_of_this_name")
    (tmp_path / "b" / "asks.py").write_text("import nothing_of_this_name", encoding="utf-8")
    assert fuzz(broken.file, "--out", tmp_path / "out") == 2
