"""Results that come from Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import pytest

from conformance.plugin.options import option_value
from conformance.plugin.suite_run import SuiteRun
from conformance.spark import shard
from conformance.suite import Item


@contextmanager
def ask_spark(session: pytest.Session, run: SuiteRun) -> Iterator[None]:
    """Spread the items of a session's tests over Spark, and let the run ask Spark for their results
    until the context ends. Raises RefengineError if Spark fails.
    """
    items = [
        cast("Item", test.callspec.params["conformance_item"])
        for test in session.items
        if isinstance(test, pytest.Function) and "conformance_item" in test.fixturenames
    ]
    master = option_value(session.config, "--spark") or None
    with shard.results_from_spark(run.options, items, master) as run.ask:
        yield
