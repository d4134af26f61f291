"""What is measured of a run: the size of the output, and its mismatch with what is due. The output
is kept in short, so that the outputs of two engines can be compared later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from conformance.bench.benchmark import Run
from conformance.bench.metrics import lsbench
from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Bag
from refengine.model.errors import Unsupported
from refengine.oracle.judge import Judgement

KEPT_ROWS = 50_000  # of an output that are kept; of a longer one none are
DUE_REPORTS = 1_000_000  # that are looked at
DIGEST_BYTES = 6


def measure_output(run: Run, judgement: Judgement | None) -> dict[str, Any]:
    """Return the measures of a run's output, as JSON.

    `size` is its number of rows, and `due` that of the rows that are due. `mismatch` is
    LSBench's mismatch of the output with the rows that are due, and `lacking` that of the rows that
    are due with the output, both in percent. A row out of order counts as lost
    (docs/benchmarks.md). They are None if there are no rows to look for. `output` has the digests
    of its rows, relation by relation without the empty ones; None if there are too many of them.
    There is no `due` if nothing was judged.
    """
    output = [answer.relation.rows for answer in run.feeding.exchange.answers]
    measures: dict[str, Any] = {
        "size": lsbench.size(output),
        "output": None,
        "static": len(run.feeding.exchange.question.static),
    }
    if measures["size"] <= KEPT_ROWS:
        measures["output"] = [digests_of(rows) for rows in output if rows]
    if judgement is not None and judgement.trial is not None:
        due = [report.relation.rows for report in judgement.reports.first(DUE_REPORTS)]
        measures["due"] = lsbench.size(due)
        measures["mismatch"] = measure_mismatch(output, due)
        measures["lacking"] = measure_mismatch(due, output)
    return measures


def measure_mismatch(first: Sequence[Bag], second: Sequence[Bag]) -> float | None:
    """Return LSBench's mismatch of two outputs in percent; None where it is undefined, or for rows
    that cannot be compared.
    """
    try:
        percent = lsbench.mm(first, second)
    except Unsupported:
        return None
    return None if percent is None else float(percent)


def digests_of(rows: Bag) -> list[str]:
    """Return a digest for each row, as often as the row occurs, sorted. Rows of equal values have
    the same digest.
    """
    return sorted(
        blake2b(repr(compare.identity(row)).encode(), digest_size=DIGEST_BYTES).hexdigest()
        for row in rows.elements()
    )


def output_of_digests(relations: Iterable[Iterable[str]]) -> list[Bag]:
    """Return an output that has the digests of rows as its rows."""
    return [Counter((("row", f'"{digest}"'),) for digest in relation) for relation in relations]


def compare_outputs(
    outputs: Mapping[str, Sequence[Bag]], epsilon: float
) -> tuple[Mapping[tuple[str, str], float | None], bool]:
    """Return the mismatch of every ordered pair of engines in percent, and whether they are
    comparable. The outputs have digests as rows.
    """
    pairs = lsbench.mismatches(outputs, mode=Mode.TERM)
    return pairs, lsbench.comp(outputs, epsilon, mode=Mode.TERM)
