"""SECRET: golden vectors of the authors' own simulator (Botan et al., PVLDB 2010, VLDB Journal 2013)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from refengine.engine import evaluations
from refengine.errors import InvalidStream, RefengineError
from refengine.model import Element, check
from refengine.query import Window, WindowKind
from refengine.semantics import Semantics

SCHEMA = Path(__file__).parent / "schema" / "secret.schema.json"


@dataclass(frozen=True)
class Vector:
    """One experiment: a window, a semantics, a stream, and the contents that are reported: as tuple ids, and for
    vectors with the arrival (t_sys) that triggered each."""

    place: str
    name: str
    window: Window
    semantics: Semantics
    elements: tuple[Element, ...]
    tuples: tuple[int, ...]
    expected: tuple[Any, ...]
    triggers: bool


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def read(path: Path) -> Iterator[Vector]:
    """The vectors of a file, one JSON object a line, in either of the two forms (`contents` or `reports`), or of every
    .jsonl file of a folder."""
    if path.is_dir():
        for file in sorted(path.glob("*.jsonl")):
            yield from read(file)
        return
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise InvalidStream(f"{reason}", rule="vector", place=str(path)) from None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            table = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidStream(f"not JSON: {error}", rule="vector", place=place) from None
        problem = next(iter(sorted(_validator().iter_errors(table), key=lambda e: e.json_path)), None)
        if problem is not None:
            raise InvalidStream(f"{problem.json_path}: {problem.message[:200]}", rule="vector", place=place)
        try:
            yield _vector(place, table)
        except RefengineError as error:
            raise error.at(place) from None


def _vector(place: str, table: dict[str, Any]) -> Vector:
    elements = tuple(Element(frozenset(), app, sys, batch) for sys, _, app, batch in table["stream"])
    check(elements)
    periodic = "periodic" in table["report"]
    semantics = Semantics(
        t0=table["t0"],
        closure="(]",
        report=table["report"],
        period=table.get("period") if periodic else None,
        anchor=0 if periodic else None,
        tick=table["tick"],
        r2s="Rstream",
        empty="emit",
        horizon="none",
        instant="trigger",
    )
    triggers = "reports" in table
    expected = (
        tuple((r["tsys"], tuple(r["content"])) for r in table["reports"]) if triggers else tuple(map(tuple, table["contents"]))
    )
    return Vector(
        place,
        f"{table.get('experiment', 'vector')} {table.get('engine', '')}".strip(),
        Window("stream", WindowKind(table["window"]), table["size"], table["slide"]),
        semantics,
        elements,
        tuple(row[1] for row in table["stream"]),
        expected,
        triggers,
    )


def computed(vector: Vector) -> tuple[Any, ...]:
    """What the reference engine reports, in the vector's own form."""
    found = []
    for at in evaluations(vector.window, vector.elements, vector.semantics):
        content = tuple(vector.tuples[i] for i in at.content)
        found.append((vector.elements[at.arrival].sys, content) if vector.triggers else content)
    return tuple(found)


def disagreement(vector: Vector) -> str | None:
    """The first report that differs, as one line; None if all agree."""
    got = computed(vector)
    if got == vector.expected:
        return None
    for number in range(max(len(got), len(vector.expected))):
        ours = got[number] if number < len(got) else "no report"
        theirs = vector.expected[number] if number < len(vector.expected) else "no report"
        if ours != theirs:
            return f"{vector.place}: {vector.name}: report {number + 1}: expected {theirs}, got {ours}; {vector.semantics}"
    raise AssertionError("equal reports in unequal sequences")
