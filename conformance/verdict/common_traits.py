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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from conformance.verdict.fail_reading import FailReading, read_fail
from conformance.verdict.place_traits import PLACE_TRAITS
from conformance.verdict.question_traits import list_question_traits
from conformance.verdict.results import Outcome, Result

LEAST_FAILS = 3  # fewer fails may share anything
LEAST_SHARE = 0.4  # a trait is named if at least this share of the fails shows it,
LEAST_GAIN = 0.3  # and if chance explains less, by this share of the fails
NEARLY = 0.9  # of the gain of the most telling trait
MOST_TRAITS = 3  # that are named for one engine


@dataclass(frozen=True)
class CommonTrait:
    """A trait that many of `total` fails show, those of `cases`. `text` completes "26 of 28 …":
    `lack a row that rests on the last instant of its window`. So many fails as `by_chance` were
    expected to show it; None if that is not known.
    """

    text: str
    cases: tuple[str, ...]
    total: int
    by_chance: float | None

    def __str__(self) -> str:
        words = f"{len(self.cases)} of {self.total} {self.text}"
        if self.by_chance is None:
            return words
        chance = f"{self.by_chance:.0f}" if self.by_chance >= 1 else "less than 1"
        return f"{words} ({chance} by chance)"

    @property
    def gain(self) -> float:
        """How many more fails show the trait than would by chance."""
        return len(self.cases) - (self.by_chance or 0)


def find_common_traits(fails: Sequence[Result], judged: Iterable[Result]) -> list[CommonTrait]:
    """Return what fails have in common, the most telling trait first; at most `MOST_TRAITS`.

    `judged` are all results of the engine: passes, and fails of any cause. After a trait is found,
    the search goes on with the fails that do not show it. A general trait is looked for only if
    there is no other.
    """
    every = {
        result.case: reading
        for result in fails
        if (reading := read_fail(result.evidence)) is not None
    }
    chances = _find_chances(judged)
    found: list[CommonTrait] = []
    left = every
    while len(left) >= LEAST_FAILS and len(found) < MOST_TRAITS:
        best = _find_most_telling(_list_special_traits(left, chances), len(left))
        if best is None:
            break
        found.append(best)
        left = {case: reading for case, reading in left.items() if case not in best.cases}
    if not found:
        general = _find_most_telling(_list_general_traits(every, chances), len(every))
        return [] if general is None else [general]
    return found


def _find_chances(judged: Iterable[Result]) -> Mapping[str, float]:
    """Return the chance that an unrelated fail shows a trait, by the text of the trait. Traits are
    left out if results do not say it.
    """
    readings = [
        reading
        for result in judged
        if result.outcome in (Outcome.PASS, Outcome.FAIL)
        and (reading := read_fail(result.evidence)) is not None
    ]
    counts = Counter(
        text for reading in readings for text in list_question_traits(reading.evidence)
    )
    chances = {text: count / len(readings) for text, count in counts.items()}
    for text, trait in PLACE_TRAITS.items():
        shares = [share for one in readings if (share := trait.share_in(one)) is not None]
        if shares:
            chances[text] = sum(shares) / len(shares)
    return chances


def _list_special_traits(
    readings: Mapping[str, FailReading], chances: Mapping[str, float]
) -> Iterator[CommonTrait]:
    """Yield the traits of places and of questions that fails show, but for the general ones."""
    shown: dict[str, list[str]] = {}
    for case, reading in readings.items():
        for text in sorted(list_question_traits(reading.evidence)):
            shown.setdefault(text, []).append(case)
    yield from _list_place_traits(readings, chances, are_general=False)
    for text, cases in sorted(shown.items()):
        yield CommonTrait(text, tuple(cases), len(readings), len(readings) * chances[text])


def _list_general_traits(
    readings: Mapping[str, FailReading], chances: Mapping[str, float]
) -> Iterator[CommonTrait]:
    """Yield the general traits that fails show."""
    return _list_place_traits(readings, chances, are_general=True)


def _list_place_traits(
    readings: Mapping[str, FailReading], chances: Mapping[str, float], *, are_general: bool
) -> Iterator[CommonTrait]:
    """Yield the traits of places that fails show, the general ones or the others."""
    for text, trait in PLACE_TRAITS.items():
        if trait.is_general == are_general:
            cases = tuple(case for case, reading in readings.items() if trait.is_shown(reading))
            chance = chances.get(text)
            by_chance = None if chance is None else len(readings) * chance
            yield CommonTrait(text, cases, len(readings), by_chance)


def _find_most_telling(traits: Iterable[CommonTrait], total: int) -> CommonTrait | None:
    """Return the trait that most more of all fails show than would by chance; of traits that are
    nearly as telling the first. None if no trait is common enough.
    """
    common = [
        trait
        for trait in traits
        if len(trait.cases) >= max(LEAST_FAILS, LEAST_SHARE * total)
        and trait.gain >= LEAST_GAIN * total
    ]
    most = max((trait.gain for trait in common), default=0.0)
    return next((trait for trait in common if trait.gain >= NEARLY * most), None)
