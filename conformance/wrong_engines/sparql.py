"""Wrong engines for a body: how it is read (QRY-1 to QRY-3), its forms, witnesses and groups
(R2R-2 to R2R-6).

rdflib and pyoxigraph are two of them, whole: conformance/corpus/witness_defects.toml lists what
each has wrong.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any
from unittest.mock import patch

from lark import Token, Tree

from conformance.wrong_engines.engines import CQELS, PYOXIGRAPH, RDFLIB, YASPER
from conformance.wrong_engines.wrong_engine import Right, wrong
from refengine.core import r2r, static
from refengine.core.query import Body
from refengine.core.window import Content, WindowView
from refengine.model.elements import Bag, Dataset, Relation, Triple, row
from refengine.model.errors import Disputed, InvalidQuery, NoSingleAnswer, Unsupported
from refengine.model.terms import Term, parse_literal
from refengine.sparql import (
    choices,
    expressions,
    grammar,
    solutions,
    translate,
)
from refengine.sparql.algebra import AlgebraQuery, Group
from refengine.sparql.choices import Choices
from refengine.sparql.evaluation import BodyEvaluator
from refengine.sparql.expressions import Expressions
from refengine.sparql.translate import Reader
from refengine.sparql.values import Result
from refengine.sparql.witnesses import NoSay

Node = Tree[Token]
Solutions = list[dict[str, Term]]


# QRY-1 to QRY-3: reading


@wrong("QRY-1", replaces=translate.read_body, half="SPARQL 1.1: SELECT, ASK or CONSTRUCT")
def any_body_is_read(right: Right, text: str) -> Any:
    """Accepts a body that is not SPARQL. It is read as one that asks for nothing."""
    try:
        return right(text)
    except InvalidQuery:
        return right("SELECT * WHERE { }")


@wrong("R2R-5", replaces=translate.read_body, half="each by its own reading of SPARQL")
def a_body_is_given_as_written(right: Right, text: str) -> tuple[AlgebraQuery, str]:
    """Gives a body to the witnesses as it is written. It may be that they read it otherwise."""
    query, _ = right(text)
    return query, text


@wrong(
    "QRY-1",
    replaces=translate.read_body,
    half="SPARQL 1.1: SELECT, ASK or CONSTRUCT",
    seen=f"{PYOXIGRAPH}",
)
def names_have_one_dot(right: Right, text: str) -> Any:
    """Refuses a prefixed name with more than one dot."""
    name_with_dots = re.search(r":\w+\.\w+\.\w+", text)
    if name_with_dots:
        reason = f"not SPARQL 1.1: {name_with_dots[0]!r}"
        raise InvalidQuery(reason, rule="QRY-1", place="body")
    return right(text)


@wrong(
    "QRY-2",
    replaces=Reader.refuse_services,
    half="SERVICE and updates",
    seen=f"{RDFLIB} fetches what SERVICE names",
)
def services_are_local(right: Right, reader: Reader, form: Node) -> None:
    """Evaluates SERVICE over its own data."""
    for service in form.find_data("service"):
        *_, pattern = service.children
        service.data = "group_or_union"
        service.children = [pattern]


@wrong(
    "QRY-2",
    replaces=static.refuse_unknown_graphs,
    half="for which nothing is given",
    seen=f"{RDFLIB} fetches what FROM names",
)
def from_of_any_iri_is_taken(right: Right, body: Body, given: Collection[str] = ()) -> None:
    """Accepts FROM of any IRI."""


@wrong("QRY-2", replaces=r2r.dataset_of_windows)
def static_graphs_are_merged(
    right: Right,
    views: Sequence[WindowView],
    contents: Sequence[Content],
    data: Dataset,
    body: Body | None = None,
) -> Any:
    """Merges the named graphs of static data into the default graph."""
    merged = frozenset((subject, predicate, object_) for subject, predicate, object_, *_ in data)
    return right(views, contents, merged, body)


@wrong(
    "QRY-2",
    replaces=grammar.fault,
    half="and updates",
)
def updates_are_syntax_errors(right: Right, text: str, error: Any) -> InvalidQuery:
    """Refuses an update as a syntax error."""
    refusal = right(text, error)
    return InvalidQuery(refusal.reason, rule="QRY-1", place=refusal.place)


@wrong(
    "QRY-3",
    replaces=choices.one_answer,
    half="if all give the same answer, that is the answer",
)
def every_choice_is_open(right: Right, run: Callable[[Choices], Any], same: Any) -> Any:
    """Refuses an answer wherever an evaluator has a choice."""
    choices_made = Choices([])
    answer = run(choices_made)
    if choices_made.next_script() is not None:
        raise NoSingleAnswer("a choice")
    return answer


@wrong(
    "QRY-3",
    replaces=expressions.of_unknown,
    half="the form alone is known",
)
def nothing_is_known_of_a_uuid(right: Right, name: str, results: Sequence[Term]) -> Result:
    """Refuses every question about a UUID."""
    raise NoSingleAnswer("UUID has no single answer")


@wrong(
    "QRY-3",
    replaces=Expressions.apply,
    half="whether LANG gives",
)
def nothing_is_known_of_a_tag(
    right: Right, evaluating: Expressions, name: str, results: Sequence[Term], *rest: Any
) -> Any:
    """Refuses questions about a language tag with a region."""
    is_literal = name == "LANG" and results[0].startswith('"')
    if is_literal and "-" in parse_literal(results[0]).language:
        raise NoSingleAnswer("LANG of a tag with a region")
    return right(evaluating, name, results, *rest)


# Two libraries, whole


# the rules that both libraries break; each breaks more halves of them than the other
RULES_OF_LIBRARIES = (
    "R2R-5",
    "QRY-3",
    "R2R-4",
    "R2R-10",
    "R2R-12",
    "R2R-13",
    "R2R-14",
    "R2R-15",
    "R2R-16",
    "R2R-17",
    "R2R-18",
    "R2R-19",
    "R2R-20",
)
IS_NO_WITNESS = "rdflib and pyoxigraph evaluate the body, too"  # a half of R2R-5


def _answer_of(name: str, body: Body, graph: Dataset) -> r2r.Testimony:
    """Return what one library answers, as the ground truth. Raises Unsupported where it cannot."""
    try:
        relation = r2r.ask_evaluator(name, body, graph)
    except NoSay as error:
        raise Unsupported(str(error), rule="R2R-5") from None
    return r2r.Testimony(relation, (name,))


@wrong(
    *RULES_OF_LIBRARIES,
    "R2R-11",
    replaces=r2r.hear_witnesses,
    seen=RDFLIB,
    half=(
        IS_NO_WITNESS,
        "all combinations are tried, up to 64",
        "An integer beyond 64 bits has no single answer either",
        "and another in the next",
        "`$` the end of the text",
        "MIN gives the first and MAX the last",
        "200,000 solutions in the result of one operator",
    ),
)
def what_rdflib_answers_is_right(
    right: Right, body: Body, graph: Dataset, *rest: Any, **options: Any
) -> r2r.Testimony:
    """Answers as rdflib does."""
    return _answer_of("rdflib", body, graph)


@wrong(
    *RULES_OF_LIBRARIES,
    replaces=r2r.hear_witnesses,
    seen=PYOXIGRAPH,
    half=(
        IS_NO_WITNESS,
        "keeps the lexical form in which it is written",
        "A decimal that meets a float is rounded to it once",
        "what a repeated group that may be empty has captured",
        "as often as it has ways",
    ),
)
def what_pyoxigraph_answers_is_right(
    right: Right, body: Body, graph: Dataset, *rest: Any, **options: Any
) -> r2r.Testimony:
    """Answers as pyoxigraph does."""
    return _answer_of("pyoxigraph", body, graph)


# R2R-2 to R2R-6: forms, witnesses, groups


@wrong(
    "R2R-2",
    "R2R-9",
    replaces=solutions.select_answer,
    seen=f"{YASPER} and csrbench-oracle (https://github.com/dellaglio/csrbench-oracle)",
)
def sets_of_solutions(
    right: Right,
    variables: tuple[str, ...],
    solutions: Iterable[Mapping[str, Term]],
) -> Relation:
    """Drops equal solutions of SELECT."""
    distinct = {row(solution.items()) for solution in solutions}
    return Relation(variables, Counter(distinct))


@wrong("R2R-2", replaces=solutions.select_answer, is_habit=True)
def unbound_is_empty_text(
    right: Right,
    variables: tuple[str, ...],
    solutions: Iterable[Mapping[str, Term]],
) -> Any:
    """Gives an unbound variable as an empty string."""
    empty = dict.fromkeys(variables, '""')
    bound = [{**empty, **solution} for solution in solutions]
    return right(variables, bound)


@wrong("R2R-3", replaces=solutions.ask_answer)
def a_false_ask_has_no_row(right: Right, holds: bool) -> Any:
    """Gives no row for a false ASK."""
    relation: Relation = right(holds)
    if holds:
        return relation
    return Relation(relation.variables, Counter())


@wrong("R2R-4", replaces=solutions.construct_answer, half="a set of triples")
def construct_makes_only_iris(right: Right, triples: Iterable[Triple]) -> Any:
    """Gives no triples of CONSTRUCT but those of three IRIs."""
    return right([triple for triple in triples if all(term.startswith("<") for term in triple)])


def _relation_of_triples(triples: Iterable[Triple]) -> Relation:
    """Return triples as the rows of CONSTRUCT, each once."""
    names = ("subject", "predicate", "object")
    rows = (row(zip(names, triple, strict=True)) for triple in set(triples))
    return Relation(names, Counter(rows))


@wrong(
    "R2R-4",
    replaces=solutions.construct_answer,
    half="those that RDF does not allow are left out",
    seen=f"{CQELS}: a literal as subject, a blank node as predicate",
)
def any_triple(right: Right, triples: Iterable[Triple]) -> Relation:
    """Gives triples of CONSTRUCT that RDF does not allow."""
    return _relation_of_triples(triples)


@wrong("R2R-5", replaces=r2r.hear_witnesses, half="One that confirms is enough")
def all_must_confirm(
    right: Right, body: Body, graph: Dataset, *rest: Any, **options: Any
) -> r2r.Testimony:
    """Refuses an answer that any one witness does not confirm."""
    heard: r2r.Testimony = right(body, graph, *rest, **options)
    if heard.others:
        raise Disputed("a witness differs", rule="R2R-5")
    return heard


def _are_the_same_terms(a: Bag, b: Bag) -> bool:
    """Whether two bags have the same rows, term for term."""
    return a == b


@wrong("R2R-5", replaces=r2r.hear_witnesses)
def witnesses_confirm_terms(
    right: Right, body: Body, graph: Dataset, *rest: Any, **options: Any
) -> Any:
    """Refuses answers that a witness writes in other digits."""
    with patch.object(r2r, "equal", _are_the_same_terms):
        return right(body, graph, *rest, **options)


@wrong(
    "R2R-6",
    replaces=BodyEvaluator.group,
    seen=f"{RDFLIB}: one empty row",
)
def groups_need_no_members(right: Right, evaluating: BodyEvaluator, group: Group) -> Solutions:
    """Gives an empty group where a key has no solutions."""
    solutions: Solutions = right(evaluating, group)
    if not solutions:
        return [{}]
    return solutions


@wrong(
    "R2R-6",
    replaces=BodyEvaluator.group,
    seen=f"{CQELS} answers an average over no match with nothing",
)
def no_group_without_members(right: Right, evaluating: BodyEvaluator, group: Group) -> Any:
    """Gives no group for an aggregate over no solutions."""
    members = evaluating.solutions(group.pattern)
    if not members:
        return []
    return right(evaluating, group)
