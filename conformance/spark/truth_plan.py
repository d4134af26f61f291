"""What a run of the command `truth` is to compute, and the manifest by which it is known again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from conformance.spark import shard
from conformance.spark.ground_truth import check_query
from conformance.spark.stored_stream import StoredFormat, StoredSource, find_format
from conformance.spark.truth_query import TruthQuery
from refengine.core.query import Window
from refengine.core.semantics import show
from refengine.model.elements import TIME_BOUND
from refengine.model.errors import InvalidStream
from refengine.oracle.trial import Missing
from refengine.rdf.recordings import Recording


@dataclass(frozen=True)
class TruthPlan:
    """What a run of the command computes.

    `sources` are the streams. `parts` is into how many parts they are cut at most (None: as
    `ground_truth.usual_number_of_parts` says). With `quarantine` records that are no triples are
    set aside; without it they are an error. `recording` is what an engine answered, if its output
    is to be judged; its result is that of `engine` and `case`, and so many reports as `missing`
    says may be absent from it at its ends (ORA-3).
    """

    truth_query: TruthQuery
    sources: Sequence[StoredSource]
    parts: int | None = None
    quarantine: bool = False
    recording: Recording | None = None
    engine: str = ""
    case: str = ""
    missing: int | Missing = 1

    @cached_property
    def formats(self) -> Sequence[StoredFormat]:
        """The format of each source. The files are listed when this is first asked for."""
        return [find_format(source) for source in self.sources]

    def check(self) -> None:
        """Raise RefengineError for a query without a meaning, a stream whose format is not clear,
        or a recording that cannot be compared. Call it before anything is written.
        """
        _ = self.formats
        if self.recording is not None:
            _check_recording(self.recording, self.truth_query.query.body.variables)
        check_query(self.truth_query)

    def manifest(self) -> Mapping[str, Mapping[str, Any]]:
        """Return what must be the same when a run is resumed: what was asked, and by which version
        of the project.
        """
        query, semantics = self.truth_query.query, self.truth_query.semantics
        what_was_asked = {
            "streams": [list(source) for source in self.sources],
            "body": query.body.text,
            "windows": [_texts(spec) for spec in query.windows],
            "r2s": query.r2s and str(query.r2s),
            "registered": query.registered,
            "semantics": {name: show(value) for name, value in vars(semantics).items()},
            "static": sorted(map(list, self.truth_query.static)),
            "witnesses": list(self.truth_query.witnesses),
            "definition": self.truth_query.is_evaluator_requested,
            "parts": self.parts,
            "quarantine": self.quarantine,
        }
        return {"asked": what_was_asked, "versions": {"refengine": shard.code()}}


def _check_recording(recording: Recording, variables: Sequence[str]) -> None:
    """Raise InvalidStream for a relation that cannot be compared."""
    pairs = zip(recording.relations, recording.timestamps, strict=True)
    for number, (relation, at) in enumerate(pairs, 1):
        others = sorted({name for row in relation.rows for name, _ in row} - {*variables})
        if others:
            reason = f"has ?{others[0]}, which the query has not"
        elif not -TIME_BOUND <= (at or 0) < TIME_BOUND:
            reason = "its timestamp must be within 64 bits"
        else:
            continue
        raise InvalidStream(f"relation {number}: {reason}", rule="IO-2", place="answers")


def _texts(spec: Window) -> dict[str, str | None]:
    """Return the fields of a window as texts, or None for fields without a value."""
    return {name: None if value is None else str(value) for name, value in vars(spec).items()}
