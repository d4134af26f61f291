"""`python -m conformance`, also `refengine-conformance`: the suite, verdicts on recorded engines,
golden vectors, reports of results; and over Spark the suite and ground truth. `refengine` has the
same sub-commands, by the entry points of pyproject.toml.

Exit codes: 0 the run worked, whatever the verdicts; 1 a self-check or a golden vector failed; 2 bad
input; 3 unsupported; 130 interrupted. Of `check`, 1 is a wrong certificate and 3 one of something
that is not checked. Those of `shard`: 0 all results are as expected; 1 a failure
that no known deviation explains, or a known deviation that no longer shows; 2 bad input, no Spark,
or nowhere to write; 4 an engine of which nothing was judged. `truth` has also 4: no witness
confirms an answer. Of `replay`, 1 is another verdict than that of the file.
Of `fuzz`, 1 is something that the engine's file does not know. Those of `test` are
pytest's.
"""

from __future__ import annotations

import sys
from functools import partial

from conformance.command_line import (
    adaptive,
    bench,
    bounded,
    case,
    characterise,
    check,
    csrbench,
    engines,
    export,
    fuzz,
    new,
    replay,
    report,
    secret,
    shard,
    test,
    truth,
    window,
)
from refengine import cli

# in the order of the help
COMMANDS: dict[str, cli.Command] = {
    "test": test,
    "bench": bench,
    "bounded": bounded,
    "adaptive": adaptive,
    "csrbench": csrbench,
    "secret": secret,
    "check": check,
    "report": report,
    "export": export,
    "engines": engines,
    "fuzz": fuzz,
    "new": new,
    "replay": replay,
    "case": case,
    "shard": shard,
    "truth": truth,
    "window": window,
    "characterise": characterise,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    return cli.run("conformance", partial(_main, arguments), "interrupted; nothing was written")


def _main(arguments: list[str] | None) -> int:
    parser = cli.Parser(
        prog="refengine-conformance",
        description="Judge RDF stream engines by the reference engine. "
        "`pytest conformance/ --engine=NAME` runs the suite.",
    )
    cli.add_version(parser)
    commands = parser.add_subparsers(dest="command", required=True)
    for command in COMMANDS.values():
        command.add_parser(commands)
    options = cli.parse(parser, arguments)
    return COMMANDS[options.command].run(options)


if __name__ == "__main__":
    sys.exit(main())
