"""Playing a question to a harness: register the query, push the elements in the order of their
arrival, say that the stream has ended, and collect the reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import merge
from typing import Any, Protocol

from conformance.harness.client import Broken, Harness
from conformance.harness.heartbeat import Heartbeat
from conformance.verdict.engine_report import EngineReport, to_nquads
from refengine.core.query import Query
from refengine.core.semantics import Semantics, semantics_to_json
from refengine.core.window import longest_stay
from refengine.model.elements import Dataset, Element, Stream
from refengine.model.errors import InvalidStream
from refengine.model.messages import plain
from refengine.model.terms import Term
from refengine.rdf.recordings import relation_from_json

Command = tuple[str, dict[str, Any]]  # its name and its fields


class Declined(Exception):
    """The error that an engine does not support a query. `link` is where its makers say so."""

    def __init__(self, reason: str, link: str = "") -> None:
        super().__init__(reason)
        self.link = link


@dataclass(frozen=True)
class EngineQuery:
    """A query as it is put to an engine: its text in a dialect, and the semantics, for an engine
    that is sent one. `keeps_arrival_order` says whether elements arrive by t_sys alone (MOD-5) in
    the semantics that another engine claims.
    """

    query: Query
    text: str
    dialect: str
    semantics: Semantics | None = None
    keeps_arrival_order: bool = False

    @property
    def is_by_sys(self) -> bool:
        """Whether the elements of several streams arrive by t_sys alone (MOD-5)."""
        if self.semantics is None:
            return self.keeps_arrival_order
        return self.semantics.late_for.keeps_arrival_order


class Pacing(Protocol):
    """What says when the next element is sent, and when a reply came."""

    def wait_until(self, instant: int) -> None:
        """Wait until an instant of the stream, in ms, is due."""

    def note_reply_and_tell_time(self) -> int | None:
        """Note that a reply has come. Return the stream's time now, in ms; None if it does not go
        on with the clock.
        """


def play(
    harness: Harness,
    engine_query: EngineQuery,
    streams: Mapping[str, Stream],
    static: Dataset = frozenset(),
    heartbeat: Heartbeat | None = None,
    pacing: Pacing | None = None,
) -> list[EngineReport]:
    """Play a query and its streams to an engine, and return its reports in the order in which they
    come.

    With a `heartbeat` the engine is sent the time between elements, and after the last one until
    the last window with an element is over. With a `pacing` it says when each element is sent, and
    each report has the time at which it was received. Otherwise the engine is fed as fast as it
    takes elements.

    Raises Declined if the engine does not support the query, and Broken if the harness breaks down
    or answers with malformed terms.
    """
    every = commands(engine_query, streams, static, heartbeat)
    return play_commands(harness, every, engine_query.query.body.variables, pacing)


def play_commands(
    harness: Harness,
    every: Iterable[Command],
    variables: tuple[str, ...],
    pacing: Pacing | None = None,
) -> list[EngineReport]:
    """Play the commands of a question to an engine, as `play` does. `variables` are those of the
    query.
    """
    reports: list[EngineReport] = []
    labels: dict[Term, Term] = {}
    for command, fields in every:
        if pacing is not None and "at" in fields:
            pacing.wait_until(fields["at"])
        reply = harness.ask(command, **fields)
        check_result(reply, command, len(reports))
        received = None
        if pacing is not None:
            received = pacing.note_reply_and_tell_time()
        for report in _reports(reply, variables, command, labels):
            reports.append(report._replace(push_instant=fields.get("at"), received=received))
    return reports


def commands(
    engine_query: EngineQuery,
    streams: Mapping[str, Stream],
    static: Dataset = frozenset(),
    heartbeat: Heartbeat | None = None,
) -> Iterator[Command]:
    """Yield the commands with which a query and its streams are played to an engine: `register`, a
    `push` for each element and an `advance` for each instant of the `heartbeat`, and `end`.
    """
    pushes = _pushes(engine_query.query, streams, engine_query.is_by_sys)
    if heartbeat is not None:
        longest = max(map(longest_stay, engine_query.query.windows))
        pushes = _with_heartbeats(pushes, heartbeat, 1 + longest)
    yield "register", _registration(engine_query, streams, static)
    yield from pushes
    yield "end", {}


def join_instants(every: Iterable[Command]) -> Iterator[Command]:
    """Yield commands, of which neighbouring pushes to a stream at one instant are one: its graph
    has their triples in the order of their arrival. A triple that comes again at its instant, and
    an element with a batch id or an interval, is pushed by itself.
    """
    joined: Command | None = None
    for command, fields in every:
        if joined is not None and _can_be_joined(joined, (command, fields)):
            joined = command, {**fields, "graph": joined[1]["graph"] + fields["graph"]}
            continue
        if joined is not None:
            yield joined
        joined = command, fields
    if joined is not None:
        yield joined


def _can_be_joined(before: Command, following: Command) -> bool:
    """Whether a command can be joined to the one before it."""
    if before[0] != "push" or following[0] != "push":
        return False
    one, other = dict(before[1]), dict(following[1])
    triples, more = one.pop("graph").splitlines(), other.pop("graph").splitlines()
    is_plain = one.keys() == {"stream", "at"}
    return is_plain and one == other and not set(triples) & set(more)


def _registration(
    engine_query: EngineQuery,
    streams: Mapping[str, Stream],
    static: Dataset,
) -> dict[str, Any]:
    """Return the fields of `register`."""
    # windows over undeclared streams are the judge's business (QRY-4)
    names = list(streams) or sorted({window.stream for window in engine_query.query.windows})
    fields: dict[str, Any] = {
        "query": engine_query.text,
        "dialect": engine_query.dialect,
        "streams": names,
    }
    if static:
        fields["static"] = to_nquads(static)
    if engine_query.semantics is not None:
        fields["semantics"] = semantics_to_json(engine_query.semantics)
    return fields


def check_result(reply: Mapping[str, Any], command: str, reports: int) -> None:
    """Raise Declined for the reply `unsupported`, if no reports have come yet, and Broken for
    `error`.
    """
    if reply["reply"] == "unsupported":
        reason = plain(reply["reason"])
        if reports:
            raise Broken(f"{command}: unsupported, after {reports} reports: {reason}")
        raise Declined(reason, reply.get("link", ""))
    if reply["reply"] == "error":
        raise Broken(f"{command}: {plain(reply['context'])}")


def _pushes(query: Query, streams: Mapping[str, Stream], is_by_sys: bool) -> Iterator[Command]:
    """Yield the elements of all streams in the order of their arrival: the order of a stream is its
    own, and several are merged by ENG-5; by t_sys alone if `is_by_sys`. Streams that the query does
    not name are pushed, too: the engine must not see them in its windows (QRY-4).
    """
    windows = [window.stream for window in query.windows]
    order = {name: number for number, name in enumerate(dict.fromkeys([*windows, *streams]))}
    named = ([(name, element) for element in stream] for name, stream in streams.items())

    def place(arrival: tuple[str, Element]) -> tuple[int, int, int]:
        name, element = arrival
        return 0 if is_by_sys else element.app, element.sys, order[name]

    for name, element in merge(*named, key=place):
        yield "push", _push(name, element)


def _push(stream: str, element: Element) -> dict[str, Any]:
    """Return the fields of `push`."""
    fields = {"stream": stream, "at": element.app, "graph": to_nquads(element.graph)}
    if element.batch is not None:
        fields["batch"] = element.batch
    if element.end not in (None, element.app):
        fields["end"] = element.end
    return fields


def _with_heartbeats(
    pushes: Iterator[Command],
    heartbeat: Heartbeat,
    after: int,
) -> Iterator[Command]:
    """Yield the pushes and, between them and up to `after` ms after the last one, `advance` to the
    instants of a heartbeat. Time does not go back for a late element.
    """
    time = None
    for command, fields in pushes:
        at = fields["at"]
        if time is None:
            time = at
        yield from _advances(heartbeat, time, at)
        yield command, fields
        time = max(time, at)
    if time is not None:
        yield from _advances(heartbeat, time, time + after)


def _advances(heartbeat: Heartbeat, after: int, until: int) -> Iterator[Command]:
    """Yield an `advance` to each of a heartbeat's instants in (after, until]."""
    for at in heartbeat.instants(after, until):
        yield "advance", {"at": at}


def _reports(
    reply: Mapping[str, Any],
    variables: tuple[str, ...],
    command: str,
    labels: dict[str, Term],
) -> Iterator[EngineReport]:
    """Yield the reports of a reply. Raises Broken for malformed terms."""
    for number, entry in enumerate(reply.get("relations", ())):
        where = f"relations[{number}].rows"
        try:
            relation = relation_from_json(entry["rows"], variables, where, labels)
        except InvalidStream as error:
            raise Broken(f"{command}: {error}") from None
        instant = window = None
        if "instant" in entry:
            instant = int(entry["instant"])  # 1.0 is an integer, too
        if "window" in entry:
            opens, closes = entry["window"]
            window = int(opens), int(closes)
        yield EngineReport(relation, instant, window)
