"""Results: what became of each item. A file of results has one JSON object a line; tables, pages
and exit codes are made of results alone.
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
from typing import TYPE_CHECKING, Any, NamedTuple

from conformance.verdict.wording import printable_explanation
from refengine.model.errors import RefengineError

if TYPE_CHECKING:
    from refengine.oracle.judge import Judgement


OLD_NAMES = {"argument": "explanation"}  # of keys, in files of an older version


class Outcome(StrEnum):
    """The outcomes of an item. They are never merged."""

    PASS = "pass"
    FAIL = "fail"
    UNSUPPORTED = "unsupported"
    DISPUTED = "disputed"
    ERROR = "error"
    UNSTABLE = "unstable"


class KnownDeviation(NamedTuple):
    """A known deviation of an engine that explains a result: its reason and link, and the rules of
    SPEC.md that it breaks.

    It `can_be_granted` if its entry has `fields`, or says that the windows are misstated: the judge
    takes it for granted, and has found the rest of the answers right.
    """

    reason: str
    link: str
    rules: tuple[str, ...] = ()
    can_be_granted: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the deviation as a JSON object."""
        return {**self._asdict(), "rules": list(self.rules)}


class DiagnosedCause(NamedTuple):
    """A cause of a fail that the diagnosis of the engine has found, which its file does not state.

    `reason` names the change of the semantics, or the wrong engine, that explains the answers, and
    `rules` has the rules of SPEC.md that the engine breaks by it. It `can_be_granted` as a known
    deviation can. `entry` is the text of the entry that states it in the engine's file; it is empty
    for an engine that is sent its semantics. So many passes as `against` would fail under it: then
    it is near to what the engine does.
    """

    reason: str
    rules: tuple[str, ...]
    can_be_granted: bool
    entry: str
    against: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the cause as a JSON object."""
        return {**self._asdict(), "rules": list(self.rules)}


class BenchmarkRun(NamedTuple):
    """Which run of `conformance bench` a result is of: an experiment of the benchmark, a test of
    it, and which of the runs of the test, from 1.
    """

    experiment: str
    test: str
    number: int


@dataclass(frozen=True, kw_only=True)
class Result:
    """The outcome of one item of a suite (`corpus`, `csrbench`, `yabench`) for an engine, and the
    explanation for it, one screen of text. Wherever an explanation comes from, it is printable and
    of bounded length, since most have text of the engine in them.

    `rule` is the id of the rule that the case is about, empty for a benchmark's query. `known` has
    the known deviations that explain the outcome. `causes` are those that the diagnosis of the
    engine has found for a fail without a known deviation; all of them together explain it
    (suite/diagnosis.py). `caught_wrong_engine` is a wrong engine of the rule that would have
    failed the case under the semantics that the engine claims. Of a result that is explained,
    `caught_when_granted` is one that would have failed it if the explanations are granted to the
    engine. Each is empty if there is none, or if the case was not examined (suite/summary.py).

    `evidence` is what the outcome rests on (evidence.py), None if the engine answered nothing.
    `witnesses` are those that confirm every answer of the SPARQL evaluator on which the outcome
    rests; there are none where the case states its rows itself. `computed_by` says in words who
    computed the answers of the assignment that the verdict names: incremental evaluation, the
    SPARQL evaluator or a search over arrival orders (ORA-8); it is empty if the judge named none.
    `benchmark_run` says which run of `conformance bench` it is; None for any other result, and for
    one of a recording.
    `judgement` has what the oracle found. It exists only in the process that judged, until the
    result becomes that of an item, and is never written.
    """

    engine: str
    suite: str
    case: str
    outcome: Outcome
    rule: str = ""
    explanation: str = ""
    known: tuple[KnownDeviation, ...] = ()
    evidence: Mapping[str, Any] | None = None
    witnesses: tuple[str, ...] = ()
    caught_wrong_engine: str = ""
    causes: tuple[DiagnosedCause, ...] = ()
    computed_by: str = ""
    caught_when_granted: str = ""
    benchmark_run: BenchmarkRun | None = None
    judgement: Judgement | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "explanation", printable_explanation(self.explanation))

    @property
    def kind(self) -> str:
        """The outcome, or `known` for a fail or an error that a known deviation explains."""
        if self.known and self.outcome in (Outcome.FAIL, Outcome.ERROR):
            return "known"
        return str(self.outcome)

    @property
    def experiment(self) -> str:
        """The experiment of a benchmark to whose run the result belongs.

        A result that is of no run of a benchmark (`benchmark_run` is None), such as one of a
        recording, is an experiment and a test of its own, and both are named as its case.
        """
        if self.benchmark_run is None:
            return self.case
        return self.benchmark_run.experiment

    @property
    def test(self) -> str:
        """The test to whose run the result belongs; the case if it is of no run of a benchmark."""
        if self.benchmark_run is None:
            return self.case
        return self.benchmark_run.test

    @property
    def outcome_in_words(self) -> str:
        """The outcome, and whether known deviations explain it: `fail`, or `known fail`."""
        return f"known {self.outcome}" if self.known else str(self.outcome)

    @property
    def is_fail_without_known_deviation(self) -> bool:
        """Whether the result is a fail that no known deviation explains."""
        return self.outcome is Outcome.FAIL and not self.known

    @property
    def explained_by(self) -> tuple[KnownDeviation | DiagnosedCause, ...]:
        """What explains a fail or an error: known deviations, or causes found by a diagnosis."""
        return self.known or self.causes

    @property
    def key(self) -> tuple[str, str, str]:
        """The key of a result, which no other result of a run has; results are sorted by it."""
        return self.engine, self.suite, self.case

    def as_json(self) -> dict[str, Any]:
        """Return the result as a JSON object. `benchmark_run` is left out where it is None."""
        table = {
            "engine": self.engine,
            "suite": self.suite,
            "case": self.case,
            "rule": self.rule,
            "outcome": str(self.outcome),
            "explanation": self.explanation,
            "known": [deviation.as_json() for deviation in self.known],
            "evidence": self.evidence,
            "witnesses": list(self.witnesses),
            "caught_wrong_engine": self.caught_wrong_engine,
            "caught_when_granted": self.caught_when_granted,
            "causes": [cause.as_json() for cause in self.causes],
            "computed_by": self.computed_by,
        }
        if self.benchmark_run is not None:
            table["benchmark_run"] = self.benchmark_run._asdict()
        return table


def error_result(key: tuple[str, str, str], rule: str, explanation: str) -> Result:
    """Return the error of the item with a key: engine, suite and case."""
    engine, suite, case = key
    return Result(
        engine=engine,
        suite=suite,
        case=case,
        rule=rule,
        outcome=Outcome.ERROR,
        explanation=explanation,
    )


def from_json(table: dict[str, Any]) -> Result:
    """Return a result from its JSON object."""
    known = tuple(KnownDeviation(**_with_rules(entry)) for entry in table["known"])
    causes = tuple(DiagnosedCause(**_with_rules(entry)) for entry in table.get("causes", ()))
    benchmark_run = None
    if "benchmark_run" in table:
        benchmark_run = BenchmarkRun(**table["benchmark_run"])
    return Result(
        **{
            # a file of an older version has one of the two for both
            "caught_when_granted": table.get("caught_wrong_engine", ""),
            # and calls the explanation an argument
            **{OLD_NAMES.get(name, name): value for name, value in table.items()},
            "benchmark_run": benchmark_run,
            "outcome": Outcome(table["outcome"]),
            "known": known,
            "causes": causes,
            "witnesses": tuple(table["witnesses"]),
        }
    )


def _with_rules(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a known deviation or a cause; an older file does not state its rules."""
    return {**entry, "rules": tuple(entry.get("rules", ()))}


