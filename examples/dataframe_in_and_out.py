"""A DataFrame in, and one out: `python examples/dataframe_in_and_out.py`. It needs pandas and
pyarrow; Polars is read in the same way.
"""

from __future__ import annotations

import pandas

from refengine import evaluate, from_table, profile, stream_from_dataframe, to_pandas

COLUMNS = {
    "subject": "http://example.org/sensor/{sensor}",
    "predicates": {"urn:degrees": {"text": "{degrees}", "datatype": "xsd:double"}},
    "time": "at",
}
QUERY = from_table(
    windows=[{"stream": "s", "kind": "time", "size": 60_000, "slide": 60_000}],
    body="SELECT ?sensor (MAX(?d) AS ?most) { ?sensor <urn:degrees> ?d } GROUP BY ?sensor",
)


def main() -> None:
    """Print the greatest value of each sensor in each minute."""
    frame = pandas.DataFrame(
        {
            "sensor": ["a", "b", "a", "a"],
            "degrees": [20.5, 19.0, 21.5, 18.0],
            "at": pandas.to_datetime([0, 30, 59, 60], unit="s", utc=True),
        }
    )
    streams = {"s": stream_from_dataframe(frame, COLUMNS)}
    reports = to_pandas(evaluate(QUERY, streams, profile("csparql").but(t0=0).semantics()))
    rows = reports.explode("bindings", ignore_index=True)
    print(rows[["instant"]].join(pandas.json_normalize(rows["bindings"])).to_csv(index=False))


if __name__ == "__main__":
    main()
