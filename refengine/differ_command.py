"""`refengine differ`: the smallest stream on which two semantics, or two queries, differ."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from refengine.core.profiles import profile
from refengine.core.query import Query, QueryTable, Window, from_table
from refengine.core.semantics import Semantics, semantics_to_json
from refengine.model.elements import Element, Relation, Stream
from refengine.model.errors import InvalidSemantics, RefengineError
from refengine.model.messages import bag_in_words, count_text
from refengine.oracle.inference.small_streams import (
    Answers,
    Bounds,
    Difference,
    answer_of,
    find_difference,
    instants_near_borders,
    vocabulary,
)
from refengine.rdf.queries import read_query

MOST_ROWS = 10  # of a relation, that a line shows
MOST_ELEMENTS = 8  # of a stream: nobody waits for more
MOST_INSTANTS = 64
PLAIN_QUERY: QueryTable = {
    "body": "SELECT ?x { ?x <urn:p> ?y }",
    "windows": [{"stream": "s", "kind": "time", "size": 4, "slide": 2}],
}


def semantics_of(words: Sequence[str]) -> Semantics:
    """Return the semantics that some words state: a profile, and values that replace its fields.
    Raises InvalidSemantics and UnknownField.
    """
    name, *others = words or [""]
    fields = dict(word.partition("=")[::2] for word in others)
    return profile(name).with_fields(fields).semantics()


class Side(NamedTuple):
    """One of the two things that are compared: a query under a semantics. `word` is how the command
    line states it.
    """

    word: str
    query: Query
    semantics: Semantics


def sides_of(options: argparse.Namespace) -> tuple[Side, Side]:
    """Return the two sides: two files with queries, or two semantics. Raises RefengineError."""
    words = (options.one, options.other)
    are_files = [os.path.exists(word) for word in words]
    if any(are_files) and not all(are_files):
        missing = words[are_files.index(False)]
        reason = f"one is a file, and {missing!r} is none; give two files, or two semantics"
        raise RefengineError(reason, rule="QRY-1", place="differ")
    if all(are_files):
        if options.query_file is not None:
            reason = "--query is given beside two queries; give --semantics"
            raise RefengineError(reason, rule="QRY-1", place="differ")
        semantics = semantics_of(options.semantics or ["csparql", "t0=0"])
        first, second = (
            Side(word, read_query(Path(word), options.dialect, False, ""), semantics)
            for word in words
        )
        return first, second
    query = from_table(PLAIN_QUERY)
    if options.query_file is not None:
        query = read_query(options.query_file, options.dialect, False, "")
    if options.semantics:
        reason = "--semantics is given beside two semantics; give --query"
        raise InvalidSemantics(reason, rule="SEM-3", place="differ")
    one, other = (Side(word, query, semantics_of(word.split())) for word in words)
    return one, other


def bounds_of(options: argparse.Namespace, sides: Sequence[Side]) -> Bounds:
    """Return the bounds that the options state. Raises RefengineError."""
    if not 0 <= options.elements <= MOST_ELEMENTS or not 1 <= options.instants <= MOST_INSTANTS:
        raise RefengineError(
            f"--elements must be 0 to {MOST_ELEMENTS}, --instants 1 to {MOST_INSTANTS}",
            rule="QRY-1",
            place="differ",
        )
    sizes = [(w.span, w.step) for side in sides for w in side.query.windows]
    instants = instants_near_borders(sizes, options.instants)
    needs_batches = any(side.semantics.tick.needs_batches for side in sides)
    return Bounds(options.elements, instants, needs_batches)


def differ(one: Side, other: Side, bounds: Bounds) -> Difference | None:
    """Return the smallest stream within bounds on which two sides differ; None if there is none."""
    bodies = list(dict.fromkeys((one.query.body, other.query.body)))
    is_of_rows = len(bodies) > 1 or one.semantics.collection is not other.semantics.collection
    objects = 2 if is_of_rows else 1
    triples = vocabulary(bodies, max(1, bounds.elements), objects)
    first, second = (answer_of(side.query, side.semantics, {}) for side in (one, other))
    return find_difference(first, second, bounds, triples)


def lines(one: Side, other: Side, bounds: Bounds, found: Difference | None) -> Iterator[str]:
    """Yield the lines about what was found."""
    if found is None:
        yield f"None: no stream in order of {bounds}, each with one triple, tells them apart."
        if one.query.body != other.query.body:
            yield "Terms that only a FILTER, VALUES or BIND of the queries has are not tried."
        return
    elements = found.stream.elements
    yield f"They differ on {count_text(len(elements), 'element')}, and on no stream of fewer:"
    yield from (f"  {element_text(element)}" for element in elements)
    yield f"A, {one.word}:"
    yield from answer_lines(found.one)
    yield f"B, {other.word}:"
    yield from answer_lines(found.other)
    yield f"Looked at: streams of {bounds}, each element with one triple."


def element_text(element: Element) -> str:
    """Return an element as text: its time, its triples, and its batch id if it has one."""
    triples = " . ".join(" ".join(triple) for triple in sorted(element.graph))
    batch = "" if element.batch is None else f" (batch {element.batch})"
    return f"at {element.app}: {triples}{batch}"


def answer_lines(answers: Answers) -> Iterator[str]:
    """Yield a line for each relation of an answer."""
    if answers is None:
        yield "  has no answer to this stream"
        return
    if not answers:
        yield "  reports nothing"
    for number, relation in enumerate(answers, 1):
        yield f"  {number}. {bag_in_words(relation.rows, MOST_ROWS)}"


def case_text(side: Side, stream: Stream, answers: Answers) -> str:
    """Return a case file of the suite: the query, the stream, and what a semantics answers to it.
    The rule and the derivation are left to the author.
    """
    texts = json.dumps  # a JSON string is one of TOML
    windows = ", ".join(_window_text(window) for window in side.query.windows)
    names = dict.fromkeys(window.stream for window in side.query.windows)
    fields = ", ".join(
        f"{name} = {value if isinstance(value, int) else texts(value)}"
        for name, value in semantics_to_json(side.semantics).items()
    )
    made = [
        'rule = "QRY-1"  # the rule by which they differ',
        'name = "the smallest stream on which the two differ"',
        'derivation = "derive the reports by hand from the rules"',
        "",
        "[query]",
        f"body = {texts(side.query.body.text)}",
        f"windows = [{windows}]",
    ]
    for name in names:
        made += ["", "[[streams]]", f"name = {texts(name)}", "elements = ["]
        made += [f"  {_element_in_case(element)}," for element in stream.elements]
        made.append("]")
    relations = "".join(f"  {{ rows = [{_rows_in_case(one)}] }},\n" for one in answers or ())
    made += ["", "[[expect]]", f"semantics = {{ {fields} }}", f"reports = [\n{relations}]"]
    return "\n".join(made) + "\n"


def _window_text(window: Window) -> str:
    entries = [f"stream = {json.dumps(window.stream)}", f'kind = "{window.kind}"']
    if window.size is not None:
        entries.append(f"size = {window.size}")
    if window.slide is not None:
        entries.append(f"slide = {window.slide}")
    return "{ " + ", ".join(entries) + " }"


def _element_in_case(element: Element) -> str:
    graph = " . ".join(" ".join(triple) for triple in sorted(element.graph))
    batch = "" if element.batch is None else f", batch = {element.batch}"
    return f"{{ at = {element.app}, graph = {json.dumps(graph)}{batch} }}"


def _rows_in_case(relation: Relation) -> str:
    rows = []
    for line, count in sorted(relation.rows.items()):
        entries = ", ".join(f"{name} = {json.dumps(term)}" for name, term in line)
        rows += [f"{{ {entries} }}"] * count
    return ", ".join(rows)
