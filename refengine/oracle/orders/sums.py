"""§11 The sum of an instant's outputs, which no arrival order changes (ORA-5)."""

from __future__ import annotations

from collections import Counter

from refengine.core.values import Condition
from refengine.model import compare
from refengine.model.elements import Bag
from refengine.oracle import derivations
from refengine.oracle.orders.groups import (
    EvaluationGroup,
    OrderSearch,
    PendingDerivation,
    content_of,
)


def find_fixed_sum(search: OrderSearch, group: EvaluationGroup, baseline: Bag) -> Bag | None:
    """Return the sum of an instant's outputs if every arrival order gives the same one, else None.

    It does where ORA-5 applies. None is returned, too, if two rows of the sum are equal in another
    spelling or have blank nodes: then it would not be clear which of them a recorded row is.
    """
    pending = search.derivations(group)
    if pending is None:
        return None
    rows = Counter(derivation.row for derivation in pending)
    are_rows_distinct = not compare.blanks(rows) and compare.distinct(rows, search.recorded.mode)
    if not are_rows_distinct or not _is_monotone(search, group):
        return None
    return sum_instant_outputs(search, group, pending, baseline)


def _is_monotone(search: OrderSearch, group: EvaluationGroup) -> bool:
    """Whether ORA-5 applies to the body and the semantics, and the last evaluation of the group
    sees all elements of its instant.
    """
    semantics = search.semantics
    return (
        derivations.projects(search.recorded.query.body)
        and search.operator.emits_new_rows_of_answers
        and semantics.empty.is_never
        and not semantics.collection.drops_equal_rows
        and Condition.CHANGE in semantics.report
        and Condition.PERIODIC not in semantics.report
        and content_of(group.last_evaluation).stop == group.arriving_elements.stop
    )


def sum_instant_outputs(
    search: OrderSearch, group: EvaluationGroup, pending: list[PendingDerivation], baseline: Bag
) -> Bag | None:
    """ORA-5: return the sum of an instant's outputs under any arrival order, Q(F) − Q(K).
    `baseline` is the answer before the instant.

    None is returned in three cases: a row of the kept elements was not in the answer before; a row
    that expires with the instant's first arrival is derived again, so that the sum depends on the
    order; or the derivations do not add up to the difference of the answers.
    """
    total = Counter(derivation.row for derivation in pending)
    kept = search.answer(group.kept_elements)
    if kept - baseline:
        return None
    expired = baseline - kept
    mode = search.recorded.mode
    is_derived_again = any(
        compare.equal(Counter([a]), Counter([b]), mode) for a in expired for b in total
    )
    if is_derived_again:
        return None
    if not compare.equal(kept + total, search.answer(group.whole), mode):
        return None
    return total
