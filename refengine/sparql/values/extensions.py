"""Types of XML Schema for which SPARQL names no operator, but an evaluator may have some
(SPARQL 1.1 §17.3.1).
"""

from __future__ import annotations

import re
from typing import TypeGuard

from refengine.model.elements import XSD
from refengine.model.errors import NoSingleAnswer
from refengine.model.xsd import Moment
from refengine.sparql.values.kinds import OtherLiteral, StringValue, Value, shorten

BUILT_IN = re.compile(
    re.escape(XSD) + r"(?:date|time|duration|dayTimeDuration|yearMonthDuration|dateTimeStamp|g\w+"
    r"|hexBinary|base64Binary|anyURI|QName|NOTATION"
    r"|normalizedString|token|language|Name|NCName|NMTOKEN|ID|IDREF|ENTITY)"
)
# of these, those that an evaluator may know as strings, and as dates
STRING_TYPES = {
    XSD + name
    for name in [
        "normalizedString",
        "token",
        "language",
        "Name",
        "NCName",
        "NMTOKEN",
        "ID",
        "IDREF",
        "ENTITY",
        "anyURI",
    ]
}
DATE_TYPES = {XSD + "date", XSD + "dateTimeStamp"}


def refuse_extensions(one: Value | None, other: Value | None) -> None:
    """Raise NoSingleAnswer where an evaluator may have an operator of its own (§17.3.1), since it
    knows a type of XML Schema: a token and a string, a date and a dateTime, two durations.
    """
    for left, right in ((one, other), (other, one)):
        if not is_extension(left):
            continue
        is_text = (
            left.datatype in STRING_TYPES and isinstance(right, StringValue) and not right.language
        )
        is_date = left.datatype in DATE_TYPES and isinstance(right, Moment)
        if is_text or is_date or is_extension(right):
            raise NoSingleAnswer(
                f"an operator on {shorten(left.datatype)}, which SPARQL leaves to extensions"
            )


def is_extension(one: Value | None) -> TypeGuard[OtherLiteral]:
    """Return whether a value is of a type that SPARQL names no operator for, but XML Schema has."""
    return (
        isinstance(one, OtherLiteral)
        and not one.is_ill_typed
        and BUILT_IN.fullmatch(one.datatype) is not None
    )
