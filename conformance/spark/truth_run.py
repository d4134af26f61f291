"""A run of the command `truth`, which can be interrupted and resumed.

1. The stream is read in two passes, or in three with quarantine:
   - with quarantine: the records that are no triples are written to a table (without it, such a
     record ends the run);
   - the triples are counted by time, and from that the parts are planned (ENG-7);
   - each triple is written into a block of its part.
2. Each part is computed by a job of its own, from its blocks and from those of earlier parts that
   have its halo. Spark commits its reports.
3. If there is a recording, it is compared with the reports.

Its folder has what was asked (run.json) and the parts (plan.json); of a recording the result
(results.ndjson); and as Parquet the blocks until all parts are computed (blocks/), the reports
(reports/part=N/), the records that are no triples (quarantine/), and the measures of a recording
(measures/).
"""

from __future__ import annotations

import json
import os
import shutil
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from conformance.spark import folder
from conformance.spark.blocks import BLOCK, blocks_of_parts
from conformance.spark.ground_truth import (
    count_arrivals,
    rows_of_streams,
    usual_number_of_parts,
)
from conformance.spark.jobs import ask, run_jobs
from conformance.spark.part_plan import PartPlan, borders_of_halo, choose_halos, plan_parts
from conformance.spark.part_reports import REPORTS, ask_which_halos_are_enough, compute_part
from conformance.spark.stored_stream import (
    error_of_faults,
    faults_of,
    only_triples,
    read_sources,
    url_of,
)
from conformance.spark.truth_plan import TruthPlan
from conformance.spark.truth_query import TruthQuery
from conformance.spark.truth_verdict import TruthVerdict, compare_recording
from conformance.verdict import results
from conformance.verdict.results import Result
from conformance.verdict.wording import count_text
from refengine.incremental import parts
from refengine.incremental.parts import Part
from refengine.model.errors import InvalidStream, RefengineError, require
from refengine.oracle.trial import Missing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PLAN = "plan.json"
BLOCKS = "blocks"
TABLE_OF_REPORTS = "reports"
QUARANTINE = "quarantine"
MEASURES = "measures"
RESULTS = "results.ndjson"
ATTEMPTS = "_attempts"  # tables that Spark writes, until they are moved to their places


@dataclass(frozen=True)
class StoredParts:
    """The parts whose blocks are written: how many triples there are in all, the first instant of
    each stream, and each part with the instant from which it needs elements. `quarantined` records
    were set aside, and `unread` files were of other formats.
    """

    triples: int
    firsts: Mapping[str, int]
    parts: Sequence[Part]
    quarantined: int
    unread: int

    def line(self) -> str:
        """Return the parts as a line of JSON."""
        return json.dumps({**vars(self), "parts": list(map(list, self.parts))}, sort_keys=True)

    @classmethod
    def read(cls, path: Path) -> StoredParts:
        """Return the parts in a file. Raises RefengineError for a file that no run has written."""
        try:
            fields = json.loads(path.read_text(encoding="utf-8"))
            fields["parts"] = [Part(*borders) for borders in fields["parts"]]
            return cls(**fields)
        except (OSError, ValueError, KeyError, TypeError):
            reason = "not what a run wrote: name another folder"
            raise RefengineError(reason, rule="usage", place=str(path)) from None


@dataclass(frozen=True)
class Truth:
    """The ground truth of a run: its parts, the number of reports, and who computed them. `uncut`
    says why the stream is not cut in time, if it is not. `verdict` is that on the recording, if
    there is one.
    """

    stored: StoredParts
    reports: int
    computed_by: Sequence[str]
    uncut: str | None
    verdict: TruthVerdict | None

    def lines(self) -> Iterator[str]:
        """Yield the lines that sum up a run."""
        counts = (
            count_text(self.stored.triples, "triple"),
            count_text(len(self.stored.parts), "part"),
            count_text(self.reports, "report"),
        )
        by = "".join(f"; by {who}" for who in self.computed_by)
        yield f"{', '.join(counts)}{by}"
        if not self.reports:
            yield "no report: `python -m refengine run` over a piece of the stream says why"
        if self.uncut:
            yield f"the stream is not cut in time: {self.uncut}"
        if self.stored.quarantined:
            number = count_text(self.stored.quarantined, "record")
            yield f"no triples, and set aside in {QUARANTINE}: {number}"
        if self.stored.unread:
            yield f"not read: {count_text(self.stored.unread, 'file')} of other formats"
        if self.verdict:
            yield self.verdict.explanation


