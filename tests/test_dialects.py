"""Four query languages in six forms: what is rendered reads back, and no text ends without a query or a place."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import PROFILE
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from conformance import csrbench
from refengine import Body, Query, Window, WindowKind
from refengine.dialects import DIALECTS, Unrenderable, read, render
from refengine.errors import RefengineError
from refengine.query import Unit
from refengine.semantics import R2S
from refengine.strategies import bodies, queries, windows

EXAMPLES = {"full": 5000, "fuzz": 5000}.get(PROFILE, 60)  # of each dialect
TIMED, COUNTED = [WindowKind.TIME, WindowKind.RANGE], [WindowKind.TUPLE, WindowKind.ROWS]
STATED = (None, R2S.RSTREAM, R2S.ISTREAM, R2S.DSTREAM)
# What each dialect has at all, so that most draws can be rendered.
DRAWN = {
    "rspql": {"kinds": TIMED + COUNTED, "units": [Unit.ELEMENTS], "r2s": STATED},
    "rsp4j": {"kinds": [WindowKind.TIME, WindowKind.TUPLE], "units": [Unit.ELEMENTS], "r2s": STATED},
    "rsp-js": {"kinds": [WindowKind.TIME], "r2s": STATED},
    "csparql": {"kinds": [WindowKind.TIME, WindowKind.ROWS], "units": [Unit.TRIPLES], "names": (), "r2s": [None]},
    "cqels": {
        "kinds": [*TIMED, WindowKind.ROWS, WindowKind.NOW, WindowKind.UNBOUNDED], "units": [Unit.TRIPLES], "names": (), "max_windows": 1,
        "r2s": [None],
    },
    "sparqlstream": {
        "kinds": [*TIMED, WindowKind.ROWS, WindowKind.NOW, WindowKind.UNBOUNDED], "units": [Unit.TRIPLES], "names": (), "r2s": STATED,
    },
}  # fmt: skip
INNER = (
    "?x <urn:p> ?y", "?x ?p '} STREAM <s> ['", "OPTIONAL { ?x <urn:p> ?z }", "{ ?x a ?y } UNION { ?y a ?x }", "?x <urn:p> ?y # }\n",
    "FILTER EXISTS { ?x <urn:p> \"\"\"}\n\"\"\" }", "SELECT ?x WHERE { ?x ?step ?now }",
)  # fmt: skip


@st.composite
def numbered(draw: st.DrawFn, dialect: str) -> Query:
    """Queries with STREAM patterns: windows urn:window:1 and so on, in the order of their patterns, some twice; in
    SPARQLstream after windows without a name."""
    extents = windows(**{key: DRAWN[dialect][key] for key in ("kinds", "units")}, streams=("s", "urn:r"), triggers=False)
    found = draw(st.lists(extents, min_size=1, max_size=3, unique=True))
    names = [f"urn:window:{n}" for n in range(1, len(found) + 1)]
    again = draw(st.lists(st.sampled_from(names), max_size=2))
    patterns = [f"GRAPH <{name}> {{ {draw(st.sampled_from(INNER))} }}" for name in names + again]
    rest = draw(st.sampled_from(["?x <urn:q> ?y", "GRAPH <urn:g> { ?x a ?y }", "FILTER(?x != ?y)"]))
    first = draw(st.lists(extents, max_size=2)) if dialect == "sparqlstream" else []
    text = f"SELECT {draw(st.sampled_from(['*', '?x', 'DISTINCT ?x']))} {{ {' '.join([*patterns, rest])} }}"
    named = (replace(window, name=name) for window, name in zip(found, names, strict=True))
    return Query((*first, *named), Body(text))


@st.composite
def named_by_streams(draw: st.DrawFn) -> Query:
    """Queries of C-SPARQL with FROM NAMED STREAM."""
    streams = draw(st.lists(st.sampled_from(["urn:a", "urn:b", "http://example.org/c#d"]), min_size=1, max_size=3, unique=True))
    extents = [draw(windows(**{key: DRAWN["csparql"][key] for key in ("kinds", "units")}, streams=[name], triggers=False)) for name in streams]
    names = [name if draw(st.booleans()) else None for name in streams]
    body = draw(bodies(names=[name for name in names if name]))
    return Query(tuple(replace(window, name=name) for window, name in zip(extents, names, strict=True)), body)


def spoken(dialect: str) -> st.SearchStrategy[Query]:
    """Queries of which a dialect can say most."""
    general = queries(triggers=False, registered=st.none(), graph_variable=True, **DRAWN[dialect])
    match dialect:
        case "cqels" | "sparqlstream":
            return general | numbered(dialect)
        case "csparql":
            return general | named_by_streams()
        case _:
            return general


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_rendered_reads_back(dialect):
    """DIA-1, DIA-6: parse(render(q)) = q; a query that cannot be rendered counts for nothing here."""
    refused: dict[str, int] = {}

    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
    @given(spoken(dialect))
    def law(query: Query) -> None:
        try:
            text = render(query, dialect)
        except Unrenderable as error:
            reason = re.sub(r"'.*?'|<.*?>", "…", error.reason)
            refused[reason] = refused.get(reason, 0) + 1
            assume(False)
        assert read(text, dialect) == query

    law()
    assert sum(refused.values()) < 6 * EXAMPLES, f"almost all draws are refused: {refused}"


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(queries(graph_variable=True), st.sampled_from([None, *R2S]))
def test_every_query_is_rendered_or_refused(query, r2s):
    """DIA-6: over all queries: a text that reads back, with the semantics' operator where it is stated; or Unrenderable,
    which names what cannot be said."""
    for dialect, known in DIALECTS.items():
        try:
            text = render(query, dialect, r2s)
        except Unrenderable as error:
            assert error.place or "stream" in error.reason
            continue
        got = read(text, dialect)
        assert (got.windows, got.body) == (query.windows, query.body)
        assert (got.r2s or r2s) == (query.r2s or r2s)
        assert known.states(query.body.form) or got.r2s is None


@pytest.mark.parametrize("dialect", [d for d in DIALECTS if (csrbench.Written().folder / f"Q1.{d}").exists()])
def test_the_queries_of_csrbench_are_written_in_four_languages(dialect):
    """By hand: none of these texts was rendered."""
    written = csrbench.Written(dialect=dialect)
    for name in csrbench.QUERIES:
        assert csrbench.query(name, written) == csrbench.query(name)
        assert (csrbench.Written().folder / f"{name}.{dialect}").read_text(encoding="utf-8") != render(csrbench.query(name), dialect)


def test_all_four_languages_are_there():
    found = {path.suffix[1:] for path in csrbench.Written().folder.iterdir()}
    assert found == {"toml", "rspql", "csparql", "cqels", "sparqlstream"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_queries_of_csrbench_render_and_read_back(dialect):
    for name in csrbench.QUERIES:
        assert read(render(csrbench.query(name), dialect), dialect) == csrbench.query(name)


# Hostile texts

PIECES = (
    "{", "}", "[", "]", "(", ")", '"', "'", '"""', "#", "\n", "<", ">", "?step", "step", "RANGE", "STEP", "SLIDE", "WINDOW", "STREAM", "NOW",
    "10", "PT10S", "10s", "P1M", "FROM", "WHERE", "REGISTER", "\\", "\0", "é", "\U0001f600", "SELECT", "GRAPH ?g {", "FROM NAMED WINDOW", "@en",
    "^^", "_:b", "::", "no:such", ".", "SERVICE <http://e/> {}", "LIMIT 3", "# a comment\n", "\r\n", "\u2028", "FITLER", "99999999999999999999s",
    "NOW()", "<relative>", "FROM <urn:g>",
)  # fmt: skip


