"""Every wrong engine is caught by a case of the rule it breaks, and leaves no trace."""

from collections import Counter
from functools import cache

import pytest

from conformance import corpus
from conformance.wrong_engines import MINIATURES

PARAMETERS = pytest.mark.parametrize(
    "miniature",
    # By rule, so that one worker alone finds out which cases of the rule hold.
    [
        pytest.param(
            m,
            id=f"{m.rule}-{m.name.replace(' ', '-')}",
            marks=pytest.mark.xdist_group(f"miniatures of {m.rule}"),
        )
        for m in MINIATURES
    ],
)


@cache
def _cases():
    """{rule: its cases}."""
    cases = {}
    for case in corpus.cases():
        cases.setdefault(case.rule, []).append(case)
    return cases


@cache
def _holding(rule):
    """The cases of a rule that hold on the reference; of the others tests/corpus/test_cases.py
    tells.
    """
    return [case for case in _cases().get(rule, []) if _holds(case)]


def _holds(case):
    try:
        return not corpus.check(case)
    except Exception:  # a crash of the reference: tests/corpus/test_cases.py fails on it
        return False


@PARAMETERS
def test_miniature_is_caught_by_a_case_of_its_rule(miniature):
    """A crash of the wrong engine is an error of this test: only a difference, or a RefengineError,
    counts.
    """
    cases = _holding(miniature.rule)
    assert cases, f"{miniature.rule} has no case that holds"
    tried = []
    with miniature.installed():
        for case in cases:
            tried.append(case)
            if corpus.check(case):
                break
        else:
            pytest.fail(f"no case of {miniature.rule} notices: {miniature.name}")
    # What the wrong engine left in a cache would fail a case that holds on the reference.
    assert [line for case in tried for line in corpus.check(case)] == [], (
        "the wrong engine leaves a trace"
    )


@PARAMETERS
def test_miniature_says_what_it_is(miniature):
    assert miniature.wrong.__doc__, "the wrong definition has no docstring"
    assert miniature.seen, 'who was seen with the defect, or "none known"'
    assert miniature.target.startswith("refengine.")


def test_no_two_miniatures_share_a_name():
    assert [
        pair for pair, count in Counter((m.rule, m.name) for m in MINIATURES).items() if count > 1
    ] == []
