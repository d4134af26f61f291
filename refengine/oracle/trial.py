"""§11 What the oracle judges and finds: a recording, assignments tried on it, where they part, and
how outputs match it (ORA-3).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple, TypedDict, TypeVar

from refengine.core import engine, r2r, window
from refengine.core.engine import Plan, Report
from refengine.core.query import Body, Query
from refengine.core.semantics import Closure, Collection, Semantics
from refengine.core.window import Content
from refengine.incremental import Asked
from refengine.incremental.numbers import Beyond
from refengine.model import compare
from refengine.model.canonical import canonical_dataset
from refengine.model.compare import Mode
from refengine.model.elements import Bag, Dataset, Element, Relation, Row, Stream, Triple
from refengine.oracle import derivations
from refengine.oracle.derivations import Derivation
from refengine.sparql.witnesses import WITNESSES

T = TypeVar("T")
# by engine.plan of a semantics, beside what it means and the frame
READ = ("closure", "slide", "closing", "horizon", "disorder")


Borders = tuple[int, int]  # (o, c) of a window


class Missing(NamedTuple):
    """How many outputs may be missing from a recording: before its first relation, and after its
    last one (ORA-3).
    """

    before: int
    after: int

    @staticmethod
    def of(bound: int | Missing) -> Missing:
        """The bounds of both ends, which one number states for both."""
        return bound if isinstance(bound, Missing) else Missing(bound, bound)

    def __str__(self) -> str:
        if self.before == self.after:
            return f"{self.before} at each end"
        return f"{self.before} before the first and {self.after} after the last"


@dataclass(frozen=True)
class Recorded:
    """What is judged: a query, its streams, static data and the recorded relations, with the stated
    bounds and mode.

    `windows` are the borders of the window that the engine tells of each relation; None, or an
    entry too few, where it tells none. `window_closure` says which borders belong to a told window;
    None where it is that of the semantics.
    """

    query: Query
    streams: Mapping[str, Stream]
    static: Dataset
    relations: tuple[Relation, ...]
    missing: Missing
    mode: Mode
    windows: tuple[Borders | None, ...] = ()
    window_closure: Closure | None = None

    @cached_property
    def rows(self) -> list[Bag]:
        """The rows of each relation."""
        return [relation.rows for relation in self.relations]

    def told(self, index: int, closure: Closure | None) -> Borders | None:
        """The first and the last instant of the window that the engine tells of a relation; None
        where it tells none.
        """
        borders = self.windows[index] if index < len(self.windows) else None
        return instants(borders, self.window_closure or closure)

    def first_told(self) -> tuple[Borders, Closure | None] | None:
        """The first window that the engine tells, with the closure that is stated for it; None if
        it tells none.
        """
        borders = next(filter(None, self.windows), None)
        return None if borders is None else (borders, self.window_closure)

    def is_about(self, index: int, borders: Borders | None, closure: Closure | None) -> bool:
        """ORA-11: whether the window that the engine tells of a relation holds the same instants as
        a report's window does.

        True where either has no window. Over integers [0, 10) and (-1, 9] are the same.
        """
        told, expected = self.told(index, closure), instants(borders, closure)
        return told is None or expected is None or told == expected


def instants(borders: Borders | None, closure: Closure | None) -> Borders | None:
    """The first and the last instant of the window with these borders (WIN-2)."""
    if borders is None:
        return None
    low, high = window.borders(closure)
    return borders[0] + low, borders[1] + high


@dataclass(frozen=True)
class Basis:
    """On what a recording is judged, beside the query, its streams and the profile.

    `missing` is the number k of outputs that may be missing at each end. `witnesses` are those that
    confirm answers, `answers` the table in which answers are kept (None: one of its own). `windows`
    are the borders of the window that the engine tells of each relation, and `window_closure` which
    borders belong to them (None: those of the semantics).
    """

    missing: int | Missing = 1
    mode: Mode = Mode.VALUE
    static: Dataset = frozenset()
    witnesses: tuple[str, ...] = tuple(WITNESSES)
    answers: Answers | None = None
    windows: Sequence[Borders | None] = ()
    window_closure: Closure | None = None

    def recorded(
        self, query: Query, streams: Mapping[str, Stream], recording: Sequence[Relation]
    ) -> Recorded:
        """What is judged on this basis."""
        return Recorded(
            query,
            streams,
            canonical_dataset(self.static),
            tuple(recording),
            Missing.of(self.missing),
            self.mode,
            tuple(self.windows) if any(self.windows) else (),
            self.window_closure,
        )


class BasisKeywords(TypedDict, total=False):
    """The fields of a Basis, as `judge.judge` and `explanations.nearest` take them."""

    missing: int | Missing
    mode: Mode
    static: Dataset
    witnesses: tuple[str, ...]
    answers: Answers | None
    windows: Sequence[Borders | None]
    window_closure: Closure | None


class Answers:
    """The answers of the definition and of witnesses, and derivations, each computed once; a table
    of results, not of decisions.

    `witness` is who answers in a search: the definition, or a witness that repeats it.
    """

    def __init__(self, witness: str = r2r.DEFINITION):
        self.witness = witness
        self.testimonies: dict[tuple[str, Dataset, tuple[str, ...]], r2r.Testimony] = {}
        self.relied_on: list[r2r.Testimony] = []  # what a verdict rests on so far
        self.known: dict[tuple[str, str, Dataset], Relation] = {}
        self.derived: dict[tuple[str, frozenset[Triple]], list[Derivation]] = {}
        self.made: dict[Hashable, tuple[Sequence[object], Any]] = {}
        self.quick = True  # whether incremental evaluation may answer in a witness's place

    def by(self, witness: str) -> Answers:
        """The same table with another witness to answer, and nothing else."""
        other = Answers(witness)
        other.known, other.derived, other.made, other.quick = (
            self.known,
            self.derived,
            self.made,
            False,
        )
        other.testimonies = self.testimonies
        return other

    def once(self, kind: str, held: Sequence[object], key: Hashable, make: Callable[[], T]) -> T:
        """What is made once of some objects, which are themselves (a stream is long to compare),
        and a key.
        """
        key = (kind, key, *map(id, held))
        if key not in self.made:
            self.made[key] = held, make()  # which keeps them, and so their ids
        found: T = self.made[key][1]
        return found

    def planned(self, recorded: Recorded, semantics: Semantics) -> Plan:
        """The plan of a recording under a semantics."""
        return self.plan(recorded.query, recorded.streams, semantics)

    def plan(self, query: Query, streams: Mapping[str, Stream], semantics: Semantics) -> Plan:
        """engine.plan; of plans of one window that read the same of their semantics all but its
        frame is made once.
        """
        if (
            not isinstance(semantics.t0, int)
            or len(query.windows) > 1
            or query.windows[0].stream not in streams
        ):
            return engine.plan(query, streams, semantics)
        engine.meaning(query, semantics)
        stream, read = (
            streams[query.windows[0].stream],
            tuple(getattr(semantics, name) for name in READ),
        )
        planned = self.once(
            "plan", [stream], (query, read), lambda: engine.plan(query, streams, semantics)
        )
        (view,) = planned.views
        frame = window.frame(view.spec, semantics.closure, semantics.t0, semantics.partial)
        return replace(
            planned, semantics=semantics, views=(replace(view, t0=semantics.t0, frame=frame),)
        )

    def asked(
        self, recorded: Recorded, planned: Plan, for_derivations: bool = False
    ) -> Asked | str:
        """Incremental answers over contents of the windows, which all plans of the same elements
        share; or why there are none: a witness is to answer (what is wanted for derivations alone
        is no answer, and ORA-5 holds them to those), the body is not covered, answers are compared
        as terms, or rounding decides how many there are.
        """
        if not self.quick and not for_derivations:
            return "a witness answers"
        if recorded.mode is Mode.TERM:
            return "answers are compared as terms"
        if planned.semantics.collection is Collection.SET and not derivations.projects(
            recorded.query.body
        ):
            return "a set of what is computed"
        elements, specs = (
            [view.elements for view in planned.views],
            tuple((view.spec.stream, view.spec.name) for view in planned.views),
        )

        def made() -> Asked | str:
            try:
                return Asked(recorded.query, planned.views, recorded.static)
            except Beyond as error:
                return str(error)

        return self.once("asked", elements, (recorded.query.body, specs, recorded.static), made)

    def __call__(self, body: Body, graph: Dataset) -> Relation:
        return self.ask(self.witness, body, graph)

    def ask(self, witness: str, body: Body, graph: Dataset) -> Relation:
        """Return the definition's answer, or one witness's. Raises NoSay
        where a witness has none.
        """
        key = (witness, body.text, graph)
        if key not in self.known:
            self.known[key] = r2r.ask(witness, body, graph)
        return self.known[key]

    def confirmed(self, body: Body, graph: Dataset, witnesses: tuple[str, ...]) -> Relation:
        """Return the definition's answer, which a witness confirms (R2R-5), and keep what each
        said. Raises Disputed.
        """
        key = (body.text, graph, witnesses)
        if key not in self.testimonies:
            self.testimonies[key] = r2r.heard(body, graph, witnesses, self.ask)
        self.relied_on.append(self.testimonies[key])
        return self.testimonies[key].relation

    def derivations(self, body: Body, graph: frozenset[Triple]) -> list[Derivation]:
        """The derivations of the body over a graph."""
        key = (body.text, graph)
        if key not in self.derived:
            self.derived[key] = derivations.derivations(body, graph)
        return self.derived[key]


class Origin(NamedTuple):
    """A class of t0 values that no element tells apart: the one tried, and the class's bounds."""

    t0: int
    lo: int
    hi: int


