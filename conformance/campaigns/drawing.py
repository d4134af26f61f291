"""Drawing cases: a seed and a number give a case, within what an engine says that it can be asked.

Elements come on the borders of windows, one instant before them and after, together, after gaps
and, where the engine's semantics has an answer for it, late. Nothing is drawn by Hypothesis but the
bodies of queries (`refengine.strategies.bodies`), a few for a whole campaign: a case must be drawn
in a fraction of the time in which an engine answers it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from random import Random
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from conformance.campaigns.drawn_case import DrawnCase, numbered_graph, profile_of, query_table
from conformance.harness.engine_file import Engine
from conformance.verdict import window_elements
from refengine.core.combinations import REPORTS
from refengine.core.plan import check_meaning, plan
from refengine.core.profile import Between, OneOf, Profile, is_open
from refengine.core.profiles import PROFILES
from refengine.core.query import (
    COUNTING,
    LAGGING,
    SIZED,
    SLIDING,
    Body,
    Form,
    Query,
    Unit,
    Window,
    WindowKind,
)
from refengine.core.question import Question
from refengine.core.semantics import ENUMS, FIELDS, INTEGRAL, OPTIONAL, Semantics
from refengine.core.values import (
    R2S,
    CloseRule,
    Condition,
    LateFor,
    ReportedWindows,
    Tick,
    Watermark,
)
from refengine.core.window import with_slide
from refengine.model.elements import XSD, Dataset, Element, Stream, Triple
from refengine.model.errors import RefengineError, require
from refengine.model.terms import Term, literal
from refengine.strategies import LINKS, LITERALS, NUMBER, NUMBERS, SUBJECTS, bodies
from refengine.strategies.questions import extent_of

TRIES = 20  # draws of a query that the engine's language may not have, or of a semantics
MOST_REPORTS = 500  # about which so many reports are due, under a semantics that is drawn
BODIES = 40  # that are drawn for a campaign, beside the plain ones
PLAIN_BODIES = (
    "SELECT ?s ?p ?o WHERE { ?s ?p ?o }",
    "SELECT ?s WHERE { ?s <urn:p> ?o }",
    "SELECT ?s ?t WHERE { ?s <urn:p> ?o . ?o <urn:q> ?t }",
    "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }",
    "SELECT ?s (COUNT(?o) AS ?n) WHERE { ?s <urn:p> ?o } GROUP BY ?s",
    "SELECT (AVG(?o) AS ?a) WHERE { ?s <urn:n> ?o }",
    "SELECT (SUM(?o) AS ?t) (MAX(?o) AS ?m) WHERE { ?s <urn:n> ?o }",
    "SELECT DISTINCT ?s WHERE { ?s ?p ?o }",
    "SELECT ?s ?t WHERE { ?s <urn:p> ?o OPTIONAL { ?s <urn:q> ?t } }",
    "SELECT ?s ?o WHERE { ?s <urn:n> ?o FILTER(?o > 1) }",
    "SELECT ?s ?o WHERE { { ?s <urn:p> ?o } UNION { ?s <urn:q> ?o } }",
)
NAMES = ("urn:w1", "urn:w2")  # of windows
NAMED_BODIES = (
    "SELECT ?s ?o WHERE { GRAPH <urn:w1> { ?s <urn:p> ?o } GRAPH <urn:w2> { ?o <urn:q> ?x } }",
    "SELECT ?s ?o WHERE { GRAPH <urn:w1> { ?s ?p ?o } }",
)
# whose sums are others in binary fractions
DECIMALS = tuple(literal(text, f"{XSD}decimal") for text in ("0.1", "0.2", "1.50"))
# whose sum is another one if it is rounded at each step: for an engine whose sums are exact
DOUBLES = tuple(literal(text, f"{XSD}double") for text in ("1.0E16", "1.0E0", "-1.0E16"))
BLANKS = (Term("_:b0"), Term("_:b1"))
# an instant in milliseconds of the epoch, and one after which doubles lack every other integer
FAR = (1_700_000_000_000, 1_700_000_000_000, 2**53)
FEW = (0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 8)  # numbers of elements
SIZES = (1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 10, 10, 10, 12, 15, 20, 60, 100, 1000)
# fields that decide most of what an engine reports
CENTRAL = (
    "report",
    "tick",
    "closure",
    "t0",
    "partial",
    "missed_instants",
    "r2s",
    "empty",
    "period",
)
PROFILE_NAMES = sorted(PROFILES)
ALONE = frozenset({WindowKind.TUPLE, WindowKind.SESSION})  # the only window of a query (QRY-5)
PARTS = (("subject",), ("predicate",), ("object",))  # by which elements may have keys


def draw_bodies(campaign_seed: int, forms: Sequence[Form], count: int = BODIES) -> tuple[Body, ...]:
    """Return the bodies of a campaign: plain ones, and some that Hypothesis draws from its seed."""
    found = [body for body in map(Body, PLAIN_BODIES) if body.form in forms]

    @seed(campaign_seed)
    @settings(
        max_examples=count,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(bodies(forms=forms))
    def keep(body: Body) -> None:
        found.append(body)

    keep()
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class Drawing:
    """What is drawn for an engine: `tested`, from a seed. `bodies` are those of its queries; none
    for an engine that is asked of windows alone.
    """

    tested: Engine
    seed: int
    bodies: tuple[Body, ...] = ()

    @staticmethod
    def of(tested: Engine, campaign_seed: int) -> Drawing:
        """Return the drawing for an engine."""
        if tested.dialect == window_elements.DIALECT:
            return Drawing(tested, campaign_seed)
        forms = sorted(tested.forms)
        return Drawing(tested, campaign_seed, draw_bodies(campaign_seed, forms))

    def case(self, number: int) -> DrawnCase | None:
        """Return the case of a number; None if no query was drawn that the engine can be asked.
        The same seed and number give the same case.
        """
        chance = Random(f"{self.seed} {number}")
        for _ in range(TRIES):
            try:
                query = self._query(chance)
                static = self._static(chance)
                self.tested.text(query, bool(static), query_table(query))
                semantics = None
                if self.tested.is_configurable:
                    semantics = draw_semantics(chance, query)
                streams = self._streams(chance, query, semantics)
                if semantics is not None:
                    plan(query, streams, semantics)  # raises where they have no answer together
                    if _estimate_reports(query, streams, semantics) > MOST_REPORTS:
                        continue
                return DrawnCase(Question(query, streams, static), semantics)
            except RefengineError:
                continue
        return None

    def _query(self, chance: Random) -> Query:
        """Draw a query. Raises RefengineError for what is none."""
        kinds = sorted(self.tested.kinds)
        windows = [self._window(chance, kinds)]
        if not self.bodies:
            return Query(tuple(windows), WINDOWS_ALONE)
        joinable = [kind for kind in kinds if kind not in ALONE]
        if windows[0].kind in joinable and chance.random() < 0.15:
            other = self._window(chance, joinable)
            windows.append(replace(other, stream=chance.choice(("s", "s", "r"))))
        body = chance.choice(self.bodies)
        if len(windows) == 2 and chance.random() < 0.4:
            named = zip(windows, NAMES, strict=True)
            windows = [replace(window, name=name) for window, name in named]
            body = Body(chance.choice(NAMED_BODIES))
        operator = chance.choice((None, None, None, *R2S))
        if windows[0].kind is WindowKind.SESSION:
            operator = None
        return Query(tuple(windows), body, operator)

    def _static(self, chance: Random) -> Dataset:
        """Draw static data: mostly none."""
        if not self.bodies or chance.random() > 0.06:
            return frozenset()
        return frozenset(_triple(chance, [NUMBERS], 0.2) for _ in range(chance.choice((1, 2))))

    def _window(self, chance: Random, kinds: Sequence[WindowKind]) -> Window:
        """Draw a window."""
        kind = chance.choice(kinds)
        if WindowKind.TIME in kinds and chance.random() < 0.5:
            kind = WindowKind.TIME
        size = chance.choice(SIZES) if kind in SIZED else None
        slide = None
        if kind in SLIDING:
            slide = _slide(chance, require(size))
            if kind in (WindowKind.RANGE, WindowKind.ROWS) and chance.random() < 0.25:
                slide = None
        by: tuple[str, ...] = ()
        if kind is WindowKind.PARTITION or (self._may_have_keys and chance.random() < 0.3):
            by = chance.choice(PARTS) if self.bodies else (window_elements.KEY,)
        lag = 0
        if kind in LAGGING and self.tested.has_lag and chance.random() < 0.1:
            lag = chance.choice((1, 2, require(size)))
        unit = Unit.ELEMENTS
        if self.bodies and kind in COUNTING:
            unit = chance.choice(tuple(Unit))
        return Window("s", kind, size, slide, unit, by, lag=lag)

    @property
    def _may_have_keys(self) -> bool:
        """Whether windows may stand for one of each key (WIN-24)."""
        return self.tested.has_keys or self.tested.is_configurable

    def _streams(
        self, chance: Random, query: Query, semantics: Semantics | None
    ) -> dict[str, Stream]:
        """Draw the streams of a query. Raises RefengineError for what is none."""
        profile = self.tested.profile if semantics is None else profile_of(semantics)
        fields = require(profile).fields
        late = _latest(fields, query)
        t0 = fields.get("t0")
        tick = fields.get("tick")
        is_batched = isinstance(tick, Tick) and tick.needs_batches
        names = list(dict.fromkeys(window.stream for window in query.windows))
        arrivals: list[tuple[int, str, Element]] = []
        at, before = (
            _start(chance, query, t0 if isinstance(t0, int) else 0, _is_sparse(fields)),
            None,
        )
        for number in range(chance.choice(FEW)):
            if before is not None:
                at = _next(chance, query, before)
            before = at
            lag = chance.choice((0, 0, 0, 1, late // 2, late)) if late else 0
            end = at + chance.choice((1, 2, 5)) if self._has_end(chance, semantics) else None
            graph = self._graph(chance, query, number, [one.graph for *_, one in arrivals])
            arrivals.append((at + lag, chance.choice(names), Element(graph, at, 0, None, end)))
        arrivals.sort(key=lambda arrival: arrival[0])
        batch = 1
        items: dict[str, list[Element]] = {name: [] for name in names}
        for sys, (_, name, element) in enumerate(arrivals, 1):
            batch += chance.choice((0, 1, 1, 2)) if is_batched else 0
            items[name].append(element._replace(sys=sys, batch=batch if is_batched else None))
        empty = DrawnCase(Question(query, {name: Stream(()) for name in names}), semantics)
        pairs = chain.from_iterable(((name, one) for one in found) for name, found in items.items())
        return dict(empty.with_elements(pairs).question.streams)

    def _has_end(self, chance: Random, semantics: Semantics | None) -> bool:
        """Draw whether an element lasts longer than an instant. Only an engine that is sent its
        semantics is given such.
        """
        return semantics is not None and chance.random() < 0.04

    def _graph(
        self, chance: Random, query: Query, number: int, before: Sequence[frozenset[Triple]]
    ) -> frozenset[Triple]:
        """Draw the graph of an element: a new one, or sometimes that of an element before it."""
        if not self.bodies:
            key = chance.choice("aab") if query.windows[0].by else ""
            return numbered_graph(number, key)
        if before and chance.random() < 0.2:
            return chance.choice(before)
        is_single = any(window.by for window in query.windows)
        count = 1 if is_single else chance.choice((1, 1, 1, 2, 3))
        numbers = [NUMBERS, DECIMALS]
        if self.tested.is_configurable:
            numbers.append(DOUBLES)
        share = 0.7 if NUMBER in query.body.text else 0.2
        return frozenset(_triple(chance, numbers, share) for _ in range(count))


WINDOWS_ALONE = Body(window_elements.BODY)


def _triple(chance: Random, numbers: Sequence[Sequence[Term]], share: float) -> Triple:
    """Draw a triple of a vocabulary so small that its terms recur. A `share` of them have one of
    some numbers.
    """
    subject = chance.choice(SUBJECTS)
    if chance.random() < 0.1:
        subject = chance.choice(BLANKS)
    if chance.random() < share:
        return subject, NUMBER, chance.choice(chance.choice(numbers))
    kind = chance.random()
    if kind < 0.15:
        return subject, chance.choice(LINKS), chance.choice(LITERALS)
    if kind < 0.23:
        return subject, chance.choice(LINKS), chance.choice(BLANKS)
    return subject, chance.choice(LINKS), chance.choice(SUBJECTS)


def _slide(chance: Random, size: int) -> int:
    """Draw a slide: the size, a part of it, what does not divide it, or more."""
    return chance.choice(
        (size, size, size, max(1, size // 2), chance.randint(1, size), size + 1, 2 * size)
    )


def _latest(fields: Mapping[str, Any], query: Query) -> int:
    """Return by how much elements are drawn late: 0 where the semantics refuses late ones."""
    size = max(extent_of(window)[0] for window in query.windows)
    late_for = fields.get("late_for")
    lateness = fields.get("allowed_lateness")
    if isinstance(late_for, LateFor) and late_for.keeps_arrival_order:
        return 2 + size
    if isinstance(lateness, int):
        return min(lateness, 2 * size) + 2
    return 0


def _is_sparse(fields: Mapping[str, Any]) -> bool:
    """Whether there are no reports about windows without elements: then a stream may begin long
    after the first window.
    """
    report = fields.get("report")
    return (
        isinstance(report, frozenset)
        and Condition.NON_EMPTY in report
        and Condition.PERIODIC not in report
    )


def _estimate_reports(query: Query, streams: Mapping[str, Stream], semantics: Semantics) -> int:
    """Return about how many reports a semantics may give at most: one for each step of windows or
    of time, as long as windows hold an element or, if empty ones are reported, all along.
    """
    times = [one.app for stream in streams.values() for one in stream]
    if not times:
        return 0
    size = max(extent_of(window)[0] + window.lag for window in query.windows)
    slides = [extent_of(with_slide(window, semantics.slide))[1] for window in query.windows]
    periods = [each for each in (semantics.period, semantics.early_period) if each is not None]
    span = len(times) * (size + 1)
    if not _is_sparse(vars(semantics)):
        span = max(span, max(times) - min(0, *times) + size)
    return span // min([*slides, *periods])


def _start(chance: Random, query: Query, t0: int, may_be_far: bool) -> int:
    """Draw the instant of the first element."""
    size, slide = extent_of(query.windows[0])
    near = (0, 0, 0, 1, size, slide, size - 1, slide - 1, 3 * slide, 3 * slide + size)
    start = t0 + chance.choice(near)
    where = chance.random()
    if where < 0.04:
        return -start
    if where < 0.07 and may_be_far:
        return chance.choice(FAR) + start
    return start


def _next(chance: Random, query: Query, before: int) -> int:
    """Draw the instant of an element after one at an instant."""
    size, slide = extent_of(chance.choice(query.windows))
    steps = (0, 0, 1, 1, 2, slide, size, size - 1, size + 1, slide - 1, slide + 1)
    if chance.random() < 0.12:
        return before + 3 * (size + slide) + chance.choice((0, 1))
    at = before + max(0, chance.choice(steps))
    if slide > 1 and chance.random() < 0.25:
        at += -at % slide  # the next border of a window from 0 on
    return at


def draw_semantics(chance: Random, query: Query) -> Semantics:
    """Draw a semantics that means something with a query: that of a profile, in which some fields
    have other values. Raises RefengineError if there is none within a few draws.
    """
    last: RefengineError | None = None
    for _ in range(TRIES):
        profile = PROFILES[chance.choice(PROFILE_NAMES)]
        fields = dict(profile.fields) | {
            name: _closed(chance, name, profile) for name in _open_fields(profile.name)
        }
        for _ in range(chance.choice((0, 1, 1, 2, 3))):
            name = chance.choice(chance.choice((FIELDS, CENTRAL)))
            fields[name] = chance.choice(_values(name))
        if chance.random() < 0.25:
            fields["report"] = chance.choice(REPORTS)
            fields["period"] = chance.choice((None, 1, 2, 5))
            fields["anchor"] = None if fields["period"] is None else chance.choice((0, 1))
        if chance.random() < 0.25:
            fields |= _lateness(chance)
        if any(window.is_keyed for window in query.windows) or any(
            window.kind is WindowKind.SESSION for window in query.windows
        ):
            fields["reported_windows"] = ReportedWindows.EVERY
        if window_elements.asks_for_contents(query):
            fields |= {"r2s": R2S.RSTREAM, "base": None}
        try:
            semantics = Semantics(**fields)
            check_meaning(query, semantics)
        except RefengineError as error:
            last = error
            continue
        return semantics
    raise require(last)


def _lateness(chance: Random) -> dict[str, Any]:
    """Draw the fields by which elements may come late: for the stream, or for each window."""
    grace = chance.choice((0, 1, 3, 20))
    if chance.random() < 0.5:
        return {"allowed_lateness": grace}
    return {
        "reported_windows": ReportedWindows.EVERY,
        "late_for": LateFor.WINDOW,
        "watermark": chance.choice(tuple(Watermark)),
        "watermark_delay": chance.choice((0, 0, 1, 3)),
        "expiry_rule": chance.choice(tuple(CloseRule)),
        "allowed_lateness": grace,
        "tick": Tick.TUPLE,
    }


@cache
def _open_fields(name: str) -> tuple[str, ...]:
    """Return the fields that a profile leaves open."""
    fields = PROFILES[name].fields
    return tuple(one for one in FIELDS if one not in fields or is_open(fields[one]))


def _closed(chance: Random, name: str, profile: Profile) -> Any:
    """Draw the value of a field that a profile leaves open."""
    value = profile.fields.get(name)
    if isinstance(value, Between):
        return chance.randint(value.lo, min(value.hi, value.lo + 10))
    if isinstance(value, OneOf):
        return chance.choice(value.values)
    return chance.choice(_values(name))


@cache
def _values(name: str) -> Sequence[Any]:
    """Return the values of a field that are drawn."""
    return tuple(_every_value(name))


def _every_value(name: str) -> Iterator[Any]:
    """Yield the values of a field that are drawn: all words, and a few integers."""
    if name == "report":
        yield from REPORTS
        return
    yield from ENUMS.get(name, ())
    if name in OPTIONAL:
        yield None
    if name in INTEGRAL:
        yield from (1, 2, 3) if name in ("period", "early_period", "early_count") else (0, 1, 3)
    if name == "horizon":
        yield from (20, 50)
