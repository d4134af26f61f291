"""A plan that trials share is the plan that each would make: PLAN_FIELDS has every field on which
it depends, except those of a window's frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from test_enumeration import draw_case, draw_case_of_each_window

from refengine.core import engine
from refengine.core.question import Question, Setting
from refengine.core.semantics import ENUMS, FIELDS, Semantics
from refengine.core.values import Closure
from refengine.model.errors import RefengineError
from refengine.oracle import answers
from refengine.oracle.answers import PLAN_FIELDS, SharedAnswers

DRAWS = 200
DRAWN = (draw_case, draw_case_of_each_window)
NUMBERS = (0, 1, 3, 50)


def changes_of(semantics: Semantics) -> Iterator[Semantics]:
    """Yield the semantics that differ in one field."""
    for name in FIELDS:
        for value in (*ENUMS.get(name, ()), *NUMBERS):
            try:
                yield replace(semantics, **{name: value})
            except RefengineError:  # no value of the field, or one that means nothing here
                continue


def plan_or_error(make) -> object:
    """Return a plan, or what is said where there is none."""
    try:
        return make()
    except RefengineError as error:
        return str(error)


def first_difference() -> tuple[Semantics, Semantics] | None:
    """Return two semantics of which the second gets another plan if the first was planned before;
    None if no draw has such.
    """
    draws = (draw(Random(number)) for number in range(DRAWS) for draw in DRAWN)
    for case in draws:
        if len(case.query.windows) > 1 or not isinstance(case.semantics.t0, int):
            continue
        question = Question(case.query, case.streams, case.static)
        for changed in changes_of(case.semantics):
            shared = SharedAnswers()
            plan_or_error(lambda: shared.plan(Setting(question, case.semantics)))  # noqa: B023
            found = plan_or_error(lambda: shared.plan(Setting(question, changed)))  # noqa: B023
            own = plan_or_error(lambda: engine.plan(case.query, case.streams, changed))  # noqa: B023
            if found != own:
                return case.semantics, changed
    return None


def test_a_shared_plan_is_the_plan_that_each_semantics_gives():
    assert first_difference() is None


@pytest.mark.parametrize("name", PLAN_FIELDS)
def test_a_field_that_a_plan_depends_on_is_missed(name: str, monkeypatch: pytest.MonkeyPatch):
    without = tuple(field for field in PLAN_FIELDS if field != name)
    monkeypatch.setattr(answers, "PLAN_FIELDS", without)
    found = first_difference()
    assert found is not None
    before, after = found
    assert getattr(before, name) != getattr(after, name)


def test_plans_over_the_same_elements_have_one_sequence_of_them_and_so_one_table_of_answers():
    """The closure decides no element, so the answers over a content serve both semantics."""
    case = draw_case(Random(0))
    question = Question(case.query, case.streams, case.static)
    shared = SharedAnswers()
    fields = {"t0": 0, "offset": None}
    views = [
        shared.plan(question.under(replace(case.semantics, closure=closure, **fields))).views
        for closure in Closure
    ]
    assert len({tuple(id(view.elements) for view in of_plan) for of_plan in views}) == 1
