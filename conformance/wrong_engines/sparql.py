"""Wrong engines for a body: QRY-1 to QRY-3, and §7's definition of SPARQL.

rdflib and pyoxigraph are two of them, whole: docs/witnesses.md lists what each has wrong.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lark import Token, Tree

from conformance.wrong_engines.engines import C_SPARQL, CQELS, PYOXIGRAPH, RDFLIB, YASPER
from conformance.wrong_engines.miniature import Right, wrong
from refengine.core import r2r
from refengine.core.query import Body
from refengine.model.elements import XSD, Dataset, Relation, Triple, literal, row
from refengine.model.errors import Disputed, InvalidQuery, NoSingleAnswer, Unsupported
from refengine.model.terms import Term, parse_literal
from refengine.sparql import (
    aggregates,
    choices,
    evaluation,
    grammar,
    order,
    paths,
    regex,
    translate,
    unknowns,
    values,
)
from refengine.sparql.algebra import Aggregate, AlgebraQuery, Group, Repeated
from refengine.sparql.choices import Choices
from refengine.sparql.evaluation import BodyEvaluator, substitution
from refengine.sparql.evaluation.run import Run
from refengine.sparql.expressions import Expressions
from refengine.sparql.functions import ARITIES_BY_IRI
from refengine.sparql.translate import Reader
from refengine.sparql.values import ERROR, Computed, Number, Result
from refengine.sparql.witnesses import NoSay

Node = Tree[Token]
Solutions = list[dict[str, Term]]


# QRY-1 to QRY-3: reading


@wrong("QRY-1", replaces=translate.read_body, half="SPARQL 1.1: SELECT, ASK or CONSTRUCT")
def what_cannot_be_read_is_empty(right: Right, text: str) -> Any:
    """A body that cannot be read is one that asks for nothing."""
    try:
        return right(text)
    except InvalidQuery:
        return right("SELECT * WHERE { }")


@wrong(
    "QRY-1",
    replaces=translate.read_body,
    half="SPARQL 1.1: SELECT, ASK or CONSTRUCT",
    seen=f"{PYOXIGRAPH}",
)
def names_have_one_dot(right: Right, text: str) -> Any:
    """A prefixed name has at most one dot."""
    if found := re.search(r":\w+\.\w+\.\w+", text):
        raise InvalidQuery(f"not SPARQL 1.1: {found[0]!r}", rule="QRY-1", place="body")
    return right(text)


@wrong(
    "QRY-2",
    replaces=Reader.refuse_outside_sources,
    half="SERVICE, FROM, FROM NAMED",
    seen=f"{RDFLIB} fetches what SERVICE and FROM name",
)
def anything_is_local(right: Right, reader: Reader, form: Node) -> None:
    """SERVICE and FROM are the evaluator's business, which has what SERVICE names at hand."""
    for service in form.find_data("service"):
        service.data, service.children = "group_or_union", service.children[-1:]


@wrong("QRY-2", replaces=grammar.fault, half="and updates")
def updates_are_syntax_errors(right: Right, text: str, error: Any) -> InvalidQuery:
    """An update is not told from a text that is no SPARQL at all."""
    found = right(text, error)
    return InvalidQuery(found.reason, rule="QRY-1", place=found.place)


@wrong("QRY-3", replaces=choices.one_answer, half="if all give the same answer, that is the answer")
def every_choice_is_open(right: Right, run: Callable[[Choices], Any], same: Any) -> Any:
    """Where an evaluator has a choice there is no answer, whether the choice matters or not."""
    tried = Choices([])
    found = run(tried)
    if tried.next_script() is not None:
        raise NoSingleAnswer("a choice")
    return found


@wrong("QRY-3", replaces=unknowns.of_unknown, half="the form alone is known")
def nothing_is_known_of_a_uuid(right: Right, name: str, results: Sequence[Term]) -> Result:
    """Of a UUID not even the length is known."""
    raise NoSingleAnswer("UUID has no single answer")


