"""§4's partitions by differences: of each key the latest N elements, of which one comes with an
arrival and one may go.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from refengine.core import tick, window
from refengine.core.plan import Plan
from refengine.core.query import WindowKind
from refengine.core.schedule import Evaluation, Held, bounded
from refengine.core.semantics import Against, Change, Condition, Tick
from refengine.core.window import Content, View
from refengine.model.errors import require


class PartitionContent(Sequence[int]):
    """WIN-15: the content of a partition after some arrivals, which is looked up when it is asked
    for.
    """

    def __init__(self, view: View, arrived: int) -> None:
        self.view, self.arrived = view, arrived

    @cached_property
    def indices(self) -> Content:
        """The content itself."""
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
    """What comes and what goes from one content of a partition to a later one."""

    def __init__(self) -> None:
        self.arrived = 0
        self.kept: dict[tuple[str, ...], deque[int]] = defaultdict(deque)

    def to(self, content: PartitionContent) -> tuple[list[int], list[int]]:
        """The elements that go, and those that come."""
        since, view = self.arrived, content.view
        going: list[int] = []
        if content.arrived < since:  # another beginning
            going, since = sorted(i for kept in self.kept.values() for i in kept), 0
            self.kept.clear()
        out = set()
        size = require(view.spec.size)
        for i in range(since, content.arrived):
            kept = self.kept[view.keys[i]]
            kept.append(i)
            if len(kept) > size:
                out.add(kept.popleft())
        self.arrived = content.arrived
        return going + sorted(i for i in out if i < since), [
            i for i in range(since, content.arrived) if i not in out
        ]


def is_single_partition(planned: Plan) -> bool:
    """Whether the one window is a partition that is reported by its elements alone."""
    semantics, view = planned.semantics, planned.views[0]
    return (
        len(planned.views) == 1
        and view.spec.kind is WindowKind.PARTITION
        and view.frame is not None
        and Condition.CHANGE in semantics.report
        and Condition.PERIODIC not in semantics.report
        and (semantics.change, semantics.against) == (Change.ELEMENTS, Against.LAST)
        and semantics.tick is not Tick.BATCH
    )


def partition_stretches(planned: Plan, max_reports: int) -> Iterator[Sequence[Evaluation]]:
    """engine.stretches, where a partition is covered: its content changes with every arrival, and
    with nothing else.
    """
    view, start = planned.views[0], window.start(require(planned.views[0].frame))
    reported = count = 0
    for k, interval in tick.ticks(planned.arrivals, planned.own, planned.semantics.tick, start):
        t = max(interval.start, start)
        if k > reported and t < interval.stop:
            reported, count = k, bounded(count + 1, max_reports, planned.arrivals, k)
            yield (Evaluation(t, k, (Held(None, PartitionContent(view, k)),)),)
