"""§8 R2S: relation-to-stream operators over bags, and the step that applies one of them.

An operator compares an answer with a baseline, which is another answer: the previous one, unless
R2S-7 or R2S-8 says otherwise.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from refengine.core.values import R2S, Base, Empty
from refengine.model import compare
from refengine.model.elements import Bag


def rstream(now: Bag, before: Bag) -> Bag:
    """R2S-1: Return the answer: Rstream emits it whole."""
    return now


def istream(now: Bag, before: Bag) -> Bag:
    """R2S-2: Return the rows that the answer holds more often than the baseline, each as often as
    the difference. Rows are compared by value.

    >>> a, b, c = ((("x", f"<urn:{name}>"),) for name in "abc")
    >>> istream(Counter([a, a, b]), Counter([a, c])) == Counter([a, b])
    True
    """
    return compare.difference(now, before)[0]


def dstream(now: Bag, before: Bag) -> Bag:
    """R2S-3: Return the rows that the baseline holds more often than the answer, each as often as
    the difference. Rows are compared by value.
    """
    return compare.difference(before, now)[0]


def append(now: Bag, kept: Bag) -> Bag:
    """R2S-7: Return the rows that the answer holds more often than `kept`, the answer over what was
    in the windows at the previous evaluation and still is. These rows rest on something new.
    """
    return compare.difference(now, kept)[0]


def relation_to_stream(operator: R2S, now: Bag, base: Bag) -> Bag:
    """R2S-4: Return the output of an operator for an answer and its baseline: the answer of the
    previous evaluation, at first the empty one (for append see R2S-7).
    """
    match operator:
        case R2S.RSTREAM:
            return rstream(now, base)
        case R2S.ISTREAM:
            return istream(now, base)
        case R2S.DSTREAM:
            return dstream(now, base)
        case R2S.APPEND:
            return append(now, base)


def base_moves(choice: Base | None, base: Bag, now: Bag) -> bool:
    """R2S-8: Return whether an evaluation's answer becomes the next baseline: always, or, under
    `previous-new`, only if it holds a row more often than the baseline does.
    """
    match choice:
        case Base.NEW:
            return bool(compare.difference(now, base)[0])
        case Base.PREVIOUS | None:
            return True


def emits_output(empty: Empty, output: Bag, last: Bag) -> bool:
    """R2S-5: Return whether an output is emitted. An output that is not empty always is. An empty
    one is emitted under `emit` and suppressed under `suppress`. R2S-9: under `once` it is emitted
    if `last` is not empty.

    `last` is the output of the evaluation before, whether that was emitted or not. It is empty at
    the first evaluation.
    """
    match empty:
        case Empty.EMIT:
            return True
        case Empty.SUPPRESS:
            return bool(output)
        case Empty.ONCE:
            return bool(output) or bool(last)


class AnswerChange(NamedTuple):
    """A body's answer at an evaluation, and what R2S needs to compare it with the baseline.

    `variables` are the columns of its rows, and `now` is the whole answer. `compared` and
    `baseline` are the answer and the baseline, but rows that both have may be left out of both. For
    the answer {a, b} and the baseline {b, c} they are {a, b} and {b, c}, or {a} and {c}.
    """

    variables: tuple[str, ...]
    now: Bag
    compared: Bag
    baseline: Bag


class Output(NamedTuple):
    """What an operator makes of an answer: its rows, whether they are emitted, and whether the
    answer becomes the next baseline.
    """

    rows: Bag
    is_emitted: bool
    base_moves: bool


class RelationToStream:
    """An operator that is applied at one evaluation after the other. `last` is the output of the
    evaluation before, emitted or not.
    """

    def __init__(self, operator: R2S, base: Base | None, empty: Empty) -> None:
        self.operator = operator
        self.emits_whole_answers = operator.emits_whole_answers  # asked at each evaluation
        self.base_choice = base
        self.empty = empty
        self.last: Bag = Counter()

    def step(self, change: AnswerChange) -> Output:
        """Return the output of the next evaluation (R2S-1 to R2S-9)."""
        compared = change.compared
        if self.emits_whole_answers:
            compared = change.now
        rows = relation_to_stream(self.operator, compared, change.baseline)
        is_emitted = emits_output(self.empty, rows, self.last)
        self.last = rows
        moves = base_moves(self.base_choice, change.baseline, change.compared)
        return Output(rows, is_emitted, moves)
