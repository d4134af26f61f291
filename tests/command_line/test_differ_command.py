"""`refengine differ`: what it prints, its exit codes, and the case that it writes."""

from __future__ import annotations

import tomllib

import pytest

from conformance.corpus.case_file import lint
from refengine.__main__ import main

FEW = ("--elements", "1")


def test_the_two_answers_stand_one_after_the_other(capsys, tmp_path):
    """An element at 0 is in [0, 4) and not in (0, 4]."""
    case = tmp_path / "case.toml"
    code = main(["differ", "csparql t0=0", "csparql t0=0 closure=(]", *FEW, "--case", str(case)])
    assert code == 1
    assert capsys.readouterr().out.splitlines() == [
        "They differ on 1 element, and on no stream of fewer:",
        "  at 0: <urn:x1> <urn:p> <urn:y1>",
        "A, csparql t0=0:",
        "  1. 1 row: {x: <urn:x1>}",
        "B, csparql t0=0 closure=(]:",
        "  reports nothing",
        "Looked at: streams of up to 1 elements over 8 instants (0, 1, 2, 3, 4, 5, 6, 7), each "
        "element with one triple.",
    ]
    assert lint(tomllib.loads(case.read_text())) == []


def test_what_no_stream_tells_apart(capsys):
    assert main(["differ", "csparql t0=0", "csparql t0=0 tick=time", *FEW]) == 0
    assert capsys.readouterr().out.startswith("None: no stream in order of up to 1 elements")


def test_two_queries_differ_on_one_triple(capsys, tmp_path):
    windows = 'windows = [{ stream = "s", kind = "time", size = 4, slide = 4 }]\n'
    for name, selected in (("count", "(COUNT(?x) AS ?c)"), ("rows", "?x")):
        body = f'body = "SELECT {selected} {{ ?x <urn:p> ?y }}"\n'
        (tmp_path / name).write_text(windows + body)
    assert main(["differ", str(tmp_path / "count"), str(tmp_path / "rows"), *FEW]) == 1
    assert capsys.readouterr().out.startswith("They differ on 1 element,")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["csparql t0=0", "csparqll t0=0"], "unknown profile 'csparqll'"),
        (["csparql", "csparql t0=0"], "leaves t0 unknown"),
        (["csparql t0=0", "csparql t0=0", "--elements", "-1"], "--elements must be 0 to 8"),
        (["csparql t0=0", "csparql t0=0", "--elements", "100000000"], "--elements must be 0 to 8"),
        (["csparql t0=0", "csparql t0=0", "--instants", "100000000"], "--instants 1 to 64"),
        (["csparql t0=0", "csparql t0=0", "--semantics", "cqels"], "give --query"),
    ],
)
def test_wrong_words(capsys, words, reason):
    assert main(["differ", *words]) == 2
    assert reason in capsys.readouterr().err
