"""Wrong readers and writers of the four query languages.

Sources: `RSP-JS` is pbonte/RSP-JS 1.3.5; `CQELS` danhlephuoc/cqels, of 2011; `C-SPARQL`
streamreasoning/CSPARQL-engine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from urllib.parse import urljoin

from lark import Token, Tree

from conformance.wrong_engines import Miniature
from refengine.core.query import Body, Query, Unit, Window, WindowKind
from refengine.core.semantics import R2S
from refengine.dialects import _operator as right_operator
from refengine.dialects import read as right_read
from refengine.dialects import stated as right_stated
from refengine.dialects.dialect import wrap as right_wrap
from refengine.dialects.durations import iso as right_iso
from refengine.dialects.durations import milliseconds as right_milliseconds
from refengine.dialects.grammar import fault as right_fault
from refengine.dialects.source import Source, Unrenderable, start
from refengine.dialects.windows import read as right_window
from refengine.model.errors import InvalidQuery

Node = Tree[Token]

NOBODY = "none known"


# DIA-1


def body_on_one_line(text: str, dialect: str, named: bool = False) -> Query:
    """White space of the body counts for nothing, so it is written in one line, its strings with
    it.
    """
    query = right_read(text, dialect, named)
    return replace(query, body=Body(" ".join(query.body.text.split(" ")).replace("\n", " ")))


def clause_alone(source: Source, begin: int, end: int) -> tuple[int, int]:
    """A clause goes without the line end or the space after it."""
    return begin, end


def both_line_ends(source: Source, begin: int, end: int) -> tuple[int, int]:
    """A clause goes with the line ends on both sides, whatever runs together then."""
    before, after = begin > 0 and source.text[begin - 1] == "\n", source.text[end : end + 1]
    return begin - (before and after == "\n"), end + (after in ("\n", " "))


# DIA-2


def no_unit_is_seconds(parts: Iterable[tuple[str, str]]) -> int | None:
    """Every unit is seconds."""
    return right_milliseconds((number, "s") for number, _ in parts)


def last_digit_of_hours(parts: Iterable[tuple[str, str]]) -> int | None:
    """Hours and days lose the last digit of their number."""
    return right_milliseconds(
        (number[:-1] or "0" if unit[0] in "hd" else number, unit) for number, unit in parts
    )


def first_duration(parts: Iterable[tuple[str, str]]) -> int | None:
    """Of several durations the first one counts."""
    return right_milliseconds(list(parts)[:1])


def iso_without_fractions(text: str) -> int | None:
    """A fraction of a second is dropped."""
    found = right_iso(text)
    return None if found is None else found // 1000 * 1000


def iso_with_minutes_for_months(text: str) -> int | None:
    """M is minutes wherever it stands."""
    return right_iso(text.replace("P", "PT", 1) if "T" not in text and "M" in text else text)


# DIA-3


def range_tumbles(
    source: Source, stream: str, extent: Node | None, name: str | None = None
) -> Window:
    """A RANGE without a slide slides by its size."""
    window = right_window(source, stream, extent, name)
    return (
        replace(window, kind=WindowKind.TIME, slide=window.size)
        if window.kind is WindowKind.RANGE
        else window
    )


def triples_are_elements(
    source: Source, stream: str, extent: Node | None, name: str | None = None
) -> Window:
    """TRIPLES n is the latest n elements, however many triples they have."""
    return replace(right_window(source, stream, extent, name), unit=Unit.ELEMENTS)


def everything_is_time(
    source: Source, stream: str, extent: Node | None, name: str | None = None
) -> Window:
    """A window that counts elements is one over time."""
    window = right_window(source, stream, extent, name)
    return replace(window, kind=WindowKind.TIME) if window.kind is WindowKind.TUPLE else window


# DIA-4


def always_rstream(source: Source) -> R2S | None:
    """Istream and Dstream are read, and mean Rstream."""
    return None if right_stated(source) is None else R2S.RSTREAM


def operator_is_lost(query: Query, spoken: Any, r2s: R2S | None) -> R2S | None:
    """An operator that the text cannot state is left out."""
    return right_operator(query, spoken, r2s) if spoken.states(query.body.form) else None


def own_operator_alone(query: Query, spoken: Any, r2s: R2S | None) -> R2S | None:
    """The semantics' operator is never stated."""
    return right_operator(query, spoken, None if spoken.states(query.body.form) else r2s)


