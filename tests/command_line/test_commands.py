"""The sub-commands of `refengine`: its own, those that the suite adds by entry points, what
completes them in a shell, and the nearest one where a word is none.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import conformance.__main__
from refengine import __main__ as command_line

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def run(*words: str, folder: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m refengine` as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "refengine", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )


def said(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the last line on standard error of a command line that is refused."""
    with pytest.raises(SystemExit) as ended:
        command_line.main(words)
    assert ended.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


def test_every_command_of_the_suite_is_one_of_refengine() -> None:
    points = PROJECT["entry-points"]["refengine.commands"]
    assert points == {
        name: module.__name__ for name, module in conformance.__main__.COMMANDS.items()
    }
    assert not set(points) & set(command_line.OWN)


def test_no_script_has_a_name_of_somebody_else() -> None:
    assert set(PROJECT["scripts"]) == {"refengine", "refengine-conformance"}


def test_the_help_lists_the_commands_of_both(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command_line.main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    for name in (*command_line.OWN, *conformance.__main__.COMMANDS):
        assert f"\n    {name} " in shown


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        (["rnu"], "run"),
        (["bnch"], "bench"),
        (["engines", "instal"], "install"),
        (["render", "q.toml", "--dialect", "rspq"], "rspql"),
        (["completion", "zhs"], "zsh"),
    ],
)
def test_the_nearest_word_is_named(
    words: list[str], nearest: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(words, capsys).endswith(f"; did you mean '{nearest}'?")


def test_a_command_of_the_suite_says_which_command_line_it_is_of(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert said(["bench"], capsys).startswith("refengine bench: error: ")


def test_the_words_of_test_are_those_of_pytest(tmp_path: Path) -> None:
    results = tmp_path / "results.ndjson"
    words = ("--engine=reference", "--smoke", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")
    done = run("test", *words, f"--results={results}", "-W", "error")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "9 passed" in done.stdout and len(results.read_text().splitlines()) == 9
    done = run("test", "--engine=nowhere.toml", "-p", "no:cacheprovider")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR and "nowhere.toml" in done.stderr


def test_a_command_of_a_hidden_suite_is_refused_in_one_line(tmp_path: Path) -> None:
    theirs = tmp_path / "conformance" / "__init__.py"
    theirs.parent.mkdir()
    theirs.write_text('raise RuntimeError("imported by somebody else")\n')
    done = run("bench", "lsbench", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"refengine: usage: bench: conformance is here another package, {theirs}, and hides the "
        "suite that refengine brings: run this in another folder, or in an environment without "
        "it\n"
    )
    assert run("profiles", folder=tmp_path).returncode == 0
    done = run("--help", folder=tmp_path, COLUMNS="500")
    assert done.returncode == 0 and f"another package, {theirs}, and hides" in done.stdout


@pytest.mark.parametrize("shell", ["bash", "tcsh", "zsh"])
def test_a_shell_can_complete_commands_and_options(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(word in script for word in ("semantics", "engines", "rspql", "witness"))


def test_bash_completes_a_command() -> None:
    script = run("completion", "bash").stdout
    asked = 'COMP_WORDS=(refengine be); COMP_CWORD=1; _shtab_refengine; echo "${COMPREPLY[*]}"'
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{asked}"], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == ["bench"], done.stderr
