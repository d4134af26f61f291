"""The fingerprint of a run: all that its results depend on, apart from the engines themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version

from conformance.harness import engine_file
from conformance.suite.item import SuiteOptions, questions
from conformance.verdict import journal


def fingerprint_of_run(options: SuiteOptions) -> str:
    """Return the fingerprint of a run with these options. It changes with the version of the suite,
    with every case, and with the file of each engine that is named.
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
