"""A command that needs an extra says in one line which, before it does anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUERY = ROOT / "conformance" / "queries" / "csrbench" / "Q3.toml"
STREAM = ROOT / "fixtures" / "csrbench"
HIDING = """
import sys
product, modules, *words = sys.argv[1:]
sys.modules.update(dict.fromkeys(modules.split()))
sys.exit(getattr(__import__(product + ".__main__").__main__, "main")(words))
"""
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
NEEDED = [
    ("csrbench", "tqdm"),
    ("secret", "jsonschema"),
    ("report", "jinja2"),
    ("report", "jsonschema"),
    *[("shard", name) for name in ("jsonschema", "psutil", "tqdm", *OF_SPARK)],
    *[("truth", name) for name in ("jsonschema", "psutil", "tqdm", *OF_SPARK)],
]


def hidden(product: str, modules: str, words: list[str], folder: Path) -> list[str]:
    """The lines of a command that ends with exit code 2, where some modules are not installed."""
    done = subprocess.run(
        [sys.executable, "-c", HIDING, product, modules, *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    return done.stderr.splitlines()


@pytest.mark.parametrize(("command", "module"), NEEDED)
def test_a_command_names_the_extra_that_it_needs(tmp_path, command, module):
    [line] = hidden("conformance", module, COMMANDS[command], tmp_path)
    extra = "suite,spark" if module in OF_SPARK else "suite"
    assert line.startswith("conformance: ")
    assert line.endswith(f": {module} is not installed: pip install 'refengine[{extra}]'")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_without_any_extra_ends_in_one_line(tmp_path, command):
    [line] = hidden("conformance", " ".join(OF_SUITE + OF_SPARK), COMMANDS[command], tmp_path)
    assert " is not installed: pip install 'refengine[suite" in line


@pytest.mark.parametrize(
    "words",
    [
        ["run", "q.toml", "--stream", "s.n3t", "--semantics", "csparql", "t0=0"],
        ["render", "q.toml", "--dialect", "cqels"],
    ],
    ids=lambda words: words[0],
)
def test_the_reference_engine_needs_no_extra(tmp_path, words):
    everything = " ".join((*OF_SUITE, *OF_SPARK, "hypothesis", "pytest", "zstandard"))
    [line] = hidden("refengine", everything, words, tmp_path)
    assert "cannot be read: No such file or directory" in line
