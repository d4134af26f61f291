"""How many draws a property gets, and where the recordings and vectors kept beside the checkout
are.
"""

from __future__ import annotations

import gc
import os
import random
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, settings

if TYPE_CHECKING:
    import rsp_js_items

PROFILE = os.environ.get("REFENGINE_HYPOTHESIS_PROFILE", "ci")

# A fixture that two modules import is two fixtures, each with a server; a plugin's is one.
# Where there are no processes, as under Pyodide, there are no servers.
pytest_plugins = () if PROFILE == "mutation" or sys.platform == "emscripten" else ("cluster",)

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=100, database=None)
settings.register_profile(
    "full", derandomize=False, deadline=None, max_examples=10_000, database=None, print_blob=True
)
settings.register_profile("long", settings.get_profile("full"), max_examples=500)
settings.register_profile("fuzz", settings.get_profile("full"), max_examples=20_000)
# Few draws and no search for the smallest: of a mutant it is enough to know that it fails.
settings.register_profile(
    "mutation",
    derandomize=True,
    deadline=None,
    max_examples=300,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(PROFILE)

# A shell that runs a command in the background lets it ignore interrupts, which some tests send.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def draws(usual: int) -> int:
    """How many draws a property gets that is not drawn as often as the others: the usual number in
    `make draws`. In `make test`, where the draws are the same each time, it is a quarter of it up
    to 50, and an eighth where that is more. Of 100 these are 25, of 300 50, and of 800 100.
    """
    quarter = usual // 4
    scaled = {
        "full": 10_000,
        "mutation": usual // 10,
        "ci": max(quarter // 2, min(quarter, 50)),
    }
    return scaled.get(PROFILE, usual)


def needs_commands(*names: str) -> pytest.MarkDecorator:
    """Return a mark of a test about what engines lack beside these commands. Where one of them is
    not installed an engine lacks the command first, and the test is skipped; in CI it fails.
    """
    lacking = [name for name in names if shutil.which(name) is None]
    return pytest.mark.skipif(
        bool(lacking) and "CI" not in os.environ,
        reason=f"needs {', '.join(names)}: no {', '.join(lacking)}",
    )


# Groups and files of tests that take long together, the longest first.
LONGEST = (
    "spark",
    "rsp-js",
    "wrong engines",
    "tests/core/test_laws.py",
    "browser",
    "tests/suite/test_suite.py",
    "tests/bench/test_whole_tables.py",
    "drawn",
    "drawn for dialects",
    "tests/bench/test_yabench.py",
    "tests/model/test_compare.py",
    "tests/command_line/test_cli.py",
    "tests/rdf/test_sources.py",
    "tests/oracle/test_infer.py",
    "tests/oracle/test_oracle_laws.py",
    "tests/harness/test_zero_engine.py",
    "tests/joins/test_adaptive_join.py",
    "certificates",
    "equivalences",
    "drawn streams",
)


def rank(item: pytest.Item) -> int:
    """The place of a test in the order in which workers begin: first what is in `LONGEST`, then
    the single tests that take long.
    """
    group = item.get_closest_marker("xdist_group")
    unit = item.nodeid.partition("::")[0]
    if group is not None:
        unit = group.args[0]
    if unit in LONGEST:
        return LONGEST.index(unit)
    if item.get_closest_marker("long") is not None:
        return len(LONGEST)
    return len(LONGEST) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Outside of CI draws are new each time: the seed is chosen here, so that it can be printed and
    given again. And pytest-xdist keeps the order of `rank`: by itself it begins with the groups of
    the most tests, and ends with single tests, however long they take.
    """
    config.option.loadscopereorder = False
    # Most objects are freed by their reference counts, or live as long as the run.
    gc.set_threshold(200_000, 20, 20)
    if PROFILE not in ("ci", "mutation") and config.getoption("--hypothesis-seed") is None:
        config.option.hypothesis_seed = str(random.SystemRandom().randrange(2**32))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give a worker a whole file of tests that are in no group, instead of one test after another.

    For each test that ends, pytest-xdist counts over everything that it has given to the worker: of
    12,000 tests by themselves 36 million times, which is a third processor on a machine with two.
    And what a file's tests share is made by one worker.
    """
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    class FilesAndGroups(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            group = super()._split_scope(nodeid)
            return group.partition("::")[0]

    return FilesAndGroups(config, log)


def pytest_itemcollected(item: pytest.Item) -> None:
    """A test that takes long by itself is a group of its own, not a part of its file."""
    if item.get_closest_marker("long") and not item.get_closest_marker("xdist_group"):
        item.add_marker(pytest.mark.xdist_group(item.name.partition("[")[0]))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """First what takes long. And groups that hold: pytest-xdist 3.8 writes them to `_nodeid`, which
    pytest 9.2 reads no more, so that two workers each drew all, and each started a Spark.
    """
    items.sort(key=rank)
    for item in items:
        if grouped := vars(item).get("_nodeid"):
            item._id = type(item._id).parse(grouped)


def pytest_collection_finish() -> None:
    """Leave what has been collected and imported out of collections of garbage. Else Python looks
    at ten thousand tests again and again, which takes a third of the whole time.
    """
    gc.freeze()


def pytest_report_header(config: pytest.Config) -> str:
    """The profile and, if the draws are not fixed, the seed that repeats them."""
    seed = config.getoption("--hypothesis-seed")
    return f"draws: profile {PROFILE}" + (
        "" if seed is None else f", repeat with --hypothesis-seed={seed}"
    )


@pytest.fixture(scope="session", autouse=True)
def no_brought_engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the engines that the user of this machine has added out of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONFORMANCE_DATA", str(tmp_path_factory.mktemp("brought")))
        yield


# What stands beside the checkout, and its parts
BESIDE = Path(__file__).parents[2] / "shared" / "data"
ENGINES_OF_CSRBENCH = ("cqels", "csparql", "sparqlstream")
PARTS = {
    "csrbench": (
        *(f"data/data_{number:02}.ttl" for number in range(34)),
        *(f"answers/{name}-answer-{n}.json" for name in ENGINES_OF_CSRBENCH for n in range(1, 8)),
        "answers/csparql-answer-3-rerun.json",
    ),
    "secret": ("experiments.jsonl", "vectors.jsonl"),
}


def folder_beside(name: str, root: Path = BESIDE) -> Path:
    """Return a folder with recordings or vectors beside the checkout, of which this repository has
    none. If the folder or a part of it is not there, the test is skipped in one line that names
    what is missing.
    """
    folder = root / name
    for part in PARTS[name]:
        if not (folder / part).is_file():
            pytest.skip(
                f"no shared/data/{name}/{part} beside the checkout: the recordings and vectors "
                "there are not part of this repository"
            )
    return folder


@pytest.fixture(scope="session")
def csrbench_recordings() -> Path:
    """The folder with CSRBench's stream and the recordings of three engines."""
    return folder_beside("csrbench")


@pytest.fixture(scope="session")
def secret_vectors() -> Path:
    """The folder with the vectors of SECRET's simulator."""
    return folder_beside("secret")


# The fixtures of RSP-JS import what they need themselves: most runs need none of it.


@pytest.fixture(scope="session")
def rsp_js_installed() -> None:
    """RSP-JS; where it is not installed its tests are skipped, in CI they fail."""
    from conformance.harness import engine_file

    found = engine_file.engine("rsp-js")
    if found.missing:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"no {found.title}: {found.get}")


@pytest.fixture(scope="session")
def rsp_js_harnesses(rsp_js_installed) -> Iterator[rsp_js_items.LastingSuiteHarnesses]:
    """The processes of RSP-JS: another one after each that broke down."""
    import rsp_js_items

    harnesses = rsp_js_items.LastingSuiteHarnesses()
    yield harnesses
    harnesses.stop_all()


@pytest.fixture(scope="session")
def rsp_js_run(rsp_js_harnesses, tmp_path_factory) -> rsp_js_items.Run:
    """A run of all items of RSP-JS, at whose results several tests look."""
    import rsp_js_items

    # The process that starts here has a patient limit, and the run uses it.
    rsp_js_harnesses.of(rsp_js_items.PATIENT)
    path = tmp_path_factory.mktemp("rsp-js") / "results.ndjson"
    return rsp_js_items.run(path, rsp_js_harnesses)
