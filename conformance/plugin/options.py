"""The command-line options of the suite, and their values in a run of pytest."""

from __future__ import annotations

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
        "help": "the classpath of an engine that you build yourself (default: the environment "
        "variable CONFORMANCE_CLASSPATH_NAME). May be given several times",
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
# options that name a file to write
OUTPUTS = ("--results", "--report", "--diagnose")
# options that mean nothing without an engine
WITH_ENGINE = [option for option, words in OPTIONS.items() if words.get("default", []) == []]


def add_options(parser: pytest.Parser, args: list[str]) -> None:
    """Add the options of the suite, if a command line names one. They are added after those of the
    project under test, and not at all if that has an option of the same name.
    """
    is_named = any(word.partition("=")[0] in (*OPTIONS, "-h", "--help") for word in args)
    probes = [_probe(option, words) for option, words in OPTIONS.items()]
    if is_named and len(parser.parse_known_and_unknown_args(probes)[1]) == len(OPTIONS):
        group = parser.getgroup("conformance", "conformance of RDF stream engines")
        for option, words in OPTIONS.items():
            group.addoption(option, dest=_dest(option), **words)


def _probe(option: str, words: dict[str, Any]) -> str:
    """Return a word that gives an option on a command line, to try whether it is taken."""
    if words.get("action") == "store_true":
        return option
    if words.get("type") is int:
        return f"{option}=1"
    return f"{option}=x"


def _dest(option: str) -> str:
    """Return the name under which pytest keeps the value of an option."""
    return f"conformance_{option.removeprefix('--').replace('-', '_')}"


def option_value(config: pytest.Config, option: str) -> Any:
    """Return the value of an option, None if it is not registered."""
    return getattr(config.option, _dest(option), None)


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
    """Return why a run has no items: no engine is named, or the options are not registered."""
    is_registered = hasattr(config.option, _dest("--engine"))
    if not is_registered and any(config.getoption(option, None) for option in OPTIONS):
        return (
            "another plugin or a conftest.py here has an option of the same name as the suite: run "
            "the suite elsewhere"
        )
    return "no engine named: give --engine=NAME, and --answers=DIR for a recorded one"
