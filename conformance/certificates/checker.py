"""Checks certificates of verdicts by the rules of SPEC.md, which are written here anew.

It imports nothing of the engine and the judge: `python checker.py CERTIFICATE...` needs Python
alone. Exit codes: 0 all are right; 1 one is wrong; 2 one cannot be read; 3 one is not certified.
"""

import json
import sys
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import product
from math import inf, lcm
from pathlib import Path
from typing import Any as Json

MOST = 50_000  # instants that are visited between two arrivals
MARGIN = 3  # two instants are compared after they were moved by less
ENDS = {"[)": (0, -1), "(]": (1, 0), "[]": (0, 0), None: (0, 0)}  # WIN-2
# what is not checked: these values, and other kinds of windows
BEYOND = {"eager", "latest", "explicit", "recent", "chronological", "clipped"}
BORDERED = ("time", "range", "landmark")
KINDS = (*BORDERED, "now", "rows", "unbounded")


class Wrong(Exception):
    """The certificate says something that is not so."""


class NotCertified(Exception):
    """Something is outside of what is checked here."""


WORDS = {Wrong: ("WRONG", 1), NotCertified: ("not certified:", 3)}


def demand(holds: bool, reason: str) -> None:
    """Raise Wrong unless something holds."""
    if not holds:
        raise Wrong(reason)


