"""The words of a command line that name a result of an earlier run, and the result itself."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from refengine import cli
from refengine.model.errors import RefengineError
from refengine.model.messages import display, nearest_id

if TYPE_CHECKING:
    from conformance.verdict.results import Result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments RESULTS and CASE."""
    parser.add_argument(
        "results",
        type=cli.path,
        metavar="RESULTS",
        help="a file that --results has written",
    )
    parser.add_argument(
        "case",
        metavar="CASE",
        help="the id of a case or the name of a benchmark's query; ENGINE/CASE if several engines "
        "have a result for it",
    )


def find_result(path: Path, case: str) -> Result:
    """Return the result of CASE or ENGINE/CASE with its evidence. Raises RefengineError, with the
    nearest valid form, if the file has no such result or those of several engines.
    """
    from dataclasses import replace

    from conformance.report import source

    entries = source.read_some_results([path]).entries
    found = [entry for entry in entries if case in _names(entry.result)]
    if len(found) == 1:
        return replace(found[0].result, evidence=found[0].evidence)
    if found:
        names = ", ".join(_names(entry.result)[1] for entry in found)
        raise RefengineError(
            f"several engines have a result for it; name one: {names}",
            rule="results",
            place=display(case),
        )
    valid = {name for entry in entries for name in _names_like(case, entry.result)}
    raise RefengineError(
        f"no such result in {display(str(path))}{nearest_id(case, valid)}",
        rule="results",
        place=display(case),
    )


def _names_like(case: str, result: Result) -> tuple[str, ...]:
    """Return the names of a result that CASE may have been meant for: those with an engine only if
    it has a slash.
    """
    if "/" in case:
        return _names(result)
    return (result.case,)


def _names(result: Result) -> tuple[str, str]:
    """Return the names of a result: CASE and ENGINE/CASE."""
    return result.case, f"{result.engine}/{result.case}"
