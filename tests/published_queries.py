"""The queries that CityBench, LSBench and SRBench declare, at the scale `small`: their data, and
their answers by the engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from conformance.bench import streams as benchmark_streams
from conformance.bench.benchmark import Choice, Workload
from conformance.bench.catalogue import BENCHMARKS
from conformance.bench.wordings import make_wordings
from refengine import evaluate
from refengine.core import r2r
from refengine.core.profile import Profile
from refengine.core.query import from_table
from refengine.core.question import Question
from refengine.model.elements import Relation


@pytest.fixture(autouse=True)
def kept_streams(tmp_path_factory, monkeypatch):
    """Streams are kept in a folder of the tests, in each module that imports this."""
    folder = tmp_path_factory.getbasetemp() / "bench-streams"
    monkeypatch.setattr(benchmark_streams, "cache_folder", lambda: folder)


@cache
def small_test(benchmark: str, name: str) -> Workload:
    """Return a query's last test at the scale `small`."""
    return BENCHMARKS[benchmark].workloads(Choice(only=(name,)))[-1]


@cache
def question_of(benchmark: str, name: str) -> Question:
    """Return a query over the data of the scale `small`."""
    test = small_test(benchmark, name)
    streams = {iri: source.load().stream for iri, source in test.streams.items()}
    return Question(test.query, streams, test.static_source.load())


def relations_of(question: Question, profile: Profile) -> list[Relation]:
    """Return the relations of all reports, by the engine."""
    reports = evaluate(
        question.query,
        question.streams,
        profile.semantics(),
        static=question.static,
        answer=r2r.defined_answer,
    )
    return [report.relation for report in reports]


def relations(benchmark: str, name: str) -> list[Relation]:
    """Return the relations of a query at the scale `small`."""
    return relations_of(question_of(benchmark, name), small_test(benchmark, name).semantics)


def answers_to_wordings(
    question: Question, profile: Profile, table: Mapping[str, Any]
) -> list[list[Relation]]:
    """Return the relations of each wording of a query: merged, by the stream, and numbered."""
    return [
        relations_of(replace(question, query=from_table(wording)), profile)
        for wording in make_wordings(table)
    ]
