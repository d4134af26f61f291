"""§7 ASK and CONSTRUCT, maintained: solutions into the rows of the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from refengine.incremental.algebra.counts import add_count
from refengine.incremental.algebra.forms import NumberForms
from refengine.incremental.algebra.nodes import MaintainedNode, Solution
from refengine.incremental.algebra.operators import as_shown
from refengine.model.elements import Row, Term, Triple, row
from refengine.model.errors import require
from refengine.sparql.algebra import TriplePattern, Variable, without_path
from refengine.sparql.values import boolean

# A place of a template: the slot of its variable (None: of one that is never bound), or its term
Place = tuple[int | None, Term | None]


class MaintainedAsk(MaintainedNode):
    """ASK: one row, whether there is a solution (R2R-3), or more than `offset` of them. With
    `is_cut` LIMIT 0 leaves none.

    It keeps the number of solutions. A change costs the same whatever that is.
    """

    def __init__(self, child: MaintainedNode, offset: int = 0, is_cut: bool = False) -> None:
        super().__init__(("ask",), ("ask",))
        self.offset = offset
        self.is_cut = is_cut
        self.total = 0
        child.emit = self._change

    def emit_first(self) -> None:
        """Emit the row of no solutions. To be called once, before any solution comes."""
        self.emit(ask_row(False), 1)

    def _change(self, solution: Solution, count: int) -> None:
        before = self._holds()
        self.total += count
        now = self._holds()
        if now is not before:
            self.emit(ask_row(before), -1)
            self.emit(ask_row(now), 1)

    def _holds(self) -> bool:
        return self.total > self.offset and not self.is_cut


def ask_row(holds: bool) -> Row:
    """Return ASK's row."""
    return row({"ask": boolean(holds)})


class MaintainedConstruct(MaintainedNode):
    """CONSTRUCT: the set of the triples that the template makes of the solutions (R2R-4), a row
    each.

    It keeps for each triple how often it is made. A change costs the triples of one solution. The
    template has no blank nodes. What is no triple of RDF is left out, and so is one with an unbound
    variable. With `is_computed` a solution may have computed numbers. Raises NotCovered where it is
    open whether two triples are the same.
    """

    def __init__(
        self, child: MaintainedNode, template: Sequence[TriplePattern], is_computed: bool
    ) -> None:
        super().__init__(("subject", "predicate", "object"), ())
        self.template = [
            tuple(_place(part, child) for part in without_path(triple)) for triple in template
        ]
        self.forms: NumberForms | None = None
        if is_computed:
            self.forms = NumberForms()
        self.counts: Counter[Triple] = Counter()
        child.emit = self._change

    def _change(self, solution: Solution, count: int) -> None:
        for places in self.template:
            subject, predicate, object_ = [
                term if slot is None else solution[slot] for slot, term in places
            ]
            if subject is not None and predicate is not None and object_ is not None:
                self._change_triple((subject, predicate, object_), count)

    def _change_triple(self, triple: Triple, count: int) -> None:
        """Add to the count of a triple, and emit it if it comes or goes."""
        if self.forms is not None:
            for term in triple:
                self.forms.change(term, count)
        subject, predicate, object_ = triple
        if subject.startswith('"') or not predicate.startswith("<"):
            return
        change = add_count(self.counts, triple, count)
        if change:
            shown = (subject, predicate, require(as_shown(object_)))
            self.emit(row(zip(self.names, shown, strict=True)), change)


def _place(part: Variable | Term, child: MaintainedNode) -> Place:
    if isinstance(part, Variable):
        return child.slots.get(part.name), None
    return None, part
