"""What the benchmark declares: its queries, the rates, and the names of its experiments."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from conformance.bench.lsbench.activity import HOUR
from conformance.bench.lsbench.network import FIRST_USER
from conformance.bench.queries import PublishedQuery, read_queries
from refengine.core.profiles import profile

QUERIES = tuple(f"Q{number}" for number in range(1, 13))
USERS, INSTANCES = "users", "instances"
EXPERIMENTS = (*QUERIES, USERS, INSTANCES)
RATES = (100, 1000)  # elements a second
SEMANTICS = profile("csparql").but(t0="epoch", offset=0)
STATIC_QUERIES = ("Q2", "Q3", "Q5")  # of which the paper shows how they scale in static data
ONE_PERSON = ("Q1", "Q2")  # only what one person does gives them a row
# of which the paper shows how they scale in the number of instances
INSTANCE_QUERIES = ("Q3", "Q4", "Q10")

# rdflib takes seconds for each answer beside so much static data
WITNESSES = ("pyoxigraph",)


@cache
def queries() -> Mapping[str, PublishedQuery]:
    """Return the queries by their names."""
    return read_queries(Path(__file__).with_name("queries.toml"))


def rates_of(query: PublishedQuery) -> tuple[int | None, ...]:
    """Return the rates at which a query is run. A query with a window of hours is run at the
    streams' own times, since at a rate its windows would hold the whole stream.
    """
    longest = max(window["size"] for window in query.table["windows"])
    if longest >= HOUR:
        return (None,)
    return RATES


def make_instance(table: Mapping[str, Any], number: int, users: int) -> Mapping[str, Any]:
    """Return a query of the same template: it asks about another user, where it asks about one.

    The user or person 984 becomes one that is `number` further, and after the last the first.
    """
    other = FIRST_USER + (984 - FIRST_USER + number) % users
    body = table["body"].replace("sibp:p984", f"sibp:p{other}")
    return {**table, "body": body.replace("sibu:u984", f"sibu:u{other}")}
