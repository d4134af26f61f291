"""What is drawn is valid, as various as it says, and shrinks; every legal semantics can be drawn
and no other.
"""

from __future__ import annotations

import doctest
import inspect
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from independent_draws import BACKEND

from refengine import (
    Between,
    OneOf,
    Query,
    Stream,
    Window,
    WindowKind,
    evaluate,
    from_table,
    profile,
    strategies,
)
from refengine.core import engine
from refengine.core.profiles import PROFILES
from refengine.core.query import Unit
from refengine.core.semantics import ENUMS, FIELDS, INTEGRAL, OPTIONAL, Semantics
from refengine.core.values import R2S, T0, Condition, ReportedWindows
from refengine.model.elements import XSD, Element, check_elements, literal, parse_literal
from refengine.model.errors import (
    Disputed,
    InvalidQuery,
    InvalidSemantics,
    InvalidStream,
    InvalidWindow,
    TooManyReports,
)
from refengine.model.terms import canonical
from refengine.strategies import (
    LITERALS,
    NAMES,
    TEXTS,
    bodies,
    graphs,
    inputs,
    queries,
    quoted,
    semantics,
    streams,
    triples,
    windows,
)
from refengine.strategies.arguments import take_choices

PUBLIC = [bodies, graphs, inputs, queries, semantics, streams, triples, windows]
TUMBLING = Window("s", WindowKind.TIME, 10, 10)
ASK = from_table(
    {"windows": [{"stream": "s", "kind": "time", "size": 10, "slide": 5}], "body": "ASK {}"}
)


# What several tests look at is drawn by one worker.
of_drawn_streams, of_drawn_queries, of_drawn_semantics = (
    pytest.mark.xdist_group(f"drawn {name}") for name in ("streams", "queries", "semantics")
)


def draws(strategy: st.SearchStrategy, count: int = 400) -> list:
    """Return what a strategy draws: the same each time, with no draw derived from another."""
    found: list = []

    @settings(
        derandomize=True,
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        backend=BACKEND,
    )
    @given(strategy)
    def collect(drawn: Any) -> None:
        found.append(drawn)

    collect()
    return found


def smallest(strategy: st.SearchStrategy, condition: Callable[[Any], bool]) -> Any:
    phases = [Phase.generate, Phase.shrink]  # explaining would draw on
    return find(
        strategy,
        condition,
        settings=settings(
            derandomize=True, max_examples=1000, database=None, deadline=None, phases=phases
        ),
    )


# Examples and the extra


@pytest.mark.parametrize("example", [*PUBLIC, strategies], ids=lambda found: found.__name__)
def test_the_example_in_the_docstring_runs(example: Any):
    settings.register_profile("examples", settings.get_profile("ci"), max_examples=30)
    before = settings.get_current_profile_name()
    settings.load_profile("examples")
    try:
        found = doctest.DocTestParser().get_doctest(
            inspect.getdoc(example) or "", {}, example.__name__, None, None
        )
        assert sum("@given" in part.source for part in found.examples), "no example"
        assert sum(part.source.startswith("test_") for part in found.examples), "no example is run"
        assert doctest.DocTestRunner().run(found).failed == 0
    finally:
        settings.load_profile(before)


