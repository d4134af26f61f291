"""Make the tables of SPARQL's parser from its grammar: refengine/sparql/grammar_tables.json.

They spare each process the third of a second that lark takes to compute them. With --check nothing
is written, and the exit code is 1 if they are not those of the grammar.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from lark import Lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

from refengine.sparql import grammar

SHIFT = 0  # lark's number of the action that goes on to another state
FILE = Path(grammar.__file__).parent / grammar.TABLES


def tables_of(parser: Lark, text: str) -> str:
    """Return the tables of a parser as JSON. The same grammar gives the same text."""
    data, parts = json.loads(json.dumps(parser.memo_serialize([TerminalDef, Rule])))
    numbers = {
        old: new
        for new, old in enumerate(sorted(parts, key=lambda number: json.dumps(parts[number])))
    }
    data["parser"]["parser"] = number_states(data["parser"]["parser"])
    found = {
        "of": grammar.label_tables(text),
        "data": with_numbers(data, numbers),
        "parts": {new: parts[old] for old, new in numbers.items()},
    }
    return json.dumps(found, separators=(",", ":")).replace('},"', '},\n"') + "\n"


def with_numbers(node: Any, numbers: dict[str, int]) -> Any:
    """Return a part of the tables with each reference to a rule or a terminal, {"@": number},
    numbered anew.
    """
    match node:
        case {"@": int(old)}:
            return {"@": numbers[str(old)]}
        case dict():
            return {key: with_numbers(value, numbers) for key, value in node.items()}
        case list():
            return [with_numbers(value, numbers) for value in node]
    return node


def number_states(parser: dict[str, Any]) -> dict[str, Any]:
    """Return the parse table with tokens numbered by name, and states in the order in which they
    are reached from the start: lark numbers both as its sets happen to have them.
    """
    names = sorted(parser["tokens"].values())
    tokens = {old: names.index(name) for old, name in parser["tokens"].items()}
    (start,) = parser["start_states"].values()

    states = {start: 0}
    rows: dict[int, dict[int, Any]] = {}
    to_visit = [start]
    for old in to_visit:  # which grows
        row = sorted(
            (tokens[token], action) for token, action in parser["states"][str(old)].items()
        )
        for _, (kind, target) in row:
            if kind == SHIFT and target not in states:
                states[target] = len(states)
                to_visit.append(target)
        actions = {}
        for token, (kind, target) in row:
            if kind == SHIFT:
                target = states[target]
            actions[token] = [kind, target]
        rows[states[old]] = actions

    ends = {name: states[state] for name, state in parser["end_states"].items()}
    return {
        **parser,
        "tokens": dict(enumerate(names)),
        "states": rows,
        "start_states": {name: 0 for name in ends},
        "end_states": ends,
    }


def main() -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()

    tables = tables_of(grammar.GRAMMAR.build(), grammar.GRAMMAR.text)
    if not options.check:
        FILE.write_text(tables, encoding="utf-8")
        return 0

    is_current = FILE.read_text(encoding="utf-8") == tables
    state = "out of date: run tools/make_parser.py"
    if is_current:
        state = "up to date"
    print(f"{FILE.name} is {state}")
    return int(not is_current)


if __name__ == "__main__":
    sys.exit(main())
