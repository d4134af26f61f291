"""The windows of a Java engine behind the protocol: `python windows.py NAME VERSION JARS PROGRAM`.

The engine has windows and no SPARQL. It decides which elements are in which window, and when the
window is reported. What the body answers over these elements is computed by refengine. So only the
windows are tested.

PROGRAM is a Java source file beside this one, and JARS the folder of the jars that it needs. It
reads the lines `query SIZE SLIDE`, `element TIME NUMBER` and `end TIME`. To each it answers with
lines `window OPEN CLOSE NUMBER...`, and then with `done`, `refused REASON` or `failed REASON`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from conformance.harness.serving import answer_messages
from conformance.harness.window_bodies import answer_over, only_window, read_element
from refengine import Element, Unsupported, from_table

QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")  # Java's options for short runs


class EngineFailure(Exception):
    """An error of the engine or of its Java program."""


class Windows:
    """An engine's windows, and the query whose windows they are at present."""

    def __init__(self, jars: str, program: str) -> None:
        source = str(Path(__file__).with_name(program))
        self.command = ["java", *QUICK, "-cp", f"{jars}/*", source]

    def start(self) -> None:
        """Start Java, and wait until it answers."""
        pipe = subprocess.PIPE
        self.java = subprocess.Popen(self.command, stdin=pipe, stdout=pipe, encoding="utf-8")
        self._ask("ready")

    def register(self, query: str, dialect: str, streams: list[str], static: str = "") -> None:
        """Begin a new case. Raises Unsupported, with the reason, if the query asks for more than
        such windows.
        """
        parsed_query = from_table(json.loads(query))
        self.body = parsed_query.body
        self.window = only_window(parsed_query, static)
        self.elements: list[Element] = []
        self.relations: list[dict[str, Any]] = []
        self._ask(f"query {self.window.span} {self.window.step}")

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
        self._keep_relations(self._ask(f"element {at} {number}"))

    def end(self) -> list[dict[str, Any]]:
        """Move time on to the horizon `flush` (ENG-1), and return all relations of the case. None
        is returned before, since the engine or the body may still be refused.
        """
        if not self.elements:  # silence would count as a pass
            reason = "there is no window to test without an element"
            raise Unsupported(reason, rule="ENG-1", place="end")
        last = max(element.app for element in self.elements)
        self._keep_relations(self._ask(f"end {last + 2 + self.window.span}"))
        return self.relations

    def _ask(self, line: str) -> list[list[int]]:
        """Send a line to Java, and return the windows that are reported: each as its borders and
        the numbers of its elements. Raises Unsupported and EngineFailure.
        """
        assert self.java.stdin is not None
        assert self.java.stdout is not None
        self.java.stdin.write(f"{line}\n")
        self.java.stdin.flush()
        reported: list[list[int]] = []
        for answer in self.java.stdout:
            word, _, rest = answer.rstrip("\n").partition(" ")
            if word == "done":
                return reported
            if word == "refused":
                raise Unsupported(rest, rule="engine", place=line.split()[0])
            if word != "window":
                raise EngineFailure(rest)
            reported.append([int(number) for number in rest.split()])
        raise EngineFailure("Java has ended")

    def _keep_relations(self, reported: list[list[int]]) -> None:
        """Evaluate the body over each window that is reported, and keep the relations."""
        for open_, close, *numbers in reported:
            content = [self.elements[number] for number in numbers]
            rows = answer_over(self.body, content, str(len(self.relations)))
            self.relations.append({"rows": rows, "window": [open_, close]})


def main() -> None:
    """Answer messages line by line until `stop`."""
    name, version, jars, program = sys.argv[1:]
    windows = Windows(jars, program)

    def carry_out(command: str, fields: dict[str, Any]) -> dict[str, Any]:
        match command:
            case "start":
                windows.start()
                return {"protocol": 1, "engine": name, "version": version}
            case "stop":
                windows.java.communicate()
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
