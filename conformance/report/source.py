"""Reading files of results: each line is checked against the schema, the files are merged, and
duplicates and gaps are found.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from conformance import schemas
from conformance.report.texts import clean
from conformance.verdict.results import Result, from_json
from conformance.verdict.rules import CaseResult, RuleVerdict, judge_rules
from conformance.verdict.wording import count_text
from refengine.model.errors import RefengineError
from refengine.model.messages import display, why

NAMED = 3  # cases that a warning names, at most

Key = tuple[str, str, str]  # engine, suite and case


class InvalidResults(RefengineError):
    """The error of a malformed file of results."""


@dataclass(frozen=True)
class Entry:
    """A result whose evidence is kept as JSON text, and parsed when it is drawn. Otherwise 100,000
    results would not fit into memory. `case_result` has what verdicts on rules read of it.
    """

    case_result: CaseResult
    text: str | None

    @property
    def result(self) -> Result:
        """The result, without its evidence."""
        return self.case_result.result

    @property
    def evidence(self) -> Mapping[str, Any] | None:
        """The evidence of the result."""
        if self.text is None:
            return None
        evidence: dict[str, Any] = json.loads(self.text)
        return evidence

    @property
    def with_evidence(self) -> Result:
        """The result with its evidence."""
        return replace(self.result, evidence=self.evidence)

    @property
    def kind(self) -> str:
        """The outcome, or `known` for a fail or an error that a known deviation explains."""
        return self.result.kind


class MissingCases(NamedTuple):
    """The cases of a suite for which another engine has results, and this one has none."""

    engine: str
    suite: str
    cases: tuple[str, ...]

    def __str__(self) -> str:
        names = _first(list(map(clean, self.cases)))
        where = clean(self.suite)
        cases = count_text(len(self.cases), "case")
        return f"{clean(self.engine)} has no result for {cases} of {where}: {names}"


class Results(NamedTuple):
    """The merged results of some files: one entry for each engine, suite and case; the keys that
    came more than once; and the gaps.
    """

    entries: list[Entry]
    duplicates: list[Key]
    gaps: list[MissingCases]

    @property
    def warnings(self) -> Iterator[str]:
        """The lines about duplicates and gaps, for a terminal; the page names all of them."""
        if self.duplicates:
            names = _first([" ".join(map(clean, key)) for key in self.duplicates])
            yield f"given more than once, the last counts: {names}"
        yield from map(str, self.gaps)


def _first(names: list[str]) -> str:
    """Write the first few of some names, and how many more there are."""
    text = ", ".join(names[:NAMED])
    if len(names) > NAMED:
        text += f", … {len(names) - NAMED} more"
    return text


def read_results(paths: Iterable[Path]) -> Results:
    """Read files of results, and merge them. Raises InvalidResults, which names file and line."""
    return merge(entry for path in paths for entry in _entries(path))


def read_some_results(paths: Sequence[Path]) -> Results:
    """Read files of results, as `read_results` does. Raises InvalidResults, too, if they have no
    result at all.
    """
    merged = read_results(paths)
    if not merged.entries:
        raise InvalidResults(
            "no result is there; --results of a run writes a line for each",
            rule="results",
            place=", ".join(map(str, paths)),
        )
    return merged


def of(results: Iterable[Result]) -> Results:
    """Return results that are already in memory as the merged results of a file."""
    return merge(_entry(result, {}) for result in results)


def merge(entries: Iterable[Entry]) -> Results:
    """Merge entries: of those with the same key the last one counts."""
    by_key: dict[Key, Entry] = {}
    twice: set[Key] = set()
    for entry in entries:
        key = entry.result.key
        if key in by_key:
            twice.add(key)
        by_key[key] = entry
    return Results([by_key[key] for key in sorted(by_key)], sorted(twice), list(_gaps(by_key)))


def _gaps(keys: Iterable[Key]) -> Iterator[MissingCases]:
    """Yield the gaps, at most one for each engine and suite."""
    cases: dict[str, set[str]] = defaultdict(set)
    own: dict[tuple[str, str], set[str]] = defaultdict(set)
    for engine, suite, case in keys:
        cases[suite].add(case)
        own[engine, suite].add(case)
    for (engine, suite), there in sorted(own.items()):
        if len(there) < len(cases[suite]):
            yield MissingCases(engine, suite, tuple(sorted(cases[suite] - there)))


def by_engine(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Return the entries of each engine, sorted by its name."""
    of_engines: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        of_engines[entry.result.engine].append(entry)
    return dict(sorted(of_engines.items()))


def rule_verdicts(entries: Iterable[Entry]) -> list[RuleVerdict]:
    """Return the verdict on each rule for each engine, sorted by engine and rule."""
    return judge_rules(entry.case_result for entry in entries)


def examined_engines(entries: Iterable[Entry]) -> set[str]:
    """Return the engines of whose results some were examined. Those of recordings are not, and
    older files do not have it: nothing is known then of the rules that these engines do not break.
    """
    return {entry.result.engine for entry in entries if entry.result.caught_wrong_engine}


def _entries(path: Path) -> Iterator[Entry]:
    """Yield the entries of a file. Raises InvalidResults."""
    texts: dict[str, str] = {}
    try:
        if path.exists() and not path.is_file():
            raise OSError(0, "not a regular file")
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _entry(from_json(_parsed(line, f"{path}:{number}")), texts)
    except OSError as error:
        raise InvalidResults(
            f"cannot be read: {error.strerror or error}",
            rule="results",
            place=str(path),
        ) from None


def _parsed(line: bytes, place: str) -> dict[str, Any]:
    """Return the JSON object of a line that has passed the schema. Raises InvalidResults."""
    try:
        table: dict[str, Any] = json.loads(
            line.decode("utf-8-sig"),
            parse_constant=_refuse_constant,
            parse_float=_number,
        )
    except UnicodeDecodeError as error:
        raise InvalidResults(f"not UTF-8: {error.reason}", rule="results", place=place) from None
    except (ValueError, RecursionError) as error:
        raise InvalidResults(f"no JSON: {why(error)}", rule="results", place=place) from None
    if not schemas.accepts("result")(table):
        reason = _disagreement(table)
        raise InvalidResults(f"no result: {reason}", rule="results", place=place)
    return table


def _disagreement(table: dict[str, Any]) -> str:
    """Return why an object fails the schema: `evidence.cut: 1 is not of type 'boolean'`."""
    problem = next(schemas.validator("result").iter_errors(table))
    while problem.context:  # of several choices, the one that fits furthest
        problem = max(problem.context, key=lambda one: len(one.absolute_path))
    where = schemas.path_text(problem.absolute_path)
    if not where:
        return str(problem.message)
    return f"{where}: {problem.message}"


def _refuse_constant(word: str) -> float:
    """Raise ValueError for `NaN` and `Infinity`, which Python would read."""
    raise ValueError(f"{word} is no number of JSON")


def _number(word: str) -> float:
    """Return a number that is written with a point or an exponent, as an integer if it is one: to
    the schema 1.0 is an integer, so it must be one here.
    """
    number = float(word)
    if not isfinite(number):
        raise ValueError(f"{display(word)} is beyond every number here")
    if number.is_integer():
        return int(number)
    return number


def _entry(result: Result, texts: dict[str, str]) -> Entry:
    """Return the entry of a result. Equal texts of evidence are one object in `texts`."""
    evidence = result.evidence
    case_result = CaseResult.of(replace(result, evidence=None), evidence)
    if evidence is None:
        return Entry(case_result, None)
    text = json.dumps(evidence, sort_keys=True, separators=(",", ":"))
    return Entry(case_result, texts.setdefault(text, text))
