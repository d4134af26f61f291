"""Hold the SPARQL evaluator, and each witness alone, to W3C's SPARQL 1.0 and 1.1 query evaluation
tests.

    python -m tools.w3c FOLDER [--verbose]     FOLDER: sparql/ of a checkout of w3c/rdf-tests

In scope are the tests over SELECT, ASK and CONSTRUCT that need no service, entailment or protocol.
Where a query has FROM or FROM NAMED, the files that these name are its dataset (SPARQL 13.2), not
those of the manifest.
Prints, for each who is asked, how many are right, wrong (another answer), refused (unsupported,
with a reason) and broken (an error of a library's own). Exits with 1 if the SPARQL evaluator has
one wrong or broken.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pyoxigraph
from rdflib import Graph
from rdflib.collection import Collection
from rdflib.namespace import RDF, Namespace

from refengine.core import r2r
from refengine.core.query import Body, Query, Window, WindowKind
from refengine.core.static import resolve_static
from refengine.model import compare
from refengine.model.elements import Bag, Dataset, Relation, Triple, row
from refengine.model.errors import RefengineError
from refengine.model.terms import Term
from refengine.sparql.witnesses import WITNESSES, NoSay
from refengine.sparql.witnesses.pyoxigraph_witness import from_pyoxigraph

MANIFEST = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#")
QUERY = Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-query#")
RESULTS = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
OUT_OF_SCOPE = {
    "entailment",
    "service",
    "protocol",
    "http-rdf-update",
    "service-description",
    "csv-tsv-res",
}
SYNTAXES = {
    ".ttl": pyoxigraph.RdfFormat.TURTLE,
    ".n3": pyoxigraph.RdfFormat.TURTLE,
    ".nt": pyoxigraph.RdfFormat.N_TRIPLES,
    ".trig": pyoxigraph.RdfFormat.TRIG,
    ".rdf": pyoxigraph.RdfFormat.RDF_XML,
}
TABLES = {
    ".srx": pyoxigraph.QueryResultsFormat.XML,
    ".srj": pyoxigraph.QueryResultsFormat.JSON,
    ".tsv": pyoxigraph.QueryResultsFormat.TSV,
}
TRIPLE = ("subject", "predicate", "object")
OUTCOMES = ("right", "wrong", "refused", "broken")


@dataclass(frozen=True)
class Test:
    """One of W3C's tests: its name, the query's file, those of the default graph, of named graphs
    by IRI, and of the result.
    """

    name: str
    query: Path
    default: tuple[Path, ...]
    named: tuple[tuple[str, Path], ...]
    result: Path

    @property
    def text(self) -> str:
        """The query, with its own place as the base."""
        return f"BASE <{self.query.as_uri()}>\n{self.query.read_text(encoding='utf-8')}"

    def question(self) -> tuple[Body, Dataset]:
        """Return the body, without FROM and FROM NAMED, and the dataset that it is asked over.
        Raises ForbiddenAccess for a clause that names no file.
        """
        body = Body(self.text)
        if not body.graphs:
            return body, self.dataset
        given = {
            clause.graph: frozenset(triples(_path(clause.graph), ""))
            for clause in body.graphs
            if _path(clause.graph).is_file()
        }
        query, dataset = resolve_static(Query((Window("unused", WindowKind.NOW),), body), given)
        return query.body, dataset

    @property
    def dataset(self) -> Dataset:
        """The triples and quads of the manifest's files. Blank nodes of two files are apart."""
        files = [(path, ()) for path in self.default] + [
            (path, (f"<{iri}>",)) for iri, path in self.named
        ]
        return frozenset(
            (*triple, *name)
            for number, (path, name) in enumerate(files)
            for triple in triples(path, f"f{number}x")
        )

    def expected(self, form: str) -> Bag | bool:
        """Return the right answer: a truth value, or rows as `refengine` has them."""
        if self.result.suffix in TABLES:
            found = pyoxigraph.parse_query_results(
                self.result.read_bytes(), TABLES[self.result.suffix]
            )
            if isinstance(found, pyoxigraph.QueryBoolean):
                return bool(found)
            names = [variable.value for variable in found.variables]
            return Counter(
                row(
                    {
                        n: from_pyoxigraph(t)
                        for n, t in zip(names, line, strict=True)
                        if t is not None
                    }
                )
                for line in found
            )
        graph = list(triples(self.result, "r"))
        if form == "CONSTRUCT":
            return Counter({row(zip(TRIPLE, triple, strict=True)): 1 for triple in graph})
        return _result_set(graph)


