"""What would explain a fail (docs/judging.md, ORA-13): other values of the semantics' fields, other
profiles, and other readings of the recording.

Small changes are tried before large ones. Our search goes like this:

1. `readings.other_variables` compares the variables of the recording with those of the query. If
   they differ, nothing else is tried.
2. `readings.readings_of` asks whether the recording is right but for its extent, its order, its
   repeated rows, or relations of one timestamp that belong together.
3. `changes.changes_of` lists every other value of every field. `changes.apply_changes` makes a
   profile of each, and `changes.find_explaining_trial` tries the recording under it.
4. If neither a reading nor a single change explains the recording, every other profile is tried.
5. If no profile explains it, pairs of changes are tried, within a bound of work.

`search.find_explanations` returns what explains the recording as `search.Explanations`, with the
changes that were out of reach.

Imports `model`, `core`, and what the oracle judges with. Begin with `search.find_explanations`.
"""

from refengine.oracle.explanations.changes import FieldChange, alternatives, apply_changes
from refengine.oracle.explanations.readings import AS_SETS, other_variables
from refengine.oracle.explanations.search import FIELDS_TRIED, Explanations, find_explanations

__all__ = [
    "AS_SETS",
    "FIELDS_TRIED",
    "Explanations",
    "FieldChange",
    "alternatives",
    "apply_changes",
    "find_explanations",
    "other_variables",
]
