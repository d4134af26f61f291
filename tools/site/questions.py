"""The questions that the playground can be opened with: cases of the corpus that SPEC.md's examples
name, and those that docs/values.md has for the values of fields.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from conformance.corpus.case_file import CASES, Case, profile_of, query_of, recording
from conformance.corpus.rule_texts import rule_texts
from conformance.corpus.rules import INTEGER
from refengine.core.semantics import show
from refengine.rdf.recordings import relation_to_json
from tools.site.exports import as_toml

ROOT = Path(__file__).resolve().parents[2]
VALUE = re.compile(
    r"^\| `([a-z0-9_]+)(?:=([^`]+))?`(?:, an integer)? \| ([A-Z0-9-]+) \| (\S+) \|", re.MULTILINE
)
EXAMPLE = re.compile(r"\*Examples?\* .*?(?=\n\n|\Z)", re.DOTALL)
CASE_PATH = re.compile(r"`([a-z0-9]+/[a-z0-9-]+\.toml)`")
BLOCKS = ("expect", "refuse", "judge")
EXPECTED = ("reports", "error", "message", "outcome")
ASKED = {*EXPECTED, "semantics", "profile", "answers", "missing", "explanation"}
Json = dict[str, Any]


class Value(NamedTuple):
    """A line of docs/values.md: a value of a field, its rule, and a case that has it."""

    field: str
    value: str
    rule: str
    case: str

    def is_in(self, example: Json) -> bool:
        """Whether the semantics of an example has the value."""
        if self.field in ("window", "unit"):
            return f'"{self.value}"' in example["state"]["query"]["text"]
        own = profile_of(example["written"]).fields.get(self.field)
        if self.field == "report":
            return isinstance(own, frozenset) and self.value in own
        return self.value == (INTEGER if isinstance(own, int) else show(own))


@cache
def values() -> list[Value]:
    """Return the lines of docs/values.md."""
    text = (ROOT / "docs" / "values.md").read_text(encoding="utf-8")
    return [
        Value(field, value or INTEGER, rule, case)
        for field, value, rule, case in VALUE.findall(text)
    ]


@cache
def question_of_value(value: Value) -> Json | None:
    """Return the question of a value's case in which it has the value, or else the first one; None
    if the playground can ask none of them.
    """
    found = list(examples_of(read_case(value.case)))
    return next((one for one in found if value.is_in(one)), next(iter(found), None))


def read_case(path: str) -> Case:
    """Return the case of a path, which is not held to the schema."""
    return Case(path, tomllib.loads((CASES / path).read_text(encoding="utf-8")))


def cases_of_examples() -> list[str]:
    """Return the paths of the cases that the examples of rules name."""
    return [
        path
        for text in rule_texts().values()
        for paragraph in EXAMPLE.findall(text.text)
        for path in CASE_PATH.findall(paragraph)
    ]


@cache
def examples() -> list[Json]:
    """Return all questions, in the order of their rules."""
    order = list(rule_texts())
    paths = dict.fromkeys([*cases_of_examples(), *(value.case for value in values())])
    found = [example for path in paths for example in examples_of(read_case(path))]
    return sorted(found, key=lambda example: order.index(example["rule"]))


def examples_of(case: Case) -> Iterator[Json]:
    """Yield the blocks of a case that the page can ask, each with its state and what is expected of
    it.
    """
    table = case.table
    blocks = [block for kind in BLOCKS for block in table.get(kind, [])]
    is_plain = all("elements" in stream for stream in table.get("streams", ()))
    if not is_plain or not isinstance(table.get("static", ""), str):
        return
    for number, block in enumerate(blocks, 1):
        if block.keys() <= ASKED:
            yield {
                "id": case.path.removesuffix(".toml") + (f":{number}" if len(blocks) > 1 else ""),
                "rule": case.rule,
                "name": case.name,
                "derivation": table["derivation"],
                "state": state_of(case, block),
                "expected": {key: block[key] for key in EXPECTED if key in block},
                "written": block.get("semantics", block.get("profile", {})),
            }


def state_of(case: Case, block: Mapping[str, Any]) -> Json:
    """Return a block of a case as the page has it."""
    semantics = block.get("semantics", block.get("profile", {}))
    state = {
        "query": {"dialect": "toml", "text": as_toml(case.table["query"])},
        "streams": case.table.get("streams", []),
        "static": case.table.get("static", ""),
        "semantics": {"profile": "csparql"} | {n: words_of(v) for n, v in semantics.items()},
    }
    if "missing" in block:
        state["missing"] = str(block["missing"])
    if "answers" in block:
        relations = map(relation_to_json, recording(block, query_of(case)))
        state["recording"] = json.dumps({"relations": list(relations)}, indent=1)
    return state


def words_of(value: Any) -> str:
    """Return the value of a field in a case as the page writes it: an open one as `0..9`, or as
    `time|tuple`.
    """
    match value:
        case {"between": [lo, hi]}:
            return f"{lo}..{hi}"
        case {"one_of": values}:
            return "|".join(map(words_of, values))
        case list():
            return ",".join(value)
        case _:
            return str(value)
