"""`python -m refengine`: run a continuous query over recorded streams.

Exit codes: 0 done, 2 bad input, 3 unsupported (no single answer is defined), 4 the witnesses disagree, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import deque
from functools import partial
from pathlib import Path

from refengine import engine, io, orders, r2r, semantics, trace
from refengine.errors import Disputed, InvalidQuery, InvalidSemantics, RefengineError
from refengine.model import Stream
from refengine.query import Query


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="refengine", description="The reference engine for RDF stream processing.")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="print one JSON object a report", description="Print one JSON object a report.")
    run.add_argument("query", type=Path, metavar="QUERY", help="a TOML file: windows, body and optionally r2s; or a case")
    run.add_argument(
        "--stream", required=True, action="append", metavar="[NAME=]FILE", help="a .n3t, .nq or .trig file, or a folder of data_NN.ttl"
    )
    run.add_argument(
        "--semantics",
        required=True,
        nargs="+",
        metavar=("PROFILE", "key=value"),
        help=f"a profile and the fields to replace, such as t0=0; profiles: {', '.join(sorted(semantics.PROFILES))}",
    )
    run.add_argument("--time-predicate", default=io.PROV_GENERATED_AT_TIME, metavar="IRI", help="dates the graphs of .nq and .trig")
    run.add_argument("--max-reports", type=int, default=engine.MAX_REPORTS, metavar="N")
    run.add_argument("--witness", choices=sorted(r2r.WITNESSES), help="one witness alone (default: all installed)")
    run.add_argument("--trace", action="store_true", help="print the rules applied to standard error")
    options = parser.parse_args(arguments)
    try:
        _run(options)
        sys.stdout.flush()
    except Disputed as error:
        print(f"refengine: {error}", file=sys.stderr)
        for name, relation in sorted(error.answers.items()):
            print(f"refengine: {name}: {json.dumps(io.relation_to_json(relation)['results']['bindings'])[:2000]}", file=sys.stderr)
        return error.exit_code
    except RefengineError as error:
        print(f"refengine: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("refengine: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _run(options: argparse.Namespace) -> None:
    name, *overrides = options.semantics
    chosen = semantics.profile(name).but(**_overrides(overrides)).semantics()
    query = io.read_query(options.query)
    streams = _streams(options.stream, query, options.time_predicate)
    witnesses = (options.witness,) if options.witness else tuple(r2r.WITNESSES)
    spec, elements = engine.the_window(query, streams)
    if not streams[spec.stream].ordered and orders.order_matters(spec, elements, chosen):
        print("refengine: note: the arrival order of simultaneous elements was not recorded; taken by text (ORA-4)", file=sys.stderr)
    deque(engine.evaluations(spec, elements, chosen, options.max_reports), maxlen=0)  # nothing is printed if this fails
    answer = partial(r2r.agreed, witnesses=witnesses)
    for step in engine.steps(query, streams, chosen, answer=answer, max_reports=options.max_reports):
        if options.trace:
            for line in trace.lines(query, streams, chosen, step):
                print(line, file=sys.stderr)
            print(file=sys.stderr)
        if step.emitted:
            print(json.dumps(_as_json(step.report, witnesses), ensure_ascii=False))


def _overrides(words: list[str]) -> dict[str, str]:
    overrides = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise InvalidSemantics(f"{word!r} is no key=value, such as t0=0", rule="SEM-1")
        if key in overrides:
            raise InvalidSemantics(f"{key} is given twice", rule="SEM-1")
        overrides[key] = value
    return overrides


def _streams(named: list[str], query: Query, time_predicate: str) -> dict[str, Stream]:
    """The streams by name; one without a name is the stream of the query's window."""
    streams = {}
    for word in named:
        name, equals, path = word.partition("=")
        if not equals or Path(word).exists():
            name, path = query.windows[0].stream, word
        if name in streams:
            raise InvalidQuery(f"stream {name!r} is given twice", rule="QRY-4")
        streams[name] = io.read_stream(path, time_predicate)
    return streams


def _as_json(report: engine.Report, witnesses: tuple[str, ...]) -> dict:
    opens, closes = report.window
    return {
        "window": {"open": opens, "close": closes},
        "evaluation": report.evaluation,
        "trigger": report.trigger,
        "instant": report.instant,
        "witnesses": list(witnesses),
        **io.relation_to_json(report.relation),
    }


if __name__ == "__main__":
    sys.exit(main())
