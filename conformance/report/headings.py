"""What each cause that a diagnosis can find says of the engine, in one plain sentence.

A cause is named by a value of a field (`closure=[]`), by a wrong engine, or by a few words. A
reader of a page knows none of them. `heading_of` writes the sentence with the name behind it. That
of a wrong engine is its docstring's first.
"""

from __future__ import annotations

import re

from conformance.wrong_engines import HABITS, WRONG_ENGINES

LONGEST = 80  # characters of a sentence
T0_IS_A_NUMBER = re.compile("t0=([0-9]+)")
# how the reason of a cause is written, with the name of the cause
OF_A_FIELD = re.compile("its semantics is (.*)")
OF_A_WRONG_ENGINE = re.compile(r"does as the wrong engine (['\"])(.*?)\1 \(.*\)")

FIELDS = {
    "closure=[)": "It counts the lower border of each window, and not the upper one",
    "closure=(]": "It counts the upper border of each window, and not the lower one",
    "closure=[]": "It counts both borders of each window",
    "r2s=Rstream": "It sends the whole answer each time (Rstream)",
    "r2s=Istream": "It sends only the rows that are new (Istream)",
    "r2s=Dstream": "It sends only the rows that are gone (Dstream)",
    "r2s=append": "It sends only rows that rest on a new element",
    "empty=emit": "It sends every empty output",
    "empty=suppress": "It sends no empty output",
    "empty=once": "It sends an empty output only after one with rows",
    "report=content-change": "It reports whenever the content of a window changes",
    "report=non-empty": "It reports at every instant at which a window holds an element",
    "report=window-close": "It reports each window as it closes",
    "report=content-change,non-empty": "It reports changed contents that are not empty",
    "report=content-change,window-close": "It reports a window as it closes if its content changed",
    "report=non-empty,window-close": "It reports a window as it closes if it holds an element",
    "report=content-change,non-empty,window-close": (
        "It reports a window as it closes if its content changed and is not empty"
    ),
    "horizon=none": "It reports nothing after the last element",
    "horizon=flush": "It reports the windows that are still open at the end",
    "missed_instants=all": "It reports each window that ends between two arrivals",
    "missed_instants=latest": "It reports only the last window that ends between two arrivals",
    "tick=tuple": "It looks at its windows at every element, also at simultaneous ones",
    "tick=time": "It looks at its windows once for all elements of an instant",
    "tick=batch": "It looks at its windows once for each batch",
    "partial=suppressed": "It leaves out the windows that open before t0",
    "partial=reported": "It reports windows that open before t0",
    "partial=clipped": "It reports windows that open before t0, cut off there",
    "collection=bag": "It keeps equal rows of an answer",
    "collection=set": "It drops equal rows of an answer",
    "consumption=unrestricted": "It uses an element in any number of matches",
    "consumption=recent": "It uses an element once, with the latest that wait",
    "consumption=chronological": "It uses an element once, with the earliest that wait",
    "expiry_seen=replayed": "It sees an element expire only together with the next arrival",
    "expiry_seen=eager": "It sees elements expire before the arrival of the same instant",
    "change_scope=elements": "It takes a repeated triple for a change of the content",
    "change_scope=graph": "It takes a repeated triple for no change of the content",
    "close_rule=reached": "It closes a window as soon as an element reaches its end",
    "close_rule=passed": "It closes a window only when an element has passed its end",
    "slide=stated": "It moves its windows by the slide of the query",
    "slide=ignored": "It ignores the slide of the query: windows move with every instant",
    "t0=first-element": "It begins its first window at the first element",
    "t0=first-reach": "It begins its first window so that it ends at the first element",
    "t0=registration": "It begins its first window when the query is registered",
    "t0=epoch": "It aligns its windows with time 0, before the first element as well",
    "t0=coral8": "It begins its windows by Coral8's formula",
    "t0=oracle-cep": "It begins its windows by Oracle CEP's formula",
    "t0=stream": "It begins its windows by STREAM's formula",
    "t0=flink": "It begins its windows by Flink's formula",
    "t0=storm": "It begins its windows by Storm's formula",
    "t0=kafka-streams": "It begins its windows by Kafka Streams' formula",
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
