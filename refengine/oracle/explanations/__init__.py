"""What would explain a fail: other semantics, and other readings of the recording (SPEC.md §11,
ORA-13).

Imports `model`, `core`, and what the oracle judges with. Begin with `search.find_explanations`. It
tries the `readings` of the recording and the `changes` of the semantics.
"""

from refengine.oracle.explanations.changes import FieldChange as FieldChange
from refengine.oracle.explanations.changes import alternatives as alternatives
from refengine.oracle.explanations.changes import apply_changes as apply_changes
from refengine.oracle.explanations.readings import AS_SETS as AS_SETS
from refengine.oracle.explanations.readings import other_variables as other_variables
from refengine.oracle.explanations.search import FIELDS_TRIED as FIELDS_TRIED
from refengine.oracle.explanations.search import Explanations as Explanations
from refengine.oracle.explanations.search import find_explanations as find_explanations
