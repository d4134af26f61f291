"""A library that is not there, or in another version than is wanted, is named in one sentence; and
what libraries warn of reaches neither verdicts nor users.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import tomllib
import warnings
from pathlib import Path

import pytest

from refengine import Body, literal
from refengine.core import r2r
from refengine.model import libraries
from refengine.model.libraries import is_within, without_warnings
from refengine.sparql import witnesses

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# hides modules; gives distributions other versions; runs a command
PROGRAM = """
import json, sys
from importlib import metadata
product, hidden, versions, words = sys.argv[1], *map(json.loads, sys.argv[2:])
sys.modules.update(dict.fromkeys(hidden))
installed = metadata.version
metadata.version = lambda name: versions.get(name) or installed(name)
main = getattr(__import__(product + ".__main__").__main__, "main")
sys.exit(main(words))
"""
WANTED = dict(libraries.REQUIREMENTS)
NO_RDFLIB = "rdflib is not installed: pip install 'rdflib>=7.6,<8'"
NO_PYOXIGRAPH = "pyoxigraph is not installed: pip install 'pyoxigraph>=0.5,<0.6'"
OLD_RDFLIB = "rdflib 6.3.2 is installed, which is not rdflib>=7.6,<8: pip install 'rdflib>=7.6,<8'"


def run(
    *words: str,
    product: str = "refengine",
    hidden: tuple[str, ...] = (),
    versions: dict[str, str] | None = None,
    options: tuple[str, ...] = (),
) -> subprocess.CompletedProcess[str]:
    """Run a command in a Python in which some modules are not installed, or are of a version."""
    return subprocess.run(
        [
            *(sys.executable, *options, "-c", PROGRAM, product),
            *map(json.dumps, (hidden, versions or {}, words)),
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=120,
    )


@pytest.fixture
def question(tmp_path: Path) -> list[str]:
    """Return the words of a command that answers one row over one window."""
    query = tmp_path / "q.toml"
    query.write_text(
        'windows = [{ stream = "s", kind = "time", size = 10, slide = 10 }]\n'
        'body = "SELECT ?x { ?x <urn:p> ?y }"\n'
    )
    stream = tmp_path / "s.n3t"
    stream.write_text('<urn:a> <urn:p> "1" "1" .\n')
    return ["run", str(query), "--stream", str(stream), "--semantics", "csparql", "t0=0"]


@pytest.mark.parametrize(
    ("hidden", "versions", "witness", "note"),
    [
        (("rdflib",), {}, "pyoxigraph", f"rdflib is not asked as a witness: {NO_RDFLIB}"),
        ((), {"rdflib": "6.3.2"}, "pyoxigraph", f"rdflib is not asked as a witness: {OLD_RDFLIB}"),
        (
            ("pyoxigraph",),
            {},
            "rdflib",
            f"pyoxigraph is not asked as a witness: {NO_PYOXIGRAPH}",
        ),
    ],
)
def test_a_run_says_once_which_witness_was_not_there(
    question: list[str],
    hidden: tuple[str, ...],
    versions: dict[str, str],
    witness: str,
    note: str,
) -> None:
    done = run(*question, hidden=hidden, versions=versions)
    assert done.returncode == 0
    (report,) = map(json.loads, done.stdout.splitlines())
    assert report["witnesses"] == [witness]
    first, last = done.stderr.splitlines()
    assert first == f"refengine: note: {note}"
    assert last.startswith("refengine: provenance: ")


def test_a_run_without_any_witness_is_refused(question: list[str]) -> None:
    done = run(*question, hidden=("rdflib", "pyoxigraph"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (f"refengine: R2R-5: no witness is there: {NO_RDFLIB}; {NO_PYOXIGRAPH}\n")
    done = run(*question, "--witness", "rdflib", versions={"rdflib": "8.0"})
    assert done.returncode == 2 and "rdflib 8.0 is installed, which is not" in done.stderr


@pytest.mark.parametrize("module", ["lark", "sortedcontainers"])
def test_a_run_without_a_library_that_it_needs_ends_in_one_sentence(
    question: list[str], module: str
) -> None:
    done = run(*question, hidden=(module,))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"refengine: usage: {module} is not installed: pip install '{WANTED[module]}'\n"
    )


def test_turtle_is_read_without_pyoxigraph(question: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "turtle"
    folder.mkdir()
    (folder / "data_01.ttl").write_text("<urn:a> <urn:p> 1 .")
    question[3] = str(folder)
    done = run(*question, hidden=("pyoxigraph", "re2"))
    same = run(*question)
    assert done.returncode == same.returncode, done.stderr
    assert NO_PYOXIGRAPH in done.stderr.splitlines()[0]
    only = [json.loads(line) | {"witnesses": ["rdflib"]} for line in same.stdout.splitlines()]
    assert list(map(json.loads, done.stdout.splitlines())) == only


@pytest.mark.parametrize("product", ["refengine", "conformance"])
@pytest.mark.parametrize("module", WANTED)
def test_the_version_is_told_or_one_sentence_says_what_is_missing(
    product: str, module: str
) -> None:
    done = run("--version", product=product, hidden=(module,))
    if done.returncode == 0:
        assert (done.stdout, done.stderr) == ("refengine 0.1.0\n", "")
    else:
        assert (done.returncode, done.stdout) == (2, "")
        (line,) = done.stderr.splitlines()
        assert line == f"{product}: usage: {libraries.say_not_installed(module)}"


def test_a_command_that_judges_says_which_witness_was_not_there(tmp_path: Path) -> None:
    done = run("csrbench", str(tmp_path), product="conformance", hidden=("rdflib",))
    assert done.stderr.splitlines()[0] == (
        f"conformance: note: rdflib is not asked as a witness: {NO_RDFLIB}"
    )
    assert done.stderr.count("is not asked as a witness") == 1


def test_a_verdict_names_the_witness_that_was_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        witnesses, "why_unusable", lambda name: NO_RDFLIB if name == "rdflib" else None
    )
    testimony = r2r.hear_witnesses(
        Body("SELECT ?x { ?x <urn:p> ?y }"), frozenset({("<urn:a>", "<urn:p>", literal("1"))})
    )
    assert testimony.confirming == ("pyoxigraph",)
    assert testimony.others == {"rdflib": NO_RDFLIB}


def test_what_is_wanted_is_what_the_project_declares() -> None:
    declared = [word.partition(";")[0] for word in PROJECT["dependencies"]]
    assert sorted(libraries.REQUIREMENTS.values()) == sorted(declared)
    extras = PROJECT["optional-dependencies"]
    for module, extra in libraries.EXTRAS.items():
        declared = " ".join(name for part in extra.split(",") for name in extras[part])
        assert module in declared or module in ("markupsafe", "grpc", "numpy"), module


@pytest.mark.parametrize(
    ("version", "is_wanted"),
    [
        ("7.6", True),
        ("7.6.0", True),
        ("7.10.1", True),
        ("7.5.9", False),
        ("6.3.2", False),
        ("8", False),
        ("8.0.0a1", False),
    ],
)
def test_versions_are_compared_by_their_numbers(version: str, is_wanted: bool) -> None:
    assert is_within(version, "rdflib>=7.6,<8") is is_wanted


# Warnings


def answer_and_warn(*_: object) -> object:
    """Answer as pyoxigraph does, and warn as rdflib's REPLACE does on Python 3.13."""
    warnings.warn("'count' is passed as positional argument", DeprecationWarning, stacklevel=1)
    warnings.warn("that will change", FutureWarning, stacklevel=1)
    return witnesses.WITNESSES["pyoxigraph"](*_)  # type: ignore[arg-type]


