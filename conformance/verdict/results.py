"""Results: what became of each item, one JSON object a line. Tables, pages and exit codes are made
of them.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import stat
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.verdict.outcomes import Outcome
from refengine.model.errors import RefengineError


@dataclass(frozen=True)
class Result:
    """An engine and one item of a suite (`corpus`, `csrbench`, `yabench`): the outcome and its
    argument. `rule` is the id that the case is about, empty for a benchmark's query. `known` are
    the known deviations that explain it, with their links; `evidence` is what it rests on
    (evidence.py), None where nothing was answered; `witnesses` are those that confirm every answer
    by definition that it rests on (none where a case states its rows itself).
    """

    engine: str
    suite: str
    case: str
    rule: str
    outcome: Outcome
    argument: str
    known: tuple[tuple[str, str], ...] = ()
    evidence: Mapping[str, Any] | None = None
    witnesses: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """What no two results of a run have in common; also their order."""
        return self.engine, self.suite, self.case

    def as_json(self) -> dict[str, Any]:
        """As a JSON object; `known` as objects of `reason` and `link`."""
        return {
            **vars(self),
            "outcome": str(self.outcome),
            "known": [{"reason": reason, "link": link} for reason, link in self.known],
            "witnesses": list(self.witnesses),
        }


def from_json(told: dict[str, Any]) -> Result:
    """A result from its JSON object."""
    known = tuple((entry["reason"], entry["link"]) for entry in told["known"])
    return Result(
        **{
            **told,
            "outcome": Outcome(told["outcome"]),
            "known": known,
            "witnesses": tuple(told["witnesses"]),
        }
    )


def write(path: Path, results: Iterable[Result]) -> None:
    """Results replace a file (see `target`), by engine, suite and case."""
    replace({path: lines(results)})


def lines(results: Iterable[Result]) -> Iterator[str]:
    """Results as NDJSON, by engine, suite and case."""
    for result in sorted(results, key=lambda result: result.key):
        yield json.dumps(result.as_json(), ensure_ascii=False, sort_keys=True)


def summary(results: Iterable[Result]) -> list[str]:
    """A line an engine: how often it came to what."""
    told: dict[str, Counter[str]] = {}
    for result in results:
        kind = f"known {result.outcome}" if result.known else str(result.outcome)
        told.setdefault(result.engine, Counter())[kind] += 1
    return [
        f"{engine}: {', '.join(f'{count} {kind}' for kind, count in sorted(counts.items()))}"
        for engine, counts in sorted(told.items())
    ]


def unheld(engine: str) -> str:
    """What is said of an engine of which nothing was judged."""
    return f"every item of {engine} was skipped (exit code 4; 0 with --allow-missing)"


def target(path: Path) -> Path:
    """The file, behind its links, that results go to. What cannot be written is found out before
    the work.
    """
    with writing(path):
        real = Path(os.path.realpath(path))
        os.stat(real.parent)
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(os.stat(real).st_mode):
                raise OSError(errno.EINVAL, "not a regular file")
        if not os.access(real.parent, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return real


def replace(files: Mapping[Path, Iterable[str] | bytes]) -> None:
    """The lines, or the bytes, replace each file at once, with its mode. All are written before the
    first replaces one: an interrupt, or a full disk, leaves all of them alone, and one that comes
    later is too late.
    """
    drafts = {
        path: path.with_name(f".conformance-{os.getpid()}-{number}")
        for number, path in enumerate(files)
    }
    try:
        for path, draft in drafts.items():
            with writing(path):
                content = files[path]
                if isinstance(content, bytes):
                    with open(draft, "xb") as file:
                        file.write(content)
                        file.flush()
                        os.fsync(file.fileno())
                else:
                    with open(draft, "x", encoding="utf-8", errors="backslashreplace") as file:
                        file.writelines(f"{line}\n" for line in content)
                with suppress(FileNotFoundError):
                    os.chmod(draft, stat.S_IMODE(os.stat(path).st_mode))
        with _too_late():
            for path, draft in drafts.items():
                with writing(path):
                    os.replace(draft, path)
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)


@contextmanager
def _too_late() -> Iterator[None]:
    """What happens in here is done whole: the signals that would end it are dropped."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {
        number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """What cannot be written is a RefengineError that names the path."""
    try:
        yield
    except OSError as error:
        raise RefengineError(
            f"cannot write: {error.strerror}", rule="usage", place=str(path)
        ) from None
