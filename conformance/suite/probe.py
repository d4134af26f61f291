"""A case as a question to an engine: judged by the oracle under what the engine sets out to do, or,
of an engine that is told its semantics, by the case's own expectations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from conformance import corpus
from conformance.corpus import Case
from conformance.corpus.rules import means
from conformance.harness.client import Broken, Harness
from conformance.harness.engine_file import Deviation, Engine
from conformance.harness.play import Declined, EngineQuery, play
from conformance.verdict import evidence, outcomes
from conformance.verdict.engine_report import EngineReport
from conformance.verdict.outcomes import Outcome
from refengine.core.query import Query
from refengine.core.semantics import Closure, Disorder, show
from refengine.model import compare
from refengine.model.elements import Dataset, Relation, Stream
from refengine.model.errors import Disputed, InvalidStream, RefengineError, Unsupported
from refengine.oracle.judge import judge


@dataclass(frozen=True)
class Result:
    """What became of a case against an engine: the outcome, its argument, and the known deviations
    that explain a fail.
    """

    engine: str
    case: Case
    outcome: Outcome
    argument: str
    deviations: tuple[Deviation, ...] = ()
    evidence: Mapping[str, Any] | None = None
    witnesses: tuple[str, ...] = ()


class Found(NamedTuple):
    """The outcome of a question, its argument, the known deviations that explain a fail, what it
    rests on, and the witnesses that confirm that.
    """

    outcome: Outcome
    argument: str
    deviations: tuple[Deviation, ...] = ()
    evidence: Mapping[str, Any] | None = None
    witnesses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """A case's query, streams and static data, and what an engine answered to them."""

    query: Query
    streams: Mapping[str, Stream]
    static: Dataset
    answers: list[EngineReport]
    text: str = ""
    window_closure: Closure | None = None
    missing: int = 0

    @property
    def relations(self) -> list[Relation]:
        """What is judged."""
        return [answer.relation for answer in self.answers]

    @property
    def options(self) -> dict[str, Any]:
        """Of the oracle: a live engine is seen from its beginning to its end, and may tell its
        windows.
        """
        windows = [answer.window for answer in self.answers]
        return {
            "missing": self.missing,
            "static": self.static,
            "windows": windows,
            "window_closure": self.window_closure,
        }


class Named(NamedTuple):
    """What a benchmark's query is called, as a case is, and its table (QRY-1)."""

    id: str
    rule: str
    name: str
    table: Mapping[str, Any] | None = None


def result(tested: Engine, harness: Harness, case: Case) -> Result:
    """A case against an engine. Whatever the engine does, there is a result; a case that is bad
    input asks nothing.
    """

    def found() -> Found:
        return (
            expected(tested, harness, case)
            if tested.profile is None
            else judged(tested, case, asked(tested, harness, case))
        )

    return Result(tested.name, case, *settled(tested, case, found))


def benchmark(
    tested: Engine, harness: Harness, named: Named, query: Query, streams: Mapping[str, Stream]
) -> Found:
    """A benchmark's query against an engine: its relations are judged, as a
    recording has no more.
    """

    def found() -> Found:
        question = answered(tested, harness, query, named.table, streams)
        return judged(
            tested,
            named,
            replace(
                question, answers=[answer._replace(window=None) for answer in question.answers]
            ),
        )

    return settled(tested, named, found)


def settled(tested: Engine, case: Case | Named, ask: Callable[[], Found]) -> Found:
    """What becomes of a question, however it ends."""
    try:
        return ask()
    except (Unsupported, Declined) as error:
        return Found(Outcome.UNSUPPORTED, str(error))
    except Disputed as error:
        return Found(Outcome.DISPUTED, str(error))
    except Broken as error:
        known = tuple(one for one in tested.deviations if one.crashes and case.id in one.cases)
        return Found(Outcome.ERROR, f"{error}\n{because(case, known)}", known)
    except RefengineError as error:
        return Found(Outcome.UNSUPPORTED, f"the case asks nothing of an engine: {error}")


