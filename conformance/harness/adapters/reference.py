"""The reference engine behind the protocol: `python reference.py PROFILE key=value …`.

It answers an element with the reports that it triggers, and the end with those of the horizon. The
semantics is the profile's, unless `register` brings one. Queries are tables (QRY-1) as JSON, or
texts in any dialect. `--wrong "WIN-8 nothing expires"` makes it the wrong engine of that name
(conformance.wrong_engines), for the suite to catch; `--incremental`: ENG-6 computes the reports.
"""

from __future__ import annotations

import argparse
import io
import json
import logging
import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from importlib.metadata import version
from typing import Any, cast

from refengine import dialects, incremental
from refengine.core import engine, profiles, query, r2r
from refengine.core.semantics import Disorder, End, Semantics
from refengine.model.elements import Dataset, Element, Stream, Triple
from refengine.model.errors import RefengineError, Unsupported
from refengine.model.messages import nearest
from refengine.rdf import files
from refengine.rdf.sources import Piped


class Reference:
    """The reference engine, and the case that it is in."""

    def __init__(self, semantics: Semantics, is_incremental: bool = False) -> None:
        self.default = semantics
        self.evaluate = incremental.evaluate if is_incremental else engine.evaluate

    def register(
        self, text: str, dialect: str, streams: list[str], static: str = "", **more: Any
    ) -> list[dict[str, Any]]:
        """Begin a case, with nothing of the one before; `more` may have a semantics."""
        self.static = _statements(static)
        if dialect == "table":
            self.query = query.from_table(json.loads(text))
        else:
            self.query = dialects.read(text, dialect, bool(self.static))
        self.semantics = Semantics(**more["semantics"]) if "semantics" in more else self.default
        self.elements: dict[str, list[Element]] = {name: [] for name in streams}
        self.arrivals = self.sent = 0  # elements that came, and reports that were sent
        return []

    def push(
        self, stream: str, at: int, graph: str, batch: int | None = None, end: int | None = None
    ) -> list[dict[str, Any]]:
        """Return what an element triggers; with bounded disorder that may come late, and waits."""
        self.arrivals += 1
        triples = cast(frozenset[Triple], _statements(graph))  # an element has no named graphs
        self.elements[stream].append(Element(triples, at, self.arrivals, batch, end))
        if self.semantics.disorder not in (Disorder.REJECT, 0):
            return []
        return self._reports(replace(self.semantics, horizon=End.NONE))

    def end(self) -> list[dict[str, Any]]:
        """Return the reports that the horizon triggers."""
        return self._reports(self.semantics)

    def _reports(self, semantics: Semantics) -> list[dict[str, Any]]:
        """Return the reports that have not been sent yet, for a reply."""
        streams = {name: Stream(tuple(elements)) for name, elements in self.elements.items()}
        answer = r2r.confirmed  # the default was bound before a wrong engine could take its place
        options: dict[str, Any] = {"static": self.static, "answer": answer}
        reports = list(self.evaluate(self.query, streams, semantics, **options))
        start, self.sent = self.sent, len(reports)
        return [_relation(report) for report in reports[start:]]


def _relation(report: engine.Report) -> dict[str, Any]:
    """Return a report as a relation of a reply."""
    rows = files.relation_to_json(report.relation)["results"]["bindings"]
    borders = {} if report.window is None else {"window": list(report.window)}
    return {"rows": rows, "instant": report.instant, **borders}


def _statements(text: str) -> Dataset:
    """Return the triples and quads of N-Quads."""
    return files.read_static(Piped("text.nq", io.BytesIO(text.encode()), "text"))


def reply(reference: Reference, command: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to a command, without its number."""
    try:
        match command:
            case "start":
                name = {"engine": "refengine", "version": version("refengine")}
                return {"reply": "result", "protocol": 1, **name, "configurable": True}
            case "register":
                relations = reference.register(fields.pop("query"), **fields)
                return {"reply": "result", "relations": relations}
            case "push":
                return {"reply": "result", "relations": reference.push(**fields)}
            case "end":
                return {"reply": "result", "relations": reference.end()}
            case "advance":
                return {"reply": "result", "relations": []}
            case _:
                return {"reply": "result"}
    except Unsupported as error:
        return {"reply": "unsupported", "reason": str(error)}
    except RefengineError as error:
        return {"reply": "error", "context": f"{type(error).__name__}: {error}"}


def wrong(name: str) -> AbstractContextManager[None]:
    """Return what installs a wrong engine, by its name. Raises ArgumentTypeError."""
    from conformance.wrong_engines import MINIATURES  # not before: the right engine needs none

    named = {f"{miniature.rule} {miniature.name}": miniature for miniature in MINIATURES}
    if name not in named:
        raise argparse.ArgumentTypeError(f"no wrong engine {name!r}{nearest(name, named)}")
    return named[name].installed()


def serve(reference: Reference) -> None:
    """Answer each line of standard input by one line, until the engine is to stop."""
    for line in sys.stdin:
        fields = json.loads(line)
        seq, command = fields.pop("seq"), fields.pop("command")
        print(json.dumps({"seq": seq, **reply(reference, command, fields)}), flush=True)
        if command == "stop":
            break


def main() -> None:
    """Serve the engine that the command line names."""
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
        serve(Reference(semantics, options.incremental))


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        main()
