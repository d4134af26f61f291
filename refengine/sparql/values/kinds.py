"""The kinds of values that a literal may have, and what an expression may give.

A term is its N-Triples text. What a computed literal is worth stands beside its text, since the
text of some is not fixed.
"""

from __future__ import annotations

import math
from enum import Enum, auto
from fractions import Fraction
from typing import Final, Literal, NamedTuple

from refengine.model.elements import XSD, Term
from refengine.model.xsd import Moment

BOOLEAN = XSD + "boolean"
STRING = XSD + "string"
# a result has the type of that operand which stands later here (XPath B.1)
RANKS = ("integer", "decimal", "float", "double")
INTEGER, DECIMAL, FLOAT, DOUBLE = range(4)
# of decimals: every evaluator keeps them, and as many places behind the point (XSD 1.0 §3.2.3)
SURE_DIGITS = 18
SURE_INTEGERS = 2**63  # every evaluator holds the integers below
SURE_SECONDS = Fraction(1, 1000)  # every evaluator keeps three digits of a second (XSD 1.0 §3.2.7)


class Failure(Enum):
    """The error of an expression, which is a value: it has no term, and each operator says what it
    makes of it. FALSE_OR_ERROR is what `=` gives where an evaluator may know that two values
    differ, or not (§17.3.1).
    """

    ERROR = auto()
    FALSE_OR_ERROR = auto()


Error = Literal[Failure.ERROR]
ERROR: Final = Failure.ERROR
FALSE_OR_ERROR: Final = Failure.FALSE_OR_ERROR


class Number(NamedTuple):
    """A numeric value: its place in RANKS, the value, and by how much that of another conforming
    evaluator may differ (0: exact). `is_bound` says that this is a bound alone: it is not known
    whether any evaluator differs.
    """

    rank: int
    value: int | Fraction | float
    slack: Fraction | float = 0
    is_bound: bool = False


class StringValue(NamedTuple):
    """A string, with a language tag or without ("")."""

    lexical: str
    language: str = ""


class OtherLiteral(NamedTuple):
    """A literal that SPARQL's operators know nothing of: of another datatype, or ill-typed."""

    datatype: str
    is_ill_typed: bool


class Computed(str):
    """A literal whose lexical form no recommendation fixes: a computed number, or MIN or MAX of one
    value in several forms.

    Its text is one that it may have; `number` is its value.
    """

    number: Number

    def __new__(cls, term: Term, number: Number) -> Computed:
        """Return the term with its value."""
        self = super().__new__(cls, term)
        self.number = number
        return self


class Unknown(Computed):
    """What NOW, RAND, UUID or STRUUID gives, of which the form alone is known. `kind` names the
    function.

    Its text is one that it may have. `number` is NaN and stands for nothing.
    """

    kind: str

    def __new__(cls, term: Term, kind: str) -> Unknown:
        """Return a value of which little is known, by a term that it may be."""
        self = str.__new__(cls, term)
        self.number = Number(DOUBLE, math.nan)
        self.kind = kind
        return self


Result = Term | Error
Value = Number | StringValue | bool | Moment | OtherLiteral


def shorten(datatype: str) -> str:
    """Return a datatype's IRI with the prefix xsd: where it is one of XML Schema's."""
    return datatype.replace(XSD, "xsd:")
