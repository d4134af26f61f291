"""What each cause that a diagnosis can find says of the engine, in one plain sentence.

A cause is named by a value of a field (`closure=[]`), by a wrong engine, or by a few words. A
reader of a page knows none of them. `heading_of` writes the sentence with the name behind it. That
of a value stands with the value, and that of a wrong engine is its docstring's first.
"""

from __future__ import annotations

import re

from conformance.wrong_engines import HABITS, WRONG_ENGINES
from refengine.core.semantics import ENUMS, show
from refengine.core.values import Condition

LONGEST = 80  # characters of a sentence
T0_IS_A_NUMBER = re.compile("t0=([0-9]+)")
# how the reason of a cause is written, with the name of the cause
OF_A_FIELD = re.compile("its semantics is (.*)")
OF_A_WRONG_ENGINE = re.compile(r"does as the wrong engine (['\"])(.*?)\1 \(.*\)")

CLOSE, CHANGE, NON_EMPTY = Condition.CLOSE, Condition.CHANGE, Condition.NON_EMPTY
REPORTS = {
    frozenset({CHANGE}): "It reports whenever the content of a window changes",
    frozenset({NON_EMPTY}): "It reports at every instant at which a window holds an element",
    frozenset({CLOSE}): "It reports each window as it closes",
    frozenset({CHANGE, NON_EMPTY}): "It reports changed contents that are not empty",
    frozenset({CHANGE, CLOSE}): "It reports a window as it closes if its content changed",
    frozenset({NON_EMPTY, CLOSE}): "It reports a window as it closes if it holds an element",
    frozenset({CHANGE, NON_EMPTY, CLOSE}): (
        "It reports a window as it closes if its content changed and is not empty"
    ),
}
FIELDS = {
    **{f"report={show(report)}": sentence for report, sentence in REPORTS.items()},
    **{
        f"{name}={value}": value.sentence
        for name, values in ENUMS.items()
        for value in values
        if value.sentence
    },
}

DEFECTS = {
    "windows that slide by their size": "Its windows tumble: they slide by their size",
    "Istream given as Dstream, and Dstream as Istream": "It confuses Istream and Dstream",
    "each report sent twice": "It sends each report twice",
    "each row sent twice": "It sends each row twice",
    "the last output never sent, or each one sent an evaluation late": (
        "It never sends the last output, or sends each one an evaluation late"
    ),
    "each output sent one evaluation late, and an empty one first": (
        "It sends an empty output first, and each other one evaluation late"
    ),
    "one row sent of each output": "It sends one row of each output",
    "wrong windows in its reports": "It states wrong windows in its reports",
    "wrong instants in its reports": "It states wrong instants in its reports",
}

SENTENCES = {
    **FIELDS,
    **DEFECTS,
    **{one.full_name: one.heading for one in (*WRONG_ENGINES, *HABITS)},
}


def sentence_of(name: str) -> str:
    """Return the sentence of a cause, by its name; empty if there is none."""
    if number := T0_IS_A_NUMBER.fullmatch(name):
        return f"It begins its first window at {number[1]}"
    return SENTENCES.get(name, "")


def heading_of(reason: str) -> str:
    """Return the sentence for the reason of a cause, with its name in brackets. Any other reason,
    such as that of a known deviation, is returned as it is.

    >>> heading_of("its semantics is closure=[]")
    'It counts both borders of each window (closure=[])'
    """
    name = reason
    if match := OF_A_FIELD.fullmatch(reason):
        name = match[1]
    elif match := OF_A_WRONG_ENGINE.fullmatch(reason):
        name = match[2]
    sentence = sentence_of(name)
    if not sentence:
        return reason
    return sentence if name in DEFECTS else f"{sentence} ({name})"
