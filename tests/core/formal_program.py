"""The program that is extracted from the definitions in `refengine/formal`: it is built, and asked
what a query means.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from conformance.certificates.formal import FOLDER, compile_program, run
from refengine import Element, Query, Stream
from refengine.core.semantics import Semantics, show
from refengine.model.elements import Bag, Dataset
from refengine.sparql.algebra import TriplePattern, Variable, without_path

DEFINITIONS = (FOLDER / "Definitions.v", FOLDER / "Firings.v")
POSITIONS = ("subject", "predicate", "object")


class Shown(NamedTuple):
    """A report: the instants of evaluation, trigger and output, the borders of each window, the
    `sys` of the elements that each holds, the number of late elements, the rows, sorted,
    whether they are taken back, and the key.
    """

    t: int
    trigger: int
    instant: int
    windows: tuple[tuple[int, int] | None, ...]
    contents: tuple[tuple[int, ...], ...]
    late: int
    rows: tuple[tuple[int, ...], ...]
    takes_back: bool
    key: tuple[int, ...]


@dataclass
class Numbers:
    """The numbers that stand for terms and names, from 1 on. 1 is the predicate that the bodies of
    `Bodies.v` ask for.
    """

    numbers: dict[str, int] = field(default_factory=lambda: {"<urn:p>": 1})

    def of(self, text: str) -> int:
        """Return the number of a text, which is a new one if it is asked for the first time."""
        return self.numbers.setdefault(text, len(self.numbers) + 1)

    def triple(self, triple: Sequence[str]) -> list[int]:
        """Return the numbers of a triple, or of a quad."""
        return [self.of(term) for term in triple]

    def quad(self, quad: Sequence[str]) -> list[int]:
        """Return the numbers of a quad. The default graph, which a triple is in, is 0."""
        return [*self.triple(quad), *([0] if len(quad) == 3 else [])]

    def rows(self, rows: Bag, variables: Sequence[str]) -> tuple[tuple[int, ...], ...]:
        """Return the numbers of the rows of a bag, sorted; unbound variables are left out."""
        bound = (dict(row) for row in rows.elements())
        return tuple(
            sorted(tuple(self.of(row[name]) for name in variables if name in row) for row in bound)
        )


def build(folder: Path) -> Path:
    """Build the program in a folder, and return its path. Every theorem is checked on the way.

    `_CoqProject` has the order of the files.
    """
    shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
    run(folder, "coq_makefile", "-f", "_CoqProject", "-o", "Makefile.coq")
    run(folder, "make", "-s", "-f", "Makefile.coq")
    return compile_program(folder)


def shown(reply: Mapping[str, Any]) -> list[Shown]:
    """Return the reports of a reply. Raises KeyError for an error."""
    return [
        Shown(
            report["t"],
            report["trigger"],
            report["instant"],
            tuple(borders and tuple(borders) for borders in report["windows"]),
            tuple(map(tuple, report["contents"])),
            report["late"],
            tuple(sorted(map(tuple, report["rows"]))),
            report["takes_back"],
            tuple(report["key"]),
        )
        for report in reply["reports"]
    ]


def case_of(
    query: Query,
    streams: Mapping[str, Stream],
    semantics: Semantics,
    static: Dataset,
    body: str | Sequence[tuple[Iterable[Sequence[str]], Bag]],
    numbers: Numbers,
    patterns: Sequence[TriplePattern] = (),
) -> dict[str, Any]:
    """Return a case as the program reads it.

    `body` is the name of one of the bodies of `Bodies.v`, or a table of datasets and what SPARQL
    answers over them. `patterns` are those of the body where elements are consumed.
    """
    names = list(dict.fromkeys(window.stream for window in query.windows))
    fields = {name: _value(value) for name, value in vars(semantics).items()}
    table: Any = body
    if not isinstance(body, str):
        table = [
            [
                [numbers.quad(quad) for quad in sorted(dataset)],
                numbers.rows(rows, query.body.variables),
            ]
            for dataset, rows in body
        ]
    return {
        "semantics": fields | {"report": sorted(semantics.report)},
        "windows": [_window(vars(window), numbers) for window in query.windows],
        "registered": query.registered,
        "operator": None if query.r2s is None else str(query.r2s),
        "static": [numbers.quad(quad) for quad in sorted(static)],
        "patterns": [[_word(word, numbers) for word in without_path(p)] for p in patterns],
        "selected": [numbers.of(f"?{name}") for name in query.body.variables],
        "body": table,
        "elements": [
            _element(numbers.of(name), element, numbers)
            for name in names
            for element in streams[name]
        ],
    }


def _value(value: Any) -> Any:
    """Return the value of a field of a semantics: an integer as it is, all others by name."""
    return value if type(value) is int else show(value)


def _word(word: Any, numbers: Numbers) -> Any:
    return [numbers.of(f"?{word.name}")] if isinstance(word, Variable) else numbers.of(word)


def _window(fields: Mapping[str, Any], numbers: Numbers) -> dict[str, Any]:
    by = [part if part in POSITIONS else numbers.of(f"<{part}>") for part in fields["by"]]
    graph = numbers.of(f"<{fields['name']}>") if fields["name"] else 0
    named = {"stream": numbers.of(fields["stream"]), "by": by, "name": graph}
    return {key: _value(fields[key]) for key in ("kind", "unit")} | {
        **{key: fields[key] for key in ("size", "slide", "triggers", "lag")},
        **named,
    }


def _element(stream: int, element: Element, numbers: Numbers) -> dict[str, Any]:
    return {
        "stream": stream,
        "app": element.app,
        "end": element.app if element.end is None else element.end,
        "sys": element.sys,
        "batch": element.batch or 0,
        "graph": [numbers.triple(triple) for triple in sorted(element.graph)],
    }
