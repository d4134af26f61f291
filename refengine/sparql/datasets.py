"""§7 Datasets of which a part is static: it is the same at each evaluation, and is indexed once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache

from refengine.model.elements import Dataset, Quad, Term, Triple
from refengine.sparql.graphs import Index, IndexOverStatic

DEFAULT_GRAPH = ""  # no graph has an empty name


class DatasetOverStatic(frozenset[Triple | Quad]):
    """A dataset that knows which of its statements are `static`, and which others are `changing`.

    It equals the set of its statements, and may stand wherever that may. What reads the static part
    alone can remember what it made of it: the part is one object for all evaluations of a query.
    """

    static: Dataset
    changing: Dataset

    @classmethod
    def of(cls, static: Dataset, others: Dataset) -> DatasetOverStatic:
        """Return the dataset of static statements and others, of which some may be static, too."""
        dataset = cls(static | others)
        dataset.static = static
        dataset.changing = others - static
        return dataset


def static_part(dataset: Dataset) -> Dataset:
    """Return the statements of a dataset that are known to be static."""
    return dataset.static if isinstance(dataset, DatasetOverStatic) else frozenset()


def changing_part(dataset: Dataset) -> Dataset:
    """Return the statements of a dataset that are not known to be static."""
    return dataset.changing if isinstance(dataset, DatasetOverStatic) else dataset


def is_time(statement: Triple | Quad) -> bool:
    """Return whether a statement tells the time of a triple (R2R-21): a literal stands in its
    fourth place.
    """
    return len(statement) == 4 and statement[3].startswith('"')


def times_of_triples(dataset: Dataset) -> dict[Triple, Term]:
    """Return the times that a dataset tells of triples (R2R-21)."""
    return {
        statement[:3]: statement[3]
        for statement in changing_part(dataset)
        if len(statement) == 4 and is_time(statement)
    }


def triples_by_graph(statements: Iterable[Triple | Quad]) -> dict[Term, list[Triple]]:
    """Return the triples of the default graph and of each named one, by its name. The times of
    triples are left out.
    """
    graphs: dict[Term, list[Triple]] = defaultdict(list)
    default_graph = graphs[DEFAULT_GRAPH]
    for statement in statements:
        if len(statement) == 3:
            default_graph.append(statement)
        elif not is_time(statement):
            graphs[statement[3]].append(statement[:3])
    return graphs


def index_graphs(dataset: Dataset) -> dict[Term, Index]:
    """Return an index of each graph of a dataset, by its name, in the order of the names. The
    default graph is first. Static data is indexed once.
    """
    static = _index_static(static_part(dataset))
    changing = triples_by_graph(changing_part(dataset))
    names = sorted({*static, *changing})
    return {name: _index_graph(changing.get(name, ()), static.get(name)) for name in names}


def _index_graph(triples: Iterable[Triple], static: Index | None) -> Index:
    return Index(triples) if static is None else IndexOverStatic(triples, static)


@lru_cache(maxsize=2)
def _index_static(static: Dataset) -> Mapping[Term, Index]:
    """Return an index of each graph of static data."""
    return {name: Index(triples) for name, triples in triples_by_graph(static).items()}
