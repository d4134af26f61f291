"""Small mistakes in query texts: a character dropped, a clause moved, a keyword dropped or
misspelled.
"""

from __future__ import annotations

import os
import random
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from conformance.bench.recordings import csrbench
from refengine.dialects import DIALECTS, read, render
from refengine.model.errors import RefengineError

CASES = Path(__file__).parents[2] / "conformance" / "cases" / "dialects"
# what an author sees as one word of a text
TOKEN = re.compile(r'<[^<>\s]*>|"[^"\n]*"|[?$]?[\w:.-]*\w:?|\S')
CLAUSE = re.compile(
    r"\b(?:PREFIX|REGISTER|SELECT|CONSTRUCT|FROM|WHERE|STREAM|WINDOW|FILTER|GRAPH|RANGE|STEP|"
    r"GROUP|HAVING)\b(?!:)[^\[\]{}\n]*"
)
KEYWORD = re.compile(
    r"(?<![?$:\w/#.-])(?:ASK|AS|CONSTRUCT|FILTER|FROM|GRAPH|NAMED|NOW|ON|OPTIONAL|PREFIX|QUERY|"
    r"RANGE|REGISTER|SELECT|SLIDE|STEP|STREAM|TRIPLES|TUMBLING|UNION|WHERE|WINDOW)(?![\w:/#.-])"
)


@dataclass(frozen=True)
class MutatedText:
    """A text with a mistake. `offset` is where it is, if that is known, and `what` says what was
    done.
    """

    dialect: str
    text: str
    what: str
    offset: int | None

    def is_at_the_mistake(self, line: int, column: int) -> bool:
        """Return whether a place is the token where the mistake is, or the next one."""
        place = sum(len(one) + 1 for one in self.text.split("\n")[: line - 1]) + column - 1
        ends = [found.end() for found in TOKEN.finditer(self.text, self.offset or 0)]
        last = ends[1] if len(ends) > 1 else len(self.text) + 1
        return (self.offset or 0) <= place < last


def right_texts() -> dict[str, list[str]]:
    """Return texts of our own by dialect: those of CSRBench's queries, and those of the cases."""
    found: dict[str, list[str]] = {name: [] for name in DIALECTS}
    for dialect, texts in found.items():
        written = csrbench.QueryFolder(dialect=dialect)
        for name in csrbench.QUERIES:
            file = written.folder / f"{name}.{dialect}"
            if file.exists():
                texts.append(file.read_text(encoding="utf-8"))
            else:
                texts.append(render(csrbench.query(name), dialect))
    for path in sorted(CASES.glob("*.toml")):
        case = tomllib.loads(path.read_text(encoding="utf-8"))
        for one in [*case.get("read", ()), *case.get("render", ())]:
            if "text" in one:
                found[one["dialect"]].append(one["text"])
    return found


def mutations(seed: str) -> Iterator[MutatedText]:
    """Yield mistakes without end, in every dialect in turn."""
    draw = random.Random(seed)
    right = right_texts()
    while True:
        for dialect, texts in right.items():
            text = draw.choice(texts)
            match draw.randrange(4):
                case 0:
                    yield drop_character(draw, dialect, text)
                case 1:
                    yield move_clause(draw, dialect, text)
                case 2:
                    yield from drop_keyword(draw, dialect, text)
                case _:
                    yield from misspell_keyword(draw, dialect, text)


def drop_character(draw: random.Random, dialect: str, text: str) -> MutatedText:
    """Leave out any character."""
    at = draw.randrange(len(text))
    return MutatedText(dialect, text[:at] + text[at + 1 :], "character dropped", None)


def move_clause(draw: random.Random, dialect: str, text: str) -> MutatedText:
    """Put a clause before another one."""
    found = list(CLAUSE.finditer(text))
    if len(found) < 2:
        return drop_character(draw, dialect, text)
    first, second = sorted(draw.sample(found, 2), key=lambda clause: clause.start())
    moved = f"{text[: first.start()]}{second[0]} {text[first.start() : second.start()]}"
    return MutatedText(dialect, moved + text[second.end() :], "clause moved", None)


def drop_keyword(draw: random.Random, dialect: str, text: str) -> Iterator[MutatedText]:
    """Leave out a keyword, and the white space after it."""
    if found := list(KEYWORD.finditer(text)):
        chosen = draw.choice(found)
        rest = text[chosen.end() :].lstrip()
        mutated = text[: chosen.start()] + rest
        yield MutatedText(dialect, mutated, f"{chosen[0]} dropped", chosen.start())


def misspell_keyword(draw: random.Random, dialect: str, text: str) -> Iterator[MutatedText]:
    """Exchange two neighbouring letters of a keyword."""
    if found := list(KEYWORD.finditer(text)):
        chosen = draw.choice(found)
        word = chosen[0]
        at = draw.randrange(len(word) - 1)
        wrong = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        if wrong != word:
            mutated = text[: chosen.start()] + wrong + text[chosen.end() :]
            yield MutatedText(dialect, mutated, f"{word} misspelled", chosen.start())


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
