"""Which wrong engines each case catches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from conformance import corpus
from conformance.corpus import Case
from conformance.wrong_engines import WRONG_ENGINES, WrongEngine

Key = tuple[str, str]  # suite and id of a case
QUOTES = ("explanation", "without")  # parts of a judgement's text, which take long to write


def find_caught(
    cases: Sequence[Case],
    progress: Callable[[Iterable[WrongEngine]], Iterable[WrongEngine]] = iter,
) -> Mapping[Key, tuple[WrongEngine, ...]]:
    """Return the wrong engines that each case catches, of those that break its rule. `progress`
    shows how far the search is, which takes a minute for all cases.
    """
    by_rule: dict[str, list[Case]] = {}
    for case in cases:
        by_rule.setdefault(case.rule, []).append(case)
    caught: dict[Key, tuple[WrongEngine, ...]] = {}
    for one in progress(WRONG_ENGINES):
        of_rules = [case for rule in one.rules for case in by_rule.get(rule, ())]
        if not of_rules:
            continue
        with one.installed():
            for case in of_rules:
                if _is_failed(case):
                    key = case.suite, case.id
                    caught[key] = (*caught.get(key, ()), one)
    return caught


def _is_failed(case: Case) -> bool:
    """Whether a case fails. The texts of judgements are compared only if all else is as expected,
    since they take longer than all else.
    """
    judged = case.table.get("judge", ())
    bare = [{key: block[key] for key in block if key not in QUOTES} for block in judged]
    if corpus.check(replace(case, table={**case.table, "judge": bare})):
        return True
    quoting = [block for block in judged if not block.keys().isdisjoint(QUOTES)]
    return bool(quoting) and bool(
        corpus.check(replace(case, table={**case.table, "judge": quoting}))
    )
