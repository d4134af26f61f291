"""What an engine recorded beside ground truth: CSRBench's verdict, LSBench's mismatch, and
YABench's precision, recall and delay.

Each report is compared with the recorded relation at its place, where Spark runs; some relations
may be missing at each end (ORA-3), so that a place is compared with as many relations before its
own. What is folded over the whole is folded by the driver.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import pyarrow

from conformance.metrics import lsbench, yabench
from conformance.metrics.run import of_run
from conformance.spark import jobs
from conformance.spark.rows import batch
from conformance.spark.truth import Asked, rebuilt, told_of
from conformance.verdict import explain
from conformance.verdict.outcomes import Outcome
from refengine.core.engine import Report
from refengine.core.profiles import brief
from refengine.core.question import Question
from refengine.core.semantics import Condition
from refengine.model import compare
from refengine.model.elements import Bag, Relation
from refengine.model.errors import RefengineError, Unsupported
from refengine.rdf import files
from refengine.rdf.files import Recording

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NOTHING = {"precision": 1.0, "recall": 1.0}  # nothing was expected and nothing came
# rows that the driver holds, for LSBench's mismatch and slides under content change
FOLDED = 1_000_000
GIVEN = "recorded boolean, place long, rows string"
SCHEMA = (
    "place long, before long, equal boolean, precision double, recall double, expected "
    "long, actual long, error string"
)


@dataclass(frozen=True)
class Compared:
    """An outcome and its argument; `measures`, an entry a report or, under content change, a slide,
    as metrics.run has them; and LSBench's mismatch in percent of the expected output in the
    recorded one, and the other way around (None: not measured).
    """

    outcome: Outcome
    argument: str
    measures: list[dict[str, Any]]
    mismatch: tuple[float | None, float | None]


def compared(
    spark: SparkSession,
    asked: Asked,
    parts: Sequence[pyarrow.Table],
    recording: Recording,
    parallel: int,
    missing: int = 1,
) -> Compared:
    """What was recorded beside the parts' reports (truth.REPORT), in order. Raises NoSpark, and
    RefengineError for what cannot be compared.
    """
    starts = [0, *accumulate(part.num_rows for part in parts)]
    work = {
        number: partial(_job, spark, asked, parts, number, starts[number], recording, missing)
        for number in range(len(parts))
        if starts[number] < starts[number + 1]
    }
    return judged(
        asked, parts, recording, (table for _, table in jobs.run(work, parallel)), missing
    )


def judged(
    asked: Asked,
    parts: Sequence[pyarrow.Table],
    recording: Recording,
    places: Iterable[pyarrow.Table | pyarrow.RecordBatch],
    missing: int = 1,
) -> Compared:
    """The same, of what the places came to (SCHEMA)."""
    found: dict[int, dict[int, dict[str, Any]]] = {before: {} for before in range(missing + 1)}
    for table in places:
        for row in table.to_pylist():
            if row["error"] is not None:
                raise rebuilt(row["error"])
            found[row["before"]][row["place"]] = row
    total, recorded = len(found[0]), len(recording)

    def wrong(before: int) -> int | None:
        """The first relation that is not the report's at its place, if `before` reports were not
        recorded; None if there is none.
        """
        nothing = {"equal": False}
        first = next(
            (
                relation
                for relation in range(recorded)
                if not found[before].get(relation + before, nothing)["equal"]
            ),
            None,
        )
        ends = 0 <= total - before - recorded <= missing and (recorded > 0 or total == 0)
        return first if first is not None or ends else recorded

    first = {before: wrong(before) for before in found}
    passing = [before for before, place in first.items() if place is None]
    failing = {before: place for before, place in first.items() if place is not None}
    before = (
        passing[0]
        if passing
        else min(
            first,
            key=lambda before: (_differing_rows(found[before], before, recording, missing), before),
        )
    )
    if passing:
        ends = f"{before} before the first, {total - before - recorded} after the last"
        outcome, argument = (
            Outcome.PASS,
            [f"pass: {explain.counted(recorded, 'relation')}; not recorded: {ends}"],
        )
    else:
        outcome, argument = Outcome.FAIL, _failed(asked, parts, recording, before, failing[before])
    after = total - before - recorded if passing else 0
    measures, mismatch = (
        _measures(asked, parts, recording, before, after, found[before]),
        _mismatch(asked, parts, recording),
    )
    argument += [f"  semantics: {brief(asked.semantics)}", *_figures(measures, mismatch)]
    return Compared(outcome, "\n".join(argument), measures, mismatch)


def _differing_rows(
    places: Mapping[int, Mapping[str, Any]], before: int, recording: Recording, missing: int
) -> int:
    """In how many rows reports and recording differ, if `before` reports
    were not recorded (ORA-9).
    """
    recorded = len(recording)
    rows = sum(
        1 + relation.rows.total()
        for relation in recording.relations[max(0, len(places) - before) :]
    )
    for place, row in places.items():
        if before <= place < before + recorded:
            same = round(row["precision"] * row["actual"])
            rows += max(row["expected"] + row["actual"] - 2 * same, not row["equal"])
        elif place >= before + recorded + missing:
            rows += 1 + row["expected"]
    return rows


def _job(
    spark: SparkSession,
    asked: Asked,
    parts: Sequence[pyarrow.Table],
    number: int,
    start: int,
    recording: Recording,
    missing: int,
) -> DataFrame:
    frame = spark.createDataFrame(given(parts[number], start, recording, missing), GIVEN)
    return frame.coalesce(1).mapInArrow(
        partial(_places, asked, len(recording), missing=missing), SCHEMA
    )


def given(part: pyarrow.Table, start: int, recording: Recording, missing: int = 1) -> pyarrow.Table:
    """A part's reports, the first of which has the place `start`, and the relations that they are
    compared with (GIVEN).
    """
    rows = [(False, place, text) for place, text in enumerate(part["rows"].to_pylist(), start)]
    for place in range(max(0, start - missing), min(len(recording), start + part.num_rows)):
        rows.append(
            (
                True,
                place,
                json.dumps(
                    files.relation_to_json(recording.relations[place])["results"]["bindings"]
                ),
            )
        )
    return pyarrow.Table.from_batches([batch(GIVEN, rows)])


def _places(
    asked: Asked, recorded: int, batches: Iterable[pyarrow.RecordBatch], missing: int = 1
) -> Iterator[pyarrow.RecordBatch]:
    """Each report beside the relations at its place, in a worker."""
    try:
        lines = list(_beside(asked, recorded, batches, missing))
    except RefengineError as error:
        lines = [(*[None] * SCHEMA.count(","), told_of(error))]
    yield batch(SCHEMA, lines)


def _beside(
    asked: Asked, recorded: int, batches: Iterable[pyarrow.RecordBatch], missing: int
) -> Iterator[tuple[Any, ...]]:
    bags: dict[bool, dict[int, Bag]] = {False: {}, True: {}}
    for some in batches:
        for side, place, rows in zip(*(column.to_pylist() for column in some.columns), strict=True):
            bags[side][place] = relation(asked, rows).rows
    for place, expected in sorted(bags[False].items()):
        for before in range(missing + 1):
            there = 0 <= place - before < recorded
            actual = bags[True][place - before] if there else Counter()
            score = yabench.score(expected, actual)
            same = there and compare.equal(expected, actual)
            yield (
                place,
                before,
                same,
                float(score.precision),
                float(score.recall),
                expected.total(),
                actual.total(),
                None,
            )


def relation(asked: Asked, rows: str) -> Relation:
    """A report's relation from its rows as JSON."""
    return files.relation_from_json(json.loads(rows), asked.query.body.variables, "rows", {})


