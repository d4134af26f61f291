"""The data that a body is asked over, where several streams and the times of triples meet."""

from __future__ import annotations

from refengine import evaluate, from_table, profile, stream

TIMES = """
    SELECT (<http://larkc.eu/csparql/sparql/jena/ext#timestamp>(?x, ?p, ?y) AS ?t)
    WHERE { ?x ?p ?y }
"""


def times_of(streams):
    """Return the times that the one report over windows [0, 10) of all the streams shows."""
    query = from_table(
        {
            "windows": [
                {"stream": name, "kind": "time", "size": 10, "slide": 10} for name in streams
            ],
            "body": TIMES,
        }
    )
    [report] = evaluate(query, streams, profile("csparql").but(t0=0).semantics())
    return sorted((value[1:2], count) for ((_, value),), count in report.relation.rows.items())


def test_a_blank_node_of_another_stream_has_a_time_of_its_own():
    """R2R-8, R2R-21: the label _:b stands for two nodes, so there are two triples, each with the
    time of its own element; in one stream it is one triple, with the later time.
    """
    triple = ("_:b", "<urn:p>", "<urn:y>")
    assert times_of({"s": stream([(triple, 3)]), "r": stream([(triple, 7)])}) == [
        ("3", 1),
        ("7", 1),
    ]
    assert times_of({"s": stream([(triple, 3), (triple, 7)])}) == [("7", 1)]
