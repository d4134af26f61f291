"""pytest: --engine and friends, and the items they make. Everything else is in the modules that pytest calls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from refengine.errors import RefengineError

if TYPE_CHECKING:  # every pytest run in this environment loads the plugin: the suite is imported when it is asked for
    from conformance.csrbench import Result


def pytest_addoption(parser: pytest.Parser) -> None:
    """The suite's own options."""
    group = parser.getgroup("conformance", "conformance of RDF stream engines")
    group.addoption("--engine", action="append", default=[], metavar="NAME", help="engine to judge; repeatable")
    group.addoption("--answers", type=Path, metavar="DIR", help="judge the engine's recordings in DIR (CSRBench's layout)")


ITEMS = pytest.StashKey[list]()


def pytest_configure(config: pytest.Config) -> None:
    """The suite's own markers, and the items that the command line asks for: what it names wrongly ends the run here."""
    config.addinivalue_line("markers", "csrbench: a CSRBench query against a recording")
    names, answers = dict.fromkeys(config.getoption("--engine")), config.getoption("--answers")
    try:
        config.stash[ITEMS] = [item for name in names for item in _items(name, answers)]
    except RefengineError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One item a recording: `cqels-Q4`."""
    if "csrbench_item" not in metafunc.fixturenames:
        return
    items = [pytest.param(judge, id=label) for label, judge in metafunc.config.stash[ITEMS]]
    reason = "no engine named: give --engine=NAME, and --answers=DIR for a recorded one"
    nothing = [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="no-engine")]
    metafunc.parametrize("csrbench_item", items or nothing)


def _items(name: str, answers: Path | None) -> list[tuple[str, Callable[[], Result]]]:
    from conformance import csrbench
    from refengine.r2r import WITNESSES

    witnesses = tuple(WITNESSES)
    if answers is None:
        ours = [recorder for recorder in csrbench.recorders() if recorder.name.partition("/")[0] == name]
        if not ours:
            engines = sorted({recorder.name.partition("/")[0] for recorder in csrbench.recorders()})
            raise pytest.UsageError(f"{name!r} is judged by its recordings: give --answers=DIR; without it: {', '.join(engines)}")
        return [
            (f"{recorder.name.replace('/', '-')}-{query}", lambda r=recorder, q=query: csrbench.judge_ours(q, witnesses, [r])[0])
            for recorder in ours
            for query in csrbench.QUERIES
        ]
    cells = csrbench.cells(answers)
    chosen = [cell for cell in cells if cell.engine == name]
    if not chosen:
        recorded = sorted({cell.engine for cell in cells})
        raise pytest.UsageError(f"no recording of {name!r} in {answers}; recorded: {', '.join(recorded)}")
    return [
        (cell.name.replace(" ", "-"), lambda c=cell: csrbench.judge_query(answers, c.query, (c,), witnesses)[0])
        for cell in chosen
        if not cell.suffix
    ]
