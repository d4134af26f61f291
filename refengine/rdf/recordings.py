"""Reading recordings, what engines answered (IO-2), and relations as SPARQL 1.1 JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from refengine.model.elements import (
    XSD,
    Bag,
    Relation,
    Row,
    Term,
    is_blank,
    parse_literal,
    row,
)
from refengine.model.errors import InvalidStream
from refengine.model.messages import display, integer, nearest, why
from refengine.model.terms import ABSOLUTE_IRI
from refengine.rdf import sources
from refengine.rdf.sources import Source
from refengine.rdf.terms import Fault, make_iri, make_literal

DEEPEST = 500  # brackets within brackets: Python in a browser ends at some 2,000
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}


@dataclass(frozen=True)
class Recording:
    """What an engine answered: its relations in the order of its reports, which it iterates over,
    and for each the engine's own clock in ms (None: not recorded).
    """

    relations: tuple[Relation, ...]
    timestamps: tuple[int | None, ...]

    def __len__(self) -> int:
        return len(self.relations)

    def __iter__(self) -> Iterator[Relation]:
        return iter(self.relations)


def read_recording(source: Source) -> Recording:
    """IO-2: Return a recording from CSRBench's JSON: `relations`, each a SPARQL 1.1 JSON result
    with a `timestamp`; or from YABench's QR_ file.

    A row is `{"timestamp", "binding"}` or, as in SPARQL JSON, the binding itself. A relation
    without bindings is an empty answer that was sent. Blank nodes are renamed in order of
    appearance, one scope for the whole recording. Raises InvalidStream that names the path to the
    fault.
    """
    sources.refuse_no_source(source, "IO-2")
    text = sources.read_text(source, InvalidStream, "IO-2")
    if is_from_yabench(source):
        return _parse_table(text, source)

    try:
        document = parse_json(text)
    except json.JSONDecodeError as error:
        raise InvalidStream(
            f"not JSON: {error.msg}", rule="IO-2", place=f"{source}:{error.lineno}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise InvalidStream(f"not JSON: {why(error)}", rule="IO-2", place=str(source)) from None

    try:
        return _parse_document(document)
    except InvalidStream as error:
        raise error.at(str(source)) from None


def is_from_yabench(source: Source) -> bool:
    """Whether a recording is YABench's, which the beginning of its name says: QR_."""
    return sources.name_of(source).startswith("QR_")


# JSON


def relation_from_json(
    rows: Any, variables: tuple[str, ...], where: str, labels: dict[str, Term]
) -> Relation:
    """IO-2: Return a relation from its rows as SPARQL 1.1 JSON. `labels` are the blank nodes seen
    so far, which get new names in the order of their appearance. Raises InvalidStream that names
    the path to the fault, below `where`.
    """
    entries = _check_array(rows, where)
    if not entries:  # many are empty, and a Counter of nothing is made in half the time
        return Relation(variables, Counter())
    names = list(variables)
    found = [
        _parse_row(entry, names, f"{where}[{number}]", labels)
        for number, entry in enumerate(entries)
    ]
    return Relation(variables, Counter(found))


def relation_to_json(relation: Relation) -> dict[str, Any]:
    """Return a relation as SPARQL 1.1 JSON: rows sorted, each as often as the bag holds it; ASK too
    is a row, over `ask`.
    """
    rows = [
        {name: _term_to_json(term) for name, term in line}
        for line in sorted(relation.rows.elements())
    ]
    return {"head": {"vars": list(relation.variables)}, "results": {"bindings": rows}}


def _term_to_json(term: Term) -> dict[str, str]:
    if is_blank(term):
        return {"type": "bnode", "value": term[2:]}
    if term.startswith("<"):
        return {"type": "uri", "value": term[1:-1]}

    lexical, datatype, language = parse_literal(term)
    entry = {"type": "literal", "value": lexical}
    if language:
        entry["xml:lang"] = language
    elif datatype != XSD + "string":
        entry["datatype"] = datatype
    return entry


