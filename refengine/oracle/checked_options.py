"""§11 The options of a verdict as users give them: what is no value of an option is refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from refengine.model.compare import Mode
from refengine.model.entrance import mode_of
from refengine.model.errors import RefengineError
from refengine.model.messages import display, nearest
from refengine.sparql.witnesses import WITNESSES

OPTIONS = ("missing", "mode", "windows", "window_closure")


def check_options(options: Mapping[str, Any]) -> None:
    """ORA-1: Check the names of a verdict's options, and the value of `mode`; the trial checks the
    other values. Raises RefengineError.
    """
    for name in options:
        if name not in OPTIONS:
            reason = f"unknown option {name!r}{nearest(name, OPTIONS)}"
            raise RefengineError(reason, rule="ORA-1", place="judge")
    mode_of(options.get("mode", Mode.VALUE))


def check_witnesses(names: Collection[str]) -> None:
    """R2R-5: Check the names of witnesses. Raises RefengineError."""
    if isinstance(names, str) or not isinstance(names, Collection):
        reason = f'must be names, got {display(names)}; write ("rdflib", "pyoxigraph")'
        raise RefengineError(reason, rule="R2R-5", place="witnesses")
    for name in names:
        if name not in WITNESSES:
            reason = f"no witness {display(name)}{nearest(name, WITNESSES)}"
            raise RefengineError(reason, rule="R2R-5", place="witnesses")
