"""Change the code one small step at a time, and list the changes that no test notices.

A mutant is the code with one such change. `[tool.mutants]` in pyproject.toml lists, package by
package, which files are changed and which tests are run. mutmut makes the mutants, and
`tools.try_mutants` runs the tests, on a copy of the checkout and in an environment of its own.

The copy and the environment are in a temporary folder, or in `--folder`, which is kept. A second
call with the same folder goes on where the first one ended. After a change of the tests or cases,
use a new folder, name the mutants to try again, or say `--survivors`.

`--every 10` tries a sample: every tenth mutant, in the order of their names. `--skip 3` leaves the
first three out, and so draws another sample.

Mutants that no input tells apart from the code are not tried, where that is seen by their change
alone (`tools.mutant_classes`). They are counted by themselves.
"""

from __future__ import annotations

import argparse
import ast
import filecmp
import json
import math
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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import unified_diff
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tools.mutant_classes import class_of

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
KILLED = (1, 3)  # mutmut's numbers
# The outcomes that are neither a kill nor a survival. A timeout may be the machine's load alone.
UNDECIDED = ("timeout", "not checked")
# mutmut's command `run` makes the mutants and goes on to try them. This makes them by the same
# functions; `tools.try_mutants` tries them.
MAKE_MUTANTS = """
import sys
from pathlib import Path

from mutmut import __main__ as mutmut

# mutmut leaves a file as it is that was only copied before, also if it is to have mutants now
for path in Path("mutants").rglob("*.py"):
    if not path.with_name(f"{path.name}.meta").exists():
        path.unlink()
mutmut.create_mutants(int(sys.argv[1]))
"""


def packages() -> dict[str, dict[str, Any]]:
    """Return mutmut's settings for each package, as pyproject.toml has them."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: dict[str, dict[str, Any]] = table["tool"]["mutants"]
    return found


class Task(NamedTuple):
    """One run of mutmut.

    `name` is the folder to work in, below `--folder`. `settings` are mutmut's, from pyproject.toml.
    `pattern` names the mutants to try, also if they were tried before; None stands for all mutants
    that were not tried yet.
    """

    name: str
    settings: dict[str, Any]
    pattern: str | None = None


def tasks(words: Sequence[str]) -> Iterator[Task]:
    """Yield the task that each word of the command line asks for; without words, every package.

    A word is a package of pyproject.toml (`core`), a module (`core.tick`), a folder of modules
    (`oracle.orders`), or some mutants of a module (`core.tick.x_due*`). Raises LookupError for
    another word.
    """
    table = packages()
    for word in words or table:
        if word in table:
            yield Task(word, table[word])
        else:
            yield task_of_module(word, table)


def task_of_module(word: str, table: Mapping[str, dict[str, Any]]) -> Task:
    """Return the task for a module, for a folder of modules, or for some mutants of a module.

    A module or folder gets a working folder of its own. Mutants are tried in the folder of their
    package, where the other results stay.
    """
    pattern = None
    path = source_path(word)
    if path is None:
        path = source_path(module_of(word))
        pattern = f"refengine.{word}"
    for package, settings in table.items():
        if path is None or not any(fnmatch(path, each) for each in settings["only_mutate"]):
            continue
        if pattern is None:
            return Task(word, {**settings, "only_mutate": [path]})
        if path.endswith("/*.py"):
            continue  # a folder has modules, not mutants
        return Task(package, settings, pattern)
    choice = ", ".join(table)
    raise LookupError(f"{word!r} is no package, module or mutant; packages: {choice}")


def source_path(module: str) -> str | None:
    """Return the path of a module, or the pattern of a folder's modules; None if there is neither.

    `core.tick` is `refengine/core/tick.py`, and `oracle.orders` is `refengine/oracle/orders/*.py`.
    """
    path = "refengine/" + module.replace(".", "/")
    if (ROOT / f"{path}.py").is_file():
        return f"{path}.py"
    if (ROOT / path / "__init__.py").is_file():
        return f"{path}/*.py"
    return None


def add_settings(text: str, settings: Mapping[str, Any]) -> str:
    """Return the text of pyproject.toml with the settings of a task added to mutmut's."""
    own = "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
    return text.replace(SECTION, SECTION + own, 1)


def prepare_environment(folder: Path) -> None:
    """Install mutmut and what the tests need in the folder, unless that is done already."""
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
    """Copy the checkout to a folder, and write the settings of a task into its pyproject.toml."""
    copy.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name,
                copy / name,
                ignore=shutil.ignore_patterns("__pycache__"),
                copy_function=copy_if_changed,
                dirs_exist_ok=True,
            )
        else:
            copy_if_changed(ROOT / name, copy / name)
    configuration = copy / "pyproject.toml"
    text = configuration.read_text(encoding="utf-8")
    configuration.write_text(add_settings(text, settings), encoding="utf-8")


