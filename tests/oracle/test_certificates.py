"""Certificates of verdicts, and the checker, which uses nothing of the engine and the judge."""

from __future__ import annotations

import ast
import copy
import io
import json
import random
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from certified import (
    FIXTURE,
    Document,
    certificate_of,
    is_refused,
    mutated,
    of_expectations,
    of_fixture,
    of_judgements,
    says,
)
from test_oracle_laws import Engine, draw_fields, draw_query, draw_streams

from conformance import corpus
from conformance.__main__ import main
from conformance.bench.recordings import csrbench
from conformance.certificates import checker
from conformance.wrong_engines import WRONG_ENGINES
from refengine import Element, RefengineError, Stream
from refengine.core.profile import UNKNOWN, Profile
from refengine.core.profiles import profile
from refengine.core.query import Window, WindowKind
from refengine.core.question import Question
from refengine.core.semantics import FIELDS, Semantics
from refengine.core.values import End

pytestmark = pytest.mark.xdist_group("certificates")  # those of the fixture are made once

CHECKER = Path(checker.__file__)
MOST_LINES = 300


def code_lines(text: str) -> int:
    """The lines of a program, without blank lines, comments and docstrings."""
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.string.strip() and token.type is not tokenize.COMMENT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (
            ast.get_docstring(node) is not None
        ):
            first = node.body[0]
            lines -= set(range(first.lineno, first.end_lineno + 1))
    return len(lines)


def test_the_checker_is_small_and_imports_the_standard_library_alone():
    text = CHECKER.read_text(encoding="utf-8")
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(text))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or "."]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= sys.stdlib_module_names
    assert code_lines(text) <= MOST_LINES


def test_python_alone_checks_a_certificate(tmp_path: Path):
    right = tmp_path / "right.json"
    document = of_fixture()["csparql Q1"][1]
    right.write_text(json.dumps(document))
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps({**document, "verdict": "fail"}))
    # neither packages nor the environment: what it needs is Python's own
    run = [sys.executable, "-I", "-S", str(CHECKER)]
    told = subprocess.run([*run, str(right)], capture_output=True, text=True, check=True)
    # The first element is at 1000, and windows of 10,000 tumble. So t0 is one of -18,999 to 1,000.
    assert told.stdout == (f"{right}: OK pass t0=-11000; trusted: SPARQL answers, equal values\n")
    told = subprocess.run([*run, str(right), str(wrong)], capture_output=True, text=True)
    assert told.returncode == 1 and f"{wrong}: WRONG t0=-11000: another verdict" in told.stdout


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("{}", 2, "no certificate: KeyError"),
        ("[1", 2, "no certificate: JSONDecodeError"),
        ('{"not_certified": "arrival orders were searched"}', 3, "not certified: arrival orders"),
    ],
)
def test_the_exit_code_of_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, code: int, said: str
):
    path = tmp_path / "it.json"
    path.write_text(text)
    assert main(["check", str(path)]) == code
    assert said in capsys.readouterr().out


def test_verdicts_on_csrbench_are_certified_but_for_fails_that_search_arrival_orders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    arguments = ["csrbench", str(FIXTURE), "--jobs", "1", "--certificates", str(tmp_path)]
    assert main(arguments) == 0
    assert main(["check", *map(str, sorted(tmp_path.iterdir()))]) == 3
    lines = capsys.readouterr().out.splitlines()[-21:]
    said = {line.split("/")[-1].split(".")[0]: line.split(": ", 1)[1] for line in lines}
    # the fails are those of CSRBench's Table 2; CQELS reports at every arrival
    for name, line in said.items():
        if name in ("cqels-Q4", "cqels-Q6", "cqels-Q7"):
            assert line == "not certified: arrival orders were searched"
        elif name in ("csparql-Q5", "sparqlstream-Q4"):
            assert line.startswith("OK fail") and "arrival order" in line
        else:
            assert line.startswith("OK pass")


@cache
def of_corpus() -> list[tuple[str, str, Document]]:
    """Case, outcome and certificate: of all recordings that cases judge, and of what the engine
    reports for one case of two.
    """
    found = []
    for number, case in enumerate(corpus.cases()):
        found += [(case.id, *one) for one in of_judgements(case)]
        if number % 2 == 0:
            found += [(case.id, *one) for one in of_expectations(case)]
    return found


