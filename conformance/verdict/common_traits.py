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

from conformance.verdict.fail_reading import read_fail
from conformance.verdict.place_traits import PLACE_TRAITS, list_place_traits
from conformance.verdict.question_traits import list_question_traits
from conformance.verdict.results import Outcome, Result

FEW_FAILS = 3  # fewer fails may share much by chance
RARE = 0.03  # the share of the judged cases that have a trait which few fails share
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

    @property
    def share(self) -> str:
        """How many of the fails show the trait, in words: `26 of 28`."""
        return f"{len(self.cases)} of {self.total}"

    @property
    def words(self) -> str:
        """The trait, and how many fails would show it by chance, if that is known."""
        if self.by_chance is None:
            return self.text
        chance = f"{self.by_chance:.0f}" if self.by_chance >= 1 else "less than 1"
        return f"{self.text} ({chance} by chance)"

    @property
    def gain(self) -> float:
        """How many more fails show the trait than would by chance."""
        return len(self.cases) - (self.by_chance or 0)


def find_common_traits(fails: Sequence[Result], judged: Sequence[Result]) -> list[CommonTrait]:
    """Return what fails have in common, the most telling trait first; at most `MOST_TRAITS`.

    `judged` are all results of the engine: passes, and fails of any cause. After a trait is found,
    the search goes on with the fails that do not show it. Only if there is none, a rule is looked
    for whose cases they are; and only if there is none either, a general trait.
    """
    every = {result.case: _Shown.by(result) for result in fails if result.evidence is not None}
    chances = _find_chances(judged)
    found: list[CommonTrait] = []
    left = every
    while left and len(found) < MOST_TRAITS:
        best = _find_most_telling(_list_traits(left, chances, are_general=False), len(left))
        if best is None:
            break
        found.append(best)
        left = {case: shown for case, shown in left.items() if case not in best.cases}
    if not found:
        rest = [
            _find_most_telling(_list_rules(fails, judged), len(fails)),
            _find_most_telling(_list_traits(every, chances, are_general=True), len(every)),
        ]
        return [trait for trait in rest if trait is not None][:1]
    return found


def _list_rules(fails: Sequence[Result], judged: Sequence[Result]) -> Iterator[CommonTrait]:
    """Yield that fails are of cases of a rule, for each of their rules."""
    is_judged = [one for one in judged if one.outcome in (Outcome.PASS, Outcome.FAIL)]
    for rule in sorted({one.rule for one in fails if one.rule}):
        cases = tuple(one.case for one in fails if one.rule == rule)
        share = sum(one.rule == rule for one in is_judged) / len(is_judged)
        yield CommonTrait(f"are cases of {rule}", cases, len(fails), len(fails) * share)


@dataclass(frozen=True)
class _Shown:
    """The traits that a fail shows: those of its question, and those of its place. The latter are
    unknown, and so left out, if its evidence was cut or has no reports that are due.
    """

    of_question: frozenset[str]
    of_place: frozenset[str]

    @staticmethod
    def by(fail: Result) -> _Shown:
        """Return the traits that a fail shows, from its evidence."""
        assert fail.evidence is not None
        reading = read_fail(fail.evidence)
        of_place = [] if reading is None else list_place_traits(reading)
        return _Shown(list_question_traits(fail.evidence), frozenset(of_place))


def _find_chances(judged: Iterable[Result]) -> Mapping[str, float]:
    """Return the chance that an unrelated fail shows a trait, by the text of the trait. Traits are
    left out if results do not say it.
    """
    evidence = [
        result.evidence
        for result in judged
        if result.outcome in (Outcome.PASS, Outcome.FAIL) and result.evidence is not None
    ]
    counts = Counter(text for one in evidence for text in list_question_traits(one))
    chances = {text: count / len(evidence) for text, count in counts.items()}
    readings = [reading for one in evidence if (reading := read_fail(one)) is not None]
    for text, trait in PLACE_TRAITS.items():
        shares = [share for one in readings if (share := trait.share_in(one)) is not None]
        if shares:
            chances[text] = sum(shares) / len(shares)
    return chances


def _list_traits(
    fails: Mapping[str, _Shown], chances: Mapping[str, float], *, are_general: bool
) -> Iterator[CommonTrait]:
    """Yield the traits that fails show: the general ones, or the others."""
    cases: dict[str, list[str]] = {text: [] for text in PLACE_TRAITS}
    for case, shown in fails.items():
        for text in sorted(shown.of_place | shown.of_question):
            cases.setdefault(text, []).append(case)
    for text, showing in cases.items():
        is_general = text in PLACE_TRAITS and PLACE_TRAITS[text].is_general
        if showing and is_general == are_general:
            chance = chances.get(text)
            by_chance = None if chance is None else len(fails) * chance
            yield CommonTrait(text, tuple(showing), len(fails), by_chance)


def _find_most_telling(traits: Iterable[CommonTrait], total: int) -> CommonTrait | None:
    """Return the trait with the greatest excess over chance; of traits that are nearly as telling
    the first. None if no trait is common enough.
    """
    common = [trait for trait in traits if _is_common(trait, total)]
    most = max((trait.gain for trait in common), default=0.0)
    return next((trait for trait in common if trait.gain >= NEARLY * most), None)


def _is_common(trait: CommonTrait, total: int) -> bool:
    """Whether enough of all fails show a trait. Of few fails all must show it, and it must be
    rare.
    """
    if total < FEW_FAILS:
        is_rare = trait.by_chance is not None and trait.by_chance <= RARE * total
        return len(trait.cases) == total and is_rare
    is_frequent = len(trait.cases) >= max(FEW_FAILS, LEAST_SHARE * total)
    return is_frequent and trait.gain >= LEAST_GAIN * total