def _failed(
    asked: Asked, parts: Sequence[pyarrow.Table], recording: Recording, before: int, first: int
) -> list[str]:
    place, count, starts = (
        first + before,
        len(recording),
        [0, *accumulate(part.num_rows for part in parts)],
    )
    where = (
        f"relation {first + 1} of {count}"
        if first < count
        else f"after the last of {explain.counted(count, 'relation')}"
    )
    actual = recording.relations[first].rows if first < count else None
    if place >= starts[-1]:
        return [
            f"fail: {where}: the semantics reports nothing more",
            *explain.differing(asked.query, Counter(), actual, compare.Mode.VALUE),
        ]
    number = next(number for number, start in enumerate(starts[1:]) if place < start)
    (row,) = parts[number].slice(place - starts[number], 1).to_pylist()
    window = (
        ""
        if row["opens"] is None
        else f" window {explain.bordered((row['opens'], row['closes']), asked.semantics)}"
    )
    lines = explain.differing(
        asked.query, relation(asked, row["rows"]).rows, actual, compare.Mode.VALUE
    )
    return [
        f"fail: first divergence, {where}:{window} at t={row['evaluation']}, "
        f"{explain.counted(row['elements'], 'element')}",
        *lines,
    ]


def _reports(asked: Asked, parts: Sequence[pyarrow.Table]) -> Iterator[Report]:
    """The reports, each content as so many nothings."""
    for part in parts:
        for row in part.to_pylist():
            window = None if row["opens"] is None else (row["opens"], row["closes"])
            content = (None,) * row["elements"]
            yield Report(
                row["evaluation"],
                row["trigger"],
                (window,),
                row["instant"],
                (content,),
                0,
                relation(asked, row["rows"]),
            )


