"""The answers to the wordings of a benchmark's query, which must be the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from conformance.bench.wordings import make_wordings
from refengine import evaluate
from refengine.core import r2r
from refengine.core.query import from_table
from refengine.core.question import Question
from refengine.core.semantics import Profile
from refengine.model.elements import Bag


def answers_to_wordings(
    question: Question, profile: Profile, table: Mapping[str, Any]
) -> list[list[Bag]]:
    """Return the rows of all reports for each wording of a query, by the definition: merged, by the
    stream, and numbered.
    """
    found = []
    for wording in make_wordings(table):
        setting = replace(question, query=from_table(wording)).under(profile.semantics())
        reports = evaluate(
            setting.query,
            setting.streams,
            setting.semantics,
            static=setting.static,
            answer=r2r.defined_answer,
        )
        found.append([report.relation.rows for report in reports])
    return found
