"""The example of docs/evidence/bounded.md gives what it says."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evidence" / "bounded.md"


def test_the_policy_of_the_page_works():
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 5 and not result.failed
