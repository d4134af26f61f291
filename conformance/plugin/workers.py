"""Over how many of xdist's workers a run is spread."""

from __future__ import annotations

import pytest

from conformance.plugin.options import option_value


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
