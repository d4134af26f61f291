"""Tests of all cases of the corpus, one test for the cases of each section of SPEC.md.

A test for each of 800 cases would cost more than most of them do. A test names all cases of its
section that do not hold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from conformance.corpus import Case

Cases = list[Case]


def each_section(cases: Iterable[Case]) -> Any:
    """Parametrize a test with `of_section`: the cases of a section, `WIN-cases` and so on."""
    found: dict[str, Cases] = defaultdict(list)
    for case in cases:
        found[case.rule.partition("-")[0]].append(case)
    ids = [f"{section}-cases" for section in found]
    return pytest.mark.parametrize("of_section", found.values(), ids=ids)


def hold_all(of_section: Cases, check: Callable[[Case], object]) -> None:
    """Check each case, and fail with a line for each that does not hold. There the check raises an
    error, or returns what does not hold; else it returns nothing, or an empty list.
    """
    fails = []
    for case in of_section:
        try:
            fault = check(case)
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
        if fault:
            fails.append(f"{case.id}: {fault}")
    assert not fails, "\n".join(fails)
