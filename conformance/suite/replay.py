"""Putting the question of an earlier result to an engine again, or only giving the lines that would
be sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.bench.recordings import csrbench
from conformance.corpus import Case, query_table, question_of
from conformance.harness.client import PROTOCOL, Trace, message_line
from conformance.harness.engine_file import Engine
from conformance.harness.pool import Harnesses
from conformance.suite.chosen import ItemSelection
from conformance.suite.item import EMBEDDED, Item, live_items, questions, with_late_faults
from conformance.suite.sentinel import is_sentinel
from conformance.verdict.evidence import TEXT
from conformance.verdict.results import Result
from refengine.core.semantics import Profile
from refengine.dialects import DIALECTS
from refengine.model.errors import RefengineError
from refengine.model.messages import display, nearest_id

# the keys of evidence that say what was asked
ASKED = ("query", "windows", "elements", "elements_total", "static")


class NoReplay(RefengineError):
    """The error that the question of a result cannot be put to an engine again."""


def find_item(result: Result, tested: Engine, selection: ItemSelection) -> Item:
    """Return the item of an engine that has the question of a result. Raises NoReplay if there
    is none, as for the result of a recording.
    """
    items = {(item.suite, item.case): item for item in live_items(tested, selection)}
    item = items.get((result.suite, result.case))
    if item is not None:
        return item
    is_of_csrbench = result.suite == "csrbench" and result.case in csrbench.QUERIES
    if is_of_csrbench and selection.csrbench is None:
        reason = (
            "is of CSRBench's own stream: give it with --csrbench DIR, unless this is the result "
            "of a recording, of which nothing can be sent again"
        )
    elif result.suite == "corpus":
        cases = [case for suite, case in items if suite == "corpus"]
        reason = f"is no case that {tested.name} is asked{nearest_id(result.case, cases)}"
    elif result.case.startswith(EMBEDDED):
        reason = f"is a query of CSRBench, on which {tested.name} is not tested (`suites`)"
    else:
        reason = f"is the result of a recording ({display(result.suite)}), not of a live engine"
    raise NoReplay(reason, rule="results", place=display(result.case))


def lines_to_send(item: Item) -> Iterator[bytes]:
    """Yield the lines that are sent to a harness for one item, from `start` to `stop`. Raises
    RefengineError, such as Unrenderable for a query that the engine's language cannot express.
    """
    assert item.prepare is not None  # it is an item of a live engine
    yield message_line(1, "start", {"protocol": PROTOCOL})
    seq = 1
    for prepared in item.prepare():
        for command, fields in prepared.commands():
            seq += 1
            yield message_line(seq, command, fields)
    yield message_line(seq + 1, "stop", {})


def replay(item: Item, trace: Trace) -> Result:
    """Put the question of an item to its engine, in a new process, and return the result. `trace`
    is called with each line.
    """
    harnesses = Harnesses(trace)
    try:
        result = item.run(harnesses)
    finally:
        harnesses.stop()
    [result] = with_late_faults([result], harnesses.take_late_faults())
    return result


def differences_in_question(before: Result, now: Result) -> list[str]:
    """Return what differs between the questions of two results, as far as their evidence has them:
    `query`, `windows`, `elements` or `static`.
    """
    if before.evidence is None or now.evidence is None:
        return []
    old = before.evidence
    new = now.evidence
    return [key for key in ASKED if old.get(key) != new.get(key)]


def engine_of_evidence(result: Result) -> Engine:
    """Return an engine without a harness that would be asked what the engine of a result was asked,
    as far as the evidence shows it: the language of the query, and whether sentinels follow. A
    heartbeat is not in the evidence. Raises NoReplay if the evidence does not show it.
    """
    case = next((case for case in questions() if case.id == result.case), None)
    evidence = result.evidence
    if case is not None and result.suite == "corpus" and evidence is not None:
        # without the last elements it is not known whether sentinels follow
        is_whole = len(evidence["elements"]) == evidence["elements_total"]
        for tested in _engines_to_try(result.engine, evidence):
            if is_whole and _is_asked_by_that_text(tested, case, evidence):
                return tested
    raise NoReplay(
        "the result does not show all that the engine was asked, and in which language; name the "
        "engine's file with --engine FILE.toml",
        rule="results",
        place=f"{result.engine}/{result.case}",
    )


def _engines_to_try(name: str, evidence: Mapping[str, Any]) -> Iterator[Engine]:
    """Yield engines of all languages, with the operator of the evidence's semantics or without
    one.
    """
    has_sentinels = any(map(is_sentinel, evidence["elements"]))
    profiles = [Profile("evidence", "the evidence of a result", {})]
    if "semantics" in evidence:
        profiles.append(profiles[0].but(r2s=evidence["semantics"].get("r2s")))
    for dialect in ("table", *sorted(DIALECTS)):
        for profile in profiles:
            yield Engine(name, name, (), dialect, profile=profile, has_sentinels=has_sentinels)


def _is_asked_by_that_text(tested: Engine, case: Case, evidence: Mapping[str, Any]) -> bool:
    """Whether an engine is asked the query of a case by the text that the evidence has."""
    question = question_of(case)
    try:
        text = tested.text(question.query, bool(question.static), query_table(case))
    except RefengineError:
        return False
    return text == evidence["query"] and len(text) < TEXT
