"""The reference engine: what a continuous RDF query means, computed exactly as SPEC.md says."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the names below, for what checks types
    from refengine import dialects as dialects
    from refengine import incremental as incremental
    from refengine import joins as joins
    from refengine import sparql as sparql
    from refengine import strategies as strategies
    from refengine import testing as testing
    from refengine.core.engine import Evaluation as Evaluation
    from refengine.core.engine import Plan as Plan
    from refengine.core.engine import Report as Report
    from refengine.core.engine import evaluate as evaluate
    from refengine.core.engine import evaluations as evaluations
    from refengine.core.engine import plan as plan
    from refengine.core.profiles import PROFILES as PROFILES
    from refengine.core.profiles import profile as profile
    from refengine.core.query import Body as Body
    from refengine.core.query import Query as Query
    from refengine.core.query import QueryTable as QueryTable
    from refengine.core.query import Unit as Unit
    from refengine.core.query import Window as Window
    from refengine.core.query import WindowKind as WindowKind
    from refengine.core.query import WindowTable as WindowTable
    from refengine.core.query import from_table as from_table
    from refengine.core.question import Question as Question
    from refengine.core.schedule import Held as Held
    from refengine.core.semantics import UNKNOWN as UNKNOWN
    from refengine.core.semantics import Between as Between
    from refengine.core.semantics import FieldValues as FieldValues
    from refengine.core.semantics import OneOf as OneOf
    from refengine.core.semantics import Profile as Profile
    from refengine.core.semantics import Semantics as Semantics
    from refengine.incremental.engine import Engine as Engine
    from refengine.model.compare import Mode as Mode
    from refengine.model.elements import Element as Element
    from refengine.model.elements import Relation as Relation
    from refengine.model.elements import Stream as Stream
    from refengine.model.elements import literal as literal
    from refengine.model.elements import parse_literal as parse_literal
    from refengine.model.elements import row as row
    from refengine.model.elements import stream as stream
    from refengine.model.entrance import difference as difference
    from refengine.model.entrance import equal as equal
    from refengine.model.errors import Disputed as Disputed
    from refengine.model.errors import ForbiddenAccess as ForbiddenAccess
    from refengine.model.errors import InvalidQuery as InvalidQuery
    from refengine.model.errors import InvalidSemantics as InvalidSemantics
    from refengine.model.errors import InvalidStream as InvalidStream
    from refengine.model.errors import InvalidWindow as InvalidWindow
    from refengine.model.errors import NoSingleAnswer as NoSingleAnswer
    from refengine.model.errors import RefengineError as RefengineError
    from refengine.model.errors import TooManyReports as TooManyReports
    from refengine.model.errors import UnknownField as UnknownField
    from refengine.model.errors import Unsupported as Unsupported
    from refengine.oracle.judge import Judgement as Judgement
    from refengine.oracle.judge import judge as judge
    from refengine.rdf.documents import read_static as read_static
    from refengine.rdf.frames import stream_from_dataframe as stream_from_dataframe
    from refengine.rdf.frames import to_arrow as to_arrow
    from refengine.rdf.frames import to_dicts as to_dicts
    from refengine.rdf.frames import to_pandas as to_pandas
    from refengine.rdf.frames import to_polars as to_polars
    from refengine.rdf.recordings import read_recording as read_recording
    from refengine.rdf.streams import read_stream as read_stream

    __version__: str

# Where each public name is defined. They are imported when they are asked for: a command line
# answers before rdflib is there.
HOMES = {
    "model.compare": ("Mode",),
    "model.entrance": ("difference", "equal"),
    "incremental.engine": ("Engine",),
    "core.engine": (
        "Evaluation",
        "Plan",
        "Report",
        "evaluate",
        "evaluations",
        "plan",
    ),
    "model.errors": (
        "Disputed",
        "InvalidQuery",
        "InvalidSemantics",
        "InvalidStream",
        "InvalidWindow",
        "NoSingleAnswer",
        "RefengineError",
        "ForbiddenAccess",
        "TooManyReports",
        "UnknownField",
        "Unsupported",
    ),
    "model.elements": (
        "Element",
        "Relation",
        "Stream",
        "literal",
        "parse_literal",
        "row",
        "stream",
    ),
    "rdf.frames": ("stream_from_dataframe", "to_arrow", "to_dicts", "to_pandas", "to_polars"),
    "core.schedule": ("Held",),
    "core.query": (
        "Body",
        "Query",
        "QueryTable",
        "Unit",
        "Window",
        "WindowKind",
        "WindowTable",
        "from_table",
    ),
    "core.question": ("Question",),
    "oracle.judge": ("Judgement", "judge"),
    "rdf.documents": ("read_static",),
    "rdf.recordings": ("read_recording",),
    "rdf.streams": ("read_stream",),
    "core.profiles": ("PROFILES", "profile"),
    "core.semantics": ("UNKNOWN", "Between", "FieldValues", "OneOf", "Profile", "Semantics"),
}
_HOME = {name: home for home, names in HOMES.items() for name in names}
# The packages that are public as they are, without those that need Hypothesis
PACKAGES = ("dialects", "incremental", "joins", "sparql")
# Old names of `joins`, which warn when they are imported
OLD_NAMES = ("adaptive", "bounded")
FOR_TESTS = ("strategies", "testing")

__all__ = sorted([*_HOME, *PACKAGES, "__version__"])


if not TYPE_CHECKING:  # to which every name would be there

    def __getattr__(name: str) -> Any:
        if name in (*PACKAGES, *FOR_TESTS, *OLD_NAMES):
            return import_module(f"{__name__}.{name}")
        if name == "__version__":
            return _version()
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *FOR_TESTS})


def _version() -> str:
    """Return the version that is installed; `unknown` where the package is not installed."""
    metadata = import_module("importlib.metadata")
    try:
        return str(metadata.version("refengine"))
    except metadata.PackageNotFoundError:
        return "unknown"
