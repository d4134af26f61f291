"""The old name of `refengine.joins`."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from refengine import joins

if TYPE_CHECKING:  # to which every name is there
    from refengine.joins import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        if name not in vars(joins) or name.startswith("__"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        advice = "refengine.bounded is old: write refengine.joins"
        warnings.warn(advice, DeprecationWarning, stacklevel=2)
        return getattr(joins, name)
