"""MOD-4: what is given as terms becomes canonical N-Triples text once, or is refused with the
nearest that is valid.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest
import rdflib
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import refusal

from refengine import (
    Element,
    InvalidStream,
    Stream,
    evaluate,
    from_table,
    incremental,
    literal,
    parse_literal,
    profile,
    stream,
)
from refengine.model import elements as canonical_module
from refengine.model.elements import XSD, CanonicalElements
from refengine.model.messages import ALIKE, LISTED, LISTED_LENGTH, MESSAGE, nearest, nearest_id
from refengine.model.terms import canonical

A, P = "<urn:a>", "<urn:p>"
LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
WINDOW = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
QUERY = from_table({"body": "SELECT * { ?s ?p ?o }", "windows": [WINDOW]})
CSPARQL = profile("csparql").but(t0=0).semantics()


def one(term: str) -> Stream:
    """A stream whose third element has the term as object."""
    return stream([((A, P, '"1"'), 1), ((A, P, '"2"'), 2), ((A, P, term), 3)])


def object_of(given: Stream) -> str:
    """The object of the last element."""
    [(_, _, found)] = given.elements[-1].graph
    return found


CANONICAL = [
    ('"a\\tb"', '"a\tb"'),
    ('"\\b\\f\\n\\r\\"\\\\\\\'"', '"\b\f\\n\\r\\"\\\\\'"'),
    ('"\\u00e9\\U0001F600"', '"é😀"'),
    ('"x"@EN', '"x"@en'),
    ('"x"@zh-Hant-TW', '"x"@zh-hant-tw'),
    (f'"x"^^<{XSD}string>', '"x"'),
    (f'"x"^^<{XSD.replace("2001", chr(92) + "u0032001")}string>', '"x"'),
    (f'"01"^^<{XSD}integer>', f'"01"^^<{XSD}integer>'),
    (f'"abc"^^<{XSD}integer>', f'"abc"^^<{XSD}integer>'),
    ("<http://e/\\u00e9>", "<http://e/é>"),
    ("<http://e/a?b=c#d>", "<http://e/a?b=c#d>"),
    ("_:b.1-é", "_:b.1-é"),
    ("_:0-x", "_:0-x"),
    ("_:static-x", "_:static-x"),
    ("_:made/3/0", "_:made-3-0"),
    ("_:made/3k/0", "_:made-3k-0"),
    ('"\x00\x7f\x85\u2028"', '"\x00\x7f\x85\u2028"'),
]


@pytest.mark.parametrize(("written", "term"), CANONICAL)
def test_a_term_is_canonical_once_it_is_in_a_stream(written, term):
    assert canonical(written) == term == canonical(term)
    assert object_of(one(written)) == term
    assert {object_of(one(written)), object_of(one(term))} == {term}


@pytest.mark.parametrize(("written", "term"), CANONICAL)
def test_the_evaluator_and_incremental_evaluation_answer_with_the_same_term(written, term):
    defined, kept = (
        [
            row
            for report in way(QUERY, {"s": one(written)}, CSPARQL, answer=one_witness)
            for row in report.relation.rows
        ]
        for way in (evaluate, incremental.evaluate)
    )
    assert [dict(row)["o"] for row in kept if dict(row)["o"] not in ('"1"', '"2"')] == [term]
    if not term.startswith("_:"):
        assert set(defined) == set(kept)


def one_witness(body, graph):
    """rdflib alone, which keeps lexical forms."""
    from refengine.core import r2r

    return r2r.ask_evaluator("rdflib", body, graph)


def test_rdflib_logs_nothing_for_a_witness_and_goes_on_logging_for_others():
    logger, told = logging.getLogger("rdflib.term"), []
    handler = logging.Handler()
    handler.emit = told.append
    logger.addHandler(handler)
    try:
        streams = {"s": one(literal("no number, in no other test", XSD + "integer"))}
        assert list(evaluate(QUERY, streams, CSPARQL, answer=one_witness))
        assert not told
        rdflib.Literal("no number", datatype=rdflib.XSD.integer)
        assert len(told) == 1
    finally:
        logger.removeHandler(handler)


REFUSED = [
    ("abc", 'write <http://example.org/abc> or "abc"'),
    ("http://e/a", "write <http://e/a> or"),
    ("?v", "a variable is no RDF term"),
    ("$v", "a variable is no RDF term"),
    ("", 'write <http://example.org/> or ""'),
    (5, f'write "5"^^<{XSD}integer>'),
    (True, f'write "true"^^<{XSD}boolean>'),
    (0.5, f'write "0.5"^^<{XSD}double>'),
    (None, "a term must be text, got None"),
    ([], "a graph must be triples, which are tuples of text"),
    ("'x'", 'write "x"'),
    ('"x', 'write "x"'),
    ('"a\nb"', 'write "a\\nb"'),
    ('"a"b"', 'write "a\\"b"'),
    ('"\\x"', 'write "\\\\x"'),
    ('"\\u12"', "not a term"),
    ('"\\uD800"', "a surrogate is no character"),
    ('"\\U00110000"', "no such character"),
    ('"\ud800"', "a surrogate is no character"),
    ('"x"@en_US', 'write "x"@en-US'),
    ('"x"@', "not a term"),
    ('"x"@toolongalanguage', "not a language tag (RFC 5646)"),
    ('"x"^^xsd:int', f'write "x"^^<{XSD}int>'),
    ('"x"^^<int>', "relative IRI 'int'"),
    (f'"x"^^<{LANG_STRING}>', "rdf:langString without a language"),
    (f'"x"@en^^<{LANG_STRING}>', "not a term"),
    ("<abc>", "relative IRI 'abc'"),
    ("<>", "relative IRI"),
    ("<//e/a>", "relative IRI"),
    *((f"<http://e/a{c}b>", "not") for c in '<>"{}|^` \x00\x1f'),
    ("<http://e/a\\b>", "not a term"),
    ("<http://e/\\u0020>", "not an IRI (RFC 3987)"),
    ("<http://e/%zz>", "not an IRI (RFC 3987)"),
    ("<http://e/a b>", "write <http://e/a%20b>"),
    ("_:", "not a term"),
    ("_:-x", "write _:x"),
    ("_:x.", "write _:x"),
    ("_:a b", "write _:a-b"),
    ("_:made/x/0", "not a term"),
    ("x" * 10_000, "not a term"),
]


@pytest.mark.parametrize(("written", "words"), REFUSED, ids=lambda value: repr(value)[:30])
def test_what_is_no_term_is_refused_with_the_element_and_the_nearest_that_is(written, words):
    with pytest.raises(InvalidStream) as error:
        stream([((A, P, '"1"'), 1), ((A, P, '"2"'), 2), ([(A, P, '"3"'), (A, P, written)], 3)])
    said = str(error.value)
    assert (error.value.rule, error.value.place) == ("MOD-4", "element 3")
    assert words in said and said.isprintable() and len(said) < 300


@pytest.mark.parametrize(
    "written", [w for w, _ in REFUSED if isinstance(w, str)], ids=lambda value: repr(value)[:30]
)
def test_what_an_error_says_to_write_is_a_term(written):
    with pytest.raises(InvalidStream) as error:
        canonical(written)
    _, write, texts = error.value.reason.partition("; write ")
    if write and not texts.startswith(("it ", "as ")):
        for text in texts.split(" or "):
            assert canonical(text) == text or text.endswith("@en-US")


@pytest.mark.parametrize(
    "written",
    [
        *(w for w, _ in REFUSED if isinstance(w, str)),
        *(f'"x{character}y"' for character in "\n\r"),
        *(f'"x{character}y"@en_US' for character in "\t\x01\x7f\x85\u2028"),
        *(f"<urn:x{character}y>" for character in '\n\t\r\\"'),
        '"x\\qy"',
        '"x\\',
        "'x\ny'",
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_an_error_says_to_write_does_not_look_like_what_was_written(written):
    """A line break is shown as ␊, and advised as the escape \\n."""
    message = refusal(lambda: canonical(written), InvalidStream)
    shown, write, texts = message.partition("; write ")
    assert message.isprintable()
    if write and not texts.startswith(("it ", "as ")):
        for text in texts.split(" or "):
            assert f"'{text}'" not in shown and f'"{text}"' not in shown
            assert canonical(text)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ('"x\ny"', 'MOD-4: not a term: \'"x␊y"\'; write "x\\ny"'),
        ('"x\ry"', 'MOD-4: not a term: \'"x␍y"\'; write "x\\ry"'),
        ('"x\\qy"', 'MOD-4: not a term: \'"x\\qy"\'; write "x\\\\qy"'),
        ('"x\x01y"@en_US', 'MOD-4: not a term: \'"x␁y"@en_US\'; write "x\\u0001y"@en-US'),
    ],
)
def test_a_control_character_is_shown_and_its_escape_advised(written, message):
    assert refusal(lambda: canonical(written), InvalidStream) == message


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        ([('"x"', P, A)], "a subject must be an IRI or a blank node"),
        ([(A, '"p"', A)], "a predicate must be an IRI"),
        ([(A, "_:p", A)], "a predicate must be an IRI"),
        ([(A, P)], "a triple must be three terms"),
        ([(A, P, A, A)], "a triple must be three terms"),
        ([A], "a triple must be three terms"),
        ("abc", "a triple must be three terms"),
        ([(A, f"{P}\n{A}\n{A}", f"{P}\n{A}")], "not a term"),
        ([None], "a triple must be three terms"),
    ],
)
def test_what_is_no_triple_is_refused(graph, words):
    with pytest.raises(InvalidStream, match="element 2: MOD-4: ") as error:
        Stream((Element(frozenset(), 0, 1), Element(frozenset(graph), 1, 2)))
    assert words in str(error.value)


def test_a_graph_that_was_no_frozenset_is_one():
    assert Stream([Element({(A, P, A)}, 0, 1)]).elements == (Element(frozenset({(A, P, A)}), 0, 1),)


def test_what_is_canonical_is_not_checked_again(monkeypatch):
    checked = one('"é"@EN')
    monkeypatch.setattr(canonical_module, "_changes", None)
    assert replace(checked, ordered=False).elements is checked.elements
    assert Stream(checked.elements) == checked


def test_other_errors_come_first():
    with pytest.raises(InvalidStream, match="MOD-1"):
        stream([((A, P, "abc"), 0.5)])


# Static data


@pytest.mark.parametrize("way", [evaluate, incremental.evaluate])
def test_static_data_is_made_canonical(way):
    body = "SELECT ?x { ?s <urn:p> ?o . ?x <urn:q> ?o }"
    asked = from_table({"body": body, "windows": [WINDOW]})
    static = frozenset([(A, "<urn:q>", '"x"@En')])
    reports = way(asked, {"s": stream([((A, P, '"x"@EN'), 1)])}, CSPARQL, static=static)
    assert [len(report.relation.rows) for report in reports] == [1]


@pytest.mark.parametrize("way", [evaluate, incremental.evaluate])
@pytest.mark.parametrize(
    "statement", [(A, P, "abc"), ('"x"', P, A), (A, P), (A, P, A, '"g"'), (A, P, A, A, A)]
)
def test_static_data_that_is_none_is_refused(way, statement):
    with pytest.raises(InvalidStream, match="static data: MOD-4"):
        list(way(QUERY, {"s": one('"x"')}, CSPARQL, static=frozenset([statement])))


# Streams that are read while they are evaluated


def elements(one: str, other: str, apart: int) -> Iterator[Element]:
    """Yield an element at 1, and another so much later, with these objects."""
    yield Element(frozenset([(A, P, one)]), 1, 1)
    yield Element(frozenset([(A, P, other)]), 1 + apart, 2)


def test_the_elements_of_an_iterator_are_made_canonical():
    given = elements('"x"@EN', '"y"', 19)
    reports = list(incremental.evaluate(QUERY, {"s": given}, CSPARQL))
    found = [dict(row)["o"] for report in reports for row in report.relation.rows]
    assert found == ['"x"@en', '"y"']


def test_an_element_of_an_iterator_that_is_none_is_named():
    with pytest.raises(InvalidStream, match="element 2: MOD-4: not a term: 'abc'"):
        list(incremental.evaluate(QUERY, {"s": elements('"x"', "abc", 1)}, CSPARQL))


# Literals taken apart and put together

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"])) | st.text(
    st.sampled_from("\\\"'\n\r\t\b\f\x00\x1f\x7f\x85tbnrfuU0")
)


@given(ANY_TEXT, st.sampled_from([XSD + "string", XSD + "integer", "http://e/d#t"]))
@example('\\t\t\\\\t"\n\r\x00', XSD + "string")
def test_parse_literal_is_the_inverse_of_literal(lexical, datatype):
    term = literal(lexical, datatype)
    assert parse_literal(term) == (lexical, datatype, "")
    assert canonical(term) == term == object_of(one(term))
    assert parse_literal(literal(lexical, language="en")) == (lexical, LANG_STRING, "en")


@given(ANY_TEXT, st.integers(0, 3))
def test_every_escape_of_ntriples_is_read(lexical, kind):
    short = {"\t": "t", "\b": "b", "\n": "n", "\r": "r", "\f": "f", '"': '"', "'": "'", "\\": "\\"}
    written = "".join(
        f"\\{short[c]}"
        if c in short and (kind == 0 or c in '\\"\n\r')
        else f"\\u{ord(c):04X}"
        if kind == 1 and ord(c) < 0x10000
        else f"\\U{ord(c):08x}"
        if kind == 2
        else c
        for c in lexical
    )
    assert canonical(f'"{written}"') == literal(lexical)
    assert parse_literal(f'"{written}"').lexical == lexical


@given(st.text())
def test_any_text_is_a_term_or_refused(text):
    try:
        term = canonical(text)
    except InvalidStream as error:
        assert str(error).isprintable()
    else:
        assert canonical(term) == term


def test_elements_that_are_canonical_are_a_tuple():
    assert isinstance(one('"x"').elements, CanonicalElements) and one('"x"').elements == tuple(
        one('"x"')
    )


def test_a_list_of_valid_words_is_bounded_in_number_and_in_length() -> None:
    short = [f"w{number:03}" for number in range(LISTED + 5)]
    assert nearest("?", short) == f"; valid: {', '.join(short[:LISTED])}, … 5 more"

    long = [f"{number:03}" + "x" * (LISTED_LENGTH // 4 - 3) for number in range(9)]
    assert nearest("?", long) == f"; valid: {', '.join(long[:4])}, … 5 more"
    assert nearest("?", ["x" * (MESSAGE - 100)]).endswith("x"), "at least one is listed, and whole"


def test_the_ids_that_begin_alike_are_listed() -> None:
    ids = [f"WIN-3-{letter}-case-of-its-own" for letter in "abcdef"] + [
        "WIN-30-another-rule",
        "REP-1-a",
    ]
    assert nearest_id("WIN-3-a-case-of-its-owm", ids) == f"; did you mean {ids[0]!r}?"
    assert nearest_id("WIN-3-nosuch", ids) == f"; valid: {', '.join(ids[:ALIKE])}, … 2 more"
    assert nearest_id("REP-7-nosuch-at-all", ids) == "; valid: REP-1-a"
    assert nearest_id("nosuch", ids) == nearest("nosuch", ids)
