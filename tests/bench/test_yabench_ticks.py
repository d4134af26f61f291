"""What YABench published of C-SPARQL 0.9.5 follows from one defect: a timer of 100 ms.

Its Esper gives an element the time of its timer, which goes on every 100 ms. Windows begin with the
tick of the first element. At the end of a window the elements of its first tick have just left, and
those of the tick that begins come after the report. So a window has neither border, and a border is
as wide as a tick. Where in a tick the stream begins is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

import pytest

from conformance.bench import streams
from conformance.bench.benchmark import Choice, Workload
from conformance.bench.yabench import YABENCH
from conformance.bench.yabench.tables import published_means
from refengine import incremental
from refengine.core.profiles import profile
from refengine.model.elements import Bag, Stream

TICK, SIZE, END = 100, 5000, 30_000  # ms; later windows were not published
PHASES = (0, 30, 60, 90)  # ms from a tick to the stream's beginning
Scores = list[tuple[float, float]]  # precision and recall of each phase


def answers(workload: Workload, stream: Stream, closure: str) -> dict[int, Bag]:
    """Return the rows of each window by the instant at which it opens."""
    semantics = profile("csparql").but(t0=0, closure=closure).semantics()
    names = {name: stream for name in workload.streams}
    reports = incremental.evaluate(workload.query, names, semantics)
    return {report.window[0]: report.relation.rows for report in reports if report.window}


def with_ticks(stream: Stream, phase: int) -> Stream:
    """Return the elements at their ticks, counted from that of the first one, without those at the
    borders of windows.
    """
    first = (stream.elements[0].app + phase) // TICK * TICK
    elements = (
        element._replace(app=(element.app + phase) // TICK * TICK - first) for element in stream
    )
    return Stream(tuple(element for element in elements if element.app % SIZE))


def scores(workload: Workload) -> Iterator[tuple[float, float]]:
    """Yield the means of precision and recall over the windows, for each phase. Expected are the
    rows of windows with both borders, as in YABench's code.
    """
    [source] = workload.streams.values()
    stream = source.load().stream
    expected = {
        start: rows for start, rows in answers(workload, stream, "[]").items() if start >= 0
    }
    for phase in PHASES:
        given = answers(workload, with_ticks(stream, phase), "[)")
        pairs = [
            (rows, given[start])
            for start, rows in expected.items()
            if start in given and start < END
        ]
        precisions = [(rows & actual).total() / actual.total() for rows, actual in pairs]
        recalls = [(rows & actual).total() / rows.total() for rows, actual in pairs]
        yield fmean(precisions), fmean(recalls)


# How far the published recall may lie outside of those of the phases. In experiment 3 the published
# precision is below 1, too: its windows slipped besides.
APART = {"1": 0.0001, "2": 0.0001, "3": 0.0025, "4": 0.0001}


@pytest.mark.parametrize("experiment", sorted(APART))
def test_the_published_recall_is_that_of_windows_that_lose_a_tick(
    experiment: str, tmp_path, monkeypatch
) -> None:
    """In experiment 4 the station observes up to 31 ms after each border. So in a tick that begins
    there the first of five observations is lost, and with it four of ten rows.
    """
    monkeypatch.setattr(streams, "cache_folder", lambda: tmp_path)
    workload = YABENCH.workloads(Choice(only=(experiment,), is_live=True))[-1]
    published = published_means()[experiment, workload.test, "csparql"]["recall"]
    found = list(scores(workload))
    recalls = [recall for _, recall in found]
    assert min(recalls) - APART[experiment] <= published <= max(recalls) + APART[experiment]
    if experiment != "2":  # an average is right or wrong
        assert [precision for precision, _ in found] == [1] * len(PHASES)
    if experiment == "4":
        assert recalls[0] == 0.6
