"""The command-line options of the suite, and their values in a run of pytest."""

from __future__ import annotations

from typing import Any

import pytest

from refengine_conformance_plugin import OPTIONS, TAKEN, explain_taken, name_of_value

# options that name a file to write
OUTPUTS = ("--results", "--report", "--diagnose")
# options that mean nothing without an engine
WITH_ENGINE = [option for option, words in OPTIONS.items() if words.get("default", []) == []]


def option_value(config: pytest.Config, option: str) -> Any:
    """Return the value of an option, None if it is not registered."""
    return getattr(config.option, name_of_value(option), None)


def names_engine(config: pytest.Config) -> bool:
    """Return whether the command line names an engine. Raises UsageError if it has other options of
    the suite, but names none.
    """
    if option_value(config, "--engine") or option_value(config, "--engine-command") is not None:
        return True
    if any(option_value(config, option) not in (None, False, []) for option in WITH_ENGINE):
        raise pytest.UsageError("no engine named: give --engine=NAME or --engine-command=COMMAND")
    return False


def explain_no_engine(config: pytest.Config) -> str:
    """Return why a run has no items: no engine is named, or options are not ours in this run."""
    if taken := config.stash.get(TAKEN, []):
        return explain_taken(taken)
    return "no engine named: give --engine=NAME, and --answers=DIR for a recorded one"
