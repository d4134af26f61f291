"""The fingerprint of a run: all that its results depend on, apart from the engines themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from conformance.harness import engine_file
from conformance.suite.item import SuiteOptions, questions
from conformance.verdict import journal


def fingerprint_of_run(options: SuiteOptions) -> str:
    """Return the fingerprint of a run with these options. It changes with the version of the suite,
    with every case, with the file of each engine that is named, and with every file in the folders
    of recordings and of CSRBench's stream. It does not change with the engines' programs.
    """
    return journal.fingerprint(_parts(options))


def _parts(options: SuiteOptions) -> Iterator[bytes]:
    """Yield what the results of a run depend on."""
    yield version("refengine").encode()
    yield json.dumps(asdict(options), sort_keys=True).encode()
    for case in questions():
        yield json.dumps(case.table, sort_keys=True, default=str).encode()
    for name in options.engines:
        path = engine_file.path_of_engine(name)
        if path is not None and path.is_file():
            yield path.read_bytes()
    for place in (options.answers, options.csrbench):
        if place is not None:
            yield from _files(Path(place))


def _files(folder: Path) -> Iterator[bytes]:
    """Yield the names and the contents of the files in a folder and below it."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        yield str(path.relative_to(folder)).encode()
        yield path.read_bytes()
