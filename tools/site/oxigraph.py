"""pyoxigraph's module, as far as a witness needs it, over Oxigraph's own build for the web. In the
playground it is imported as `pyoxigraph`. It has no parsers and takes no functions.

Each call of the other language carries one text of JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import _oxigraph_js  # type: ignore[import-not-found]  # site/playground/oxigraph.js

NAME = f"oxigraph {_oxigraph_js.version} for the web"
XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"


@dataclass(frozen=True)
class NamedNode:
    """An IRI."""

    value: str


@dataclass(frozen=True)
class BlankNode:
    """A blank node by its label."""

    value: str


@dataclass(frozen=True)
class DefaultGraph:
    """The name of the default graph."""


@dataclass(frozen=True)
class Literal:
    """A literal by its lexical form, and its datatype or its language."""

    value: str
    datatype: NamedNode = NamedNode(XSD_STRING)
    language: str | None = None


@dataclass(frozen=True)
class Triple:
    """A triple."""

    subject: Any
    predicate: Any
    object: Any


@dataclass(frozen=True)
class Quad:
    """A triple in a graph."""

    subject: Any
    predicate: Any
    object: Any
    graph_name: Any = DefaultGraph()


@dataclass(frozen=True)
class QueryBoolean:
    """The answer of ASK."""

    value: bool

    def __bool__(self) -> bool:
        return self.value


class QueryTriples(list[Triple]):
    """The answer of CONSTRUCT."""


class QuerySolution(list[Any]):
    """The terms of a solution, in the order of the variables; None for what is unbound."""


class QuerySolutions(list[QuerySolution]):
    """The answer of SELECT."""

    def __init__(self, names: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
        super().__init__(QuerySolution(map(_read, row)) for row in rows)
        self.variables = list(map(NamedNode, names))


def _written(term: Any) -> list[str]:
    match term:
        case NamedNode(value):
            return ["iri", value]
        case BlankNode(value):
            return ["blank", value]
        case Literal(value, datatype, language):
            return ["literal", value, datatype.value, language or ""]
        case _:
            return ["default"]


def _read(term: list[str] | None) -> Any:
    match term:
        case ["iri", value]:
            return NamedNode(value)
        case ["blank", value]:
            return BlankNode(value)
        case ["literal", value, _, language] if language:
            return Literal(value, NamedNode(LANG_STRING), language)
        case ["literal", value, datatype, _]:
            return Literal(value, NamedNode(datatype))
        case _:
            return None


class Store:
    """A dataset that answers queries."""

    def __init__(self) -> None:
        self.handle = _oxigraph_js.store()

    def extend(self, quads: Iterable[Quad]) -> None:
        """Add quads."""
        self._each("add", quads)

    def remove(self, quad: Quad) -> None:
        """Remove a quad."""
        self._each("delete", [quad])

    def remove_graph(self, name: Any) -> None:
        """Remove a named graph with its name. A blank node's name stays."""
        if isinstance(name, NamedNode):
            _oxigraph_js.drop(self.handle, name.value)

    def named_graphs(self) -> list[Any]:
        """Return the names of the named graphs."""
        return list(map(_read, json.loads(_oxigraph_js.graphs(self.handle))))

    def query(
        self, text: str, *, custom_functions: object = None
    ) -> QueryBoolean | QueryTriples | QuerySolutions:
        """Return the answer to a query. Raises SyntaxError for one that is none."""
        if custom_functions:
            raise NotImplementedError("Oxigraph for the web takes no functions")
        answer = json.loads(_oxigraph_js.query(self.handle, text))
        match answer:
            case {"error": message}:
                raise SyntaxError(message)
            case {"boolean": value}:
                return QueryBoolean(value)
            case {"triples": triples}:
                return QueryTriples(Triple(*map(_read, triple)) for triple in triples)
            case _:
                return QuerySolutions(answer["names"], answer["rows"])

    def _each(self, method: str, quads: Iterable[Quad]) -> None:
        rows = [
            [*map(_written, (quad.subject, quad.predicate, quad.object, quad.graph_name))]
            for quad in quads
        ]
        _oxigraph_js.each(self.handle, method, json.dumps(rows))
