"""§8 Relation-to-stream operators over bags."""

from __future__ import annotations

from refengine import compare
from refengine.model import Bag
from refengine.semantics import R2S, Empty


def rstream(now: Bag, before: Bag) -> Bag:
    """R2S-1: Rstream gives the answer."""
    return now


def istream(now: Bag, before: Bag) -> Bag:
    """R2S-2: Istream gives what the answer holds more of than the base, as a bag, rows compared by value."""
    return compare.difference(now, before)[0]


def dstream(now: Bag, before: Bag) -> Bag:
    """R2S-3: Dstream gives what the base holds more of than the answer, as a bag, rows compared by value."""
    return compare.difference(before, now)[0]


def relation_to_stream(operator: R2S, now: Bag, before: Bag) -> Bag:
    """R2S-4: the base of the difference is the answer of the previous evaluation, initially empty."""
    match operator:
        case R2S.RSTREAM:
            return rstream(now, before)
        case R2S.ISTREAM:
            return istream(now, before)
        case R2S.DSTREAM:
            return dstream(now, before)


def emitted(empty: Empty, output: Bag) -> bool:
    """R2S-5: an empty answer is emitted or suppressed; a suppressed one is still an evaluation."""
    match empty:
        case Empty.EMIT:
            return True
        case Empty.SUPPRESS:
            return bool(output)
