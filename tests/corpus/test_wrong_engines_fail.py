"""Every wrong engine fails a case of each rule that it breaks, every case fails on a wrong engine
of its rule, and no wrong engine leaves a trace.
"""

import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice

import pytest
from test_architecture import ARROWS
from test_cases import AFTER_WRONG_ENGINES

from conformance import corpus, schemas
from conformance.wrong_engines import WRONG_ENGINES, WrongEngine
from conformance.wrong_engines.wrong_engine import HABITS, NOBODY, ROOMS_FROM_BELOW
from refengine.core import window
from refengine.model import compare

RULES = sorted({rule for one in WRONG_ENGINES for rule in one.rules})
NOT_BY_PLACE = {
    inspect.Parameter.KEYWORD_ONLY,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.VAR_KEYWORD,
}
OTHER_BLOCKS = ("expect", "refuse", "read", "render", "adaptive", "bounded")

# The cases that no wrong engine of their rule fails, by what their files are called beside the
# rule. They show that something is not refused, or hold by another rule, too. None is to be added.
UNFAILED = {
    "CMP-2": "stated",
    "DIA-1": "no-such-dialect values-after-where",
    "DIA-2": "long-durations no-unit",
    "DIA-3": "now rows-of-elements tumbling unbounded-pattern unbounded",
    "DIA-4": "the-same-as-the-semantics",
    "DIA-5": "merged named-windows relative-window-names reserved-beside-static-data "
    "window-without-a-name",
    "DIA-6": "order-of-patterns pattern-as-written registered-and-triggers reserved-name "
    "strings-over-lines triggers two-windows-of-one-name unnamed-after-named "
    "window-without-a-pattern windows-of-one-extent",
    "ENG-6": "triple-that-joins-itself",
    "MOD-1": "beyond-64-bits",
    "MOD-3": "point",
    "MOD-4": "iri-with-an-escape literal-as-subject",
    "ORA-1": "two-unknowns",
    "ORA-2": "listed",
    "ORA-4": "passed window-close",
    "ORA-5": "between-windows sum",
    "ORA-7": "between-windows same-derivation",
    "ORA-8": "both-confirm",
    "ORA-9": "within-an-instant",
    "QRY-1": "dots-of-a-base two-prefixes-of-one-namespace",
    "QRY-3": "alias-in-having describe limit-of-one-solution sample-of-one-value",
    "QRY-5": "now-closes",
    "R2R-1": "no-named-graphs",
    "R2R-11": "coalesce negated-error",
    "R2R-13": "number-and-date",
    "R2R-2": "distinct groups-of-a-window least-and-greatest",
    "R2R-20": "limit-of-everything limit-ordered-by-key limit-ordered",
    "REP-12": "content-at-the-evaluation one-evaluation-of-both one-window",
    "TICK-6": "passed-by-one-arrival tuple-windows",
    "TICK-7": "no-coincidence",
    "WIN-1": "slide-equal-to-size",
    "WIN-10": "epoch-of-rows-with-a-slide of-its-own-stream",
    "WIN-16": "of-time",
    "WIN-6": "sentinel-of-nothing",
}


@cache
def cases():
    """{rule: its cases}."""
    found = {}
    for case in corpus.cases():
        found.setdefault(case.rule, []).append(case)
    return found


def failed(wrong_engine, rule, unfailed):
    """The cases of a rule that a wrong engine fails: of those that none has failed yet, or, if
    there are none, the first of the others. A crash is an error of the test: only a difference, or
    a RefengineError, counts.
    """
    with wrong_engine.installed():
        found = {case.path for case in unfailed if is_failed(case)}
        others = (case.path for case in cases()[rule] if case not in unfailed and is_failed(case))
        return found or set(islice(others, 1))


def is_failed(case):
    """Whether a case fails. What the oracle says of a recording is compared only if all verdicts
    are as expected: the search for what would explain a fail takes longer than all else.
    """
    judged = case.table.get("judge", [])
    verdicts = [drop_quotes(block) for block in judged]
    if corpus.check(replace(case, table={**case.table, "judge": verdicts})):
        return True
    quoting = [block for block in judged if {"explanation", "without"} & block.keys()]
    if not quoting:
        return False
    explanations = {key: block for key, block in case.table.items() if key not in OTHER_BLOCKS}
    return bool(corpus.check(replace(case, table={**explanations, "judge": quoting})))


