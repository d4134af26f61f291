"""Print what a run says of an engine with natural defects: `make natural`.

The engine in tests/natural_engine is right, and has defects that its author made without knowing
what a diagnosis looks for. The corpus is put to it with each defect alone. Standard output gets a
Markdown table with the defect as its author describes it, beside the first finding of the run: a
reader says whether one leads to the other.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.harness.engine_file import engine
from conformance.harness.pool import Harnesses
from conformance.report import source
from conformance.report.headline import Headline, headlines
from conformance.suite.item import ItemSelection, live_items
from conformance.suite.summary import summarize_run
from conformance.verdict.results import Outcome
from tests.natural_engine.defects import DEFECTS

FOLDER = Path(__file__).parents[1] / "tests" / "natural_engine"
PROFILES = {"csparql": "close", "cqels": "change"}


def ask_engine(profile: str, defects: Sequence[str], *, smoke: bool = False) -> Headline:
    """Put the corpus to the engine with some defects, under a profile, and return what a run says
    of it at its end. With `smoke` only a few cases are put.
    """
    command = ["{python}", str(FOLDER / "engine.py"), "--report", PROFILES[profile]]
    if defects:
        command += ["--defect", ",".join(defects)]
    written = (FOLDER / f"{profile}.toml").read_text(encoding="utf-8")
    lines = [
        f"command = {json.dumps(command)}" if line.startswith("command") else line
        for line in written.splitlines()
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "natural.toml"
        file.write_text("\n".join(lines), encoding="utf-8")
        items = live_items(engine(str(file)), ItemSelection(smoke=smoke))
        harnesses = Harnesses()
        try:
            results = [item.run(harnesses) for item in items]
        finally:
            harnesses.stop()
    summary = summarize_run([one for one in results if one.outcome is not Outcome.ERROR], items)
    (headline,) = headlines(source.of(summary.results).entries)
    return headline


def table(profiles: Sequence[str], defects: Sequence[str], *, smoke: bool) -> Iterator[str]:
    """Yield the lines of the table of some defects."""
    yield "| profile | defect | what is wrong | outcomes | what the run says first |"
    yield "|---|---|---|---|---|"
    for name in defects:
        for profile in profiles:
            said = ask_engine(profile, name.split(","), smoke=smoke)
            wrong = " ".join(DEFECTS[one] for one in name.split(","))
            findings = "; ".join(said.findings).replace("|", "\\|")
            yield f"| {profile} | `{name}` | {wrong} | {said.counts} | {findings} |"


def main(words: Sequence[str] | None = None) -> None:
    """Ask the engine with each defect, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.natural_defects", description=__doc__.partition("\n")[0]
    )
    parser.add_argument(
        "defects", nargs="*", metavar="DEFECT", help="or DEFECT,DEFECT (default: each alone)"
    )
    parser.add_argument("--profile", choices=PROFILES, help="(default: both)")
    parser.add_argument("--smoke", action="store_true", help="put a few cases only")
    options = parser.parse_args(words)
    profiles = [options.profile] if options.profile else list(PROFILES)
    for line in table(profiles, options.defects or list(DEFECTS), smoke=options.smoke):
        print(line, flush=True)


if __name__ == "__main__":
    main()
