"""Run the commands of docs/trust.md, and compare what they print with what the pages say.

    python -m tools.claims [NAME…]     NAME: a part of a claim, of its page or of its command

A claim is some words of a page, or `§ HEADING`, which is the tables of a section. What a command
must print is stated as a text. In one about words, `{1}` is their first figure, `{<2}` a number
less than the second, and `{>2}` a greater one. In one about tables, `{1}` is the first cell of a
row, and each row must be printed so. `…` is anything. So a figure stands only in the page.

Prints each claim that does not hold, with what was seen, and each that was not tried, with what it
needs. Exits with 1 if one does not hold, and with 130 if interrupted.
"""

from __future__ import annotations

import argparse
import operator
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from conformance.harness.engine_file import engine
from refengine.model.errors import RefengineError

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "docs" / "trust.md"
WORDS = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen",
)
FIGURE = re.compile(rf"(?<![\w.])(?:\d[\d,]*\.?\d+|\d|{'|'.join(WORDS[2:])})(?!\w)", re.IGNORECASE)
CLAIM = re.compile(
    r"- (?P<words>.+?) ← (?P<command>`[^`]+`(?: `[^`]+`)*)(?: → (?P<prints>`[^`]+`(?: `[^`]+`)*))?"
    r"(?: \((?P<needs>[^()`]+)\))?"
)
QUICK = ("python -c ", "grep ", "wc ")
HOLE = re.compile(r"\{([<>]?)(\d+)\}")
HOW: Mapping[str, Callable[[Fraction, Fraction], bool]] = {
    "": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
NUMBER = r"(?<![\w.])(-?\d[\d,_]*(?:\.\d+)?)"


@dataclass(frozen=True)
class Claim:
    """A row of the list: words of a page, and the tests or the command that make them. `prints`
    are the texts that a command must print; there are none if nothing compares them.
    """

    words: str
    page: str
    command: str
    prints: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    @property
    def is_quick(self) -> bool:
        """Whether `make test` runs the command, which takes seconds."""
        return bool(self.prints) and self.command.startswith(QUICK)

    @property
    def heading(self) -> str | None:
        """The heading of the section that is claimed, if no words are."""
        return self.words.removeprefix("§ ") if self.words.startswith("§ ") else None


def cells_of(row: str) -> list[str]:
    """Return the cells of a row of a table."""
    cells = re.split(r"(?<!\\)\|", row.strip().strip("|"))
    return [cell.strip().replace("\\|", "|") for cell in cells]


def read_claims(text: str) -> Iterator[Claim]:
    """Yield the claims of the list, each of the page that the last heading of the third level
    names. Several words with one command are separated by ` · `. Raises ValueError for a line with
    `←` that cannot be read.
    """
    page = "docs/trust.md"
    for line in text.splitlines():
        if line.startswith("### "):
            page = line[4:]
        elif line.startswith("- ") and " ← " in line:
            found = CLAIM.fullmatch(line)
            if found is None:
                raise ValueError(
                    f"no claim of the form WORDS ← `COMMAND` → `PRINTED` (NEEDS): {line}"
                )
            for words in found["words"].split(" · "):
                yield Claim(
                    words,
                    page,
                    found["command"].strip("`"),
                    tuple(re.findall(r"`([^`]+)`", found["prints"] or "")),
                    tuple(filter(None, (found["needs"] or "").split(", "))),
                )


def squeeze(text: str) -> str:
    """Return the words of a text, without quotes, brackets and borders of cells."""
    return " ".join(re.sub("[`()]", "", text).replace("|", " ").split()).replace(" %", "%")


def section(page: str, heading: str) -> str | None:
    """Return what stands below a heading, up to the next one."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", page, re.M | re.S)
    return found and found[1]


def rows_of(text: str) -> list[str]:
    """Return the rows of the tables of a text, without their heads."""
    lines = text.splitlines()
    return [
        line
        for line, after in zip(lines, [*lines[1:], ""], strict=True)
        if line.startswith("|") and not line.startswith("|---") and not after.startswith("|---")
    ]


def is_in(page: str, claim: Claim) -> bool:
    """Whether a page says what is claimed."""
    if claim.heading is not None:
        return section(page, claim.heading) is not None
    return squeeze(claim.words) in squeeze(page)


def value_of(figure: str) -> Fraction:
    """Return the number that digits or a word say."""
    if figure.lower() in WORDS:
        return Fraction(WORDS.index(figure.lower()))
    return Fraction(re.sub("[,_]", "", figure))


def pattern_of(text: str) -> str:
    """Return the regular expression of a text, with a group for the number in each hole."""
    parts = re.split(r"(\{[<>]?\d+\}|…)", text)
    return "".join(
        ".*" if part == "…" else NUMBER if HOLE.fullmatch(part) else re.escape(part)
        for part in parts
    )


def compare(text: str, words: str, output: str) -> str | None:
    """Hold an output to a text about some words. Return what is seen instead, or None. Of several
    places one must have the figures of the words; where a figure is a bound, all keep it.
    """
    figures = FIGURE.findall(words)
    holes = [(match[1], value_of(figures[int(match[2]) - 1])) for match in HOLE.finditer(text)]
    lines = re.sub(" +", " ", output)
    printed = [found.groups() for found in re.finditer(pattern_of(text), lines)]
    if not printed:
        return f"nothing like {text}"
    holds = [
        all(
            HOW[how](value_of(number), bound)
            for number, (how, bound) in zip(row, holes, strict=True)
        )
        for row in printed
    ]
    has_bound = any(how for how, _ in holes)
    if (all if has_bound else any)(holds):
        return None
    return f"{', '.join(printed[holds.index(False)])} in {text}"


def differences(claim: Claim, page: str, output: str) -> Iterator[str]:
    """Yield what a command printed in the place of what a page claims."""
    rows = rows_of(section(page, claim.heading) or "") if claim.heading else []
    printed = f" {squeeze(output)} "
    for text in claim.prints:
        if claim.heading is None:
            seen = compare(text, claim.words, output)
            if seen is not None:
                yield seen
        for row in rows:
            expected = text
            for place, cell in enumerate(cells_of(row), 1):
                expected = expected.replace(f"{{{place}}}", cell)
            expected = squeeze(HOLE.sub("", expected))
            if f" {expected} " not in printed:
                yield f"no row {expected}"


def lacking(claim: Claim, is_named: bool, environment: Mapping[str, str]) -> str | None:
    """Return what a claim needs that is not here: a program, an engine, a path in a variable, or
    hours, which only a claim that was named is given.
    """
    for need in claim.needs:
        kind, _, name = need.rpartition(" ")
        if kind == "engine":
            is_here = is_ready(name)
        elif need.startswith("$"):
            is_here = bool(environment.get(need[1:]))
        elif need == "hours":
            is_here = is_named
        else:
            is_here = shutil.which(need) is not None
        if not is_here:
            return need
    return None


def is_ready(name: str) -> bool:
    """Whether an engine can be started."""
    try:
        return not engine(name).with_classpath("").next_step
    except RefengineError:
        return False


def run(command: str) -> tuple[int, str]:
    """Run a command in the checkout, with the Python that runs this, and without the variables of
    `make claims`. Return its exit code and all that it printed.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    own = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    ended = subprocess.run(
        ["sh", "-c", command],
        cwd=ROOT,
        env={**own, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    return ended.returncode, ended.stdout


def try_command(command: str, claims: Sequence[Claim]) -> Iterator[str]:
    """Run a command, and yield a line for each of its claims that does not hold."""
    code, output = run(command)
    for claim in claims:
        page = (ROOT / claim.page).read_text(encoding="utf-8")
        seen = [f"exit code {code}, {output.strip()[-300:]!r}"] if code else []
        if not is_in(page, claim):
            seen.append("no such words in the page")
        seen += differences(claim, page, output)
        if seen:
            yield f"{claim.page}: {claim.words}\n  {command}\n  seen: {'; '.join(seen[:5])}"


def choose(names: Sequence[str]) -> tuple[dict[str, list[Claim]], list[str]]:
    """Return the claims that are to be tried, by their commands, and a line for each other one that
    has all of the names.
    """
    commands: dict[str, list[Claim]] = {}
    not_run: list[str] = []
    for claim in read_claims(LIST.read_text(encoding="utf-8")):
        whole = f"{claim.words} {claim.page} {claim.command}"
        if not claim.prints or not all(name in whole for name in names):
            continue
        need = lacking(claim, bool(names), os.environ)
        if need is None:
            commands.setdefault(claim.command, []).append(claim)
        else:
            not_run.append(f"not run: needs {need}: {claim.page}: {claim.words}")
    return commands, not_run


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.claims", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a part of a claim or its command")
    names = parser.parse_args(words).names
    commands, not_run = choose(names)
    if names and not commands and not not_run:
        parser.error(
            f"no claim of docs/trust.md and no command has {' or '.join(map(repr, names))}"
        )
    wrong: list[str] = []
    code = 0
    for place, (command, claims) in enumerate(commands.items(), 1):
        print(f"claims: {place} of {len(commands)}: {command}", file=sys.stderr, flush=True)
        start = time.monotonic()
        try:
            found = list(try_command(command, claims))
        except KeyboardInterrupt:
            print("claims: interrupted; NAME=... tries some claims alone", file=sys.stderr)
            code = 130
            break
        wrong += found
        held = f"{len(claims) - len(found)} of {len(claims)} hold"
        print(f"claims:   {held}, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    for line in [*not_run, *(f"does not hold: {line}" for line in wrong)]:
        print(line)
    return code or int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
