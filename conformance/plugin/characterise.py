"""A run with `--characterise`: the engines are asked for their cards, and nothing is judged."""

from __future__ import annotations

import pytest

from conformance.plugin.options import names_engine, option_value
from refengine.model.errors import RefengineError


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Print the cards of the engines that the command line names, if it asks for them, and return
    the exit code; None for any other run. Raises UsageError for an engine that cannot be asked.
    """
    if not option_value(config, "--characterise") or not names_engine(config):
        return None
    from conformance.card.asking import startable
    from conformance.card.maker import make_cards
    from conformance.card.side_by_side import lines_of

    try:
        engines = [startable(name) for name in option_value(config, "--engine")]
    except RefengineError as error:
        raise pytest.UsageError(str(error)) from None
    for line in lines_of(make_cards(engines)):
        print(line)
    return 0
