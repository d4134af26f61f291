"""The JSON Schemas of the suite: cases, vectors, engines, and the messages of the protocol."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from jsonschema import Draft202012Validator

FOLDER = Path(__file__).parent / "schema"


@cache
def validator(name: str) -> Draft202012Validator:
    """The validator of a schema: case, secret, engine, command or reply."""
    return Draft202012Validator(json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8")))
