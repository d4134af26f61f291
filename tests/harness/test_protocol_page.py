"""PROTOCOL.md has every key of an engine's file, every placeholder, and lines to copy."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conformance.harness import engine_file
from conformance.harness.engine_file import read_engine_file
from conformance.installation.startable import BROUGHT
from refengine.core.semantics import Semantics
from refengine.model.errors import InvalidSemantics

CONFORMANCE = Path(engine_file.__file__).resolve().parents[1]
PAGE = (CONFORMANCE / "PROTOCOL.md").read_text(encoding="utf-8")
SCHEMA = json.loads((CONFORMANCE / "schema" / "engine.schema.json").read_text(encoding="utf-8"))

TOP = """\
title = "Mine"
command = ["mine"]
dialect = "table"
"""
DEVIATION = {
    "reason": '"it differs from what it claims"',
    "link": '"https://example.org/"',
    "cases": '["no-case"]',
}


def section(heading: str) -> str:
    """Return the text under a heading, up to the next one."""
    _, _, text = PAGE.partition(f"{heading}\n")
    assert text, heading
    return re.split(r"^#+ ", text, maxsplit=1, flags=re.M)[0]


def table_after(text: str, head: str) -> list[list[str]]:
    """Return the rows of the table that has this head, as cells."""
    lines = text.splitlines()
    rows = []
    for line in lines[lines.index(head) + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return rows


ROWS = table_after(section("### Your engine does this: write that"), "| your engine | in | lines |")


def test_every_key_of_an_engine_file_is_in_the_table_of_keys():
    rows = table_after(section("## An engine's file"), "| key | meaning | if the key is missing |")
    keys = [key.strip("`") for key, *_ in rows]
    assert sorted(keys) == sorted(SCHEMA["properties"])


@pytest.mark.parametrize("key", ["install", "bring"])
def test_every_key_of_a_source_is_named(key):
    rows = table_after(section("## An engine's file"), "| key | meaning | if the key is missing |")
    [meaning] = [meaning for name, meaning, _ in rows if name == f"`{key}`"]
    keys = SCHEMA["properties"][key]["properties"]
    assert [name for name in keys if f"`{name}`" not in meaning] == []


def test_every_placeholder_is_in_the_table_of_placeholders():
    rows = table_after(section("## An engine's file"), "| placeholder | stands for |")
    named = {re.findall(r"{\w+}", name)[0] for name, _ in rows}
    replaced = {f"{{{name}}}" for name in (*engine_file.PLACES, "here", "tolerance", "installed")}
    assert named == replaced | set(BROUGHT)


def test_there_are_rows_for_what_engines_do():
    assert len(ROWS) >= 12


@pytest.mark.parametrize(("meaning", "place", "lines"), ROWS, ids=[row[0] for row in ROWS])
def test_the_lines_of_a_row_are_those_of_an_engine(tmp_path, meaning, place, lines):
    """They make an engine, and its semantics is one that means something (SEM-2)."""
    written = re.findall(r"`([^`]+)`", lines)
    assert written
    semantics = {"profile": '"csparql"'}
    text = TOP
    entry = ""
    match place.strip("`"):
        case "top":
            text += "\n".join(written) + "\n"
            if 'end = "sentinel"' in written:
                semantics["horizon"] = '"none"'
        case "[semantics]":
            semantics |= dict(line.split(" = ", 1) for line in written)
        case "[capabilities]":
            entry = "\n".join(["[capabilities]", *written])
        case "[[deviations]]":
            keys = DEVIATION | dict(line.split(" = ", 1) for line in written)
            entry = "\n".join(["[[deviations]]", *_lines(keys)])
        case other:
            raise AssertionError(f"no such place in an engine file: {other}")
    path = tmp_path / "mine.toml"
    path.write_text("\n".join([text, "[semantics]", *_lines(semantics), entry, ""]))

    engine = read_engine_file(path)
    profiles = [engine.profile, *(engine.profile.but(**one.fields) for one in engine.deviations)]
    assert all(has_meaning(profile) for profile in profiles)


def _lines(keys: dict[str, str]) -> list[str]:
    """Return the lines of TOML for some keys, whose values are TOML."""
    return [f"{key} = {value}" for key, value in keys.items()]


def has_meaning(profile) -> bool:
    """Whether some complete semantics of a profile is not refused."""
    for fields in profile.assignments((0,)):
        try:
            Semantics(**fields)
        except InvalidSemantics:
            continue
        return True
    return False
