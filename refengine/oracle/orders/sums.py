"""§11 The sum of an instant's outputs, which no arrival order changes (ORA-5)."""

from __future__ import annotations

from collections import Counter

from refengine.core.semantics import R2S, Collection, Condition, Empty
from refengine.model import compare
from refengine.model.elements import Bag
from refengine.oracle import derivations
from refengine.oracle.orders.groups import (
    EvaluationGroup,
    OrderSearch,
    PendingDerivation,
    content_of,
)


def find_fixed_sum(search: OrderSearch, group: EvaluationGroup, base: Bag) -> Bag | None:
    """Return the sum of an instant's outputs, where ORA-5 applies and no two of its rows can be
    taken for each other; else None.
    """
    pending = search.derivations(group)
    if pending is None:
        return None
    rows = Counter(derivation.row for derivation in pending)
    is_plain = not compare.blanks(rows) and compare.distinct(rows, search.recorded.mode)
    if not is_plain or not _is_monotone(search, group):
        return None
    return sum_instant_outputs(search, group, pending, base)


def _is_monotone(search: OrderSearch, group: EvaluationGroup) -> bool:
    """Whether ORA-5 applies to the semantics and the body, and the instant was seen to its end."""
    semantics = search.semantics
    return (
        derivations.projects(search.recorded.query.body)
        and search.operator is R2S.ISTREAM
        and semantics.empty is Empty.SUPPRESS
        and semantics.collection is Collection.BAG
        and Condition.CHANGE in semantics.report
        and Condition.PERIODIC not in semantics.report
        and content_of(group.last_evaluation).stop == group.arriving_elements.stop
    )


def sum_instant_outputs(
    search: OrderSearch, group: EvaluationGroup, pending: list[PendingDerivation], base: Bag
) -> Bag | None:
    """ORA-5: return the sum of an instant's outputs under any order, Q(F) − Q(K).

    None where a row that expires with the instant's first arrival is derived again in it, so that
    the sum depends on the order, where a row of what was kept comes into view with it, or where the
    derivations do not add up to the witness's answer.
    """
    total = Counter(derivation.row for derivation in pending)
    kept = search.answer(group.kept_elements)
    if kept - base:
        return None
    expired = base - kept
    mode = search.recorded.mode
    if any(compare.equal(Counter([a]), Counter([b]), mode) for a in expired for b in total):
        return None
    if not compare.equal(kept + total, search.answer(group.whole), mode):
        return None
    return total
