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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from conformance.suite.candidate_scores import (
    THRESHOLDS,
    Comparison,
    ScoredCandidate,
    best_first,
    choose_sample,
    spread,
)
from conformance.suite.candidates import (
    WRONG_INSTANTS,
    WRONG_WINDOWS,
    Candidate,
    Cases,
    candidate_pairs,
    change_candidates,
    explained_by,
    explains,
    explains_with_an_end,
    install_wrong_engines,
    makes_recorded_instants,
    needed_for,
    simple_defect_candidates,
    wrong_engine_candidates,
)
from conformance.suite.recorded_case import RecordedCase
from conformance.wrong_engines import HABITS, WRONG_ENGINES
from refengine.core.profile import Profile


@dataclass
class CausesOfFails:
    """The causes that were found so far, in that order, and what they explain. `left` are the fails
    that are not explained yet, the smallest first. `needed` has each explained fail with the causes
    without which it would not be.
    """

    left: list[RecordedCase]
    found: list[Candidate] = field(default_factory=list)
    needed: dict[RecordedCase, list[Candidate]] = field(default_factory=dict)

    @property
    def needed_causes(self) -> list[Candidate]:
        """The causes that a fail needs, in the order in which they were found."""
        counts = self.count_fails()
        return [cause for cause in self.found if counts[cause]]

    def count_fails(self) -> Counter[Candidate]:
        """Return how many fails need each cause."""
        return Counter(cause for causes in self.needed.values() for cause in causes)

    def fails_of(self, cause: Candidate) -> list[RecordedCase]:
        """Return the fails that need a cause, the smallest first."""
        fails = [case for case, causes in self.needed.items() if cause in causes]
        return sorted(fails, key=lambda case: case.size_and_id)

    def left_explained_by(
        self, candidates: Sequence[Candidate]
    ) -> dict[RecordedCase, list[Candidate]]:
        """Return the fails that are left and that candidates explain, each with all that was in
        force.

        First all causes found so far are in force as well. A wrong engine that was found may do a
        little more than the engine; so then only the changes among the causes are.
        """
        changes = [cause for cause in self.found if cause.change is not None]
        attempts = [[*self.found, *candidates]]
        if len(changes) < len(self.found):
            attempts.append([*changes, *candidates])
        in_force: dict[RecordedCase, list[Candidate]] = {}
        for causes in attempts:
            left = [case for case in self.left if case not in in_force]
            in_force |= dict.fromkeys(explained_by(causes, left), causes)
        return in_force

    def keep(
        self,
        candidates: Sequence[Candidate],
        in_force: Mapping[RecordedCase, Sequence[Candidate]],
    ) -> None:
        """Keep candidates as causes, and give them the fails that they explain, each with all that
        was in force.
        """
        self.found += candidates
        self.give({case: needed_for(case, causes) for case, causes in in_force.items()})

    def give(self, needed: Mapping[RecordedCase, list[Candidate]]) -> None:
        """Take fails from those that are left, and give each to the causes that it needs."""
        self.needed |= needed
        self.left = [case for case in self.left if case not in needed]

    def leave(self, cases: Cases) -> None:
        """Put fails to those that are left, whatever has explained them."""
        for case in cases:
            self.needed.pop(case, None)
        self.left = sorted([*self.left, *cases], key=lambda case: case.size_and_id)


