"""CSRBench: seven queries over one stream of weather observations, and which engine answers which
of them right (Dell'Aglio et al., ISWC 2013).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance.bench.benchmark import Benchmark, Choice, Workload
from conformance.bench.figures import table_of_runs, verdict_cells
from conformance.bench.recordings import csrbench, own_engines
from conformance.bench.recordings.csrbench_published import read_published
from conformance.bench.streams import StoredStream
from conformance.bench.tables import Cell, Table
from conformance.verdict.outcomes import Judging
from conformance.verdict.results import Result
from refengine.core.profiles import profile
from refengine.model.errors import RefengineError


def workloads(choice: Choice) -> Sequence[Workload]:
    """Return the queries that were chosen, over the user's own stream or the embedded one. A number
    as scale is how many elements of the stream are taken. Raises RefengineError.
    """
    if choice.scale == "paper" and choice.data is None:
        raise RefengineError(
            "the paper's stream may not be distributed: give its folder with --data DIR "
            f"({read_published().fetch}), or run --scale small over the embedded stream",
            rule="usage",
            place="--scale",
        )
    limit = choice.scale if isinstance(choice.scale, int) else None
    source = StoredStream(choice.data or own_engines.embedded(), limit)
    return [
        Workload(
            name,
            name,
            csrbench.table_of_query(name),
            {csrbench.query(name).windows[0].stream: source},
            profile("csparql").but(t0=0),
            choice.runs or 1,
            may_be_sent_by_instant=True,
        )
        for name in choice.only or csrbench.QUERIES
    ]


def judge_recordings(folder: Path, engines: Sequence[str]) -> list[Result]:
    """Judge the recordings of a folder in CSRBench's layout: those of some engines, or of all if
    none is named. Raises RefengineError.
    """
    files = csrbench.answer_files(folder)
    names = sorted({file.engine for file in files})
    for engine in engines:
        if engine not in names:
            raise RefengineError(
                f"has no recording of {engine!r}; it has those of {', '.join(names)}",
                rule="usage",
                place=str(folder),
            )
    chosen = [file for file in files if not engines or file.engine in engines]
    return [
        result
        for name, of_query in csrbench.group_by_query(chosen).items()
        for result in csrbench.judge_query(folder, name, of_query, Judging(keep=True))
    ]


def tables(results: Sequence[Result]) -> Sequence[Table]:
    """Return the verdicts in the form of the paper's Table 2, that table itself, and the table of
    the runs.
    """
    return [_verdicts(results), _published(), table_of_runs(results)]


def _verdicts(results: Sequence[Result]) -> Table:
    """Return the verdicts: a row for each query, a column for each engine. Of several runs the
    worst is shown.
    """
    engines = csrbench.columns(result.engine for result in results)
    cells_of = verdict_cells(results, engines)
    rows = [(Cell(name), *cells_of(name)) for name in csrbench.QUERIES]
    return Table(
        "Verdicts",
        ("query", *engines),
        tuple(rows),
        "A recording passes if it is a piece of what the engine's semantics gives (ORA-1). Rows "
        "are compared as bags (CMP-3).",
    )


def _published() -> Table:
    """Return Table 2 of the paper."""
    known = read_published()
    rows = []
    for name in csrbench.QUERIES:
        outcomes = [str(known.outcome(engine, name)) for engine in known.failed]
        rows.append((Cell(name), *(Cell(outcome, outcome) for outcome in outcomes)))
    return Table(
        "Table 2 of the paper",
        ("query", *known.failed),
        tuple(rows),
        "C-SPARQL 0.9, CQELS of August 2011 and SPARQLstream 1.0.5, recorded in 2013.",
    )


CSRBENCH = Benchmark(
    "csrbench",
    "CSRBench",
    "Dell'Aglio et al., On Correctness in RDF Stream Processor Benchmarking, ISWC 2013",
    "the number of elements of the stream that are taken",
    csrbench.QUERIES,
    workloads,
    tables,
    recorded=judge_recordings,
    refused={"--config": "CSRBench has no configuration"},
)