def parse_json(text: str) -> Any:
    """Return a text of JSON. Raises ValueError, also for brackets so deep that a small interpreter
    would end, and for a key that stands twice in an object.
    """
    if text.count("[") + text.count("{") > DEEPEST:
        depth = 0
        for found in _BRACKETS.finditer(text):
            depth += _STEPS.get(found[0], 0)
            if depth > DEEPEST:
                raise ValueError(f"brackets nested more than {DEEPEST} deep")
    return json.loads(text, object_pairs_hook=refuse_key_twice)


def refuse_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON (`object_pairs_hook`). Raises ValueError for a key that stands twice
    in it.
    """
    table = dict(pairs)
    if len(table) < len(pairs):
        key = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"key {display(key)} stands twice in one object")
    return table


def _parse_document(document: Any) -> Recording:
    if not isinstance(document, dict):
        raise _misshapen(
            f'must be an object, got {display(document)}; valid: {{"relations": [...]}}', "document"
        )
    _check_object(document, ("relations",), "document")

    labels: dict[str, Term] = {}
    relations = []
    timestamps = []
    for number, entry in enumerate(_check_array(document["relations"], "relations")):
        relation, time = _parse_report(entry, f"relations[{number}]", labels)
        relations.append(relation)
        timestamps.append(time)
    return Recording(tuple(relations), tuple(timestamps))


def _parse_report(entry: Any, where: str, labels: dict[str, Term]) -> tuple[Relation, int | None]:
    _check_object(entry, ("head", "results"), where, optional=("timestamp",))
    head = entry["head"]
    _check_object(head, ("vars",), f"{where}.head", optional=("link",))
    results = entry["results"]
    _check_object(results, ("bindings",), f"{where}.results", optional=("ordered", "distinct"))

    variables = _check_array(head["vars"], f"{where}.head.vars")
    for i, name in enumerate(variables):
        if not isinstance(name, str) or not re.fullmatch(r"\w+", name) or name in variables[:i]:
            raise _misshapen(
                f"must be a variable's name, once, got {display(name)}", f"{where}.head.vars[{i}]"
            )

    bindings = _check_array(results["bindings"], f"{where}.results.bindings")
    rows = [
        _parse_row(binding, variables, f"{where}.results.bindings[{i}]", labels)
        for i, binding in enumerate(bindings)
    ]
    return Relation(tuple(variables), Counter(rows)), _parse_timestamp(entry, where)


def _parse_row(entry: Any, variables: list[str], where: str, labels: dict[str, Term]) -> Row:
    if _has_inner_binding(entry):
        _check_object(entry, ("binding",), where, optional=("timestamp",))
        _parse_timestamp(entry, where)
        entry = entry["binding"]
    _check_object(entry, (), where, optional=tuple(variables))
    return row((name, parse_term(term, f"{where}.{name}", labels)) for name, term in entry.items())


def _has_inner_binding(entry: Any) -> bool:
    """Tell whether a row is `{"timestamp", "binding"}`. A plain row may bind a variable called
    `binding`; then that is a term, which has a type that is text.
    """
    if not isinstance(entry, dict) or "binding" not in entry:
        return False
    inner = entry["binding"]
    return not (isinstance(inner, dict) and isinstance(inner.get("type"), str))


def parse_term(entry: Any, where: str, labels: dict[str, Term]) -> Term:
    """Return the term of an entry of SPARQL 1.1 JSON; `labels` as in `relation_from_json`. Raises
    InvalidStream.
    """
    _check_object(entry, ("type", "value"), where, optional=("datatype", "xml:lang"))
    for key, value in entry.items():
        if not isinstance(value, str):
            raise _misshapen(f"must be a string, got {display(value)}", f"{where}.{key}")

    try:
        return _make_term(entry, labels)
    except Fault as fault:
        raise _misshapen(str(fault), where) from None


def _make_term(entry: Mapping[str, str], labels: dict[str, Term]) -> Term:
    kind = entry["type"]
    value = entry["value"]
    rest = entry.keys() - {"type", "value"}
    match kind:
        case "uri" if not rest:
            return make_iri(value)
        case "bnode" if not rest:
            return labels.setdefault(value, f"_:b{len(labels) + 1}")
        case "literal" if len(rest) <= 1:
            return make_literal(value, *_datatype_and_language(entry))
        case "typed-literal" if rest == {"datatype"}:
            return make_literal(value, *_datatype_and_language(entry))
        case "uri" | "bnode" | "literal" | "typed-literal":
            if not rest:
                raise Fault(f"a {kind} must have a datatype")
            raise Fault(f"a {kind} must not have {' and '.join(sorted(rest))}")
        case _:
            raise Fault(f"type must be uri, bnode, literal or typed-literal, got {display(kind)}")


def _datatype_and_language(entry: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Find the datatype and the language of a literal; None for what it has not."""
    datatype, language = entry.get("datatype"), entry.get("xml:lang")

    # The formatter of csrbench-oracle's first recordings wrote every datatype under xml:lang. No
    # language tag is an IRI.
    if language and ABSOLUTE_IRI.fullmatch(language):
        return language, None

    return datatype, language


