"""Playing a join over adaptive windows to a harness: register the window, push the records, advance
to the watermarks, and collect the matches (PROTOCOL.md, "Joins").
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from conformance.harness.client import Broken, Harness
from conformance.harness.play import Command, check_result
from refengine.joins.join_profiles import join_window_to_json
from refengine.joins.records import JoinRecord, Side, Step, Watermark, with_watermarks
from refengine.joins.window import JoinWindow
from refengine.model.messages import display

DIALECT = "join"  # in which the query is the value of a window
NAME = re.compile(r"[A-Za-z0-9._-]+")  # of a record, and of a key of a case


class JoinAnswer(NamedTuple):
    """A match that an engine gave: the names of its records, and the stream time at which it came:
    the greatest time of the records that were pushed before, None if there was none.
    """

    left: str
    right: str
    at: int | None


@dataclass(frozen=True)
class JoinQuestion:
    """A join as it is put to an engine: its window, and the steps of its streams. The watermarks
    that the window sets by itself (ADA-2) are sent as if they were stated.
    """

    window: JoinWindow
    steps: Sequence[Step]

    def commands(self) -> Iterator[Command]:
        """Yield the commands that put the join to an engine."""
        streams = [str(side) for side in Side]
        query = json.dumps(join_window_to_json(self.window), sort_keys=True)
        yield "register", {"query": query, "dialect": DIALECT, "streams": streams}
        for step in with_watermarks(self.steps, self.window):
            yield _command(step)
        yield "end", {}

    def ask(self, harness: Harness) -> list[JoinAnswer]:
        """Put the join to an engine, and return its matches in the order in which they come. Raises
        Declined and Broken.
        """
        answers: list[JoinAnswer] = []
        stream_time: int | None = None
        for command, fields in self.commands():
            reply = harness.ask(command, **fields)
            check_result(reply, command, len(answers))
            if command == "push" and (stream_time is None or fields["at"] > stream_time):
                stream_time = fields["at"]
            for left, right in _matches(reply, command):
                answers.append(JoinAnswer(left, right, stream_time))
        return answers


def _command(step: Step) -> Command:
    """Return the command of a record or of a watermark. A watermark w says that no record up to w
    is to come, and so that time has reached w + 1.
    """
    match step:
        case Watermark(at):
            return "advance", {"at": at + 1}
        case JoinRecord(side, at, key, name):
            graph = f'<urn:record:{name}> <urn:key> "{key}" .\n'
            return "push", {"stream": str(side), "at": at, "graph": graph}


def _matches(reply: Mapping[str, Any], command: str) -> Iterator[tuple[str, str]]:
    """Yield the matches of a reply. Raises Broken for a row that is none."""
    for relation in reply.get("relations", ()):
        for row in relation["rows"]:
            if set(row) != {"left", "right"}:
                raise Broken(
                    f"{command}: a match has the variables left and right, got "
                    f"{display(sorted(row))}"
                )
            yield row["left"]["value"], row["right"]["value"]
