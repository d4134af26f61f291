"""A command that needs an extra says in one line which, before it does anything."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUERY = ROOT / "conformance" / "queries" / "csrbench" / "Q3.toml"
STREAM = ROOT / "fixtures" / "csrbench"
PROGRAM_THAT_HIDES_MODULES = """
import contextlib, io, json, sys
product, modules, commands = sys.argv[1:]
sys.modules.update(dict.fromkeys(modules.split()))
main = getattr(__import__(product + ".__main__").__main__, "main")
for words in json.loads(commands):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = main(words)
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""  # noqa: E501
COMMANDS = {
    "csrbench": ["csrbench"],
    "secret": ["secret", "vectors.json"],
    "report": ["report", "results.ndjson", "-o", "out.html"],
    "shard": ["shard", "--engine=reference", "--smoke", "--spark", "local[1]", "-o", "out"],
    "truth": [
        *("truth", str(QUERY), "--stream", str(STREAM), "--spark", "local[1]", "-o", "out"),
        *("--semantics", "csparql", "t0=0"),
    ],
}
OF_SUITE = ("jinja2", "jsonschema", "psutil", "tqdm")
OF_SPARK = ("pyspark", "pandas", "pyarrow")
COMMANDS_OF_MODULE = {  # the names of the commands that need a module
    "tqdm": ("csrbench", "shard", "truth"),
    "jsonschema": ("secret", "report", "shard", "truth"),
    "jinja2": ("report",),
    "psutil": ("shard", "truth"),
    **{name: ("shard", "truth") for name in OF_SPARK},
}


def run_without_modules(
    product: str, modules: str, commands: list[list[str]], folder: Path
) -> list[str]:
    """Run commands one after the other in a Python in which some modules are not installed. Return
    the one line that each prints. Check that each ends with exit code 2 and leaves the folder
    empty.
    """
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM_THAT_HIDES_MODULES, product, modules, json.dumps(commands)],
        capture_output=True,
        text=True,
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    lines = []
    for printed in map(json.loads, done.stdout.splitlines()):
        code, out, err = printed
        assert (code, out) == (2, ""), err
        [line] = err.splitlines()
        lines.append(line)
    assert len(lines) == len(commands)
    assert not list(folder.iterdir())
    return lines


@pytest.mark.parametrize("module", COMMANDS_OF_MODULE)
def test_a_command_names_the_extra_that_it_needs(tmp_path, module):
    extra = "suite,spark" if module in OF_SPARK else "suite"
    commands = [COMMANDS[name] for name in COMMANDS_OF_MODULE[module]]
    for line in run_without_modules("conformance", module, commands, tmp_path):
        assert line.startswith("conformance: ")
        assert line.endswith(f": {module} is not installed: pip install 'refengine[{extra}]'")


def test_a_command_without_any_extra_ends_in_one_line(tmp_path):
    modules = " ".join(OF_SUITE + OF_SPARK)
    for line in run_without_modules("conformance", modules, [*COMMANDS.values()], tmp_path):
        assert " is not installed: pip install 'refengine[suite" in line


def test_the_reference_engine_needs_no_extra(tmp_path):
    modules = " ".join((*OF_SUITE, *OF_SPARK, "hypothesis", "pytest", "zstandard"))
    commands = [
        ["run", "q.toml", "--stream", "s.n3t", "--semantics", "csparql", "t0=0"],
        ["render", "q.toml", "--dialect", "cqels"],
    ]
    for line in run_without_modules("refengine", modules, commands, tmp_path):
        assert "cannot be read: No such file or directory" in line
