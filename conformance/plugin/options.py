"""The command-line options of the suite, their values in a run of pytest, and the number of xdist's
workers over which a run is spread.
"""

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


def has_workers(config: pytest.Config) -> bool:
    """Return whether xdist spreads this run over workers, or this process is one of them."""
    return bool(getattr(config.option, "numprocesses", None)) or hasattr(config, "workerinput")


def leaves_workers_open(config: pytest.Config) -> bool:
    """Return whether xdist could spread this run, and the command line does not say whether and how
    it does. Recordings are judged too quickly to be spread.
    """
    option = config.option
    return (
        bool(option_value(config, "--engine"))
        and option_value(config, "--answers") is None
        and option_value(config, "--spark") is None
        and getattr(option, "numprocesses", 0) is None  # 0 stands for: xdist is not installed
        and option.dist == "no"
        and not (option.distload or option.tx or option.usepdb)
        and not hasattr(config, "workerinput")
    )


def most_processes(names: list[str]) -> int | None:
    """Return the largest number of processes that the files of some engines state; None if no file
    states more than one, or one cannot be read: pytest_configure says then what is wrong.
    """
    try:
        from conformance.harness import engine_file
        from refengine.model.errors import RefengineError
    except ModuleNotFoundError:
        return None
    try:
        count = max(engine_file.engine(name).processes for name in names)
    except RefengineError:
        return None
    return count if count > 1 else None
