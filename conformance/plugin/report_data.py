"""What the report of a test carries beside pytest's own: the engine and the result of its item, and
the late faults of earlier items. xdist sends reports from its workers as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conformance.harness.pool import LateFault
    from conformance.verdict.results import Result

ITEM_DATA: pytest.StashKey[dict[str, str]] = pytest.StashKey()


def keep_engine(test: pytest.Item, engine: str) -> None:
    """Keep the engine that a test asks, for its report."""
    test.stash[ITEM_DATA] = {"engine": engine}


def keep_result(test: pytest.Item, result: Result) -> None:
    """Keep the result of a test, for its report."""
    # a text: xdist does not carry every integer
    test.stash[ITEM_DATA]["result"] = json.dumps(result.as_json())


def attach_to_report(
    report: pytest.TestReport,
    test: pytest.Item,
    late_faults: Iterable[LateFault],
) -> None:
    """Attach to the report of a test what was kept, and the late faults that are known by now."""
    # pytest takes what a plugin adds along
    vars(report)["conformance_late"] = [[*late.item, late.explanation] for late in late_faults]
    vars(report)["conformance"] = test.stash.get(ITEM_DATA, None)


def late_faults_of(report: pytest.TestReport) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the key of its item and the explanation of each late fault that a report carries."""
    for *key, explanation in vars(report).get("conformance_late", ()):
        yield tuple(key), explanation


def engine_of(report: pytest.TestReport) -> str | None:
    """Return the engine that a test asked; None for the report of another test, and of what comes
    before and after a test.
    """
    data = _item_data(report)
    if report.when != "call" or data is None:
        return None
    return data["engine"]


def result_of_test(report: pytest.TestReport) -> Result | None:
    """Return the result that a report carries; None if the test ended without one."""
    from conformance.verdict.results import from_json

    data = _item_data(report)
    if data is None or "result" not in data:
        return None
    return from_json(json.loads(data["result"]))


def _item_data(report: pytest.TestReport) -> Mapping[str, str] | None:
    """Return what was kept for a report; None for the report of a test without an item."""
    data: Mapping[str, str] | None = vars(report).get("conformance")
    return data
