"""A case played to a harness: its query registered, its elements pushed in the order of their
arrival, its end said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from heapq import merge
from itertools import chain
from typing import Any

from conformance.harness.client import Broken, Harness
from conformance.verdict.engine_report import EngineReport, to_nquads
from refengine.core.query import Query
from refengine.core.semantics import Semantics, show
from refengine.model.elements import Dataset, Element, Stream
from refengine.model.errors import InvalidStream
from refengine.model.messages import plain
from refengine.model.terms import Term
from refengine.rdf.recordings import relation_from_json


class Declined(Exception):
    """The engine has no such thing; `link` says where it says so."""

    def __init__(self, reason: str, link: str = "") -> None:
        super().__init__(reason)
        self.link = link


@dataclass(frozen=True)
class Asked:
    """A query as an engine is asked it: its text in a dialect, and the semantics, if the engine is
    told one.
    """

    query: Query
    text: str
    dialect: str
    semantics: Semantics | None = None


def play(
    harness: Harness,
    asked: Asked,
    streams: Mapping[str, Stream],
    static: Dataset = frozenset(),
    heartbeat: int = 0,
) -> list[EngineReport]:
    """What an engine answers to a query over streams, in the order of its reports. With a heartbeat
    it is told of the instant after every multiple of it, until the last window with an element is
    over.

    Raises Declined if it does not support them, and Broken where the harness breaks down, or
    answers with what are no terms.
    """
    # what is not declared is for the judge (QRY-4)
    names = list(streams) or sorted({window.stream for window in asked.query.windows})
    fields: dict[str, Any] = {"query": asked.text, "dialect": asked.dialect, "streams": names}
    if static:
        fields["static"] = to_nquads(static)
    if asked.semantics is not None:
        fields["semantics"] = {name: _value(value) for name, value in vars(asked.semantics).items()}
    answered: list[EngineReport] = []
    labels: dict[Term, Term] = {}
    pushes = _pushes(asked.query, streams)
    if heartbeat:
        pushes = _with_heartbeats(
            pushes, heartbeat, 1 + max(window.span for window in asked.query.windows)
        )
    for command, more in chain([("register", fields)], pushes, [("end", {})]):
        reply = harness.ask(command, **more)
        if reply["reply"] == "unsupported" and answered:
            raise Broken(
                f"{command}: unsupported, after {len(answered)} reports: {plain(reply['reason'])}"
            )
        if reply["reply"] == "unsupported":
            raise Declined(plain(reply["reason"]), reply.get("link", ""))
        if reply["reply"] == "error":
            raise Broken(f"{command}: {plain(reply['context'])}")
        found = _answers(reply, asked.query.body.variables, command, labels)
        answered += [answer._replace(came=more.get("at")) for answer in found]
    return answered


def _pushes(query: Query, streams: Mapping[str, Stream]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The elements of all streams in the order of their arrival: of each stream its own, of several
    by ENG-5. Those of streams that the query does not name are pushed, too: that it does not see
    them is QRY-4.
    """
    windows = [window.stream for window in query.windows]
    order = {name: number for number, name in enumerate(dict.fromkeys([*windows, *streams]))}
    named = ([(name, element) for element in stream] for name, stream in streams.items())
    for name, element in merge(
        *named, key=lambda arrival: (arrival[1].app, arrival[1].sys, order[arrival[0]])
    ):
        yield (
            "push",
            {
                "stream": name,
                "at": element.app,
                "graph": to_nquads(element.graph),
                **_more(element),
            },
        )


def _with_heartbeats(
    pushes: Iterator[tuple[str, dict[str, Any]]], every: int, after: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The pushes, with the instants k · every + 1 between and `after` them: one past a border, for
    engines that wait for that.
    """
    last = None
    for command, more in pushes:
        if last is not None:
            yield from (("advance", {"at": at}) for at in _beats(last, more["at"], every))
        yield command, more
        last = more["at"]
    if last is not None:
        yield from (("advance", {"at": at}) for at in _beats(last, last + after, every))


def _beats(after: int, until: int, every: int) -> range:
    """The instants k · every + 1 in (after, until]."""
    return range(((after - 1) // every + 1) * every + 1, until + 1, every)


def _more(element: Element) -> dict[str, int]:
    batch = {} if element.batch is None else {"batch": element.batch}
    return batch if element.end in (None, element.app) else {**batch, "end": element.end}


def _value(value: Any) -> Any:
    return value if isinstance(value, int) else show(value)


def _answers(
    reply: Mapping[str, Any], variables: tuple[str, ...], command: str, labels: dict[str, Term]
) -> Iterator[EngineReport]:
    for number, entry in enumerate(reply.get("relations", ())):
        where = f"relations[{number}].rows"
        try:
            relation = relation_from_json(entry["rows"], variables, where, labels)
        except InvalidStream as error:
            raise Broken(f"{command}: {error}") from None
        # 1.0 is an integer, too
        instant, window = (
            (int(entry["instant"]) if "instant" in entry else None),
            entry.get("window"),
        )
        yield EngineReport(
            relation, instant, None if window is None else (int(window[0]), int(window[1]))
        )
