"""Change the code one small step at a time, and see which changes no test notices.

It goes package by package, as `[tool.mutants]` in pyproject.toml lists them: what to change and
which tests to run. mutmut makes the changes and runs the tests, on a copy of the checkout and in an
environment of its own. Both are in a temporary folder, or in `--folder`, which is kept: a run that
was interrupted goes on there. A change of the tests or cases needs a new folder, or the names of
the mutants to try again.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
COPIED = (
    "refengine",
    "conformance",
    "fixtures",
    "tests",
    "tools",
    "SPEC.md",
    "pyproject.toml",
    "requirements.lock",
)
TOOL = "mutmut==3.8.1"
PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet", "install")
ARGUED = ROOT / "docs" / "mutation.md"
SECTION = "[tool.mutmut]\n"
SECONDS_BETWEEN_LINES = 60  # of progress
NO_KILL = ("timeout", "not checked")  # a loaded machine reaches a time limit, too


def packages() -> dict[str, dict[str, Any]]:
    """Return what pyproject.toml says of each package: what mutmut is to change, by which tests."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: dict[str, dict[str, Any]] = table["tool"]["mutants"]
    return found


class Task(NamedTuple):
    """One call of mutmut: the folder's name, what it is told, and the mutants to try again (None:
    those that were not tried yet).
    """

    name: str
    settings: dict[str, Any]
    again: str | None = None


def tasks(words: Sequence[str]) -> Iterator[Task]:
    """Yield what to do for each word: a package (`core`), a module (`core.tick`), or mutants of one
    to try again (`core.tick.x_due__mutmut_1`, `core.tick.x_due*`). No word asks for every package.
    Raises LookupError for another.
    """
    table = packages()
    for word in words or table:
        if word in table:
            yield Task(word, table[word])
        else:
            yield task_of_module(word, table)


def task_of_module(word: str, table: Mapping[str, dict[str, Any]]) -> Task:
    """Return what to do for a module, which has a folder of its own, or for mutants of one, which
    are in the package's.
    """
    module = ".".join(word.split(".")[:2])
    path = "refengine/" + module.replace(".", "/") + ".py"
    for package, settings in table.items():
        if not any(fnmatch(path, pattern) for pattern in settings["only_mutate"]):
            continue
        if (ROOT / path).exists() and word == module:
            return Task(module, {**settings, "only_mutate": [path]})
        if (ROOT / path).exists():
            return Task(package, settings, f"refengine.{word}")
    choice = ", ".join(table)
    raise LookupError(f"{word!r} is no package, module or mutant; packages: {choice}")


def configured(text: str, settings: Mapping[str, Any]) -> str:
    """Return pyproject.toml with the settings of a task among those that all have."""
    own = "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
    return text.replace(SECTION, SECTION + own, 1)


def prepare_environment(folder: Path) -> None:
    """Install what the tests need, and mutmut, in the folder, unless that is done."""
    if (folder / "ready").exists():
        return
    print(f"mutants: {TOOL}, in an environment of its own", flush=True)
    python = folder / "venv" / "bin" / "python"
    venv.create(folder / "venv", clear=True, with_pip=True)
    lock = ROOT / "requirements.lock"
    subprocess.run([python, *PIP, "--require-hashes", "-r", lock], check=True)
    subprocess.run([python, *PIP, TOOL], check=True)
    (folder / "ready").touch()


def copy_checkout(copy: Path, settings: Mapping[str, Any]) -> None:
    """Copy the checkout, with the settings of a task."""
    copy.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        if (ROOT / name).is_dir():
            ignore = shutil.ignore_patterns("__pycache__", "node_modules")
            shutil.copytree(ROOT / name, copy / name, ignore=ignore, dirs_exist_ok=True)
        else:
            shutil.copy2(ROOT / name, copy / name)
    configuration = copy / "pyproject.toml"
    text = configuration.read_text(encoding="utf-8")
    configuration.write_text(configured(text, settings), encoding="utf-8")


def start_mutmut(copy: Path, arguments: Sequence[str], output: Any) -> subprocess.Popen[str]:
    """Start one call of the tool on a copy, in a process group of its own."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
    }
    environment["REFENGINE_HYPOTHESIS_PROFILE"] = "mutation"
    return subprocess.Popen(
        [str(copy.parent.parent / "venv" / "bin" / "mutmut"), *arguments],
        cwd=copy,
        env=environment,
        text=True,
        start_new_session=True,
        stdout=output,
        stderr=subprocess.STDOUT,
    )


def stop(process: subprocess.Popen[str]) -> None:
    """End a call of the tool and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        pass
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def ask(copy: Path, *arguments: str) -> str:
    """Return what a call of the tool prints."""
    process = start_mutmut(copy, arguments, subprocess.PIPE)
    try:
        text, _ = process.communicate()
    except BaseException:
        stop(process)
        raise
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return text


