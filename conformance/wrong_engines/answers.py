"""Wrong engines for §7 and §8, SPARQL aside: what a body reads, and which rows are sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.wrong_engines.engines import C_SPARQL, CQELS, RSP_JS, YABENCH, YASPER
from conformance.wrong_engines.miniature import Right, wrong
from refengine.core import engine, r2r, r2s
from refengine.core.answers import Recomputed
from refengine.core.engine import Evaluation, Step
from refengine.core.query import Query
from refengine.core.r2s import AnswerChange, Output, RelationToStream
from refengine.core.reports import ReportMaker
from refengine.core.semantics import R2S, Collection, Empty, Semantics
from refengine.core.window import Content, View
from refengine.model import compare
from refengine.model.elements import (
    XSD,
    Bag,
    Dataset,
    Element,
    Quad,
    Relation,
    Stream,
    Triple,
    literal,
)

# §7 R2R


@wrong("R2R-1", replaces=r2r.dataset)
def the_newest_triple(right: Right, elements: Iterable[Element]) -> frozenset[Triple]:
    """A body sees one triple of the newest element."""
    newest = list(elements)[-1:]
    return frozenset(triple for element in newest for triple in sorted(element.graph)[:1])


@wrong("R2R-7", replaces=r2r.rename_new_blanks, half="is new at every evaluation")
def made_nodes_are_data(right: Right, rows: Bag, graph: Dataset, evaluation: str) -> Bag:
    """A blank node that the body makes has a label as data has, the same at every evaluation."""
    made: Bag = right(rows, graph, "0")
    return compare.rename(made, {node: node.replace("/", "-") for node in compare.blanks(made)})


@wrong("R2R-7", replaces=r2r.rename_new_blanks, half="the data's blank nodes keep their identity")
def every_node_is_new(right: Right, rows: Bag, graph: Dataset, evaluation: str) -> Any:
    """A blank node of the data is new at every evaluation, like one that the body makes."""
    return right(rows, frozenset(), evaluation)


@wrong(
    "R2R-8",
    replaces=r2r.dataset_of_windows,
    half="is the named graph of that name",
    seen=f"{C_SPARQL} merges its windows; its windows have no names",
)
def names_are_merged(
    right: Right, views: Sequence[View], contents: Sequence[Content], *rest: Any
) -> Any:
    """Windows are merged into the default graph, whatever their names."""
    unnamed = [replace(view, spec=replace(view.spec, name=None)) for view in views]
    return right(unnamed, contents, *rest)


@wrong("R2R-8", replaces=r2r.scope_blank_nodes, half="Blank nodes are scoped to their stream")
def labels_are_shared(right: Right, graph: Dataset, source: str) -> Dataset:
    """A blank node label means one node in all streams and in static data."""
    return graph


@wrong("R2R-8", replaces=engine.evaluate, half="and never of a content")
def static_data_is_content(
    right: Right,
    query: Query,
    streams: Mapping[str, Stream],
    semantics: Semantics,
    *,
    static: Dataset = frozenset(),
    **options: Any,
) -> Any:
    """Static triples are sent before the first element, as an element that comes and goes like
    others; static graphs are left out.
    """
    default = frozenset(statement for statement in static if len(statement) == 3)
    name = query.windows[0].stream
    if default and name in streams and streams[name].elements:
        first, *_ = elements = streams[name].elements
        ahead = first._replace(graph=default, sys=first.sys - 1, end=None)
        streams = {**streams, name: replace(streams[name], elements=(ahead, *elements))}
    return right(query, streams, semantics, **options)


@wrong("R2R-9", replaces=ReportMaker.step)
def sets_after_r2s(right: Right, maker: ReportMaker, at: Evaluation) -> Step:
    """Sets are made of what R2S gives, by its terms, not of the answers that it compares."""
    vars(maker.answers)["collection"] = Collection.BAG
    step: Step = right(maker, at)
    if maker.planned.semantics.collection is Collection.SET:
        step.relation = Relation(step.relation.variables, Bag(set(step.relation.rows)))
    return step


@wrong("R2R-21", replaces=r2r.latest_times, half="the t_app of the last element")
def the_first_time_counts(right: Right, dated: Iterable[tuple[Dataset, int]]) -> frozenset[Quad]:
    """A triple has the time of the first element that brought it."""
    times: dict[Triple | Quad, int] = {}
    for graph, time in dated:
        times |= {triple: min(time, times.get(triple, time)) for triple in graph}
    return frozenset(
        (*triple, literal(str(time), XSD + "integer")) for triple, time in times.items()
    )


# §8 R2S


@wrong("R2S-1", replaces=r2s.rstream, seen=f"{CQELS} gives what is new: CSRBench, table 1")
def only_news(right: Right, now: Bag, before: Bag) -> Bag:
    """Rstream gives what is new."""
    return now - before


@wrong(
    "R2S-2",
    "R2S-3",
    "R2S-6",
    "QRY-1",
    replaces=r2s.relation_to_stream,
    seen=f"{RSP_JS}: Istream and Dstream parse and behave as Rstream",
    half="the keys `windows`",
)
def every_operator_is_rstream(right: Right, operator: R2S, now: Bag, base: Bag) -> Bag:
    """Istream and Dstream give the whole answer, whether the query states them or the semantics."""
    return now


@wrong(
    "R2S-2",
    "R2S-3",
    replaces=r2s.relation_to_stream,
    seen=f"{YASPER}: R2S over sets",
)
def r2s_over_sets(right: Right, operator: R2S, now: Bag, base: Bag) -> Any:
    """Istream and Dstream give the rows that the other answer does not hold at all."""
    if operator is R2S.ISTREAM:
        return Counter({line: count for line, count in now.items() if line not in base})
    if operator is R2S.DSTREAM:
        return Counter({line: count for line, count in base.items() if line not in now})
    return right(operator, now, base)


@wrong("R2S-4", replaces=r2s.relation_to_stream, half="A_0 is empty")
def no_base(right: Right, operator: R2S, now: Bag, base: Bag) -> Bag:
    """The base of every difference is empty."""
    return Counter() if operator is R2S.DSTREAM else now


@wrong(
    "R2S-4",
    replaces=RelationToStream.step,
    half="A_i is the answer of the i-th evaluation",
    seen=f"{YABENCH}: the base is the last answer that held something new",
)
def the_base_is_what_was_sent(
    right: Right, sending: RelationToStream, change: AnswerChange
) -> Output:
    """The base of the difference is the answer of the last evaluation that sent something."""
    before = vars(sending).get("sent", Counter())
    output: Output = right(sending, change._replace(came=change.now, gone=before))
    if output.is_emitted:
        vars(sending)["sent"] = change.now
    return output


@wrong(
    "R2S-5",
    "REP-3",
    replaces=r2s.emits_output,
    seen=f"{RSP_JS}: empty windows are never reported",
)
def empty_is_never_sent(right: Right, empty: Empty, output: Bag, last: Bag) -> bool:
    """An answer without rows is not sent, whatever the semantics says, nor one that is all zeros
    where empty ones are suppressed.
    """
    if empty is Empty.EMIT:
        return bool(output)
    return any(not term.startswith('"0"') for line in output for _, term in line)


@wrong("R2S-5", "R2S-9", replaces=r2s.emits_output, seen=f"{C_SPARQL}: CSRBench, table 1")
def empty_is_always_sent(right: Right, empty: Empty, output: Bag, last: Bag) -> bool:
    """An empty answer is sent, whatever the semantics says."""
    return True


@wrong(
    "R2S-6",
    replaces=engine.operator,
    seen=f"{RSP_JS}: Istream and Dstream parse and behave as Rstream",
)
def the_text_is_not_asked(right: Right, query: Query, semantics: Semantics) -> R2S:
    """The operator is the engine's, whatever the query states."""
    return semantics.r2s


@wrong("R2S-7", replaces=r2s.append)
def append_is_rstream(right: Right, now: Bag, kept: Bag) -> Bag:
    """append gives the whole answer."""
    return now


@wrong("R2S-7", replaces=Recomputed.at)
def append_of_new_elements(
    right: Right, answers: Recomputed, contents: tuple[Content, ...]
) -> AnswerChange:
    """append gives the answer over the new elements: what joins them with kept ones is lost."""
    before = answers.contents
    change: AnswerChange = right(answers, contents)
    if not answers.is_append:
        return change
    fresh = [tuple(sorted({*now} - {*then})) for now, then in zip(contents, before, strict=True)]
    rows = answers.lookup(tuple(fresh), "new").rows
    return change._replace(came=rows, gone=Bag())


@wrong("R2S-8", "R2S-2", replaces=RelationToStream.step)
def the_base_grows(right: Right, sending: RelationToStream, change: AnswerChange) -> Any:
    """What was in the base stays, so that news is what never came."""
    base = vars(sending).get("grown", Counter())
    vars(sending)["grown"] = base | change.now
    return right(sending, change._replace(came=change.now, gone=base))
