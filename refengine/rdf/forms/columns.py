"""What the columns of a table mean (IO-1): a file of TOML with a subject, its predicates, and the
column of the time.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from refengine.model.elements import XSD, Term, Triple
from refengine.model.errors import InvalidStream
from refengine.model.messages import display, nearest
from refengine.rdf.forms.dating import Times
from refengine.rdf.sources import Source, read_text, refuse_no_source
from refengine.rdf.terms import Fault, make_iri, make_literal, make_triple
from refengine.rdf.times import Zones, parse_time

KEYS = ("subject", "predicates", "time", "end", "batch")
OBJECT_KEYS = ("iri", "text", "datatype", "language")


class EmptyCell(Fault):
    """A template needs a cell that is empty."""


@dataclass(frozen=True)
class Template:
    """A text with columns in braces, such as `http://example.org/sensor/{id}`."""

    text: str

    @property
    def columns(self) -> list[str]:
        """The columns that it names."""
        return re.findall(r"\{([^{}]*)\}", self.text)

    def fill(self, cells: Mapping[str, str], *, is_iri: bool) -> str:
        """Return the text with the cells in place of their columns. In an IRI each character of a
        cell that is not unreserved is percent-encoded, unless the template is one column alone.
        Raises EmptyCell.
        """
        is_encoded = is_iri and not re.fullmatch(r"\{[^{}]*\}", self.text)

        def cell(found: re.Match[str]) -> str:
            if found[1] not in cells:
                raise EmptyCell(f"column {found[1]!r} is empty")
            if is_encoded:
                return quote(cells[found[1]], safe="")
            return cells[found[1]]

        return re.sub(r"\{([^{}]*)\}", cell, self.text)


@dataclass(frozen=True)
class ObjectOfColumns:
    """The object of a predicate: an IRI, or a literal with its datatype or its language."""

    template: Template
    is_iri: bool
    datatype: str | None = None
    language: str | None = None

    def term(self, cells: Mapping[str, str]) -> Term:
        """Return the term for a row. Raises Fault; EmptyCell."""
        text = self.template.fill(cells, is_iri=self.is_iri)
        if self.is_iri:
            return make_iri(text)
        return make_literal(text, self.datatype, self.language)


@dataclass(frozen=True)
class Columns:
    """What becomes of a row: a subject, an object for each predicate, and the columns of its
    times.
    """

    source: Source
    subject: Template
    objects: Mapping[Term, ObjectOfColumns]
    time: str
    batch: str | None = None
    end: str | None = None

    def check_names(self, names: Collection[str]) -> None:
        """Check that a table has the columns that are named. Raises InvalidStream."""
        templates = [self.subject, *(found.template for found in self.objects.values())]
        needed = [name for template in templates for name in template.columns]
        for name in (self.time, self.batch, self.end, *needed):
            if name is not None and name not in names:
                reason = f"the table has no column {display(name)}{nearest(name, names)}"
                raise InvalidStream(reason, rule="IO-1", place=str(self.source))

    def times(self, cells: Mapping[str, str], zones: Zones) -> Times | None:
        """Return a row's time (ms), its batch id and its end (ms); None for a row without a time.
        Raises Fault.
        """
        names = (self.time, self.batch, self.end)
        app, batch, end = (self._time(name, cells, zones) for name in names)
        if app is None:
            return None
        return app, batch, end

    def _time(self, name: str | None, cells: Mapping[str, str], zones: Zones) -> int | None:
        if name is None or name not in cells:
            return None
        try:
            return parse_time(cells[name], zones)
        except Fault as fault:
            raise Fault(f"column {name!r}: {fault}") from None

    def triples(self, cells: Mapping[str, str]) -> Iterator[Triple]:
        """Yield the triples of a row; an empty cell leaves out those that need it. Raises Fault."""
        try:
            subject = make_iri(self.subject.fill(cells, is_iri=True))
        except Fault as fault:
            raise Fault(f"subject: {fault}") from None
        for predicate, found in self.objects.items():
            try:
                yield make_triple(subject, predicate, found.term(cells))
            except EmptyCell:
                continue
            except Fault as fault:
                raise Fault(f"object of {predicate}: {fault}") from None


def read_columns(source: Source | Mapping[str, Any]) -> Columns:
    """Return what a file of TOML says of a table's columns, or its keys in a dict. Raises
    InvalidStream.
    """
    name: Source = "columns"
    if not isinstance(source, Mapping):
        refuse_no_source(source, "IO-1", "columns")
        name = source
    try:
        return _parse_columns(_table_of(source), name)
    except tomllib.TOMLDecodeError as error:
        raise InvalidStream(f"not TOML: {error}", rule="IO-1", place=str(name)) from None
    except Fault as fault:
        raise InvalidStream(str(fault), rule="IO-1", place=str(name)) from None


def _table_of(source: Source | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(source, Mapping):
        return source
    return tomllib.loads(read_text(source, InvalidStream, "IO-1"))


def _parse_columns(table: Mapping[str, Any], source: Source) -> Columns:
    _check_keys(table, KEYS, ("subject", "predicates", "time"), "columns")
    predicates = table["predicates"]
    if not isinstance(predicates, dict) or not predicates:
        raise Fault(f"predicates: must be a table of IRIs, got {display(predicates)}")
    objects = {}
    for iri, entry in predicates.items():
        try:
            objects[make_iri(iri)] = _parse_object(entry)
        except Fault as fault:
            raise Fault(f"predicates.{display(iri)}: {fault}") from None
    subject = _template("subject", table["subject"])
    names = {key: _text(key, table[key]) for key in ("time", "batch", "end") if key in table}
    return Columns(source, subject, objects, **names)


def _parse_object(entry: Any) -> ObjectOfColumns:
    if not isinstance(entry, dict):
        raise Fault(f'must be {{ text = "{{column}}" }} or {{ iri = … }}, got {display(entry)}')
    _check_keys(entry, OBJECT_KEYS, (), "object")
    if ("iri" in entry) == ("text" in entry):
        raise Fault("must have either iri or text")
    if "iri" in entry:
        if len(entry) > 1:
            raise Fault("an iri has neither datatype nor language")
        return ObjectOfColumns(_template("iri", entry["iri"]), is_iri=True)

    datatype = entry.get("datatype")
    if datatype is not None:
        datatype = re.sub("^xsd:", XSD, _text("datatype", datatype))
    language = entry.get("language")
    if language is not None:
        _text("language", language)
    make_literal("", datatype, language)
    return ObjectOfColumns(_template("text", entry["text"]), False, datatype, language)


def _check_keys(
    table: Mapping[str, Any], valid: tuple[str, ...], required: tuple[str, ...], where: str
) -> None:
    for key in table:
        if key not in valid:
            raise Fault(f"{where}: unknown key {display(key)}{nearest(key, valid)}")
    for key in required:
        if key not in table:
            raise Fault(f"{where}: key {key!r} is missing; valid: {', '.join(valid)}")


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise Fault(f"{key}: must be a text, got {display(value)}")
    return value


def _template(key: str, value: Any) -> Template:
    template = Template(_text(key, value))
    if re.search(r"[{}]", re.sub(r"\{[^{}]+\}", "", template.text)):
        raise Fault(f"{key}: a brace stands alone in {display(value)}; write {{column}}")
    return template
