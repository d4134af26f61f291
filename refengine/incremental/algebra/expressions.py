"""SPARQL's expressions over maintained solutions (§7, R2R-11 to R2R-13), and the numbers that they
compute with.

Most are compiled to functions of a solution. Those that are not, and the values that a compiled
form does not follow, are asked of the SPARQL evaluator (`sparql.expressions`), one solution at a
time. They are without EXISTS, in whose place `body` puts a variable.

A number has a rank (integer, decimal, float, double), an exact value, and a slack: how far the
value of another evaluator may lie from it, because of rounding. NotCovered is raised wherever that
could change an answer.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import Any, TypeVar, cast

from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term, parse_literal
from refengine.model.errors import NoSingleAnswer, Unsupported
from refengine.model.xsd import single
from refengine.sparql.aggregates import BINARY_DIGITS, OVERFLOWS, UNITS
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
from refengine.sparql.values import (
    DECIMAL,
    ERROR,
    FLOAT,
    INTEGER,
    RANKS,
    SURE_DIGITS,
    SURE_INTEGERS,
    Computed,
    Number,
    in_common_type,
    operate,
    value_of,
)

BIG = 10 ** (SURE_DIGITS + 1)  # every evaluator holds the decimals below this
PER_ONE = 10**SURE_DIGITS  # parts that a decimal is counted in
# every double is a whole number of parts of this size, so that sums of doubles are sums of integers
UNIT = 2**1074
# by rank: sums of whole floats, and of whole doubles, are exact below this
UNROUNDED = {rank: UNIT * int(1 / unit) for rank, unit in UNITS.items()}
JUST_ABOVE_ONE = 1 + 2**-40  # makes up for the roundings of computing a slack with doubles
TINY = UNIT >> 1000  # a sum nearer to zero has a slack that is no double


# Numbers that come and go


@lru_cache(maxsize=2**16)
def number_of(term: Term) -> Number | None:
    """Return a literal's number; None for any other term. Raises NotCovered for NaN, infinities and
    numbers of thousands of digits.
    """
    try:
        number = value_of(term)
    except NoSingleAnswer as error:
        raise NotCovered(error.reason) from None
    if not isinstance(number, Number):
        return None
    if number.rank >= FLOAT and not isfinite(number.value):
        raise NotCovered(f"the number {number.value}")
    return number


def compare_numbers(a: Number, b: Number) -> int:
    """Return -1, 0 or 1, as a is less than, equal to or greater than b. Raises NotCovered where
    rounding decides it, and for NaN, which is none of these.
    """
    x, y = in_common_type(a, b)
    if x != x or y != y:
        raise NotCovered("the number nan")
    slack = a.slack + b.slack
    if slack and abs(x - y) <= slack:
        raise NotCovered("comparing numbers that rounding tells apart")
    sign: int = (x > y) - (x < y)
    return sign


def do_arithmetic(sign: str, a: Number, b: Number) -> Number:
    """Return a + b, a - b or a * b, as `sign` says. Raises NotCovered where that has no single
    answer or is infinite.
    """
    try:
        result = operate(sign, a, b)
    except NoSingleAnswer as error:
        raise NotCovered(error.reason) from None
    if result is ERROR:
        raise AssertionError(sign)  # only a division gives an error
    return check_computed(result)


def check_computed(number: Number) -> Number:
    """Return a computed number as it is. Raises NotCovered if it is infinite, or the SPARQL
    evaluator has no literal for it.
    """
    rank, exact, slack, _ = number
    if rank == INTEGER:
        has_literal = not slack and -SURE_INTEGERS < exact < SURE_INTEGERS
    elif rank == DECIMAL:
        has_literal = -BIG < exact < BIG
    else:
        has_literal = isfinite(exact)
    if not has_literal:
        raise NotCovered(f"a computed xsd:{RANKS[rank]} that is too great, or rounded")
    return number


class Accumulator:
    """Two sums of whole numbers: of the numbers themselves, and of their absolute values."""

    def __init__(self) -> None:
        self.sum = 0
        self.absolute = 0

    def add(self, number: int, count: int) -> None:
        """Add a number so many times, or subtract it if the count is negative."""
        self.sum += count * number
        self.absolute += count * abs(number)


class ExactSum:
    """The sum of a bag of numbers that come and go. It is exact, in whole numbers of parts, and
    rounded once where it is asked for.
    """

    def __init__(self) -> None:
        self.counts = [0, 0, 0, 0]  # how many numbers of each rank
        self.decimals = Accumulator()  # integers and decimals, in parts of 1 / PER_ONE
        self.doubles = Accumulator()  # floats and doubles, in parts of 1 / UNIT
        # how many decimals have so many digits behind the point
        self.counts_by_digits = [0] * (SURE_DIGITS + 1)
        self.count_of_fractions = 0  # how many floats and doubles are not whole

    def add(self, number: Number, count: int) -> None:
        """Insert a number so many times, or retract it if the count is negative. The number is
        exact and finite.
        """
        rank, exact = number.rank, number.value
        self.counts[rank] += count
        if rank < FLOAT:
            if rank == DECIMAL:
                digits = digits_behind_point(cast(Fraction, exact).denominator)
                self.counts_by_digits[digits] += count
            self.decimals.add(int(exact * PER_ONE), count)
        else:
            numerator, denominator = exact.as_integer_ratio()
            if denominator != 1:
                self.count_of_fractions += count
            self.doubles.add(numerator * (UNIT // denominator), count)

    def total(self, is_average: bool = False, must_be_exact: bool = False) -> Number:
        """Return SUM, or AVG; 0 of nothing. Raises NotCovered where it is not sure to be the
        SPARQL evaluator's, and with `must_be_exact` where anything is rounded.
        """
        count = sum(self.counts)
        rank = max((rank for rank in range(4) if self.counts[rank]), default=INTEGER)
        divisor = count if is_average and count else 1
        if rank < FLOAT:
            total = self._total_of_decimals(rank, divisor, is_average and count > 0)
        else:
            total = self._total_of_doubles(rank, count, divisor)
        if must_be_exact and total.slack:
            raise NotCovered("a rounded sum or average that a set depends on")
        return check_computed(total)

    def _total_of_decimals(self, rank: int, divisor: int, is_divided: bool) -> Number:
        """Return the sum of integers and decimals, or their average. Raises NotCovered."""
        sums = self.decimals
        if self.counts[INTEGER] and sums.absolute // PER_ONE >= SURE_INTEGERS:
            raise NotCovered("a sum of integers that may go beyond 64 bits")
        if rank == INTEGER:
            total = Number(INTEGER, sums.sum // PER_ONE)
        else:
            most_digits = max(n for n, count in enumerate(self.counts_by_digits) if count)
            if sums.absolute // 10 ** (SURE_DIGITS - most_digits) >= PER_ONE:
                raise NotCovered("a sum of decimals of more digits than every evaluator keeps")
            total = Number(DECIMAL, Fraction(sums.sum, PER_ONE))
        if not is_divided:
            return total
        quotient = operate("/", total, Number(INTEGER, divisor))
        if quotient is ERROR:
            raise AssertionError(divisor)  # which is not zero
        return quotient

    def _total_of_doubles(self, rank: int, count: int, divisor: int) -> Number:
        """Return the sum of floats or of doubles, divided. Raises NotCovered.

        It is rounded as the SPARQL evaluator rounds: the sum once, and the average once more. Its
        slack is greater than the SPARQL evaluator's, which is computed with fractions, by some
        2^-40 of it.
        """
        sums = self.doubles
        if sum(map(bool, self.counts)) > 1:
            raise NotCovered("a sum of numbers of several kinds")
        roundings = sums.absolute * count >> (BINARY_DIGITS[rank] - 1)
        if sums.absolute + roundings >= OVERFLOWS[rank] * UNIT:
            raise NotCovered(f"a sum beyond all {RANKS[rank]}s in some orders of adding")

        slack = 0.0
        is_rounded = self.count_of_fractions or sums.absolute >= UNROUNDED[rank]
        if count > 2 and is_rounded:
            if abs(sums.sum) < TINY:
                kind = RANKS[rank]
                raise NotCovered(
                    f"a sum of {kind}s nearer to zero than 2^-1000, whose slack is no double"
                )
            slack = sums.absolute / UNIT * count * float(UNITS[rank]) / divisor * JUST_ABOVE_ONE

        result = round_to_rank(sums.sum / UNIT, rank)
        if divisor > 1:
            result = round_to_rank(result / divisor, rank)
        return Number(rank, result, slack)


def round_to_rank(number: float, rank: int) -> float:
    """Return a double, or for the rank of floats the float that is nearest to it."""
    if rank == FLOAT:
        return single(number)
    return number


@lru_cache(maxsize=256)
def digits_behind_point(denominator: int) -> int:
    """Return how many digits a fraction has behind the point, by its denominator: 2 for 1/4, which
    is 0.25. The fraction must end within SURE_DIGITS of them.
    """
    return next(count for count in range(SURE_DIGITS + 1) if 10**count % denominator == 0)


# Exact decimals, which are quicker than the SPARQL evaluator's fractions: a result is exact if it
# has at most SURE_DIGITS digits, and a decimal context of that many digits raises Inexact where it
# would have to round one

# Numbers of at most SURE_DIGITS digits before and behind the point together
EXACT = Context(prec=SURE_DIGITS, Emin=-1, Emax=SURE_DIGITS - 1, traps=[Inexact])

OPERATORS: Mapping[str, Callable[[Decimal, Decimal], Decimal]] = {
    "+": EXACT.add,
    "-": EXACT.subtract,
    "*": EXACT.multiply,
}
COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}

# What an operand comes to. Raises what `exact_decimal` raises, and Inexact for a result that is
# rounded
ExactOperand = Callable[[Sequence[Term | None]], Decimal]


def compile_exact_comparison(
    name: str, left: Expression, right: Expression, slots: Mapping[str, int]
) -> Callable[[Sequence[Term | None]], bool]:
    """Return whether two operands compare as the operator `name` says, as a function of solutions.
    It raises Inexact or NotCovered unless all operands are integers or decimals that are exact.

    Raises NotCovered for operands without arithmetic, and for those with other functions.
    """
    if not isinstance(left, Call) and not isinstance(right, Call):
        raise NotCovered("a comparison without arithmetic")
    one = _compile_exact(left, slots)
    other = _compile_exact(right, slots)
    compare = COMPARISONS[name]
    return lambda terms: compare(one(terms), other(terms))


def _compile_exact(expression: Expression, slots: Mapping[str, int]) -> ExactOperand:
    """Return what computes an operand. Raises NotCovered."""
    match expression:
        case Variable(name):
            slot = slots[name]
            return lambda terms: exact_decimal(terms[slot])
        case str():
            return lambda terms: exact_decimal(expression)
        case Call("+" | "-" | "*" as sign, (left, right)):
            operate = OPERATORS[sign]
            one = _compile_exact(left, slots)
            other = _compile_exact(right, slots)
            return lambda terms: operate(one(terms), other(terms))
        case Call("unary -", (argument,)):
            inner = _compile_exact(argument, slots)
            return lambda terms: EXACT.minus(inner(terms))
        case _:
            raise NotCovered("a function in exact arithmetic")


def exact_decimal(term: Term | None) -> Decimal:
    """Return the number of an integer or a decimal. Raises Inexact if an evaluator may have rounded
    it, and NotCovered for anything else.
    """
    if isinstance(term, Computed):
        return _decimal_of(term.number)  # not cached: equal texts may be different numbers
    return _decimal_of_term(term)


@lru_cache(maxsize=2**16)
def _decimal_of_term(term: Term | None) -> Decimal:
    number = None if term is None else number_of(term)
    if number is None:
        raise NotCovered("arithmetic of what is no number")
    return _decimal_of(number)


def _decimal_of(number: Number) -> Decimal:
    rank, exact, slack, _ = number
    if rank >= FLOAT or slack:
        raise Inexact
    exact = cast("int | Fraction", exact)
    return EXACT.divide(Decimal(exact.numerator), Decimal(exact.denominator))


# Compiled forms

# A solution by slot; None is unbound
Terms = Sequence[Term | None]

# Whether a condition holds of a solution; None is an error, such as that of an unbound variable
Condition = Callable[[Terms], bool | None]

# What an expression gives: a term, or the number that arithmetic comes to; None is an error
Operand = Callable[[Terms], Term | Number | None]

# How its operands stand to each other where a relation holds: less (-1), equal (0), greater (1)
SIGNS = {"=": (0,), "!=": (-1, 1), "<": (-1,), ">": (1,), "<=": (-1, 0), ">=": (0, 1)}


def compile_condition(expression: Expression, slots: Mapping[str, int]) -> Condition:
    """Return an expression as a condition on solutions. `slots` has the slot of each variable.

    The condition gives an error only of an unbound variable, and raises NotCovered for what else
    the SPARQL evaluator calls an error, and where it has no single answer. Raises NotCovered for an
    expression that is not covered.
    """
    match expression:
        case Call("&&", arguments):
            return _all_of([compile_condition(part, slots) for part in arguments])
        case Call("||", arguments):
            return _any_of([compile_condition(part, slots) for part in arguments])
        case Call("!", (argument,)):
            return _not(compile_condition(argument, slots))
        case Call("BOUND", (Variable(name),)):
            slot = slots[name]
            return lambda terms: terms[slot] is not None
        case Call(name, (left, right)) if name in SIGNS:
            return _compile_relation(name, left, right, slots)
        case _:
            raise NotCovered("a condition of another form")


def _not(inner: Condition) -> Condition:
    def negated(terms: Terms) -> bool | None:
        holds = inner(terms)
        if holds is None:
            return None
        return not holds

    return negated


def _all_of(parts: list[Condition]) -> Condition:
    """Return the conjunction: false if a part is, else an error if a part is. All parts are asked,
    since one without a single answer leaves the whole without.
    """

    def all_hold(terms: Terms) -> bool | None:
        results = [part(terms) for part in parts]
        if False in results:
            return False
        return None if None in results else True

    return all_hold


def _any_of(parts: list[Condition]) -> Condition:
    """Return the disjunction: true if a part is, else an error if a part is. All parts are
    asked.
    """

    def any_holds(terms: Terms) -> bool | None:
        results = [part(terms) for part in parts]
        if True in results:
            return True
        return None if None in results else False

    return any_holds


def _compile_relation(
    name: str, left: Expression, right: Expression, slots: Mapping[str, int]
) -> Condition:
    """Return a comparison. Where its operands are computed, it is asked as one of exact decimals
    first. Raises NotCovered.
    """
    relation = _relation(SIGNS[name], _compile_operand(left, slots), _compile_operand(right, slots))
    try:
        exact_comparison = compile_exact_comparison(name, left, right, slots)
    except NotCovered:
        return relation

    def holds(terms: Terms) -> bool | None:
        try:
            return exact_comparison(terms)
        except (Inexact, NotCovered):
            return relation(terms)

    return holds


def _compile_operand(expression: Expression, slots: Mapping[str, int]) -> Operand:
    """Return the function that gives an operand's term or number. Raises NotCovered."""
    match expression:
        case Variable(name):
            slot = slots[name]
            return lambda terms: terms[slot]
        case str():
            return lambda terms: expression
        case Call("+" | "-" | "*" as sign, (left, right)):
            return _arithmetic(sign, _compile_operand(left, slots), _compile_operand(right, slots))
        case Call("unary -", (argument,)):
            return _negative(_compile_operand(argument, slots))
        case _:
            raise NotCovered("an operand of another form")


