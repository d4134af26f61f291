"""Comparing a recording with ground truth: the verdict, LSBench's mismatch, and YABench's
precision, recall and delay.

On Spark each report is compared with the recorded relation at its place. As up to `missing` reports
may not be recorded at the beginning (ORA-3), it is also compared with so many relations before that
place. The driver folds the comparisons of all places into one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import accumulate
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import pyarrow

from conformance.metrics import lsbench, yabench
from conformance.metrics.run import of_run
from conformance.spark import jobs
from conformance.spark.part_jobs import pickle_error, unpickle_error
from conformance.spark.streams.rows import batch
from conformance.spark.truth_query import TruthQuery
from conformance.verdict import explain
from conformance.verdict.outcomes import Outcome
from refengine.core.engine import Report
from refengine.core.profiles import brief
from refengine.core.question import Question
from refengine.core.semantics import Condition
from refengine.model import compare
from refengine.model.elements import Bag, Relation
from refengine.model.errors import RefengineError, Unsupported
from refengine.rdf.recordings import Recording, relation_from_json, relation_to_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NOTHING = {"precision": 1.0, "recall": 1.0}  # nothing was expected and nothing came
# the most rows that the driver holds, for LSBench's mismatch and for slides under content change
FOLDED = 1_000_000
ROWS = "recorded boolean, place long, rows string"
SCHEMA = (
    "place long, before long, equal boolean, precision double, recall double, expected "
    "long, actual long, error string"
)


@dataclass(frozen=True)
class TruthComparison:
    """The comparison of a recording with ground truth: the outcome and its argument; YABench's
    `measures`, an entry for each report or, under content change, for each slide (metrics.run); and
    LSBench's `mismatch` in percent, of the expected output in the recorded one and the other way
    around (None: not measured).
    """

    outcome: Outcome
    argument: str
    measures: list[dict[str, Any]]
    mismatch: tuple[float | None, float | None]


Places = dict[int, dict[str, Any]]  # rows of SCHEMA by place


def compare_recording(
    spark: SparkSession,
    truth_query: TruthQuery,
    parts: Sequence[pyarrow.Table],
    recording: Recording,
    parallel: int,
    missing: int = 1,
) -> TruthComparison:
    """Compare a recording with the reports of all parts (part_jobs.REPORT), over Spark. Raises
    NoSpark, and RefengineError for rows that cannot be compared.
    """
    starts = _starts(parts)
    work = {
        number: partial(_job, spark, truth_query, parts, number, starts[number], recording, missing)
        for number in range(len(parts))
        if starts[number] < starts[number + 1]
    }
    tables = (table for _, table in jobs.run_jobs(work, parallel))
    return fold(truth_query, parts, recording, tables, missing)


def _starts(parts: Sequence[pyarrow.Table]) -> list[int]:
    """Return the place of the first report of each part, and last the number of all reports."""
    return [0, *accumulate(part.num_rows for part in parts)]


# Folded by the driver


def fold(
    truth_query: TruthQuery,
    parts: Sequence[pyarrow.Table],
    recording: Recording,
    tables: Iterable[pyarrow.Table | pyarrow.RecordBatch],
    missing: int = 1,
) -> TruthComparison:
    """Fold the compared places of all parts (tables of SCHEMA) into the comparison of the whole
    recording, from which at most `missing` reports may be absent at each end; none, if it has no
    relation (ORA-3). Raises RefengineError.
    """
    if len(recording) == 0:
        missing = 0
    by_before = _by_before(tables, missing)
    recorded = len(recording)
    divergences = {
        before: _first_divergence(places, before, recorded, missing)
        for before, places in by_before.items()
    }
    passing = [before for before, place in divergences.items() if place is None]
    if passing:
        before = passing[0]
        after = len(by_before[0]) - before - recorded
        outcome = Outcome.PASS
        argument = [
            f"pass: {explain.count_text(recorded, 'relation')}; "
            f"not recorded: {before} before the first, {after} after the last"
        ]
    else:
        before = min(
            by_before,
            key=lambda before: (
                _differing_rows(by_before[before], before, recording, missing),
                before,
            ),
        )
        after = 0
        outcome = Outcome.FAIL
        first = divergences[before]
        assert first is not None  # nothing passes
        argument = _divergence(truth_query, parts, recording, before, first)
    measures = _measures(truth_query, parts, recording, before, after, by_before[before])
    mismatch = _mismatch(truth_query, parts, recording)
    argument += [f"  semantics: {brief(truth_query.semantics)}", *_figures(measures, mismatch)]
    return TruthComparison(outcome, "\n".join(argument), measures, mismatch)


def _by_before(
    tables: Iterable[pyarrow.Table | pyarrow.RecordBatch], missing: int
) -> dict[int, Places]:
    """Return the rows of tables by the number of reports that are taken to be missing before the
    first relation, at most `missing`, and by place. Raises the RefengineError of a part.
    """
    by_before: dict[int, Places] = {before: {} for before in range(missing + 1)}
    for table in tables:
        for row in table.to_pylist():
            if row["error"] is not None:
                raise unpickle_error(row["error"])
            if row["before"] <= missing:
                by_before[row["before"]][row["place"]] = row
    return by_before


def _first_divergence(places: Places, before: int, recorded: int, missing: int) -> int | None:
    """Return the number of the first relation that differs from its report, if `before` reports are
    missing before the first relation. None if the whole recording agrees.
    """
    nothing = {"equal": False}
    for relation in range(recorded):
        if not places.get(relation + before, nothing)["equal"]:
            return relation
    is_all = 0 <= len(places) - before - recorded <= missing
    if is_all and (recorded > 0 or not places):
        return None
    return recorded


def _differing_rows(places: Places, before: int, recording: Recording, missing: int) -> int:
    """Return in how many rows reports and recording differ, if `before` reports are missing before
    the first relation (ORA-9).
    """
    recorded = len(recording)
    beyond = recording.relations[max(0, len(places) - before) :]
    rows = sum(1 + relation.rows.total() for relation in beyond)
    for place, row in places.items():
        if before <= place < before + recorded:
            same = round(row["precision"] * row["actual"])
            rows += max(row["expected"] + row["actual"] - 2 * same, not row["equal"])
        elif place >= before + recorded + missing:
            rows += 1 + row["expected"]
    return rows


# Where Spark runs


def _job(
    spark: SparkSession,
    truth_query: TruthQuery,
    parts: Sequence[pyarrow.Table],
    number: int,
    start: int,
    recording: Recording,
    missing: int,
) -> DataFrame:
    """Return the DataFrame that compares the places of a part."""
    rows = rows_to_compare(parts[number], start, recording, missing)
    work = partial(_places, truth_query, len(recording), missing=missing)
    return spark.createDataFrame(rows, ROWS).coalesce(1).mapInArrow(work, SCHEMA)


def rows_to_compare(
    part: pyarrow.Table, start: int, recording: Recording, missing: int = 1
) -> pyarrow.Table:
    """Return the reports of a part and the relations with which they are compared, as rows of ROWS.
    The first report has the place `start`.
    """
    rows = [(False, place, text) for place, text in enumerate(part["rows"].to_pylist(), start)]
    for place in range(max(0, start - missing), min(len(recording), start + part.num_rows)):
        bindings = relation_to_json(recording.relations[place])["results"]["bindings"]
        rows.append((True, place, json.dumps(bindings)))
    return pyarrow.Table.from_batches([batch(ROWS, rows)])


def _places(
    truth_query: TruthQuery, recorded: int, batches: Iterable[pyarrow.RecordBatch], missing: int = 1
) -> Iterator[pyarrow.RecordBatch]:
    """Compare reports with relations in a worker, and yield the places as batches of SCHEMA."""
    try:
        lines = list(_beside(truth_query, recorded, batches, missing))
    except RefengineError as error:
        lines = [(*[None] * SCHEMA.count(","), pickle_error(error))]
    yield batch(SCHEMA, lines)


def _beside(
    truth_query: TruthQuery, recorded: int, batches: Iterable[pyarrow.RecordBatch], missing: int
) -> Iterator[tuple[Any, ...]]:
    """Yield a row of SCHEMA for each report and each number of reports, from 0 to `missing`, that
    may be missing before the first relation.
    """
    expected_at: dict[int, Bag] = {}
    actual_at: dict[int, Bag] = {}
    for some in batches:
        columns = (column.to_pylist() for column in some.columns)
        for is_recorded, place, text in zip(*columns, strict=True):
            rows = parse_relation(truth_query, text).rows
            if is_recorded:
                actual_at[place] = rows
            else:
                expected_at[place] = rows
    for place, expected in sorted(expected_at.items()):
        for before in range(missing + 1):
            is_there = 0 <= place - before < recorded
            actual: Bag = Counter()
            if is_there:
                actual = actual_at[place - before]
            score = yabench.score(expected, actual)
            yield (
                place,
                before,
                is_there and compare.equal(expected, actual),
                float(score.precision),
                float(score.recall),
                expected.total(),
                actual.total(),
                None,
            )


def parse_relation(truth_query: TruthQuery, rows: str) -> Relation:
    """Return the relation of a report from its rows as JSON."""
    return relation_from_json(json.loads(rows), truth_query.query.body.variables, "rows", {})


# Argument and figures


def _divergence(
    truth_query: TruthQuery,
    parts: Sequence[pyarrow.Table],
    recording: Recording,
    before: int,
    first: int,
) -> list[str]:
    """Write the argument of a fail: where the recording first differs, and in which rows."""
    place = first + before
    count = len(recording)
    where = f"after the last of {explain.count_text(count, 'relation')}"
    actual = None
    if first < count:
        where = f"relation {first + 1} of {count}"
        actual = recording.relations[first].rows
    starts = _starts(parts)
    if place >= starts[-1]:
        return [
            f"fail: {where}: the semantics reports nothing more",
            *explain.differing(truth_query.query, Counter(), actual, compare.Mode.VALUE),
        ]
    number = next(number for number, start in enumerate(starts[1:]) if place < start)
    (row,) = parts[number].slice(place - starts[number], 1).to_pylist()
    window = ""
    if row["opens"] is not None:
        window = (
            f" window {explain.window_text((row['opens'], row['closes']), truth_query.semantics)}"
        )
    expected = parse_relation(truth_query, row["rows"]).rows
    return [
        f"fail: first divergence, {where}:{window} at t={row['evaluation']}, "
        f"{explain.count_text(row['elements'], 'element')}",
        *explain.differing(truth_query.query, expected, actual, compare.Mode.VALUE),
    ]


def _reports(truth_query: TruthQuery, parts: Sequence[pyarrow.Table]) -> Iterator[Report]:
    """Yield the reports of all parts. Their contents have the right length, but no elements."""
    for part in parts:
        for row in part.to_pylist():
            window = None
            if row["opens"] is not None:
                window = row["opens"], row["closes"]
            content = (None,) * row["elements"]
            yield Report(
                row["evaluation"],
                row["trigger"],
                (window,),
                row["instant"],
                (content,),
                0,
                parse_relation(truth_query, row["rows"]),
            )


def _measures(
    truth_query: TruthQuery,
    parts: Sequence[pyarrow.Table],
    recording: Recording,
    before: int,
    after: int,
    places: Places,
) -> list[dict[str, Any]]:
    """Return YABench's measures, without the reports that are missing before and after. They are by
    place, or under content change alone by slide (docs/metrics.md); the latter only if the driver
    can hold all rows.
    """
    conditions = truth_query.semantics.report
    if Condition.CLOSE in conditions:
        return _measures_by_place(parts, recording, before, after, places)
    rows = [relation.rows for relation in recording.relations]
    if Condition.CHANGE not in conditions or not _few(places.values(), rows):
        return []
    reports = list(_reports(truth_query, parts))
    reports = reports[before : len(reports) - after]
    setting = Question(truth_query.query, {}).under(truth_query.semantics)
    return of_run(setting, reports, yabench.EngineOutput(rows))


def _measures_by_place(
    parts: Sequence[pyarrow.Table], recording: Recording, before: int, after: int, places: Places
) -> list[dict[str, Any]]:
    """Return an entry for each report, and one without a window for each relation after the last
    report.
    """
    windows = [
        row for part in parts for row in part.select(["opens", "closes", "elements"]).to_pylist()
    ]
    entries = []
    for place, row in enumerate(windows):
        window = None
        if row["opens"] is not None:
            window = [row["opens"], row["closes"]]
        measured = {
            name: places[place][name] for name in ("precision", "recall", "expected", "actual")
        }
        delay = _delay(window, recording, place - before)
        entries.append({"window": window, **measured, "delay": delay, "elements": row["elements"]})
    beyond = [
        _measure_beyond(relation.rows)
        for relation in recording.relations[max(0, len(entries) - before) :]
    ]
    return entries[before : len(entries) - after] + beyond


def _delay(window: Sequence[int] | None, recording: Recording, place: int) -> int | None:
    """Return how many ms after the close of its window a relation was recorded; None if that is not
    known.
    """
    if window is None or not 0 <= place < len(recording):
        return None
    at = recording.timestamps[place]
    if at is None:
        return None
    return at - window[1]


def _measure_beyond(rows: Bag) -> dict[str, Any]:
    """Return the entry of a relation that was recorded after the last report."""
    entry = {
        "window": None,
        "precision": 0.0,
        "recall": 0.0,
        "expected": 0,
        "delay": None,
        "elements": 0,
        "actual": rows.total(),
    }
    if not rows:
        entry.update(NOTHING)
    return entry


def _few(places: Iterable[Mapping[str, Any]], rows: Sequence[Bag]) -> bool:
    """Whether the driver can hold all rows, expected and recorded."""
    expected: int = sum(place["expected"] for place in places)
    return expected + sum(bag.total() for bag in rows) <= FOLDED


def _mismatch(
    truth_query: TruthQuery, parts: Sequence[pyarrow.Table], recording: Recording
) -> tuple[float | None, float | None]:
    """Return LSBench's mismatch in both directions; None for both if the driver cannot hold all
    rows.
    """
    actual = [relation.rows for relation in recording.relations]
    expected: list[Bag] = []
    count = sum(rows.total() for rows in actual)
    for part in parts:
        for text in part["rows"].to_pylist():
            expected.append(parse_relation(truth_query, text).rows)
            count += expected[-1].total()
            if count > FOLDED:
                return None, None
    try:
        return _percent(lsbench.mm(expected, actual)), _percent(lsbench.mm(actual, expected))
    except Unsupported:
        return None, None


def _percent(mismatch: Fraction | None) -> float | None:
    if mismatch is None:
        return None
    return float(mismatch)


def _figures(
    measures: Sequence[Mapping[str, Any]], mismatch: tuple[float | None, float | None]
) -> Iterator[str]:
    """Yield the lines of an argument with the figures of YABench and LSBench."""
    if measures:
        figures = [
            f"{name} {fmean(entry[name] for entry in measures):.4f}"
            for name in ("precision", "recall")
        ]
        delays = [entry["delay"] for entry in measures if entry["delay"] is not None]
        if delays:
            figures.append(f"median delay {median(delays):g} ms")
        yield f"  YABench: {', '.join(figures)}, mean of {len(measures)}"
    else:
        yield "  YABench: not measured"
    there, back = map(_in_words, mismatch)
    yield (
        f"  LSBench: {there} of what is expected is not recorded, {back} of what is recorded "
        "is not expected"
    )


def _in_words(percent: float | None) -> str:
    if percent is None:
        return "undefined or not measured"
    return f"{percent:.2f} %"
