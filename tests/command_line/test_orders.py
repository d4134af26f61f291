"""QUERY and the options in every order: `--semantics` takes several words, and leaves QUERY."""

from __future__ import annotations

import json
import re
from itertools import permutations
from pathlib import Path

import pytest

import conformance.__main__
import refengine.__main__
from conformance.command_line import truth

QUERY = """
windows = [{ stream = "s", kind = "time", size = 10, slide = 10 }]
body = "SELECT ?x WHERE { ?x <urn:p> ?y }"
"""


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """The current folder, with a query and a stream."""
    (tmp_path / "q.toml").write_text(QUERY)
    (tmp_path / "s.n3t").write_text('<urn:a> <urn:p> <urn:b> "3" .\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def orders(*parts: str) -> list[str]:
    """Every order of some parts of a command line."""
    return [" ".join(some) for some in permutations(parts)]


SEMANTICS = "--semantics csparql t0=0 report=window-close"
ORDERS = [
    *orders("--stream s.n3t", SEMANTICS, "--trace", "q.toml"),
    # the fields apart from the profile, as `--semantics=csparql` parts them, too
    *orders("--stream s.n3t", "--semantics=csparql", "t0=0 report=window-close", "q.toml"),
    *orders("--stream s.n3t", "--sem csparql", "t0=0", "report=window-close", "q.toml"),
]


@pytest.mark.parametrize("words", ORDERS)
def test_a_run_reads_its_words_in_every_order(here, monkeypatch, words):
    seen = []
    monkeypatch.setattr(refengine.__main__, "_run", seen.append)
    assert refengine.__main__.main(["run", *words.split()]) == 0
    [options] = seen
    profile, *fields = options.semantics
    assert (options.query, options.stream) == (Path("q.toml"), ["s.n3t"])
    assert (profile, sorted(fields)) == ("csparql", ["report=window-close", "t0=0"])


@pytest.mark.parametrize("words", orders("--semantics rsp-js r2s=Rstream", "--dialect cqels", "q"))
def test_a_rendering_reads_its_words_in_every_order(here, monkeypatch, words):
    seen = []
    monkeypatch.setattr(refengine.__main__, "_render", seen.append)
    assert refengine.__main__.main(["render", *words.split()]) == 0
    assert (seen[0].query, seen[0].semantics) == (Path("q"), ["rsp-js", "r2s=Rstream"])


@pytest.mark.parametrize("words", orders("--stream s", SEMANTICS, "-o out", "--parts 2", "q.toml"))
def test_ground_truth_reads_its_words_in_every_order(here, monkeypatch, words):
    seen = []
    monkeypatch.setattr(truth, "run", lambda options: seen.append(options) or 0)
    assert conformance.__main__.main(["truth", *words.split()]) == 0
    [options] = seen
    assert options.query == Path("q.toml") and options.semantics == SEMANTICS.split()[1:]


def printed_order(help_text: str) -> str:
    """The command line that the usage prints, with the values of this module."""
    usage = help_text.partition("\n\n")[0]
    values = {
        "--stream [NAME=]FILE": "--stream s.n3t",
        "--semantics PROFILE [key=value ...]": "--semantics csparql t0=0",
    }
    parts = re.findall("|".join(map(re.escape, (*values, "QUERY"))), " ".join(usage.split()))
    return " ".join(values.get(part, "q.toml") for part in parts)


def test_the_order_that_help_prints_gives_reports(here, capsys):
    with pytest.raises(SystemExit):
        refengine.__main__.main(["run", "--help"])
    words = printed_order(capsys.readouterr().out)
    assert words == "--stream s.n3t --semantics csparql t0=0 q.toml"
    assert refengine.__main__.main(["run", *words.split()]) == 0
    [line] = capsys.readouterr().out.splitlines()
    assert json.loads(line)["window"] == {"open": 0, "close": 10}


@pytest.mark.parametrize("name", ["a=b.toml", "./day=1/q.toml"])
@pytest.mark.parametrize("order", ["{q} {s}", "{s} {q}"])
def test_a_query_whose_path_has_an_equals_sign_is_known_by_its_file(here, capsys, name, order):
    (here / name).parent.mkdir(exist_ok=True)
    (here / name).write_text(QUERY)
    words = order.format(q=name, s="--semantics csparql t0=0").split()
    assert refengine.__main__.main(["run", "--stream", "s.n3t", *words]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--semantics csparql t0=0", "the following arguments are required: QUERY"),
        ("--semantics csparql t0=0 a=b.toml", "the following arguments are required: QUERY"),
        ("--semantics csparql t0=0 q.toml p.toml", "unrecognized arguments: p.toml"),
        ("q.toml p.toml --semantics csparql t0=0", "unrecognized arguments: p.toml"),
        (
            "q.toml --semantics csparql t0=0 --trase",
            "unrecognized arguments: --trase; did you mean '--trace'?\n",
        ),
        (
            "q.toml --semantics csparql t0=0 --secnds=3",
            "unrecognized arguments: --secnds=3; did you mean '--seconds'?\n",
        ),
    ],
)
def test_what_is_missing_or_too_much_is_said_as_ever(here, capsys, words, said):
    with pytest.raises(SystemExit) as ended:
        refengine.__main__.main(["run", "--stream", "s.n3t", *words.split()])
    assert ended.value.code == 2 and said in capsys.readouterr().err


def test_a_rendering_without_semantics_takes_no_fields(here, capsys):
    with pytest.raises(SystemExit):
        refengine.__main__.main(["render", "--dialect", "cqels", "q.toml", "r2s=Rstream"])
    assert "unrecognized arguments: r2s=Rstream" in capsys.readouterr().err


def test_a_word_that_is_no_field_is_told_where_query_is_elsewhere(here, capsys):
    words = "run q.toml --stream s.n3t --semantics csparql t0"
    assert refengine.__main__.main(words.split()) == 2
    assert "SEM-1: expected key=value, such as t0=0, got 't0'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        "run q.toml --stream s.n3t --semantics csparql t0=0 --nosuch",
        "profiles --nosuch",
    ],
)
def test_the_usage_of_an_unknown_option_is_that_of_the_sub_command(here, capsys, words):
    with pytest.raises(SystemExit):
        refengine.__main__.main(words.split())
    error = capsys.readouterr().err
    assert error.startswith(f"usage: refengine {words.split()[0]} ")
    assert error.endswith("unrecognized arguments: --nosuch\n")
