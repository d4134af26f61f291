"""The generated parts of a page. A part stands between `<!-- NAME -->` and `<!-- end -->`, or,
where a page has many, between `<!--NAME-->` and `<!--end-->`.
"""

from __future__ import annotations

import re
from pathlib import Path


def replace_part(text: str, name: str, body: str) -> str:
    """Return a page's text with the part of a name replaced, which may be empty. Raises LookupError
    unless there is exactly one.

    >>> replace_part("<!-- sum -->\\n\\n<!-- end -->", "sum", "2")
    '<!-- sum -->\\n\\n2\\n\\n<!-- end -->'
    """
    pattern = rf"(<!--( ?){re.escape(name)}\2-->\n).*?(\n<!--\2end\2-->)"
    text, count = re.subn(
        pattern, lambda found: f"{found[1]}\n{body}\n{found[3]}", text, flags=re.DOTALL
    )
    if count != 1:
        raise LookupError(f"the page has {count} parts named {name}")
    return text


def write_or_check(page: Path, text: str, only_check: bool, command: str) -> int:
    """Write a page's new text, or with `only_check` print whether the page has it already. Return
    the exit code: 1 for a page that is out of date. `command` is what brings it up to date.
    """
    if not only_check:
        page.write_text(text, encoding="utf-8")
        return 0
    is_current = page.read_text(encoding="utf-8") == text
    state = f"out of date: run {command}"
    if is_current:
        state = "up to date"
    print(f"{page.name} is {state}")
    return int(not is_current)
