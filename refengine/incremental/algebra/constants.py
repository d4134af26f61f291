"""§7 VALUES and the empty graph pattern, maintained: solutions that never change."""

from __future__ import annotations

from refengine.incremental.algebra.nodes import MaintainedNode
from refengine.sparql.algebra import Values

EMPTY_PATTERN = Values((), ((),))  # one solution, which binds nothing


class MaintainedValues(MaintainedNode):
    """VALUES: its rows as solutions, which are emitted once, before any triple comes. UNDEF leaves
    its variable unbound.
    """

    def __init__(self, values: Values) -> None:
        names = [variable.name for variable in values.variables]
        columns = zip(*values.rows, strict=True)
        undefined = {name for name, terms in zip(names, columns, strict=False) if None in terms}
        super().__init__(names, set(names) - undefined)
        self.rows = values.rows

    def emit_rows(self) -> None:
        """Emit every row. To be called once, when the whole tree is there."""
        for row in self.rows:
            self.emit(row, 1)