def copy_if_changed(source: str | Path, target: str | Path) -> None:
    """Copy a file, unless the target is the same. Its time is that of the copying, since mutmut
    makes new mutants only of files that are later than the mutants which it has made.
    """
    if not Path(target).exists() or not filecmp.cmp(source, target, shallow=False):
        shutil.copy(source, target)


def start(
    copy: Path,
    program: str,
    arguments: Sequence[str],
    output: Any,
    text: Any = subprocess.DEVNULL,
) -> subprocess.Popen[str]:
    """Start a program of the environment (`mutmut`, `python`) on a copy, in a process group of its
    own. It reads its standard input from a file, `text`.
    """
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
    }
    environment["REFENGINE_HYPOTHESIS_PROFILE"] = "mutation"
    return subprocess.Popen(
        [str(copy.parent.parent / "venv" / "bin" / program), *arguments],
        cwd=copy,
        env=environment,
        text=True,
        start_new_session=True,
        stdin=text,
        stdout=output,
        stderr=subprocess.STDOUT,
    )


def stop(process: subprocess.Popen[str]) -> None:
    """End a process and all processes that it started."""
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
    """Return what a call of mutmut prints. Raises subprocess.CalledProcessError if it fails."""
    process = start(copy, "mutmut", arguments, subprocess.PIPE)
    try:
        text, _ = process.communicate()
    except BaseException:
        stop(process)
        raise
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return text


def run_program(
    task: Task,
    copy: Path,
    arguments: Sequence[str],
    sample: frozenset[str] | None,
    names: str = "",
) -> None:
    """Run Python on a copy to its end, and print every minute how many mutants are tried. The names
    of the mutants to try are its standard input.

    What it prints goes to `mutants.log` beside the copy. Its last lines are printed if it fails;
    then subprocess.CalledProcessError is raised.
    """
    log = copy.parent / "mutants.log"
    before = count_results(exit_codes(copy), sample)
    began = time.monotonic()
    with log.open("a", encoding="utf-8") as output, tempfile.TemporaryFile("w+") as text:
        text.write(names)
        text.seek(0)
        process = start(copy, "python", arguments, output, text)
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(SECONDS_BETWEEN_LINES)
                    break
                minutes = (time.monotonic() - began) / 60
                now = count_results(exit_codes(copy), sample)
                print(f"{task.name}: {progress(before, now, minutes)}", flush=True)
        except BaseException:
            stop(process)
            raise
    if process.returncode:
        print(*log.read_text(encoding="utf-8").splitlines()[-20:], sep="\n", file=sys.stderr)
        raise subprocess.CalledProcessError(process.returncode, process.args)


def try_mutants(
    task: Task,
    copy: Path,
    options: argparse.Namespace,
) -> frozenset[str]:
    """Make the mutants of a task, and try a sample of them; return the names of the sample.
    `options` are those of the command line: `jobs`, `every`, `skip`, `survivors` and `seconds`.

    Mutants that were tried before are tried again only if the task has a pattern, or if they
    survived, are in no class, and `options.survivors` is set; then nothing else is tried. Raises
    LookupError if the pattern names no mutant.
    """
    jobs = str(options.jobs)
    run_program(task, copy, ["-c", MAKE_MUTANTS, jobs], None)
    codes = exit_codes(copy)
    names = list(codes)
    if task.pattern is not None:
        names = [name for name in names if fnmatch(name, task.pattern)]
        if not names:
            raise LookupError(f"no mutant is named {task.pattern.removeprefix('refengine.')!r}")
    sample = draw_sample(names, options.every, options.skip)
    if options.every > 1:
        size = describe_sample(len(sample), len(names), options.every)
        print(f"{task.name}: {size}", flush=True)
    if tried := sum(codes[name] is not None for name in sample):
        print(f"{task.name}: {tried:,} of these were tried before in this folder", flush=True)
    if options.survivors:
        chosen = [
            name
            for name in sorted(sample)
            if has_survived(codes[name]) and class_of_mutant(copy, name) is None
        ]
    else:
        chosen = [name for name in sorted(sample) if task.pattern or codes[name] is None]
    if chosen:
        arguments = ["-m", "tools.try_mutants", "--jobs", jobs, "--seconds", str(options.seconds)]
        run_program(task, copy, arguments, sample, "\n".join(chosen))
    return sample


def has_survived(code: int | None) -> bool:
    """Return whether a mutant has an outcome that is no kill, by what its tests ended with. One in
    a class, which is not tried, counts as a survivor, too.
    """
    return code not in (None, *KILLED)


def draw_sample(names: Iterable[str], every: int, skip: int = 0) -> frozenset[str]:
    """Return every `every`-th name, in the order of the names, beginning after the first `skip`."""
    return frozenset(sorted(names)[skip::every])


