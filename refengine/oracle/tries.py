"""§11 All assignments that a verdict tries, in order (ORA-2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from refengine.core.semantics import UNKNOWN, Profile, Semantics
from refengine.model.errors import Unsupported
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.assignments import (
    assignments,
    fit_to_stated_window,
    plans,
    split_earlier_into_t0_classes,
)
from refengine.oracle.beginnings import EarlierBeginnings, is_within_64_bits, shows_empty_windows
from refengine.oracle.beyond_64_bits import beyond_64_bits
from refengine.oracle.trial import RecordingToJudge, T0Class

Assignment = tuple[Semantics, T0Class]


def every_assignment(
    recorded: RecordingToJudge, profile: Profile, answers: SharedAnswers
) -> Iterator[Assignment | Unsupported]:
    """Yield the assignments of a profile for a recording: first those of `assignments`, then those
    with an earlier t0. Where some of the latter cannot be tried, an error that says so is yielded
    in their place.
    """
    stated = recorded.first_stated_window()
    yield from assignments(recorded.question, profile, answers.plan, stated)
    if profile.fields.get("t0", UNKNOWN) == UNKNOWN:
        yield from _with_earlier_t0(recorded, profile, answers)


def _with_earlier_t0(
    recorded: RecordingToJudge, profile: Profile, answers: SharedAnswers
) -> Iterator[Assignment | Unsupported]:
    """Yield the assignments with a t0 before the range of ORA-2."""
    stated = recorded.first_stated_window()
    for planned in plans(recorded.question, profile, answers.plan):
        if not shows_empty_windows(planned.semantics) or not planned.own:
            continue
        earlier = EarlierBeginnings(recorded, planned, answers)
        try:
            for t0_class in split_earlier_into_t0_classes(planned, earlier, stated is not None):
                fitting: T0Class | None = t0_class
                if stated is not None:
                    fitting = fit_to_stated_window(planned, t0_class, stated)
                if fitting is None:
                    continue
                if is_within_64_bits(fitting.t0):
                    yield replace(planned.semantics, t0=fitting.t0), fitting
                elif earlier.fits(fitting.t0):
                    yield beyond_64_bits(fitting.t0)
        except Unsupported as error:
            yield error
