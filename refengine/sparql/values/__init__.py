"""§7 Values: what literals mean, and how SPARQL's operators compare and compute (SPARQL 1.1 §17.2,
§17.3).

An expression's result is a term, or ERROR. A computed literal whose lexical form no recommendation
fixes is a `Computed` term: it has a value, but not one text. Where conforming evaluators may answer
differently, NoSingleAnswer is raised.

Imports `model` alone. Begin with `kinds`, which says what values there are. `reading` takes a
literal's value, `writing` makes a literal of one; `comparison` and `arithmetic` are SPARQL's
operators. `rounding` has what decimals of many digits do not hold, `extensions` the types that
an evaluator may know more of than SPARQL does.
"""

from refengine.sparql.values.arithmetic import add_numbers, calculate, check_arithmetic, operate
from refengine.sparql.values.comparison import as_binary, compare, equals, in_common_type, same
from refengine.sparql.values.extensions import DATE_TYPES, STRING_TYPES, is_extension
from refengine.sparql.values.kinds import (
    DECIMAL,
    DOUBLE,
    ERROR,
    FALSE_OR_ERROR,
    FLOAT,
    INTEGER,
    RANKS,
    SURE_DIGITS,
    SURE_INTEGERS,
    SURE_SECONDS,
    Computed,
    Error,
    Failure,
    Number,
    OtherLiteral,
    Result,
    StringValue,
    Unknown,
    Value,
    shorten,
)
from refengine.sparql.values.reading import read_literal, truth, value_of
from refengine.sparql.values.rounding import decimal_of
from refengine.sparql.values.writing import (
    boolean,
    check_string_length,
    decimal_text,
    double_text,
    number_term,
    size,
    text,
)

__all__ = [
    "DATE_TYPES",
    "DECIMAL",
    "DOUBLE",
    "ERROR",
    "FALSE_OR_ERROR",
    "FLOAT",
    "INTEGER",
    "RANKS",
    "STRING_TYPES",
    "SURE_DIGITS",
    "SURE_INTEGERS",
    "SURE_SECONDS",
    "Computed",
    "Error",
    "Failure",
    "Number",
    "OtherLiteral",
    "Result",
    "StringValue",
    "Unknown",
    "Value",
    "add_numbers",
    "as_binary",
    "boolean",
    "calculate",
    "check_arithmetic",
    "check_string_length",
    "compare",
    "decimal_of",
    "decimal_text",
    "double_text",
    "equals",
    "in_common_type",
    "is_extension",
    "number_term",
    "operate",
    "read_literal",
    "same",
    "shorten",
    "size",
    "text",
    "truth",
    "value_of",
]
