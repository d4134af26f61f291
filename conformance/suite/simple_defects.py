"""Defects that are no value of a field and no function of the reference engine: what an engine may
make of a query before it evaluates it, or of its right outputs before it reports them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from refengine.core.query import Query, WindowKind
from refengine.core.values import R2S
from refengine.model import compare
from refengine.model.elements import Bag

# whether an engine may report the second bags of rows where its outputs are the first
CanReport = Callable[[Sequence[Bag], Sequence[Bag]], bool]

SWAPPED = {R2S.ISTREAM: R2S.DSTREAM, R2S.DSTREAM: R2S.ISTREAM}


def _keep_query(query: Query) -> Query:
    """Return the query as it is."""
    return query


def keep_outputs(outputs: Sequence[Bag]) -> Sequence[Bag]:
    """Return outputs as they are."""
    return outputs


def are_equal(outputs: Sequence[Bag], reports: Sequence[Bag]) -> bool:
    """Return whether reports are some outputs, one for one."""
    return len(outputs) == len(reports) and all(map(compare.equal, outputs, reports))


@dataclass(frozen=True, eq=False)
class SimpleDefect:
    """A defect, by which an engine breaks some `rules`; `text` says what the engine does.

    `change_query` returns the query that the engine evaluates. `change_outputs` returns what it
    makes of all right outputs, empty ones included, before it leaves out those that its semantics
    does not send. `can_report` says whether it may report some bags of rows where its outputs are
    others.
    """

    text: str
    rules: tuple[str, ...]
    change_query: Callable[[Query], Query] = _keep_query
    change_outputs: Callable[[Sequence[Bag]], Sequence[Bag]] = keep_outputs
    can_report: CanReport = are_equal

    @property
    def changes_reports(self) -> bool:
        """Whether it makes other reports of right outputs."""
        return self.change_outputs is not keep_outputs or self.can_report is not are_equal


def _slide_by_size(query: Query) -> Query:
    """Return a query whose windows over time slide by their size."""
    windows = tuple(
        replace(window, slide=window.size) if window.kind is WindowKind.TIME else window
        for window in query.windows
    )
    return replace(query, windows=windows)


def _swap_differences(query: Query) -> Query:
    """Return a query that states Dstream instead of Istream, and Istream instead of Dstream."""
    if query.r2s is None:
        return query
    return replace(query, r2s=SWAPPED.get(query.r2s, query.r2s))


def _send_twice(outputs: Sequence[Bag]) -> Sequence[Bag]:
    """Return each output twice in a row."""
    return list(chain.from_iterable(zip(outputs, outputs, strict=True)))


def _double_rows(outputs: Sequence[Bag]) -> Sequence[Bag]:
    """Return outputs with each row twice."""
    return [output + output for output in outputs]


def _leave_out_last(outputs: Sequence[Bag]) -> Sequence[Bag]:
    """Return outputs but for the last."""
    return outputs[:-1]


def _send_late_after_empty(outputs: Sequence[Bag]) -> Sequence[Bag]:
    """Return an empty output, and then all but for the last; nothing where there are none."""
    return [Bag() for _ in outputs[:1]] + list(outputs[:-1])


def _can_report_one_row(outputs: Sequence[Bag], reports: Sequence[Bag]) -> bool:
    """Return whether each report is one row of the output, and none where that has none."""
    return len(outputs) == len(reports) and all(
        report.total() == min(1, output.total()) and (not report or _has_row_of(output, report))
        for output, report in zip(outputs, reports, strict=True)
    )


def _has_row_of(output: Bag, report: Bag) -> bool:
    """Return whether the one row of a report is a row of an output."""
    return any(compare.equal(Bag([row]), report) for row in output)


SIMPLE_DEFECTS = (
    SimpleDefect("windows that slide by their size", ("WIN-3",), _slide_by_size),
    SimpleDefect(
        "Istream given as Dstream, and Dstream as Istream",
        ("R2S-2", "R2S-3"),
        _swap_differences,
    ),
    SimpleDefect("each report sent twice", ("ENG-2",), change_outputs=_send_twice),
    SimpleDefect("each row sent twice", ("R2R-9",), change_outputs=_double_rows),
    SimpleDefect(
        "the last output never sent, or each one sent an evaluation late",
        ("R2S-1",),
        change_outputs=_leave_out_last,
    ),
    SimpleDefect(
        "each output sent one evaluation late, and an empty one first",
        ("R2S-1",),
        change_outputs=_send_late_after_empty,
    ),
    SimpleDefect("one row sent of each output", ("R2S-1",), can_report=_can_report_one_row),
)
