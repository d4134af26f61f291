"""The corpus: the cases of SPEC.md's rules, how they are read and checked, and the rules as data.

Imports refengine and `conformance.schemas`. Begin with `case_file`, then `check_case`.
"""

from conformance.corpus.case_file import (
    CASES,
    Case,
    InvalidCase,
    cases,
    load,
    profile_of,
    query_of,
    query_table,
    question_of,
    relation,
    semantics_of,
    static_of,
    streams_of,
    term,
    triples,
)
from conformance.corpus.check_case import by_pushes, check, in_parts, show, show_kind, show_term

__all__ = [
    "CASES",
    "Case",
    "InvalidCase",
    "by_pushes",
    "cases",
    "check",
    "in_parts",
    "load",
    "profile_of",
    "query_of",
    "query_table",
    "question_of",
    "relation",
    "semantics_of",
    "show",
    "show_kind",
    "show_term",
    "static_of",
    "streams_of",
    "term",
    "triples",
]
