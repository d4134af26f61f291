"""§7 R2R: a SPARQL body over a window's content. The definition (`refengine.sparql`) decides; two
witnesses confirm it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

from refengine import sparql
from refengine.core.query import Body
from refengine.core.semantics import Collection
from refengine.core.window import Content, View
from refengine.model.compare import blanks, colours, equal, rename, representatives
from refengine.model.elements import (
    XSD,
    Bag,
    Dataset,
    Element,
    Quad,
    Relation,
    Triple,
    is_blank,
    literal,
)
from refengine.model.errors import Disputed
from refengine.sparql.witnesses import WITNESSES as WITNESSES
from refengine.sparql.witnesses import NoSay as NoSay
from refengine.sparql.witnesses import ask_witness as ask_witness

DEFINITION = "definition"
S = TypeVar("S", Triple, Triple | Quad)
Ask = Callable[[str, Body, Dataset], Relation]


def dataset(elements: Iterable[Element]) -> frozenset[Triple]:
    """R2R-1: a default graph is the set union of the graphs of elements."""
    return frozenset().union(*(element.graph for element in elements))


def together(
    views: Sequence[View], contents: Sequence[Content], static: Dataset, body: Body | None = None
) -> Dataset:
    """R2R-8: windows without a name make the default graph, one with a name is the graph of that
    name; static data is always there. Blank nodes are scoped to their stream. For a body that asks
    for times they are there, too (R2R-21).
    """
    sources = list(dict.fromkeys(view.spec.stream for view in views))
    shared = len(sources) + bool(static) > 1
    found: list[Iterable[Triple | Quad]] = [scoped(static, "static") if shared else static]
    for view, content in zip(views, contents, strict=True):
        graph, name = dataset(view.elements[i] for i in content), view.spec.name
        graph = scoped(graph, str(sources.index(view.spec.stream))) if shared else graph
        found.append(graph if name is None else {(*triple, f"<{name}>") for triple in graph})
    if body is not None and body.asks_for_times:
        found.append(times(views, contents, sources if shared else []))
    return frozenset().union(*found)


def times(
    views: Sequence[View], contents: Sequence[Content], sources: Sequence[str]
) -> frozenset[Quad]:
    """R2R-21: return for each triple of the contents the t_app of its last element, as a literal in
    the fourth place. `sources` are the streams whose blank nodes are marked, in their order.
    """
    dated: list[tuple[frozenset[Triple], int]] = []
    for view, content in zip(views, contents, strict=True):
        for index in content:
            element = view.elements[index]
            graph = (
                scoped(element.graph, str(sources.index(view.spec.stream)))
                if sources
                else element.graph
            )
            dated.append((graph, element.app))
    return latest_times(dated)


def latest_times(dated: Iterable[tuple[Iterable[Triple], int]]) -> frozenset[Quad]:
    """R2R-21: return each triple of some graphs with the latest of their times, as a literal in the
    fourth place.
    """
    found: dict[Triple, int] = {}
    for graph, time in dated:
        found |= {triple: max(time, found.get(triple, time)) for triple in graph}
    return frozenset(
        (*triple, literal(str(time), XSD + "integer")) for triple, time in found.items()
    )


def scoped(graph: frozenset[S], source: str) -> frozenset[S]:
    """R2R-8: the statements with the labels of their blank nodes marked by their source."""
    marked = (
        tuple(f"_:{source}-{t[2:]}" if is_blank(t) else t for t in statement) for statement in graph
    )
    return frozenset(cast("Iterable[S]", marked))  # each of as many terms as before


def collected(collection: Collection, rows: Bag) -> Bag:
    """R2R-9: an answer is a bag, or a set: one of the rows that are the same by value."""
    match collection:
        case Collection.BAG:
            return rows
        case Collection.SET:
            return representatives(rows)


def ask_evaluator(
    name: str, body: Body, graph: Dataset, limits: sparql.Limits | None = None
) -> Relation:
    """Return the answer by the definition, within limits (R2R-17), or one witness's. Raises NoSay
    where a witness has none, and Unsupported where the definition has no single answer.
    """
    if name == DEFINITION:
        return sparql.evaluate(body.algebra, graph, limits)
    return ask_witness(name, body.algebra, body.plain, graph)


def defined(body: Body, graph: Dataset) -> Relation:
    """Return the answer by the definition alone. Raises Unsupported."""
    return ask_evaluator(DEFINITION, body, graph)


@dataclass(frozen=True)
class Testimony:
    """An answer by the definition, the witnesses that confirm it, and of each other one its answer,
    or why it has no say.
    """

    relation: Relation
    confirming: tuple[str, ...]
    others: Mapping[str, Relation | str] = field(default_factory=dict)


def heard(
    body: Body,
    graph: Dataset,
    witnesses: Sequence[str] = tuple(WITNESSES),
    asked: Ask = ask_evaluator,
) -> Testimony:
    """R2R-5: the definition decides, and the witnesses confirm it, value for value (§10), or
    differ, or have no say.

    Raises Disputed where witnesses are asked and none confirms the answer; Unsupported where the
    definition has none.
    """
    relation = asked(DEFINITION, body, graph)
    confirming: list[str] = []
    others: dict[str, Relation | str] = {}
    for name in witnesses:
        try:
            answer = asked(name, body, graph)
        except NoSay as error:
            others[name] = str(error)
            continue
        if equal(relation.rows, answer.rows):
            confirming.append(name)
        else:
            others[name] = answer
    if others and not confirming:
        relations = {
            name: answer for name, answer in others.items() if isinstance(answer, Relation)
        }
        silent = "".join(
            f"; {name} has no say: {answer}"
            for name, answer in others.items()
            if isinstance(answer, str)
        )
        differing = (
            f"{' and '.join(relations)} {'differ' if len(relations) > 1 else 'differs'}"
            if relations
            else "none has another"
        )
        reason = f"no witness confirms the definition's answer: {differing}{silent}"
        raise Disputed(reason, rule="R2R-5", answers={DEFINITION: relation, **relations})
    return Testimony(relation, tuple(confirming), others)


def confirmed(
    body: Body,
    graph: Dataset,
    witnesses: Sequence[str] = tuple(WITNESSES),
    asked: Ask = ask_evaluator,
) -> Relation:
    """Return the answer of `heard` alone. Raises what it raises."""
    return heard(body, graph, witnesses, asked).relation


@dataclass(frozen=True)
class Standing:
    """What witnesses said of all that a verdict rests on: who confirms every answer, and of each
    other one the first testimony in which it does not.
    """

    confirming: tuple[str, ...]
    others: Mapping[str, Testimony] = field(default_factory=dict)

    @classmethod
    def of(cls, testimonies: Iterable[Testimony], witnesses: Sequence[str]) -> Standing:
        """Sum up testimonies of the witnesses that were asked."""
        others: dict[str, Testimony] = {}
        for testimony in testimonies:
            for name in testimony.others:
                others.setdefault(name, testimony)
        return cls(tuple(name for name in witnesses if name not in others), others)


def fresh(rows: Bag, graph: Dataset, evaluation: str) -> Bag:
    """R2R-7: a blank node that the body makes (a template's, BNODE()) is new at every evaluation;
    the data's keep their label, in which there is no slash (N-Triples has none in labels).
    """
    made = blanks(rows)
    if not made:
        return rows
    known = {term for triple in graph for term in triple if is_blank(term)}
    colour = colours(rows)
    new = sorted(made - known, key=lambda label: (colour[label], label))
    return rename(rows, {old: f"_:made/{evaluation}/{i}" for i, old in enumerate(new)})
