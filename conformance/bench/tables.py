"""Tables: the form in which benchmarks show results, and its text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from refengine.model.messages import escape_unprintable

NUMBERS = re.compile(r"[\d.,%–… -]*")


class Cell(NamedTuple):
    """A cell: its text, and a class of the style sheet, such as `pass`, or none."""

    text: str
    style: str = ""


DASH = "–"  # the text of a cell where there is nothing to say
NO_VALUE = Cell(DASH)


@dataclass(frozen=True)
class Table:
    """A table: its title, the titles of its columns, the cells of its rows, and a note below it.
    The first cell of a row names the row. If `is_prose`, cells hold sentences, which a page breaks
    into lines.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    is_prose: bool = False

    def is_numeric(self, column: int) -> bool:
        """Whether each cell of a column has numbers or nothing. The column that names the rows
        counts as text.
        """
        return column > 0 and all(NUMBERS.fullmatch(row[column].text) for row in self.rows)


# A column: its title, and the cell that it has of an item.
Item = TypeVar("Item")
Column = tuple[str, Callable[[Item], Cell]]


def make_table(
    title: str,
    columns: Sequence[Column[Item]],
    items: Iterable[Item],
    note: str = "",
    *,
    is_prose: bool = False,
) -> Table:
    """Return a table with a row for each item."""
    rows = tuple(tuple(cell_of(item) for _, cell_of in columns) for item in items)
    return Table(title, tuple(head for head, _ in columns), rows, note, is_prose)


def as_text(table: Table) -> Iterator[str]:
    """Yield the lines of a table in aligned columns, below its title."""
    rows = [table.columns, *(tuple(cell.text for cell in row) for row in table.rows)]
    cells = [[escape_unprintable(text) for text in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    yield escape_unprintable(table.title)
    for row in cells:
        padded = (text.ljust(width) for text, width in zip(row, widths, strict=True))
        yield "  ".join(padded).rstrip()
    if table.note:
        yield table.note


def all_as_text(tables: Sequence[Table]) -> Iterator[str]:
    """Yield the lines of tables, with an empty line between two."""
    for number, table in enumerate(tables):
        if number:
            yield ""
        yield from as_text(table)
