"""Writing a case file: the text of a case's table in TOML, in the layout of the corpus."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from refengine.model.errors import RefengineError

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def case_text(table: Mapping[str, Any], comments: Mapping[str, str]) -> str:
    """Return the text of a case's table. `comments` maps keys at the top, and keys of blocks such
    as `expect.reports`, to a comment that stands behind the value. Raises RefengineError for a text
    that TOML cannot have.
    """
    plain = {key: value for key, value in table.items() if not _is_block(value)}
    lines = [_entry(key, value, comments.get(key, "")) for key, value in plain.items()]
    for key, value in table.items():
        blocks = value if isinstance(value, list) else [value]
        if not _is_block(value):
            continue
        header = f"[[{key}]]" if isinstance(value, list) else f"[{key}]"
        for block in blocks:
            lines += ["", header]
            for name, entry in block.items():
                lines.append(_entry(name, entry, comments.get(f"{key}.{name}", "")))
    return "\n".join(lines) + "\n"


def _is_block(value: Any) -> bool:
    """Whether a value is a table, or an array of tables, that has a header of its own."""
    return isinstance(value, Mapping) or (isinstance(value, list) and bool(value))


def _entry(key: str, value: Any, comment: str) -> str:
    """Write a key with its value. Of an array each value has a line, and so has each line of a
    text.
    """
    if comment:
        comment = f"  # {comment}"
    if isinstance(value, str) and _can_have_lines(value):
        return f"{_key(key)} = '''\n{value}'''{comment}"
    if isinstance(value, list) and len(value) > 1:
        lines = "".join(f"  {_value(item)},\n" for item in value)
        return f"{_key(key)} = [\n{lines}]{comment}"
    return f"{_key(key)} = {_value(value)}{comment}"


def _key(key: str) -> str:
    """Write a key, in quotes where it must have them."""
    if BARE_KEY.fullmatch(key):
        return key
    return _string(key)


def _value(value: Any) -> str:
    """Write a value on one line."""
    match value:
        case Mapping():
            entries = ", ".join(f"{_key(key)} = {_value(entry)}" for key, entry in value.items())
            return f"{{ {entries} }}" if entries else "{}"
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case str():
            return _string(value)
        case _:  # numbers and booleans are written as in JSON
            return json.dumps(value)


def _can_have_lines(text: str) -> bool:
    """Whether a text of several lines can stand between three single quotes as it is."""
    lines = text.split("\n")
    is_clear = all(map(str.isprintable, lines)) and "'''" not in text and not text.endswith("'")
    return len(lines) > 1 and is_clear


def _string(text: str) -> str:
    """Write a text in double quotes; what cannot be printed is escaped. Raises RefengineError for
    half a character.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise RefengineError(
            f"half a character, which no case can have: {text[:80]!a}", rule="case"
        ) from None
    return "".join(map(_escape, json.dumps(text, ensure_ascii=False)))


def _escape(character: str) -> str:
    """Write a character, in digits if it cannot be printed."""
    if character.isprintable():
        return character
    return f"\\U{ord(character):08x}"
