"""§7 The witnesses: rdflib and pyoxigraph answer a body, too, each by its own reading of SPARQL.

The evaluation by SPARQL's own algebra decides (`sparql.evaluate`); a witness confirms an answer,
differs, or has no say: it cannot read the body, breaks on it, or would take too long.
`r2r.hear_witnesses` decides what follows from that. Their known defects are listed where
docs/evidence/witnesses.md says; `defects` has those that can be written as a reading of the body.

Imports `model` and of `sparql` the `algebra`, the `datasets` and the `evaluation`, for the forms of
answers. Begin with `ask_witness`. `rdflib_witness` and `pyoxigraph_witness` are imported when they
are first asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib import import_module
from typing import Any

from refengine.model.elements import Bag, Dataset, Relation
from refengine.model.libraries import why_unusable, without_warnings
from refengine.sparql.algebra import AlgebraQuery, Basic, TriplePattern, Values, walk
from refengine.sparql.datasets import with_names
from refengine.sparql.witnesses.defects import AnswerByDefect, NoSay, find_defects

# of a body, cells of VALUES aside: rdflib takes minutes to read more, and pyoxigraph overflows its
# stack
MOST_PARTS = 3_000
# triple patterns and steps of paths in one basic graph pattern, whose order pyoxigraph takes long
# to choose
MOST_PATTERNS = 100
Witness = Callable[[AlgebraQuery, str, Dataset], Relation]
__all__ = ["WITNESSES", "AnswerByDefect", "NoSay", "ask_witness", "why_absent"]


@without_warnings()
def ask_witness(name: str, query: AlgebraQuery, text: str, dataset: Dataset) -> Relation:
    """R2R-5: Return one witness's answer to a body, given as algebra and as text. Raises NoSay
    where it has none, or where one of its known defects explains its answer. What a library warns
    of is no failure of its.
    """
    reason = why_unusable(name)
    if reason is not None:
        raise NoSay(reason)
    refuse_large(query)
    try:
        if query.windows:
            answer = without_names(query, WITNESSES[name](query, text, with_names(dataset)))
        else:
            answer = WITNESSES[name](query, text, dataset)
    except NoSay:
        raise
    except Exception as error:  # a library's own failure, of whatever kind
        first_line = "".join(str(error).splitlines()[:1])
        raise NoSay(f"{type(error).__name__}: {first_line[:200]}") from error
    if defects := find_defects(name, query, dataset, answer):
        raise AnswerByDefect(defects)
    return answer


def why_absent(names: Iterable[str]) -> dict[str, str]:
    """Return the witnesses that cannot be asked on this machine, each with the reason."""
    reasons = {name: why_unusable(name) for name in names}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def without_names(query: AlgebraQuery, answer: Relation) -> Relation:
    """Return an answer without the variables that stand in the text for the witnesses alone: in
    that of WINDOW with a variable there is one, which SELECT * finds.
    """
    rows: Bag = Counter()
    for row, times in answer.rows.items():
        rows[tuple(cell for cell in row if cell[0] in query.variables)] += times
    return Relation(query.variables, rows)


# The bodies in use are remembered: over a small dataset the check takes a third of a question.
@lru_cache(maxsize=64)
def refuse_large(query: AlgebraQuery) -> None:
    """Raise NoSay for a body that is too large for a witness to read."""
    if parts(query.pattern) + parts(query.template) > MOST_PARTS:
        raise NoSay(f"a body of more than {MOST_PARTS} parts")
    for node in walk(query.pattern):
        if isinstance(node, Basic) and sum(map(path_length, node.triples)) > MOST_PATTERNS:
            raise NoSay(f"a basic graph pattern of more than {MOST_PATTERNS} triple patterns")


def path_length(pattern: TriplePattern) -> int:
    """Return how many predicates a triple pattern's path has, at least 1: a variable has none."""
    return max(1, sum(isinstance(part, str) for part in walk(pattern.predicate)))


def parts(node: Any) -> int:
    """Return how many parts of the algebra a node has, the rows of VALUES aside."""
    return sum(1 for _ in walk(node)) - sum(
        sum(1 for _ in walk(one.rows)) for one in walk(node) if isinstance(one, Values)
    )


def _witness(name: str) -> Witness:
    """Return what asks a witness. Its module is imported for the first answer: that of rdflib takes
    longer than all that `sparql.evaluate` imports.
    """

    def ask(query: AlgebraQuery, text: str, dataset: Dataset) -> Relation:
        module = import_module(f"refengine.sparql.witnesses.{name}_witness")
        answer: Witness = getattr(module, f"answer_by_{name}")
        return answer(query, text, dataset)

    return ask


WITNESSES: dict[str, Witness] = {name: _witness(name) for name in ("rdflib", "pyoxigraph")}
