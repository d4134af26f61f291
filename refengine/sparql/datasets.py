"""§7 Datasets: their default graph, their named graphs, their windows where these are apart, and
the part that is static. That is the same at each evaluation, and is indexed once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import TypeVar, cast

from refengine.model.elements import Dataset, Quad, Term, Triple

# A graph as patterns ask for it: triples by any of their terms


# the terms at one position or at two, as `itemgetter` gives them
Key = Term | tuple[Term, ...]


class Index:
    """The triples of a graph, by the terms that a pattern gives; each index is made when it is
    first asked for.
    """

    def __init__(self, triples: Iterable[Triple]) -> None:
        self.triples: Sequence[Triple] = sorted(triples)
        self.present = frozenset(self.triples)
        self._by: dict[tuple[Term | None, tuple[int, ...]], dict[Key, list[Triple]]] = {}

    def match(
        self, subject: Term | None, predicate: Term | None, object: Term | None
    ) -> Sequence[Triple]:
        """Return the triples that have the given terms, in order; None stands for any."""
        given = (subject, predicate, object)
        positions = tuple([position for position, term in enumerate(given) if term is not None])
        if not positions:
            return self.triples
        if len(positions) == 3:
            return (given,) if given in self.present else ()
        if len(positions) == 1 or predicate is None:
            terms = [term for term in given if term is not None]
            return self._look_up(None, positions, terms[0] if len(terms) == 1 else tuple(terms))
        # a body asks for few predicates, and no other triples are indexed by another term
        if subject is not None:
            return self._look_up(predicate, (0,), subject)
        return self._look_up(predicate, (2,), cast("Term", object))

    def _look_up(
        self, predicate: Term | None, positions: tuple[int, ...], key: Key
    ) -> Sequence[Triple]:
        """Return the triples that have the terms of a key at some positions: of those with a
        predicate, or of all.
        """
        name = (predicate, positions)
        if name not in self._by:
            triples = self.triples
            if predicate is not None:
                triples = self._look_up(None, (1,), predicate)
            self._by[name] = index_triples(triples, positions)
        return self._by[name].get(key, ())

    def __len__(self) -> int:
        return len(self.triples)

    @cached_property
    def nodes(self) -> dict[Term, None]:
        """The terms that are a subject or an object, in order (§18.4)."""
        return dict.fromkeys(sorted(nodes_of(self.triples)))


class IndexOverStatic(Index):
    """The triples of a graph, of which some are static: these are in an index of their own, which
    may be that of several evaluations. No triple may be in both.
    """

    def __init__(self, triples: Iterable[Triple], static: Index) -> None:
        super().__init__(triples)
        self.static = static

    def match(
        self, subject: Term | None, predicate: Term | None, object: Term | None
    ) -> Sequence[Triple]:
        """Return the triples that have the given terms, in order; None stands for any."""
        changing = super().match(subject, predicate, object)
        static = self.static.match(subject, predicate, object)
        if changing and static:
            return sorted((*changing, *static))
        return changing or static

    def __len__(self) -> int:
        return len(self.triples) + len(self.static)

    @cached_property
    def nodes(self) -> dict[Term, None]:
        """The terms that are a subject or an object, in order (§18.4)."""
        return dict.fromkeys(sorted(nodes_of(self.triples) | self.static.nodes.keys()))


def nodes_of(triples: Iterable[Triple]) -> set[Term]:
    """Return the terms that are a subject or an object."""
    return {term for subject, _, end in triples for term in (subject, end)}


def index_triples(triples: Iterable[Triple], positions: tuple[int, ...]) -> dict[Key, list[Triple]]:
    """Return triples by their terms at some positions."""
    key_of: Callable[[Triple], Key] = itemgetter(*positions)
    index: dict[Key, list[Triple]] = defaultdict(list)
    for triple in triples:
        index[key_of(triple)].append(triple)
    return dict(index)


Spend = Callable[[int], None]


# Datasets


DEFAULT_GRAPH = ""  # no graph has an empty name
WINDOW = "<window "  # begins the names of windows that are no named graphs: no IRI has a space
G = TypeVar("G")
# a graph that witnesses are given, and its predicates
NAMES = "<urn:x-refengine:names>"
NAME_OF_GRAPH = "<urn:x-refengine:graph>"
NAME_OF_WINDOW = "<urn:x-refengine:window>"
WINDOW_OF_WITNESSES = "<urn:x-refengine:window:"


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


def name_of_window(iri: str, is_apart: bool) -> Term:
    """R2R-8: Return the name that a window has in a dataset: its IRI, as a named graph has it, or a
    name that no graph has where windows are apart.
    """
    return f"{WINDOW if is_apart else '<'}{iri}>"


def graphs_found(graphs: Mapping[Term, G], of_windows: bool) -> dict[Term, G]:
    """R2R-8: Return the named graphs of a dataset, which GRAPH finds, or its windows, which WINDOW
    finds, by the names that a body has for them.
    """
    if of_windows:
        names = {name: f"<{name[len(WINDOW) :]}" for name in graphs if name.startswith(WINDOW)}
    else:
        names = {name: name for name in graphs if not name.startswith(WINDOW)}
        names.pop(DEFAULT_GRAPH, None)
    return {found: graphs[name] for name, found in names.items()}


def witness_name(name: Term) -> Term:
    """Return the IRI under which witnesses are given the window that a body has a name for."""
    return f"{WINDOW_OF_WITNESSES}{name[1:]}"


def with_names(dataset: Dataset) -> Dataset:
    """R2R-8: Return a dataset with windows as witnesses are given it. Each window is a named graph
    with an IRI of its own, and the graph NAMES says what a body calls each named graph.
    """
    changing: set[Triple | Quad] = set()
    for statement in changing_part(dataset):
        if len(statement) == 4 and statement[3].startswith(WINDOW):
            name = f"<{statement[3][len(WINDOW) :]}"
            changing |= {
                (*statement[:3], witness_name(name)),
                (witness_name(name), NAME_OF_WINDOW, name, NAMES),
            }
        else:
            changing.add(statement)
    for statement in dataset:
        if len(statement) == 4 and not is_time(statement) and not statement[3].startswith(WINDOW):
            changing.add((statement[3], NAME_OF_GRAPH, statement[3], NAMES))
    static = static_part(dataset)
    return DatasetOverStatic.of(static, frozenset(changing)) if static else frozenset(changing)


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
