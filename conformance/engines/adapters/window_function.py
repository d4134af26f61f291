"""A harness of a library's windows, from a file in Python that asks the library:
`python window_function.py FILE ARGUMENT...`. It needs the standard library alone. FILE finds its
arguments in `sys.argv`, from 1 on.

FILE sets `NAME` and `VERSION`, the library's, and has one of these:

- `run(elements, window)`, for a library that takes a whole table. It is called at the end of the
  stream, and returns the reports.
- a class `Windows`, for one that takes element by element. `Windows(window)` begins a case,
  `push(element)` and `end()` return the reports that are new, or None.

A report is a `Report`. `raise Refused("…")` says that the library has no such windows; any other
error is an error of the library. What FILE imports from here are `Element`, `Report`, `Refused` and
`Window`.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, TextIO

LONGEST = 2_000  # characters of what is said of an error


class Refused(Exception):
    """The error that the library has no windows as the case needs them."""


class Window(NamedTuple):
    """The window that a case asks for, with the keys of PROTOCOL.md. `by` is empty or `["key"]`."""

    kind: str
    size: int = 0
    slide: int = 0
    lag: int = 0
    by: Sequence[str] = ()


class Element(NamedTuple):
    """An element: its number, from 0; its time; its key; the last instant at which it is valid, if
    that is stated; and its batch.
    """

    number: int
    at: int
    key: str = ""
    end: int | None = None
    batch: int | None = None


class Report(NamedTuple):
    """A report of the library: the numbers of the elements in the window, and as far as the library
    states them its borders, the instant with which it is stamped, and the key. It may take back an
    earlier report.
    """

    elements: Sequence[int]
    window: tuple[int, int] | None = None
    instant: int | None = None
    key: str | None = None
    takes_back: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the report as a reply has it. Numbers of the library's own become integers."""
        table: dict[str, Any] = {"elements": [int(number) for number in self.elements]}
        if self.window is not None:
            table["window"] = [int(border) for border in self.window]
        if self.instant is not None:
            table["instant"] = int(self.instant)
        if self.key is not None:  # as in N-Triples
            table["key"] = [json.dumps(self.key, ensure_ascii=False)]
        if self.takes_back:
            table["takes_back"] = True
        return table


Reports = Iterable[Report] | None


class WholeTable:
    """The windows of a library that takes a whole table: `run` is asked at the end."""

    def __init__(self, run: Callable[[list[Element], Window], Reports], window: Window) -> None:
        self.run = run
        self.window = window
        self.elements: list[Element] = []

    def push(self, element: Element) -> Reports:
        """Keep an element."""
        self.elements.append(element)
        return None

    def end(self) -> Reports:
        """Return all reports."""
        return self.run(self.elements, self.window)


class Library:
    """A library as its file asks it, and the windows of the case at present."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.name = {"engine": str(names["NAME"]), "version": str(names["VERSION"])}
        if ("run" in names) == ("Windows" in names):
            raise SystemExit("window_function: the file must have either run or Windows")
        self.make: Callable[[Window], Any] = names.get("Windows") or partial(
            WholeTable, names["run"]
        )

    def carry_out(self, command: str, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of the reply to a command."""
        reports: Reports = None
        match command:
            case "start":
                return {"protocol": 1, **self.name}
            case "stop":
                return {}
            case "register":
                self.windows = self.make(Window(**json.loads(fields["query"])))
            case "push" if "element" in fields:  # a punctuation is no element
                reports = self.windows.push(Element(fields.pop("element"), **fields))
            case "end":
                reports = self.windows.end()
        return {"relations": [Report(*report).as_json() for report in reports or ()]}


def serve(library: Library, replies: TextIO) -> None:
    """Answer messages, a line each, until `stop` or the end of standard input."""
    for line in sys.stdin:
        fields = json.loads(line)
        seq, command = fields.pop("seq"), fields.pop("command")
        try:
            reply = {"reply": "result", **library.carry_out(command, fields)}
        except Refused as error:
            reply = {"reply": "unsupported", "reason": str(error)[:LONGEST] or "refused"}
        except BaseException as error:  # a library in Rust may raise one that is no Exception
            if isinstance(error, KeyboardInterrupt):
                raise
            reply = {"reply": "error", "context": f"{type(error).__name__}: {error}"[:LONGEST]}
        print(json.dumps({"seq": seq, **reply}), file=replies, flush=True)
        if command == "stop":
            break


def main() -> None:
    """Answer messages by the file that the command line names. What the library prints is no
    reply, so standard output becomes standard error before it is imported.
    """
    sys.path.pop(0)  # the folder of this file, which has modules with names of libraries
    sys.argv.pop(0)
    sys.modules["window_function"] = sys.modules["__main__"]
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(Library(runpy.run_path(sys.argv[0])), replies)


if __name__ == "__main__":
    main()
