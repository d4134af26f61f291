"""Write the generated tables of SPEC.md and the values of fields in docs/glossary.md: `python -m
tools.make_tables` (`--check`: only say whether they are up to date).

The tables are `profiles`, and `dimensions`: every value of every field with its rule, the rule's
function, a case that has the value and a wrong engine that this case catches.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from conformance.corpus import specification
from conformance.corpus.rules import INTEGER, RULES
from refengine.core import profiles
from refengine.core.semantics import FIELDS
from tools.generated_parts import replace_part, write_or_check

ROOT = Path(__file__).resolve().parent.parent
SPEC = ROOT / "SPEC.md"
GLOSSARY = ROOT / "docs" / "glossary.md"


def with_tables(text: str) -> str:
    """Return the specification's text with its tables made anew."""
    rows = profiles.markdown(profiles.table())
    text = replace_part(text, "table: profiles", "\n".join(rows))
    values = specification.table_in_markdown(specification.value_table(text))
    return replace_part(text, "table: dimensions", "\n".join(values))


def with_values(text: str) -> str:
    """Return the glossary's text with the values of each field behind what the field means."""
    for field in FIELDS:
        values = ", ".join(value if value == INTEGER else f"`{value}`" for value in RULES[field])
        pattern = rf"^(\| `{field}` \| .*?)(?:; values: .*?)?\. \|"
        text = re.sub(pattern, rf"\1; values: {values}. |", text, flags=re.MULTILINE)
    return text


def main() -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = SPEC.read_text(encoding="utf-8")
    glossary = with_values(GLOSSARY.read_text(encoding="utf-8"))
    files = {SPEC: with_tables(text), GLOSSARY: glossary}
    command = "python -m tools.make_tables"
    return max([write_or_check(path, new, options.check, command) for path, new in files.items()])


if __name__ == "__main__":
    sys.exit(main())
