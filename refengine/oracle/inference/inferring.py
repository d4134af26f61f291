"""From Python: every semantics that explains what an engine answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

from refengine.core.profile import Profile
from refengine.core.query import Query
from refengine.core.question import Question
from refengine.model.elements import Relation, Statements, Stream
from refengine.model.errors import InvalidSemantics
from refengine.model.messages import display
from refengine.oracle.inference.explaining import Explaining, explaining
from refengine.oracle.inference.semantics_set import (
    SemanticsSet,
    every_value,
    make_set,
    values_of_profile,
)
from refengine.oracle.trial import JudgementOptions, RecordingToJudge


def infer(
    query: Query,
    streams: Mapping[str, Stream],
    recording: Sequence[Relation],
    among: Profile | SemanticsSet | None = None,
    *,
    static: Statements = frozenset(),
    **options: Unpack[JudgementOptions],
) -> Explaining:
    """Return every semantics that explains the relations that were recorded of an engine's answer
    to a query over streams, as `judge` decides it.

    `among` are the semantics that are looked at: those that a profile allows, those that an
    earlier recording of the engine has left, or all. The keywords are those of `judge`. Raises what
    `judge` raises of wrong arguments.
    """
    if among is None:
        among = make_set(every_value(query))
    elif isinstance(among, Profile):
        among = make_set(values_of_profile(among))
    elif not isinstance(among, SemanticsSet):
        reason = f"must be a profile or what an inference has left, got {display(among)}"
        raise InvalidSemantics(f'{reason}; write profile("csparql")', rule="ORA-1", place="among")
    recorded = RecordingToJudge.of(Question(query, streams, static), recording, **options)
    return explaining(among, recorded)
