"""§7 The functions that SPARQL names (SPARQL 1.1 §17.4) and the casts (§17.5), over terms.

Each takes its operands' terms and returns a term, or ERROR where the recommendation has an error.
Functions that look at the solution or at other operands (BOUND, IF, COALESCE, IN, BNODE) are in
`sparql.expressions`.

A new function of a keyword goes into `grammar.FUNCTIONS`, and here into `signatures.ARITIES` and
`keywords.BY_KEYWORD`. One that needs the solution, or operands that are not computed yet, goes into
`Expressions.call` instead of BY_KEYWORD.

Imports `model`, `sparql.values` and `sparql.regex`. Begin with `keywords`; the other modules follow
the sections of §17.4.
"""

from refengine.sparql.functions.casts import cast, cast_date_time, form_kept_by_cast
from refengine.sparql.functions.keywords import BY_KEYWORD
from refengine.sparql.functions.signatures import ARITIES, ARITIES_BY_IRI, TIMESTAMP
from refengine.sparql.functions.strings import has_sure_case
from refengine.sparql.functions.terms import (
    language,
    lexical,
    simple,
    string,
    to_iri,
    with_upper_case_region,
)

__all__ = [
    "ARITIES",
    "ARITIES_BY_IRI",
    "BY_KEYWORD",
    "TIMESTAMP",
    "cast",
    "cast_date_time",
    "form_kept_by_cast",
    "has_sure_case",
    "language",
    "lexical",
    "simple",
    "string",
    "to_iri",
    "with_upper_case_region",
]
