"""The cases of the suite `windows`: those cases of the corpus that show what is in a window, with
elements that have a number, a time and perhaps a key in place of triples, and contents in place of
rows.

A case is derived only where its body maps each element to rows of its own, so that the rows of each
expected report say in one way which elements are in the content. Nothing is computed by the
reference engine: the contents follow from what the case expects, which was derived by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, count
from typing import Any

from conformance.corpus.case_file import (
    BASE,
    Case,
    cases,
    element_table,
    question_of,
    relation,
    semantics_of,
    term,
)
from conformance.verdict.window_elements import (
    STREAM,
    VARIABLE,
    graph_text,
    query_table,
    term_of,
    window_table,
)
from refengine.core import r2r
from refengine.core.query import Query, Unit, Window, patterns_of
from refengine.core.question import Question
from refengine.core.values import Watermark
from refengine.core.window import key
from refengine.model.elements import Bag, Element, Stream, Triple
from refengine.model.errors import RefengineError
from refengine.model.terms import literal

SUITE = "windows"
SECTIONS = ("MOD", "WIN", "TICK", "REP", "ENG")  # whose rules are about windows
# of how reports are computed, of triples, and of several windows
OTHER_RULES = ("ENG-6", "ENG-7", "ENG-8", "MOD-4", "REP-9", "WIN-16", "REP-12")
IN_DOUBT = 12  # elements of a report that may or may not be in the content, at most
KEPT = ("rule", "name", "derivation", "link")
# for a first look
SMOKE = (
    "engine/eng-1-nothing-follows.toml",
    "model/mod-1-simultaneous-elements.toml",
    "model/mod-2-greatest-before.toml",
    "model/mod-5-punctuation.toml",
    "report/rep-1-several-in-a-gap.toml",
    "report/rep-3-empty-window.toml",
    "window/win-1-slide-greater-than-size.toml",
    "window/win-1-slide-less-than-size.toml",
    "window/win-2-right-open.toml",
    "window/win-23-one-element-joins-two.toml",
    "window/win-24-another-key-brings-time.toml",
    "window/win-3-negative-t0.toml",
)
KEPT_OF_REPORT = ("window", "windows", "evaluation", "trigger", "instant", "late", "takes_back")


class NotDerived(RefengineError):
    """The reason why a case of the corpus is none of windows alone."""

    def __init__(self, reason: str, place: str = "query") -> None:
        super().__init__(reason, rule="case", place=place)


@cache
def window_cases() -> tuple[Case, ...]:
    """Return the cases of the suite `windows`, in the order of those that they are derived from."""
    return tuple(derived for case in cases() if (derived := _derived_or_none(case)) is not None)


def _derived_or_none(case: Case) -> Case | None:
    """Return the case that is derived from one of the corpus; None if there is none."""
    try:
        return derive(case)
    except RefengineError:
        return None


def derive(case: Case) -> Case:
    """Return the case of the suite `windows` that is derived from one of the corpus, with the same
    id. Raises NotDerived, and what reading the case raises.
    """
    if case.rule.split("-")[0] not in SECTIONS or case.rule in OTHER_RULES:
        raise NotDerived("the rule is not about windows", "rule")
    blocks = [block for block in case.table.get("expect", ()) if "max_reports" not in block]
    if not blocks:
        raise NotDerived("it expects no reports", "expect")
    question = question_of(case)
    window = _only_window(question)
    elements = _Elements(question.query, window, next(iter(question.streams.values())))
    expected: list[dict[str, Any]] = []
    reasons: list[NotDerived] = []
    for block in blocks:
        try:
            expected.append(_block(block, question.query, elements))
        except NotDerived as reason:
            reasons.append(reason)
    if not expected:
        raise reasons[0]
    kept = {name: case.table[name] for name in KEPT if name in case.table}
    if case.path in SMOKE:
        kept["smoke"] = True
    return Case(
        case.path,
        {
            **kept,
            "query": query_table(window_table(window)),
            "streams": [elements.stream_table()],
            "expect": expected,
        },
        SUITE,
    )


def _only_window(question: Question) -> Window:
    """Return the window of a question that asks for no more than its elements. Raises
    NotDerived.
    """
    query = question.query
    window = query.windows[0]
    patterns = patterns_of(query.body)
    conditions = {
        "one window over the only stream": len(query.windows) == len(question.streams) == 1,
        "a window without a name": window.name is None,
        "a window that counts elements": window.unit is Unit.ELEMENTS,
        "no static data": not question.static,
        "a body that is one triple pattern": patterns is not None and len(patterns) == 1,
        "no operator, or Rstream": query.r2s is None or query.r2s.emits_whole_answers,
        "no instant of registration": query.registered is None,
    }
    for condition, holds in conditions.items():
        if not holds:
            raise NotDerived(f"the query must have {condition}")
    return window


@dataclass
class _Elements:
    """The elements of a case, and the rows that each of their triples gives. Those with triples
    have numbers, from 0 on.
    """

    query: Query
    window: Window
    stream: Stream

    def __post_init__(self) -> None:
        self.all: list[Element] = list(self.stream)
        self.rows: dict[Triple, Bag] = {
            triple: r2r.defined_answer(self.query.body, frozenset({triple})).rows
            for element in self.all
            for triple in element.graph
        }
        self.numbered = [element for element in self.all if element.graph]
        self.keys = [self._key(element) for element in self.numbered]

    @property
    def has_punctuation(self) -> bool:
        """Whether an element has no triples, as a punctuation has (MOD-5)."""
        return len(self.numbered) < len(self.all)

    def _key(self, element: Element) -> str:
        """Return the text of an element's key, empty if the window has none. Raises
        InvalidStream.
        """
        return key_text(key(self.window, element, f"element at {element.app}"))

    def stream_table(self) -> dict[str, Any]:
        """Return the table of the stream."""
        return {
            "name": STREAM,
            "ordered": self.stream.ordered,
            "elements": list(self._tables()),
        }

    def _tables(self) -> Iterator[dict[str, Any]]:
        """Yield the tables of the elements."""
        graphs = map(graph_text, count(), self.keys)
        for element in self.all:
            yield element_table(element, next(graphs) if element.graph else "")

    def content(self, rows: Bag) -> list[int]:
        """Return the numbers of the elements of the only content whose answer are some rows. Raises
        NotDerived if there is none, or more than one.
        """
        candidates = [n for n, _ in enumerate(self.numbered) if self._answer([n]) <= rows]
        certain = [n for n in candidates if self._has_row_of_its_own(n)]
        in_doubt = [n for n in candidates if n not in certain]
        if len(in_doubt) > IN_DOUBT:
            raise NotDerived(f"{len(in_doubt)} elements may be in a content", "reports")
        found = [
            sorted([*certain, *more])
            for size in range(len(in_doubt) + 1)
            for more in combinations(in_doubt, size)
            if self._answer([*certain, *more]) == rows
        ]
        if len(found) != 1:
            raise NotDerived(f"{len(found)} contents have the rows of a report", "reports")
        return found[0]

    def _answer(self, numbers: Sequence[int]) -> Bag:
        """Return the rows of a content: those of each triple in it, which is there once."""
        triples = {triple for number in numbers for triple in self.numbered[number].graph}
        rows: Bag = Counter()
        for triple in triples:
            rows.update(self.rows[triple])
        return rows

    def _has_row_of_its_own(self, number: int) -> bool:
        """Whether an element has a row that no other triple gives."""
        others = {t for n, one in enumerate(self.numbered) if n != number for t in one.graph}
        theirs = {row for triple in others for row in self.rows[triple]}
        own = self.numbered[number].graph - others
        return any(row not in theirs for triple in own for row in self.rows[triple])


def reads_punctuations(watermark: object) -> bool:
    """Whether a watermark is brought by elements without triples."""
    return isinstance(watermark, Watermark) and watermark.is_of_punctuations


def key_text(terms: Sequence[str]) -> str:
    """Return the terms of a key as a text: `a` for an IRI of the cases' own.

    >>> key_text(["<http://example.org/a>", '"b"'])
    'a "b"'
    """
    return " ".join(
        one.removeprefix(f"<{BASE}").removesuffix(">") if one.startswith(f"<{BASE}") else one
        for one in terms
    )


def _block(block: Mapping[str, Any], query: Query, elements: _Elements) -> dict[str, Any]:
    """Return a block of expectations with contents in place of rows. Raises NotDerived."""
    semantics = semantics_of(block["semantics"])
    if not semantics.r2s.emits_whole_answers:
        raise NotDerived(f"{semantics.r2s} does not report contents", "semantics")
    if elements.has_punctuation and not reads_punctuations(semantics.watermark):
        raise NotDerived("an element has no triples and is no punctuation", "streams")
    reports = [dict(_report(report, query, elements)) for report in block["reports"]]
    return {"semantics": block["semantics"], "reports": reports}


def _report(
    report: Mapping[str, Any], query: Query, elements: _Elements
) -> Iterator[tuple[str, Any]]:
    """Yield the keys of a report with a content in place of rows. Raises NotDerived."""
    for name in KEPT_OF_REPORT:
        if name in report:
            yield name, report[name]
    if "key" in report:
        text = key_text([term(part) for part in report["key"]])
        yield "key", [literal(text)]
    numbers = elements.content(relation(report["rows"], query).rows)
    yield "rows", [{VARIABLE: term_of(number)} for number in numbers]
