"""Bodies with all that `body_trials` and `expression_trials` draw: GRAPH, MINUS, EXISTS,
subselects, property paths, LIMIT, and expressions of every kind. Drawn by a seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from random import Random

from body_trials import (
    IRI_CONDITIONS,
    IRIS,
    NUMBER_CONDITIONS,
    PREDICATES,
    BodyDraw,
    BodyTrial,
    draw_select,
    variables_of,
)
from expression_trials import CONDITIONS, PLAIN_NUMBERS, POOLS, PREFIX, ROWS, ExpressionDraw

from refengine import Body
from refengine.model.errors import RefengineError

ALL_CONDITIONS = (*IRI_CONDITIONS, *NUMBER_CONDITIONS, *CONDITIONS, *("?a = ?b",) * 8)
SLICES = ("", "", "", " ORDER BY {0} {1} LIMIT 2", " ORDER BY ({2}) {0} {1} LIMIT 1 OFFSET 1")


def draw_mixed_trial(r: Random, graphs: Sequence[str] = ()) -> BodyTrial:
    """Draw a body and triples. If there are names of `graphs`, parts of it stand in GRAPH."""
    pool = r.choice([list(IRIS), list(IRIS), PLAIN_NUMBERS, *POOLS])
    objects = [*(r.choice(pool) for _ in range(r.randint(2, 3))), r.choice(IRIS)]
    subjects = [*IRIS, "_:b"] if not r.randrange(5) else list(IRIS)
    triples = tuple(
        (r.choice(subjects), r.choice(PREDICATES), r.choice(objects))
        for _ in range(r.randint(3, 9))
    )
    drawing = MixedDraw(r, graphs)
    while True:  # until SPARQL allows it: it may bind one variable twice
        text = PREFIX + drawing.body()
        with suppress(RefengineError):
            return BodyTrial(Body(text).text, triples)


class MixedDraw(BodyDraw):
    """What draws one body. `expressions` draws the expressions of its groups."""

    def __init__(self, r: Random, graphs: Sequence[str]) -> None:
        super().__init__(r, ALL_CONDITIONS, has_joins=True, graphs=graphs)
        self.expressions = ExpressionDraw(r)

    def body(self) -> str:
        """Draw a body of any form."""
        r = self.r
        group = self.group(0)
        if r.randrange(2):
            return draw_select(r, group)
        self.expressions.names = variables_of(group)
        draw = r.choice(
            [
                self.expressions.rows,
                self.expressions.groups,
                self.expressions.triples,
                self.expressions.ask,
            ]
        )
        text = draw(group)
        if text.startswith("SELECT") and "ORDER BY" not in text and "VALUES ?w" not in text:
            names = self.expressions.names
            text += r.choice(SLICES).format(
                r.choice(names), r.choice(names), self.expressions.operand()
            )
        return text

    def group(self, depth: int) -> str:
        """Draw a group, with BIND, VALUES and EXISTS in a BIND behind it."""
        text = super().group(depth)
        for _ in range(self.r.choice([0, 0, 0, 1, 1, 2])):
            self.expressions.names = variables_of(text)
            text += " " + self.r.choice([self._bind, self._bind, self._values, self._test])(depth)
        return text

    def _bind(self, depth: int) -> str:
        return self.expressions.bind()

    def _values(self, depth: int) -> str:
        return self.r.choice(ROWS)

    def _test(self, depth: int) -> str:
        """Draw a BIND of EXISTS, with a group of one level alone."""
        if depth > 1:
            return ""
        return f"BIND(EXISTS {{ {super().group(2)} }} AS {self.expressions.fresh()})"
