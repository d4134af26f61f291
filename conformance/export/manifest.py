"""Cases as manifests in the form of W3C's test suites, in Turtle.

A case is an entry, whose IRI is the test of EARL's assertions. Its action has the query in each
language and the data, and its results have what must come of it, each under a semantics.
`vocabulary.ttl` says what our terms mean, and `shapes.ttl` what a manifest is like, in SHACL.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.corpus.iris import BASE, iri
from conformance.corpus.rules import RULES
from conformance.export.exported_case import KINDS, ExportedCase, wrong_engine_iri
from conformance.report import earl
from conformance.verdict.wording import printable
from conformance.wrong_engines import WRONG_ENGINES
from refengine.core.semantics import FIELDS, Semantics
from refengine.model.terms import literal

VOCABULARY = Path(__file__).parent / "vocabulary.ttl"
SHAPES = Path(__file__).parent / "shapes.ttl"
TERMS = iri("vocabulary") + (":" if BASE.endswith(":") else "#")
PREFIXES = {
    "mf": "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#",
    "qt": "http://www.w3.org/2001/sw/DataAccess/tests/test-query#",
    "dct": "http://purl.org/dc/terms/",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "rspt": TERMS,
}
CLASSES = {
    "reports": "ReportTest",
    "judgement": "JudgementTest",
    "refusal": "RefusalTest",
    "reading": "ReadingTest",
    "rendering": "RenderingTest",
    "adaptive-join": "JoinTest",
    "bounded-join": "JoinTest",
}
assert CLASSES.keys() == set(KINDS.values())
Properties = Sequence[tuple[str, str]]  # predicates with objects, as Turtle has them


def prefix_lines() -> Iterator[str]:
    """Yield the prefixes of a manifest."""
    for prefix, namespace in PREFIXES.items():
        yield f"@prefix {prefix}: <{namespace}> ."
    yield ""


def index_lines(title: str, parts: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a manifest that includes others, by their paths."""
    yield from prefix_lines()
    yield "<> a mf:Manifest ;"
    yield f"    rdfs:label {_text(title)} ;"
    yield f"    mf:include ( {' '.join(f'<{part}>' for part in parts)} ) ."


def manifest_lines(title: str, cases: Sequence[ExportedCase]) -> Iterator[str]:
    """Yield the lines of the manifest of some cases, whose folders lie beside it."""
    yield from prefix_lines()
    yield "<> a mf:Manifest ;"
    yield f"    rdfs:label {_text(title)} ;"
    entries = "\n".join(f"        <{case.table['iri']}>" for case in cases)
    yield f"    mf:entries (\n{entries}\n    ) ."
    for case in cases:
        yield ""
        yield from _case_lines(case)


def _case_lines(case: ExportedCase) -> Iterator[str]:
    """Yield the lines of a case."""
    table = case.table
    classes = sorted({f"rspt:{CLASSES[kind]}" for kind in table["kinds"]})
    properties = [
        ("mf:name", _text(table["name"])),
        ("dct:isPartOf", f"<{iri('rule', table['rule'])}>"),
        ("rspt:derivation", _text(table["derivation"])),
        ("rspt:json", f"<{case.id}/case.json>"),
    ]
    if "link" in table:
        properties.append(("rdfs:seeAlso", f"<{table['link']}>"))
    properties += [
        ("mf:requires", f"<{requirement_iri(word)}>") for word in table.get("requires", ())
    ]
    properties += [
        ("rspt:catches", f"<{iri('wrong-engine', name)}>") for name in table["wrong_engines"]
    ]
    properties += [
        ("rspt:leavesOut", f"{_node([('rspt:part', _text(part)), ('rspt:reason', _text(reason))])}")
        for part, reason in table["not_expressed"].items()
    ]
    if action := _action(case):
        properties.append(("mf:action", _node(action)))
    properties += [("mf:result", _node(result)) for result in _results(case)]
    yield f"<{table['iri']}> a {', '.join(classes)} ;"
    yield " ;\n".join(f"    {name} {value}" for name, value in properties) + " ."


def _action(case: ExportedCase) -> Properties:
    """Return what is asked: the query in each language, the streams and the static data."""
    table = case.table
    if case.question is None:
        return []
    asked = [
        ("qt:query", _node([("rspt:language", _text(language)), ("rspt:file", _file(case, name))]))
        for language, name in query_files(table["query"]).items()
    ]
    for number, stream in enumerate(table["streams"], 1):
        stated = [
            ("rspt:name", _text(stream["name"])),
            ("rspt:ordered", str(stream["ordered"]).lower()),
            ("rspt:graphs", _file(case, f"stream-{number}.trig")),
        ]
        if f"stream-{number}.messages" not in table["not_expressed"]:
            stated.append(("rspt:messages", _file(case, f"stream-{number}.messages.trig")))
        asked.append(("rspt:stream", _node(stated)))
    if "static" in table:
        asked.append(("qt:data", _file(case, "static.nq")))
    return asked


