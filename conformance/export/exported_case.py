"""A case as plain JSON, by `conformance/schema/exported-case.schema.json`: what is asked, what must
come of it, and what the case is good for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from conformance.corpus import Case, query_table, question_of
from conformance.corpus.case_file import element_table
from conformance.corpus.iris import case_iri, iri
from conformance.export.expectations import (
    evaluation_of_engine,
    evaluations_of_case,
    judgements_of_case,
)
from conformance.export.stream_texts import messages_text, trig_text
from conformance.harness.engine_file import KEYS, LAG, Engine
from conformance.suite import joins
from conformance.verdict import window_elements
from conformance.verdict.engine_report import to_nquads
from conformance.wrong_engines import WrongEngine
from refengine import dialects
from refengine.core.question import Question
from refengine.model.errors import RefengineError

Table = dict[str, Any]
Made = TypeVar("Made")
# what a test is, by the block of a case that makes it one
KINDS = {
    "expect": "reports",
    "judge": "judgement",
    "refuse": "refusal",
    "read": "reading",
    "render": "rendering",
    "adaptive": "adaptive-join",
    "bounded": "bounded-join",
}
AS_WRITTEN = ("refuse", "read", "render", "adaptive", "bounded")  # blocks that stay as they are
UNASKED = ("query", "streams", "static", "judge")  # and these, if there is no question


@dataclass(frozen=True)
class ExportedCase:
    """A case as data: its `table`, which is its JSON; its question, if it can be asked; and the
    files of its streams, by their names.
    """

    case: Case
    question: Question | None
    table: Table
    stream_files: Mapping[str, str]

    @property
    def id(self) -> str:
        """The id of the case."""
        return self.case.id

    @property
    def suite(self) -> str:
        """The suite of the case: `corpus`, `windows` or `joins`."""
        return suite_of(self.case)

    @property
    def section(self) -> str:
        """The folder of the cases of its section, which has theirs: the suite and the section."""
        return f"{self.suite}/{self.case.path.partition('/')[0]}"


def suite_of(case: Case) -> str:
    """Return the suite of a case, as results and EARL name it."""
    if any("matches" in block for block in case.table.get("adaptive", ())):
        return joins.SUITE
    return case.suite


def export_case(
    case: Case, caught: tuple[WrongEngine, ...], engines: tuple[Engine, ...]
) -> ExportedCase:
    """Return a case as data. `caught` are the wrong engines that it catches, and `engines` those
    whose own semantics say what they must report.
    """
    suite = suite_of(case)
    table: Table = {
        "iri": case_iri(suite, case.id),
        "id": case.id,
        "suite": suite,
        "rule": case.rule,
        "name": case.name,
        "derivation": case.table["derivation"],
        "file": f"conformance/cases/{case.path}",
        "kinds": [kind for block, kind in KINDS.items() if block in case.table],
        "wrong_engines": [one.full_name for one in caught],
    }
    if "link" in case.table:
        table["link"] = case.table["link"]
    reasons: dict[str, str] = {}
    question = None
    if "query" in case.table:
        question = _attempt(partial(question_of, case), "question", reasons)
    else:
        reasons["question"] = "a join of records, with no query and no RDF (docs/joins.md, §15)"
    if question is not None:
        table |= _question_table(case, question, reasons)
        asked = query_table(case)
        table["evaluations"] = evaluations_of_case(case, question, asked)
        table["judgements"] = judgements_of_case(case, question)
        table["engines"] = {
            tested.name: evaluation_of_engine(tested, case, question, asked)
            for tested in engines
            if case.suite in tested.suites and {"expect", "judge"} & case.table.keys()
        }
    table["as_written"] = dict(_as_written(case, question))
    table["not_expressed"] = reasons
    stream_files = dict(_stream_files(question, reasons)) if question is not None else {}
    return ExportedCase(case, question, table, stream_files)


def _stream_files(question: Question, reasons: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield name and text of the files of streams: of each its graphs, and its messages if it can
    be a log of them.
    """
    for number, stream in enumerate(question.streams.values(), 1):
        yield f"stream-{number}.trig", trig_text(stream)
        messages = f"stream-{number}.messages"
        text = _attempt(partial(messages_text, stream), messages, reasons)
        if text is not None:
            yield f"{messages}.trig", text


def _attempt(make: Callable[[], Made], what: str, reasons: dict[str, str]) -> Made | None:
    """Return what is made, or None with the reason why it cannot be."""
    try:
        return make()
    except RefengineError as error:
        reasons[what] = str(error)
    return None


def _as_written(case: Case, question: Question | None) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a case that stay as its file has them: blocks about other things than
    reports, those with a bound on the number of reports, and what is to be refused as a question.
    """
    bounded = [block for block in case.table.get("expect", ()) if "max_reports" in block]
    if bounded:
        yield "expect", bounded
    for part in (*AS_WRITTEN, *(UNASKED if question is None else ())):
        if part in case.table:
            yield part, case.table[part]


def _question_table(case: Case, question: Question, reasons: dict[str, str]) -> Table:
    """Return a question: the query in every language that can say it, streams, static data, and
    what an engine must have to be asked.
    """
    query = question.query
    texts = {}
    for name in dialects.DIALECTS:
        render = partial(dialects.render, query, name, static=bool(question.static))
        text = _attempt(render, f"query.{name}", reasons)
        if text is not None:
            texts[name] = text
    table: Table = {
        "query": {"table": query_table(case), "texts": texts},
        "streams": [
            {
                "name": name,
                "ordered": stream.ordered,
                "elements": [element_table(one, to_nquads(one.graph)) for one in stream],
            }
            for name, stream in question.streams.items()
        ],
        "requires": sorted(set(_requirements(question))),
    }
    if window_elements.asks_for_contents(query):
        table["query"]["window"] = window_elements.window_table(query.windows[0])
    if question.static:
        table["static"] = to_nquads(question.static)
    return table


def _requirements(question: Question) -> Iterator[str]:
    """Yield the words for what an engine must have to be asked a question: those of `capabilities`
    in an engine's file, and features of the data.
    """
    query = question.query
    elements = [element for stream in question.streams.values() for element in stream]
    times = [[element.app for element in stream] for stream in question.streams.values()]
    yield query.body.form
    for window in query.windows:
        yield window.kind
        if window.lag:
            yield LAG
        if window.is_keyed:
            yield KEYS
        if window.unit != "elements":
            yield window.unit
    features = {
        "several-windows": len(query.windows) > 1,
        "several-streams": len(question.streams) > 1,
        "named-windows": any(window.name for window in query.windows),
        "static-data": bool(question.static),
        "stated-operator": query.r2s is not None,
        "batches": any(element.batch is not None for element in elements),
        "intervals": any(element.end not in (None, element.app) for element in elements),
        "elements-without-triples": any(not element.graph for element in elements),
        "elements-out-of-order": any(each != sorted(each) for each in times),
        "integers-beyond-53-bits": any(abs(time) >= 2**53 for each in times for time in each),
    }
    yield from (feature for feature, is_there in features.items() if is_there)


def wrong_engine_iri(one: WrongEngine) -> str:
    """Return the IRI of a wrong engine."""
    return iri("wrong-engine", one.full_name)
