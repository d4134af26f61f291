"""Writes the certificate of a verdict, from what the engine computes. It can say what
`checker.FORMAT` lists.
"""

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
from refengine.core.r2s import RelationToStream
from refengine.core.semantics import Semantics, show
from refengine.core.window import WindowView, borders_of_window
from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Bag, Dataset, Element, Relation, Stream, Term
from refengine.model.errors import RefengineError
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.assignments import name_t0, plans
from refengine.oracle.beginnings import is_range
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
        self._require_certifiable()
        if judgement.passed:
            self._add_pass(judgement)
        else:
            self._add_fail()
        return self._document("pass" if judgement.passed else "fail")

    def _require_certifiable(self) -> None:
        """Raise NotCertified for a question, a profile or a recording that the checker declines."""
        if self.recorded.mode is not Mode.VALUE:
            raise NotCertified("terms are compared as terms")
        if len(self.recorded.query.windows) > 1:
            raise NotCertified("several windows")
        if self.recorded.window_closure is not None:
            raise NotCertified("the closure of the windows that the engine states")
        for key, part in {**_inputs(self.recorded), "profile": _profile(self.profile)}.items():
            checker.require_known(part, checker.FORMAT[key], key)

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
            if is_range(stated):
                planned = _begun(planned, trial.semantics.t0)
            if name_t0(planned)[0] == trial.semantics:
                self._add_attempt(planned, planned.views[0].t0 if is_range(stated) else None)
                if not trial.is_order_known and None not in self.attempts[0]["diverges"]:
                    raise NotCertified("arrival orders were searched")
                return
        raise NotCertified("its assignment is not found again")

    def _add_fail(self) -> None:
        """Add an attempt of every assignment, and of each class of an open t0."""
        stated = self.profile.fields.get("t0", UNKNOWN)
        for planned in plans(self.recorded.question, self.profile, self.answers.plan):
            unordered = [not self.recorded.streams[v.spec.stream].ordered for v in planned.views]
            if any(unordered) and order_matters(planned):
                raise NotCertified("arrival orders were searched")
            if not is_range(stated):
                self._add_attempt(planned, None)
                continue
            run = self._run(planned, 0)
            for lo, hi in run.ranges_of_t0(self.recorded.query.registered, _t0(stated)):
                self._add_classes(planned, lo, hi)

    def _add_classes(self, planned: Plan, lo: int, hi: int) -> None:
        """Add an attempt of each class of t0 in a range."""
        borders = [border for each in self.recorded.windows if each for border in each]
        while lo <= hi:
            run = self._run(planned, lo)
            before, last = run.places(0, borders), hi
            least = lo
            while least < last:  # the places grow with t0
                middle = (least + last + 1) // 2
                if run.places(middle - lo, borders) == before:
                    least = middle
                else:
                    last = middle - 1
            self._add_attempt(_begun(planned, lo), least)
            lo = least + 1

    def _run(self, planned: Plan, t0: int) -> checker.Run:
        """Return the checker's evaluations under a plan with another t0."""
        return checker.Run(_inputs(self.recorded), _semantics(planned.semantics), t0)

    def _add_attempt(self, planned: Plan, last: int | None) -> None:
        """Add an attempt: the evaluations up to where every alignment has diverged, or all."""
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
                "t0": planned.views[0].t0,
                "to": last,
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
        """Yield each evaluation, its output, and the borders of its window."""
        query, semantics = self.recorded.query, planned.semantics
        asked: list[Relation] = []

        def answer(body: Any, dataset: Dataset) -> Relation:
            asked.append(self.answers(body, dataset))
            return asked[-1]

        successive = recomputed_answers(query, planned, self.recorded.static, answer)
        applied = operator(query, semantics)
        r2s = RelationToStream(applied, semantics.base, semantics.empty)
        base: int | None = None
        kept: set[int] = set()
        (view,) = planned.views
        for at in engine.evaluations(planned):
            asked.clear()
            change = successive.answer_over(at.windows)
            output = r2s.step(change)
            (held,) = at.windows
            now = self._place_of_answer(view, held.content, asked[0])
            if applied.reads_kept_content:
                base = self._place_of_answer(view, kept.intersection(held.content), asked[1])
            borders = borders_of_window(view, held.n)
            evaluation = {
                "t": at.t,
                "arrival": at.arrival,
                "window": borders and [*borders],
                "content": [*held.content],
                "answer": now,
                "base": base,
                "output": _rows(output.rows),
                "emitted": output.is_emitted,
            }
            self.relations.append(output.rows)
            yield evaluation, output.rows, borders
            if output.base_moves:
                successive.rebase()
                if not applied.emits_whole_answers and not applied.reads_kept_content:
                    base = now
            kept = {*held.content}

    def _place_of_answer(self, view: WindowView, held: Iterable[int], found: Relation) -> int:
        """Return the place of an answer in the list of answers, one for each dataset."""
        dataset = frozenset(triple for place in held for triple in view.elements[place].graph)
        if dataset not in self.places_of_answers:
            self.places_of_answers[dataset] = len(self.places_of_answers)
            self.answer_rows.append(found.rows)
        return self.places_of_answers[dataset]

    def _document(self, verdict: str) -> Json:
        """Return the certificate as a JSON object."""
        rows = self.recorded.rows
        return {
            **_inputs(self.recorded),
            "profile": _profile(self.profile),
            "verdict": verdict,
            "answers": [_rows(bag) for bag in self.answer_rows],
            "values": _values([*self.answer_rows, *rows, *self.relations]),
            "attempts": self.attempts,
        }


def _begun(planned: Plan, t0: Any) -> Plan:
    """Return a plan with another t0, an integer."""
    return begin_at(replace(planned, semantics=replace(planned.semantics, t0=t0)), t0)


def _profile(profile: Profile) -> Json:
    """Return a profile as JSON."""
    fields = {
        name: [_value(value) for value in profile.choices(name, (0,))]
        for name in Semantics.__dataclass_fields__
        if name != "t0"
    }
    stated = profile.fields.get("t0", UNKNOWN)
    t0 = _t0(stated) if is_range(stated) else [_value(x) for x in profile.choices("t0", (0,))]
    return {"name": profile.name, "fields": fields, "t0": t0}


def _t0(stated: Any) -> Any:
    """Return an open t0 as JSON."""
    return {"from": stated.lo, "to": stated.hi} if isinstance(stated, Between) else "unknown"


def _inputs(recorded: RecordingToJudge) -> Json:
    """Return the query, the streams and the recording as JSON."""
    query = recorded.query
    (window,) = query.windows
    return {
        "query": {
            "window": {name: _value(value) for name, value in vars(window).items()},
            "body": query.body.text,
            "r2s": _value(query.r2s),
            "registered": query.registered,
        },
        "streams": {window.stream: _stream(recorded.streams[window.stream])},
        "recording": {
            "missing": [*recorded.missing],
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


def _stream(stream: Stream) -> Json:
    return {"ordered": stream.ordered, "elements": [_element(e) for e in stream.elements]}


def _element(e: Element) -> list[Any]:
    end = e.app if e.end is None else e.end
    return [e.app, end, e.sys, e.batch or 0, sorted([*triple] for triple in e.graph)]


def _semantics(semantics: Semantics) -> Json:
    return {name: _value(v) for name, v in vars(semantics).items() if name != "t0"}


def _value(value: Any) -> Any:
    """Return the value of a field as JSON: an integer, true, false, null, words, or a word."""
    if value is None or isinstance(value, int):
        return value
    return sorted(map(str, value)) if isinstance(value, frozenset | tuple) else show(value)


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
