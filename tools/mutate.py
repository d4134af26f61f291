"""Change the modules of the definition one small step at a time, and see which changes no test
notices.

mutmut makes the changes and runs the tests, as `[tool.mutmut]` in pyproject.toml says, on a copy of
the checkout and in an environment of its own. Both are in a temporary folder, or in `--folder`,
which is kept: a run that was interrupted goes on there. A change of the tests or cases needs a new
folder, or the names of the mutants to try again.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections import Counter
from contextlib import suppress
from pathlib import Path

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


def prepared(folder: Path) -> Path:
    """Return the copy of the checkout in a folder, with its environment beside it."""
    copy, python = folder / "checkout", folder / "venv" / "bin" / "python"
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name,
                copy / name,
                ignore=shutil.ignore_patterns("__pycache__"),
                dirs_exist_ok=True,
            )
        else:
            copy.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    if not (folder / "ready").exists():
        print(f"mutants: {TOOL}, in an environment of its own", flush=True)
        venv.create(folder / "venv", clear=True, with_pip=True)
        subprocess.run(
            [python, *PIP, "--require-hashes", "-r", copy / "requirements.lock"], check=True
        )
        subprocess.run([python, *PIP, TOOL], check=True)
        (folder / "ready").touch()
    return copy


def mutmut(folder: Path, *arguments: str, output: int | None = None) -> str:
    """Return one call of the tool on the copy. It has a process group of its own, of which nothing
    is left after an interrupt.
    """
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
    }
    environment["REFENGINE_HYPOTHESIS_PROFILE"] = "mutation"
    command = [str(folder / "venv" / "bin" / "mutmut"), *arguments]
    process = subprocess.Popen(
        command,
        cwd=folder / "checkout",
        env=environment,
        text=True,
        start_new_session=True,
        stdout=output,
    )
    try:
        found, _ = process.communicate()
    except BaseException:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(10)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        raise
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return found or ""  # None where it went elsewhere


def statuses(folder: Path) -> dict[str, str]:
    """Return what became of each mutant."""
    listed = mutmut(folder, "results", "--all", "True", output=subprocess.PIPE)
    return dict(re.findall(r"^\s+refengine\.(\S+): (.+)$", listed, re.MULTILINE))


def figures(found: dict[str, str]) -> list[str]:
    """Return the lines of the table: mutants, killed, timeouts, survived and score, by module. A
    time limit is no kill: a loaded machine reaches it, too.
    """
    counts: dict[str, Counter[str]] = {
        module: Counter() for module in sorted({name.split(".")[0] for name in found})
    }
    for name, status in found.items():
        counts[name.split(".")[0]][
            status if status in ("killed", "timeout", "not checked") else "survived"
        ] += 1
    lines = [
        f"{'module':10}{'mutants':>9}{'killed':>9}{'timeouts':>9}{'survived':>9}{'left':>9}{'score':>9}"
    ]
    for module, count in {**counts, "all": sum(counts.values(), Counter())}.items():
        each = [count["killed"], count["timeout"], count["survived"], count["not checked"]]
        tried = sum(each[:3])
        score = "-"
        if tried:
            score = f"{100 * each[0] / tried:.1f} %"
        lines.append(
            f"{module:10}" + "".join(f"{number:9}" for number in (sum(each), *each)) + f"{score:>9}"
        )
    return lines


def report(folder: Path) -> None:
    """Print the survivors with their diffs, and the figures."""
    found = statuses(folder)
    argued = ""
    if ARGUED.exists():
        argued = ARGUED.read_text(encoding="utf-8")
    for name, status in found.items():
        if status not in ("killed", "timeout", "not checked"):
            where = "NOT argued in docs/mutation.md"
            if re.search(rf"`{re.escape(name)}`", argued):
                where = "argued in docs/mutation.md"
            diff = mutmut(folder, "show", f"refengine.{name}", output=subprocess.PIPE)
            print(f"{name}: {status}, {where}", *diff.splitlines()[3:], sep="\n", end="\n\n")
    print(*figures(found), sep="\n")


def main() -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names",
        nargs="*",
        help="mutants to try again, such as "
        "`refengine.core.tick.x_due__mutmut_1` or "
        "`refengine.core.tick.*`",
    )
    parser.add_argument(
        "--folder", type=Path, help="where to work and to go on; kept (without: a temporary folder)"
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="how many mutants at once"
    )
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="mutants-") as temporary:
        folder, began = (options.folder or Path(temporary)).resolve(), time.monotonic()
        try:
            prepared(folder)
            mutmut(folder, "run", "--max-children", str(options.jobs), *options.names)
            report(folder)
        except subprocess.CalledProcessError as error:
            print(
                f"mutants: {Path(error.cmd[0]).name} ended with {error.returncode}", file=sys.stderr
            )
            return 1
        except KeyboardInterrupt:
            print(
                "mutants: interrupted; "
                f"{f'go on with --folder {folder}' if options.folder else 'nothing is kept'}",
                file=sys.stderr,
            )
            return 130
    print(
        f"{TOOL}, Python {sys.version.split()[0]}, {options.jobs} at once, "
        f"{(time.monotonic() - began) / 60:.0f} minutes"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