def hostile(draw: random.Random, text: str, own: str) -> str:
    """A text that was truncated, nested, or had pieces put in, taken out, doubled or exchanged; a comment or ?step where the
    dialect's own clause is."""
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
                text = text[: one.start()] + other[0] + text[one.end() : other.start()] + one[0] + text[other.end() :]
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
    for _ in range(200):
        text = hostile(draw, draw.choice(right if draw.random() < 0.9 else others), own)
        try:
            query = read(text, dialect)
        except RefengineError as error:
            assert re.search(r"line \d+ column \d+: ", str(error)), f"{error}\n{text}"
            outcomes["error"] += 1
        else:
            assert query.windows and query.body.text
            outcomes["query"] += 1
    assert min(outcomes.values()) >= 10, outcomes


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_beginning_of_a_text_ends_in_a_place(dialect):
    """Truncated anywhere, a text is no query, and the error is at its end or where a string or a bracket begins."""
    text = render(csrbench.query("Q3"), dialect)
    for end in range(len(text)):
        with pytest.raises(RefengineError, match=r"line \d+ column \d+: "):
            read(text[:end], dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_variables_named_like_keywords(dialect):
    words = "step range stream window slide now register from where named on as tumbling triples elements all to query istream".split()
    variables = " ".join(f"?{word}" for word in words)
    patterns = " . ".join(f"?{word} <urn:{word}> ${word}" for word in words)
    query = Query((Window("s", WindowKind.TIME, 1000, 500),), Body(f"SELECT {variables} WHERE {{ {patterns} }}"))
    assert read(render(query, dialect), dialect) == query


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nested_too_deeply_is_unsupported(dialect):
    text = render(csrbench.query("Q1"), dialect)
    at = text.rindex("{") + 1
    with pytest.raises(RefengineError, match=r"line \d+ column \d+: QRY-1: nested too deeply"):
        read(text[:at] + "{" * 5000 + "}" * 5000 + text[at:], dialect)


def test_a_text_says_which_dialect_it_is():
    """DIA-7: of every pair; RSP-QL's forms are close to each other, so that some texts are whole in several."""
    for name, known in DIALECTS.items():
        text = render(csrbench.query("Q5"), name)
        for other in DIALECTS:
            if other == name:
                continue
            try:
                assert read(text, other) == csrbench.query("Q5") and {name, other} <= {"rspql", "rsp4j"}
            except RefengineError as error:
                assert "; this looks like " in str(error), f"{name} as {other}: {error}"
                looks = re.search(r"this looks like .* \((.*)\)$", str(error))[1]
                assert looks == name or {looks, name} <= {"rspql", "rsp4j"}, known


# The grammar: what SPARQL's own texts hold


@pytest.mark.parametrize("path", sorted((Path(__file__).parent.parent / "conformance" / "cases").rglob("*.toml")), ids=lambda path: path.stem)
def test_the_body_of_every_case_is_read(path):
    """A dialect without a clause of its own finds each pattern of WHERE where SPARQL has it."""
    from conformance import corpus

    case = corpus.load(path)
    try:
        query = corpus.query_of(case)
    except RefengineError:
        return
    for dialect in DIALECTS:
        try:
            text = render(query, dialect)
        except Unrenderable:
            continue
        assert read(text, dialect) == query
