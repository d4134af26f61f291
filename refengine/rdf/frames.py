"""DataFrames: a stream from the rows of one, and reports as one. Those of pandas, Polars and Arrow
are read by the interface that all of them have, and each library is imported only if it is asked
for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from importlib import import_module
from typing import Any

from refengine.core.reports import Report
from refengine.model.elements import Stream, Term
from refengine.model.errors import InvalidStream, RefengineError
from refengine.model.held import as_integer, is_missing
from refengine.model.libraries import say_not_installed
from refengine.model.messages import display
from refengine.rdf.forms.reading import ReadElement, Reading, build_stream
from refengine.rdf.forms.rows import (
    REQUIRED,
    Columns,
    TimedQuad,
    build_stream_of_quads,
    check_quad_keys,
    parse_quad,
    read_columns,
)
from refengine.rdf.sources import Source
from refengine.rdf.terms import Fault

KINDS = "a DataFrame of pandas or Polars, a table of Arrow, or a list of dicts"
NAMES = ("number", "evaluation", "trigger", "instant", "windows", "bindings")


def stream_from_dataframe(
    frame: Any, columns: Mapping[str, Any] | Source | None = None, *, ordered: bool = True
) -> Stream:
    """IO-3: Return the stream of a DataFrame of pandas, Polars or Arrow, in the order of its rows.

    `columns` says what a row means, as a file of `--columns` does: it is such a file, or its keys
    in a dict. Each row is then an element. Without it the columns are those of a quad: subject,
    predicate, object and time, and optionally graph, end and batch, with terms in N-Triples'
    syntax. Empty cells are left out. A time is an integer, a datetime with a zone, or the text of
    an xsd:dateTime. `ordered` is that of `Stream`.

    Raises InvalidStream, with the number of the row.

    >>> rows = [{"id": "7", "degrees": 21.5, "at": 3}, {"id": "8", "degrees": None, "at": 10}]
    >>> columns = {
    ...     "subject": "http://example.org/sensor/{id}",
    ...     "predicates": {"http://example.org/degrees": {"text": "{degrees}"}},
    ...     "time": "at",
    ... }
    >>> [(element.app, len(element.graph)) for element in stream_from_dataframe(rows, columns)]
    [(3, 1), (10, 0)]
    """
    names, rows = read_frame(frame)
    if columns is None:
        return _stream_of_quads(names, rows, ordered)
    mapping = read_columns(columns)
    mapping.check_names(names)
    return build_stream(_elements(rows, mapping), ordered)


def _stream_of_quads(names: list[str], rows: Iterable[dict[str, Any]], ordered: bool) -> Stream:
    try:
        check_quad_keys(names, "column")
    except Fault as fault:
        reason = f"{fault}; columns={{…}} says what other columns mean"
        raise InvalidStream(reason, rule="IO-1", place="DataFrame") from None
    reading = Reading("DataFrame")
    quads = _quads(rows, reading)
    found = build_stream_of_quads(reading, quads, "column")
    return found if ordered else Stream(found.elements, ordered)


def _quads(rows: Iterable[dict[str, Any]], reading: Reading) -> Iterator[TimedQuad]:
    labels: dict[str, Term] = {}
    for number, row in enumerate(rows, 1):
        place = f"row {number}"
        cells = cells_of(row, ("time", "end", "batch"), place)
        try:
            check_quad_keys(cells, "column", REQUIRED)
            yield parse_quad(cells, labels, place, reading.zones)
        except Fault as fault:
            raise InvalidStream(str(fault), rule="IO-1", place=place) from None


def _elements(rows: Iterable[dict[str, Any]], mapping: Columns) -> Iterator[ReadElement]:
    zones = Reading("DataFrame").zones
    in_iris = mapping.names_in_iris()
    for number, row in enumerate(rows, 1):
        place = f"row {number}"
        cells = cells_of(row, (mapping.time, mapping.end, mapping.batch), place, in_iris)
        try:
            times = mapping.times(cells, zones)
            if times is None:
                raise Fault(f"column {mapping.time!r}: no time")
            app, batch, end = times
            yield ReadElement(frozenset(mapping.triples(cells)), app, place, batch, end)
        except Fault as fault:
            raise InvalidStream(str(fault), rule="IO-1", place=place) from None


def read_frame(frame: Any) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the names of a DataFrame's columns, and its rows. Raises InvalidStream for what is no
    DataFrame, and ModuleNotFoundError where it takes pyarrow to read it.
    """
    if isinstance(frame, list) and all(isinstance(row, Mapping) for row in frame):
        return list(dict.fromkeys(name for row in frame for name in row)), [*map(dict, frame)]
    try:
        table = _table_of(frame)
        # the index of a frame of pandas is none of its columns
        names = [name for name in table.schema.names if not name.startswith("__index_level_")]
        return names, table.select(names).to_pylist()
    except (ValueError, TypeError, NotImplementedError, OverflowError, KeyError) as error:
        # those of Arrow are such: of columns with one name, and of values of several types
        reason = f"cannot be read: {display(str(error))}; a list of dicts can, a dict for each row"
        raise InvalidStream(reason, rule="IO-1", place="DataFrame") from None


