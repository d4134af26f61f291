"""CityBench's queries, as its file declares them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from conformance.bench.queries import PublishedQuery, read_queries

QUERIES: Mapping[str, PublishedQuery] = read_queries(Path(__file__).with_name("queries.toml"))