def describe_sample(size: int, total: int, every: int) -> str:
    """Return in words how large a sample is: "a sample, 1 mutant of 5 by name: 12 of 58"."""
    return f"a sample, 1 mutant of {every} by name: {size:,} of {total:,}"


def exit_codes(copy: Path) -> dict[str, int | None]:
    """Return what the tests ended with on each mutant that mutmut has made so far, by the mutant's
    name; None if it was not tried yet.
    """
    codes: dict[str, int | None] = {}
    for path in (copy / "mutants" / "refengine").rglob("*.meta"):
        with suppress(json.JSONDecodeError):  # mutmut is writing the file
            codes |= json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
    return codes


def count_results(
    codes: Mapping[str, int | None], sample: frozenset[str] | None = None
) -> Counter[str]:
    """Return how many mutants there are (`all`), how many are `done`, which were tried or are in a
    class (not tried), and how many of these are `killed`: of a sample, or, if that is None, of all
    mutants.
    """
    counts: Counter[str] = Counter()
    for name, code in codes.items():
        if sample is not None and name not in sample:
            continue
        counts["all"] += 1
        counts["done"] += code is not None
        counts["killed"] += code in KILLED
    return counts


def progress(before: Counter[str], now: Counter[str], minutes: float) -> str:
    """Return in words how far a run is: `before` counts the mutants when it began, `now` counts
    them `minutes` later.
    """
    if now["done"] == before["done"]:
        return f"makes the mutants and runs the tests without one; {minutes:.0f} min so far"
    left = now["all"] - now["done"]
    rest = left * minutes / (now["done"] - before["done"])
    return (
        f"{now['done']:,} of {now['all']:,} done, {now['done'] - now['killed']:,} not killed; "
        f"{minutes:.0f} min so far, some {rest:.0f} left"
    )


def statuses(copy: Path, sample: frozenset[str] | None) -> dict[str, str]:
    """Return mutmut's word for each mutant (`killed`, `survived`, `timeout`, …), by the mutant's
    name without `refengine.`: of a sample, or, if that is None, of all mutants.
    """
    text = ask(copy, "results", "--all", "True")
    rows = re.findall(r"^\s+(refengine\.\S+): (.+)$", text, re.MULTILINE)
    return {
        name.removeprefix("refengine."): status
        for name, status in rows
        if sample is None or name in sample
    }


def module_of(mutant: str) -> str:
    """Return the module of a mutant: `core.tick` of `core.tick.x_due__mutmut_1`."""
    return mutant.rpartition(".")[0]


def is_survivor(status: str) -> bool:
    """Return whether mutmut's word for a mutant says that no test notices it."""
    return status != "killed" and status not in UNDECIDED


def score_table(
    results: Mapping[str, str], classes: Mapping[str, str], every: int = 1
) -> Iterator[str]:
    """Yield the lines of the table, by module: mutants, killed, timeouts, survived, in a class (not
    tried, but counted as survived), left to try, and two scores. `results` are a sample of one
    mutant of `every`, and `classes` has the class of each mutant that is in one.

    The raw score counts those in a class as survivors. The score leaves them out. A timeout counts
    as no kill.
    """
    title = "module"
    if every > 1:
        title = f"module (1 mutant of {every})"
    counts: dict[str, Counter[str]] = {name: Counter() for name in sorted(map(module_of, results))}
    for mutant, status in results.items():
        if is_survivor(status):
            status = "survived"
        counts[module_of(mutant)][status] += 1
        counts[module_of(mutant)]["in a class"] += mutant in classes
    counts["all"] = sum(counts.values(), Counter())
    heads = ("mutants", "killed", "timeouts", "survived", "in class", "left", "score", "raw")
    yield f"{title:36}" + "".join(f"{head:>9}" for head in heads)
    for module, count in counts.items():
        each = [count["killed"], count["timeout"], count["survived"]]
        done = sum(each)
        left = count["not checked"]
        numbers = (done + left, *each, count["in a class"], left)
        scores = (
            percentage(count["killed"], done - count["in a class"]),
            percentage(count["killed"], done),
        )
        cells = [f"{number:9}" for number in numbers] + [f"{score:>9}" for score in scores]
        yield f"{module:36}" + "".join(cells)


def percentage(part: int, whole: int) -> str:
    """Return a part of a whole in percent: "50.0 %". For a whole of nothing that is "-"."""
    if not whole:
        return "-"
    return f"{100 * part / whole:.1f} %"


def classes_of(copy: Path, results: Mapping[str, str]) -> dict[str, str]:
    """Return the class of each mutant that is in one (not tried), by its name without
    `refengine.`.
    """
    found: dict[str, str] = {}
    for mutant, status in results.items():
        if is_survivor(status):
            which = class_of_mutant(copy, mutant)
            if which is not None:
                found[mutant] = which
    return found


