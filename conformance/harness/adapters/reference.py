"""The reference engine behind the protocol: `python reference.py PROFILE key=value …`.

It answers an element with the reports that the element triggers, and the end with those that the
horizon triggers. The semantics is the profile's, unless `register` brings one. Queries are tables
(QRY-1) as JSON, or texts in any dialect. `--wrong "WIN-8 nothing expires"` makes it the wrong
engine of that name (conformance.wrong_engines), for the suite to catch; with `--incremental` it
computes what changed (ENG-6).
"""

from __future__ import annotations

import argparse
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
from refengine.rdf.documents import read_static
from refengine.rdf.recordings import relation_to_json
from refengine.rdf.sources import Text


class Reference:
    """The engine and the case that it is in."""

    def __init__(self, semantics: Semantics, quick: bool = False) -> None:
        self.usual = semantics
        self.evaluate = incremental.evaluate if quick else engine.evaluate

    def register(
        self, text: str, dialect: str, streams: list[str], static: str = "", **more: Any
    ) -> list[dict[str, Any]]:
        """A new case, of which nothing of the one before is part; `more` may have a semantics."""
        self.static = _statements(static)
        if dialect == "table":
            self.query = query.from_table(json.loads(text))
        else:
            self.query = dialects.read(text, dialect, bool(self.static))
        self.semantics = Semantics(**more["semantics"]) if "semantics" in more else self.usual
        self.elements: dict[str, list[Element]] = {name: [] for name in streams}
        self.arrivals = self.given = 0
        return []

    def push(
        self, stream: str, at: int, graph: str, batch: int | None = None, end: int | None = None
    ) -> list[dict[str, Any]]:
        """The reports that an element triggers. With bounded disorder what triggers them may come
        late, so they wait for the end.
        """
        self.arrivals += 1
        triples = cast(frozenset[Triple], _statements(graph))  # an element has no named graphs
        self.elements[stream].append(Element(triples, at, self.arrivals, batch, end))
        waits = self.semantics.disorder not in (Disorder.REJECT, 0)
        return [] if waits else self._reports(replace(self.semantics, horizon=End.NONE))

    def end(self) -> list[dict[str, Any]]:
        """The reports that the horizon triggers."""
        return self._reports(self.semantics)

    def _reports(self, semantics: Semantics) -> list[dict[str, Any]]:
        streams = {name: Stream(tuple(elements)) for name, elements in self.elements.items()}
        answer = r2r.confirmed  # the default was bound before a wrong engine could take its place
        options: dict[str, Any] = {"static": self.static, "answer": answer}
        reports = list(self.evaluate(self.query, streams, semantics, **options))
        new, self.given = reports[self.given :], len(reports)
        return [_relation(report) for report in new]


def _relation(report: engine.Report) -> dict[str, Any]:
    rows = relation_to_json(report.relation)["results"]["bindings"]
    borders = {} if report.window is None else {"window": list(report.window)}
    return {"rows": rows, "instant": report.instant, **borders}


def _statements(text: str) -> Dataset:
    """The triples and quads of N-Quads."""
    return read_static(Text("text.nq", text, "text"))


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
            case "end":
                return {"reply": "result", "relations": reference.end()}
            case _:
                return {"reply": "result"} | ({"relations": []} if command == "advance" else {})
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
        serve(Reference(semantics, options.incremental))


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        main()
