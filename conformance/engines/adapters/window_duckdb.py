"""DuckDB's `time_bucket` over timestamps, a unit of time each a millisecond, and the rows that are
grouped by it.
"""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
from window_function import Element, Refused, Report, Window

NAME = "duckdb"
VERSION = duckdb.__version__
QUERY = """
SELECT epoch_ms(time_bucket(to_milliseconds(?), make_timestamp_ms(instant))) AS bucket,
  array_agg(number ORDER BY number)
FROM (SELECT unnest(?::BIGINT[]) AS instant, unnest(?::BIGINT[]) AS number)
GROUP BY bucket ORDER BY bucket
"""


def run(elements: list[Element], window: Window) -> Iterator[Report]:
    """Yield the buckets that have rows, in the order of time."""
    if window.kind != "time" or window.size != window.slide or window.lag or window.by:
        raise Refused("buckets tumble, without a lag; keys are not asked for here")
    if any(element.end not in (None, element.at) for element in elements):
        raise Refused("a row has one time, and no interval")
    times = [element.at for element in elements]
    numbers = [element.number for element in elements]
    try:
        buckets = duckdb.execute(QUERY, [window.size, times, numbers]).fetchall()
    except (duckdb.ConversionException, duckdb.OutOfRangeException) as error:
        raise Refused(str(error)) from None  # a timestamp has some 290,000 years
    for opens, content in buckets:
        yield Report(content, (opens, opens + window.size))
