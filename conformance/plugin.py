"""pytest: --engine and --answers, and the items they make. Everything else is in the modules that pytest calls.

Every pytest run in the environment loads this: nothing of ours is imported, and no option registered, before it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conformance.csrbench import Result

OPTIONS = ("--engine", "--answers")
ITEMS = pytest.StashKey[list]()


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(parser: pytest.Parser, args: list[str]) -> Iterator[None]:
    """The suite's own options, after those of the project under test, which may have the same names."""
    result = yield
    asked = any(word.partition("=")[0] in (*OPTIONS, "-h", "--help") for word in args)
    free = asked and len(parser.parse_known_and_unknown_args([f"{option}=x" for option in OPTIONS])[1]) == len(OPTIONS)
    if free:
        group = parser.getgroup("conformance", "conformance of RDF stream engines")
        group.addoption(
            "--engine", dest="conformance_engines", action="append", default=[], metavar="NAME", help="engine to judge; repeatable"
        )
        group.addoption(
            "--answers", dest="conformance_answers", metavar="DIR", help="judge the engine's recordings in DIR (CSRBench's layout)"
        )
    return result


def pytest_configure(config: pytest.Config) -> None:
    """The suite's own markers, and the items that the command line asks for: what it names wrongly ends the run here."""
    config.addinivalue_line("markers", "csrbench: a CSRBench query against a recording")
    names = config.option.conformance_engines if _registered(config) else []
    if not names:
        return
    from refengine import cli
    from refengine.errors import RefengineError

    try:
        answers = None if config.option.conformance_answers is None else cli.path(config.option.conformance_answers)
        config.stash[ITEMS] = [item for name in dict.fromkeys(names) for item in _items(name, answers)]
    except RefengineError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_report_header(config: pytest.Config) -> str | None:
    """The witnesses: a verdict by one alone says less."""
    if ITEMS not in config.stash:
        return None
    from refengine.r2r import WITNESSES

    return f"conformance: witnesses {', '.join(WITNESSES)}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One item a recording: `cqels-Q4`."""
    if "csrbench_item" not in metafunc.fixturenames:
        return
    items = [pytest.param(judge, id=label) for label, judge in metafunc.config.stash.get(ITEMS, [])]
    reason = "no engine named: give --engine=NAME, and --answers=DIR for a recorded one"
    if not _registered(metafunc.config) and any(metafunc.config.getoption(option, None) for option in OPTIONS):
        reason = f"{' or '.join(OPTIONS)} is an option of another plugin or conftest.py here: run the suite elsewhere"
    nothing = [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="no-engine")]
    metafunc.parametrize("csrbench_item", items or nothing)


def _registered(config: pytest.Config) -> bool:
    """Whether --engine and --answers are ours."""
    return hasattr(config.option, "conformance_engines")


def _items(name: str, answers: Path | None) -> list[tuple[str, Callable[[], Result]]]:
    from conformance import csrbench
    from refengine import io
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
    csrbench.stream(answers)
    for cell in chosen:
        io.read_recording(cell.path)  # what is malformed is no engine's failure: the run ends here
    return [
        (cell.name.replace(" ", "-"), lambda c=cell: csrbench.judge_query(answers, c.query, (c,), witnesses)[0])
        for cell in chosen
        if not cell.suffix
    ]