def test_a_witness_that_warns_confirms_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The filters make errors of warnings here, as `python -W error` does."""
    monkeypatch.setitem(witnesses.WITNESSES, "rdflib", answer_and_warn)  # type: ignore[arg-type]
    body = Body("SELECT (REPLACE('a0', '0', 'x') AS ?r) {}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = list(warnings.filters)
        testimony = r2r.hear_witnesses(body, frozenset(), ("rdflib",))
        assert warnings.filters == before
    assert testimony.confirming == ("rdflib",)


def test_warnings_of_libraries_reach_no_user(question: list[str]) -> None:
    done = run(*question, options=("-W", "error"))
    assert done.returncode == 0
    (report,) = map(json.loads, done.stdout.splitlines())
    assert report["witnesses"] == ["rdflib", "pyoxigraph"]


def test_our_own_files_that_are_not_closed_are_still_warned_of() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with without_warnings():
            warnings.warn("not closed", ResourceWarning, stacklevel=1)
            warnings.warn("old", DeprecationWarning, stacklevel=1)
    assert [each.category for each in caught] == [ResourceWarning]


def test_the_filters_are_what_they_were_after_several_threads() -> None:
    before = list(warnings.filters)
    started = threading.Barrier(4, timeout=60)
    failures = []

    def work() -> None:
        started.wait()
        for _ in range(200):
            with without_warnings():
                try:
                    warnings.warn("old", DeprecationWarning, stacklevel=1)
                except DeprecationWarning as error:
                    failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert warnings.filters == before
