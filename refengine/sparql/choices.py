"""§7 Choices that the recommendation leaves to an evaluator: all of them are tried, and an answer
is one that they all give.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Protocol, TypeVar

from refengine.model.errors import NoSingleAnswer

T = TypeVar("T")
MOST_RUNS = 64


class Choose(Protocol):
    """What makes a choice among options, as `Choices.choose` does."""

    def __call__(self, key: Hashable, options: Sequence[T], reason: str, /) -> T:
        """Return one of the options."""
        ...


class Choices:
    """The choices of one run. A key stands for one choice, which is made once a run.

    The script has, choice by choice, the index of the option to take. Where it has ended, the first
    option is taken.
    """

    def __init__(self, script: Sequence[int]) -> None:
        self.script = list(script)
        self.made: dict[Hashable, int] = {}
        self.counts: list[int] = []
        self.reasons: list[str] = []

    def choose(self, key: Hashable, options: Sequence[T], reason: str) -> T:
        """Return one of the options: that of the script, or the first where
        the script has ended.
        """
        if len(options) == 1:
            return options[0]
        if key not in self.made:
            self.made[key] = len(self.counts)
            self.counts.append(len(options))
            self.reasons.append(reason)
            self.script += [0] * (len(self.counts) - len(self.script))
        return options[self.script[self.made[key]]]

    def next_script(self) -> list[int] | None:
        """Return the script of the next run: the last choice that has an option left takes it; None
        after the last run.
        """
        script = self.script[: len(self.counts)]
        while script:
            if script[-1] + 1 < self.counts[len(script) - 1]:
                return [*script[:-1], script[-1] + 1]
            script.pop()
        return None


def one_answer(run: Callable[[Choices], T], same: Callable[[T, T], bool]) -> T:
    """QRY-3: Make every run of an evaluation, and return the answer that all of them give.

    Raises NoSingleAnswer where two differ, where one has no answer, and where there are more than
    64 runs.
    """
    choices = Choices([])
    first = run(choices)
    runs = 1
    while (script := choices.next_script()) is not None:
        reason = choices.reasons[len(script) - 1]
        runs += 1
        if runs > MOST_RUNS:
            raise NoSingleAnswer(f"{reason}, in more ways than can be tried")
        choices = Choices(script)
        if not same(first, run(choices)):
            raise NoSingleAnswer(reason)
    return first
