"""CQELS-QL 1.x: `STREAM s [RANGE ω SLIDE β] {…}` among the patterns, after Le-Phuoc et al., ISWC 2011, and the engine's grammar."""

from __future__ import annotations

from refengine.dialects import durations
from refengine.dialects.dialect import Dialect, as_streams, streams, wrap
from refengine.dialects.grammar import Additions
from refengine.dialects.source import Source, Unrenderable
from refengine.dialects.windows import Extents
from refengine.query import Query, Window

RULES = r"""
    window_pattern: STREAM iri "[" extent "]" group
    extent: NOW -> now | ALL -> unbounded | TRIPLES INTEGER -> triples | RANGE duration -> range
          | RANGE duration SLIDE duration -> time | RANGE duration TUMBLING -> tumbling
    duration: (INTEGER UNIT)+
    UNIT: /(?:ns|ms|[smhd])(?!\w)/
    STREAM.2: /STREAM(?![\w:.-])/i
    NOW.2: /NOW(?![\w:.-])/i
    ALL.2: /ALL(?![\w:.-])/i
    TRIPLES.2: /TRIPLES(?![\w:.-])/i
    RANGE.2: /RANGE(?![\w:.-])/i
    SLIDE.2: /SLIDE(?![\w:.-])/i
    TUMBLING.2: /TUMBLING(?![\w:.-])/i
"""


def declared(source: Source, named: bool) -> list[Window]:
    """DIA-5: the windows of STREAM patterns; one that is all of WHERE has no name, unless it must have one."""
    return streams(source, alone=not named)


def place(source: Source, query: Query, dialect: Dialect) -> None:
    """DIA-5, DIA-6: a STREAM pattern around all of WHERE, or one for each GRAPH pattern of a window."""
    nameless = [window for window in query.windows if window.name is None]
    if not nameless:
        as_streams(source, list(query.windows), dialect, alone=True)
    elif len(query.windows) > 1:
        raise Unrenderable(f"{dialect.title} does not merge windows; each has patterns of its own", rule="DIA-6", place="windows")
    else:
        [window] = nameless
        wrap(source, f"STREAM {dialect.over(window, source)}")


CQELS = Dialect(
    name="cqels",
    title="CQELS-QL",
    added=Additions(patterns="| window_pattern", rules=RULES),
    extents=Extents(
        {
            "time": "RANGE {size} SLIDE {slide}", "tumbling": "RANGE {size} TUMBLING", "range": "RANGE {size}",
            "triples": "TRIPLES {size}", "now": "NOW", "unbounded": "ALL",
        },
        durations.number_unit,
    ),
    declared=declared,
    place=place,
    register=lambda query, r2s: "",
)  # fmt: skip
