"""§2 A set of semantics: all combinations of some values of the fields, less what was ruled out.

Fields that mean something only with one another (SEM-2) form a *group*, and the values of a group
that go together are a *shape*, as (Istream, previous) for r2s and base. A *block* has for each
group some shapes, and is all their combinations. A set is some blocks, of which no two share a
semantics.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

from refengine.core.combinations import (
    GROUPS,
    REPORTS,
    Values,
    is_consuming_shape,
    legal_combinations,
    meaning_of,
    uses_up_elements,
)
from refengine.core.plan import why_not_consumed
from refengine.core.profile import UNKNOWN, Between, OneOf, Profile
from refengine.core.profiles import PLAIN
from refengine.core.query import Query
from refengine.core.semantics import ENUMS, FIELDS, OPTIONAL, Semantics
from refengine.core.values import Condition
from refengine.model.errors import InvalidQuery, InvalidSemantics

Shape = Values  # a value for each field of a group

ALL_GROUPS: tuple[tuple[str, ...], ...] = (
    *GROUPS,
    *((name,) for name in FIELDS if not any(name in group for group in GROUPS)),
)
# Of each field the number of its group, and its place in it
PLACES: Mapping[str, tuple[int, int]] = {
    name: (number, place)
    for number, group in enumerate(ALL_GROUPS)
    for place, name in enumerate(group)
}


@dataclass(frozen=True)
class Block:
    """All combinations of the `shapes` that each group of fields may have."""

    shapes: tuple[tuple[Shape, ...], ...]

    @property
    def count(self) -> int:
        """The number of semantics; those with an open t0 count as one."""
        return prod(map(len, self.shapes))

    @cached_property
    def key(self) -> tuple[frozenset[Shape], ...]:
        """What equals that of another block with the same semantics."""
        return tuple(map(frozenset, self.shapes))

    def values(self, name: str) -> tuple[Any, ...]:
        """Return the values of a field, each once."""
        number, place = PLACES[name]
        return tuple(dict.fromkeys(shape[place] for shape in self.shapes[number]))

    def where(self, name: str, values: Collection[object]) -> Block | None:
        """Return the part in which a field has one of some values; None if it is empty."""
        number, place = PLACES[name]
        kept = tuple(shape for shape in self.shapes[number] if shape[place] in values)
        return self.with_shapes(number, kept)

    def with_shapes(self, number: int, shapes: tuple[Shape, ...]) -> Block | None:
        """Return the block with other shapes of a group; None if there are none."""
        if not shapes:
            return None
        return Block((*self.shapes[:number], shapes, *self.shapes[number + 1 :]))

    def meet(self, other: Block) -> Block | None:
        """Return what two blocks have in common; None if that is nothing."""
        shapes = []
        for mine, theirs in zip(self.shapes, other.key, strict=True):
            kept = tuple(shape for shape in mine if shape in theirs)
            if not kept:
                return None
            shapes.append(kept)
        return Block(tuple(shapes))

    def minus(self, other: Block) -> Iterator[Block]:
        """Yield blocks, without common members, of what is in this one and not in another."""
        common = self.meet(other)
        if common is None:
            yield self
            return
        rest = self
        for number, shapes in enumerate(common.shapes):
            left = tuple(one for one in rest.shapes[number] if one not in common.key[number])
            if part := rest.with_shapes(number, left):
                yield part
            rest = Block((*rest.shapes[:number], shapes, *rest.shapes[number + 1 :]))

    def has(self, fields: Mapping[str, object]) -> bool:
        """Return whether the values of all fields are those of a member. An integer t0 is one of
        an open t0.
        """
        return all(
            any(
                all(map(_is_same, group, shape, (fields[name] for name in group)))
                for shape in shapes
            )
            for group, shapes in zip(ALL_GROUPS, self.shapes, strict=True)
        )

    def members(self) -> Iterator[dict[str, Any]]:
        """Yield the fields of each member, in the order of `Semantics`. t0 may be open."""
        for shapes in product(*self.shapes):
            of = {
                name: value
                for group, shape in zip(ALL_GROUPS, shapes, strict=True)
                for name, value in zip(group, shape, strict=True)
            }
            yield {name: of[name] for name in FIELDS}


def _is_same(name: str, value: object, wanted: object) -> bool:
    if name == "t0" and type(wanted) is int:
        if isinstance(value, Between):
            return value.lo <= wanted <= value.hi
        return value in (UNKNOWN, wanted)
    return value == wanted


@dataclass(frozen=True)
class SemanticsSet:
    """A set of semantics. t0 may be open in some (UNKNOWN or Between): those stand for all integers
    that an engine may have begun with (ORA-2).
    """

    blocks: tuple[Block, ...] = ()

    @staticmethod
    def of(blocks: Iterable[Block]) -> SemanticsSet:
        """Return the set of all members of some blocks, which may overlap."""
        apart: list[Block] = []
        for block in blocks:
            parts = [block]
            for other in apart:
                parts = [rest for part in parts for rest in part.minus(other)]
            apart += parts
        return SemanticsSet(tuple(joined(apart)))

    @property
    def count(self) -> int:
        """The number of semantics; those with an open t0 count as one."""
        return sum(block.count for block in self.blocks)

    def __bool__(self) -> bool:
        return bool(self.blocks)

    def __contains__(self, semantics: object) -> bool:
        return isinstance(semantics, Semantics) and any(
            block.has(vars(semantics)) for block in self.blocks
        )

    def __and__(self, other: SemanticsSet) -> SemanticsSet:
        met = (one.meet(two) for one in self.blocks for two in other.blocks)
        return SemanticsSet.of(block for block in met if block)

    def __or__(self, other: SemanticsSet) -> SemanticsSet:
        return SemanticsSet.of((*self.blocks, *other.blocks))

    def __sub__(self, other: SemanticsSet) -> SemanticsSet:
        parts = list(self.blocks)
        for block in other.blocks:
            parts = [rest for part in parts for rest in part.minus(block)]
        return SemanticsSet(tuple(joined(parts)))

    def __repr__(self) -> str:
        return f"<{self.count} semantics>"

    def values(self, name: str) -> tuple[Any, ...]:
        """Return the values that a field has in some member, in the order of its enum."""
        found = {value for block in self.blocks for value in block.values(name)}
        words: list[Any] = [UNKNOWN, None, *REPORTS, *ENUMS.get(name, ())]
        return tuple(
            sorted(
                found,
                key=lambda value: (
                    (words.index(value), 0)
                    if value in words
                    else (len(words), value if isinstance(value, int) else 0)
                ),
            )
        )

    def where(self, name: str, *values: object) -> SemanticsSet:
        """Return the members in which a field has one of some values."""
        parts = (block.where(name, values) for block in self.blocks)
        return SemanticsSet(tuple(part for part in parts if part))

    def members(self) -> Iterator[dict[str, Any]]:
        """Yield the fields of each member. t0 may be open."""
        for block in self.blocks:
            yield from block.members()

    def semantics(self) -> Iterator[Semantics]:
        """Yield each member whose t0 is not open."""
        for fields in self.members():
            if not isinstance(fields["t0"], Between) and fields["t0"] != UNKNOWN:
                yield Semantics(**fields)


def joined(blocks: list[Block]) -> list[Block]:
    """Join blocks that differ in the shapes of one group alone, until none do."""
    is_joined = True
    while is_joined:
        is_joined = False
        for number in range(len(ALL_GROUPS)):
            by_others: dict[object, list[Block]] = {}
            for block in blocks:
                others = (*block.key[:number], *block.key[number + 1 :])
                by_others.setdefault(others, []).append(block)
            if len(by_others) < len(blocks):
                is_joined = True
                blocks = [_union(number, alike) for alike in by_others.values()]
    return blocks


def _union(number: int, blocks: list[Block]) -> Block:
    """Return the union of blocks that differ in the shapes of one group alone."""
    first = blocks[0]
    shapes = tuple(dict.fromkeys(shape for block in blocks for shape in block.shapes[number]))
    return Block((*first.shapes[:number], shapes, *first.shapes[number + 1 :]))


def make_set(values: Mapping[str, Values], query: Query | None = None) -> SemanticsSet:
    """Return all semantics whose fields have some of the given values, and that mean something
    (SEM-2); with a query, those that mean something with it (QRY-5). Raises InvalidSemantics and
    InvalidQuery if none does.
    """
    asked = meaning_of(query) if query else None
    coupled = tuple(values[name] for group in GROUPS for name in group)
    blocks: list[Block] = []
    refused: InvalidSemantics | InvalidQuery | None = None
    for reported in values["reported_windows"]:
        try:
            legal = legal_combinations(asked, coupled, reported)
        except (InvalidSemantics, InvalidQuery) as error:
            refused = refused or error
            continue
        blocks += _blocks_beside({**values, "reported_windows": (reported,)}, legal, query)
    if refused and not blocks:
        raise refused
    return SemanticsSet(tuple(blocks))


def _blocks_beside(
    values: Mapping[str, Values], legal: list[list[Values]], query: Query | None
) -> Iterator[Block]:
    """Yield the block in which no element is consumed, and that of those in which some are."""
    consumptions = values["consumption"]
    using_up = tuple(value for value in consumptions if uses_up_elements(value))
    plain = tuple(value for value in consumptions if value not in using_up)
    consuming = [
        [shape for shape in shapes if is_consuming_shape(group, shape)]
        for group, shapes in zip(GROUPS, legal, strict=True)
    ]
    if (query and why_not_consumed(query)) or not all(consuming):
        using_up = ()
    for allowed, shapes_of_groups in ((plain, legal), (using_up, consuming)):
        if allowed:
            of_others = {**values, "consumption": allowed}
            alone = (tuple((v,) for v in of_others[name]) for (name,) in ALL_GROUPS[len(GROUPS) :])
            yield Block((*map(tuple, shapes_of_groups), *alone))


def values_of_profile(profile: Profile) -> dict[str, Values]:
    """Return the values that each field of a profile may have. t0 may be open."""
    return {
        name: (profile.fields[name],)
        if name == "t0" and not isinstance(profile.fields[name], OneOf)
        else profile.choices(name, ())
        for name in FIELDS
    }


# The fields that `usual_values` leaves open, besides those that most questions do not read
USUALLY_OPEN = (
    "closure",
    "tick",
    "horizon",
    "missed_instants",
    "r2s",
    "base",
    "empty",
    "exact_gap",
    "expired_session",
    "session_border",
    "trigger",
    "instant",
    "clock",
)


def usual_values(query: Query | None = None) -> dict[str, Values]:
    """Return the values that are looked at if nobody says which: every value of the fields in which
    engines of the literature differ, conjunctions of three report conditions, an open t0, and of
    the other fields the plain value.
    """
    found = every_value(query)
    conditions = {Condition.CLOSE, Condition.CHANGE, Condition.NON_EMPTY}
    reports = tuple(report for report in REPORTS if report <= conditions)
    plain = {name: (value,) for name, value in PLAIN.items() if name not in USUALLY_OPEN}
    return found | plain | {"t0": (UNKNOWN,), "report": reports}


def every_value(query: Query | None = None) -> dict[str, Values]:
    """Return every value of each field: all words, and of integers the candidates that a query
    gives. t0 is open, besides its policies and formulas.
    """
    sizes = {1}
    for window in query.windows if query else ():
        sizes |= {window.span, window.step}
    spans = tuple(sorted(size for size in sizes if size > 0))
    integers: dict[str, Values] = {
        "t0": (UNKNOWN, 0),
        "offset": (0,),
        "not_before": (0,),
        "period": spans,
        "anchor": (0,),
        "early_count": (1, 2),
        "early_period": spans,
        "allowed_lateness": (0, max(spans)),
        "watermark_delay": (0, max(spans)),
        "horizon": (),
    }
    found: dict[str, Values] = {"report": REPORTS}
    for name in FIELDS:
        if name not in found:
            words = tuple(ENUMS.get(name, ()))
            none = (None,) * (name in OPTIONAL)
            found[name] = (*none, *integers.get(name, ()), *words)
    return found
