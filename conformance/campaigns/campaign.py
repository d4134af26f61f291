"""A campaign: cases are drawn, put to an engine and judged, until time or numbers run out. A fail
whose like was not seen before is made small at once; of a kind that was, one is from time to time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from conformance.campaigns.asking import CaseVerdict, LiveEngine
from conformance.campaigns.drawing import Drawing
from conformance.campaigns.drawn_case import DrawnCase
from conformance.campaigns.shapes import kind_of_fail, shape_of
from conformance.campaigns.shrinking import shrink_fail
from conformance.harness.engine_file import Deviation
from conformance.verdict.results import Outcome

PASSES = 24  # that are kept: a cause must not make right answers wrong
LONGEST_PASS = 6  # elements of such


@dataclass
class SmallestFail:
    """A way in which the engine fails: the smallest case that was found for a `shape`, the number
    of the case that first led to it, and how many cases did. `listed` is the known deviation whose
    own case led to it.
    """

    shape: str
    verdict: CaseVerdict
    number: int
    count: int = 1
    listed: Deviation | None = None

    @property
    def known(self) -> tuple[Deviation, ...]:
        """The known deviations that explain it."""
        return self.verdict.known or ((self.listed,) if self.listed else ())


@dataclass
class Campaign:
    """A campaign against one engine, and what it has found so far.

    `numbers` counts the cases by their outcome, `undrawn` those of which none could be drawn.
    `found` has the ways in which the engine fails by their shape, `passes` some right answers.
    `next_number` is that of the next case.
    """

    drawing: Drawing
    live: LiveEngine
    numbers: Counter[str] = field(default_factory=Counter)
    found: dict[str, SmallestFail] = field(default_factory=dict)
    passes: list[CaseVerdict] = field(default_factory=list)
    next_number: int = 0
    _fails: Counter[str] = field(default_factory=Counter)  # by their kind
    _next_fail: dict[str, int] = field(default_factory=dict)  # of a kind, to be made small
    _before: tuple[int, DrawnCase] | None = None

    @property
    def judged(self) -> int:
        """The number of cases that have a verdict."""
        return sum(self.numbers[one] for one in ("pass", "fail", "known fail", "error"))

    def run(
        self,
        numbers: Iterable[int],
        is_over: Callable[[], bool] = lambda: False,
        note: Callable[[SmallestFail | None], None] = lambda found: None,
    ) -> None:
        """Draw and judge the cases with some numbers, until it is over. `note` is called after each
        case, with a way of failing that is new. Raises RefengineError if the engine's harness does
        not start.
        """
        for number in numbers:
            if is_over():
                return
            self.next_number = number
            note(self._run_case(number))
            self.next_number = number + 1

    def _run_case(self, number: int) -> SmallestFail | None:
        """Draw and judge one case; return a way of failing that is new."""
        case = self.drawing.case(number)
        if case is None:
            self.numbers["not drawn"] += 1
            return None
        verdict = self.live.ask(case)
        new = None
        if self.live.late_fault and self._before is not None:
            new = self._look_at_late_fault(*self._before)
        self._before = number, case
        self.numbers[_outcome_words(verdict)] += 1
        if verdict.outcome is Outcome.PASS:
            self._keep_pass(verdict)
        if not verdict.is_wrong:
            return new
        return self._look_at_fail(verdict, number) or new

    def _look_at_late_fault(self, number: int, case: DrawnCase) -> SmallestFail | None:
        """Look again at a case after whose last reply the harness did something: it fails if that
        shows once more. Return a way of failing that is new.
        """
        again = self.live.ask(case, is_settled=True)
        if again.outcome is not Outcome.ERROR:
            return None
        self.numbers["error"] += 1
        return self._look_at_fail(again, number, is_settled=True)

    def _look_at_fail(
        self, verdict: CaseVerdict, number: int, *, is_settled: bool = False
    ) -> SmallestFail | None:
        """Make a case that fails small, if its kind is due; return a way of failing that is new.

        Of a kind the first and the second fail are due, and then ever fewer: the third, the fifth,
        the eighth. So a defect that nearly every case shows does not take all of the time, and one
        behind it is not lost.
        """
        kind = kind_of_fail(verdict)
        self._fails[kind] += 1
        count = self._fails[kind]
        if count < self._next_fail.get(kind, 1):
            return None
        self._next_fail[kind] = count + (count + 1) // 2
        if len(verdict.known) > 1 or (verdict.known and count > 1):
            return None  # what is known is shown once, and by itself
        small = shrink_fail(self.live, verdict, is_settled=is_settled)
        return None if small is None else self.add(small, number)

    def add(
        self, small: CaseVerdict, number: int, listed: Deviation | None = None
    ) -> SmallestFail | None:
        """Add a small case that fails; return it if its shape is new."""
        shape = shape_of(small)
        before = self.found.get(shape)
        if before is None:
            self.found[shape] = SmallestFail(shape, small, number, listed=listed)
            return self.found[shape]
        before.count += 1
        before.listed = before.listed or listed
        if small.case.size < before.verdict.case.size:
            before.verdict = small
        return None

    def _keep_pass(self, verdict: CaseVerdict) -> None:
        """Keep a right answer with rows, if it is short and not too many are kept."""
        is_short = len(self.passes) < PASSES and len(verdict.case.elements) <= LONGEST_PASS
        if is_short and any(report.relation.rows for report in verdict.answers):
            self.passes.append(verdict)


def _outcome_words(verdict: CaseVerdict) -> str:
    """Return the outcome in words: `known fail` if known deviations explain it."""
    return f"known {verdict.outcome}" if verdict.known else str(verdict.outcome)
