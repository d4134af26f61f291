"""What an engine answers does not depend on what its process was asked before."""

from __future__ import annotations

import pytest
from faulty_library import library
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from conformance.campaigns.conversations import conversation_machine


def talk(engine, examples: int, steps: int = 8) -> None:
    """Talk to an engine in a few conversations, the same ones each time."""
    run_state_machine_as_test(
        conversation_machine(engine),
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            derandomize=True,
            phases=[Phase.generate],
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("name", ["reference", "reference-windows"])
def test_the_reference_engine_forgets_a_case(name):
    talk(name, 1, steps=14)


def test_an_engine_that_forgets_passes(tmp_path):
    talk(library(tmp_path / "a", "pass"), 3)


def test_an_engine_that_remembers_is_noticed(tmp_path):
    """From the second case on it loses an element on a border."""
    remembers = (
        "known = globals(); known['asked'] = known.get('asked', 0) + 1\n"
        "    lost = lambda one: known['asked'] > 1 and one.at % window.slide == 0"
    )
    with pytest.raises(AssertionError, match="answers otherwise after other cases"):
        talk(library(tmp_path / "a", remembers), 12, steps=10)


def test_a_defect_that_a_new_process_has_is_left_to_campaigns(tmp_path):
    talk(library(tmp_path / "a", "lost = lambda one: one.at % window.slide == 0"), 3)
