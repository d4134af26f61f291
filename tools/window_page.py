"""`python -m tools.window_page [NAME...]`: asks the libraries that are named, keeps their cards in
docs/evidence/cards, and writes the tables of docs/windows.md from all cards there.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from conformance import schemas
from conformance.card.asking import startable
from conformance.card.card import Card
from conformance.card.maker import card_with_settings
from conformance.card.page import tables
from tools.generated_parts import replace_part, write_or_check

ROOT = Path(__file__).parents[1]
CARDS = ROOT / "docs" / "evidence" / "cards"
PAGE = ROOT / "docs" / "windows.md"
PART = "cards"


def read_cards() -> list[Card]:
    """Return the cards that are kept, by name. Raises ValueError for one that is not of the
    schema.
    """
    cards = []
    for path in sorted(CARDS.glob("*.json")):
        table = json.loads(path.read_text(encoding="utf-8"))
        if problems := schemas.problems("card", table):
            raise ValueError(f"{path}: {problems[0].message}")
        cards.append(Card.of_json(table))
    return cards


def main() -> int:
    """Ask, keep and write; return the exit code."""
    parser = argparse.ArgumentParser(description="The tables of docs/windows.md, from cards.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="ask this library anew")
    parser.add_argument("--check", action="store_true", help="only say whether the page is current")
    options = parser.parse_args()
    for name in options.names:
        card = card_with_settings(startable(name))
        text = json.dumps(card.as_json(), indent=1, ensure_ascii=False)
        (CARDS / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
    text = replace_part(PAGE.read_text(encoding="utf-8"), PART, "\n".join(tables(read_cards())))
    return write_or_check(PAGE, text, options.check, "python -m tools.window_page")


if __name__ == "__main__":
    sys.exit(main())
