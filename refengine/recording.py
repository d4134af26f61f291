"""§11 What the oracle judges and finds: a recording, assignments tried on it, where they part, and how outputs match it (ORA-3)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple, TypeVar

from refengine import compare, derive, engine, r2r, window
from refengine.compare import Mode
from refengine.engine import Plan
from refengine.incremental import Asked
from refengine.model import Bag, Dataset, Element, Relation, Row, Stream
from refengine.numbers import Beyond
from refengine.query import Body, Query
from refengine.semantics import Collection, Semantics

T = TypeVar("T")
READ = ("closure", "slide", "closing", "horizon", "disorder")  # by engine.plan of a semantics, beside what it means and the frame


@dataclass(frozen=True)
class Recorded:
    """What is judged: a query, its streams, static data and the recorded relations, with the stated bound and mode."""

    query: Query
    streams: Mapping[str, Stream]
    static: Dataset
    relations: tuple[Relation, ...]
    missing: int
    mode: Mode

    @property
    def rows(self) -> list[Bag]:
        return [relation.rows for relation in self.relations]


class Answers:
    """Witnesses' answers and derivations, each computed once; a table of results, not of decisions. `witness` is the one
    that answers in a search."""

    def __init__(self, witness: str = r2r.FASTEST):
        self.witness = witness
        self.known: dict[tuple[str, str, frozenset], Relation] = {}
        self.derived: dict[tuple[str, frozenset], list[derive.Derivation]] = {}
        self.made: dict[tuple, tuple] = {}
        self.quick = True  # whether incremental evaluation may answer in a witness's place

    def by(self, witness: str) -> Answers:
        """The same table with another witness to answer, and nothing else."""
        other = Answers(witness)
        other.known, other.derived, other.made, other.quick = self.known, self.derived, self.made, False
        return other

    def once(self, kind: str, held: Sequence[object], key: Hashable, make: Callable[[], T]) -> T:
        """What is made once of some objects, which are themselves (a stream is long to compare), and a key."""
        key = (kind, key, *map(id, held))
        if key not in self.made:
            self.made[key] = held, make()  # which keeps them, and so their ids
        return self.made[key][1]

    def planned(self, recorded: Recorded, semantics: Semantics) -> Plan:
        """The plan of a recording under a semantics."""
        return self.plan(recorded.query, recorded.streams, semantics)

    def plan(self, query: Query, streams: Mapping[str, Stream], semantics: Semantics) -> Plan:
        """engine.plan; of plans of one window that read the same of their semantics all but its frame is made once."""
        if not isinstance(semantics.t0, int) or len(query.windows) > 1 or query.windows[0].stream not in streams:
            return engine.plan(query, streams, semantics)
        engine.meaning(query, semantics)
        stream, read = streams[query.windows[0].stream], tuple(getattr(semantics, name) for name in READ)
        planned = self.once("plan", [stream], (query, read), lambda: engine.plan(query, streams, semantics))
        (view,) = planned.views
        frame = window.frame(view.spec, semantics.closure, semantics.t0, semantics.partial)
        return replace(planned, semantics=semantics, views=(replace(view, t0=semantics.t0, frame=frame),))

    def asked(self, recorded: Recorded, planned: Plan, derivations: bool = False) -> Asked | str:
        """Incremental answers over contents of the windows, which all plans of the same elements share; or why there are none:
        a witness is to answer (`derivations` alone are no answers, and ORA-5 holds them to those), the
        body is not covered, answers are compared as terms, or rounding decides how many there are."""
        if not self.quick and not derivations:
            return "a witness answers"
        if recorded.mode is Mode.TERM:
            return "answers are compared as terms"
        if planned.semantics.collection is Collection.SET and not derive.projects(recorded.query.body):
            return "a set of what is computed"
        elements, specs = [view.elements for view in planned.views], tuple((view.spec.stream, view.spec.name) for view in planned.views)

        def made() -> Asked | str:
            try:
                return Asked(recorded.query, planned.views, recorded.static)
            except Beyond as error:
                return str(error)

        return self.once("asked", elements, (recorded.query.body, specs, recorded.static), made)

    def __call__(self, body: Body, graph: frozenset) -> Relation:
        return self.ask(self.witness, body, graph)

    def ask(self, witness: str, body: Body, graph: frozenset) -> Relation:
        """One witness's answer."""
        key = (witness, body.text, graph)
        if key not in self.known:
            self.known[key] = r2r.ask(witness, body, graph)
        return self.known[key]

    def agreed(self, body: Body, graph: frozenset, witnesses: tuple[str, ...]) -> Relation:
        """R2R-5 over what is known. Raises Disputed."""
        return r2r.agreed(body, graph, witnesses, self.ask)

    def derivations(self, body: Body, graph: frozenset) -> list[derive.Derivation]:
        """The derivations of the body over a graph."""
        key = (body.text, graph)
        if key not in self.derived:
            self.derived[key] = derive.derivations(body, graph)
        return self.derived[key]


