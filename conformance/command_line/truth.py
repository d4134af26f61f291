"""`conformance truth`: ground truth over Spark."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

from conformance.command_line.options import (
    add_spark_options,
    check_missing,
    check_positive,
    end_interrupted,
    note_absent_witnesses,
    progress_bar,
)
from refengine import cli
from refengine.model.errors import InvalidQuery
from refengine.model.messages import did_you_mean, display

if TYPE_CHECKING:
    from tqdm import tqdm

    from conformance.command_line.options import Commands
    from conformance.spark.stored_stream import StoredSource
    from conformance.spark.truth_plan import TruthPlan
    from conformance.spark.truth_query import TruthQuery
    from conformance.spark.truth_run import Truth
    from refengine.core.semantics import Semantics
    from refengine.oracle.trial import Missing


def add_parser(commands: Commands) -> None:
    """Add the sub-command and its options."""
    truth = commands.add_parser(
        "truth",
        help="compute the reports of a query over Spark, and judge a recording by them",
        description="Compute ground truth over Spark: the reports of a query over a stream of any "
        "length. With --answers, also judge the recording of an engine by them. An interrupted run "
        "can be resumed.",
        epilog="exit codes: 0 done, whatever the verdict; 2 bad input, no Spark, or nowhere to "
        "write; 3 unsupported; 4 no witness confirms an answer; 130 interrupted",
    )
    _add_query(truth)
    _add_recording(truth)
    _add_work(truth)
    add_spark_options(truth, "parts that are computed", "reports: reports/part=N/*.parquet")


def _add_query(truth: argparse.ArgumentParser) -> None:
    """Add the options that say what is computed: query, stream, semantics and static data."""
    from refengine.dialects import DIALECTS

    cli.add_query_in_any_language(
        truth, "a TOML file with windows, body and optionally r2s", DIALECTS
    )
    truth.add_argument(
        "--stream",
        action="append",
        required=True,
        metavar="[NAME=]PATH",
        help="a stream: the folder, file or URL of .n3t or .parquet files, or a file that "
        "`refengine run` reads without options, so that what has no time is refused. NAME is the "
        "name of the stream; it may be left out if the query "
        "has one. If it has several, and one PATH without NAME holds them all, the rows name "
        "theirs in a column `stream`. May be given several times",
    )
    truth.add_argument(
        "--format",
        metavar="NAME",
        help="the format of the streams, as Spark names it, such as delta (default: what the names "
        "of the files say)",
    )
    truth.add_argument(
        "--semantics",
        required=True,
        nargs="+",
        metavar=("PROFILE", "key=value"),
        help="a profile, and values that replace fields of it, such as t0=0",
    )
    truth.add_argument(
        "--static",
        action="append",
        default=[],
        metavar="[IRI=]FILE",
        help="a file of static data: .ttl, .nt, .nq or .trig. With IRI, it is the graph that FROM "
        "or FROM NAMED of the query names (QRY-2). May be given several times",
    )


def _add_recording(truth: argparse.ArgumentParser) -> None:
    """Add the options that say which recording is judged, if one is."""
    truth.add_argument(
        "--answers",
        type=cli.path,
        metavar="FILE",
        help="judge the recording of an engine: CSRBench's JSON, or YABench's QR_ file",
    )
    truth.add_argument(
        "--missing",
        type=int,
        metavar="K",
        help="with --answers: allow at most K reports to be missing at each end of the recording "
        "(default: 1; for a QR_ file, which begins with the stream, 0 before the first and 1 after "
        "the last)",
    )
    truth.add_argument(
        "--engine",
        default="engine",
        metavar="NAME",
        help="with --answers: the name of the engine in the result (default: %(default)s)",
    )


def _add_work(truth: argparse.ArgumentParser) -> None:
    """Add the options that say how it is computed."""
    from refengine.sparql.witnesses import WITNESSES

    truth.add_argument(
        "--definition",
        action="store_true",
        help="compute each answer anew, by the SPARQL evaluator, which a witness confirms "
        "(default: incrementally)",
    )
    truth.add_argument(
        "--witness",
        choices=sorted(WITNESSES),
        help="ask this witness only (default: both)",
    )
    truth.add_argument(
        "--on-error",
        choices=("stop", "quarantine"),
        default="stop",
        help="what to do with a record that is not a triple: stop before anything is computed, or "
        "leave it out and write it to the table OUT/quarantine (default: %(default)s)",
    )
    truth.add_argument(
        "--parts",
        type=int,
        metavar="N",
        help="cut the stream into at most N parts (default: a multiple of the number of slots for "
        "tasks, the least with which a part has some 500,000 triples at most; fewer if parts would "
        "have fewer than 50,000)",
    )


def run(options: argparse.Namespace) -> int:
    """Compute the reports, and judge a recording by them if there is one; return the exit code."""
    from conformance.spark import session, truth_run

    note_absent_witnesses()
    bar = progress_bar(desc="reading the stream", unit="part")  # raises before anything is written
    check_missing(options.missing)
    check_positive("--parts", options.parts)
    check_positive("--parallel", options.parallel)
    plan = _plan(options)
    plan.check()
    session.check_master(options.spark, options.environment)  # before anything is written
    with truth_run.open_folder(options.out, plan, options.resume) as done:
        try:
            truth = _compute(plan, done, options, bar)
        except KeyboardInterrupt:
            return end_interrupted(f"{len(done)} parts are done")
    print("\n".join(truth.lines()))
    return 0


def _plan(options: argparse.Namespace) -> TruthPlan:
    """Return the plan of the run. Raises RefengineError for malformed files."""
    from conformance.spark.truth_plan import TruthPlan
    from refengine.rdf.recordings import read_recording

    query = _query(options)
    recording = None
    if options.answers is not None:
        recording = read_recording(options.answers)
    return TruthPlan(
        query,
        _sources(options, query),
        options.parts,
        options.on_error == "quarantine",
        recording,
        options.engine,
        options.query.stem,
        _missing(options),
    )


def _missing(options: argparse.Namespace) -> Missing:
    """Return how many reports may be missing from the recording (ORA-3)."""
    from refengine.oracle.trial import Missing
    from refengine.rdf.recordings import is_from_yabench

    if options.missing is not None:
        return Missing.of(options.missing)
    if options.answers is not None and is_from_yabench(options.answers):
        return Missing(0, 1)
    return Missing(1, 1)


def _sources(options: argparse.Namespace, truth_query: TruthQuery) -> list[StoredSource]:
    """Return where the streams are. Raises InvalidQuery for a stream that is given twice, that no
    window ranges over, or that is missing.
    """
    from conformance.spark.stored_stream import StoredSource

    names = truth_query.stream_names
    sources = []
    for word in options.stream:
        name, path = cli.stream_and_file(word)
        if name is None and (len(names) == 1 or len(options.stream) > 1):
            name = names[0]
        sources.append(StoredSource(name, path, options.format))
    _check_names([source.name for source in sources], names)
    return sources


def _check_names(given: Sequence[str | None], names: Sequence[str]) -> None:
    """Raise InvalidQuery if the streams that are given are not those of the query, each once. None
    is given for rows that have their streams in a column.
    """
    for name in given:
        if name is not None and (name not in names or given.count(name) > 1):
            reason = f"stream {display(name)} is given twice"
            if name not in names:
                reason = f"no window ranges over {display(name)}{did_you_mean(name, names)}"
            raise InvalidQuery(reason, rule="QRY-4", place="--stream")
    lacking = [name for name in names if name not in given]
    if None not in given and lacking:
        reason = f"stream {display(lacking[0])} is not given; write --stream NAME=PATH"
        raise InvalidQuery(reason, rule="QRY-4", place="--stream")


def _query(options: argparse.Namespace) -> TruthQuery:
    from conformance.spark.truth_query import TruthQuery
    from refengine.core.static import names_of_graphs, resolve_static
    from refengine.rdf.documents import read_all_static
    from refengine.rdf.queries import read_query
    from refengine.sparql.witnesses import WITNESSES

    semantics = _semantics(*options.semantics)
    graphs, always = cli.graphs_and_files(options.static)
    data = read_all_static(map(cli.path, always))
    query, static = resolve_static(
        read_query(options.query, options.dialect, bool(always), graphs=names_of_graphs(data)),
        {iri: read_all_static(map(cli.path, files)) for iri, files in graphs.items()},
        data,
    )
    witnesses = tuple(WITNESSES)
    if options.witness:
        witnesses = (options.witness,)
    return TruthQuery(query, semantics, static, witnesses, options.definition)


def _semantics(profile: str, *words: str) -> Semantics:
    """Return the semantics of a profile in which words of the form key=value replace fields."""
    from conformance.harness.engine_file import pair
    from refengine.core import profiles

    fields = dict(pair(word, "key=value") for word in words)
    return profiles.profile(profile).with_fields(fields).semantics()


def _compute(
    plan: TruthPlan,
    done: set[int],
    options: argparse.Namespace,
    bar: Callable[..., tqdm[NoReturn]],
) -> Truth:
    """Compute what is left of a run, and print how long it took."""
    from conformance.spark import jobs, session, truth_run

    log = options.out / "spark.log"
    with session.open_session(options.spark, log, True, options.environment) as spark:
        parallel = options.parallel or jobs.slots(spark)
        began = time.monotonic()
        with bar() as progress:

            def show(count: int, total: int) -> None:
                progress.total = total
                progress.n = count
                progress.set_description("parts")

            truth = truth_run.compute_truth(spark, plan, options.out, done, parallel, show)
        print(f"conformance: {time.monotonic() - began:.1f} s", file=sys.stderr)
    return truth
