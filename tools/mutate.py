"""Try mutants, which are the code with one small change each, and list those that no test notices.

    python -m tools.mutate [WORD ...] [--every N] [--skip K] [--jobs J]

mutmut makes the mutants and tries them, by its settings in pyproject.toml and those that
`[tool.mutants]` has for a package. WORD is such a package, or a module in one: `core`, `core.tick`.
Without a WORD every package is tried.

`--every 10` draws a sample: every tenth mutant, in the order of their names. `--skip 3` leaves the
first three out, and so draws another sample. Results are kept in build/mutants, in a folder for
each WORD: a mutant that was tried there is not tried again.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "mutants"
NEEDED = ("refengine", "conformance", "fixtures", "tests", "tools", "SPEC.md", "docs")
SECTION = "[tool.mutmut]\n"
MOST_MEMORY = 6 << 30  # bytes of a process: a mutant may ask for ever more
# mutmut's command `run` tries at once what it makes, so that a sample could not be drawn before.
MAKE_MUTANTS = """
from mutmut import __main__ as mutmut

mutmut.copy_src_dir()
mutmut.copy_also_copy_files()
mutmut.setup_source_paths()
mutmut.create_mutants(1)
"""
UNTRIED = "not checked"  # mutmut's word, as are the others


def packages() -> dict[str, dict[str, Any]]:
    """Return mutmut's settings for each package, as pyproject.toml has them."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: dict[str, dict[str, Any]] = table["tool"]["mutants"]
    return found


def settings_of(word: str) -> dict[str, Any]:
    """Return mutmut's settings for a package or a module. Raises LookupError if there is none."""
    table = packages()
    if word in table:
        return table[word]
    path = f"refengine/{word.replace('.', '/')}.py"
    for settings in table.values() if (ROOT / path).is_file() else ():
        if any(fnmatch(path, pattern) for pattern in settings["only_mutate"]):
            return {**settings, "only_mutate": [path]}
    raise LookupError(f"{word!r} is no package or module; packages: {', '.join(table)}")


def prepare(word: str, settings: Mapping[str, Any]) -> Path:
    """Return the folder in which mutmut works on a package or module. It has the checkout's files,
    and a pyproject.toml with these settings.
    """
    folder = FOLDER / word
    folder.mkdir(parents=True, exist_ok=True)
    for name in NEEDED:
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    own = "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
    (folder / "pyproject.toml").write_text(text.replace(SECTION, SECTION + own), encoding="utf-8")
    return folder


def run_python(folder: Path, *arguments: str, output: int | None = None) -> str:
    """Run Python in a folder to its end, and return what it prints if `output` is a pipe. Raises
    subprocess.CalledProcessError if it fails.
    """
    environment = {**os.environ, "REFENGINE_HYPOTHESIS_PROFILE": "mutation"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, check=True, stdout=output, text=True
    )
    return done.stdout


def read_statuses(folder: Path) -> dict[str, str]:
    """Return mutmut's word for what became of each mutant (`killed`, `survived`, `timeout`), by the
    mutant's name.
    """
    text = run_python(folder, "-m", "mutmut", "results", "--all", "True", output=subprocess.PIPE)
    return dict(re.findall(r"^ +(refengine\.\S+): (.+)$", text, re.MULTILINE))


def draw_sample(names: Iterable[str], every: int, skip: int) -> list[str]:
    """Return every `every`-th name, in their order, after the first `skip`."""
    return sorted(names)[skip::every]


def try_mutants(word: str, settings: Mapping[str, Any], options: argparse.Namespace) -> None:
    """Make the mutants that a word names, try a sample of them, and print what became of it."""
    folder = prepare(word, settings)
    run_python(folder, "-c", MAKE_MUTANTS)
    statuses = read_statuses(folder)
    sample = draw_sample(statuses, options.every, options.skip)
    if left := [name for name in sample if statuses[name] == UNTRIED]:
        run_python(folder, "-m", "mutmut", "run", "--max-children", str(options.jobs), *left)
        statuses = read_statuses(folder)
    for name in sample:
        if statuses[name] not in ("killed", "timeout"):
            run_python(folder, "-m", "mutmut", "show", name)
    counts = Counter(statuses[name] for name in sample).most_common()
    found = ", ".join(f"{count} {status}" for status, count in counts)
    print(f"{word}: {len(sample)} of {len(statuses)} mutants: {found}", flush=True)


def main() -> int:
    """Run the command line and return its exit code: 0, or 2 for bad arguments."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutate", description=__doc__)
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="default: %(default)s")
    parser.add_argument("--skip", type=int, default=0, metavar="K", help="default: %(default)s")
    parser.add_argument("--jobs", type=int, default=1, metavar="J", help="default: %(default)s")
    parser.add_argument("--anew", action="store_true", help="forget the results of earlier runs")
    options = parser.parse_args()
    try:
        chosen = {word: settings_of(word) for word in options.words or packages()}
    except LookupError as error:
        parser.error(str(error))
    if options.anew:
        shutil.rmtree(FOLDER, ignore_errors=True)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    for word, settings in chosen.items():
        try_mutants(word, settings, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
