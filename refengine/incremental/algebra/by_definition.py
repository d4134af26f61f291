"""§7 Expressions by the definition (`sparql.expressions`), one solution at a time: those that
`expressions` does not compile, and the values that its compiled forms do not follow. They are
without EXISTS, in whose place `filters` puts a variable.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from refengine.incremental.algebra.expressions import Condition, Terms, compile_condition
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term
from refengine.model.errors import Unsupported
from refengine.sparql.algebra import (
    AlgebraQuery,
    Call,
    Expression,
    Join,
    Variable,
    all_variables,
    walk,
)
from refengine.sparql.choices import Choices
from refengine.sparql.expressions import Expressions, LabelledNodes, Solution, standalone
from refengine.sparql.functions import TIMESTAMP
from refengine.sparql.values import ERROR, Computed, Number

T = TypeVar("T")

# What an expression gives of a solution; None is an error
ResultOf = Callable[[Terms], Term | None]

# functions whose results depend on more than their operands
NEEDS_EVALUATION = {name: f"{name}()" for name in ("BNODE", "NOW", "RAND", "UUID", "STRUUID")}
NEEDS_EVALUATION[TIMESTAMP] = "the time of a triple"
MOST_RESULTS = 1024
# A term, with the number if it is computed; None if the variable is unbound
KnownTerm = Term | tuple[Term, Number] | None
NO_NODES = LabelledNodes(None)  # BNODE, which would add to them, is not covered
WITHOUT_BASE = AlgebraQuery("SELECT", Join(()), ())


class NoChoices(Choices):
    """Choices that nobody makes: where the recommendation leaves one open, NotCovered is raised."""

    def __init__(self) -> None:
        super().__init__(())

    def choose(self, key: Hashable, options: Sequence[T], reason: str) -> T:
        """Return the only option. Raises NotCovered if there are several."""
        if len(options) > 1:
            raise NotCovered(reason)
        return options[0]


def check_functions(query: AlgebraQuery) -> None:
    """Raise NotCovered for a body that calls a function whose result depends on more than its
    operands: on the evaluation (NOW), on BASE (IRI), or on how the body writes language tags
    (LANG).
    """
    for node in walk(query.pattern):
        if not isinstance(node, Call):
            continue
        if node.name in NEEDS_EVALUATION:
            raise NotCovered(NEEDS_EVALUATION[node.name])
        if node.name in ("IRI", "URI") and query.base:
            raise NotCovered(f"{node.name}() in a body with BASE")
        if node.name == "LANG" and query.tags:
            raise NotCovered("LANG() in a body that writes a language tag in upper case")


def condition_on(expression: Expression, slots: Mapping[str, int]) -> Condition:
    """Return an expression as a condition on solutions, whose variables have `slots`. Variables
    without a slot are unbound.

    A compiled form is asked first, if there is one, and the definition where that raises
    NotCovered. The condition raises NotCovered where the definition has no single answer.
    """
    by_definition = _condition_by_definition(expression, slots)
    if not slots.keys() >= {variable.name for variable in all_variables(expression)}:
        return by_definition
    try:
        compiled = compile_condition(expression, slots)
    except NotCovered:
        return by_definition

    def holds(terms: Terms) -> bool | None:
        try:
            return compiled(terms)
        except NotCovered:
            return by_definition(terms)

    return holds


def compile_result(expression: Expression, slots: Mapping[str, int]) -> ResultOf:
    """Return the function that gives an expression's result for solutions, whose variables have
    `slots`. Variables without a slot are unbound.

    The function raises NotCovered where the definition has no single answer.
    """
    match expression:
        case Variable(name) if name in slots:
            slot = slots[name]
            return lambda terms: terms[slot]
        case str():
            return lambda terms: expression

    def compute(expressions: Expressions, solution: Solution) -> Term | None:
        result = ask_definition(lambda: expressions.result(expression, solution, NO_NODES))
        return None if result is ERROR else result

    return _remember_results(expression, slots, compute)


def _condition_by_definition(expression: Expression, slots: Mapping[str, int]) -> Condition:
    """Return the condition that the definition evaluates."""

    def compute(expressions: Expressions, solution: Solution) -> bool:
        return ask_definition(lambda: expressions.holds(expression, solution))

    return _remember_results(expression, slots, compute)


def _remember_results(
    expression: Expression,
    slots: Mapping[str, int],
    compute: Callable[[Expressions, Solution], T],
) -> Callable[[Terms], T]:
    """Return a function that computes a result from the terms of a solution, and keeps the last
    MOST_RESULTS results.

    `compute` is given the definition's evaluator, and the part of a solution that has the
    expression's variables. Its result depends on nothing else (`check_functions`). A solution is
    asked for when it comes and again when it goes, and many solutions differ in other variables
    only.
    """
    names = sorted(
        variable.name for variable in all_variables(expression) if variable.name in slots
    )
    needed_slots = [slots[name] for name in names]
    expressions = standalone(WITHOUT_BASE, NoChoices())

    @lru_cache(maxsize=MOST_RESULTS)
    def compute_of(known: tuple[KnownTerm, ...]) -> T:
        terms = [term[0] if isinstance(term, tuple) else term for term in known]
        solution = {name: term for name, term in zip(names, terms, strict=True) if term is not None}
        return compute(expressions, solution)

    def compute_of_terms(terms: Terms) -> T:
        return compute_of(tuple([_key_of(terms[slot]) for slot in needed_slots]))

    return compute_of_terms


def _key_of(term: Term | None) -> KnownTerm:
    """Return what a result is kept under for a term. A computed number has its value in it, since
    two values may have one text.
    """
    if isinstance(term, Computed):
        return term, term.number
    return term


def ask_definition(compute: Callable[[], T]) -> T:
    """Return what a function of the definition computes. Raises NotCovered where it has no single
    answer, or is beyond a limit.
    """
    try:
        return compute()
    except Unsupported as error:
        raise NotCovered(error.reason) from None
    except ArithmeticError:
        raise NotCovered("numbers that are out of reach") from None
    except UnicodeEncodeError:
        raise NotCovered("a lone surrogate, which is no character") from None
