"""Write the generated parts of docs/evidence/witnesses.md: `python -m tools.make_witnesses`
(`--check`: only say whether they are up to date).

They stand between `<!-- NAME -->` and `<!-- end -->`: `figures`, `index` and `defects`, all made
from conformance/corpus/witness_defects.toml. `--w3c FOLDER` counts the figures anew, as `make w3c`
does, and says whether they are listed.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from itertools import groupby
from pathlib import Path

from conformance.corpus.witness_defects import (
    WITNESSES,
    Catalogue,
    Defect,
    Figures,
    WitnessAnswer,
    load_catalogue,
    turtle_of,
)
from refengine.model.elements import Row
from tools import w3c
from tools.generated_parts import replace_part, write_or_check

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "evidence" / "witnesses.md"


def with_generated_parts(text: str, catalogue: Catalogue) -> str:
    """Return the page with its generated parts made anew."""
    text = replace_part(text, "figures", figures(catalogue))
    text = replace_part(text, "index", index(catalogue.defects))
    return replace_part(text, "defects", "\n\n".join(_groups(catalogue.defects)))


def figures(catalogue: Catalogue) -> str:
    """Return the table of W3C's tests, a row a witness."""
    lines = [
        f"Of the {catalogue.tests} tests in scope at commit `{catalogue.commit}` of "
        "[w3c/rdf-tests](https://github.com/w3c/rdf-tests):",
        "",
        "| who | right | wrong | refused | broken off |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {f.right} | {f.wrong} | {f.refused} | {f.broken} |"
        for name, f in catalogue.figures.items()
    ]
    return "\n".join(lines)


def index(defects: tuple[Defect, ...]) -> str:
    """Return the table of the groups, and how many defects each witness has in each."""
    lines = ["| | " + " | ".join([*WITNESSES, "both"]) + " |", "|---" * (len(WITNESSES) + 2) + "|"]
    for group, members in groupby(defects, key=lambda defect: defect.group):
        lines.append(f"| [{group}](#{group.replace(' ', '-')}) | {_counts(list(members))} |")
    return "\n".join([*lines, f"| all | {_counts(list(defects))} |"])


def _counts(defects: list[Defect]) -> str:
    """Return how many defects each witness has alone, and how many both have."""
    numbers: Counter[str] = Counter()
    for defect in defects:
        if len(defect.answers) == 1:
            numbers.update(defect.answers.keys())
        else:
            numbers["both"] += 1
    return " | ".join(str(numbers[name]) for name in [*WITNESSES, "both"])


def _groups(defects: tuple[Defect, ...]) -> list[str]:
    parts = []
    for group, members in groupby(defects, key=lambda defect: defect.group):
        parts.append(f"## {group.capitalize()}")
        parts += map(section, members)
    return parts


def section(defect: Defect) -> str:
    """Return the section of one defect."""
    lines = [
        f"### {_escaped(defect.title)}",
        "",
        f"`{defect.id}` · {defect.section}. {_escaped(defect.says)}",
        "",
    ]
    lines += ["```sparql", defect.query, "```", ""]
    if defect.data:
        lines += [f"- over {_code(defect.data)}"]
    lines += [f"- right: {in_words(defect.right)}"]
    lines += [f"- {name}: {in_words(answer)}" for name, answer in defect.answers.items()]
    if defect.refused:
        lines += ["- refused by the project, which finds no single answer in such a body (QRY-3)"]
    if defect.issues:
        lines += [f"- upstream: {', '.join(map(_link, defect.issues))}"]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    return re.sub(r"([\\*_<>\[\]|])", r"\\\1", text)


def _code(text: str) -> str:
    if "`" in text:
        return f"`` {text} ``"
    return f"`{text}`"


def _link(url: str) -> str:
    owner, name, _, number = url.split("/")[-4:]
    return f"[{owner}/{name}#{number}]({url})"


def in_words(answer: WitnessAnswer) -> str:
    """Return an answer as the page shows it."""
    match answer:
        case bool():
            return _code(str(answer).lower())
        case str():
            if " " in answer:
                return answer
            return f"an error, {_code(answer)}"
        case _:
            rows = [_solution(line) for line, count in sorted(answer.items()) for _ in range(count)]
            return "; ".join(rows) or "no solution"


def _solution(line: Row) -> str:
    bound = ", ".join(f"?{name} = {turtle_of(term)}" for name, term in line)
    if bound:
        return _code(bound)
    return "one solution that binds nothing"


def main() -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--w3c", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    catalogue = load_catalogue()
    if options.w3c:
        counted = {
            name: Figures(*(outcomes[kind] for kind in w3c.OUTCOMES))
            for name, outcomes in w3c.count(options.w3c).items()
        }
        print(*(f"{name} = {numbers}" for name, numbers in counted.items()), sep="\n")
        return int(counted != dict(catalogue.figures))
    text = PAGE.read_text(encoding="utf-8")
    updated = with_generated_parts(text, catalogue)
    return write_or_check(PAGE, updated, options.check, "python -m tools.make_witnesses")


if __name__ == "__main__":
    sys.exit(main())
