"""Write the generated tables of SPEC.md: `python tools/make_tables.py` (`--check`: only say whether
they are up to date).

They stand between `<!-- table: NAME -->` and `<!-- end -->`: `dimensions`, every value with its
rule, function, case and miniature, and `profiles`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from conformance.corpus import specification
from refengine.core import profiles

SPEC = Path(__file__).resolve().parent.parent / "SPEC.md"


def with_tables(text: str) -> str:
    """Return the specification's text with its tables made anew."""
    text = _put(text, "profiles", profiles.markdown(profiles.table()))
    return _put(
        text, "dimensions", specification.table_in_markdown(specification.value_table(text))
    )


def _put(text: str, name: str, lines: Iterable[str]) -> str:
    """Return the text with these lines between the marks of a table."""
    body = "\n".join(lines)
    filled, count = re.subn(
        rf"(<!-- table: {name} -->\n\n).*?(\n\n<!-- end -->)",
        lambda m: m[1] + body + m[2],
        text,
        flags=re.DOTALL,
    )
    if count != 1:
        raise LookupError(f"SPEC.md has {count} tables named {name}")
    return filled


def main() -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = SPEC.read_text(encoding="utf-8")
    updated = with_tables(text)
    if options.check:
        state = "out of date: run tools/make_tables.py"
        if updated == text:
            state = "up to date"
        print(f"SPEC.md's tables are {state}")
        return int(updated != text)
    SPEC.write_text(updated, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
