"""Which functions there are, by keyword or IRI, and how many arguments each takes."""

from __future__ import annotations

from refengine.model.elements import XSD

TIMESTAMP = "http://larkc.eu/csparql/sparql/jena/ext#timestamp"
CASTS = ("boolean", "double", "float", "decimal", "integer", "dateTime", "string")
ARITIES_BY_IRI = {XSD + name: 1 for name in CASTS} | {TIMESTAMP: 3}  # an IRI -> how many arguments
ARITIES: dict[str, tuple[int, int | None]] = {  # a keyword -> fewest and most arguments
    **dict.fromkeys(("RAND", "NOW", "UUID", "STRUUID"), (0, 0)),
    "BNODE": (0, 1),
    **dict.fromkeys(
        (
            "STRBEFORE",
            "STRAFTER",
            "STRSTARTS",
            "STRENDS",
            "STRLANG",
            "STRDT",
            "LANGMATCHES",
            "CONTAINS",
            "SAMETERM",
        ),
        (2, 2),
    ),
    **dict.fromkeys(
        (
            "STRLEN",
            "STR",
            "LANG",
            "DATATYPE",
            "BOUND",
            "IRI",
            "URI",
            "ABS",
            "CEIL",
            "FLOOR",
            "ROUND",
        ),
        (1, 1),
    ),
    **dict.fromkeys(
        (
            "UCASE",
            "LCASE",
            "ENCODE_FOR_URI",
            "YEAR",
            "MONTH",
            "DAY",
            "HOURS",
            "MINUTES",
            "SECONDS",
            "TIMEZONE",
            "TZ",
        ),
        (1, 1),
    ),
    **dict.fromkeys(
        (
            "MD5",
            "SHA1",
            "SHA256",
            "SHA384",
            "SHA512",
            "ISIRI",
            "ISURI",
            "ISBLANK",
            "ISLITERAL",
            "ISNUMERIC",
        ),
        (1, 1),
    ),
    "SUBSTR": (2, 3),
    "IF": (3, 3),
    "REGEX": (2, 3),
    "REPLACE": (3, 4),
    "CONCAT": (0, None),
    "COALESCE": (0, None),
}