def class_of_mutant(copy: Path, mutant: str) -> str | None:
    """Return the class of a mutant, by its name with or without `refengine.`; None if it is in
    none.
    """
    return class_of(*original_and_mutant(copy, mutant.removeprefix("refengine.")))


def original_and_mutant(copy: Path, mutant: str) -> tuple[ast.FunctionDef, ast.FunctionDef]:
    """Return mutmut's copy of the original function, and a mutant of it, both under the name of the
    original. The mutant's tree, which `functions_of` keeps, is renamed for good.
    """
    module = module_of(mutant)
    functions = functions_of(copy, module)
    name = mutant.removeprefix(f"{module}.")
    original = functions[re.sub(r"__mutmut_\d+$", "__mutmut_orig", name)]
    changed = functions[name]
    changed.name = original.name
    return original, changed


@cache
def functions_of(copy: Path, module: str) -> dict[str, ast.FunctionDef]:
    """Return the functions of a module's mutated file by name: each mutant and each original."""
    path = copy / "mutants" / "refengine" / (module.replace(".", "/") + ".py")
    if not path.exists():
        path = path.with_suffix("") / "__init__.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def survivors(copy: Path, results: Mapping[str, str], classes: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each mutant that is in a class, with the class. Of each other one that no
    test notices yield a paragraph: its name, its change, and whether docs/mutation.md argues that
    the change makes no difference.
    """
    argued = ""
    if ARGUED.exists():
        argued = ARGUED.read_text(encoding="utf-8")
    for name, status in results.items():
        if not is_survivor(status):
            continue
        if name in classes:
            yield f"{name}: in the class {classes[name]!r}\n"
            continue
        where = "NOT argued in docs/mutation.md"
        if f"`{name}`" in argued:
            where = "argued in docs/mutation.md"
        original, changed = original_and_mutant(copy, name)
        lines = ast.unparse(original).splitlines()
        change = [*unified_diff(lines, ast.unparse(changed).splitlines(), n=2, lineterm="")][2:]
        yield "\n".join([f"{name}: {status}, {where}", *change, ""])


def positive(text: str) -> int:
    """Return the number that a text writes. Raises ValueError if it is not positive."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def not_negative(text: str) -> int:
    """Return the number that a text writes. Raises ValueError if it is negative."""
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "of",
        nargs="*",
        help="packages (core), modules (core.tick), folders of modules (oracle.orders), or mutants "
        "to try again (core.tick.x_due__mutmut_1, core.tick.x_due*); default: all packages",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        help="a folder to work in, which is kept and where a second call goes on (default: a "
        "temporary one)",
    )
    parser.add_argument(
        "--every",
        type=positive,
        default=1,
        metavar="N",
        help="try a sample: every N-th mutant, in the order of their names (default: 1, all)",
    )
    parser.add_argument(
        "--skip",
        type=not_negative,
        default=0,
        metavar="N",
        help="begin a sample after the first N mutants (default: 0): two different N below --every "
        "give samples without a common mutant",
    )
    parser.add_argument(
        "--survivors",
        action="store_true",
        help="try only those again that survived before in the same --folder, after a change of "
        "the tests",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=math.inf,
        help="try each mutant on tests that take so long together, those with the best chance "
        "first; one that none of these notices counts as a survivor (default: on all)",
    )
    jobs = os.cpu_count() or 1
    parser.add_argument("--jobs", type=int, default=jobs, help="how many mutants at once")
    return parser


def main() -> int:
    """Run the command line."""
    options = parser().parse_args()
    try:
        planned_tasks = list(tasks(options.of))
    except LookupError as error:
        print(f"mutants: {error.args[0]}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutants-") as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        results: dict[str, str] = {}
        classes: dict[str, str] = {}
        try:
            prepare_environment(folder)
            for task in planned_tasks:
                copy = folder / task.name / "checkout"
                copy_checkout(copy, task.settings)
                sample = try_mutants(task, copy, options)
                own = statuses(copy, sample)
                own_classes = classes_of(copy, own)
                table = score_table(own, own_classes, options.every)
                print(*survivors(copy, own, own_classes), *table, sep="\n", flush=True)
                results |= own
                classes |= own_classes
        except LookupError as error:
            print(f"mutants: {error.args[0]}", file=sys.stderr)
            return 2
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
    if len(planned_tasks) > 1:
        print(*score_table(results, classes, options.every), sep="\n")
    for which, count in sorted(Counter(classes.values()).items()):
        print(f"in the class {which!r}: {count}")
    minutes = (time.monotonic() - began) / 60
    version = sys.version.split()[0]
    print(f"{TOOL}, Python {version}, {options.jobs} at once, {minutes:.0f} minutes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
