"""§2 One run for many semantics: a semantics whose values are chosen when they are first read.

What a run does depends on the values that it reads. So its result holds for every semantics that
agrees with it in these, whatever the other fields are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from refengine.core.semantics import Semantics
from refengine.oracle.beginnings import is_range
from refengine.oracle.inference.semantics_set import PLACES, Block

T = TypeVar("T")


class ReadSemantics(Semantics):
    """A semantics that asks for the value of a field when it is read first, and keeps it."""

    def __new__(cls, choose: Callable[[str], object]) -> ReadSemantics:
        """Return a semantics that has no value yet."""
        return object.__new__(cls)

    def __init__(self, choose: Callable[[str], object]) -> None:
        object.__setattr__(self, "_choose", choose)

    def __post_init__(self) -> None:
        """Check nothing: what may be chosen means something."""

    def __getattr__(self, name: str) -> Any:
        if name not in PLACES:
            raise AttributeError(name)
        value = self.__dict__["_choose"](name)
        object.__setattr__(self, name, value)
        return value

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def with_values(self, **values: Any) -> Semantics:
        """Return the semantics with some fields replaced. The others are chosen here."""
        return ReadSemantics(lambda name: values[name] if name in values else getattr(self, name))


class Choices:
    """The values that are chosen of a block in one run: of each field that is read the first one
    that is left. `block` is the part with these values, and `others` are the parts that are left
    for other runs. An open t0 is read as 0, which stands for it.
    """

    def __init__(self, block: Block) -> None:
        self.block = block
        self.others: list[Block] = []
        self.semantics = ReadSemantics(self._choose)

    def _choose(self, name: str) -> object:
        value, *others = self.block.values(name)
        if others and (rest := self.block.where(name, others)):
            self.others.append(rest)
            chosen = self.block.where(name, (value,))
            assert chosen is not None
            self.block = chosen
        if name == "t0" and is_range(value):
            return 0
        return value


def run_for_each(blocks: Iterable[Block], run: Callable[[Choices], T]) -> Iterator[tuple[Block, T]]:
    """Run something under all semantics of some blocks, and yield each result with the part of a
    block for which it stands. `run` must read no semantics but that of its choices.
    """
    waiting = list(blocks)[::-1]
    while waiting:
        choices = Choices(waiting.pop())
        result = run(choices)
        waiting += choices.others
        yield choices.block, result
