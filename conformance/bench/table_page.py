"""What is written of a run: results as lines of JSON, tables as text, and a page with tables and
plots, one HTML file without a script, from the template of benchmarks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from conformance.bench.tables import Table, all_as_text
from conformance.report.template import read_asset, template
from conformance.verdict import results
from conformance.verdict.results import writing
from refengine.drawings.drawing import Drawing
from refengine.drawings.style import style

RESULTS, TABLES, PAGE = "results.ndjson", "tables.txt", "index.html"


def results_file(out: Path) -> Path:
    """Return the file of results of a folder, which is made. Raises RefengineError if it cannot be
    written, so that this is known before the run begins.
    """
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    return results.target(out / RESULTS)


def write_results(out: Path, lines: Iterable[str], tables: Sequence[Table], html: str) -> None:
    """Write results, tables and page to a folder. Raises RefengineError."""
    results.replace(
        {out / RESULTS: lines, out / TABLES: all_as_text(tables), out / PAGE: [html]},
    )


class PageSection(NamedTuple):
    """A section of a page: its title, its plots with their names, a query, and the outcome and the
    explanation of a run; these are empty where there is none.
    """

    title: str
    plots: list[tuple[str, Drawing]]
    query: str = ""
    kind: str = ""
    explanation: str = ""


class PageWords(NamedTuple):
    """The words of a page: its title, the line below it, where what it shows is from, the heading
    of its sections, and the command that makes it.
    """

    title: str
    lead: str
    source: str
    heading: str
    made_by: str


def table_page(
    words: PageWords,
    tables: Sequence[Table],
    sections: Sequence[PageSection],
    engines: Sequence[str] = (),
    left_out: int = 0,
) -> str:
    """Return the HTML of a page. `left_out` is how many sections it has no room for."""
    return template("bench.html.j2").render(
        **words._asdict(),
        engines=engines,
        tables=tables,
        sections=sections,
        left_out=left_out,
        style=Markup(style() + read_asset("page.css")),
    )