def _arithmetic(sign: str, left: Operand, right: Operand) -> Operand:
    def calculated(terms: Terms) -> Number | None:
        a = left(terms)
        b = right(terms)
        if a is None or b is None:
            return None
        return do_arithmetic(sign, _number_needed(a), _number_needed(b))

    return calculated


def _negative(inner: Operand) -> Operand:
    def negated(terms: Terms) -> Number | None:
        operand = inner(terms)
        if operand is None:
            return None
        number = _number_needed(operand)
        return check_computed(number._replace(value=-number.value))

    return negated


def _number_needed(operand: Term | Number) -> Number:
    number = _number_if_any(operand)
    if number is None:
        raise NotCovered("arithmetic of what is no number")
    return number


def _number_if_any(operand: Term | Number) -> Number | None:
    if isinstance(operand, Number):
        return operand
    if isinstance(operand, Computed):
        return operand.number
    return number_of(operand)


def _relation(signs: tuple[int, ...], left: Operand, right: Operand) -> Condition:
    is_equality = signs in (SIGNS["="], SIGNS["!="])

    def holds(terms: Terms) -> bool | None:
        a = left(terms)
        b = right(terms)
        if a is None or b is None:
            return None
        return _compare(a, b, is_equality) in signs

    return holds


def _compare(a: Term | Number, b: Term | Number, is_equality: bool) -> int:
    """Return how two operands stand to each other: -1, 0 or 1.

    Numbers are compared by value, plain strings by code points. An IRI or a blank node is equal to
    itself alone, which is enough for `=` and `!=` (`is_equality`). Raises NotCovered for others: of
    some the SPARQL evaluator has no single answer.
    """
    x = _number_if_any(a)
    y = _number_if_any(b)
    if x is not None and y is not None:
        return compare_numbers(x, y)
    if isinstance(a, str) and isinstance(b, str):
        are_literals = a.startswith('"') and b.startswith('"')
        if is_equality and not are_literals:
            return int(a != b)
        if _is_plain_string(a) and _is_plain_string(b):
            left = parse_literal(a).lexical
            right = parse_literal(b).lexical
            return (left > right) - (left < right)
    raise NotCovered("comparing terms of two kinds, or of a kind that is not covered")


