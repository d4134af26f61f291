"""What fails have in common, from their evidence alone.

A catalogue of causes cannot have every defect. But fails of one cause look alike: they lack a row
that rests on the last instant of a window, or their queries have OPTIONAL. A *trait* is such a
property of a fail. It is worth a line if many fails show it and chance would let few of them show
it:

- For a trait of the question, chance is the share of all judged cases, passes included, whose
  question has it: if 12 of 400 judged cases have OPTIONAL, then 3 % of unrelated fails have it.
- For a trait of an element on which a row rests, chance is the share of such elements in the
  windows of all judged cases: if one of 20 elements in a window is at its last instant, then a row
  that is lacking for another reason rests on it with the chance 5 %.

Each trait is a short text that completes "26 of 28 …".
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from conformance.verdict.place_traits import PLACE_TRAITS, list_place_traits, read_fail
from conformance.verdict.results import Outcome, Result

FEW_FAILS = 3  # fewer fails may share much by chance
RARE = 0.03  # the share of the judged cases that have a trait which few fails share
LEAST_SHARE = 0.4  # a trait is named if at least this share of the fails shows it,
LEAST_GAIN = 0.3  # and if chance explains less, by this share of the fails
NEARLY = 0.9  # of the gain of the most telling trait
MOST_TRAITS = 3  # that are named for one engine


@dataclass(frozen=True)
class CommonTrait:
    """A trait that many of `total` fails show, those of `cases`. `text` completes "26 of 28 …":
    `lack a row that rests on the last instant of its window`. So many fails as `by_chance` were
    expected to show it; None if that is not known.
    """

    text: str
    cases: tuple[str, ...]
    total: int
    by_chance: float | None

    @property
    def share(self) -> str:
        """How many of the fails show the trait, in words: `26 of 28`."""
        return f"{len(self.cases)} of {self.total}"

    @property
    def words(self) -> str:
        """The trait, and how many fails would show it by chance, if that is known."""
        if self.by_chance is None:
            return self.text
        chance = f"{self.by_chance:.0f}" if self.by_chance >= 1 else "less than 1"
        return f"{self.text} ({chance} by chance)"

    @property
    def gain(self) -> float:
        """How many more fails show the trait than would by chance."""
        return len(self.cases) - (self.by_chance or 0)


def find_common_traits(fails: Sequence[Result], judged: Sequence[Result]) -> list[CommonTrait]:
    """Return what fails have in common, the most telling trait first; at most `MOST_TRAITS`.

    `judged` are all results of the engine: passes, and fails of any cause. After a trait is found,
    the search goes on with the fails that do not show it. Only if there is none, a rule is looked
    for whose cases they are; and only if there is none either, a general trait.
    """
    every = {result.case: _Shown.by(result) for result in fails if result.evidence is not None}
    chances = _find_chances(judged)
    found: list[CommonTrait] = []
    left = every
    while left and len(found) < MOST_TRAITS:
        best = _find_most_telling(_list_traits(left, chances, are_general=False), len(left))
        if best is None:
            break
        found.append(best)
        left = {case: shown for case, shown in left.items() if case not in best.cases}
    if not found:
        rest = [
            _find_most_telling(_list_rules(fails, judged), len(fails)),
            _find_most_telling(_list_traits(every, chances, are_general=True), len(every)),
        ]
        return [trait for trait in rest if trait is not None][:1]
    return found


def _list_rules(fails: Sequence[Result], judged: Sequence[Result]) -> Iterator[CommonTrait]:
    """Yield that fails are of cases of a rule, for each of their rules."""
    is_judged = [one for one in judged if one.outcome in (Outcome.PASS, Outcome.FAIL)]
    for rule in sorted({one.rule for one in fails if one.rule}):
        cases = tuple(one.case for one in fails if one.rule == rule)
        share = sum(one.rule == rule for one in is_judged) / len(is_judged)
        yield CommonTrait(f"are cases of {rule}", cases, len(fails), len(fails) * share)


@dataclass(frozen=True)
class _Shown:
    """The traits that a fail shows: those of its question, and those of its place. The latter are
    unknown, and so left out, if its evidence was cut or has no reports that are due.
    """

    of_question: frozenset[str]
    of_place: frozenset[str]

    @staticmethod
    def by(fail: Result) -> _Shown:
        """Return the traits that a fail shows, from its evidence."""
        assert fail.evidence is not None
        reading = read_fail(fail.evidence)
        of_place = [] if reading is None else list_place_traits(reading)
        return _Shown(list_question_traits(fail.evidence), frozenset(of_place))


def _find_chances(judged: Iterable[Result]) -> Mapping[str, float]:
    """Return the chance that an unrelated fail shows a trait, by the text of the trait. Traits are
    left out if results do not say it.
    """
    evidence = [
        result.evidence
        for result in judged
        if result.outcome in (Outcome.PASS, Outcome.FAIL) and result.evidence is not None
    ]
    counts = Counter(text for one in evidence for text in list_question_traits(one))
    chances = {text: count / len(evidence) for text, count in counts.items()}
    readings = [reading for one in evidence if (reading := read_fail(one)) is not None]
    for text, trait in PLACE_TRAITS.items():
        shares = [share for one in readings if (share := trait.share_in(one)) is not None]
        if shares:
            chances[text] = sum(shares) / len(shares)
    return chances


def _list_traits(
    fails: Mapping[str, _Shown], chances: Mapping[str, float], *, are_general: bool
) -> Iterator[CommonTrait]:
    """Yield the traits that fails show: the general ones, or the others."""
    cases: dict[str, list[str]] = {text: [] for text in PLACE_TRAITS}
    for case, shown in fails.items():
        for text in sorted(shown.of_place | shown.of_question):
            cases.setdefault(text, []).append(case)
    for text, showing in cases.items():
        is_general = text in PLACE_TRAITS and PLACE_TRAITS[text].is_general
        if showing and is_general == are_general:
            chance = chances.get(text)
            by_chance = None if chance is None else len(fails) * chance
            yield CommonTrait(text, tuple(showing), len(fails), by_chance)


def _find_most_telling(traits: Iterable[CommonTrait], total: int) -> CommonTrait | None:
    """Return the trait with the greatest excess over chance; of traits that are nearly as telling
    the first. None if no trait is common enough.
    """
    common = [trait for trait in traits if _is_common(trait, total)]
    most = max((trait.gain for trait in common), default=0.0)
    return next((trait for trait in common if trait.gain >= NEARLY * most), None)


def _is_common(trait: CommonTrait, total: int) -> bool:
    """Whether enough of all fails show a trait. Of few fails all must show it, and it must be
    rare.
    """
    if total < FEW_FAILS:
        is_rare = trait.by_chance is not None and trait.by_chance <= RARE * total
        return len(trait.cases) == total and is_rare
    is_frequent = len(trait.cases) >= max(FEW_FAILS, LEAST_SHARE * total)
    return is_frequent and trait.gain >= LEAST_GAIN * total


# texts, names and comments of a query, in which no keyword is looked for
NO_KEYWORD = re.compile(r'"(?:[^"\\]|\\.)*"|<[^<>\s]*>|[?$]\w+|#.*')
KEYWORDS = (
    *("OPTIONAL", "UNION", "MINUS", "FILTER", "EXISTS", "BIND", "VALUES", "DISTINCT", "REDUCED"),
    *("GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "GRAPH", "COUNT", "SUM", "AVG", "MIN", "MAX"),
    *("SAMPLE", "GROUP_CONCAT", "CONSTRUCT", "ASK"),
)
FUNCTION = re.compile(r"\b([A-Z][A-Z0-9_]+)\s*\(")
PATH = re.compile(r"[\w:)]\s*[/|]\s*\^?[\w:(]|[\w:)][*+](?=[\s)])|\^[\w:(]")
DATATYPE = re.compile(r'"\^\^<[^<>]*[#/](\w+)>')
LANGUAGE = re.compile(r'"@[A-Za-z]')
LARGE = 2**31  # from here on a time does not fit into 32 bits
DEPENDENT = ("t0", "base")  # fields that depend on the streams, and on `r2s`
MANY_TRIPLES = 2  # triples of one element


def list_question_traits(evidence: Mapping[str, Any]) -> frozenset[str]:
    """Return the traits of a question, from the evidence of its result."""
    windows: Sequence[Mapping[str, Any]] = evidence["windows"]
    elements: Sequence[Mapping[str, Any]] = evidence["elements"]
    return frozenset(
        [
            *_traits_of_text(_body_of(evidence["query"])),
            *_traits_of_windows(windows),
            *_traits_of_stream(elements, windows),
            *_traits_of_terms([element["graph"] for element in elements]),
            *(["have static data"] if "static" in evidence else []),
            *_traits_of_semantics(evidence.get("semantics", {})),
        ]
    )


def _body_of(text: str) -> str:
    """Return the body of a query that is written as a table, and any other text as it is."""
    try:
        table = json.loads(text)
    except ValueError:
        return text
    return str(table.get("body", text)) if isinstance(table, dict) else text


def _traits_of_text(text: str) -> Iterator[str]:
    """Yield the constructs of SPARQL in a query."""
    plain = NO_KEYWORD.sub(" ", text)
    words = set(re.findall(r"[A-Z_]+", plain.upper()))
    for keyword in KEYWORDS:
        if keyword in words:
            yield f"have {keyword} in the query"
    for name in sorted(set(FUNCTION.findall(plain.upper())) - set(KEYWORDS) - {"WHERE", "SELECT"}):
        yield f"have {name} in the query"
    if PATH.search(_without_names(text)):
        yield "have a property path in the query"
    if len(re.findall(r"\bSELECT\b", plain, re.IGNORECASE)) > 1:
        yield "have a subquery"
    where = plain[plain.find("{") :]
    if len(re.findall(r"\s\.\s|;", where)) > 0:
        yield "join several triple patterns"


def _without_names(text: str) -> str:
    """Return a query with `$` for each variable and `:i` for each IRI."""
    return re.sub(r"[?$]\w+", "$", re.sub(r"<[^<>\s]*>", ":i", re.sub(r'"[^"]*"', '""', text)))


def _traits_of_windows(windows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the shape of the windows."""
    if len(windows) > 1:
        yield "have several windows"
    if any("name" in window for window in windows):
        yield "have a window with a name"
    for window in windows:
        size, slide = window.get("size"), window.get("slide")
        if window["kind"] != "time":
            yield f"have a window of the kind {window['kind']}"
        elif isinstance(size, int) and isinstance(slide, int):
            yield from _traits_of_extent(size, slide)