class Window:
    """§4: a window of the query: its instances, and what they hold."""

    def __init__(self, spec: Json, semantics: Json, t0: int | None, elements: Json) -> None:
        self.kind, self.stream, self.t0, self.elements = spec["kind"], spec["stream"], t0, elements
        self.name, self.rows = spec["name"], spec["size"]
        self.size = spec["size"] if self.kind in ("time", "range") else 0  # WIN-10
        ignored = semantics["slide"] == "ignored" and self.kind in ("time", "range")  # WIN-17
        self.slide = 1 if ignored else spec["slide"]
        self.low, self.high = ENDS[semantics["closure"] if self.kind in BORDERED else None]
        self.start = None if t0 is None else t0 + self.low - 1  # WIN-5
        is_suppressed = semantics["partial"] == "suppressed" or self.size == 0
        self.least = 0 if is_suppressed else -((self.size - 1) // self.slide)  # WIN-11
        self.spans = [(e[0], e[1]) for e in elements]  # WIN-18
        self.first: Json = self.spans[0][0] if self.spans else None

    def instance(self, n: int) -> Json:
        """WIN-3: Return a window's number, first and last instant, and borders."""
        assert self.t0 is not None
        o = self.t0 + n * self.slide
        c = o + self.size
        borders = None if self.kind == "now" else [o, c]
        return n, o + self.low, c + self.high, borders

    def current(self, t: int) -> Json:
        """WIN-4, WIN-5, WIN-12, WIN-13: Return the window that is active or shown at t, if any."""
        if self.start is None or t < self.start:
            return None
        if self.kind not in ("time", "range", "now"):
            return None, self.start + 1 if self.kind == "landmark" else -inf, inf, None
        after = t - self.instance(0)[2]
        if self.kind == "time":
            return self.instance(max(self.least, -(-after // self.slide)))
        n = after // self.slide
        return self.instance(n) if n >= self.least else None

    def content(self, t: int, came: int) -> tuple[int, ...]:
        """WIN-8, WIN-14, WIN-18: Return the places of those of the first elements that it holds."""
        current = self.current(t)
        if current is None:
            return ()
        if self.kind == "rows":
            last = came // self.slide * self.slide
            return tuple(range(max(0, last - self.rows), last))
        first, last = current[1], min(current[2], t)
        begun = bisect_right(self.spans, (last, inf), 0, came) if first <= last else 0
        return tuple(j for j in range(begun) if self.spans[j][1] >= first)

    def triples(self, content: Json) -> frozenset[Json]:
        """R2R-1: Return the triples of a content, each with the name of the window's graph."""
        return frozenset((self.name, *triple) for j in content for triple in self.elements[j][4])


class Run:
    """§5, §6: when a query is evaluated over what, by one semantics, with a t0 for each window."""

    def __init__(self, document: Json, semantics: Json, t0s: list[int | None]) -> None:
        self.semantics = {**semantics, "report": {*semantics["report"]}}
        specs = document["query"]["windows"]
        is_plain = all(spec["kind"] in KINDS and spec["unit"] == "elements" for spec in specs)
        is_plain &= semantics["allowed_lateness"] == "reject" and not any(s["lag"] for s in specs)
        fields = ("expiry_seen", "missed_instants", "trigger", "consumption", "partial")
        is_plain &= not BEYOND & {semantics[field] for field in fields}
        if not is_plain:
            raise NotCertified("such windows, or such a semantics")
        streams = {s["stream"]: document["streams"][s["stream"]]["elements"] for s in specs}
        for elements in streams.values():
            demand(elements == sorted(elements, key=lambda e: (e[0], e[2])), "streams: no order")
        self.windows = [
            Window(spec, semantics, t0, streams[spec["stream"]])
            for spec, t0 in zip(specs, t0s, strict=True)
        ]
        self.arrivals = self.merged(streams)
        is_passed = semantics["close_rule"] == "passed" and semantics["closure"] == "[)"
        self.own = [a[0] - is_passed for a in self.arrivals]  # TICK-6
        self.start = min((w.start for w in self.windows if w.start is not None), default=0)
        self.reported: list[tuple[int, ...]] = [()] * len(self.windows)
        self.previous = self.reported
        self.fixed = {x for w in self.windows for span in w.spans for x in span}
        self.fixed |= {*self.own, *(a[0] for a in self.arrivals)}
        report = self.semantics["report"]
        is_by_change = "content-change" in report and "periodic" not in report
        has_moments = "window-close" in report or is_by_change
        self.moving = [w for w in self.windows if has_moments and w.start is not None]

    def merged(self, streams: Json) -> Json:
        """ENG-5, ENG-1: Return app, sys, stream and batch of each arrival and of the sentinel."""
        every: Json = [(e[0], e[2], name, e[3]) for name in streams for e in streams[name]]
        every.sort(key=lambda arrival: (arrival[0], arrival[1], [*streams].index(arrival[2])))
        horizon, batch = self.semantics["horizon"], max((a[3] for a in every), default=0) + 1
        if horizon == "flush" and every:
            stays = [w.size + (w.kind == "range") * (w.slide - 1) for w in self.windows]
            horizon = max(e[1] for es in streams.values() for e in es) + max(stays) + 2
        return [*every, (horizon, inf, None, batch)] if isinstance(horizon, int) else every

    def evaluations(self) -> Iterator[Json]:
        """TICK-1 to TICK-5, REP-5, REP-6: Yield instant, arrival and windows of each evaluation."""
        app, batch, since = self.start, 0, self.start
        for k, arrival in enumerate(self.arrivals):
            is_due = {"tuple": True, "time": arrival[0] > app, "batch": arrival[3] > batch}
            if not is_due[self.semantics["tick"]]:
                continue
            instants = range(max(since, self.start), self.own[k] + (since == self.own[k]))
            app, batch, since = arrival[0], arrival[3], self.own[k]
            for t in self.visited(instants) if instants else ():
                if self.fires(t, instants, k):
                    yield self.report(t, k)
            self.previous = self.contents(instants[-1], k) if instants else self.previous

    def is_timely(self, w: Window, t: int, k: int) -> bool:
        """REP-1, REP-4, REP-11: Return whether the conditions on the instant hold."""
        report, anchor = self.semantics["report"], self.semantics["anchor"]
        anchor = {"t0": w.t0, "first-element": w.first}.get(anchor, anchor)
        if w.current(t) is None:
            return False
        if "window-close" in report:
            n, apart = divmod(t - w.instance(0)[2], w.slide)
            if apart or n < w.least or t >= self.own[k]:
                return False
        border = t + (self.semantics["closure"] == "[)")
        is_periodic = anchor is not None and (border - anchor) % self.semantics["period"] == 0
        return "periodic" not in report or is_periodic

    def visited(self, instants: range) -> Json:
        """WIN-9, ENG-2: Return all instants of an interval at which a report can begin or end."""
        marks = {instants[0], instants[-1], *self.fixed}
        if not self.moving:
            marks.update(instants[: MOST + 1])
        for w in self.moving:
            _, first, last, _ = w.instance(0)
            some = range((instants[0] - last) // w.slide, (instants[-1] - first) // w.slide + 2)
            marks |= {x for n in some[: MOST + 1] for x in w.instance(n)[1:3]}
        if len(marks) > MOST:
            raise NotCertified("too many instants between two arrivals")
        return sorted({x + d for x in marks for d in (-1, 0, 1) if x + d in instants})

    def fires(self, t: int, instants: range, k: int) -> bool:
        """REP-2, REP-3, REP-6, REP-8, REP-9, REP-12: Return whether the query is evaluated."""
        report, before, states = self.semantics["report"], self.reported, []
        if self.semantics["change_baseline"] == "previous-instant":
            before = self.previous if t == instants[0] else self.contents(t - 1, k)
        for w, now, old in zip(self.windows, self.contents(t, k), before, strict=True):
            is_by_graph = self.semantics["change_scope"] == "graph"
            has_changed = w.triples(now) != w.triples(old) if is_by_graph else now != old
            is_worthy = has_changed or "content-change" not in report
            is_worthy &= now != () or "non-empty" not in report
            states.append(is_worthy and self.is_timely(w, t, k))
        return {"any": any(states), "all": all(states)}.get(self.semantics["trigger"], states[0])

    def contents(self, t: int, k: int) -> list[tuple[int, ...]]:
        """WIN-8: Return what each window holds."""
        came = Counter(arrival[2] for arrival in self.arrivals[:k])
        return [w.content(t, came[w.stream]) for w in self.windows]

    def report(self, t: int, k: int) -> Json:
        """REP-12: Return an evaluation: its instant, its arrival, and borders and contents."""
        self.reported = self.contents(t, k)
        borders = [(w.current(t) or [None])[-1] for w in self.windows]
        return [t, k, [[o_c, [*held]] for o_c, held in zip(borders, self.reported, strict=True)]]

    def places(self, shift: int, more: Json) -> Json:
        """Return where the borders of windows lie among all other instants, if t0 moves by `shift`.

        Each place grows with t0. So if two values have the same places, all between have them, too,
        and the same evaluations: those depend on comparisons with borders alone.
        """
        fixed = self.fixed | {*more}
        marks = sorted({x + d for x in fixed for d in range(-MARGIN, MARGIN + 1)})
        if "periodic" in self.semantics["report"] or not self.moving or not marks:
            return shift
        ends = [
            x + shift
            for w in self.moving
            for n in range(w.least, max(0, (marks[-1] - self.start) // w.slide + 2))
            for x in w.instance(n)[1:3]
        ]
        return [bisect_left(marks, x) for x in ends]

    def ranges_of_t0(self, registered: int | None, stated: Json) -> list[tuple[int, int]]:
        """ORA-2: Return the values that are tried for an open t0, in ranges."""
        if isinstance(stated, dict):
            return [(stated["from"], stated["to"])]
        w, period = self.windows[0], self.semantics["period"] or 1
        is_plain = len(self.windows) == 1 and w.kind in ("time", "range") and w.first is not None
        if not is_plain or not self.semantics["report"] & {"content-change", "non-empty"}:
            raise NotCertified("an unknown t0 of such windows")
        cycle = lcm(w.slide, period if self.semantics["anchor"] == "t0" else 1)
        hi = w.first - (self.semantics["partial"] == "reported") * w.least * w.slide
        after = [(x, x) for x in (0, registered) if x is not None and x > hi]
        return [(w.first - w.size - cycle + 1, hi), *after]


class Verdict:
    """§8, §11: a certificate, and what is checked of it."""

    def __init__(self, document: Json) -> None:
        if "not_certified" in document:
            raise NotCertified(document["not_certified"])
        self.document, self.query = document, document["query"]
        self.recording, self.recorded = document["recording"], document["recording"]["relations"]
        self.missing = self.recording["missing"] if self.recorded else [0, 0]  # ORA-3
        self.is_pass = {"pass": True, "fail": False}[document["verdict"]]
        self.attempts = document["attempts"]
        self.by_dataset: dict[Json, int] = {}

    def bag(self, rows: Json) -> Counter[Json]:
        """CMP-1: Return rows as a bag. One term stands for all that have the same value."""
        if any(term.startswith("_:") for row in rows for term in row.values()):
            raise NotCertified("rows with blank nodes")
        same = self.document["values"]
        return Counter(frozenset((v, same.get(t, t)) for v, t in row.items()) for row in rows)

    def answer(self, number: int, run: Run, contents: Json) -> Counter[Json]:
        """R2R-1, R2R-9: Return a stated answer. Equal datasets must have the same answer."""
        pairs = zip(run.windows, contents, strict=True)
        dataset = frozenset(triple for w, held in pairs for triple in w.triples(held))
        demand(self.by_dataset.setdefault(dataset, number) == number, "equal contents, two answers")
        rows = self.bag(self.document["answers"][number])
        return rows if run.semantics["collection"] == "bag" else Counter({*rows})

    def outputs(self, attempt: Json) -> Iterator[Json]:
        """Check the evaluations of an attempt; yield each output and the window's borders."""
        run = Run(self.document, attempt["semantics"], attempt["t0"])
        operator = self.query["r2s"] or run.semantics["r2s"]  # R2S-6
        last, kept, base, old = Counter[Json](), [()] * len(run.windows), None, Counter[Json]()
        found = run.evaluations()
        for said in attempt["evaluations"]:
            place = f"t0={attempt['t0'][0]}, evaluation at {said['t']}"
            due = next(found, None)
            demand([said["t"], said["arrival"], said["windows"]] == due, f"{place}: not {due}")
            contents = [held for _, held in said["windows"]]
            rows = self.answer(said["answer"], run, contents)
            if operator == "append":  # R2S-7
                both = [sorted({*a} & {*b}) for a, b in zip(contents, kept, strict=True)]
                base, old = said["base"], self.answer(said["base"], run, both)
            demand(said["base"] == base, f"{place}: the base is not {said['base']}")
            output = {"Rstream": rows, "Dstream": old - rows}.get(operator, rows - old)
            demand(self.bag(said["output"]) == output, f"{place}: another output")
            is_sent = {"emit": True, "suppress": bool(output), "once": bool(output or last)}
            demand(said["emitted"] is is_sent[run.semantics["empty"]], f"{place}: emitted or not")
            if operator != "Rstream" and (run.semantics["base"] != "previous-new" or rows - old):
                base, old = said["answer"], rows  # R2S-4, R2S-8
            if said["emitted"]:
                yield output, said["windows"][0][0]
            last, kept = output, contents
        demand(not attempt["complete"] or next(found, None) is None, "an evaluation is left out")

    def is_relation(self, index: int, output: Json, semantics: Json) -> bool:
        """ORA-11: Return whether an output, and its window, are those of a relation."""
        if index >= len(self.recorded):
            return False
        stated, borders, closure = self.recorded[index]["window"], output[1], semantics["closure"]
        if stated is not None:
            ends, own = ENDS[self.recording["closure"] or closure], ENDS[closure]
            held = borders and [borders[0] + own[0], borders[1] + own[1]]
            if held != [stated[0] + ends[0], stated[1] + ends[1]]:
                return False
        return bool(output[0] == self.bag(self.recorded[index]["rows"]))

    def divergence(self, before: int, attempt: Json, outputs: Json) -> int | None:
        """ORA-3: Return the first output that is no relation, if so many are missing before."""
        for number, output in enumerate(outputs):
            index, count = number - before, len(self.recorded)
            is_missing = index < 0 or count <= index < count + self.missing[1]
            if not is_missing and not self.is_relation(index, output, attempt["semantics"]):
                return number
        demand(attempt["complete"], "the evaluations end before they diverge")
        return len(outputs) if len(outputs) < before + len(self.recorded) else None

    def check(self) -> str:
        """Check the certificate, and return what it certifies."""
        for attempt in self.attempts:
            outputs = [*self.outputs(attempt)]
            found = [self.divergence(n, attempt, outputs) for n in range(self.missing[0] + 1)]
            demand(found == attempt["diverges"], f"t0={attempt['t0'][0]} diverges at {found}")
            demand((None in found) == self.is_pass, f"t0={attempt['t0'][0]}: another verdict")
        trusted = ", ".join(["SPARQL answers", "equal values", *sorted(self.cover())])
        return f"{self.document['verdict']} t0={self.attempts[0]['t0'][0]}; trusted: {trusted}"

    def cover(self) -> set[str]:
        """ORA-1: Check that the attempts are those of the profile; return what is trusted."""
        fields, known, trusted = self.document["profile"]["fields"], 0, set()
        has_borders = any(w["kind"] in BORDERED for w in self.query["windows"])
        for values in product(*fields.values()):
            semantics = dict(zip(fields, values, strict=True))
            mine = [attempt for attempt in self.attempts if attempt["semantics"] == semantics]
            known += len(mine)
            is_difference = semantics["r2s"] in ("Istream", "Dstream")  # SEM-2, QRY-5
            has_meaning = is_difference == (semantics["base"] is not None)
            has_meaning &= has_borders == (semantics["closure"] is not None)
            demand(bool(mine) or self.is_pass or not has_meaning, "an attempt is left out")
            trusted |= self.cover_t0(mine) if mine else set()
        demand(known == len(self.attempts), "the profile has no such assignment")
        if not self.is_pass and not all(s["ordered"] for s in self.document["streams"].values()):
            trusted.add("that the arrival order cannot matter")  # ORA-4
        return trusted

    def cover_t0(self, attempts: Json) -> set[str]:
        """ORA-2: Check that the attempts have every t0 that is tried; return what is trusted."""
        stated = self.document["profile"]["t0"]
        if isinstance(stated, list):
            named = {attempt["policy"] or t0 for attempt in attempts for t0 in attempt["t0"]}
            demand(named == {*stated} or (self.is_pass and named <= {*stated}), "another t0")
            return {f"t0 by {name}" for name in named if isinstance(name, str)}
        run = Run(self.document, attempts[0]["semantics"], attempts[0]["t0"])
        tried = sorted((attempt["t0"][0], attempt["to"]) for attempt in attempts)
        ranges = run.ranges_of_t0(self.query["registered"], stated)
        for lo, hi in ranges:
            for first, last in tried:
                lo = last + 1 if first <= lo <= last else lo
            demand(lo > hi or self.is_pass, f"t0={lo} is not tried")
        borders = [x for relation in self.recorded for x in relation["window"] or ()]
        for attempt in attempts:
            run, first = Run(self.document, attempt["semantics"], attempt["t0"]), attempt["t0"][0]
            same = run.places(0, borders) == run.places(attempt["to"] - first, borders)
            is_class = {*attempt["t0"]} == {first} and first <= attempt["to"] and same
            demand(is_class, f"the values from t0={first} on are no class")
        is_known = any(lo <= tried[0][0] <= hi for lo, hi in ranges)
        demand(is_known or not self.is_pass or stated == "unknown", "another t0")
        if self.is_pass:
            return set() if is_known else {"that this t0 is tried"}
        return set() if run.semantics["closure"] == "[)" else {"that no published t0 is tried"}


def main(paths: list[str]) -> int:
    """Check certificates; print a line for each, and return the exit code."""
    codes = {0}
    for path in paths:
        try:
            line = f"OK {Verdict(json.loads(Path(path).read_text('utf-8'))).check()}"
        except Exception as error:  # a file that is no certificate can raise any
            word, code = WORDS.get(type(error), (f"no certificate: {type(error).__name__}:", 2))
            line = f"{word} {error}"
            codes.add(code)
        print(f"{path}: {line[:500]}")
    return next(code for code in (2, 1, 3, 0) if code in codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
