"""Asking a case again: to see whether what a campaign found shows in a new process, and to show it
to somebody who has the case file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from conformance import corpus
from conformance.campaigns.asking import CaseVerdict, LiveEngine
from conformance.campaigns.causes import Cause
from conformance.campaigns.findings import Finding, Shown
from conformance.corpus import Case, window_cases
from conformance.harness.engine_file import Engine
from conformance.harness.pool import Harnesses
from conformance.suite.probe import probe_case
from conformance.verdict import window_elements
from conformance.verdict.results import Result

TIMES = 2  # that a case is asked in one process


def check_findings(causes: Iterable[Cause], tested: Engine | None) -> Iterator[Finding]:
    """Yield a finding for each cause, with a name. What is new is asked again in a new process,
    within the engine's own limits; an engine that is given as None is not asked. What was a hang
    and is none within these limits is left out.
    """
    number = 0
    for cause in causes:
        shown = Shown.NOT_TRIED
        if cause.known:
            shown = Shown.IN_NEW_PROCESS
        elif tested is not None:
            shown = show_again(tested, cause.smallest.verdict)
        if shown is Shown.NOT_AGAIN and cause.smallest.verdict.is_hang:
            continue
        number += 1
        yield Finding(cause, f"cause-{number}", shown)


def show_again(tested: Engine, verdict: CaseVerdict) -> Shown:
    """Ask a case that failed again in a new process, twice, and return how it shows."""
    harnesses = Harnesses()
    try:
        live = LiveEngine(tested, harnesses)
        for shown in (Shown.IN_NEW_PROCESS, Shown.ASKED_TWICE):
            if live.ask(verdict.case, is_settled=True).is_wrong:
                return shown
    finally:
        harnesses.stop()
    return Shown.NOT_AGAIN


def ask_file(tested: Engine, path: Path, harnesses: Harnesses) -> Iterator[Result]:
    """Put the case of a file to an engine, twice in one process, and yield the results, as the
    suite has them. Raises RefengineError for a file that is no case.
    """
    case = read_case(path)
    for _ in range(TIMES):
        harness = harnesses.of(tested, (tested.name, case.suite, case.id))
        yield probe_case(tested, harness, case)


def read_case(path: Path) -> Case:
    """Return the case of a file; it is of the suite `windows` if it asks for contents alone. Raises
    InvalidCase.
    """
    case = corpus.load(path, path.parent)
    if "query" in case.table and window_elements.asks_for_contents(corpus.query_of(case)):
        return replace(case, suite=window_cases.SUITE)
    return case
