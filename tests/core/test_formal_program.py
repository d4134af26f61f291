"""The formal definitions in `refengine/formal`: theorems are checked, a wrong definition fails one
of them, and the program that is extracted says what the enumeration and the engine say.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from conftest import PROFILE, needs_commands
from formal_program import Numbers, Shown, build, case_of, shown
from test_enumeration import (
    Case,
    EmittedRelation,
    draw_case,
    draw_case_of_each_window,
    enumerated,
    relations,
)

from conformance import corpus
from conformance.certificates.formal import COMMANDS, ask, compile_program
from refengine import Query, evaluate
from refengine.core import engine
from refengine.core.query import patterns_of
from refengine.core.r2r import defined_answer
from refengine.core.semantics import Semantics
from refengine.core.values import Collection
from refengine.model.elements import Bag, Dataset
from refengine.model.errors import RefengineError
from refengine.oracle.t0_classes import run_with_each_t0
from tools.laws import project_files, theorems

pytestmark = [needs_commands(*COMMANDS), pytest.mark.xdist_group("formal")]  # built once
DRAWS = {"ci": 1_000, "full": 100_000}.get(PROFILE, 200)
COMPARED = DRAWS // 2  # with the enumeration, which takes longer than the program


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("formal"))


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


# Theorems


def test_no_theorem_rests_on_an_axiom(program: Path):
    """`Print Assumptions` says so of all of them together."""
    modules = [Path(name).stem for name in project_files() if name != "Extract.v"]
    names = [f"@{Path(file).stem}.{name}" for name, file in theorems().items()]
    (program.parent / "Closed.v").write_text(
        f"From RefEngine Require {' '.join(modules)}.\n"
        f"Definition all_theorems := ({', '.join(names)}).\n"
        "Print Assumptions all_theorems.\n",
        encoding="utf-8",
    )
    said = run(program.parent, "coqc", "-Q", ".", "RefEngine", "Closed.v")
    assert said.stdout == "Closed under the global context\n", said.stderr


@pytest.mark.skipif(PROFILE != "full", reason="takes a minute: make formal")
def test_the_checker_accepts_the_theorems(program: Path):
    """`coqchk` reads what was compiled again, without the code that found the proofs."""
    modules = [f"RefEngine.{Path(name).stem}" for name in project_files() if name != "Extract.v"]
    checked = run(program.parent, "coqchk", "-silent", "-o", "-Q", ".", "RefEngine", *modules)
    assert checked.returncode == 0, checked.stderr
    assert "* Axioms: <none>" in re.sub(r"\s+", " ", checked.stdout + checked.stderr)


class WrongDefinition(NamedTuple):
    """What is written instead in `Definitions.v`, and the file whose theorem then fails."""

    rule: str
    written: str
    instead: str
    fails: str


WRONG = [
    WrongDefinition("MOD-2", "d <? app x - app e", "d <=? app x - app e", "Choices.v"),
    WrongDefinition(
        "WIN-4",
        "Z.max (least s w) (ceil_div (t - last_instant 0) (slide s w))",
        "Z.max (least s w) ((t - last_instant 0) / slide s w)",
        "Changes.v",
    ),
    WrongDefinition(
        "WIN-2",
        "RightOpen => if bordered (kind w) then -1",
        "RightOpen => if bordered (kind w) then 0",
        "Equivalences.v",
    ),
    WrongDefinition(
        "WIN-7",
        "Stream => if is_tuple then Some (- ω) else from_t1 (fun t => t - ω)",
        "Stream => from_t1 (fun t => t - ω)",
        "Separations.v",
    ),
    WrongDefinition("WIN-11", "Open => 2 | _ => 1 end", "Open => 2 | _ => 0 end", "Windows.v"),
    WrongDefinition("TICK-5", "looked_own := own s ps a |}", "looked_own := at_ a |}", "Alike.v"),
    WrongDefinition(
        "REP-1", "closes_at s p t && (t <? own)", "closes_at s p t && (t <=? own)", "Gaps.v"
    ),
    WrongDefinition("R2S-2", "Istream => more answer base", "Istream => more base answer", "R2S.v"),
    WrongDefinition("ENG-1", "(map (reach s) ws) 0 + 2", "(map (reach s) ws) 0", "Coverage.v"),
    WrongDefinition(
        "R2R-22", "now - Z.min (earliest a) (earliest b) <=? d", "now <=? d", "TimeShift.v"
    ),
]


@pytest.mark.parametrize(
    "wrong", WRONG if PROFILE == "full" else WRONG[4:8:3], ids=lambda wrong: wrong.rule
)
def test_a_wrong_definition_fails_a_theorem(wrong: WrongDefinition, program: Path, tmp_path: Path):
    """The definitions themselves are read without an error, and so is each file before."""
    shutil.copytree(program.parent, tmp_path, dirs_exist_ok=True, copy_function=shutil.copy2)
    definitions = tmp_path / "Definitions.v"
    right = definitions.read_text(encoding="utf-8")
    assert right.count(wrong.written) == 1
    definitions.write_text(right.replace(wrong.written, wrong.instead), encoding="utf-8")
    assert run(tmp_path, "coqc", "-Q", ".", "RefEngine", "Definitions.v").returncode == 0
    built = run(tmp_path, "make", "-s", "-f", "Makefile.coq", f"{Path(wrong.fails).stem}.vo")
    assert built.returncode, "no theorem notices"
    assert re.search(rf'File "\./{wrong.fails}", line \d+', built.stderr), built.stderr


# The program


def as_shown(case: Case, emitted: Iterable[EmittedRelation], numbers: Numbers) -> Iterator[Shown]:
    """Yield the reports of the enumeration or the engine in the program's form."""
    admitted = enumerated(case).elements
    for one in emitted:
        contents = tuple(
            tuple(admitted[window.stream][place].sys for place in content)
            for window, content in zip(case.query.windows, one.contents, strict=True)
        )
        rows = numbers.rows(one.rows, case.query.body.variables)
        key = tuple(map(numbers.of, one.key))
        fixed = (one.t, one.trigger, one.instant, one.borders, contents, one.late, rows)
        yield Shown(*fixed, one.takes_back, key)


