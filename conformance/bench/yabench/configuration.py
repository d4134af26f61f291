"""YABench's configurations: the tests of an experiment, as config.json of its runner or the same in
TOML (Kolchin, Wetz et al., ICWE 2016).
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from conformance.bench.benchmark import MOST_RUNS
from conformance.bench.yabench.generator import Parameters
from refengine.model.errors import RefengineError
from refengine.model.messages import display, nearest, why
from refengine.rdf.sources import read_text

GENERATOR = "SG1"
ORACLE_QUERY = "oracle.query"  # stands beside config.json
POLICIES = ("onwindowclose", "oncontentchange")
UNITS = {"": 1, "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}
KEYS = (
    "generator",
    "enginename",
    "seed",
    "duration",
    "interval",
    "stations",
    "min_temp",
    "max_temp",
    "inputstream",
    "runs",
    "boxplots",
    "graceful",
    "singleresult",
    "vars",
    "query",
)
WORDS = {"true": True, "false": False}
MOST_DRAWN = 2**31 - 1  # the generator draws integers of Java
MOST_TIME = 2**62  # in ms, so that an instant and a duration together are within 64 bits


@dataclass(frozen=True)
class TestSetup:
    """A test of an experiment.

    `size` and `slide` are those of its window, in ms. `query` is the SPARQL body, whose variables
    `${NAME}` have their values. The stream is that of `input_stream`, or that of the generator with
    `parameters`. `is_gracious` and `is_single_result` are options of YABench's oracle.
    """

    experiment: str
    name: str
    query: str
    size: int
    slide: int
    parameters: Parameters | None
    input_stream: Path | None = None
    runs: int = 1
    has_boxplots: bool = False
    is_gracious: bool = True
    is_single_result: bool = True
    engine_name: str = ""

    def name_of_run(self, number: int) -> str:
        """Return the end of the names of the files of a run. Runs count from 1: `big` of a test
        that is run once, else `big1`, `big2` and so on.
        """
        if self.runs == 1:
            return self.name
        return f"{self.name}{number}"


def check_names_of_runs(tests: Sequence[TestSetup]) -> None:
    """Raise RefengineError if the files of two runs of an experiment would have the same names:
    those of the first run of a test `x`, and those of a test `x1`.
    """
    names = Counter(
        (test.experiment, test.name_of_run(number))
        for test in tests
        for number in range(1, test.runs + 1)
    )
    if doubled := [name for (_, name), count in names.items() if count > 1]:
        raise _fault("tests", f"two runs would have the same files, QR_{doubled[0]}: rename a test")


def read_configuration(path: Path) -> list[TestSetup]:
    """Return the tests of a configuration, a file that ends in .json or .toml. The experiment has
    the file's name, or that of its folder for `config.json`.

    A key of a test takes precedence over the same key of the configuration. Raises RefengineError,
    which names file and key.
    """
    table = _read_table(path)
    name = path.stem
    if name == "config":
        name = path.absolute().parent.name
    try:
        return [_read_test(name, merged, path.parent) for merged in _merge_tables(table)]
    except RefengineError as error:
        raise error.at(str(path)) from None


def _read_table(path: Path) -> dict[str, Any]:
    """Return the table of a file. Raises RefengineError."""
    text = read_text(path, RefengineError, "configuration")
    form = "JSON"
    parse: Callable[[str], Any] = json.loads
    if path.suffix == ".toml":
        form = "TOML"
        parse = tomllib.loads
    try:
        table = parse(text)
    except (ValueError, RecursionError) as error:
        raise RefengineError(
            f"not {form}: {why(error)}", rule="configuration", place=str(path)
        ) from None
    if not isinstance(table, dict):
        raise RefengineError("expected an object", rule="configuration", place=str(path))
    return table


def _merge_tables(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the table of each test, with the keys of the configuration that it does not have
    itself. `vars` are merged name by name. Raises RefengineError for a key that YABench does not
    have.
    """
    tests = table.get("tests")
    if not isinstance(tests, list) or not tests:
        raise _fault("tests", "expected a list of tests")
    common = {key: value for key, value in table.items() if key != "tests"}
    merged = []
    _check_names(tests)
    _check_keys(common)
    for test in tests:
        _check_keys({key: value for key, value in test.items() if key != "name"})
        variables = {**common.get("vars", {}), **test.get("vars", {})}
        merged.append({**common, **test, "vars": variables})
    return merged


def _check_names(tests: Sequence[Any]) -> None:
    """Raise RefengineError unless each test is an object with a name of its own, which can be part
    of a file's name.
    """
    for number, test in enumerate(tests):
        if not isinstance(test, dict) or not isinstance(test.get("name"), str):
            raise _fault(f"tests[{number}]", "expected an object with a name")
        if not re.fullmatch(r"[\w-]{1,100}", test["name"], re.ASCII):
            reason = "expected letters, digits, hyphens and underscores"
            raise _fault(f"tests[{number}].name", f"{reason}, got {display(test['name'])}")
    names = Counter(test["name"] for test in tests)
    if doubled := [name for name, count in names.items() if count > 1]:
        raise _fault("tests", f"each test has a name of its own, got {display(doubled[0])} again")