@contextmanager
def open_folder(path: Path, plan: TruthPlan, resume: bool) -> Iterator[set[int]]:
    """Open the folder of a run, and give the numbers of the parts that are committed. Raises
    RefengineError.
    """
    with folder.claim(path, plan.manifest(), resume):
        done: set[int] = set()
        if (path / PLAN).exists():
            count = len(StoredParts.read(path / PLAN).parts)
            done = {n for n in range(count) if _folder_of_reports(path, n).exists()}
        yield done


def compute_truth(
    spark: SparkSession,
    plan: TruthPlan,
    path: Path,
    done: set[int],
    parallel_jobs: int,
    show_progress: Callable[[int, int], None],
) -> Truth:
    """Compute the parts that are not `done`, and return the whole ground truth.

    `done` has the numbers of the committed parts, and gets each further one as it is committed. At
    most `parallel_jobs` jobs run at a time. `show_progress` is called with the number of parts that
    are done and the number of all parts. Raises RefengineError.
    """
    if not (path / PLAN).exists():
        stored = ask(partial(_plan_and_store, spark, plan, path, parallel_jobs))
        results.replace({path / PLAN: [stored.line()]})
    stored = StoredParts.read(path / PLAN)
    total = len(stored.parts)
    show_progress(len(done), total)
    if len(done) < total:
        blocks = ask(lambda: _read(spark, path / BLOCKS, BLOCK))
        work = {
            number: partial(_compute_part, plan.truth_query, blocks, stored, number, path)
            for number in range(total)
            if number not in done
        }
        for number, _ in run_jobs(work, parallel_jobs):
            done.add(number)
            show_progress(len(done), total)
    shutil.rmtree(path / BLOCKS, ignore_errors=True)
    truth = ask(partial(_sum_up, spark, plan, path, stored))
    shutil.rmtree(path / ATTEMPTS, ignore_errors=True)
    return truth


def _plan_and_store(
    spark: SparkSession, plan: TruthPlan, path: Path, parallel_jobs: int
) -> StoredParts:
    """Read the streams, plan the parts, write their blocks and choose their halos; with quarantine,
    write the records that are no triples. Return what plan.json holds. Raises InvalidStream for
    what is no triple, without quarantine.
    """
    truth_query = plan.truth_query
    records = read_sources(spark, plan.sources, [found.name for found in plan.formats])
    quarantined = 0
    if plan.quarantine:
        quarantined = _write_and_sum(faults_of(records), "1", path, QUARANTINE)
        records = only_triples(records)
    rows = rows_of_streams(records, truth_query)
    try:
        histogram = ask(lambda: count_arrivals(rows, truth_query))
        count = plan.parts or usual_number_of_parts(histogram.triples, parallel_jobs)
        planned = plan_parts(truth_query.query, truth_query.semantics, histogram, count)
        triples = ask(partial(_write_blocks, rows, planned, path))
    except InvalidStream:
        # An executor's error does not name the record: look for the first one that is no triple.
        fault = error_of_faults(records)
        if fault is not None:
            raise fault from None
        raise
    if triples != histogram.triples:
        counts = f"{histogram.triples} triples, and then {triples}"
        reason = f"has been changed while it was read: {counts}"
        raise InvalidStream(reason, rule="IO-1", place="stream")
    blocks = _read(spark, path / BLOCKS, BLOCK)
    chosen = choose_halos(
        planned, partial(_find_enough_halos_in_blocks, blocks, truth_query, histogram.firsts)
    )
    ordered = [chosen[number] for number in sorted(chosen)]
    unread = sum(found.unread for found in plan.formats)
    return StoredParts(histogram.triples, histogram.firsts, ordered, quarantined, unread)


def _write_blocks(rows: DataFrame, planned: Sequence[PartPlan], path: Path) -> int:
    """Write the rows (COLUMNS) of each part in blocks, each row in one of them. Return how many
    triples they have.
    """
    own = [(each.number, each.part._replace(halo_start=each.part.start)) for each in planned]
    blocks = rows.mapInArrow(partial(blocks_of_parts, own), BLOCK)
    return _write_and_sum(blocks, "triples", path, BLOCKS, "part")


