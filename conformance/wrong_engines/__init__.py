"""Miniatures: wrong engines, each the reference engine with one function replaced. Its rule's cases
must catch it.

A case that no wrong engine fails proves nothing; these are the wrong engines. Many have a defect
that a real one has.

Imports refengine. Begin with `Miniature` below, then any of the modules, one for some sections of
SPEC.md.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from unittest.mock import patch

PACKAGES = ("refengine", "conformance")


@dataclass(frozen=True)
class Miniature:
    """A wrong engine: the rule it breaks, the defect in words, who was seen with it (with the
    source, or "none known"), the function it replaces (`refengine.core.window:borders`,
    `refengine.core.semantics:Profile.semantics`) and the wrong one. `also` are further replacements
    (target, function) that are right, but do not presume the function that is wrong.
    """

    rule: str
    name: str
    seen: str
    target: str
    wrong: Callable[..., Any]
    also: tuple[tuple[str, Callable[..., Any]], ...] = ()

    @contextmanager
    def installed(self) -> Iterator[None]:
        """The wrong function in place of the right one, wherever a module has imported it, for the
        duration.
        """
        with ExitStack() as stack:
            stack.callback(_forget)
            for target, function in ((self.target, self.wrong), *self.also):
                owner, attribute = _owner(target)
                right = getattr(owner, attribute)
                stack.enter_context(patch.object(owner, attribute, function))
                for module in _modules():
                    for name in [name for name, value in vars(module).items() if value is right]:
                        stack.enter_context(patch.object(module, name, function))
            _forget()
            yield


def _owner(target: str) -> tuple[Any, str]:
    """Where a target is defined, and under which name. Raises AttributeError for one that is not
    there.
    """
    module, _, path = target.partition(":")
    owner: Any = importlib.import_module(module)
    *outer, attribute = path.split(".")
    for name in outer:
        owner = getattr(owner, name)
    return owner, attribute


def _modules() -> list[ModuleType]:
    """The loaded modules of both packages but these, in which a wrong function may call the right
    one.
    """
    loaded = sorted(sys.modules.items())
    return [
        m
        for name, m in loaded
        if name.partition(".")[0] in PACKAGES and not name.startswith(__name__)
    ]


def _forget() -> None:
    """Empties the caches, which may hold what the right or the wrong function gave."""
    for module in _modules():
        for value in list(vars(module).values()):
            if callable(clear := getattr(value, "cache_clear", None)):
                clear()


def _collected() -> Iterator[Miniature]:
    for section in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        yield from importlib.import_module(f"{__name__}.{section}").MINIATURES


MINIATURES: tuple[Miniature, ...] = tuple(sorted(_collected(), key=lambda m: (m.rule, m.name)))
