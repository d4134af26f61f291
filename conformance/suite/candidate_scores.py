"""Which candidate explains an engine best: candidates are compared on a sample of its fails, and on
passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from conformance.suite.candidates import (
    Candidate,
    Cases,
    explained_by,
    explains,
    install_wrong_engines,
)
from conformance.suite.recorded_case import RecordedCase


@dataclass(frozen=True)
class Thresholds:
    """The thresholds of a search for causes. Shares are of 1."""

    # Samples of the fails

    #: A sample has the smallest fail of so many rules,
    rules_in_sample: int = 12
    #: and so many others, of all sizes.
    others_in_sample: int = 28
    #: A change or a habit is tried on the whole sample if it explains one of so many fails,
    first_look: int = 6
    #: and a wrong engine if it explains one of so many fails of its rules.
    own_fails: int = 2

    # Which candidates are compared further

    #: So many candidates are tried on passes.
    tried_on_passes: int = 8
    #: A candidate whose value is within this of the best one's is nearly as good.
    margin: float = 0.25
    #: So many of those nearly as good as the best are tried as the first cause.
    first_causes: int = 3
    #: Candidates whose values differ by less are compared on all fails,
    equal: float = 0.05
    #: at most so many of them.
    most_equals: int = 8
    #: Fewer fails are few: a candidate may fit them by chance.
    few_fails: int = 3
    #: One of many integers must explain more than this share of the sample.
    share_of_integer: float = 0.75
    #: A first cause that explains this share of the sample is kept at once. A cause is replaced by
    #: others that explain this share of its fails.
    nearly_all: float = 0.9

    # Pairs

    #: A pair must explain this share of the sample.
    share_of_pair: float = 0.75
    #: Where one candidate explains less than this share of the sample,
    little: float = 0.6
    #: a pair must explain this smaller share,
    share_of_pair_for_little: float = 0.3
    #: and by this share more than that candidate.
    clearly_more: float = 0.1
    #: Of so many fails a pair must explain such a share, before it is tried on the sample.
    first_look_of_pair: int = 4
    #: So many of the best pairs are tried on all passes.
    most_pairs: int = 4

    # What speaks against a cause

    #: A candidate may contradict at most this share of the passes.
    most_contradicted: float = 0.25
    #: A cause explains at least so many fails for a pass that would fail under it,
    fails_for_pass: int = 4
    #: and a pair so many: its engine may have a third defect.
    fails_of_pair_for_pass: int = 2
    #: A cause of a smaller share of all fails is given up if one pass would fail under it.
    small: float = 0.2
    #: A cause of a smaller share of all fails is not kept.
    hardly_any: float = 0.05
    #: After so many were given up no more candidates are.
    most_given_up: int = 12
    #: After so many causes no more are looked for,
    most_causes: int = 5
    #: and in a search on trial after so many.
    most_causes_on_trial: int = 2


THRESHOLDS = Thresholds()


@dataclass(frozen=True)
class Score:
    """How well a candidate explains an engine: how many of the sampled `fails` are `explained`, and
    how many of the `passes` that can say anything are `contradicted`: they would fail under it.
    """

    explained: int
    fails: int
    contradicted: int
    passes: int

    @property
    def explained_share(self) -> float:
        """The share of the sampled fails that is explained."""
        return self.explained / self.fails

    @property
    def contradicted_share(self) -> float:
        """The share of the passes that is contradicted. Where there are fewer passes than sampled
        fails, they are counted as if there were as many: the few that are left may be right by two
        wrongs.
        """
        return self.contradicted / max(self.passes, self.fails)

    @property
    def explains_all(self) -> bool:
        """Whether all sampled fails are explained, and no pass is contradicted."""
        return self.explained == self.fails and self.contradicted == 0

    @property
    def value(self) -> float:
        """The share that is explained less the share that is contradicted."""
        return self.explained_share - self.contradicted_share

    @property
    def is_credible(self) -> bool:
        """Whether a candidate explains more than it contradicts, and contradicts little; if it
        explains few fails, then nothing.
        """
        bound = THRESHOLDS.most_contradicted if self.explained >= THRESHOLDS.few_fails else 0
        return self.value > 0 and self.contradicted_share <= bound


ScoredCandidate = tuple[Candidate, Score]


@dataclass(frozen=True)
class Comparison:
    """The comparison of candidates on a `sample` of fails and on `passes`. The causes `found` so
    far are in force, too. Candidates that were `given_up` are not compared. `least` is how many
    fails one must explain that may fit some by chance.
    """

    found: Sequence[Candidate]
    sample: Cases
    passes: Cases
    given_up: Sequence[Candidate] = ()
    least: int = THRESHOLDS.few_fails

    def credible_candidates(
        self,
        candidates: Iterable[Candidate],
        first_look: Callable[[Candidate], Cases],
    ) -> list[ScoredCandidate]:
        """Return the best of some candidates with their scores, the best first. A candidate is
        tried on all of the sample if it explains one of its `first_look`, and on passes if it may
        be the best one, or nearly as good: its value is at most the share that it explains.
        """
        counts = [
            (count, candidate)
            for candidate in candidates
            if (count := self._count_explained(candidate, first_look(candidate)))
        ]
        counts.sort(key=lambda pair: -pair[0])
        scored: list[ScoredCandidate] = []
        best = 0.0
        for count, candidate in counts[: THRESHOLDS.tried_on_passes]:
            if count / len(self.sample) <= best - THRESHOLDS.margin:
                break
            score = self.score([candidate], count)
            if score.is_credible:
                scored.append((candidate, score))
                best = max(best, score.value)
        return best_first(scored)

    def score(self, candidates: Sequence[Candidate], explained: int) -> Score:
        """Return the score of candidates that together explain so many fails of the sample. Passes
        that cannot say anything do not count.
        """
        in_force = [*self.found, *candidates]
        with install_wrong_engines(in_force):
            said = [explains(in_force, case) for case in self.passes]
        return Score(
            explained=explained,
            fails=len(self.sample),
            contradicted=said.count(False),
            passes=len(said) - said.count(None),
        )

    def do_explain_most(self, candidates: Sequence[Candidate], cases: Cases, least: float) -> bool:
        """Whether candidates together explain at least a share of some cases."""
        in_force = [*self.found, *candidates]
        misses = 0
        with install_wrong_engines(in_force):
            for case in cases:
                misses += not explains(in_force, case, is_end_stated=True)
                if misses > (1 - least) * len(cases):
                    return False
        return True

    def find_unexplained(self, candidates: Sequence[Candidate]) -> list[RecordedCase]:
        """Return the fails of the sample that candidates together do not explain."""
        in_force = [*self.found, *candidates]
        explained = explained_by(in_force, self.sample, is_end_stated=True)
        return [case for case in self.sample if case not in explained]

    def _count_explained(self, candidate: Candidate, first_look: Cases) -> int:
        """Return how many fails of the sample a candidate explains; 0 if it is a cause already or
        was given up, or if it explains none of its first look, or so few that it may be by chance.
        """
        if candidate in self.found or candidate in self.given_up:
            return 0
        in_force = [*self.found, candidate]
        with install_wrong_engines(in_force):
            if not any(explains(in_force, case) for case in first_look):
                return 0
            count = sum(bool(explains(in_force, case)) for case in self.sample)
        if candidate.is_integer_of_t0 and count <= THRESHOLDS.share_of_integer * len(self.sample):
            return 0
        if candidate.may_fit_by_chance and count < self.least:
            return 0
        return count


def best_first(scored: Iterable[ScoredCandidate]) -> list[ScoredCandidate]:
    """Return candidates by the value of their scores; of equal ones the first stays first."""
    return sorted(scored, key=lambda pair: -pair[1].value)


def spread(cases: Cases, number: int) -> Cases:
    """Return so many cases, from all parts of a list; all if there are fewer."""
    return [cases[place * len(cases) // number] for place in range(min(number, len(cases)))]


def choose_sample(cases: Cases) -> list[RecordedCase]:
    """Return the fails on which candidates are compared, of all that are left, the smallest first:
    the smallest one of each of the first rules, and some others of all sizes. Where the
    engine answered nothing, many candidates would explain it; so such a fail counts only if there
    are few others.
    """
    with_rows = [case for case in cases if any(one.rows for one in case.relations)]
    if len(with_rows) >= THRESHOLDS.few_fails:
        cases = with_rows
    by_rule: dict[str, RecordedCase] = {}
    for case in cases:
        by_rule.setdefault(case.result.rule, case)
    firsts = list(by_rule.values())[: THRESHOLDS.rules_in_sample]
    others = [case for case in cases if case not in firsts]
    step = max(1, len(others) // THRESHOLDS.others_in_sample)
    return firsts + others[step - 1 :: step][: THRESHOLDS.others_in_sample]
