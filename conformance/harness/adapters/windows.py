"""The windows of a Java engine behind the protocol: `python windows.py NAME VERSION FOLDER PROGRAM`.

The engine has windows and no SPARQL. It decides which elements are in which window, and when the
window is reported. What the body answers over these elements is computed by refengine. So only the
windows are tested.

PROGRAM is a Java source file, which runs with the jars of FOLDER. It reads the lines `query SIZE
SLIDE`, `element TIME NUMBER` and `end TIME`. To each it answers with lines `window OPEN CLOSE
NUMBER...`, and then with `done`, `refused REASON` or `failed REASON`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from typing import Any, cast

from refengine import Element, Query, Unsupported, Window, WindowKind, from_table
from refengine.core import r2r
from refengine.core.semantics import R2S
from refengine.model.elements import Relation, Triple
from refengine.rdf.documents import read_static
from refengine.rdf.recordings import relation_to_json
from refengine.rdf.sources import Text

QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")  # Java's options for short runs
OVER_TIME = (WindowKind.TIME, WindowKind.RANGE)


class EngineFailure(Exception):
    """An error of the engine or of its Java program."""


class Windows:
    """An engine's windows, and the query whose windows they are at present."""

    def __init__(self, jars: str, program: str) -> None:
        self.command = ["java", *QUICK, "-cp", f"{jars}/*", program]

    def start(self) -> None:
        """Start Java, and wait until it answers."""
        pipe = subprocess.PIPE
        self.java = subprocess.Popen(self.command, stdin=pipe, stdout=pipe, encoding="utf-8")
        self._ask("ready")

    def register(self, query: str, dialect: str, streams: list[str], static: str = "") -> None:
        """Begin a new case. Raises Unsupported, with the reason, if the query asks for more than
        such windows.
        """
        self.query: Query = from_table(json.loads(query))
        self.window = only_window(self.query, static)
        self.elements: list[Element] = []
        self.relations: list[dict[str, Any]] = []
        self._ask(f"query {self.window.span} {self.window.step}")

    def push(
        self, stream: str, at: int, graph: str, batch: int | None = None, end: int | None = None
    ) -> None:
        """Give the engine an element, and keep the relations of the windows that it reports."""
        if stream != self.window.stream:
            return
        if end not in (None, at):
            raise Unsupported("its events have a time, and no interval", rule="MOD-3", place="end")
        number = len(self.elements)
        triples = cast(frozenset[Triple], read_static(Text("text.nq", graph, "text")))
        self.elements.append(Element(triples, at, number, batch))
        self._keep_relations(self._ask(f"element {at} {number}"))

    def end(self) -> list[dict[str, Any]]:
        """Let time go on to the horizon `flush` (ENG-1), and return all relations of the case. None
        is returned before, since the engine or the body may still be refused.
        """
        if self.elements:
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
        reported = []
        for answer in self.java.stdout:
            word, _, rest = answer.rstrip("\n").partition(" ")
            if word == "done":
                return reported
            if word == "refused":
                raise Unsupported(rest, rule="QRY-1", place="engine")
            if word != "window":
                raise EngineFailure(rest)
            reported.append([int(number) for number in rest.split()])
        raise EngineFailure("Java has ended")

    def _keep_relations(self, reported: list[list[int]]) -> None:
        """Evaluate the body over each window that is reported, and keep the relations."""
        for open_, close, *numbers in reported:
            content = [self.elements[number] for number in numbers]
            relation = self._answer(content, f"{len(self.relations)}")
            rows = relation_to_json(relation)["results"]["bindings"]
            self.relations.append({"rows": rows, "window": [open_, close]})

    def _answer(self, content: list[Element], name: str) -> Relation:
        """Return what the body answers over a content. The blank nodes that the body makes have the
        evaluation's name in theirs.
        """
        body = self.query.body
        graph = r2r.dataset(content)
        relation = r2r.defined_answer(body, graph)
        return Relation(relation.variables, r2r.rename_new_blanks(relation.rows, graph, name))


def only_window(query: Query, static: str) -> Window:
    """Return the window of a query that asks for no more than one window. Raises Unsupported."""
    window, *others = query.windows
    needs = {
        "one window": not others,
        "a window without a name": window.name is None,
        "a window over time": window.kind in OVER_TIME,
        f"Rstream, not {query.r2s}": query.r2s in (None, R2S.RSTREAM),
        "no static data": not static,
        "no times of triples": not query.body.asks_for_times,
    }
    for need, is_met in needs.items():
        if not is_met:
            raise Unsupported(f"only its windows are tested: {need}", rule="QRY-1", place="query")
    return window


def reply_to(windows: Windows, name: str, version: str, message: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to a message, without its number."""
    relations: list[dict[str, Any]] = []
    try:
        match message.pop("command"):
            case "start":
                windows.start()
                return {"reply": "result", "protocol": 1, "engine": name, "version": version}
            case "stop":
                windows.java.communicate()
                return {"reply": "result"}
            case "register":
                windows.register(**message)
            case "push":
                windows.push(**message)
            case "end":
                relations = windows.end()
    except Unsupported as error:
        return {"reply": "unsupported", "reason": str(error)}
    except Exception as error:  # whatever it is, it is of this case
        return {"reply": "error", "context": f"{type(error).__name__}: {error}"[:2000]}
    return {"reply": "result", "relations": relations}


def main() -> None:
    """Answer messages line by line until `stop`."""
    name, version, jars, program = sys.argv[1:]
    windows = Windows(jars, program)
    for line in sys.stdin:
        message = json.loads(line)
        seq, command = message.pop("seq"), message["command"]
        reply = reply_to(windows, name, version, message)
        print(json.dumps({"seq": seq, **reply}), flush=True)
        if command == "stop":
            break


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        main()
