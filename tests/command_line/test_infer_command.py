"""`refengine infer`: what it prints, and its exit codes."""

from __future__ import annotations

import json
from itertools import islice

import pytest

from refengine import infer_command
from refengine.__main__ import main

QUERY = """
windows = [{ stream = "s", kind = "time", size = 10, slide = 10 }]
body = "SELECT ?x {?x ?p ?o}"
"""
STREAM = "".join(
    f'<urn:{name}> <urn:p> <urn:o> "{app}" .\n' for name, app in (("a", 3), ("b", 10), ("c", 12))
)
CHOSEN = ("csparql", "t0=0", "horizon=none", "closure=unknown", "empty=unknown")


def recording(*answers: str) -> str:
    """Return CSRBench's JSON of some answers, each the names of its rows."""
    relations = [
        {
            "head": {"vars": ["x"]},
            "timestamp": 0,
            "results": {"bindings": [{"x": {"type": "uri", "value": f"urn:{n}"}} for n in names]},
        }
        for names in answers
    ]
    return json.dumps({"relations": relations})


@pytest.fixture
def infer(tmp_path, capsys):
    """Return the function that runs the command on answers, and returns its exit code, and what it
    prints on standard output and error.
    """
    (tmp_path / "q.toml").write_text(QUERY)
    (tmp_path / "s.n3t").write_text(STREAM)

    def run(answers: list[str], *words: str) -> tuple[int, str, str]:
        (tmp_path / "answers.json").write_text(recording(*answers))
        code = main(
            [
                *("infer", str(tmp_path / "q.toml"), "--stream", str(tmp_path / "s.n3t")),
                *("--answers", str(tmp_path / "answers.json"), "--missing", "0", *words),
            ]
        )
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_fields_are_determined_or_not(infer):
    """b on the border 10 is not in the first window: that is [0, 10) or (0, 10). The arrival at 12
    closes no other window, so no empty output was due.
    """
    code, out, err = infer(["a"], "--semantics", *CHOSEN)
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0] == "6 semantics explain the answers."
    assert "tick=tuple" in lines[1].split()
    assert lines[2:] == [
        "Undetermined:",
        "- closure undetermined: [), () (the recordings do not tell them apart)",
        "- empty undetermined: emit, suppress, once (the recordings do not tell them apart)",
    ]


def test_what_a_result_has_left_can_be_asked_again(infer, tmp_path):
    code, out, _ = infer(["a"], "--semantics", *CHOSEN, "--format", "json")
    left = json.loads(out)
    assert (code, left["count"], left["looked_at"], left["untried"]) == (0, 6, 15, 0)
    assert left["fields"]["closure"]["values"] == ["[)", "()"]
    (tmp_path / "left.json").write_text(out)
    code, out, _ = infer(["a"], "--among", str(tmp_path / "left.json"))
    assert code == 0
    assert out.startswith("6 semantics explain")
    code, out, _ = infer(["ab"], "--among", str(tmp_path / "left.json"))
    assert code == 1


def test_what_an_interrupted_result_has_left_is_refused(infer, tmp_path):
    _, out, _ = infer(["a"], "--format", "json")
    left = json.loads(out)
    left["looked_at"] -= 1
    (tmp_path / "left.json").write_text(json.dumps(left))
    code, _, err = infer(["a"], "--among", str(tmp_path / "left.json"))
    assert code == 2 and "its run was interrupted" in err


def test_where_nothing_explains_the_answers_the_nearest_is_printed(infer):
    """The second row is no element's, whatever the window: the residue is one row."""
    code, out, _ = infer(["az"], "--semantics", *CHOSEN)
    assert code == 1
    assert out.startswith("No semantics explains the answers.\nThe nearest one:\n")
    assert "too many: 1 row: {x: <urn:z>}" in out


def test_an_interrupted_search_prints_what_is_known(infer, monkeypatch):
    search = infer_command.find_explaining

    def interrupted(*arguments):
        yield from islice(search(*arguments), 1)
        raise KeyboardInterrupt

    monkeypatch.setattr(infer_command, "find_explaining", interrupted)
    code, out, err = infer(["a"], "--semantics", *CHOSEN)
    assert (code, err) == (130, "refengine: interrupted\n")
    assert out.startswith("Interrupted: 0 of 15 semantics were looked at. Of these:\n")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--semantics", "clossure=[)"], "refengine: SEM-1: unknown key 'clossure'"),
        (["--semantics", "closure=["], "closure must be one of"),
        (["--semantics", "csparql", "esper"], "must name one profile and each field once"),
        (["--semantics", "t0=0", "t0=1"], "must name one profile and each field once"),
        (["--among", "no-such-file"], "is no result of `refengine infer --format json`"),
    ],
)
def test_wrong_options(infer, words, reason):
    code, out, err = infer(["a"], *words)
    assert (code, out) == (2, "")
    assert reason in err
