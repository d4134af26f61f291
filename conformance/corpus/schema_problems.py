"""What is wrong with a value under a schema, in our words."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from jsonschema import ValidationError

from conformance.schemas import path_text
from refengine.model.messages import display, nearest


def unknown_keys_first(problem: ValidationError) -> tuple[bool, str, str]:
    """Return the sort key of what is wrong with a value. Unknown keys come first, since an unknown
    key is often a misspelt one that is then missing.
    """
    is_known = problem.validator != "additionalProperties"
    return is_known, path_text(problem.absolute_path), problem.message


def explain_problem(problem: ValidationError) -> list[str]:
    """Return what is wrong with a value: a line for each unknown key, with the nearest valid one,
    and one line for everything else.
    """
    schema = problem.schema
    assert isinstance(schema, Mapping)  # a boolean one has no keyword that could fail
    match problem.validator:
        case "additionalProperties" if problem.validator_value is False:
            return _name_unknown_keys(problem.instance, schema["properties"])
        case "required":
            return [f"key {problem.message.removesuffix(' is a required property')} is missing"]
        case "oneOf" | "anyOf":
            return [schema.get("description", problem.message)]
        case "not":
            assert isinstance(problem.validator_value, Mapping)
            return [problem.validator_value.get("description", problem.message)]
        case "minLength" if problem.instance == "" and "description" in schema:
            return [f"is empty; write {schema['description']}"]
        case "minLength":
            least = count_characters(problem.validator_value)
            return [f"{display(problem.instance)} is too short; write at least {least}"]
        case _:
            return [problem.message]


def count_characters(count: object) -> str:
    """Return a number of characters in words: `1 character`, `10 characters`."""
    return f"{count} character" if count == 1 else f"{count} characters"


def _name_unknown_keys(instance: object, valid: Collection[str]) -> list[str]:
    """Return a line for each key of a table that is not valid, with the nearest valid one."""
    assert isinstance(instance, Mapping)  # other values have no keys that could be unknown
    return [f"unknown key {key!r}{nearest(key, valid)}" for key in instance if key not in valid]
