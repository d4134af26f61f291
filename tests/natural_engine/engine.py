"""Runs a small stream engine that speaks conformance/PROTOCOL.md, right or with chosen defects.

It reads the dialect `table`. `--report close` reports windows as they close, `--report change` each
change of their contents. `--defect NAME[,NAME]` makes it wrong; `--list` names the defects.
"""

import argparse
import json
import struct
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from defects import DEFECTS
from query import Graph, Reader, Row, Select, Term, Unsupported, number, read_statements, simplest

CHOSEN: set[str] = set()
BUFFER = 3  # elements, under the defect of a bounded buffer
LEFT_OVER: dict[str, Any] = {"static": "", "base": []}  # what defects keep between queries

KEEPING = {  # defects with which nothing is forgotten
    "windows-begin-at-first-element",
    "expiry-removes-repeated-triple",
    "one-close-for-each-arrival",
}

Element = tuple[int, list[tuple[Term, ...]]]
Report = dict[str, Any]


def has(defect: str) -> bool:
    """Says whether a defect is chosen."""
    return defect in CHOSEN


class Window:
    """Is a window of a query with the elements that it may still hold."""

    def __init__(self, table: dict[str, Any]) -> None:
        if table["kind"] != "time" or table.get("lag"):
            raise Unsupported("windows other than [RANGE SLIDE] in time")
        self.stream: str = table["stream"]
        self.name: str | None = table.get("name")
        self.size: int = table["size"]
        self.slide: int = table["slide"]
        self.break_extent()
        self.start = self.latest = 0
        self.elements: list[Element] = []
        self.seen: set[tuple[Term, ...]] = set()
        self.next = -(-self.size // self.slide) if has("windows-before-zero-reported") else 0
        self.next = -self.next + has("window-zero-skipped")
        self.least = self.next

    def break_extent(self) -> None:
        if has("slide-taken-as-size"):
            self.slide = self.size
        if has("size-taken-as-slide"):
            self.size = self.slide
        if has("size-rounded-to-slides"):
            self.size = max(1, self.size // self.slide) * self.slide
        if has("hops-closed-up"):
            self.slide = min(self.slide, self.size)

    def number(self, at: int) -> int:
        """Gives the number of the latest window that has opened at an instant."""
        if has("division-towards-zero"):
            return int((at - self.start) / self.slide)
        return (at - self.start) // self.slide

    def active(self, at: int) -> int:
        """Gives the number of the first window that is not over at an instant."""
        return max(self.least, (at - self.start - self.size) // self.slide + 1)

    def opens(self, window: int) -> int:
        return self.start + window * self.slide

    def holds(self, window: int, element: Element, at: int) -> bool:
        """Says whether a window that is looked at at an instant holds an element."""
        opens = self.opens(window)
        if has("lower-border-excluded") and element[0] == opens:
            return False
        if has("expires-a-slide-late"):
            return opens - self.slide <= element[0] <= at
        if has("expires-an-instant-early"):
            return opens < element[0] <= at or element[0] == at
        if has("arrival-in-closing-window"):
            return opens <= element[0]
        if has("upper-border-included"):
            return opens <= element[0] <= at + 1
        return window <= self.number(element[0]) and element[0] <= at

    def content(self, at: int) -> list[Element]:
        """Gives the elements of the active window up to an instant."""
        window = self.active(at)
        held = [element for element in self.elements if self.holds(window, element, at)]
        if has("expiry-removes-repeated-triple"):
            gone = {
                triple
                for element in self.elements
                if not self.holds(window, element, at) and element[0] < self.opens(window)
                for triple in element[1]
            }
            held = [(time, [t for t in triples if t not in gone]) for time, triples in held]
        return held

    def leaves(self, element: Element) -> int:
        """Gives the first instant at which an element is out of the content."""
        late = self.slide if has("expires-a-slide-late") else 0
        return self.opens(self.number(element[0])) + self.size + late

    def closing(self, limit: int) -> Iterator[int]:
        """Gives the last instants of the windows with elements that are over at the limit."""
        while self.opens(self.next) + self.size <= limit:
            last = self.opens(self.next) + self.size - 1
            near = [element for element in self.elements if element[0] <= last + 1]
            if any(self.holds(self.next, element, last) for element in near):
                yield last
                self.next += 1
                if has("one-close-for-each-arrival"):
                    return
                continue
            if has("empty-windows-reported") and limit - last < 1000:
                yield last
                self.next += 1
                continue
            later = [at for at, _ in self.elements if at > last]
            if not later:
                break
            self.next = max(self.next + 1, self.active(min(later)))
        self.next = max(self.next, self.active(limit))

    def add(self, at: int, triples: list[tuple[Term, ...]]) -> None:
        """Takes an element."""
        if has("time-in-32-bits"):
            at = (at + 2**31) % 2**32 - 2**31
        if has("windows-begin-at-first-element") and not self.elements and self.next == 0:
            self.start = at
        if has("windows-realigned-after-gap") and self.latest < at - self.size - self.slide:
            self.start, self.next, self.elements = at, 0, []
        self.latest = at
        if self.drops(at, triples):
            return
        if has("simultaneous-last-kept"):
            self.elements = [element for element in self.elements if element[0] != at]
        self.elements.append((at, self.read(triples)))
        if has("buffer-of-three-elements"):
            del self.elements[:-BUFFER]
        self.seen.update(triples)

    def drops(self, at: int, triples: list[tuple[Term, ...]]) -> bool:
        if has("simultaneous-first-kept") and any(element[0] == at for element in self.elements):
            return True
        filters = has("repeated-triple-dropped") or has("repeated-triple-keeps-first-time")
        return filters and not self.read(triples)

    def read(self, triples: list[tuple[Term, ...]]) -> list[tuple[Term, ...]]:
        if has("only-first-triple-of-element"):
            triples = triples[:1]
        if has("repeated-triple-dropped"):
            triples = [triple for triple in triples if triple not in self.seen]
        if has("repeated-triple-keeps-first-time"):
            kept = {triple for _, held in self.elements for triple in held}
            triples = [triple for triple in triples if triple not in kept]
        return triples

    def forget(self, now: int) -> None:
        """Removes the elements that no window holds any more."""
        kept = [element for element in self.elements if self.leaves(element) > now]
        if KEEPING & CHOSEN:
            return
        self.elements = kept


class Engine:
    """Evaluates one query."""

    def __init__(self, table: dict[str, Any], report: str, static: str) -> None:
        self.report = report
        self.operator: str = table.get("r2s") or ("Rstream" if report == "close" else "Istream")
        if self.operator not in ("Rstream", "Istream", "Dstream"):
            raise Unsupported(self.operator)
        self.windows = [Window(window) for window in table["windows"]]
        self.break_windows()
        self.select: Select = Reader(table["body"]).read()
        self.select.has = has
        self.static = [] if has("static-data-ignored") else list(read_statements(static, "static."))
        self.now: int | None = None
        self.last_contents: list[list[Element]] = [[] for _ in self.windows]
        self.base: list[Row] = LEFT_OVER["base"] if has("base-kept-between-queries") else []
        self.ever: Counter[Any] = Counter()
        self.reports: list[Report] = []

    @property
    def compares(self) -> bool:
        return self.operator != "Rstream"

    def break_windows(self) -> None:
        if has("one-window-for-each-stream"):
            self.windows = list({window.stream: window for window in self.windows}.values())
        if has("first-extent-for-all-windows"):
            for window in self.windows:
                window.size, window.slide = self.windows[0].size, self.windows[0].slide

    def push(self, stream: str, at: int, triples: list[tuple[Term, ...]]) -> None:
        """Takes the next element."""
        if all(window.stream != stream for window in self.windows):
            return
        at = self.broken_time(at)
        if self.now is not None and at < self.now:
            if has("late-element-dropped"):
                return
            if not has("late-element-accepted"):
                raise Unsupported("late elements")
            at, late = self.now, at
            self.add(stream, late, triples)
            return
        early = has("arrival-in-closing-window") or has("upper-border-included")
        if early:
            self.add(stream, at, triples)
        if has("purged-before-closing"):
            for window in self.windows:
                window.elements = [e for e in window.elements if e[0] > at - window.size]
        self.evaluate_until(at, stream)
        if not early:
            self.add(stream, at, triples)
        self.now = at

    def broken_time(self, at: int) -> int:
        if has("time-in-whole-seconds"):
            return at // 1000 * 1000
        if has("time-in-single-precision"):
            return int(struct.unpack("f", struct.pack("f", at))[0])
        return at

    def add(self, stream: str, at: int, triples: list[tuple[Term, ...]]) -> None:
        if (at == 0 and has("element-at-zero-ignored")) or (
            not triples and has("element-without-triples-ignored")
        ):
            return
        for window in self.windows:
            if window.stream == stream or has("streams-not-told-apart"):
                window.add(at, triples)

    def finish(self) -> None:
        """Lets time go on until all windows are over."""
        if self.now is None or has("no-report-at-the-end"):
            return
        slack = max(window.size + window.slide for window in self.windows)
        before = len(self.reports)
        if has("full-windows-only-at-the-end"):
            self.evaluate_until(self.now + 1, None)
            return
        self.evaluate_until(self.now + slack + 2, None)
        if has("one-report-at-the-end"):
            del self.reports[before + 1 :]
        if has("last-report-repeated"):
            self.reports += self.reports[-1:]
        if has("last-report-lost"):
            del self.reports[-1:]
        LEFT_OVER["base"] = self.base

    def evaluate_until(self, limit: int, stream: str | None) -> None:
        """Evaluates the query at all instants before the limit that are due."""
        if self.now is None:
            return
        windows = self.windows
        if has("only-first-window-reports"):
            windows = windows[:1]
        if has("time-of-each-stream-apart") and stream is not None:
            windows = [window for window in windows if window.stream == stream]
        if self.report == "close":
            due = sorted({at for window in windows for at in window.closing(limit)})
            due = due if stream is None else self.broken_gap(due)
        else:
            due = self.changes(limit)
        for at in due:
            self.evaluate_at(at)
        for window in self.windows:
            window.forget(limit if limit > self.now else self.now)

    def broken_gap(self, due: list[int]) -> list[int]:
        if has("gap-reports-first-window-only"):
            return due[:1]
        return due[-1:] if has("gap-reports-last-window-only") else due

    def changes(self, limit: int) -> list[int]:
        assert self.now is not None
        due = {self.now}
        if not has("leaving-not-noticed"):
            due |= {window.leaves(e) for window in self.windows for e in window.elements}
        if has("simultaneous-evaluated-once") and limit == self.now:
            return []
        return sorted(at for at in due if self.now <= at < max(limit, self.now + 1))

    def evaluate_at(self, at: int) -> None:
        """Evaluates the query over the contents at an instant."""
        contents = [window.content(at) for window in self.windows]
        skips = self.report == "change" or has("unchanged-window-skipped")
        if skips and contents == self.last_contents:
            return
        self.last_contents = contents
        if has("join-with-latest-element-only") and len(contents) > 1:
            contents = [contents[0]] + [content[-1:] for content in contents[1:]]
        default, named = self.dataset(contents)
        rows = self.select.answer(default, named)
        if has("rows-as-a-set"):
            rows = list({key(row): row for row in rows}.values())
        output = self.operate(rows)
        report: Report = {"rows": [{n: shown(t) for n, t in row.items()} for row in output]}
        if self.report == "close" and len(self.windows) == 1:
            closes = at + 1
            report["window"] = [closes - self.windows[0].size, closes]
            if has("window-named-by-last-instant"):
                report["window"][1] -= 1
        if has("cleared-after-report"):
            for window in self.windows:
                window.elements = [element for element in window.elements if element[0] > at]
        if output or self.sends_empty():
            self.reports.append(report)

    def sends_empty(self) -> bool:
        if has("empty-answer-once"):
            return not self.reports or bool(self.reports[-1]["rows"])
        if has("empty-answer-not-sent"):
            return False
        return self.report == "close" or has("empty-answer-sent")

    def dataset(self, contents: list[list[Element]]) -> tuple[Graph, dict[str, Graph]]:
        default: Graph = set()
        named: dict[str, Graph] = {}
        for terms in self.static:
            graph = named.setdefault(terms[3][1], set()) if len(terms) > 3 else default
            graph.add(tuple(terms[:3]))
        for window, content in zip(self.windows, contents, strict=True):
            triples = {triple for _, held in content for triple in held}
            if window.name is None or has("named-window-in-default-graph"):
                default |= triples
            if window.name is not None and triples:
                named[window.name] = named.get(window.name, set()) | triples
        return default, named

    def operate(self, rows: list[Row]) -> list[Row]:
        """Gives what the operator makes of an answer."""
        base, self.base = self.base, rows
        if has("compared-with-last-answer-with-rows") and not rows:
            self.base = base
        if has("first-answer-taken-as-base") and rows and not self.ever and self.compares:
            self.ever = bag(rows)
            return []
        if has("unchanged-answer-is-empty") and bag(rows) == bag(base):
            return []
        if has("row-never-given-again"):
            new = minus(rows, list(self.ever.elements()))
            self.ever |= Counter(key(row) for row in rows)
            return new
        if self.operator == "Rstream":
            return rows
        if self.operator == "Dstream" and not has("dstream-reversed"):
            base, rows = rows, base
        if has("difference-of-sets"):
            return [row for row in rows if key(row) not in bag(base)]
        return minus(rows, [key(row) for row in base])


def key(row: Row) -> Any:
    """Gives rows of the same values the same key."""
    return tuple(sorted((name, simplest(term)) for name, term in row.items()))


def bag(rows: list[Row]) -> Counter[Any]:
    """Counts rows."""
    return Counter(key(row) for row in rows)


def minus(rows: list[Row], taken: list[Any]) -> list[Row]:
    """Takes rows out of a bag of rows."""
    left, result = Counter(taken), []
    for row in rows:
        if left[key(row)]:
            left[key(row)] -= 1
        else:
            result.append(row)
    return result


def shown(term: Term) -> dict[str, str]:
    """Writes a term as SPARQL's JSON does."""
    answer = {"type": term[0], "value": term[1]}
    if term[0] != "literal":
        return answer
    value = number(term)
    if has("integers-rewritten") and value is not None and value == value // 1:
        answer["value"] = str(int(value))
    if term[3] and not has("language-dropped"):
        answer["xml:lang"] = term[3]
    elif term[2] and not has("datatype-dropped"):
        answer["datatype"] = term[2]
    return answer


class Harness:
    """Answers the suite's commands; it keeps the reports until the end of a case."""

    def __init__(self, report: str) -> None:
        self.report = report
        self.engine: Engine | None = None

    def reply(self, message: dict[str, Any]) -> dict[str, Any]:
        """Answers one command."""
        command = message["command"]
        if command == "start":
            return {"reply": "result", "protocol": 1, "engine": "natural", "version": "1"}
        if command == "stop":
            return {"reply": "result"}
        try:
            return {"reply": "result", "relations": self.carry_out(command, message)}
        except Unsupported as lack:
            self.engine = None
            return {"reply": "unsupported", "reason": str(lack) or "not supported"}

    def carry_out(self, command: str, message: dict[str, Any]) -> list[Report]:
        """Carries a command out and gives the reports that are due."""
        if command == "register":
            static = message.get("static", "")
            if has("static-data-kept-between-queries"):
                static = LEFT_OVER["static"] = LEFT_OVER["static"] + static
            self.engine = Engine(json.loads(message["query"]), self.report, static)
        elif command == "push" and self.engine is not None:
            if message.get("end", message["at"]) != message["at"]:
                raise Unsupported("elements with intervals")
            scope = "" if has("blank-nodes-of-streams-merged") else message["stream"] + "."
            graph = message["graph"]
            triples = [tuple(terms) for terms in read_statements(graph, scope)]
            self.engine.push(message["stream"], message["at"], triples)
        elif command == "end" and self.engine is not None:
            self.engine.finish()
            reports = self.engine.reports
            if has("first-report-lost"):
                return reports[1:]
            return reports[:4] if has("only-first-four-reports") else reports
        return []


def main() -> None:
    """Runs the harness, or lists the defects."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--report", choices=("close", "change"), default="close")
    parser.add_argument("--defect", default="")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    CHOSEN.update(name for name in options.defect.split(",") if name)
    if CHOSEN - DEFECTS.keys():
        parser.error(f"no such defect: {', '.join(sorted(CHOSEN - DEFECTS.keys()))}")
    if options.list:
        print("\n".join(f"{name}: {truth}" for name, truth in DEFECTS.items()))
        return
    harness = Harness(options.report)
    for line in sys.stdin:
        message = json.loads(line)
        print(json.dumps({"seq": message["seq"], **harness.reply(message)}), flush=True)
        if message["command"] == "stop":
            return


if __name__ == "__main__":
    main()
