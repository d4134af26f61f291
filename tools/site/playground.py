"""The Python half of the playground: a question in JSON comes in from the page, its answer in JSON
goes out. It runs in the browser, under Pyodide, and natively in the tests.

What the page holds is a case: `query`, `streams`, `static` and `semantics` as a case file has them.
Of a query in a dialect, `query` has the `dialect` and the `text`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from inspect import cleandoc
from itertools import islice
from typing import Any

from conformance.corpus import rules
from conformance.corpus.case_file import (
    BASE,
    PREFIXES,
    Case,
    profile_of,
    statements_of,
    streams_of,
)
from conformance.verdict.outcomes import judge_relations
from refengine import __version__, dialects, sparql, trace
from refengine.core import engine, profiles, r2r, silence
from refengine.core.engine import Plan, Step
from refengine.core.profile import Profile, is_open, show_open
from refengine.core.query import Query, from_table
from refengine.core.question import Question
from refengine.core.semantics import ENUMS, FIELDS, INTEGRAL, Semantics, semantics_to_json, show
from refengine.core.static import resolve_static
from refengine.drawings.labels import Shorten, term_shortener
from refengine.drawings.pairs import Pair
from refengine.drawings.timeline import timeline
from refengine.model.elements import XSD, Element
from refengine.model.errors import RefengineError
from refengine.oracle.drawn_verdict import draw_verdict
from refengine.rdf.queries import read_query
from refengine.rdf.recordings import read_recording
from refengine.rdf.sources import Text
from refengine.rdf.streams import read_stream
from refengine.run_with_witnesses import Hearing, RunWithWitnesses
from refengine.sparql.witnesses import why_absent
from tools.site.exports import as_case, as_python, as_report, as_toml, query_table

Json = dict[str, Any]
MOST_STEPS = 500  # evaluations that are shown
INTEGER = re.compile(r'"(-?[0-9]+)"\^\^xsd:integer\b')
INTEGER_TERM = re.compile(rf'^"(-?[0-9]+)"\^\^<{XSD}integer>$')
LOCAL = re.compile(rf"^<{BASE}([A-Za-z]\w*)>$", re.ASCII)
NATIVE = "toml"  # the language of a query that is none of the dialects
SIDES = {"due": "A", "given": "B"}
ONE_SIDE = {"due": "", "given": "reports"}


def answer(text: str) -> str:
    """Return the answer to a request, both in JSON. A request has a `task`, which `TASKS` names; an
    error of the engine is an answer with `refused`.
    """
    request = json.loads(text)
    try:
        answered = TASKS[request["task"]](request)
    except RefengineError as error:
        notes = getattr(error, "__notes__", ())
        reason = "\n".join([str(error), *notes])
        answered = {"refused": reason, "rule": error.rule, "kind": type(error).__name__}
    return with_names(json.dumps(answered))


def with_names(text: str) -> str:
    """Return a text in which what stands in for pyoxigraph, as in a browser, has its own name."""
    name = getattr(sys.modules.get("pyoxigraph"), "NAME", "pyoxigraph")
    return text.replace("pyoxigraph", name)


# What the page begins with


def describe(_: Json) -> Json:
    """Return the fields of a semantics with their values and the rules of these, the profiles, and
    the languages of queries.
    """
    about = sentences_of_fields()
    return {
        "fields": [{"name": name, "about": about[name], **_field(name)} for name in FIELDS],
        "profiles": {
            name: {
                field: None if is_open(value) else show(value)
                for field, value in profile.fields.items()
            }
            for name, profile in profiles.PROFILES.items()
        },
        "dialects": {NATIVE: "TOML"} | {name: d.title for name, d in dialects.DIALECTS.items()},
    }


def _field(name: str) -> Json:
    """Return the words that a field may have, each with its rule; "" is the rule of integers."""
    of_values = rules.RULES[name]
    return {
        "values": {value: rule for value, rule in of_values.items() if value != rules.INTEGER},
        "integer": of_values.get(rules.INTEGER),
        "several": name not in ENUMS and name not in INTEGRAL,
    }


def sentences_of_fields() -> dict[str, str]:
    """Return what the docstring of Semantics says of each field."""
    sentences: dict[str, str] = {}
    name = ""
    for line in cleandoc(Semantics.__doc__ or "").splitlines():
        if line.startswith("- `"):
            name, _, text = line.removeprefix("- `").partition("`: ")
            sentences[name] = text
        elif name and line.startswith("  "):
            sentences[name] += f" {line.strip()}"
        else:
            name = ""
    return sentences


# Questions


@dataclass(frozen=True)
class Asked:
    """The question of a request, and how its terms are written shortly."""

    question: Question
    shorten: Shorten

    def short(self, text: str) -> str:
        """Return a text of terms with prefixes, and integers as digits: `:a :p 1`."""
        return INTEGER.sub(r"\1", self.shorten(text))

    @classmethod
    def of(cls, request: Json) -> Asked:
        """Return what a request asks. Raises RefengineError."""
        written = request.get("static", "")
        static = statements_of(PREFIXES + written) if written.strip() else frozenset()
        query = query_of(request["query"], bool(static))
        query, static = resolve_static(query, {}, static)
        streams = streams_of(Case("the page", request))
        text = f"PREFIX : <{BASE}>\n{query.body.text}"
        return cls(Question(query, streams, static), term_shortener(text))


def query_of(written: Json, static: bool = False) -> Query:
    """Return a query from its table, or from its text in a dialect or in TOML."""
    if "text" not in written:
        return from_table(written)
    dialect = None if written["dialect"] == NATIVE else written["dialect"]
    return read_query(Text("query", written["text"]), dialect, static)


def profile_in(request: Json, key: str = "semantics") -> Profile:
    """Return the profile of a request. A field is left open as `0..9`, `time|tuple` or
    `unknown`.
    """
    return profile_of({name: _opened(text) for name, text in request[key].items()})


def _opened(text: str) -> Any:
    """Return the text of a field's value, or what leaves it open, as a case writes it."""
    if found := re.fullmatch(r"(-?[0-9]+)\.\.(-?[0-9]+)", text):
        return {"between": [int(found[1]), int(found[2])]}
    if "|" in text:
        return {"one_of": text.split("|")}
    return text


