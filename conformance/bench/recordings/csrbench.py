"""CSRBench: seven queries over one stream, and the verdicts on the recordings of a folder
(Dell'Aglio et al., ISWC 2013).
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from conformance.certificates.maker import write_certificate
from conformance.verdict.engine_report import EngineReport
from conformance.verdict.outcomes import Judging, judge_relations
from conformance.verdict.results import Outcome, Result
from refengine.core.profiles import PROFILES, profile
from refengine.core.query import Query
from refengine.core.question import Question
from refengine.model.elements import Stream
from refengine.model.errors import InvalidStream, RefengineError
from refengine.model.messages import nearest, plain
from refengine.rdf.queries import read_query
from refengine.rdf.recordings import Recording, read_recording
from refengine.rdf.sources import list_files
from refengine.rdf.streams import read_stream

HERE = Path(__file__).parents[2]
QUERIES = tuple(f"Q{number}" for number in range(1, 8))
TABLE_ORDER = ("csparql", "cqels", "sparqlstream")
RECORDING = re.compile(r"([A-Za-z0-9_.-]+?)-answer-([1-7])(?:-([A-Za-z0-9_-]+))?\.json")
ANSWER_FOLDERS = ("answers", "src/main/resources/answers", ".")


@dataclass(frozen=True, order=True)
class AnswerFile:
    """The file of one recording: its engine and query, the suffix of an extra recording (empty for
    those of the table), and its path.

    `fault` is the error of a file whose name says that it cannot be judged. If the name has no
    query, `query` is the name itself.
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
        """The case of its result: `Q3` or `Q3 rerun`."""
        return f"{self.query} {self.suffix}".strip()

    def recording(self) -> Recording:
        """Read the recording. Raises InvalidStream, also for the fault."""
        if self.fault is not None:
            raise self.fault
        return read_recording(self.path)


class QueryFolder(NamedTuple):
    """A folder with the seven queries, and their dialect: files such as Q1.toml, or Q1.csparql."""

    folder: Path = HERE / "queries" / "csrbench"
    dialect: str | None = None


OURS = QueryFolder()


def query(name: str, written: QueryFolder = OURS) -> Query:
    """Return one of the seven queries."""
    return read_query(written.folder / f"{name}.{written.dialect or 'toml'}", written.dialect)


def table_of_query(name: str) -> dict[str, Any]:
    """Return one of the seven queries as its table (QRY-1)."""
    return tomllib.loads((OURS.folder / f"{name}.toml").read_text(encoding="utf-8"))


def answer_files(folder: Path) -> list[AnswerFile]:
    """Return the recordings ENGINE-answer-N[-SUFFIX].json of a folder in CSRBench's layout, sorted
    by query, engine and suffix.

    A file with another name, or named after an engine without a profile, is returned with a fault.
    Raises InvalidStream if there is no folder, or it has no recording.
    """
    if not os.path.isdir(folder):
        reason = "no such folder"
        if os.path.exists(folder):
            reason = "not a folder"
        raise InvalidStream(reason, rule="IO-1", place=str(folder))
    files = recording_paths(folder)
    if not files:
        *places, _itself = ANSWER_FOLDERS
        reason = (
            f"no recording ENGINE-answer-N.json, neither in {' nor in '.join(places)} nor in the "
            "folder itself"
        )
        raise InvalidStream(reason, rule="IO-2", place=str(folder))
    return sorted(
        map(_answer_file, files), key=lambda file: (file.query, _column(file.engine), file.suffix)
    )


def recording_paths(folder: Path) -> list[Path]:
    """Return the paths of the recordings of a folder, from the first place that has some; sorted.
    Raises InvalidStream.
    """
    found = (list_files(folder / name, "*-answer-*.json", "IO-2") for name in ANSWER_FOLDERS)
    return next(filter(None, found), [])


