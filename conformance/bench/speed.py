"""A benchmark whose time goes faster: so a run over hours can be put to an engine that knows the
wall clock alone, or whose time goes on tick by tick.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from conformance.bench.benchmark import Workload
from conformance.bench.streams import GeneratedStream, StreamSource


def speed_up(workload: Workload, factor: int) -> Workload:
    """Return a workload whose time goes `factor` times faster. Instants of elements, and sizes and
    slides of windows, are divided by it. Instants are rounded down to a ms. The elements themselves
    do not change, nor do times that are written in them.

    Example: at a factor of 200 a window of an hour is one of 18 s, and an element at 00:30:00.250
    comes at 00:00:09.001.

    Raises ValueError for a size or slide that the factor does not divide, and TypeError for a
    stream that is not generated.
    """
    windows = [
        {**window, **{key: _divide(window[key], factor) for key in ("size", "slide")}}
        for window in workload.table["windows"]
    ]
    streams = {name: _speed_up_stream(source, factor) for name, source in workload.streams.items()}
    return replace(workload, table={**workload.table, "windows": windows}, streams=streams)


def _divide(length: int, factor: int) -> int:
    """Return a size or slide, in ms, that is `factor` times shorter."""
    if length % factor:
        raise ValueError(f"{length} ms cannot be divided by {factor}")
    return length // factor


def _speed_up_stream(source: StreamSource, factor: int) -> GeneratedStream:
    """Return a stream in which time goes faster. Raises TypeError for one that is not generated."""
    if not isinstance(source, GeneratedStream):
        raise TypeError("only generated streams go faster")
    return GeneratedStream(
        f"{factor}-times-faster-{source.name}", partial(_speed_up_lines, source.lines, factor)
    )


def _speed_up_lines(lines: Callable[[], Iterable[str]], factor: int) -> Iterator[str]:
    """Yield the lines of a file .n3t, each of which ends in `"TIME" .`, with their time divided."""
    for line in lines():
        triple, time, _ = line.rsplit('"', 2)
        yield f'{triple}"{int(time) // factor}" .'
