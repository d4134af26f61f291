"""The time line of a result: elements at their instants, the windows due, and below them what was
given.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from conformance.report import pairs as pairing
from conformance.report.drawing import WIDTH, Axis, Drawing, lanes
from conformance.report.pairs import Pair, Report
from conformance.report.texts import clean, shortener

REPORTS, ELEMENTS, STREAMS = 32, 300, 8  # drawn at most
LEFT, RIGHT = 132, WIDTH - 30
LANE, BAR = 22, 17
SLOT = 64  # of a report that says neither window nor instant


class Placed(NamedTuple):
    """A report in its place: from x1 to x2 (equal: a point); `sure` unless it says neither window
    nor instant.
    """

    pair: Pair
    report: Report
    x1: float
    x2: float
    sure: bool = True


def timeline(evidence: Mapping[str, Any], found: Sequence[Pair], first: int | None) -> Drawing:
    """The drawing of a result's evidence, whose pairs these are; the first
    that differs is marked.
    """
    shown = pairing.drawn(found, first, REPORTS)
    extents = list(pairing.windows(shown))
    streams = _streams(evidence, extents, len(shown) < len(found))
    times = [
        time
        for elements in streams.values()
        for element in elements
        for time in (element["at"], element.get("end", element["at"]))
    ]
    borders = [border for window in extents for border in window]
    stamps = [
        pair.due["instant"] for pair in shown if pair.due is not None and "instant" in pair.due
    ]
    known = {*times, *borders, *stamps}
    stamps += [time for pair in shown if (time := _stamp(pair.given, known)) is not None]
    axis = Axis([*known, *stamps], LEFT, RIGHT)

    drawing = Drawing(_label(evidence, found))
    bounds = bounds_of(evidence)
    y = _ruler(drawing, axis, borders or stamps, times)
    for name, elements in streams.items():
        y = _stream(drawing, axis, name, elements, evidence, y)
    if missing := max(evidence["elements_total"], len(evidence["elements"])) - sum(
        map(len, streams.values())
    ):
        y += 12
        drawing.write("none", LEFT, y - 4, f"{missing:,} more elements are not drawn")
    due = [_placed(pair, pair.due, axis, known, None) for pair in shown if pair.due is not None]
    where = {placed.pair.number: placed for placed in due}
    given = [
        _placed(pair, pair.given, axis, known, where.get(pair.number))
        for pair in shown
        if pair.given is not None
    ]
    y = _reports(drawing, "due", _slots(due), first, bounds, y + 8) if "expected" in evidence else y
    y = _reports(drawing, "given", _slots(given), first, bounds, y + 8)
    drawing.height = y + 4
    _grid(drawing, axis, borders, first, shown)
    return drawing


def bounds_of(evidence: Mapping[str, Any]) -> str:
    """The brackets of its windows: `[)`."""
    closure = evidence.get("semantics", {}).get("closure", "[)")
    return closure if closure in ("[)", "(]", "[]") else "[)"


def _label(evidence: Mapping[str, Any], found: Sequence[Pair]) -> str:
    due = "" if "expected" not in evidence else f"{len(evidence['expected'])} reports due, "
    return (
        f"Time line: {len(evidence['elements'])} elements, {due}{len(evidence['actual'])} "
        "reports given"
    )


def _streams(
    evidence: Mapping[str, Any], extents: Sequence[list[int]], cut: bool
) -> dict[str, list[Mapping[str, Any]]]:
    """Elements by stream, of those near the windows drawn if not all are."""
    named: dict[str, list[Mapping[str, Any]]] = {
        window["stream"]: [] for window in evidence["windows"][:STREAMS]
    }
    low, high = (
        (min(o for o, _ in extents), max(c for _, c in extents))
        if cut and extents
        else (float("-inf"), float("inf"))
    )
    for element in [one for one in evidence["elements"] if low <= one["at"] <= high][:ELEMENTS]:
        if element["stream"] in named or len(named) < STREAMS:
            named.setdefault(element["stream"], []).append(element)
    return named


def _stamp(report: Report | None, known: set[int]) -> int | None:
    """A report's instant where it is of the stream's time: an engine may stamp by its own clock."""
    if report is None or "instant" not in report or not known:
        return None
    low, high = min(known), max(known)
    return (
        report["instant"]
        if low - (high - low) <= report["instant"] <= high + (high - low)
        else None
    )


def _placed(pair: Pair, report: Report, axis: Axis, known: set[int], due: Placed | None) -> Placed:
    if "window" in report:
        opens, closes = report["window"]
        return Placed(pair, report, axis(opens), axis(closes))
    if (stamp := _stamp(report, known)) is not None:
        return Placed(pair, report, axis(stamp), axis(stamp))
    return Placed(pair, report, *((-1.0, -1.0) if due is None else due[2:4]), sure=False)


def _slots(placed: Sequence[Placed]) -> list[Placed]:
    """What says nothing of its place stands in the order in which it came."""
    width = min(SLOT, (RIGHT - LEFT) / max(1, sum(one.x1 < 0 for one in placed)))
    found, start = [], float(LEFT)
    for one in placed:
        if one.x1 < 0:
            one = one._replace(x1=start, x2=start + width - 4)
            start += width
        found.append(one)
    return found


def _ruler(drawing: Drawing, axis: Axis, borders: Sequence[int], times: Sequence[int]) -> float:
    drawing.write("lane", 4, 15, "time")
    drawing.line("axis", LEFT, 24, RIGHT, 24)
    for instant, x in axis.ticks(borders, times, axis.instants):
        drawing.write("tick", x, 15, str(instant), "middle")
        drawing.line("axis", x, 20, x, 24)
    for x in axis.breaks:
        drawing.add(
            "text", "break", "⋯", "an empty time, drawn shorter", x=x, y=28, text_anchor="middle"
        )
    return 30


def _stream(
    drawing: Drawing,
    axis: Axis,
    name: str,
    elements: Sequence[Mapping[str, Any]],
    evidence: Mapping[str, Any],
    y: float,
) -> float:
    """A lane of points, the simultaneous ones one above the other, and of intervals."""
    shorten = shortener(evidence["query"])
    together = Counter(element["at"] for element in elements)
    most = min(4, max(together.values(), default=1))
    base = y + 8 * most + 6
    drawing.write("lane", 4, base + 4, clean(name, 18))
    drawing.line("lane-line", LEFT, base, RIGHT, base)
    level: dict[int, int] = defaultdict(int)
    for element in elements:
        at, end = element["at"], element.get("end")
        number, level[at] = level[at], level[at] + 1
        what = f"{at}{'' if end is None else f' to {end}'}: {shorten(element['graph'].strip())}"
        height = base - 8 * min(number, 3)
        if end is not None:
            drawing.bar("interval", axis(at), axis(end), height - 2, 4, what)
        drawing.add("circle", "element", "", what, cx=axis(at), cy=height, r=3.6)
    for at, count in together.items():
        if count > 4:
            drawing.write("tick", axis(at) + 6, base - 24, f"×{count}")
    return base + 8


def _reports(
    drawing: Drawing, side: str, placed: Sequence[Placed], first: int | None, bounds: str, y: float
) -> float:
    """Bars in as many lanes as overlap."""
    drawing.write("lane", 4, y + 13, "windows due" if side == "due" else "given")
    if not placed:
        drawing.write("none", LEFT, y + 13, "no report" if side == "due" else "nothing")
        return y + LANE
    labels = [_rows(one.report["total"]) for one in placed]
    spans = [
        (one.x1, max(one.x2, one.x1 + 10))
        if one.x2 > one.x1
        else (one.x1 - 6, one.x1 + 10 + 6.4 * len(label))
        for one, label in zip(placed, labels, strict=True)
    ]
    used = lanes(spans, -0.5)  # what meets does not overlap
    for one, lane, label in zip(placed, used, labels, strict=True):
        top = y + lane * LANE
        kind = f"{side} {_state(one, side, first)}{'' if one.sure else ' unsure'}"
        title = _title(one, bounds, label)
        if one.x2 > one.x1:
            drawing.bar(kind, one.x1 + 1, one.x2 - 1, top, BAR, title)
            width = one.x2 - one.x1
            text = (
                label
                if width > 12 + 6.2 * len(label)
                else str(one.report["total"])
                if width > 14
                else ""
            )
            drawing.add(
                "text", "rows", text, x=(one.x1 + one.x2) / 2, y=top + 12.5, text_anchor="middle"
            )
        else:
            middle = top + BAR / 2
            drawing.add(
                "path",
                kind,
                "",
                title,
                d=f"M{one.x1 - 6:.1f} {middle}L{one.x1:.1f} "
                f"{middle - 7}L{one.x1 + 6:.1f} "
                f"{middle}L{one.x1:.1f} {middle + 7}Z",
            )
            near_end = one.x1 > RIGHT - 40
            drawing.write(
                "rows",
                one.x1 + (-10 if near_end else 10),
                top + 12.5,
                label,
                "end" if near_end else "start",
            )
    return y + (max(used) + 1) * LANE


def _state(one: Placed, side: str, first: int | None) -> str:
    if one.pair.number == first:
        return "first"
    other = one.pair.given if side == "due" else one.pair.due
    return ("alone" if other is None else "differs") if one.pair.differs else "same"


def _rows(total: int) -> str:
    return f"{total} row{'' if total == 1 else 's'}"


def _title(one: Placed, bounds: str, label: str) -> str:
    window = one.report.get("window")
    said = [f"report {one.pair.number + 1}"]
    if window:
        said.append(f"{bounds[0]}{window[0]}, {window[1]}{bounds[1]}")
    if "instant" in one.report:
        said.append(f"at {one.report['instant']}")
    return (
        " ".join(said)
        + f": {label}"
        + ("" if one.sure else " (placed by its number: it says neither window nor instant)")
    )


def _grid(
    drawing: Drawing, axis: Axis, borders: Sequence[int], first: int | None, shown: Sequence[Pair]
) -> None:
    """Behind all: the borders of windows, and the first diverging one."""
    behind = Drawing("")
    mark = next((pair for pair in shown if pair.number == first), None)
    window = mark and next(
        (report["window"] for report in (mark.due, mark.given) if report and "window" in report),
        None,
    )
    if window:
        behind.bar("mark", axis(window[0]), axis(window[1]), 24, drawing.height - 26)
    for border in sorted(set(borders)):
        behind.line("grid", axis(border), 24, axis(border), drawing.height - 2)
    drawing.shapes[:0] = behind.shapes
