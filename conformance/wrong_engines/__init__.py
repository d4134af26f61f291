"""Wrong engines: each is the reference engine with one function replaced by a wrong one. A case of
every rule that it breaks must catch it, since a case that no wrong engine fails proves nothing.
Many have a defect that a real engine has.

This is how a wrong engine is written:

    @wrong(
        "WIN-3",                      # the rules that it breaks; the first one names it
        replaces=window.frame,        # the right function, whose place it takes
        half="opens at o = t0 + nβ",  # what it breaks of a rule that joins two halves by *and*
        seen=f"{YASPER} and {RSP_JS}: scope() never adds t0 back",  # who has this defect
    )
    def t0_is_0(right, spec, closure, t0, partial):
        '''Places windows at the multiples of the slide.'''
        return right(spec, closure, 0, partial)

It is called `WIN-3 t0 is 0`. It takes the right function, and then what the right function takes:
here it calls the right one with another t0. The first sentence of its docstring says what the
engine does, and is the heading of a cause in reports. With `besides=…` further functions are
replaced together with this one.

Imports refengine. Begin with `wrong_engine`, which has `wrong`; each other module has the wrong
engines of one or two sections of SPEC.md. `WRONG_ENGINES` are all of them. The `habits` are wrong
engines that only a diagnosis looks for.
"""

import importlib
import pkgutil

from conformance.wrong_engines.wrong_engine import HABITS as HABITS
from conformance.wrong_engines.wrong_engine import REGISTRY
from conformance.wrong_engines.wrong_engine import WrongEngine as WrongEngine

for _section in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_section.name}")

WRONG_ENGINES: tuple[WrongEngine, ...] = tuple(
    sorted(REGISTRY, key=lambda one: (one.rule, one.name))
)