def run(task: Task, copy: Path, jobs: int) -> None:
    """Try the mutants, and say every minute how far that is."""
    log = copy.parent / "mutmut.log"
    before = results_so_far(copy)
    began = time.monotonic()
    with log.open("w", encoding="utf-8") as output:
        arguments = ["run", "--max-children", str(jobs)]
        if task.again is not None:
            arguments.append(task.again)
        process = start_mutmut(copy, arguments, output)
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(SECONDS_BETWEEN_LINES)
                    break
                minutes = (time.monotonic() - began) / 60
                print(f"{task.name}: {progress(before, results_so_far(copy), minutes)}", flush=True)
        except BaseException:
            stop(process)
            raise
    if process.returncode:
        print(*log.read_text(encoding="utf-8").splitlines()[-20:], sep="\n", file=sys.stderr)
        raise subprocess.CalledProcessError(process.returncode, process.args)


def results_so_far(copy: Path) -> Counter[str]:
    """Return how many mutants mutmut has written down as tried, as killed, and as yet to try."""
    counts: Counter[str] = Counter()
    for path in (copy / "mutants" / "refengine").rglob("*.meta"):
        with suppress(json.JSONDecodeError):  # it is being written
            for code in json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"].values():
                counts["all"] += 1
                counts["tried"] += code is not None
                counts["killed"] += code in (1, 3)
    return counts


def progress(before: Counter[str], now: Counter[str], minutes: float) -> str:
    """Return how far a run is, by what was tried before it began and what is tried now."""
    if now["tried"] == before["tried"]:
        return f"makes the mutants and times the tests; {minutes:.0f} min so far"
    left = now["all"] - now["tried"]
    rest = left * minutes / (now["tried"] - before["tried"])
    return (
        f"{now['tried']:,} of {now['all']:,} tried, {now['tried'] - now['killed']:,} not killed; "
        f"{minutes:.0f} min so far, some {rest:.0f} left"
    )


def statuses(copy: Path) -> dict[str, str]:
    """Return what became of each mutant, by its name without `refengine.`."""
    text = ask(copy, "results", "--all", "True")
    return dict(re.findall(r"^\s+refengine\.(\S+): (.+)$", text, re.MULTILINE))


def module_of(mutant: str) -> str:
    """Return the module of a mutant: `core.tick` of `core.tick.x_due__mutmut_1`."""
    return ".".join(mutant.split(".")[:2])


def figures(results: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of the table: mutants, killed, timeouts, survived, left to try and score, by
    module. A time limit is no kill.
    """
    counts: dict[str, Counter[str]] = {name: Counter() for name in sorted(map(module_of, results))}
    for mutant, status in results.items():
        if status not in ("killed", *NO_KILL):
            status = "survived"
        counts[module_of(mutant)][status] += 1
    counts["all"] = sum(counts.values(), Counter())
    heads = ("mutants", "killed", "timeouts", "survived", "left", "score")
    yield f"{'module':28}" + "".join(f"{head:>9}" for head in heads)
    for module, count in counts.items():
        each = [count["killed"], count["timeout"], count["survived"], count["not checked"]]
        tried = sum(each[:3])
        score = "-"
        if tried:
            score = f"{100 * each[0] / tried:.1f} %"
        numbers = "".join(f"{number:9}" for number in (sum(each), *each))
        yield f"{module:28}{numbers}{score:>9}"


def survivors(copy: Path, results: Mapping[str, str]) -> Iterator[str]:
    """Yield the mutants that no test notices, each with its change and whether docs/mutation.md
    argues that it is none.
    """
    argued = ""
    if ARGUED.exists():
        argued = ARGUED.read_text(encoding="utf-8")
    for name, status in results.items():
        if status == "killed" or status in NO_KILL:
            continue
        where = "NOT argued in docs/mutation.md"
        if f"`{name}`" in argued:
            where = "argued in docs/mutation.md"
        change = ask(copy, "show", f"refengine.{name}").splitlines()[3:]
        yield "\n".join([f"{name}: {status}, {where}", *change, ""])


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "of",
        nargs="*",
        help="packages (core), modules (core.tick), or mutants of one to try again "
        "(core.tick.x_due__mutmut_1, core.tick.x_due*); all packages without",
    )
    parser.add_argument(
        "--folder", type=Path, help="where to work and to go on; kept (without: a temporary folder)"
    )
    jobs = os.cpu_count() or 1
    parser.add_argument("--jobs", type=int, default=jobs, help="how many mutants at once")
    return parser


def main() -> int:
    """Run the command line."""
    options = parser().parse_args()
    try:
        planned = list(tasks(options.of))
    except LookupError as error:
        print(f"mutants: {error.args[0]}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutants-") as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        results: dict[str, str] = {}
        try:
            prepare_environment(folder)
            for task in planned:
                copy = folder / task.name / "checkout"
                copy_checkout(copy, task.settings)
                run(task, copy, options.jobs)
                own = statuses(copy)
                print(*survivors(copy, own), *figures(own), sep="\n", flush=True)
                results |= own
        except subprocess.CalledProcessError as error:
            program = Path(error.cmd[0]).name
            print(f"mutants: {program} ended with {error.returncode}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            rest = "nothing is kept"
            if options.folder:
                rest = f"go on with --folder {folder}"
            print(f"mutants: interrupted; {rest}", file=sys.stderr)
            return 130
    if len(planned) > 1:
        print(*figures(results), sep="\n")
    minutes = (time.monotonic() - began) / 60
    version = sys.version.split()[0]
    print(f"{TOOL}, Python {version}, {options.jobs} at once, {minutes:.0f} minutes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