def witnesses() -> tuple[str, ...]:
    """Return the witnesses that can be asked here."""
    absent = why_absent(r2r.WITNESSES)
    return tuple(name for name in r2r.WITNESSES if name not in absent)


# Running


@dataclass(frozen=True)
class Ran:
    """What a query gave under one semantics: the steps, each as JSON, and notes."""

    steps: list[Json]
    notes: list[str]
    semantics: Semantics

    @property
    def reports(self) -> list[Json]:
        """The steps that emitted a report."""
        return [step for step in self.steps if step["emitted"]]


def run(request: Json) -> Json:
    """Return the reports of a question under one semantics, or two (`other`), with a time line."""
    asked = Asked.of(request)
    ran = [_run(asked, profile_in(request))]
    if request.get("other"):
        ran.append(_run(asked, profile_in(request, "other")))
    pairs = _pairs(ran)
    evidence = _evidence(asked, ran)
    drawing = timeline(evidence, pairs, None, SIDES if len(ran) > 1 else ONE_SIDE)
    return {
        "runs": [
            {
                "steps": one.steps,
                "notes": one.notes,
                "semantics": semantics_to_json(one.semantics),
            }
            for one in ran
        ],
        "pairs": [
            [None if side is None else side["step"] for side in (pair.due, pair.actual)]
            + [pair.differs]
            for pair in pairs
        ],
        "drawing": drawing.svg("Time line of the reports"),
        "streams": list(dict.fromkeys(window.stream for window in asked.question.query.windows)),
    }


def _run(asked: Asked, profile: Profile) -> Ran:
    query, streams = asked.question.query, asked.question.streams
    semantics = profile.semantics()
    planned = engine.plan(query, streams, semantics)
    hearing = Hearing(witnesses(), sparql.Limits())
    static, most = asked.question.static, engine.MAX_REPORTS
    whole = RunWithWitnesses(query, planned, static, hearing, most, is_evaluator_requested=True)
    counts = silence.EvaluationCounts()
    steps: list[Json] = []
    for step, confirming in islice(whole, MOST_STEPS):
        counts.add(step)
        steps.append(_step(asked, planned, step, confirming, len(steps)))
    notes = list(silence.notes_on_hidden_ranges(planned))
    if planned.late:
        notes.append(f"MOD-2: {len(planned.late)} late elements were dropped")
    if len(steps) == MOST_STEPS:
        notes.append(f"only the first {MOST_STEPS} evaluations are shown")
    if why := silence.why_silent(query, streams, planned, counts):
        notes.append(why)
    return Ran(steps, notes, semantics)


def _step(asked: Asked, planned: Plan, step: Step, confirming: list[str], number: int) -> Json:
    report = step.report
    return {
        "step": number,
        "emitted": step.emitted,
        "windows": [list(borders) if borders else None for borders in report.windows],
        "contents": [
            [_element(asked, element) for element in content] for content in report.contents
        ],
        "key": list(map(asked.short, report.key)),
        "takes_back": report.takes_back,
        "late": report.late,
        "evaluation": report.evaluation,
        "trigger": report.trigger,
        "instant": report.instant,
        "rows": [
            {name: asked.short(term) for name, term in row}
            for row in sorted(report.relation.rows.elements())
        ],
        "witnesses": confirming,
        "rules": list(trace.lines(asked.question.query, planned, step)),
    }


