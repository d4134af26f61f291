"""Ground truth as a function from DataFrame to DataFrame gives the reports of refengine, however
the rows are stored, shuffled and cut.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import groupby, pairwise
from typing import Any

import pyarrow
import pytest
from cluster import rows_of_reports, rows_of_spark, spark
from conftest import draws
from hypothesis import event, given, settings
from incremental.incremental_trials import collect, cut

from conformance.spark import blocks, ground_truth, part_plan, part_reports
from conformance.spark.part_plan import ArrivalHistogram
from conformance.spark.read_triples import predicates_read
from conformance.spark.truth_query import TruthQuery
from refengine import from_table, incremental, profile, stream
from refengine.core import engine
from refengine.incremental import parts as in_parts
from refengine.incremental.parts import Part
from refengine.model.elements import Stream
from refengine.model.errors import Disputed, InvalidStream, RefengineError, Unsupported
from refengine.rdf.lines import parse_line_with_time
from tools import sg1

COLUMNS = ("time", "element", "stream", "subject", "predicate", "object")
SCHEMA = "time long, element long, subject string, predicate string, object string"
TEMPERATURES = """
PREFIX : <http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#>
SELECT ?sensor ?value { ?obs :procedure ?sensor ; :result [ :floatValue ?value ] }"""
EACH = "SELECT ?x { ?x <urn:p> ?y }"


def asked(body: str = EACH, windows: list[dict[str, Any]] | None = None, **fields: object):
    window = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
    query = from_table({"body": body, "windows": windows or [window]})
    picked = profile("csparql").but(**{"t0": 0, "horizon": "none", **fields})
    return query, picked.semantics()


# Without Spark: what its executors and its driver compute


def rows_of(streams: Mapping[str, Stream], names: tuple[str, ...]) -> list[tuple]:
    """The rows of streams, as `rows_of_streams` gives them."""
    return [
        (element.app, element.sys, names.index(name), *triple)
        for name, elements in streams.items()
        if name in names
        for element in elements
        for triple in element.graph
    ]


def batch(rows: list[tuple]) -> pyarrow.RecordBatch:
    types = [pyarrow.int64(), pyarrow.int64(), pyarrow.int32(), *[pyarrow.string()] * 3]
    columns = zip(*rows, strict=True)
    return pyarrow.RecordBatch.from_arrays(
        [pyarrow.array(column, kind) for column, kind in zip(columns, types, strict=True)], COLUMNS
    )


def computed_here(truth_query: TruthQuery, rows: list[tuple], count: int) -> tuple[list[dict], int]:
    """The reports that `truth` gives in at most so many parts, and how many parts were planned
    again.
    """
    query, semantics = truth_query.query, truth_query.semantics
    names = truth_query.stream_names
    histogram = part_plan.merge_buckets((names[row[2]], row[0], row[0], 1) for row in rows)
    half = len(rows) // 2  # from two places of the input
    batches = [batch(some) for some in (rows[:half], rows[half:]) if some]

    def by_part(chosen: Mapping[int, Part]) -> dict[int, list[pyarrow.RecordBatch]]:
        found: dict[int, list[pyarrow.RecordBatch]] = {number: [] for number in chosen}
        for some in batches:
            for block in blocks.blocks_of_parts(list(chosen.items()), [some]):
                found[block["part"][0].as_py()].append(block)
        return found

    again = []

    def find_enough_halos(empty_parts: Mapping[int, Part]) -> set[int]:
        check = part_reports.make_halo_check(truth_query, histogram.firsts, empty_parts)
        enough = {
            number
            for number, some in by_part(empty_parts).items()
            for answer in check((pyarrow.scalar(number),), iter(some))
            if answer["is_enough"][0].as_py()
        }
        again.extend(empty_parts.keys() - enough)
        return enough

    planned = part_plan.plan_parts(query, semantics, histogram, count)
    chosen = part_plan.choose_halos(planned, find_enough_halos)
    compute = part_reports.reports_of_blocks(truth_query, histogram.firsts, chosen)
    reports = [
        report
        for number, some in by_part(chosen).items()
        for answer in compute((pyarrow.scalar(number),), iter(some))
        for report in answer.to_pylist()
    ]
    return reports, len(again)


@settings(max_examples=draws(150))
@given(cut())
def test_parts_of_blocks_are_the_whole(trial):
    """Over drawn queries, of two streams too, and drawn semantics; with all triples and with those
    alone that the query can read.
    """
    query, streams, semantics, _, cuts = trial
    if semantics.late_for.keeps_arrival_order or semantics.panes.takes_back((0, 0), (0, 1)):
        return  # refused: test_truth_query
    truth_query = TruthQuery(query, semantics)
    full = {  # an element without triples is no row
        name: replace_elements(elements, lambda element: element if element.graph else None)
        for name, elements in streams.items()
    }
    rows = rows_of(full, truth_query.stream_names)
    if not rows:
        return
    expected, error = collect(incremental.evaluate, query, full, semantics)
    if isinstance(error, Disputed):
        return
    predicates = predicates_read(query, semantics)
    less = [
        row if predicates is None or row[4] in predicates else (*row[:3], "", "", "")
        for row in rows
    ]
    event(f"left out: {sum(row[3] == '' for row in less) > 0}")
    for given_rows in {"all": rows, "read": less}.values():
        try:
            found, again = computed_here(truth_query, given_rows, len(cuts) + 1)
        except RefengineError as other:
            assert error is not None and str(other) == str(error)
        else:
            assert error is None and rows_of_spark(found) == rows_of_reports(expected)
            event(f"planned again: {again > 0}")


def replace_elements(elements: Stream, change) -> Stream:
    """The stream with each element changed, without those of which None is left."""
    changed = [change(element) for element in elements]
    return Stream(tuple(element for element in changed if element is not None), elements.ordered)


def test_a_part_that_begins_too_late_is_planned_again():
    """By hand. [0, 3), [3, 6), … under content change against the last report, Istream with the
    base previous; the first halo tried for the part from 90 on spans two arrivals, in a gap of one
    window, and the evaluation before the last is not in it.
    """
    query, semantics = asked(report="window-close", r2s="Istream", base="previous", tick="tuple")
    items = [
        ((f"<urn:{n}>", "<urn:p>", "<urn:o>"), at) for n, at in enumerate((1, 2, 3, 14, 55, 90))
    ]
    elements = {"s": stream(items)}
    rows = rows_of(elements, ("s",))
    found, again = computed_here(TruthQuery(query, semantics), rows, 6)
    assert rows_of_spark(found) == rows_of_reports(engine.evaluate(query, elements, semantics))
    planned = part_plan.plan_parts(
        query, semantics, part_plan.merge_buckets(("s", row[0], row[0], 1) for row in rows), 6
    )
    assert len(planned) > 2 and again > 0


def test_a_stream_is_cut_where_it_has_triples():
    histogram = ArrivalHistogram([0, 10, 50, 90], [4, 1, 4, 1], {"s": 0})
    found = [histogram.choose_even_cuts(parts) for parts in (1, 2, 3, 100)]
    assert found == [[], [50], [10, 90], [10, 50, 90]]
    assert ArrivalHistogram([3], [5], {"s": 3}).choose_even_cuts(4) == []


def test_buckets_of_several_streams_are_those_of_all():
    """By hand: s has 3 triples from 5 on and 1 at 9, r has 2 from 4 on, in the bucket of 5."""
    histogram = part_plan.merge_buckets([("s", 1, 5, 3), ("s", 2, 9, 1), ("r", 1, 4, 2)])
    assert histogram == ArrivalHistogram((4, 9), (5, 1), {"s": 5, "r": 4})


@pytest.mark.parametrize("limit", [1, 2, 7, 500])
def test_every_halo_is_in_one_of_few_ranges_of_time(limit):
    """Some of 300 halos overlap or touch. Where no limit is reached, a range begins with each halo
    whose start is in no other halo, nor at the end of one. Ranges are apart, and begin and end with
    halos.
    """
    draw = random.Random(limit)
    halos = []
    for _ in range(300):
        since = draw.randrange(-500, 5_000)
        start = since + draw.randint(1, 9)
        halos.append(Part(start, start, since))
    ranges = part_plan.join_halos(halos, limit)
    first_starts = {
        halo.halo_start
        for halo in halos
        if not any(other.halo_start < halo.halo_start <= other.stop for other in halos)
    }
    assert 7 < len(first_starts) < 300
    assert len(ranges) == min(limit, len(first_starts))
    assert all(before[1] < after[0] for before, after in pairwise(ranges))
    for halo in halos:
        assert sum(since <= halo.halo_start and halo.stop <= stop for since, stop in ranges) == 1
    starts, stops = map(set, zip(*ranges, strict=True))
    assert starts <= {halo.halo_start for halo in halos}
    assert stops <= {halo.stop for halo in halos}


@pytest.mark.parametrize(
    ("window", "shift"),
    [
        ({"kind": "time", "size": 10, "slide": 10}, 0),
        ({"kind": "time", "size": 1024, "slide": 512}, 1),
        ({"kind": "time", "size": 5000, "slide": 5000}, 4),
        ({"kind": "range", "size": 3_600_000}, 13),
    ],
)
def test_buckets_are_short_beside_a_slide(window, shift):
    """By hand: 5000 ms are 312 buckets of 16 ms; an hour that slides with each instant, 439 of 8192
    ms.
    """
    query, semantics = asked(windows=[{"stream": "s", **window}])
    assert part_plan.bucket_shift(query, semantics) == shift


@pytest.mark.parametrize(
    ("body", "predicates"),
    [
        (EACH, {"<urn:p>"}),
        ("SELECT * { ?x <urn:p>/^<urn:q> ?y OPTIONAL { ?x <urn:r>+ ?z } }", {"pqr"}),
        ("ASK { ?x <urn:p> ?y FILTER NOT EXISTS { ?x <urn:q>|<urn:r> ?z } }", {"pqr"}),
        ("SELECT (COUNT(*) AS ?n) { ?x <urn:p> ?y MINUS { ?x a ?z } }", None),
        ("SELECT * { ?x <urn:p>* ?y }", "all"),
        ("SELECT * { ?x <urn:p>? ?y }", "all"),
        ("SELECT * { ?x !<urn:p> ?y }", "all"),
        ("SELECT * { ?x ?p ?y }", "all"),
        ("SELECT * { ?x <urn:p> ?y FILTER EXISTS { ?y ?p ?z } }", "all"),
        ("SELECT * { GRAPH <urn:w> { ?x <urn:p> ?y } }", "all"),
        ("ASK {}", set()),
    ],
)
def test_predicates_that_a_query_reads(body, predicates):
    if predicates == "all":
        predicates = None
    elif predicates == {"pqr"}:
        predicates = {f"<urn:{name}>" for name in "pqr"}
    elif predicates is None:
        predicates = {"<urn:p>", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"}
    assert predicates_read(*asked(body)) == predicates


@pytest.mark.parametrize(
    ("windows", "fields"),
    [
        (None, {"report": "content-change", "change_scope": "graph"}),
        ([{"stream": "s", "kind": "rows", "size": 2}], {"closure": None}),
        ([{"stream": "s", "kind": "partition", "size": 2, "by": ["urn:q"]}], {"closure": None}),
    ],
)
def test_where_more_than_the_body_looks_at_triples(windows, fields):
    """A triple that the body does not match is a change of the graph, and has a place in a window
    that counts or partitions.
    """
    assert predicates_read(*asked(windows=windows, **fields)) is None


def test_a_triple_that_no_pattern_matches_is_a_change_of_the_graph():
    """By hand why that is so: under change_scope=graph the element at 2 is reported, since q is
    new; left out, it would be none.
    """
    fields = {"report": "content-change", "change_scope": "graph", "tick": "tuple"}
    query, semantics = asked(**fields)
    p, q = (("<urn:a>", f"<urn:{name}>", "<urn:o>") for name in "pq")
    whole, less = (
        [report.trigger for report in engine.evaluate(query, {"s": stream(items)}, semantics)]
        for items in ([(p, 1), (q, 2), (p, 3)], [(p, 1), ([], 2), (p, 3)])
    )
    assert whole != less


def test_terms_of_blocks_are_canonical():
    """And an element has its triples whatever batch they are in."""
    escaped = (3, 1, 0, "<urn:\\u0061>", "<urn:p>", '"\\u0041"@EN')
    rows = [
        escaped,
        (1, 2, 0, "_:b", "<urn:p>", '"x"'),
        (1, 2, 0, "", "", ""),
        (1, 1, 0, "", "", ""),
    ]
    made = [
        block
        for some in (rows[:2], rows[2:])
        for block in blocks.blocks_of_parts([(0, Part())], [batch(some)])
    ]
    found = blocks.streams_of_blocks(("s",), Part(), made)["s"]
    assert [(element.app, element.sys, {*element.graph}) for element in found] == [
        (1, 1, set()),
        (1, 2, {("_:b", "<urn:p>", '"x"')}),
        (3, 3, {("<urn:a>", "<urn:p>", '"A"@en')}),
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("a", "<urn:p>", "<urn:o>"), "MOD-4: not a term"),
        (('"a"', "<urn:p>", "<urn:o>"), "MOD-4: "),
        (("<urn:a>", "_:p", "<urn:o>"), "MOD-4: "),
        (("<urn:a>", "<urn:p>", "<o>"), "MOD-4: relative IRI"),
        (("<urn:a>\n<urn:p>\n<urn:o>\n<urn:a>", "<urn:p>", "<urn:o>"), "MOD-4: not a term"),
        (("<urn:a>", None, "<urn:o>"), "column predicate: IO-1: a row has a null"),
    ],
)
def test_a_row_that_is_no_triple(row, message):
    good = (1, 1, 0, "<urn:a>", "<urn:p>", "<urn:o>")
    with pytest.raises(InvalidStream) as error:
        list(blocks.blocks_of_parts([(0, Part())], [batch([good, (1, 1, 0, *row)])]))
    assert str(error.value).startswith(message)


def test_a_report_beyond_64_bits_is_unsupported():
    query, semantics = asked(horizon="flush")
    rows = [(2**63 - 2, 1, 0, "<urn:a>", "<urn:p>", "<urn:o>")]
    with pytest.raises(Unsupported, match="MOD-1: a report whose times need more than 64 bits"):
        computed_here(TruthQuery(query, semantics), rows, 1)


# What needs Spark


def computed(triples, query, semantics, **options) -> list[dict]:
    """The rows of `truth`, in order."""
    reports = ground_truth.truth(triples, query, semantics, **options)
    return reports.orderBy("part", "number").toArrow().to_pylist()


@spark
def test_however_it_is_stored_shuffled_and_cut(connected, monkeypatch):
    """SG1 under content change: one part, and many, of which a task computes several; the rows in
    one place, and shuffled in five.
    """
    from pyspark.sql import functions as f

    monkeypatch.setattr(ground_truth, "MOST_TASKS", 3)
    parameters = sg1.Parameters(stations=4, interval=1000, duration=8000)
    text = list(sg1.stream_lines(parameters))
    items = [parse_line_with_time(line, "") for line in text]
    window = {"stream": "s", "kind": "time", "size": 2000, "slide": 1500}
    change = {"report": "content-change", "r2s": "Istream", "base": "previous", "empty": "suppress"}
    query, semantics = asked(TEMPERATURES, [window], **{**change, "t0": "first-element"})
    expected = rows_of_reports(engine.evaluate(query, {"s": stream(items)}, semantics))
    rows = [(time, number, *triple) for number, (triple, time) in enumerate(items)]
    frame = connected.createDataFrame(rows, SCHEMA).withColumn("more", f.lit(None).cast("int"))
    for triples, parts in (
        (frame.coalesce(1), 1),
        (frame.repartition(5, "subject"), 64),
    ):
        found = computed(triples, query, semantics, parts=parts)
        assert rows_of_spark(found) == expected
        of_parts = [
            [row["number"] for row in rows] for _, rows in groupby(found, lambda row: row["part"])
        ]
        assert all(numbers == [*range(1, len(numbers) + 1)] for numbers in of_parts)
        assert len(of_parts) == parts or 6 < len(of_parts) < parts == 64


@spark
def test_several_streams_beside_static_data(connected):
    """By hand. Windows [0, 10) and [10, 20) over s and r; names are static. 11 closes the first
    ones, with a of s and b of r; 25 the second ones, with c of s alone: no solution.
    """
    body = "SELECT ?n ?y { ?x <urn:p> ?o . ?y <urn:q> ?o . ?x <urn:name> ?n }"
    windows = [{"stream": name, "kind": "time", "size": 10, "slide": 10} for name in "sr"]
    query, semantics = asked(body, windows, report="window-close", tick="tuple")
    rows = [
        (1, 1, "s", "<urn:a>", "<urn:p>", "<urn:o>"),
        (2, 1, "r", "<urn:b>", "<urn:q>", "<urn:o>"),
        (11, 1, "s", "<urn:c>", "<urn:p>", "<urn:o>"),
        (25, 1, "r", "<urn:d>", "<urn:q>", "<urn:o>"),
        (3, 1, "other", "<urn:a>", "<urn:q>", "<urn:o>"),
    ]
    with_stream = SCHEMA.replace("subject", "stream string, subject")
    triples = connected.createDataFrame(rows, with_stream)
    names = [("<urn:a>", "<urn:name>", '"A"', None), ("<urn:c>", "<urn:name>", '"C"', None)]
    static = connected.createDataFrame(
        names, "subject string, predicate string, object string, graph string"
    )
    for given_static in (static, frozenset(name[:3] for name in names)):
        found = computed(triples, query, semantics, static=given_static, parts=2)
        assert rows_of_spark(found) == [
            (9, 11, 10, [(0, 10, 1), (0, 10, 1)], [{"n": '"A"', "y": "<urn:b>"}]),
            (19, 25, 20, [(10, 20, 1), (10, 20, 0)], []),
        ]


@spark
def test_what_is_no_stream_is_refused(connected):
    query, semantics = asked()
    terms = "'<urn:a>' AS subject, '<urn:p>' AS predicate, '<urn:o>' AS object"
    good = f"1L AS time, 1 AS element, {terms}"
    text, null = (good.replace("1L", value) for value in ("'1'", "NULL :: bigint"))
    for select, message in (
        (good.replace("1L AS time, ", ""), "triples: IO-1: needs the columns time bigint; has '"),
        (text, "needs the columns time bigint; has 'time string"),
        (f"{good} WHERE false", "triples: IO-1: no triple"),
        (null, "column time: IO-1: a row has no time"),
    ):
        with pytest.raises(InvalidStream) as error:
            ground_truth.truth(connected.sql(f"SELECT {select}"), query, semantics)
        assert message in str(error.value)
    two = [{"stream": name, "kind": "time", "size": 10, "slide": 10} for name in "sr"]
    with pytest.raises(InvalidStream, match="needs the columns stream string"):
        ground_truth.truth(connected.sql(f"SELECT {good}"), *asked(windows=two))


@spark
def test_a_query_that_is_not_cut_is_one_part(connected):
    """By hand: rows of two elements; 1, 2 and 3 are seen when the next one comes (TICK-4)."""
    windows = [{"stream": "s", "kind": "rows", "size": 2}]
    query, semantics = asked(windows=windows, closure=None, report="content-change")
    assert in_parts.why_not_in_parts(query, semantics)
    rows = [(at, 1, f"<urn:{at}>", "<urn:p>", "<urn:o>") for at in (1, 2, 3)]
    found = computed(connected.createDataFrame(rows, SCHEMA), query, semantics, parts=3)
    expected = engine.evaluate(query, {"s": stream([(row[2:], row[0]) for row in rows])}, semantics)
    assert rows_of_spark(found) == rows_of_reports(expected) and {row["part"] for row in found} == {
        0
    }
