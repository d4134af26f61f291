"""§11 The options of a verdict as users give them: what is no value of an option is refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from refengine.core.semantics import Closure
from refengine.model.entrance import mode_of
from refengine.model.errors import RefengineError
from refengine.model.messages import display, nearest
from refengine.model.values import Mode
from refengine.sparql.witnesses import WITNESSES

OPTIONS = ("missing", "mode", "windows", "window_closure")


def check_options(options: Mapping[str, Any]) -> None:
    """ORA-1: Check the names of a verdict's options, and the values of `mode`, `windows` and
    `window_closure`. Raises RefengineError.
    """
    for name in options:
        if name not in OPTIONS:
            reason = f"unknown option {name!r}{nearest(name, OPTIONS)}"
            raise RefengineError(reason, rule="ORA-1", place="judge")
    mode_of(options.get("mode", Mode.VALUE))
    closure = options.get("window_closure")
    if closure is not None and not isinstance(closure, Closure):
        closures = " or ".join(f'Closure("{each}")' for each in Closure)
        reason = f"must be {closures}, got {display(closure)}"
        raise RefengineError(reason, rule="ORA-11", place="window_closure")
    windows = options.get("windows", ())
    if not isinstance(windows, Sequence) or not all(map(_are_borders, windows)):
        reason = f"must be pairs of integers, or None where none is stated, got {display(windows)}"
        raise RefengineError(f"{reason}; write [(0, 10), …]", rule="ORA-11", place="windows")


def _are_borders(value: object) -> bool:
    """Return whether a value is the borders of a window, or None."""
    if value is None:
        return True
    return (
        isinstance(value, Sequence)
        and len(value) == 2
        and all(isinstance(border, int) and not isinstance(border, bool) for border in value)
    )


def check_witnesses(names: Collection[str]) -> None:
    """R2R-5: Check the names of witnesses. Raises RefengineError."""
    if isinstance(names, str) or not isinstance(names, Collection):
        reason = f'must be names, got {display(names)}; write ("rdflib", "pyoxigraph")'
        raise RefengineError(reason, rule="R2R-5", place="witnesses")
    for name in names:
        if name not in WITNESSES:
            reason = f"no witness {display(name)}{nearest(name, WITNESSES)}"
            raise RefengineError(reason, rule="R2R-5", place="witnesses")