def _find_enough_halos_in_blocks(
    blocks: DataFrame,
    truth_query: TruthQuery,
    firsts: Mapping[str, int],
    empty_parts: Mapping[int, Part],
) -> set[int]:
    """Return the numbers of the parts whose halos are enough (`choose_halos`)."""
    from pyspark.sql import functions as f

    borders = [(number, *borders_of_halo(part)) for number, part in empty_parts.items()]
    frame = blocks.sparkSession.createDataFrame(borders, "number int, since long, stop long")
    is_of_halo = (f.col("last") >= f.col("since")) & (f.col("first") < f.col("stop"))
    joined = blocks.join(f.broadcast(frame), is_of_halo)
    of_halos = joined.select(f.col("number").alias("part"), "block")
    return ask_which_halos_are_enough(of_halos, truth_query, firsts, empty_parts)


def _compute_part(
    truth_query: TruthQuery, blocks: DataFrame, stored: StoredParts, number: int, path: Path
) -> None:
    """Compute the reports of a part in one task, and let Spark commit them."""
    from pyspark.sql import functions as f

    part = stored.parts[number]
    first = 0
    is_needed = f.lit(True)
    if part.halo_start is not None:
        since, _ = borders_of_halo(part)
        stops = [require(before.stop) for before in stored.parts[:number]]
        first = bisect_right(stops, since)  # the first part that has something of the halo
        is_needed = f.col("last") >= since
    needed = blocks.where(f.col("part").between(first, number) & is_needed)
    compute = partial(compute_part, truth_query, stored.firsts, number, part)
    reports = needed.select("block").coalesce(1).mapInArrow(compute, REPORTS)
    _write(reports.drop("part"), path, _folder_of_reports(path, number).relative_to(path))


def _sum_up(spark: SparkSession, plan: TruthPlan, path: Path, stored: StoredParts) -> Truth:
    """Return the ground truth of a run whose parts are committed. Judge its recording."""
    from pyspark.sql import functions as f

    reports = _read(spark, path / TABLE_OF_REPORTS, REPORTS)
    by = reports.groupBy("computed_by").agg(f.count("*").alias("count")).toArrow().to_pylist()
    truth_query = plan.truth_query
    return Truth(
        stored,
        sum(row["count"] for row in by),
        sorted(row["computed_by"] for row in by),
        parts.why_not_in_parts(truth_query.query, truth_query.semantics),
        _judge(plan, path, reports),
    )


def _judge(plan: TruthPlan, path: Path, reports: DataFrame) -> TruthVerdict | None:
    """Judge the recording of a run, if it has one, and write the result and the measures."""
    if plan.recording is None:
        return None
    judging = compare_recording(reports, plan.truth_query, plan.recording, Missing.of(plan.missing))
    with judging as verdict:
        if verdict.measures is not None:
            _write(verdict.measures, path, MEASURES)
    result = Result(
        engine=plan.engine,
        suite="truth",
        case=plan.case,
        outcome=verdict.outcome,
        explanation=verdict.explanation,
    )
    results.replace({path / RESULTS: results.lines([result])})
    return verdict


def _folder_of_reports(path: Path, number: int) -> Path:
    """Return the folder of the reports of a part, which is there once they are committed."""
    return path / TABLE_OF_REPORTS / f"part={number}"


def _read(spark: SparkSession, path: Path, schema: str) -> DataFrame:
    """Return a table of a run that was written as Parquet."""
    return spark.read.schema(schema).parquet(url_of(str(path)))


def _write_and_sum(frame: DataFrame, expression: str, path: Path, name: str, *columns: str) -> int:
    """Write a table of a run as `_write` does, and return the sum of an expression of SQL over its
    rows. For "1" that is the number of rows.
    """
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    observed = Observation()
    total = f.coalesce(f.sum(f.expr(expression)), f.lit(0)).alias("total")
    _write(frame.observe(observed, total), path, name, *columns)
    return int(observed.get["total"])


def _write(frame: DataFrame, path: Path, name: str | Path, *columns: str) -> None:
    """Write a table of a run, whose folders are named for the values of some columns. It is there
    as a whole or not at all, even if the job of a driver that was killed still runs: each job
    writes to a folder of its own, which is moved to its place when Spark has committed it. Raises
    RefengineError if the driver does not find it.
    """
    attempt = path / ATTEMPTS / uuid4().hex
    frame.write.partitionBy(*columns).parquet(f"file://{os.path.abspath(attempt)}")
    if not attempt.exists():
        reason = "executors write elsewhere; name a folder that they share with the driver"
        raise RefengineError(reason, rule="usage", place=str(path))
    (path / name).parent.mkdir(exist_ok=True)
    shutil.rmtree(path / name, ignore_errors=True)
    attempt.rename(path / name)
