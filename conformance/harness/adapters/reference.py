"""The reference engine behind the protocol: `python reference.py PROFILE key=value …`.

It answers a push with the reports that the element triggers, and `end` with those that the horizon
triggers. The semantics is that of the profile, unless `register` brings one. Queries are tables
(QRY-1) as JSON, or texts in any dialect. With `--wrong "WIN-8 nothing expires"` it is the wrong
engine of that name (conformance.wrong_engines), which the suite must catch. With `--incremental` it
evaluates incrementally (ENG-6).
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib.metadata import version
from typing import Any, cast

from refengine import dialects
from refengine.core import profiles, query, r2r
from refengine.core.answers import MakeAnswers, recomputed_answers
from refengine.core.engine import Engine, Options, Report
from refengine.core.semantics import Semantics
from refengine.incremental import MaintainedWhileCovered
from refengine.model.elements import Dataset, Element, Triple
from refengine.model.errors import RefengineError, Unsupported
from refengine.model.messages import nearest
from refengine.rdf.documents import read_static
from refengine.rdf.recordings import relation_to_json
from refengine.rdf.sources import Text

Reports = list[Report]


class Reference:
    """The reference engine, and the query that is registered with it."""

    def __init__(self, semantics: Semantics, make_answers: MakeAnswers) -> None:
        self.usual = semantics
        self.make_answers = make_answers

    def register(
        self, text: str, dialect: str, streams: list[str], static: str = "", **more: Any
    ) -> Reports:
        """Register a query, and forget the one before. `more` may have a `semantics`."""
        statements = _statements(static)
        if dialect == "table":
            parsed_query = query.from_table(json.loads(text))
        else:
            parsed_query = dialects.read(text, dialect, bool(statements))
        semantics = self.usual
        if "semantics" in more:
            semantics = Semantics(**more["semantics"])
        # named here: the default was bound before a wrong engine could take its place
        options: Options = {"static": statements, "answer": r2r.confirmed_answer}
        self.engine = Engine(
            parsed_query, streams, semantics, **options, make_answers=self.make_answers
        )
        self.arrivals = 0
        return []

    def push(
        self, stream: str, at: int, graph: str, batch: int | None = None, end: int | None = None
    ) -> Reports:
        """Return the reports that are complete when an element arrives."""
        self.arrivals += 1
        triples = cast(frozenset[Triple], _statements(graph))  # an element has no named graphs
        return self.engine.push(stream, Element(triples, at, self.arrivals, batch, end))


def _relation(report: Report) -> dict[str, Any]:
    rows = relation_to_json(report.relation)["results"]["bindings"]
    relation = {"rows": rows, "instant": report.instant}
    if report.window is not None:
        relation["window"] = list(report.window)
    return relation


def _statements(text: str) -> Dataset:
    """Return the triples and quads of a text in N-Quads."""
    return read_static(Text("text.nq", text, "text"))


def run_command(reference: Reference, message: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to a message, without its number."""
    command = message.pop("command")
    try:
        match command:
            case "start":
                named = {"engine": "refengine", "version": version("refengine")}
                return {"reply": "result", "protocol": 1, **named, "configurable": True}
            case "register":
                reports = reference.register(message.pop("query"), **message)
            case "push":
                reports = reference.push(**message)
            case "advance":
                reports = reference.engine.advance(message["at"])
            case "end":
                reports = reference.engine.finish()
            case _:
                return {"reply": "result"}
        return {"reply": "result", "relations": [_relation(report) for report in reports]}
    except Unsupported as error:
        return {"reply": "unsupported", "reason": str(error)}
    except RefengineError as error:
        return {"reply": "error", "context": f"{type(error).__name__}: {error}"}


def wrong_engine(name: str) -> AbstractContextManager[None]:
    """Return a context with the wrong engine of a name. Raises ArgumentTypeError."""
    from conformance.wrong_engines import WRONG_ENGINES  # not before: the right engine needs none

    by_name = {one.full_name: one for one in WRONG_ENGINES}
    if name not in by_name:
        raise argparse.ArgumentTypeError(f"no wrong engine {name!r}{nearest(name, by_name)}")
    return by_name[name].installed()


def serve(reference: Reference) -> None:
    """Read messages line by line, and answer each with a line, until `stop`."""
    for line in sys.stdin:
        message = json.loads(line)
        seq, command = message.pop("seq"), message["command"]
        print(json.dumps({"seq": seq, **run_command(reference, message)}), flush=True)
        if command == "stop":
            break


def main() -> None:
    """Run the engine that the command line names until it is stopped."""
    logging.disable()
    parser = argparse.ArgumentParser(description="The reference engine behind the protocol.")
    parser.add_argument("profile")
    parser.add_argument("fields", nargs="*", metavar="key=value")
    parser.add_argument("--wrong", type=wrong_engine, default=nullcontext(), metavar="'RULE name'")
    parser.add_argument("--incremental", action="store_true", help="by incremental evaluation")
    options = parser.parse_args()
    fields = dict(word.split("=", 1) for word in options.fields)
    with options.wrong:
        semantics = profiles.profile(options.profile).but(**fields).semantics()
        make_answers: MakeAnswers = recomputed_answers
        if options.incremental:
            make_answers = MaintainedWhileCovered
        serve(Reference(semantics, make_answers))


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        main()
