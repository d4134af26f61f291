"""`conformance truth`: ground truth over Spark."""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

from conformance.command_line.options import check_missing
from refengine import cli
from refengine.model.errors import RefengineError

if TYPE_CHECKING:
    from conformance.command_line.options import Commands


def add_parser(commands: Commands) -> None:
    """Add the sub-command and its options."""
    from refengine.dialects import DIALECTS
    from refengine.sparql.witnesses import WITNESSES

    truth = commands.add_parser(
        "truth",
        help="ground truth over Spark: the reports of a query over a stream of any "
        "length, and a recording beside them",
        epilog="exit codes: 0 done, whatever the verdict, 2 bad input, no Spark or nowhere to "
        "write, 3 unsupported, "
        "4 no witness confirms an answer, 130 interrupted",
    )
    cli.add_query(
        truth,
        help="a TOML file: windows, body and optionally r2s; or a text, with --dialect",
    )
    truth.add_argument(
        "--dialect", choices=sorted(DIALECTS), help="QUERY is a text in this dialect"
    )
    truth.add_argument(
        "--stream",
        required=True,
        metavar="PATH",
        help="a folder or URL of .n3t or .parquet files; or what `refengine run` reads",
    )
    truth.add_argument(
        "--semantics",
        required=True,
        nargs="+",
        metavar=("PROFILE", "key=value"),
        help="a profile and the fields to replace, such as t0=0",
    )
    truth.add_argument(
        "--static",
        type=cli.path,
        action="append",
        default=[],
        metavar="FILE",
        help="static data: .ttl, .nt, .nq, .trig; repeatable",
    )
    truth.add_argument(
        "--answers",
        type=cli.path,
        metavar="FILE",
        help="what an engine recorded, to be judged: CSRBench's JSON, or YABench's QR_ file",
    )
    truth.add_argument(
        "--missing",
        type=int,
        default=1,
        metavar="K",
        help="reports that may not be recorded, at each end (default: %(default)s)",
    )
    truth.add_argument(
        "--engine",
        default="engine",
        metavar="NAME",
        help="the name of that engine in the result (default: %(default)s)",
    )
    truth.add_argument(
        "--witness", choices=sorted(WITNESSES), help="one witness alone (default: all)"
    )
    truth.add_argument(
        "--on-error",
        choices=("stop", "quarantine"),
        default="stop",
        help="what becomes of a line that is no triple (default: stop)",
    )
    truth.add_argument(
        "--parts",
        type=int,
        metavar="N",
        help="into how many parts the stream "
        "is cut, at most (default: one a "
        "slot or 500,000 triples)",
    )
    truth.add_argument(
        "--spark",
        metavar="MASTER",
        help="local[2], spark://HOST:PORT, "
        "sc://HOST:PORT, … (default: what "
        "Spark is configured to)",
    )
    truth.add_argument(
        "--environment",
        type=cli.path,
        metavar="ARCHIVE",
        help="the Python of executors, packed by venv-pack (default: theirs)",
    )
    truth.add_argument(
        "--parallel",
        type=int,
        metavar="N",
        help="parts that are computed at a time (default: as many as there are slots for tasks)",
    )
    truth.add_argument(
        "--resume",
        action="store_true",
        help="go on with the run in OUT; what is done is not done again",
    )
    truth.add_argument(
        "-o",
        "--out",
        type=cli.path,
        required=True,
        metavar="OUT",
        help="the folder of the reports: parts/*.parquet",
    )


def run(options: argparse.Namespace) -> int:
    """Compute the reports, and hold a recording against them; the exit code."""
    from tqdm import tqdm

    from conformance.harness.engine_file import pair
    from conformance.spark import jobs, output, session
    from conformance.spark.truth import Asked
    from refengine.core import profiles
    from refengine.rdf.documents import read_static
    from refengine.rdf.queries import read_query
    from refengine.rdf.recordings import read_recording
    from refengine.sparql.witnesses import WITNESSES

    check_missing(options.missing)
    for name in ("parts", "parallel"):
        if (value := getattr(options, name)) is not None and value < 1:
            raise RefengineError(f"--{name} must be > 0, got {value}", rule="usage")
    profile, *fields = options.semantics
    semantics = (
        profiles.profile(profile)
        .but(**dict(pair(word, "key=value") for word in fields))
        .semantics()
    )
    query = read_query(options.query, options.dialect, bool(options.static))
    static = frozenset().union(*map(read_static, options.static))
    asked = Asked(
        query, semantics, static, (options.witness,) if options.witness else tuple(WITNESSES)
    )
    recording = None if options.answers is None else read_recording(options.answers)
    wanted = output.Wanted(
        asked,
        options.stream,
        options.parts,
        options.on_error == "quarantine",
        recording,
        options.engine,
        options.query.stem,
        options.missing,
    )
    wanted.check()
    session.check(options.spark)  # before anything is written
    with output.opened(options.out, wanted, options.resume) as done:
        try:
            with session.opened(
                options.spark, options.out / "spark.log", True, options.environment
            ) as spark:
                parallel, began = options.parallel or jobs.slots(spark), time.monotonic()
                with tqdm(
                    desc="first pass", unit="part", disable=not sys.stderr.isatty(), leave=False
                ) as progress:

                    def tell(some: int, of: int) -> None:
                        progress.total, progress.n = of, some
                        progress.set_description("parts")

                    found = output.run(spark, wanted, options.out, done, parallel, tell)
                print(f"conformance: {time.monotonic() - began:.1f} s", file=sys.stderr)
        except KeyboardInterrupt:
            print(
                f"conformance: interrupted; {len(done)} parts are done: the same command "
                "with --resume goes on",
                file=sys.stderr,
            )
            return 130
    print("\n".join(output.told(found)))
    return 0