# DIA-5


def named_streams_are_merged(
    source: Source, stream: str, extent: Node | None, name: str | None = None
) -> Window:
    """NAMED of FROM NAMED STREAM is read over."""
    return right_window(source, stream, extent, None if name == stream else name)


def lone_pattern_is_always_nameless(source: Source, alone: bool) -> list[Window]:
    """A STREAM pattern that is all of WHERE sees static data."""
    from refengine.dialects import dialect

    if pattern := dialect.lone(source):
        dialect.unwrap(source, pattern)
        return [dialect._window(source, pattern)]
    return []


def iris_as_written(source: Source, node: Node) -> str:
    """A name is the text between < and >, base and escapes or not."""
    token, (_, namespaces) = node.children[0], source.prologue
    assert isinstance(token, Token)
    return (
        token[1:-1]
        if token.type == "IRIREF"
        else namespaces[token[: token.index(":") + 1]] + token[token.index(":") + 1 :]
    )


def iris_lose_their_end(base: str, reference: str) -> str:
    """An empty query or fragment is dropped."""
    return urljoin(base, reference)


# DIA-6


def patterns_stay_outside(source: Source, opening: str, static: bool) -> None:
    """A window's pattern goes around WHERE, whatever is outside of it."""
    try:
        right_wrap(source, opening, static)
    except Unrenderable:
        first, last = start(source.pattern) + 1, source.pattern.meta.end_pos - 1
        source.put(first, first, f"\n{opening} {{")
        source.put(last, last, "}\n")


def static_data_are_everywhere(source: Source, opening: str, static: bool) -> None:
    """A window's pattern goes around WHERE beside static data, too."""
    right_wrap(source, opening, False)


def groups_that_look_alike(source: Source) -> Node | None:
    """A pattern that reads like the template is the template, and so is one in SELECT."""
    first, last = start(source.where), source.where.meta.end_pos
    groups = (group for group in source.nodes("group") if group not in source.form.children)
    return next((group for group in groups if not first <= start(group) < last), None)


def variables_find_what_they_find(source: Source) -> Node | None:
    """GRAPH with a variable may find the name that a window has in the text only, or in the body
    only.
    """
    return None


def every_name_is_an_iri(name: str, source: Source, what: str) -> str:
    """Any name is put between < and >."""
    return f"<{name}>"


# DIA-7


def columns_from_zero(text: str, offset: int) -> str:
    """Lines and columns are counted from 0."""
    before = text[:offset]
    return f"line {before.count(chr(10))} column {offset - before.rfind(chr(10)) - 1}"


def no_place(text: str, error: Any, hint: str = "") -> InvalidQuery:
    """A text that cannot be read is an error, without a place or a reason."""
    return InvalidQuery("cannot be read", rule="DIA-7", place="text")


def no_hint(text: str, error: Any, hint: str = "") -> InvalidQuery:
    """Nobody is told that it is another dialect."""
    return right_fault(text, error)


def unclosed_is_not_named(error: Any) -> Token | None:
    """The bracket that is not closed is not named."""
    return None


def place_in_the_body(source: Source, line: int, column: int) -> int:
    """An error of the SPARQL is placed as if the dialect's clauses were not there."""
    return sum(len(text) + 1 for text in source.text.split("\n")[: line - 1]) + column - 1


