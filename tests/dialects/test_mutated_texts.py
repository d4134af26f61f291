"""A mistake in a text ends in a query or in one error, whose place is the mistake's (DIA-7)."""

from __future__ import annotations

import os
import re
from itertools import islice

from refengine.dialects import read
from refengine.model.errors import RefengineError
from tests.dialects.mutated_texts import MutatedText, mutations

MUTATIONS = {"fuzz": 2_000}.get(os.environ.get("REFENGINE_HYPOTHESIS_PROFILE", "ci"), 600)


def error_of(mutated: MutatedText) -> str | None:
    """Return the error in which a text ends, or None for a text that is read."""
    try:
        read(mutated.text, mutated.dialect)
    except RefengineError as error:
        return str(error)
    return None


def test_the_place_of_a_mistake_is_told():
    """In nine of ten, where the place of the mistake is known."""
    known = 0
    elsewhere: list[tuple[MutatedText, str]] = []
    for mutated in islice(mutations("mistakes"), MUTATIONS):
        error = error_of(mutated)
        if error is None:
            continue
        place = re.match(r"line (\d+) column (\d+): .*[A-Z0-9]+-\d+: .+$", error)
        assert place, f"{error}\n{mutated.text}"
        if mutated.offset is not None:
            known += 1
            if not mutated.is_at_the_mistake(int(place[1]), int(place[2])):
                elsewhere.append((mutated, error))
    print(f"{known - len(elsewhere)} of {known} places are those of the mistakes")
    assert known > MUTATIONS / 5 and len(elsewhere) < known / 10, elsewhere