def _check_keys(table: Mapping[str, Any]) -> None:
    """Raise RefengineError for an unknown key, or a value that is neither a text nor a number nor
    true or false; `vars` is a table of such values.
    """
    for key, value in table.items():
        if key.startswith("exec."):  # where YABench's own programs are
            continue
        if key not in KEYS:
            raise _fault(key, f"unknown key{nearest(key, KEYS)}")
        if key == "vars" and not isinstance(value, dict):
            raise _fault(key, f"expected an object, got {display(value)}")
        values = value.values() if key == "vars" else (value,)
        if not all(isinstance(one, str | int | float) for one in values):
            raise _fault(key, f"expected a text, a number, true or false, got {display(value)}")


def _read_test(experiment: str, table: Mapping[str, Any], folder: Path) -> TestSetup:
    """Return a test from its table. Raises RefengineError."""
    variables = {name: str(value) for name, value in table["vars"].items()}
    size = _read_duration("vars.WSIZE", variables.get("WSIZE"))
    policy = variables.get("WPOLICY", "").lower()
    if policy and policy not in POLICIES:
        raise _fault("vars.WPOLICY", f"expected {' or '.join(POLICIES)}, got {display(policy)}")
    stream = None
    if "inputstream" in table:
        stream = folder / str(table["inputstream"])
    return TestSetup(
        experiment,
        str(table["name"]),
        _read_query(table, variables, folder),
        size,
        _read_duration("vars.WSLIDE", variables.get("WSLIDE", variables.get("WSIZE"))),
        None if stream is not None else _read_parameters(table),
        stream,
        _read_runs(table),
        _read_flag(table, "boxplots", False),
        _read_flag(table, "graceful", True),
        _read_flag(table, "singleresult", True),
        str(table.get("enginename", "")),
    )


def _read_parameters(table: Mapping[str, Any]) -> Parameters:
    """Return the parameters of the generator. Raises RefengineError."""
    if table.get("generator", GENERATOR) != GENERATOR:
        raise _fault("generator", f"there is {GENERATOR} alone, got {display(table['generator'])}")
    lowest, highest = _read_integer(table, "min_temp", 0), _read_integer(table, "max_temp", 100)
    if not lowest < highest <= lowest + MOST_DRAWN:
        reason = f"must be > min_temp, by at most {MOST_DRAWN}, got {highest} and {lowest}"
        raise _fault("max_temp", reason)
    interval = _read_duration("interval", table.get("interval", "5m"))
    if interval > MOST_DRAWN:
        raise _fault("interval", f"must be at most {MOST_DRAWN} ms, got {interval}")
    return Parameters(
        _read_integer(table, "seed", None),
        _read_count(table, "stations", 10),
        _read_duration("duration", table.get("duration")),
        interval,
        lowest,
        highest,
    )


def _read_query(table: Mapping[str, Any], variables: Mapping[str, str], folder: Path) -> str:
    """Return the query of a test, with the values of its variables. Raises RefengineError."""
    text = table.get("query")
    if text is None:
        try:
            text = (folder / ORACLE_QUERY).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise _fault("query", f"there is none, and no {ORACLE_QUERY} beside: {error}") from None
    try:
        return Template(str(text)).substitute(variables)
    except KeyError as error:
        raise _fault("vars", f"the query needs a value for {error.args[0]}") from None
    except ValueError as error:
        raise _fault("query", str(error)) from None


def _read_duration(key: str, value: object) -> int:
    """Return a duration in ms: 200ms, 5s, 1m, 2h, or a number of ms. Raises RefengineError."""
    match = re.fullmatch(r"([0-9]{1,15})(ms|s|m|h|)", str(value), re.ASCII)
    if match is None or int(match[1]) == 0:
        raise _fault(key, f"expected a duration such as 5s, got {display(value)}")
    duration = int(match[1]) * UNITS[match[2]]
    if duration > MOST_TIME:
        raise _fault(key, f"must be at most {MOST_TIME} ms, got {display(value)}")
    return duration


def _read_integer(table: Mapping[str, Any], key: str, default: int | None) -> int:
    """Return an integer. Raises RefengineError."""
    value = table.get(key, default)
    if not re.fullmatch(r"-?[0-9]{1,18}", str(value), re.ASCII):
        raise _fault(key, f"expected an integer, got {display(value)}")
    return int(str(value))


def _read_count(table: Mapping[str, Any], key: str, default: int) -> int:
    """Return an integer > 0. Raises RefengineError."""
    count = _read_integer(table, key, default)
    if count < 1:
        raise _fault(key, f"must be > 0, got {count}")
    return count


def _read_runs(table: Mapping[str, Any]) -> int:
    """Return how often a test is run. Raises RefengineError."""
    runs = _read_count(table, "runs", 1)
    if runs > MOST_RUNS:
        raise _fault("runs", f"must be <= {MOST_RUNS}, got {runs}")
    return runs


def _read_flag(table: Mapping[str, Any], key: str, default: bool) -> bool:
    """Return the truth of `true` or `false`. Raises RefengineError."""
    word = str(table.get(key, default)).lower()
    if word not in WORDS:
        raise _fault(key, f"expected true or false, got {display(table[key])}")
    return WORDS[word]


def _fault(key: str, reason: str) -> RefengineError:
    """Return the error of a key."""
    return RefengineError(reason, rule="configuration", place=key)


def read_experiments_of_paper(names: Sequence[str] = ()) -> list[TestSetup]:
    """Return the tests of the paper's experiments, or of some of them, in the order of their
    names.
    """
    folder = Path(__file__).parent / "experiments"
    files = sorted(folder.glob("*.toml"))
    return [
        test
        for file in files
        if not names or file.stem in names
        for test in read_configuration(file)
    ]
