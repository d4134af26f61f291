"""A project of somebody else in whose environment this one is installed: its tests run as if we
were not there, also with a package `conformance` of its own and with plugins that have options of
our names. Ours run, or say in one line why not.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from refengine_conformance_plugin import OPTIONS

ROOT = Path(__file__).parents[1]
STRICT = ("-W", "error", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest")
# what pytest-reporter and pytest-smoke register, and an option with a value where ours has none
PLUGINS = {
    "reporting": 'parser.getgroup("reporter").addoption("--report", action="append")',
    "smoking": 'parser.getgroup("smoke").addoption("--smoke", nargs="?", const="1", default=None)',
    "resuming": 'parser.getgroup("resume").addoption("--resume", nargs=1)',
}
FORMS = {
    "package": ["conformance/__init__.py"],
    "package with a plugin": ["conformance/__init__.py", "conformance/plugin.py"],
    "module": ["conformance.py"],
    "folder": ["conformance/data.py"],  # Python takes our package before a folder that is none
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with one test of its own."""
    (tmp_path / "test_theirs.py").write_text("def test_theirs():\n    assert 1 + 1 == 2\n")
    return tmp_path


def shadow(project: Path, form: str) -> Path:
    """Give a project a `conformance` of its own, which nobody but it may import."""
    files = [project / name for name in FORMS[form]]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_text('raise RuntimeError("imported by somebody else")\n')
    return files[0]


def install_plugins(project: Path, *names: str) -> None:
    """Install plugins of others, as pip does: each a module and its entry point."""
    for name in names:
        (project / f"{name}.py").write_text(f"def pytest_addoption(parser):\n    {PLUGINS[name]}\n")
        info = project / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[pytest11]\n{name} = {name}\n")


def run(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in the folder of a project, as its author does."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "pytest", *STRICT, *words],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(project)},
    )


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    """Return the one line in which a run is refused."""
    assert done.returncode == pytest.ExitCode.USAGE_ERROR, done.stdout + done.stderr
    [line] = [line for line in done.stderr.splitlines() if line]
    return line.removeprefix("ERROR: ")


@pytest.mark.parametrize("form", FORMS)
def test_their_tests_run_beside_a_conformance_of_their_own(project, form):
    shadow(project, form)
    done = run(project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout and not done.stderr


def test_the_suite_runs_beside_a_folder_that_is_no_package(project):
    shadow(project, "folder")
    done = run(project, "--pyargs", "conformance", "--engine=reference", "--smoke")
    assert done.returncode == 0 and "9 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("form", [form for form in FORMS if form != "folder"])
def test_the_suite_says_in_one_line_that_it_is_hidden(project, form):
    file = shadow(project, form)
    line = refusal(run(project, "--engine=reference"))
    assert line.startswith(f"conformance is here another package, {file}, and hides the suite")
    assert "run this in another folder" in line


@pytest.mark.parametrize("form", FORMS)
def test_the_help_is_written_beside_a_conformance_of_their_own(project, form):
    shadow(project, form)
    done = run(project, "--help")
    assert done.returncode == 0 and not done.stderr


def test_their_options_stay_theirs(project):
    install_plugins(project, *PLUGINS)
    shadow(project, "package")
    done = run(project, "--report=page", "--smoke", "--resume", "x")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_every_option_has_a_name_that_nobody_else_has(project):
    install_plugins(project, *PLUGINS)
    done = run(project, "--help")
    assert done.returncode == 0, done.stderr
    names = {word.rstrip(",=").partition("=")[0] for word in done.stdout.split()}
    assert {option.replace("--", "--conformance-", 1) for option in OPTIONS} <= names


def test_the_suite_runs_beside_plugins_with_options_of_its_names(project):
    install_plugins(project, *PLUGINS)
    page = project / "page.html"
    done = run(
        project,
        *("--pyargs", "conformance", "--conformance-engine=reference", "--conformance-smoke"),
        f"--conformance-report={page}",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "9 passed" in done.stdout and page.is_file()


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        (
            ["--report=page.html"],
            "--report: an option of another plugin or conftest.py here; write "
            "--conformance-report for that of the suite",
        ),
        (
            ["--report=page.html", "--smoke"],
            "--smoke and --report: options of another plugin or conftest.py here; write "
            "--conformance-smoke and --conformance-report for those of the suite",
        ),
    ],
)
def test_a_clash_is_named_with_what_to_write(project, words, refused):
    install_plugins(project, "reporting", "smoking")
    assert refusal(run(project, "--engine=reference", *words)) == refused


def test_items_without_their_option_say_that_it_is_taken(project):
    (project / "conftest.py").write_text(
        'def pytest_addoption(parser):\n    parser.addoption("--engine", dest="motor")\n'
    )
    done = run(project, "-rs", "--pyargs", "conformance", ".", "--engine=theirs")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed, 1 skipped" in done.stdout
    assert "write --conformance-engine for that of the suite" in done.stdout
