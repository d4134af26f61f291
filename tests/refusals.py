"""What is refused, and how."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from refengine.model.errors import RefengineError


def refusal(call: Callable[[], object], kind: type[RefengineError] = RefengineError) -> str:
    """Return the message with which a call is refused, by an error of a kind."""
    with pytest.raises(kind) as refused:
        call()
    return str(refused.value)