def asked(tested: Engine, harness: Harness, case: Case) -> Question:
    """What an engine answers to a case. Raises what makes the case no question, and Declined and
    Broken.
    """
    return answered(
        tested,
        harness,
        corpus.query_of(case),
        case.table["query"],
        corpus.streams_of(case),
        corpus.static_of(case),
    )


def answered(
    tested: Engine,
    harness: Harness,
    query: Query,
    table: Mapping[str, Any] | None,
    streams: Mapping[str, Stream],
    static: Dataset = frozenset(),
) -> Question:
    """What an engine answers to a query, which a table was, over streams."""
    told = EngineQuery(query, tested.text(query, bool(static), table), tested.dialect)
    answers = play(harness, told, streams, static, tested.heartbeat)
    return Question(
        query, streams, static, answers, told.text, tested.window_closure, tested.unreported
    )


def expects(case: Case) -> bool:
    """Whether a case says what a configurable engine answers."""
    return any("max_reports" not in block for block in case.table.get("expect", []))


def judged(tested: Engine, case: Case | Named, question: Question) -> Found:
    """The oracle's verdict under what the engine sets out to do; of a fail, the known deviations
    that explain it, if they do.
    """
    facts = None
    try:
        found = outcomes.verdict(
            question.query,
            question.streams,
            tested.claim(question.query),
            question.relations,
            **question.options,
        )
        outcome, argument, facts = found.outcome, found.argument, found.facts
    except InvalidStream as error:
        if error.rule != "MOD-2":
            raise
        # An engine that sets out to refuse what is late has no answer to it; this one has.
        outcome, argument = Outcome.FAIL, f"{error}; that element is to be refused, and was taken"
    rests_on = evidence.judged(
        question.query, question.streams, question.static, question.answers, facts, question.text
    )
    if isinstance(case, Named) and (
        metrics := evidence.measured(
            question.query, question.streams, question.static, question.answers, facts
        )
    ):
        rests_on["metrics"] = metrics
    if tested.tolerance:
        argument += (
            f"\n  replayed on the wall clock; an element may have come {tested.tolerance:g} of a "
            "unit of time late"
        )
    witnesses = facts.standing.confirming if facts is not None else ()
    if outcome is not Outcome.FAIL:
        return Found(outcome, argument, (), rests_on, witnesses)
    known = unsayable(tested, case) or needed(tested, question)
    return Found(outcome, f"{argument}\n{because(case, known)}", known, rests_on, witnesses)


def unsayable(tested: Engine, case: Case | Named) -> tuple[Deviation, ...]:
    """The known deviations that no field says and that this case shows."""
    return tuple(
        one
        for one in tested.deviations
        if not one.grants and not one.crashes and case.id in one.cases
    )


def needed(tested: Engine, question: Question) -> tuple[Deviation, ...]:
    """A least set of the other known deviations that explains a fail, if they do: the last is left
    out first, and again and again, since one may be needed for the sake of another. All are in
    force all the time, so all of them together explain whatever some do.
    """
    kept = [one for one in tested.deviations if one.grants]
    if not kept or not holds(tested, question, kept):
        return ()
    while True:
        rests = ([other for other in kept if other is not one] for one in reversed(kept))
        rest = next((rest for rest in rests if holds(tested, question, rest)), None)
        if rest is None:
            return tuple(kept)
        kept = rest


def because(case: Case | Named, known: Iterable[Deviation]) -> str:
    """What explains a fail: the fields and their rules, or else the rule that the case is about."""
    lines = []
    for one in known:
        said = [
            f"{name}={show(value)} ({', '.join(means(name, value))})"
            for name, value in one.fields.items()
        ]
        rules = " ".join(said) or (
            "the windows that it tells (WIN-3)"
            if one.told
            else f"{case.rule or case.id}, in no field"
        )
        lines.append(f"  known, and explains it: {rules}: {one.reason}")
    return "\n".join(lines) or (
        f"  no known deviation explains it; the case is about {case.rule or case.id}: {case.name}"
    )


