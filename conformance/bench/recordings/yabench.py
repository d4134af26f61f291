"""YABench: the verdicts on the runs in a folder of its results. Each run has a recording, a query
and a stream (Kolchin, Wetz et al., ICWE 2016).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.verdict import evidence
from conformance.verdict.engine_report import EngineReport
from conformance.verdict.outcomes import Judging, judge_relations
from conformance.verdict.results import Outcome, Result
from refengine.core.profile import UNKNOWN, Profile
from refengine.core.profiles import profile
from refengine.core.query import Query, from_table
from refengine.core.question import Question
from refengine.core.values import Condition
from refengine.dialects import DIALECTS
from refengine.model.elements import Stream
from refengine.model.errors import InvalidQuery, RefengineError
from refengine.model.messages import why
from refengine.oracle.trial import Missing
from refengine.rdf.queries import read_query
from refengine.rdf.recordings import read_recording
from refengine.rdf.sources import list_files, read_text
from refengine.rdf.streams import read_stream


@dataclass(frozen=True)
class RecordedRun:
    """One recorded run of an engine. The file QR_name has what it answered, SG_name the stream, and
    QUERY_name the query in the engine's language, or as a table in JSON, which is what an engine of
    the dialect `table` is sent.
    """

    engine: str
    folder: Path
    name: str

    @property
    def query(self) -> Query:
        """The query of the run. Raises InvalidQuery, also for a query over several streams, since a
        run has one stream.
        """
        path = self.folder / f"QUERY_{self.name}"
        query = _query_of_table(path)
        if query is None:
            dialect = "csparql"
            if self.engine in DIALECTS:
                dialect = self.engine
            query = read_query(path, dialect)
        if len({window.stream for window in query.windows}) > 1:
            raise InvalidQuery("a run of YABench has one stream", rule="IO-2", place=str(path))
        return query

    @property
    def stream(self) -> Stream:
        """The stream of the run."""
        return read_stream(self.folder / f"SG_{self.name}")

    @property
    def answers(self) -> list[EngineReport]:
        """The reports of the run. Their stamps are the time of the clock since the stream began."""
        recording = read_recording(self.folder / f"QR_{self.name}")
        return list(map(EngineReport, recording.relations, recording.timestamps))


def _query_of_table(path: Path) -> Query | None:
    """Return the query of a file that has it as a table (QRY-1) in JSON; None if the file does not
    begin with `{`, as no query text does. Raises InvalidQuery, with the file as place.
    """
    text = read_text(path, InvalidQuery, "IO-2")
    if not text.lstrip().startswith("{"):
        return None
    try:
        return from_table(json.loads(text))
    except RefengineError as error:
        raise error.at(str(path)) from None
    except (ValueError, RecursionError) as error:
        raise InvalidQuery(f"not JSON: {why(error)}", rule="IO-2", place=str(path)) from None


def recorded_runs(engine: str, folder: Path) -> list[RecordedRun]:
    """Return the runs of an engine in a folder, in the order of their names; none if there is no
    QR_ file.
    """
    return [
        RecordedRun(engine, folder, path.name.removeprefix("QR_"))
        for path in list_files(folder, "QR_*", "IO-2")
    ]


def t0_of_first_window(query: Query, engine_profile: Profile) -> int:
    """Return the t0 of YABench's windows, in ms from the beginning of the stream.

    Under window close the k-th window ends after k slides, for k = 1, 2, …: a window of 4 s that
    slides by 2 s ends at 2, 4, … s, so its t0 is -2 s. Under content change the first window begins
    with the stream. Source: YABench's WindowFactory.
    """
    window = query.windows[0]
    if Condition.CLOSE not in engine_profile.fields["report"]:
        return 0
    return window.step - window.span


def judge_recorded_run(run: RecordedRun, judging: Judging) -> Result:
    """Judge a run. A run with a malformed file has the outcome `error`.

    Its windows are YABench's, unless the engine's profile states a t0. The recording begins with
    the stream, so no output may be missing before its first relation, and one after its last.
    """
    try:
        query, answers, stream = run.query, run.answers, run.stream
    except RefengineError as error:
        return Result(
            engine=run.engine,
            suite="yabench",
            case=run.name,
            outcome=Outcome.ERROR,
            explanation=str(error),
        )
    question = Question(query, {query.windows[0].stream: stream})
    chosen = profile(run.engine)
    if chosen.fields["t0"] == UNKNOWN:
        chosen = chosen.but(t0=t0_of_first_window(query, chosen))
    missing: int | Missing = Missing(0, 1)
    if judging.missing is not None:
        missing = judging.missing
    result = judge_relations(
        question,
        chosen,
        [answer.relation for answer in answers],
        timestamps=[answer.instant for answer in answers],
        missing=missing,
        witnesses=judging.witnesses,
    )
    if judging.keep:
        evidence_of_run = evidence.of_benchmark(question, answers, result.judgement)
        result = replace(result, evidence=evidence_of_run)
    return replace(result, engine=run.engine, suite="yabench", case=run.name, judgement=None)