MINIATURES = (
    Miniature(
        "DIA-1",
        "the body on one line",
        "RSP-JS trims every line",
        "refengine.dialects:read",
        body_on_one_line,
    ),
    Miniature(
        "DIA-1",
        "a clause alone",
        NOBODY,
        "refengine.dialects.source:Source._loosened",
        clause_alone,
    ),
    Miniature(
        "DIA-1",
        "both line ends always",
        "C-SPARQL skips line ends, comments or not",
        "refengine.dialects.source:Source._loosened",
        both_line_ends,
    ),
    Miniature(
        "DIA-2",
        "every unit is seconds",
        NOBODY,
        "refengine.dialects.durations:milliseconds",
        no_unit_is_seconds,
    ),
    Miniature(
        "DIA-2",
        "hours lose a digit",
        "CQELS, Duration.parse: substring(0, l-1)",
        "refengine.dialects.durations:milliseconds",
        last_digit_of_hours,
    ),
    Miniature(
        "DIA-2",
        "the first of several durations",
        NOBODY,
        "refengine.dialects.durations:milliseconds",
        first_duration,
    ),
    Miniature(
        "DIA-2",
        "fractions are dropped",
        NOBODY,
        "refengine.dialects.durations:iso",
        iso_without_fractions,
    ),
    Miniature(
        "DIA-2",
        "months are minutes",
        NOBODY,
        "refengine.dialects.durations:iso",
        iso_with_minutes_for_months,
    ),
    Miniature("DIA-3", "Range tumbles", NOBODY, "refengine.dialects.windows:read", range_tumbles),
    Miniature(
        "DIA-3",
        "triples are elements",
        NOBODY,
        "refengine.dialects.windows:read",
        triples_are_elements,
    ),
    Miniature(
        "DIA-3", "everything is time", NOBODY, "refengine.dialects.windows:read", everything_is_time
    ),
    Miniature("DIA-4", "always Rstream", "RSP-JS", "refengine.dialects:stated", always_rstream),
    Miniature(
        "DIA-4", "the operator is lost", NOBODY, "refengine.dialects:_operator", operator_is_lost
    ),
    Miniature(
        "DIA-4",
        "the query's operator alone",
        NOBODY,
        "refengine.dialects:_operator",
        own_operator_alone,
    ),
    Miniature(
        "DIA-5",
        "named streams are merged",
        "C-SPARQL's grammar: (<NAMED>)*",
        "refengine.dialects.windows:read",
        named_streams_are_merged,
    ),
    Miniature(
        "DIA-5",
        "a lone pattern sees static data",
        NOBODY,
        "refengine.dialects.dialect:streams",
        lone_pattern_is_always_nameless,
    ),
    Miniature(
        "DIA-5",
        "IRIs as written",
        "RSP-JS",
        "refengine.dialects.source:Source.resolve",
        iris_as_written,
    ),
    Miniature(
        "DIA-5",
        "IRIs lose their end",
        "rdflib and others that use urljoin",
        "refengine.model.iris:resolve",
        iris_lose_their_end,
    ),
    Miniature(
        "DIA-6",
        "patterns stay outside",
        NOBODY,
        "refengine.dialects.dialect:wrap",
        patterns_stay_outside,
    ),
    Miniature(
        "DIA-6",
        "static data are everywhere",
        NOBODY,
        "refengine.dialects.dialect:wrap",
        static_data_are_everywhere,
    ),
    Miniature(
        "DIA-6",
        "groups that look alike",
        NOBODY,
        "refengine.dialects.dialect:outside",
        groups_that_look_alike,
    ),
    Miniature(
        "DIA-6",
        "variables find what they find",
        NOBODY,
        "refengine.dialects.dialect:variable",
        variables_find_what_they_find,
    ),
    Miniature(
        "DIA-6",
        "every name is an IRI",
        NOBODY,
        "refengine.dialects.windows:iri",
        every_name_is_an_iri,
    ),
    Miniature(
        "DIA-7", "columns from zero", NOBODY, "refengine.dialects.grammar:place", columns_from_zero
    ),
    Miniature(
        "DIA-7",
        "no place",
        "RSP-JS: a window of NaN, and no error",
        "refengine.dialects.grammar:fault",
        no_place,
    ),
    Miniature("DIA-7", "no other dialect", NOBODY, "refengine.dialects.grammar:fault", no_hint),
    Miniature(
        "DIA-7",
        "what is open is not named",
        NOBODY,
        "refengine.dialects.grammar:_open",
        unclosed_is_not_named,
    ),
    Miniature(
        "DIA-7",
        "a place in the body",
        NOBODY,
        "refengine.dialects.source:Source._origin",
        place_in_the_body,
    ),
)
