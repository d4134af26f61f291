"""A backend of Hypothesis whose draws have nothing to do with each other.

Hypothesis follows each draw with up to five that copy parts of it, which is good for finding what
breaks, and bad for counting what is drawn: of 400 draws less than a hundred are new, and how many
have a certain term depends on chance.
"""

from __future__ import annotations

from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

BACKEND = "independent"


class IndependentDraws(HypothesisProvider):
    """Draws as Hypothesis does, and is another backend to it: one whose draws it leaves alone."""


AVAILABLE_PROVIDERS[BACKEND] = f"{__name__}.{IndependentDraws.__name__}"
