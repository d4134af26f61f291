"""The pytest plugin that every run in the environment loads: it has the options of the suite, and
loads the suite, `conformance.plugin.hooks`, where one of them is given or its items are collected.

Nothing of the suite is imported before. A project may have a package `conformance` of its own, and
plugins with options of the same names as ours: no run of theirs notices this module. Each option
has a name that nobody else has, such as `--conformance-report`; the short one, `--report`, is ours
where no other plugin and no conftest.py has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

OPTIONS: dict[str, dict[str, Any]] = {
    "--engine": {
        "action": "append",
        "default": [],
        "metavar": "NAME",
        "help": "the engine to judge: its name, or its engine file (*.toml). May be given several "
        "times",
    },
    "--answers": {
        "metavar": "DIR",
        "help": "judge the recordings of the engine in DIR, and do not start it. DIR has "
        "CSRBench's layout, or YABench's QR_ files",
    },
    "--engine-command": {
        "metavar": "COMMAND",
        "help": "judge an engine that has no engine file: start its harness with COMMAND, without "
        "a shell",
    },
    "--engine-dialect": {
        "default": "rspql",
        "metavar": "DIALECT",
        "help": "with --engine-command: the query language that the harness reads (default: rspql)",
    },
    "--engine-semantics": {
        "default": "csparql",
        "metavar": "WORDS",
        "help": "with --engine-command: the semantics that the engine claims, a profile and "
        "key=value words in quotes (default: csparql)",
    },
    "--engine-classpath": {
        "action": "append",
        "default": [],
        "metavar": "NAME=PATH",
        "help": "where an engine is that you bring: a class path, a folder or a program (default: "
        "the environment variable CONFORMANCE_CLASSPATH_NAME). May be given several times",
    },
    "--missing": {
        "type": int,
        "metavar": "K",
        "help": "allow at most K outputs to be missing at each end (default: 0 for an engine that "
        "is started, 1 for a recording; for YABench's recordings 1 at the end only)",
    },
    "--csrbench": {
        "metavar": "DIR",
        "help": "the folder of CSRBench's own stream, for engines that are started (default: a "
        "small stream that comes with the suite)",
    },
    "--smoke": {"action": "store_true", "help": "run a dozen cases only, for a first look"},
    "--results": {
        "metavar": "FILE",
        "help": "write every result to FILE, as a line of JSON; until the run "
        "ends, FILE.partial has the results so far. An interrupted run writes those that it has to "
        "FILE, and leaves FILE.partial as a sign that they are not all",
    },
    "--certificates": {
        "metavar": "DIR",
        "help": "write the certificate of every verdict into the folder DIR; `python -m "
        "conformance check` checks it",
    },
    "--resume": {
        "action": "store_true",
        "help": "go on with an interrupted run: take the results so far from FILE.partial",
    },
    "--repeat": {
        "type": int,
        "metavar": "N",
        "help": "ask each question N times; a case whose verdicts differ is unstable (default: 1)",
    },
    "--baseline": {
        "metavar": "RESULTS",
        "help": "say which results are new, broken, fixed or changed since those in this file, at "
        "the end of the run and on the page of --report",
    },
    "--diagnose": {
        "metavar": "FILE",
        "help": "write to FILE the entries of [[deviations]] that the diagnosis of the run has "
        "found, to put into the engine's file",
    },
    "--characterise": {
        "action": "store_true",
        "help": "judge nothing: ask the engines about small streams, and print which semantics "
        "they have",
    },
    "--no-diagnosis": {
        "action": "store_true",
        "help": "look for no causes of the fails, which can take longer than the run",
    },
    "--report": {"metavar": "FILE", "help": "write all results to FILE, as one page in HTML"},
    "--spark": {
        "nargs": "?",
        "const": "",
        "metavar": "MASTER",
        "help": "spread the items over Spark: local[2], spark://HOST:PORT, sc://HOST:PORT "
        "(default: as Spark is configured)",
    },
    "--allow-missing": {
        "action": "store_true",
        "help": "do not end with exit code 4 if every item of an engine is skipped",
    },
}
PREFIX = "--conformance-"
SUITE = "conformance.plugin"
ITEMS = "test_engines.py"  # the module of the suite that has its items
HELP = ("-h", "--help")
# short names on the command line that another plugin or conftest.py has
TAKEN: pytest.StashKey[list[str]] = pytest.StashKey()


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Iterator[None]:
    """Add the options of the suite, after those of the project under test, if the command line
    names one that is ours. Raises UsageError if the suite is not there, or if a short name that the
    command line has is not ours.
    """
    result = yield
    words = [word.partition("=")[0] for word in args]
    taken = [option for option in OPTIONS if option in words and not is_free(parser, option)]
    early_config.stash[TAKEN] = taken
    if is_asked(words, taken) or is_worker(early_config):
        load_suite(early_config)
        add_options(parser)
        if taken:
            raise pytest.UsageError(explain_taken(taken))
    elif set(words) & set(HELP) and why_no_suite() is None:
        add_options(parser)
    return result


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> None:
    """Load the suite before its items are collected."""
    if module_path.name == ITEMS and why_no_suite() is None and module_path.parent in folders():
        load_suite(parent.config)


def is_asked(words: list[str], taken: list[str]) -> bool:
    """Return whether some words of a command line ask for the suite by an option of it."""
    return any(
        long_name(option) in words or (option in words and option not in taken)
        for option in OPTIONS
    )


def is_worker(config: pytest.Config) -> bool:
    """Return whether a process is a worker of xdist in a run of the suite. It is given values, not
    the command line.
    """
    return hasattr(config.option, name_of_value("--engine"))


def is_free(parser: pytest.Parser, option: str) -> bool:
    """Return whether nobody else has an option of this name."""
    try:
        return bool(parser.parse_known_and_unknown_args([f"{option}=1"])[1])
    except pytest.UsageError:  # it takes no value, or another one
        return False


def add_options(parser: pytest.Parser) -> None:
    """Add each option of the suite by its long name, and by its short one where that is free."""
    group = parser.getgroup("conformance", "conformance of RDF stream engines")
    for option, words in OPTIONS.items():
        names = [long_name(option), *[option] * is_free(parser, option)]
        group.addoption(*names, dest=name_of_value(option), **words)


def load_suite(config: pytest.Config) -> None:
    """Make the suite a plugin of this run. Raises UsageError if it is not there."""
    if (reason := why_no_suite()) is not None:
        raise pytest.UsageError(reason)
    if not config.pluginmanager.has_plugin(SUITE):
        config.pluginmanager.register(import_module(f"{SUITE}.hooks"), SUITE)
        cards = f"{SUITE}.characterise"
        config.pluginmanager.register(import_module(cards), cards)


def why_no_suite() -> str | None:
    """Return why the suite cannot be loaded: the package `conformance` is another one. None if it
    can be. It is not imported.
    """
    from refengine.model.libraries import why_shadowed

    return why_shadowed(SUITE)


def folders() -> list[Path]:
    """Return the folders of the package `conformance`."""
    from refengine.model.libraries import folders_of

    return folders_of("conformance")


def long_name(option: str) -> str:
    """Return the name of an option that no other plugin has."""
    return PREFIX + option.removeprefix("--")


def name_of_value(option: str) -> str:
    """Return the name under which pytest keeps the value of an option."""
    return long_name(option).removeprefix("--").replace("-", "_")


def explain_taken(options: list[str]) -> str:
    """Return what to write for short names that are not ours in this run."""
    names = " and ".join(options)
    longs = " and ".join(map(long_name, options))
    what, those = ("options", "those") if len(options) > 1 else ("an option", "that")
    return (
        f"{names}: {what} of another plugin or conftest.py here; "
        f"write {longs} for {those} of the suite"
    )
