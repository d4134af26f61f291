"""Checking a case against the reference engine and the oracle, and showing the windows and rows in
which they differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from typing import Any

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
)
from conformance.verdict import outcomes
from refengine import dialects, incremental
from refengine.core import engine, r2r, semantics
from refengine.core.query import Query
from refengine.core.question import Question
from refengine.core.semantics import Closure, Semantics
from refengine.incremental import parts as slices
from refengine.model import compare, elements
from refengine.model.elements import XSD, Bag, Row, Stream
from refengine.model.errors import RefengineError, Unsupported
from refengine.model.terms import Term

MANY = 1000  # reports after which a refusal that has not come is not waited for
Borders = tuple[int, int] | None  # a window's o and c, if it has them


def check(case: Case) -> list[str]:
    """One line for each way in which the reference engine and the oracle differ from the case; none
    if they agree. Raises InvalidCase for rows that are not Turtle or not of the query.
    """
    lines, ask = [], cache(partial(query_of, case))  # its text is parsed once for all blocks
    for kind, problems in (
        ("expect", _expect),
        ("judge", _judge),
        ("refuse", _refuse),
        ("read", _read),
        ("render", _render),
    ):
        blocks = case.table.get(kind, [])
        for number, block in enumerate(blocks):
            label = f"{case.rule} {kind}[{number}]" if len(blocks) > 1 else case.rule
            try:
                lines += [f"{label}{line}" for line in problems(case, ask, block)]
            except InvalidCase as error:
                raise error.at(case.path) from None
            except RefengineError as error:
                if not (
                    kind == "refuse"
                    and type(error).__name__ == block["error"]
                    and block["message"] in str(error)
                ):
                    lines.append(
                        f"{label}: expected {_wanted(kind, block)}, got "
                        f"{type(error).__name__}: {error}"
                    )
    return lines


def _wanted(kind: str, block: Mapping[str, Any]) -> str:
    match kind:
        case "expect":
            return _count(len(block["reports"]), "report")
        case "judge":
            return str(block["outcome"])
        case "read" | "render":
            return f"the query as {block['dialect']}"
        case _:
            return f"{block['error']}: …{block['message']}…"


def _expect(case: Case, ask: Callable[[], Query], block: Mapping[str, Any]) -> list[str]:
    """The definition first; where that agrees, incremental evaluation (ENG-6), too, and of its own
    cases evaluation in parts (ENG-7).
    """
    asked = ask()
    most = len(block["reports"]) + 1
    lines: list[str] = []
    ways = {"": engine.evaluate, " incremental:": incremental.evaluate} | (
        {" in parts:": _in_parts} if case.rule == "ENG-7" else {}
    )
    for label, evaluate in ways.items():
        lines = lines or [
            f"{label}{line}"
            for line in _differences(block, asked, _reports(case, asked, block, most, evaluate))
        ]
    return lines


def in_parts(case: Case) -> list[str]:
    """One line for each way in which the reports, computed in parts (ENG-7), differ from those that
    the case expects.
    """
    asked, blocks = query_of(case), case.table.get("expect", [])
    found = [
        (block, _reports(case, asked, block, len(block["reports"]) + 1, _in_parts))
        for block in blocks
    ]
    return [
        f"{case.rule} in parts:{line}"
        for block, reports in found
        for line in _differences(block, asked, reports)
    ]


def _in_parts(
    asked: Query,
    streams: Mapping[str, Stream],
    chosen: Semantics,
    *,
    max_reports: int,
    **options: Any,
) -> Iterator[engine.Report]:
    """The reports, a part for every instant; the definition's where there are no parts. The bound
    is that of each part.
    """
    cuts = sorted({element.app for stream in streams.values() for element in stream})
    try:
        return slices.evaluate(asked, streams, chosen, cuts, max_reports=max_reports, **options)
    except Unsupported as error:
        if error.rule != "ENG-7":
            raise
        return engine.evaluate(asked, streams, chosen, max_reports=max_reports, **options)


def _differences(block: Mapping[str, Any], asked: Query, got: Sequence[engine.Report]) -> list[str]:
    chosen, wanted, lines = semantics_of(block["semantics"]), block["reports"], []
    for expected, report in zip(wanted, got, strict=False):
        at, borders = (
            expected.get("evaluation", report.evaluation),
            _borders(expected, report.windows),
        )
        here = show_windows(borders, chosen.closure)
        if borders != report.windows:
            lines.append(
                f" at t={at}: expected {here}, got {show_borders(report.windows, chosen.closure)}"
            )
        for key in ("evaluation", "trigger", "instant", "late"):
            if key in expected and expected[key] != getattr(report, key):
                lines.append(
                    f" at t={at}: {here}: expected {key} {expected[key]}, got "
                    f"{getattr(report, key)}"
                )
        rows = relation(expected["rows"], asked).rows
        if not compare.equal(rows, report.relation.rows, compare.Mode(block.get("mode", "value"))):
            lines.append(
                f" at t={at}: {here}: expected {show(rows)}, got {show(report.relation.rows)}"
            )
    for report in got[len(wanted) :]:
        here = show_windows(report.windows, chosen.closure)
        lines.append(
            f" at t={report.evaluation}: expected no more reports, got {here}: "
            f"{show(report.relation.rows)}"
        )
    for expected in wanted[len(got) :]:
        at = f" at t={expected['evaluation']}" if "evaluation" in expected else ""
        rows = relation(expected["rows"], asked).rows
        lines.append(
            f"{at}: expected {show_windows(_borders(expected, ()), chosen.closure)}: "
            f"{show(rows)}, got no report"
        )
    return lines


def _borders(expected: Mapping[str, Any], got: tuple[Borders, ...]) -> tuple[Borders, ...]:
    """The windows that a report must have; those that it has, where the case does not say."""
    first = [tuple(expected["window"]) or None] if "window" in expected else []
    if "windows" in expected:
        windows = tuple(tuple(borders) or None for borders in expected["windows"])
        if first and first[0] != windows[0]:
            raise InvalidCase("window is not the first of windows", rule="case", place="reports")
        return windows
    return (*first, *got[len(first) :])


def _reports(
    case: Case,
    asked: Query,
    block: Mapping[str, Any],
    most: int,
    evaluate: Callable[..., Iterator[engine.Report]] = engine.evaluate,
) -> list[engine.Report]:
    chosen, bound = semantics_of(block["semantics"]), block.get("max_reports", engine.MAX_REPORTS)
    options = {"answer": r2r.confirmed, "static": static_of(case), "max_reports": bound}
    return list(islice(evaluate(asked, streams_of(case), chosen, **options), most))


def _judge(case: Case, ask: Callable[[], Query], block: Mapping[str, Any]) -> list[str]:
    asked = ask()
    options = {name: block[name] for name in ("missing", "timestamps") if name in block}
    if "windows" in block:
        options["windows"] = [tuple(borders) or None for borders in block["windows"]]
    if "window_closure" in block:
        options["window_closure"] = Closure(block["window_closure"])
    options["mode"] = compare.Mode(block.get("mode", "value"))
    question = Question(asked, streams_of(case))
    verdict = outcomes.verdict(
        question, profile_of(block["profile"]), recording(block, asked), **options
    )
    argument = " / ".join(verdict.argument.splitlines())
    if verdict.outcome != block["outcome"]:
        return [f": expected {block['outcome']}, got {verdict.outcome}: {argument}"]
    if block.get("argument", "") not in verdict.argument:
        return [f": expected an argument with {block['argument']!r}, got: {argument}"]
    if "without" in block and block["without"] in verdict.argument:
        return [f": expected an argument without {block['without']!r}, got: {argument}"]
    return []


def _read(case: Case, ask: Callable[[], Query], block: Mapping[str, Any]) -> list[str]:
    asked = ask()
    got = dialects.read(block["text"], block["dialect"], block.get("static", False))
    return [
        f": {block['dialect']}: expected {wanted!r}, got {had!r}"
        for wanted, had in _differing(asked, got)
    ]


def _differing(asked: Query, got: Query) -> list[tuple[Any, Any]]:
    """The parts of two queries that differ."""
    parts = ((asked.windows, got.windows), (asked.r2s, got.r2s), (asked.body.text, got.body.text))
    return [(wanted, had) for wanted, had in parts if wanted != had]


def _render(case: Case, ask: Callable[[], Query], block: Mapping[str, Any]) -> list[str]:
    asked, r2s = ask(), _r2s(block)
    text = dialects.render(asked, block["dialect"], r2s, block.get("static", False))
    if text != block["text"]:
        return [f": {block['dialect']}: expected {block['text']!r}, got {text!r}"]
    got = dialects.read(text, block["dialect"], block.get("static", False))
    stated = asked if r2s is None else replace(asked, r2s=got.r2s)
    return [
        f": {block['dialect']}: reads back as {had!r}, not {wanted!r}"
        for wanted, had in _differing(stated, got)
    ]


def _r2s(block: Mapping[str, Any]) -> semantics.R2S | None:
    return semantics.parse_field("r2s", block["r2s"]) if "r2s" in block else None


def _refuse(case: Case, ask: Callable[[], Query], block: Mapping[str, Any]) -> list[str]:
    if "text" in block:
        return _accepted(
            block, dialects.read(block["text"], block["dialect"], block.get("static", False))
        )
    asked = ask()
    if "dialect" in block:
        return _accepted(
            block, dialects.render(asked, block["dialect"], _r2s(block), block.get("static", False))
        )
    streams_of(case)
    count = len(_reports(case, asked, block, MANY)) if "semantics" in block else 0
    return [f": expected {_wanted('refuse', block)}, got {_count(count, 'report')}"]


def _accepted(block: Mapping[str, Any], got: Any) -> list[str]:
    return [f": expected {_wanted('refuse', block)}, got {got!r}"]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


# Showing


def show_windows(windows: Iterable[Borders], closure: Closure | None) -> str:
    """The windows of a report: `window [0,10)`, `windows [0,10), [5,15)`."""
    shown = tuple(windows)
    return (
        f"window{'s' if len(shown) > 1 else ''} {show_borders(shown, closure)}"
        if shown
        else "a window"
    )


def show_borders(windows: Iterable[Borders], closure: Closure | None) -> str:
    """`[0,10), [5,15)`; a window that has no borders is `without borders`."""
    text = "[]" if closure is None else str(closure)
    left, right = text[0], text[1]
    return ", ".join(
        "without borders" if window is None else f"{left}{window[0]},{window[1]}{right}"
        for window in windows
    )


def show(rows: Bag) -> str:
    """A bag as text, in a fixed order: `{x: :a}, {x: :b}`."""
    return ", ".join(sorted(map(_show_row, rows.elements()))) or "no rows"


def _show_row(line: Row) -> str:
    return "{" + ", ".join(f"{name}: {show_term(value)}" for name, value in line) + "}"


def show_term(value: Term) -> str:
    """A term as Turtle, with : and xsd:."""
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
