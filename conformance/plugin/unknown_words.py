"""What is said of a run in which no item was selected, since a word of the command line names
none: the nearest id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from conformance.suite import Item
from refengine.model.messages import display, nearest_id

OPERATORS = ("and", "or", "not")
RULE = r"[A-Za-z0-9]{2,4}-?\d+"


def describe_unknown_words(
    expression: str, arguments: Iterable[str], items: Sequence[Item], others: Iterable[str]
) -> Iterator[str]:
    """Yield a line for each word of `-k` that no item has, and for each argument of pytest that
    names no item in brackets. `others` are texts in which -k finds words as well.
    """
    texts = [text.lower() for text in (*(item.id for item in items), *others)]
    for word in dict.fromkeys(re.findall(r"[\w:+.\[\]\\/-]+", expression)):
        is_found = any(word.lower() in text for text in texts)
        if word.lower() not in OPERATORS and not is_found:
            yield f"-k: no item has {display(word)}{_nearest_name(word, items)}"
    ids = {item.id for item in items}
    for argument in arguments:
        _, bracket, name = argument.removesuffix("]").partition("[")
        if bracket and name not in ids:
            yield f"no item {display(name)}{_nearest_name(name, items)}"


def _nearest_name(word: str, items: Sequence[Item]) -> str:
    """Return a hint at the nearest rule for a word like a rule's id; at the nearest item for a word
    that begins with an engine's name, and else at the nearest case.
    """
    if re.fullmatch(RULE, word):
        return nearest_id(word, {item.rule for item in items if item.rule})
    small = word.lower()
    if any(small.startswith(f"{item.engine.lower()}-") for item in items):
        return nearest_id(word, {item.id for item in items})
    return nearest_id(word, {item.case for item in items})
