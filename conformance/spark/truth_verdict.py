"""The verdict on a recording by the ground truth of a run, in words: ORA-3, YABench's measures and
LSBench's mismatch, which Spark computes (judging.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pyarrow

from conformance.bench.metrics import yabench
from conformance.bench.metrics.run import of_run
from conformance.spark.compared_rows import bag_of
from conformance.spark.jobs import ask
from conformance.spark.judging import compare_reports, mismatch, verdict_of
from conformance.spark.truth_query import TruthQuery
from conformance.verdict import explain
from conformance.verdict.outcomes import Outcome
from conformance.verdict.wording import count_text, window_text
from refengine.core.profiles import brief
from refengine.core.question import Question
from refengine.core.reports import Report
from refengine.core.values import Condition
from refengine.model.compare import Mode
from refengine.model.elements import Bag, Relation
from refengine.model.errors import Unsupported
from refengine.oracle.trial import Missing
from refengine.rdf.recordings import Recording

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# rows that the driver holds, for YABench's slides under content change
MOST_ROWS_OF_SLIDES = 1_000_000
MEASURED = ("opens", "closes", "elements", "expected", "actual", "delay", "precision", "recall")
SLIDES = (
    "opens long, closes long, elements long, expected long, actual long, delay long, "
    "precision double, recall double"
)
RECORDED = "number long, bindings array<map<string, string>>, instant long"
_RECORDED = pyarrow.schema(
    [
        ("number", pyarrow.int64()),
        ("bindings", pyarrow.list_(pyarrow.map_(pyarrow.string(), pyarrow.string()))),
        ("instant", pyarrow.int64()),
    ]
)


@dataclass(frozen=True)
class TruthVerdict:
    """The verdict on a recording: the outcome, its explanation, and YABench's measures, a row for
    each report or, under content change, for each slide (None: not measured).
    """

    outcome: Outcome
    explanation: str
    measures: DataFrame | None


@contextmanager
def compare_recording(
    reports: DataFrame, truth_query: TruthQuery, recording: Recording, missing: Missing
) -> Iterator[TruthVerdict]:
    """Compare a recording with reports, which are stored, and give the verdict. Its measures can be
    read until the context ends: executors keep the comparisons until then. Raises RefengineError
    for rows that cannot be compared.
    """
    recorded = frame_of_recording(reports.sparkSession, recording)
    compared = compare_reports(recorded, reports, missing=missing).persist()
    try:
        row = verdict_of(compared, missing).toArrow().to_pylist()[0]
        yield _verdict(reports, compared, recorded, truth_query, recording, row)
    finally:
        compared.unpersist()


def _verdict(
    reports: DataFrame,
    compared: DataFrame,
    recorded: DataFrame,
    truth_query: TruthQuery,
    recording: Recording,
    row: dict[str, Any],
) -> TruthVerdict:
    """Return the verdict in words, from its row (`judging.verdict_of`), and the table of measures,
    if there is one: of reports at closes, or of slides under content change. The means of the
    slides are added to the row.
    """
    outcome = Outcome(row["outcome"])
    if outcome is Outcome.PASS:
        lines = [
            f"pass: {count_text(row['relations'], 'relation')}; not recorded: {row['before']} "
            f"before the first, {row['after']} after the last"
        ]
    else:
        lines = _divergence(reports, truth_query, recording, row)
    lines.append(f"  semantics: {brief(truth_query.semantics)}")
    measures: DataFrame | None = None
    conditions = truth_query.semantics.report
    if Condition.CLOSE in conditions:
        measures = _measures_of_reports(compared, row)
    elif Condition.CHANGE in conditions:
        entries = _slides(reports, truth_query, recording, row)
        if entries:
            measures = reports.sparkSession.createDataFrame(entries, SLIDES)
            row |= _means(entries)
    lines += _figures(row, measures is not None)
    there, back = _mismatch(reports, recorded), _mismatch(recorded, reports)
    lines.append(
        f"  LSBench: mismatch {there} (expected rows that are not recorded), {back} (recorded rows "
        "that are not expected)"
    )
    return TruthVerdict(outcome, "\n".join(lines), measures)


def frame_of_recording(spark: SparkSession, recording: Recording) -> DataFrame:
    """Return a recording as `judge` takes it: number, bindings, instant."""
    bindings = [
        [list(row) for row in sorted(relation.rows.elements())] for relation in recording.relations
    ]
    numbers = range(1, len(bindings) + 1)
    columns = [
        pyarrow.array(column, field.type)
        for column, field in zip((numbers, bindings, recording.timestamps), _RECORDED, strict=True)
    ]
    return spark.createDataFrame(pyarrow.Table.from_arrays(columns, schema=_RECORDED), RECORDED)


def _divergence(
    reports: DataFrame, truth_query: TruthQuery, recording: Recording, row: Mapping[str, Any]
) -> list[str]:
    """Return the lines that argue for a fail: where the recording first differs, and in which
    rows.
    """
    from pyspark.sql import functions as f

    count = len(recording)
    first = row["relation"] - 1
    where = f"after the last of {count_text(count, 'relation')}"
    actual: Bag | None = None
    if first < count:
        where = f"relation {first + 1} of {count}"
        actual = recording.relations[first].rows
    report = row["divergence"]
    if report is None or report["place"] is None:
        return [
            f"fail: {where}: the semantics reports nothing more",
            *explain.differing(truth_query.query, Counter(), actual, Mode.VALUE),
        ]
    is_diverging_report = (f.col("part") == report["part"]) & (f.col("number") == report["number"])
    [bindings] = (
        reports.where(is_diverging_report).select("bindings").toArrow()["bindings"].to_pylist()
    )
    window = ""
    if report["opens"] is not None:
        borders = report["opens"], report["closes"]
        window = f" window {window_text(borders, truth_query.semantics)}"
    return [
        f"fail: first divergence, {where}:{window} at t={report['evaluation']}, "
        f"{count_text(report['elements'], 'element')}",
        *explain.differing(truth_query.query, bag_of(bindings), actual, Mode.VALUE),
    ]


def _measures_of_reports(compared: DataFrame, row: Mapping[str, Any]) -> DataFrame:
    """Return a row for each report, without those that are missing at the ends of a pass, and one
    without a window for each relation after the last report.
    """
    from pyspark.sql import functions as f

    is_measured = f.col("is_recorded")
    if row["outcome"] == Outcome.FAIL:
        is_measured = is_measured | (f.col("relation") > 0)
    chosen = compared.where((f.col("before") == row["before"]) & is_measured)
    return chosen.orderBy("relation").select(*MEASURED)


def _slides(
    reports: DataFrame, truth_query: TruthQuery, recording: Recording, row: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return YABench's measures under content change, an entry for each slide; none if there are
    more rows than the driver holds.
    """
    from pyspark.sql import functions as f

    rows = [relation.rows for relation in recording.relations]
    held = reports.agg(f.sum(f.size("bindings"))).toArrow()[0][0].as_py() or 0
    if held + sum(bag.total() for bag in rows) > MOST_ROWS_OF_SLIDES:
        return []
    due = reports.orderBy("part", "number").toArrow().to_pylist()
    due = due[row["before"] : len(due) - row["after"]]
    setting = Question(truth_query.query, {}).under(truth_query.semantics)
    expected = [_report_of(each, truth_query) for each in due]
    entries = of_run(setting, expected, yabench.EngineOutput(rows))
    for entry in entries:
        entry["opens"], entry["closes"] = entry["window"] or (None, None)
    return [{name: entry[name] for name in MEASURED} for entry in entries]


