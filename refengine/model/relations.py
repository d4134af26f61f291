"""§1 Relations: the answers of a query, bags of rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from refengine.model.messages import bag_in_words, shortened

MOST_SHOWN = 10  # elements or rows in a repr

# a solution mapping: (variable, term), sorted, bound variables only
Row = tuple[tuple[str, str], ...]
Bag = Counter[Row]


@dataclass(frozen=True, slots=True)
class Relation:
    """An answer: the variables that head it and a bag of solution mappings. ASK gives one row over
    `ask`, CONSTRUCT a set of rows over `subject`, `predicate`, `object`.
    """

    variables: tuple[str, ...]
    rows: Bag

    def __bool__(self) -> bool:
        return bool(self.rows)

    def __hash__(self) -> int:
        return hash((self.variables, frozenset(item for item in self.rows.items() if item[1])))

    def __repr__(self) -> str:
        if isinstance(self.rows, Counter) and self.rows.total() > MOST_SHOWN:
            variables = " ".join(f"?{name}" for name in self.variables)
            return f"<Relation {variables}, {bag_in_words(self.rows, 2)}>"
        return shortened(f"Relation(variables={self.variables!r}, rows={self.rows!r})", 1000)