def _traits_of_extent(size: int, slide: int) -> Iterator[str]:
    """Yield what the size and the slide of a window over time have."""
    if slide < size:
        yield "have windows that overlap"
    if slide > size:
        yield "have gaps between windows"
    if 0 < slide < size and size % slide:
        yield "have a size that is no multiple of the slide"
    if slide == 1:
        yield "have the slide 1"


def _traits_of_stream(
    elements: Sequence[Mapping[str, Any]], windows: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Return the shape of the streams."""
    times = [element["at"] for element in elements]
    sizes = [window["size"] for window in windows if isinstance(window.get("size"), int)]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    instants = Counter((element["stream"], element["at"]) for element in elements)
    graphs = Counter((element["stream"], element["graph"]) for element in elements)
    triples = [_count_triples(element["graph"]) for element in elements]
    shown = {
        "have two elements at one instant": any(count > 1 for count in instants.values()),
        "have triples that come again": any(count > 1 for count in graphs.values()),
        "have a gap longer than the window": bool(sizes)
        and max(gaps, default=0) > max(sizes, default=0),
        "have a late element": len(windows) == 1 and min(gaps, default=0) < 0,
        "have a time before 0": min(times, default=0) < 0,
        "have a time beyond 32 bits": max(times, default=0) >= LARGE,
        "have an element of several triples": max(triples, default=0) >= MANY_TRIPLES,
        "have an element without triples": 0 in triples,
        "have an element with an interval": any("end" in element for element in elements),
        "have batches": any("batch" in element for element in elements),
    }
    return (text for text, is_shown in shown.items() if is_shown)


def _count_triples(graph: str) -> int:
    """Return the number of triples of an element."""
    return len(graph.strip().splitlines())


def _traits_of_terms(graphs: Sequence[str]) -> Iterator[str]:
    """Yield the kinds of terms in the streams."""
    text = "\n".join(graphs)
    for datatype in sorted(set(DATATYPE.findall(text))):
        yield f"have a literal of the type {datatype}"
    if LANGUAGE.search(text):
        yield "have a literal with a language"
    if "_:" in text:
        yield "have a blank node in the stream"
    if "\\" in text:
        yield "have a character in the stream that is written with an escape"


def _traits_of_semantics(semantics: Mapping[str, Any]) -> Iterator[str]:
    """Yield the values of the fields under which a question was judged. They tell cases apart where
    a query states the operator of R2S, and where an engine is sent its semantics.
    """
    for name in sorted(semantics, key=lambda name: name != "r2s"):
        if name not in DEPENDENT:
            yield f"are judged under {name}={semantics[name]}"
