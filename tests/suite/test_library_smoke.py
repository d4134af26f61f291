"""A first look at the windows of libraries that `make engines` installs: the smoke cases of the
suite `windows`, live.
"""

from __future__ import annotations

import os

import pytest

from conformance.harness import engine_file
from conformance.harness.pool import Harnesses
from conformance.suite import ItemSelection, live_items, why_unexpected
from conformance.verdict.outcomes import Outcome

# the rules whose smoke cases ask for windows, or for punctuations, that a library does not have
LACKING = {
    "polars": {"MOD-5", "WIN-23", "WIN-24"},
    "pandas": {"MOD-5", "REP-1", "WIN-1", "WIN-23", "WIN-24"},  # none that overlap
    "kafka-streams-close": {"MOD-5", "WIN-1", "WIN-23"},
    "kafka-streams-update": {"MOD-5", "WIN-1", "WIN-23"},
}


@pytest.mark.xdist_group("window engines")
@pytest.mark.parametrize("name", LACKING)
def test_a_first_look_at_a_library_finds_nothing_new(name: str):
    """All cases: `pytest conformance --engine=polars`."""
    tested = engine_file.engine(name)
    if tested.missing:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(tested.missing)
    items = live_items(tested, ItemSelection(smoke=True))
    harnesses = Harnesses()
    try:
        results = [item.run(harnesses) for item in items]
    finally:
        harnesses.stop()
    unexpected = [why_unexpected(*each) for each in zip(items, results, strict=True)]
    assert [why for why in unexpected if why] == []
    others = {one.rule for one in results if one.outcome is not Outcome.PASS}
    assert others == LACKING[name]
