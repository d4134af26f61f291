"""Results as they are read: files merged, each line checked against the schema, duplicates and gaps
found.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from conformance import schemas
from conformance.report.texts import clean
from conformance.verdict.outcomes import Outcome
from conformance.verdict.results import Result, from_json
from refengine.model.errors import RefengineError
from refengine.model.messages import shown, why

NAMED = 3  # cases that a line about them names


class InvalidResults(RefengineError):
    """A file of results that is none."""


@dataclass(frozen=True)
class Entry:
    """A result without its evidence, and this as JSON: it is read where it is drawn. 100,000 of
    them would not fit otherwise.
    """

    result: Result
    text: str | None

    @property
    def evidence(self) -> Mapping[str, Any] | None:
        """What the result rests on."""
        return None if self.text is None else json.loads(self.text)

    @property
    def kind(self) -> str:
        """The outcome; `known` where a known deviation explains a fail or an error."""
        return (
            "known"
            if self.result.known and self.result.outcome in (Outcome.FAIL, Outcome.ERROR)
            else str(self.result.outcome)
        )


class Gap(NamedTuple):
    """The cases of a suite that another engine has, and this one has not."""

    engine: str
    suite: str
    cases: tuple[str, ...]

    def __str__(self) -> str:
        more = f", … {len(self.cases) - NAMED} more" if len(self.cases) > NAMED else ""
        return (
            f"{clean(self.engine)} has no result of {len(self.cases)} in {clean(self.suite)}: "
            f"{', '.join(map(clean, self.cases[:NAMED]))}{more}"
        )


class Collected(NamedTuple):
    """What a report is made of: entries by engine, suite and case, one each; the keys given more
    than once; and the gaps.
    """

    entries: list[Entry]
    duplicates: list[tuple[str, str, str]]
    gaps: list[Gap]

    @property
    def warnings(self) -> Iterator[str]:
        """A line each, for a terminal: the page names all."""
        if self.duplicates:
            named = ", ".join(" ".join(map(clean, key)) for key in self.duplicates[:NAMED])
            more = (
                f", … {len(self.duplicates) - NAMED} more" if len(self.duplicates) > NAMED else ""
            )
            yield f"given more than once, the last counts: {named}{more}"
        yield from map(str, self.gaps)


def read(paths: Iterable[Path]) -> Collected:
    """The results of files. Raises InvalidResults, which names file and line."""
    return collected(entry for path in paths for entry in _lines(path))


def of(results: Iterable[Result]) -> Collected:
    """The results of a run."""
    return collected(_entry(result, {}) for result in results)


def collected(entries: Iterable[Entry]) -> Collected:
    """Entries, merged: of those with one key the last counts."""
    kept: dict[tuple[str, str, str], Entry] = {}
    twice: dict[tuple[str, str, str], None] = {}
    for entry in entries:
        key = entry.result.key
        if key in kept:
            twice[key] = None
        kept[key] = entry
    return Collected([kept[key] for key in sorted(kept)], sorted(twice), list(_gaps(kept)))


def _gaps(keys: Iterable[tuple[str, str, str]]) -> Iterator[Gap]:
    cases: dict[str, set[str]] = defaultdict(set)
    own: dict[tuple[str, str], set[str]] = defaultdict(set)
    for engine, suite, case in keys:
        cases[suite].add(case)
        own[engine, suite].add(case)
    for (engine, suite), there in sorted(own.items()):
        if len(there) < len(cases[suite]):
            yield Gap(engine, suite, tuple(sorted(cases[suite] - there)))


def _lines(path: Path) -> Iterator[Entry]:
    texts: dict[str, str] = {}
    try:
        if path.exists() and not path.is_file():
            raise OSError(0, "not a regular file")
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _entry(from_json(_checked(line, f"{path}:{number}")), texts)
    except OSError as error:
        raise InvalidResults(
            f"cannot be read: {error.strerror or error}", rule="results", place=str(path)
        ) from None


def _checked(line: bytes, place: str) -> dict[str, Any]:
    try:
        told: dict[str, Any] = json.loads(
            line.decode("utf-8-sig"), parse_constant=_refused, parse_float=_number
        )
    except UnicodeDecodeError as error:
        raise InvalidResults(f"not UTF-8: {error.reason}", rule="results", place=place) from None
    except (ValueError, RecursionError) as error:
        raise InvalidResults(f"no JSON: {why(error)}", rule="results", place=place) from None
    if not schemas.accepts("result")(told):
        wrong = next(schemas.validator("result").iter_errors(told))
        while wrong.context:  # of the choices, what the likeliest lacks
            wrong = max(wrong.context, key=lambda one: len(one.absolute_path))
        where = "".join(
            f"[{part}]" if isinstance(part, int) else f".{part}" for part in wrong.absolute_path
        ).lstrip(".")
        raise InvalidResults(
            f"no result: {where + ': ' if where else ''}{wrong.message}",
            rule="results",
            place=place,
        )
    return told


def _refused(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")


def _number(word: str) -> float:
    """A number with a point or an exponent: 1.0 is an integer to the schema, so it is one to
    whoever counts with it.
    """
    number = float(word)
    if not isfinite(number):
        raise ValueError(f"{shown(word)} is beyond every number here")
    return int(number) if number.is_integer() else number


def _entry(result: Result, texts: dict[str, str]) -> Entry:
    """An entry; evidence that is the same text is one text."""
    if result.evidence is None:
        return Entry(result, None)
    text = json.dumps(result.evidence, sort_keys=True, separators=(",", ":"))
    return Entry(replace(result, evidence=None), texts.setdefault(text, text))