class Origin(NamedTuple):
    """A class of t0 values that no element tells apart: the one tried, and the class's bounds."""

    t0: int
    lo: int
    hi: int


class State(NamedTuple):
    """How much of the recording is explained: outputs missing before it, relations matched, outputs missing after it."""

    before: int
    matched: int
    after: int


def advance(states: Iterable[State], output: Bag, recorded: Recorded) -> set[State]:
    """ORA-3: one more output of the semantics: it is missing before the recording or after it, at most k times each,
    or it is the recording's next relation."""
    rows, following = recorded.rows, set()
    for before, matched, after in states:
        if matched == 0 and before < recorded.missing:
            following.add(State(before + 1, 0, 0))
        if matched < len(rows) and compare.equal(output, rows[matched], recorded.mode):
            following.add(State(before, matched + 1, 0))
        if matched == len(rows) and rows and after < recorded.missing:
            following.add(State(before, matched, after + 1))
    return following


def accepted(states: Iterable[State], recorded: Recorded) -> State | None:
    """The state that explains all of the recording with the fewest outputs missing; an empty recording allows none."""
    whole = [s for s in states if s.matched == len(recorded.relations) and (recorded.relations or s.before == 0)]
    return min(whole, key=lambda s: (s.before + s.after, s), default=None)


class Fate(StrEnum):
    """Where a recording has a row that an element on a window border completes."""

    PLACE = "in place"
    EARLY = "one window early"
    LATE = "one window late"
    BOTH = "in both windows"
    OUT = "left out"


class BorderRow(NamedTuple):
    """A row completed by an element on a window border, that element's t_app, the window and what became of the row."""

    row: Row
    at: int
    window: tuple[int, int]
    fate: Fate


@dataclass(frozen=True)
class Divergence:
    """Where the semantics and the recording part: the recording's relation `index` (from 0), the window and its content
    there, the rows expected and recorded (None: no relation is left), the rows that rest on a window border, and how far
    the two are from each other (ORA-9): the differing rows that no border explains, and all of them; where orders were
    searched, the relations not reached."""

    index: int
    evaluation: int | None
    window: tuple[int, int] | None
    content: tuple[Element, ...]
    expected: Bag | None
    actual: Bag | None
    reason: str
    borders: tuple[BorderRow, ...] = ()
    cost: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Trial:
    """One assignment: the state that accepts the recording, or, of a search over orders, where every order parts
    from it. `ordered`: whether no order had to be searched; `last`: the dataset at which a failed one ended, and `answer`, what
    incremental evaluation answers over it (None: the definition computed it); `by`, who computed it."""

    semantics: Semantics
    origin: Origin
    accepted: State | None
    divergence: Divergence | None = None
    ordered: bool = True
    last: Dataset = frozenset()
    answer: Bag | None = None
    by: str = "the definition"
