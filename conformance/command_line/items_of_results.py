"""Finding a result in a file of results by the words of a command line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from refengine import cli
from refengine.model.errors import RefengineError
from refengine.model.messages import display, nearest

if TYPE_CHECKING:
    from conformance.verdict.results import Result


def add_item(parser: argparse.ArgumentParser) -> None:
    """Add the arguments RESULTS and ITEM."""
    parser.add_argument(
        "results", type=cli.path, metavar="RESULTS", help="a file that --results has written"
    )
    parser.add_argument(
        "item",
        metavar="ITEM",
        help="a case's id, or ENGINE/CASE if several engines have a result for it",
    )


def find_result(path: Path, item: str) -> Result:
    """Return the result of an item with its evidence. Raises RefengineError, with the nearest valid
    form, for an item that is not in the file or that several engines have.
    """
    from dataclasses import replace

    from conformance.report import source

    entries = source.read_results([path]).entries
    found = [entry for entry in entries if item in _names(entry.result)]
    if len(found) == 1:
        return replace(found[0].result, evidence=found[0].evidence)
    if found:
        names = ", ".join(_names(entry.result)[1] for entry in found)
        raise RefengineError(
            f"several engines have a result for it; name one: {names}",
            rule="results",
            place=display(item),
        )
    valid = {name for entry in entries for name in _names(entry.result)[: _most(item)]}
    raise RefengineError(
        f"no such result in {display(str(path))}{_nearest_name(item, valid)}",
        rule="results",
        place=display(item),
    )


def _nearest_name(item: str, valid: set[str]) -> str:
    """Return a hint at the first name that begins with an item, or else at the nearest one."""
    longer = sorted(name for name in valid if item and name.startswith(item))
    if longer:
        return f"; did you mean {longer[0]!r}?"
    return nearest(item, valid)


def _most(item: str) -> int:
    """Return how many of a result's names are named to the user: both if the item has a slash."""
    return 1 + ("/" in item)


def _names(result: Result) -> tuple[str, str]:
    """Return the names of a result's item: CASE and ENGINE/CASE."""
    return result.case, f"{result.engine}/{result.case}"
