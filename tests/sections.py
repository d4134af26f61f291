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


def each_section(chosen: Iterable[Case]) -> Any:
    """Parametrize a test with `cases`: those of the chosen cases that belong to one section. Its id
    is `WIN-cases` and so on.
    """
    found: dict[str, Cases] = defaultdict(list)
    for case in chosen:
        found[case.rule.partition("-")[0]].append(case)
    ids = [f"{section}-cases" for section in found]
    return pytest.mark.parametrize("cases", found.values(), ids=ids)


def check_all(cases: Cases, check: Callable[[Case], object]) -> None:
    """Check each case, and fail with a line for each that does not hold. A check says that a case
    does not hold by an error, or by returning something that is true (a list of faults).
    """
    fails = []
    for case in cases:
        try:
            fault = check(case)
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
        if fault:
            fails.append(f"{case.id}: {fault}")
    assert not fails, "\n".join(fails)
