"""The entry of `[[deviations]]` that states a deviation in the file of an engine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.harness.engine_file import Deviation
from refengine.core.semantics import show


def write_entry(deviation: Deviation) -> Iterator[str]:
    """Yield the lines of the entry, in TOML. Reading it gives the same deviation."""
    yield "[[deviations]]"
    yield f"reason = {_quote(deviation.reason)}"
    yield f"link = {_quote(deviation.link)}"
    yield f"cases = {_list(deviation.cases)}"
    if deviation.fields:
        yield f"fields = {_table(deviation.fields)}"
    if deviation.misstates:
        yield f"misstates = {_quote(deviation.misstates)}"
    if deviation.crashes:
        yield "crashes = true"
    if deviation.breaks:
        yield f"breaks = {_list(deviation.breaks)}"


def _table(fields: Mapping[str, Any]) -> str:
    """Return fields of the semantics as a table: `{ t0 = 3, offset = "none" }`."""
    pairs = ", ".join(f"{name} = {_value(value)}" for name, value in fields.items())
    return f"{{ {pairs} }}"


def _value(value: Any) -> str:
    """Return the value of a field: an integer as it stands, all others as their text in quotes."""
    if isinstance(value, int):
        return str(value)
    return _quote(show(value))


def _list(texts: tuple[str, ...]) -> str:
    """Return texts as a list."""
    return f"[{', '.join(map(_quote, texts))}]"


def _quote(text: str) -> str:
    """Return a text in quotes. TOML escapes as JSON does, and DEL, too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
