"""Every command that a page shows is run here, or is in the list of what runs it or of what it
needs. Every other block of a page is of a kind that is run elsewhere, or is no command.
"""

from __future__ import annotations

import ast
import contextlib
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from suite_run import ROOT, run_suite

import conformance.__main__
import refengine.__main__
from refengine import cli

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "conformance" / "PROTOCOL.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# What the blocks of a kind are run by; None: they are no commands.
KINDS = {
    "python": "tests/command_line/test_readme.py::test_a_block_runs",
    "python spark": "tests/spark/test_pages_over_spark.py",
    "python harness": "tests/suite/test_window_suite.py",
    "toml": None,
    "sparql": None,
    "json": None,
}
# A line of a block without a kind is a command if it begins so; of one of `sh` each line is one.
PROGRAM = re.compile(
    r"(?:\S*/)?(?:python[\d.]*|pytest|pip|make|refengine(?:-conformance)?|git|cd|mkdir|export|eval"
    r"|sh|bash|venv-pack|spark-submit) (?! )|[A-Z_]+=\S+ |\(cd "
)


class RunBy(NamedTuple):
    """A command that a test runs, or all tests of a file."""

    test: str


class Needs(NamedTuple):
    """A command that a clone cannot run alone, and why."""

    reason: str


HERE = RunBy("tests/command_line/test_page_commands.py::test_a_command_runs")
QUICKSTART = RunBy("tests/command_line/test_page_commands.py::test_the_quickstart_is_what_one_sees")
BROUGHT = Needs("an engine that its user brings")
CHECKOUT = Needs("CSRBench's public repository, which `make evidence` judges where it is")

# The first pattern that is all of a command says what runs it.
LIST: tuple[tuple[str, RunBy | Needs], ...] = (
    (r"pytest conformance/ --engine=\S+ .*--spark\b.*", RunBy("tests/spark/test_shard.py")),
    (r"pytest conformance/ .*--resume", RunBy("tests/suite/test_interrupted.py")),
    (r"pytest conformance/ .*--answers=DIR", RunBy("tests/suite/test_suite.py")),
    (r"pytest conformance/ .* -n \d+", RunBy("tests/suite/test_blame.py")),
    (r"pytest conformance/ --engine=(reference|mine(/mine)?\.toml)\b.*", HERE),
    (r"pytest conformance/ --engine=rsp-js\b.*", QUICKSTART),
    (r"pytest conformance/ --engine=spark\b.*", RunBy("tests/harness/test_spark_engine.py")),
    (r"pytest conformance/ --engine=\S+.*", BROUGHT),
    (
        r"python -m refengine differ .*",
        RunBy("tests/command_line/test_differ_command.py"),
    ),
    (r"python -m refengine window .*", RunBy("tests/card/test_window_card.py")),
    (r"python -m refengine (run|infer|render|compile|profiles)\b.*", HERE),
    (r"python -m conformance replay .* --print \| .*", RunBy("tests/suite/test_replay.py")),
    (r"python -m conformance replay results.ndjson ORA-5-.*", QUICKSTART),
    (r"python -m conformance fuzz .*", RunBy("tests/campaigns/test_campaign.py")),
    (r"python -m conformance (new|replay|case|report) .*", HERE),
    (r"python -m conformance engines (list|doctor mine/mine\.toml)", HERE),
    (r"python -m conformance engines \w+ .*", RunBy("tests/engines/test_engines_command.py")),
    (
        r"python -m conformance check --formal .*",
        RunBy("tests/oracle/test_formal_certificates.py"),
    ),
    (
        r"python -(m conformance check|I \S+/checker.py) .*",
        RunBy("tests/oracle/test_certificates.py"),
    ),
    (r"python -m conformance csrbench --data \S+", CHECKOUT),
    (r"python -m conformance csrbench .*", RunBy("tests/bench/test_conformance.py")),
    (r"python -m conformance bench .*--recorded .*", RunBy("tests/bench/test_whole_tables.py")),
    (r"python -m conformance bench .*", RunBy("tests/bench/test_bench_run.py")),
    (r"python -m conformance bounded .*", RunBy("tests/bench/test_clock_sweep.py")),
    (r"python -m conformance adaptive .*", RunBy("tests/command_line/test_adaptive_command.py")),
    (r"python -m conformance export DIR.*", RunBy("tests/export/test_suite_data.py")),
    (r"python -m conformance shard .*", RunBy("tests/spark/test_shard.py")),
    (r"python -m conformance truth .*", RunBy("tests/spark/test_truth.py")),
    (r"\.venv/bin/python (-m )?tools.make_fixture(\.py)?", RunBy("tests/bench/test_fixtures.py")),
    (r"python[\d.]* -m venv env|env/bin/\S+ .*|mkdir env .*", RunBy("tests/packed_environment.py")),
    (
        r"export \S+|MAIN=\S+|([A-Z_]+=\S+ )?\S+/spark-submit .*",
        RunBy("tests/packed_environment.py"),
    ),
    (r"make setup && \. \.venv/bin/activate", Needs("a package index; `.ci/run` does it")),
    (r"(git clone|\(cd csrbench-oracle)\b.*", CHECKOUT),
)