def _result_set(graph: list[Triple]) -> Bag | bool:
    """Read a result that is written as RDF."""
    about: dict[tuple[Term, Term], list[Term]] = {}
    for subject, predicate, object_ in graph:
        about.setdefault((subject, predicate), []).append(object_)
    for (_, predicate), (value, *_) in about.items():
        if predicate == f"<{RESULTS}boolean>":
            return value.startswith('"true"')
    rows: Bag = Counter()
    solutions = [
        node
        for (_, predicate), nodes in about.items()
        if predicate == f"<{RESULTS}solution>"
        for node in nodes
    ]
    for solution in solutions:
        bindings = about.get((solution, f"<{RESULTS}binding>"), [])
        cells = [
            (about[b, f"<{RESULTS}variable>"][0], about[b, f"<{RESULTS}value>"][0])
            for b in bindings
        ]
        rows[row({name.strip('"'): term for name, term in cells})] += 1
    return rows


def triples(path: Path, label: str) -> Iterator[Triple]:
    """Yield the triples of a file, the labels of its blank nodes marked."""
    for quad in pyoxigraph.parse(path.read_bytes(), SYNTAXES[path.suffix], base_iri=path.as_uri()):
        terms = map(from_pyoxigraph, (quad.subject, quad.predicate, quad.object))
        subject, predicate, object_ = (_with_label(term, label) for term in terms)
        yield subject, predicate, object_


def _with_label(term: Term, label: str) -> Term:
    """Return a term; if it is a blank node, with a label that marks its file."""
    if term.startswith("_:"):
        return f"_:{label}{term[2:]}"
    return term


def tests(folder: Path) -> Iterator[Test]:
    """Yield the tests in scope below a folder, those that their manifests still list."""
    for manifest in sorted(folder.resolve().rglob("*manifest.ttl")):
        area, edition = manifest.parent.name, manifest.parent.parent.name
        if (
            edition not in ("sparql10", "sparql11")
            or area in OUT_OF_SCOPE
            or area.startswith("syntax")
        ):
            continue
        graph = Graph().parse(manifest, publicID=manifest.as_uri())
        listed = {
            entry
            for head in graph.objects(None, MANIFEST.entries)
            for entry in Collection(graph, head)
        }
        for node in sorted(
            listed & set(graph.subjects(RDF.type, MANIFEST.QueryEvaluationTest)), key=str
        ):
            action, result = graph.value(node, MANIFEST.action), graph.value(node, MANIFEST.result)
            query = graph.value(action, QUERY.query)
            if query is None or result is None:
                continue
            default = tuple(_path(iri) for iri in graph.objects(action, QUERY.data))
            named = tuple((str(iri), _path(iri)) for iri in graph.objects(action, QUERY.graphData))
            yield Test(
                f"{edition}/{area}/{graph.value(node, MANIFEST.name)}",
                _path(query),
                default,
                named,
                _path(result),
            )


def _path(iri: object) -> Path:
    return Path(unquote(str(iri).removeprefix("file://")))


def outcome(test: Test, answer: Callable[[Body, Dataset], Relation]) -> tuple[str, str]:
    """Ask one test, and return its outcome and, where it is not right, why."""
    try:
        body, dataset = test.question()
        rows = answer(body, dataset).rows
    except RefengineError as error:
        return "refused", str(error)
    except NoSay as error:
        return "broken", str(error)
    right = test.expected(body.form)
    if isinstance(right, bool):
        is_right = [dict(line)["ask"].startswith(f'"{str(right).lower()}"') for line in rows] == [
            True
        ]
    else:
        is_right = compare.equal(rows, right) or (
            re.search(r"\bREDUCED\b", test.text) is not None and set(rows) == set(right)
        )
    if is_right:
        return ("right", "")
    return ("wrong", f"{sum(rows.values())} rows")


def evaluations() -> dict[str, Callable[[Body, Dataset], Relation]]:
    """Return who is asked: the SPARQL evaluator and each witness alone."""

    def by(name: str) -> Callable[[Body, Dataset], Relation]:
        return lambda body, dataset: r2r.ask_evaluator(name, body, dataset)

    return {name: by(name) for name in (r2r.EVALUATOR, *WITNESSES)}


def count(folder: Path, verbose: bool = False) -> dict[str, Counter[str]]:
    """Ask every test of everybody, and count the outcomes."""
    counts: dict[str, Counter[str]] = {}
    every = list(tests(folder))
    for name, answer in evaluations().items():
        counts[name] = Counter()
        for test in every:
            found, why = outcome(test, answer)
            counts[name][found] += 1
            if verbose and found != "right":
                print(f"{name}: {found}: {test.name}: {why[:160]}")
    return counts


def main() -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.w3c", description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="sparql/ of a checkout of w3c/rdf-tests")
    parser.add_argument("--verbose", action="store_true", help="name each test that is not right")
    options = parser.parse_args()
    counts = count(options.folder, options.verbose)
    total = sum(counts[r2r.EVALUATOR].values())
    if not total:
        print(
            f"w3c: no tests below {options.folder}; give sparql/ of a checkout of w3c/rdf-tests",
            file=sys.stderr,
        )
        return 2
    for name, outcomes in counts.items():
        print(f"{name}: {', '.join(f'{outcomes[kind]} {kind}' for kind in OUTCOMES)} of {total}")
    if counts[r2r.EVALUATOR]["wrong"] or counts[r2r.EVALUATOR]["broken"]:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
