"""Write the generated parts of docs/evidence/witnesses.md: `python -m tools.make_witnesses`
(`--check`: only say whether they are up to date).

They stand between `<!-- NAME -->` and `<!-- end -->`: `figures` and `defects`, both made from
conformance/corpus/witness_defects.toml, which has the query and the answers of each defect.
`--w3c FOLDER` counts the figures anew, as `make w3c` does, and says whether they are listed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from conformance.corpus.witness_defects import Catalogue, Defect, Figures, load_catalogue
from tools import w3c
from tools.generated_parts import replace_part, write_or_check

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "evidence" / "witnesses.md"


def with_generated_parts(text: str, catalogue: Catalogue) -> str:
    """Return the page with its generated parts made anew."""
    text = replace_part(text, "figures", figures(catalogue))
    return replace_part(text, "defects", counts(catalogue.defects))


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


def counts(defects: Sequence[Defect]) -> str:
    """Return the table of the defects, a row a group: how many are of both witnesses, and how many
    of one alone.
    """
    columns = [("rdflib", "pyoxigraph"), ("rdflib",), ("pyoxigraph",)]
    found = Counter((defect.group, tuple(sorted(defect.answers))) for defect in defects)
    lines = ["| group | both | rdflib alone | pyoxigraph alone |", "|---|---|---|---|"]
    for group in dict.fromkeys(defect.group for defect in defects):
        numbers = [found[group, tuple(sorted(who))] for who in columns]
        lines.append(f"| {' | '.join([group, *map(str, numbers)])} |")
    return "\n".join(lines)


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
