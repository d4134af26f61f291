"""The time line of a result. From above: the elements at their instants, the windows of the reports
that are due, and the reports that the engine gave.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from refengine.drawings import pairs as pairing
from refengine.drawings.drawing import WIDTH, Axis, Drawing, lanes
from refengine.drawings.labels import Shorten, clean, term_shortener
from refengine.drawings.pairs import Pair, Report
from refengine.model.messages import count_text

REPORTS, ELEMENTS, STREAMS = 32, 300, 8  # drawn at most
LEFT, RIGHT = 132, WIDTH - 30
LANE, BAR = 22, 17
SLOT = 64  # width of a report that says neither window nor instant
STACKED = 4  # simultaneous elements that are drawn one above the other
CHARACTER = 5.6  # width of a character of an element's name, at most
SIDES = {"due": "expected", "given": "reported"}  # what the lanes of reports are called

Elements = Sequence[Mapping[str, Any]]


class Mark(NamedTuple):
    """A report on the time line, drawn from x1 to x2, or as a point if they are equal. `sure` is
    False for a report that says neither its window nor its instant.
    """

    pair: Pair
    report: Report
    x1: float
    x2: float
    sure: bool = True


@dataclass(frozen=True)
class Instants:
    """The instants in the stream's time that are drawn: those of elements, of window borders, and
    the stamps of the reports that are due.
    """

    elements: list[int]
    borders: list[int]
    stamps: list[int]

    @property
    def every(self) -> list[int]:
        """All instants."""
        return [*self.elements, *self.borders, *self.stamps]

    def is_near(self, instant: int) -> bool:
        """Whether an instant may be one of the stream's time. An engine may stamp its reports by a
        clock of its own instead; such instants are usually far away.
        """
        if not self.every:
            return False
        low = min(self.every)
        high = max(self.every)
        span = high - low
        return low - span <= instant <= high + span


def timeline(
    evidence: Mapping[str, Any],
    pairs: Sequence[Pair],
    first: int | None,
    sides: Mapping[str, str] = SIDES,
) -> Drawing:
    """Return the time line of a result: the elements of its evidence, and the reports of `pairs`.
    The pair with the number `first` is marked as the first divergence. `sides` names the lanes of
    the reports that are `due` and of those that are `given`.
    """
    drawn = pairing.around_first(pairs, first, REPORTS)
    streams = _streams(evidence, _near_windows(drawn, len(drawn) < len(pairs)))
    instants = _instants(streams, drawn)
    stamps = _stamps(drawn, instants)
    axis = Axis([*instants.every, *stamps], LEFT, RIGHT)

    bounds = bounds_of(evidence)
    diverging = next((pair for pair in drawn if pair.number == first), None)
    drawing = Drawing(_label(evidence, axis.instants, diverging, bounds))
    y = _ruler(drawing, axis, instants.borders or [*instants.stamps, *stamps], instants.elements)
    for name, elements in streams.items():
        y = _stream(drawing, axis, name, elements, evidence, y)
    y = _note_of_missing(drawing, axis, evidence, streams, y)

    due, actual = _marks(drawn, axis, instants)
    for side, marks in (("due", due), ("given", actual)):
        if side == "given" or "expected" in evidence:
            drawing.write("lane", 4, y + 21, sides[side])
            y = _reports(drawing, side, marks, first, bounds, y + 8)
    if diverging is not None and diverging.actual is None:
        y = _absent_report(drawing, next(mark for mark in due if mark.pair is diverging), y)
    drawing.height = y + 4

    _grid(drawing, axis, instants.borders, diverging)
    return drawing


def bounds_of(evidence: Mapping[str, Any]) -> str:
    """Return the brackets of the windows of a result: `[)`."""
    closure = evidence.get("semantics", {}).get("closure")
    if closure in ("[)", "(]", "[]", "()"):
        return str(closure)
    return "[)"


def place_of(report: Report, bounds: str) -> str:
    """Return the window of a report: `[0, 10)`; nothing if it names none."""
    if not report.get("window"):
        return ""
    opens, closes = report["window"]
    return f"{bounds[0]}{opens}, {closes}{bounds[1]}"


def _label(
    evidence: Mapping[str, Any],
    instants: Sequence[float],
    diverging: Pair | None,
    bounds: str,
) -> str:
    """Return in words what a time line shows: its length, how much it has of what, and the first
    difference.
    """
    counts = [count_text(len(evidence["elements"]), "element")]
    if "expected" in evidence:
        counts.append(count_text(len(evidence["expected"]), "expected report"))
    counts.append(f"{count_text(len(evidence['actual']), 'report')} of the engine")
    label = f"Time line from {instants[0]} to {instants[-1]}: {', '.join(counts)}."
    if diverging is not None:
        due = _report_text(diverging.due, bounds)
        actual = _report_text(diverging.actual, bounds)
        number = diverging.number + 1
        label += f" The first difference is report {number}: expected {due}, reported {actual}."
    return label


def _report_text(report: Report | None, bounds: str) -> str:
    """Return the window of a report and its number of rows: `[0, 10) with 2 rows`."""
    if report is None:
        return "nothing"
    rows = count_text(report["total"], "row")
    if place := place_of(report, bounds):
        return f"{place} with {rows}"
    return rows


# What is drawn, and where


def _near_windows(drawn: Sequence[Pair], is_cut: bool) -> tuple[float, float]:
    """Return the first and the last instant from which elements are drawn. If some reports are left
    out (`is_cut`), these are the outer borders of the windows that are drawn.
    """
    windows = list(pairing.windows(drawn))
    if not is_cut or not windows:
        return float("-inf"), float("inf")
    return min(opens for opens, _ in windows), max(closes for _, closes in windows)


def _streams(
    evidence: Mapping[str, Any], bounds: tuple[float, float]
) -> dict[str, list[Mapping[str, Any]]]:
    """Return the elements within the bounds by stream, at most `ELEMENTS` of `STREAMS` streams."""
    low, high = bounds
    streams: dict[str, list[Mapping[str, Any]]] = {
        window["stream"]: [] for window in evidence["windows"][:STREAMS]
    }
    near = [element for element in evidence["elements"] if low <= element["at"] <= high]
    for element in near[:ELEMENTS]:
        if element["stream"] in streams or len(streams) < STREAMS:
            streams.setdefault(element["stream"], []).append(element)
    return streams


def _instants(streams: Mapping[str, Elements], drawn: Sequence[Pair]) -> Instants:
    """Return the instants of the elements, windows and due reports that are drawn."""
    times = [
        time
        for elements in streams.values()
        for element in elements
        for time in (element["at"], element.get("end", element["at"]))
    ]
    borders = [border for window in pairing.windows(drawn) for border in window]
    stamps = [
        pair.due["instant"] for pair in drawn if pair.due is not None and "instant" in pair.due
    ]
    return Instants(times, borders, stamps)


def _stamps(drawn: Sequence[Pair], instants: Instants) -> list[int]:
    """Return the stamps of the engine's reports that are in the stream's time."""
    stamps = (_stamp(pair.actual, instants) for pair in drawn)
    return [stamp for stamp in stamps if stamp is not None]


def _stamp(report: Report | None, instants: Instants) -> int | None:
    """Return a report's instant if it is in the stream's time, else None."""
    if report is None or "instant" not in report:
        return None
    stamp: int = report["instant"]
    if instants.is_near(stamp):
        return stamp
    return None


def _marks(drawn: Sequence[Pair], axis: Axis, instants: Instants) -> tuple[list[Mark], list[Mark]]:
    """Return the reports that are due, and those of the engine, each in its place."""
    due = [_mark(pair, pair.due, axis, instants, None) for pair in drawn if pair.due is not None]
    due_by_number = {mark.pair.number: mark for mark in due}
    actual = []
    for pair in drawn:
        if pair.actual is not None:
            beside = due_by_number.get(pair.number)
            actual.append(_mark(pair, pair.actual, axis, instants, beside))
    return _slots(due), _slots(actual)


def _mark(pair: Pair, report: Report, axis: Axis, instants: Instants, due: Mark | None) -> Mark:
    """Return a report in its place: the place of its window, else of its stamp, else of `due`, the
    report that is due at its number. If it has none of them x1 is negative.
    """
    if "window" in report:
        opens, closes = report["window"]
        return Mark(pair, report, axis(opens), axis(closes))
    stamp = _stamp(report, instants)
    if stamp is not None:
        return Mark(pair, report, axis(stamp), axis(stamp))
    if due is not None:
        return Mark(pair, report, due.x1, due.x2, sure=False)
    return Mark(pair, report, -1.0, -1.0, sure=False)


def _slots(marks: Sequence[Mark]) -> list[Mark]:
    """Return the reports with a place each: those without one are put side by side, in arrival
    order.
    """
    without_place = sum(mark.x1 < 0 for mark in marks)
    width = min(SLOT, (RIGHT - LEFT) / max(1, without_place))
    start = float(LEFT)
    in_slots: list[Mark] = []
    for mark in marks:
        if mark.x1 < 0:
            mark = mark._replace(x1=start, x2=start + width - 4)
            start += width
        in_slots.append(mark)
    return in_slots


# Drawing


def _ruler(drawing: Drawing, axis: Axis, borders: Sequence[int], times: Sequence[int]) -> float:
    """Draw the axis of time with its labels; return the y below it."""
    drawing.write("lane", 4, 15, "time")
    drawing.line("axis", LEFT, 24, RIGHT, 24)
    for instant, x in axis.ticks(borders, times, axis.instants):
        drawing.write("tick", x, 15, str(instant), "middle")
        drawing.line("axis", x, 20, x, 24)
    for x in axis.breaks:
        drawing.add(
            "text",
            "break",
            "⋯",
            "an empty time, drawn shorter",
            x=x,
            y=28,
            text_anchor="middle",
        )
    return 30


def _stream(
    drawing: Drawing,
    axis: Axis,
    name: str,
    elements: Elements,
    evidence: Mapping[str, Any],
    y: float,
) -> float:
    """Draw the elements of a stream: points, simultaneous ones above each other, and intervals as
    bars. Those on which the row rests that differs have a ring. Return the y below them.
    """
    shorten = term_shortener(evidence["query"])
    origin = [evidence["elements"][place] for place in pairing.origin_places(evidence)]
    together = Counter(element["at"] for element in elements)
    most = min(STACKED, max(together.values(), default=1))
    base = y + 8 * most + 6
    drawing.write("lane", 4, base + 4, clean(name, 18))
    drawing.line("lane-line", LEFT, base, RIGHT, base)
    _names_of_elements(drawing, axis, elements, shorten, base + 13)
    level: dict[int, int] = defaultdict(int)
    for element in elements:
        at = element["at"]
        height = base - 8 * min(level[at], STACKED - 1)
        level[at] += 1
        graph = shorten(element["graph"].strip())
        if "end" in element:
            title = f"{at} to {element['end']}: {graph}"
            drawing.bar("interval", axis(at), axis(element["end"]), height - 2, 4, title)
        else:
            title = f"{at}: {graph}"
        if any(element is one for one in origin):
            drawing.add("circle", "origin", "", title, cx=axis(at), cy=height, r=6.5)
        drawing.add("circle", "element", "", title, cx=axis(at), cy=height, r=3.6)
    for at, count in together.items():
        if count > STACKED:
            drawing.write("tick", axis(at) + 6, base - 24, f"×{count}")
    return base + 18


def _names_of_elements(
    drawing: Drawing,
    axis: Axis,
    elements: Elements,
    shorten: Shorten,
    y: float,
) -> None:
    """Write below each instant the triples of its elements: all of them if there is room as far as
    half the way to the next instant, else their subjects, else nothing.
    """
    texts: dict[int, list[str]] = defaultdict(list)
    for element in elements:
        triples = element["graph"].strip().splitlines()
        texts[element["at"]] += [_triple_text(triple, shorten) for triple in triples]
    instants = sorted(texts)
    places = [float(-RIGHT), *map(axis, instants), 2.0 * RIGHT]
    for number, at in enumerate(instants):
        before, x, after = places[number : number + 3]
        edges = 2 * min(x - LEFT + 20, WIDTH - x)
        name = _name_within(min(x - before, after - x, edges), texts[at])
        if name:
            drawing.write("element-name", x, y, name, "middle")


def _name_within(room: float, triples: Sequence[str]) -> str:
    """Return the triples, else their subjects, whichever fits into a width; else nothing."""
    subjects = dict.fromkeys(triple.split(" ")[0] for triple in triples)
    names = (", ".join(triples), ", ".join(subjects))
    return next((name for name in names if CHARACTER * (len(name) + 1) <= room), "")


def _triple_text(triple: str, shorten: Shorten) -> str:
    """Write a triple in N-Triples shortly: `:a :p 1`."""
    text = shorten(triple).removesuffix(" .")
    return re.sub(r'"(-?[0-9]+)"\^\^xsd:integer\b', r"\1", text)


def _note_of_missing(
    drawing: Drawing,
    axis: Axis,
    evidence: Mapping[str, Any],
    streams: Mapping[str, Elements],
    y: float,
) -> float:
    """Write how many elements are not drawn, if any; return the y below. If they are those that
    follow the drawn ones, the note stands where these end, so that no window is taken for empty.
    """
    total = max(evidence["elements_total"], len(evidence["elements"]))
    missing = total - sum(map(len, streams.values()))
    if not missing:
        return y
    drawn = [element for elements in streams.values() for element in elements]
    if len(streams) == 1 and drawn and len(drawn) == len(evidence["elements"]):
        words = f"{missing:,} more elements follow, which are not in the results file"
        x = min(axis(drawn[-1]["at"]), RIGHT - CHARACTER * len(words))
    else:
        words = f"{missing:,} more elements are not drawn"
        x = float(LEFT)
    drawing.write("none", x, y + 8, words)
    return y + 12


def _reports(
    drawing: Drawing,
    side: str,
    marks: Sequence[Mark],
    first: int | None,
    bounds: str,
    y: float,
) -> float:
    """Draw the reports of one side (`due` or `given`), in as many lanes as are needed so that none
    overlaps another. Return the y below them.
    """
    if not marks:
        nothing = "no report" if side == "due" else "nothing"
        drawing.write("none", LEFT, y + 13, nothing)
        return y + LANE
    # windows that meet at a border do not overlap
    used = lanes([_span(mark) for mark in marks], -0.5)
    for mark, lane in zip(marks, used, strict=True):
        top = y + lane * LANE
        kind = f"{side} {_state(mark, side, first)}"
        if not mark.sure:
            kind += " unsure"
        if mark.x2 > mark.x1:
            _bar(drawing, mark, kind, bounds, top)
        else:
            _diamond(drawing, mark, kind, bounds, top)
    return y + (max(used) + 1) * LANE


def _absent_report(drawing: Drawing, due: Mark, y: float) -> float:
    """Draw that the engine has no report where `due` is expected; return the y below."""
    middle = (due.x1 + due.x2) / 2
    if due.x2 > due.x1:
        drawing.bar("absent", due.x1 + 1, due.x2 - 1, y, BAR, "no report of the engine")
    drawing.write("rows", middle, y + 12.5, "no report", "middle")
    return y + LANE


def _rows(mark: Mark) -> str:
    return count_text(mark.report["total"], "row")


def _words(mark: Mark) -> str:
    """Return the label of a report: `2 rows`, and `≠ 2 rows` if it differs."""
    if mark.pair.differs:
        return f"≠ {_rows(mark)}"
    return _rows(mark)


def _span(mark: Mark) -> tuple[float, float]:
    """Return from where to where a report, with its label, fills its lane."""
    if mark.x2 > mark.x1:
        return mark.x1, max(mark.x2, mark.x1 + 10)
    return mark.x1 - 6, mark.x1 + 10 + 6.4 * len(_words(mark))


def _bar(drawing: Drawing, mark: Mark, kind: str, bounds: str, top: float) -> None:
    """Draw a report about a window, with as much of its label as there is room for."""
    drawing.bar(kind, mark.x1 + 1, mark.x2 - 1, top, BAR, _title(mark, bounds))
    width = mark.x2 - mark.x1
    text = ""
    if width > 12 + 6.2 * len(_words(mark)):
        text = _words(mark)
    elif width > 14:
        text = str(mark.report["total"])
    drawing.add(
        "text",
        "rows",
        text,
        x=(mark.x1 + mark.x2) / 2,
        y=top + 12.5,
        text_anchor="middle",
    )


def _diamond(drawing: Drawing, mark: Mark, kind: str, bounds: str, top: float) -> None:
    """Draw a report about an instant, with its label beside it."""
    x, middle = mark.x1, top + BAR / 2
    path = f"M{x - 6:.1f} {middle}L{x:.1f} {middle - 7}L{x + 6:.1f} {middle}L{x:.1f} {middle + 7}Z"
    drawing.add("path", kind, "", _title(mark, bounds), d=path)
    if x > RIGHT - 40:
        drawing.write("rows", x - 10, top + 12.5, _words(mark), "end")
    else:
        drawing.write("rows", x + 10, top + 12.5, _words(mark), "start")


def _state(mark: Mark, side: str, first: int | None) -> str:
    """Return the class of the style sheet for how a report compares with its other side."""
    if mark.pair.number == first:
        return "first"
    if not mark.pair.differs:
        return "same"
    other = {"due": mark.pair.actual, "given": mark.pair.due}[side]
    if other is None:
        return "alone"
    return "differs"


def _title(mark: Mark, bounds: str) -> str:
    """Return what is shown when a report is pointed at."""
    words = [f"report {mark.pair.number + 1}"]
    if place := place_of(mark.report, bounds):
        words.append(place)
    if "instant" in mark.report:
        words.append(f"at {mark.report['instant']}")
    title = f"{' '.join(words)}: {_rows(mark)}"
    if not mark.sure:
        title += " (placed by its number: it says neither window nor instant)"
    return title


def _grid(drawing: Drawing, axis: Axis, borders: Sequence[int], marked: Pair | None) -> None:
    """Draw the borders of windows, and the window of the first divergence with its name, behind all
    else.
    """
    behind = Drawing("")
    bottom = drawing.height - 2
    for border in sorted(set(borders)):
        behind.line("grid", axis(border), 24, axis(border), bottom)
    if marked is not None:
        for opens, closes in list(pairing.windows([marked]))[:1]:
            behind.bar("mark", axis(opens), axis(closes), 24, bottom - 24)
            middle = (axis(opens) + axis(closes)) / 2
            x = max(LEFT + 20, min(RIGHT - 20, middle))
            behind.write("mark-name", x, bottom + 13, "first difference", "middle")
            drawing.height += 14
    drawing.shapes[:0] = behind.shapes