@wrong("QRY-3", replaces=Expressions.apply, half="whether LANG gives")
def nothing_is_known_of_a_tag(
    right: Right, evaluating: Expressions, name: str, results: Sequence[Term], *rest: Any
) -> Any:
    """Of a tag with a region not even the language is known."""
    is_literal = name == "LANG" and results[0].startswith('"')
    if is_literal and "-" in parse_literal(results[0]).language:
        raise NoSingleAnswer("LANG of a tag with a region")
    return right(evaluating, name, results, *rest)


# Two libraries, whole


def _answer_of(name: str, body: Body, graph: Dataset) -> r2r.Testimony:
    """Return what one library answers, as the ground truth. Raises Unsupported where it cannot."""
    try:
        return r2r.Testimony(r2r.ask_evaluator(name, body, graph), (name,))
    except NoSay as error:
        raise Unsupported(str(error), rule="R2R-5") from None


@wrong(
    *("R2R-5", "QRY-3", "R2R-4", "R2R-10", "R2R-11", "R2R-12", "R2R-13", "R2R-14", "R2R-15"),
    *("R2R-16", "R2R-17", "R2R-18", "R2R-19", "R2R-20"),
    replaces=r2r.hear_witnesses,
    seen=RDFLIB,
    half=(
        "all combinations are tried, up to 64",
        "rdflib and pyoxigraph evaluate the body, too",
        "An integer beyond 64 bits has no single answer either",
        "and another in the next",
        "`$` the end of the text",
        "MIN gives the first and MAX the last",
        "200,000 solutions in the result of one operator",
    ),
)
def what_rdflib_answers_is_right(
    right: Right, body: Body, graph: Dataset, *rest: Any
) -> r2r.Testimony:
    """The ground truth is what rdflib says."""
    return _answer_of("rdflib", body, graph)


@wrong(
    *("R2R-5", "QRY-3", "R2R-4", "R2R-10", "R2R-12", "R2R-13", "R2R-14", "R2R-15", "R2R-16"),
    *("R2R-17", "R2R-18", "R2R-19", "R2R-20"),
    replaces=r2r.hear_witnesses,
    seen=PYOXIGRAPH,
    half=(
        "rdflib and pyoxigraph evaluate the body, too",
        "keeps the lexical form in which it is written",
        "A decimal that meets a float is rounded to it once",
        "what a repeated group that may be empty has captured",
        "as often as it has ways",
    ),
)
def what_pyoxigraph_answers_is_right(
    right: Right, body: Body, graph: Dataset, *rest: Any
) -> r2r.Testimony:
    """The ground truth is what pyoxigraph says."""
    return _answer_of("pyoxigraph", body, graph)


# R2R-2 to R2R-6: forms, witnesses, groups


@wrong(
    "R2R-2",
    "R2R-9",
    replaces=evaluation.select_answer,
    seen=f"{YASPER} and csrbench-oracle (https://github.com/dellaglio/csrbench-oracle)",
)
def sets_of_solutions(
    right: Right, variables: tuple[str, ...], solutions: Iterable[Mapping[str, Term]]
) -> Relation:
    """SELECT gives a set: equal rows are one."""
    return Relation(variables, Counter({row(solution.items()) for solution in solutions}))


@wrong("R2R-2", replaces=evaluation.select_answer)
def unbound_is_empty_text(
    right: Right, variables: tuple[str, ...], solutions: Iterable[Mapping[str, Term]]
) -> Any:
    """An unbound variable is bound to the empty string."""
    empty = dict.fromkeys(variables, '""')
    return right(variables, [{**empty, **solution} for solution in solutions])


@wrong("R2R-3", replaces=evaluation.ask_answer)
def false_is_no_row(right: Right, holds: bool) -> Relation:
    """An ASK that does not match has no answer."""
    true = row({"ask": literal("true", XSD + "boolean")}.items())
    return Relation(("ask",), Counter([true] * holds))


