"""Read the query texts that engines and benchmarks have published (docs/dialects.md §13).

`published_texts.csv` lists them: repository, commit, path, which text of the file, dialect, base of
relative IRIs, the SHA-256 digest of the text, and what becomes of it. The texts are their authors'
and are not here. FOLDER has a checkout of each repository, in a folder named OWNER+NAME.

    python -m tools.published_texts FOLDER

prints how many texts have each outcome, each text whose outcome is not the listed one, and how many
of those that are read are rendered into each other dialect. A text that is read is rendered in its
own dialect; one that does not read back as the same query has the outcome `lost`. The exit code is
1 if any outcome is not the listed one.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from refengine import dialects
from refengine.core.query import Query
from refengine.dialects import DIALECTS, Unrenderable
from refengine.model.errors import RefengineError, Unsupported

LIST = Path(__file__).with_suffix(".csv")
STRING = r'"((?:[^"\\\n]|\\.)*)"'
COMMENT = r"(?:\s|//[^\n]*\n|/\*.*?\*/)*"
JAVA = re.compile(
    rf'(?:(\w+)\.(\w+)\s*\+\s*)?"""\s*\n(.*?)"""|{STRING}(?:{COMMENT}\+{COMMENT}{STRING})*',
    re.DOTALL,
)
RUST = re.compile(r'r#"(.*?)"#|r"(.*?)"', re.DOTALL)
TEMPLATE = re.compile(r"`([^`]*)`")
FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"(?:^(?: {0,3}\t| {4})[^\n]*\n|^[ \t]*\n)+", re.MULTILINE)
PROPERTY = re.compile(r"^[\w.]+ *= *((?:[^\n\\]|\\.|\\\n)*)", re.MULTILINE)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\n": ""}
CONTINUOUS = re.compile(
    r"(FROM\s+(NAMED\s+)?(STREAM|WINDOW)|FROM\s+\w+\s*\[|\bSTREAM\s+\S+\s*\[|\bRETRIEVE\s)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class PublishedText:
    """A line of the list. `number` counts the texts of a file, from 1. `outcome` is `read`,
    `unsupported`, `defect` (the text is not what its author meant, as `note` says) or `refused`.
    """

    repository: str
    commit: str
    path: str
    number: int
    dialect: str
    base: str
    digest: str
    outcome: str
    note: str


def listed_texts() -> list[PublishedText]:
    """Return the lines of the list."""
    with LIST.open(encoding="utf-8", newline="") as lines:
        _, *rows = csv.reader(lines)
    return [
        PublishedText(repository, commit, path, int(number), *rest)
        for repository, commit, path, number, *rest in rows
    ]


def texts_in(path: Path) -> list[str]:
    """Return the continuous queries in a file: the file itself, or blocks of Markdown, literals of
    Java, JavaScript or Rust, values of properties.
    """
    text = path.read_text(encoding="utf-8", errors="replace")
    match path.suffix:
        case ".md":
            found = FENCE.findall(text) or INDENTED.findall(text)
        case ".java":
            found = list(_java_texts(text, path))
        case ".js" | ".ts":
            found = TEMPLATE.findall(text)
        case ".rs":
            found = ["".join(groups) for groups in RUST.findall(text)]
        case ".properties":
            found = [_unescaped(value) for value in PROPERTY.findall(text)]
        case _:
            found = [text]
    return [one.strip("\ufeff\n\r") for one in found if CONTINUOUS.search(one)]


def _java_texts(text: str, path: Path) -> Iterator[str]:
    """Yield text blocks, with the constant of another class that is put before them, and literals
    joined by `+`.
    """
    for found in JAVA.finditer(text):
        if found[3] is not None:
            yield _java_constant(path, found[1], found[2]) + found[3]
        else:
            parts = re.findall(rf"{STRING}|//[^\n]*|/\*.*?\*/", found[0], re.DOTALL)
            yield "".join(map(_unescaped, parts))


def _java_constant(path: Path, name: str | None, constant: str | None) -> str:
    """Return the text block that is a constant of a class, whose file is beside a file or above
    it; nothing if there is none.
    """
    for folder in [path.parent, path.parent.parent]:
        file = folder / f"{name}.java"
        if name and file.is_file():
            text = file.read_text(encoding="utf-8", errors="replace")
            found = re.search(rf'\b{constant} = """\s*\n(.*?)"""', text, re.DOTALL)
            return found[1] if found else ""
    return ""


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: ESCAPES.get(found[1], found[1]), text, flags=re.DOTALL)


def digest_of(text: str) -> str:
    """Return the digest by which the list knows a text."""
    return sha256(text.encode()).hexdigest()


class TextOutcome(NamedTuple):
    """What becomes of a text: `read`, `unsupported`, `refused`, `lost`, `absent` or `changed`; a
    message; and the other dialects that can say the query, if it is read.
    """

    name: str
    message: str
    others: tuple[str, ...] = ()


def outcome_of(text: str, dialect: str, base: str) -> TextOutcome:
    """Return what becomes of a text."""
    try:
        query = dialects.read(text, dialect, base=base)
    except Unsupported as error:
        return TextOutcome("unsupported", str(error))
    except RefengineError as error:
        return TextOutcome("refused", str(error))
    reasons = {name: why_lost(query, name) for name in DIALECTS}
    if reasons[dialect]:
        return TextOutcome("lost", f"{dialect}: {reasons[dialect]}")
    others = tuple(name for name, reason in reasons.items() if not reason and name != dialect)
    return TextOutcome("read", f"also in {', '.join(others) or 'none'}", others)


def why_lost(query: Query, dialect: str) -> str:
    """Return why a query is not rendered in a dialect, or reads back as another one; nothing if
    neither is so.
    """
    try:
        text = dialects.render(query, dialect)
        again = dialects.read(text, dialect)
    except Unrenderable as error:
        return f"not rendered: {error}"
    except RefengineError as error:
        return f"not read back: {error}"
    if again != query:
        return "reads back as another query"
    return ""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="tools.published_texts", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of checkouts")
    parser.add_argument("--verbose", action="store_true", help="print every text's outcome")
    options = parser.parse_args(arguments)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    others: Counter[str] = Counter()
    differing = 0
    for listed in listed_texts():
        found = _look_at(listed, options.folder)
        counts[listed.repository][found.name] += 1
        others.update(found.others)
        is_other = found.name not in (listed.outcome, "absent")
        differing += is_other
        if is_other or options.verbose:
            place = f"{listed.repository} {listed.path} {listed.number}"
            print(f"{place}: {found.name}: {found.message}")
    total: Counter[str] = Counter()
    for repository, outcomes in sorted(counts.items()):
        print(f"{repository}: {_figures(outcomes)}")
        total += outcomes
    if others:
        print(f"also rendered in: {_figures(others)}")
    print(f"all: {_figures(total)}; {differing} not as listed")
    return int(differing > 0)


def _look_at(listed: PublishedText, folder: Path) -> TextOutcome:
    """Return the outcome of a listed text; `absent` where the folder has no such file, `changed`
    where it has another text.
    """
    path = folder / listed.repository.replace("/", "+") / listed.path
    if not path.is_file():
        return TextOutcome("absent", str(path))
    texts = texts_in(path)
    if len(texts) < listed.number or digest_of(texts[listed.number - 1]) != listed.digest:
        return TextOutcome("changed", f"not the text of commit {listed.commit}")
    found = outcome_of(texts[listed.number - 1], listed.dialect, listed.base)
    if found.name == "refused" and listed.outcome == "defect":
        found = found._replace(name="defect")
    return found


def _figures(outcomes: Counter[str]) -> str:
    return ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))


if __name__ == "__main__":
    sys.exit(main())
