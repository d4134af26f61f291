"""The JSON Schemas of the suite: cases, vectors, engines, results, and the messages of the
protocol.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

FOLDER = Path(__file__).parent / "schema"
Check = Callable[[Any], bool]

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
    """The validator of a schema: case, secret, engine, result, command or reply."""
    return Draft202012Validator(
        json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    )


@cache
def accepts(name: str) -> Check:
    """Whether a schema's validator finds no error, a hundred times as fast: files of results have
    100,000 lines, and a session has as many messages. Raises LookupError for a keyword that is not
    known here.
    """
    schema = validator(name).schema
    return _compiled(schema, schema, {})


def _compiled(schema: Mapping[str, Any], root: Mapping[str, Any], done: dict[str, Check]) -> Check:
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
        for part in checks:  # no generator: this is where the time goes
            if not part(value):
                return False
        return True

    return check


def _object(schema: Mapping[str, Any], root: Mapping[str, Any], done: dict[str, Check]) -> Check:
    parts = {
        name: _compiled(part, root, done) for name, part in schema.get("properties", {}).items()
    }
    required, wanted = (
        frozenset(schema.get("required", ())),
        schema.get("additionalProperties", True),
    )
    rest = (
        (lambda _, known=bool(wanted): known)
        if isinstance(wanted, bool)
        else _compiled(wanted, root, done)
    )

    def check(value: Any) -> bool:
        if not isinstance(value, dict):
            return True
        for name, item in value.items():
            if not parts.get(name, rest)(item):
                return False
        return required <= value.keys()

    return check


def _keyword(
    key: str, schema: Mapping[str, Any], root: Mapping[str, Any], done: dict[str, Check]
) -> Check:
    wanted = schema[key]
    match key:
        case "type":
            kinds = [TYPES[kind] for kind in ([wanted] if isinstance(wanted, str) else wanted)]
            return kinds[0] if len(kinds) == 1 else lambda value: any(kind(value) for kind in kinds)
        case "enum":  # of texts
            return lambda value: isinstance(value, str) and value in wanted
        case "anyOf":
            options = [_compiled(option, root, done) for option in wanted]
            return lambda value: any(option(value) for option in options)
        case "allOf":
            every = [_compiled(option, root, done) for option in wanted]
            return lambda value: all(option(value) for option in every)
        case "oneOf":
            some = [_compiled(option, root, done) for option in wanted]
            return lambda value: sum(option(value) for option in some) == 1
        case "not":
            other = _compiled(wanted, root, done)
            return lambda value: not other(value)
        case "const":
            return lambda value: _same(value, wanted)
        case "pattern":
            found = re.compile(wanted).search
            return lambda value: not isinstance(value, str) or found(value) is not None
        case "items":
            item = _compiled(wanted, root, done)
            return lambda value: not isinstance(value, list) or all(map(item, value))
        case "minItems":
            return lambda value: not isinstance(value, list) or len(value) >= wanted
        case "maxItems":
            return lambda value: not isinstance(value, list) or len(value) <= wanted
        case "uniqueItems":
            return lambda value: (
                not isinstance(value, list)
                or not any(_same(one, other) for one, other in combinations(value, 2))
            )
        case "minProperties":
            return lambda value: not isinstance(value, dict) or len(value) >= wanted
        case "minLength":
            return lambda value: not isinstance(value, str) or len(value) >= wanted
        case "maxLength":
            return lambda value: not isinstance(value, str) or len(value) <= wanted
        case "minimum":
            return lambda value: not TYPES["number"](value) or value >= wanted
        case "exclusiveMinimum":
            return lambda value: not TYPES["number"](value) or value > wanted
        case "maximum":
            return lambda value: not TYPES["number"](value) or value <= wanted
        case _:
            raise LookupError(f"no check of {key}")


def _same(one: Any, other: Any) -> bool:
    """Whether two values are one to JSON, to which true is no number."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)
