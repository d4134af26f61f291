"""Judging a recording by ground truth, as functions from DataFrames to a DataFrame: the verdict of
ORA-3, YABench's precision, recall and delay, and LSBench's mismatch.

Nothing that there is for each report reaches the driver. Reports are read more than once: write
them first, or persist them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.spark.compared_rows import (
    COMPARED,
    FOUND,
    KEYED,
    LOST,
    compare_pairs,
    find_rows,
    keys_of_rows,
    walk_through,
)
from conformance.spark.ground_truth import refuse_no_dataframe
from conformance.spark.jobs import check_workers
from conformance.spark.offsets import with_offsets
from refengine.model.errors import InvalidStream
from refengine.model.messages import display
from refengine.oracle.trial import Missing

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

PLACES = (
    "before long, relation long, relations long, is_recorded boolean, place long, part int, "
    "number long, evaluation long, opens long, closes long, elements long, delay long"
)


def judge(recorded: DataFrame, reports: DataFrame, *, missing: int | Missing = 1) -> DataFrame:
    """Return the verdict on a recording, as one row.

    `reports` are those of `conformance.spark.truth`. `recorded` has the relations of an engine:
    `number` (from 1, in the order in which they came), `bindings` (as in reports) and optionally
    `instant` (when it came, in the unit of the stream's times).

    The relations must be consecutive reports, with at most `missing` missing at each end, or as
    many `before` the first and `after` the last as `refengine.oracle.trial.Missing` says. A
    recording without relations passes only if there is no report (ORA-3). The row has

    - `outcome`: pass or fail; `relations` and `reports`: how many there are
    - `before`, `after`: how many reports are not recorded at the ends. After a fail, `before` is
      the allowed number with which the fewest rows differ, and `after` is 0
    - `relation`: of a fail the number of the first relation that differs; one more than there are
      if the recording ends too early. `divergence` is its comparison (`compare_reports`)
    - `precision`, `recall` (means), `delay` (median, null if unknown), `measured`: YABench's
      measures and over how many comparisons they are taken, without the reports that are missing at
      the ends of a pass

    Raises RefengineError for a negative `missing`, and InvalidStream for other columns.
    """
    return verdict_of(compare_reports(recorded, reports, missing=missing), Missing.of(missing))


def verdict_of(compared: DataFrame, missing: Missing) -> DataFrame:
    """Return the verdict of `judge` from the comparisons of `compare_reports`."""
    from pyspark.sql import functions as f

    comparison = f.struct(*compared.columns)
    is_recorded = f.col("is_recorded")
    is_due = f.col("place").isNotNull()
    relation = f.col("relation")
    differs = is_recorded & ~f.col("is_equal")
    found = compared.groupBy("before").agg(
        f.count(f.when(is_recorded, 1)).alias("relations"),
        f.count("place").alias("reports"),
        f.min(f.when(differs, relation)).alias("relation"),
        f.min_by(comparison, f.when(differs, relation)).alias("divergence"),
        f.min_by(comparison, f.when(is_due & ~is_recorded & (relation > 0), relation)).alias(
            "next"
        ),
        f.sum(_differing_rows(missing.after)).alias("differing"),
        *_measures(is_recorded, "recorded"),
        *_measures(is_recorded | (relation > 0), "whole"),
    )
    none = f.lit(0).cast("long")
    found = (
        compared.sparkSession.range(missing.before + 1)
        .select(f.col("id").alias("before"))
        .join(f.broadcast(found), "before", "left")
        .withColumn("relations", f.coalesce("relations", none))
        .withColumn("reports", f.coalesce("reports", none))
        .withColumn("after", f.col("reports") - f.col("before") - f.col("relations"))
    )
    # A recording without relations has no ends: nothing can be missing before it (ORA-3).
    found = found.where((f.col("before") == 0) | (f.col("relations") > 0))
    is_all = f.col("after").between(0, missing.after)
    is_all = is_all & ((f.col("relations") > 0) | (f.col("reports") == 0))
    passes = f.col("relation").isNull() & is_all
    best = found.withColumn("passes", passes).orderBy(
        f.col("passes").desc(), f.when(f.col("passes"), f.col("before")), "differing", "before"
    )
    ends_early = f.col("relation").isNull()
    return best.limit(1).select(
        f.when(f.col("passes"), "pass").otherwise("fail").alias("outcome"),
        "relations",
        "reports",
        "before",
        f.when(f.col("passes"), f.col("after")).otherwise(none).alias("after"),
        f.when(~f.col("passes"), f.coalesce("relation", f.col("relations") + 1)).alias("relation"),
        f.when(
            ~f.col("passes"), f.when(ends_early, f.col("next")).otherwise(f.col("divergence"))
        ).alias("divergence"),
        *(
            f.when(f.col("passes"), f.col(f"{name}_recorded"))
            .otherwise(f.col(f"{name}_whole"))
            .alias(name)
            for name in ("precision", "recall", "delay", "measured")
        ),
    )


def compare_reports(
    recorded: DataFrame, reports: DataFrame, *, missing: int | Missing = 1
) -> DataFrame:
    """Return the comparison of each report with the relation at its place, for each number of
    reports, from 0 up to what `missing` allows, that may be missing `before` the first relation.

    `recorded` and `reports` are as for `judge`. A row has `before`; `relation`, the number of the
    relation with which the report is compared (below 1 or above the last one if there is none:
    `is_recorded` says so); `place`, the number of the report among all (null if there is none);
    `part`, `number`, `evaluation` and what the first window `opens`, `closes` and how many
    `elements` all windows hold; the numbers `expected` and `actual` of rows; `is_equal`; YABench's
    `precision` and `recall`; `delay`, how long after its window closed the relation came; and the
    first rows that are `lacking` and that are `too_many` if both are there.
    """
    from pyspark.sql import functions as f

    refuse_no_dataframe(recorded, "recorded")
    refuse_no_dataframe(reports, "reports")
    check_workers(reports.sparkSession)
    allowed = Missing.of(missing)
    each_before = f.explode(f.sequence(f.lit(0).cast("long"), f.lit(allowed.before).cast("long")))
    window = f.col("windows")[0]
    expected = (
        _with_places(reports)
        .withColumn("before", each_before)
        .select(
            "before",
            (f.col("place") - f.col("before")).alias("relation"),
            "place",
            "part",
            "number",
            "evaluation",
            window["opens"].alias("opens"),
            window["closes"].alias("closes"),
            f.aggregate(
                "windows", f.lit(0).cast("long"), lambda total, each: total + each["elements"]
            ).alias("elements"),
            f.col("bindings").alias("due"),
        )
    )
    actual = _relations(recorded).withColumn("before", each_before)
    relations = recorded.agg(f.count("*").alias("relations"))
    beside = expected.join(actual, ["before", "relation"], "full_outer")
    pairs = beside.crossJoin(f.broadcast(relations)).select(
        "before",
        "relation",
        "relations",
        f.col("came").isNotNull().alias("is_recorded"),
        *("place", "part", "number", "evaluation", "opens", "closes", "elements"),
        (f.col("came_at") - f.col("closes")).alias("delay"),
        "due",
        "came",
    )
    return pairs.mapInArrow(compare_pairs, f"{PLACES}, {COMPARED}")


def mismatch(first: DataFrame, second: DataFrame) -> DataFrame:
    """Return LSBench's mismatch mm(first, second) as one row: `percent`, the share of the rows of
    the first output that are not found in the second (null if the first has none), and `lost` and
    `rows`, the numbers of these (docs/benchmarks.md).

    Both are recordings or reports, as for `judge`. One task walks through the first output in
    order, and holds the numbers of the relations of the second output that have a row of the first.
    With blank nodes the job ends with Unsupported.
    """
    from pyspark.sql import functions as f

    refuse_no_dataframe(first, "first")
    refuse_no_dataframe(second, "second")
    check_workers(first.sparkSession)

    def add_keys(output: DataFrame) -> DataFrame:
        return output.mapInArrow(keys_of_rows, KEYED)

    pairs = (
        add_keys(_select_numbers_and_bindings(first))
        .groupBy("key")
        .cogroup(add_keys(_select_numbers_and_bindings(second)).groupBy("key"))
    )
    found = pairs.applyInArrow(find_rows, FOUND).repartition(1).sortWithinPartitions("number")
    lost = found.mapInArrow(walk_through, LOST).agg(
        f.coalesce(f.sum("lost"), f.lit(0)).alias("lost"),
        f.coalesce(f.sum("rows"), f.lit(0)).alias("rows"),
    )
    percent = f.when(f.col("rows") > 0, 100 * f.col("lost") / f.col("rows"))
    return lost.select(percent.alias("percent"), "lost", "rows")


def _select_numbers_and_bindings(output: DataFrame) -> DataFrame:
    """Return the relations of reports or of a recording: number and bindings."""
    from pyspark.sql import functions as f

    if "part" in output.columns:
        return _with_places(output).select(f.col("place").alias("number"), "bindings")
    return _relations(output).select(
        f.col("relation").alias("number"), f.col("came").alias("bindings")
    )


def _relations(recorded: DataFrame) -> DataFrame:
    """Return the relations of a recording: relation, came_at and came. Raises InvalidStream for
    other columns.
    """
    from pyspark.sql import functions as f

    lacking = [name for name in ("number", "bindings") if name not in recorded.columns]
    if lacking:
        has = display(", ".join(recorded.columns))
        reason = f"needs the columns {', '.join(lacking)}; has {has}"
        raise InvalidStream(reason, rule="IO-2", place="recorded")
    came_at = f.lit(None).cast("long")
    if "instant" in recorded.columns:
        came_at = f.col("instant").cast("long")
    return recorded.select(
        f.col("number").cast("long").alias("relation"),
        came_at.alias("came_at"),
        f.col("bindings").alias("came"),
    )


def _with_places(reports: DataFrame) -> DataFrame:
    """Return reports with `place`, their number among the reports of all parts, from 1."""
    from pyspark.sql import functions as f

    placed = with_offsets(reports, "part")
    return placed.withColumn("place", f.col("number") + f.col("offset")).drop("offset")


def _differing_rows(missing_after: int) -> Column:
    """Return in how many rows a report and a relation differ (ORA-9). A report that may be missing
    at the ends counts none.
    """
    from pyspark.sql import functions as f

    expected, actual = f.col("expected"), f.col("actual")
    same = f.round(f.col("precision") * actual)
    at_least = f.when(f.col("is_equal"), 0).otherwise(1)
    is_due = f.col("place").isNotNull()
    is_beyond = f.col("relation") > f.col("relations") + missing_after
    return (
        f.when(f.col("is_recorded") & is_due, f.greatest(expected + actual - 2 * same, at_least))
        .when(f.col("is_recorded"), 1 + actual)
        .when(is_beyond, 1 + expected)
        .otherwise(0)
    )


def _measures(is_measured: Column, name: str) -> list[Column]:
    """Return YABench's measures of some comparisons, in columns whose names end in `name`."""
    from pyspark.sql import functions as f

    return [
        f.avg(f.when(is_measured, f.col("precision"))).alias(f"precision_{name}"),
        f.avg(f.when(is_measured, f.col("recall"))).alias(f"recall_{name}"),
        f.median(f.when(is_measured, f.col("delay"))).alias(f"delay_{name}"),
        f.count(f.when(is_measured, 1)).alias(f"measured_{name}"),
    ]