def test_program_enumeration_and_engine_agree(program: Path):
    """On draws over all kinds of windows and every field but `consumption`."""
    cases = [draw_case(Random(number)) for number in range(COMPARED)]
    numbers = [numbers_with_counts() for _ in cases]
    replies = ask(program, map(written, cases, numbers))
    different = []
    reporting = 0
    for case, own, reply in zip(cases, numbers, replies, strict=True):
        said = shown(reply)
        reporting += bool(said)
        by_enumeration = enumerated(case).emitted(case.answer, case.query.r2s)
        for emitted in (by_enumeration, relations(case)):
            if list(as_shown(case, emitted, own)) != said:
                different.append((case, said))
    assert not different, different[0]
    assert 2 * reporting > COMPARED


def of_each_window(program: Path, count: int) -> Iterator[tuple[list[Shown], list[Shown]]]:
    """Yield what the enumeration and what a program says, of draws in which each window is reported
    on its own.
    """
    cases = [draw_case_of_each_window(Random(number)) for number in range(count)]
    numbers = [numbers_with_counts() for _ in cases]
    replies = ask(program, map(written, cases, numbers))
    for case, own, reply in zip(cases, numbers, replies, strict=True):
        emitted = enumerated(case).emitted(case.answer, case.query.r2s)
        yield list(as_shown(case, emitted, own)), shown(reply)


def test_program_and_enumeration_agree_on_windows_on_their_own(program: Path):
    """MOD-5, WIN-22, WIN-23, REP-14 to REP-16: over draws of these alone."""
    said = list(of_each_window(program, COMPARED))
    assert not [pair for pair in said if pair[0] != pair[1]]
    assert 2 * sum(bool(reports) for reports, _ in said) > len(said)
    assert any(report.takes_back for reports, _ in said for report in reports)


class WrongFiring(NamedTuple):
    """What is written instead in `Firings.v`, or in `Arriving.v`."""

    rule: str
    written: str
    instead: str
    file: str = "Firings.v"


