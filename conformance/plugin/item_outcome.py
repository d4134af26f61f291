"""How the test of an item ends. Known deviations are strict expected failures."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.plugin.report_data import keep_engine, keep_result
from conformance.spark.session import NoSpark
from conformance.suite import Item, why_unexpected
from conformance.verdict.outcomes import Outcome
from conformance.verdict.results import Result
from refengine.model.errors import RefengineError


def settle_item(test: pytest.Item, item: Item, ask: Callable[[Item], Result]) -> None:
    """End a test as its item's result asks for: it passes, is skipped, fails or fails as expected.
    `ask` gives the result. It is kept for the test's report and written to its properties.
    """
    keep_engine(test, item.engine)
    if item.missing:
        pytest.skip(item.missing)
    result = _ask_or_end(item, ask)
    keep_result(test, result)
    known = [f"{reason} ({link})" for reason, link, *_ in result.known]
    for name in ("outcome", "rule", "argument"):
        test.user_properties.append((name, str(getattr(result, name))))
    test.user_properties.extend(("known", text) for text in known)

    if reason := why_unexpected(item, result):
        pytest.fail(reason, pytrace=False)
    if result.known:
        if test.config.getoption("runxfail"):
            pytest.fail(result.argument, pytrace=False)
        # pytest.xfail would have a traceback, of which pytest reads the source each time
        raise pytest.xfail.Exception("; ".join(known), pytrace=False)
    if result.outcome is not Outcome.PASS:
        pytest.skip(result.argument)


def _ask_or_end(item: Item, ask: Callable[[Item], Result]) -> Result:
    """Return the result of an item. Without one the test fails, and without Spark the run ends."""
    try:
        return ask(item)
    except NoSpark as error:
        pytest.exit(str(error), returncode=pytest.ExitCode.INTERRUPTED)
    except RefengineError as error:
        pytest.fail(f"error: {error}", pytrace=False)