def _table_of(frame: Any) -> Any:
    """Return a DataFrame as a table of Arrow."""
    if hasattr(frame, "to_pylist") and hasattr(frame, "schema"):
        return frame
    if hasattr(frame, "__arrow_c_stream__"):
        return import_library("pyarrow").table(frame)
    if hasattr(frame, "__dataframe__"):
        import_library("pyarrow")
        return import_module("pyarrow.interchange").from_dataframe(frame)
    reason = f"must be {KINDS}, got {display(type(frame).__name__)}"
    raise InvalidStream(reason, rule="IO-1", place="DataFrame")


def cells_of(
    row: Mapping[str, Any],
    names_of_times: Iterable[str | None],
    place: str,
    names_in_iris: Collection[str] = (),
) -> dict[str, str]:
    """Return the cells of a row as texts, those of times as integers, without the empty ones.
    Raises InvalidStream for a time without a zone, and for a float as a time or in an IRI.
    """
    times = {name for name in names_of_times if name}
    cells = {}
    for name, value in row.items():
        if is_missing(value):
            continue
        where = {"rule": "IO-1", "place": place}
        if (name in times or name in names_in_iris) and type(value).__name__.startswith("float"):
            use = "a time" if name in times else "a part of an IRI"
            reason = f"column {name!r}: {use} must not be a float, got {display(value)}; write "
            advice = ".astype('Int64'): pandas makes integers floats where one is missing"
            raise InvalidStream(reason + advice, **where)
        if name in times:
            value = as_integer(value, f"column {name!r}", InvalidStream, **where)
        try:
            text = text_of_cell(value)
        except Fault as fault:
            reason = f"column {name!r}: {fault}"
            raise InvalidStream(reason, **where) from None
        if text:
            cells[name] = text
    return cells


def text_of_cell(value: object) -> str:
    """Return the text of a cell: the lexical form of a number, a truth value, a time or a duration.
    Raises Fault for bytes, for a cell of several values, and for a duration of numpy.
    """
    kind = type(value).__name__
    if kind == "timedelta64":  # of a unit that may have no fixed length
        raise Fault(f"a duration must be a timedelta, got {display(value)}")
    if getattr(value, "shape", None) == () and kind != "datetime64":  # it would lose nanoseconds
        value = value.item()  # type: ignore[attr-defined]  # a scalar of numpy
    match value:
        case str():
            return value
        case bool():
            return str(value).lower()
        case float():
            return {"inf": "INF", "-inf": "-INF"}.get(float.__repr__(value), float.__repr__(value))
        case Decimal():
            return format(value, "f")
        case timedelta():
            return _text_of_duration(value)
        case datetime() | date():
            return value.isoformat()
        case Iterable():
            raise Fault(f"a cell is one value, got {display(value)}; write a text")
        case _:
            return str(value)


