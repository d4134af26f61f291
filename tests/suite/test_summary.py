"""What is said of a run at its end, and written to its JUnit file."""

from __future__ import annotations

from reports import WRONG, evidence, result

from conformance.harness.engine_file import Deviation
from conformance.suite.diagnosis import Cause, Diagnosis
from conformance.suite.item import Item
from conformance.suite.summary import PROPERTY, RunSummary, describe_unjudged_engines
from conformance.verdict.results import DiagnosedCause
from refengine.core.values import Closure

CLOSED = Deviation("closure is []", "https://example.org", ("b",), {"closure": Closure.CLOSED})


def test_the_properties_of_a_run_count_the_rules_and_name_what_was_found() -> None:
    holds = result(case="a", caught_wrong_engine="WIN-2 x")
    silent = result(
        case="c", rule="WIN-5", caught_wrong_engine="WIN-5 x", evidence=evidence([], [])
    )
    unreached = result(
        case="d", rule="WIN-6", outcome="unsupported", caught_wrong_engine="WIN-6 x", evidence=None
    )
    closed = DiagnosedCause("closure=[]", ("WIN-2",), True, "")
    fails = [
        result(case="b", outcome="fail", evidence=WRONG, causes=(closed,)),
        result(case="REP-1", rule="REP-1", outcome="fail", evidence=WRONG),
        result(
            case="f", rule="WIN-3", outcome="fail", evidence=WRONG, caught_wrong_engine="WIN-3 x"
        ),
    ]
    cause = Cause(
        text="closure=[]",
        deviation=CLOSED,
        rules_by_case={"b": ("WIN-2",), "e": ("WIN-2",)},
        entry="",
    )
    diagnosis = Diagnosis("mine", ("b", "e", "f"), (cause,))
    summary = RunSummary([holds, silent, unreached, *fails, result("other")], [diagnosis])
    assert list(summary.properties()) == [
        ("rules-hold:mine", "0"),
        ("rules-broken:mine", "1"),
        ("rules-unexplained:mine", "1"),
        ("rules-not-shown:mine", "1"),
        ("broken-rules:mine", "WIN-2"),
        ("cause-1:mine", "closure=[] explains 2 of 3 fails (WIN-2); smallest case b"),
        ("unexplained-fails:mine", "1"),
    ]


def test_a_property_is_printable_and_bounded() -> None:
    engine = "mine\x00" + "x" * 10_000
    properties = list(RunSummary([result(engine, caught_wrong_engine="WIN-2 x")], []).properties())
    assert all(len(text) < PROPERTY + 10 for one in properties for text in one)
    assert all(text.isprintable() for one in properties for text in one)


def test_smoke_cases_that_an_engine_does_not_support_are_named_as_the_reason() -> None:
    """An engine that is not there is not helped by more cases."""
    here = Item(engine="here", suite="corpus", case="c", run=lambda harnesses: result())
    gone = Item(
        engine="gone", suite="corpus", case="c", run=lambda harnesses: result(), absent="no Gone"
    )
    skipped = "was skipped (exit code 4; 0 with --allow-missing)"
    hint = "; --smoke asks a dozen cases only, and the engine supports none: leave it out"
    engines = ["gone", "here"]
    assert list(describe_unjudged_engines(engines, [here, gone], [], is_smoke=True)) == [
        f"every item of gone {skipped}",
        f"every item of here {skipped}{hint}",
    ]
    whole = describe_unjudged_engines(engines, [here, gone], [], is_smoke=False)
    assert list(whole) == [f"every item of {engine} {skipped}" for engine in engines]


def test_why_all_items_of_an_engine_were_skipped_is_said() -> None:
    """Where the semantics that it claims cannot be tried, other cases would not help."""
    items = [
        Item(engine="mine", suite="corpus", case=case, run=lambda harnesses: result())
        for case in "abc"
    ]

    def line(*explanations: str) -> str:
        skipped = [result("mine", outcome="unsupported", explanation=text) for text in explanations]
        [only] = describe_unjudged_engines(["mine"], items, skipped, is_smoke=True)
        return only.removeprefix(
            "every item of mine was skipped (exit code 4; 0 with --allow-missing); "
        )

    empty = "unsupported: ORA-2: t0 must be in a range with at least one value"
    assert line(empty, "DIA-6: another", empty) == f"2 of 3 for this reason: {empty}"
    hint = "; --smoke asks a dozen cases only, and the engine supports none: leave it out"
    assert line("DIA-6: no SELECT") == f"1 of 1 for this reason: DIA-6: no SELECT{hint}"