def _measures(
    asked: Asked,
    parts: Sequence[pyarrow.Table],
    recording: Recording,
    before: int,
    after: int,
    found: Mapping[int, Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """By place, without what was not recorded before and after; what was recorded beyond the last
    report has no window. Under content change alone by slide (docs/metrics.md), where the driver
    can hold all rows.
    """
    rows = [relation.rows for relation in recording.relations]
    if Condition.CLOSE not in asked.semantics.report:
        if Condition.CHANGE not in asked.semantics.report or not _few(found.values(), rows):
            return []
        reports = list(_reports(asked, parts))
        reports = reports[before : len(reports) - after]
        setting = Question(asked.query, {}).under(asked.semantics)
        return of_run(setting, reports, yabench.EngineOutput(rows))
    entries, place = [], 0
    for part in parts:
        for row in part.select(["opens", "closes", "elements"]).to_pylist():
            one, at = (
                found[place],
                recording.timestamps[place - before]
                if 0 <= place - before < len(recording)
                else None,
            )
            window = None if row["opens"] is None else [row["opens"], row["closes"]]
            entry = {
                "window": window,
                **{name: one[name] for name in ("precision", "recall", "expected", "actual")},
            }
            entries.append(
                {
                    **entry,
                    "delay": None if at is None or window is None else at - window[1],
                    "elements": row["elements"],
                }
            )
            place += 1
    beyond = {
        "window": None,
        "precision": 0.0,
        "recall": 0.0,
        "expected": 0,
        "delay": None,
        "elements": 0,
    }
    more = [
        {**beyond, "actual": bag.total(), **(NOTHING if not bag else {})}
        for bag in rows[max(0, len(entries) - before) :]
    ]
    return entries[before : len(entries) - after] + more


def _few(found: Iterable[Mapping[str, Any]], rows: Sequence[Bag]) -> bool:
    expected: int = sum(one["expected"] for one in found)
    return expected + sum(bag.total() for bag in rows) <= FOLDED


def _mismatch(
    asked: Asked, parts: Sequence[pyarrow.Table], recording: Recording
) -> tuple[float | None, float | None]:
    actual = [relation.rows for relation in recording.relations]
    expected, held = [], sum(rows.total() for rows in actual)
    for part in parts:
        for text in part["rows"].to_pylist():
            expected.append(relation(asked, text).rows)
            held += expected[-1].total()
            if held > FOLDED:
                return None, None
    try:
        there, back = lsbench.mm(expected, actual), lsbench.mm(actual, expected)
    except Unsupported:
        return None, None
    return None if there is None else float(there), None if back is None else float(back)


def _figures(
    measures: Sequence[Mapping[str, Any]], mismatch: tuple[float | None, float | None]
) -> Iterator[str]:
    if measures:
        delays = [entry["delay"] for entry in measures if entry["delay"] is not None]
        told = [
            f"{name} {fmean(entry[name] for entry in measures):.4f}"
            for name in ("precision", "recall")
        ]
        told += [f"median delay {median(delays):g} ms"] if delays else []
        yield f"  YABench: {', '.join(told)}, mean of {len(measures)}"
    else:
        yield "  YABench: not measured"
    there, back = (
        "undefined or not measured" if one is None else f"{one:.2f} %" for one in mismatch
    )
    yield (
        f"  LSBench: {there} of what is expected is not recorded, {back} of what is recorded "
        "is not expected"
    )