def _text_of_duration(value: timedelta) -> str:
    """Return the lexical form of a duration, with the nanoseconds that one of pandas may have."""
    whole = Decimal(value // timedelta(microseconds=1)).scaleb(-6)
    seconds = whole + Decimal(getattr(value, "nanoseconds", 0)).scaleb(-9)
    return f"{'-' if seconds < 0 else ''}PT{abs(seconds).normalize():f}S"


# Reports


def to_dicts(reports: Iterable[Report]) -> list[dict[str, Any]]:
    """Return reports as dicts. `number` counts them from 1, and `evaluation`, `trigger` and
    `instant` are those of a Report. `windows` has for each window where it `opens` and `closes`
    (None if it has no borders) and how many `elements` it holds. `bindings` has the rows of the
    relation, each as often as it is there, as dicts from the bound variables to terms.

    Raises RefengineError for what is no report.
    """
    return [_dict_of(report, number) for number, report in enumerate(_list_of_reports(reports), 1)]


def _list_of_reports(reports: Iterable[Report]) -> list[Report]:
    if isinstance(reports, Report):
        reports = [reports]
    if isinstance(reports, str) or not isinstance(reports, Iterable):
        reason = f"must be Reports, got {display(reports)}; evaluate(…) gives reports"
        raise RefengineError(reason, rule="ENG-2", place="reports")
    found = list(reports)
    for number, report in enumerate(found, 1):
        if not isinstance(report, Report):
            reason = f"must be a Report, got {display(report)}; evaluate(…) gives reports"
            raise RefengineError(reason, rule="ENG-2", place=f"report {number}")
    return found


def _dict_of(report: Report, number: int) -> dict[str, Any]:
    windows = []
    for borders, content in zip(report.windows, report.contents, strict=True):
        opens, closes = borders or (None, None)
        windows.append({"opens": opens, "closes": closes, "elements": len(content)})
    bindings = [dict(row) for row in sorted(report.relation.rows.elements())]
    values = (number, report.evaluation, report.trigger, report.instant, windows, bindings)
    return dict(zip(NAMES, values, strict=True))


def to_arrow(reports: Iterable[Report]) -> Any:
    """Return reports as a table of Arrow with the columns of `to_dicts`; a binding is a struct with
    a field for each variable. It needs pyarrow.
    """
    arrow = import_library("pyarrow")
    found = _list_of_reports(reports)
    variables = list(dict.fromkeys(name for each in found for name in each.relation.variables))
    window = {"opens": arrow.int64(), "closes": arrow.int64(), "elements": arrow.int64()}
    kinds = {
        **dict.fromkeys(NAMES[:4], arrow.int64()),
        "windows": arrow.list_(arrow.struct(list(window.items()))),
        "bindings": arrow.list_(arrow.struct([(name, arrow.string()) for name in variables])),
    }
    schema = arrow.schema(list(kinds.items()))
    try:
        return arrow.Table.from_pylist(to_dicts(found), schema=schema)
    except OverflowError:
        reason = "a border is beyond 64 bits, which Arrow's integers have; write to_dicts(reports)"
        raise RefengineError(reason, rule="ENG-2", place="reports") from None


def to_pandas(reports: Iterable[Report]) -> Any:
    """Return reports as a DataFrame of pandas with the columns of `to_dicts`; `explode("bindings")`
    gives a row for each binding. It needs pandas.
    """
    return import_library("pandas").DataFrame(to_dicts(reports), columns=list(NAMES))


def to_polars(reports: Iterable[Report]) -> Any:
    """Return reports as a DataFrame of Polars with the columns of `to_arrow`. It needs Polars and
    pyarrow.
    """
    return import_library("polars").from_arrow(to_arrow(reports))


def import_library(module: str) -> Any:
    """Return a library. Raises ModuleNotFoundError with what brings it where it is not there."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise ModuleNotFoundError(say_not_installed(module), name=module) from None
