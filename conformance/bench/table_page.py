"""A page with tables and plots: one HTML file without a script, from the template of benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from conformance.bench.tables import Table
from conformance.report.template import read_asset, template
from refengine.drawings.drawing import Drawing
from refengine.drawings.style import style


class PageSection(NamedTuple):
    """A section of a page: its title, its plots with their names, a query, and the outcome and the
    argument of a run; these are empty where there is none.
    """

    title: str
    plots: list[tuple[str, Drawing]]
    query: str = ""
    kind: str = ""
    argument: str = ""


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
