"""What fails have in common, from their evidence alone.

A catalogue of causes cannot have every defect. But fails of one cause look alike: they lack a row
that rests on the last instant of a window, or their queries have OPTIONAL. A *trait* is such a
property of a fail. It is worth a line if many fails show it and chance would let few of them show
it:

- For a trait of the question, chance is the share of all judged cases, passes included, whose
  question has it: if 12 of 400 judged cases have OPTIONAL, then 3 % of unrelated fails have it.
- For a trait of an element on which a row rests, chance is the share of such elements in the
  windows of all judged cases: if one of 20 elements in a window is at its last instant, then a row
  that is lacking for another reason rests on it with the chance 5 %.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from conformance.verdict.fail_reading import FailReading, read_fail
from conformance.verdict.place_traits import PLACE_TRAITS
from conformance.verdict.question_traits import list_question_traits
from conformance.verdict.results import Outcome, Result

LEAST_FAILS = 3  # fewer fails may share anything
LEAST_SHARE = 0.5  # a trait is named if at least this share of the fails shows it,
LEAST_GAIN = 0.3  # and if chance explains less, by this share of the fails
MOST_TRAITS = 3  # that are named for one engine


@dataclass(frozen=True)
class CommonTrait:
    """A trait that many fails show. `text` completes "26 of 28 …": `lack a row that rests on the
    last instant of its window`. `cases` are the fails that show it, out of `total`. Of `by_chance`
    so many fails were expected.
    """

    text: str
    cases: tuple[str, ...]
    total: int
    by_chance: float

    def __str__(self) -> str:
        chance = f"{self.by_chance:.0f}" if self.by_chance >= 1 else "less than 1"
        return f"{len(self.cases)} of {self.total} {self.text} ({chance} by chance)"


@dataclass(frozen=True)
class _Count:
    """How many fails show a trait, by case, and how many would by chance."""

    text: str
    cases: tuple[str, ...]
    by_chance: float

    @property
    def gain(self) -> float:
        """How many more fails show the trait than would by chance."""
        return len(self.cases) - self.by_chance


def find_common_traits(fails: Sequence[Result], judged: Iterable[Result]) -> list[CommonTrait]:
    """Return what fails have in common, the most telling trait first; at most `MOST_TRAITS`.

    `judged` are all results of the engine: passes, and fails of any cause. After a trait is found,
    the search goes on with the fails that do not show it.
    """
    left = {
        result.case: reading
        for result in fails
        if (reading := read_fail(result.evidence)) is not None
    }
    chances = _Chances.of(judged)
    found: list[CommonTrait] = []
    while len(left) >= LEAST_FAILS and len(found) < MOST_TRAITS:
        best = _find_most_telling(left, chances)
        if best is None:
            break
        found.append(CommonTrait(best.text, best.cases, len(fails), best.by_chance))
        left = {case: reading for case, reading in left.items() if case not in best.cases}
    return found


@dataclass(frozen=True)
class _Chances:
    """The chance that an unrelated fail shows a trait, by its text."""

    of_questions: Mapping[str, float]
    of_places: Mapping[str, float]

    @staticmethod
    def of(judged: Iterable[Result]) -> _Chances:
        """Return the chances among the questions of passes and fails."""
        readings = [
            reading
            for result in judged
            if result.outcome in (Outcome.PASS, Outcome.FAIL)
            and (reading := read_fail(result.evidence)) is not None
        ]
        counts = Counter(
            text for reading in readings for text in list_question_traits(reading.evidence)
        )
        of_questions = {text: count / len(readings) for text, count in counts.items()}
        of_places = {}
        for text, trait in PLACE_TRAITS.items():
            shares = [share for one in readings if (share := trait.share_in(one)) is not None]
            of_places[text] = sum(shares) / len(shares) if shares else 0.0
        return _Chances(of_questions, of_places)


def _find_most_telling(readings: Mapping[str, FailReading], chances: _Chances) -> _Count | None:
    """Return the trait that most more fails show than would by chance; of equal ones the first.
    None if no trait is common enough.
    """
    shown: dict[str, list[str]] = {text: [] for text in PLACE_TRAITS}
    for case, reading in readings.items():
        for text, trait in PLACE_TRAITS.items():
            if trait.is_shown(reading):
                shown[text].append(case)
        for text in sorted(list_question_traits(reading.evidence)):
            shown.setdefault(text, []).append(case)
    every = {**chances.of_questions, **chances.of_places}
    total = len(readings)
    counts = [_Count(text, tuple(cases), total * every[text]) for text, cases in shown.items()]
    common = [
        count
        for count in counts
        if len(count.cases) >= max(LEAST_FAILS, LEAST_SHARE * total)
        and count.gain >= LEAST_GAIN * total
    ]
    return max(common, key=lambda count: count.gain, default=None)
