"""Five query languages in seven forms: what is rendered reads back, and no text ends without a
query or a place.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TypeVar

import pytest
from conftest import PROFILE
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sections import check_all, each_section

from conformance import corpus
from conformance.bench.recordings import csrbench
from refengine import Body, Query, Window, WindowKind
from refengine.core.query import Unit
from refengine.core.values import R2S
from refengine.dialects import DIALECTS, Unrenderable, read, render
from refengine.model.errors import RefengineError
from refengine.strategies import bodies, queries, windows

T = TypeVar("T")
one_worker_draws = pytest.mark.xdist_group("drawn for dialects")
EXAMPLES = {"full": 5000, "fuzz": 5000}.get(PROFILE, 40)  # of each dialect
LONG = ("full", "fuzz")
HOSTILE = 2000 if PROFILE in LONG else 120  # texts of each dialect
MIXED = max(EXAMPLES, 150)  # of all queries, few of which some dialects can say
NO_LAG = st.just(0)
TIMED, COUNTED = [WindowKind.TIME, WindowKind.RANGE], [WindowKind.TUPLE, WindowKind.ROWS]
STATED = (None, R2S.RSTREAM, R2S.ISTREAM, R2S.DSTREAM)
# What each dialect has at all, so that most draws can be rendered.
DRAWN = {
    "rspql": {"kinds": TIMED + COUNTED, "units": [Unit.ELEMENTS], "r2s": STATED},
    "rsp4j": {
        "lags": NO_LAG,
        "kinds": [WindowKind.TIME, WindowKind.TUPLE],
        "units": [Unit.ELEMENTS],
        "r2s": STATED,
    },
    "rsp-js": {"kinds": [WindowKind.TIME], "lags": NO_LAG, "r2s": STATED},
    "csparql": {
        "lags": NO_LAG,
        "kinds": [*TIMED, WindowKind.ROWS],
        "units": [Unit.TRIPLES],
        "names": (),
        "r2s": [None],
    },
    "cqels": {
        "lags": NO_LAG,
        "kinds": [*TIMED, WindowKind.ROWS, WindowKind.NOW, WindowKind.UNBOUNDED],
        "units": [Unit.TRIPLES],
        "names": (),
        "max_windows": 1,
        "r2s": [None],
    },
    "cqels2": {
        "lags": NO_LAG,
        "kinds": [WindowKind.TIME, WindowKind.ROWS, WindowKind.NOW],
        "units": [Unit.TRIPLES],
        "names": (),
        "max_windows": 1,
        "r2s": [None],
    },
    "sparqlstream": {
        "kinds": [*TIMED, WindowKind.ROWS, WindowKind.NOW, WindowKind.UNBOUNDED],
        "units": [Unit.TRIPLES],
        "names": (),
        "r2s": STATED,
    },
}
INNER = (
    "?x <urn:p> ?y",
    "?x ?p '} STREAM <s> ['",
    "OPTIONAL { ?x <urn:p> ?z }",
    "{ ?x a ?y } UNION { ?y a ?x }",
    "?x <urn:p> ?y # }\n",
    'FILTER EXISTS { ?x <urn:p> """}\n""" }',
    "SELECT ?x WHERE { ?x ?step ?now }",
)


def extents_of(dialect: str) -> dict[str, object]:
    """What a window that a dialect can say may have."""
    return {key: DRAWN[dialect][key] for key in ("kinds", "units", "lags") if key in DRAWN[dialect]}


def without_slide(window: Window) -> Window:
    """A window that CQELS-QL can say: its windows of these kinds have no slide."""
    if window.kind in (WindowKind.RANGE, WindowKind.ROWS):
        return replace(window, slide=None)
    return window


@st.composite
def numbered(draw: st.DrawFn, dialect: str) -> Query:
    """Queries with STREAM patterns: windows urn:window:1 and so on, in the order of their patterns,
    some twice; in SPARQLstream after windows without a name.
    """
    extents = windows(**extents_of(dialect), streams=("s", "urn:r"), triggers=False)
    if dialect == "cqels":
        extents |= extents.map(without_slide)
    found = draw(st.lists(extents, min_size=1, max_size=3, unique=True))
    names = [f"urn:window:{n}" for n in range(1, len(found) + 1)]
    again = draw(st.lists(st.sampled_from(names), max_size=2))
    patterns = [f"GRAPH <{name}> {{ {draw(st.sampled_from(INNER))} }}" for name in names + again]
    rest = draw(st.sampled_from(["?x <urn:q> ?y", "GRAPH <urn:g> { ?x a ?y }", "FILTER(?x != ?y)"]))
    first = draw(st.lists(extents, max_size=2)) if dialect == "sparqlstream" else []
    text = (
        f"SELECT {draw(st.sampled_from(['*', '?x', 'DISTINCT ?x']))} {{ "
        f"{' '.join([*patterns, rest])} }}"
    )
    named = (replace(window, name=name) for window, name in zip(found, names, strict=True))
    return Query((*first, *named), Body(text))


@st.composite
def named_by_streams(draw: st.DrawFn) -> Query:
    """Queries of C-SPARQL with FROM NAMED STREAM."""
    names = st.sampled_from(["urn:a", "urn:b", "http://example.org/c#d"])
    streams = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    options = {**extents_of("csparql"), "triggers": False}
    extents = [draw(windows(**options, streams=[name])) for name in streams]
    names = [name if draw(st.booleans()) else None for name in streams]
    body = draw(bodies(names=[name for name in names if name]))
    return Query(
        tuple(replace(window, name=name) for window, name in zip(extents, names, strict=True)), body
    )


def in_seconds(query: Query) -> Query:
    """A query that CQELS-QL 2.0 can say: it has no unit below a second, and no slide of ROWS."""
    windows_in_seconds = [
        replace(
            window,
            size=window.size and window.size * 1000,
            slide=window.slide and window.slide * 1000,
        )
        for window in map(without_slide, query.windows)
    ]
    return replace(query, windows=tuple(windows_in_seconds))


def with_names(query: Query) -> Query:
    """A query that RSP-QL can say more often: each of several windows has a name, and those of rows
    have no slide.
    """
    if len(query.windows) == 1:
        return replace(query, windows=tuple(map(without_slide, query.windows)))
    named = [
        replace(without_slide(window), name=window.name or f"urn:window:of:{number}")
        for number, window in enumerate(query.windows)
    ]
    return replace(query, windows=tuple(named))


@st.composite
def seen_by_streams(draw: st.DrawFn) -> Query:
    """Queries of CQELS-QL 2.0 with STREAM patterns: each window is named by its stream."""
    extents = {**extents_of("cqels2"), "triggers": False}
    names = {"Trips": "urn:window:Trips", "urn:s": "urn:s"}
    found = [
        replace(draw(windows(**extents, streams=[stream])), name=name)
        for stream, name in names.items()
    ]
    patterns = [f"GRAPH <{window.name}> {{ {draw(st.sampled_from(INNER))} }}" for window in found]
    rest = draw(st.sampled_from(["?x <urn:q> ?y", "GRAPH <urn:g> { ?x a ?y }", "FILTER(?x != ?y)"]))
    return Query(tuple(found), Body(f"SELECT * {{ {' '.join([*patterns, rest])} }}"))


def spoken(dialect: str) -> st.SearchStrategy[Query]:
    """Queries of which a dialect can say most."""
    general = queries(triggers=False, registered=st.none(), graph_variable=True, **DRAWN[dialect])
    match dialect:
        case "cqels" | "sparqlstream":
            return general | numbered(dialect)
        case "rspql":
            return general | general.map(with_names)
        case "csparql":
            return general | named_by_streams()
        case "cqels2":
            return general.map(in_seconds) | seen_by_streams().map(in_seconds)
        case _:
            return general


@lru_cache(maxsize=20_000)  # three tests ask for the texts of the same draws
def said(query: Query, dialect: str, *options: object) -> str | None:
    """A query as a text, which reads back; None where the dialect cannot say it. That its tokens
    cannot be told apart is no such reason: the body is SPARQL.
    """
    try:
        text = render(query, dialect, *options)
    except Unrenderable as error:
        assert error.place and "split into tokens" not in error.reason, (
            f"{error}\n{query.body.text}"
        )
        return None
    return text


@dataclass(frozen=True)
class Draw:
    """A query, an operator of a semantics that it may be stated with, and the dialect that the
    query was drawn for; None if it was drawn for none.
    """

    query: Query
    r2s: R2S | None
    dialect: str | None


def draw_of(dialect: str | None) -> st.SearchStrategy[Draw]:
    """Draws for one dialect, or for none."""
    drawn_queries = queries(graph_variable=True) if dialect is None else spoken(dialect)
    return st.builds(Draw, drawn_queries, st.sampled_from([None, *R2S]), st.just(dialect))


DRAW = st.one_of([draw_of(dialect) for dialect in (None, *DIALECTS)])


@cache
def draws_for_all() -> list[Draw]:
    """The queries that all dialects are tried on. Few can be said in all of them."""
    found: list[Draw] = []

    @settings(
        max_examples=11 * EXAMPLES,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(DRAW)
    def collect(draw: Draw) -> None:
        found.append(draw)

    collect()
    return found


def results_of(law: Callable[[Draw, str], T], dialect: str) -> list[T]:
    """Return what a law says of each draw; where one breaks it, the smallest such is looked for."""

    @settings(suppress_health_check=list(HealthCheck))
    @given(DRAW)
    def smallest(draw: Draw) -> None:
        law(draw, dialect)

    try:
        return [law(draw, dialect) for draw in draws_for_all()]
    except Exception:
        smallest()
        raise


def reads_back(draw: Draw, dialect: str) -> bool:
    """Whether a query can be rendered; it then reads back."""
    text = said(draw.query, dialect)
    assert text is None or read(text, dialect) == draw.query
    return text is not None


@one_worker_draws
@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_rendered_reads_back(dialect):
    """DIA-1, DIA-6: parse(render(q)) = q; a query that cannot be rendered
    counts for nothing here.
    """
    rendered = results_of(reads_back, dialect)
    own = [
        is_rendered
        for draw, is_rendered in zip(draws_for_all(), rendered, strict=True)
        if draw.dialect == dialect
    ]
    assert sum(rendered) >= EXAMPLES and sum(own) > len(own) / 7, (
        f"almost all draws are refused: {own}"
    )


NOT_RENDERED = object()


def states_the_operator(draw: Draw, dialect: str) -> object:
    """The operator that a query's text states; NOT_RENDERED where it has none."""
    query, r2s = draw.query, draw.r2s
    text = said(query, dialect, r2s)
    if text is None:
        return NOT_RENDERED

    got, wanted = read(text, dialect), query.r2s or r2s
    assert (got.windows, got.body) == (query.windows, query.body)
    can = DIALECTS[dialect].states(query.body.form) and wanted is not R2S.APPEND
    assert got.r2s == (wanted if can else None)
    return got.r2s