class State(NamedTuple):
    """How much of the recording is explained: outputs missing before it, relations matched, outputs
    missing after it.
    """

    before: int
    matched: int
    after: int


def advance(
    states: Iterable[State],
    output: Bag,
    recorded: Recorded,
    borders: Borders | None = None,
    closure: Closure | None = None,
) -> set[State]:
    """ORA-3: one more output of the semantics: it is missing before the recording or after it,
    within the bounds, or it is the recording's next relation.

    `borders` and `closure` are those of the output's window, which the next relation must not
    contradict (ORA-11).
    """
    rows, following = recorded.rows, set()
    same: dict[int, bool] = {}  # of each relation, which several states may have next
    for before, matched, after in states:
        if matched == 0 and before < recorded.missing.before:
            following.add(State(before + 1, 0, 0))

        if matched < len(rows) and matched not in same:
            same[matched] = compare.equal(output, rows[matched], recorded.mode)
        if same.get(matched) and recorded.is_about(matched, borders, closure):
            following.add(State(before, matched + 1, 0))

        if matched == len(rows) and rows and after < recorded.missing.after:
            following.add(State(before, matched, after + 1))
    return following


def accepted(states: Iterable[State], recorded: Recorded) -> State | None:
    """The state that explains all of the recording with the fewest outputs missing; an empty
    recording allows none.
    """
    whole = [
        s
        for s in states
        if s.matched == len(recorded.relations) and (recorded.relations or s.before == 0)
    ]
    return min(whole, key=lambda s: (s.before + s.after, s), default=None)


