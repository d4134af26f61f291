"""Which semantics explain what an engine answered: `judge` asks this of one profile, and this
package of a whole set of semantics at once.

1. `semantics_set` has sets of semantics: all that mean something, or those of a profile.
2. `choices` runs something once for all members of a set that agree in what the run reads.
3. `explaining` holds a set against a recording, and returns the members that explain it. Over
   several recordings of one engine, each is asked of what the one before left.
4. `outcomes` says what the members answer to a question: which of them it parts.
5. `reading` says in words what a set has in common: of each field its value, or which values it
   may have, and which law says that they cannot be told apart.

Imports `model`, `core`, and what the oracle judges with. Begin with `explaining.explaining`.
"""

from refengine.oracle.inference.explaining import Explaining, Found, explaining, find_explaining
from refengine.oracle.inference.outcomes import Outcome, outcomes
from refengine.oracle.inference.reading import FieldReading, read_fields
from refengine.oracle.inference.semantics_set import (
    Block,
    SemanticsSet,
    every_value,
    make_set,
    usual_values,
    values_of_profile,
)

__all__ = [
    "Block",
    "Explaining",
    "FieldReading",
    "Found",
    "Outcome",
    "SemanticsSet",
    "every_value",
    "explaining",
    "find_explaining",
    "make_set",
    "outcomes",
    "read_fields",
    "usual_values",
    "values_of_profile",
]
