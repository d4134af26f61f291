"""Verdicts: the oracle's facts as an outcome and an argument. Five outcomes, never merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypedDict, Unpack

from conformance.verdict import explain
from refengine.core.query import Query
from refengine.core.semantics import Closure, Profile
from refengine.model.compare import Mode
from refengine.model.elements import Dataset, Relation, Stream
from refengine.model.errors import Disputed, Unsupported
from refengine.oracle import divergence, explanations, judge
from refengine.oracle.trial import Answers, Missing
from refengine.sparql.witnesses import WITNESSES


class Outcome(StrEnum):
    """What can become of a recording."""

    PASS = "pass"
    FAIL = "fail"
    UNSUPPORTED = "unsupported"
    DISPUTED = "disputed"
    ERROR = "error"


@dataclass(frozen=True)
class Verdict:
    """An outcome and the argument for it, in one screen of text; the oracle's facts, where it came
    to any.
    """

    outcome: Outcome
    argument: str
    facts: judge.Judgement | None = None

    @property
    def witnesses(self) -> tuple[str, ...]:
        """The witnesses that confirm every answer that it rests on."""
        return self.facts.standing.confirming if self.facts is not None else ()


@dataclass(frozen=True)
class Judging:
    """How recordings are judged.

    `witnesses` are asked, `missing` outputs may be missing at each end (None: as many as the
    benchmark allows), and `keep` says whether a result has what it rests on.
    """

    witnesses: tuple[str, ...] = tuple(WITNESSES)
    missing: int | None = None
    keep: bool = False

    @property
    def bound(self) -> int:
        """How many outputs of a recording may be missing at each end (ORA-3)."""
        return 1 if self.missing is None else self.missing


class Options(TypedDict, total=False):
    """The options of `refengine.oracle.judge.judge`."""

    missing: int | Missing
    mode: Mode
    static: Dataset
    witnesses: tuple[str, ...]
    answers: Answers | None
    windows: Sequence[tuple[int, int] | None]
    window_closure: Closure | None


def verdict(
    query: Query,
    streams: Mapping[str, Stream],
    profile: Profile,
    recording: Sequence[Relation],
    *,
    timestamps: Sequence[int | None] = (),
    **options: Unpack[Options],
) -> Verdict:
    """The verdict on a recording under a profile; `options` are those of
    `refengine.oracle.judge.judge`, and `timestamps`, which are no part of the verdict, those of the
    recording's relations.

    Bad input (a query, stream or profile without meaning) raises its RefengineError: it is no
    verdict on an engine.
    """
    try:
        facts = judge.judge(query, streams, profile, recording, **options)
    except Unsupported as error:
        return Verdict(Outcome.UNSUPPORTED, f"unsupported: {error}")
    except Disputed as error:
        return Verdict(Outcome.DISPUTED, explain.disputed(query, error))
    if facts.passed:
        return Verdict(Outcome.PASS, explain.passed(profile, facts), facts)
    if facts.is_right_but_for_windows:
        return Verdict(Outcome.FAIL, explain.told_wrongly(profile, facts), facts)
    far, found = None, explanations.Nearest()
    if not explanations.other_variables(query, recording):
        far = divergence.out_of_reach(
            query, streams, recording, mode=facts.mode, static=options.get("static", frozenset())
        )
    if far is None:
        found = explanations.nearest(
            query, streams, profile, recording, facts, timestamps=timestamps, **options
        )
    return Verdict(
        Outcome.FAIL, explain.failed(query, profile, recording, facts, far, found), facts
    )
