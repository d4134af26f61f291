"""The reference engine behind the protocol: `python reference.py PROFILE key=value …`.

It answers a push with the reports that the element triggers, and `end` with those that the horizon
triggers. The semantics is that of the profile, unless `register` brings one. Queries are tables
(QRY-1) as JSON, or texts in any dialect. It evaluates incrementally (ENG-6), or with `--definition`
by the SPARQL evaluator; the version in the reply to `start` says which, and a line on standard
error from where on the SPARQL evaluator took over. No witness confirms what is computed
incrementally: the suite asks them for what a verdict rests on (ORA-8). With `--wrong "WIN-8 nothing
expires"` it is the wrong engine of that name (conformance.wrong_engines), which the suite must
catch. It evaluates by the engine, of which a function is replaced, unless the wrong engine breaks
ENG-6.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

from conformance.harness.reference_engine import Reference, run_command
from refengine.core import profiles
from refengine.model.messages import nearest

if TYPE_CHECKING:
    from conformance.wrong_engines import WrongEngine


def wrong_engine(name: str) -> WrongEngine:
    """Return the wrong engine of a name. Raises ArgumentTypeError."""
    from conformance.wrong_engines import WRONG_ENGINES  # not before: the right engine needs none

    by_name = {one.full_name: one for one in WRONG_ENGINES}
    if name not in by_name:
        raise argparse.ArgumentTypeError(f"no wrong engine {name!r}{nearest(name, by_name)}")
    return by_name[name]


def serve(reference: Reference) -> None:
    """Read messages line by line, and answer each with a line, until `stop`."""
    for line in sys.stdin:
        message = json.loads(line)
        seq, command = message.pop("seq"), message["command"]
        print(json.dumps({"seq": seq, **run_command(reference, message)}), flush=True)
        if command == "stop":
            break


def main() -> None:
    """Run the engine that the command line names until it is stopped."""
    logging.disable()
    parser = argparse.ArgumentParser(description="The reference engine behind the protocol.")
    parser.add_argument("profile")
    parser.add_argument("fields", nargs="*", metavar="key=value")
    parser.add_argument("--wrong", type=wrong_engine, metavar="'RULE name'")
    parser.add_argument("--definition", action="store_true", help="by the SPARQL evaluator")
    options = parser.parse_args()
    fields = dict(word.split("=", 1) for word in options.fields)
    wrong = options.wrong
    way = "incremental"
    if options.definition or (wrong and "ENG-6" not in wrong.rules):
        way = "definition"
    with wrong.installed() if wrong else nullcontext():
        semantics = profiles.profile(options.profile).but(**fields).semantics()
        serve(Reference(semantics, way))


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        main()
