"""One item a question to an engine: `pytest conformance/ --engine=rsp-js`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.suite import Item


def test_engine(conformance_item: Item, conformance_settle: Callable[[Item], None]) -> None:
    """Check that the engine does what it sets out to do, or what it is known to do otherwise."""
    conformance_settle(conformance_item)
