"""Wrong engines of windows with a key (WIN-24)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from conformance.wrong_engines.wrong_engine import Right, wrong
from refengine.core import keys, window
from refengine.core.plan import Plan
from refengine.core.schedule import Evaluation
from refengine.core.window import WindowView


@wrong("WIN-24", replaces=keys.sees_own_alone, half="is an arrival for the windows of all keys")
def each_key_has_its_own_time(right: Right, view: WindowView, planned: Plan) -> bool:
    """Lets only the elements of a key bring time to its windows."""
    return True


@wrong("WIN-24", replaces=keys.sees_own_alone, half="Under `key` only the elements of a key")
def all_keys_have_one_time(right: Right, view: WindowView, planned: Plan) -> bool:
    """Lets each element bring time to the windows of all keys."""
    return False


@wrong("WIN-24", replaces=keys.view_of_key, half="t0 and the anchor")
def windows_of_all_keys_begin_together(
    right: Right, planned: Plan, indices: Sequence[int]
) -> WindowView:
    """Begins the windows of each key at the first element of the stream."""
    (view,) = planned.views
    found: WindowView = right(planned, indices)
    return replace(found, t0=view.t0, frame=view.frame)


@wrong("WIN-24", replaces=keys.plans_of_keys, half="then of the keys' first elements")
def keys_are_sorted(right: Right, planned: Plan) -> Any:
    """Reports the windows of keys in the order of their terms."""
    return sorted(right(planned), key=lambda each: each.key)


@wrong("WIN-24", replaces=keys.of_stream, half="Each names its key")
def a_report_names_no_key(right: Right, keyed: keys.PlanOfKey, at: Evaluation) -> Evaluation:
    """Leaves out the key of a report."""
    found: Evaluation = right(keyed, at)
    return found._replace(windows=(found.windows[0]._replace(key=()),))


@wrong("WIN-24", replaces=window.keys, half="stands for one window specification for each key")
def keys_are_not_read(right: Right, spec: Any, elements: Sequence[Any]) -> Any:
    """Has one window for all keys."""
    found = right(spec, elements)
    if not spec.is_keyed:
        return found
    return [()] * len(found)
