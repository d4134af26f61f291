"""§7 The evaluation of SPARQL's algebra (SPARQL 1.1 §18.3 to §18.6), operator by operator, over
multisets of solutions.

A solution maps the names of variables to terms. A multiset of solutions is a list; its order means
nothing. Nothing is kept from one evaluation to the next.

Imports `model` and the modules of `sparql` beside it, but neither `translate` nor `witnesses`.
Begin with `operators`, where `BodyEvaluator` has a case for each operator of the algebra. What
takes more than a line is in `matching` (basic graph patterns), `joining`, `grouping`, `duplicates`,
`slicing` and `substitution` (EXISTS). `run` is what all of them share. `answers` and `templates`
make the answer of solutions.
"""

from __future__ import annotations

from refengine.model.compare import equal
from refengine.model.elements import Dataset, Relation
from refengine.model.errors import Unsupported
from refengine.sparql.algebra import AlgebraQuery
from refengine.sparql.choices import Choices, one_answer
from refengine.sparql.evaluation.answers import ask_answer, construct_answer, output, select_answer
from refengine.sparql.evaluation.operators import BodyEvaluator
from refengine.sparql.limits import Budget, Limits

__all__ = [
    "BodyEvaluator",
    "ask_answer",
    "construct_answer",
    "evaluate",
    "output",
    "select_answer",
]


def evaluate(query: AlgebraQuery, dataset: Dataset, limits: Limits | None = None) -> Relation:
    """R2R-5: Return the answer of a body over a dataset, as the recommendation defines it.

    `query` is the body's algebra. Statements of three terms make the default graph, of four a named
    graph; a literal in the fourth place is the time of the triple before it (R2R-21).

    Raises Unsupported: QRY-3 where conforming evaluators may answer differently, R2R-17 where a
    limit is spent. All the runs that choices lead to (QRY-3) share one budget.
    """
    budget = Budget(limits or Limits())

    def answer(choices: Choices) -> Relation:
        return BodyEvaluator(query, dataset, budget, choices).answer()

    def are_same(one: Relation, other: Relation) -> bool:
        return one.variables == other.variables and equal(one.rows, other.rows)

    try:
        return one_answer(answer, are_same)
    except RecursionError:
        raise Unsupported("nested too deeply", rule="R2R-17", place="body") from None
    except ArithmeticError:
        raise Unsupported("numbers that are out of reach", rule="R2R-13", place="body") from None
    except UnicodeEncodeError:
        raise Unsupported(
            "a lone surrogate, which is no character", rule="R2R-17", place="body"
        ) from None
