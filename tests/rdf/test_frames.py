"""DataFrames in and out: the same stream from pandas, Polars, Arrow and dicts, and reports as each
of them. By hand from IO-1 and from what the windows hold.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy
import pandas
import pyarrow
import pytest
from refusals import refusal

from refengine import (
    InvalidStream,
    RefengineError,
    evaluate,
    from_table,
    profile,
    stream,
    stream_from_dataframe,
    to_arrow,
    to_dicts,
    to_pandas,
    to_polars,
)

SENSOR = "http://example.org/sensor/"
DEGREES = "<http://example.org/degrees>"
DECIMAL = "http://www.w3.org/2001/XMLSchema#decimal"
COLUMNS = {
    "subject": SENSOR + "{id}",
    "predicates": {"http://example.org/degrees": {"text": "{degrees}", "datatype": "xsd:decimal"}},
    "time": "at",
}
ROWS = [
    {"id": "7", "degrees": 21.5, "at": 3},
    {"id": "a b", "degrees": None, "at": 10},
    {"id": "8", "degrees": 20.0, "at": 12},
]
QUADS = [
    {"subject": "<urn:a>", "predicate": "<urn:p>", "object": '"a\nb"@EN', "time": 3},
    {"subject": "_:x", "predicate": "<urn:p>", "object": "_:x", "time": 4},
]


def of_polars(rows: list[dict[str, Any]]) -> Any:
    return pytest.importorskip("polars").DataFrame(rows)


class Interchange:
    """A frame that has the older interface alone."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.frame = pandas.DataFrame(rows)

    def __dataframe__(self, **options: Any) -> Any:
        return self.frame.__dataframe__(**options)


KINDS = {
    "dicts": list,
    "pandas": pandas.DataFrame,
    "polars": of_polars,
    "a table of Arrow": pyarrow.Table.from_pylist,
    "a batch of Arrow": pyarrow.RecordBatch.from_pylist,
    "interchange": Interchange,
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_elements_as_the_columns_say(kind: str):
    """The cell that is empty leaves out its triple, and not its element."""
    if kind == "interchange":
        expected = stream_from_dataframe(KINDS[kind]([ROWS[0], ROWS[2]]), COLUMNS)
        assert [element.app for element in expected] == [3, 12]
        return
    found = stream_from_dataframe(KINDS[kind](ROWS), COLUMNS)
    assert found == stream(
        [
            ((f"<{SENSOR}7>", DEGREES, f'"21.5"^^<{DECIMAL}>'), 3),
            ((), 10),
            ((f"<{SENSOR}8>", DEGREES, f'"20.0"^^<{DECIMAL}>'), 12),
        ]
    )


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "interchange"])
def test_rows_are_quads_without_columns(kind: str):
    """A line break within a literal is a character of it; N-Triples writes it as an escape."""
    rows = [QUADS[0] | {"object": '"a\\nb"@EN'}, QUADS[1]]
    found = stream_from_dataframe(KINDS[kind](rows))
    assert found == stream(
        [(("<urn:a>", "<urn:p>", '"a\\nb"@en'), 3), (("_:b1", "<urn:p>", "_:b1"), 4)]
    )


def test_an_index_of_pandas_is_no_column():
    frame = pandas.DataFrame(QUADS[1:], index=[7])
    assert len(stream_from_dataframe(frame)) == 1


def test_the_order_may_be_not_recorded():
    assert not stream_from_dataframe(QUADS[1:], ordered=False).ordered
    assert not stream_from_dataframe(ROWS, COLUMNS, ordered=False).ordered


INSTANT = datetime(2024, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC)
EPOCH_MS = 1_704_164_645_678  # of 2024-01-02T03:04:05.678Z, by `date -d … +%s`


@pytest.mark.parametrize("kind", ["dicts", "pandas", "polars", "a table of Arrow"])
def test_a_datetime_is_milliseconds_from_the_epoch(kind: str):
    rows = [ROWS[0] | {"at": INSTANT.astimezone(timezone(timedelta(hours=2)))}]
    assert [e.app for e in stream_from_dataframe(KINDS[kind](rows), COLUMNS)] == [EPOCH_MS]


@pytest.mark.parametrize("kind", ["dicts", "pandas", "polars", "a table of Arrow"])
def test_a_datetime_without_a_zone_is_refused(kind: str):
    rows = [ROWS[0], ROWS[0] | {"at": INSTANT.replace(tzinfo=None)}]
    rows[0] = rows[1] if kind != "dicts" else rows[0]
    with pytest.raises(InvalidStream, match=r"row [12]: IO-1: column 'at' has no zone.*tzinfo=UTC"):
        stream_from_dataframe(KINDS[kind](rows), COLUMNS)


