"""Reading cases: a file is loaded and checked against the closed schema, and what stands in it
becomes queries, streams, profiles and relations.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from refengine.core import profiles, query, semantics
from refengine.core.profile import UNKNOWN, Between, OneOf, Profile
from refengine.core.query import Query
from refengine.core.question import Question
from refengine.core.semantics import Semantics
from refengine.core.static import Static, resolve_static
from refengine.model import elements
from refengine.model.elements import XSD, Bag, Dataset, Relation, Stream, Triple
from refengine.model.errors import InvalidSemantics, RefengineError
from refengine.model.messages import did_you_mean, display, nearest
from refengine.model.terms import Term
from refengine.rdf import plain_turtle
from refengine.rdf.plain_turtle import BlankNode, Misread, Part, TripleInGraph
from refengine.rdf.recordings import read_recording
from refengine.rdf.sources import Text, TextFolder
from refengine.rdf.streams import read_stream

HERE = Path(__file__).parents[1]
CASES = HERE / "cases"
BASE = "http://example.org/"
PREFIXES = f"PREFIX : <{BASE}> PREFIX xsd: <{XSD}>\n"


class InvalidCase(RefengineError):
    """The error of a malformed case file: it is not TOML, not of the schema, or has a term that is
    not Turtle.
    """


@dataclass(frozen=True)
class Case:
    """A case file that has passed the schema: its path within the corpus, its table, and the suite
    to which it belongs.
    """

    path: str
    table: Mapping[str, Any]
    suite: str = "corpus"

    @property
    def rule(self) -> str:
        """The id of the rule that the case is about."""
        return str(self.table["rule"])

    @property
    def name(self) -> str:
        """The sentence that says what holds in this case."""
        return str(self.table["name"])

    @property
    def id(self) -> str:
        """The rule and the name as one word: `WIN-2-element-on-the-upper-border-…`."""
        return f"{self.rule}-{re.sub(r'[^A-Za-z0-9]+', '-', self.name).strip('-')}"


# Loading and linting. The schemas are imported here: where there is no jsonschema, as in a browser,
# a table is made into values all the same.


def load(path: Path, root: Path = CASES) -> Case:
    """Read a case file. Raises InvalidCase, which names the file, the key and, for an unknown key,
    the nearest valid one.
    """
    place = path.as_posix()
    if path.is_relative_to(root):
        place = path.relative_to(root).as_posix()
    try:
        table = _table(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidCase(f"not TOML: {error}", rule="case", place=place) from None
    except InvalidCase as problem:
        raise problem.at(place) from None
    return Case(place, table)


def _table(text: str) -> Mapping[str, Any]:
    """Return the linted table in a case's text. Raises TOMLDecodeError, and InvalidCase without a
    place.
    """
    from conformance.schemas import accepted_table

    table = accepted_table("case", text)
    if table is None:
        raise lint(tomllib.loads(text))[0]
    return table


def cases(root: Path = CASES) -> list[Case]:
    """Read every case under a folder, in the order of their paths."""
    return [load(path, root) for path in sorted(root.rglob("*.toml"))]


def lint(table: Mapping[str, Any]) -> list[InvalidCase]:
    """Return the errors of a case's table under the schema, in the order of their places."""
    from conformance.corpus.schema_problems import explain_problem, unknown_keys_first
    from conformance.schemas import accepts, path_text, validator

    if accepts("case")(table):
        return []
    return [
        InvalidCase(reason, rule="case", place=path_text(error.absolute_path))
        for error in sorted(validator("case").iter_errors(table), key=unknown_keys_first)
        for reason in explain_problem(error)
    ]


# Building


def query_of(case: Case) -> Query:
    """Return the case's query. Where static data is given by IRIs, its clauses FROM and FROM NAMED
    are resolved (QRY-2).
    """
    return _resolved(case)[0]


def query_table(case: Case) -> dict[str, Any]:
    """Return the table of the case's query, whose body has no FROM that is resolved (QRY-2)."""
    return {**case.table["query"], "body": query_of(case).body.text}


def _resolved(case: Case) -> tuple[Query, Dataset]:
    """Return the case's query and its static data, those by IRIs resolved (QRY-2)."""
    written = case.table.get("static", "")
    static: Static
    if isinstance(written, Mapping):
        static = {iri: _statements(text, f"static.{iri}") for iri, text in written.items()}
    else:
        static = _statements(written, "static")
    return resolve_static(query.from_table(case.table["query"]), static)


def streams_of(case: Case) -> dict[str, Stream]:
    """Return the case's streams by name."""
    return {table["name"]: _stream(table) for table in case.table["streams"]}


def _stream(table: Mapping[str, Any]) -> Stream:
    """Return the stream that a table gives as elements, as a text in a format, or as files. Raises
    RefengineError.
    """
    if "elements" in table:
        items = (
            (triples(e["graph"]), e["at"], e.get("batch"), e.get("end")) for e in table["elements"]
        )
        return elements.stream(items, table.get("ordered", True))
    if "files" in table:
        read = read_stream(TextFolder("stream", table["files"]))
    else:
        read = read_stream(Text(f"stream.{table['format']}", table["text"]))
    return replace(read, ordered=table.get("ordered", read.ordered))


def element_table(element: elements.Element, graph: str) -> dict[str, Any]:
    """Return the table of an element in a case: its time, its graph as text, and its batch id and
    the end of its validity if it has them.
    """
    table: dict[str, Any] = {"at": element.app, "graph": graph}
    if element.batch is not None:
        table["batch"] = element.batch
    if element.end is not None:
        table["end"] = element.end
    return table


