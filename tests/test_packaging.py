"""What pyproject.toml tells package indexes and installers."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tools import index_page

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
GROUPS = SETTINGS["dependency-groups"]
OF_USERS = [
    *PROJECT["dependencies"],
    *(word for words in PROJECT["optional-dependencies"].values() for word in words),
]


@pytest.mark.parametrize("requirement", OF_USERS)
def test_a_dependency_has_a_lower_and_an_upper_bound(requirement: str) -> None:
    assert re.fullmatch(r"[a-z0-9-]+(\[[a-z]+\])?>=[0-9.]+,<[0-9.]+(; .*)?", requirement)


def test_what_is_compiled_is_only_needed_where_it_has_a_wheel() -> None:
    """google-re2 has none for Alpine, which no marker can tell: it is an extra."""
    always = [word for word in PROJECT["dependencies"] if ";" not in word]
    assert {re.split("[<>=]", word)[0] for word in always} == {"lark", "rdflib", "sortedcontainers"}
    assert PROJECT["optional-dependencies"]["re2"]


def test_the_oldest_python_is_the_first_that_is_named() -> None:
    named = re.findall(r"Python :: 3\.(\d+)", "\n".join(PROJECT["classifiers"]))
    assert PROJECT["requires-python"] == f">=3.{named[0]}"
    assert list(map(int, named)) == list(range(int(named[0]), int(named[-1]) + 1))


@pytest.mark.parametrize("product", ["refengine", "conformance"])
def test_a_package_says_that_it_is_typed(product: str) -> None:
    assert "Typing :: Typed" in PROJECT["classifiers"]
    assert (ROOT / product / "py.typed").is_file()


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
DEV = GROUPS["dev"]


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


def test_what_development_needs_is_no_extra() -> None:
    assert not {"dev", *GROUPS} & set(PROJECT["optional-dependencies"])


def test_what_makes_a_release_is_pinned() -> None:
    assert all(re.fullmatch(r"[a-z-]+==[0-9.]+", word) for word in GROUPS["release"])


def test_the_lock_has_what_development_and_every_extra_need() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    locked = set(re.findall(r"^([a-z0-9-]+)==", lock, re.MULTILINE))
    names = {re.split(r"[\[<>=]", word)[0] for word in [*OF_USERS, *GROUPS["dev"]]}
    assert names <= locked


README = (ROOT / "README.md").read_text(encoding="utf-8")
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("project", ["", "https://example.org/somebody/refengine"])
def test_the_page_of_an_index_has_no_link_that_breaks(project: str) -> None:
    page = index_page.page_of(README, project, "v0.1.0")
    targets = LINK.findall(page)
    assert targets and all(target.startswith("https://") for target in targets)
    beside = [target for target in LINK.findall(README) if not target.startswith("https://")]
    assert len(beside) > 20
    shown = [target for target in targets if project and target.startswith(project)]
    assert len(shown) == (len(beside) if project else 0)
    for target in shown:
        assert (ROOT / re.sub(r".*/(blob|raw)/v0\.1\.0/", "", target)).exists()


def test_the_workflow_of_releases_holds_no_secret() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert "secrets." not in text and "password" not in text
    assert "id-token: write" in text and "attestations: true" in text


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