@one_worker_draws
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_query_is_rendered_or_refused(dialect):
    """DIA-4, DIA-6: over all queries and operators of the semantics, which are stated where they
    can be and then read back.
    """
    stated = [one for one in results_of(states_the_operator, dialect) if one is not NOT_RENDERED]
    assert len(draws_for_all()) >= MIXED and len(stated) > MIXED / 10, "almost nothing was rendered"
    assert (None in stated) and (len(set(stated)) > 1) == (
        dialect not in ("csparql", "cqels", "cqels2")
    )


@pytest.mark.parametrize(
    "dialect", [d for d in DIALECTS if (csrbench.QueryFolder().folder / f"Q1.{d}").exists()]
)
def test_the_queries_of_csrbench_are_written_in_four_languages(dialect):
    """By hand: none of these texts was rendered."""
    written = csrbench.QueryFolder(dialect=dialect)
    for name in csrbench.QUERIES:
        assert csrbench.query(name, written) == csrbench.query(name)
        assert (csrbench.QueryFolder().folder / f"{name}.{dialect}").read_text(
            encoding="utf-8"
        ) != render(csrbench.query(name), dialect)


def test_all_four_languages_are_there():
    found = {path.suffix[1:] for path in csrbench.QueryFolder().folder.iterdir()}
    assert found == {"toml", "rspql", "csparql", "cqels", "sparqlstream"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_queries_of_csrbench_render_and_read_back(dialect):
    for name in csrbench.QUERIES:
        assert read(render(csrbench.query(name), dialect), dialect) == csrbench.query(name)


# Hostile texts

WORDS = r"""
    { } [ ] ( ) " ' # < > ?step step RANGE STEP SLIDE WINDOW STREAM NOW 10 PT10S 10s P1M FROM
    WHERE REGISTER \ é 😀 SELECT @en ^^ _:b :: no:such . FITLER 99999999999999999999s NOW()
    <relative>
"""
PIECES = (
    *WORDS.split(),
    '"""',
    "\n",
    "\x00",
    "GRAPH ?g {",
    "FROM NAMED WINDOW",
    "SERVICE <http://e/> {}",
    "LIMIT 3",
    "# a comment\n",
    "\r\n",
    "\u2028",
    "FROM <urn:g>",
)


def hostile(draw: random.Random, text: str, own: str) -> str:
    """A text that was truncated, nested, or had pieces put in, taken out, doubled or exchanged; a
    comment or ?step where the dialect's own clause is.
    """
    for _ in range(draw.randrange(1, 4)):
        at = draw.randrange(len(text) + 1)
        words = list(re.finditer(r"\S+", text))
        match draw.randrange(9):
            case 0:
                text = text[:at]
            case 1:
                text = text[:at] + text[at + draw.randrange(1, 12) :]
            case 2:
                text = text[:at] + draw.choice(PIECES) + text[at:]
            case 3 if words:
                word = draw.choice(words)
                text = text[: word.start()] + draw.choice(PIECES) + text[word.end() :]
            case 4 if len(words) > 1:
                one, other = sorted(draw.sample(words, 2), key=lambda word: word.start())
                text = (
                    text[: one.start()]
                    + other[0]
                    + text[one.end() : other.start()]
                    + one[0]
                    + text[other.end() :]
                )
            case 5:
                text = text[:at] + text[at : at + 20] * 3 + text[at + 20 :]
            case 6:
                text = text[:at] + "{" * draw.randrange(1, 3000) + text[at:]
            case 7:
                text = text.replace(own, f"# {own}\n{own}", 1)
            case _:
                text = text.replace("?sensor", "?step").replace(own, f" # [\n {own} ", 1)
    return text


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_hostile_text_ends_in_a_query_or_a_place(dialect):
    draw = random.Random(f"hostile {dialect}")
    right = [render(csrbench.query(name), dialect) for name in csrbench.QUERIES]
    others = [render(csrbench.query("Q5"), other) for other in DIALECTS if other != dialect]
    own = "[NOW" if dialect == "sparqlstream" else "[RANGE"
    outcomes = {"query": 0, "error": 0}
    for _ in range(HOSTILE):
        text = hostile(draw, draw.choice(right if draw.random() < 0.9 else others), own)
        try:
            query = read(text, dialect)
        except RefengineError as error:
            assert re.search(r"line \d+ column \d+: ", str(error)), f"{error}\n{text}"
            outcomes["error"] += 1
        else:
            again = said(query, dialect)
            assert again is None or read(again, dialect) == query
            outcomes["query"] += 1
    assert min(outcomes.values()) >= 10, outcomes


def ends_of_beginnings(text: str) -> list[int]:
    """Return where a text is cut: before and after each word and each run of signs, and within the
    words at every fifth character; in the profiles of long runs before each character.
    """
    if PROFILE in LONG:
        return list(range(len(text)))
    borders = {end for found in re.finditer(r"\w+|[^\w\s]+", text) for end in found.span()}
    return sorted({*range(0, len(text), 5), *borders} - {len(text)})


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_beginning_of_a_text_ends_in_a_place(dialect):
    """Truncated anywhere, a text is no query, and the error is at its end or where a string or a
    bracket begins.
    """
    text = render(csrbench.query("Q3"), dialect)
    for end in ends_of_beginnings(text):
        with pytest.raises(RefengineError, match=r"line \d+ column \d+: "):
            read(text[:end], dialect)


LIKE_KEYWORDS = (
    "step range stream window slide now register from where named on as tumbling triples "
    "elements all to query istream"
)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_variables_named_like_keywords(dialect):
    words = LIKE_KEYWORDS.split()
    variables = " ".join(f"?{word}" for word in words)
    patterns = " . ".join(f"?{word} <urn:{word}> ${word}" for word in words)
    query = Query(
        (Window("s", WindowKind.TIME, 2000, 1000),),
        Body(f"SELECT {variables} WHERE {{ {patterns} }}"),
    )
    assert read(render(query, dialect), dialect) == query


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nested_too_deeply_is_unsupported(dialect):
    text = render(csrbench.query("Q1"), dialect)
    at = text.rindex("{") + 1
    with pytest.raises(
        RefengineError, match=r"line \d+ column \d+: R2R-17: brackets nested " r"more than 60 deep"
    ):
        read(text[:at] + "{" * 5000 + "}" * 5000 + text[at:], dialect)


def test_a_text_says_which_dialect_it_is():
    """DIA-7: of every pair; RSP-QL's forms are close to each other, and CQELS-QL 2.0 is to
    C-SPARQL, so that some texts are whole in several.
    """
    near = ({"rspql", "rsp4j"}, {"csparql", "cqels2"})
    for name, known in DIALECTS.items():
        text = render(csrbench.query("Q5"), name)
        for other in DIALECTS:
            if other == name:
                continue
            try:
                assert read(text, other) == csrbench.query("Q5") and {name, other} in near
            except RefengineError as error:
                assert "; this looks like " in str(error), f"{name} as {other}: {error}"
                looks = re.search(r"this looks like .* \((.*)\)$", str(error))[1]
                assert looks == name or {looks, name} in near, known


# The grammar: what SPARQL's own texts hold


TOKENS = (
    "SELECT * { ?x ^<urn:p> ?y }",
    "SELECT * { ?x <urn:p>+ ?y }",
    "SELECT * { ?x <urn:p>* ?y }",
    "SELECT * { ?x <urn:p>? ?y }",
    "SELECT * { ?x (<urn:p>/^<urn:q>)|!(<urn:r>|^a) ?y }",
    "SELECT * { _:b.c <urn:p> _:é }",
    "SELECT * { [] <urn:p> [ a ?x ; <urn:q> () ] }",
    "SELECT * { ?x <urn:p> 'chat'@fr-CA, \"x\"^^<urn:t>, 1, -1, +.5, .5e-3, 1.e5, 1E5, true }",
    "PREFIX : <urn:> SELECT * { :a.b :%41c :d\\,e . }",
    "PREFIX a.b-c: <urn:> SELECT * { a.b-c:d-e a a.b-c: }",
    "BASE <urn:x:> PREFIX : <y> SELECT * { <z> :p ?x }",
    "SELECT $x { $x <urn:p> ?y }",
    "SELECT * { ?x <urn:p> ?y FILTER(?x < ?y&&?y>3||!(?x<=?y)&&?x!=?y) }",
    "SELECT * { ?x <urn:p> ?y FILTER(?y IN (1,2)&&?y*2+1/3-1=?x) }",
    "SELECT DISTINCT(?x AS ?z){?x <urn:p> ?y}GROUP BY(?x)HAVING(COUNT(*)>1)ORDER BY DESC(?x)",
    "SELECT REDUCED ?x{?x <urn:p> ?y}",
    "SELECT ?\\u0061 { ?\\u0061 <urn:\\u0061> '\\u0062' }",
    'SELECT * { ?x <urn:p> \'it\\\'s\', """a"b""c\\"""", \'\'\'x\'\'\' }',
    "SELECT * { VALUES (?x ?y) { (<urn:a> UNDEF) (1 'x') } VALUES ?z { 1 } }",
    "ASK{FILTER(REGEX(STR(<urn:x>),'^[a-z]{2}#$','i'))}",
    "SELECT*{?x a ?y.?y a ?z}",
    "SELECT ?x{?x <urn:p> ?y}VALUES ?x{<urn:a>}",
    "CONSTRUCT{?x <urn:p> _:n}WHERE{?x <urn:p> ?y}",
    "SELECT ?あ { ?あ <urn:p> ?\U0001f600 }",
    "prefix :<urn:>select*where{graph :g{?s ?p ?o}}",
    "SELECT * {{SELECT ?x WHERE{?x ?y ?z}}UNION{?x a ?y}MINUS{?x ?y 1}}",
)


@pytest.mark.parametrize("text", TOKENS)
def test_a_token_of_sparql_is_a_token(text):
    """Of everything that SPARQL's grammar has, in the two dialects whose clauses leave WHERE as it
    is.
    """
    for dialect in ("csparql", "sparqlstream"):
        query = Query((Window("urn:s", WindowKind.TIME, 1000, 500),), Body(text))
        rendered = said(query, dialect)
        assert rendered is not None and read(rendered, dialect) == query


@each_section(case for case in corpus.cases() if case.rule != "QRY-1" and "query" in case.table)
def test_the_body_of_every_case_is_read(cases):
    """A dialect without a clause of its own finds each pattern of WHERE where SPARQL has it."""
    check_all(cases, body_is_read)


def body_is_read(case: corpus.Case) -> None:
    """Check that the body of a case reads back from each dialect that can say it."""
    try:
        query = corpus.query_of(case)
    except RefengineError:
        return
    plain = replace(
        query, windows=(Window("urn:s", WindowKind.TIME, 1000, 500),), r2s=None, registered=None
    )
    for dialect in ("csparql", "sparqlstream"):
        text = said(plain, dialect)
        assert text is not None and read(text, dialect) == plain
    for dialect in DIALECTS:
        text = said(query, dialect)
        assert text is None or read(text, dialect) == query
