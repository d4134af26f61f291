"""The windows of a library in Java, which is asked line by line.

A program is a Java source file beside conformance/engines/adapters/WindowLines.java, which says
what the lines are.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from refengine import Unsupported

SOURCES = Path(__file__).resolve().parent.parent / "engines" / "adapters"
# Java's options for short runs, and for Flink, which reads fields of java.util
OPTIONS = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
)
KINDS = {"window": False, "taken-back": True}  # the first words of reports: what is taken back


class JavaFailure(Exception):
    """An error of the library or of its Java program."""


class JavaReport(NamedTuple):
    """A window that the library reports, or takes back: its borders and the numbers of its
    elements.
    """

    window: tuple[int, int]
    numbers: list[int]
    takes_back: bool


class JavaWindows:
    """A running Java program that asks a library for its windows. `jars` is the folder of the
    library's jars, and `arguments` are those of the program.
    """

    def __init__(self, jars: str, program: str, *arguments: str) -> None:
        # it is removed when Python ends
        self.classes = tempfile.TemporaryDirectory(prefix="refengine-classes-")
        compiler = ["javac", "-cp", f"{jars}/*", "-sourcepath", str(SOURCES)]
        compiler += ["-d", self.classes.name, str(SOURCES / f"{program}.java")]
        done = subprocess.run(compiler, capture_output=True, encoding="utf-8", check=False)
        if done.returncode:
            raise JavaFailure(done.stderr)
        path = f"{jars}/*:{self.classes.name}"
        pipe = subprocess.PIPE
        self.java = subprocess.Popen(
            ["java", *OPTIONS, "-cp", path, program, *arguments],
            stdin=pipe,
            stdout=pipe,
            encoding="utf-8",
        )
        self.ask("ready")

    def ask(self, line: str) -> list[JavaReport]:
        """Send a line, and return what is reported. Raises Unsupported and JavaFailure."""
        assert self.java.stdin is not None
        self.java.stdin.write(f"{line}\n")
        self.java.stdin.flush()
        return list(self._answer(line.split()[0]))

    def _answer(self, question: str) -> Iterator[JavaReport]:
        """Yield the reports of an answer. Raises Unsupported and JavaFailure."""
        assert self.java.stdout is not None
        for answer in self.java.stdout:
            word, _, rest = answer.rstrip("\n").partition(" ")
            if word == "done":
                return
            if word == "refused":
                raise Unsupported(rest, rule="engine", place=question)
            if word not in KINDS:
                raise JavaFailure(rest)
            opens, closes, *numbers = map(int, rest.split())
            yield JavaReport((opens, closes), numbers, KINDS[word])
        raise JavaFailure("Java has ended")

    def stop(self) -> None:
        """End the program, and wait until it has ended."""
        self.java.communicate()
