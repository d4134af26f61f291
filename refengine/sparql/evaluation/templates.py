"""CONSTRUCT's template (SPARQL 1.1 §16.2): the triples that it makes of solutions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from refengine.model.elements import Term, Triple
from refengine.sparql.algebra import TriplePattern, Variable, without_path
from refengine.sparql.evaluation.answers import output
from refengine.sparql.evaluation.grouping import key_of_same_group
from refengine.sparql.evaluation.run import Run, Solution


def fill_template(
    run: Run, template: Sequence[TriplePattern], solutions: Iterable[Solution]
) -> Iterator[Triple]:
    """Yield for each solution the template's triples of which it binds all variables, with new
    blank nodes (§16.2.1).
    """
    for solution in solutions:
        run.budget.spend(1 + 4 * len(template))
        nodes: dict[Variable, Term] = {}
        for pattern in template:
            subject, predicate, object_ = [
                fill_place(run, part, solution, nodes) for part in without_path(pattern)
            ]
            if subject is not None and predicate is not None and object_ is not None:
                yield subject, predicate, object_


def fill_place(
    run: Run, part: Variable | Term, solution: Solution, nodes: dict[Variable, Term]
) -> Term | None:
    """Return the term that a part of the template stands for; None where the solution binds it
    not. `nodes` has the blank nodes made for this solution, and gets those that are made now.
    """
    if not isinstance(part, Variable):
        return part
    if not part.is_hidden:
        return solution.get(part.name)
    nodes.setdefault(part, run.new_blank())
    return nodes[part]


def distinct_triples(run: Run, triples: Iterable[Triple]) -> Iterator[Triple]:
    """Yield each triple once. Raises NoSingleAnswer where it is open whether two are the same."""
    unique: dict[Triple, None] = {}
    for triple in triples:
        key = key_of_same_group(run, triple, unique) if run.has_computed else triple
        if key not in unique:
            unique[key] = None
            subject, predicate, object_ = triple
            yield output(subject), output(predicate), output(object_)
