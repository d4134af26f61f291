"""What would explain a fail: other semantics, and other readings of the recording (SPEC.md §11,
ORA-13).

Imports `model`, `core`, and what the oracle judges with. Begin with `search.nearest`. It tries the
`readings` of the recording and the `changes` of the semantics.
"""

from refengine.oracle.explanations.changes import Change as Change
from refengine.oracle.explanations.changes import alternatives as alternatives
from refengine.oracle.explanations.changes import changed as changed
from refengine.oracle.explanations.readings import AS_SETS as AS_SETS
from refengine.oracle.explanations.readings import other_variables as other_variables
from refengine.oracle.explanations.search import TRIED as TRIED
from refengine.oracle.explanations.search import Nearest as Nearest
from refengine.oracle.explanations.search import nearest as nearest
