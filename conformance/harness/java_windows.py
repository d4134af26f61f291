"""The windows of a library in Java, which is asked line by line.

A program is a Java source file beside conformance/engines/adapters/WindowLines.java, which says
what the lines are.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
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
REPORTS = ("window", "content", "taken-back")  # the first words of reports


class JavaFailure(Exception):
    """An error of the library or of its Java program."""


class JavaReport(NamedTuple):
    """A window that the library reports, or takes back: the numbers of its elements, and its
    borders if they are stated.
    """

    numbers: list[int]
    window: tuple[int, int] | None
    takes_back: bool


def compiled(jars: Path, program: str) -> Path:
    """Return the folder of a program's classes. It is made beside the jars, unless it is there; its
    name has a digest of the sources. Raises JavaFailure.
    """
    sources = [SOURCES / f"{name}.java" for name in ("WindowLines", program)]
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    classes = jars.parent / f"classes-{digest[:8]}"
    if not classes.exists():
        with tempfile.TemporaryDirectory(dir=jars.parent) as folder:
            made = Path(folder, "classes")
            command = ["javac", "--release", "17", "-cp", f"{jars}/*", "-d", str(made)]
            command += map(str, sources)
            done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
            if done.returncode:
                raise JavaFailure(done.stderr)
            with suppress(OSError):  # another process may have been faster
                made.rename(classes)
    return classes


class JavaWindows:
    """A running Java program that asks a library for its windows. `jars` is the folder of the
    library's jars, and `arguments` are those of the program.
    """

    def __init__(self, jars: str, program: str, *arguments: str) -> None:
        path = f"{jars}/*:{compiled(Path(jars), program)}"
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
            if word not in REPORTS:
                raise JavaFailure(rest)
            numbers = [int(number) for number in rest.split()]
            window = None
            if word != "content":
                opens, closes, *numbers = numbers
                window = opens, closes
            yield JavaReport(numbers, window, word == "taken-back")
        raise JavaFailure("Java has ended")

    def stop(self) -> None:
        """End the program, and wait until it has ended."""
        self.java.communicate()
