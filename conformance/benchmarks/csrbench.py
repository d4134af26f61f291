"""CSRBench: seven queries over one stream, judged against every recording of a folder (Dell'Aglio
et al., ISWC 2013).
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from conformance.verdict.engine_report import EngineReport
from conformance.verdict.outcomes import Judging, verdict
from conformance.verdict.results import Outcome, Result
from refengine.core.engine import evaluate
from refengine.core.profiles import PROFILES, profile
from refengine.core.query import Query
from refengine.core.question import Question
from refengine.model.elements import Relation, Stream
from refengine.model.errors import InvalidStream, RefengineError
from refengine.model.messages import nearest, plain
from refengine.oracle.answers import Answers
from refengine.oracle.explanations import AS_SETS
from refengine.rdf import files
from refengine.rdf.files import Recording

# what is imported where it is used: not every run does, and it takes long
if TYPE_CHECKING:
    from conformance.wrong_engines import Miniature

HERE = Path(__file__).parents[1]
QUERIES = tuple(f"Q{number}" for number in range(1, 8))
TABLE_ORDER = ("csparql", "cqels", "sparqlstream")
RECORDING = re.compile(r"([A-Za-z0-9_.-]+?)-answer-([1-7])(?:-([A-Za-z0-9_-]+))?\.json")
ANSWER_FOLDERS = ("answers", "src/main/resources/answers", ".")


@dataclass(frozen=True, order=True)
class Cell:
    """One recording to judge: engine and query, the suffix of an extra recording ('' in the table),
    and its file.

    `fault` is why it cannot be judged, if its file's name says so; a file whose name has no query
    has its name for one.
    """

    engine: str
    query: str
    suffix: str
    path: Path
    fault: InvalidStream | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """The engine and the query: `csparql Q3` or `csparql Q3 rerun`."""
        return f"{self.engine} {self.case}"

    @property
    def case(self) -> str:
        """What its result is about: `Q3` or `Q3 rerun`."""
        return f"{self.query} {self.suffix}".strip()

    def recording(self) -> Recording:
        """Read the recording. Raises InvalidStream."""
        if self.fault is not None:
            raise self.fault
        return files.read_recording(self.path)


class Written(NamedTuple):
    """Where the seven queries are, and in which dialect: Q1.toml, or Q1.csparql."""

    folder: Path = HERE / "queries" / "csrbench"
    dialect: str | None = None


OURS = Written()


def query(name: str, written: Written = OURS) -> Query:
    """Return one of the seven queries."""
    return files.read_query(written.folder / f"{name}.{written.dialect or 'toml'}", written.dialect)


def query_table(name: str) -> dict[str, Any]:
    """Return one of the seven queries as its table (QRY-1)."""
    return tomllib.loads((OURS.folder / f"{name}.toml").read_text(encoding="utf-8"))


def cells(folder: Path) -> list[Cell]:
    """Return the recordings ENGINE-answer-N[-SUFFIX].json of a folder in CSRBench's layout, by
    engine, query and suffix.

    A file that is named otherwise, or after an engine without a profile, is a cell with a fault.
    Raises InvalidStream for what is no such folder.
    """
    if not os.path.isdir(folder):
        reason = "no such folder"
        if os.path.exists(folder):
            reason = "not a folder"
        raise InvalidStream(reason, rule="IO-1", place=str(folder))
    for name in ANSWER_FOLDERS:
        found = files.listed(folder / name, "*-answer-*.json", "IO-2")
        if found:
            break
    else:
        *places, _itself = ANSWER_FOLDERS
        reason = (
            f"no recording ENGINE-answer-N.json, neither in {' nor in '.join(places)} nor in the "
            "folder itself"
        )
        raise InvalidStream(reason, rule="IO-2", place=str(folder))
    return sorted(
        map(_cell, found), key=lambda cell: (cell.query, _column(cell.engine), cell.suffix)
    )


def _cell(path: Path) -> Cell:
    """Return the cell of a file, by its name."""
    match = RECORDING.fullmatch(path.name)
    if match is None:
        name = plain(path.name)
        engine = name.partition("-answer-")[0] or name
        reason = "a recording is named ENGINE-answer-N.json, N from 1 to 7"
        return Cell(engine, name, "", path, InvalidStream(reason, rule="IO-2", place=str(path)))

    engine, number, suffix = match.groups()
    fault = None
    if engine not in PROFILES:
        fault = InvalidStream(
            f"no profile {engine!r}{nearest(engine, PROFILES)}", rule="SEM-1", place=str(path)
        )
    return Cell(engine, f"Q{number}", suffix or "", path, fault)


def _column(engine: str) -> tuple[int, str]:
    """Return the place of an engine in the table: those of CSRBench's come first."""
    if engine in TABLE_ORDER:
        return TABLE_ORDER.index(engine), engine
    return len(TABLE_ORDER), engine


