"""The reference engine behind the protocol: `python reference.py PROFILE key=value …`.

It answers an element with the reports that the element triggers, and the end with those that the
horizon triggers. The semantics is the profile's, unless `register` brings one. Queries are tables
(QRY-1) as JSON, or texts in any dialect. `--wrong "WIN-8 nothing expires"` makes it the wrong
engine of that name (conformance.wrong_engines), for the suite to catch; with `--incremental` it
computes what changed (ENG-6).
"""

from __future__ import annotations

import argparse
import io
import json
import logging
import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib.metadata import version
from typing import Any, cast

from refengine import dialects
from refengine.core import engine, profiles, query, r2r
from refengine.core.answers import MakeAnswers, recomputed
from refengine.core.engine import Engine
from refengine.core.semantics import Semantics
from refengine.incremental import MaintainedWhileCovered
from refengine.model.elements import Dataset, Element, Triple
from refengine.model.errors import RefengineError, Unsupported
from refengine.model.messages import nearest
from refengine.rdf import files
from refengine.rdf.sources import Piped


class Reference:
    """The engine and the case that it is in."""

    def __init__(self, semantics: Semantics, make_answers: MakeAnswers = recomputed) -> None:
        self.usual = semantics
        self.make_answers = make_answers

    def register(
        self, text: str, dialect: str, streams: list[str], static: str = "", **more: Any
    ) -> list[dict[str, Any]]:
        """Begin a new case, of which nothing of the one before is part; `more` may have a
        semantics.
        """
        statements = _statements(static)
        if dialect == "table":
            asked = query.from_table(json.loads(text))
        else:
            asked = dialects.read(text, dialect, bool(statements))
        semantics = self.usual
        if "semantics" in more:
            semantics = Semantics(**more["semantics"])
        self.arrivals = 0
        self.engine = Engine(
            asked,
            streams,
            semantics,
            static=statements,
            # named here: the default was bound before a wrong engine could take its place
            answer=r2r.confirmed,
            make_answers=self.make_answers,
        )
        return []

    def push(
        self, stream: str, at: int, graph: str, batch: int | None = None, end: int | None = None
    ) -> list[dict[str, Any]]:
        """Return the reports that are complete by an element."""
        self.arrivals += 1
        triples = cast(frozenset[Triple], _statements(graph))  # an element has no named graphs
        element = Element(triples, at, self.arrivals, batch, end)
        return [_relation(report) for report in self.engine.push(stream, element)]

    def advance(self, at: int) -> list[dict[str, Any]]:
        """Return the reports that are complete once time has come to an instant."""
        return [_relation(report) for report in self.engine.advance(at)]

    def end(self) -> list[dict[str, Any]]:
        """Return the last reports."""
        return [_relation(report) for report in self.engine.finish()]


def _relation(report: engine.Report) -> dict[str, Any]:
    rows = files.relation_to_json(report.relation)["results"]["bindings"]
    borders = {} if report.window is None else {"window": list(report.window)}
    return {"rows": rows, "instant": report.instant, **borders}


def _statements(text: str) -> Dataset:
    """The triples and quads of N-Quads."""
    return files.read_static(Piped("text.nq", io.BytesIO(text.encode()), "text"))


def reply(reference: Reference, asked: dict[str, Any]) -> dict[str, Any]:
    """The reply to a command, without its number."""
    command = asked.pop("command")
    try:
        match command:
            case "start":
                named = {"engine": "refengine", "version": version("refengine")}
                return {"reply": "result", "protocol": 1, **named, "configurable": True}
            case "register":
                relations = reference.register(asked.pop("query"), **asked)
                return {"reply": "result", "relations": relations}
            case "push":
                return {"reply": "result", "relations": reference.push(**asked)}
            case "advance":
                return {"reply": "result", "relations": reference.advance(**asked)}
            case "end":
                return {"reply": "result", "relations": reference.end()}
            case _:
                return {"reply": "result"}
    except Unsupported as error:
        return {"reply": "unsupported", "reason": str(error)}
    except RefengineError as error:
        return {"reply": "error", "context": f"{type(error).__name__}: {error}"}


def wrong(name: str) -> AbstractContextManager[None]:
    """The wrong engine of a name such as `WIN-8 nothing expires`. Raises ArgumentTypeError."""
    from conformance.wrong_engines import MINIATURES  # not before: the right engine needs none

    named = {f"{miniature.rule} {miniature.name}": miniature for miniature in MINIATURES}
    if name not in named:
        raise argparse.ArgumentTypeError(f"no wrong engine {name!r}{nearest(name, named)}")
    return named[name].installed()


def serve(reference: Reference) -> None:
    """One line in, one line out."""
    for line in sys.stdin:
        asked = json.loads(line)
        seq, command = asked.pop("seq"), asked["command"]
        print(json.dumps({"seq": seq, **reply(reference, asked)}), flush=True)
        if command == "stop":
            break


def main() -> None:
    """The engine that the command line names, until it is stopped."""
    logging.disable()
    parser = argparse.ArgumentParser(description="The reference engine behind the protocol.")
    parser.add_argument("profile")
    parser.add_argument("fields", nargs="*", metavar="key=value")
    parser.add_argument("--wrong", type=wrong, default=nullcontext(), metavar="'RULE name'")
    parser.add_argument("--incremental", action="store_true", help="by incremental evaluation")
    options = parser.parse_args()
    fields = dict(word.split("=", 1) for word in options.fields)
    with options.wrong:
        semantics = profiles.profile(options.profile).but(**fields).semantics()
        make_answers: MakeAnswers = recomputed
        if options.incremental:
            make_answers = MaintainedWhileCovered
        serve(Reference(semantics, make_answers))


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        main()
