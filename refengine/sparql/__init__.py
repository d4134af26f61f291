"""§7 R2R by definition: what a SPARQL 1.1 body answers over a dataset, written to be read beside the recommendation's §17 and §18.

Begin with `evaluate`, which has an operator a function; `algebra` is what it walks over, `translate` makes that of the tree that
`grammar` reads. `expressions`, `functions`, `values`, `aggregates`, `order` and `paths` are §17, §18.5.1, §15.1 and §18.4.
`joins` orders triple patterns, `witnesses` asks rdflib and pyoxigraph for their answers. The package imports the model, and nothing
of windows.
"""

from refengine.sparql.evaluation import evaluate
from refengine.sparql.limits import Limits
from refengine.sparql.translate import read

__all__ = ["Limits", "evaluate", "read"]