def _report_of(row: Mapping[str, Any], truth_query: TruthQuery) -> Report:
    """Return the report of a row. Its contents have the right length, but no elements."""
    windows = tuple(
        None if window["opens"] is None else (window["opens"], window["closes"])
        for window in row["windows"]
    )
    contents = tuple((None,) * window["elements"] for window in row["windows"])
    relation = Relation(truth_query.query.body.variables, bag_of(row["bindings"]))
    return Report(row["evaluation"], row["trigger"], windows, row["instant"], contents, 0, relation)


def _means(entries: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "precision": fmean(entry["precision"] for entry in entries),
        "recall": fmean(entry["recall"] for entry in entries),
        "delay": None,  # a slide has no instant at which it was answered
        "measured": len(entries),
    }


def _figures(row: Mapping[str, Any], is_measured: bool) -> Iterator[str]:
    """Yield the line with YABench's figures. The delay is in the unit of the stream's times."""
    if not is_measured or not row["measured"]:
        yield "  YABench: not measured"
        return
    over = count_text(row["measured"], "window")
    figures = [f"mean precision {row['precision']:.4f}", f"mean recall {row['recall']:.4f}"]
    if row["delay"] is not None:
        figures.append(f"median delay {row['delay']:g}")
    yield f"  YABench, over {over}: {', '.join(figures)}"


def _mismatch(first: DataFrame, second: DataFrame) -> str:
    """Return LSBench's mismatch of two outputs in words."""
    try:
        percent = ask(lambda: mismatch(first, second).toArrow()["percent"][0].as_py())
    except Unsupported:
        return "not measured, for blank nodes"
    if percent is None:
        return "undefined, without rows"
    return f"{percent:.2f} %"
