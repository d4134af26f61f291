"""What the playground shows of an example of SPEC.md, compared with what its case expects, which is
derived by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.corpus.case_file import BASE, term
from refengine.drawings.labels import term_shortener
from tools.site.playground import INTEGER

Json = Mapping[str, Any]
SHORTEN = term_shortener(f"PREFIX : <{BASE}>")


def expected_rows(report: Json) -> Counter[str]:
    """Return the rows of a report of a case as the page writes them; a blank node is `_:`."""
    return Counter(
        row_text({name: in_page(text) for name, text in row.items()}) for row in report["rows"]
    )


def in_page(text: str) -> str:
    return INTEGER.sub(r"\1", SHORTEN(term(text)))


def row_text(row: Mapping[str, str]) -> str:
    """Return a row as a text, in which all blank nodes are the same."""
    cells = sorted((name, "_:" if text.startswith("_:") else text) for name, text in row.items())
    return ", ".join(f"?{name} = {text}" for name, text in cells)


def expected_windows(report: Json) -> list[list[int]] | None:
    """Return the borders of a report's windows, if the case states them."""
    if "windows" in report:
        return [list(borders) if borders else [] for borders in report["windows"]]
    if "window" in report:
        return [list(report["window"])]
    return None


def check_reports(shown: Sequence[Json], expected: Sequence[Json]) -> None:
    """Hold reports, as the page's Python gives them, to those of a case."""
    assert [Counter(map(row_text, report["rows"])) for report in shown] == list(
        map(expected_rows, expected)
    )
    for one, other in zip(shown, expected, strict=True):
        if (windows := expected_windows(other)) is not None:
            assert [borders or [] for borders in one["windows"]] == windows
        for key in ("evaluation", "trigger", "instant"):
            assert key not in other or one[key] == other[key]
