"""The functions by SPARQL's keyword, as the evaluation of a call looks them up."""

from __future__ import annotations

from collections.abc import Callable

from refengine.sparql.functions import dates, numbers, patterns, strings, terms
from refengine.sparql.values import Result

BY_KEYWORD: dict[str, Callable[..., Result]] = {
    "STR": terms.as_string,
    "LANG": terms.language,
    "DATATYPE": terms.datatype,
    "STRDT": terms.make_typed,
    "STRLANG": terms.make_tagged,
    "ISIRI": terms.is_iri,
    "ISURI": terms.is_iri,
    "ISBLANK": terms.is_blank_node,
    "ISLITERAL": terms.is_literal,
    "ISNUMERIC": terms.is_numeric,
    "SAMETERM": terms.is_same_term,
    "STRLEN": strings.count_characters,
    "SUBSTR": strings.substring,
    "UCASE": strings.to_upper_case,
    "LCASE": strings.to_lower_case,
    "STRSTARTS": strings.tester_of_two(str.startswith),
    "STRENDS": strings.tester_of_two(str.endswith),
    "CONTAINS": strings.tester_of_two(lambda whole, part: part in whole),
    "STRBEFORE": strings.text_before,
    "STRAFTER": strings.text_after,
    "ENCODE_FOR_URI": strings.encode_for_uri,
    "CONCAT": strings.concatenate,
    "LANGMATCHES": strings.language_matches,
    "REGEX": patterns.find_match,
    "REPLACE": patterns.replace_matches,
    "ABS": numbers.absolute_value,
    "CEIL": numbers.ceiling,
    "FLOOR": numbers.floor,
    "ROUND": numbers.nearest_whole,
    "YEAR": dates.reader_of_field(1),
    "MONTH": dates.reader_of_field(2),
    "DAY": dates.reader_of_field(3),
    "HOURS": dates.reader_of_field(4),
    "MINUTES": dates.reader_of_field(5),
    "SECONDS": dates.seconds,
    "TZ": dates.zone,
    "TIMEZONE": dates.zone_duration,
    "MD5": strings.hasher("md5"),
    "SHA1": strings.hasher("sha1"),
    "SHA256": strings.hasher("sha256"),
    "SHA384": strings.hasher("sha384"),
    "SHA512": strings.hasher("sha512"),
}
