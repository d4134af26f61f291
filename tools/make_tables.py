"""Write the generated parts of the specification: `python -m tools.make_tables` (`--check`: only
say whether they are up to date).

They are the table of profiles and each rule's code from the enumeration in SPEC.md, the table of
every value of every field in docs/values.md (its rule, a case that has the value and a wrong engine
that this case catches), and the lists of docs/laws.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from conformance.corpus import specification
from refengine.core import profiles
from tools import laws, rule_code
from tools.generated_parts import replace_part, write_or_check

ROOT = Path(__file__).resolve().parent.parent
SPEC = ROOT / "SPEC.md"
VALUES = ROOT / "docs" / "values.md"
FIRINGS = ROOT / "docs" / "firings.md"
LAWS = ROOT / "docs" / "laws.md"


def with_profiles(text: str) -> str:
    """Return the text of SPEC.md with the table of profiles made anew."""
    return replace_part(text, "table: profiles", "\n".join(profiles.markdown(profiles.table())))


def with_code(text: str) -> str:
    """Return the text of a page with the code of each rule anew that it has a place for. Raises
    LookupError for a place of a rule without code.
    """
    parts = rule_code.code_parts(rule_code.functions())
    if surplus := set(rule_code.marked_rules(text)) - set(parts):
        raise LookupError(f"no function of the enumeration names {', '.join(sorted(surplus))}")
    for rule in rule_code.marked_rules(text):
        text = replace_part(text, f"code:{rule}", parts[rule])
    return text


def rules_without_place() -> list[str]:
    """Return the rules with code for which no page of rules has a place."""
    pages = [page.read_text(encoding="utf-8") for page in (SPEC, FIRINGS)]
    marked = {rule for text in pages for rule in rule_code.marked_rules(text)}
    return sorted(set(rule_code.code_parts(rule_code.functions())) - marked)


def with_generated_parts(text: str) -> str:
    """Return the text of SPEC.md with its table of profiles and the code of its rules anew."""
    return with_code(with_profiles(text))


def with_values(text: str) -> str:
    """Return the text of docs/values.md with the table of values made anew."""
    rows = specification.value_table()
    return replace_part(text, "table: dimensions", "\n".join(specification.table_in_markdown(rows)))


def with_laws(text: str) -> str:
    """Return the text of docs/laws.md with its lists made anew."""
    for kind in laws.TESTS:
        text = replace_part(text, f"list: {kind}", laws.list_of(kind))
    return text


def main() -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    codes = [
        write_or_check(
            page,
            update(page.read_text(encoding="utf-8")),
            options.check,
            "python -m tools.make_tables",
        )
        for page, update in (
            (SPEC, with_generated_parts),
            (FIRINGS, with_code),
            (VALUES, with_values),
            (LAWS, with_laws),
        )
    ]
    if missing := rules_without_place():
        raise LookupError(f"no page has a place for the code of {', '.join(missing)}")
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
