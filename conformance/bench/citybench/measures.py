"""What CityBench measures of a run: latency, memory and completeness."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from conformance.bench.benchmark import Run
from conformance.bench.citybench.configuration import Knobs
from conformance.bench.metrics.citybench import completeness, latencies, observation_variables
from conformance.bench.metrics.resources import MEBIBYTE
from refengine.model.elements import Term
from refengine.oracle.judge import Judgement

MOST_REPORTS = 1_000_000  # of which completeness is measured


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
