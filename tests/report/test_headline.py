"""What is wrong with an engine, in a few lines."""

from __future__ import annotations

from reports import (
    BAD,
    CLOSURE,
    DUE,
    EXAMINED,
    SHIFTED,
    evidence,
    hostile,
    integer,
    report,
    result,
)

from conformance.report import source
from conformance.report.headline import Headline, headline_lines, headlines
from conformance.verdict.results import KnownDeviation


def headline_of(*found) -> Headline:
    """The headline of the first engine of some results."""
    return next(headlines(source.of(found).entries))


def test_the_first_finding_is_what_explains_most():
    headline = headline_of(*EXAMINED)
    assert headline.counts == "4 fail, 1 known fail, 2 pass, 1 unsupported"
    assert headline.findings[0] == "3 of 4 fails explained: closure is [] (WIN-2); breaks WIN-2"


def test_the_smallest_case_is_of_a_rule_that_the_cause_breaks_if_one_fails():
    small = {"elements_total": 1}
    wrong = evidence([report("4")], DUE, diverges=0)
    other = result(case="MOD-1-a", rule="MOD-1", outcome="fail", evidence={**wrong, **small})
    own = result(case="WIN-2-a", outcome="fail", evidence=wrong, causes=(CLOSURE,))
    from dataclasses import replace

    headline = headline_of(replace(other, causes=(CLOSURE,)), own)
    assert headline.case.name == "WIN-2-a"
    assert headline.case.elements == ('2 :a :p "1", 5 :a :p "1", 12 :a :p "1"')
    assert headline.case.expected == "[0, 10): {x: 1}, {x: 2}"
    assert headline.case.answered == "{x: 4}"


def test_a_report_that_is_missing_is_said_to_be():
    lost = evidence([report("1", "2")], DUE, diverges=1)
    headline = headline_of(result(outcome="fail", evidence=lost))
    assert headline.case.expected == "[10, 20): {x: 3}"
    assert headline.case.answered == "nothing more"


def test_an_engine_that_crashes_is_told_its_error():
    errors = [
        result(case=f"Q{number}", outcome="error", evidence=None, explanation="push: it ended")
        for number in range(3)
    ]
    headline = headline_of(result(), *errors)
    assert headline.findings == ("3 of 3 errors: push: it ended",)
    assert headline.case.answered == "push: it ended"


def test_an_engine_that_answers_nothing_is_told_so():
    silent = evidence([], DUE)
    headline = headline_of(
        *(result(case=f"WIN-2-{k}", outcome="fail", evidence=silent) for k in "ab")
    )
    assert headline.findings == ("it answered no case with a row, so nothing shows what it does",)


def test_nothing_is_wrong_with_a_right_engine():
    headline = headline_of(result(caught_wrong_engine="WIN-2 x"))
    assert headline.findings == ("nothing is wrong; 1 rule shown to hold",)
    assert headline.case is None
    assert list(headline_lines(headline, "{} {}".format, "none")) == [
        "conformance: mine: 1 pass",
        "  nothing is wrong; 1 rule shown to hold",
    ]


def test_hostile_texts_are_written_in_lines_of_bounded_length():
    bidi = "\u202eevil\x1b[31m\n" + "x" * 10_000
    rows = [{bidi: {"type": "literal", "value": bidi}, "y": integer(bidi)}]
    wrong = evidence([{"rows": rows, "total": 1}], DUE, diverges=0)
    wrong["elements"] = [{"stream": bidi, "at": 1, "graph": bidi}]
    found = [
        result(case=bidi, outcome="fail", evidence=wrong, explanation=bidi, engine=bidi),
        hostile(),
        hostile(BAD + bidi),
    ]
    for headline in headlines(source.of(found).entries):
        for line in headline_lines(headline, "{} {}".format, "none"):
            assert line.isprintable() and len(line) < 2_500


def test_an_outcome_that_no_run_gives_is_counted_last():
    known = EXAMINED[3].known
    headline = headline_of(result(), result(case="WIN-2-b", outcome="pass", known=known))
    assert headline.counts == "1 pass, 1 known pass"


def test_where_nothing_is_new_the_known_deviations_are_named_that_explain_most():
    late = KnownDeviation("reports are late", "https://example.org", ("TICK-6",))
    known = [
        *(result(case=f"WIN-3-{name}", outcome="fail", known=(SHIFTED,)) for name in "ab"),
        result(case="TICK-6-a", outcome="fail", known=(late,)),
        result(),
    ]
    assert headline_of(*known).findings == (
        "nothing is new: known deviations explain 3 of its results",
        "2 of them: windows are shifted",
        "1 of them: reports are late",
    )