def test_verdicts_of_the_corpus_are_certified_or_it_is_said_why_not():
    said: Counter[str] = Counter()
    for case, outcome, document in of_corpus():
        line = says(document)
        assert not line.startswith("WRONG"), (case, line)
        if line.startswith("OK"):
            assert line.startswith(f"OK {outcome} "), case
        said[line.split(" t0=")[0]] += 1
    assert said["OK pass"] > 285 and said["OK fail"] > 140


def test_a_pass_states_an_arrival_order_that_explains_the_recording():
    """CQELS reports at every arrival, so its relations say in which order elements of one second
    arrived: not in that of the file.
    """
    outcome, document = of_fixture()["cqels Q1"]
    assert outcome == "pass" and says(document).startswith("OK pass")
    stated = [element[4] for element in document["streams"]["observations"]["elements"]]
    in_file = [[[*t] for t in element.graph] for element in csrbench.stream(FIXTURE)]
    assert stated != in_file and sorted(stated) == sorted(in_file)


def drawn(seed: int, unit: int = 1, *, is_t0_open: bool = True) -> tuple[str, Document] | None:
    """Outcome and certificate of what an engine with a drawn question gives, or of a part of it.
    All times are multiples of a unit, or one more.
    """
    rng = random.Random(seed)
    query = draw_query(rng, 1)
    streams = draw_streams(rng, query, 6)
    fields = draw_fields(rng, query, streams)
    if unit > 1:
        query = replace(query, windows=tuple(coarse(spec, unit) for spec in query.windows))
        streams = {name: Stream(tuple(later(e, unit) for e in streams[name])) for name in streams}
        fields |= {"horizon": End.FLUSH, "period": fields["period"] and fields["period"] * unit}
    with suppress(RefengineError):
        own = Engine(query, streams, Semantics(**fields))
        relations = [report.relation for report in own.reports()]
        if relations and rng.random() < 0.5:
            del relations[rng.randrange(len(relations))]
        claimed = {name: getattr(own.semantics, name) for name in FIELDS}
        if is_t0_open and rng.random() < 0.5 and isinstance(fields["t0"], int):
            claimed["t0"] = UNKNOWN
        question = Question(query, streams)
        return certificate_of(question, Profile("drawn", "drawn", claimed), relations, missing=0)
    return None


def coarse(spec: Window, unit: int) -> Window:
    """A window that is so many times as long, but for those that count elements."""
    if spec.kind not in (WindowKind.TIME, WindowKind.RANGE):
        return spec
    return replace(spec, size=spec.size * unit + 1, slide=spec.slide and spec.slide * unit)


def later(element: Element, unit: int) -> Element:
    """An element in a smaller unit of time."""
    return element._replace(app=element.app * unit, end=element.end and element.end * unit)


def evaluations_by(document: Document, t0: int) -> list[object]:
    """Arrival and contents of each evaluation of a certificate's question with a t0."""
    run = checker.Run(document, document["attempts"][0]["semantics"], t0)
    return [(k, content) for _, k, _, content in run.evaluations()]


def check_classes(seeds: Iterable[int]) -> int:
    """Hold the classes of the checker to each of their values; return how many were looked at."""
    compared = 0
    for seed in seeds:
        _, document = drawn(seed, 30, is_t0_open=False) or ("", {})
        if not document or says(document).startswith("not"):
            continue
        rng = random.Random(seed)
        for _ in range(4):
            first = rng.randint(-200, 200)
            run = checker.Run(document, document["attempts"][0]["semantics"], first)
            is_same = [run.places(move, []) == run.places(0, []) for move in range(40)]
            last = first + is_same.index(False) - 1 if False in is_same else first + 39
            found = [evaluations_by(document, t0) for t0 in range(first, last + 1)]
            assert all(each == found[0] for each in found), (seed, first)
            compared += len(found) > 1 and len(found)
    return compared


def test_every_t0_of_a_class_gives_the_same_evaluations():
    assert check_classes(range(1_000)) > 1_500


def test_no_right_certificate_of_a_drawn_question_is_wrong():
    said: Counter[str] = Counter()
    for seed in range(1_200):
        if (found := drawn(seed)) is not None:
            line = says(found[1])
            assert not line.startswith("WRONG"), (seed, line)
            said[line.split(" t0=")[0]] += 1
    assert said["OK pass"] > 20 and said["OK fail"] > 5


