"""The reference engine: what a continuous RDF query means, computed exactly as SPEC.md says."""

from refengine.compare import Mode, difference, equal
from refengine.engine import Evaluation, Report, evaluate, evaluations
from refengine.errors import (
    Disputed,
    InvalidQuery,
    InvalidSemantics,
    InvalidStream,
    InvalidWindow,
    RefengineError,
    Refused,
    TooManyReports,
    UnknownField,
    Unsupported,
)
from refengine.model import Element, Relation, Stream, literal, parse_literal, row, stream
from refengine.query import Body, Query, Window, WindowKind, from_table
from refengine.semantics import PROFILES, UNKNOWN, Between, OneOf, Profile, Semantics, profile

__all__ = [
    "PROFILES", "UNKNOWN", "Between", "Body", "Disputed", "Element", "Evaluation", "InvalidQuery", "InvalidSemantics",
    "InvalidStream", "InvalidWindow", "Mode", "OneOf", "Profile", "Query", "RefengineError", "Refused", "Relation",
    "Report", "Semantics", "Stream", "TooManyReports", "UnknownField", "Unsupported", "Window", "WindowKind",
    "difference", "equal", "evaluate", "evaluations", "from_table", "literal", "parse_literal", "profile", "row", "stream",
]