def write(path: Path, results: Iterable[Result]) -> None:
    """Write results to a file in place of what it had, sorted by engine, suite and case."""
    replace({path: lines(results)})


def lines(results: Iterable[Result]) -> Iterator[str]:
    """Yield the lines of results as NDJSON, sorted by engine, suite and case."""
    for result in sorted(results, key=lambda result: result.key):
        yield json_text(result.as_json())


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON with sorted keys. A text in which a character cannot be printed has
    ASCII alone: JSON itself escapes few of the characters that steer a terminal.
    """
    text = json.dumps(value, ensure_ascii=False, sort_keys=indent is None, indent=indent)
    if all(map(str.isprintable, text.split("\n"))):
        return text
    return json.dumps(value, sort_keys=indent is None, indent=indent).replace("\x7f", "\\u007f")


def summary(results: Iterable[Result]) -> list[str]:
    """Return a line for each engine that counts its outcomes: `cqels: 3 fail, 4 pass`."""
    kinds: dict[str, Counter[str]] = {}
    for result in results:
        kinds.setdefault(result.engine, Counter())[result.outcome_in_words] += 1
    return [
        f"{engine}: {', '.join(f'{count} {kind}' for kind, count in sorted(counts.items()))}"
        for engine, counts in sorted(kinds.items())
    ]


def unstable_lines(results: Iterable[Result]) -> list[str]:
    """Return a line for each unstable result, which names it."""
    return [
        f"{result.engine} is unstable on {result.case}: {result.explanation.splitlines()[0]}"
        for result in sorted(results, key=lambda result: result.key)
        if result.outcome is Outcome.UNSTABLE
    ]


def target(path: Path) -> Path:
    """Return the file to which results are written, with symbolic links resolved. Raises
    RefengineError if it cannot be written, so that this is known before the work begins.
    """
    with writing(path):
        real = Path(os.path.realpath(path))
        os.stat(real.parent)
        with suppress(FileNotFoundError):
            # a path such as /dev/stdout may lead to a pipe, or to a file without a name
            if not stat.S_ISREG(os.stat(path).st_mode) or not real.exists():
                raise OSError(errno.EINVAL, "not a regular file")
        if not os.access(real.parent, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return real


def check_new_folder(folder: Path) -> None:
    """Raise RefengineError for a path at which no new folder can be written: a file, a folder that
    is not empty, or one in a folder that cannot be written.
    """
    with writing(folder):
        place = next(place for place in (folder, *folder.absolute().parents) if place.exists())
        if not place.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(folder.absolute().parent if place == folder else place, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if folder.exists() and any(folder.iterdir()):
            raise RefengineError(
                "is not empty, and nothing is overwritten; name a new folder",
                rule="usage",
                place=str(folder),
            )


def replace(files: Mapping[Path, Iterable[str] | bytes]) -> None:
    """Replace the content of files with lines or bytes; each file keeps its mode.

    All contents are written to drafts before the first file is replaced, so that an interrupt or a
    full disk leaves all files as they were. Once the replacing has begun it is finished.
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
        with _ignore_signals():
            for path, draft in drafts.items():
                with writing(path):
                    os.replace(draft, path)
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)


def _write_draft(draft: Path, content: Iterable[str] | bytes) -> None:
    """Write lines or bytes to a new file."""
    if isinstance(content, bytes):
        with open(draft, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    else:
        with open(draft, "x", encoding="utf-8", errors="backslashreplace") as text:
            text.writelines(f"{line}\n" for line in content)


@contextmanager
def _ignore_signals() -> Iterator[None]:
    """Ignore SIGINT and SIGTERM until the context ends, so that its work is finished."""
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
    """Raise an OSError of the context as a RefengineError that names the path."""
    try:
        yield
    except OSError as error:
        raise RefengineError(
            f"cannot write: {error.strerror}",
            rule="usage",
            place=str(path),
        ) from None
