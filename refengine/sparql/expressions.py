"""§7 Expressions (SPARQL 1.1 §17): the result of each for one solution.

An error is a value, ERROR. `||`, `&&`, IF, COALESCE, BOUND and IN may give a term where an operand
is an error; everything else gives ERROR. Aggregates are in `aggregates`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from refengine.model.elements import XSD, Term, literal, parse_literal
from refengine.model.errors import NoSingleAnswer
from refengine.sparql import algebra, values
from refengine.sparql.algebra import AlgebraQuery, Call, Exists, Expression, Variable, conjuncts
from refengine.sparql.casts import cast, cast_date_time, form_kept_by_cast
from refengine.sparql.choices import Choices, Choose
from refengine.sparql.functions import (
    BY_KEYWORD,
    TIMESTAMP,
    language,
    simple,
    to_iri,
    with_upper_case_region,
)
from refengine.sparql.limits import LONG
from refengine.sparql.regex import compile_pattern
from refengine.sparql.values import ERROR, Error, Result, Unknown, boolean, same, truth, value_of

# What NOW, RAND, UUID and STRUUID give: values of which the form alone is known (SPARQL 1.1
# §17.4.2.12, §17.4.5.1, §17.4.4.5)


def unknown(name: str, number: int) -> Unknown:
    """Return what NOW, RAND, UUID or STRUUID gives: a value of which the form is known."""
    digits = f"{number:08x}-0000-4000-8000-000000000000"
    terms = {
        "NOW": literal("2000-01-01T00:00:00Z", XSD + "dateTime"),
        "RAND": literal("0.5", XSD + "double"),
        "UUID": f"<urn:uuid:{digits}>",
        "STRUUID": literal(digits),
    }
    return Unknown(terms[name], name)


def of_unknown(name: str, results: Sequence[Term]) -> Result:
    """QRY-3: Apply a function to a value of which the form alone is known: its kind, its datatype,
    its length, whether a pattern that treats all digits alike matches, that a UUID is new, that 0
    <= RAND() < 1. Raises NoSingleAnswer for everything else.
    """
    first = results[0]
    kind = next(result.kind for result in results if isinstance(result, Unknown))
    match name:
        case "ISIRI" | "ISURI" | "ISBLANK" | "ISLITERAL" | "ISNUMERIC" | "DATATYPE" | "LANG":
            return BY_KEYWORD[name](str(first))
        case "STR" if kind in ("UUID", "STRUUID"):
            form = BY_KEYWORD[name](str(first))
            if form is ERROR:
                return ERROR
            return Unknown(form, "STRUUID")
        case "STRLEN" if kind == "STRUUID":
            return BY_KEYWORD[name](str(first))
        case "SAMETERM" | "=":
            return boolean(same(*results))
        case "!=":
            return boolean(not same(*results))
        case "REGEX" if kind == "STRUUID" and _are_patterns_alike(results):
            return BY_KEYWORD[name](str(first), *results[1:])
        case "<" | "<=" | ">" | ">=" if kind == "RAND":
            holds = _compare_rand(name, results[1])
            if holds is not None:
                return boolean(holds)
    raise NoSingleAnswer(f"{kind} has no single answer")


def _compare_rand(sign: str, right: Term) -> bool | None:
    """Return how RAND() stands to another term, None where that is open: 0 <= RAND() < 1."""
    number = value_of(right)
    if not isinstance(number, values.Number):
        return None
    bound = number.value
    if bound >= 1:
        return sign in ("<", "<=")
    if bound < 0 or (bound == 0 and sign in ("<", ">=")):
        return sign in (">", ">=")
    return None


def _are_patterns_alike(results: Sequence[Term]) -> bool:
    """Return whether REGEX has a UUID's text as its first operand alone, and a pattern that matches
    every UUID or none.
    """
    first, *others = results
    if not isinstance(first, Unknown) or any(isinstance(other, Unknown) for other in others):
        return False
    strings = [value_of(other) for other in others]
    texts = [one.lexical for one in strings if isinstance(one, values.StringValue)]
    return len(texts) == len(strings) and treats_digits_alike(*texts)


def treats_digits_alike(pattern: str, flags: str = "") -> bool:
    """Return whether each part of a pattern matches all hexadecimal digits or none, so that it
    matches every UUID or none.
    """
    rest = re.sub(r"\{[0-9,]*\}", "", pattern.removeprefix("^urn:uuid:"))
    for atom in re.findall(r"\[[^\[\]\\]+\]|\\.|[^\[\](){}|?*+.^$]", rest):
        compiled = compile_pattern(atom, flags)
        if (
            compiled is ERROR
            or len({compiled.search(digit) is None for digit in "0123456789abcdef"}) > 1
        ):
            return False
    return "[^" not in rest


# Expressions


Solution = Mapping[str, Term]
SIGNS = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}


class LabelledNodes(dict[str, Term]):
    """The blank nodes that BNODE made for one solution, by label, and the operator that computes
    its expressions there.
    """

    def __init__(self, operator: Hashable) -> None:
        super().__init__()
        self.operator = operator


class Expressions:
    """The expressions of one evaluation: how they ask for patterns (EXISTS), for new blank nodes
    and for the times of triples.
    """

    def __init__(
        self,
        exists: Callable[[Exists, Solution], bool],
        blank: Callable[[], Term],
        time: Callable[[Term, Term, Term], Result],
        choose: Choose,
        query: AlgebraQuery,
        spend: Callable[[int], None],
    ) -> None:
        self.exists = exists
        self.blank = blank
        self.time = time
        self.choose = choose
        self.unknowns = 0
        # of BNODE's labels: the operator in which each is met
        self.operators: dict[str, Hashable] = {}
        self.base = query.base
        self.tags = query.tags
        self.spend = spend
        self.nodes = LabelledNodes(None)  # those that `nodes_of_solution` gave last

    def nodes_of_solution(self, operator: Hashable) -> LabelledNodes:
        """Return the blank nodes that BNODE has made for a solution that an operator comes to: none
        yet. Solutions of one operator share an object until BNODE is called for one.
        """
        if self.nodes or self.nodes.operator is not operator:
            self.nodes = LabelledNodes(operator)
        return self.nodes

    def result(self, expression: Expression, solution: Solution, nodes: LabelledNodes) -> Result:
        """R2R-11: Compute an expression for a solution; `nodes` has the blank nodes that BNODE made
        for it, by label.
        """
        match expression:
            case Variable(name):
                return self.charge(solution.get(name, ERROR))
            case str():
                return self.charge(expression)
            case Call():
                self.spend(1 + len(expression.arguments) // 8)
                return self.charge(self.call(expression, solution, nodes))
            case Exists():
                return boolean(self.exists(expression, solution))
            case algebra.Aggregate():
                raise AssertionError(expression)  # Group has computed it

    def charge(self, result: Result) -> Result:
        """R2R-17: Return a result, after spending a step for each LONG characters or bits that it
        has.
        """
        if result is not ERROR and (characters := values.size(result)) > LONG:
            self.spend(characters // LONG)
        return result

    def holds(self, condition: Expression, solution: Solution) -> bool:
        """R2R-11: Return whether a condition's effective boolean value is true.

        If one conjunct is false or an error, that of the whole is not true, whatever the others
        are.
        """
        left_open: NoSingleAnswer | None = None
        nodes = self.nodes_of_solution(condition)
        for conjunct in conjuncts(condition):
            try:
                if truth(self.result(conjunct, solution, nodes)) is not True:
                    return False
            except NoSingleAnswer as error:
                left_open = error
        if left_open is not None:
            raise left_open
        return True

    def call(self, call: Call, solution: Solution, nodes: LabelledNodes) -> Result:
        """Compute a call of an operator or a function."""
        name, arguments = call.name, call.arguments
        match name:
            case "||" | "&&":
                return self.combine_conditions(arguments, solution, nodes, name == "||")
            case "IF":
                return self.branch(arguments, solution, nodes)
            case "COALESCE":
                outcomes = (self.result(argument, solution, nodes) for argument in arguments)
                return next((outcome for outcome in outcomes if outcome is not ERROR), ERROR)
            case "BOUND":
                return is_bound(arguments[0], solution)
            case "IN":
                return self.membership(arguments, solution, nodes)
        results = [self.result(argument, solution, nodes) for argument in arguments]
        if ERROR in results:
            return ERROR
        # a list without an error is one of terms; sorting them out once more takes time
        return self.apply(name, results, nodes)  # type: ignore[arg-type]

    def branch(
        self, arguments: Sequence[Expression], solution: Solution, nodes: LabelledNodes
    ) -> Result:
        """Compute IF, of whose last two operands the first one chooses (§17.4.1.2)."""
        condition, then, otherwise = arguments
        holds = truth(self.result(condition, solution, nodes))
        if holds is ERROR:
            return ERROR
        if holds:
            return self.result(then, solution, nodes)
        return self.result(otherwise, solution, nodes)

    def apply(self, name: str, results: Sequence[Term], nodes: LabelledNodes) -> Result:
        """Apply an operator or a function to terms."""
        if any(isinstance(result, Unknown) for result in results):
            return of_unknown(name, results)
        if name in ("REGEX", "REPLACE"):
            self.spend(values.size(results[1]) // 8)
            return BY_KEYWORD[name](*results, spend=self.spend)
        if name == "LANG":
            return self.language(results[0])
        if name in BY_KEYWORD:
            return BY_KEYWORD[name](*results)
        match name:
            case "!":
                return negate(truth(results[0]))
            case "=":
                return result_of(self.are_equal(*results))
            case "!=":
                return negate(self.are_equal(*results))
            case "<" | "<=" | ">" | ">=":
                return self.in_order(name, *results)
            case "+" | "-" | "*" | "/":
                return values.calculate(name, *results)
            case "unary +" | "unary -":
                return apply_sign(results[0], name == "unary -")
            case _:
                return self.apply_here(name, results, nodes)

    def in_order(self, sign: str, left: Term, right: Term) -> Result:
        """Compute `<`, `<=`, `>` or `>=`. Whether a term that has no order is in order with itself
        is the evaluator's choice.
        """
        order = values.compare(left, right)
        if order is ERROR and left == right:
            known = boolean(sign in ("<=", ">="))
            return self.choose(
                "order of itself",
                (ERROR, known),
                "the order of a term and itself (SPARQL 17.3.1)",
            )
        if order is ERROR:
            return ERROR
        return boolean(order in SIGNS[sign])

    def apply_here(self, name: str, results: Sequence[Term], nodes: LabelledNodes) -> Result:
        """Apply a function whose value hangs on the query or the evaluation, too, or a cast."""
        match name:
            case "IRI" | "URI":
                return to_iri(results[0], self.base)
            case "BNODE":
                return self.node(results, nodes)
            case "NOW" | "RAND" | "UUID" | "STRUUID":
                self.unknowns += 1  # tells UUIDs apart
                return unknown(name, self.unknowns)
            case _ if name == TIMESTAMP:
                return self.time(*results)
            case _ if name.startswith(XSD):
                return self.cast(results[0], name.removeprefix(XSD))
            case _:
                raise AssertionError(name)

    def combine_conditions(
        self,
        arguments: Sequence[Expression],
        solution: Solution,
        nodes: LabelledNodes,
        decisive: bool,
    ) -> Result:
        """R2R-11: Compute `||`, which a true operand decides, or `&&`, which a false one does."""
        return decide(
            arguments, lambda argument: truth(self.result(argument, solution, nodes)), decisive
        )

    def are_equal(self, left: Term, right: Term) -> bool | Error:
        """Compare two terms by `=`. Whether literals of two known kinds are known to differ is the
        evaluator's choice.
        """
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return same(left, right)
        outcome = values.equals(left, right)
        if outcome is not values.FALSE_OR_ERROR:
            return outcome
        kinds = tuple(sorted(kind_of(term) for term in (left, right)))
        return self.choose(
            ("=", kinds),
            (False, ERROR),
            "whether literals of two kinds are known to differ (SPARQL 17.3.1)",
        )

    def membership(
        self, arguments: Sequence[Expression], solution: Solution, nodes: LabelledNodes
    ) -> Result:
        """Compute IN, which a comparison by `=` that is true decides (§17.4.1.9)."""
        first, *others = arguments
        one = self.result(first, solution, nodes)
        if one is ERROR and not others:
            return self.choose(
                "IN ()",
                (ERROR, boolean(False)),
                "whether an error is in an empty list (SPARQL 17.2, 17.4.1.9)",
            )

        def is_same(other: Expression) -> bool | Error:
            result = self.result(other, solution, nodes)
            if one is ERROR or result is ERROR:
                return ERROR
            return self.are_equal(one, result)

        return decide(others, is_same, decisive=True)

    def language(self, term: Term) -> Result:
        """Return the language tag of a literal (LANG). RDF leaves open in which case: `en-us`,
        `en-US`, or as the body writes it.
        """
        tag = language(term)
        if tag is ERROR:
            return ERROR
        written = sorted(
            values.text(other) for other in self.tags if values.text(other.lower()) == tag
        )
        forms = [tag, with_upper_case_region(tag), *(written or [tag])]
        if len(set(forms)) == 1:
            return tag
        reason = "the case of a language tag (RDF 1.1 §3.3)"
        if len(forms) > 3:  # written in several ways: a choice of its own
            return self.choose(("LANG", tag), forms, reason)
        return self.choose("LANG", forms, reason)

    def cast(self, term: Term, kind: str) -> Result:
        """Cast a term (§17.5). Whether an integer, a decimal, a boolean or a dateTime keeps the
        lexical form of its operand is the evaluator's choice: `xsd:integer("01")` is 1 or 01. It is
        one for all operands of one datatype.
        """
        result = cast(term, kind)
        if result is ERROR or isinstance(term, values.Computed):
            return result
        same_form = form_kept_by_cast(term, kind)
        if same_form is ERROR:
            return result
        new_form = result
        if kind == "dateTime":
            new_form = literal(cast_date_time(parse_literal(result).lexical), XSD + kind)
        if new_form == same_form:
            return result
        return self.choose(
            ("cast", kind, parse_literal(term).datatype),
            (new_form, same_form),
            "whether a cast keeps the lexical form of its operand",
        )

    def node(self, results: Sequence[Term], nodes: LabelledNodes) -> Result:
        """R2R-14: Return BNODE's new blank node; for one label the same within a solution, and
        another in the next (§17.4.2.9).

        Raises NoSingleAnswer if an operator has met the label before: whether a solution that goes
        from one operator to the next is still the same is open.
        """
        if not results:
            return self.blank()
        label = simple(results[0])
        if label is ERROR:
            return ERROR
        if self.operators.setdefault(label, nodes.operator) != nodes.operator:
            raise NoSingleAnswer("BNODE with one label in two places of a body")
        if label not in nodes:
            nodes[label] = self.blank()
        return nodes[label]


def decide(
    operands: Iterable[Expression], holds: Callable[[Expression], bool | Error], decisive: bool
) -> Result:
    """R2R-11: Return the decisive truth value if any operand has it, even if others are errors or
    have no single answer (§17.2).

    If none has it: raise NoSingleAnswer if an operand raised it; else return ERROR if one was an
    error; else the other truth value.
    """
    left_open: NoSingleAnswer | None = None
    has_error = False
    for operand in operands:
        try:
            outcome = holds(operand)
        except NoSingleAnswer as error:
            left_open = error
            continue
        if outcome is decisive:
            return boolean(decisive)
        has_error |= outcome is ERROR
    if left_open is not None:
        raise left_open
    if has_error:
        return ERROR
    return boolean(not decisive)


def result_of(holds: bool | Error) -> Result:
    """Return the term of a truth value, or the error."""
    if holds is ERROR:
        return ERROR
    return boolean(holds)


def negate(holds: bool | Error) -> Result:
    """Return the term of the other truth value, or the error."""
    if holds is ERROR:
        return ERROR
    return boolean(not holds)


def is_bound(variable: Expression, solution: Solution) -> Result:
    """Return whether a solution binds a variable (BOUND)."""
    return boolean(isinstance(variable, Variable) and variable.name in solution)


def kind_of(term: Term) -> str:
    """Return the kind of a literal's value: its datatype if SPARQL has no operator for that."""
    one = value_of(term)
    if isinstance(one, values.OtherLiteral):
        return one.datatype
    return type(one).__name__


def standalone(query: AlgebraQuery, choices: Choices) -> Expressions:
    """Return the expressions of solutions that belong to no evaluation: there are no patterns to
    ask for, no times, no new blank nodes and no budget. The caller leaves out what needs them
    (EXISTS, timestamp, BNODE).
    """

    def unavailable(*_: Any) -> Any:
        raise AssertionError("an expression that needs an evaluation")

    return Expressions(
        unavailable, unavailable, unavailable, choices.choose, query, lambda steps: None
    )


def apply_sign(term: Term, is_minus: bool) -> Result:
    """Compute unary + or -. An error of what is no number."""
    number = value_of(term)
    if not isinstance(number, values.Number):
        values.check_arithmetic(number)
        return ERROR
    if is_minus:
        number = number._replace(value=-number.value)
    return values.number_term(number)