WRONG_FIRINGS = [
    WrongFiring("MOD-5.1", "Some (maximum xs x - delay)", "Some (maximum xs x)"),
    WrongFiring("MOD-5.2", "watermark (before ++ [e])", "watermark [e]"),
    WrongFiring("MOD-5.3", "ForStream, Time => app (snd x) <=? t", "_, Time => app (snd x) <=? t"),
    WrongFiring("MOD-5.4", "(sys b <? sys a) ||", "(app b <? app a) ||"),
    WrongFiring("MOD-5.5", "ForWindow, Punctuation => is_empty (graph e) |", ""),
    WrongFiring("WIN-22.1", "Passed => due <? w", "Passed => due <=? w"),
    WrongFiring("WIN-22.2", "Some grace => grace", "Some grace => 0"),
    WrongFiring("WIN-22.3", "last + 1 + match", "last + match"),
    WrongFiring("WIN-23.1", "Joins => apart <=? size w", "Joins => apart <? size w"),
    WrongFiring("WIN-23.2", "Joined => true | Gone", "Joined | Gone"),
    WrongFiring("WIN-23.3", "(session_last joined)", "(session_last [e])"),
    WrongFiring("WIN-23.4", "AtNext => 1", "AtNext => 0"),
    WrongFiring(
        "WIN-23.5", "map until c with [] => 0 | x :: xs", "map app c with [] => 0 | x :: xs"
    ),
    WrongFiring("WIN-23.6", "(stream e =? on w) && is_near (held h) e", "false"),
    WrongFiring("WIN-23.7", "ForStream, Time => app", "ForStream, _ => app"),
    WrongFiring("WIN-24.1", "OfStream, _ => [aside e]", "OfStream, _ => []"),
    WrongFiring("WIN-24.2", "arrival (fst (fst b)) <? arrival (fst (fst a))", "false"),
    WrongFiring("WIN-24.3", "ks ++ [key w e]", "key w e :: ks"),
    WrongFiring("REP-14.1", "ForWindow => t + watermark_delay f", "ForWindow => t"),
    WrongFiring("REP-14.2", "(t =? start) && (held_last", "(held_last"),
    WrongFiring("REP-14.3", "existsb (fun e => negb (is_in old e)) (held h)", "true"),
    WrongFiring("REP-14.4", "window_close s) || late ||", "window_close s) ||"),
    WrongFiring(
        "REP-14.5", "(shown_content m h)) &&", "(flat_map held (filter (fun _ => true) m))) &&"
    ),
    WrongFiring("REP-14.6", "(s0_at s p o <=? held_last h)", "true"),
    WrongFiring("REP-15.1", "n <=? Z.of_nat", "n <? Z.of_nat"),
    WrongFiring("REP-15.2", "- Z.of_nat (length (shown_content m h))", ""),
    WrongFiring("REP-15.3", "border s t mod λ", "t mod λ"),
    WrongFiring("REP-15.4", " && (t <? own s [p] a) && negb (is_empty (held h))", " && true"),
    WrongFiring("REP-16.1", "negb (is_empty (pane m h))", "negb (is_empty (held h))"),
    WrongFiring(
        "REP-16.2", "negb (existsb (fun c => forallb (is_in c) (held one)) (revived h))", "true"
    ),
    WrongFiring(
        "REP-16.3", "(opens one =? opens h) && (closes one =? closes h)", "opens one =? opens h"
    ),
    WrongFiring("REP-16.4", "as_report t k one (held one)", "as_report t k h (held one)"),
    WrongFiring("REP-16.5", "filter (fun one => negb (is_of h one)) m ++ [h]", "m ++ [h]"),
    WrongFiring("REP-16.6", "(opens b <? opens a) ||", "(opens a <? opens b) ||"),
    WrongFiring("REP-13.1", "is_about (fst v) p && (late", "(late", "Arriving.v"),
    WrongFiring("REP-13.2", "snd v && is_open f t h", "is_open f t h", "Arriving.v"),
    WrongFiring("REP-13.3", "ts ++ if is_left then [now] else []", "ts", "Arriving.v"),
    WrongFiring("ENG-1", "| _, Session => [e + size w - 1]", "", "Arriving.v"),
]


@pytest.mark.parametrize(
    "wrong",
    WRONG_FIRINGS if PROFILE == "full" else WRONG_FIRINGS[6:7],
    ids=lambda wrong: wrong.rule,
)
def test_a_wrong_firing_is_noticed(wrong: WrongFiring, program: Path, tmp_path: Path):
    """On draws in which each window is reported on its own."""
    names = ("Definitions.vo", "Bodies.vo", "Firings.v", "Arriving.v", "Extract.v", "main.ml")
    for name in names:
        shutil.copy2(program.parent / name, tmp_path)
    firings = tmp_path / wrong.file
    right = firings.read_text(encoding="utf-8")
    assert right.count(wrong.written) == 1
    firings.write_text(right.replace(wrong.written, wrong.instead), encoding="utf-8")
    for name in ("Firings.v", "Arriving.v", "Extract.v"):
        assert run(tmp_path, "coqc", "-Q", ".", "RefEngine", name).returncode == 0
    said = of_each_window(compile_program(tmp_path), 2_000)
    assert any(by_enumeration != by_program for by_enumeration, by_program in said)