@dataclass(frozen=True)
class Alignment:
    """An assignment's reports beside the recording's relations: relation i stands beside report
    `before` + i.

    `reports` are all that were computed: of a fail no more than are needed to tell how far it is
    from the recording. `lost` is the place of the one report in the middle, and `repeated` that of
    the one relation, without which fewer rows would differ: from there on relation i is that of the
    report after, or before, the one beside it.
    """

    reports: tuple[Report, ...]
    before: int
    relations: int
    lost: int | None = None
    repeated: int | None = None

    @property
    def beside(self) -> tuple[Report, ...]:
        """The reports that have a relation beside them, in order."""
        return self.reports[self.before : self.before + self.relations]

    @property
    def after(self) -> int:
        """How many reports come after the last relation."""
        in_the_middle = (self.lost is not None) - (self.repeated is not None)
        return max(0, len(self.reports) - self.before - self.relations - in_the_middle)

    def report(self, index: int) -> Report | None:
        """The report beside a relation; None where there is none."""
        place = self.before + index
        return self.reports[place] if place < len(self.reports) else None


class Fate(StrEnum):
    """Where a recording has a row that an element at the edge of a window completes."""

    PLACE = "in place"
    EARLY = "one window early"
    LATE = "one window late"
    BOTH = "in both windows"
    OUT = "left out"


class BorderRow(NamedTuple):
    """A row that an element at the edge of a window completes, and what became of it.

    `at` is that element's t_app, `window` the window that the row belongs to. `on_border` says
    whether the element is exactly on a border; if it is not, `is_first` says whether it is the
    first one in the window, or the last.
    """

    row: Row
    at: int
    window: Borders
    fate: Fate
    on_border: bool = True
    is_first: bool = False


class Gap(NamedTuple):
    """The rows that a relation lacks of a report, those that it has too many, and in how many rows
    the two differ.
    """

    lacking: Bag
    surplus: Bag
    differing: int


class Distance(NamedTuple):
    """How far an assignment is from the recording (ORA-9).

    `rows` counts the rows in which they differ (where orders were searched: the relations that none
    explains). `unexplained` counts those of them that are no slip over a window's border.
    """

    rows: int
    unexplained: int


NO_DISTANCE = Distance(0, 0)


@dataclass(frozen=True)
class Divergence:
    """Where the semantics and the recording part: the recording's relation `index` (from 0), the
    window and its content there, the rows expected and recorded (None: no relation is left), the
    rows at the edges of windows, and how far the two are from each other.
    """

    index: int
    evaluation: int | None
    window: Borders | None
    content: tuple[Element, ...]
    expected: Bag | None
    actual: Bag | None
    reason: str
    borders: tuple[BorderRow, ...] = ()
    cost: Distance = NO_DISTANCE


@dataclass(frozen=True)
class Trial:
    """One assignment against the recording.

    `accepted` is the state that explains all of the recording, None where none does. `reached` is
    the greatest number of relations that some state explains. `ordered` says that no order had to
    be searched. `last` is what each window held where the trial ended, and `answer` what
    incremental evaluation answers over it (None: the definition did). `by` says who computed it.
    `alignment` is there for the trial that a judgement names, unless orders were searched.
    """

    semantics: Semantics
    origin: Origin
    accepted: State | None
    divergence: Divergence | None = None
    ordered: bool = True
    last: tuple[Content, ...] | None = None
    answer: Bag | None = None
    by: str = "the definition"
    reached: int = 0
    alignment: Alignment | None = None
