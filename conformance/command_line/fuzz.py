"""`conformance fuzz`: a campaign of drawn cases against one engine."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.command_line.options import announce, check_positive, progress_bar
from refengine import cli
from refengine.model.errors import RefengineError
from refengine.model.messages import count_text, escape_unprintable, plain

if TYPE_CHECKING:
    from conformance.campaigns.campaign import Campaign, SmallestFail
    from conformance.campaigns.findings import Finding
    from conformance.command_line.options import Commands
    from conformance.harness.engine_file import Engine

SECONDS = 300
REPLY_SECONDS = 2.0  # for a reply in a campaign, unless the engine's file sets a limit of its own


def add_parser(commands: Commands) -> None:
    """Add the sub-command and its options."""
    fuzz = commands.add_parser(
        "fuzz",
        help="draw streams and queries, and look for what an engine gets wrong",
        description="Draw streams and queries within what an engine can be asked, and judge its "
        "answers under the semantics that it claims. Each fail is made as small as possible; what "
        "has one cause is written once, as a case file and as a report for the engine's tracker. "
        "The same seed and number of cases give the same results.",
        epilog="exit codes: 0 nothing was found that the engine's file does not know; 1 something "
        "was; 2 bad input, or the engine does not start; 130 interrupted: what is known is written",
    )
    fuzz.add_argument("engine", metavar="ENGINE", help="its name, or its engine file (*.toml)")
    fuzz.add_argument(
        "--time",
        type=float,
        metavar="SECONDS",
        help=f"draw for so long (default: {SECONDS}, or no limit with --cases)",
    )
    fuzz.add_argument("--cases", type=int, metavar="N", help="draw so many cases")
    fuzz.add_argument(
        "--seed", type=int, default=1, metavar="N", help="the seed of the draws (default: 1)"
    )
    fuzz.add_argument(
        "--first",
        type=int,
        default=0,
        metavar="K",
        help="begin with case K, to go on with a campaign that ended (default: 0)",
    )
    fuzz.add_argument(
        "-o",
        "--out",
        type=cli.path,
        metavar="DIR",
        help="the folder to write to, new or empty (default: fuzz-ENGINE-SEED)",
    )
    fuzz.add_argument(
        "--case",
        type=cli.path,
        action="append",
        metavar="FILE",
        help="ask the engine a case file again, twice in one process, in place of drawing. May be "
        "given several times",
    )


def run(options: argparse.Namespace) -> int:
    """Run a campaign, or ask case files again; return the exit code."""
    from conformance.harness import engine_file

    check_positive("--cases", options.cases)
    if options.time is not None and not 0 < options.time < float("inf"):
        raise RefengineError(f"--time must be > 0, got {options.time:g}", rule="usage")
    if options.first < 0:
        raise RefengineError(f"--first must be >= 0, got {options.first}", rule="usage")
    tested = engine_file.engine(options.engine)
    tested = tested.with_classpath("")
    if tested.missing:
        raise RefengineError(tested.missing, rule="engine", place=tested.name)
    if options.case:
        return _ask_again(tested, options.case)
    return _search(tested, options)


def _ask_again(tested: Engine, files: Iterable[Path]) -> int:
    """Ask an engine the cases of some files, each twice; return 1 if one of them fails."""
    from conformance.campaigns.again import ask_file
    from conformance.harness.pool import Harnesses

    is_wrong = False
    for file in files:
        harnesses = Harnesses()
        try:
            explained = ""
            for result in ask_file(tested, file, harnesses):
                print(f"{plain(str(file))}: {result.outcome_in_words}")
                if result.explanation != explained:
                    explained = result.explanation
                    for line in explained.splitlines():
                        print(escape_unprintable(line))
                is_wrong = is_wrong or str(result.outcome) in ("fail", "error")
        finally:
            harnesses.stop()
    return int(is_wrong)


def _search(tested: Engine, options: argparse.Namespace) -> int:
    """Draw cases until it is over, and write what was found; return the exit code."""
    from conformance.campaigns.asking import LiveEngine, with_reply_limit
    from conformance.campaigns.campaign import Campaign
    from conformance.campaigns.drawing import Drawing
    from conformance.harness.pool import Harnesses
    from conformance.verdict.results import check_new_folder

    folder = options.out or Path(f"fuzz-{Path(options.engine).stem}-{options.seed}")
    check_new_folder(folder)
    campaign_engine = with_reply_limit(tested, REPLY_SECONDS)
    numbers = _numbers(options)
    harnesses = Harnesses()
    try:
        live = LiveEngine(campaign_engine, harnesses)
        live.start()
        announce(f"{tested.name}: cases from {options.first} on, by seed {options.seed}")
        campaign = Campaign(Drawing.of(campaign_engine, options.seed), live)
        campaign.next_number = options.first
        is_interrupted = False
        try:
            with _progress(options, campaign) as note:
                campaign.run(numbers, _clock(options), note)
        except KeyboardInterrupt:
            is_interrupted = True
        return _conclude(campaign, tested, options, folder, is_interrupted)
    finally:
        harnesses.stop()


def _numbers(options: argparse.Namespace) -> Iterable[int]:
    """Return the numbers of the cases to draw."""
    if options.cases is None:
        return count(options.first)
    return range(options.first, options.first + options.cases)


def _clock(options: argparse.Namespace) -> Callable[[], bool]:
    """Return whether time is over, as a function."""
    seconds = options.time
    if seconds is None and options.cases is None:
        seconds = SECONDS
    if seconds is None:
        return lambda: False
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end


@contextmanager
def _progress(
    options: argparse.Namespace, campaign: Campaign
) -> Iterator[Callable[[SmallestFail | None], None]]:
    """Give a function that notes a case, and says what is new."""
    bar = progress_bar(desc="cases", unit="case")
    with bar(total=options.cases) as progress:

        def note(found: SmallestFail | None) -> None:
            progress.update(1)
            if found is not None:
                known = "known: " if found.known else ""
                text = f"case {found.number}: {known}{found.verdict.symptom}"
                progress.write(f"conformance: {plain(text)}", file=sys.stderr)

        yield note


def _conclude(
    campaign: Campaign,
    tested: Engine,
    options: argparse.Namespace,
    folder: Path,
    is_interrupted: bool,
) -> int:
    """Look for causes unless the campaign was interrupted, write what was found, and print it;
    return the exit code.
    """
    from conformance.campaigns.again import check_findings
    from conformance.campaigns.causes import add_listed_cases, find_causes, group_by_kind
    from conformance.campaigns.findings import Origin, write_findings

    live = campaign.live
    if campaign.found and not is_interrupted:
        announce(f"{tested.name}: looking for causes")
        add_listed_cases(campaign)
        causes = find_causes(live.tested, list(campaign.found.values()), campaign.passes)
    else:
        causes = group_by_kind(list(campaign.found.values()))
    findings = list(check_findings(causes, None if is_interrupted else tested))
    command = f"python -m conformance fuzz {options.engine} --seed {options.seed}"
    if options.first:
        command += f" --first {options.first}"
    command += f" --cases {campaign.next_number - options.first}"
    if findings:
        write_findings(folder, findings, Origin(tested, live.named, command))
    _print_findings(campaign, findings, folder)
    print(
        f"go on: python -m conformance fuzz {options.engine} --seed {options.seed} "
        f"--first {campaign.next_number}"
    )
    if is_interrupted:
        return 130
    return int(any(not one.cause.known for one in findings))


def _print_findings(campaign: Campaign, findings: list[Finding], folder: Path) -> None:
    """Print how many cases had which outcome, and a line for each finding."""
    counts = ", ".join(f"{number} {word}" for word, number in sorted(campaign.numbers.items()))
    name = campaign.live.tested.name
    print(f"{name}: {campaign.judged} cases judged ({counts or 'none drawn'})")
    for one in findings:
        elements = count_text(len(one.verdict.case.elements), "element")
        kind = "known" if one.cause.known else "new"
        print(f"  {kind:5} {one.name}: {one.title}; {elements}, {one.cause.rule}")
    if findings:
        print(f"written to {plain(str(folder))}")
