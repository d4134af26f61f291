"""LSBench's measures of outputs: size, mismatch, comparability (Le-Phuoc et al., ISWC 2012;
docs/metrics.md).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from itertools import permutations

from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Bag, Row
from refengine.model.errors import RefengineError, Unsupported

# what an engine answered: the rows of each of its relations, in the order in which they came
Output = Sequence[Bag]


class Partition(StrEnum):
    """What is a block of the first output: what one execution answered, or one row."""

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
    """Return the mismatch mm(E1, E2) in percent: how much of the first output is not in the second
    where it is looked for; None if the first is empty.

    With A_1, A_2, … the blocks of the first and b_1, b_2, … the rows of the second: j_1 = 1; T_i is
    the rows of A_i that are among b_j, b_j+1, … with j = j_i; j_i+1 is the least place ≥ j_i of a
    row of T_i, or j_i if T_i is empty. The mismatch is 100 · Σ(|A_i| − |T_i|) / Σ|A_i|. The order
    of rows inside a relation never counts: those of the second output's have one place, where the
    relation begins, and eager blocks of one relation are taken in the order of the second output.
    Source: LSBench; that order, and what is empty, decided here. Raises Unsupported for blank
    nodes, whose labels two outputs do not share.
    """
    if compare.blanks(line for output in (first, second) for rows in output for line in rows):
        raise Unsupported(
            "a blank node cannot be looked for in another output", rule="CMP-4", place="mm"
        )
    if not size(first):
        return None
    places = _relations_with(second, first, mode)
    start = lost = 0
    for rows in first:
        there = {line: places[line][bisect_left(places[line], start) :][:1] for line in rows}
        lost += sum(count for line, count in rows.items() if not there[line])
        hits = [place for hit in there.values() for place in hit]
        match partition:
            case Partition.PERIODICAL:
                start = min(hits, default=start)
            case Partition.EAGER:
                # row after row, each found where the one before was, or later
                start = max(hits, default=start)
    return Fraction(100 * lost, size(first))


def _relations_with(second: Output, first: Output, mode: Mode) -> dict[Row, list[int]]:
    """Return, of each row of the first output, the numbers of the relations of the second that have
    it, ascending.
    """
    lines = [line for rows in second for line in rows]
    numbers = [number for number, rows in enumerate(second) for _ in rows]
    places = compare.places(lines, (line for rows in first for line in rows), mode)
    return {line: sorted({numbers[place] for place in where}) for line, where in places.items()}


def mismatch_of_pairs(
    outputs: Mapping[str, Output], eager: Collection[str] = (), mode: Mode = Mode.VALUE
) -> Iterator[tuple[tuple[str, str], Fraction | None]]:
    """Yield every ordered pair of engines with its mismatch; `eager` are the engines whose rows are
    blocks of their own.
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
    """Whether the engines E are comparable on a query at a rate, whose outputs these are,
    comp(E, Q, R, ε): no ordered pair of them has a mismatch above ε percent. An undefined mismatch
    is none: the pair the other way around says 100.

    Source: LSBench; the undefined one decided here. Raises RefengineError for an ε that is no
    percentage.
    """
    if not 0 <= epsilon <= 100:
        raise RefengineError(f"epsilon is a percentage, from 0 to 100, got {epsilon}", rule="comp")
    return all(
        percent is None or percent <= epsilon
        for _, percent in mismatch_of_pairs(outputs, eager, mode)
    )


def mismatches(
    outputs: Mapping[str, Output], eager: Collection[str] = (), mode: Mode = Mode.VALUE
) -> dict[tuple[str, str], float | None]:
    """Return (E1, E2) → mm(E1, E2) in percent, None where it is undefined, for every ordered pair
    of engines.
    """
    percent: dict[tuple[str, str], float | None] = {}
    for pair, mismatch in mismatch_of_pairs(outputs, eager, mode):
        percent[pair] = None
        if mismatch is not None:
            percent[pair] = float(mismatch)
    return percent
