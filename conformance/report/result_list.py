"""The list of results, as the page's script reads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.report import causes, rule_verdicts, texts
from conformance.report.detail import detail
from conformance.report.matrix import KINDS, Rank, cut_name, rank
from conformance.report.rule_verdicts import Verdicts
from conformance.report.source import Entry
from conformance.verdict.outcomes import Outcome
from conformance.verdict.results import Result
from conformance.verdict.rules import RuleStatus

# from a result to the lines that a harness got for it
LinesOf = Callable[[Result], Sequence[str]]

# the most that the list has
DRAWN = 1_500  # results with details; equal ones count once
BYTES = 16_000_000  # of all details together
LISTED = 100_000  # results
VERDICTS = 30_000  # verdicts on rules

# the lists of values to which the numbers in `rows` and `verdicts` refer, and these two
LISTS = (
    "engines",
    "suites",
    "cases",
    "known",
    "causes",
    "texts",
    "details",
    "rows",
    "kinds",
    "verdicts",
)


def _order(entry: Entry) -> tuple[int, Rank, str, str, str]:
    """Return the sort key of a result in the list: the worst kind comes first, then by rule, suite,
    case and engine.
    """
    result = entry.result
    return KINDS.index(entry.kind), rank(result.rule), result.suite, result.case, result.engine


@dataclass
class ResultList:
    """The list of results, as the page's script reads it. A text that occurs again is in it once.

    `lines_of` gives the lines that a harness got for a result.

    Results that differ in their names alone share their details. `size` is the length of all
    details, and `without_details` counts the results for whose details there was no room.
    """

    lines_of: LinesOf | None = None
    data: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in LISTS})
    places: dict[tuple[str, Any], int] = field(default_factory=dict)
    details: dict[tuple[object, ...], int] = field(default_factory=dict)
    size: int = 0
    total: int = 0
    without_details: int = 0

    def fill(self, entries: Sequence[Entry]) -> None:
        """Add results in the order of the list, as many as there is room for."""
        self.total += len(entries)
        for entry in sorted(entries, key=_order)[:LISTED]:
            self._add(entry)

    def add_verdicts(self, verdicts: Verdicts) -> None:
        """Add verdicts on rules, in the order of SPEC.md: each with its engine, its rule, its
        status and the reason.
        """
        self.data["kinds"] += RuleStatus
        ordered = sorted(verdicts.items(), key=lambda pair: (rank(pair[0][1]), pair[0]))
        for (engine, rule), verdict in ordered[:VERDICTS]:
            self.data["verdicts"].append(
                [
                    self._place("engines", cut_name("engine", engine), engine),
                    cut_name("rule", rule),
                    list(RuleStatus).index(verdict.status),
                    self._place("texts", rule_verdicts.reason_of(verdict)),
                ]
            )

    def left_out(self) -> list[str]:
        """Return a line for each thing for which there was no room."""
        lines = []
        if self.total > LISTED:
            lines.append(
                f"the list has the first {LISTED:,} of {self.total:,} results, the worst first"
            )
        if self.without_details:
            with_details = len(self.data["rows"]) - self.without_details
            lines.append(
                f"{self.without_details:,} results of the list have only the first line of their "
                f"argument and no drawing; {with_details:,} have all details"
            )
        return lines

    def _add(self, entry: Entry) -> None:
        """Add the row of a result. It has indices into the lists of engines, cases, outcomes, known
        deviations, first lines, details (-1 if there was no room for details) and causes.
        """
        result = entry.result
        details = self._details(entry)
        case = self._case(result)
        self.data["rows"].append(
            [
                self._place("engines", cut_name("engine", result.engine), result.engine),
                case,
                list(Outcome).index(result.outcome),
                [
                    self._place("known", texts.clean(reason, 300), (reason, link))
                    for reason, link, *_ in result.known[:8]
                ],
                self._place("texts", texts.most_telling_line(result.argument)),
                details,
                [self._place("causes", causes.name_of(cause)) for cause in result.causes[:8]],
            ]
        )

    def _details(self, entry: Entry) -> int:
        """Return the index of a result's details, after adding them if they are new; -1 if there is
        no room.
        """
        result = entry.result
        # two engines may be asked the same question by different lines
        engine = result.engine if self._has_lines(entry) else ""
        key = (entry.text, result.argument, result.explanations, result.outcome, engine)
        if key not in self.details:
            if len(self.details) >= DRAWN or self.size >= BYTES:
                self.without_details += 1
                return -1
            html = detail(entry, self._lines(entry))
            self.size += len(html)
            self.details[key] = self._place("details", html)
        return self.details[key]

    def _has_lines(self, entry: Entry) -> bool:
        """Whether the details of a result have the lines that a harness got: those that the engine
        answered, and not rightly.
        """
        is_wrong = entry.result.outcome not in (Outcome.PASS, Outcome.UNSUPPORTED)
        return self.lines_of is not None and is_wrong

    def _lines(self, entry: Entry) -> Sequence[str]:
        """Return the lines that a harness got for a result, as far as they are known and shown."""
        if self.lines_of is None or not self._has_lines(entry):
            return ()
        return self.lines_of(replace(entry.result, evidence=entry.evidence))

    def _case(self, result: Result) -> int:
        suite = self._place("suites", cut_name("suite", result.suite))
        case = suite, cut_name("rule", result.rule), cut_name("case", result.case)
        return self._place("cases", case, (result.suite, result.rule, result.case))

    def _place(self, kind: str, value: Any, key: Any = None) -> int:
        """Return the index of a value in its list, after adding it if it is new. Values with the
        same `key`, by default the value itself, are the same.
        """
        if key is None:
            key = value
        if (kind, key) not in self.places:
            self.places[kind, key] = len(self.data[kind])
            self.data[kind].append(value)
        return self.places[kind, key]
