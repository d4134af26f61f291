"""What a campaign has found, in files: for each cause a case, which the suite can run, and a report
that an author can paste into a tracker; and results, which `refengine case` and `refengine report`
read. Text that comes from an engine is escaped and bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

from conformance.campaigns.asking import SUITE, CaseVerdict
from conformance.campaigns.causes import Cause
from conformance.campaigns.drawn_case import query_table
from conformance.corpus.case_file import element_table
from conformance.corpus.case_text import case_text
from conformance.corpus.detection import choose_assignment
from conformance.corpus.rule_texts import rule_texts
from conformance.harness.engine_file import Engine
from conformance.report.markdown import escape_markdown
from conformance.report.page import repository_link
from conformance.suite.new_case import nearest_profile
from conformance.verdict import evidence, results, window_elements
from conformance.verdict.engine_report import EngineReport, to_nquads
from conformance.verdict.results import Outcome, Result
from conformance.verdict.wording import ContentWording, Wording, printable, printable_line
from refengine.core.engine import Report, evaluate
from refengine.core.profiles import brief
from refengine.core.query import Window
from refengine.core.question import Question
from refengine.core.r2r import defined_answer
from refengine.core.semantics import Semantics, semantics_to_json
from refengine.model.elements import Element, Row
from refengine.model.errors import RefengineError
from refengine.model.messages import count_text

REPORTS = 200  # that a case expects at most
SHOWN = 12  # reports and elements of each list in a report for a tracker
NAME = 118  # characters of the name of a case
LINE = 400  # characters of a line that has text of the engine
DERIVATION = (
    "Computed by the reference engine for a case that was drawn. Before it becomes a case of the "
    "corpus, derive it by hand from the rules of SPEC.md."
)
COMMENTS = {"derivation": "FILL IN by hand before it becomes a case of the corpus"}


@dataclass(frozen=True)
class Origin:
    """Where a finding comes from: the engine, what its harness says that it is, and the command
    that found it.
    """

    tested: Engine
    named: Mapping[str, str]
    command: str


class Shown(StrEnum):
    """How a fail showed again: in a new process; only when the case was asked once more in the same
    process; or in neither.
    """

    IN_NEW_PROCESS = "in a new process"
    ASKED_TWICE = "asked twice in one process"
    NOT_AGAIN = "not again"
    NOT_TRIED = "not tried again"


NOTES = {
    Shown.ASKED_TWICE: "In a new process the case is answered rightly: it fails when it is asked "
    "once more in the same process. The command below asks it twice.",
    Shown.NOT_AGAIN: "The case was answered rightly in a new process, twice: what shows it rests "
    "on what the process was asked before.",
    Shown.NOT_TRIED: "The campaign was interrupted: the case was not asked in a new process.",
}


@dataclass(frozen=True)
class Finding:
    """A cause, the name of its files, and how its smallest case showed again."""

    cause: Cause
    name: str
    shown: Shown = Shown.IN_NEW_PROCESS

    @property
    def verdict(self) -> CaseVerdict:
        """The answer to the smallest case."""
        return self.cause.smallest.verdict

    @property
    def title(self) -> str:
        """The cause in a sentence, printable and on one line."""
        return printable_line(self.cause.title)


def write_findings(folder: Path, findings: Iterable[Finding], origin: Origin) -> list[Path]:
    """Write the files of findings into a folder, which is made, and return them. Raises
    RefengineError if they cannot be written.
    """
    findings = list(findings)
    files: dict[Path, Iterable[str] | bytes] = {}
    for one in findings:
        files[folder / f"{one.name}.md"] = [*report_lines(one, origin)]
        text = case_file(one)
        if text is not None:
            files[folder / f"{one.name}.toml"] = text.encode("utf-8")
    files[folder / "results.ndjson"] = list(
        results.lines(map(_result, findings, [origin] * len(findings)))
    )
    with results.writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    results.replace(files)
    return list(files)


def _result(finding: Finding, origin: Origin) -> Result:
    """Return the result of the smallest case, with its evidence."""
    verdict = finding.verdict
    table = None
    if verdict.exchange is not None:
        table = evidence.of_verdict(
            verdict.exchange.question,
            verdict.exchange.answers,
            verdict.judgement,
        )
    return Result(
        engine=origin.tested.name,
        suite=SUITE,
        case=finding.name,
        rule=finding.cause.rule,
        outcome=verdict.outcome,
        explanation=f"{finding.title}\n{verdict.explanation}",
        evidence=table,
    )


# The case file


def case_file(finding: Finding) -> str | None:
    """Return the text of the case file of a finding; None if what is right cannot be written, such
    as too many reports.
    """
    verdict = finding.verdict
    try:
        semantics = semantics_of(verdict)
        if semantics is None:
            return None
        due = due_reports(verdict.case.question, semantics)
        if len(due) > REPORTS:
            return None
        table = {
            "rule": finding.cause.rule,
            "name": case_name(finding),
            "derivation": DERIVATION,
            **_question_tables(verdict),
            "expect": [
                {
                    "semantics": nearest_profile(semantics_to_json(semantics)),
                    "reports": [_report_table(verdict, report) for report in due],
                }
            ],
        }
        return case_text(table, COMMENTS)
    except RefengineError:
        return None


def case_name(finding: Finding) -> str:
    """Return the name of the case: a sentence about the engine's defect, without what no name can
    have.
    """
    text = f"a drawn case in which an engine is wrong, since {finding.title}"
    return re.sub(r"\s+", " ", re.sub(r"[./\n]", " ", text))[:NAME].strip()


def semantics_of(verdict: CaseVerdict) -> Semantics | None:
    """Return the semantics under which what is right is told: that which is sent, that of the
    verdict, or else one that the engine claims.
    """
    if verdict.case.semantics is not None:
        return verdict.case.semantics
    judgement = verdict.judgement
    if judgement is not None and judgement.trial is not None:
        return judgement.trial.semantics
    if verdict.profile is None:
        return None
    return choose_assignment(verdict.case.question, verdict.profile)


def due_reports(question: Question, semantics: Semantics) -> list[Report]:
    """Return what should have come, at most one report more than a case may have. Raises
    RefengineError.
    """
    reports = evaluate(
        question.query,
        question.streams,
        semantics,
        static=question.static,
        answer=defined_answer,
    )
    return list(islice(reports, REPORTS + 1))


def _question_tables(verdict: CaseVerdict) -> dict[str, Any]:
    """Return the keys of a case that are its question."""
    question = verdict.case.question
    table: dict[str, Any] = {
        "query": query_table(question.query),
        "streams": [
            {"name": name, "elements": [element_table(one, _graph_text(one)) for one in stream]}
            for name, stream in question.streams.items()
        ],
    }
    if question.static:
        table["static"] = to_nquads(question.static)
    return table


def _graph_text(element: Element) -> str:
    """Write the triples of an element as a case has them."""
    return " . ".join(" ".join(triple) for triple in sorted(element.graph))


def _report_table(verdict: CaseVerdict, report: Report) -> dict[str, Any]:
    """Return the table of a report that is due. Its instant is of no interest where the engine has
    a semantics of its own.
    """
    table: dict[str, Any] = {}
    if report.window is not None:
        table["window"] = list(report.window)
    if verdict.case.semantics is not None:
        table["instant"] = report.instant
    if report.takes_back:
        table["takes_back"] = True
    if report.key:
        table["key"] = list(report.key)
    table["rows"] = [dict(row) for row in sorted(report.relation.rows.elements())]
    return table


# The report for a tracker


def report_lines(finding: Finding, origin: Origin) -> Iterator[str]:
    """Yield the lines of the report of a finding, in Markdown."""
    yield f"# {escape_markdown(finding.title, LINE)}"
    yield ""
    yield from _origin_lines(finding, origin)
    yield ""
    yield "## Smallest stream"
    yield ""
    yield from _stream_lines(finding.verdict)
    yield ""
    yield "## What came"
    yield ""
    yield from _came_lines(finding.verdict)
    yield ""
    yield "## What should have come"
    yield ""
    yield from _due_lines(finding.verdict)
    yield ""
    yield "## Why"
    yield ""
    yield from _rule_lines(finding.cause)
    yield from _notes(finding, origin)
    yield ""
    yield "## Again"
    yield ""
    yield "```sh"
    engine = origin.tested.file or origin.tested.name
    yield f"python -m conformance fuzz {engine} --case {finding.name}.toml"
    yield "```"
    yield ""
    yield f"Found by `{origin.command}`, first in case {finding.cause.smallest.number}."


def _origin_lines(finding: Finding, origin: Origin) -> Iterator[str]:
    """Yield the engine, the versions, and whether this is known."""
    tested = origin.tested
    named = " ".join(filter(None, (origin.named.get("engine"), origin.named.get("version"))))
    link = f", {tested.link}" if tested.link else ""
    yield f"- Engine: {printable_line(tested.title)}; its harness says: {named or 'nothing'}{link}"
    yield f"- Judged by refengine {version('refengine')}"
    known = finding.cause.known
    if not known:
        yield "- In the engine's file: not among the known deviations"
    for deviation in known:
        yield f"- Known deviation of the engine's file: {deviation.reason} ({deviation.link})"


def _stream_lines(verdict: CaseVerdict) -> Iterator[str]:
    """Yield the windows, the body and the elements."""
    query = verdict.case.query
    words = Wording.of(query)
    for window in query.windows:
        yield f"- {_window_text(window)}"
    if not verdict.case.is_of_windows:
        yield f"- query `{printable(query.body.text, 400)}`"
    if query.r2s is not None:
        yield f"- operator {query.r2s}"
    if verdict.case.semantics is not None:
        yield f"- semantics that is sent: {brief(verdict.case.semantics)}"
    elements = verdict.case.elements
    has_several = len(verdict.case.question.streams) > 1
    for name, element in elements[:SHOWN]:
        until = "" if element.end is None else f", valid until {element.end}"
        of_stream = f" on {name}" if has_several else ""
        yield f"- {words.element(element)}{until}{of_stream}"
    if len(elements) > SHOWN:
        yield f"- and {len(elements) - SHOWN} more"
    if not elements:
        yield "- no element"
    sentinels = _sentinels(verdict)
    if sentinels:
        times = ", ".join(str(one.app) for one in sentinels[:SHOWN])
        yield f"- then, so that time goes on: {count_text(len(sentinels), 'element')} at {times}"


def _sentinels(verdict: CaseVerdict) -> list[Element]:
    """Return the elements that the suite pushes after those of the case."""
    if verdict.exchange is None:
        return []
    found: list[Element] = []
    for name, stream in verdict.exchange.question.streams.items():
        own = len(verdict.case.question.streams.get(name, ()))
        found += list(stream)[own:]
    return found


def _window_text(window: Window) -> str:
    """Write a window in words: its kind, size and slide."""
    words = [f"window of kind {window.kind}"]
    for name in ("size", "slide", "lag"):
        if value := getattr(window, name):
            words.append(f"{name} {value}")
    if window.by:
        key = "the element's key" if window.by == (window_elements.KEY,) else ", ".join(window.by)
        words.append(f"for each value of {key}")
    return ", ".join(words)


def _came_lines(verdict: CaseVerdict) -> Iterator[str]:
    """Yield what the engine gave: its reports, or the error."""
    if verdict.outcome is Outcome.ERROR:
        yield f"- error: {escape_markdown(printable_line(verdict.explanation), LINE)}"
        return
    words = Wording.of(verdict.case.query)
    yield from _listed([_answer_text(one, words) for one in verdict.answers])


def _due_lines(verdict: CaseVerdict) -> Iterator[str]:
    """Yield what should have come."""
    try:
        semantics = semantics_of(verdict)
        if semantics is None:
            yield "- nothing can be told: the semantics is open"
            return
        question = verdict.case.question
        if verdict.exchange is not None:
            question = verdict.exchange.question
        words = Wording.of(verdict.case.query)
        due = [_report_text(one, words) for one in due_reports(question, semantics)[:REPORTS]]
    except RefengineError as error:
        yield f"- {escape_markdown(printable_line(str(error)), LINE)}"
        return
    yield from _listed(due)
    yield ""
    yield f"by {brief(semantics)}"


def _listed(texts: list[str]) -> Iterator[str]:
    """Yield texts as a list, the first of them if they are many."""
    yield from (f"- {text}" for text in texts[:SHOWN])
    if len(texts) > SHOWN:
        yield f"- and {len(texts) - SHOWN} more"
    if not texts:
        yield "- nothing"


def _answer_text(answer: EngineReport, words: Wording) -> str:
    """Write a report of the engine."""
    return _text(answer.relation.rows, answer.window, answer.key, answer.takes_back, words)


def _report_text(report: Report, words: Wording) -> str:
    """Write a report that is due."""
    return _text(report.relation.rows, report.window, report.key, report.takes_back, words)


def _text(
    rows: Any,
    window: tuple[int, int] | None,
    key: tuple[str, ...] | None,
    takes_back: bool,
    words: Wording,
) -> str:
    """Write a report: its window, its key and its rows."""
    parts = []
    if window is not None:
        parts.append(f"window {window[0]} to {window[1]}")
    if key:
        parts.append(f"key {printable(' '.join(key), 60)}")
    if takes_back:
        parts.append("takes back")
    listed: list[Row] = sorted(rows.elements())
    if len(listed) > 1 and not isinstance(words, ContentWording):
        shown = "; ".join(words.row(row) for row in listed[:4])
        more = "; …" if len(listed) > 4 else ""
        parts.append(f"{len(listed)} rows: {shown}{more}")
    else:
        parts.append(words.bag(rows))
    return ": ".join(parts)


def _rule_lines(cause: Cause) -> Iterator[str]:
    """Yield the rule that decides, in words and with its link, and how the cause was named."""
    rule_text = rule_texts().get(cause.rule)
    if rule_text is not None:
        link = ""
        if repository := repository_link():
            link = f" ({repository}/blob/HEAD/{rule_text.page}#{rule_text.anchor})"
        yield f"{cause.rule}{link}: {rule_text.title}."
    if cause.text:
        yield ""
        yield f"What the engine does is explained by: {escape_markdown(cause.text, LINE)}."
    if cause.entry and not cause.known:
        yield ""
        yield "As a known deviation in the engine's file:"
        yield ""
        yield "```toml"
        yield from map(printable_line, cause.entry.splitlines())
        yield "```"


def _notes(finding: Finding, origin: Origin) -> Iterator[str]:
    """Yield what the engine's file says of how it is asked."""
    if finding.shown in NOTES:
        yield ""
        yield NOTES[finding.shown]
    if origin.tested.notes:
        yield ""
        yield "How the engine is asked:"
        yield ""
        yield from (f"- {printable_line(note)}" for note in origin.tested.notes)
