"""Which semantics come nearest to a recording that none explains."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from refengine.core.profile import Profile
from refengine.model.errors import RefengineError
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.judge import Judgement, judge_recording
from refengine.oracle.trial import RecordingToJudge


class NearMiss(NamedTuple):
    """A semantics that explains some relations: `matched` is how many, and `fields` are its values,
    with an integer t0.
    """

    matched: int
    fields: dict[str, Any]


@dataclass
class NearMisses:
    """The semantics that explain most relations of a recording, of those that do not explain all:
    at most so many as `most`, the first of those that explain equally many.
    """

    most: int = 20
    found: list[NearMiss] = field(default_factory=list)

    def wants(self, matched: int) -> bool:
        """Return whether one that explains so many relations is near enough."""
        return len(self.found) < self.most or matched > self.found[-1].matched

    def note(self, matched: int, fields: dict[str, Any]) -> None:
        """Take one more."""
        self.found.append(NearMiss(matched, fields))
        self.found.sort(key=lambda one: -one.matched)
        del self.found[self.most :]

    def judge(
        self, recorded: RecordingToJudge, answers: SharedAnswers, witnesses: tuple[str, ...]
    ) -> Judgement | None:
        """Return the verdict on the nearest, that with the alignment of the least cost; None if
        there is none, or no verdict on any.
        """
        verdicts = []
        for miss in self.found:
            with suppress(RefengineError):
                profile = Profile("nearest", "", miss.fields)
                verdict = judge_recording(recorded, profile, answers, witnesses)
                if verdict.trial is not None and not verdict.passed:
                    verdicts.append(verdict)
        return min(verdicts, key=lambda one: one.divergence.cost, default=None)