def commands_of(text: str) -> Iterator[str]:
    """Yield the commands of a page, without comments and each on one line."""
    for kind, block in FENCE.findall(text):
        for line in re.sub(r" *\\\n *", " ", block).splitlines():
            command = re.sub(r"(^|\s+)#.*", "", line).strip()
            if command and (kind == "sh" or (kind == "" and PROGRAM.match(f"{command} "))):
                yield " ".join(command.split())


COMMANDS = sorted({one for page in PAGES for one in commands_of(page.read_text(encoding="utf-8"))})


def what_runs(command: str) -> RunBy | Needs | None:
    """Return what runs a command; None if it is neither in the list nor a target of make."""
    for pattern, runner in LIST:
        if re.fullmatch(pattern, command):
            return runner
    target = re.fullmatch(r"make (\w+)( \w+=\S+| \w+=\"[^\"]*\")*", command)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    if target and f"\n{target[1]}: " in makefile:
        return RunBy("Makefile")
    return None


RUN_HERE = [command for command in COMMANDS if what_runs(command) == HERE]


@pytest.mark.parametrize("command", COMMANDS)
def test_something_runs_a_command_or_it_says_what_it_needs(command: str) -> None:
    assert what_runs(command), "run this command in a test, or list it with what runs it"


@pytest.mark.parametrize(
    "command", ["make nothing", "pytest --lf", "python -m conformance nothing"]
)
def test_a_command_that_nothing_runs_is_noticed(command: str) -> None:
    [found] = commands_of(f"```sh\n{command}  # a comment\n```\n")
    assert found == command and what_runs(found) is None


def test_the_tests_that_run_a_command_are_there() -> None:
    named = [runner.test for _, runner in LIST if isinstance(runner, RunBy)]
    for test in [*named, *filter(None, KINDS.values())]:
        path, _, name = test.partition("::")
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        tests = {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}
        assert name in tests if name else any(one.startswith("test_") for one in tests), test


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_block_is_of_a_kind_that_is_known(page: Path) -> None:
    kinds = {kind for kind, _ in FENCE.findall(page.read_text(encoding="utf-8"))}
    assert kinds <= {*KINDS, "sh", ""}
    if page in (ROOT / "CONTRIBUTING.md", ROOT / "conformance" / "PROTOCOL.md"):
        assert not {kind for kind in kinds if KINDS.get(kind)}, "these pages' blocks are not run"


def test_a_block_of_commands_has_no_other_lines() -> None:
    """Else a command that begins in another way would be missed."""
    for page in PAGES:
        for kind, block in FENCE.findall(page.read_text(encoding="utf-8")):
            lines = [line for line in re.sub(r" *\\\n *", " ", block).splitlines() if line]
            if kind == "" and PROGRAM.match(f"{lines[0]} "):
                assert [line for line in lines if not PROGRAM.match(f"{line} ")] == [], page.name


