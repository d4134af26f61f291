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
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refengine.model.errors import RefengineError

if TYPE_CHECKING:
    from refengine.oracle.judge import Judgement


class Outcome(StrEnum):
    """What can become of a recording. The five are never merged."""

    PASS = "pass"
    FAIL = "fail"
    UNSUPPORTED = "unsupported"
    DISPUTED = "disputed"
    ERROR = "error"


@dataclass(frozen=True)
class Result:
    """The outcome of an engine and one item of a suite (`corpus`, `csrbench`, `yabench`), and the
    argument for it, in one screen of text.

    `rule` is the id that the case is about, empty for a benchmark's query. `known` are the known
    deviations that explain it, with their links; `evidence` is what it rests on (evidence.py), None
    where nothing was answered; `witnesses` are those that confirm every answer by definition that
    it rests on (none where a case states its rows itself). `judgement` has the oracle's facts, in
    the process that judged and until the result is that of an item; it is never written.
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
    judgement: Judgement | None = field(default=None, compare=False, repr=False)

    @property
    def key(self) -> tuple[str, str, str]:
        """What no two results of a run have in common; also their order."""
        return self.engine, self.suite, self.case

    def as_json(self) -> dict[str, Any]:
        """Return the result as a JSON object; `known` as objects of `reason` and `link`."""
        return {
            "engine": self.engine,
            "suite": self.suite,
            "case": self.case,
            "rule": self.rule,
            "outcome": str(self.outcome),
            "argument": self.argument,
            "known": [{"reason": reason, "link": link} for reason, link in self.known],
            "evidence": self.evidence,
            "witnesses": list(self.witnesses),
        }


def from_json(table: dict[str, Any]) -> Result:
    """Return a result from its JSON object."""
    known = tuple((entry["reason"], entry["link"]) for entry in table["known"])
    return Result(
        **{
            **table,
            "outcome": Outcome(table["outcome"]),
            "known": known,
            "witnesses": tuple(table["witnesses"]),
        }
    )


def write(path: Path, results: Iterable[Result]) -> None:
    """Write results in place of a file (see `target`), by engine, suite and case."""
    replace({path: lines(results)})


def lines(results: Iterable[Result]) -> Iterator[str]:
    """Yield results as NDJSON, by engine, suite and case."""
    for result in sorted(results, key=lambda result: result.key):
        yield json.dumps(result.as_json(), ensure_ascii=False, sort_keys=True)


def summary(results: Iterable[Result]) -> list[str]:
    """Return a line an engine: how often it came to what."""
    kinds: dict[str, Counter[str]] = {}
    for result in results:
        kind = str(result.outcome)
        if result.known:
            kind = f"known {kind}"
        kinds.setdefault(result.engine, Counter())[kind] += 1
    return [
        f"{engine}: {', '.join(f'{count} {kind}' for kind, count in sorted(counts.items()))}"
        for engine, counts in sorted(kinds.items())
    ]


def unjudged_line(engine: str) -> str:
    """Return the sentence about an engine of which nothing was judged."""
    return f"every item of {engine} was skipped (exit code 4; 0 with --allow-missing)"


def target(path: Path) -> Path:
    """Return the file, behind its links, that results go to. What cannot be written is found out
    before the work.
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
    """Replace each file by the lines, or the bytes, at once, with its mode. All are written before
    the first replaces one: an interrupt, or a full disk, leaves all of them alone, and one that
    comes later is too late.
    """
    drafts = {
        path: path.with_name(f".conformance-{os.getpid()}-{number}")
        for number, path in enumerate(files)
    }
    try:
        for path, draft in drafts.items():
            with writing(path):
                _write_draft(draft, files[path])
                with suppress(FileNotFoundError):
                    os.chmod(draft, stat.S_IMODE(os.stat(path).st_mode))
        with _too_late():
            for path, draft in drafts.items():
                with writing(path):
                    os.replace(draft, path)
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)


def _write_draft(draft: Path, content: Iterable[str] | bytes) -> None:
    """Write lines, or bytes, to a new file."""
    if isinstance(content, bytes):
        with open(draft, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    else:
        with open(draft, "x", encoding="utf-8", errors="backslashreplace") as text:
            text.writelines(f"{line}\n" for line in content)


@contextmanager
def _too_late() -> Iterator[None]:
    """Do what happens in here whole: the signals that would end it are dropped."""
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
    """Raise what cannot be written as a RefengineError that names the path."""
    try:
        yield
    except OSError as error:
        raise RefengineError(
            f"cannot write: {error.strerror}", rule="usage", place=str(path)
        ) from None
