"""What the command line of a run asks for beside the options of the suite: whether lists are to be
written, and how the same question is asked again.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator

import pytest

from conformance.plugin.options import OUTPUTS, option_value
from conformance.report.headline import AgainCommand, replay_command
from refengine_conformance_plugin import short_name

# options that a run of one case does not need; those that take a value
NOT_AGAIN = (*OUTPUTS, "--junitxml", "--junit-xml", "--baseline", "--resume", "--repeat", "-n")
WITH_VALUE = frozenset(NOT_AGAIN) - {"--resume"}


def asks_for_lists(config: pytest.Config) -> bool:
    """Return whether the command line asks for every list: by `-v`, or by `-r` with letters."""
    words = config.invocation_params.args
    asks_by_letters = any(str(word).startswith("-r") for word in words)
    return config.option.verbose > 0 or asks_by_letters


def again_command(config: pytest.Config, written: Collection[str]) -> AgainCommand:
    """Return a function that gives the command to ask the engine of a case again: by the file of
    results if that is written, else by the same command line for this case alone.
    """
    engines = option_value(config, "--engine") or []
    results = option_value(config, "--results")
    if "--results" in written and len(engines) == 1 and option_value(config, "--answers") is None:
        return lambda _, case: replay_command(results, case, engines[0])
    words = ["pytest", *_words_to_repeat(map(str, config.invocation_params.args))]
    return lambda _, case: shlex.join([*words, "-v", "-k", case])


def _words_to_repeat(words: Iterator[str]) -> Iterator[str]:
    """Yield the words of a command line but for the options that a run of one case does not need,
    and their values.
    """
    for word in words:
        name, is_joined, _ = word.partition("=")
        option = short_name(name)
        if option in NOT_AGAIN:
            if option in WITH_VALUE and not is_joined:
                next(words, None)
        elif not word.startswith("-n"):
            yield word
