"""The page of the fields of a semantics: what each says, and for each value the time line of a case
that has it, drawn by the engine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from conformance.corpus.rules import INTEGER
from tools.site import playground
from tools.site.questions import Value, question_of_value, values


def field_page() -> str:
    """Return the page in Markdown."""
    about = playground.sentences_of_fields()
    lines = ["# Each field of a semantics, drawn", ""]
    field = ""
    for value in values():
        if value.field != field:
            field = value.field
            sentence = about.get(field, "of a query's window.")
            lines += [f"## {field}", "", f"{sentence[0].upper()}{sentence[1:]}", ""]
        lines += [*_section(value), ""]
    return "\n".join(lines)


def _section(value: Value) -> Iterator[str]:
    name = (
        f"{value.field}={value.value}" if value.value != INTEGER else f"{value.field}, an integer"
    )
    yield f"### {name}"
    yield ""
    example = question_of_value(value)
    if example is None:
        yield f"{value.rule}."
        return
    asked = f"[in the playground](playground/#case={example['id']})"
    yield f"{value.rule}: {example['name']} ({asked})."
    yield ""
    task = "judge" if "recording" in example["state"] else "run"
    found = json.loads(playground.answer(json.dumps({"task": task, **example["state"]})))
    yield found["drawing"] if "drawing" in found else f"It is refused: {found['refused']}"