def _element(asked: Asked, element: Element) -> Json:
    triples = (asked.short(" ".join(triple)) for triple in sorted(element.graph))
    return {"at": element.app, "graph": " . ".join(triples)}


def _pairs(ran: Sequence[Ran]) -> list[Pair]:
    """Return the reports as they are drawn. Of two semantics those with the same window, instant
    and rows are a pair; what stands between is paired in order, and differs.
    """
    drawn = [[_drawn(step) for step in one.reports] for one in ran]
    if len(ran) == 1:
        return [Pair(number, None, report) for number, report in enumerate(drawn[0])]
    a_keys, b_keys = ([_key(step) for step in one.reports] for one in ran)
    pairs: list[Pair] = []
    for tag, a, b, c, d in SequenceMatcher(None, a_keys, b_keys, autojunk=False).get_opcodes():
        for place in range(max(b - a, d - c)):
            left = drawn[0][a + place] if a + place < b else None
            right = drawn[1][c + place] if c + place < d else None
            pairs.append(Pair(len(pairs), left, right, tag != "equal"))
    return pairs


def _key(step: Json) -> str:
    return json.dumps([step[name] for name in ("windows", "instant", "key", "takes_back", "rows")])


def _drawn(step: Json) -> Json:
    shown = {"total": len(step["rows"]), "instant": step["instant"], "step": step["step"]}
    if step["windows"][0] is not None:
        shown["window"] = step["windows"][0]
    return shown


def _evidence(asked: Asked, ran: Sequence[Ran]) -> Json:
    """Return what the time line reads of the evidence of a result."""
    question = asked.question
    elements = [
        {
            "stream": name,
            "at": element.app,
            "graph": "\n".join(f"{' '.join(triple)} ." for triple in sorted(element.graph)),
            **({} if element.end in (None, element.app) else {"end": element.end}),
        }
        for name in dict.fromkeys(window.stream for window in question.query.windows)
        for element in question.streams[name]
    ]
    evidence = {
        "query": f"PREFIX : <{BASE}>\n{question.query.body.text}",
        "windows": [{"stream": window.stream} for window in question.query.windows],
        "elements": elements,
        "elements_total": len(elements),
        "semantics": semantics_to_json(ran[0].semantics),
        "actual": ran[-1].reports,
    }
    if len(ran) > 1:
        evidence["expected"] = ran[0].reports
    return evidence


# Judging, translating, reading, exporting


def judge(request: Json) -> Json:
    """Return the verdict on a recording under a profile, in which fields may be open."""
    asked = Asked.of(request)
    profile = profile_in(request)
    recorded = list(read_recording(Text("recording.json", request["recording"])))
    missing = int(request.get("missing", 1))
    result = judge_relations(
        asked.question, profile, recorded, missing=missing, witnesses=witnesses()
    )
    drawing = ""
    judgement = result.judgement
    if judgement is not None and (alignment := judgement.alignment) is not None:
        drawing = draw_verdict(judgement, alignment)
    return {
        "outcome": result.outcome,
        "explanation": result.explanation,
        "drawing": drawing,
        "open": {name: show_open(profile.fields.get(name, "unknown")) for name in profile.unknown},
    }


def translate(request: Json) -> Json:
    """Return the query of a request as a text in another language."""
    query = query_of(request["query"])
    if request["to"] == NATIVE:
        return {"text": as_toml(query_table(query))}
    return {"text": dialects.render(query, request["to"])}


def read(request: Json) -> Json:
    """Return the elements in a file's text, whose name says its form (IO-1)."""
    found = read_stream(Text(request["name"], request["text"]))
    return {"elements": [_entry(element) for element in found]}


def _entry(element: Element) -> Json:
    """Return an element as a case has it."""
    entry: Json = {"at": element.app}
    if element.end not in (None, element.app):
        entry["end"] = element.end
    if element.batch is not None:
        entry["batch"] = element.batch
    triples = (" ".join(map(_in_turtle, triple)) for triple in sorted(element.graph))
    return {**entry, "graph": " . ".join(triples)}


def _in_turtle(term: str) -> str:
    """Return a term as a case has it, whole."""
    return LOCAL.sub(r":\1", INTEGER_TERM.sub(r"\1", term))


def export(request: Json) -> Json:
    """Return a request as a case file, a Python script and a report of a bug."""
    asked = Asked.of(request)
    case = as_case(request, asked.question.query)
    reports = _run(asked, profile_in(request)).reports
    return {
        "case": case,
        "python": as_python(asked.question, request["semantics"]),
        "report": as_report(case, reports, __version__, request.get("link", "")),
    }


TASKS: dict[str, Callable[[Json], Json]] = {
    "describe": describe,
    "run": run,
    "judge": judge,
    "translate": translate,
    "read": read,
    "export": export,
}
