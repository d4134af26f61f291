"""§7 R2R: a SPARQL body over a window's content. The SPARQL evaluator (`refengine.sparql`) decides,
and two witnesses confirm it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar, cast

from refengine import sparql
from refengine.core.query import Body
from refengine.core.values import Collection
from refengine.core.window import Content, WindowView
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
from refengine.sparql import evaluation
from refengine.sparql.datasets import DatasetOverStatic, name_of_window
from refengine.sparql.witnesses import WITNESSES as WITNESSES
from refengine.sparql.witnesses import AnswerByDefect
from refengine.sparql.witnesses import NoSay as NoSay
from refengine.sparql.witnesses import ask_witness as ask_witness

EVALUATOR = "evaluator"  # the SPARQL evaluator, refengine.sparql
S = TypeVar("S", Triple, Triple | Quad)
Ask = Callable[[str, Body, Dataset], Relation]


def dataset(elements: Iterable[Element]) -> frozenset[Triple]:
    """R2R-1: Return the default graph of elements: the set union of their graphs."""
    return frozenset().union(*(element.graph for element in elements))


def dataset_of_windows(
    views: Sequence[WindowView],
    contents: Sequence[Content],
    static: Dataset,
    body: Body | None = None,
) -> Dataset:
    """R2R-8: Return the dataset that windows' contents and the static data make.

    The contents of windows without a name are in the default graph, that of a window with a name is
    in the graph of that name, or, for a body with WINDOW, apart from named graphs. Where there are
    several sources, blank nodes are scoped to theirs: a stream, or the static data. For a body that
    asks for times, these are in the dataset too (R2R-21).
    """
    sources = list(dict.fromkeys(view.spec.stream for view in views))
    has_several = len(sources) + bool(static) > 1
    is_apart = body is not None and body.reads_windows
    parts: list[Iterable[Triple | Quad]] = []
    for view, content in zip(views, contents, strict=True):
        name = view.spec.name
        graph = dataset(view.elements[i] for i in content)
        if has_several:
            graph = scope_blank_nodes(graph, str(sources.index(view.spec.stream)))
        if name is None:
            parts.append(graph)
        else:
            place = name_of_window(name, is_apart)
            parts.append({(*triple, place) for triple in graph})

    if body is not None and body.asks_for_times:
        parts.append(times(views, contents, sources if has_several else []))
    statements = frozenset().union(*parts)
    if not static:
        return statements
    return DatasetOverStatic.of(_scope_static(static), statements)


def times(
    views: Sequence[WindowView], contents: Sequence[Content], sources: Sequence[str]
) -> frozenset[Quad]:
    """R2R-21: Return each triple of the contents with the t_app of its last element, as a literal
    in the fourth place. `sources` are the streams whose blank nodes are scoped, in their order.
    """
    dated: list[tuple[frozenset[Triple], int]] = []
    for view, content in zip(views, contents, strict=True):
        for index in content:
            element = view.elements[index]
            graph = element.graph
            if sources:
                graph = scope_blank_nodes(graph, str(sources.index(view.spec.stream)))
            dated.append((graph, element.app))
    return latest_times(dated)


def latest_times(dated: Iterable[tuple[Iterable[Triple], int]]) -> frozenset[Quad]:
    """R2R-21: Return each triple of some graphs with the latest of their times, as a literal in the
    fourth place.
    """
    latest: dict[Triple, int] = {}
    for graph, time in dated:
        latest |= {triple: max(time, latest.get(triple, time)) for triple in graph}
    return frozenset(
        (*triple, literal(str(time), XSD + "integer")) for triple, time in latest.items()
    )


def scope_blank_nodes(graph: frozenset[S], source: str) -> frozenset[S]:
    """R2R-8: Return statements with their blank nodes' labels marked by their source, so that `_:b`
    of stream 0 becomes `_:0-b`.
    """
    marked = (
        tuple(f"_:{source}-{t[2:]}" if is_blank(t) else t for t in statement) for statement in graph
    )
    return frozenset(cast("Iterable[S]", marked))  # each of as many terms as before


@lru_cache(maxsize=4)  # the same data is part of every dataset of a run
def _scope_static(static: Dataset) -> Dataset:
    """R2R-8: Return static data with its blank nodes marked: windows have other sources."""
    return scope_blank_nodes(static, "static")


def collect_rows(collection: Collection, rows: Bag) -> Bag:
    """R2R-9: Return an answer as a bag, which is all of its rows, or as a set, which has one of
    those rows that are the same by value.
    """
    match collection:
        case Collection.BAG:
            return rows
        case Collection.SET:
            return representatives(rows)


def ask_evaluator(
    name: str, body: Body, graph: Dataset, limits: sparql.Limits | None = None
) -> Relation:
    """Return the answer of the evaluator with a name: the SPARQL evaluator's, within limits
    (R2R-17), or a witness's. Raises NoSay where a witness has no answer, and Unsupported where the
    SPARQL evaluator has no single one.
    """
    if name == EVALUATOR:
        return evaluation.evaluate(body.algebra, graph, limits)
    return ask_witness(name, body.algebra, body.plain, graph)


def defined_answer(body: Body, graph: Dataset) -> Relation:
    """Return the SPARQL evaluator's answer. Raises Unsupported."""
    return ask_evaluator(EVALUATOR, body, graph)


