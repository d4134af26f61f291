"""SECRET: the golden vectors of its authors' own simulator, and the reference engine beside them
(Botan et al., PVLDB 2010, VLDB Journal 2013).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from conformance.schemas import validator
from refengine.core.engine import evaluations, plan
from refengine.core.profiles import brief, profile
from refengine.core.query import Body, Query, Window, WindowKind
from refengine.core.semantics import Semantics
from refengine.core.values import AllowedLateness
from refengine.model.elements import Element, Stream, admit
from refengine.model.errors import InvalidStream, RefengineError
from refengine.model.messages import why
from refengine.rdf.sources import list_files, read_text

BODY = Body("SELECT * { ?s ?p ?o }")  # any body will do: the vectors are about windows alone


@dataclass(frozen=True)
class Vector:
    """A golden vector, one experiment of the simulator: a window, a semantics, a stream, and the
    expected reports. A report is the ids of the tuples that the window holds; with `triggers` it is
    a pair of the arrival (t_sys) that triggered it and these ids. `tuples` has the id of each
    element of the stream.
    """

    place: str
    name: str
    query: Query
    semantics: Semantics
    stream: Stream
    tuples: tuple[int, ...]
    expected: tuple[Any, ...]
    triggers: bool


def read_vectors(path: Path) -> Iterator[Vector]:
    """Read the vectors of a file, or of every .jsonl file of a folder. A line has one vector as a
    JSON object, with its expectation under `contents` or under `reports`. Raises InvalidStream.
    """
    if os.path.isdir(path):
        for file in list_files(path, "*.jsonl", "vector"):
            yield from read_vectors(file)
        return
    text = read_text(path, InvalidStream, "vector")
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            table = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidStream(f"not JSON: {why(error)}", rule="vector", place=place) from None
        problem = next(
            iter(sorted(validator("secret").iter_errors(table), key=lambda e: e.json_path)), None
        )
        if problem is not None:
            raise InvalidStream(
                f"{problem.json_path}: {problem.message[:200]}",
                rule="vector",
                place=place,
            )
        try:
            yield _vector(place, table)
        except RefengineError as error:
            raise error.at(place) from None


def _vector(place: str, table: dict[str, Any]) -> Vector:
    """Return the vector that a JSON object describes."""
    elements = tuple(
        Element(frozenset(), app, sys, batch) for sys, _, app, batch in table["stream"]
    )
    admit(elements, AllowedLateness.REJECT)
    period, anchor = None, None
    if "periodic" in table["report"]:
        period, anchor = table.get("period"), 0
    semantics = profile("flink").but(
        t0=table["t0"],
        report=table["report"],
        period=period,
        anchor=anchor,
        tick=table["tick"],
    )
    triggers = "reports" in table
    expected: tuple[Any, ...]
    if triggers:
        expected = tuple((r["tsys"], tuple(r["content"])) for r in table["reports"])
    else:
        expected = tuple(map(tuple, table["contents"]))
    window = Window("stream", WindowKind(table["window"]), table["size"], table["slide"])
    return Vector(
        place,
        f"{table.get('experiment', 'vector')} {table.get('engine', '')}".strip(),
        Query((window,), BODY),
        semantics.semantics(),
        Stream(elements),
        tuple(row[1] for row in table["stream"]),
        expected,
        triggers,
    )


def compute_reports(vector: Vector) -> tuple[Any, ...]:
    """Return the reports of the reference engine, in the form of the vector's expectation."""
    reports: list[tuple[Any, ...]] = []
    planned = plan(vector.query, {"stream": vector.stream}, vector.semantics)
    for at in evaluations(planned):
        content = tuple(vector.tuples[i] for i in at.content)
        if vector.triggers:
            reports.append((planned.arrivals[at.arrival].sys, content))
        else:
            reports.append(content)
    return tuple(reports)


def disagreement(vector: Vector) -> str | None:
    """Return a line about the first report that differs from the reference engine's; None if all
    agree.
    """
    try:
        got = compute_reports(vector)
    except RefengineError as error:
        raise error.at(vector.place) from None
    if got == vector.expected:
        return None
    pairs = zip_longest(got, vector.expected, fillvalue="no report")
    for number, (ours, theirs) in enumerate(pairs):
        if ours != theirs:
            return (
                f"{vector.place}: {vector.name}: report {number + 1}: expected {theirs}, got "
                f"{ours}; "
                f"{brief(vector.semantics)}"
            )
    raise AssertionError("equal reports in unequal sequences")
