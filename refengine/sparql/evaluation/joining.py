"""Join, LeftJoin and Minus (SPARQL 1.1 §18.5): pairs of compatible solutions (§18.3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from refengine.model.elements import Term
from refengine.sparql.algebra import Expression
from refengine.sparql.evaluation.run import Run, Solution
from refengine.sparql.values import Computed, same


def join(run: Run, left: Sequence[Solution], right: Sequence[Solution]) -> list[Solution]:
    """Return the union of each two solutions that are compatible."""
    partners = find_partners(run, left, right)
    return run.unite(({**one, **other} for other in partners(one)) for one in left)


def left_join(
    run: Run, left: Sequence[Solution], right: Sequence[Solution], condition: Expression | None
) -> list[Solution]:
    """Extend each solution by those that are compatible and fulfil the condition together with it
    (§18.5, LeftJoin). One that none extends stands alone.
    """
    partners = find_partners(run, left, right)

    def extensions(one: Solution) -> list[Solution]:
        merged = ({**one, **other} for other in partners(one))
        fulfilled = run.unite(
            [both] for both in merged if condition is None or run.expressions.holds(condition, both)
        )
        return fulfilled or [one]

    return run.unite(extensions(one) for one in left)


def subtract(run: Run, left: Sequence[Solution], right: Sequence[Solution]) -> list[Solution]:
    """Return the solutions of the left side, without those that are compatible with one of the
    right and share a variable with it (§18.5, Minus).
    """
    partners = find_partners(run, left, right)
    return [one for one in left if not any(one.keys() & other.keys() for other in partners(one))]


def find_partners(
    run: Run, left: Sequence[Solution], right: Sequence[Solution]
) -> Callable[[Solution], Iterator[Solution]]:
    """Return the function that gives the solutions of the right side which are compatible with one
    of the left (§18.3).
    """
    shared = sorted(bound_names(left) & bound_names(right))
    always = [name for name in shared if is_always_bound(name, left, right)]
    rest = [name for name in shared if name not in always]
    if run.has_computed and has_computed_term(shared, left, right):
        # two computed terms may be the same though their texts differ: no look-up finds them
        always = []
        rest = shared
    index: dict[tuple[Term, ...], list[Solution]] = defaultdict(list)
    for other in right:
        index[tuple([other[name] for name in always])].append(other)

    def partners(one: Solution) -> Iterator[Solution]:
        for other in index.get(tuple([one[name] for name in always]), ()):
            run.budget.spend(1)
            if not rest or are_compatible(one, other, rest):
                yield other

    return partners


def are_compatible(one: Solution, other: Solution, names: Iterable[str]) -> bool:
    """Return whether two solutions bind no variable of some to different terms (§18.3). All are
    compared: a pair that has no single answer leaves the whole without one.
    """
    return all(
        [name not in one or name not in other or same(one[name], other[name]) for name in names]
    )


def bound_names(solutions: Iterable[Solution]) -> set[str]:
    """Return the names of the variables that any of some solutions binds."""
    return set().union(*solutions)


def is_always_bound(name: str, left: Iterable[Solution], right: Iterable[Solution]) -> bool:
    """Return whether every solution of both sides binds a variable."""
    return all(name in one for one in left) and all(name in one for one in right)


def has_computed_term(
    names: Sequence[str], left: Sequence[Solution], right: Sequence[Solution]
) -> bool:
    """Return whether any solution of two sides binds one of some variables to a computed term."""
    return any(isinstance(one.get(name), Computed) for one in (*left, *right) for name in names)
