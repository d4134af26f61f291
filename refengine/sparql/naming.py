"""§7 Terms and solutions as messages name them: the first few, each cut if it is long."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from heapq import nsmallest

from refengine.model.elements import XSD, Term
from refengine.model.errors import NoSingleAnswer
from refengine.model.messages import SHOWN, escape_unprintable
from refengine.sparql.values import OtherLiteral, value_of

NAMED = 3  # terms, or variables of a solution

_XSD_TYPE = re.compile(rf"\^\^<{re.escape(XSD)}(\w+)>$")


def name_terms(terms: Collection[Term]) -> str:
    """Return the first terms by their texts, in brackets, and how many more there are.

    >>> from refengine.model.elements import XSD, literal
    >>> name_terms(["<urn:b>", literal("1E1", XSD + "decimal")])
    ' ("1E1"^^xsd:decimal, which is ill-typed, and <urn:b>)'
    """
    named = [_name_with_fault(term) for term in nsmallest(NAMED, terms)]
    if len(terms) > NAMED:
        named.append(f"{len(terms) - NAMED} more")
    return f" ({_enumerate(named)})"


def name_solution(solution: Mapping[str, Term]) -> str:
    """Return the first bindings of a solution by their variables.

    >>> name_solution({"y": '"5"', "x": "<urn:a>"})
    '?x <urn:a>, ?y "5"'
    """
    names = sorted(solution)
    named = [f"?{name} {name_term(solution[name])}" for name in names[:NAMED]]
    if len(names) > NAMED:
        named.append("…")
    return ", ".join(named) or "the solution without bindings"


def name_term(term: Term) -> str:
    """Return a term on one line, with xsd: for XML Schema's namespace, cut if it is long."""
    text = escape_unprintable(_XSD_TYPE.sub(r"^^xsd:\1", str(term)[: 10 * SHOWN]))
    if len(text) <= SHOWN:
        return text
    return f"{text[: SHOWN - 2]} …"


def _name_with_fault(term: Term) -> str:
    """Return a term, and whether it is ill-typed."""
    try:
        value = value_of(term)
    except NoSingleAnswer:
        return name_term(term)
    if isinstance(value, OtherLiteral) and value.is_ill_typed:
        return f"{name_term(term)}, which is ill-typed"
    return name_term(term)


def _enumerate(words: Iterable[str]) -> str:
    """Return words with commas, and `and` before the last one."""
    *others, last = words
    if not others:
        return last
    comma = "," if "," in others[-1] else ""
    return f"{', '.join(others)}{comma} and {last}"
