"""YABench: the recordings of a folder of its results, each with its query and its stream (Kolchin,
Wetz et al., ICWE 2016).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from conformance.verdict import evidence
from conformance.verdict.engine_report import EngineReport
from conformance.verdict.outcomes import Judging, Outcome, verdict
from conformance.verdict.results import Result
from refengine.core.profiles import profile
from refengine.core.query import Query
from refengine.core.semantics import UNKNOWN, Condition, Profile
from refengine.dialects import DIALECTS
from refengine.model.elements import Stream
from refengine.model.errors import InvalidQuery, RefengineError
from refengine.oracle.trial import Missing
from refengine.rdf.queries import read_query
from refengine.rdf.recordings import read_recording
from refengine.rdf.sources import list_files
from refengine.rdf.streams import read_stream


@dataclass(frozen=True)
class Run:
    """One run of an engine: QR_name, what it answered; SG_name, the stream; QUERY_name, the query
    in the engine's language.
    """

    engine: str
    folder: Path
    name: str

    @property
    def query(self) -> Query:
        """Raises InvalidQuery, also where the query has several streams: a run has one."""
        path = self.folder / f"QUERY_{self.name}"
        found = read_query(path, self.engine if self.engine in DIALECTS else "csparql")
        if len({window.stream for window in found.windows}) > 1:
            raise InvalidQuery("a run of YABench has one stream", rule="IO-2", place=str(path))
        return found

    @property
    def stream(self) -> Stream:
        """The elements."""
        return read_stream(self.folder / f"SG_{self.name}")

    @property
    def answers(self) -> list[EngineReport]:
        """The reports, stamped with the clock since the stream began."""
        recording = read_recording(self.folder / f"QR_{self.name}")
        return list(map(EngineReport, recording.relations, recording.timestamps))


def runs(engine: str, folder: Path) -> list[Run]:
    """The runs of an engine that a folder has, by name; none if it has no QR_ file."""
    return [
        Run(engine, folder, path.name.removeprefix("QR_"))
        for path in list_files(folder, "QR_*", "IO-2")
    ]


def first_window(query: Query, profile: Profile) -> int:
    """The t0 of YABench's windows: under window close the k-th ends at k slides from the stream's
    begin, for k = 1, 2, …; under content change the first begins with the stream.

    Source: YABench's WindowFactory. A window of 4 s that slides by 2 s ends at 2, 4, … s, so its t0
    is -2 s.
    """
    window = query.windows[0]
    if Condition.CLOSE not in profile.fields["report"]:
        return 0
    return window.step - window.span


def judge_run(run: Run, judging: Judging) -> Result:
    """Judge a run. A run with a malformed file is an error.

    Its windows are YABench's, unless the engine's profile states another t0; it begins with the
    stream, so that nothing may be missing before its first relation.
    """
    try:
        query, answers, stream = run.query, run.answers, run.stream
    except RefengineError as error:
        return Result(run.engine, "yabench", run.name, "", Outcome.ERROR, str(error))
    streams = {query.windows[0].stream: stream}
    chosen = profile(run.engine)
    if chosen.fields["t0"] == UNKNOWN:
        chosen = chosen.but(t0=first_window(query, chosen))
    found = verdict(
        query,
        streams,
        chosen,
        [answer.relation for answer in answers],
        timestamps=[answer.instant for answer in answers],
        missing=Missing(0, 1) if judging.missing is None else judging.missing,
        witnesses=judging.witnesses,
    )
    rests_on = evidence.benchmarked(query, streams, answers, found.facts) if judging.keep else None
    return Result(
        run.engine,
        "yabench",
        run.name,
        "",
        found.outcome,
        found.argument,
        evidence=rests_on,
        witnesses=found.witnesses,
    )