def query_files(query: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of the files of a case's query, by their languages."""
    files = {"table": "query.json", **{name: f"query.{name}" for name in query["texts"]}}
    if "window" in query:
        files["window"] = "window.json"
    return files


def _results(case: ExportedCase) -> Iterator[Properties]:
    """Yield what must come of a case: reports under a semantics, or an outcome of a judge."""
    for number, evaluation in enumerate(case.table.get("evaluations", ()), 1):
        yield [
            ("a", "rspt:Evaluation"),
            ("rspt:semantics", _node(_fields(evaluation["semantics"]))),
            ("rspt:reports", _file(case, f"reports-{number}.srj")),
            *_decision(evaluation),
        ]
    for number, judgement in enumerate(case.table.get("judgements", ()), 1):
        yield [
            ("a", "rspt:Judgement"),
            ("rspt:profile", _node(_fields(judgement["profile"]))),
            ("rspt:recording", _file(case, f"recording-{number}.srj")),
            ("rspt:outcome", _text(judgement["outcome"])),
            *_decision(judgement),
        ]
    for block, value in case.table["as_written"].items():
        if block in KINDS:
            count = len(value)
            yield [
                ("a", "rspt:Statement"),
                ("rspt:kind", _text(KINDS[block])),
                ("rspt:count", str(count)),
            ]


def _decision(expected: Mapping[str, Any]) -> Properties:
    """Return who decides, and what is left open."""
    return [
        ("rspt:decidedBy", _text(expected["decided_by"])),
        *(("rspt:leavesOpen", _text(word)) for word in expected["open"]),
    ]


def _fields(fields: Mapping[str, Any]) -> Properties:
    """Return the fields of a semantics or a profile."""
    return [(f"rspt:{name}", _value(value)) for name, value in fields.items()]


def _value(value: Any) -> str:
    """Return the value of a field, an object or several with commas between."""
    match value:
        case int():
            return str(value)
        case list():
            return ", ".join(map(_text, value))
        case {"from": low, "to": high}:
            return f"[ rspt:from {low} ; rspt:to {high} ]"
        case _:
            return _text(value)


def _file(case: ExportedCase, name: str) -> str:
    """Return the IRI of a file of a case, relative to that of its manifest."""
    return f"<{case.id}/{name}>"


def _node(properties: Properties) -> str:
    """Return a node with some properties."""
    return f"[ {' ; '.join(f'{name} {value}' for name, value in properties)} ]"


def _text(text: str) -> str:
    """Return a text as a literal of Turtle."""
    return literal(str(text))


# What the manifests refer to


def requirement_iri(word: str) -> str:
    """Return the IRI of what an engine must have to be asked a case."""
    return iri("requirement", word)


def rule_lines(cases: Iterable[ExportedCase]) -> Iterator[str]:
    """Yield the lines about the rules of some cases."""
    for prefix, namespace in earl.PREFIXES.items():
        yield f"@prefix {prefix}: <{namespace}> ."
    yield from earl.requirements({case.case.rule for case in cases}, None)


def wrong_engine_lines() -> Iterator[str]:
    """Yield the lines about the wrong engines."""
    yield from prefix_lines()
    for one in WRONG_ENGINES:
        properties = [
            ("rdfs:label", _text(one.full_name)),
            ("rspt:defect", _text(one.defect)),
            ("rspt:seen", _text(one.seen)),
            *(("rspt:breaks", f"<{iri('rule', rule)}>") for rule in one.rules),
        ]
        yield f"<{wrong_engine_iri(one)}> a rspt:WrongEngine ;"
        yield " ;\n".join(f"    {name} {value}" for name, value in properties) + " .\n"


def shape_lines() -> Iterator[str]:
    """Yield the lines of the shapes: what is written in `shapes.ttl`, and the shape of a complete
    semantics, which has one value for each field.
    """
    yield from SHAPES.read_text(encoding="utf-8").splitlines()
    once = [f"[ sh:path rspt:{name} ; sh:minCount 1 ; sh:maxCount 1 ]" for name in FIELDS]
    yield f"\n<{iri('shape', 'semantics')}> a sh:NodeShape ;"
    yield "    sh:targetObjectsOf rspt:semantics ;"
    yield "    sh:property"
    yield " ,\n".join(f"        {each}" for each in once) + " ."


def vocabulary_lines(requirements: Iterable[str]) -> Iterator[str]:
    """Yield the lines of the vocabulary: what is written in `vocabulary.ttl`, a property for each
    field of a semantics, and the requirements.
    """
    yield from VOCABULARY.read_text(encoding="utf-8").splitlines()
    comments = dict(
        re.findall(r"- `(\w+)`: (.*?)(?=\n\s*- `|\n\n|\s*\Z)", Semantics.__doc__ or "", re.S)
    )
    for name in FIELDS:
        rules = sorted({f"<{iri('rule', rule)}>" for rule in RULES[name].values()})
        comment = " ".join(comments[name].split())
        yield f"\nrspt:{name} a rdf:Property ;"
        yield f"    rdfs:label {_text(name)} ;"
        yield f"    rdfs:comment {_text(printable(comment, 2000))} ;"
        yield f"    rdfs:seeAlso {', '.join(rules)} ."
    for word in sorted(requirements):
        yield f"\n<{requirement_iri(word)}> a rspt:Requirement ; rdfs:label {_text(word)} ."
