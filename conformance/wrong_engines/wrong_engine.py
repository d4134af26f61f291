"""A wrong engine, and how it takes the place of the right one.

Imports refengine. Begin with `wrong`, which makes a wrong engine of a function.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache, wraps
from types import ModuleType
from typing import Any, TypeVar
from unittest.mock import patch

Right = Callable[..., Any]  # the function that a wrong one replaces
Wrong = TypeVar("Wrong", bound=Callable[..., Any])

NOBODY = "none known"
PACKAGES = ("refengine", "conformance")
# no room of these imports a later one, so that no memo of a room holds what a later one computes
ROOMS_FROM_BELOW = (
    "conformance.schemas",
    "refengine.model",
    "refengine.sparql",
    "refengine.core",
)


@dataclass(frozen=True)
class WrongEngine:
    """A wrong engine: the reference engine with one function replaced by a wrong one.

    `rules` are the rules that it breaks; the first one names it. `replaced` is the right function,
    and `replacement` the wrong one. `seen` names the engines that were seen with the defect, with
    links, or is "none known". `halves` are phrases of the rules: where a rule joins two halves by
    *and*, the half that is broken. `besides` maps further functions to their replacements: to right
    ones that do not presume what is wrong here, or to more of the defect.
    """

    rules: tuple[str, ...]
    replaced: Callable[..., Any]
    replacement: Callable[..., Any]
    seen: str = NOBODY
    halves: tuple[str, ...] = ()
    besides: Mapping[Callable[..., Any], Callable[..., Any]] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.rules, self.replacement))

    @property
    def rule(self) -> str:
        """The rule that names it: the first of `rules`, which are all that it breaks."""
        return self.rules[0]

    @property
    def name(self) -> str:
        """The defect in a few words: the name of the wrong function."""
        return self.replacement.__name__.replace("_", " ")

    @property
    def full_name(self) -> str:
        """Its first rule and its name: `WIN-8 nothing expires`."""
        return f"{self.rule} {self.name}"

    @property
    def defect(self) -> str:
        """What the engine does, in a sentence or two: the docstring of the wrong function."""
        return " ".join((self.replacement.__doc__ or "").split())

    @property
    def heading(self) -> str:
        """What an engine with the defect does, in a sentence without its full stop: the first one
        of the docstring.
        """
        [first, *_] = re.split(r"\.(?: |$)", self.defect)
        return f"It {first[0].lower()}{first[1:]}"

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Put the wrong function in place of the right one until the context ends, in every module
        that has imported it.
        """
        functions = {self.replaced: self.replacement, **self.besides}
        _memos(len(sys.modules))  # found while every function is the right one
        with ExitStack() as stack:
            stack.callback(_forget, functions)
            for right, function in functions.items():
                owner = _owner(right)
                stack.enter_context(patch.object(owner, right.__name__, function))
                for module, name in _importing(right, len(sys.modules)):
                    if vars(module)[name] is right:  # no engine that is installed has replaced it
                        stack.enter_context(patch.object(module, name, function))
            _forget(functions)
            yield


# filled as the modules of this package are imported
REGISTRY: list[WrongEngine] = []
HABITS: list[WrongEngine] = []


def wrong(
    *rules: str,
    replaces: Callable[..., Any],
    seen: str = NOBODY,
    half: str | tuple[str, ...] = (),
    besides: Mapping[Callable[..., Any], Callable[..., Any]] | None = None,
    is_habit: bool = False,
) -> Callable[[Wrong], Wrong]:
    """Return a decorator that adds a function to the wrong engines, and to the habits, too, if
    `is_habit` says so. The function takes the right one, and then what the right one takes. The
    other explanations are those of `WrongEngine`.
    """
    halves = half
    if isinstance(halves, str):
        halves = (halves,)
    registries = [REGISTRY, HABITS] if is_habit else [REGISTRY]
    return _register(
        registries, WrongEngine(rules, replaces, replaces, seen, halves, besides or {})
    )


def habit(
    *rules: str,
    replaces: Callable[..., Any],
    besides: Mapping[Callable[..., Any], Callable[..., Any]] | None = None,
) -> Callable[[Wrong], Wrong]:
    """Return a decorator that adds a function to the habits. A habit is a wrong engine that a
    diagnosis looks for, and that no case needs to catch: the wrong engines of its rules break them
    more plainly. The explanations are as those of `wrong`.
    """
    return _register([HABITS], WrongEngine(rules, replaces, replaces, besides=besides or {}))


def _register(
    registries: Sequence[list[WrongEngine]], right_engine: WrongEngine
) -> Callable[[Wrong], Wrong]:
    """Return a decorator that adds an engine to registries, in which the decorated function, with
    the right one as its first explanation, takes the place of the right one.
    """
    right = right_engine.replaced

    def add(function: Wrong) -> Wrong:
        @wraps(function)
        def replacement(*values: Any, **options: Any) -> Any:
            return function(right, *values, **options)

        wrong_engine = replace(right_engine, replacement=replacement)
        for registry in registries:
            registry.append(wrong_engine)
        return function

    return add


def _owner(function: Callable[..., Any]) -> Any:
    """Return the module or the class in which a function is defined."""
    owner: Any = sys.modules[function.__module__]
    for name in function.__qualname__.split(".")[:-1]:
        owner = getattr(owner, name)
    return owner


@lru_cache(maxsize=1)
def _modules(module_count: int) -> list[ModuleType]:
    """Return the loaded modules of both packages. The wrong engines' own are left out: they may
    call the right functions. They are looked for again only if the number of loaded modules has
    changed.
    """
    wrong_engines = __name__.rpartition(".")[0]
    loaded = sorted(sys.modules.items())
    return [
        module
        for name, module in loaded
        if name.partition(".")[0] in PACKAGES and not name.startswith(wrong_engines)
    ]


@lru_cache(maxsize=1024)  # more than there are wrong engines
def _importing(right: Callable[..., Any], module_count: int) -> list[tuple[ModuleType, str]]:
    """Return the names of a right function in the modules that define or import it."""
    return [
        (module, name)
        for module in _modules(module_count)
        for name, value in vars(module).items()
        if value is right
    ]


def _forget(functions: Mapping[Callable[..., Any], Any]) -> None:
    """Clear every memo that may hold results of these functions, or of those in their place: all
    memos but those of the rooms below.
    """
    changed = {_room(function.__module__) for function in functions}
    below: list[str] = []
    for room in ROOMS_FROM_BELOW:
        if room in changed:
            break
        below.append(room)

    for room, forget in _memos(len(sys.modules)):
        if room not in below:
            forget()


@lru_cache(maxsize=1)
def _memos(module_count: int) -> list[tuple[str, Callable[[], None]]]:
    """Return the function that clears each memo of both packages, with the room that defines the
    memo, whoever imports it. They are looked for again only if the number of loaded modules has
    changed.
    """
    found = {
        value: (_room(value.__module__), forget)
        for module in _modules(module_count)
        for value in list(vars(module).values())
        if callable(forget := getattr(value, "cache_clear", None))
    }
    return list(found.values())


def _room(module: str) -> str:
    """Return the room that a module is in: `refengine.core` of `refengine.core.window`."""
    return ".".join(module.split(".")[:2])
