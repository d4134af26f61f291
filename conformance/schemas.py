"""The JSON Schemas of the suite: cases, vectors, engines, results, and the messages of the
protocol.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, ValidationError

FOLDER = Path(__file__).parent / "schema"
Check = Callable[[Any], bool]
Schema = Mapping[str, Any]
Compiler = Callable[[Schema], Check]

TYPES: dict[str, Check] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "integer": lambda value: (
        (isinstance(value, int) and not isinstance(value, bool))
        or (isinstance(value, float) and value.is_integer())
    ),
}

OBJECT = frozenset({"required", "properties", "additionalProperties"})
# of a schema, what asks for nothing
SILENT = frozenset({"$schema", "$id", "$defs", "title", "description"})


@cache
def validator(name: str) -> Draft202012Validator:
    """Return the validator of a schema: case, secret, engine, result, command or reply."""
    return Draft202012Validator(_read(name))


def _read(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(
        (FOLDER / f"{name}.schema.json").read_text(encoding="utf-8")
    )
    return schema


def problems(name: str, value: Any) -> list[ValidationError]:
    """Return what is wrong with a value under a schema, by place; nothing if it is of the
    schema.
    """
    if accepts(name)(value):
        return []
    return sorted(validator(name).iter_errors(value), key=place_and_message)


def place_and_message(problem: ValidationError) -> tuple[str, str]:
    """Return the order of what is wrong with a value."""
    return problem.json_path, problem.message


def path_text(path: Iterable[str | int]) -> str:
    """Return the place of a value in a document: `streams[0].elements[2]`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}"
    return text.lstrip(".")


@cache
def accepts(name: str) -> Check:
    """Return a check whether a schema's validator finds no error, a hundred times as fast: files of
    results have 100,000 lines, and a session has as many messages. Raises LookupError for a keyword
    that is not known here.
    """
    schema = _read(name)
    return _compiled(schema, schema, {})


@lru_cache(maxsize=2048)  # more than the corpus has files, which a process reads several times
def accepted_table(name: str, text: str) -> Mapping[str, Any] | None:
    """Return the table of a TOML text, or None if the schema of this name refuses it. Raises
    tomllib.TOMLDecodeError.

    The table is shared: callers must not change it. It is kept in this module, since what the
    lowest rooms keep is not computed anew for each wrong engine (`ROOMS_FROM_BELOW`).
    """
    table = tomllib.loads(text)
    return table if accepts(name)(table) else None


def _compiled(schema: Schema | bool, root: Schema, done: dict[str, Check]) -> Check:
    """Return the check of a schema, a part of `root`; `done` has those of its definitions. A
    boolean one takes everything, or nothing.
    """
    if isinstance(schema, bool):
        return lambda value: schema
    if "$ref" in schema:
        where = schema["$ref"].removeprefix("#/$defs/")
        if where not in done:
            # until it is known: a schema may refer to itself
            done[where] = lambda value: done[where](value)
            done[where] = _compiled(root["$defs"][where], root, done)
        return done[where]
    checks = [_keyword(key, schema, root, done) for key in schema if key not in SILENT | OBJECT]
    if OBJECT & schema.keys():
        checks.append(_object(schema, root, done))
    if len(checks) == 1:
        return checks[0]

    def check(value: Any) -> bool:
        for part in checks:  # noqa: SIM110  # a generator is slower, and the time goes here
            if not part(value):
                return False
        return True

    return check


def _object(schema: Schema, root: Schema, done: dict[str, Check]) -> Check:
    """Return the check of the keywords about an object's keys, together."""
    parts = {
        name: _compiled(part, root, done) for name, part in schema.get("properties", {}).items()
    }
    required = frozenset(schema.get("required", ()))
    others = schema.get("additionalProperties", True)
    rest = _compiled(others, root, done)

    def check(value: Any) -> bool:
        if not isinstance(value, dict):
            return True
        for name, item in value.items():
            if not parts.get(name, rest)(item):
                return False
        return required <= value.keys()

    return check


def _keyword(key: str, schema: Schema, root: Schema, done: dict[str, Check]) -> Check:
    """Return the check of one keyword. Raises LookupError for one that is not known here."""
    if key in WITH_PARTS:
        return WITH_PARTS[key](schema[key], lambda part: _compiled(part, root, done))
    if key in ALONE:
        return ALONE[key](schema[key])
    raise LookupError(f"no check of {key}")


def _any_of(stated: Sequence[Schema], compiled: Compiler) -> Check:
    options = [compiled(option) for option in stated]
    return lambda value: any(option(value) for option in options)


def _all_of(stated: Sequence[Schema], compiled: Compiler) -> Check:
    every = [compiled(option) for option in stated]
    return lambda value: all(option(value) for option in every)


def _one_of(stated: Sequence[Schema], compiled: Compiler) -> Check:
    options = [compiled(option) for option in stated]
    return lambda value: sum(option(value) for option in options) == 1


def _not(stated: Schema, compiled: Compiler) -> Check:
    other = compiled(stated)
    return lambda value: not other(value)


def _items(stated: Schema, compiled: Compiler) -> Check:
    item = compiled(stated)
    return lambda value: not isinstance(value, list) or all(map(item, value))


# a keyword whose value has schemas in it -> the check that they make
WITH_PARTS: dict[str, Callable[[Any, Compiler], Check]] = {
    "anyOf": _any_of,
    "allOf": _all_of,
    "oneOf": _one_of,
    "not": _not,
    "items": _items,
}


def _type(stated: str | Sequence[str]) -> Check:
    if isinstance(stated, str):
        return TYPES[stated]
    kinds = [TYPES[kind] for kind in stated]
    return lambda value: any(kind(value) for kind in kinds)


def _enum(stated: Sequence[str]) -> Check:
    return lambda value: isinstance(value, str) and value in stated


def _pattern(stated: str) -> Check:
    search = re.compile(stated).search
    return lambda value: not isinstance(value, str) or search(value) is not None


def _unique_items(_: bool) -> Check:
    return lambda value: (
        not isinstance(value, list)
        or not any(_same(one, other) for one, other in combinations(value, 2))
    )


def _at_least(kind: str) -> Callable[[int], Check]:
    is_of_kind = TYPES[kind]
    return lambda least: lambda value: not is_of_kind(value) or len(value) >= least


def _at_most(kind: str) -> Callable[[int], Check]:
    is_of_kind = TYPES[kind]
    return lambda most: lambda value: not is_of_kind(value) or len(value) <= most


# any other keyword -> the check that its value makes
ALONE: dict[str, Callable[[Any], Check]] = {
    "type": _type,
    "enum": _enum,
    "const": lambda stated: lambda value: _same(value, stated),
    "pattern": _pattern,
    "uniqueItems": _unique_items,
    "minItems": _at_least("array"),
    "maxItems": _at_most("array"),
    "minProperties": _at_least("object"),
    "minLength": _at_least("string"),
    "maxLength": _at_most("string"),
    "minimum": lambda least: lambda value: not TYPES["number"](value) or value >= least,
    "exclusiveMinimum": lambda bound: lambda value: not TYPES["number"](value) or value > bound,
    "maximum": lambda most: lambda value: not TYPES["number"](value) or value <= most,
}


def _same(one: Any, other: Any) -> bool:
    """Whether two values are one to JSON, to which true is no number."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)
