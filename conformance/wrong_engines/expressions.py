"""Wrong engines for SPARQL as it is defined, R2R-10 to R2R-21: terms, expressions, paths, order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.wrong_engines.engines import C_SPARQL, PYOXIGRAPH, RDFLIB
from conformance.wrong_engines.wrong_engine import Right, wrong
from refengine.model.elements import XSD, literal
from refengine.model.errors import NoSingleAnswer
from refengine.model.terms import Term
from refengine.sparql import (
    aggregates,
    evaluation,
    grammar,
    matching,
    order,
    regex,
    translate,
    values,
)
from refengine.sparql.algebra import Aggregate, Repeated
from refengine.sparql.expressions import Expressions
from refengine.sparql.functions import ARITIES_BY_IRI
from refengine.sparql.run import Run
from refengine.sparql.values import ERROR, Computed, Number, Result

# R2R-10 to R2R-20: what the two libraries have right


@wrong(
    "R2R-10",
    replaces=values.same,
    half="is another term than one of the same value",
)
def terms_are_the_same_by_value(right: Right, left: Term, other: Term) -> Any:
    """Takes 0 and -0 for one term."""
    one = values.value_of(left)
    two = values.value_of(other)
    if isinstance(one, Number) and isinstance(two, Number):
        are_zeros = one.value == two.value == 0
        if are_zeros and one.rank == two.rank:
            return True
    return right(left, other)


@wrong(
    "R2R-11",
    replaces=values.truth,
    half="an IRI none",
)
def errors_are_false(right: Right, result: Result) -> Any:
    """Takes an error in a condition for false."""
    truth = right(result)
    if truth is ERROR:
        return False
    return truth


@wrong(
    "R2R-11",
    replaces=Expressions.combine_conditions,
    half="`||` is true if an operand is true",
    seen=f"{RDFLIB}: an error && false",
)
def errors_spread(
    right: Right, evaluating: Expressions, arguments: Sequence[Any], *rest: Any
) -> Result:
    """Makes `||` and `&&` an error if one operand is one."""
    solution, nodes, is_or = rest
    results = (evaluating.result(argument, solution, nodes) for argument in arguments)
    truths = [values.truth(result) for result in results]
    if ERROR in truths:
        return ERROR
    if is_or:
        return values.boolean(any(truths))
    return values.boolean(all(truths))


@wrong(
    "R2R-12",
    replaces=values.equals,
    half="`=` compares these four kinds by value",
)
def values_are_equal_as_terms(right: Right, left: Term, other: Term) -> bool:
    """Compares with `=` by terms, not by values."""
    return left == other


@wrong(
    "R2R-13",
    replaces=values.number_term,
    half="The rest of a longer one is unknown",
    seen=f"{RDFLIB} and {PYOXIGRAPH}",
)
def decimals_have_digits_enough(right: Right, number: Any) -> Term:
    """Gives a rounded decimal as if it were exact."""
    rank, exact, *_ = number
    datatype = XSD + ("integer", "decimal", "float", "double")[rank]
    term = literal(str(exact), datatype)
    return Computed(term, Number(rank, exact))


@wrong(
    "R2R-14",
    replaces=translate.read_body,
    half="is refused by its name",
    seen=f"{RDFLIB}: no rows",
)
def unknown_functions_are_errors(right: Right, text: str) -> Any:
    """Evaluates an unknown function to an error."""
    iris = re.findall("<([^<>]*)>", text)
    unknown = [iri for iri in iris if iri not in ARITIES_BY_IRI]
    if unknown:
        text = re.sub(r":distance\([^()]*\)", "(1 / 0)", text)
    return right(text)


@wrong(
    "R2R-16",
    replaces=aggregates.aggregate,
    half="COUNT leaves errors out",
)
def errors_are_counted(
    right: Right,
    function: Aggregate,
    results: Sequence[Result],
    choose: Any,
) -> Any:
    """Counts errors."""
    if function.name == "COUNT":
        return literal(str(len(results)), XSD + "integer")
    return right(function, results, choose)


@wrong("R2R-16", replaces=aggregates.aggregate, seen=f"{RDFLIB}")
def errors_are_left_out(
    right: Right,
    function: Aggregate,
    results: Sequence[Result],
    choose: Any,
) -> Any:
    """Leaves errors out of sums and other aggregates. So it does with what is no number."""
    if function.name == "COUNT":
        return right(function, results, choose)
    terms = [result for result in results if isinstance(result, str)]
    numbers = [term for term in terms if isinstance(values.value_of(term), Number)]
    return right(function, numbers, choose)


@wrong(
    "R2R-17",
    replaces=grammar._brackets,
    half="brackets nested 60 deep",
)
def nothing_is_too_deep(right: Right, text: str) -> list[int]:
    """Accepts brackets that are nested to any depth."""
    return []


@wrong(
    "R2R-18",
    replaces=matching.pairs,
    half="`?`, `*` and `+` give it once",
)
def a_cycle_is_not_closed(right: Right, graph: Any, path: Any, *rest: Any) -> Any:
    """Drops a repeated path that comes back to its beginning."""
    pairs = right(graph, path, *rest)
    if isinstance(path, Repeated) and path.least:
        return ((start, end) for start, end in pairs if start != end)
    return pairs


@wrong("R2R-15", replaces=regex.replacement)
def a_replacement_is_inserted_as_written(right: Right, template: str, groups: int) -> list[str]:
    """Inserts a replacement as it is written, without the groups that it names."""
    return [template]


@wrong("R2R-19", replaces=evaluation.substitute)
def nothing_is_substituted(right: Right, node: Any, solution: Mapping[str, Term]) -> Any:
    """Evaluates EXISTS without the current solution."""
    return node


@wrong(
    "R2R-20",
    replaces=order.compare_in_order,
    half="blank nodes, IRIs and literals",
)
def terms_are_ordered_as_they_are_written(right: Right, left: Result, other: Result) -> Any:
    """Orders terms as they are written. Literals come before IRIs, and <urn:a1> before <urn:a>."""
    if left is ERROR or other is ERROR:
        return right(left, other)
    if "<" in (left[:1], other[:1]):
        return (left > other) - (left < other)
    return right(left, other)


@wrong(
    "R2R-21",
    replaces=Run.time,
    half="an error for a triple that none holds",
    seen=f"{C_SPARQL}, timestamp.java: false for an unknown triple",
)
def an_unknown_triple_is_false(right: Right, run: Run, *triple: Term) -> Any:
    """Gives a triple that no window holds the time false."""
    time = right(run, *triple)
    if time is ERROR:
        return values.boolean(False)
    return time


@wrong("R2R-20", replaces=order.check_border, half="LIMIT and OFFSET have an answer")
def limits_need_order_by(right: Right, keys: Any, rows: Any, border: int, *rest: Any) -> None:
    """Refuses LIMIT without ORDER BY."""
    is_ordered = rest[0]
    if not is_ordered:
        raise NoSingleAnswer("LIMIT or OFFSET without ORDER BY")
    right(keys, rows, border, *rest)


@wrong("R2R-20", replaces=order.check_border)
def order_by_leaves_no_choice(right: Right, keys: Any, rows: Any, border: int, *rest: Any) -> None:
    """Takes any rows where LIMIT cuts between equal keys of ORDER BY."""
    is_ordered = rest[0]
    if not is_ordered:
        right(keys, rows, border, *rest)
