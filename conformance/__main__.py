"""`python -m conformance`: verdicts on recorded engines, golden vectors, reports of results; and
over Spark the suite and ground truth.

Exit codes: 0 the run worked, whatever the verdicts; 1 a self-check or a golden vector failed; 2 bad
input; 3 unsupported; 130 interrupted. Those of `shard`: 0 all results are as expected; 1 a failure
that no known deviation explains, or a known deviation that no longer shows; 2 bad input, no Spark,
or nowhere to write; 4 an engine of which nothing was judged. `truth` has also 4: no witness
confirms an answer. Of `replay`, 1 is another verdict than that of the file.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import TYPE_CHECKING

from conformance.command_line import (
    adaptive,
    bench,
    bounded,
    case,
    csrbench,
    engines,
    new,
    replay,
    report,
    secret,
    shard,
    truth,
)
from refengine import cli

if TYPE_CHECKING:
    from conformance.command_line.options import Command

# in the order of the help
COMMANDS: dict[str, Command] = {
    "bench": bench,
    "bounded": bounded,
    "adaptive": adaptive,
    "csrbench": csrbench,
    "secret": secret,
    "report": report,
    "engines": engines,
    "new": new,
    "replay": replay,
    "case": case,
    "shard": shard,
    "truth": truth,
}

# those that judge, by the definition and the witnesses (R2R-5)
ASKING_WITNESSES = ("bench", "csrbench", "secret", "replay", "shard", "truth")


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    return cli.run("conformance", partial(_main, arguments), "interrupted; nothing was written")


def _main(arguments: list[str] | None) -> int:
    parser = argparse.ArgumentParser(
        prog="conformance",
        description="Judge RDF stream engines by the reference engine. "
        "`pytest conformance/ --engine=NAME` runs the suite.",
    )
    cli.add_version(parser)
    commands = parser.add_subparsers(dest="command", required=True)
    for command in COMMANDS.values():
        command.add_parser(commands)
    options = cli.parse(parser, arguments)
    if options.command in ASKING_WITNESSES:
        from refengine.sparql.witnesses import WITNESSES, why_absent

        for name, reason in why_absent(WITNESSES).items():
            print(f"conformance: note: {name} is not asked as a witness: {reason}", file=sys.stderr)
    return COMMANDS[options.command].run(options)


if __name__ == "__main__":
    sys.exit(main())