def _misshapen(reason: str, where: str) -> InvalidStream:
    return InvalidStream(reason, rule="IO-2", place=where)


def _check_object(
    value: Any, required: tuple[str, ...], where: str, optional: tuple[str, ...] = ()
) -> None:
    """Check that a value is a JSON object with these keys and no other. Raises InvalidStream."""
    if not isinstance(value, dict):
        raise _misshapen(f"must be an object, got {display(value)}", where)
    for key in value:
        if key not in required + optional:
            raise _misshapen(
                f"unknown key {display(key)}{nearest(key, required + optional)}", where
            )
    for key in required:
        if key not in value:
            raise _misshapen(f"key {key!r} is missing", where)


def _check_array(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise _misshapen(f"must be an array, got {display(value)}", where)
    return value


def _parse_timestamp(entry: dict[str, Any], where: str) -> int | None:
    time = entry.get("timestamp")
    if time is not None and (not isinstance(time, int) or isinstance(time, bool)):
        raise _misshapen(f"must be an integer (ms), got {display(time)}", f"{where}.timestamp")
    return time


# YABench's tables


def _parse_table(text: str, source: Source) -> Recording:
    """IO-2: Parse YABench's QR: the clock (ms) at the start; the variables; then of each relation
    the clock, and its rows. Names and values end in a tab, which a clock has not.
    """
    first, *lines = text.removesuffix("\n").split("\n")
    names: list[str] = []
    relations: list[tuple[int, Bag]] = []
    number = 1
    try:
        start = _parse_clock(first)
        number = 2
        if lines:
            names = _parse_names(lines[0])
        for line in lines[1:]:
            number += 1
            if "\t" not in line:
                relations.append((_parse_clock(line) - start, Counter()))
                continue
            if not relations:
                raise _not_values(line, names)
            relations[-1][1][_parse_values(line, names)] += 1
    except Fault as fault:
        raise InvalidStream(str(fault), rule="IO-2", place=f"{source}:{number}") from None
    return Recording(
        tuple(Relation(tuple(names), rows) for _, rows in relations),
        tuple(time for time, _ in relations),
    )


def _parse_names(line: str) -> list[str]:
    names = line.split("\t")[:-1]
    if set(names) != set(re.findall(r"\w+", line)) or len({*names}) < len(names):
        raise Fault(
            f"expected the variables' names, each once and followed by a tab, got {display(line)}"
        )
    return names


def _parse_values(line: str, names: list[str]) -> Row:
    *values, rest = line.split("\t")
    if rest or len(values) != len(names):
        raise _not_values(line, names)
    return row(zip(names, map(parse_tabbed_term, values), strict=True))


def _not_values(line: str, names: list[str]) -> Fault:
    return Fault(
        f"expected a clock, or {len(names)} values after one, each "
        f"followed by a tab, got {display(line)}"
    )


def _parse_clock(line: str) -> int:
    clock = integer(line)
    if clock is None:
        raise Fault(f"expected a clock, an integer (ms), got {display(line)}")
    return clock


def parse_tabbed_term(value: str) -> Term:
    """Return a term that YABench writes: an IRI as it is, a literal with or without quotes, its
    datatype after ^^. Raises Fault.
    """
    if value.startswith(("http://", "https://")):
        return make_iri(value)

    lexical, typed, datatype = value.partition("^^")
    if len(lexical) > 1 and lexical[0] == lexical[-1] == '"':
        lexical = lexical[1:-1]
    if not typed:
        return make_literal(lexical)
    return make_literal(lexical, datatype.removeprefix("<").removesuffix(">"))
