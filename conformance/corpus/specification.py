"""SPEC.md as data: its rules, and the table that shows of every value of every dimension the rule,
the function, a case that has the value and a miniature that this case catches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from conformance import corpus
from conformance.corpus import Case
from conformance.corpus.rules import INTEGER, RULES
from conformance.wrong_engines import MINIATURES, Miniature
from refengine.core.query import Unit, WindowKind
from refengine.core.semantics import ENUMS, INTEGRAL, OPTIONAL, Condition, show
from refengine.model.errors import RefengineError

ID = r"[A-Z][A-Z0-9]+-[1-9][0-9]*"
# `*Function* of both` speaks for the rule before, too
SHARED = {"": 1, "of both ": 2, "of the three ": 3}


class Row(NamedTuple):
    """A value of a field of Semantics, or of a window's kind or unit; the rule and its functions; a
    case and a miniature.
    """

    field: str
    value: str
    rule: str
    functions: tuple[str, ...]
    case: Case
    miniature: Miniature


def rules(text: str) -> dict[str, tuple[str, ...]]:
    """{id: (its functions)} of a specification, in its order.

    A rule begins with a paragraph that begins with its id in bold, and goes on up to the next one,
    or to a heading.
    """
    functions: dict[str, tuple[str, ...]] = {}
    is_in_rule = False
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        if start := re.match(rf"\*\*({ID})\*\* ", paragraph):
            functions[start[1]] = ()
            is_in_rule = True
        elif paragraph.startswith("#"):
            is_in_rule = False
        if not is_in_rule:
            continue
        for shared, names in re.findall(
            r"\*Functions?\* (of both |of the three " r"|)((?:`[\w.]+`(?:, | and )?)+)", paragraph
        ):
            for rule in list(functions)[-SHARED[shared] :]:
                functions[rule] += tuple(re.findall(r"`([\w.]+)`", names))
    return functions


def values() -> Iterator[tuple[str, str, str]]:
    """(field, value, rule) of every value of every dimension."""
    for field in RULES:
        for value in _values(field):
            yield field, value, _rule(field, value)


def _rule(field: str, value: str) -> str:
    said = RULES[field]
    return said if isinstance(said, str) else said[value]


def _values(field: str) -> list[str]:
    match field:
        case "report":
            return [str(condition) for condition in Condition]
        case "window":
            return [str(kind) for kind in WindowKind]
        case "unit":
            return [str(unit) for unit in Unit]
    words = [str(member) for member in ENUMS.get(field, ())]
    return [INTEGER] * (field in INTEGRAL) + words + ["none"] * (field in OPTIONAL)


def table(text: str) -> list[Row]:
    """The table for a specification. Raises LookupError for a value that no case has, or that no
    miniature gets wrong there.
    """
    functions, every = rules(text), corpus.cases()
    found: list[Row] = []
    for field, value, rule in values():
        having = [
            case
            for case in (only(case, field, value) for case in every if case.rule == rule)
            if case is not None
        ]
        used = {row.miniature for row in found if row.field == field}
        # one of its own, if there is one, and one that breaks this rule before all others
        breaking = (miniature for miniature in MINIATURES if rule in miniature.rules)
        wrong = sorted(breaking, key=lambda m: (m in used, m.rule != rule))
        pair = next(
            (
                (case, miniature)
                for miniature in wrong
                for case in having
                if catches(case, miniature)
            ),
            None,
        )
        if pair is None:
            raise LookupError(
                f"{field}={value}: of {len(having)} cases of {rule} with it none "
                f"catches a miniature of {rule}"
            )
        found.append(Row(field, value, rule, functions[rule], *pair))
    return found


def catches(case: Case, miniature: Miniature) -> bool:
    """Whether a case fails on a wrong engine."""
    with miniature.installed():
        return bool(corpus.check(case))


def only(case: Case, field: str, value: str) -> Case | None:
    """The case with those of its blocks that have a value; None if none has."""
    windows = case.table["query"]["windows"]
    match field:
        case "window":
            return case if any(window.get("kind") == value for window in windows) else None
        case "unit":
            return (
                case if any(window.get("unit", "elements") == value for window in windows) else None
            )
    kept = {
        kind: [block for block in case.table.get(kind, []) if _has(block, field, value)]
        for kind in ("expect", "judge", "refuse")
    }
    table = {key: entry for key, entry in case.table.items() if key not in kept}
    return (
        replace(case, table={**table, **{kind: blocks for kind, blocks in kept.items() if blocks}})
        if any(kept.values())
        else None
    )


def _has(block: Mapping[str, Any], field: str, value: str) -> bool:
    said = block.get("semantics", block.get("profile"))
    if said is None:
        return False
    # what is none everywhere is shown where it must not be
    if value == "none" and _rule(field, value) in ("SEM-2", "QRY-5"):
        return field in block.get("message", "") and said.get(field, "none") == "none"
    try:
        own = corpus.profile_of(said).fields.get(field, "")
    except RefengineError:  # values that contradict each other: as the block gives them
        own = said.get(field, "")
    if field == "report":
        return value in (own if isinstance(own, frozenset) else [])
    return (
        value == INTEGER
        if isinstance(own, int) and not isinstance(own, bool)
        else show(own) == value
    )


def markdown(rows: list[Row]) -> Iterator[str]:
    """The table as Markdown."""
    yield "| field | value | rule | function | case | miniature |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        functions = ", ".join(f"`{name}`" for name in row.functions)
        value = f"`{row.value}`" if row.value != INTEGER else row.value
        yield (
            f"| `{row.field}` | {value} | {row.rule} | {functions} | {row.case.path} | "
            f"{row.miniature.name} |"
        )
