"""Reads explained.toml: the differences that are known, each with what the recommendation says."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from refengine.model.elements import XSD
from tools.arq.comparison import Difference

PREFIXES = f"PREFIX : <urn:>\nPREFIX xsd: <{XSD}>\n"  # of each smallest case
FILE = Path(__file__).with_name("explained.toml")
MATCHED = ("query", "data", "all", "ours", "theirs")
KEYS = {"id", "kinds", "title", "says", "right", "smallest", "match"}


@dataclass(frozen=True)
class Explanation:
    """A class of differences. A difference is of it if its kind is among `kinds`, and every
    pattern of `match` is found: in the query's text, in the data, in both (`all`), in our answer,
    in theirs, as `searched_texts` has them. `right`: `ours`, `theirs` or `both` (SPARQL leaves it
    open).
    """

    id: str
    kinds: tuple[str, ...]
    title: str
    says: str
    right: str
    match: dict[str, str]
    smallest: dict[str, Any]

    def covers(self, difference: Difference) -> bool:
        """Whether a difference is of this class."""
        texts = searched_texts(difference)
        return difference.kind in self.kinds and all(
            re.search(pattern, texts[key], re.DOTALL) for key, pattern in self.match.items()
        )

    def example(self) -> Difference:
        """Return the smallest case."""
        case = self.smallest
        data = tuple(case["data"])
        return Difference(
            self.kinds[0],
            PREFIXES + case["query"],
            data,
            json.loads(case["ours"]),
            json.loads(case["theirs"]),
        )


def searched_texts(difference: Difference) -> dict[str, str]:
    """Return what patterns are looked for in."""
    query, data = difference.text.removeprefix(PREFIXES), "\n".join(difference.data)
    return {
        "query": query,
        "data": data,
        "all": f"{query}\n{data}",
        "ours": json.dumps(difference.ours, ensure_ascii=False),
        "theirs": json.dumps(difference.theirs, ensure_ascii=False),
    }


@cache
def explanations(file: Path = FILE) -> tuple[Explanation, ...]:
    """Return the explanations in the order of the file. Raises ValueError for keys that are not
    known or patterns that match anything.
    """
    with file.open("rb") as opened:
        table = tomllib.load(opened)
    found = []
    for entry in table.get("explained", []):
        if entry.keys() != KEYS or not entry["match"] or not entry["match"].keys() <= set(MATCHED):
            raise ValueError(
                f"{entry.get('id')}: keys are {', '.join(sorted(KEYS))}, and "
                f"match has one of {', '.join(MATCHED)}"
            )
        found.append(Explanation(**entry | {"kinds": tuple(entry["kinds"])}))
    return tuple(found)


def explain(difference: Difference, known: tuple[Explanation, ...]) -> Explanation | None:
    """Return the first explanation that covers a difference."""
    return next((entry for entry in known if entry.covers(difference)), None)


def table(known: tuple[Explanation, ...]) -> str:
    """Return the table of docs/evidence/arq.md: how many differences there are, by whose answer is
    right.
    """
    found = Counter(entry.right for entry in known)
    lines = ["| right | differences |", "|---|---|"]
    lines += [f"| {right} | {found[right]} |" for right in ("ours", "theirs", "both")]
    return "\n".join(lines) + "\n"
