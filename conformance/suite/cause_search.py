"""The search for the causes of an engine's fails, among candidates.

1. Fails that are right but for the instants of the reports, or for their ends, are set apart.
2. Changes of one field, simple defects, habits and wrong engines are compared on a sample of the
   fails, and on passes: if many passes would fail under a candidate, then it is not what the engine
   does (`comparison`). Last it is tried that only the stated windows are wrong.
3. The best candidate is kept. On a tie a change wins, since the judge can apply it.
4. If the best one does not explain all of the sample, pairs are tried as the first two causes: two
   changes, a change and a pervasive defect, two pervasive defects, and an integer for t0 with any
   of these. A pervasive defect shows in nearly all cases. If no pair explains clearly more, and
   other candidates are nearly as good as the best one, then each of them is tried as the first
   cause, and the one is kept that leaves the fewest fails together with a second cause.
5. The search goes on with the fails that are left, with what was kept in force.
6. Of each fail that is explained, the causes are kept without which it would not be. A fail that
   was set apart is given to a cause that makes the instants of its reports, or explains it with
   another end.
7. A candidate is given up as a cause if too many passes of the run would fail under it. If nothing
   else explains any fail, and one of those given up explains nearly all of them, then it is near to
   what the engine does. It is kept, with the number of passes that speak against it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, product

from conformance.suite.candidates import (
    WRONG_INSTANTS,
    WRONG_WINDOWS,
    Candidate,
    change_candidates,
    explains,
    explains_with_an_end,
    install_wrong_engines,
    makes_recorded_instants,
    pervasive_candidates,
    simple_defect_candidates,
    wrong_engine_candidates,
)
from conformance.suite.comparison import (
    CONTRADICTED_BOUND,
    LEAST_FAILS,
    MARGIN,
    Cases,
    Comparison,
    ScoredCandidate,
    best_first,
    choose_sample,
    spread,
)
from conformance.suite.needed import keep_needed
from conformance.suite.recorded_case import RecordedCase
from conformance.wrong_engines import HABITS, WRONG_ENGINES
from refengine.core.semantics import Profile

# a change or a habit is tried on the whole sample if it explains one of so many fails,
FIRST_LOOK = 6
OWN_FAILS = 2  # and a wrong engine, if it explains one of so many fails of its rules
# a cause explains at least so many fails for a pass that would fail under it; a pair, whose engine
# may have a third defect, so many
EXPLAINED_FOR_ONE = 4
EXPLAINED_BY_PAIR = 2
SMALL = 0.2  # a cause of a smaller share of all fails is given up if one pass would fail under it
HARDLY_ANY = 0.05  # a cause of a smaller share of all fails is not kept
GIVEN_UP_BOUND = 12  # no more candidates are given up
# A first cause that explains this share of the sample is kept at once. A cause is replaced by
# others that explain this share of its fails.
NEARLY_ALL = 0.9
EQUAL = 0.05  # candidates whose values differ by less are compared on all fails,
EQUALS = 8  # so many of them at most
FIRST_CAUSES = 3  # of those nearly as good as the best so many are tried as the first cause
# A pair must explain most of the sample; or, where one candidate explains little of it, a smaller
# share, and clearly more than that candidate.
PAIR_LEAST = 0.75
LITTLE = 0.6
LESS_OF_PAIR = 0.3
CLEARLY_MORE = 0.1
PAIR_LOOK = 4  # of so many fails it must explain such a share, before it is tried on the sample
PAIRS_BOUND = 4  # so many of the best pairs are held to all passes
CAUSES_BOUND = 5  # no more causes are looked for after so many


@dataclass
class CauseSearch:
    """A search. `profile` is that of the engine, None for one that is sent its semantics with each
    case. `left` are the fails that are not explained yet, the smallest first, and `passes` the
    passes on which candidates are tried. A search that `is_trial` ends after two causes, and tries
    no pairs. `found` are the causes so far, and `explained` has each explained fail with the causes
    without which it would not be. `given_up` are the candidates under which too many of
    `every_pass` would fail, and `against` has the number of those that would under a cause. Pairs
    are not tried any more after one was given up. `least` is how many fails a candidate must
    explain that may fit some by chance, and `number` how many fails there were.
    """

    profile: Profile | None
    left: list[RecordedCase]
    passes: Cases
    every_pass: Cases = ()
    is_trial: bool = False
    found: list[Candidate] = field(default_factory=list)
    explained: list[tuple[RecordedCase, list[Candidate]]] = field(default_factory=list)
    given_up: list[Candidate] = field(default_factory=list)
    against: dict[Candidate, int] = field(default_factory=dict)
    are_pairs_tried: bool = True
    least: int = LEAST_FAILS
    number: int = 0

    def run(self) -> None:
        """Find causes, one after the other, until nothing explains a fail that is left."""
        self.number = len(self.left)
        self._set_wrong_instants_apart()
        apart = self._take_wrong_ends()
        self.least = min(LEAST_FAILS, len(self.left))
        self._find_causes()
        if apart:
            self._give_wrong_ends_to_causes(apart)
            self._find_causes()
        if not self.is_trial:
            self._keep_nearest()
            self._drop_causes_of_few_fails()
            self._give_wrong_instants_to_causes()
            self._leave_what_stated_causes_do_not_explain()

    def explained_fails(self) -> Iterator[tuple[Candidate, list[RecordedCase]]]:
        """Yield each cause that is needed for a fail, with these fails, the smallest first. The
        causes are in the order in which they were found.
        """
        for candidate in self.found:
            cases = [case for case, needed in self.explained if candidate in needed]
            if cases:
                yield candidate, sorted(cases, key=lambda case: case.size_and_id)

    def _set_wrong_instants_apart(self) -> None:
        """Take the fails that are right in all that the search compares. It does not compare the
        instants of reports, which only an engine that is sent its semantics must state.
        """
        apart = [case for case in self.left if case.is_explained_by({})]
        if apart:
            self.found.append(WRONG_INSTANTS)
            self.explained += [(case, [WRONG_INSTANTS]) for case in apart]
            self.left = [case for case in self.left if case not in apart]

    def _take_wrong_ends(self) -> list[RecordedCase]:
        """Take the fails that are right but for their ends from those that are left, and return
        them; take none if hardly any others are left. Many candidates explain such a fail.
        """
        apart = [case for case in self.left if case.is_right_but_for_its_end]
        if self.is_trial or len(self.left) - len(apart) < LEAST_FAILS:
            return []
        self.left = [case for case in self.left if not case.is_right_but_for_its_end]
        return apart

    def _give_wrong_ends_to_causes(self, apart: Cases) -> None:
        """Give the fails that are right but for their ends to the causes that explain them with
        another end. The rest is left.
        """
        left = list(apart)
        for cause in self._needed_causes():
            with install_wrong_engines([cause]):
                explained = [case for case in left if explains_with_an_end([cause], case)]
            self.explained += [(case, [cause]) for case in explained]
            left = [case for case in left if case not in explained]
        self.left = sorted([*self.left, *left], key=lambda case: case.size_and_id)

    def _find_causes(self) -> None:
        """Find causes, one after the other, and leave out those that others make superfluous."""
        bound = 2 if self.is_trial else CAUSES_BOUND
        while self.left and len(self.found) < bound:
            if not any(map(self._is_kept, self._best_candidates())):
                break
        self._replace_causes()

    def _is_kept(self, candidates: Sequence[Candidate]) -> bool:
        """Keep candidates as causes, and return True, unless too many passes would fail under
        them.
        """
        explained = self._explain_left(candidates)
        most = self._most_against(candidates, len(explained))
        against = self._count_against(candidates, most)
        if not explained or against > most:
            return False
        self._keep(candidates, explained)
        self.against |= dict.fromkeys(candidates, against)
        return True

    def _most_against(self, candidates: Sequence[Candidate], explained: int) -> int:
        """Return how many passes may fail under candidates that explain so many fails."""
        if explained < SMALL * self.number:
            return 0
        for_one = EXPLAINED_FOR_ONE if len(candidates) == 1 else EXPLAINED_BY_PAIR
        return min(explained // for_one, int(CONTRADICTED_BOUND * len(self.every_pass)))

    def _keep(
        self,
        candidates: Sequence[Candidate],
        explained: Sequence[tuple[RecordedCase, list[Candidate]]],
    ) -> None:
        """Keep candidates as causes, and take the fails that they explain from those that are
        left.
        """
        taken = [case for case, _ in explained]
        self.explained += explained
        self.left = [case for case in self.left if case not in taken]
        self.found += candidates

    def _explain_left(
        self, candidates: Sequence[Candidate]
    ) -> list[tuple[RecordedCase, list[Candidate]]]:
        """Return the fails that are left and that candidates explain, each with the causes that it
        needs.

        First all causes found so far are in force as well. A wrong engine that was found may do a
        little more than the engine; so then only the changes among the causes are.
        """
        changes = [cause for cause in self.found if cause.change is not None]
        attempts = [[*self.found, *candidates]]
        if len(changes) < len(self.found):
            attempts.append([*changes, *candidates])
        every: list[tuple[RecordedCase, list[Candidate]]] = []
        left = self.left
        for causes in attempts:
            explained = self._explained_by(causes, left)
            every += [(case, _needed_for(case, causes)) for case in explained]
            left = [case for case in left if case not in explained]
        return every

    def _count_against(self, candidates: Sequence[Candidate], bound: int) -> int:
        """Return how many passes would fail under candidates; if they are more than `bound`, one
        more than that.
        """
        number = 0
        with install_wrong_engines(candidates):
            for case in self.every_pass:
                number += explains(candidates, case) is False
                if number > bound:
                    break
        return number

    def _drop_causes_of_few_fails(self) -> None:
        """Take back the explanation of each fail that needs a cause of hardly any fails."""
        counts = Counter(cause for _, needed in self.explained for cause in needed)
        for case, needed in list(self.explained):
            if any(counts[cause] < HARDLY_ANY * self.number for cause in needed):
                self.explained.remove((case, needed))

    def _keep_nearest(self) -> None:
        """Keep the candidate that was given up and explains nearly all fails, if not many more
        passes would fail under it.
        """
        number = self.number
        if len(self.left) < NEARLY_ALL * number:
            return
        for candidate in self.given_up:
            explained = self._explain_left([candidate])
            if len(explained) < NEARLY_ALL * number:
                continue
            most = min(2 * number, int(CONTRADICTED_BOUND * len(self.every_pass)))
            against = self._count_against([candidate], bound=most)
            if against <= most:
                self._keep([candidate], explained)
                self.against[candidate] = against
                return

    def _replace_causes(self) -> None:
        """Give the fails of each cause to the other ones, if these explain nearly all of them. The
        causes that explain few fails are looked at first.
        """
        counts = Counter(cause for _, needed in self.explained for cause in needed)
        for cause in sorted(self.found, key=lambda cause: counts[cause]):
            own = [case for case, needed in self.explained if cause in needed]
            others = [other for other in self._needed_causes() if other is not cause]
            if own and others and not cause.misstates_instants:
                self._replace_cause(own, others)

    def _replace_cause(self, own: Cases, others: Sequence[Candidate]) -> None:
        """Give the fails of one cause, its `own`, to the others if these explain nearly all of
        them. The rest is left.
        """
        explained = self._explained_by(others, own)
        if len(explained) < NEARLY_ALL * len(own):
            return
        rest = [case for case in own if case not in explained]
        self.left = sorted([*self.left, *rest], key=lambda case: case.size_and_id)
        self.explained = [pair for pair in self.explained if pair[0] not in own]
        self.explained += [(case, _needed_for(case, others)) for case in explained]

    def _leave_what_stated_causes_do_not_explain(self) -> None:
        """Leave the fails that need only causes which an engine's file can state as fields or as
        wrong windows, and which these causes do not explain when all of them are in force, as those
        of a file are. A cause by which the semantics refuses the question is not in force.
        """
        needed_causes = self._needed_causes()
        granted = [cause for cause in needed_causes if not cause.has_many_alternatives]
        for case, needed in list(self.explained):
            is_granted = set(needed) <= set(granted) and needed != [WRONG_INSTANTS]
            in_force = [cause for cause in granted if explains([cause], case) is not None]
            if is_granted and not explains_with_an_end(in_force, case):
                self.explained.remove((case, needed))

    def _give_wrong_instants_to_causes(self) -> None:
        """Give each fail by wrong instants alone to another cause, if that makes these instants:
        an engine that evaluates at other instants states other ones.
        """
        causes = self._needed_causes()
        others = [cause for cause in causes if cause is not WRONG_INSTANTS]
        for place, (case, needed) in enumerate(self.explained):
            if needed == [WRONG_INSTANTS]:
                making = (cause for cause in others if makes_recorded_instants(cause, case))
                self.explained[place] = (case, [next(making, WRONG_INSTANTS)])

    def _needed_causes(self) -> list[Candidate]:
        """Return the causes that a fail needs, in the order in which they were found."""
        needed = {cause for _, causes in self.explained for cause in causes}
        return [cause for cause in self.found if cause in needed]

    def _explained_by(self, candidates: Sequence[Candidate], cases: Cases) -> list[RecordedCase]:
        """Return the cases that candidates together explain."""
        with install_wrong_engines(candidates):
            return [case for case in cases if explains(candidates, case)]

    def _best_candidates(self) -> list[list[Candidate]]:
        """Return what may be kept next, the best first: pairs of candidates, and then a single one.
        It is empty if no candidate is credible.

        Pairs are looked for once, for the first cause, if no single candidate explains all. The
        single one is the best. If it would be the first cause and does not explain nearly all, then
        it is the one, of those nearly as good, that leaves the fewest fails of the sample. Wrong
        instants, which are set apart, do not count as a first cause.
        """
        sample = choose_sample(self.left)
        comparison = Comparison(self.found, sample, self.passes, self.given_up, self.least)
        ranked = self._leave_out_contradicted(self._rank(comparison))
        is_first = all(cause is WRONG_INSTANTS for cause in self.found)
        share = ranked[0][1].explained_share if ranked else 0.0
        if is_first and share < NEARLY_ALL:
            single = self._best_first_cause(ranked, comparison)
        else:
            single = self._best_of_equals(ranked)
        options = [single] if single else []
        if is_first and share < 1 and self.are_pairs_tried:
            self.are_pairs_tried = False
            options = [*self._best_pairs(comparison, share), *options]
        return options

    def _leave_out_contradicted(self, ranked: Sequence[ScoredCandidate]) -> list[ScoredCandidate]:
        """Return the best candidates that passes do not contradict, a few at most, and give up
        those before them.
        """
        kept: list[ScoredCandidate] = []
        for candidate, score in ranked:
            if len(kept) == EQUALS or len(self.given_up) > GIVEN_UP_BOUND:
                break
            most = self._most_against([candidate], len(self._explain_left([candidate])))
            if self._count_against([candidate], most) > most:
                self.given_up.append(candidate)
            else:
                kept.append((candidate, score))
        return kept

    def _rank(self, comparison: Comparison) -> list[ScoredCandidate]:
        """Return the credible candidates, the best first: of equal ones the change of a field, then
        the simple defect, then the wrong engine, and last the wrong windows. If a change explains
        all fails that are left, and no pass would fail under it, return it alone: nothing else is
        tried. The wrong engines of other rules than those of the fails are tried if nothing
        explains nearly all.
        """
        sample = comparison.sample
        changes = comparison.credible_candidates(self._changes(), lambda _: sample[:FIRST_LOOK])
        if changes and changes[0][1].explains_all and self._explains_all([changes[0][0]]):
            return changes[:1]
        ranked = best_first(
            [
                *changes,
                *comparison.credible_candidates(simple_defect_candidates(), lambda _: sample),
                *comparison.credible_candidates(self._wrong_engines(), self._own_fails),
                *self._wrong_windows(comparison),
            ]
        )
        if self.is_trial or (ranked and ranked[0][1].explained_share >= NEARLY_ALL):
            return ranked
        others = comparison.credible_candidates(
            self._other_wrong_engines(), lambda _: spread(sample, FIRST_LOOK)
        )
        return best_first([*ranked, *others])

    def _explains_all(self, candidates: Sequence[Candidate]) -> bool:
        """Whether candidates explain all fails that are left, and no pass would fail under them."""
        explained = self._explained_by([*self.found, *candidates], self.left)
        return len(explained) == len(self.left) and not self._count_against(candidates, bound=0)

    def _best_of_equals(self, ranked: Sequence[ScoredCandidate]) -> list[Candidate]:
        """Return the one of the best candidates that explains most of all fails that are left, less
        the passes that would fail under it; none if there is none.
        """
        near = [one for one, score in ranked if score.value > ranked[0][1].value - EQUAL]
        if len(near) < 2:
            return near
        gains = {
            one: len(self._explained_by([*self.found, one], self.left))
            - self._count_against([one], bound=len(self.left))
            for one in near[:EQUALS]
        }
        return [max(gains, key=lambda one: gains[one])]

    def _best_first_cause(
        self,
        ranked: Sequence[ScoredCandidate],
        comparison: Comparison,
    ) -> list[Candidate]:
        """Return that one of the best candidates which leaves the fewest fails of the sample as the
        first cause; none if there is none.
        """
        near = [one for one, score in ranked if score.value > ranked[0][1].value - MARGIN]
        if len(near) < 2:
            return near
        near = near[:FIRST_CAUSES]
        return [min(near, key=lambda one: self._count_left_after(one, comparison.sample))]

    def _count_left_after(self, candidate: Candidate, sample: Cases) -> tuple[int, int]:
        """Return how many fails of a sample are left by a search that begins with a candidate, and
        how many causes it finds.
        """
        search = CauseSearch(self.profile, list(sample), self.passes, is_trial=True)
        search._keep([candidate], search._explain_left([candidate]))
        search.run()
        return len(search.left), len(search.found)

    def _best_pairs(self, comparison: Comparison, share_of_one: float) -> list[list[Candidate]]:
        """Return pairs of candidates that explain clearly more of the sample than one candidate,
        which explains `share_of_one`. Each was the best of those tried before it; the best of all
        comes first.

        Where one candidate explains more than little of the sample, a pair must leave less than
        half of what that one leaves. A pair is tried on all of the sample only if it explains
        enough of a few fails: the smallest ones, and one that each earlier pair has failed to
        explain.
        """
        sample = comparison.sample
        least = PAIR_LEAST
        if share_of_one < LITTLE:
            least = max(LESS_OF_PAIR, share_of_one + CLEARLY_MORE)
        most_left = len(sample) * (1 - least)
        if share_of_one >= LITTLE:
            most_left = len(sample) * min(1 - least, (1 - share_of_one) / 2)
        tried = list(sample[:PAIR_LOOK])
        best: list[list[Candidate]] = []
        for pair in self._pairs():
            if not comparison.do_explain_most(pair, tried, least):
                continue
            unexplained = comparison.find_unexplained(pair)
            left = len(unexplained)
            if left < most_left and comparison.score(pair, len(sample) - left).is_credible:
                best, most_left = [pair, *best], left
            if not unexplained:
                break
            tried.append(unexplained[0])
        return best[:PAIRS_BOUND]

    def _pairs(self) -> Iterator[list[Candidate]]:
        """Yield the pairs in the order in which they are tried: changes of two fields, what is
        pervasive with a change, two that are pervasive, and one of the many integers for t0 with
        any of these.
        """
        every = self._changes()
        changes = [change for change in every if not change.is_integer_of_t0]
        integers = [change for change in every if change.is_integer_of_t0]
        pervasive = pervasive_candidates()
        pairs = chain(
            combinations(changes, 2),
            product(pervasive, changes),
            combinations(pervasive, 2),
            product(integers, [*changes, *pervasive]),
        )
        for one, other in pairs:
            if one.field != other.field or not one.field:
                yield [one, other]

    def _changes(self) -> list[Candidate]:
        """Return the changes of fields that no cause has changed yet."""
        changed = {cause.field for cause in self.found}
        changes = change_candidates(self.profile)
        return [change for change in changes if change.field not in changed]

    def _wrong_engines(self) -> list[Candidate]:
        """Return the wrong engines of the rules of the fails that are left."""
        rules = dict.fromkeys(case.result.rule for case in self.left)
        return list(wrong_engine_candidates(rules))

    def _wrong_windows(self, comparison: Comparison) -> list[ScoredCandidate]:
        """Return that the stated windows are wrong, if that explains nearly all: some fails have
        only wrong windows by any defect that moves windows.
        """
        scored = comparison.credible_candidates([WRONG_WINDOWS], lambda _: comparison.sample)
        return [pair for pair in scored if pair[1].explained_share >= NEARLY_ALL]

    def _other_wrong_engines(self) -> list[Candidate]:
        """Return the wrong engines of rules that none of the fails that are left is of."""
        own = self._wrong_engines()
        rules = sorted({rule for one in WRONG_ENGINES for rule in one.rules})
        return [one for one in wrong_engine_candidates(rules) if one not in own]

    def _own_fails(self, candidate: Candidate) -> Cases:
        """Return the smallest fails of a wrong engine's rules; some of all rules if it is a
        habit.
        """
        assert candidate.wrong_engine is not None
        if candidate.wrong_engine in HABITS:
            return spread(choose_sample(self.left), FIRST_LOOK)
        rules = candidate.wrong_engine.rules
        return [case for case in self.left if case.result.rule in rules][:OWN_FAILS]


def _needed_for(case: RecordedCase, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return those of some candidates that are needed to explain a case, which they explain
    together. The first ones are left out first: the last one was found for this case.
    """

    def explain(rest: Sequence[Candidate]) -> bool:
        with install_wrong_engines(rest):
            return bool(explains(rest, case))

    return keep_needed(candidates, explain)
