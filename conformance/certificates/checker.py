"""Checks certificates of verdicts by the rules of SPEC.md, which are written here anew.

It imports nothing of the engine and the judge: `python checker.py CERTIFICATE...` needs Python
alone. Exit codes: 0 all are right; 1 one is wrong; 2 one cannot be read; 3 one is not certified.
"""

import json
import sys
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from math import inf
from pathlib import Path
from re import match
from typing import Any as Json

MOST = 50_000  # instants that are visited between two arrivals
MARGIN = 3  # two instants are compared after they were moved by less
ENDS = {"[)": (0, -1), "(]": (1, 0), "[]": (0, 0)}  # WIN-2
MOST_BYTES = 10**8  # of a file
RANGES = {"zero": range(1), "count": range(2**63), "positive": range(1, 2**63)}
RANGES["int"] = range(-(2**99), 2**99)
DIFFERENCES = ("Istream", "Dstream")  # they need a base
TYPES = {str: "text", bool: "bool", type(None): "null"}
# What a certificate can say. Nothing else is checked. A list or an object of one part has any
# number of such parts, but for "|": it lists alternatives. So does a text, of words, types, ranges.
FORMAT: Json = json.loads("""{
"query": {"body": "text", "r2s": "null|Rstream|Istream|Dstream|append", "registered": "null|int",
  "window": {"stream": "text", "kind": "time|range", "size": "positive", "slide": "null|positive",
    "lag": "zero", "unit": "elements", "by": ["zero"], "name": "null|text", "triggers": "bool"}},
"streams": {"*": {"ordered": "bool",
    "elements": [["int", "int", "int", "count", [["text", "text", "text"]]]]}},
"recording": {"missing": ["count", "count"],
  "relations": [{"rows": [{"*": "text"}], "window": {"|": ["null", ["int", "int"]]}}]},
"profile": {"name": "text", "t0": {"|": ["unknown", {"from": "int", "to": "int"}, ["int"]]}},
"verdict": "pass|fail", "answers": [[{"*": "text"}]], "values": {"*": "text"},
 "attempts": [{"t0": "int", "to": "null|int", "complete": "bool", "diverges": ["null|count"],
  "evaluations": [{"t": "int", "arrival": "count", "answer": "count", "base": "null|count",
  "window": {"|": ["null", ["int", "int"]]}, "content": ["count"], "output": [{"*": "text"}],
  "emitted": "bool"}], "semantics": {"period": "null|positive", "anchor": "null|int|t0", "partial":
  "suppressed|reported", "closure": "[)|(]|[]", "report":
  ["window-close|content-change|non-empty|periodic"], "horizon": "int|none|flush", "collection":
  "bag|set", "empty": "emit|suppress|once", "base": "null|previous|previous-new", "r2s":
  "Rstream|Istream|Dstream|append", "instant": "close|evaluation|trigger|eager"}}]}""")
ONE_VALUE = """offset=null slide=stated exact_gap=parts expired_session=gone session_border=gap
close_rule=reached change_baseline=last-report change_scope=elements expiry_seen=replayed
missed_instants=all tick=tuple trigger=any reported_windows=active early_count=null
early_period=null panes=accumulating consumption=unrestricted allowed_lateness=reject
late_for=stream watermark=null watermark_delay=null expiry_rule=null clock=stream"""
FIELDS = FORMAT["attempts"][0]["semantics"]
FIELDS |= dict(field.split("=") for field in ONE_VALUE.split())
FORMAT["profile"]["fields"] = {name: [words] for name, words in FIELDS.items()}


class Wrong(Exception):
    """The certificate says something that is not so."""


class NotCertified(Exception):
    """Something is outside of what is checked here."""


WORDS = {Wrong: ("WRONG", 1), NotCertified: ("not certified:", 3)}


def demand(holds: bool, reason: str) -> None:
    """Raise Wrong unless something holds."""
    if not holds:
        raise Wrong(reason)


