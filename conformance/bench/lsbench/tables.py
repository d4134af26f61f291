"""LSBench's tables: which engines answer which query, sizes and mismatch of their outputs, and how
often they execute a query in a second; each beside what the paper has.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from conformance.bench.figures import (
    amount_cell,
    feeding_evidence_of,
    kind_cell,
    mean,
    table_of_runs,
    worst_of,
)
from conformance.bench.functional import reasons_table
from conformance.bench.lsbench.activity import STREAMS, Parameters
from conformance.bench.lsbench.data import count_triples
from conformance.bench.lsbench.declaration import INSTANCES, USERS, queries
from conformance.bench.lsbench.features import FEATURES, class_of
from conformance.bench.lsbench.measures import compare_outputs, output_of_digests
from conformance.bench.metrics.lsbench import cmet
from conformance.bench.queries import table_of_queries
from conformance.bench.tables import NO_VALUE, Cell, Table
from conformance.verdict.results import Result
from refengine.core.query import from_table

EPSILON = 1.47  # percent: the ε of the paper's Table 2; its text says 0.147
MARKS = {"yes": "✓", "no": "✗"}  # how the paper marks what an engine answers
ENGINES_OF_THE_PAPER = {"cqels": "CQELS", "csparql": "C-SPARQL", "jtalis": "JTALIS"}
NO_FIGURES = (
    "The figures of the paper's Table {number} were not at hand: public are only links to pictures."
)

Entry = Mapping[str, Any]


class RunKey(NamedTuple):
    """Which run of which test: a query at a rate (None: the streams' own times), and its number."""

    query: str
    rate: int | None
    number: int

    @property
    def rate_text(self) -> str:
        """The rate as a table shows it."""
        return "own times" if self.rate is None else str(self.rate)


@cache
def read_published_figures() -> Mapping[str, Any]:
    """Return what is published: the classes of queries by name, and sizes of the data."""
    content = tomllib.loads(Path(__file__).with_name("published.toml").read_text(encoding="utf-8"))
    return {"queries": {entry["name"]: entry for entry in content["query"]}, **content["sizes"]}


def tables(results: Sequence[Result]) -> Sequence[Table]:
    """Return the tables of results."""
    runs = _runs_of_queries(results)
    return [
        _functional(results),
        _outputs(runs),
        _comparability(runs),
        _throughput(runs),
        _scaling(results, USERS, "static data", "{} users"),
        _scaling(results, INSTANCES, "the number of queries", "instances: {}"),
        _sizes(results),
        table_of_queries(queries().values()),
        reasons_table(results),
        table_of_runs(results),
    ]


def measures_of(result: Result) -> Entry:
    """Return the measures of a run; nothing for a result without evidence of a run."""
    measures: Entry = feeding_evidence_of(result).get("measures", {})
    return measures


def _runs_of_queries(results: Iterable[Result]) -> dict[RunKey, dict[str, Result]]:
    """Return the runs of the twelve queries that have measures, by engine; not those of the
    scalings.
    """
    runs: dict[RunKey, dict[str, Result]] = {}
    for result in sorted(results, key=lambda result: result.key):
        measures, run = measures_of(result), result.benchmark_run
        if run is not None and measures and run.experiment == measures["query"]:
            key = RunKey(measures["query"], measures["rate"], run.number)
            runs.setdefault(key, {})[result.engine] = result
    order = list(queries())
    return dict(sorted(runs.items(), key=lambda run: (order.index(run[0].query), run[0][1:])))


# Table 1


def _functional(results: Sequence[Result]) -> Table:
    """Return the functional table: the class of each query, whether each engine answers it right,
    and the paper's Table 1.
    """
    engines = sorted({result.engine for result in results})
    by_query: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        by_query.setdefault((result.experiment, result.engine), []).append(result)
    rows = []
    for name, query in queries().items():
        of_paper = read_published_figures()["queries"][name]
        found = class_of(from_table(query.table))
        cells = [
            kind_cell(worst_of(by_query[name, engine])) if (name, engine) in by_query else NO_VALUE
            for engine in engines
        ]
        told = [Cell(MARKS.get(of_paper[key], of_paper[key])) for key in ENGINES_OF_THE_PAPER]
        rows.append(
            (
                Cell(name),
                Cell(f"{found.patterns}/{found.streams}"),
                Cell(f"{of_paper['patterns']}/{of_paper['streams']}"),
                Cell(" ".join(found.features)),
                Cell(" ".join(_features_of_paper(of_paper))),
                *cells,
                *told,
            )
        )
    legend = ", ".join(f"{letter} {word}" for letter, word in FEATURES.items())
    return Table(
        "Functionality, beside Table 1 of the paper",
        (
            "query",
            "patterns/streams",
            "Table 1",
            "features",
            "Table 1",
            *engines,
            *(f"{name}, Table 1" for name in ENGINES_OF_THE_PAPER.values()),
        ),
        tuple(rows),
        f"{legend}. Classes are computed from the texts. A verdict is on all that the engine "
        "answered, under its own semantics, the worst of all rates; Table 1 says which engines ran "
        "a query. F? is not certain in our copy of the table. Of Q7, Q8, Q9 and Q12 the texts have "
        "a feature that it does not list; the table of queries says why.",
    )


def _features_of_paper(of_paper: Entry) -> list[str]:
    """Return the features of a query in Table 1. A doubtful one has a question mark."""
    doubtful = of_paper.get("doubtful", "")
    return [letter + "?" * (letter in doubtful) for letter in of_paper["features"]]


# Table 2


def _outputs(runs: Mapping[RunKey, Mapping[str, Result]]) -> Table:
    """Return the table of output sizes and of the mismatch with what is due."""
    rows = []
    for key, by_engine in runs.items():
        for engine, result in by_engine.items():
            measures = measures_of(result)
            rows.append(
                (
                    Cell(key.query),
                    Cell(key.rate_text),
                    Cell(engine),
                    kind_cell(result),
                    amount_cell(measures["size"]),
                    amount_cell(measures.get("due")),
                    _percent_cell(measures.get("mismatch")),
                    _percent_cell(measures.get("lacking")),
                )
            )
    return Table(
        "Output sizes and mismatch with what is due",
        (
            "query",
            "elements/s",
            "engine",
            "verdict",
            "rows",
            "rows due",
            "mismatch with what is due %",
            "mismatch of what is due %",
        ),
        tuple(rows),
        "Due is what the reference engine computes under the engine's own semantics. The two "
        "percentages are LSBench's mismatch of the output with it, and of it with the output. A "
        "row that comes after a later one counts as lost. They do not tell at which instant rows "
        "come, which the verdict does. Rates are those of the elements' times: "
        "without --live an engine gets elements as fast as it takes them.",
    )


def _percent_cell(value: float | None) -> Cell:
    """Return the cell of a percentage."""
    return NO_VALUE if value is None else Cell(f"{value:.2f}")


def outputs_of(by_engine: Mapping[str, Result]) -> dict[str, list[Any]]:
    """Return the outputs that were kept, by engine."""
    return {
        engine: output_of_digests(measures_of(result)["output"])
        for engine, result in by_engine.items()
        if measures_of(result)["output"] is not None
    }


def _comparability(runs: Mapping[RunKey, Mapping[str, Result]]) -> Table:
    """Return the mismatch of each pair of engines, and whether they are comparable."""
    engines = sorted({engine for by_engine in runs.values() for engine in by_engine})
    pairs = list(combinations(engines, 2))
    rows = []
    for key, by_engine in runs.items():
        outputs = outputs_of(by_engine)
        cells = []
        for one, other in pairs:
            if one not in outputs or other not in outputs:
                cells += [NO_VALUE, NO_VALUE, NO_VALUE]
                continue
            percents, comparable = compare_outputs(
                {one: outputs[one], other: outputs[other]}, EPSILON
            )
            cells += [
                _percent_cell(percents[one, other]),
                _percent_cell(percents[other, one]),
                _yes_or_no(comparable),
            ]
        rows.append((Cell(key.query), Cell(key.rate_text), *cells))
    columns = [
        title
        for one, other in pairs
        for title in (f"mm({one}, {other}) %", f"mm({other}, {one}) %", "comparable")
    ]
    return Table(
        "Mismatch of engines, beside Table 2 of the paper",
        ("query", "elements/s", *columns),
        tuple(rows) if pairs else (),
        f"comp(E, Q, R, ε) with ε = {EPSILON} %, that of Table 2; the text of the paper says "
        f"0.147. An output without rows has no mismatch; then the "
        f"other direction decides. {NO_FIGURES.format(number=2)}",
    )


def _yes_or_no(answer: bool) -> Cell:
    """Return the cell of an answer."""
    return Cell("yes") if answer else Cell("no")


# Table 3


def _throughput(runs: Mapping[RunKey, Mapping[str, Result]]) -> Table:
    """Return the table of executions in a second, and whether the engines are comparable there."""
    engines = sorted({engine for by_engine in runs.values() for engine in by_engine})
    rows = []
    for key, by_engine in runs.items():
        outputs = outputs_of(by_engine)
        comparable = NO_VALUE
        if len(outputs) > 1:
            comparable = _yes_or_no(compare_outputs(outputs, EPSILON)[1])
        cells = [
            amount_cell(executions_per_second(by_engine[engine]))
            if engine in by_engine
            else NO_VALUE
            for engine in engines
        ]
        rows.append((Cell(key.query), Cell(key.rate_text), comparable, *cells))
    return Table(
        "Maximum execution throughput, beside Table 3 of the paper",
        ("query", "elements/s", "comparable", *(f"cmet of {engine}" for engine in engines)),
        tuple(rows),
        "cmet(E, Q, R, ε) = N/T: executions, one for each element, in a second of the clock, where "
        "the engine gets the next element as soon as it has replied. A run with --live has none, "
        f"since its clock sets the pace. {NO_FIGURES.format(number=3)}",
    )


def executions_per_second(result: Result) -> float | None:
    """Return the executions of a run in a second; None for a live run, and one that is too short to
    time.
    """
    feeding = feeding_evidence_of(result)
    if not feeding or feeding["is_live"] or not feeding["seconds"]:
        return None
    return cmet(feeding["elements"], feeding["seconds"])


def _scaling(results: Iterable[Result], experiment: str, noun: str, column: str) -> Table:
    """Return how the executions in a second change with a number, which is a measure of its own
    name: the mean of the runs of a query on an engine at each of its values.
    """
    found: dict[tuple[str, str], dict[int, list[float | None]]] = {}
    for result in results:
        measures = measures_of(result)
        if measures and result.experiment == experiment:
            by_number = found.setdefault((measures["query"], result.engine), {})
            by_number.setdefault(measures[experiment], []).append(executions_per_second(result))
    numbers = sorted({number for by_number in found.values() for number in by_number})
    rows = [
        (
            Cell(query),
            Cell(engine),
            *(amount_cell(mean(by_number.get(number, ()))) for number in numbers),
        )
        for (query, engine), by_number in sorted(found.items())
    ]
    return Table(
        f"Executions in a second, by {noun}",
        ("query", "engine", *(column.format(f"{number:,}") for number in numbers)),
        tuple(rows),
        "cmet over the same number of elements. The instances of Q3 differ in the person that "
        "they ask about; those of Q4 and Q10 are the same query. Each is in a process of its own, "
        "since the protocol has one query in a process.",
    )


# The data


def _sizes(results: Iterable[Result]) -> Table:
    """Return how many triples the data have, beside the published numbers."""
    users = [measures["users"] for result in results if (measures := measures_of(result))]
    parameters = Parameters(users=max(users)) if users else None
    ours = count_triples(parameters, STREAMS[:-1]) if parameters is not None else {}
    rows = tuple(
        (
            Cell(name),
            amount_cell(ours.get(name)),
            amount_cell(read_published_figures()["paper"].get(name)),
            amount_cell(read_published_figures()["public_generator"].get(name)),
        )
        for name in ("static", *STREAMS)
    )
    title = f"ours, {max(users):,} users" if users else "ours"
    return Table(
        "Triples of the data",
        ("data", title, "the paper", "the public generator"),
        rows,
        "Ours are those of 10 days, of the greatest number of users in this run; positions are not "
        "counted. The paper says neither days nor users of its sizes. The public generator was run "
        "with 1,000 users and 10 days; it repeats a like of a post ten times, and of a photo four "
        "times.",
    )