def _constructed(triples: Iterable[Triple]) -> Relation:
    names = ("subject", "predicate", "object")
    return Relation(names, Counter(row(zip(names, triple, strict=True)) for triple in set(triples)))


@wrong(
    "R2R-4",
    replaces=evaluation.construct_answer,
    half="those that RDF does not allow are left out",
    seen=f"{CQELS}: a literal as subject, a blank node as predicate",
)
def any_triple(right: Right, triples: Iterable[Triple]) -> Relation:
    """CONSTRUCT gives whatever the template makes, triples that RDF does not allow included."""
    return _constructed(triples)


@wrong("R2R-4", replaces=evaluation.construct_answer, half="a set of triples")
def only_iris(right: Right, triples: Iterable[Triple]) -> Relation:
    """CONSTRUCT gives triples of IRIs only."""
    return _constructed(t for t in triples if all(term.startswith("<") for term in t))


@wrong("R2R-5", replaces=r2r.hear_witnesses, half="One that confirms is enough")
def all_must_confirm_its_terms(
    right: Right,
    body: Body,
    graph: Dataset,
    witnesses: Sequence[str] = ("rdflib", "pyoxigraph"),
    asked: Any = r2r.ask_evaluator,
) -> r2r.Testimony:
    """An answer is disputed that one witness does not confirm, or writes in other digits."""
    relation = asked(r2r.DEFINITION, body, graph)
    if any(asked(name, body, graph).rows != relation.rows for name in witnesses):
        raise Disputed("a witness differs", rule="R2R-5")
    return r2r.Testimony(relation, tuple(witnesses))


@wrong("R2R-5", replaces=translate.read_body, half="each by its own reading of SPARQL")
def bodies_are_given_as_written(right: Right, text: str) -> tuple[AlgebraQuery, str]:
    """The witnesses are given a body as it is written, be it what they read or not."""
    return right(text)[0], text


@wrong("R2R-6", replaces=BodyEvaluator.group, seen=f"{RDFLIB}: one empty row")
def groups_need_no_members(right: Right, evaluating: BodyEvaluator, group: Group) -> Solutions:
    """Grouping no solutions by a key gives one empty group."""
    return right(evaluating, group) or [{}]


@wrong(
    "R2R-6",
    replaces=BodyEvaluator.group,
    seen=f"{CQELS} answers an average over no match with nothing",
)
def no_group_without_members(right: Right, evaluating: BodyEvaluator, group: Group) -> Any:
    """The one group of an aggregate without a key needs a member, too."""
    return evaluating.solutions(group.pattern) and right(evaluating, group)


# R2R-10 to R2R-20: what the two libraries have right


@wrong("R2R-10", replaces=values.same, half="is another term than one of the same value")
def terms_are_the_same_by_value(right: Right, left: Term, other: Term) -> Any:
    """The two zeros of doubles are one term."""
    one, two = values.value_of(left), values.value_of(other)
    if not isinstance(one, Number) or not isinstance(two, Number):
        return right(left, other)
    return (one.rank == two.rank and one.value == two.value == 0) or right(left, other)


@wrong("R2R-11", replaces=values.truth, half="an IRI none")
def errors_are_false(right: Right, result: Result) -> Any:
    """An error as a condition is false."""
    found = right(result)
    return found is not ERROR and found


@wrong(
    "R2R-11",
    replaces=Expressions.combine_conditions,
    half="`||` is true if an operand is true",
    seen=f"{RDFLIB}: an error && false",
)
def errors_spread(
    right: Right, evaluating: Expressions, arguments: Sequence[Any], *rest: Any
) -> Result:
    """`||` and `&&` give an error of an error."""
    solution, nodes, is_or = rest
    found = [values.truth(evaluating.result(each, solution, nodes)) for each in arguments]
    if ERROR in found:
        return ERROR
    return values.boolean(any(found) if is_or else all(found))


@wrong("R2R-12", replaces=values.equals, half="`=` compares those by value")
def values_are_equal_as_terms(right: Right, left: Term, other: Term) -> bool:
    """`=` compares terms: one number in two types is two values, and NaN is equal to itself."""
    return left == other


