"""What an engine must report, as data: one sequence of reports or several, of which one must come,
and whether a plain comparison with them can give the verdict.

A complete semantics gives one sequence. A profile that leaves fields open gives one for each
assignment (ORA-1), and arrival orders that were not recorded one for each order (ORA-4). Where
these are too many, or without end, only the judge can tell, and the data say so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import groupby, permutations, product
from math import factorial, prod
from typing import Any

from conformance.corpus import Case, profile_of, relation, semantics_of, term
from conformance.corpus.case_file import recording
from conformance.harness.engine_file import Engine
from conformance.harness.play import EngineQuery
from conformance.suite.exchange import (
    PreparedQuestion,
    prepare_question,
    refuse_other_windows,
)
from conformance.suite.probe import Block, instants_of_reports
from conformance.verdict import window_elements
from refengine.core import engine
from refengine.core.profile import UNKNOWN, Profile, is_open, show_open
from refengine.core.query import Body, Query, WindowKind
from refengine.core.question import Question
from refengine.core.semantics import FIELDS, Semantics, semantics_to_json
from refengine.core.values import Closure
from refengine.model.elements import Dataset, Element, Relation, Stream
from refengine.model.errors import Disputed, InvalidStream, RefengineError
from refengine.model.terms import XSD
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.assignments import assignments
from refengine.oracle.beginnings import is_range, shows_empty_windows
from refengine.oracle.judge import EVERY_WITNESS
from refengine.oracle.orders.search import find_obstacle, order_matters
from refengine.oracle.trial import first_and_last_instant
from refengine.rdf.recordings import relation_to_json

MOST_ALTERNATIVES = 64
MOST_ASSIGNMENTS = 500
MOST_ORDERS = 24
INEXACT = {f"{XSD}{name}" for name in ("double", "float", "decimal")}
Table = dict[str, Any]


class DecidedBy(StrEnum):
    """What gives the verdict on an engine's reports: a `comparison` with the alternatives; the
    `judge` of refengine alone; whether the engine makes a `refusal`, which it must; or `nothing`,
    where the question has no answer.
    """

    COMPARISON = "comparison"
    JUDGE = "judge"
    REFUSAL = "refusal"
    NOTHING = "nothing"


class Open(StrEnum):
    """What an expectation leaves open beside fields of the semantics."""

    ORDER = "arrival-order"
    TOLERANCE = "tolerance"
    WINDOWS = "windows"
    DISPUTE = "dispute"


class NotFinite(Exception):
    """The reason why there is no list of alternatives, and what is left open."""

    def __init__(self, reason: str, *left_open: str) -> None:
        super().__init__(reason)
        self.left_open = left_open


# What a case states


def evaluations_of_case(case: Case, question: Question, table: Mapping[str, Any]) -> list[Table]:
    """Return what a case expects of an engine that can be told the semantics, an evaluation for
    each semantics. `table` is that of the query.
    """
    return [
        _evaluation_of_block(case, question, table, block)
        for block in case.table.get("expect", ())
        if "max_reports" not in block
    ]


def _evaluation_of_block(
    case: Case, question: Question, table: Mapping[str, Any], block: Block
) -> Table:
    """Return the evaluation of a block that expects reports."""
    semantics = semantics_of(block["semantics"])
    text, dialect = window_or_table(case, question.query, table)
    prepared = PreparedQuestion(question, EngineQuery(question.query, text, dialect, semantics))
    instants = instants_of_reports(question.under(semantics))
    reports = [
        _expected_report(report, question.query, semantics.closure, instants)
        for report in block["reports"]
    ]
    closure = semantics.closure
    return {
        "semantics": semantics_to_json(semantics),
        **_asked(prepared, closure),
        "mode": block.get("mode", "value"),
        "decided_by": DecidedBy.COMPARISON,
        "open": _tolerances([reports]),
        "alternatives": [{"reports": reports}],
    }


def window_or_table(case: Case, query: Query, table: Mapping[str, Any]) -> tuple[str, str]:
    """Return the query of a case as its table, or as its window if it is of windows alone; and the
    word for which of both.
    """
    if window_elements.asks_for_contents(query):
        return json.dumps(window_elements.window_table(query.windows[0])), window_elements.DIALECT
    return json.dumps(table, ensure_ascii=False), "table"


def _asked(prepared: PreparedQuestion, stated_closure: Closure | None) -> Table:
    """Return the commands of the protocol that put a question to an engine, and the closure of the
    windows that the engine states.
    """
    commands = [
        {"command": command, **{key: value for key, value in fields.items() if key != "semantics"}}
        for command, fields in prepared.commands()
    ]
    return {"commands": commands, "stated_closure": stated_closure and str(stated_closure)}


def _expected_report(
    report: Mapping[str, Any],
    query: Query,
    closure: Closure | None,
    instants: frozenset[int] | None,
) -> Table:
    """Return a report that a case expects. `instants` are those of the elements with which reports
    come, if that can be said.
    """
    found = {
        name: report[name]
        for name in ("window", "windows", "evaluation", "trigger", "instant", "late")
        if name in report
    }
    if report.get("window"):
        opens, closes = report["window"]
        found["instants"] = _instants((opens, closes), closure)
    if "trigger" in report and instants is not None:
        found["comes_with"] = report["trigger"] if report["trigger"] in instants else "end"
    if "key" in report:
        found["key"] = [term(part) for part in report["key"]]
    found["takes_back"] = report.get("takes_back", False)
    return {**found, **rows_of(relation(report["rows"], query))}


def _instants(window: tuple[int, int] | None, closure: Closure | None) -> list[int] | None:
    """Return the first and the last instant of a window."""
    instants = first_and_last_instant(window, closure)
    return instants and list(instants)


def rows_of(found: Relation) -> Table:
    """Return the rows of a relation as SPARQL 1.1 JSON has them."""
    return {"rows": relation_to_json(found)["results"]["bindings"]}


def judgements_of_case(case: Case, question: Question) -> list[Table]:
    """Return what a case expects of a judge, a judgement for each recording. Raises
    RefengineError.
    """
    return [_judgement(block, question) for block in case.table.get("judge", ())]


def _judgement(block: Block, question: Question) -> Table:
    """Return the judgement that a block expects."""
    profile = profile_of(block["profile"])
    recorded = recording(block, question.query)
    table: Table = {
        "profile": profile_table(profile),
        "recording": [rows_of(each) for each in recorded],
        "missing": block.get("missing", 1),
        "mode": block.get("mode", "value"),
        "outcome": block["outcome"],
    }
    for name in ("windows", "window_closure", "timestamps"):
        if name in block:
            table[name] = block[name]
    return {**table, **decide(question, profile)}


# What an engine must report under its own semantics


def profile_table(profile: Profile) -> Table:
    """Return the fields of a profile: an integer or a text, and for an open field a list of its
    values, `{"from": …, "to": …}` or "unknown".
    """
    return {name: _field(profile.fields.get(name, UNKNOWN)) for name in FIELDS}


def _field(value: Any) -> Any:
    """Return the value of a field of a profile."""
    if isinstance(value, int):
        return value
    text = show_open(value)
    if is_open(value) and value != UNKNOWN:
        low, dots, high = text.partition("..")
        return {"from": int(low), "to": int(high)} if dots else text.split("|")
    return text


def evaluation_of_engine(tested: Engine, case: Case, question: Question, table: Table) -> Table:
    """Return what an engine must report in a case under the semantics that it claims."""
    try:
        refuse_other_windows(tested, case)
        prepared = prepare_question(tested, question, table)
    except RefengineError as error:
        return {"decided_by": DecidedBy.NOTHING, "open": [], "reason": str(error)}
    profile = tested.profile_for(question.query)
    closure = profile.fields.get("closure")
    stated = closure if isinstance(closure, Closure) else None
    is_session = question.query.windows[0].kind is WindowKind.SESSION
    if tested.window_closure is not None and not is_session:
        stated = tested.window_closure
    asked = _asked(prepared, stated)
    return {**asked, "mode": "value", **decide(prepared.question, profile)}


def decide(question: Question, profile: Profile) -> Table:
    """Return who decides on reports under a profile, what is left open, and the alternatives as far
    as they are finite.
    """
    left_open = list(profile.unknown)
    try:
        alternatives = list(_alternatives(question, profile))
    except NotFinite as error:
        left_open = sorted({*left_open, *error.left_open})
        return {"decided_by": DecidedBy.JUDGE, "open": left_open, "reason": str(error)}
    except Disputed as error:
        left_open.append(Open.DISPUTE)
        return {"decided_by": DecidedBy.JUDGE, "open": left_open, "reason": str(error)}
    except InvalidStream as error:
        kind = DecidedBy.REFUSAL if error.rule == "MOD-2" else DecidedBy.NOTHING
        return {"decided_by": kind, "open": left_open, "reason": str(error)}
    except RefengineError as error:
        kind = DecidedBy.JUDGE if profile.unknown else DecidedBy.NOTHING
        return {"decided_by": kind, "open": left_open, "reason": str(error)}
    left_open += _tolerances([each["reports"] for each in alternatives])
    if any("order" in each for each in alternatives):
        left_open.append(Open.ORDER)
    if any("instants" not in report for each in alternatives for report in each["reports"]):
        left_open.append(Open.WINDOWS)
    return {
        "decided_by": DecidedBy.COMPARISON,
        "open": sorted(left_open),
        "alternatives": alternatives,
    }


def _alternatives(question: Question, profile: Profile) -> Iterator[Table]:
    """Yield the alternatives of a profile, each once: its reports, and the values of an open t0
    that give them. Raises NotFinite, and RefengineError for what has no answer.
    """
    is_t0_open = is_range(profile.fields.get("t0", UNKNOWN))
    shared = SharedAnswers()
    seen: set[str] = set()

    def answer(body: Body, graph: Dataset) -> Relation:
        return shared.confirmed_answer(body, graph, EVERY_WITNESS)

    found = assignments(question, profile, shared.plan)
    for number, (semantics, t0_class) in enumerate(found):
        if number == MOST_ASSIGNMENTS:
            raise NotFinite(f"more than {MOST_ASSIGNMENTS} assignments")
        if profile.fields.get("t0", UNKNOWN) == UNKNOWN and shows_empty_windows(semantics):
            raise NotFinite("an earlier t0 gives more reports, without end (ORA-2)", "t0")
        is_single = t0_class.lo == t0_class.hi
        t0 = {"t0": [t0_class.lo, t0_class.hi]} if is_t0_open else {}
        for order, each in _orders(question, semantics, shared):
            reports = engine.evaluate(
                each.query, each.streams, semantics, static=each.static, answer=answer
            )
            tables = [_due_report(report, semantics, is_single) for report in reports]
            if (text := repr(tables)) in seen:
                continue
            seen.add(text)
            if len(seen) > MOST_ALTERNATIVES:
                raise NotFinite(f"more than {MOST_ALTERNATIVES} alternatives")
            yield {**t0, **order, "reports": tables}


def _due_report(report: engine.Report, semantics: Semantics, is_single: bool) -> Table:
    """Return a report that is due. Where several values of t0 give it (not `is_single`), its window
    and its instants are open.
    """
    found = rows_of(report.relation)
    if not is_single:
        return found
    stated = {
        "window": report.window and list(report.window),
        "instants": _instants(report.window, semantics.closure),
        "evaluation": report.evaluation,
        "trigger": report.trigger,
        "instant": report.instant,
        "takes_back": report.takes_back,
    }
    return {**stated, **found}


def _orders(
    question: Question, semantics: Semantics, shared: SharedAnswers
) -> Iterator[tuple[Table, Question]]:
    """Yield a question with each order in which its simultaneous elements may have arrived, behind
    this order; as it is where the order was recorded, or does not matter (ORA-4). Raises NotFinite.
    """
    names = dict.fromkeys(window.stream for window in question.query.windows)
    streams = [question.streams[name] for name in names]
    is_recorded = all(stream.ordered for stream in streams)
    planned = shared.plan(question.under(semantics))
    if is_recorded or not order_matters(planned):
        yield {}, question
        return
    if obstacle := find_obstacle(question, planned):
        raise NotFinite(f"the arrival order is open, with {obstacle} (ORA-7)", Open.ORDER)
    [name], [stream] = names, streams
    numbered = enumerate(stream)
    groups = [list(group) for _, group in groupby(numbered, lambda each: each[1].app)]
    count = prod(factorial(len(group)) for group in groups)
    if count > MOST_ORDERS:
        raise NotFinite(f"{count} arrival orders", Open.ORDER)
    for orders in product(*map(permutations, groups)):
        order = [each for group in orders for each in group]
        arrived = _in_order(element for _, element in order)
        asked = Question(question.query, {**question.streams, name: arrived}, question.static)
        yield {"order": [number for number, _ in order]}, asked


def _in_order(elements: Iterable[Element]) -> Stream:
    """Return the stream of elements that arrive in this order."""
    return Stream(tuple(each._replace(sys=number) for number, each in enumerate(elements, 1)))


def _tolerances(alternatives: Iterable[Sequence[Table]]) -> list[str]:
    """Return the word for a tolerance if reports have numbers that need one (CMP-2)."""
    kinds = {
        value.get("datatype", "")
        for reports in alternatives
        for report in reports
        for row in report["rows"]
        for value in row.values()
    }
    return [Open.TOLERANCE] if kinds & INEXACT else []
