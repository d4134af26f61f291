"""The streams that an engine is asked about for its card: a window and a few elements each, so
chosen that any two values of a field differ on one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from conformance import corpus
from conformance.corpus import Case
from conformance.verdict import window_elements
from conformance.verdict.window_elements import BODY, IN, STREAM, graph_text, query_table
from refengine.core.question import Question

DAY = 86_400_000
KEYS_BODY = f"SELECT ?key WHERE {{ ?element <{IN}> ?key }}"


class Moment(NamedTuple):
    """An element of a question: its time, its key, its number if it is one that came before, and
    its batch.
    """

    at: int
    key: str = ""
    number: int | None = None
    batch: int | None = None


@dataclass(frozen=True)
class CardQuestion:
    """A question: one window, as an engine of windows alone is asked for it, and the elements in
    the order in which they arrive. `body` is asked over each content.
    """

    window: tuple[tuple[str, Any], ...]
    moments: tuple[Moment, ...]
    body: str = BODY

    @staticmethod
    def of(
        window: Mapping[str, Any], times: Iterable[int | Moment], body: str = BODY
    ) -> CardQuestion:
        """Return a question from a window's keys, and its elements or their times."""
        moments = (at if isinstance(at, Moment) else Moment(at) for at in times)
        pairs = ((key, tuple(at) if isinstance(at, list) else at) for key, at in window.items())
        return CardQuestion(tuple(pairs), tuple(moments), body)

    @property
    def is_of_contents(self) -> bool:
        """Whether its answers are contents, so that an engine without SPARQL can be asked."""
        has_plain_elements = all(one.number is None and one.batch is None for one in self.moments)
        return self.body == BODY and has_plain_elements

    @property
    def window_table(self) -> dict[str, Any]:
        """The keys of the window."""
        return {key: list(at) if isinstance(at, tuple) else at for key, at in self.window}

    @property
    def kind(self) -> str:
        """The kind of the window."""
        return str(dict(self.window)["kind"])

    @cached_property
    def table(self) -> dict[str, Any]:
        """The table of its query (QRY-1)."""
        return {**query_table(self.window_table), "body": self.body}

    @cached_property
    def question(self) -> Question:
        """The question as the judge has it."""
        elements = [
            {
                "at": one.at,
                "graph": graph_text(number if one.number is None else one.number, one.key),
                **({} if one.batch is None else {"batch": one.batch}),
            }
            for number, one in enumerate(self.moments)
        ]
        stream = {"name": STREAM, "ordered": True, "elements": elements}
        return corpus.question_of(
            Case("card", {"query": self.table, "streams": [stream]}, window_elements.STREAM)
        )

    @property
    def form(self) -> tuple[Any, ...]:
        """What an engine may lack that refuses it: the kind of its window, whether windows leave
        gaps or overlap, and whether there are keys and batches.
        """
        window = dict(self.window)
        size, slide = window["size"], window.get("slide")
        shape = None if slide is None else (slide > size) - (slide < size)
        is_batched = any(one.batch is not None for one in self.moments)
        return window["kind"], shape, "by" in window, is_batched, self.body

    @property
    def is_out_of_order(self) -> bool:
        """Whether an element comes after a later one."""
        times = [one.at for one in self.moments]
        return times != sorted(times)

    @property
    def size(self) -> tuple[int, int]:
        """How large it is: the number of its elements, and the last one's time."""
        return len(self.moments), max((abs(one.at) for one in self.moments), default=0)


def _time(size: int, slide: int, streams: Sequence[Sequence[int | Moment]]) -> list[CardQuestion]:
    """Return questions about windows over time."""
    window = {"kind": "time", "size": size, "slide": slide}
    return [CardQuestion.of(window, times) for times in streams]


def _keyed(*pairs: tuple[int, str]) -> list[int | Moment]:
    """Return elements with keys."""
    return [Moment(at, key) for at, key in pairs]