def _is_plain_string(term: Term) -> bool:
    """Return whether a term is a literal without datatype and language tag."""
    return term.startswith('"') and term.endswith('"')


# By the SPARQL evaluator

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

    A compiled form is asked first, if there is one, and the SPARQL evaluator where that raises
    NotCovered. The condition raises NotCovered where the SPARQL evaluator has no single answer.
    """
    by_evaluator = _condition_by_evaluator(expression, slots)
    if not slots.keys() >= {variable.name for variable in all_variables(expression)}:
        return by_evaluator
    try:
        compiled = compile_condition(expression, slots)
    except NotCovered:
        return by_evaluator

    def holds(terms: Terms) -> bool | None:
        try:
            return compiled(terms)
        except NotCovered:
            return by_evaluator(terms)

    return holds


def compile_result(expression: Expression, slots: Mapping[str, int]) -> ResultOf:
    """Return the function that gives an expression's result for solutions, whose variables have
    `slots`. Variables without a slot are unbound.

    The function raises NotCovered where the SPARQL evaluator has no single answer.
    """
    match expression:
        case Variable(name) if name in slots:
            slot = slots[name]
            return lambda terms: terms[slot]
        case str():
            return lambda terms: expression

    def compute(expressions: Expressions, solution: Solution) -> Term | None:
        result = ask_sparql_evaluator(lambda: expressions.result(expression, solution, NO_NODES))
        return None if result is ERROR else result

    return _remember_results(expression, slots, compute)


def _condition_by_evaluator(expression: Expression, slots: Mapping[str, int]) -> Condition:
    """Return the condition that the SPARQL evaluator evaluates."""

    def compute(expressions: Expressions, solution: Solution) -> bool:
        return ask_sparql_evaluator(lambda: expressions.holds(expression, solution))

    return _remember_results(expression, slots, compute)


def _remember_results(
    expression: Expression,
    slots: Mapping[str, int],
    compute: Callable[[Expressions, Solution], T],
) -> Callable[[Terms], T]:
    """Return a function that computes a result from the terms of a solution, and keeps the last
    MOST_RESULTS results.

    `compute` is given the SPARQL evaluator, and the part of a solution that has the
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


def ask_sparql_evaluator(compute: Callable[[], T]) -> T:
    """Return what a function of the SPARQL evaluator computes. Raises NotCovered where it has no
    single answer, or is beyond a limit.
    """
    try:
        return compute()
    except Unsupported as error:
        raise NotCovered(error.reason) from None
    except ArithmeticError:
        raise NotCovered("numbers that are out of reach") from None
    except UnicodeEncodeError:
        raise NotCovered("a lone surrogate, which is no character") from None
