"""§4 Partitions by differences: a content has the latest N elements of each key, so each arrival
enters it, and the oldest element of its key may leave.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from refengine.core import window
from refengine.core.plan import Plan
from refengine.core.query import WindowKind
from refengine.core.schedule import Evaluation, Schedule, WindowContent, bounded
from refengine.core.semantics import ChangeBaseline, ChangeScope, Condition, Tick
from refengine.core.window import Content, WindowView
from refengine.model.errors import require


class PartitionContent(Sequence[int]):
    """WIN-15: the content of a partition after the first `arrived` elements. Its indices are looked
    up when they are asked for.
    """

    def __init__(self, view: WindowView, arrived: int) -> None:
        self.view = view
        self.arrived = arrived

    @cached_property
    def indices(self) -> Content:
        """The indices of its elements, ascending."""
        return window.partition(self.view, self.arrived)

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, place: Any) -> Any:
        return self.indices[place]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, PartitionContent)
            and other.arrived == self.arrived
            and other.view is self.view
        )

    def __hash__(self) -> int:
        return hash(self.arrived)


class PartitionDelta:
    """The content of a partition by key, and what enters and leaves as it moves on."""

    def __init__(self) -> None:
        self.arrived = 0
        self.latest: dict[tuple[str, ...], deque[int]] = defaultdict(deque)

    def move_to(self, content: PartitionContent) -> tuple[list[int], list[int]]:
        """Move to another content. Return the indices of the elements that leave, and of those that
        enter; one that arrives and is at once pushed out by later ones is in neither.

        With N = 1 and keys x, y, x, the move from one arrival to three gives ([0], [1, 2]).
        """
        view = content.view
        size = require(view.spec.size)
        leaving: list[int] = []
        since = self.arrived
        if content.arrived < since:  # an earlier content: begin anew
            leaving = sorted(i for latest in self.latest.values() for i in latest)
            self.latest.clear()
            since = 0

        pushed_out = set()
        for i in range(since, content.arrived):
            latest = self.latest[view.keys[i]]
            latest.append(i)
            if len(latest) > size:
                pushed_out.add(latest.popleft())
        self.arrived = content.arrived
        leaving += sorted(i for i in pushed_out if i < since)
        entering = [i for i in range(since, content.arrived) if i not in pushed_out]
        return leaving, entering


def is_single_partition(planned: Plan) -> bool:
    """Whether `partition_groups` covers a plan: its one window is a partition, and it is
    reported when its elements are others than at the last report.
    """
    semantics = planned.semantics
    view = planned.views[0]
    return (
        len(planned.views) == 1
        and view.spec.kind is WindowKind.PARTITION
        and view.frame is not None
        and Condition.CHANGE in semantics.report
        and Condition.PERIODIC not in semantics.report
        and semantics.change_scope is ChangeScope.ELEMENTS
        and semantics.change_baseline is ChangeBaseline.LAST
        and semantics.tick is not Tick.BATCH
    )


def partition_groups(planned: Plan, max_reports: int) -> Iterator[Sequence[Evaluation]]:
    """Yield the evaluations of a plan that `is_single_partition` covers, each in its own group: the
    content changes with every arrival, and with nothing else. Raises TooManyReports.
    """
    view = planned.views[0]
    schedule = Schedule(planned)
    reported = 0  # how many elements had arrived at the last report
    count = 0
    for k, _ in enumerate(planned.arrivals):
        instants = schedule.look_at(k)
        if instants and k > reported:
            reported = k
            count = bounded(count + 1, max_reports, planned, k)
            content = WindowContent(None, PartitionContent(view, k))
            yield (Evaluation(instants.start, k, (content,)),)