def columns(names: Iterable[str]) -> list[str]:
    """Return the engines of a table: those of CSRBench's in its order, then the others by name."""
    return sorted(set(names), key=_column)


@lru_cache(maxsize=2)
def stream(folder: Path) -> Stream:
    """Return the input stream of a folder."""
    return files.read_stream(folder)


def judge_query(
    folder: Path,
    name: str,
    chosen: tuple[Cell, ...],
    judging: Judging,
    written: Written = OURS,
) -> list[Result]:
    """Judge all recordings of one query, which share the answers of their windows.

    A recording that cannot be read is an error, and costs no other its verdict. What a verdict
    rests on takes one more evaluation each.
    """
    if name not in QUERIES:  # a file that is named after none
        return [_unread(cell, cell.fault) for cell in chosen]
    question, answers = _question(query(name, written), folder), Answers()
    results = []
    for cell in chosen:
        try:
            recording = cell.recording()
        except RefengineError as error:
            results.append(_unread(cell, error))
            continue
        found = verdict(
            question,
            profile(cell.engine),
            recording.relations,
            timestamps=recording.timestamps,
            missing=judging.bound,
            witnesses=judging.witnesses,
            answers=answers,
        )
        if judging.keep:
            reports = list(map(EngineReport, recording.relations, recording.timestamps))
            found = _with_evidence(found, question, reports)
        results.append(_of_cell(found, cell.engine, cell.case))
    return results


def _question(query: Query, folder: Path) -> Question:
    """Return one of the queries over the stream of a folder."""
    return Question(query, {query.windows[0].stream: stream(folder)})


def _unread(cell: Cell, error: RefengineError | None) -> Result:
    """Return the result of a recording that cannot be read."""
    return Result(cell.engine, "csrbench", cell.case, "", Outcome.ERROR, str(error))


def _with_evidence(found: Result, question: Question, reports: list[EngineReport]) -> Result:
    """Return a verdict with what it rests on."""
    from conformance.verdict import evidence

    return replace(found, evidence=evidence.of_benchmark(question, reports, found.judgement))


def _of_cell(found: Result, engine: str, case: str) -> Result:
    """Return a verdict as the result of a cell; the judgement stays in the process that judged."""
    return replace(found, engine=engine, suite="csrbench", case=case, judgement=None)


def suffix(result: Result) -> str:
    """Return what names an extra recording, or one of no query: '' in the table."""
    name, _, extra = result.case.partition(" ")
    if name in QUERIES:
        return extra
    return result.case


# Without recordings: the reference engine and three wrong engines, recorded over the embedded
# stream.

EMBEDDED = (HERE / "fixtures" / "csrbench", HERE.parent / "fixtures" / "csrbench")
SEED = 2013
# each seen in a real engine
WRONG = ("WIN-8 nothing expires", "ENG-2 latest of a gap", "R2R-2 sets of solutions")


@dataclass(frozen=True)
class Recorder:
    """An engine of ours that is recorded here: a profile, and the miniature that it is, if it is a
    wrong one.
    """

    name: str
    profile: str
    miniature: Miniature | None = None


def recorders() -> list[Recorder]:
    """Return the reference engine under each of CSRBench's profiles, and three wrong engines under
    C-SPARQL's.
    """
    from conformance.wrong_engines import MINIATURES

    reference = [Recorder(f"reference/{name}", name) for name in TABLE_ORDER]
    miniatures = {f"{miniature.rule} {miniature.name}": miniature for miniature in MINIATURES}
    return reference + [
        Recorder(f"wrong/{miniatures[name].rule}", "csparql", miniatures[name]) for name in WRONG
    ]


def embedded() -> Path:
    """Return the folder of the embedded stream."""
    return next(path for path in EMBEDDED if path.is_dir())


