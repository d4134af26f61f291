"""The pages of the API, and the sources that they are read from: copies whose docstrings are
Markdown, so that doctests are code and rules are links.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from refengine import public
from tools.site.questions import ROOT

LISTED = re.compile(r"^\| `(\w[\w.]*)`(?:: ([^|]*))? \| (.*) \|$", re.MULTILINE)
DOCTEST = re.compile(r"(?:^[ ]*>>>.*\n(?:[ ]*\S.*\n?)*)", re.MULTILINE)
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def reference_pages() -> Iterator[tuple[str, str]]:
    """Yield the pages of the API: one for each line of docs/stable.md that lists public names."""
    text = (ROOT / "docs" / "stable.md").read_text(encoding="utf-8")
    for package, topic, names in LISTED.findall(text):
        title = topic or package
        objects = [_object_of(package, name) for name in re.findall(r"`(\w+)`", names)]
        if title != "version":
            slug = re.sub(r"\W+", "-", title).lower()
            blocks = "".join(f"::: {name}\n\n" for name in objects)
            yield f"reference/{slug}.md", f"# {title[0].upper()}{title[1:]}\n\n{blocks}"


def _object_of(package: str, name: str) -> str:
    """Return where a public name is defined, as far as its value says it."""
    value = getattr(public, name, None)
    module = getattr(value, "__module__", "")
    if package == "refengine" and module and getattr(value, "__name__", "") == name:
        return f"{module}.{name}"
    return f"{package}.{name}"


def write_sources(folder: Path, change: Callable[[str], str]) -> None:
    """Write the modules of both packages into a folder, with docstrings fenced and then changed."""
    for package in ("refengine", "conformance"):
        for path in sorted((ROOT / package).rglob("*.py")):
            target = folder / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text(encoding="utf-8")
            target.write_text(with_docstrings(text, change), encoding="utf-8")


def with_docstrings(text: str, change: Callable[[str], str]) -> str:
    """Return the text of a module whose docstrings are changed.

    >>> print(with_docstrings('def f():\\n    \"\"\"Do it.\"\"\"\\n', str.upper), end="")
    def f():
        \"\"\"DO IT.\"\"\"
    """
    lines = text.splitlines(keepends=True)
    spans = [
        (node.body[0].lineno - 1, node.body[0].end_lineno or 0)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None
    ]
    for first, end in sorted(spans, reverse=True):
        lines[first:end] = [change(fenced("".join(lines[first:end])))]
    return "".join(lines)


def fenced(docstring: str) -> str:
    """Return a docstring whose doctests are code of Markdown.

    >>> fenced("Add.\\n\\n    >>> 1 + 1\\n    2\\n").splitlines()
    ['Add.', '', '    ```pycon', '    >>> 1 + 1', '    2', '    ```']
    """

    def fence(found: re.Match[str]) -> str:
        block = found[0]
        margin = block[: len(block) - len(block.lstrip())]
        end = ""
        if block.rstrip().endswith('"""'):
            end = f'{margin}"""\n'
            block = block.rstrip().removesuffix('"""').rstrip(" ")
        return f"{margin}```pycon\n{block}{margin}```\n{end}"

    return DOCTEST.sub(fence, docstring)
