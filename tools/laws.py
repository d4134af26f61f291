"""The laws of docs/laws.md. The tests that try them on drawn streams state them; `make_tables`
writes the page's lists from these.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FORMAL = ROOT / "refengine" / "formal"
TESTS = {"equivalences": "test_equivalences.py", "laws": "test_laws.py"}


@dataclass(frozen=True)
class Law:
    """A law: the name of the function that tries it, its sentence, the reason, and the theorems
    that prove it.
    """

    name: str
    sentence: str
    reason: str
    theorems: tuple[str, ...]

    @property
    def title(self) -> str:
        """The name as a heading of the page."""
        return self.name.capitalize().replace("_", " ")


def laws(kind: str) -> Iterator[Law]:
    """Yield the laws of a kind, a key of TESTS, in their order. A law is a function with the
    decorator `law(…)`, whose first argument, or else the function's docstring, is its sentence.
    """
    source = (ROOT / "tests" / "core" / TESTS[kind]).read_text(encoding="utf-8")
    for function in ast.parse(source).body:
        if not isinstance(function, ast.FunctionDef):
            continue
        for call in function.decorator_list:
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "law":
                yield _law(function, call)


def _law(function: ast.FunctionDef, call: ast.Call) -> Law:
    """Return the law that a decorator states."""
    first = call.args[0]
    if isinstance(first, ast.Constant):
        sentence = str(first.value)
    else:
        sentence = " ".join((ast.get_docstring(function) or "").split())
    words = {
        word.arg: ast.literal_eval(word.value)
        for word in call.keywords
        if word.arg in ("because", "theorems")
    }
    return Law(function.name, sentence, words["because"], words.get("theorems", (function.name,)))


def project_files() -> list[str]:
    """Return the files of `_CoqProject`, in the order in which they are built."""
    return re.findall(r"^\w+\.v$", (FORMAL / "_CoqProject").read_text(encoding="utf-8"), re.M)


def theorems() -> dict[str, str]:
    """Return the file of each theorem."""
    pattern = r"^\s*(?:Theorem|Corollary) (\w+)"
    return {
        theorem: name
        for name in project_files()
        for theorem in re.findall(pattern, (FORMAL / name).read_text(encoding="utf-8"), re.M)
    }


def list_of(kind: str) -> str:
    """Return the list of the laws of a kind in Markdown. Raises KeyError for a theorem that does
    not exist.
    """
    files = theorems()
    entries = []
    for law in laws(kind):
        proofs = [f"[`{one}`](../refengine/formal/{files[one]})" for one in law.theorems]
        entry = " ".join([law.sentence, "*Because*", law.reason, *proofs])
        entries.append(f"### {law.title}\n\n{entry}")
    return "\n\n".join(entries)
