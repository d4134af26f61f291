"""The windows of a Java engine behind the protocol: `windows.py NAME VERSION JARS PROGRAM...`.

The engine has windows and no SPARQL. It decides which elements are in which window, and when the
window is reported. What the body answers over these elements is computed by refengine. So only the
windows are tested.

JARS and PROGRAM, with its arguments, are those of conformance/harness/java_windows.py.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from conformance.harness.java_windows import JavaReport, JavaWindows
from conformance.harness.serving import answer_messages
from conformance.harness.window_bodies import answer_over, only_window, read_element
from refengine import Element, Unsupported, from_table


class Windows:
    """An engine's windows, and the query whose windows they are at present."""

    def __init__(self, program: Sequence[str]) -> None:
        self.program = program

    def start(self) -> None:
        """Start Java, and wait until it answers."""
        self.java = JavaWindows(*self.program)

    def register(self, query: str, dialect: str, streams: list[str], static: str = "") -> None:
        """Begin a new case. Raises Unsupported, with the reason, if the query asks for more than
        such windows.
        """
        parsed_query = from_table(json.loads(query))
        self.body = parsed_query.body
        self.window = only_window(parsed_query, static)
        self.elements: list[Element] = []
        self.relations: list[dict[str, Any]] = []
        self.java.ask(f"query time {self.window.span} {self.window.step}")

    def push(
        self,
        stream: str,
        at: int,
        graph: str,
        batch: int | None = None,
        end: int | None = None,
    ) -> None:
        """Give the engine an element, and keep the relations of the windows that it reports."""
        if stream != self.window.stream:
            return
        if end not in (None, at):
            raise Unsupported("its events have a time, and no interval", rule="MOD-3", place="end")
        number = len(self.elements)
        self.elements.append(read_element(graph, at, number, batch))
        self._keep_relations(self.java.ask(f"element {at} {number} 0"))

    def end(self) -> list[dict[str, Any]]:
        """Move time on to the horizon `flush` (ENG-1), and return all relations of the case. None
        is returned before, since the engine or the body may still be refused.
        """
        if not self.elements:  # silence would count as a pass
            reason = "there is no window to test without an element"
            raise Unsupported(reason, rule="ENG-1", place="end")
        last = max(element.app for element in self.elements)
        self._keep_relations(self.java.ask(f"end {last + 2 + self.window.span}"))
        return self.relations

    def _keep_relations(self, reported: Iterable[JavaReport]) -> None:
        """Evaluate the body over each window that is reported, and keep the relations."""
        for report in reported:
            content = [self.elements[number] for number in report.numbers]
            rows = answer_over(self.body, content, str(len(self.relations)))
            self.relations.append({"rows": rows, "window": report.window})


def main() -> None:
    """Answer messages line by line until `stop`."""
    name, version, *program = sys.argv[1:]
    windows = Windows(program)

    def carry_out(command: str, fields: dict[str, Any]) -> dict[str, Any]:
        match command:
            case "start":
                windows.start()
                return {"protocol": 1, "engine": name, "version": version}
            case "stop":
                windows.java.stop()
                return {}
            case "register":
                windows.register(**fields)
            case "push":
                windows.push(**fields)
            case "end":
                return {"relations": windows.end()}
        return {"relations": []}

    answer_messages(carry_out)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        main()