def test_values_of_t0_in_one_class_report_alike(program: Path):
    """ORA-2: with the first and the last value of a class that the oracle finds, the definitions
    say the same of all but instants and borders.
    """
    pairs: list[tuple[Case, Case]] = []
    for case in map(draw_case, map(Random, range(DRAWS * 3 // 2))):
        if not isinstance(case.semantics.t0, int):
            continue
        planned = engine.plan(case.query, case.streams, case.semantics)
        lo = case.semantics.t0
        for found, _ in run_with_each_t0(
            planned, lo, lo + 9, lambda p: list(engine.evaluations(p))
        ):
            if found.lo < found.hi:
                first, last = (
                    replace(case, semantics=replace(case.semantics, t0=t0))
                    for t0 in (found.lo, found.hi)
                )
                pairs.append((first, last))
    said = [
        [
            [(report.trigger, report.contents, report.late, report.rows) for report in shown(reply)]
            for reply in ask(program, (written(pair[end], numbers_with_counts()) for pair in pairs))
        ]
        for end in (0, 1)
    ]
    different = [pair for pair, one, other in zip(pairs, *said, strict=True) if one != other]
    assert not different, different[0]
    assert sum(map(bool, said[0])) > DRAWS // 6


def numbers_with_counts() -> Numbers:
    """Return numbers that have those of counts, which the program gives as what they are."""
    numbers = Numbers()
    numbers.numbers |= {f'"{count}"': count for count in range(50)}
    return numbers


def written(case: Case, numbers: Numbers) -> dict[str, Any]:
    """Return a case as the program reads it."""
    body = case.answer.__name__
    return case_of(case.query, case.streams, case.semantics, case.static, body, numbers)


# instants that are visited one after the other: more would take minutes
FAR = 20_000


def out_of_scope(
    query: Query, data: Iterable[str], rows: Iterable[Bag], semantics: Semantics
) -> str | None:
    """Return why a case of the corpus says something that the definitions leave out, if it does.

    `data` is the terms of all elements and of the static data, `rows` what is reported.
    """
    if query.body.asks_for_times:
        return "a body that asks for times (R2R-21) sees more than a dataset"
    terms = [term for bag in rows for row in bag for _, term in row]
    if any(term.startswith("_:") for term in [*terms, *data]):
        return "a blank node is new at every evaluation (R2R-7), or one of a stream (R2R-8)"
    if semantics.collection is Collection.SET:
        return "a set has one of the rows that are the same by value (R2R-9)"
    return None


class Asked(NamedTuple):
    """A case of the corpus: what the program is asked, what the engine reports, and why the two may
    differ.
    """

    name: str
    question: dict[str, Any]
    reports: list[Shown]
    reason: str | None


def asked() -> Iterator[Asked]:
    """Yield the cases that have an expectation and are no error. SPARQL is a table of the datasets
    that the engine asks about.
    """
    for case in corpus.cases():
        for number, block in enumerate(case.table.get("expect", [])):
            try:
                semantics = corpus.semantics_of(block["semantics"])
                query, streams, static = (
                    corpus.query_of(case),
                    corpus.streams_of(case),
                    corpus.static_of(case),
                )
                table: dict[Dataset, Bag] = {}

                def answer(body: Any, dataset: Dataset, table: dict = table) -> Any:
                    found = defined_answer(body, dataset)
                    table[frozenset(dataset)] = found.rows
                    return found

                own = {} if semantics.is_consuming else {"answer": answer}
                reports = list(evaluate(query, streams, semantics, static=static, **own))
            except RefengineError:
                continue
            instants = [element.app for stream in streams.values() for element in stream]
            instants += [n for n in (semantics.horizon, semantics.t0) if type(n) is int]
            if instants and max(instants) - min(instants) > FAR:
                continue
            numbers = Numbers()
            body = "objects" if semantics.is_consuming else list(table.items())
            patterns = patterns_of(query.body) or () if semantics.is_consuming else ()
            said = [
                Shown(
                    report.evaluation,
                    report.trigger,
                    report.instant,
                    tuple(report.windows),
                    tuple(tuple(e.sys for e in content) for content in report.contents),
                    report.late,
                    numbers.rows(report.relation.rows, query.body.variables),
                    report.takes_back,
                    tuple(map(numbers.of, report.key)),
                )
                for report in reports
            ]
            bags = [report.relation.rows for report in reports]
            question = case_of(query, streams, semantics, static, body, numbers, patterns)
            graphs = [element.graph for stream in streams.values() for element in stream]
            data = [term for graph in [*graphs, static] for triple in graph for term in triple]
            reason = out_of_scope(query, data, bags, semantics)
            yield Asked(f"{case.path} {number}", question, said, reason)


def test_program_and_corpus_agree(program: Path):
    """Where a case says nothing that the definitions leave out, both report the same."""
    cases = list(asked())
    replies = ask(program, (case.question for case in cases))
    different = [
        case.name
        for case, reply in zip(cases, replies, strict=True)
        if case.reason is None and ("error" in reply or shown(reply) != case.reports)
    ]
    assert not different
    assert sum(case.reason is None for case in cases) > 450