@cache
def right_and_mutated() -> tuple[list[Document], list[Document]]:
    """Certificates that are certified, and mutated ones that are not."""
    right = [of_fixture()[name][1] for name in ("csparql Q5", "sparqlstream Q7")]
    right += [document for _, _, document in of_corpus()[::6] if says(document).startswith("OK")]
    rng = random.Random(2)
    others = [mutated(rng, rng.choice(right)) for _ in range(800)]
    others += [mutated(rng, right[0]) for _ in range(100)]
    return right, [found[1] for found in others if found is not None]


def is_noticed() -> bool:
    """Whether a wrong checker shows: it refuses a right certificate, or certifies a mutated one."""
    right, wrong = right_and_mutated()
    return any(map(is_refused, right)) or not all(map(is_refused, wrong))


def test_the_checker_is_not_noticed_as_wrong():
    assert not is_noticed()


@pytest.mark.parametrize(
    ("where", "name", "wrong"),
    [
        (checker, "demand", lambda holds, reason: None),
        (checker, "ENDS", {**checker.ENDS, "[)": (0, 0)}),
        (checker.Run, "fires", lambda self, t, k: True),
        (checker.Run, "visited", lambda self, instants: [instants[-1]]),
        (checker.Run, "places", lambda self, shift, more: 0),
        (checker.Run, "is_timely", lambda self, t, k: self.window.current(t) is not None),
        (checker.Window, "content", lambda self, t, came: tuple(range(came))),
        (checker.Verdict, "bag", lambda self, rows: Counter({frozenset()})),
        (checker.Verdict, "cover", lambda self: set()),
        (checker.Verdict, "divergence", lambda self, n, attempt, outputs: attempt["diverges"][n]),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_wrong_checker_is_noticed(
    monkeypatch: pytest.MonkeyPatch, where: object, name: str, wrong: object
):
    right_and_mutated()
    monkeypatch.setattr(where, name, wrong)
    assert is_noticed()


def test_equal_contents_have_one_answer():
    """Two contents without elements, and another answer for the second, with the output that
    follows from it: nothing else in the certificate contradicts it.
    """
    case = next(case for case in corpus.cases() if case.id.startswith("R2S-5-suppressing"))
    found = 0
    for _, document in of_expectations(case):
        evaluations = document["attempts"][0]["evaluations"]
        by_answer = Counter(evaluation["answer"] for evaluation in evaluations)
        for answer, count in by_answer.items():
            if count < 2:
                continue
            other = copy.deepcopy(document)
            other["answers"].append(other["answers"][answer])
            last = [e for e in other["attempts"][0]["evaluations"] if e["answer"] == answer][-1]
            last["answer"] = len(other["answers"]) - 1
            assert says(other) == "WRONG equal contents, two answers"
            found += 1
    assert found


# rules with a wrong engine that answers and judges alike wrongly: of others the verdict is disputed
WRONG_JUDGES = (
    *("WIN-2", "WIN-3", "WIN-4", "WIN-8", "WIN-11", "WIN-12", "TICK-4", "REP-1", "REP-2", "REP-3"),
    *("REP-4", "REP-8", "REP-11", "R2R-9", "R2S-2", "R2S-4", "R2S-5", "R2S-7", "R2S-8", "ENG-1"),
    "ORA-3",
)


@pytest.mark.parametrize("rule", WRONG_JUDGES)
def test_what_a_wrong_engine_or_judge_certifies_is_refused(rule: str):
    """The wrong engine makes the reports and computes the judge's answers, so the verdict passes;
    of the oracle, it judges right reports wrongly.
    """
    wrong_engines = [each for each in WRONG_ENGINES if each.rule == rule]
    cases = [case for case in corpus.cases() if case.rule == rule]
    refused = 0
    for wrong_engine in wrong_engines:
        with wrong_engine.installed():
            for case in cases:
                with suppress(RefengineError, AssertionError, ValueError):
                    made = [*of_expectations(case), *of_judgements(case)]
                    refused += sum(says(one[1]).startswith("WRONG") for one in made)
    assert refused


def test_a_profile_that_leaves_a_field_open_needs_every_value():
    """csparql-observed leaves the closure open, with three values: a fail has three attempts."""
    question = corpus.question_of(
        next(case for case in corpus.cases() if case.id.startswith("ORA-1-a-recording-passes"))
    )
    claimed = profile("csparql-observed").but(t0=0)
    outcome, document = certificate_of(question, claimed, [], missing=0)
    assert outcome == "fail" and says(document).startswith("OK fail t0=0")
    assert len(document["attempts"]) == 3
    del document["attempts"][1]
    assert says(document) == "WRONG an attempt is left out"
