"""§7 R2R: what a SPARQL 1.1 body answers over a dataset, computed by SPARQL's own algebra and
written to be read beside the recommendation's §17 and §18.

Begin with `evaluation`, where `BodyEvaluator` has a case for each operator. It walks over
`algebra`, which `translate` makes of the tree that `grammar` reads, with `reading` for its terms
and expressions. Expressions (§17) are in `expressions`, `functions`, `casts`, `values` and `regex`,
set functions (§18.5.1) in `aggregates`, ORDER BY (§15.1) in `order`, patterns and paths (§18.3,
§18.4) in `matching`. `datasets` indexes triples, static ones once, `choices` tries what an
evaluator may choose, `limits` bounds the cost, `witnesses` asks rdflib and pyoxigraph, `entrance`
checks what users give. Nothing here knows of windows.

Imports `model` alone.
"""

from refengine.sparql.entrance import evaluate
from refengine.sparql.limits import Limits
from refengine.sparql.translate import read_body

__all__ = ["Limits", "evaluate", "read_body"]
