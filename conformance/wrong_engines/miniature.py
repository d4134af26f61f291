"""What a wrong engine is, and how it takes the place of the right one.

Imports refengine. Begin with `wrong`, which makes a wrong engine of a function.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import wraps
from types import ModuleType
from typing import Any, TypeVar
from unittest.mock import patch

Right = Callable[..., Any]  # the function that a wrong one replaces
Wrong = TypeVar("Wrong", bound=Callable[..., Any])

NOBODY = "none known"
PACKAGES = ("refengine", "conformance")
# of these rooms none imports one behind it, so no memo in it holds what a room behind it computes
ROOMS_FROM_BELOW = (
    "conformance.schemas",
    "refengine.model",
    "refengine.sparql",
    "refengine.core",
)


@dataclass(frozen=True)
class Miniature:
    """A wrong engine: the reference engine with one function replaced by a wrong one.

    `rules` are the rules that it breaks, the most telling first. `seen` names the engines that were
    seen with the defect, with links, or is "none known". `halves` are phrases of the rules: of what
    they join by *and*, the halves that are broken. `besides` are further functions that
    are replaced with it: by right ones that do not presume what is wrong here, or by more of the
    defect.
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
        """The first of its rules, which its full name begins with: `WIN-8 nothing expires`."""
        return self.rules[0]

    @property
    def name(self) -> str:
        """The defect in a few words, as the function says it that is wrong."""
        return self.replacement.__name__.replace("_", " ")

    @property
    def defect(self) -> str:
        """The defect in a sentence."""
        return " ".join((self.replacement.__doc__ or "").split())

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Put the wrong function in place of the right one, wherever a module has imported it, for
        the duration.
        """
        functions = {self.replaced: self.replacement, **self.besides}
        with ExitStack() as stack:
            stack.callback(_forget, functions)
            for right, function in functions.items():
                owner = _owner(right)
                stack.enter_context(patch.object(owner, right.__name__, function))
                for module in _modules():
                    names = [name for name, value in vars(module).items() if value is right]
                    for name in names:
                        stack.enter_context(patch.object(module, name, function))
            _forget(functions)
            yield


MINIATURES: list[Miniature] = []  # as their modules are imported


def wrong(
    *rules: str,
    replaces: Callable[..., Any],
    seen: str = NOBODY,
    half: str | tuple[str, ...] = (),
    besides: Mapping[Callable[..., Any], Callable[..., Any]] | None = None,
) -> Callable[[Wrong], Wrong]:
    """Make a wrong engine of a function, which is handed the right one and then what that is given.

    Its name is the function's, and its defect the docstring.
    """

    def added(function: Wrong) -> Wrong:
        @wraps(function)
        def replacement(*values: Any, **options: Any) -> Any:
            return function(replaces, *values, **options)

        halves = (half,) if isinstance(half, str) else half
        MINIATURES.append(Miniature(rules, replaces, replacement, seen, halves, besides or {}))
        return function

    return added


def _owner(function: Callable[..., Any]) -> Any:
    """Return the module or the class in which a function is defined."""
    owner: Any = sys.modules[function.__module__]
    for name in function.__qualname__.split(".")[:-1]:
        owner = getattr(owner, name)
    return owner


def _modules() -> list[ModuleType]:
    """Return the loaded modules of both packages but the wrong engines', which may call the right
    functions.
    """
    wrong_engines = __name__.rpartition(".")[0]
    loaded = sorted(sys.modules.items())
    return [
        module
        for name, module in loaded
        if name.partition(".")[0] in PACKAGES and not name.startswith(wrong_engines)
    ]


def _forget(functions: Mapping[Callable[..., Any], Any]) -> None:
    """Clear the memos that may hold what these functions gave, or those in their place: the memos
    of their rooms, and of all rooms but those below.
    """
    changed = {_room(function.__module__) for function in functions}
    below: list[str] = []
    for room in ROOMS_FROM_BELOW:
        if room in changed:
            break
        below.append(room)

    for module in _modules():
        if _room(module.__name__) in below:
            continue
        for value in list(vars(module).values()):
            if callable(clear := getattr(value, "cache_clear", None)):
                clear()


def _room(module: str) -> str:
    """Return the room that a module is in: `refengine.core` of `refengine.core.window`."""
    return ".".join(module.split(".")[:2])
