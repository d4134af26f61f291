"""The page of results: one HTML file that needs nothing else. It says which engines were judged,
how each did, and for each result why.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from markupsafe import Markup

from conformance.report import baseline, causes, matrix, mismatch, rule_verdicts, texts
from conformance.report.detail import detail
from conformance.report.matrix import KINDS, Rank, cut_name, link_to_list, rank
from conformance.report.rule_text import rules_in_html
from conformance.report.rule_verdicts import VerdictKind, Verdicts
from conformance.report.source import Entry, MissingCases, Results
from conformance.report.template import read_asset, template
from conformance.verdict.outcomes import Outcome
from conformance.verdict.results import Result

# from a result to the lines that a harness got for it
LinesOf = Callable[[Result], Sequence[str]]

# the most that a page has
DRAWN = 1_500  # results with details; equal ones count once
BYTES = 16_000_000  # of all details together
LISTED = 100_000  # results in the list
ENGINES = 150  # columns of the matrix
VERDICTS = 30_000  # verdicts on rules in the list
NAMED = 5  # engines in a sentence
NOTED = 200  # duplicates and gaps that are named, and cases of a gap


def page(
    results: Results, earlier: Sequence[Entry] | None = None, lines_of: LinesOf | None = None
) -> str:
    """Return the HTML of the page of results, with what has changed since those of an `earlier`
    run, if there is one. `lines_of` gives the lines that a harness got for a result, if they are
    known. The same results give the same page.
    """
    entries = results.entries
    names = sorted({entry.result.engine for entry in entries})
    verdicts = rule_verdicts.judge_examined_engines(entries)
    listed = ResultList(lines_of)
    listed.fill(sorted(entries, key=_order))
    listed.add_verdicts(verdicts)
    left_out = listed.left_out()
    if len(names) > ENGINES:
        left_out.append(f"the matrix has {ENGINES} of {len(names)} engines")
    outcomes = Counter(entry.result.outcome for entry in entries)
    script = read_asset("page.js")
    return template("page.html.j2").render(
        engines=list(matrix.engine_rows(entries, names[:ENGINES])),
        columns=[texts.clean(name, 40) for name in names[:ENGINES]],
        rule_totals=list(rule_verdicts.count_verdicts(verdicts, names[:ENGINES])),
        rule_kinds=list(VerdictKind),
        unexamined=_first_names(rule_verdicts.unexamined_engines(entries, verdicts)),
        sections=list(matrix.sections(entries, names[:ENGINES], verdicts)),
        diagnoses=list(causes.diagnoses(entries))[:ENGINES],
        total=len(entries),
        outcomes=[(str(outcome), outcomes[outcome]) for outcome in Outcome],
        deviations=_deviations(entries),
        causes=_causes(entries),
        unexplained=sum(entry.kind in ("fail", "error") for entry in entries),
        names=[cut_name("engine", name) for name in names],
        duplicates=[" · ".join(map(texts.clean, key)) for key in results.duplicates[:NOTED]],
        duplicates_total=len(results.duplicates),
        gaps=[_gap(gap) for gap in results.gaps[:NOTED]],
        gaps_total=len(results.gaps),
        left_out=left_out,
        mismatches=mismatch.tables(entries),
        changes=_changes(earlier, entries),
        missing_engines=_missing_engines(earlier or (), entries),
        data=_inert({**listed.data, "rules": rules_in_html(_rules_of_interest(entries))}),
        style=Markup(read_asset("page.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _inert(data: Any) -> Markup:
    """Return data as JSON for a script element. It is escaped so that no text in it can end the
    element, or begin a comment or a script.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _gap(gap: MissingCases) -> tuple[str, str, int, list[str]]:
    """Return the engine, the suite, the number of missing cases and the first of them."""
    cases = [texts.clean(case) for case in gap.cases[:NOTED]]
    return texts.clean(gap.engine), texts.clean(gap.suite), len(gap.cases), cases


def _rules_of_interest(entries: Iterable[Entry]) -> set[str]:
    """Return the rules with a result that is no pass."""
    return {entry.result.rule for entry in entries if entry.result.outcome is not Outcome.PASS}


def _first_names(engines: Sequence[str]) -> str:
    """Write the first of some engines, and how many more there are."""
    text = ", ".join(texts.clean(name, 60) for name in engines[:NAMED])
    if len(engines) > NAMED:
        text += f" and {len(engines) - NAMED} more"
    return text


def _deviations(entries: Iterable[Entry]) -> list[tuple[str, int]]:
    """Return the known deviations with the number of results that each explains, the most frequent
    first.
    """
    return _most_frequent(
        texts.clean(reason, 300)
        for entry in entries
        for reason in {known.reason for known in entry.result.known}
    )


def _causes(entries: Iterable[Entry]) -> list[tuple[str, int]]:
    """Return the causes that diagnoses have found, with the number of results that each explains,
    the most frequent first.
    """
    return _most_frequent(
        reason
        for entry in entries
        for reason in {causes.name_of(cause) for cause in entry.result.causes}
    )


def _most_frequent(reasons: Iterable[str]) -> list[tuple[str, int]]:
    """Return reasons with how often each occurs, the most frequent first."""
    counts = Counter(reasons)
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:NOTED]


class Change(NamedTuple):
    """The results that have changed in one way: the first of them, each with its engine, its case,
    its kinds and its link, and how many there are.
    """

    word: str
    results: list[tuple[str, str, str, str]]
    total: int


def _changes(earlier: Sequence[Entry] | None, entries: Sequence[Entry]) -> list[Change] | None:
    """Return what has changed since an earlier run; None if there is none."""
    if earlier is None:
        return None
    return [
        Change(word, [_changed_result(one) for one in changed[:NOTED]], len(changed))
        for word, changed in baseline.find_changes(earlier, entries).items()
    ]


def _changed_result(one: baseline.ResultChange) -> tuple[str, str, str, str]:
    """Return the engine, the case, the kinds and the link of a result that has changed."""
    link = link_to_list({"suite": one.suite, "case": one.case, "engine": one.engine})
    return texts.clean(one.engine), texts.clean(one.case, 240), one.kinds, link


def _missing_engines(earlier: Iterable[Entry], entries: Iterable[Entry]) -> list[str]:
    """Return the lines about engines of which an earlier run has nothing."""
    return [texts.clean(line, 400) for line in baseline.missing_engines(earlier, entries)][:NOTED]


# The list

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

    def fill(self, ordered: Sequence[Entry]) -> None:
        """Add results in their order, as many as there is room for."""
        self.total += len(ordered)
        for entry in ordered[:LISTED]:
            self._add(entry)

    def add_verdicts(self, verdicts: Verdicts) -> None:
        """Add verdicts on rules, in the order of SPEC.md: each with its engine, its rule, its kind
        and the reason.
        """
        self.data["kinds"] += VerdictKind
        ordered = sorted(verdicts.items(), key=lambda pair: (rank(pair[0][1]), pair[0]))
        for (engine, rule), verdict in ordered[:VERDICTS]:
            self.data["verdicts"].append(
                [
                    self._place("engines", cut_name("engine", engine), engine),
                    cut_name("rule", rule),
                    list(VerdictKind).index(rule_verdicts.kind_of(verdict)),
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
            lines.append(
                f"{self.without_details:,} results of the list have only the first line of their "
                f"argument and no drawing; {len(self.details):,} have all details"
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
