"""SPEC.md as data: its rules, and its table of values. The table shows for every value of every
dimension the rule, the function, a case that has the value, and a wrong engine that this case
catches.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from conformance import corpus
from conformance.corpus import Case
from conformance.corpus.rule_texts import ID as ID
from conformance.corpus.rule_texts import rule_paragraphs, rule_texts
from conformance.corpus.rules import INTEGER, RULES
from conformance.wrong_engines import WRONG_ENGINES, WrongEngine
from refengine.core.semantics import show
from refengine.model.errors import RefengineError

# `*Function* of both` is about this rule and the one before
SHARED = {"": 1, "of both ": 2, "of the three ": 3}
BLOCKS = ("expect", "judge", "refuse")  # the blocks of a case that have a semantics


class ValueRow(NamedTuple):
    """A row of the table of values: a value of a field of Semantics, or a window's kind or unit;
    its rule; a case with the value, and a wrong engine that the case
    catches.
    """

    field: str
    value: str
    rule: str
    case: Case
    wrong_engine: WrongEngine


def rules(text: str) -> dict[str, tuple[str, ...]]:
    """Return the rules of a specification in its order, {id: names of its functions}."""
    functions: dict[str, tuple[str, ...]] = {}
    for paragraph in rule_paragraphs(text):
        functions.setdefault(paragraph.rule, ())
        for shared, names in re.findall(
            r"\*Functions?\* (of both |of the three |)((?:`[\w.]+`(?:, | and )?)+)", paragraph.text
        ):
            for rule in list(functions)[-SHARED[shared] :]:
                functions[rule] += tuple(re.findall(r"`([\w.]+)`", names))
    return functions


def values() -> Iterator[tuple[str, str, str]]:
    """Yield (field, value, rule) of every value of every dimension."""
    for field, rules_of_values in RULES.items():
        for value, rule in rules_of_values.items():
            yield field, value, rule


def value_table() -> list[ValueRow]:
    """Return the table of values. Raises LookupError for a value that no case
    has, or that no wrong engine gets wrong there.
    """
    rows: list[ValueRow] = []
    for field, value, rule in values():
        used = {row.wrong_engine for row in rows if row.field == field}
        row = row_of_value(field, value, rule, used)
        if row is None:
            raise LookupError(
                f"{field}={value}: none of the {len(cases_with(field, value, rule))} cases of "
                f"{rule} that have it catches a wrong engine of {rule}"
            )
        rows.append(row)
    return rows


def row_of_value(
    field: str, value: str, rule: str, used: Collection[WrongEngine] = ()
) -> ValueRow | None:
    """Return the row of a value: the first case with the value that catches a wrong engine of its
    rule, rather one that breaks a sentence about the value, and rather one that is not `used`; None
    if no such case does.
    """
    breaking = [one for one in WRONG_ENGINES if rule in one.rules]
    # among those that are not used rather one that is named after this rule
    wrong_engines = sorted(
        breaking,
        key=lambda one: (distance_from(one, field, value, rule), one in used, one.rule != rule),
    )
    pair = _first_catch(cases_with(field, value, rule), wrong_engines)
    if pair is None:
        return None
    return ValueRow(field, value, rule, *pair)


def distance_from(wrong_engine: WrongEngine, field: str, value: str, rule: str) -> int:
    """Return how far what a wrong engine breaks is from a value of a field, or, if that is an
    integer, from the field: 0 if a half of the rule names it, 1 if its sentence does, else 2.
    """
    names = [f"`{field}={value}`", f"`{value}`"]
    if value == INTEGER:
        names = [f"`{field}`"]
    sentences = re.split(r"(?<=[.:])\s+|\n", rule_texts()[rule].text)
    broken = [each for each in sentences if any(half in each for half in wrong_engine.halves)]
    for distance, texts in enumerate((wrong_engine.halves, broken)):
        if any(name in text for name in names for text in texts):
            return distance
    return 2


def cases_with(field: str, value: str, rule: str) -> list[Case]:
    """Return the cases of a rule that have a value of a field, with only the blocks that have
    it.
    """
    of_rule = [only(case, field, value) for case in corpus.cases() if case.rule == rule]
    return [case for case in of_rule if case is not None]


def _first_catch(
    cases: Iterable[Case], wrong_engines: Iterable[WrongEngine]
) -> tuple[Case, WrongEngine] | None:
    """Return the first wrong engine that a case catches, after the first such case; None if no case
    catches any.
    """
    for wrong_engine in wrong_engines:
        for case in cases:
            if catches(case, wrong_engine):
                return case, wrong_engine
    return None


def catches(case: Case, wrong_engine: WrongEngine) -> bool:
    """Whether a case catches a wrong engine: it fails while that is installed."""
    with wrong_engine.installed():
        return bool(corpus.check(case))


def only(case: Case, field: str, value: str) -> Case | None:
    """Return the case with only those blocks that have a value of a field; None if no block has
    it.
    """
    if field in ("window", "unit"):
        if value in _window_values(case, field):
            return case
        return None
    blocks_of = {
        kind: [block for block in case.table.get(kind, []) if _has(block, field, value)]
        for kind in BLOCKS
    }
    if not any(blocks_of.values()):
        return None
    table = {key: entry for key, entry in case.table.items() if key not in BLOCKS}
    table |= {kind: blocks for kind, blocks in blocks_of.items() if blocks}
    return replace(case, table=table)


def _window_values(case: Case, field: str) -> set[str | None]:
    """Return the kinds, or the units, of a case's windows."""
    windows = case.table["query"]["windows"]
    if field == "window":
        return {window.get("kind") for window in windows}
    return {window.get("unit", "elements") for window in windows}


def _has(block: Mapping[str, Any], field: str, value: str) -> bool:
    """Whether the semantics of a block has a value of a field, or may have it."""
    stated = block.get("semantics", block.get("profile"))
    if stated is None:
        return False
    # most semantics have none here: what it means is shown by a case that refuses it
    if value == "none" and RULES[field][value] in ("SEM-2", "QRY-5"):
        return field in block.get("message", "") and stated.get(field, "none") == "none"
    try:
        own = corpus.profile_of(stated).fields.get(field, "")
    except RefengineError:  # the values contradict each other: take this one as it stands
        own = stated.get(field, "")
    if field == "report":
        return isinstance(own, frozenset) and value in own
    if isinstance(own, int) and not isinstance(own, bool):
        return value == INTEGER
    return show(own) == value


def table_in_markdown(rows: list[ValueRow]) -> Iterator[str]:
    """Yield the lines of the table in Markdown."""
    yield "| value | rule | case | wrong engine |"
    yield "|---|---|---|---|"
    for row in rows:
        value = f"`{row.field}={row.value}`"
        if row.value == INTEGER:
            value = f"`{row.field}`, {row.value}"
        yield f"| {value} | {row.rule} | {row.case.path} | {row.wrong_engine.name} |"
