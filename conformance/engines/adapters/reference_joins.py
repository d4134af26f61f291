"""The reference engine's joins over adaptive windows behind the protocol (PROTOCOL.md, "Joins"):
`python reference_joins.py`. With `--wrong "ADA-7 windows never adapt"` it is the wrong engine of
that name.
"""

from __future__ import annotations

import argparse
import json
import re
from contextlib import nullcontext, suppress
from importlib.metadata import version
from typing import Any

from conformance.harness.serving import answer_messages
from conformance.wrong_engines import WRONG_ENGINES
from refengine.joins import adaptive_join, join_profiles
from refengine.joins.adaptive_join import Eviction, Match, WindowJoin
from refengine.joins.records import JoinRecord, Side, Watermark

BASE = "rmlstreamer"  # the profile of which the window that is sent changes every field
RECORD = re.compile(r'<urn:record:([^>]*)> <urn:key> "([^"]*)" \.\s*')


class ReferenceJoins:
    """The reference engine's joins, and the one that is registered."""

    running: WindowJoin

    def carry_out(self, command: str, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of the reply to a command. Raises RefengineError."""
        outcomes: list[Match | Eviction] = []
        match command:
            case "start":
                return {"protocol": 1, "engine": "refengine joins", "version": version("refengine")}
            case "register":
                window = join_profiles.join_window(BASE, json.loads(fields["query"]))
                self.running = adaptive_join.WindowJoin(window)
            case "push":
                outcomes = self.running.push(_record(**fields))
            case "advance":
                outcomes = self.running.push(Watermark(fields["at"] - 1))
            case "end":
                outcomes = self.running.finish()
            case _:
                return {}
        return {"relations": [{"rows": [_row(one)]} for one in outcomes if isinstance(one, Match)]}


def _record(stream: str, at: int, graph: str) -> JoinRecord:
    """Return the record of a push. Raises ValueError for triples that are none."""
    parsed = RECORD.fullmatch(graph)
    if parsed is None:
        raise ValueError(f"no record of a join: {graph}")
    return JoinRecord(Side(stream), at, parsed[2], parsed[1])


def _row(found: Match) -> dict[str, Any]:
    """Return a match as a row."""
    return {
        "left": {"type": "literal", "value": found.left.name},
        "right": {"type": "literal", "value": found.right.name},
    }


def main() -> None:
    """Answer messages line by line until `stop`."""
    parser = argparse.ArgumentParser(description="The reference engine's joins.")
    names = {one.full_name: one for one in WRONG_ENGINES}
    parser.add_argument("--wrong", choices=names, metavar="'RULE name'")
    wrong = names.get(parser.parse_args().wrong)
    with wrong.installed() if wrong else nullcontext():
        answer_messages(ReferenceJoins().carry_out)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        main()