# by the lexical spaces of XSD: INF, true, digits without an exponent, PnDTnHnMnS
CELLS = {
    "a float of numpy": (numpy.float64(1.5), "1.5"),
    "an infinite float of numpy": (numpy.float64("inf"), "INF"),
    "a short float of numpy": (numpy.float32(0.5), "0.5"),
    "a short infinite float": (numpy.float32("-inf"), "-INF"),
    "an integer of numpy": (numpy.int64(2**62), "4611686018427387904"),
    "a truth value of numpy": (numpy.bool_(True), "true"),
    "a text of numpy": (numpy.str_("a"), "a"),
    "a time of numpy": (
        numpy.datetime64("2024-01-02T03:04:05.000000006"),
        "2024-01-02T03:04:05.00",
    ),
    "a decimal with an exponent": (Decimal("1E+3"), "1000"),
    "a small decimal": (Decimal("1E-9"), "0.000000001"),
    "a duration": (timedelta(days=1, milliseconds=500), "PT86400.5S"),
    "a duration before": (timedelta(seconds=-1), "-PT1S"),
    "a duration of pandas": (pandas.Timedelta(7, "ns"), "PT0.000000007S"),
    "no time": (pandas.NaT, None),
    "no value": (pandas.NA, None),
    "no number": (numpy.float32("nan"), None),
    "no decimal": (Decimal("NaN"), None),
    "no time of numpy": (numpy.datetime64("NaT", "s"), None),
    "no duration of numpy": (numpy.timedelta64("NaT", "s"), None),
}


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_is_its_lexical_form_or_is_empty(name: str):
    cell, text = CELLS[name]
    columns = COLUMNS | {"predicates": {"urn:p": {"text": "{degrees}"}}}
    [element] = stream_from_dataframe([ROWS[0] | {"degrees": cell}], columns)
    texts = [term[2].strip('"') for term in element.graph]
    assert texts == [] if text is None else texts[0].startswith(text)


@pytest.mark.parametrize(
    "cell", [b"a", [1], (1,), {"a": 1}, {1}, numpy.zeros(2), numpy.timedelta64(1, "M")]
)
def test_a_cell_without_a_lexical_form_is_refused(cell: object):
    with pytest.raises(InvalidStream, match=r"row 1: IO-1: column 'degrees': a (cell|duration) "):
        stream_from_dataframe([ROWS[0] | {"degrees": cell}], COLUMNS)


@pytest.mark.parametrize("missing", [pandas.NaT, pandas.NA, float("nan"), None])
def test_a_row_without_a_time_is_refused(missing: object):
    with pytest.raises(InvalidStream, match="row 1: IO-1: column 'at': no time"):
        stream_from_dataframe([ROWS[0] | {"at": missing}], COLUMNS)