def _answer_file(path: Path) -> AnswerFile:
    """Return what the name of a file says of its recording."""
    match = RECORDING.fullmatch(path.name)
    if match is None:
        name = plain(path.name)
        engine = name.partition("-answer-")[0] or name
        reason = "a recording is named ENGINE-answer-N.json, N from 1 to 7"
        return AnswerFile(
            engine, name, "", path, InvalidStream(reason, rule="IO-2", place=str(path))
        )

    engine, number, suffix = match.groups()
    fault = None
    if engine not in PROFILES:
        fault = InvalidStream(
            f"no profile {engine!r}{nearest(engine, PROFILES)}",
            rule="SEM-1",
            place=str(path),
        )
    return AnswerFile(engine, f"Q{number}", suffix or "", path, fault)


def _column(engine: str) -> tuple[int, str]:
    """Return the sort key of an engine's column: CSRBench's own engines come first."""
    if engine in TABLE_ORDER:
        return TABLE_ORDER.index(engine), engine
    return len(TABLE_ORDER), engine


def columns(names: Iterable[str]) -> list[str]:
    """Return the engines of a table without duplicates: CSRBench's own in its order, then the
    others by name.
    """
    return sorted(set(names), key=_column)


@lru_cache(maxsize=2)
def stream(folder: Path) -> Stream:
    """Return the input stream of a folder."""
    return read_stream(folder)


def judge_query(
    folder: Path,
    name: str,
    chosen: tuple[AnswerFile, ...],
    judging: Judging,
    written: QueryFolder = OURS,
) -> list[Result]:
    """Judge recordings of one query. They share the answers of windows, which are computed once.

    A recording that cannot be read has the outcome `error`; the others are judged. If results are
    to have evidence, each takes one more evaluation.
    """
    if name not in QUERIES:  # a file whose name has no query
        return [_unread(file, file.fault) for file in chosen]
    question = question_over(query(name, written), folder)
    answers = judging.shared_answers()
    results = []
    for file in chosen:
        try:
            recording = file.recording()
        except RefengineError as error:
            results.append(_unread(file, error))
            continue
        result = judge_relations(
            question,
            profile(file.engine),
            recording.relations,
            timestamps=recording.timestamps,
            missing=judging.bound,
            witnesses=judging.witnesses,
            answers=answers,
        )
        if judging.certificates is not None:
            write_certificate(
                judging.certificates, file.name, result.judgement, profile(file.engine), answers
            )
        if judging.keep:
            reports = list(map(EngineReport, recording.relations, recording.timestamps))
            result = with_evidence(result, question, reports)
        results.append(as_csrbench_result(result, file.engine, file.case))
    return results


def question_over(query: Query, folder: Path) -> Question:
    """Return the question that a query puts to the stream of a folder."""
    return Question(query, {query.windows[0].stream: stream(folder)})


def _unread(file: AnswerFile, error: RefengineError | None) -> Result:
    """Return the result of a recording that cannot be read."""
    return Result(
        engine=file.engine,
        suite="csrbench",
        case=file.case,
        outcome=Outcome.ERROR,
        explanation=str(error),
    )


def with_evidence(result: Result, question: Question, reports: list[EngineReport]) -> Result:
    """Return a verdict with its evidence."""
    from conformance.verdict import evidence

    return replace(result, evidence=evidence.of_benchmark(question, reports, result.judgement))


def as_csrbench_result(result: Result, engine: str, case: str) -> Result:
    """Return a verdict as the result of an item of CSRBench. The judgement is left out, since it
    stays in the process that judged.
    """
    return replace(result, engine=engine, suite="csrbench", case=case, judgement=None)


def suffix(result: Result) -> str:
    """Return the suffix of an extra recording, or the name of a file without a query; empty for a
    recording of the table.
    """
    name, _, extra = result.case.partition(" ")
    if name in QUERIES:
        return extra
    return result.case


def group_by_query(
    files: Iterable[AnswerFile], engine: str | None = None
) -> dict[str, tuple[AnswerFile, ...]]:
    """Return the recordings by query, of one engine or of all."""
    chosen: dict[str, list[AnswerFile]] = {}
    for file in files:
        if engine is None or file.engine == engine:
            chosen.setdefault(file.query, []).append(file)
    return {name: tuple(files) for name, files in sorted(chosen.items())}
