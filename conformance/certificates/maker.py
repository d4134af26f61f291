"""Writes the certificate of a verdict, from what the engine computes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from conformance.certificates import checker
from conformance.certificates.arrival_order import with_likely_order
from refengine.core import engine
from refengine.core.answers import recomputed_answers
from refengine.core.plan import Plan, operator
from refengine.core.profile import UNKNOWN, Between, Profile
from refengine.core.query import Window
from refengine.core.r2s import RelationToStream
from refengine.core.semantics import Semantics, show
from refengine.core.window import borders_of_window
from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Bag, Dataset, Element, Relation, Stream, Term
from refengine.model.errors import RefengineError
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.assignments import name_t0, plans
from refengine.oracle.beginnings import find_t0_candidates, is_range, shows_empty_windows
from refengine.oracle.judge import Judgement
from refengine.oracle.orders import order_matters
from refengine.oracle.t0_classes import begin_at
from refengine.oracle.trial import RecordingToJudge

MOST_EVALUATIONS = 100_000  # of one certificate
Json = dict[str, Any]
NotCertified = checker.NotCertified


def certificate(judgement: Judgement, profile: Profile, answers: SharedAnswers) -> Json:
    """Return the certificate of a verdict under a profile; where none can be made, a document with
    the reason. `answers` is the table of the verdict.
    """
    try:
        return _Certificate(judgement.recorded, profile, answers).of(judgement)
    except NotCertified as reason:
        return {"not_certified": str(reason)}
    except RefengineError as error:
        return {"not_certified": f"an answer cannot be computed: {error}"}


def write_certificate(
    folder: Path, name: str, judgement: Judgement | None, profile: Profile, answers: SharedAnswers
) -> None:
    """Write the certificate of a verdict into a folder; without a judgement, that there is none.
    Raises RefengineError if it cannot be written.
    """
    document: Json = {"not_certified": "the judge came to no verdict"}
    if judgement is not None:
        document = certificate(judgement, profile, answers)
    path = folder / f"{re.sub(r'[^A-Za-z0-9_.+-]', '-', name)[:200]}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        reason = f"cannot be written: {error.strerror}"
        raise RefengineError(reason, rule="usage", place=str(path)) from None


@dataclass
class _Certificate:
    """The certificate of one verdict. It grows by one attempt after the other."""

    recorded: RecordingToJudge
    profile: Profile
    answers: SharedAnswers
    attempts: list[Json] = field(default_factory=list)
    relations: list[Bag] = field(default_factory=list)
    places_of_answers: dict[Dataset, int] = field(default_factory=dict)
    answer_rows: list[Bag] = field(default_factory=list)
    evaluations: int = 0

    def of(self, judgement: Judgement) -> Json:
        """Return the certificate of the verdict on the recording."""
        if self.recorded.mode is not Mode.VALUE:
            raise NotCertified("terms are compared as terms")
        if judgement.passed:
            self._add_pass(judgement)
        else:
            self._add_fail()
        return self._document("pass" if judgement.passed else "fail")

    def _add_pass(self, judgement: Judgement) -> None:
        """Add the attempt of the assignment that explains the recording."""
        trial = judgement.named_trial
        if not trial.is_order_known:
            question = with_likely_order(self.recorded, self.answers)
            if question is None:
                raise NotCertified("arrival orders were searched")
            self.recorded = replace(self.recorded, question=question)
        stated = self.profile.fields.get("t0", UNKNOWN)
        for planned in plans(self.recorded.question, self.profile, self.answers.plan):
            policy = None
            if is_range(stated):
                planned = self._begun(planned, trial.semantics.t0)
            else:
                policy = planned.semantics.t0
            named = name_t0(planned)[0]
            if named == replace(trial.semantics, offset=named.offset):
                last = planned.views[0].t0 if is_range(stated) else None
                self._add_attempt(planned, policy, last)
                if not trial.is_order_known and None not in self.attempts[0]["diverges"]:
                    raise NotCertified("arrival orders were searched")
                return
        raise NotCertified("its assignment is not found again")

    def _begun(self, planned: Plan, t0: Any) -> Plan:
        """Return a plan with another t0, an integer or a policy."""
        if isinstance(t0, int):
            return begin_at(replace(planned, semantics=replace(planned.semantics, t0=t0)), t0)
        setting = self.recorded.question.under(replace(planned.semantics, t0=t0))
        return self.answers.plan(setting)

    def _add_fail(self) -> None:
        """Add an attempt of every assignment, and of each class of an open t0."""
        stated = self.profile.fields.get("t0", UNKNOWN)
        for planned in plans(self.recorded.question, self.profile, self.answers.plan):
            unordered = [not self.recorded.streams[v.spec.stream].ordered for v in planned.views]
            if any(unordered) and order_matters(planned):
                raise NotCertified("arrival orders were searched")
            if not is_range(stated):
                self._add_attempt(planned, planned.semantics.t0, None)
                continue
            if stated == UNKNOWN and shows_empty_windows(planned.semantics):
                raise NotCertified("windows before the range of t0 can be reported")
            candidates = find_t0_candidates(self.recorded.query, planned, stated)
            self._add_classes(planned, candidates.lo, candidates.hi)
            for other in candidates.others:
                if not isinstance(other, int):
                    raise NotCertified("several windows begin by a policy")
                self._add_classes(planned, other, other)

    def _add_classes(self, planned: Plan, lo: int, hi: int) -> None:
        """Add an attempt of each class of t0 in a range."""
        borders = [border for each in self.recorded.windows if each for border in each]
        inputs = _inputs(self.recorded)
        while lo <= hi:
            run = checker.Run(inputs, _semantics(planned.semantics), [lo] * len(planned.views))
            before, last = run.places(0, borders), hi
            least = lo
            while least < last:  # the places grow with t0
                middle = (least + last + 1) // 2
                if run.places(middle - lo, borders) == before:
                    least = middle
                else:
                    last = middle - 1
            self._add_attempt(self._begun(planned, lo), None, least)
            lo = least + 1

    def _add_attempt(self, planned: Plan, policy: Any, last: int | None) -> None:
        """Add an attempt: the evaluations up to where every alignment has diverged, or all."""
        if planned.semantics.is_consuming:
            raise NotCertified("elements are consumed")
        t0s = [view.t0 for view in planned.views]
        said: list[Json] = []
        diverged: dict[int, int | None] = dict.fromkeys(range(self._missing[0] + 1))
        sent = 0
        is_complete = True
        for evaluation, output, borders in self._steps(planned):
            said.append(evaluation)
            self._count()
            if not evaluation["emitted"]:
                continue
            for before, at in diverged.items():
                if at is None and not self._explains(sent - before, output, borders, planned):
                    diverged[before] = sent
            sent += 1
            if None not in diverged.values():
                is_complete = False
                break
        if is_complete:
            for before, at in diverged.items():
                if at is None and sent < before + len(self.recorded.relations):
                    diverged[before] = sent
        self.attempts.append(
            {
                "semantics": _semantics(planned.semantics),
                "t0": t0s,
                "to": last,
                "policy": None if policy is None or isinstance(policy, int) else str(policy),
                "evaluations": said,
                "complete": is_complete,
                "diverges": list(diverged.values()),
            }
        )

    @property
    def _missing(self) -> tuple[int, int]:
        return self.recorded.missing.before, self.recorded.missing.after

    def _count(self) -> None:
        """Count an evaluation. Raises NotCertified beyond the bound."""
        self.evaluations += 1
        if self.evaluations > MOST_EVALUATIONS:
            raise NotCertified(f"more than {MOST_EVALUATIONS} evaluations")

    def _explains(self, index: int, output: Bag, borders: Any, planned: Plan) -> bool:
        """ORA-3: Return whether an output may be missing, or is the relation of an index."""
        rows = self.recorded.rows
        if index < 0 or len(rows) <= index < len(rows) + self._missing[1]:
            return True
        if index >= len(rows):
            return False
        is_about = self.recorded.is_about(index, borders, planned.semantics.closure)
        return is_about and compare.equal(output, rows[index], self.recorded.mode)

    def _steps(self, planned: Plan) -> Iterator[tuple[Json, Bag, Any]]:
        """Yield each evaluation, its output, and the borders of its first window."""
        query, semantics = self.recorded.query, planned.semantics
        asked: list[Relation] = []

        def answer(body: Any, dataset: Dataset) -> Relation:
            asked.append(self.answers(body, dataset))
            return asked[-1]

        successive = recomputed_answers(query, planned, self.recorded.static, answer)
        applied = operator(query, semantics)
        r2s = RelationToStream(applied, semantics.base, semantics.empty)
        base: int | None = None
        kept: list[list[int]] = [[] for _ in planned.views]
        for at in engine.evaluations(planned):
            asked.clear()
            change = successive.answer_over(at.windows)
            output = r2s.step(change)
            contents = [[*held.content] for held in at.windows]
            now = self._place_of_answer(planned, contents, asked[0])
            if applied.reads_kept_content:
                both = [sorted({*a} & {*b}) for a, b in zip(contents, kept, strict=True)]
                base = self._place_of_answer(planned, both, asked[1])
            borders = [
                borders_of_window(view, held.n)
                for view, held in zip(planned.views, at.windows, strict=True)
            ]
            evaluation = {
                "t": at.t,
                "arrival": at.arrival,
                "windows": [
                    [borders and [*borders], held]
                    for borders, held in zip(borders, contents, strict=True)
                ],
                "answer": now,
                "base": base,
                "output": _rows(output.rows),
                "emitted": output.is_emitted,
            }
            self.relations.append(output.rows)
            yield evaluation, output.rows, borders[0]
            if output.base_moves:
                successive.rebase()
                if not applied.emits_whole_answers and not applied.reads_kept_content:
                    base = now
            kept = contents

    def _place_of_answer(self, planned: Plan, contents: list[list[int]], found: Relation) -> int:
        """Return the place of an answer in the list of answers, one for each dataset."""
        dataset = frozenset(
            (view.spec.name or "", *triple)
            for view, held in zip(planned.views, contents, strict=True)
            for place in held
            for triple in view.elements[place].graph
        )
        if dataset not in self.places_of_answers:
            self.places_of_answers[dataset] = len(self.places_of_answers)
            self.answer_rows.append(found.rows)
        return self.places_of_answers[dataset]

    def _document(self, verdict: str) -> Json:
        """Return the certificate as a JSON object."""
        stated = self.profile.fields.get("t0", UNKNOWN)
        t0: Any = "unknown"
        if isinstance(stated, Between):
            t0 = {"from": stated.lo, "to": stated.hi}
        elif not is_range(stated):
            t0 = [x if isinstance(x, int) else str(x) for x in self.profile.choices("t0", (0,))]
        fields = {
            name: [_value(value) for value in self.profile.choices(name, (0,))]
            for name in Semantics.__dataclass_fields__
            if name != "t0"
        }
        rows = self.recorded.rows
        return {
            **_inputs(self.recorded),
            "profile": {"name": self.profile.name, "fields": fields, "t0": t0},
            "verdict": verdict,
            "answers": [_rows(bag) for bag in self.answer_rows],
            "values": _values([*self.answer_rows, *rows, *self.relations]),
            "attempts": self.attempts,
        }


def _inputs(recorded: RecordingToJudge) -> Json:
    """Return the query, the streams and the recording as JSON."""
    query = recorded.query
    names = dict.fromkeys(window.stream for window in query.windows)
    closure = recorded.window_closure
    return {
        "query": {
            "windows": [_window(window) for window in query.windows],
            "body": query.body.text,
            "r2s": None if query.r2s is None else str(query.r2s),
            "registered": query.registered,
        },
        "streams": {name: _stream(recorded.streams[name]) for name in names},
        "recording": {
            "missing": [*recorded.missing],
            "closure": None if closure is None else str(closure),
            "relations": [
                {"rows": _rows(rows), "window": _stated(recorded, index)}
                for index, rows in enumerate(recorded.rows)
            ],
        },
    }


def _stated(recorded: RecordingToJudge, index: int) -> list[int] | None:
    """Return the window that the engine states for a relation."""
    stated = recorded.windows[index] if index < len(recorded.windows) else None
    return None if stated is None else [*stated]


def _window(window: Window) -> Json:
    if window.by:
        raise NotCertified("partitions by keys")
    return {
        "stream": window.stream,
        "kind": str(window.kind),
        "size": window.size or 0,
        "slide": window.slide or 1,
        "lag": window.lag,
        "unit": str(window.unit),
        "name": window.name or "",
        "triggers": window.triggers,
    }


def _stream(stream: Stream) -> Json:
    return {"ordered": stream.ordered, "elements": [_element(e) for e in stream.elements]}


def _element(e: Element) -> list[Any]:
    end = e.app if e.end is None else e.end
    return [e.app, end, e.sys, e.batch or 0, sorted([*triple] for triple in e.graph)]


def _semantics(semantics: Semantics) -> Json:
    return {name: _value(v) for name, v in vars(semantics).items() if name != "t0"}


def _value(value: Any) -> Any:
    """Return the value of a field as JSON: an integer, null, words, or a word."""
    if value is None or type(value) is int:
        return value
    return sorted(map(str, value)) if isinstance(value, frozenset) else show(value)


def _rows(bag: Bag) -> list[dict[str, Term]]:
    return [dict(row) for row in sorted(bag.elements())]


def _values(bags: Iterable[Bag]) -> Mapping[Term, Term]:
    """CMP-1, CMP-2: Return the term that stands for all of the same value, of each other term."""
    terms = sorted({term for bag in bags for row in bag for _, term in row})
    classes: dict[Any, list[Term]] = {}
    numbers = []
    for term in terms:
        value = compare.value(term)
        if isinstance(value, compare.TolerantNumber) and value.value == value.value:
            numbers.append((value, term))
        else:
            is_nan = isinstance(value, compare.TolerantNumber)
            classes.setdefault("NaN" if is_nan else repr(value), []).append(term)
    numbers.sort(key=lambda pair: pair[0].value)
    group: list[tuple[compare.TolerantNumber, Term]] = []
    groups = []
    for number in numbers:
        if not group or not any(compare.is_near(number[0], other[0]) for other in group):
            group = []
            groups.append(group)
        group.append(number)
    for group in groups:
        if not all(compare.is_near(a[0], b[0]) for a in group for b in group):
            raise NotCertified("numbers of which each is near to the next, but not all")
    listed = [*classes.values(), *([term for _, term in group] for group in groups)]
    return {term: same[0] for same in listed for term in same[1:]}
