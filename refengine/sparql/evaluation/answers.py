"""Answers: solutions as a relation, in the query's form (SPARQL 1.1 §16)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction

from refengine.model.compare import LEAST_DECIMAL, TOLERANCE
from refengine.model.elements import Relation, Term, Triple, row
from refengine.model.errors import NoSingleAnswer
from refengine.sparql.sums import MOST_PARTIAL_SUMS
from refengine.sparql.values import DECIMAL, RANKS, Computed, Number, Unknown, boolean


def output(term: Term) -> Term:
    """Return a term as an answer shows it. Raises NoSingleAnswer for what NOW, RAND or a UUID gave,
    and for a number whose slack exceeds the tolerance of comparing (CMP-2).
    """
    if not isinstance(term, Computed):
        return term
    if isinstance(term, Unknown):
        raise NoSingleAnswer(f"{term.kind} has no single answer")
    slack = term.number.slack
    if slack and slack > tolerated_slack(term.number.rank, term.number.value):
        raise NoSingleAnswer(why_open(term.number))
    return str(term)


def why_open(number: Number) -> str:
    """Return why a number has no single answer, whose slack is too great for one."""
    if number.is_bound:
        return (
            f"a sum of numbers whose order of adding may matter, {float(number.value)}: more than "
            f"{MOST_PARTIAL_SUMS} partial sums would tell"
        )
    if number.rank == DECIMAL:
        return f"a decimal that depends on how many digits are kept, {float(number.value)}"
    return f"a number that depends on the order of computing, {float(number.value)}"


def tolerated_slack(rank: int, exact: int | Fraction | float) -> Fraction:
    """Return the greatest slack of a number that is still one answer by CMP-2.

    A slack is a unit of the last digit that every evaluator keeps, for each rounding; rounding to
    the nearest errs by half of it.
    """
    relative = 2 * Fraction(TOLERANCE.get(RANKS[rank], 0)) * abs(Fraction(exact))
    if rank == DECIMAL:
        return max(relative, LEAST_DECIMAL)
    return relative


def select_answer(variables: tuple[str, ...], mappings: Iterable[Mapping[str, Term]]) -> Relation:
    """R2R-2: Return SELECT's answer, a bag of solution mappings; an unbound variable is absent from
    its row.
    """
    return Relation(
        variables,
        Counter(
            row({name: output(term) for name, term in mapping.items()}) for mapping in mappings
        ),
    )


def ask_answer(holds: bool) -> Relation:
    """R2R-3: Return ASK's answer, one row, `ask` = true or false, so that it is never empty."""
    return Relation(("ask",), Counter([row({"ask": boolean(holds)})]))


def construct_answer(graph: Iterable[Triple]) -> Relation:
    """R2R-4: Return CONSTRUCT's answer, a set of triples, one row each; triples that RDF does not
    allow are left out.
    """
    names = ("subject", "predicate", "object")
    allowed = {
        triple for triple in graph if not triple[0].startswith('"') and triple[1].startswith("<")
    }
    return Relation(names, Counter(row(zip(names, triple, strict=True)) for triple in allowed))
