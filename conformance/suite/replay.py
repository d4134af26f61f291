"""The lines by which the question of an earlier result is put to an engine: put once more, or only
given, for a page of results.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.bench.recordings import csrbench
from conformance.corpus import Case, query_table, question_of
from conformance.harness import engine_file
from conformance.harness.client import PROTOCOL, Trace, message_line
from conformance.harness.engine_file import Engine
from conformance.harness.pool import Harnesses
from conformance.suite.exchange import is_sentinel
from conformance.suite.item import (
    CASE_SUITES,
    EMBEDDED,
    Item,
    ItemSelection,
    find_case,
    live_items,
    with_late_faults,
)
from conformance.verdict import window_elements
from conformance.verdict.evidence import TEXT
from conformance.verdict.results import Result
from refengine.core.profile import Profile
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
    elif result.suite in CASE_SUITES:
        cases = [case for suite, case in items if suite == result.suite]
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
    case = find_case(result.suite, result.case)
    evidence = result.evidence
    if case is not None and evidence is not None:
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
    for dialect in ("table", *sorted(DIALECTS), window_elements.DIALECT):
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


@dataclass
class HarnessLines:
    """The lines that are sent for results. `items` are those of the run by their keys. For other
    results the items of an engine are made as they are needed, and kept: those of the engine that
    has the name here, else those of an engine that the evidence shows.
    """

    items: dict[tuple[str, str, str], Item] = field(default_factory=dict)
    engines: set[str] = field(default_factory=set)

    @staticmethod
    def of(items: Iterable[Item]) -> HarnessLines:
        """Return the lines of the items of a run."""
        return HarnessLines({item.key: item for item in items})

    def lines(self, result: Result) -> list[str]:
        """Return the lines that were sent for a result, from `start` to `stop`. There are none if
        it is not known what was sent, such as for a recording, or if the query or the elements of
        its evidence are others.
        """
        try:
            item = self._find_item(result)
            if item is None or item.prepare is None:
                return []
            lines = [line.decode("utf-8", "replace").rstrip("\n") for line in lines_to_send(item)]
        except RefengineError:
            return []
        return lines if _have_question_of(result, lines) else []

    def _find_item(self, result: Result) -> Item | None:
        """Return the item of a result; None if the engine that has its name has no such item."""
        if result.key in self.items:
            return self.items[result.key]
        if result.engine in self.engines:
            return None
        if result.engine in engine_file.names():
            self.engines.add(result.engine)
            tested = engine_file.engine(result.engine)
            self.items |= {item.key: item for item in _items(tested)}
            return self.items.get(result.key)
        return next(
            (item for item in _items(engine_of_evidence(result)) if item.key == result.key), None
        )


def _items(tested: Engine) -> Iterable[Item]:
    """Return the items of an engine with the usual options."""
    return live_items(tested, ItemSelection())


def _have_question_of(result: Result, lines: Iterable[str]) -> bool:
    """Whether some lines have the query and the elements of a result's evidence, which may have the
    first part of them only. The engine's file, or the case, may have changed since.
    """
    if result.evidence is None:
        return True
    messages = [json.loads(line) for line in lines]
    queries = {message["query"][:TEXT] for message in messages if "query" in message}
    pushes = Counter(_element(message) for message in messages if "graph" in message)
    elements = Counter(map(_element, result.evidence["elements"]))
    return result.evidence["query"] in queries and elements <= pushes


def _element(table: Mapping[str, Any]) -> tuple[object, ...]:
    """Return what a message or the evidence says of an element."""
    return tuple(table.get(key) for key in ("stream", "at", "graph", "batch", "end"))