def drop_quotes(block):
    """A judge block that asks for an outcome, with any explanation."""
    return {key: value for key, value in block.items() if key not in ("explanation", "without")}


@pytest.mark.long  # and so before the cases of the rule, by the same worker
@pytest.mark.parametrize(
    "rule", [pytest.param(rule, marks=pytest.mark.xdist_group(rule)) for rule in RULES]
)
def test_wrong_engines_fail_cases_of_their_rules_and_cases_fail_on_wrong_engines(rule):
    unfailed, unnoticed = cases()[rule], []
    for wrong_engine in WRONG_ENGINES:
        if rule in wrong_engine.rules:
            found = failed(wrong_engine, rule, unfailed)
            unfailed = [case for case in unfailed if case.path not in found]
            unnoticed += [] if found else [wrong_engine.name]
    assert not unnoticed, f"no case of {rule} notices: {', '.join(unnoticed)}"
    names = {
        case.path.rpartition(f"/{rule.lower()}-")[2].removesuffix(".toml") for case in unfailed
    }
    assert names == set(UNFAILED.get(rule, "").split()), f"cases of {rule} that none fails"

    # What a wrong engine left in a memo would fail a case that holds on the reference.
    found = {case.path: corpus.check(case) for case in cases()[rule]}
    AFTER_WRONG_ENGINES.update(found)
    assert not any(found.values()), f"a wrong engine leaves a trace: {found}"


def test_wrong_engines_say_what_they_are():
    """Each wrong function says what is wrong, and who was seen to do so, with a link."""
    for one in WRONG_ENGINES:
        assert one.defect.endswith("."), one.full_name
        assert one.seen == NOBODY or "https://" in one.seen, one.full_name
        assert one.replaced.__module__.startswith("refengine."), one.full_name


def test_no_two_wrong_engines_of_a_rule_share_a_name():
    names = Counter((rule, one.name) for one in WRONG_ENGINES for rule in one.rules)
    assert [name for name, count in names.items() if count > 1] == []


def calls_of(function: Callable[..., object]) -> Iterator[tuple[list[None], dict[str, None]]]:
    """Yield ways to call a function: with what it needs alone, with all that it takes by position,
    and with what it may be given by name.
    """
    parameters = inspect.signature(function).parameters.values()
    by_name = [one for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY]
    by_place = [one for one in parameters if one.kind not in NOT_BY_PLACE]
    needed = [one for one in by_place if one.default is one.empty]
    needed_names = {one.name: None for one in by_name if one.default is one.empty}
    optional_names = {one.name: None for one in parameters if one.default is not one.empty}
    yield [None] * len(needed), needed_names
    yield [None] * len(by_place), needed_names
    yield [None] * len(needed), needed_names | optional_names


def test_a_wrong_function_can_be_called_as_the_right_one():
    """Else the diagnosis of an engine would end in a TypeError where the right one is called in a
    way that no case of the wrong engine's rules has.
    """
    for one in [*WRONG_ENGINES, *HABITS]:
        functions = {one.replaced: one.replacement, **one.besides}
        for right, wrong in functions.items():
            given = inspect.unwrap(wrong)
            first = [] if given is wrong else [right]  # a wrong function is given the right one
            for values, names in calls_of(right):
                inspect.signature(given).bind(*first, *values, **names)


# Memos


def test_no_room_imports_one_behind_it():
    for number, room in enumerate(ROOMS_FROM_BELOW):
        product = room.partition(".")[0]
        imported = {f"{product}.{name}" for name in ARROWS[room].split()}
        assert imported <= set(ROOMS_FROM_BELOW[:number])


def test_a_memo_is_of_the_module_that_defines_it():
    """Readers of the corpus import the memo of its tables. It holds no result of theirs."""
    number = len(corpus.cases())
    with WrongEngine((), window.borders, lambda closure: (0, 0)).installed():
        assert schemas.accepted_table.cache_info().currsize >= number


def test_a_memo_forgets_what_a_wrong_function_may_have_given():
    """Of a window nothing is kept in the memo of terms' values, of a term's value everything."""
    one = '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'
    compare.value(one)
    with WrongEngine((), window.borders, lambda closure: (0, 0)).installed():
        assert compare.value.cache_info().currsize
    assert compare.value.cache_info().currsize
    memo = compare.value
    with WrongEngine((), compare.is_near, lambda a, b: False).installed():
        assert not memo.cache_info().currsize
        compare.value(one)
    assert not memo.cache_info().currsize
