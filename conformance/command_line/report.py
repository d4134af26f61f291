"""`conformance report`: results as a page, EARL, Markdown or a badge."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.command_line.options import add_files
from refengine import cli
from refengine.model.errors import RefengineError
from refengine.model.messages import plain

if TYPE_CHECKING:
    from conformance.command_line.options import Commands

FORMS = ("html", "earl", "markdown", "badge")  # the options that name an output


def add_parser(commands: Commands) -> None:
    """Add the sub-command and its options."""
    report = commands.add_parser(
        "report",
        help="write results as a page, EARL, Markdown or a badge",
        description="Write the results of one or more runs as a page, EARL, Markdown or a badge. "
        "At least one of these outputs must be asked for.",
    )
    add_files(
        report,
        "RESULTS",
        "a file that --results has written. If two results are about the same engine and case, the "
        "last one counts",
    )
    report.add_argument(
        "-o",
        "--html",
        type=cli.path,
        metavar="FILE",
        help="write a page to FILE: one HTML file that loads nothing else",
    )
    report.add_argument(
        "--baseline",
        type=cli.path,
        metavar="RESULTS",
        help="with --html: the page says what has changed since the results in this file",
    )
    report.add_argument(
        "--earl", type=cli.path, metavar="FILE", help="write EARL to FILE, in Turtle"
    )
    report.add_argument(
        "--date", metavar="YYYY-MM-DD", help="the date that EARL gives the results (default: none)"
    )
    report.add_argument(
        "--spec-iri",
        metavar="IRI",
        help="the address of a page that shows SPEC.md with GitHub's anchors: in EARL each rule "
        "then has a link to its section there (default: no links; a rule's own IRI, "
        "urn:refengine:rule:ID, leads nowhere)",
    )
    report.add_argument(
        "--markdown", type=cli.path, metavar="FILE", help="write a summary to FILE, in Markdown"
    )
    report.add_argument(
        "--badge", type=cli.path, metavar="FILE", help="write a badge to FILE, in SVG"
    )


def run(options: argparse.Namespace) -> int:
    """Write the outputs that are asked for, all or none; return the exit code."""
    from conformance.report import badge, earl, markdown, page, source
    from conformance.suite import HarnessLines
    from conformance.verdict import results

    outputs = {form: path for form in FORMS if (path := getattr(options, form)) is not None}
    targets = {form: results.target(path) for form, path in outputs.items()}
    _check(options, outputs.values())
    merged = source.read_some_results(options.files)
    for line in (*merged.warnings, *_describe_unended_runs(options.files)):
        print(f"conformance: {line}", file=sys.stderr)
    earlier = None
    if options.baseline is not None:
        earlier = source.read_results([options.baseline]).entries
    makers: dict[str, Callable[[source.Results], Iterable[str]]] = {
        "html": lambda merged: [page.page(merged, earlier, HarnessLines().lines)],
        "earl": lambda merged: earl.turtle(merged, options.date, options.spec_iri),
        "markdown": markdown.markdown_lines,
        "badge": lambda merged: [badge.badge(merged.entries)],
    }
    # all are made before the first is written
    results.replace({target: list(makers[form](merged)) for form, target in targets.items()})
    return 0


def _describe_unended_runs(files: Iterable[Path]) -> Iterator[str]:
    """Yield a line for each file of results beside which the results so far of its run are still
    kept: that run has not ended, so the file does not have all of its results.
    """
    from conformance.verdict.journal import journal_path

    for file in files:
        so_far = journal_path(file)
        if so_far.exists():
            yield plain(
                f"{file} is of a run that has not ended: {so_far} is there, with which --resume "
                "goes on; its pages and badges are about a part of the items"
            )


def _check(options: argparse.Namespace, outputs: Collection[Path]) -> None:
    """Raise RefengineError for options that contradict each other."""
    from conformance.report import earl
    from conformance.verdict.outputs import check_outputs

    if not outputs:
        raise RefengineError(
            "nothing to write: give -o, --earl, --markdown or --badge", rule="usage"
        )
    checks = {
        "--date": (options.date, earl.check_date),
        "--spec-iri": (options.spec_iri, earl.check_spec_iri),
    }
    for option, (value, check) in checks.items():
        if value is None:
            continue
        if options.earl is None:
            raise RefengineError("is for --earl, which is not given", rule="usage", place=option)
        check(value)
    if options.baseline is not None and options.html is None:
        raise RefengineError("is for --html, which is not given", rule="usage", place="--baseline")
    inputs = [*options.files, *([] if options.baseline is None else [options.baseline])]
    check_outputs(outputs, inputs)
