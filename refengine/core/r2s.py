"""§8 R2S: relation-to-stream operators over bags, and the step that applies one."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from refengine.core.semantics import R2S, Base, Empty
from refengine.model import compare
from refengine.model.elements import Bag


def rstream(now: Bag, before: Bag) -> Bag:
    """R2S-1: Rstream gives the answer."""
    return now


def istream(now: Bag, before: Bag) -> Bag:
    """R2S-2: Istream gives what the answer holds more of than the base, as a bag, rows compared by
    value.
    """
    return compare.difference(now, before)[0]


def dstream(now: Bag, before: Bag) -> Bag:
    """R2S-3: Dstream gives what the base holds more of than the answer, as a bag, rows compared by
    value.
    """
    return compare.difference(before, now)[0]


def append(now: Bag, kept: Bag) -> Bag:
    """R2S-7: append gives what the answer holds more of than the answer over what the content has
    kept.
    """
    return compare.difference(now, kept)[0]


def relation_to_stream(operator: R2S, now: Bag, base: Bag) -> Bag:
    """R2S-4: the base of the difference is the answer of the previous evaluation, initially empty
    (append: R2S-7).
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
    """R2S-8: whether an evaluation's answer is the base of the next difference: every one is, or
    only one that holds something new.
    """
    match choice:
        case Base.NEW:
            return bool(compare.difference(now, base)[0])
        case Base.PREVIOUS | None:
            return True


def emitted(empty: Empty, output: Bag, last: Bag) -> bool:
    """R2S-5: an empty output is emitted or suppressed; a suppressed one is still an evaluation.
    R2S-9: or it is emitted once, after one that is not empty.
    """
    match empty:
        case Empty.EMIT:
            return True
        case Empty.SUPPRESS:
            return bool(output)
        case Empty.ONCE:
            return bool(output) or bool(last)


class AnswerChange(NamedTuple):
    """A body's answer at an evaluation, and how it differs from the base that it is compared with.

    `variables` are the columns of its rows, and `now` is the whole answer. `came` less `gone` is
    the answer less the base: rows that both have may be left out of both. For the answer {a, b} and
    the base {b, c}, `came` and `gone` may be {a, b} and {b, c}, or {a} and {c}.
    """

    variables: tuple[str, ...]
    now: Bag
    came: Bag
    gone: Bag


class Output(NamedTuple):
    """What an operator makes of an answer: its rows, whether they are emitted, and whether the
    answer is the base of the next difference.
    """

    rows: Bag
    is_emitted: bool
    base_moves: bool


class RelationToStream:
    """An operator that is applied at one evaluation after the other, and its last output."""

    def __init__(self, operator: R2S, base: Base | None, empty: Empty) -> None:
        self.operator = operator
        self.base_choice = base
        self.empty = empty
        self.last: Bag = Counter()

    def step(self, change: AnswerChange) -> Output:
        """Return the output of the next evaluation (R2S-1 to R2S-9)."""
        compared = change.came
        if self.operator is R2S.RSTREAM:
            compared = change.now
        rows = relation_to_stream(self.operator, compared, change.gone)
        is_emitted = emitted(self.empty, rows, self.last)
        self.last = rows
        return Output(rows, is_emitted, base_moves(self.base_choice, change.gone, change.came))
