"""What is in the playground, as a case file, as a Python script, and as a report of a bug."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pprint import pformat
from typing import Any

from conformance.corpus.case_text import case_text
from refengine.core.query import Query, Window
from refengine.core.question import Question
from refengine.model.elements import Dataset, Element

Json = dict[str, Any]
COMMENTS = {
    "rule": "the rule that the case is about",
    "name": "a sentence that says what is true",
    "derivation": "the steps by which the reports follow from the rules",
    "expect.reports": "derive them by hand: each has window, evaluation, trigger and rows",
}
PYTHON = """\
from refengine import evaluate, from_table, profile, stream

query = from_table(
{query}
)
streams = {streams}
semantics = profile({profile!r}).but({fields}).semantics()
for report in evaluate(query, streams, semantics{static}):
    print(report.window, report.instant, list(report.relation.rows.elements()))
"""
REPORT = """\
**What I expected, and by which rule**

…

**What was there instead**

…

**To see it** {link}

```toml
{case}```

**What refengine {version} gives**

```
{reports}
```
"""


def query_table(query: Query) -> Json:
    """Return a query as a case has it."""
    table: Json = {"windows": list(map(_window_table, query.windows)), "body": query.body.text}
    if query.r2s is not None:
        table["r2s"] = str(query.r2s)
    if query.registered is not None:
        table["registered"] = query.registered
    return table


def _window_table(window: Window) -> Json:
    """Return a window as a case has it, without what no query needs to state."""
    table: Json = {}
    for field in fields(Window):
        value = getattr(window, field.name)
        if value != field.default:
            table[field.name] = list(value) if field.name == "by" else value
    return {**table, "kind": str(window.kind)}


def as_toml(table: Mapping[str, Any]) -> str:
    """Return the table of a query as a file of TOML, which `refengine run` reads.

    >>> print(as_toml({"windows": [{"stream": "s", "kind": "now"}], "body": "ASK {}"}), end="")
    windows = [{ stream = "s", kind = "now" }]
    body = "ASK {}"
    """
    return case_text({"query": table}, {}).removeprefix("\n[query]\n")


def as_case(request: Mapping[str, Any], query: Query) -> str:
    """Return what a request asks as a case file, whose reports are still to be derived."""
    table: Json = {"rule": "", "name": "", "derivation": "", "query": query_table(query)}
    if request.get("static", "").strip():
        table["static"] = request["static"]
    table["streams"] = [dict(each) for each in request["streams"]]
    table["expect"] = [{"semantics": request["semantics"], "reports": []}]
    return case_text(table, COMMENTS)


def as_python(question: Question, semantics: Mapping[str, Any]) -> str:
    """Return a script that prints the reports of a question under a semantics, which is given as a
    case gives it.
    """
    static = ""
    if question.static:
        static = f", static={_dataset(question.static)}"
    streams = ", ".join(
        f"{name!r}: stream([\n{''.join(map(_element, elements))}])"
        for name, elements in question.streams.items()
    )
    return PYTHON.format(
        query=_indented(pformat(query_table(question.query), width=92, sort_dicts=False)),
        streams=f"{{{streams}}}",
        profile=semantics["profile"],
        fields=", ".join(
            f"{name}={value!r}" for name, value in semantics.items() if name != "profile"
        ),
        static=static,
    )


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def _dataset(statements: Dataset) -> str:
    return f"frozenset({sorted(statements)!r})"


def _element(element: Element) -> str:
    """Write an element as `stream` takes it."""
    values: list[int | None] = [element.app]
    if element.batch is not None or element.end is not None:
        values += [element.batch, element.end]
    return f"    ({_dataset(element.graph)}, {', '.join(map(str, values))}),\n"


def as_report(case: str, reports: Iterable[Mapping[str, Any]], version: str, link: str) -> str:
    """Return the text of a report of a bug, in which the reader says what was expected."""
    return REPORT.format(
        case=case, reports="\n".join(_report_lines(reports)), version=version, link=link
    )


def _report_lines(reports: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for report in reports:
        windows = ", ".join(map(_borders, report["windows"]))
        yield f"{windows} at {report['instant']}: {json.dumps(report['rows'], ensure_ascii=False)}"


def _borders(borders: Sequence[int] | None) -> str:
    if borders is None:
        return "no window"
    return f"{borders[0]} to {borders[1]}"
