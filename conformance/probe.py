"""A case as a question to an engine: judged by the oracle under what the engine sets out to do, or, of an engine that is told its
semantics, by the case's own expectations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance import corpus, judge
from conformance.client import Broken, Harness
from conformance.corpus import Case
from conformance.judge import Outcome
from conformance.session import Answered, Asked, Declined, play
from conformance.under_test import Deviation, Engine
from refengine import compare, infer
from refengine import engine as reference
from refengine.errors import Disputed, RefengineError, Unsupported
from refengine.model import Dataset, Relation, Stream
from refengine.query import Query
from refengine.semantics import Disorder


@dataclass(frozen=True)
class Result:
    """What became of a case against an engine: the outcome, its argument, and the known deviations that explain a fail."""

    engine: str
    case: Case
    outcome: Outcome
    argument: str
    deviations: tuple[Deviation, ...] = ()


@dataclass(frozen=True)
class Question:
    """A case's query, streams and static data, and what an engine answered to them."""

    query: Query
    streams: Mapping[str, Stream]
    static: Dataset
    answers: list[Answered]

    @property
    def relations(self) -> list[Relation]:
        """What is judged."""
        return [answer.relation for answer in self.answers]

    @property
    def options(self) -> dict[str, Any]:
        """Of the oracle: a live engine is seen from its beginning to its end."""
        return {"missing": 0, "static": self.static}


def result(tested: Engine, harness: Harness, case: Case) -> Result:
    """A case against an engine. Whatever the engine does, there is a result; a case that is bad input asks nothing."""
    try:
        if tested.profile is None:
            found = expected(tested, harness, case)
        else:
            found = judged(tested, asked(tested, harness, case))
    except (Unsupported, Declined) as error:
        found = Outcome.UNSUPPORTED, str(error), ()
    except Disputed as error:
        found = Outcome.DISPUTED, str(error), ()
    except Broken as error:
        found = Outcome.ERROR, str(error), ()
    except RefengineError as error:
        found = Outcome.UNSUPPORTED, f"the case asks nothing of an engine: {error}", ()
    return Result(tested.name, case, *found)


def asked(tested: Engine, harness: Harness, case: Case) -> Question:
    """What an engine answers to a case. Raises what makes the case no question, and Declined and Broken."""
    query, streams, static = corpus.query_of(case), corpus.streams_of(case), corpus.static_of(case)
    text = tested.text(query, bool(static))
    return Question(query, streams, static, play(harness, Asked(query, text, tested.dialect), streams, static))


Found = tuple[Outcome, str, tuple[Deviation, ...]]


def judged(tested: Engine, question: Question) -> Found:
    """The oracle's verdict under what the engine sets out to do; of a fail, the known deviations that explain it, if they do."""
    found = judge.verdict(question.query, question.streams, tested.profile, question.relations, **question.options)
    wrong = next(wrong_windows(question, found.facts), None) if found.outcome is Outcome.PASS else None
    outcome, argument = (found.outcome, found.argument) if wrong is None else (Outcome.FAIL, wrong)
    known = tested.deviations
    if outcome is not Outcome.FAIL or not known or not holds(tested, question, known):
        return outcome, argument, ()
    needed = tuple(one for one in known if not holds(tested, question, [other for other in known if other is not one]))
    return outcome, argument, needed or known


def holds(tested: Engine, question: Question, deviations: Iterable[Deviation]) -> bool:
    """Whether the oracle passes an engine with these deviations."""
    fields = {name: value for deviation in deviations for name, value in deviation.fields.items()}
    try:
        facts = infer.judge(question.query, question.streams, tested.profile.but(**fields), question.relations, **question.options)
        told = any(deviation.told == "window" for deviation in deviations)
        return facts.passed and (told or next(wrong_windows(question, facts), None) is None)
    except (Unsupported, Disputed):
        return False


def wrong_windows(question: Question, facts: infer.Judgement) -> Iterator[str]:
    """The windows that an engine says its answers are about, where they are others."""
    reports = reference.evaluate(question.query, question.streams, facts.trial.semantics, static=question.static)
    for number, (report, answer) in enumerate(zip(reports, question.answers, strict=False), 1):
        if answer.window is not None and report.window is not None and answer.window != report.window:
            yield f"WIN-3 at t={report.evaluation}: answer {number} is about {list(report.window)}; the engine says {list(answer.window)}"


def expected(tested: Engine, harness: Harness, case: Case) -> Found:
    """A case's own expectations, each under its semantics."""
    blocks = [block for block in case.table.get("expect", []) if "max_reports" not in block]
    if not blocks:
        raise Unsupported("it expects nothing of an engine", rule="case", place=case.path)
    query, streams, static = corpus.query_of(case), corpus.streams_of(case), corpus.static_of(case)
    lines = []
    for block in blocks:
        told = Asked(query, tested.text(query, bool(static), case.table["query"]), tested.dialect, corpus.semantics_of(block["semantics"]))
        lines += _differences(query, block, play(harness, told, streams, static), _expected_with(told, streams))
    return (Outcome.FAIL, "\n".join(f"{case.rule}: {line}" for line in lines), ()) if lines else (Outcome.PASS, "", ())


def _expected_with(told: Asked, streams: Mapping[str, Stream]) -> frozenset[int] | None:
    """The instants of the elements with which reports may come, or None where elements may wait for others (MOD-2)."""
    waits = told.semantics.disorder not in (Disorder.REJECT, 0)
    return None if waits else frozenset(element.app for window in told.query.windows for element in streams[window.stream])


def _differences(query: Query, block: Mapping[str, Any], got: list[Answered], instants: frozenset[int] | None) -> Iterator[str]:
    """What is said of a report and compared; a trigger that is no element's instant is the horizon, which is told to no engine."""
    wanted = block["reports"]
    if len(got) != len(wanted):
        yield f"expected {len(wanted)} reports, got {len(got)}"
    for number, (report, answer) in enumerate(zip(wanted, got, strict=False), 1):
        rows = corpus.relation(report["rows"], query).rows
        if not compare.equal(rows, answer.relation.rows, compare.Mode(block.get("mode", "value"))):
            yield f"report {number}: expected {corpus.show(rows)}, got {corpus.show(answer.relation.rows)}"
        if report.get("window") and answer.window is not None and list(answer.window) != report["window"]:
            yield f"report {number}: expected window {report['window']}, got {list(answer.window)}"
        if "instant" in report and answer.instant is not None and answer.instant != report["instant"]:
            yield f"report {number}: expected instant {report['instant']}, got {answer.instant}"
        if "trigger" in report and instants is not None:
            trigger = report["trigger"] if report["trigger"] in instants else None
            if answer.came != trigger:
                yield f"report {number}: expected {_coming(trigger)}, got it {_coming(answer.came)}"


def _coming(came: int | None) -> str:
    return "at the end" if came is None else f"with the element at {came}"
