"""§14 Eviction policies: which binding makes room for a new one.

A policy is a value. `start` makes an `Eviction` of it, which has the state: it is told which slots
of the memory are filled, used and emptied, and it chooses the slot whose binding goes. To add a
policy, write these two classes:

>>> from dataclasses import dataclass
>>> from refengine.joins.policies import Eviction, Policy
>>> class NewestSlot(Eviction):
...     def fill(self, slot):
...         self.newest = slot
...     def choose(self):
...         return self.newest
>>> @dataclass(frozen=True)
... class Lifo(Policy):
...     '''Last in, first out.'''
...     def start(self, capacity):
...         return NewestSlot()
>>> eviction = Lifo().start(2)
>>> eviction.fill(0), eviction.fill(1)
(None, None)
>>> eviction.choose()
1
"""

from __future__ import annotations

import random
from collections import OrderedDict
from dataclasses import dataclass
from enum import StrEnum
from math import inf, log
from typing import NoReturn

from refengine.model.errors import RefengineError

TAU_OF_EXPONENTIAL = 0.01  # the paper's
MOST_STEPS = 1_000_000  # in which CLOCK must come to evict a binding with one result
LARGEST = 1e9  # number of a CLOCK: beyond it, subtracting 1e-6 may not change a float


class Eviction:
    """The state of a policy over the slots 0, 1, … of a memory."""

    def fill(self, slot: int) -> None:
        """Note that a new binding stands in a slot."""

    def use(self, slot: int, results: int) -> None:
        """Note that the binding in a slot is part of so many new results."""

    def arrive(self, slot: int, results: int, agreeing: int) -> None:
        """Note of the binding that `fill` has just told of how many results it completed, and with
        how many stored bindings it agrees (BND-4). Only a policy that `counts_arrivals` is told.
        """

    def empty(self, slot: int) -> None:
        """Note that the binding in a slot was removed, but not by `choose`."""

    def choose(self) -> int:
        """Return the slot whose binding is evicted. Every slot is filled."""
        raise NotImplementedError


class Policy:
    """Which binding is evicted, as a value with every choice that it has."""

    @property
    def counts_arrivals(self) -> bool:
        """Whether `Eviction.arrive` is to be called, which takes time to count."""
        return False

    def start(self, capacity: int) -> Eviction:
        """Return the state of the policy for a memory of so many slots, all empty."""
        raise NotImplementedError


# CLOCK


class Decay(StrEnum):
    """How CLOCK depreciates a score: it subtracts `amount`, or multiplies by it."""

    LINEAR = "linear"
    EXPONENTIAL = "exponential"


class Threshold(StrEnum):
    """Which scores CLOCK evicts: those below τ, or those at τ, too."""

    BELOW = "below"
    AT_OR_BELOW = "at-or-below"


class Pointer(StrEnum):
    """Where CLOCK's pointer is after an eviction: at the next slot, or at the same one."""

    MOVES_ON = "moves-on"
    STAYS = "stays"


class ArrivalCredit(StrEnum):
    """What CLOCK adds to the score w0 of a new binding.

    `nothing`: 0. `results`: 1 for each result that it completes when it comes. `agreeing`: the
    same, and 1 for each stored binding with which it agrees (BND-4).
    """

    NOTHING = "nothing"
    RESULTS = "results"
    AGREEING = "agreeing"


@dataclass(frozen=True)
class Clock(Policy):
    """CLOCK (Gao, Scharrenbach, Bernstein, ESWC 2014).

    `decay` and `amount` say how a score is depreciated, and `tau` is the threshold: w - 1 and τ = 0
    of CLOCK, w * rho and τ = 0.01 of CLOCK_exp.

    `start_score` is w0, which the paper does not state: 1 here, the worth of one result.

    `threshold` says whether a score that comes to τ itself is evicted. `below` is the paper's
    "lower than τ": with w0 = 1 a linear score survives the pointer once.

    `pointer` says where the pointer is after an eviction, of which the paper says nothing:
    `moves-on` here, so that a new binding is the last one that it comes to.

    `credit` says what is added to w0 when a binding comes: `nothing` here. `most_score` is what a
    score is at most; None for no bound. The paper has neither. Both are from the code of its
    authors, which calls a linear clock with `most_score` = 2 a simulation of LRU.
    """

    decay: Decay = Decay.LINEAR
    amount: float = 1
    tau: float = 0
    start_score: float = 1
    threshold: Threshold = Threshold.BELOW
    pointer: Pointer = Pointer.MOVES_ON
    credit: ArrivalCredit = ArrivalCredit.NOTHING
    most_score: float | None = None

    def __post_init__(self) -> None:
        if self.decay is Decay.LINEAR and self.amount <= 0:
            self._refuse_endless("write an amount > 0")
        if self.decay is Decay.EXPONENTIAL and not 0 < self.amount < 1:
            self._refuse_endless("write rho between 0 and 1")
        for key, number in self._numbers().items():
            if not abs(number) <= LARGEST:
                bounds = f"from {-LARGEST:.0f} to {LARGEST:.0f}"
                self._refuse(f"{key} must be {bounds}, got {number}")
        if self.decay is Decay.EXPONENTIAL and self.tau < 1 / LARGEST:
            self._refuse_endless(f"write tau >= {1 / LARGEST}")
        if self._most_steps() > MOST_STEPS:
            nearest = "a lower rho" if self.decay is Decay.EXPONENTIAL else "a larger amount"
            self._refuse_endless(
                f"a binding with one result would take more than {MOST_STEPS} steps; "
                f"write {nearest}, or a w0 nearer to tau"
            )

    def _most_steps(self) -> float:
        """Return how many steps bring a binding with one result to τ: from w0 + 1, or from τ + 1
        where this is higher. A further result adds at most as many. `most_score` does not count:
        a step must be large enough for a double even where it is all that is needed.
        """
        highest = max(self.start_score, self.tau) + 1
        if self.decay is Decay.LINEAR:
            return (highest - self.tau) / self.amount
        return log(highest / self.tau) / -log(self.amount)

    def _numbers(self) -> dict[str, float]:
        """Return the numbers of the clock by their keys in a policy's text; the factor is `rho`."""
        is_linear = self.decay is Decay.LINEAR
        numbers = {"amount" if is_linear else "rho": self.amount}
        numbers |= {"tau": self.tau, "w0": self.start_score}
        if self.most_score is not None:
            numbers["most"] = self.most_score
        return numbers

    def _refuse_endless(self, reason: str) -> NoReturn:
        """Raise the error of a clock whose pointer may take more steps than `MOST_STEPS`."""
        given = ", ".join(f"{key} {number}" for key, number in self._numbers().items())
        self._refuse(f"a score must come to tau: {reason}; got {given}")

    def _refuse(self, reason: str) -> NoReturn:
        """Raise the error of a clock that BND-4 does not allow."""
        raise RefengineError(reason, rule="BND-4", place="policy")

    @property
    def counts_arrivals(self) -> bool:
        """Whether a new binding has a credit."""
        return self.credit is not ArrivalCredit.NOTHING

    def start(self, capacity: int) -> Scores:
        """Return the scores of a memory, with the pointer at slot 0."""
        return Scores(self)


