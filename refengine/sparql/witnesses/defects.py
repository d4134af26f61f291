"""§7 Why a witness has no say, and the known defects of the witnesses, as what they make of a body:
the body that says what a witness reads. conformance/corpus/witness_defects.toml lists all that are
known; those are here whose reading can be written as a body.

A defect covers an answer if the SPARQL evaluator gives that answer to the body as the witness reads
it, and another to the body as it stands. So no other answer of the witness is covered by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from refengine.model.compare import equal
from refengine.model.elements import XSD, Dataset, Relation, literal, parse_literal
from refengine.model.errors import Unsupported
from refengine.model.xsd import INTEGER_FORM, INTEGERS, in_range
from refengine.sparql.algebra import Aggregate, AlgebraQuery, Call
from refengine.sparql.evaluation import evaluate
from refengine.sparql.values import boolean

ONE = literal("1", XSD + "integer")
Misread = Callable[[Any], Any]  # returns a node of the algebra as a witness reads it


class NoSay(Exception):
    """A witness cannot answer a body: the reason, in one line."""


@dataclass(frozen=True)
class KnownDefect:
    """A defect of a witness: its id in the list, how the witness reads the nodes of a body, and the
    tests of others that cover the construct.
    """

    id: str
    witness: str
    misread: Misread
    tests: str

    def __str__(self) -> str:
        return f"defect {self.id} of {self.witness}"


class AnswerByDefect(NoSay):
    """The answer of a witness is what its known defects make of a body, so that it says nothing."""

    def __init__(self, defects: Sequence[KnownDefect]) -> None:
        names = " and ".join(defect.id for defect in defects)
        super().__init__(
            f"its answer comes from its known defect {names} (docs/evidence/witnesses.md)"
        )
        self.defects = tuple(defects)


def count_errors(node: Any) -> Any:
    """Read COUNT of an expression so that errors are counted, too."""
    if _counts_expression(node):
        return replace(node, argument=Call("COALESCE", (node.argument, ONE)))
    return node


def fail_count_by_error(node: Any) -> Any:
    """Read COUNT of an expression so that it is an error if one member is."""
    if _counts_expression(node):
        is_no_error = Call("IF", (Call("ISLITERAL", (node.argument,)), ONE, ONE))
        return replace(node, name="SUM", argument=is_no_error)
    return node


def _counts_expression(node: Any) -> bool:
    return (
        isinstance(node, Aggregate)
        and node.name == "COUNT"
        and not node.is_distinct
        and isinstance(node.argument, Call)
    )


def share_labelled_node(node: Any) -> Any:
    """Read BNODE with a constant label as one blank node for all solutions."""
    match node:
        case Call("BNODE", (str() as label,)) if label.startswith('"'):
            return f"_:shared{''.join(f'{ord(one):x}x' for one in label)}"
    return node


def take_out_of_range_for_numeric(node: Any) -> Any:
    """Read isNumeric of a constant that is out of the range of its integer type as true."""
    match node:
        case Call("ISNUMERIC", (str() as term,)) if term.startswith('"'):
            lexical, datatype, _ = parse_literal(term)
            is_integer = datatype in INTEGERS and INTEGER_FORM.fullmatch(lexical) is not None
            if is_integer and not in_range(int(lexical), datatype):
                return boolean(True)
    return node


OF_COUNT = (
    "W3C's tests aggregates/agg01 to agg07 (COUNT), agg-err-01 and agg-err-02 (errors), and Jena's "
    "answers (make arq)"
)
OF_BNODE = "W3C's test functions/bnode01"
OF_ISNUMERIC = "W3C's test functions/isnumeric01, and Jena's answers (make arq)"
KNOWN_DEFECTS = (
    KnownDefect("count-of-errors", "rdflib", count_errors, OF_COUNT),
    KnownDefect("count-of-errors", "pyoxigraph", fail_count_by_error, OF_COUNT),
    KnownDefect("bnode-of-a-string", "rdflib", share_labelled_node, OF_BNODE),
    KnownDefect("bnode-of-a-string", "pyoxigraph", share_labelled_node, OF_BNODE),
    KnownDefect("isnumeric-out-of-range", "rdflib", take_out_of_range_for_numeric, OF_ISNUMERIC),
    KnownDefect(
        "isnumeric-out-of-range", "pyoxigraph", take_out_of_range_for_numeric, OF_ISNUMERIC
    ),
)


def find_defects(
    witness: str, query: AlgebraQuery, dataset: Dataset, answer: Relation
) -> list[KnownDefect]:
    """R2R-5: Return the known defects of a witness that explain its answer to a body; none where it
    is the SPARQL evaluator's, or no defect explains it. A body that is nested too deeply to be
    rewritten is read as it stands.
    """
    try:
        readings = list(misreadings(witness, query))
    except RecursionError:
        return []
    if not readings:
        return []
    try:
        if equal(evaluate(query, dataset).rows, answer.rows):
            return []
    except Unsupported:
        return []
    for defects, misread in readings:
        try:
            if equal(evaluate(misread, dataset).rows, answer.rows):
                return defects
        except Unsupported:  # the body as the witness reads it has no single answer
            continue
    return []


def misreadings(
    witness: str, query: AlgebraQuery
) -> Iterator[tuple[list[KnownDefect], AlgebraQuery]]:
    """Yield a body as a witness reads it: with each known defect that changes it, and with all."""
    found = []
    together = query
    for defect in KNOWN_DEFECTS:
        if defect.witness != witness:
            continue
        misread = rewrite(query, defect.misread)
        if misread != query:
            found.append(defect)
            together = rewrite(together, defect.misread)
            yield [defect], misread
    if len(found) > 1:
        yield found, together


def rewrite(node: Any, change: Misread) -> Any:
    """Return a node of the algebra with each node in it changed, the innermost first."""
    if isinstance(node, tuple):
        parts = [rewrite(part, change) for part in node]
        node = type(node)(*parts) if hasattr(node, "_fields") else tuple(parts)
    elif is_dataclass(node) and not isinstance(node, type):
        node = replace(
            node,
            **{
                field.name: rewrite(getattr(node, field.name), change)
                for field in fields(node)
                if field.init
            },
        )
    return change(node)
