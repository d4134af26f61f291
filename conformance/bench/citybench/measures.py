"""What CityBench measures of a run: latency, memory and completeness, by which observations answers
name and when (docs/benchmarks.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from statistics import fmean
from typing import Any, NamedTuple

from conformance.bench.benchmark import Run
from conformance.bench.citybench.configuration import Knobs
from conformance.bench.metrics.resources import MEBIBYTE
from refengine.model.elements import Bag, Row, Term, canonical_bags, canonical_rows
from refengine.model.terms import canonical
from refengine.oracle.judge import Judgement

MOST_REPORTS = 1_000_000  # of which completeness is measured
MARK = "obId"  # what the names of the variables have that name observations


class Completeness(NamedTuple):
    """How many observations answers ought to name, how many of these they name, and how many
    others.
    """

    expected: int
    captured: int
    unexpected: int

    @property
    def share(self) -> Fraction | None:
        """The captured ones of the expected ones, from 0 to 1; None if none is expected."""
        if not self.expected:
            return None
        return Fraction(self.captured, self.expected)


def observation_variables(variables: Iterable[str]) -> tuple[str, ...]:
    """Return the variables that name observations: those whose names have `obId` in them."""
    return tuple(name for name in variables if MARK in name)


def completeness(
    expected: Iterable[Bag],
    answered: Iterable[Bag],
    variables: Sequence[str],
) -> Completeness:
    """Return how complete answers are: of the observations that the expected answers name, how many
    the engine's name. An observation counts once, in whichever answer it is.

    If no variable names observations, distinct rows are counted in their place, which CityBench
    does not measure.

    >>> row = (("obId1", "<urn:a>"),)
    >>> completeness([{row: 1}, {row: 2}], [], ["obId1"])
    Completeness(expected=1, captured=0, unexpected=0)
    """
    due = _named(canonical_bags(expected, "expected answer"), variables)
    found = _named(canonical_bags(answered, "answer"), variables)
    return Completeness(len(due), len(due & found), len(found - due))


def _named(bags: Iterable[Bag], variables: Sequence[str]) -> set[Term] | set[Row]:
    """Return the observations that bags of rows name, or their rows if no variable names any."""
    if not variables:
        return {row for bag in bags for row in bag}
    return {term for bag in bags for term in observations_of(bag, variables)}


def observations_of(bag: Bag, variables: Sequence[str]) -> Iterator[Term]:
    """Yield the observations that the rows of a bag name."""
    for row in bag:
        for name, term in row:
            if name in variables:
                yield term


def latencies(
    answers: Iterable[tuple[Bag, float]],
    sent: Mapping[Term, float],
    variables: Sequence[str],
) -> Mapping[Term, float]:
    """Return the latency of each observation that an answer names: from when it was sent to the
    first answer that names it, in seconds.

    `answers` are bags with when they came, and `sent` says when an observation was sent; of others
    no latency is known. Times are in seconds of one clock.
    """
    sent = {canonical(observation): instant for observation, instant in sent.items()}
    found: dict[Term, float] = {}
    for number, (rows, came) in enumerate(answers, 1):
        bag = canonical_rows(rows, f"answer {number}")
        for observation in observations_of(bag, variables):
            if observation in sent and observation not in found:
                found[observation] = came - sent[observation]
    return found


def measure(run: Run, judgement: Judgement | None) -> Mapping[str, Any]:
    """Return CityBench's measures of a run, and the knobs with which it was made.

    `latency` is the mean in ms over all observations that answers name, None if there is none:
    queries without such a variable have no latency. `memory` is the mean in MiB over the samples.
    `completeness` is None if the expected answers are not known.
    """
    measures: dict[str, Any] = {"knobs": _knobs_as_json(run), "latency": _latency(run)}
    samples = run.feeding.samples
    if samples:
        measures["memory"] = fmean(sample.rss for sample in samples) / MEBIBYTE
    if judgement is not None and judgement.trial is not None:
        exchange = run.feeding.exchange
        variables = observation_variables(exchange.question.query.body.variables)
        expected = (report.relation.rows for report in judgement.reports.first(MOST_REPORTS))
        answered = (relation.rows for relation in exchange.relations)
        found = completeness(expected, answered, variables)
        measures["completeness"] = {
            "expected": found.expected,
            "captured": found.captured,
            "unexpected": found.unexpected,
            "is_of_observations": bool(variables),
        }
    return measures


def _knobs_as_json(run: Run) -> Mapping[str, Any]:
    """Return the knobs of a run, ready for JSON."""
    knobs = run.workload.options
    assert isinstance(knobs, Knobs)
    return vars(knobs)


def _latency(run: Run) -> float | None:
    """Return the mean latency of a run, in ms."""
    feeding = run.feeding
    variables = observation_variables(feeding.exchange.question.query.body.variables)
    answers = []
    for answer in feeding.exchange.answers:
        came = feeding.times.ended
        if answer.push_instant is not None:
            came = feeding.times.replied.get(answer.push_instant, came)
        answers.append((answer.relation.rows, came))
    found = latencies(answers, _times_sent(run), variables)
    if not found:
        return None
    return 1000 * fmean(found.values())


def _times_sent(run: Run) -> Mapping[Term, float]:
    """Return when each observation was sent, in seconds since the first element was."""
    sent: dict[Term, float] = {}
    times = run.feeding.times.sent
    for stream in run.feeding.exchange.question.streams.values():
        for element in stream:
            if element.app in times:
                for subject, *_ in element.graph:
                    sent.setdefault(subject, times[element.app])
    return sent