@dataclass
class CauseSearch:
    """A search. `profile` is that of the engine, None for one that is sent its semantics with each
    case. `causes` has the fails, and then what was found. `passes` are those on which candidates
    are tried. A search that `is_trial` ends after two causes, and tries no pairs. `given_up` are
    the candidates under which too many of `every_pass` would fail, and `against` has the number of
    those that would under a cause. Pairs are not tried any more after one was given up. `least` is
    how many fails a candidate must explain that may fit some by chance, and `number` how many fails
    there were.
    """

    profile: Profile | None
    causes: CausesOfFails
    passes: Cases
    every_pass: Cases = ()
    is_trial: bool = False
    given_up: list[Candidate] = field(default_factory=list)
    against: dict[Candidate, int] = field(default_factory=dict)
    are_pairs_tried: bool = True
    least: int = THRESHOLDS.few_fails
    number: int = 0

    def run(self) -> None:
        """Find causes, one after the other, until nothing explains a fail that is left."""
        self.number = len(self.causes.left)
        self._set_wrong_instants_apart()
        apart = self._take_wrong_ends()
        self.least = min(THRESHOLDS.few_fails, len(self.causes.left))
        self._find_causes()
        if apart:
            self._give_wrong_ends_to_causes(apart)
            self._find_causes()
        if not self.is_trial:
            self._keep_nearest()
            self._drop_causes_of_few_fails()
            self._give_wrong_instants_to_causes()
            self._drop_what_stated_causes_do_not_explain()

    def _set_wrong_instants_apart(self) -> None:
        """Take the fails that are right in all that the search compares. It does not compare the
        instants of reports, which only an engine that is sent its semantics must state.
        """
        apart = [case for case in self.causes.left if case.is_explained_by({})]
        if apart:
            self.causes.found.append(WRONG_INSTANTS)
            self.causes.give({case: [WRONG_INSTANTS] for case in apart})

    def _take_wrong_ends(self) -> list[RecordedCase]:
        """Take the fails that are right but for their ends from those that are left, and return
        them; take none if hardly any others are left. Many candidates explain such a fail.
        """
        others = [case for case in self.causes.left if not case.is_right_but_for_its_end]
        if self.is_trial or len(others) < THRESHOLDS.few_fails:
            return []
        apart = [case for case in self.causes.left if case.is_right_but_for_its_end]
        self.causes.left = others
        return apart

    def _give_wrong_ends_to_causes(self, apart: Cases) -> None:
        """Give the fails that are right but for their ends to the causes that explain them with
        another end. The rest is left.
        """
        self.causes.leave(apart)
        for cause in self.causes.needed_causes:
            with install_wrong_engines([cause]):
                self.causes.give(
                    {
                        case: [cause]
                        for case in apart
                        if case not in self.causes.needed and explains_with_an_end([cause], case)
                    }
                )

    def _find_causes(self) -> None:
        """Find causes, one after the other, and leave out those that others make superfluous."""
        bound = THRESHOLDS.most_causes
        if self.is_trial:
            bound = THRESHOLDS.most_causes_on_trial
        while self.causes.left and len(self.causes.found) < bound:
            options = self._best_candidates()
            if not any(self._is_kept(one, self._most_against) for one in options):
                break
        self._replace_causes()

    def _is_kept(
        self,
        candidates: Sequence[Candidate],
        most_against: Callable[[Sequence[Candidate], int], int],
    ) -> bool:
        """Keep candidates as causes, and return True, unless too many passes would fail under
        them: more than are allowed of candidates that explain so many fails.
        """
        in_force = self.causes.left_explained_by(candidates)
        most = most_against(candidates, len(in_force))
        against = self._count_against(candidates, most)
        if not in_force or against > most:
            return False
        self.causes.keep(candidates, in_force)
        self.against |= dict.fromkeys(candidates, against)
        return True

    def _keep_nearest(self) -> None:
        """Keep the candidate that was given up and explains nearly all fails, if not many more
        passes would fail under it.
        """
        if len(self.causes.left) >= THRESHOLDS.nearly_all * self.number:
            for candidate in self.given_up:
                if self._is_kept([candidate], self._most_against_nearest):
                    return

    def _most_against(self, candidates: Sequence[Candidate], explained: int) -> int:
        """Return how many passes may fail under candidates that explain so many fails."""
        if explained < THRESHOLDS.small * self.number:
            return 0
        for_one = THRESHOLDS.fails_for_pass
        if len(candidates) > 1:
            for_one = THRESHOLDS.fails_of_pair_for_pass
        return min(explained // for_one, self._most_contradicted())

    def _most_against_nearest(self, _: Sequence[Candidate], explained: int) -> int:
        """Return how many passes may fail under a candidate that was given up, if it explains
        nearly all fails. If it does not, no number is small enough.
        """
        if explained < THRESHOLDS.nearly_all * self.number:
            return -1
        return min(2 * self.number, self._most_contradicted())

    def _most_contradicted(self) -> int:
        """Return how many passes of the run a cause may contradict, whatever it explains."""
        return int(THRESHOLDS.most_contradicted * len(self.every_pass))

    def _count_against(self, candidates: Sequence[Candidate], bound: int) -> int:
        """Return how many passes would fail under candidates; if they are more than `bound`, at
        least one more than that.
        """
        number = 0
        with install_wrong_engines(candidates):
            for case in self.every_pass:
                if number > bound:
                    break
                number += explains(candidates, case) is False
        return number

    def _drop_causes_of_few_fails(self) -> None:
        """Take back the explanation of each fail that needs a cause of hardly any fails."""
        least = THRESHOLDS.hardly_any * self.number
        counts = self.causes.count_fails()
        for case, causes in list(self.causes.needed.items()):
            if any(counts[cause] < least for cause in causes):
                del self.causes.needed[case]

    def _replace_causes(self) -> None:
        """Give the fails of each cause to the other ones, if these explain nearly all of them. The
        rest is left. The causes that explain few fails are looked at first.
        """
        counts = self.causes.count_fails()
        for cause in sorted(self.causes.found, key=lambda cause: counts[cause]):
            own = self.causes.fails_of(cause)
            others = [other for other in self.causes.needed_causes if other is not cause]
            if not own or not others or cause.misstates_instants:
                continue
            explained = explained_by(others, own)
            if len(explained) >= THRESHOLDS.nearly_all * len(own):
                self.causes.leave(own)
                self.causes.give({case: needed_for(case, others) for case in explained})

    def _drop_what_stated_causes_do_not_explain(self) -> None:
        """Take back the explanation of the fails that need only causes which an engine's file can
        state as fields or as wrong windows, and which these causes do not explain when all of them
        are in force, as those of a file are. A cause by which the semantics refuses the question is
        not in force.
        """
        needed_causes = self.causes.needed_causes
        granted = [cause for cause in needed_causes if not cause.has_many_alternatives]
        for case, needed in list(self.causes.needed.items()):
            is_granted = set(needed) <= set(granted) and needed != [WRONG_INSTANTS]
            in_force = [cause for cause in granted if explains([cause], case) is not None]
            if is_granted and not explains_with_an_end(in_force, case):
                del self.causes.needed[case]

    def _give_wrong_instants_to_causes(self) -> None:
        """Give each fail by wrong instants alone to another cause, if that makes these instants:
        an engine that evaluates at other instants states other ones.
        """
        others = [cause for cause in self.causes.needed_causes if cause is not WRONG_INSTANTS]
        for case, needed in self.causes.needed.items():
            if needed == [WRONG_INSTANTS]:
                making = (cause for cause in others if makes_recorded_instants(cause, case))
                self.causes.needed[case] = [next(making, WRONG_INSTANTS)]

    def _best_candidates(self) -> list[list[Candidate]]:
        """Return what may be kept next, the best first: pairs of candidates, and then a single one.
        It is empty if no candidate is credible.

        Pairs are looked for once, for the first cause, if no single candidate explains all. Wrong
        instants, which are set apart, do not count as a first cause.
        """
        found = self.causes.found
        sample = choose_sample(self.causes.left)
        comparison = Comparison(found, sample, self.passes, self.given_up, self.least)
        ranked = self._leave_out_contradicted(self._rank(comparison))
        is_first = all(cause is WRONG_INSTANTS for cause in found)
        share = ranked[0][1].explained_share if ranked else 0.0
        single = self._best_single(
            ranked, sample, is_first=is_first and share < THRESHOLDS.nearly_all
        )
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
            is_enough = len(kept) == THRESHOLDS.most_equals
            if is_enough or len(self.given_up) > THRESHOLDS.most_given_up:
                break
            most = self._most_against([candidate], len(self.causes.left_explained_by([candidate])))
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
        first_look = THRESHOLDS.first_look
        changes = comparison.credible_candidates(
            change_candidates(self.profile, self.causes.found), lambda _: sample[:first_look]
        )
        if changes and changes[0][1].explains_all and self._explains_all(changes[0][0]):
            return changes[:1]
        own_rules = dict.fromkeys(case.result.rule for case in self.causes.left)
        own = list(wrong_engine_candidates(own_rules))
        ranked = best_first(
            [
                *changes,
                *comparison.credible_candidates(simple_defect_candidates(), lambda _: sample),
                *comparison.credible_candidates(own, self._own_fails),
                *self._wrong_windows(comparison),
            ]
        )
        if self.is_trial or (ranked and ranked[0][1].explained_share >= THRESHOLDS.nearly_all):
            return ranked
        rules = sorted({rule for one in WRONG_ENGINES for rule in one.rules})
        others = [one for one in wrong_engine_candidates(rules) if one not in own]
        scored = comparison.credible_candidates(others, lambda _: spread(sample, first_look))
        return best_first([*ranked, *scored])

    def _explains_all(self, candidate: Candidate) -> bool:
        """Whether a candidate explains all fails that are left, and no pass would fail under it."""
        left = self.causes.left
        explained = explained_by([*self.causes.found, candidate], left)
        return len(explained) == len(left) and not self._count_against([candidate], bound=0)

    def _best_single(
        self, ranked: Sequence[ScoredCandidate], sample: Cases, *, is_first: bool
    ) -> list[Candidate]:
        """Return one of the best candidates, none if there is none. If it would be the first cause,
        it is the one, of those nearly as good as the best, that leaves the fewest fails of the
        sample. Otherwise it is that one of the equal ones which explains most of all fails that are
        left, less the passes that would fail under it.
        """
        margin, most = THRESHOLDS.equal, THRESHOLDS.most_equals
        if is_first:
            margin, most = THRESHOLDS.margin, THRESHOLDS.first_causes
        near = [one for one, score in ranked if score.value > ranked[0][1].value - margin]
        if len(near) < 2:
            return near
        if is_first:
            return [min(near[:most], key=lambda one: self._count_left_after(one, sample))]
        return [max(near[:most], key=self._gain)]

    def _gain(self, candidate: Candidate) -> int:
        """Return how many of all fails that are left a candidate explains, less the passes that
        would fail under it.
        """
        left = self.causes.left
        explained = explained_by([*self.causes.found, candidate], left)
        return len(explained) - self._count_against([candidate], bound=len(left))

    def _count_left_after(self, candidate: Candidate, sample: Cases) -> tuple[int, int]:
        """Return how many fails of a sample are left by a search that begins with a candidate, and
        how many causes it finds.
        """
        causes = CausesOfFails(list(sample))
        causes.keep([candidate], causes.left_explained_by([candidate]))
        CauseSearch(self.profile, causes, self.passes, is_trial=True).run()
        return len(causes.left), len(causes.found)

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
        if share_of_one < THRESHOLDS.little:
            clearly_more = share_of_one + THRESHOLDS.clearly_more
            least = max(THRESHOLDS.share_of_pair_for_little, clearly_more)
            most_left = len(sample) * (1 - least)
        else:
            least = THRESHOLDS.share_of_pair
            most_left = len(sample) * min(1 - least, (1 - share_of_one) / 2)
        tried = list(sample[: THRESHOLDS.first_look_of_pair])
        best: list[list[Candidate]] = []
        for pair in candidate_pairs(change_candidates(self.profile, self.causes.found)):
            if not comparison.do_explain_most(pair, tried, least):
                continue
            unexplained = comparison.find_unexplained(pair)
            left = len(unexplained)
            if left < most_left and comparison.score(pair, len(sample) - left).is_credible:
                best, most_left = [pair, *best], left
            if not unexplained:
                break
            tried.append(unexplained[0])
        return best[: THRESHOLDS.most_pairs]

    def _wrong_windows(self, comparison: Comparison) -> list[ScoredCandidate]:
        """Return that the stated windows are wrong, if that explains nearly all: some fails have
        only wrong windows by any defect that moves windows.
        """
        scored = comparison.credible_candidates([WRONG_WINDOWS], lambda _: comparison.sample)
        return [one for one in scored if one[1].explained_share >= THRESHOLDS.nearly_all]

    def _own_fails(self, candidate: Candidate) -> Cases:
        """Return the smallest fails of a wrong engine's rules; some of all rules if it is a
        habit.
        """
        left = self.causes.left
        assert candidate.wrong_engine is not None
        if candidate.wrong_engine in HABITS:
            return spread(choose_sample(left), THRESHOLDS.first_look)
        rules = candidate.wrong_engine.rules
        return [case for case in left if case.result.rule in rules][: THRESHOLDS.own_fails]
