"""CQELS-QL 1.x: `STREAM s [RANGE ω SLIDE β] {…}` among the patterns, after Le-Phuoc et al., ISWC
2011, and the engine's grammar.
"""

from __future__ import annotations

from functools import partial

from refengine.core.query import Query, Window
from refengine.dialects import windows
from refengine.dialects.dialect import Dialect, stream_pattern_windows, wrap, write_stream_patterns
from refengine.dialects.grammar import Additions
from refengine.dialects.source import DialectText, Unrenderable
from refengine.dialects.windows import ExtentForms

RULES = r"""
    window_pattern: STREAM (iri | VAR) "[" extent "]" group
    extent: NOW -> now | ALL -> unbounded | TRIPLES INTEGER -> triples | RANGE duration -> range
          | RANGE duration SLIDE duration -> time | RANGE duration TUMBLING -> tumbling
    duration: (INTEGER UNIT)+
    UNIT: /(?:ns|ms|[smhd])(?![A-Za-z_])/
"""
FORMS = {
    "time": "RANGE {size} SLIDE {slide}",
    "tumbling": "RANGE {size} TUMBLING",
    "range": "RANGE {size}",
    "triples": "TRIPLES {size}",
    "now": "NOW",
    "unbounded": "ALL",
}
DURATIONS = {"m": "{}m", "s": "{}s", "ms": "{}ms"}  # it reads hours and days without a digit


def cqels_windows(source: DialectText, static: bool) -> list[Window]:
    """DIA-5: Return the windows of STREAM patterns. If one pattern is all of WHERE, its window has
    no name, unless there is static data.
    """
    return stream_pattern_windows(source, alone=not static)


def write_cqels(source: DialectText, query: Query, dialect: Dialect, static: bool) -> None:
    """DIA-5, DIA-6: Write a STREAM pattern around all of WHERE, or one in place of each window's
    GRAPH pattern. Raises Unrenderable.
    """
    if all(window.name for window in query.windows):
        write_stream_patterns(source, list(query.windows), dialect, alone=not static)
    elif len(query.windows) > 1:
        raise Unrenderable(
            f"{dialect.title} cannot merge windows: each window there has its own patterns",
            place="windows",
        )
    else:
        wrap(source, f"STREAM {dialect.over(query.windows[0], source)}", static)


CQELS = Dialect(
    name="cqels",
    title="CQELS-QL",
    added=Additions(
        patterns="| window_pattern",
        rules=RULES,
        keywords="STREAM NOW ALL TRIPLES RANGE SLIDE TUMBLING",
    ),
    extents=ExtentForms(FORMS, partial(windows.write_duration, forms=DURATIONS)),
    read_windows=cqels_windows,
    write_windows=write_cqels,
)