def triples(turtle: str) -> frozenset[Triple]:
    """Return the triples of a Turtle text, in which : and xsd: are declared and the final dot may
    be left out. Lexical forms and blank node labels stay as they are written.
    """
    text = turtle.rstrip()
    if text and not text.endswith("."):
        text += " ."
    try:
        parsed = list(plain_turtle.parse(PREFIXES + text, "Turtle"))
    except Misread as error:
        reason = error.reason.removeprefix("not Turtle: ")
        raise InvalidCase(f"not Turtle: {turtle!r}: {reason}", rule="case") from None
    return frozenset(map(_triple, parsed))


def static_of(case: Case) -> Dataset:
    """Return the case's static data: triples, and for named graphs quads that end with the name of
    the graph (R2R-8).
    """
    return _resolved(case)[1]


def _statements(text: str, place: str) -> Dataset:
    """Return the statements of a TriG text, in which : and xsd: are declared."""
    try:
        return statements_of(PREFIXES + text)
    except Misread as error:
        raise InvalidCase(error.reason, rule="case", place=place) from None


def question_of(case: Case) -> Question:
    """Return the question of a case: its query, streams and static data."""
    case_query, static = _resolved(case)
    return Question(case_query, streams_of(case), static)


def statements_of(text: str) -> Dataset:
    """Return the statements of a TriG text: triples, and those of named graphs as quads that end
    with the name of the graph. Blank nodes keep their labels. Raises Misread.
    """
    return frozenset(
        _triple(found) if found.graph is None else (*_triple(found), _term(found.graph))
        for found in plain_turtle.parse(text, "TriG")
    )


def _triple(found: TripleInGraph) -> Triple:
    return _term(found.subject), found.predicate, _term(found.object)


def _term(found: Part) -> Term:
    """Return a term; a blank node without a label gets one that no case has."""
    if isinstance(found, BlankNode) and not found.startswith("_:"):
        return f"_:anonymous.{found.removeprefix('[]')}"
    return str(found)


@cache
def term(turtle: str) -> Term:
    """Return the term that is written in Turtle, such as `:a`, `5`, `'text'@en` or `_:b`."""
    statements = triples(f"<urn:s> <urn:p> {turtle}")
    objects = [object_ for subject, _, object_ in statements if subject == "<urn:s>"]
    if len(objects) != 1:
        raise InvalidCase(f"not one Turtle term: {turtle!r}", rule="case")
    return objects[0]


def relation(rows: Iterable[Mapping[str, str]], case_query: Query) -> Relation:
    """Return the relation of a query's variables whose rows are given as tables, {variable: term in
    Turtle}. Raises InvalidCase for a variable that the query has not.
    """
    variables = case_query.body.variables
    bag: Bag = Counter()
    for table in rows:
        for name in table:
            if name not in variables:
                reason = f"the query has no variable {name!r}{nearest(name, variables)}"
                raise InvalidCase(reason, rule="case", place="rows")
        bag[elements.row((name, term(text)) for name, text in table.items())] += 1
    return Relation(variables, bag)


def profile_of(table: Mapping[str, Any]) -> Profile:
    """Return a profile from its table. The key `profile` names one, and every other key replaces a
    field of it; without `profile` the table has all fields. A field may be "unknown",
    { between = [a, b] } or { one_of = […] }.
    """
    fields = {name: _field(name, value) for name, value in table.items() if name != "profile"}
    base = Profile("case", "the case's own fields", {})
    if "profile" in table:
        base = profiles.profile(table["profile"])
    return base.but(**fields)


def _field(name: str, value: Any) -> Any:
    """Return the value of a field, or the range or list of values that it may have. Raises
    InvalidSemantics for another table, and for a text that is no value of the field; the message
    says how the field is left open.
    """
    match value:
        case {"between": [int(lo), int(hi)]} if len(value) == 1:
            return Between(lo, hi)
        case {"one_of": list(values)} if len(value) == 1:
            return OneOf(tuple(semantics.parse_field(name, v) for v in values))
        case dict():
            semantics.known_field(name)
            keys = ("between", "one_of")
            nearest_keys = "".join(did_you_mean(key, keys) for key in value if key not in keys)
            raise InvalidSemantics(
                f"{name} must be a value of the field or {_open_forms(name)}, got {display(value)}"
                f"{nearest_keys}",
                rule="SEM-1",
            )
        case str() if value != UNKNOWN and name in semantics.FIELDS:
            return _parse_value(name, value)
        case _:
            return value


def _parse_value(name: str, text: str) -> Any:
    """Return the value of a field from its text. Raises InvalidSemantics."""
    try:
        return semantics.parse_field(name, text)
    except InvalidSemantics as error:
        reason = f"{error.reason}; to leave it open, write {_open_forms(name)}"
        raise InvalidSemantics(reason, rule="SEM-1") from None


def _open_forms(name: str) -> str:
    """Return the forms, in an engine's file or a case, of a field that is left open."""
    if name in semantics.INTEGRAL:
        return f'"{UNKNOWN}", {{ between = [a, b] }} or {{ one_of = [a, b] }}'
    return f'"{UNKNOWN}" or {{ one_of = [a, b] }}'


def semantics_of(table: Mapping[str, Any]) -> Semantics:
    """Return a complete semantics from its table: a profile with overrides, or all fields."""
    return profile_of(table).semantics()


def recording(block: Mapping[str, Any], case_query: Query) -> list[Relation]:
    """Return the recorded relations of a judge block, in order."""
    if "answers" in block:
        return [relation(rows, case_query) for rows in block["answers"]]
    if "tabbed" in block:
        return list(read_recording(Text("QR_recording", block["tabbed"])))
    return list(read_recording(Text("recording.json", block["text"])))
