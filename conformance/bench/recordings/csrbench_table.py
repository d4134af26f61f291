"""CSRBench's table, as text to read and as tab-separated values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from conformance.bench.recordings import csrbench
from conformance.bench.recordings.csrbench import columns, suffix
from conformance.verdict.results import Outcome, Result
from refengine.oracle.explanations import AS_SETS


def outcome_table(results: Iterable[Result]) -> Mapping[str, Mapping[str, Outcome]]:
    """Return the outcomes by query and engine, without those of extra recordings."""
    rows: dict[str, dict[str, Outcome]] = {name: {} for name in csrbench.QUERIES}
    for result in results:
        if not suffix(result):
            rows[result.case][result.engine] = result.outcome
    return rows


def as_tsv(results: list[Result]) -> Iterator[str]:
    """Yield the lines of the table as tab-separated values, in the form of CSRBench's Table 2: one
    line for each query.
    """
    engines = columns(result.engine for result in results if not suffix(result))
    yield "\t".join(["query", *engines])
    for name, row in outcome_table(results).items():
        if row:
            yield "\t".join([name, *(str(row.get(engine, "-")) for engine in engines)])


def describe_provenance(results: Iterable[Result]) -> str:
    """Return the sentence that says who computed the answers of how many verdicts."""
    counts = Counter(result.computed_by for result in results if result.computed_by)
    parts = [f"{count} by {who}" for who, count in sorted(counts.items())]
    return f"Verdicts by who computed their answers (ORA-8): {', '.join(parts) or 'none'}."


def as_text(results: list[Result], comparison: Iterable[str]) -> Iterator[str]:
    """Yield the lines of the table in aligned columns, then the explanations of the extra
    recordings and of every outcome but a pass.

    Between them come the lines that compare the table with the paper's, the fails that would pass
    if rows were compared as sets, since CSRBench's own oracle does so, and who computed the
    answers.
    """
    lines = [line.split("\t") for line in as_tsv(results)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        yield "  ".join(cells).rstrip()
    as_sets = [
        f"{result.engine} {result.case}" for result in results if AS_SETS in result.explanation
    ]
    yield ""
    yield from comparison
    yield "Relations are compared as bags of rows (CMP-3), by CSRBench's own oracle as sets."
    yield f"Compared as sets, these would pass, too: {', '.join(as_sets) or 'no others'}."
    yield describe_provenance(results)
    for result in results:
        if suffix(result) or result.outcome is not Outcome.PASS:
            yield ""
            yield f"{result.engine} {result.case}"
            yield result.explanation