@dataclass(frozen=True)
class Testimony:
    """An answer by the SPARQL evaluator, and what the witnesses say of it: who confirms it, and for
    each other witness its own answer, or why it has no say. `why_it_stands` says why the answer
    stands although witnesses were asked and none confirms it; "" otherwise.
    """

    relation: Relation
    confirming: tuple[str, ...]
    others: Mapping[str, Relation | str] = field(default_factory=dict)
    why_it_stands: str = ""


def hear_witnesses(
    body: Body,
    graph: Dataset,
    witnesses: Sequence[str] = tuple(WITNESSES),
    asked: Ask = ask_evaluator,
) -> Testimony:
    """R2R-5: Return the SPARQL evaluator's answer with what each witness says of it: it confirms
    the answer, value for value (§10), or differs, or has no say. `asked` gives the answer of the
    SPARQL evaluator or of a witness.

    If every witness differs, each by a known defect, the answer stands. Raises Disputed where
    witnesses are asked and none confirms any other answer, and Unsupported where the SPARQL
    evaluator has none.
    """
    relation = asked(EVALUATOR, body, graph)
    confirming: list[str] = []
    others: dict[str, Relation | str] = {}
    known: dict[str, AnswerByDefect] = {}
    for name in witnesses:
        try:
            answer = asked(name, body, graph)
        except NoSay as error:
            others[name] = str(error)
            if isinstance(error, AnswerByDefect):
                known[name] = error
            continue
        if equal(relation.rows, answer.rows):
            confirming.append(name)
        else:
            others[name] = answer
    if not others or confirming:
        return Testimony(relation, tuple(confirming), others)
    if known.keys() < others.keys():
        raise dispute(relation, others)
    return Testimony(relation, (), others, explain_standing(known.values()))


def explain_standing(known: Iterable[AnswerByDefect]) -> str:
    """R2R-5: Return why an answer stands that each witness misses by known defects: which they are,
    and whose tests cover the construct.
    """
    defects = [defect for one in known for defect in one.defects]
    tests = "; ".join(dict.fromkeys(defect.tests for defect in defects))
    return f"no witness: {', '.join(map(str, defects))}; the construct is covered by {tests}"


def dispute(relation: Relation, others: Mapping[str, Relation | str]) -> Disputed:
    """R2R-5: Return the error of an answer that no witness confirms. `others` has each witness's
    own answer, or why it has no say.
    """
    differing = {name: answer for name, answer in others.items() if isinstance(answer, Relation)}
    silent = {name: why for name, why in others.items() if isinstance(why, str)}
    if not differing:
        said = "none has another"
    elif len(differing) == 1:
        said = f"{next(iter(differing))} differs"
    else:
        said = f"{' and '.join(differing)} differ"
    reasons = "".join(f"; {name} has no say: {why}" for name, why in silent.items())
    reason = f"no witness confirms the SPARQL evaluator's answer: {said}{reasons}"
    return Disputed(reason, rule="R2R-5", answers={EVALUATOR: relation, **differing})


def confirmed_answer(
    body: Body, graph: Dataset, witnesses: Sequence[str] = tuple(WITNESSES)
) -> Relation:
    """Return the SPARQL evaluator's answer, which a witness confirms or which stands (R2R-5).
    Raises what `hear_witnesses` raises.
    """
    return hear_witnesses(body, graph, witnesses).relation


@dataclass(frozen=True)
class WitnessSummary:
    """What the witnesses said of all answers that a verdict rests on: who confirms every one, and
    for each other witness the first testimony in which it does not.
    """

    confirming: tuple[str, ...]
    others: Mapping[str, Testimony] = field(default_factory=dict)
    why_it_stands: str = ""  # the first answer that no witness confirms, if there is one

    @classmethod
    def of(cls, testimonies: Iterable[Testimony], witnesses: Sequence[str]) -> WitnessSummary:
        """Return what the given testimonies of the witnesses add up to."""
        others: dict[str, Testimony] = {}
        why_it_stands = ""
        for testimony in testimonies:
            why_it_stands = why_it_stands or testimony.why_it_stands
            for name in testimony.others:
                others.setdefault(name, testimony)
        confirming = tuple(name for name in witnesses if name not in others)
        return cls(confirming, others, why_it_stands)


def rename_new_blanks(rows: Bag, graph: Dataset, evaluation: str) -> Bag:
    """R2R-7: Return rows in which the blank nodes that the body makes (a template's, BNODE()) have
    labels that are new at every evaluation, such as `_:made/3/0`. The data's blank nodes keep their
    labels, in which there is no slash, since N-Triples allows none.
    """
    made = blanks(rows)
    if not made:
        return rows
    known = {term for triple in graph for term in triple if is_blank(term)}
    colour = colours(rows)
    new = sorted(made - known, key=lambda label: (colour[label], label))
    return rename(rows, {old: f"_:made/{evaluation}/{i}" for i, old in enumerate(new)})
