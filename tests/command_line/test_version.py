"""`--version` of both command lines: the distribution that is installed, whichever is asked."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import conformance.__main__
import refengine.__main__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PRODUCTS = ("refengine", "conformance")
MAINS = {"refengine": refengine.__main__.main, "conformance": conformance.__main__.main}


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_module_tells_the_version_of_the_distribution(product):
    done = subprocess.run(
        [sys.executable, "-m", product, "--version"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{PROJECT['name']} {metadata.version(PROJECT['name'])}\n"


SCRIPTS = {"refengine": "refengine", "conformance": "refengine-conformance"}


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_console_script_is_the_same_command_line(product):
    name = SCRIPTS[product]
    [script] = [
        point
        for point in metadata.entry_points(group="console_scripts")
        if point.name == name and point.value == PROJECT["scripts"][name]
    ]
    assert script.load() is MAINS[product]


@pytest.mark.parametrize("product", PRODUCTS)
def test_code_that_is_not_installed_says_so_in_one_line(product, capsys, monkeypatch):
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    with pytest.raises(SystemExit) as ended:
        MAINS[product](["--version"])
    out, err = capsys.readouterr()
    assert (
        ended.value.code == 2
        and not out
        and err
        == (
            f"{SCRIPTS[product]}: usage: the version is not known: this code is not installed "
            "(pip install -e .)\n"
        )
    )