# Windows over time, elements in order
_TUMBLING = _time(
    10,
    10,
    [
        [3],
        [0],
        [10],
        [-7],
        [3, 12],
        [3, 10],
        [0, 10],
        [10, 12],
        [-3, 3],
        [3, 20],
        [3, 34],
        [3, 3, 12],
        [3, 5, 12],
        [3, 10, 20],
        [3, 10, 13],
        [10, 20, 21],
        [3, 14, 36],
        [17, 25, 33],
        [-12, 3, 10],
        [3, 13, 23, 33],
        [3, 12, 23, 57],
        [3, 5, 5, 12, 13, 30],
    ],
)
_SLIDING = _time(
    10,
    5,
    [
        [3],
        [12],
        [0, 5],
        [3, 12],
        [7, 16],
        [12, 27],
        [-7, 4],
        [0, 5, 10],
        [5, 10, 15],
        [3, 8, 14, 21],
        [3, 5, 12, 13, 30],
    ],
)
_UNEVEN = [
    *_time(10, 4, [[3], [9, 15], [7, 20, 22]]),
    *_time(10, 20, [[3], [13], [3, 25], [13, 34], [3, 13, 25, 33], [12, 24, 45]]),
    # 7 divides no day
    *_time(7, 7, [[3, 12], [DAY + 3], [DAY + 10, DAY + 15], [DAY + 3, 2 * DAY + 5]]),
    *_time(7, 3, [[DAY + 3, DAY + 8]]),
]
_BATCHES = [
    CardQuestion.of(
        {"kind": "time", "size": 10, "slide": 10}, [Moment(at, batch=n) for at, n in moments]
    )
    for moments in (((3, 1), (12, 2)), ((3, 1), (3, 2), (5, 2), (12, 3), (13, 3)))
]
# out of order
_LATE = [
    *_time(
        10,
        10,
        [
            [5, 3, 12],
            [12, 3],
            [5, 12, 3],
            [5, 12, 3, 25],
            [5, 10, 3, 25],
            [5, 14, 3, 25],
            [5, 9, 3, 12, 25],
            [5, 12, 25, 3, 36],
            [5, 12, 3, 4, 25],
        ],
    ),
    *_time(10, 5, [[12, 3, 30], [3, 12, 4, 5, 30]]),
]
_RANGES = [
    CardQuestion.of({"kind": "range", "size": 10, **slide}, times)
    for slide in ({}, {"slide": 5})
    for times in ([3], [3, 8], [3, 13], [3, 14, 30])
]
_SESSIONS = [
    CardQuestion.of({"kind": "session", "size": 5}, times)
    for times in ([3], [3, 8], [3, 7, 20], [3, 12, 7, 30], [3, 11, 6, 30], [3, 9, 12, 6, 30])
]
_KEYED = [
    CardQuestion.of({"kind": "time", "size": 10, "slide": 10, "by": ["key"]}, _keyed(*pairs))
    for pairs in (
        ((3, "a"), (12, "b")),
        ((3, "a"), (12, "b"), (14, "a")),
        ((3, "a"), (12, "b"), (4, "a"), (25, "a")),
    )
]
# of RDF: equal rows, and a triple that comes again
_EQUAL_ROWS = [
    CardQuestion.of(
        {"kind": "time", "size": 10, "slide": slide},
        [*_keyed((3, "a"), (4, "a")), Moment(8, "b")],
        KEYS_BODY,
    )
    for slide in (10, 5)
]
_REPEATED = [
    CardQuestion.of(
        {"kind": "time", "size": 10, "slide": 5}, [Moment(3), Moment(7, number=0), Moment(18)]
    )
]

# on which most semantics differ: elements on borders, in one instant, and after gaps
TELLING = [
    *_time(10, 10, [[3, 10, 13]]),
    *_time(10, 5, [[0, 5, 10], [3, 5, 12, 13, 30]]),
    *_time(10, 10, [[3, 5, 5, 12, 13, 30]]),
]
OVER_TIME = "windows over time"
BATCHES = "batches"
LATE = "elements out of order"
RANGES = "ranges"
SESSIONS = "sessions"
KEYS = "keys"
ROWS = "rows"
GROUPS = {
    OVER_TIME: [*_TUMBLING, *_SLIDING, *_UNEVEN],
    BATCHES: _BATCHES,
    LATE: _LATE,
    RANGES: _RANGES,
    SESSIONS: _SESSIONS,
    KEYS: _KEYED,
    ROWS: [*_EQUAL_ROWS, *_REPEATED],
}


def catalogue(group: str, is_of_windows_alone: bool) -> list[CardQuestion]:
    """Return the questions of a group, the smallest first; for an engine of windows alone those
    whose answers are contents.
    """
    return [
        question
        for question in sorted(GROUPS[group], key=lambda each: each.size)
        if question.is_of_contents or not is_of_windows_alone
    ]