def holds(tested: Engine, question: Question, deviations: Iterable[Deviation]) -> bool:
    """Whether the oracle passes an engine with these deviations. One in r2s is about what the query
    states, too (R2S-6).
    """
    fields = {name: value for deviation in deviations for name, value in deviation.fields.items()}
    if "r2s" in fields:
        question = replace(question, query=replace(question.query, r2s=None))
    profile = tested.claim(question.query).but(**fields)
    try:
        facts = judge(
            question.query, question.streams, profile, question.relations, **question.options
        )
    # unsupported or disputed, or what the engine takes and its semantics, so changed, refuses
    except RefengineError:
        return False
    return facts.passed or (
        facts.is_right_but_for_windows and any(one.told == "window" for one in deviations)
    )


def expected(tested: Engine, harness: Harness, case: Case) -> Found:
    """A case's own expectations, each under its semantics."""
    blocks = [block for block in case.table.get("expect", []) if "max_reports" not in block]
    if not blocks:
        raise Unsupported("it expects nothing of an engine", rule="case", place=case.path)
    query, streams, static = corpus.query_of(case), corpus.streams_of(case), corpus.static_of(case)
    lines, rests_on = [], None
    for block in blocks:
        told = EngineQuery(
            query,
            tested.text(query, bool(static), case.table["query"]),
            tested.dialect,
            corpus.semantics_of(block["semantics"]),
        )
        answers = play(harness, told, streams, static)
        differences = list(_differences(query, block, answers, _expected_with(told, streams)))
        # of the first that differs, or else of the first
        if rests_on is None or (differences and not lines):
            due = [
                (corpus.relation(r["rows"], query), _borders(r.get("window")), r.get("instant"))
                for r in block["reports"]
            ]
            rests_on = evidence.evidence(query, streams, answers, due, told.semantics, told.text)
        lines += differences
    argument = "\n".join(f"{case.rule}: {line}" for line in lines)
    return Found(Outcome.FAIL if lines else Outcome.PASS, argument, (), rests_on)


def _borders(window: list[int] | None) -> tuple[int, int] | None:
    if not window:
        return None
    opens, closes = window
    return opens, closes


def _expected_with(told: EngineQuery, streams: Mapping[str, Stream]) -> frozenset[int] | None:
    """The instants of the elements with which reports may come, or None where elements may wait for
    others (MOD-2).
    """
    assert told.semantics is not None  # a case says what its engine is told
    waits = told.semantics.disorder not in (Disorder.REJECT, 0)
    return (
        None
        if waits
        else frozenset(
            element.app for window in told.query.windows for element in streams[window.stream]
        )
    )


def _differences(
    query: Query, block: Mapping[str, Any], got: list[EngineReport], instants: frozenset[int] | None
) -> Iterator[str]:
    """What is said of a report and compared; a trigger that is no element's instant is the horizon,
    which is told to no engine.
    """
    wanted = block["reports"]
    if len(got) != len(wanted):
        yield f"expected {len(wanted)} reports, got {len(got)}"
    for number, (report, answer) in enumerate(zip(wanted, got, strict=False), 1):
        rows = corpus.relation(report["rows"], query).rows
        if not compare.equal(rows, answer.relation.rows, compare.Mode(block.get("mode", "value"))):
            yield (
                f"report {number}: expected {corpus.show(rows)}, got "
                f"{corpus.show(answer.relation.rows)}"
            )
        if (
            report.get("window")
            and answer.window is not None
            and list(answer.window) != report["window"]
        ):
            yield f"report {number}: expected window {report['window']}, got {list(answer.window)}"
        if (
            "instant" in report
            and answer.instant is not None
            and answer.instant != report["instant"]
        ):
            yield f"report {number}: expected instant {report['instant']}, got {answer.instant}"
        if "trigger" in report and instants is not None:
            trigger = report["trigger"] if report["trigger"] in instants else None
            if answer.came != trigger:
                yield f"report {number}: expected {_coming(trigger)}, got it {_coming(answer.came)}"


def _coming(came: int | None) -> str:
    return "at the end" if came is None else f"with the element at {came}"