def record(recorder: Recorder, name: str, asked: Query, folder: Path) -> list[Relation]:
    """Return what an engine of ours answers: t0 and the arrival order of simultaneous elements are
    drawn with a fixed seed, as a live engine draws them, and kept from the judge.
    """
    draw = Random(f"{SEED} {recorder.profile} {name}")
    spec, elements = asked.windows[0], list(stream(folder))
    draw.shuffle(elements)
    elements = [e._replace(sys=n) for n, e in enumerate(sorted(elements, key=lambda e: e.app), 1)]
    t0 = elements[0].app - spec.span - draw.randrange(spec.step)
    chosen = profile(recorder.profile).but(t0=t0).semantics()
    streams = {spec.stream: Stream(tuple(elements))}

    def answered() -> list[Relation]:
        return [report.relation for report in evaluate(asked, streams, chosen)]

    if recorder.miniature is None:
        return answered()
    with recorder.miniature.installed():
        return answered()


def judge_ours(
    name: str,
    judging: Judging,
    chosen: Iterable[Recorder] | None = None,
    written: Written = OURS,
) -> list[Result]:
    """Judge our own engines on one query."""
    question = _question(query(name, written), embedded())
    if chosen is None:
        chosen = recorders()
    results = []
    for recorder in chosen:
        recording = record(recorder, name, question.query, embedded())
        found = verdict(
            question,
            profile(recorder.profile),
            recording,
            missing=judging.bound,
            witnesses=judging.witnesses,
        )
        if judging.keep:
            found = _with_evidence(found, question, list(map(EngineReport, recording)))
        results.append(_of_cell(found, recorder.name, name))
    return results


def self_check(results: Iterable[Result]) -> list[str]:
    """Return what is wrong with the verdicts on our own engines: the reference passes every query,
    a wrong engine fails one.
    """
    outcomes: dict[str, list[Outcome]] = {}
    for result in results:
        outcomes.setdefault(result.engine, []).append(result.outcome)
    problems = []
    for engine, found in outcomes.items():
        if engine.startswith("reference/") and set(found) != {Outcome.PASS}:
            problems.append(f"{engine} must pass every query")
        if engine.startswith("wrong/") and Outcome.FAIL not in found:
            problems.append(f"{engine} must fail a query")
    return problems


def table(results: Iterable[Result]) -> Mapping[str, Mapping[str, Outcome]]:
    """Query → engine → outcome, without the extra recordings."""
    rows: dict[str, dict[str, Outcome]] = {name: {} for name in QUERIES}
    for result in results:
        if not suffix(result):
            rows[result.case][result.engine] = result.outcome
    return rows


def as_tsv(results: list[Result]) -> Iterator[str]:
    """Yield the table in the form of CSRBench's Table 2, one line a query."""
    engines = columns(result.engine for result in results if not suffix(result))
    yield "\t".join(["query", *engines])
    for name, row in table(results).items():
        if row:
            yield "\t".join([name, *(str(row.get(engine, "-")) for engine in engines)])


def as_text(results: list[Result]) -> Iterator[str]:
    """Yield the table to read, and then the extra recordings and every argument that is not a pass.

    Between them stands which fails would pass as sets of rows, since CSRBench's own oracle compares
    relations as sets.
    """
    lines = [line.split("\t") for line in as_tsv(results)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        yield "  ".join(
            cell.ljust(width) for cell, width in zip(line, widths, strict=True)
        ).rstrip()
    as_sets = [f"{result.engine} {result.case}" for result in results if AS_SETS in result.argument]
    yield ""
    yield (
        "Relations are compared as bags of rows (CMP-3). CSRBench's own oracle compares them "
        "as sets; as sets"
    )
    yield f"of rows, these would pass, too: {', '.join(as_sets) or 'no others'}."
    for result in results:
        if suffix(result) or result.outcome is not Outcome.PASS:
            yield ""
            yield f"{result.engine} {result.case}"
            yield result.argument


def selected(all_cells: Iterable[Cell], engine: str | None = None) -> dict[str, tuple[Cell, ...]]:
    """Return the cells by query, of one engine or of all."""
    chosen: dict[str, list[Cell]] = {}
    for cell in all_cells:
        if engine is None or cell.engine == engine:
            chosen.setdefault(cell.query, []).append(cell)
    return {name: tuple(found) for name, found in sorted(chosen.items())}
