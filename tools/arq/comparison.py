"""Compares two answers to a query."""

from __future__ import annotations

import re
import signal
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from refengine.core.query import Body
from refengine.model.compare import TolerantNumber, equal, representatives, value
from refengine.model.elements import Bag, Dataset, Relation, Row, parse_literal, row
from refengine.model.errors import ForbiddenAccess, InvalidQuery, RefengineError, Unsupported
from refengine.model.terms import Term
from refengine.sparql import Limits, evaluate

SECONDS = 20.0  # of one evaluation of ours
STEPS = 2_000_000  # of one evaluation
AGREE = ("equal", "refused", "illegal")  # outcomes that are no differences


def solutions(variables: Sequence[str], mappings: Iterable[dict[str, Term]]) -> Relation:
    """Return a relation from its solution mappings."""
    return Relation(tuple(variables), Counter(map(row, mappings)))


@dataclass(frozen=True)
class Answer:
    """A relation, or why there is none: `error` is `invalid` (not a legal query), `unsupported` (no
    single answer) or `fails`, and `message` says more.
    """

    relation: Relation | None
    error: str = ""
    message: str = ""

    def plain(self) -> Any:
        """Return the answer as values of JSON."""
        if self.relation is None:
            return {self.error: self.message}
        if self.relation.variables == ("ask",):
            return next(dict(line)["ask"].startswith('"true') for line in self.relation.rows)
        return [dict(line) for line in sorted(self.relation.rows.elements())]


def our_answer(text: str, data: Dataset) -> Answer:
    """Return the answer of refengine.sparql to a body. An error that it raises is an answer, and so
    is a time of more than SECONDS.
    """

    def late(*_: object) -> None:
        raise TimeoutError(f"no answer in {SECONDS:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        return Answer(evaluate(Body(text).algebra, data, Limits(steps=STEPS)))
    except InvalidQuery as error:
        return Answer(None, "invalid", error.reason.splitlines()[0][:200])
    except (Unsupported, ForbiddenAccess) as error:
        return Answer(None, "unsupported", error.reason)
    except RefengineError as error:
        return Answer(None, "fails", str(error)[:200])
    except KeyboardInterrupt:
        raise
    except Exception as error:  # a defect, of whatever kind, is what is looked for
        return Answer(None, "fails", f"{type(error).__name__}: {str(error)[:200]}")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def compare_answers(text: str, ours: Answer, theirs: Answer) -> str:
    """Return the outcome of a comparison of two answers to the query `text`.

    They agree in three outcomes: `equal`, `refused` (by us), and `illegal` (both say so). The
    others are differences: `rows`; `variables` (the same rows, but other variables); `datatypes`
    (the same values, but other types); `legality` (only one says that the query is legal); `ours
    fails` and `theirs fails`.
    """
    if ours.relation is None or theirs.relation is None:
        return _compare_errors(ours, theirs)
    is_reduced = re.search(r"\bREDUCED\b", text) is not None
    return _compare_relations(ours.relation, theirs.relation, is_reduced)


def _compare_errors(ours: Answer, theirs: Answer) -> str:
    """Return the outcome for two answers of which at least one is an error."""
    if ours.error == "unsupported":
        return "refused"
    if ours.error == "fails":
        return "ours fails"
    if theirs.error == "fails":
        return "theirs fails"
    if ours.error and theirs.error:
        return "illegal"
    return "legality"


def _compare_relations(ours: Relation, theirs: Relation, is_reduced: bool) -> str:
    """Return the outcome for two relations. With REDUCED the number of equal rows is left open."""
    our_rows = ours.rows
    their_rows = theirs.rows
    if is_reduced:
        our_rows = representatives(our_rows)
        their_rows = representatives(their_rows)
    try:
        if not equal(our_rows, their_rows):
            return "rows"
        if set(ours.variables) != set(theirs.variables):
            return "variables"
        if equal(_with_types(our_rows), _with_types(their_rows)):
            return "equal"
        return "datatypes"
    except Unsupported:
        return "refused"  # blank nodes too symmetric to compare


def _with_types(rows: Bag) -> Bag:
    """Return the rows with a further column for each number, which holds its datatype."""
    typed: Bag = Counter()
    for line, count in rows.items():
        typed[_with_type(line)] += count
    return typed


def _with_type(line: Row) -> Row:
    """Return a row with a further column for each number, which holds its datatype."""
    datatypes = [
        (f"{name} datatype", f"<{parse_literal(term).datatype}>")
        for name, term in line
        if isinstance(value(term), TolerantNumber)
    ]
    return tuple(sorted([*line, *datatypes]))


@dataclass(frozen=True)
class Difference:
    """A query with data on which two answers differ. `kind` is the outcome."""

    kind: str
    text: str
    data: tuple[str, ...]
    ours: Any
    theirs: Any