def require_known(value: Json, known: Json, place: str) -> None:
    """Raise an error if something is not known here, or not of the format."""
    if isinstance(known, dict) and "|" in known:
        known = next((x for x in known["|"] if type(x) is type(value)), known["|"][0])
    if isinstance(known, dict | list) and type(known) is type(value):
        parts, shapes = (x if isinstance(x, dict) else dict(enumerate(x)) for x in (value, known))
        shapes = dict.fromkeys(parts, *shapes.values()) if len(shapes) == 1 else shapes
        if shapes.keys() != parts.keys():
            raise KeyError(f"{place}: {[*map(str, shapes.keys() ^ parts.keys())]}")
        for key, part in parts.items():
            require_known(part, shapes[key], f"{place}.{key}")
        return
    words = known.split("|") if isinstance(known, str) else []
    is_in = type(value) is int and any(value in RANGES[x] for x in words if x in RANGES)
    is_word = type(value) is str and value in {*words} - {*RANGES, *TYPES.values()}
    if not is_in and not is_word and TYPES.get(type(value)) not in words:
        raise NotCertified(f"{place} is {str(value)[:80]!r}")


class Window:
    """§4: a window of the query: its instances, and what they hold."""

    def __init__(self, spec: Json, semantics: Json, t0: int, elements: Json) -> None:
        self.kind, self.t0, self.elements = spec["kind"], t0, elements
        self.size, self.slide = spec["size"], spec["slide"] or 1
        self.low, self.high = ENDS[semantics["closure"]]
        self.start = t0 + self.low - 1  # WIN-5
        # WIN-11
        self.least = 0 if semantics["partial"] == "suppressed" else -((self.size - 1) // self.slide)
        self.spans = [(e[0], e[1]) for e in elements]  # WIN-18

    def instance(self, n: int) -> Json:
        """WIN-3: Return a window's number, first and last instant, and borders."""
        o = self.t0 + n * self.slide
        return n, o + self.low, o + self.size + self.high, [o, o + self.size]

    def current(self, t: int) -> Json:
        """WIN-4, WIN-5, WIN-12, WIN-13: Return the window that is active or shown at t, if any."""
        if t < self.start:
            return None
        after = t - self.instance(0)[2]
        if self.kind == "time":
            return self.instance(max(self.least, -(-after // self.slide)))
        n = after // self.slide
        return self.instance(n) if n >= self.least else None

    def content(self, t: int, came: int) -> tuple[int, ...]:
        """WIN-8, WIN-18: Return the places of those of the first elements that it holds."""
        current = self.current(t)
        if current is None:
            return ()
        first, last = current[1], min(current[2], t)
        begun = bisect_right(self.spans, (last, inf), 0, came) if first <= last else 0
        return tuple(j for j in range(begun) if self.spans[j][1] >= first)


class Run:
    """§5, §6: when a query is evaluated over what, by one semantics, with one t0."""

    def __init__(self, document: Json, semantics: Json, t0: int) -> None:
        spec = document["query"]["window"]
        self.semantics, self.report = semantics, {*semantics["report"]}
        elements = document["streams"][spec["stream"]]["elements"]
        is_ordered = all(a[0] <= b[0] and a[2] < b[2] for a, b in pairwise(elements))
        demand(is_ordered and all(e[0] <= e[1] for e in elements), "streams: no order")  # MOD-1
        self.window = Window(spec, semantics, t0, elements)
        self.anchor = t0 if semantics["anchor"] == "t0" else semantics["anchor"]  # REP-11
        self.arrivals = self.instants_of_arrivals()
        self.reported: tuple[int, ...] = ()
        self.fixed = {*self.arrivals, *(x for span in self.window.spans for x in span)}
        self.is_moving = "periodic" not in self.report and self.report != {"non-empty"}

    def instants_of_arrivals(self) -> list[int]:
        """ENG-1: Return the instant of each arrival and of the sentinel."""
        w, horizon = self.window, self.semantics["horizon"]
        every = [x for x, _ in w.spans]
        if horizon == "flush" and every:
            stay = w.size + (w.kind == "range") * (w.slide - 1)
            horizon = max(end for _, end in w.spans) + stay + 2
        if not isinstance(horizon, int):
            return every
        demand(not every or every[-1] < horizon, "the horizon is not after the last element")
        return [*every, horizon]

    def evaluations(self) -> Iterator[Json]:
        """TICK-1, TICK-4, TICK-5, REP-5, REP-6: Yield instant, arrival and window of each."""
        since = start = self.window.start
        for k, arrival in enumerate(self.arrivals):
            instants = range(max(since, start), arrival + (since == arrival))
            since = arrival
            for t in self.visited(instants) if instants else ():
                if self.fires(t, k):
                    self.reported = self.window.content(t, k)
                    borders = (self.window.current(t) or [None])[-1]
                    yield [t, k, borders, [*self.reported]]

    def is_timely(self, t: int, k: int) -> bool:
        """REP-1, REP-4: Return whether the conditions on the instant hold."""
        w = self.window
        if "periodic" in self.report and (t - w.high - self.anchor) % self.semantics["period"]:
            return False
        n, apart = divmod(t - w.instance(0)[2], w.slide)
        is_close = not apart and n >= w.least and t < self.arrivals[k]
        return w.current(t) is not None and (is_close or "window-close" not in self.report)

    def visited(self, instants: range) -> Json:
        """WIN-9, ENG-2: Return all instants of an interval at which a report can begin or end."""
        w, (_, first, last, _) = self.window, self.window.instance(0)
        some = range((instants[0] - last) // w.slide, (instants[-1] - first) // w.slide + 2)
        borders = (x for n in some[: MOST + 1] for x in w.instance(n)[1:3])
        marks = {*self.fixed, *(borders if self.is_moving else instants[: MOST + 1])}
        if len(marks) > MOST:
            raise NotCertified("too many instants between two arrivals")
        marks |= {instants[0], instants[-1]}
        return sorted({x + d for x in marks for d in (-1, 0, 1) if x + d in instants})

    def fires(self, t: int, k: int) -> bool:
        """REP-2, REP-3, REP-6: Return whether the query is evaluated."""
        now = self.window.content(t, k)
        is_worthy = now != self.reported or "content-change" not in self.report
        return is_worthy and (now != () or "non-empty" not in self.report) and self.is_timely(t, k)

    def places(self, shift: int, more: Json) -> Json:
        """Return where the borders of windows lie among all other instants, if t0 moves by `shift`.

        Each place grows with t0. So if two values have the same places, all between have them, too,
        and the same evaluations: those depend on comparisons with borders alone.
        """
        fixed = self.fixed | {*more}
        marks = sorted({x + d for x in fixed for d in range(-MARGIN, MARGIN + 1)})
        if not self.is_moving or not marks:
            return shift
        w = self.window
        some = range(w.least, max(0, (marks[-1] - w.start) // w.slide + 2))
        if some[MOST:]:
            raise NotCertified("too many windows")
        return [bisect_left(marks, x + shift) for n in some for x in w.instance(n)[1:3]]

    def ranges_of_t0(self, registered: int | None, stated: Json) -> list[tuple[int, int]]:
        """ORA-2: Return the values that are tried for an open t0, in ranges."""
        if isinstance(stated, dict):
            demand(stated["from"] <= stated["to"], "a range of t0 without a value")
            return [(stated["from"], stated["to"])]
        w, known = self.window, self.report & {"content-change", "non-empty"}
        if not w.spans or not known or "periodic" in self.report:
            raise NotCertified("an unknown t0 of such windows")
        first = w.spans[0][0]
        hi = first - (self.semantics["partial"] == "reported") * w.least * w.slide
        after = [(x, x) for x in (0, registered) if x is not None and x > hi]
        return [(first - w.size - w.slide + 1, hi), *after]


class Verdict:
    """§8, §11: a certificate, and what is checked of it."""

    def __init__(self, document: Json) -> None:
        if "not_certified" in document:
            raise NotCertified(document["not_certified"])
        require_known(document, FORMAT, "certificate")
        self.document, self.query = document, document["query"]
        self.recording, self.recorded = document["recording"], document["recording"]["relations"]
        self.missing = self.recording["missing"] if self.recorded else [0, 0]  # ORA-3
        self.is_pass = document["verdict"] == "pass"
        self.attempts = document["attempts"]
        self.by_dataset: dict[Json, int] = {}

    def bag(self, rows: Json) -> Counter[Json]:
        """CMP-1: Return rows as a bag. One term stands for all that have the same value."""
        if not all(match('"|<[^<]', term) for row in rows for term in row.values()):
            raise NotCertified("rows with blank nodes")
        same = self.document["values"]
        return Counter(frozenset((v, same.get(t, t)) for v, t in row.items()) for row in rows)

    def answer(self, number: int, run: Run, content: Json) -> Counter[Json]:
        """R2R-1, R2R-9: Return a stated answer. Equal datasets must have the same answer."""
        dataset = frozenset((*triple,) for j in content for triple in run.window.elements[j][4])
        demand(self.by_dataset.setdefault(dataset, number) == number, "equal contents, two answers")
        rows = self.bag(self.document["answers"][number])
        return rows if run.semantics["collection"] == "bag" else Counter({*rows})

    def outputs(self, attempt: Json) -> Iterator[Json]:
        """Check the evaluations of an attempt; yield each output and the window's borders."""
        run = Run(self.document, attempt["semantics"], attempt["t0"])
        operator = self.query["r2s"] or run.semantics["r2s"]  # R2S-6
        last, base, old, kept = Counter[Json](), None, Counter[Json](), set[int]()
        found = run.evaluations()
        for said in attempt["evaluations"]:
            place = f"t0={attempt['t0']}, evaluation at {said['t']}"
            due, content = next(found, None), said["content"]
            demand([said["t"], said["arrival"], said["window"], content] == due, f"{place}: {due}")
            rows = self.answer(said["answer"], run, content)
            if operator == "append":  # R2S-7
                base, kept = said["base"] or 0, kept & {*content}
                old, kept = self.answer(base, run, kept), {*content}
            demand(said["base"] == base, f"{place}: the base is not {said['base']}")
            output = {"Rstream": rows, "Dstream": old - rows}.get(operator, rows - old)
            demand(self.bag(said["output"]) == output, f"{place}: another output")
            is_sent = {"emit": True, "suppress": bool(output), "once": bool(output or last)}
            demand(said["emitted"] is is_sent[run.semantics["empty"]], f"{place}: emitted or not")
            is_new = run.semantics["base"] != "previous-new" or rows - old
            if operator in DIFFERENCES and is_new:
                base, old = said["answer"], rows  # R2S-4, R2S-8
            if said["emitted"]:
                yield output, said["window"]
            last = output
        demand(not attempt["complete"] or next(found, None) is None, "an evaluation is left out")

    def is_relation(self, index: int, output: Json) -> bool:
        """ORA-11: Return whether an output, and its window, are those of a relation."""
        if index >= len(self.recorded) or self.recorded[index]["window"] not in (None, output[1]):
            return False
        return bool(output[0] == self.bag(self.recorded[index]["rows"]))

    def divergence(self, before: int, attempt: Json, outputs: Json) -> int | None:
        """ORA-3: Return the first output that is no relation, if so many are missing before."""
        for number, output in enumerate(outputs):
            index, count = number - before, len(self.recorded)
            is_missing = index < 0 or count <= index < count + self.missing[1]
            if not is_missing and not self.is_relation(index, output):
                return number
        demand(attempt["complete"], "the evaluations end before they diverge")
        return len(outputs) if len(outputs) < before + len(self.recorded) else None

    def check(self) -> str:
        """Check the certificate, and return what it certifies."""
        for attempt in self.attempts:
            demand(self.has_meaning(attempt["semantics"]), "a semantics without a meaning")
            outputs = [*self.outputs(attempt)]
            found = [self.divergence(n, attempt, outputs) for n in range(len(attempt["diverges"]))]
            demand(len(found) == self.missing[0] + 1, "an alignment is left out")
            demand(found == attempt["diverges"], f"t0={attempt['t0']} diverges at {found}")
            demand((None in found) == self.is_pass, f"t0={attempt['t0']}: another verdict")
        trusted = ", ".join(["SPARQL answers", "equal values", *sorted(self.cover())])
        return f"{self.document['verdict']} t0={self.attempts[0]['t0']}; trusted: {trusted}"

    def cover(self) -> set[str]:
        """ORA-1: Check that the attempts are those of the profile; return what is trusted."""
        fields, known, trusted = self.document["profile"]["fields"], 0, set()
        for values in product(*fields.values()):
            semantics = dict(zip(fields, values, strict=True))
            mine = [attempt for attempt in self.attempts if attempt["semantics"] == semantics]
            known += len(mine)
            if not self.has_meaning(semantics):
                continue
            demand(bool(mine) or self.is_pass, "an attempt is left out")
            trusted |= self.cover_t0(mine) if mine else set()
        demand(known == len(self.attempts), "the profile has no such assignment")
        if not self.is_pass and not all(s["ordered"] for s in self.document["streams"].values()):
            trusted.add("that the arrival order cannot matter")  # ORA-4
        return trusted

    def has_meaning(self, semantics: Json) -> bool:
        """SEM-2, QRY-5: Return whether its values mean something together, and with the query."""
        has_base, report = semantics["r2s"] in DIFFERENCES, semantics["report"]
        asked = {"base": has_base, "period": "periodic" in report, "anchor": "periodic" in report}
        is_whole = all((semantics[name] is not None) == is_so for name, is_so in asked.items())
        return bool(report) and is_whole and (has_base or self.query["r2s"] not in DIFFERENCES)

    def cover_t0(self, attempts: Json) -> set[str]:
        """ORA-2: Check that the attempts have every t0 that is tried; return what is trusted."""
        stated = self.document["profile"]["t0"]
        if isinstance(stated, list):
            named = {attempt["t0"] for attempt in attempts}
            demand(named == {*stated} or (self.is_pass and named <= {*stated}), "another t0")
            return set()
        run = Run(self.document, attempts[0]["semantics"], attempts[0]["t0"])
        tried = sorted((attempt["t0"], attempt["to"]) for attempt in attempts)
        ranges = run.ranges_of_t0(self.query["registered"], stated)
        for lo, hi in ranges:
            for first, last in tried:
                lo = last + 1 if first <= lo <= last else lo
            demand(lo > hi or self.is_pass, f"t0={lo} is not tried")
        borders = [x for relation in self.recorded for x in relation["window"] or ()]
        for attempt in attempts:
            run, first = Run(self.document, attempt["semantics"], attempt["t0"]), attempt["t0"]
            same = run.places(0, borders) == run.places(attempt["to"] - first, borders)
            demand(first <= attempt["to"] and same, f"the values from t0={first} on are no class")
        is_known = any(lo <= tried[0][0] <= hi for lo, hi in ranges)
        demand(is_known or not self.is_pass or stated == "unknown", "another t0")
        if self.is_pass:
            return set() if is_known else {"that this t0 is tried"}
        return set() if run.semantics["closure"] == "[)" else {"that no published t0 is tried"}


def read(path: str) -> Json:
    """Return the document of a file. Raises ValueError for a key that is there twice."""
    with Path(path).open("rb") as file:
        text = file.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise NotCertified(f"more than {MOST_BYTES} bytes")
    return json.loads(text.decode(), object_pairs_hook=unique)


def unique(pairs: list[tuple[str, Json]]) -> Json:
    """Return an object of which each key is there once."""
    if len(pairs) != len(dict(pairs)):
        raise ValueError(f"a key is there twice: {[key for key, _ in pairs]}")
    return dict(pairs)


def main(paths: list[str], verdict: Callable[[Json], Verdict] = Verdict) -> int:
    """Check certificates; print a line for each, and return the exit code."""
    codes = {0} if paths else {2}
    for path in paths:
        try:
            line = f"OK {verdict(read(path)).check()}"
        except Exception as error:  # a file that is no certificate can raise any
            word, code = WORDS.get(type(error), (f"no certificate: {type(error).__name__}:", 2))
            line = f"{word} {error}"
            codes.add(code)
        line = f"{path}: {line[:500]}"
        print("".join(x if x.isprintable() else ascii(x)[1:-1] for x in line))
    return next(code for code in (2, 1, 3, 0) if code in codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
