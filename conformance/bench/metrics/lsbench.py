"""LSBench's measures: size, mismatch, comparability and execution throughput (Le-Phuoc et al., ISWC
2012; docs/benchmarks.md).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from itertools import permutations

from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Bag, Row, canonical_bags
from refengine.model.errors import RefengineError, Unsupported

# what an engine answered: the rows of each of its relations, in the order in which they came
Output = Sequence[Bag]


class Partition(StrEnum):
    """The blocks into which the first output falls: the answer of one execution (periodical), or a
    single row (eager).
    """

    PERIODICAL = "periodical"
    EAGER = "eager"


def size(output: Output) -> int:
    """Return the output size: how many rows there are, each as often as it came."""
    return sum(rows.total() for rows in output)


def mm(
    first: Output,
    second: Output,
    partition: Partition = Partition.PERIODICAL,
    mode: Mode = Mode.VALUE,
) -> Fraction | None:
    """Return LSBench's mismatch mm(E1, E2) in percent: the share of the rows of the first output
    that are not found in the second. None if the first output is empty.

    The first output is walked through block by block, and the rows of a block are looked for in the
    second output from the place on that the walk has come to. With the blocks A_1, A_2, … of the
    first output and the rows b_1, b_2, … of the second: j_1 = 1; T_i is the rows of A_i that are
    among b_j, b_j+1, … with j = j_i; j_i+1 is the least place ≥ j_i of a row of T_i, or j_i if T_i
    is empty. The mismatch is 100 · Σ(|A_i| − |T_i|) / Σ|A_i|.

    The order of rows within a relation never counts: all rows of a relation of the second output
    have the place where the relation begins, and eager blocks of one relation are taken in the
    order of the second output. Raises Unsupported for blank nodes. Source: LSBench; the order of
    rows and the empty output are decided here.
    """
    first = canonical_bags(first, "relation of the first output")
    second = canonical_bags(second, "relation of the second output")
    refuse_blank_nodes(first, second)
    if not size(first):
        return None
    numbers = _relations_with(second, first, mode)
    search = MismatchSearch(partition)
    for rows in first:
        search.pass_block((count, numbers[row]) for row, count in rows.items())
    return Fraction(100 * search.lost, size(first))


class MismatchSearch:
    """The search of `mm` through the blocks of the first output. `lost` is the number of rows so
    far
    that are not found in the second output, and `start` the number of the relation of the second
    output from which on the next rows are looked for.
    """

    def __init__(self, partition: Partition = Partition.PERIODICAL) -> None:
        self.partition = partition
        self.start = 0
        self.lost = 0

    def pass_block(self, rows: Iterable[tuple[int, Sequence[int]]]) -> None:
        """Pass the next block: for each of its different rows how often it is there, and the
        ascending numbers of the relations of the second output that have it.
        """
        hits = []
        for count, numbers in rows:
            hit = _first_from(numbers, self.start)
            if hit is None:
                self.lost += count
            else:
                hits.append(hit)
        match self.partition:
            case Partition.PERIODICAL:
                self.start = min(hits, default=self.start)
            case Partition.EAGER:
                # row after row, each found where the one before was, or later
                self.start = max(hits, default=self.start)


def refuse_blank_nodes(*outputs: Output) -> None:
    """Raise Unsupported for blank nodes: two outputs do not share their labels."""
    rows = (row for output in outputs for relation in output for row in relation)
    if compare.blanks(rows):
        raise Unsupported(
            "a blank node cannot be looked for in another output",
            rule="CMP-4",
            place="mm",
        )


def _first_from(numbers: Sequence[int], start: int) -> int | None:
    """Return the first of ascending numbers that is at least `start`; None if there is none."""
    index = bisect_left(numbers, start)
    if index == len(numbers):
        return None
    return numbers[index]


def _relations_with(second: Output, first: Output, mode: Mode) -> dict[Row, list[int]]:
    """Return, for each row of the first output, the ascending numbers of the relations of the
    second output that have it.
    """
    rows_of_first = (row for relation in first for row in relation)
    rows_of_second = [row for relation in second for row in relation]
    relation_of = [number for number, relation in enumerate(second) for _ in relation]
    positions = compare.find_positions_of_equal_rows(rows_of_second, rows_of_first, mode)
    return {
        row: sorted({relation_of[position] for position in found})
        for row, found in positions.items()
    }


def mismatch_of_pairs(
    outputs: Mapping[str, Output],
    eager: Collection[str] = (),
    mode: Mode = Mode.VALUE,
) -> Iterator[tuple[tuple[str, str], Fraction | None]]:
    """Yield every ordered pair of engines with its mismatch in percent. For the engines in `eager`
    each row is a block of its own.
    """
    for one, other in permutations(outputs, 2):
        partition = Partition.PERIODICAL
        if one in eager:
            partition = Partition.EAGER
        yield (one, other), mm(outputs[one], outputs[other], partition, mode)


def comp(
    outputs: Mapping[str, Output],
    epsilon: Fraction | float,
    eager: Collection[str] = (),
    mode: Mode = Mode.VALUE,
) -> bool:
    """Whether engines are comparable by their outputs on one query at one rate, LSBench's
    comp(E, Q, R, ε): no ordered pair of them has a mismatch above ε percent.

    An undefined mismatch counts as none, since the pair the other way around has 100. Raises
    RefengineError for an ε that is no percentage. Source: LSBench; the undefined mismatch is
    decided here.
    """
    if not 0 <= epsilon <= 100:
        raise RefengineError(f"epsilon is a percentage, from 0 to 100, got {epsilon}", rule="comp")
    return all(
        percent is None or percent <= epsilon
        for _, percent in mismatch_of_pairs(outputs, eager, mode)
    )


def mismatches(
    outputs: Mapping[str, Output],
    eager: Collection[str] = (),
    mode: Mode = Mode.VALUE,
) -> dict[tuple[str, str], float | None]:
    """Return the mismatch of every ordered pair of engines, (E1, E2) → mm(E1, E2) in percent; None
    where it is undefined.
    """
    percent: dict[tuple[str, str], float | None] = {}
    for pair, mismatch in mismatch_of_pairs(outputs, eager, mode):
        percent[pair] = None
        if mismatch is not None:
            percent[pair] = float(mismatch)
    return percent


def cmet(executions: int, seconds: float) -> float:
    """Return LSBench's maximum execution throughput cmet(E, Q, R, ε): the executions of a query in
    a second, where the engine gets the next element as soon as it has taken the one before. An
    execution is counted for each element: 500 elements in 2 s are 250.

    Whether engines are comparable there, so that the figures say the same of each, is `comp`.
    Raises RefengineError for a time that is not above 0. Source: LSBench.
    """
    if not seconds > 0:
        raise RefengineError(f"the running time is in seconds, above 0, got {seconds}", rule="cmet")
    return executions / seconds
