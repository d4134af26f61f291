"""The program that is extracted from the formal definitions says what the enumeration and the
engine say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from conftest import PROFILE, needs_commands
from formal_program import COMMANDS, Numbers, Shown, ask, build, case_of, shown
from test_brute import Case, EmittedRelation, brute, draw_case, relations

pytestmark = needs_commands(*COMMANDS)
DRAWS = {"ci": 2_000, "full": 100_000}.get(PROFILE, 200)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("formal"))


def as_shown(case: Case, emitted: Iterable[EmittedRelation], numbers: Numbers) -> Iterator[Shown]:
    """Yield the reports of the enumeration or the engine in the program's form."""
    admitted = brute(case).elements
    for one in emitted:
        contents = tuple(
            tuple(admitted[window.stream][place].sys for place in content)
            for window, content in zip(case.query.windows, one.contents, strict=True)
        )
        rows = numbers.rows(one.rows, case.query.body.variables)
        yield Shown(one.t, one.trigger, one.instant, one.borders, contents, one.late, rows)


def test_program_enumeration_and_engine_agree(program: Path):
    """On draws over all kinds of windows and every field but `consumption`."""
    cases = [draw_case(Random(number)) for number in range(DRAWS)]
    numbers = [numbers_with_counts() for _ in cases]
    replies = ask(program, map(written, cases, numbers))
    different = []
    reporting = 0
    for case, own, reply in zip(cases, numbers, replies, strict=True):
        said = shown(reply)
        reporting += bool(said)
        enumerated = brute(case).emitted(case.answer, case.query.r2s)
        for emitted in (enumerated, relations(case)):
            if list(as_shown(case, emitted, own)) != said:
                different.append((case, said))
    assert not different, different[0]
    assert 2 * reporting > DRAWS


def numbers_with_counts() -> Numbers:
    """Return numbers that have those of counts, which the program gives as what they are."""
    numbers = Numbers()
    numbers.numbers |= {f'"{count}"': count for count in range(50)}
    return numbers


def written(case: Case, numbers: Numbers) -> dict[str, Any]:
    """Return a case as the program reads it."""
    body = case.answer.__name__
    return case_of(case.query, case.streams, case.semantics, case.static, body, numbers)
