"""Write the generated tables of SPEC.md: `python -m tools.make_tables` (`--check`: only say whether
they are up to date).

They are `profiles`, and `dimensions`: every value of every field with its rule, the rule's
function, a case that has the value and a wrong engine that this case catches.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from conformance.corpus import specification
from refengine.core import profiles
from tools.generated_parts import replace_part, write_or_check

SPEC = Path(__file__).resolve().parent.parent / "SPEC.md"


def with_tables(text: str) -> str:
    """Return the specification's text with its tables made anew."""
    rows = profiles.markdown(profiles.table())
    text = replace_part(text, "table: profiles", "\n".join(rows))
    values = specification.table_in_markdown(specification.value_table(text))
    return replace_part(text, "table: dimensions", "\n".join(values))


def main() -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = SPEC.read_text(encoding="utf-8")
    updated = with_tables(text)
    return write_or_check(SPEC, updated, options.check, "python -m tools.make_tables")


if __name__ == "__main__":
    sys.exit(main())
