"""The known defects of the two libraries that confirm the SPARQL evaluator, and functions that ask
the libraries directly.

The list is `witness_defects.toml`; `docs/evidence/witnesses.md` counts its entries and
`tests/sparql/test_witness_defects.py` holds it.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pyoxigraph
from rdflib.term import Identifier, Node

from conformance.corpus.case_file import statements_of
from refengine.core.r2r import EVALUATOR
from refengine.model.compare import Mode, equal
from refengine.model.elements import XSD, Bag, Dataset, Quad, Row, Triple, row
from refengine.model.libraries import without_warnings
from refengine.model.terms import Term
from refengine.sparql.witnesses.pyoxigraph_witness import from_pyoxigraph, to_pyoxigraph
from refengine.sparql.witnesses.rdflib_witness import (
    QuietDataset,
    from_rdflib,
    to_rdflib,
    without_logs,
)

SOURCE = Path(__file__).with_name("witness_defects.toml")
PREFIXES = {"": "urn:", "xsd": XSD}
NO_SINGLE_ANSWER = "no single answer"
NOT_A_QUERY = "not a legal query"
POSITIONS = ("subject", "predicate", "object")

WitnessAnswer = Bag | bool | str
"""Rows, the truth of an ASK, or in words: NO_SINGLE_ANSWER, NOT_A_QUERY, or the kind of error
that a library raises."""


@dataclass(frozen=True)
class Defect:
    """A defect: one thing that a witness gets wrong.

    `right` is the right answer, derived by hand from `section` of the standard. `answers` has the
    answer of each witness that errs. `refused` is true if the project's own R2R refuses such a body
    (QRY-3), whatever its answer is.
    """

    id: str
    group: str
    title: str
    section: str
    says: str
    query: str
    data: str
    right: WitnessAnswer
    answers: Mapping[str, WitnessAnswer]
    issues: tuple[str, ...]
    refused: bool

    @property
    def text(self) -> str:
        """The query with its prefixes."""
        return "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in PREFIXES.items()) + self.query

    @property
    def dataset(self) -> Dataset:
        """The statements of `data`, which is TriG."""
        return statements(self.data)


@dataclass(frozen=True)
class Figures:
    """The figures of one evaluator on W3C's tests: how many answers are right, wrong, refused for a
    reason, or ended by an error.
    """

    right: int
    wrong: int
    refused: int
    broken: int


@dataclass(frozen=True)
class Catalogue:
    """The list of defects, and the figures on W3C's tests: the commit of w3c/rdf-tests, the number
    of tests, and the figures of each evaluator by name.
    """

    defects: tuple[Defect, ...]
    commit: str
    tests: int
    figures: Mapping[str, Figures]


def load_catalogue(path: Path = SOURCE) -> Catalogue:
    """Read the list of defects. Raises ValueError or TypeError for an unknown or missing key."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    suite = table.pop("w3c")
    defects = tuple(_defect(entry) for entry in table.pop("defect"))
    if table:
        raise ValueError(f"{path.name}: unknown keys {sorted(table)}")
    return Catalogue(
        defects,
        suite["commit"],
        suite["tests"],
        {name: Figures(**suite[name]) for name in (EVALUATOR, *WITNESSES)},
    )


def _defect(entry: dict[str, Any]) -> Defect:
    """Return a defect from its table. Raises TypeError for a key that is unknown or missing."""
    answers = {name: _answer(entry.pop(name)) for name in WITNESSES if name in entry}
    fields: dict[str, Any] = {"data": "", "refused": False} | entry
    fields |= {
        "right": _answer(entry["right"]),
        "answers": answers,
        "issues": tuple(entry.get("issues", ())),
    }
    return Defect(**fields)


def _answer(value: object) -> WitnessAnswer:
    """Return an answer from its value in TOML: rows, a truth or words."""
    if isinstance(value, list):
        return Counter(row({name: term_of(text) for name, text in line.items()}) for line in value)
    assert isinstance(value, bool | str)
    return value


def statements(data: str) -> Dataset:
    """Return the triples and quads of a TriG text. Blank nodes keep their labels."""
    head = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in PREFIXES.items())
    return statements_of(head + data)


def term_of(text: str) -> Term:
    """Return the term that a Turtle text stands for."""
    (statement,) = statements(f":s :p {text} .")
    return statement[2]


def turtle_of(term: Term) -> str:
    """Return a short Turtle text of a term; the inverse of `term_of`."""
    if plain := re.fullmatch(r"<urn:(\w+)>", term):
        return f":{plain[1]}"
    return re.sub(rf"(^|\^\^)<{re.escape(XSD)}(\w+)>$", r"\1xsd:\2", term)


def same(a: WitnessAnswer, b: WitnessAnswer, mode: Mode) -> bool:
    """Whether two answers are the same: rows up to the names of blank nodes (CMP-4)."""
    if isinstance(a, Counter) and isinstance(b, Counter):
        return equal(a, b, mode)
    return type(a) is type(b) and a == b


def answer_of(witness: str, text: str, dataset: Dataset) -> WitnessAnswer:
    """Return what a witness answers: its rows, the truth of an ASK, or the kind of error that it
    raises.
    """
    try:
        with without_warnings():
            return WITNESSES[witness](text, dataset)
    except Exception as error:  # a library's own failure, of whatever kind
        return type(error).__name__


@without_logs()
def ask_rdflib(text: str, dataset: Dataset) -> WitnessAnswer:
    """Ask rdflib, which is given literals as they are written."""
    store = QuietDataset(default_union=False)
    for statement in sorted(dataset):
        subject, predicate, object_, *name = map(to_rdflib, statement)
        graph = store.default_graph
        if name:
            graph = store.graph(*name)
        graph.add((subject, predicate, object_))
    result = store.query(text)
    match result.type:
        case "ASK":
            return bool(result.askAnswer)
        case "CONSTRUCT":
            assert result.graph is not None
            return Counter({_row_of(map(_from_node, triple)): 1 for triple in result.graph})
        case _:
            return Counter(_solution(line) for line in result.bindings)


def ask_pyoxigraph(text: str, dataset: Dataset) -> WitnessAnswer:
    """Ask pyoxigraph, and return its answer."""
    store = pyoxigraph.Store()
    store.extend(map(_quad, sorted(dataset)))
    result = store.query(text)
    if isinstance(result, pyoxigraph.QueryBoolean):
        return bool(result)
    if isinstance(result, pyoxigraph.QueryTriples):
        return Counter(
            {_row_of(map(from_pyoxigraph, (t.subject, t.predicate, t.object))): 1 for t in result}
        )
    names = [variable.value for variable in result.variables]
    return Counter(
        row({n: from_pyoxigraph(t) for n, t in zip(names, line, strict=True) if t is not None})
        for line in result
    )


def _quad(statement: Triple | Quad) -> pyoxigraph.Quad:
    terms: list[Any] = list(map(to_pyoxigraph, statement))
    return pyoxigraph.Quad(*terms)


def _from_node(node: Node) -> Term:
    return from_rdflib(cast(Identifier, node))  # as all of rdflib's are


def _solution(bindings: Mapping[Any, Node | None]) -> Row:
    return row(
        {str(variable): _from_node(term) for variable, term in bindings.items() if term is not None}
    )


def _row_of(triple: Iterable[Term]) -> Row:
    return row(zip(POSITIONS, triple, strict=True))


WITNESSES: dict[str, Callable[[str, Dataset], WitnessAnswer]] = {
    "rdflib": ask_rdflib,
    "pyoxigraph": ask_pyoxigraph,
}
