"""What an engine writes reaches a terminal, a page and every other output as printable text of
bounded length, by whichever way it comes there.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from harnesses import hostile_engine
from reports import bare
from suite_run import ROOT, run_suite

from conformance.__main__ import main
from conformance.bench.recordings import own_engines
from conformance.verdict.results import from_json, lines

# so many items that each kind of reply is given: these are fifty
FIFTY = "REP- and not (REP-13 or REP-14 or REP-15 or REP-16)"
# The keys of the engine's file, and words by which its items are asked at least as many questions
# as there are kinds of replies.
WAYS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "claims": ('dialect = "rspql"\n[semantics]\nprofile = "csparql"\nt0 = 0\n', ("-k", FIFTY)),
    "is sent its semantics": ('dialect = "table"\n', ("-k", FIFTY)),
    "csrbench": (
        'dialect = "rspql"\nsuites = ["csrbench"]\n[semantics]\nprofile = "csparql"\nt0 = 0\n',
        ("--repeat=6",),
    ),
    "joins": ('dialect = "join"\nsuites = ["joins"]\n', ("--repeat=4",)),
}
# the kinds that an examination and a replay are tried with, one for each way to their output
EXAMINED = ("names", "long names", "protocol", "literal", "reason", "context", "late line", "flood")
MOST = 300_000  # characters that are printed of some forty results
MOST_OF_PAGE = 1_500_000
MOST_OF_RESULTS = 10_000_000  # characters of the evidence of all results, most of it that of two


def write_engine(folder: Path, keys: str, *words: str) -> Path:
    """Write the file of a hostile engine; return its path."""
    program = ROOT / "tests" / "harnesses" / "hostile_engine.py"
    command = [sys.executable, str(program), str(folder / "asked"), *words]
    path = folder / "hostile.toml"
    path.write_text(f'title = "Hostile"\ncommand = {json.dumps(command)}\n{keys}')
    return path


def faults(name: str, text: str, most: int) -> Iterator[str]:
    """Yield what is wrong with a text that is printed or written."""
    raw = {character for character in text if not character.isprintable()} - {"\n", "\t"}
    if raw:
        yield f"{name} has {sorted(map(ascii, raw))}"
    if len(text) > most:
        yield f"{name} has {len(text)} characters"
    if re.search(r"^conformance: owned", text, re.MULTILINE):
        yield f"{name} has a line of the engine's that looks like ours"


def assert_harmless(texts: Mapping[str, tuple[str, int]]) -> None:
    """Assert that texts, each with the most characters that it may have, are harmless."""
    found = [fault for name, (text, most) in texts.items() for fault in faults(name, text, most)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("way", WAYS)
def test_a_run_and_what_is_made_of_its_results(tmp_path, capsys, way):
    keys, words = WAYS[way]
    engine = write_engine(tmp_path, keys)
    results = tmp_path / "results.ndjson"
    outputs = [f"--{name}={tmp_path}/run.{name}" for name in ("report", "junitxml", "diagnose")]
    run = run_suite(f"--engine={engine}", f"--results={results}", "-rA", *outputs, *words)
    assert run.returncode == 1, run.stderr
    assert (tmp_path / "asked").stat().st_size >= len(hostile_engine.KINDS)
    forms = ("html", "markdown", "earl", "badge")
    made = [f"--{form}={tmp_path}/made.{form}" for form in forms]
    capsys.readouterr()
    assert main(["report", str(results), *made]) == 0
    printed = capsys.readouterr()
    files = [*tmp_path.glob("run.*"), *tmp_path.glob("made.*")]
    assert len(files) == 7
    assert_harmless(
        {
            "standard output": (run.stdout, MOST),
            "standard error": (run.stderr, 0),
            "results": (results.read_text(encoding="utf-8"), MOST_OF_RESULTS),
            "report, output": (printed.out, 0),
            "report, error": (printed.err, 0),
            **{path.name: (path.read_text(encoding="utf-8"), MOST_OF_PAGE) for path in files},
        }
    )


@pytest.mark.parametrize("kind", EXAMINED)
def test_an_examination_and_a_replay(tmp_path, capsys, kind):
    engine = write_engine(tmp_path, WAYS["is sent its semantics"][0], kind)
    results = tmp_path / "results.ndjson"
    run_suite(f"--engine={engine}", f"--results={results}", "-k", "TICK-1-of")
    [line, *_] = results.read_text(encoding="utf-8").splitlines()
    capsys.readouterr()
    main(["replay", str(results), json.loads(line)["case"], f"--engine={engine}"])
    main(["engines", "doctor", str(engine)])
    printed = capsys.readouterr()
    assert "verdict: " in printed.out
    assert_harmless({"output": (printed.out, 100_000), "error": (printed.err, 0)})


@pytest.mark.parametrize("kind", ["names", "literal", "many rows", "context"])
def test_a_benchmark(tmp_path, capsys, kind):
    engine = write_engine(tmp_path, WAYS["csrbench"][0], kind)
    out = tmp_path / "out"
    assert main(["bench", "csrbench", f"--engine={engine}", "--only=Q1", f"-o{out}"]) == 0
    printed = capsys.readouterr()
    files = [path for path in out.rglob("*") if path.is_file()]
    assert len(files) > 2
    assert_harmless(
        {
            "output": (printed.out, MOST),
            "error": (printed.err, MOST),
            **{path.name: (path.read_text(encoding="utf-8"), 3_000_000) for path in files},
        }
    )


@pytest.mark.parametrize("form", ["table", "tsv", "json"])
def test_a_recording(tmp_path, capsys, form):
    """What was recorded of an engine, and is judged without it."""
    shutil.copytree(own_engines.embedded() / "data", tmp_path, dirs_exist_ok=True)
    term = hostile_engine.TERMS["literal"]
    relation = {"head": {"vars": ["sensor", "value"]}, "results": {"bindings": []}}
    relation["results"]["bindings"] = [{"sensor": term, "value": term}]
    relations = [{"timestamp": 10_000, **relation}]
    (tmp_path / "csparql-answer-1.json").write_text(json.dumps({"relations": relations}))
    main(["csrbench", str(tmp_path), f"--format={form}", f"--results={tmp_path}/results.ndjson"])
    printed = capsys.readouterr()
    assert printed.out
    results = (tmp_path / "results.ndjson").read_text(encoding="utf-8")
    assert_harmless(
        {
            "output": (printed.out, MOST_OF_RESULTS),
            "error": (printed.err, MOST),
            "results": (results, MOST_OF_RESULTS),
        }
    )


# The two places that make it so


def test_an_argument_is_printable_and_bounded_however_a_result_is_made():
    raw = f"WIN-1: \x1b[2J\u202e\0\r\x85\n{'A' * 3_000}\n" + "B\n" * 100_000
    made = bare(outcome="fail", rule="WIN-1", explanation=raw)
    first, second, *_, last = made.explanation.split("\n")
    assert first == r"WIN-1: \x1b[2J\u202e\x00\r\x85"
    assert second == "A" * 1_999 + "…"
    assert last == "  … the rest is left out: the explanation is too long"
    assert len(made.explanation) < 50_000
    for again in (replace(made), from_json(made.as_json())):
        assert again == made


def test_a_line_of_results_is_printable_and_is_read_back():
    """JSON escapes U+0000 to U+001F and no other character that steers a terminal."""
    evidence = {"query": "\x7f\x9b\u202e\ud800ü"}
    made = bare(outcome="fail", rule="WIN-1", evidence=evidence)
    [line] = lines([made])
    assert line.isprintable()
    assert from_json(json.loads(line)).evidence == evidence
