"""What pyproject.toml tells package indexes and installers."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OF_USERS = [
    *PROJECT["dependencies"],
    *(
        word
        for extra, words in PROJECT["optional-dependencies"].items()
        if extra != "dev"
        for word in words
    ),
]


@pytest.mark.parametrize("requirement", OF_USERS)
def test_a_dependency_has_a_lower_and_an_upper_bound(requirement: str) -> None:
    assert re.fullmatch(r"[a-z0-9-]+(\[[a-z]+\])?>=[0-9.]+,<[0-9.]+(; .*)?", requirement)


def test_the_oldest_python_is_the_first_that_is_named() -> None:
    named = re.findall(r"Python :: 3\.(\d+)", "\n".join(PROJECT["classifiers"]))
    assert PROJECT["requires-python"] == f">=3.{named[0]}"
    assert list(map(int, named)) == list(range(int(named[0]), int(named[-1]) + 1))


@pytest.mark.parametrize("product", ["refengine", "conformance"])
def test_a_package_says_that_it_is_typed(product: str) -> None:
    assert "Typing :: Typed" in PROJECT["classifiers"]
    assert (ROOT / product / "py.typed").is_file()


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
DEV = PROJECT["optional-dependencies"]["dev"]


def made_by(makefile: str) -> set[str]:
    """Return the targets that `make help` lists."""
    return set(re.findall(r"^([a-z0-9]+):.*## ", makefile, re.MULTILINE))


TARGETS = made_by((ROOT / "Makefile").read_text(encoding="utf-8"))


def test_contributing_lists_every_target() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `make ([a-z0-9]+)` \|", page, re.MULTILINE)
    assert len(listed) == len(set(listed)) and set(listed) == TARGETS - {"help"}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_makes_what_there_is(workflow: Path) -> None:
    made = re.findall(r"run: make ([a-z0-9]+)", workflow.read_text(encoding="utf-8"))
    assert made and set(made) <= TARGETS


def test_a_workflow_tries_every_python_that_is_named() -> None:
    text = (ROOT / ".github" / "workflows" / "pull-request.yml").read_text(encoding="utf-8")
    [tried] = re.findall(r"python: \[(.*)\]", text)[:1]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert re.findall(r"[0-9.]+", tried) == named


def test_a_workflow_runs_the_first_example_of_the_readme() -> None:
    text = (ROOT / ".github" / "workflows" / "pull-request.yml").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [first, *_] = re.findall(r"^python -m (refengine run .*)$", readme, re.MULTILINE)
    assert f"run: {first}\n" in text


def test_one_ruff_is_pinned() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    [revision] = re.findall(r"ruff-pre-commit\n +rev: v(.*)", hooks)
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pins = [word for word in DEV if word.startswith(("ruff==", "mypy=="))]
    assert pins[0] == f"ruff=={revision}" and all(f"\n{pin} " in lock for pin in pins)


def test_the_citation_is_of_this_version() -> None:
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {PROJECT['version']}\n" in cited
    assert f"\nlicense: {PROJECT['license']}\n" in cited
