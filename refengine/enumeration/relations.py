"""SPEC.md §8, relations: what an operator makes of the answers, and which outputs are emitted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from refengine.core.values import R2S, Base, Empty
from refengine.enumeration.datasets import Datasets
from refengine.enumeration.inputs import Content
from refengine.model.elements import Bag


class Relations(Datasets):
    """§8: from answers to outputs."""

    def relate(self, operator: R2S, rows: Bag, base: Bag, old: Bag) -> Bag:
        """R2S-1 to R2S-3, R2S-7: Return the output of an operator. `rows` is the answer, `base` the
        baseline, and `old` the answer over what was also there at the previous evaluation.
        """
        match operator:
            case R2S.RSTREAM:
                return rows
            case R2S.ISTREAM:
                return more(rows, base)
            case R2S.DSTREAM:
                return more(base, rows)
            case R2S.APPEND:
                return more(rows, old)

    def emits(self, output: Bag, before: Bag) -> bool:
        """R2S-5, R2S-9: Return whether an output is emitted, given the output before it."""
        match self.semantics.empty:
            case Empty.EMIT:
                return True
            case Empty.SUPPRESS:
                return bool(output)
            case Empty.ONCE:
                return bool(output) or bool(before)

    def operator(self, stated: R2S | None) -> R2S:
        """R2S-6: Return the operator that the query states; if it states none, that of the
        semantics.
        """
        return stated or self.semantics.r2s

    def still_there(
        self, contents: Sequence[Content], before: Sequence[Content]
    ) -> tuple[Content, ...]:
        """R2S-7: Return the part of each content that was in it at the previous evaluation. Of (2,
        3, 4), after (1, 2, 3), that is (2, 3).
        """
        pairs = zip(contents, before, strict=True)
        return tuple(tuple(place for place in now if place in then) for now, then in pairs)

    def rebase(self, base: Bag, answer: Bag) -> Bag:
        """R2S-8: Return the next baseline: this answer, whether it was emitted or not. Under
        `previous-new` the baseline stays if the answer has nothing new: if it holds no row more
        often than the baseline does.
        """
        match self.semantics.base:
            case Base.NEW if not more(answer, base):
                return base
            case Base.NEW | Base.PREVIOUS | None:
                return answer


def more(a: Bag, b: Bag) -> Bag:
    """R2S-2: Return the rows that `a` holds more often than `b`, each as often as the difference:
    {x: 3, y: 1} and {x: 1, y: 2} give {x: 2}.
    """
    return Counter({row: a[row] - b[row] for row in a if a[row] > b[row]})
