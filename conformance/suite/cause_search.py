"""The search for the causes of an engine's fails, among candidates.

1. Fails that are right but for the windows that the engine states are set apart.
2. Each change of one field is tried on a sample of the fails: the smallest fail of each rule comes
   first. Those that explain most are tried on passes, too: if passes would fail under a change,
   then it is not what the engine does. So are simple defects and wrong engines.
3. The best candidate is kept: the share of the sampled fails that it explains is greater than the
   share of the passes that would fail under it. On a tie a change wins, since the judge can apply
   it. If there is no such candidate, pairs are tried: two changes, or a change and a simple defect.
   The search goes on with the fails that are left, with what was kept in force.
4. Of each fail that is explained, the causes are kept without which it would not be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, product

from conformance.suite.candidates import (
    WRONG_WINDOWS,
    Candidate,
    change_candidates,
    explains,
    install_wrong_engines,
    simple_defect_candidates,
    wrong_engine_candidates,
)
from conformance.suite.recorded_case import RecordedCase
from conformance.wrong_engines import HABITS
from refengine.core.semantics import Profile

FIRST_LOOK = 6  # fails of the sample of which a change must explain one, to be tried on all
OWN_FAILS = 2  # fails of its rules of which a wrong engine must explain one
SMALLEST = 12  # fails on which candidates are compared: the smallest one of so many rules
OTHERS = 28  # and so many of all sizes
BEST = 8  # candidates that are tried on passes
MAJORITY = 0.5  # share of the sample of which a pair, or one of many integers, must explain more
NEARLY_ALL = 0.9  # share of the sample that a first cause explains if no other is tried as first
MARGIN = 0.25  # by which the value of such a candidate may be less than the best
FIRST_CAUSES = 3  # such candidates that are tried
CONTRADICTED_BOUND = 0.25  # share of the passes that a cause may contradict, at most
SMALL = 0.1  # share of the explained fails of which a small cause explains less
PAIRS_LEAST = 0.25  # share of the fails of which more must be left for pairs to be tried
CAUSES_BOUND = 5  # causes after which no more are looked for

Cases = Sequence[RecordedCase]


@dataclass(frozen=True)
class Score:
    """How well a candidate explains an engine: the share of the sampled fails that it explains, and
    the share of the passes that would fail under it.
    """

    explained: float = 0
    contradicted: float = 0

    @property
    def value(self) -> float:
        """The shares as one number; a candidate is worth something if it is more than 0."""
        return self.explained - self.contradicted


ScoredCandidate = tuple[Candidate, Score]


@dataclass
class CauseSearch:
    """A search. `profile` is that of the engine, None for one that is sent its semantics with each
    case. `left` are the fails that are not explained yet, the smallest first, and `passes` the
    passes on which candidates are tried. One that `is_trial` ends after two causes, and tries no
    pairs. `found` are the causes so far, and `explained` has each
    explained fail with the causes without which it would not be.
    """

    profile: Profile | None
    left: list[RecordedCase]
    passes: Cases
    is_trial: bool = False
    found: list[Candidate] = field(default_factory=list)
    explained: list[tuple[RecordedCase, list[Candidate]]] = field(default_factory=list)

    def run(self) -> None:
        """Find causes, one after the other, until nothing explains a fail that is left."""
        bound = 2 if self.is_trial else CAUSES_BOUND
        while self.left and len(self.found) < bound:
            candidates = self._best_candidates()
            if not candidates:
                return
            self._keep(candidates)
        self._replace_small_causes()

    def explained_fails(self) -> Iterator[tuple[Candidate, list[RecordedCase]]]:
        """Yield each cause that is needed for a fail, with these fails, in the order in which the
        causes were found.
        """
        for candidate in self.found:
            cases = [case for case, needed in self.explained if candidate in needed]
            if cases:
                yield candidate, cases

    def _keep(self, candidates: Sequence[Candidate]) -> None:
        """Keep candidates as causes, and take the fails that they explain from those that are left.

        First all causes found so far are in force as well. A wrong engine that was found may do a
        little more than the engine; so then only the changes among the causes are.
        """
        changes = [cause for cause in self.found if cause.change is not None]
        combinations_of_causes = [[*self.found, *candidates]]
        if len(changes) < len(self.found):
            combinations_of_causes.append([*changes, *candidates])
        for causes in combinations_of_causes:
            explained = self._explained_by(causes, self.left)
            self.explained += [(case, _drop_unneeded(case, causes)) for case in explained]
            self.left = [case for case in self.left if case not in explained]
        self.found += candidates

    def _replace_small_causes(self) -> None:
        """Give the fails of causes that explain few to the causes found later, where these explain
        them as well.
        """
        counts = Counter(cause for _, needed in self.explained for cause in needed)
        small = [cause for cause in self.found if counts[cause] < SMALL * len(self.explained)]
        others = [cause for cause in self.found if cause not in small]
        if not small or not others:
            return
        with install_wrong_engines(others):
            is_explained = {
                case
                for case, needed in self.explained
                if not set(small).isdisjoint(needed) and explains(others, case)
            }
        self.explained = [
            (case, _drop_unneeded(case, others) if case in is_explained else needed)
            for case, needed in self.explained
        ]

    def _explained_by(self, candidates: Sequence[Candidate], cases: Cases) -> list[RecordedCase]:
        """Return the cases that candidates together explain."""
        with install_wrong_engines(candidates):
            return [case for case in cases if explains(candidates, case)]

    def _best_candidates(self) -> list[Candidate]:
        """Return the candidate that explains the engine best, or a pair if no candidate explains a
        fail; none if no pair does either.
        """
        sample = _sample(self.left)
        ranked = self._rank(sample)
        if not ranked:
            is_much_left = len(self.left) > PAIRS_LEAST * (len(self.left) + len(self.explained))
            return self._best_pair(sample) if is_much_left and not self.is_trial else []
        best, score = ranked[0]
        if not self.found and score.explained < NEARLY_ALL:
            near = [one for one, other in ranked if other.value > score.value - MARGIN]
            if len(near) > 1:
                best = min(
                    near[:FIRST_CAUSES], key=lambda one: self._unexplained_after(one, sample)
                )
        return [best]

    def _rank(self, sample: Cases) -> list[ScoredCandidate]:
        """Return the candidates that explain more than they contradict, the best first: of equal
        ones the change of a field, then the simple defect, then the wrong engine.
        """
        changes = self._score_best(self._changes(), sample, lambda _: sample[:FIRST_LOOK])
        if changes and changes[0][1].explained == 1:
            return changes[:1]
        scored = [
            *changes,
            *self._score_best(simple_defect_candidates(), sample, lambda _: sample),
            *self._score_best(self._wrong_engines(), sample, self._own_fails),
            *self._score_best([WRONG_WINDOWS], sample, lambda _: sample),
        ]
        return sorted(scored, key=lambda pair: -pair[1].value)

    def _unexplained_after(self, candidate: Candidate, sample: Cases) -> tuple[int, int]:
        """Return how many fails of a sample are left by a search that begins with a candidate, and
        how many causes it finds.
        """
        search = CauseSearch(self.profile, list(sample), self.passes, is_trial=True)
        search._keep([candidate])
        search.run()
        return len(search.left), len(search.found)

    def _best_pair(self, sample: Cases) -> list[Candidate]:
        """Return the first pair, of changes of different fields or of a change and a simple defect,
        that explains the first two fails of a sample and more than half of all; none if there is
        none. The many integers for t0 are left out.
        """
        changes = [change for change in self._changes() if not change.is_one_of_many]
        pairs = chain(combinations(changes, 2), product(simple_defect_candidates(), changes))
        for one, other in pairs:
            if one.field == other.field:
                continue
            in_force = [*self.found, one, other]
            with install_wrong_engines(self.found):
                is_promising = all(explains(in_force, case) for case in sample[:2])
            if is_promising:
                score = self._score(in_force, sample)
                if score.explained > MAJORITY and score.contradicted <= CONTRADICTED_BOUND:
                    return [one, other]
        return []

    def _changes(self) -> list[Candidate]:
        """Return the changes of fields that no cause has changed yet."""
        changed = {candidate.field for candidate in self.found}
        return [
            candidate
            for candidate in change_candidates(self.profile)
            if candidate.field not in changed
        ]

    def _wrong_engines(self) -> list[Candidate]:
        """Return the wrong engines of the rules of the fails that are left."""
        return list(wrong_engine_candidates(dict.fromkeys(case.result.rule for case in self.left)))

    def _own_fails(self, candidate: Candidate) -> Cases:
        """Return the smallest fails of the rules of a wrong engine, and of a habit those of all."""
        assert candidate.wrong_engine is not None
        if candidate.wrong_engine in HABITS:
            return self.left[:OWN_FAILS]
        rules = candidate.wrong_engine.rules
        return [case for case in self.left if case.result.rule in rules][:OWN_FAILS]

    def _score_best(
        self,
        candidates: Iterable[Candidate],
        sample: Cases,
        first_look: Callable[[Candidate], Cases],
    ) -> list[ScoredCandidate]:
        """Return the best candidates with their scores, the best first: those that explain more
        than they contradict. A candidate is tried on all of the sample if it explains one of its
        `first_look`.
        """
        counts: list[tuple[int, Candidate]] = []
        for candidate in candidates:
            if candidate in self.found:
                continue
            in_force = [*self.found, candidate]
            with install_wrong_engines(in_force):
                if any(explains(in_force, case) for case in first_look(candidate)):
                    count = sum(bool(explains(in_force, case)) for case in sample)
                    counts.append((count, candidate))
        scored: list[ScoredCandidate] = []
        for count, candidate in sorted(counts, key=lambda pair: -pair[0])[:BEST]:
            if count > len(sample) * (MAJORITY if candidate.is_one_of_many else 0):
                score = self._score([*self.found, candidate], sample)
                if score.value > 0 and score.contradicted <= CONTRADICTED_BOUND:
                    scored.append((candidate, score))
        return sorted(scored, key=lambda pair: -pair[1].value)

    def _score(self, in_force: Sequence[Candidate], sample: Cases) -> Score:
        """Return the score of candidates together. Passes that cannot say anything do not count."""
        with install_wrong_engines(in_force):
            explained = [bool(explains(in_force, case)) for case in sample]
            said = [explains(in_force, case) for case in self.passes]
        telling = [one for one in said if one is not None]
        contradicted = telling.count(False) / len(telling) if telling else 0
        return Score(sum(explained) / len(explained), contradicted)


def _sample(cases: Cases) -> list[RecordedCase]:
    """Return cases on which candidates are compared: the smallest of the first rules, and as many
    others of all sizes.
    """
    by_rule: dict[str, RecordedCase] = {}
    for case in cases:
        by_rule.setdefault(case.result.rule, case)
    firsts = list(by_rule.values())[:SMALLEST]
    others = [case for case in cases if case not in firsts]
    step = max(1, len(others) // OTHERS)
    return firsts + others[step - 1 :: step][:OTHERS]


def _drop_unneeded(case: RecordedCase, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return those of some candidates that explain a case together, without each that can be left
    out, the first first: the last one was found for this case.
    """
    needed = list(candidates)
    for candidate in candidates:
        rest = [other for other in needed if other is not candidate]
        if rest:
            with install_wrong_engines(rest):
                if explains(rest, case):
                    needed = rest
    return needed
