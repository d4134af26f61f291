"""Wrong engines for §7 and §8, SPARQL aside: what a body reads, and which rows are sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.wrong_engines.engines import C_SPARQL, CQELS, ETALIS, RSP_JS, YABENCH, YASPER
from conformance.wrong_engines.wrong_engine import Right, wrong
from refengine.core import engine, r2r, r2s
from refengine.core.answers import RecomputedAnswers, recomputed_answers
from refengine.core.consumption import Match, WaitingMatches, choose_partner
from refengine.core.engine import Evaluation, Step
from refengine.core.plan import Plan, why_not_consumed
from refengine.core.query import Query
from refengine.core.r2s import AnswerChange, Output, RelationToStream
from refengine.core.reports import ReportMaker
from refengine.core.schedule import WindowContent
from refengine.core.semantics import Semantics
from refengine.core.values import R2S, Collection, Condition, Consumption, Empty
from refengine.core.window import Content, WindowView
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
    """Shows the query one triple of the newest element only."""
    every = list(elements)
    if not every:
        return frozenset()
    newest = every[-1]
    return frozenset(sorted(newest.graph)[:1])


@wrong(
    "R2R-7",
    replaces=r2r.rename_new_blanks,
    half="is new at every evaluation",
)
def made_nodes_are_data(right: Right, rows: Bag, graph: Dataset, evaluation: str) -> Bag:
    """Gives a blank node of the query one label at all evaluations."""
    made: Bag = right(rows, graph, "0")
    labels = {node: node.replace("/", "-") for node in compare.blanks(made)}
    return compare.rename(made, labels)


@wrong(
    "R2R-7",
    replaces=r2r.rename_new_blanks,
    half="the data's blank nodes keep their identity",
)
def every_node_is_new(right: Right, rows: Bag, graph: Dataset, evaluation: str) -> Any:
    """Renames the blank nodes of the data at every evaluation."""
    return right(rows, frozenset(), evaluation)


@wrong(
    "R2R-8",
    replaces=r2r.dataset_of_windows,
    half="is the named graph of that name",
    seen=f"{C_SPARQL} merges its windows; its windows have no names",
)
def names_are_merged(
    right: Right,
    views: Sequence[WindowView],
    contents: Sequence[Content],
    *rest: Any,
    **options: Any,
) -> Any:
    """Merges all windows into the default graph, named ones included."""
    unnamed = [replace(view, spec=replace(view.spec, name=None)) for view in views]
    return right(unnamed, contents, *rest, **options)


@wrong(
    "R2R-8",
    replaces=r2r.scope_blank_nodes,
    half="Blank nodes are scoped to their stream",
)
def labels_are_shared(right: Right, graph: Dataset, source: str) -> Dataset:
    """Takes a blank node label for one node in all streams. The label is that of the same node in
    static data.
    """
    return graph


@wrong(
    "R2R-8",
    replaces=engine.evaluate,
    half="and never of a content",
)
def static_data_is_content(
    right: Right,
    query: Query,
    streams: Mapping[str, Stream],
    semantics: Semantics,
    *,
    static: Dataset = frozenset(),
    **options: Any,
) -> Any:
    """Lets static data expire like an element. The static triples are an element before the first
    one. Static graphs are left out.
    """
    default_graph = frozenset(statement for statement in static if len(statement) == 3)
    name = query.windows[0].stream
    if default_graph and name in streams and streams[name].elements:
        stream = streams[name]
        first = stream.elements[0]
        static_element = first._replace(graph=default_graph, sys=first.sys - 1, end=None)
        elements = (static_element, *stream.elements)
        streams = {**streams, name: replace(stream, elements=elements)}
    return right(query, streams, semantics, **options)


@wrong("R2R-9", replaces=ReportMaker.step)
def sets_after_r2s(right: Right, maker: ReportMaker, at: Evaluation) -> Step:
    """Drops equal rows after R2S, not before. Rows are equal by their terms."""
    vars(maker.answers)["collection"] = Collection.BAG
    step: Step = right(maker, at)
    if maker.planned.semantics.collection is Collection.SET:
        relation = step.relation
        distinct = Bag(set(relation.rows))
        step.relation = Relation(relation.variables, distinct)
    return step


@wrong(
    "R2R-21",
    replaces=r2r.latest_times,
    half="the t_app of the last element",
)
def the_first_time_counts(right: Right, dated: Iterable[tuple[Dataset, int]]) -> frozenset[Quad]:
    """Gives a triple the time of its first element."""
    times: dict[Triple | Quad, int] = {}
    for graph, time in dated:
        for triple in graph:
            earliest = times.get(triple, time)
            times[triple] = min(time, earliest)

    quads = set()
    for triple, time in times.items():
        term = literal(str(time), XSD + "integer")
        quads.add((*triple, term))
    return frozenset(quads)


@wrong("R2R-22", replaces=WaitingMatches.take_partner)
def nothing_is_consumed(
    right: Right,
    waiting: WaitingMatches,
    side: int,
    candidates: Sequence[Match],
    policy: Consumption,
) -> Match:
    """Uses elements again that it has matched."""
    return choose_partner(candidates, policy)


@wrong("R2R-22", replaces=choose_partner)
def recent_is_chronological(
    right: Right, candidates: Sequence[Match], policy: Consumption
) -> Match:
    """Joins with the earliest that waits, also under `recent`."""
    return candidates[0]


@wrong(
    "R2R-22",
    replaces=recomputed_answers,
    seen=f"{ETALIS}: its AND consumes events under the policy `unrestricted`, too",
)
def unrestricted_consumes(
    right: Right, query: Query, planned: Plan, static: Dataset, *rest: Any, **options: Any
) -> RecomputedAnswers:
    """Uses an element up in its first match."""
    semantics = planned.semantics
    is_of_matches = semantics.r2s is R2S.APPEND and semantics.report == {Condition.CHANGE}
    if is_of_matches and not static and why_not_consumed(query) is None:
        semantics = replace(semantics, consumption=Consumption.RECENT)
        planned = replace(planned, semantics=semantics)
    answers: RecomputedAnswers = right(query, planned, static, *rest, **options)
    return answers


# §8 R2S


@wrong(
    "R2S-1",
    replaces=r2s.rstream,
    seen=f"{CQELS} gives what is new: CSRBench, table 1",
)
def only_news(right: Right, now: Bag, before: Bag) -> Bag:
    """Sends only new rows where Rstream asks for all."""
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
    """Sends the whole answer for Istream and Dstream as well."""
    return now


@wrong(
    "R2S-2",
    "R2S-3",
    replaces=r2s.relation_to_stream,
    seen=f"{YASPER}: R2S over sets",
)
def r2s_over_sets(right: Right, operator: R2S, now: Bag, base: Bag) -> Any:
    """Compares answers as sets for Istream and Dstream. They send only rows of which the other
    answer has no copy.
    """
    if operator is R2S.ISTREAM:
        return Counter({row: count for row, count in now.items() if row not in base})
    if operator is R2S.DSTREAM:
        return Counter({row: count for row, count in base.items() if row not in now})
    return right(operator, now, base)


@wrong(
    "R2S-4",
    replaces=r2s.relation_to_stream,
    half="A_0 is empty",
)
def no_base(right: Right, operator: R2S, now: Bag, base: Bag) -> Bag:
    """Compares every answer with nothing, so all rows are new. Istream gives all rows, and Dstream
    none.
    """
    if operator is R2S.DSTREAM:
        return Counter()
    return now


@wrong(
    "R2S-4",
    replaces=RelationToStream.step,
    half="A_i is the answer of the i-th evaluation",
    seen=f"{YABENCH}: the base is the last answer that held something new",
)
def the_base_is_what_was_sent(
    right: Right,
    sending: RelationToStream,
    change: AnswerChange,
) -> Output:
    """Compares an answer with the last one that was sent. Evaluations that sent nothing are passed
    over.
    """
    before = vars(sending).get("sent", Counter())
    output: Output = right(sending, change._replace(compared=change.now, baseline=before))
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
    """Sends no answer without rows."""
    return bool(output)


@wrong("R2S-5", replaces=r2s.emits_output)
def zeros_are_empty(right: Right, empty: Empty, output: Bag, last: Bag) -> Any:
    """Takes an answer of zeros alone for one without rows."""
    terms = [term for row in output for _, term in row]
    if any(not term.startswith('"0"') for term in terms):
        return right(empty, output, last)
    return right(empty, Bag(), last)


@wrong(
    "R2S-5",
    "R2S-9",
    replaces=r2s.emits_output,
    seen=f"{C_SPARQL}: CSRBench, table 1",
)
def empty_is_always_sent(right: Right, empty: Empty, output: Bag, last: Bag) -> bool:
    """Sends every empty answer, whatever it claims."""
    return True


@wrong(
    "R2S-6",
    replaces=engine.operator,
    seen=f"{RSP_JS}: Istream and Dstream parse and behave as Rstream",
)
def the_text_is_not_asked(right: Right, query: Query, semantics: Semantics) -> R2S:
    """Ignores the R2S operator of the query."""
    return semantics.r2s


@wrong("R2S-7", replaces=RecomputedAnswers.answer_over)
def append_of_new_elements(
    right: Right,
    answers: RecomputedAnswers,
    windows: tuple[WindowContent, ...],
) -> AnswerChange:
    """Answers over the new elements alone. So a row is lost that joins one of them with an older
    element.
    """
    before = answers.contents
    change: AnswerChange = right(answers, windows)
    if not answers.is_append:
        return change
    fresh = []
    for held, content_before in zip(windows, before, strict=True):
        new_elements = set(held.content) - set(content_before)
        fresh.append(tuple(sorted(new_elements)))
    rows = answers.lookup(tuple(fresh), "new").rows
    return change._replace(compared=rows, baseline=Bag())


@wrong("R2S-7", replaces=RecomputedAnswers.answer_over)
def append_of_all(
    right: Right,
    answers: RecomputedAnswers,
    windows: tuple[WindowContent, ...],
) -> AnswerChange:
    """Sends the whole answer where append asks for new rows."""
    change: AnswerChange = right(answers, windows)
    if not answers.is_append:
        return change
    return change._replace(compared=change.now, baseline=Bag())


@wrong(
    "R2S-8",
    "R2S-2",
    replaces=RelationToStream.step,
)
def the_base_grows(right: Right, sending: RelationToStream, change: AnswerChange) -> Any:
    """Never sends a row again that it has sent before. Rstream sends all."""
    base = vars(sending).get("grown", Counter())
    vars(sending)["grown"] = base | change.now
    return right(sending, change._replace(compared=change.now, baseline=base))
