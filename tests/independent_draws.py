"""A backend of Hypothesis for counting what is drawn: its draws have nothing to do with each other.

Hypothesis follows each draw with up to five that copy parts of it. That is good for finding what
breaks, and bad for counting: of 400 draws less than a hundred are new. And it draws constants of
whatever modules are loaded, so that counts depend on which tests have run before in the process.
"""

from __future__ import annotations

from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

BACKEND = "independent"


class IndependentDraws(HypothesisProvider):
    """Draws as Hypothesis does, but no constants of loaded modules. Hypothesis copies parts of
    draws for its own backend only, and this one has another name.
    """

    def _maybe_draw_constant(self, *_: object, **__: object) -> None:
        return None


AVAILABLE_PROVIDERS[BACKEND] = f"{__name__}.{IndependentDraws.__name__}"