UNREADABLE = {
    "two columns of a name": lambda: pandas.concat([pandas.DataFrame(ROWS)] * 2, axis=1),
    "two columns of Arrow": lambda: pyarrow.table([[1], [2]], names=["at", "at"]),
    "values of two types": lambda: pandas.DataFrame({"at": [1, "a"]}),
    "a year beyond": lambda: pyarrow.table({"at": pyarrow.array([2**50], pyarrow.timestamp("s"))}),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_arrow_cannot_read_is_one_error(name: str):
    with pytest.raises(InvalidStream, match=r"DataFrame: IO-1: cannot be read: .*; a list of di"):
        stream_from_dataframe(UNREADABLE[name](), COLUMNS)


@pytest.mark.parametrize(
    ("frame", "columns", "words"),
    [
        (5, None, "DataFrame: IO-1: must be a DataFrame of pandas or Polars"),
        (None, None, "DataFrame: IO-1: must be a DataFrame of pandas or Polars"),
        ([{"id": 3}], None, "unknown column 'id'"),
        ([{"id": 3}], COLUMNS, "columns: IO-1: the table has no column 'at'"),
        ([ROWS[0] | {"at": None}], COLUMNS, "row 1: IO-1: column 'at': no time"),
        ([ROWS[0] | {"at": "soon"}], COLUMNS, "row 1: IO-1: column 'at': a time must be an integ"),
        (ROWS, {}, "columns: IO-1: columns: key 'subject' is missing"),
        (ROWS, 5, "columns: IO-1: must be the path of a file, got 5"),
        ([QUADS[0] | {"object": "a"}], None, "row 1: IO-1: object: not a term: 'a'"),
        ([QUADS[1], QUADS[1] | {"time": None}], None, "row 2: IO-1: column 'time' is missing"),
    ],
)
def test_what_is_no_stream_is_one_error(frame: Any, columns: Any, words: str):
    assert words in refusal(lambda: stream_from_dataframe(frame, columns), InvalidStream)


# Reports. By hand: a at 3 and b at 10; 10 closes [0, 10), and the horizon 10 + 10 + 2 = 22 closes
# [10, 20).
REPORTS = list(
    evaluate(
        from_table(
            {
                "windows": [{"stream": "s", "kind": "time", "size": 10, "slide": 10}],
                "body": "SELECT ?x ?y { ?x <urn:p> <urn:o> OPTIONAL { ?x <urn:q> ?y } }",
            }
        ),
        {
            "s": stream(
                [(("<urn:a>", "<urn:p>", "<urn:o>"), 3), (("<urn:b>", "<urn:p>", "<urn:o>"), 10)]
            )
        },
        profile("csparql").but(t0=0).semantics(),
    )
)
EXPECTED = [
    {
        "number": 1,
        "evaluation": 9,
        "trigger": 10,
        "instant": 10,
        "windows": [{"opens": 0, "closes": 10, "elements": 1}],
        "bindings": [{"x": "<urn:a>"}],
    },
    {
        "number": 2,
        "evaluation": 19,
        "trigger": 22,
        "instant": 20,
        "windows": [{"opens": 10, "closes": 20, "elements": 1}],
        "bindings": [{"x": "<urn:b>"}],
    },
]
WITH_NULLS = [row | {"bindings": [b | {"y": None} for b in row["bindings"]]} for row in EXPECTED]  # type: ignore[attr-defined]


def test_reports_as_dicts():
    assert to_dicts(REPORTS) == EXPECTED
    assert to_dicts(REPORTS[0]) == EXPECTED[:1]


def test_reports_as_a_table_of_arrow():
    assert to_arrow(REPORTS).to_pylist() == WITH_NULLS
    assert to_arrow([]).num_rows == 0


def test_reports_as_a_dataframe_of_pandas():
    frame = to_pandas(REPORTS)
    assert frame.to_dict("records") == EXPECTED
    assert [row["x"] for row in frame.explode("bindings")["bindings"]] == ["<urn:a>", "<urn:b>"]
    assert list(to_pandas([]).columns) == list(EXPECTED[0])


def test_reports_as_a_dataframe_of_polars():
    pytest.importorskip("polars")
    assert to_polars(REPORTS).to_dicts() == WITH_NULLS


@pytest.mark.parametrize("wrong", [None, "abc", 5, [5], [None]])
def test_what_is_no_report_is_refused(wrong: Any):
    with pytest.raises(RefengineError, match="ENG-2: must be"):
        to_dicts(wrong)


@pytest.mark.parametrize(
    ("way", "module"), [(to_pandas, "pandas"), (to_arrow, "pyarrow"), (to_polars, "polars")]
)
def test_a_library_that_is_not_there_is_named(monkeypatch, way, module: str):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError, match=f"{module} is not installed: pip install"):
        way(REPORTS)


OF_IDS = {
    "subject": "http://e/{id}",
    "predicates": {"http://p": {"text": "{value}"}, "http://q": {"iri": "http://e/{of}"}},
    "time": "at",
    "batch": "batch",
    "end": "end",
}


@pytest.mark.parametrize("name", ["id", "of", "at", "batch", "end"])
@pytest.mark.parametrize("number", [7.0, numpy.float64(7), numpy.float32(7)], ids=repr)
def test_a_float_is_no_time_and_no_part_of_an_iri(name, number):
    """As pandas makes a column of integers one of floats where one is missing: it was the IRI
    http://e/7.0.
    """
    row = {"id": 1, "of": 2, "at": 3, "batch": 4, "end": 5, "value": 7.0}
    assert len(stream_from_dataframe([row], OF_IDS).elements[0].graph) == 2
    reason = rf"row 1: IO-1: column '{name}': a .* must not be a float.*write \.astype\('Int64'\)"
    with pytest.raises(InvalidStream, match=reason):
        stream_from_dataframe([row | {name: number}], OF_IDS)


def test_a_column_of_pandas_with_a_missing_integer_says_so():
    frame = pandas.DataFrame({"id": [7, None], "of": [1, 2], "at": [3, 4], "value": [1, 2]})
    columns = {key: OF_IDS[key] for key in ("subject", "predicates", "time")}
    with pytest.raises(InvalidStream, match="column 'id': a part of an IRI must not be a float"):
        stream_from_dataframe(frame, columns)
    assert len(stream_from_dataframe(frame.astype({"id": "Int64"})[:1], columns)) == 1