@wrong(
    "R2R-13",
    replaces=values.number_term,
    half="The rest of a longer one is unknown",
    seen=f"{RDFLIB} and {PYOXIGRAPH}",
)
def decimals_have_digits_enough(right: Right, number: Any) -> Term:
    """A decimal that was rounded is what it is."""
    rank, exact, _ = number
    datatype = XSD + ("integer", "decimal", "float", "double")[rank]
    return Computed(literal(str(exact), datatype), Number(rank, exact))


@wrong(
    "R2R-14", replaces=translate.read_body, half="is refused by its name", seen=f"{RDFLIB}: no rows"
)
def unknown_functions_are_errors(right: Right, text: str) -> Any:
    """A function that nobody defines is an error where it is called."""
    unknown = [iri for iri in re.findall("<([^<>]*)>", text) if iri not in ARITIES_BY_IRI]
    return right(re.sub(r":distance\([^()]*\)", "(1 / 0)", text) if unknown else text)


@wrong("R2R-15", replaces=regex.replacement)
def a_replacement_has_no_groups(right: Right, template: str, groups: int) -> list[str]:
    """A replacement is taken as it is written."""
    return [template]


@wrong("R2R-16", replaces=aggregates.aggregate, half="COUNT leaves errors out", seen=f"{RDFLIB}")
def errors_are_counted(
    right: Right, function: Aggregate, results: Sequence[Result], choose: Any
) -> Any:
    """COUNT counts errors, too, and the other aggregates leave them and what is no number out."""
    if function.name == "COUNT":
        return literal(str(len(results)), XSD + "integer")
    terms = [result for result in results if isinstance(result, str)]
    numbers = [term for term in terms if isinstance(values.value_of(term), Number)]
    return right(function, numbers, choose)


@wrong("R2R-17", replaces=grammar._brackets, half="brackets nested 60 deep")
def nothing_is_too_deep(right: Right, text: str) -> list[int]:
    """Brackets may be nested as deep as one likes."""
    return []


@wrong("R2R-18", replaces=paths.pairs, half="`?`, `*` and `+` give it once")
def a_cycle_is_not_closed(right: Right, graph: Any, path: Any, *rest: Any) -> Any:
    """A repeated path never comes back to where it began."""
    repeats = isinstance(path, Repeated) and path.least
    return ((a, b) for a, b in right(graph, path, *rest) if not (repeats and a == b))


@wrong("R2R-19", replaces=substitution.substitute)
def nothing_is_substituted(right: Right, node: Any, solution: Mapping[str, Term]) -> Any:
    """EXISTS knows nothing of the current solution."""
    return node


@wrong("R2R-20", replaces=order.compare_in_order, half="blank nodes, IRIs and literals")
def terms_are_ordered_as_they_are_written(right: Right, left: Result, other: Result) -> Any:
    """Literals come before IRIs, and IRIs are compared in brackets: <urn:a1> before <urn:a>."""
    if isinstance(left, str) and isinstance(other, str) and "<" in (left[:1], other[:1]):
        return (left > other) - (left < other)
    return right(left, other)


@wrong(
    "R2R-21",
    replaces=Run.time,
    half="an error for a triple that none holds",
    seen=f"{C_SPARQL}, timestamp.java: false for an unknown triple",
)
def an_unknown_triple_is_false(right: Right, run: Run, *triple: Term) -> Any:
    """The time of a triple that no window holds is false."""
    found = right(run, *triple)
    return values.boolean(False) if found is ERROR else found


@wrong("R2R-20", replaces=order.check_border, half="LIMIT and OFFSET have an answer")
def limits_need_order_by(right: Right, keys: Any, rows: Any, border: int, *rest: Any) -> None:
    """LIMIT has no answer without ORDER BY, and with it always."""
    if not rest[0]:
        raise NoSingleAnswer("LIMIT or OFFSET without ORDER BY")