def test_every_public_function_has_one():
    defined = [
        f
        for name, f in vars(strategies).items()
        if inspect.isfunction(f) and f.__module__.startswith(strategies.__name__)
    ]
    assert {f.__name__ for f in defined if not f.__name__.startswith("_")} == {
        f.__name__ for f in PUBLIC
    } | {"quoted"}


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "import refengine.strategies",
            "hypothesis is not installed: pip install 'refengine[suite]'",
        ),
        ("from refengine import *", ""),
    ],
)
def test_without_hypothesis_the_rest_is_there(code: str, message: str):
    words = [sys.executable, "-c", f"import sys; sys.modules['hypothesis'] = None; {code}"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    last = (done.stderr.splitlines() or [""])[-1]
    assert last.removeprefix("ModuleNotFoundError: ") == message and done.returncode == bool(
        message
    )


# Streams


def ties(stream: Stream) -> int:
    return max(Counter(e.app for e in stream).values(), default=0)


FEATURES: dict[str, Callable[[Stream], bool]] = {
    "none": lambda s: len(s) == 0,
    "one": lambda s: len(s) == 1,
    "the most": lambda s: len(s) == 8,
    "a tie": lambda s: ties(s) == 2,
    "a burst": lambda s: ties(s) > 5,
    "a gap longer than a window": lambda s: any(
        b.app - a.app > 10 for a, b in zip(s, s.elements[1:], strict=False)
    ),
    "a graph twice at an instant": lambda s: (
        max(Counter((e.app, e.graph) for e in s).values(), default=0) > 1
    ),
    "a graph in two windows": lambda s: (
        len({e.graph for e in s}) < len({(e.graph, e.app // 10) for e in s})
    ),
    "before t0": lambda s: any(e.app < 0 for e in s),
    "several triples": lambda s: any(len(e.graph) > 1 for e in s),
    **{
        f"at {app}": lambda s, app=app: any(e.app == app for e in s)
        for app in (-1, 0, 1, 9, 10, 11, 19, 20, 21)
    },
}


@cache
def tumbling_streams() -> list[Stream]:
    return draws(streams(TUMBLING))


TERMS: dict[str, Callable[[str], bool]] = {
    "a tag": lambda t: t.endswith("@en"),
    "a tag of several parts": lambda t: t.endswith("@de-latn-1996"),
    "beyond ASCII": lambda t: "é 😀" in t,
    "a control character": lambda t: "\t" in t,
    "a quotation mark": lambda t: '\\"' in t,
    "a line end": lambda t: "\\n" in t,
    "a backslash": lambda t: "\\\\" in t,
    "a foreign datatype": lambda t: t.endswith("^^<urn:type>"),
    "ill-typed": lambda t: t == literal("abc", XSD + "integer"),
    "not canonical in value": lambda t: t == literal("01", XSD + "integer"),
    "a decimal": lambda t: t == literal("1.0", XSD + "decimal"),
    "not a number": lambda t: t == literal("NaN", XSD + "double"),
}


@of_drawn_streams
@pytest.mark.parametrize("kind", TERMS)
def test_streams_have_terms_with(kind: str):
    assert (
        sum(any(TERMS[kind](o) for e in s for _, _, o in e.graph) for s in tumbling_streams()) >= 5
    ), kind


@of_drawn_streams
def test_streams_have_canonical_terms_and_triples_that_are_drawn_alone_others_too():
    assert all(
        canonical(term) == term
        for s in tumbling_streams()
        for e in s
        for triple in e.graph
        for term in triple
    )
    changed = {o for _, _, o in draws(triples(), 1500) if canonical(o) != o}
    assert changed >= {'"x"@EN', '"a\\tb\x7f"', f'"x"^^<{XSD}string>'}


@of_drawn_streams
@pytest.mark.parametrize("feature", FEATURES)
def test_streams_have(feature: str):
    assert sum(map(FEATURES[feature], tumbling_streams())) >= 5, feature


@of_drawn_streams
def test_streams_are_in_order_without_batches_and_ends():
    for stream in tumbling_streams():
        check_elements(stream.elements)
        assert [e.app for e in stream] == sorted(e.app for e in stream)
        assert all(e.batch is None and e.end is None for e in stream)


def test_sizes_given_are_a_window():
    assert draws(streams(size=10), 50) == draws(streams(TUMBLING), 50)


def test_streams_with_more():
    found = draws(
        streams(
            TUMBLING, batches=True, intervals=True, disorder=3, before=25, min_size=2, max_size=5
        )
    )
    for stream in found:
        assert 2 <= len(stream) <= 5 and all(e.app < 25 and e.batch for e in stream)
        newest = -(10**9)
        for element in stream:
            assert element.app >= newest - 3
            newest = max(newest, element.app)
    assert any(e.end is not None and e.end > e.app + 20 for s in found for e in s) and any(
        e.end == e.app for s in found for e in s
    )
    assert any(a.app > b.app for s in found for a, b in zip(s, s.elements[1:], strict=False))
    assert any(a.batch == b.batch for s in found for a, b in zip(s, s.elements[1:], strict=False))


def test_streams_anywhere():
    apps = [e.app for s in draws(streams(TUMBLING, t0=None)) for e in s]
    assert (
        any(app > 10**12 for app in apps)
        and any(app < -400 for app in apps)
        and any(0 <= app < 20 for app in apps)
    )


def test_payloads_may_be_triples():
    own = st.just(("<urn:i>", "<urn:j>", "<urn:k>"))
    assert {e.graph for s in draws(streams(payloads=own), 30) for e in s} == {
        frozenset([("<urn:i>", "<urn:j>", "<urn:k>")])
    }


def test_streams_shrink():
    """To few elements, at small times, with small graphs."""
    [border] = smallest(streams(TUMBLING), lambda s: any(e.app == 10 for e in s))
    assert border.app == 10 and len(border.graph) == 1
    assert [e.app for e in smallest(streams(TUMBLING), lambda s: ties(s) > 2)] == [0, 0, 0]
    assert [e.app for e in smallest(streams(TUMBLING), lambda s: len(s) > 1)] == [0, 0]
    a, b = smallest(
        streams(TUMBLING),
        lambda s: any(y.app - x.app > 10 for x, y in zip(s, s.elements[1:], strict=False)),
    )
    assert b.app - a.app == 11


# Inputs


def test_inputs_name_every_stream_in_one_order_of_arrival():
    query = from_table(
        {
            "windows": [{"stream": "s", "kind": "now"}, {"stream": "r", "kind": "unbounded"}],
            "body": "ASK {}",
        }
    )
    for found in draws(inputs(query), 50):
        assert list(found) == ["s", "r"]
        both = sorted((e for stream in found.values() for e in stream), key=lambda e: e.sys)
        assert [e.sys for e in both] == list(range(1, len(both) + 1)) and [
            e.app for e in both
        ] == sorted(e.app for e in both)


def test_a_stream_has_as_many_elements_as_another_with_more_windows():
    """Its windows have more borders, but each stream is as likely."""
    windows = [{"stream": name, "kind": "time", "size": 10, "slide": 5} for name in "ssr"]
    query = from_table({"windows": windows, "body": "ASK {}"})
    found = draws(inputs(query), 100)
    ours, other = (sum(len(streams[name]) for streams in found) for name in "sr")
    assert 2 / 3 < ours / other < 3 / 2


def test_partitions_that_no_graph_can_have():
    by = [
        {"stream": "s", "kind": "partition", "size": 1, "by": keys}
        for keys in (["subject"], ["urn:p", "urn:q"])
    ]
    with pytest.raises(InvalidQuery, match="WIN-15"):
        inputs(from_table({"windows": by, "body": "ASK {}"}))


# Windows


def test_windows_are_of_every_kind_and_size():
    found = draws(windows(names=["urn:w"]), 1500)
    assert {w.kind for w in found} == set(WindowKind) and {w.unit for w in found} == set(Unit)
    assert {w.name for w in found} == {None, "urn:w"} and {w.triggers for w in found} == {
        False,
        True,
    }
    timed = [w for w in found if w.kind in (WindowKind.TIME, WindowKind.RANGE)]
    slides = [w.slide or 0 for w in timed]
    for count in (
        sum(w.size < 13 for w in timed),
        sum(w.size > 100 and w.size % 1000 > 0 for w in timed),
        *(sum(w.size % unit == 0 for w in timed) for unit in (1000, 60_000, 3_600_000)),
        *(
            sum(of(slide, w.size) for slide, w in zip(slides, timed, strict=True))
            for of in (int.__eq__, int.__lt__, int.__gt__)
        ),
        slides.count(0),
    ):
        assert count > 10


def test_windows_shrink():
    assert smallest(windows(), lambda w: w.size is not None and w.size > 3) == Window(
        "s", WindowKind.TIME, 4, 4
    )


# Queries and bodies


@cache
def drawn_queries() -> list:
    return draws(queries(graph_variable=True), 600)


WRITTEN = {  # keywords in any case
    "SELECT": r"\bselect\b",
    "ASK": r"\bask\b",
    "CONSTRUCT": r"\bconstruct\b",
    "CONSTRUCT WHERE": r"construct\s+(#.*\s+)?where",
    "*": r"select\s+(distinct\s+)?\*",
    "DISTINCT": r"select\s+distinct",
    "AS": r"\bas\b",
    "no WHERE": r"\bask\s*\{",
    "FILTER": r"\bfilter\s*\(",
    "EXISTS": r"filter\s+exists",
    "NOT EXISTS": r"not\s+exists",
    "OPTIONAL": r"\boptional\b",
    "UNION": r"\bunion\b",
    "MINUS": r"\bminus\b",
    "BIND": r"\bbind\b",
    "VALUES": r"\bvalues\b",
    "UNDEF": r"\bundef\b",
    "GROUP BY": r"group\s+by",
    "HAVING": r"\bhaving\b",
    "COUNT": r"count\s*\(\s*\*",
    "SUM": r"\bsum\s*\(",
    "AVG": r"\bavg\s*\(",
    "MIN": r"\bmin\s*\(",
    "MAX": r"\bmax\s*\(",
    "COUNT DISTINCT": r"count\s*\(\s*distinct",
    "subselect": r"\{\s*select\b.*group\s+by",
    "GRAPH name": r"graph\s+<urn:w1>",
    "GRAPH variable": r"graph\s+\?",
    "ORDER BY": r"order\s+by",
    "PREFIX": r"\bprefix\b",
}
WRITTEN_SO = {
    "+": r"\bp>?\+",
    "/": r"\s/\s",
    "|": r"\s\|\s",
    "^": r"\s\^\s",
    "!": r"\s!\s+\S*q\b",
    "?step": r"\?step",
    "?range": r"\?range",
    "double": r"\s\"x\"",
    "single": r"\s'x'",
    "long double": r'"""\S',
    "long single": r"'''\S",
    "braces": r"\{ \[RANGE 10s",
    "hash": r"#1['\"]",
    "line in a string": r"two\nlines",
    "keywords": "FROM STREAM <urn:s>",
    "?stream": r"\?stream",
    "?window": r"\?window",
    "$": r"\$",
    "empty prefix": r"\s:p\b",
    "window:": r"window:p\b",
    "whole": "<urn:p>",
    "comment": r"# comment\n",
    "odd comment": r"# \} \]",
    "tab": r"\t",
    "CRLF": "\r\n",
    "lower": "select",
    "upper": "SELECT",
    "title": "Select",
}


@of_drawn_queries
@pytest.mark.parametrize(
    "pattern",
    [*(f"(?i){p}" for p in WRITTEN.values()), *WRITTEN_SO.values()],
    ids=[*WRITTEN, *WRITTEN_SO],
)
def test_bodies_have(pattern: str):
    assert (
        sum(bool(re.search(pattern, query.body.text, re.DOTALL)) for query in drawn_queries()) >= 1
    )


@of_drawn_queries
def test_queries_are_valid_and_of_every_kind():
    found = drawn_queries()
    for query in found:
        names = [w.name for w in query.windows if w.name]
        assert len(names) == len(set(names))
        assert len(query.windows) == 1 or WindowKind.TUPLE not in [w.kind for w in query.windows]
        assert set(re.findall(r"(?i)graph\s+<(\S+)>", query.body.text)) <= {*names}
    assert {len(q.windows) for q in found} == {1, 2, 3} and {
        len({w.stream for w in q.windows}) for q in found
    } == {1, 2}
    assert {q.r2s for q in found} == {None, *R2S} and {
        w.kind for q in found for w in q.windows
    } == set(WindowKind)
    assert {w.name for q in found for w in q.windows} == {None, *NAMES} and {
        q.registered is None for q in found
    } == {False, True}


def test_queries_of_some_kinds():
    chosen = {
        "kinds": ["time", "rows"],
        "streams": ["urn:s"],
        "names": [],
        "r2s": ["Istream"],
        "forms": ["ASK"],
        "triggers": False,
    }
    for query in draws(
        queries(
            **chosen,
            min_windows=2,
            max_windows=2,
            units=["elements"],
            sizes=st.just(7),
            slides=st.just(3),
        ),
        100,
    ):
        assert len(query.windows) == 2 and query.r2s == "Istream" and query.body.form == "ASK"
        for window in query.windows:
            assert window.kind in ("time", "rows") and window.size == 7
            assert (window.stream, window.name, window.triggers) == ("urn:s", None, False)


def test_bodies_shrink():
    assert len(smallest(bodies(), lambda body: "MINUS" in body.text.upper()).text.split()) < 16


@pytest.mark.parametrize("quote", ['"', "'", '"""', "'''"])
@pytest.mark.parametrize("text", TEXTS)
def test_a_quoted_text_is_that_text(text: str, quote: str):
    query = from_table(
        {
            "windows": [{"stream": "s", "kind": "now"}],
            "body": f"SELECT ({quoted(text, quote)} AS ?x) {{}}",
        }
    )
    seen = PROFILES["cqels-observed"]
    fields = {"t0": 0, "closure": None, "empty": "emit", "r2s": "Rstream", "report": "non-empty"}
    clock = seen.but(**fields, horizon="none").semantics()
    element = Element(frozenset(), 0, 1)
    [report] = evaluate(query, {"s": Stream((element, element._replace(app=1, sys=2)))}, clock)
    [[(_, term)]] = report.relation.rows
    assert parse_literal(term).lexical == text


def test_a_witness_confirms_what_is_drawn():
    """Queries, semantics and inputs fit: everything is evaluated, and little is disputed, nothing
    without one of LITERALS.
    """

    @st.composite
    def runs(draw: st.DrawFn) -> tuple:
        query = draw(
            queries(sizes=st.integers(1, 6), slides=st.integers(1, 7), graph_variable=True)
        )
        chosen = draw(semantics(query))
        elements = inputs(query, chosen, min_size=6, max_size=8, intervals=True)
        return query, draw(elements), chosen

    reports, disputed = [], 0
    for query, sources, chosen in draws(runs(), 150):
        try:
            reports.append(list(evaluate(query, sources, chosen)))
        except Disputed:
            objects = {
                o for one in sources.values() for element in one for _, _, o in element.graph
            }
            assert objects & {*map(canonical, LITERALS)} - {literal("x")}
            disputed += 1
    assert disputed < 10
    assert (
        sum(map(bool, reports)) > 50
        and sum(any(report.relation for report in found) for found in reports) > 25
    )


# Semantics


@cache
def drawn_semantics() -> list[Semantics]:
    return draws(semantics(), 1000)


@of_drawn_semantics
@pytest.mark.parametrize("name", FIELDS)
def test_semantics_have_every_value(name: str):
    found = {getattr(choice, name) for choice in drawn_semantics()}
    if name == "report":
        assert len(found) == 31
        return
    assert set(ENUMS.get(name, ())) <= found
    assert (None in found) == (name in OPTIONAL)
    assert len([v for v in found if isinstance(v, int)]) > 3 or name not in INTEGRAL


def raw(name: str) -> list:
    """Values of a field, whether they mean something with others or not."""
    reports = strategies.REPORTS if name == "report" else ()
    return [
        *ENUMS.get(name, ()),
        *([1] if name in INTEGRAL else []),
        *([None] if name in OPTIONAL else []),
        *reports,
    ]


def drawable(fields: dict, query: Any = None) -> bool:
    """Whether a semantics with these fields can be drawn."""
    try:
        semantics(query, **fields)
    except (InvalidSemantics, InvalidQuery):
        return False
    return True


@of_drawn_semantics
def test_what_means_something_can_be_drawn_and_nothing_else():
    """Over the whole product of the fields that SEM-2 couples, group by group, and any values of
    all of them.
    """

    def legal(fields: dict) -> bool:
        try:
            Semantics(**fields)
        except InvalidSemantics:
            return False
        return True

    plain = [
        next(each for each in drawn_semantics() if each.reported_windows is reported)
        for reported in ReportedWindows
    ]
    for group in strategies.GROUPS:
        for values in product(*map(raw, group)):
            fields = dict(zip(group, values, strict=True))
            if "closure" not in group:
                fields["closure"] = "(]"
            fit = [legal({**vars(each), "closure": None, **fields}) for each in plain]
            drawn = [
                drawable({**fields, "reported_windows": each.reported_windows}) for each in plain
            ]
            assert fit == drawn and drawable(fields) == any(fit), fields
    chance = random.Random(0)
    agreed = Counter()
    for found in drawn_semantics():
        changed = chance.sample(FIELDS, 4)
        fields = {**vars(found), **{name: chance.choice(raw(name)) for name in changed}}
        assert drawable(fields) == legal(fields)
        agreed[legal(fields)] += 1
    assert min(agreed.values()) > 20


def test_with_a_query_they_mean_something():
    """QRY-5, and WIN-7 of tuples: every value that means something is drawn, and no plan is
    refused.
    """
    of_a_kind = st.one_of([queries(kinds=[kind], bodies=st.just(ASK.body)) for kind in WindowKind])
    found = draws(of_a_kind.flatmap(lambda query: st.tuples(st.just(query), semantics(query))), 600)
    for query, choice in found:
        engine.check_meaning(query, choice)
        engine.plan(query, {window.stream: Stream(()) for window in query.windows}, choice)
    assert {choice.closure for _, choice in found} == {None, *ENUMS["closure"]}
    assert {choice.t0 for _, choice in found} >= set(T0) and {
        choice.trigger for _, choice in found
    } == set(ENUMS["trigger"])


OF_EACH_WINDOW = ("exact_gap", "expired_session", "session_border", "reported_windows", "panes")
OF_EACH_WINDOW += ("early_count", "early_period", "late_for", "watermark", "watermark_delay")
OF_EACH_WINDOW += ("expiry_rule",)


@cache
def runs_of_each_window() -> list[tuple]:
    """Queries of one window, streams and semantics by which each window is reported on its own."""

    @st.composite
    def runs(draw: st.DrawFn) -> tuple:
        sizes = {"sizes": st.integers(1, 6), "slides": st.integers(1, 7), "lags": st.just(0)}
        kinds = {"kinds": ["time", "session"], "max_windows": 1, "r2s": [None]}
        query = draw(queries(**kinds, **sizes, bodies=st.just(ASK.body)))
        # an element that a punctuation brings to nothing decides little
        few = OneOf((None, "greatest")) if draw(st.integers(0, 3)) else "unknown"
        late = draw(st.sampled_from(["unknown", "window"]))
        often = {"watermark": few, "late_for": late}
        chosen = draw(semantics(query, reported_windows="every", t0=Between(-3, 3), **often))
        return query, draw(inputs(query, chosen, min_size=4)), chosen

    return draws(runs(), 1000)


STREAM = {"late_for": "stream", "watermark": None, "watermark_delay": None, "expiry_rule": None}
WINDOW = {
    "late_for": "window",
    "watermark": "greatest",
    "watermark_delay": 0,
    "expiry_rule": "reached",
}


def evaluated(query: Query, sources: dict[str, Stream], chosen: Semantics) -> list[tuple] | None:
    """Return the instants, the contents and the borders of all reports; None if they are many."""
    try:
        return list(engine.evaluations(engine.plan(query, sources, chosen), 50))
    except (InvalidSemantics, InvalidStream, TooManyReports):
        return None


def others(chosen: Semantics, name: str) -> list[Semantics]:
    """Return a semantics with each other value of a field that means something."""
    values: list = [*ENUMS.get(name, ()), *((None, 0, 2) if name in INTEGRAL else ())]
    found = []
    for fields in [STREAM, WINDOW] if name == "late_for" else [{name: value} for value in values]:
        with suppress(InvalidSemantics):
            found.append(replace(chosen, **fields))
    return found


@pytest.mark.xdist_group("runs of each window")
@pytest.mark.parametrize("name", OF_EACH_WINDOW)
def test_each_value_of_windows_on_their_own_decides_something(name: str):
    """Some draws with each value give other reports with another value of the field alone."""
    decided: Counter[object] = Counter()
    for query, sources, chosen in runs_of_each_window():
        before = evaluated(query, sources, chosen)
        after = [evaluated(query, sources, other) for other in others(chosen, name)]
        value = getattr(chosen, name)
        if before is not None:
            decided[value if name in ENUMS else value is None] += any(
                found not in (None, before) for found in after
            )
    values = {*ENUMS[name]} if name in ENUMS else {True, False}
    impossible = {
        "reported_windows": {"active"},
        "watermark_delay": {True},
        "late_for": {"nothing"},
    }
    values -= impossible.get(name, set())
    assert all(decided[value] >= 3 for value in values), decided


@pytest.mark.parametrize(
    ("query", "fields", "message"),
    [
        (None, {"period": 3, "report": "non-empty"}, "period given"),
        (None, {"t0": "flink", "closure": "[)"}, "formula"),
        (None, {"missed_instants": "latest", "report": "non-empty"}, "missed_instants=latest"),
        (ASK, {"closure": None}, "need a closure"),
        (ASK, {"t0": "registration", "closure": "[)"}, "registered"),
        (ASK, {"trigger": "explicit"}, "triggers"),
        (None, {"tock": "time"}, "tock"),
        (None, {"tick": "tine"}, "tick must be"),
    ],
)
def test_fields_that_mean_nothing_are_refused(query: Any, fields: dict, message: str):
    with pytest.raises(InvalidSemantics, match=message):
        semantics(query, **fields)


def test_fixed_fields_are_kept():
    closures = OneOf(("[)", "(]"))
    chosen = semantics(
        ASK,
        tick="time",
        report=frozenset({Condition.CLOSE}),
        t0=Between(3, 5),
        closure=closures,
        base="previous",
    )
    for choice in draws(chosen, 100):
        assert (
            choice.tick == "time"
            and choice.report == {"window-close"}
            and choice.t0 in (3, 4, 5)
            and choice.closure in ("[)", "(]")
        )
        assert choice.base == "previous" and choice.r2s in ("Istream", "Dstream")
    open_t0 = semantics(ASK, **profile("csparql").fields)
    assert {choice.t0 for choice in draws(open_t0, 1000)} > {-1, 0, 1}


def test_semantics_shrink():
    plainest = smallest(semantics(ASK), lambda choice: True)
    assert (plainest.t0, plainest.offset, plainest.report, plainest.period) == (
        0,
        None,
        {"window-close"},
        None,
    )


# Wrong arguments


def test_the_keys_of_a_dict_are_in_an_order():
    assert take_choices("kinds", {"time": 1, "range": 2}.keys()) == ("time", "range")


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (lambda: streams(10), "windows are several; write a list, got 10"),
        (lambda: streams("s"), "windows are several; write a list, got 's'"),
        (
            lambda: streams(["s"]),
            "windows must be a window or several; extents are size=10, slide=5, got 's'",
        ),
        (lambda: streams(slide=5), "slide is that of a size; write size=10, slide=5"),
        (
            lambda: streams(t0="first-element"),
            "t0 must be an integer, or None for anywhere, got 'first-element'",
        ),
        (
            lambda: inputs(ASK, profile("csparql")),
            "semantics must be a Semantics, such as profile.semantics(), got Profile",
        ),
        (
            lambda: semantics(profile("csparql")),
            "query must be a Query; the fields of a profile are",
        ),
        (lambda: windows(sizes=5), "sizes must be a strategy, such as st.just(10), got 5"),
        (lambda: windows(kinds="time"), "kinds are several; write a list, got 'time'"),
        (lambda: windows(streams="abc"), "streams are several; write a list, got 'abc'"),
        (lambda: windows(kinds=[]), "kinds must not be empty"),
        (lambda: windows(streams=[]), "streams must not be empty"),
        (lambda: windows(units=()), "units must not be empty"),
        (lambda: windows(keys=()), "keys must not be empty"),
        (lambda: windows(keys={("subject",)}), "keys must be in an order; write a list, got a set"),
        (lambda: windows(names="abc"), "names are several; write a list, got 'abc'"),
        (lambda: windows(names={"urn:w"}), "names must be in an order; write a list, got a set"),
        (lambda: queries(names={"urn:w"}), "names must be in an order; write a list, got a set"),
        (lambda: bodies(names={"urn:w"}), "names must be in an order; write a list, got a set"),
        (lambda: queries(streams=()), "streams must not be empty"),
        (lambda: queries(r2s=[]), "r2s must not be empty"),
        (lambda: queries(forms=[]), "forms must not be empty"),
        (lambda: bodies(forms=()), "forms must not be empty"),
        (lambda: bodies(forms="ASK"), "forms are several; write a list, got 'ASK'"),
        (lambda: graphs(max_size=None), "max_size must be an integer, got None"),
        (lambda: graphs(min_size="1"), "min_size must be an integer, got '1'"),
        (lambda: queries(bodies=ASK.body), "bodies must be a strategy, such as st.none"),
        (lambda: queries(r2s=None), "r2s are several; write a list, got None"),
        (
            lambda: queries(kinds=["tuple"], min_windows=2),
            "a window of kind tuple is the only one of its query",
        ),
        (
            lambda: queries(kinds=["session"], r2s=["Istream"]),
            "a session has no Istream (REP-14); write r2s=[None, 'Rstream']",
        ),
        (
            lambda: draws(streams(payloads=st.text(min_size=1), min_size=1), 1),
            "payloads are several; write a list",
        ),
        (
            lambda: draws(streams(payloads=st.tuples(triples(), triples()), min_size=1), 1),
            "payloads must be graphs or triples",
        ),
        (
            lambda: draws(streams(payloads=st.just(["<urn:a>"]), min_size=1), 1),
            "payloads must be graphs or triples",
        ),
    ],
)
def test_a_wrong_argument_is_named(wrong, reason):
    with pytest.raises(InvalidArgument, match=re.escape(reason)):
        wrong()


def test_a_slide_of_nothing_is_no_slide():
    with pytest.raises(InvalidWindow, match="WIN-1: slide must be an integer > 0, got 0"):
        streams(size=10, slide=0)


def test_many_elements_need_no_second_number():
    assert all(len(stream) >= 10 for stream in draws(streams(size=10, min_size=10), 20))