def exponential_clock(rho: float) -> Clock:
    """Return CLOCK_exp with a factor rho and the paper's threshold.

    The paper's text and its tables do not list the same values of rho: one has 0.57 where the other
    has 0.75. So rho is always given.
    """
    return Clock(Decay.EXPONENTIAL, amount=rho, tau=TAU_OF_EXPONENTIAL)


class Scores(Eviction):
    """The scores of CLOCK, one for each slot that was ever filled, and its pointer."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.scores: list[float] = []
        self.pointer = 0
        self._most = inf if clock.most_score is None else clock.most_score
        self._start = min(clock.start_score, self._most)

    def fill(self, slot: int) -> None:
        """BND-4: Give a new binding the score w0."""
        if slot == len(self.scores):
            self.scores.append(self._start)
        else:
            self.scores[slot] = self._start

    def use(self, slot: int, results: int) -> None:
        """BND-4: Add 1 to the score for each result, up to `most_score`."""
        score = self.scores[slot] + results
        if score > self._most:
            score = self._most
        self.scores[slot] = score

    def arrive(self, slot: int, results: int, agreeing: int) -> None:
        """BND-4: Add to the score of a new binding what `credit` says."""
        if self.clock.credit is ArrivalCredit.AGREEING:
            results += agreeing
        self.use(slot, results)

    def choose(self) -> int:
        """BND-4: Depreciate the score at the pointer, and evict its binding if the score is below
        the threshold; else move on.

        Each step lowers one score, so the search is paid for by w0 and by the results that raised
        the scores.
        """
        clock, scores = self.clock, self.scores
        is_linear = clock.decay is Decay.LINEAR
        takes_equal = clock.threshold is Threshold.AT_OR_BELOW
        amount, tau, slot, capacity = clock.amount, clock.tau, self.pointer, len(scores)
        while True:
            score = scores[slot] - amount if is_linear else scores[slot] * amount
            scores[slot] = score
            if score < tau or (takes_equal and score == tau):
                break
            slot += 1
            if slot == capacity:
                slot = 0
        self.pointer = slot
        if clock.pointer is Pointer.MOVES_ON:
            self.pointer = (slot + 1) % capacity
        return slot


# The policies that know no data


@dataclass(frozen=True)
class Fifo(Policy):
    """First in, first out: the binding that came first is evicted."""

    def start(self, capacity: int) -> AgeQueue:
        """Return an empty queue."""
        return AgeQueue()


@dataclass(frozen=True)
class Lru(Policy):
    """Least recently used: a binding that is part of a result moves to the back of the queue."""

    def start(self, capacity: int) -> AgeQueue:
        """Return an empty queue."""
        return UseQueue()


@dataclass(frozen=True)
class Random(Policy):
    """A binding is drawn with equal chances, by a generator with a seed."""

    seed: int = 0

    def start(self, capacity: int) -> Draws:
        """Return the generator of draws."""
        return Draws(capacity, self.seed)


class AgeQueue(Eviction):
    """The filled slots, of which the first one is evicted."""

    def __init__(self) -> None:
        self.slots: OrderedDict[int, None] = OrderedDict()

    def fill(self, slot: int) -> None:
        """BND-5: Put a new binding at the back of the queue."""
        self.slots[slot] = None

    def empty(self, slot: int) -> None:
        """Take a binding out of the queue."""
        del self.slots[slot]

    def choose(self) -> int:
        """BND-5: Evict the binding at the front of the queue."""
        slot, _ = self.slots.popitem(last=False)
        return slot


class UseQueue(AgeQueue):
    """A queue in which a binding that is used moves to the back."""

    def use(self, slot: int, results: int) -> None:
        """BND-5: Move a binding that is part of a result to the back of the queue."""
        self.slots.move_to_end(slot)


class Draws(Eviction):
    """A generator that draws slots."""

    def __init__(self, capacity: int, seed: int) -> None:
        self.capacity = capacity
        self.generator = random.Random(seed)

    def choose(self) -> int:
        """BND-5: Draw one of the slots."""
        return self.generator.randrange(self.capacity)
