"""Miniatures: wrong engines, each the reference engine with one function replaced. The cases of the
rules that it breaks must catch it.

A case that no wrong engine fails proves nothing; these are the wrong engines. Many have a defect
that a real one has.

Imports refengine. Begin with `miniature`, then any of the other modules: each has the wrong engines
of one or two sections of SPEC.md.
"""

import importlib
import pkgutil

from conformance.wrong_engines import miniature as miniature
from conformance.wrong_engines.miniature import Miniature as Miniature

for _section in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_section.name}")

MINIATURES: tuple[Miniature, ...] = tuple(
    sorted(miniature.MINIATURES, key=lambda one: (one.rule, one.name))
)
