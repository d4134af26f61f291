"""What sub-commands have in common: where they are added, and a bound that some take."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Protocol

from refengine.model.errors import RefengineError

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


class Command(Protocol):
    """A module of a sub-command."""

    def add_parser(self, commands: Commands) -> None:
        """Add the sub-command and its options."""

    def run(self, options: argparse.Namespace) -> int:
        """Do what is asked for; the exit code."""


def check_missing(missing: int | None) -> None:
    """Raise RefengineError for a bound of missing outputs that is none."""
    if missing is not None and missing < 0:
        raise RefengineError(f"must be >= 0, got {missing}", rule="ORA-3", place="--missing")
