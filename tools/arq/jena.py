"""Asks Apache Jena ARQ, which runs in a process of its own (Arq.java)."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
from pathlib import Path
from typing import IO, Any

from refengine.model.elements import XSD, Dataset, Relation, literal
from tools.arq.comparison import Answer, solutions

HERE = Path(__file__).resolve().parent
JARS = HERE.parents[1] / "build" / "arq" / "jars"  # not in git; `make arq` brings them
LIMIT = 5_000  # milliseconds of a query
TRIPLE = ("subject", "predicate", "object")
PATIENCE = 60.0  # seconds, start of the process and a query together


def lacks() -> str:
    """Return what is lacking to run ARQ, in one line; nothing if it can be run."""
    if shutil.which("java") is None:
        return "there is no java (17 or newer)"
    if not any(JARS.glob("jena-arq-*.jar")):
        return "there are no jars of Jena; `make arq DRAWS=1` brings them with mvn"
    return ""


class Jena:
    """A process of ARQ, which is started with the first question. If it hangs or dies, the answer
    is an error of the kind `fails`, and the next question starts it anew.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def __enter__(self) -> Jena:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process. The next question starts another one."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                assert pipe is not None
                pipe.close()
        self._process, self._rest = None, b""

    def ask(self, text: str, data: Dataset) -> Answer:
        """Return ARQ's answer to a query over a dataset."""
        if self._process is None:
            self._process = _start()
        data_text = "".join(" ".join(statement) + " .\n" for statement in sorted(data))
        line = json.dumps({"query": text, "data": data_text}) + "\n"
        try:
            assert self._process.stdin is not None and self._process.stdout is not None
            self._process.stdin.write(line.encode("ascii"))
            self._process.stdin.flush()
            reply = json.loads(self._line(self._process.stdout))
        except (OSError, EOFError, TimeoutError) as error:
            self.close()
            return Answer(None, "fails", f"{type(error).__name__}: {error}")
        if "error" in reply:
            kind = "fails"
            if reply["error"] == "parse":
                kind = "invalid"
            return Answer(None, kind, reply["message"].splitlines()[0][:200])
        return Answer(_relation(reply))

    def _line(self, output: IO[bytes]) -> bytes:
        """Return the next line of the process."""
        while b"\n" not in self._rest:
            ready, _, _ = select.select([output], [], [], PATIENCE)
            if not ready:
                raise TimeoutError("no answer")
            chunk = os.read(output.fileno(), 2**16)
            if not chunk:
                raise EOFError("the process ended")
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return line


def _start() -> subprocess.Popen[bytes]:
    """Start ARQ, which then reads a question a line and writes an answer a line."""
    command = [
        "java",
        "-Xss16m",
        "-Xmx1g",
        "-XX:+UseSerialGC",
        "-cp",
        f"{JARS}/*",
        str(HERE / "Arq.java"),
        str(LIMIT),
    ]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )


def _relation(reply: dict[str, Any]) -> Relation:
    """Return ARQ's reply as a relation: a truth value, triples, which are a set, or rows."""
    if "boolean" in reply:
        lexical = "false"
        if reply["boolean"]:
            lexical = "true"
        return solutions(["ask"], [{"ask": literal(lexical, XSD + "boolean")}])
    if "triples" in reply:
        triples = set(map(tuple, reply["triples"]))
        return solutions(TRIPLE, [dict(zip(TRIPLE, triple, strict=True)) for triple in triples])
    return solutions(reply["variables"], reply["rows"])
