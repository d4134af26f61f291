"""Checking a case: hold the reference engine and the oracle against what the case expects, and
write the windows and rows in which they differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from typing import Any

from conformance.corpus.adaptive_case import differences_of_join
from conformance.corpus.bounded_case import differences_of_bounded
from conformance.corpus.case_file import (
    BASE,
    Case,
    InvalidCase,
    profile_of,
    query_of,
    recording,
    relation,
    semantics_of,
    static_of,
    streams_of,
    term,
)
from conformance.verdict import outcomes
from conformance.verdict.explain import count_text
from conformance.verdict.wording import printable
from refengine import dialects, incremental
from refengine.core import engine, r2r, semantics
from refengine.core.arrivals import order_of_pushes
from refengine.core.query import Query
from refengine.core.question import Question
from refengine.core.semantics import Semantics
from refengine.core.values import R2S, Closure
from refengine.incremental import parts
from refengine.incremental.engine import Engine
from refengine.model import compare, elements
from refengine.model.elements import XSD, Bag, Row, Stream
from refengine.model.errors import RefengineError, Unsupported
from refengine.model.terms import Term

MANY = 1000  # reports; a refusal that has not come after so many is not waited for
ROWS_SHOWN = 100  # of a bag
WIDTH = 200  # characters of a term
Borders = tuple[int, int] | None  # a window's o and c, if it has them
Evaluate = Callable[..., Iterator[engine.Report]]


def check(case: Case) -> list[str]:
    """Return one line for each way in which the reference engine or the oracle differs from the
    case; none if they agree. Raises InvalidCase for rows that are not Turtle or have variables that
    the query has not.
    """
    lines = []
    ask = cache(partial(query_of, case))  # so that the text is parsed once for all blocks
    for kind, problems in (
        ("expect", _expect),
        ("judge", _judge),
        ("refuse", _refuse),
        ("read", _read),
        ("render", _render),
        ("adaptive", _adaptive),
        ("bounded", _bounded),
    ):
        blocks = case.table.get(kind, [])
        for number, block in enumerate(blocks):
            label = case.rule
            if len(blocks) > 1:
                label += f" {kind}[{number}]"
            try:
                lines += [f"{label}{line}" for line in problems(case, ask, block)]
            except InvalidCase as error:
                raise error.at(case.path) from None
            except RefengineError as error:
                if "error" not in block or not _is_expected(error, block):
                    expected = _expectation(kind, block)
                    lines.append(
                        f"{label}: expected {expected}, got {type(error).__name__}: {error}"
                    )
    return lines


def _is_expected(error: RefengineError, block: Mapping[str, Any]) -> bool:
    """Whether an error is the one that a refuse block expects."""
    return type(error).__name__ == block["error"] and block["message"] in str(error)


def _expectation(kind: str, block: Mapping[str, Any]) -> str:
    """Write what a block expects, for a message."""
    match kind:
        case "expect":
            return count_text(len(block["reports"]), "report")
        case "judge":
            return str(block["outcome"])
        case "read" | "render":
            return f"the query as {block['dialect']}"
        case "adaptive" if "error" not in block:
            return "matches and windows"
        case "bounded" if "error" not in block:
            return "results and measures"
        case _:
            return f"{block['error']}: …{block['message']}…"


def _expect(case: Case, ask: Callable[[], Query], block: Mapping[str, Any]) -> list[str]:
    """Return a line for each way in which the reports differ from the expected ones.

    The reports of the engine are compared first, then those of incremental evaluation (ENG-6),
    and for the cases of ENG-7 and ENG-8 those of evaluation in parts and by pushes. The lines are
    those of the first way of evaluating that differs.
    """
    case_query = ask()
    most = len(block["reports"]) + 1
    ways: dict[str, Evaluate] = {"": engine.evaluate, " incremental:": incremental.evaluate}
    if case.rule == "ENG-7":
        ways[" in parts:"] = _in_parts
    if case.rule == "ENG-8":
        ways[" by pushes:"] = _by_pushes
    for label, evaluate in ways.items():
        reports = _reports(case, case_query, block, most, evaluate)
        if lines := differences_of_reports(block, case_query, reports):
            return [f"{label}{line}" for line in lines]
    return []


def in_parts(case: Case) -> list[str]:
    """Return a line for each way in which the reports, computed in parts (ENG-7), differ from those
    that the case expects.
    """
    return _differences_of(case, " in parts:", _in_parts)


def by_pushes(case: Case) -> list[str]:
    """Return a line for each way in which the reports of pushes (ENG-8) differ from those that the
    case expects.
    """
    return _differences_of(case, " by pushes:", _by_pushes)


def _differences_of(case: Case, label: str, evaluate: Evaluate) -> list[str]:
    """Return a line for each way in which reports differ from those that the case expects."""
    case_query = query_of(case)
    lines: list[str] = []
    for block in case.table.get("expect", []):
        reports = _reports(case, case_query, block, len(block["reports"]) + 1, evaluate)
        differences = differences_of_reports(block, case_query, reports)
        lines += [f"{case.rule}{label}{line}" for line in differences]
    return lines


def _in_parts(
    case_query: Query,
    streams: Mapping[str, Stream],
    chosen: Semantics,
    *,
    max_reports: int,
    **options: Any,
) -> Iterator[engine.Report]:
    """Return the reports of evaluation in parts, one for every instant of the streams. Where the
    query cannot be cut into parts they are the engine's. `max_reports` is the bound of each
    part.
    """
    cuts = sorted({element.app for stream in streams.values() for element in stream})
    try:
        return parts.evaluate_in_parts(
            case_query, streams, chosen, cuts, max_reports=max_reports, **options
        )
    except Unsupported as error:
        if error.rule != "ENG-7":
            raise
        return engine.evaluate(case_query, streams, chosen, max_reports=max_reports, **options)


def _by_pushes(
    case_query: Query, streams: Mapping[str, Stream], chosen: Semantics, **options: Any
) -> Iterator[engine.Report]:
    """Yield the reports of a query whose elements are pushed one after the other. Where they cannot
    be pushed they are the engine's.
    """
    try:
        pushed = Engine(case_query, streams, chosen, definition=True, **options)
        order = list(order_of_pushes(case_query, streams, chosen))
    except Unsupported as error:
        if error.rule not in ("ENG-6", "ENG-8"):
            raise
        yield from engine.evaluate(case_query, streams, chosen, **options)
        return
    for name, element in order:
        yield from pushed.push_element(name, element)
    yield from pushed.finish()


def differences_of_reports(
    block: Mapping[str, Any],
    case_query: Query,
    got: Sequence[engine.Report],
) -> list[str]:
    """Return one line for each way in which reports differ from those that a block expects."""
    closure = semantics_of(block["semantics"]).closure
    mode = compare.Mode(block.get("mode", "value"))
    every_expected = block["reports"]
    lines = []
    for expected, report in zip(every_expected, got, strict=False):
        at = expected.get("evaluation", report.evaluation)
        lines += [
            f" at t={at}: {line}"
            for line in _differences_of_report(expected, case_query, report, closure, mode)
        ]
    for report in got[len(every_expected) :]:
        here = show_windows(report.windows, closure)
        lines.append(
            f" at t={report.evaluation}: expected no more reports, got {here}: "
            f"{show(report.relation.rows)}"
        )
    for expected in every_expected[len(got) :]:
        here = show_windows(_borders(expected, ()), closure)
        rows = relation(expected["rows"], case_query).rows
        line = f": expected {here}: {show(rows)}, got no report"
        if "evaluation" in expected:
            line = f" at t={expected['evaluation']}{line}"
        lines.append(line)
    return lines


def _differences_of_report(
    expected: Mapping[str, Any],
    case_query: Query,
    report: engine.Report,
    closure: Closure | None,
    mode: compare.Mode,
) -> Iterator[str]:
    """Yield a line for each way in which a report differs from the expected one."""
    borders = _borders(expected, report.windows)
    here = show_windows(borders, closure)
    if borders != report.windows:
        yield f"expected {here}, got {show_borders(report.windows, closure)}"
    for key in ("evaluation", "trigger", "instant", "late"):
        value = getattr(report, key)
        if key in expected and expected[key] != value:
            yield f"{here}: expected {key} {expected[key]}, got {value}"
    takes_back = expected.get("takes_back", False)
    if takes_back != report.takes_back:
        yield f"{here}: expected {show_kind(takes_back)}, got {show_kind(report.takes_back)}"
    if "key" in expected:
        terms = tuple(map(term, expected["key"]))
        if terms != report.key:
            got = " ".join(report.key) or "none"
            yield f"{here}: expected the key {' '.join(terms)}, got {got}"
    rows = relation(expected["rows"], case_query).rows
    if not compare.equal(rows, report.relation.rows, mode):
        yield f"{here}: expected {show(rows)}, got {show(report.relation.rows)}"


def show_kind(takes_back: bool) -> str:
    """Return what a report does, in words: it takes back (REP-16), or it does not."""
    if takes_back:
        return "a report that takes back"
    return "a report"


def _borders(expected: Mapping[str, Any], got: tuple[Borders, ...]) -> tuple[Borders, ...]:
    """Return the windows that a report must have; where the case does not state them, those that it
    has (`got`). Raises InvalidCase if `window` is not the first of `windows`.
    """
    windows = got
    if "windows" in expected:
        windows = tuple(tuple(borders) or None for borders in expected["windows"])
    if "window" not in expected:
        return windows
    first = tuple(expected["window"]) or None
    if "windows" in expected and first != windows[0]:
        raise InvalidCase("window must be the first entry of windows", rule="case", place="reports")
    return first, *windows[1:]


def _reports(
    case: Case,
    case_query: Query,
    block: Mapping[str, Any],
    most: int,
    evaluate: Evaluate = engine.evaluate,
) -> list[engine.Report]:
    """Return the first reports of a case under the semantics of a block, at most `most`."""
    chosen = semantics_of(block["semantics"])
    bound = block.get("max_reports", engine.MAX_REPORTS)
    options = {"answer": r2r.confirmed_answer, "static": static_of(case), "max_reports": bound}
    return list(islice(evaluate(case_query, streams_of(case), chosen, **options), most))


def _judge(case: Case, ask: Callable[[], Query], block: Mapping[str, Any]) -> list[str]:
    """Return a line if the oracle's verdict on a recording differs from the expected one. What
    would explain a fail is searched for only if the block quotes the explanation: the search takes
    longer than all else.
    """
    case_query = ask()
    options = {name: block[name] for name in ("missing", "timestamps") if name in block}
    if "windows" in block:
        options["windows"] = [tuple(borders) or None for borders in block["windows"]]
    if "window_closure" in block:
        options["window_closure"] = Closure(block["window_closure"])
    options["mode"] = compare.Mode(block.get("mode", "value"))
    question = Question(case_query, streams_of(case))
    result = outcomes.judge_relations(
        question,
        profile_of(block["profile"]),
        recording(block, case_query),
        is_fail_explained="explanation" in block or "without" in block,
        **options,
    )
    explanation = " / ".join(result.explanation.splitlines())
    if result.outcome != block["outcome"]:
        return [f": expected {block['outcome']}, got {result.outcome}: {explanation}"]
    if block.get("explanation", "") not in result.explanation:
        return [f": expected an explanation with {block['explanation']!r}, got: {explanation}"]
    if "without" in block and block["without"] in result.explanation:
        return [f": expected an explanation without {block['without']!r}, got: {explanation}"]
    return []


def _read(case: Case, ask: Callable[[], Query], block: Mapping[str, Any]) -> list[str]:
    """Return a line for each part in which the query that is read from a text differs from the
    case's.
    """
    case_query = ask()
    query = dialects.read(block["text"], block["dialect"], block.get("static", False))
    return [
        f": {block['dialect']}: expected {expected!r}, got {got!r}"
        for expected, got in _differing_parts(case_query, query)
    ]


def _differing_parts(case_query: Query, other: Query) -> list[tuple[Any, Any]]:
    """Return the differing parts of two queries, in pairs: windows, operator, text of the body."""
    parts = (
        (case_query.windows, other.windows),
        (case_query.r2s, other.r2s),
        (case_query.body.text, other.body.text),
    )
    return [(one, two) for one, two in parts if one != two]


def _render(case: Case, ask: Callable[[], Query], block: Mapping[str, Any]) -> list[str]:
    """Return a line if the text into which the query is rendered differs from the expected one, or
    a line for each part in which the query that is read back from it differs.
    """
    case_query = ask()
    r2s = _r2s(block)
    text = dialects.render(case_query, block["dialect"], r2s, block.get("static", False))
    if text != block["text"]:
        return [f": {block['dialect']}: expected {block['text']!r}, got {text!r}"]
    query = dialects.read(text, block["dialect"], block.get("static", False))
    if r2s is not None:
        case_query = replace(case_query, r2s=query.r2s)
    return [
        f": {block['dialect']}: reads back as {got!r}, not {expected!r}"
        for expected, got in _differing_parts(case_query, query)
    ]


def _r2s(block: Mapping[str, Any]) -> R2S | None:
    """Return the R2S operator of a block; None if it has none."""
    if "r2s" not in block:
        return None
    r2s: R2S = semantics.parse_field("r2s", block["r2s"])
    return r2s


def _adaptive(case: Case, ask: Callable[[], Query], block: Mapping[str, Any]) -> list[str]:
    """Return a line for each way in which a join over adaptive windows differs from the expected
    one. Raises RefengineError.
    """
    return differences_of_join(block)


def _bounded(case: Case, ask: Callable[[], Query], block: Mapping[str, Any]) -> list[str]:
    """Return a line for each way in which a join with bounded memory differs from the expected
    one. Raises RefengineError.
    """
    case_query = ask()
    if "error" in block:
        list(differences_of_bounded(case_query, streams_of(case), block, _no_rows, show))
        return [f": expected {_expectation('bounded', block)}, got results"]

    def read_rows(rows: Sequence[Mapping[str, str]]) -> Bag:
        return relation(rows, case_query).rows

    return list(differences_of_bounded(case_query, streams_of(case), block, read_rows, show))


def _no_rows(rows: Sequence[Mapping[str, str]]) -> Bag:
    """Return no rows, where none are expected."""
    return Bag()


def _refuse(case: Case, ask: Callable[[], Query], block: Mapping[str, Any]) -> list[str]:
    """Return the line that a case was not refused. Raises the RefengineError of the refusal, if it
    is refused.
    """
    got = _unrefused(case, ask, block)
    return [f": expected {_expectation('refuse', block)}, got {got}"]


def _unrefused(case: Case, ask: Callable[[], Query], block: Mapping[str, Any]) -> str:
    """Read, render or evaluate what should be refused, and write what came of it. Raises
    RefengineError.
    """
    static = block.get("static", False)
    if "text" in block:
        return repr(dialects.read(block["text"], block["dialect"], static))
    case_query = ask()
    if "dialect" in block:
        return repr(dialects.render(case_query, block["dialect"], _r2s(block), static))
    streams_of(case)
    reports: list[engine.Report] = []
    if "semantics" in block:
        reports = _reports(case, case_query, block, MANY)
    return count_text(len(reports), "report")


# Showing


def show_windows(windows: Iterable[Borders], closure: Closure | None) -> str:
    """Write the windows of a report: `window [0,10)`, `windows [0,10), [5,15)`."""
    every = tuple(windows)
    match len(every):
        case 0:
            return "a window"
        case 1:
            return f"window {show_borders(every, closure)}"
        case _:
            return f"windows {show_borders(every, closure)}"


def show_borders(windows: Iterable[Borders], closure: Closure | None) -> str:
    """Write borders: `[0,10), [5,15)`. A window that has none is `without borders`."""
    brackets = str(closure or "[]")
    texts = []
    for window in windows:
        if window is None:
            texts.append("without borders")
        else:
            texts.append(f"{brackets[0]}{window[0]},{window[1]}{brackets[1]}")
    return ", ".join(texts)


def show(rows: Bag) -> str:
    """Write the first rows of a bag in a fixed order: `{x: :a}, {x: :b}`. They may be an engine's:
    each term is printable and of bounded length.
    """
    texts = sorted(map(_show_row, rows.elements()))
    more = len(texts) - ROWS_SHOWN
    if more > 0:
        texts[ROWS_SHOWN:] = [f"and {more} more"]
    return ", ".join(texts) or "no rows"


def _show_row(line: Row) -> str:
    return "{" + ", ".join(f"{name}: {_shorten_term(value)}" for name, value in line) + "}"


def _shorten_term(value: Term) -> str:
    """Write a term; of one that is long or that cannot be printed, its beginning."""
    if len(value) > WIDTH:
        return printable(value, WIDTH)
    return printable(show_term(value), WIDTH)


def show_term(value: Term) -> str:
    """Write a term in Turtle, with the prefixes : and xsd:."""
    if local := re.fullmatch(rf"<{re.escape(BASE)}([A-Za-z0-9_-]*)>", value):
        return f":{local[1]}"
    if not value.startswith('"'):
        return value
    lexical, datatype, _ = elements.parse_literal(value)
    match datatype.removeprefix(XSD):
        case "integer" if re.fullmatch(r"[+-]?[0-9]+", lexical):
            return lexical
        case "boolean" if lexical in ("true", "false"):
            return lexical
        case "decimal" if re.fullmatch(r"[+-]?[0-9]*\.[0-9]+", lexical):
            return lexical
        case kind if kind != datatype and value.endswith(">"):
            return f"{value[: value.rindex('^^')]}^^xsd:{kind}"
        case _:
            return value
