"""Wrong incremental evaluation (ENG-6): each forgets something of what comes, stays or goes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.wrong_engines import Miniature
from refengine.incremental import Moving
from refengine.incremental.algebra import Network
from refengine.incremental.answer_delta import Kept
from refengine.incremental.numbers import Sum
from refengine.model.elements import Triple
from refengine.sparql.values import Number

NOBODY = "no engine that we know"
right_add = Sum.add


def nothing_leaves(moving: Moving, contents: Iterable[Any]) -> None:
    """Elements come, and none goes."""


def the_first_that_leaves_takes_it(network: Network, triple: Triple) -> None:
    """A triple that several elements have goes with the first of them."""
    for basic, pattern in network.present.pop(triple, ()):
        basic.leave(triple, pattern)


def what_came_stays_news(kept: Kept) -> None:
    """The base never moves on: rows that are as they were before are news, if they came."""


def sums_in_doubles(total: Sum, one: Number, count: int) -> None:
    """A sum is a double, from which what goes is subtracted."""
    right_add(total, one, count)
    running: float = vars(total).get("running", 0.0) + count * float(one.value)
    vars(total)["running"] = running
    above, below = running.as_integer_ratio()
    total.exact[1] = above * (2**1074 // below)


MINIATURES = (
    Miniature(
        "ENG-6",
        "nothing leaves",
        NOBODY,
        "refengine.incremental.maintained:Moving.leave",
        nothing_leaves,
    ),
    Miniature(
        "ENG-6",
        "the first that leaves takes it",
        NOBODY,
        "refengine.incremental.algebra:Network.leave",
        the_first_that_leaves_takes_it,
    ),
    Miniature(
        "ENG-6",
        "what stays is told again",
        NOBODY,
        "refengine.incremental.answer_delta:Kept.rebase",
        what_came_stays_news,
    ),
    Miniature(
        "ENG-6", "sums in doubles", NOBODY, "refengine.incremental.numbers:Sum.add", sums_in_doubles
    ),
)