# Options


@pytest.fixture(scope="module")
def options_of_pytest() -> set[str]:
    """The options that pytest has with the suite."""
    return {
        *re.findall(r"--[a-z][\w-]*", run_suite("--help", with_xdist=True).stdout),
        "--junitxml",
        "-n",
        "-k",
    }


@pytest.mark.parametrize("command", [one for one in COMMANDS if one.startswith("pytest ")])
def test_pytest_has_the_options_of_a_command(command: str, options_of_pytest: set[str]) -> None:
    shown = {word.partition("=")[0] for word in shlex.split(command) if word.startswith("-")}
    assert shown <= options_of_pytest


@pytest.mark.parametrize(
    "command", [one for one in COMMANDS if one.startswith("python -m conformance ")]
)
def test_the_suite_has_the_options_of_a_command(command: str) -> None:
    parser = cli.Parser()
    commands = parser.add_subparsers(dest="command", required=True)
    for each in conformance.__main__.COMMANDS.values():
        each.add_parser(commands)
    words = shlex.split(re.sub(r"\[(.*?)\]", r"\1", command).partition(" | ")[0])
    cli.parse(parser, words[3:])


# Runs

CASE = "WIN-2-an-element-on-the-border-of-two-closed-windows-belongs-to-both"
ENGINE = """title = "Mine"
command = ["{python}", "{adapters}/reference.py", "csparql", "t0=0"]
dialect = "table"
semantics = { profile = "csparql", t0 = 0 }
"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an engine file, and the results of two runs of the engine."""
    folder = tmp_path_factory.mktemp("prepared")
    (folder / "mine.toml").write_text(ENGINE, encoding="utf-8")
    done = run_suite(
        f"--engine={folder}/mine.toml", f"--results={folder}/results.ndjson", "-k", CASE
    )
    assert done.returncode == 0, done.stdout
    shutil.copy(folder / "results.ndjson", folder / "before.ndjson")
    for name in ("conformance", "fixtures"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def place(word: str, folder: Path) -> str:
    """Return a word of a command, with the path of a file in a folder, and with a case of ours."""
    option, equals, value = word.rpartition("=")
    if value == "CASE":
        return CASE
    endings = (".toml", ".ndjson", ".html", ".xml", ".ttl", ".md", ".svg")
    if value.endswith(endings) and not value.startswith("conformance/"):
        value = str(folder / Path(value).name)
    return f"{option}{equals}{value}"


@pytest.mark.parametrize("command", RUN_HERE)
def test_a_command_runs(command: str, prepared: Path, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    shutil.copytree(prepared, folder, symlinks=True)
    words = [place(word, folder) for word in shlex.split(command)]
    if words[0] == "pytest":
        few = () if "--smoke" in words else ("-k", CASE)  # not the whole corpus
        done = run_suite(*words[2:], *few)
        assert done.returncode == 0 and "conformance: " in done.stdout, done.stdout
        return
    mains = {"refengine": refengine.__main__.main, "conformance": conformance.__main__.main}
    with contextlib.chdir(folder):
        assert mains[words[2]](words[3:]) == 0


def test_the_quickstart_is_what_one_sees(
    rsp_js_installed: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each line of its blocks is one that its commands print, as far as it is not shortened."""
    page = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
    _, _, suite, replay = commands_of(page)
    out = run_suite(*[place(word, tmp_path) for word in shlex.split(suite)[2:]]).stdout
    words = [place(word, tmp_path) for word in shlex.split(replay)[3:]]
    capsys.readouterr()
    assert conformance.__main__.main(words) == 0
    printed = f"{out}\n{capsys.readouterr().out}".splitlines()
    shown = [line for kind, block in FENCE.findall(page) if not kind for line in block.splitlines()]
    assert len(shown) > 12
    for line in shown:
        pattern = ".*".join(map(re.escape, line.strip().split("…")))
        assert any(re.fullmatch(rf" *{pattern}", one) for one in printed), line
