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
from conformance.verdict import window_elements
from conformance.verdict.engine_report import EngineReport, to_nquads
from refengine.core.query import Query
from refengine.core.semantics import Semantics, semantics_to_json
from refengine.core.window import longest_stay
from refengine.model.elements import Dataset, Element, Relation, Stream
from refengine.model.errors import InvalidStream
from refengine.model.messages import display, plain
from refengine.model.terms import Term
from refengine.rdf.recordings import relation_from_json

Command = tuple[str, dict[str, Any]]  # its name and its fields
MOST_TIMES = 100  # that a content may have each element, on average


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
    reader = ReplyReader(variables)
    for command, fields in every:
        reader.note_command(command, fields)
        if pacing is not None and "at" in fields:
            pacing.wait_until(fields["at"])
        reply = harness.ask(command, **fields)
        check_result(reply, command, len(reports))
        received = None
        if pacing is not None:
            received = pacing.note_reply_and_tell_time()
        for report in reader.reports(reply, command):
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
    pushes = _pushes(engine_query, streams)
    if heartbeat is not None:
        longest = max(map(longest_stay, engine_query.query.windows)) + heartbeat.delay
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
    fields: dict[str, Any] = {"query": engine_query.text, "dialect": engine_query.dialect}
    if engine_query.semantics is not None:
        fields["semantics"] = semantics_to_json(engine_query.semantics)
    if engine_query.dialect == window_elements.DIALECT:
        return fields
    # windows over undeclared streams are the judge's business (QRY-4)
    fields["streams"] = list(streams) or sorted(
        {window.stream for window in engine_query.query.windows}
    )
    if static:
        fields["static"] = to_nquads(static)
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


def _pushes(engine_query: EngineQuery, streams: Mapping[str, Stream]) -> Iterator[Command]:
    """Yield the elements of all streams in the order of their arrival: the order of a stream is its
    own, and several are merged by ENG-5; by t_sys alone if the query `is_by_sys`. Streams that the
    query does not name are pushed, too: the engine must not see them in its windows (QRY-4).
    """
    windows = [window.stream for window in engine_query.query.windows]
    order = {name: number for number, name in enumerate(dict.fromkeys([*windows, *streams]))}
    named = ([(name, element) for element in stream] for name, stream in streams.items())

    def place(arrival: tuple[str, Element]) -> tuple[int, int, int]:
        name, element = arrival
        return 0 if engine_query.is_by_sys else element.app, element.sys, order[name]

    for name, element in merge(*named, key=place):
        yield "push", _push(name, element, engine_query)


def _push(stream: str, element: Element, engine_query: EngineQuery) -> dict[str, Any]:
    """Return the fields of `push`."""
    fields: dict[str, Any]
    if engine_query.dialect == window_elements.DIALECT:
        fields = {"at": element.app, **_numbered(element, engine_query.query)}
    else:
        fields = {"stream": stream, "at": element.app, "graph": to_nquads(element.graph)}
    if element.batch is not None:
        fields["batch"] = element.batch
    if element.end not in (None, element.app):
        fields["end"] = element.end
    return fields


def _numbered(element: Element, query: Query) -> dict[str, Any]:
    """Return the number of an element of the suite `windows`, and its key if the window has one. A
    punctuation has neither.
    """
    found = window_elements.number_and_key(element)
    if found is None:
        return {}
    number, key = found
    if not query.windows[0].by:
        return {"element": number}
    return {"element": number, "key": key}


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


class ReplyReader:
    """Reads the reports in the replies to a question's commands.

    `variables` are those of the query. Blank nodes with one label are one node in all replies. Of
    elements with numbers an engine may name those that were pushed.
    """

    def __init__(self, variables: tuple[str, ...]) -> None:
        self.variables = variables
        self.labels: dict[Term, Term] = {}
        self.is_asked_for_contents = False
        self.pushed: set[int] = set()

    def note_command(self, command: str, fields: Mapping[str, Any]) -> None:
        """Note a command before it is sent."""
        if command == "register":
            self.is_asked_for_contents = fields.get("dialect") == window_elements.DIALECT
        if "element" in fields:
            self.pushed.add(fields["element"])

    def reports(self, reply: Mapping[str, Any], command: str) -> Iterator[EngineReport]:
        """Yield the reports of a reply. Raises Broken for malformed terms, and for elements that
        were not pushed.
        """
        for number, entry in enumerate(reply.get("relations", ())):
            try:
                relation = self._relation(entry, f"relations[{number}]")
            except InvalidStream as error:
                raise Broken(f"{command}: {error}") from None
            instant = window = None
            if "instant" in entry:
                instant = int(entry["instant"])  # 1.0 is an integer, too
            if "window" in entry:
                opens, closes = map(int, entry["window"])
                if opens > closes:
                    reason = f"[{opens}, {closes}]: must be [o, c] with o <= c (ORA-11)"
                    raise Broken(f"{command}: relations[{number}].window: {reason}")
                window = opens, closes
            key = tuple(entry["key"]) if "key" in entry else None
            takes_back = entry.get("takes_back", False)
            yield EngineReport(relation, instant, window, takes_back=takes_back, key=key)

    def _relation(self, entry: Mapping[str, Any], where: str) -> Relation:
        """Return the relation of a report. Raises InvalidStream."""
        wanted = "elements" if self.is_asked_for_contents else "rows"
        if wanted not in entry:
            raise InvalidStream(f"key {wanted!r} is missing", rule="protocol", place=where)
        where = f"{where}.{wanted}"
        if not self.is_asked_for_contents:
            return relation_from_json(entry["rows"], self.variables, where, self.labels)
        numbers = [int(number) for number in entry["elements"]]
        if len(numbers) > MOST_TIMES * len(self.pushed):
            reason = f"{len(numbers)} elements, and only {len(self.pushed)} have been pushed"
            raise InvalidStream(reason, rule="protocol", place=where)
        for position, number in enumerate(numbers):
            if number not in self.pushed:
                reason = f"no element {display(number)} has been pushed before this reply"
                raise InvalidStream(reason, rule="protocol", place=f"{where}[{position}]")
        return window_elements.content_of(numbers)
