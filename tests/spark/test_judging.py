"""Judging over Spark: verdicts, YABench's measures and LSBench's mismatch, by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby

import pyarrow
import pytest
from cluster import spark
from conftest import draws
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.bench.metrics import lsbench
from conformance.spark import compared_rows
from conformance.spark.judging import compare_reports, judge, mismatch
from conformance.spark.part_reports import REPORTS
from refengine.model.errors import InvalidStream, RefengineError, Unsupported
from refengine.oracle.trial import Missing

BINDINGS = "array<map<string, string>>"
MAPS = pyarrow.list_(pyarrow.map_(pyarrow.string(), pyarrow.string()))


def bindings(letters: str | None) -> list[dict[str, str]] | None:
    """A row for each letter."""
    if letters is None:
        return None
    return [{"x": f"<urn:{letter}>"} for letter in letters]


# What executors compute


def compared(due: list[str | None], came: list[str | None]) -> list[tuple]:
    columns = [
        pyarrow.array(range(len(due))),
        *(pyarrow.array([bindings(some) for some in side], MAPS) for side in (due, came)),
    ]
    batch = pyarrow.RecordBatch.from_arrays(columns, ["place", "due", "came"])
    return [
        tuple(row.values())
        for found in compared_rows.compare_pairs([batch])
        for row in found.to_pylist()
    ]


def test_rows_of_reports_and_relations_are_compared():
    """By hand. Of b, c one came, c, and d beside it: 1/2 and 1/2. Both empty: 1 and 1. What is not
    there is equal to nothing, but without rows its measures are those of an empty answer.
    """
    b, d = [("x", "<urn:b>")], [("x", "<urn:d>")]
    found = compared(["bc", "", None, "a", "", "aab"], ["cd", "", "a", None, None, "aba"])
    assert found == [
        (0, 2, 2, False, 0.5, 0.5, [b], [d]),
        (1, 0, 0, True, 1, 1, [], []),
        (2, 0, 1, False, 0, 0, [], []),
        (3, 1, 0, False, 0, 0, [], []),
        (4, 0, 0, False, 1, 1, [], []),
        (5, 3, 3, True, 1, 1, [], []),
    ]


def test_terms_of_a_recording_are_made_canonical():
    binding = [{"x": '"A"@EN', "y": '"\\u0041"'}, {}]
    assert compared_rows.bag_of([list(each.items()) for each in binding]) == Counter(
        {(("x", '"A"@en'), ("y", '"A"')): 1, (): 1}
    )
    with pytest.raises(InvalidStream, match="MOD-4"):
        compared_rows.bag_of([[("x", "a")]])


def lost_here(first: Sequence[str], second: Sequence[str]) -> tuple[int, int]:
    """The rows of the first output that `mismatch` finds to be lost, and how many there are."""
    tables = []
    for output in (first, second):
        batch = pyarrow.RecordBatch.from_arrays(
            [
                pyarrow.array(range(1, len(output) + 1)),
                pyarrow.array([numbers(letters) for letters in output], MAPS),
            ],
            ["number", "bindings"],
        )
        rows = [row for found in compared_rows.keys_of_rows([batch]) for row in found.to_pylist()]
        tables.append(sorted(rows, key=lambda row: row["key"]))
    schema = pyarrow.schema(
        [
            ("number", pyarrow.int64()),
            ("key", pyarrow.string()),
            ("line", MAPS.value_type),
            ("count", pyarrow.int64()),
        ]
    )
    by_key = [
        {key: list(rows) for key, rows in groupby(table, key=lambda row: row["key"])}
        for table in tables
    ]
    found = [
        compared_rows.find_rows(
            *(pyarrow.Table.from_pylist(rows.get(key, []), schema) for rows in by_key)
        )
        for key in sorted(by_key[0].keys() | by_key[1].keys())
    ]
    if not found:
        return 0, 0
    walked = compared_rows.walk_through(pyarrow.concat_tables(found).sort_by("number").to_batches())
    ((lost, rows),) = [tuple(row.values()) for some in walked for row in some.to_pylist()]
    return lost, rows


FLOAT = "http://www.w3.org/2001/XMLSchema#double"


def numbers(letters: str) -> list[dict[str, str]]:
    """A row for each letter: a digit is a number, of which 1 and 2 are near each other."""
    near = {"1": "1.0", "2": "1.0000000000001"}
    return [
        {"x": f'"{near[letter]}"^^<{FLOAT}>' if letter in near else f"<urn:{letter}>"}
        for letter in letters
    ]


@settings(max_examples=draws(300))
@given(*[st.lists(st.text("abc12", max_size=4), max_size=6)] * 2)
def test_the_mismatch_is_that_of_the_definition(first, second):
    """Over drawn outputs: rows that come again, numbers that are near."""
    outputs = [
        [compared_rows.bag_of([list(row.items()) for row in numbers(some)]) for some in output]
        for output in (first, second)
    ]
    percent = lsbench.mm(*outputs)
    lost, rows = lost_here(first, second)
    assert rows == lsbench.size(outputs[0])
    assert percent is None if not rows else percent == Fraction(100 * lost, rows)


def test_blank_nodes_are_not_looked_for():
    keyed = pyarrow.table(
        {
            "number": [1],
            "key": [""],
            "line": pyarrow.array([[("x", "_:b")]], MAPS.value_type),
            "count": [1],
        }
    )
    with pytest.raises(Unsupported, match="CMP-4"):
        compared_rows.find_rows(keyed, keyed)


# What needs Spark


def reported(connected, *bags: str, first_part: int = 1):
    """Reports of the windows [0, 10), [10, 20), …, with 3 elements each and a row for each letter,
    in two parts.
    """
    rows = []
    for place, letters in enumerate(bags):
        part = int(place >= first_part)
        number = place + 1 - part * first_part
        window = {"opens": 10 * place, "closes": 10 * place + 10, "elements": 3}
        at = 10 * place + 9
        times = (at, at + 1, at + 1)
        rows.append((part, number, *times, [window], bindings(letters), "incremental"))
    return connected.createDataFrame(rows, REPORTS)


def recorded(connected, *bags: str, instants: tuple[int, ...] = ()):
    rows = [
        (number, instants[number - 1] if instants else None, bindings(letters))
        for number, letters in enumerate(bags, 1)
    ]
    return connected.createDataFrame(rows, f"number long, instant long, bindings {BINDINGS}")


def verdict(frame) -> dict:
    (row,) = frame.toArrow().to_pylist()
    return row


@spark
@pytest.mark.parametrize(
    ("expected", "answers", "missing", "found"),
    [
        (["a", "b", "c"], ["b", "c"], 1, ("pass", 1, 0, None, None)),
        ([], [], 1, ("pass", 0, 0, None, None)),
        (["a", "b", "c"], [], 1, ("fail", 0, 0, 1, 9)),
        (["a", "b", "c"], ["a"], 1, ("fail", 0, 0, 2, 19)),
        (["a", "b", "c"], ["b", "c"], Missing(0, 1), ("fail", 0, 0, 1, 9)),
        (["a", "b"], ["a", "b", "c"], 1, ("fail", 0, 0, 3, None)),
    ],
)
def test_verdicts(connected, expected, answers, missing, found):
    """ORA-3, by hand: relations are consecutive reports, and at most one is missing at each end, or
    as many as is said. Of a fail, where it differs first: the number of the relation, and the
    instant of the report.
    """
    came, reports = recorded(connected, *answers), reported(connected, *expected)
    row = verdict(judge(came, reports, missing=missing))
    divergence = row["divergence"] or {"evaluation": None}
    assert (row["relations"], row["reports"]) == (len(answers), len(expected))
    assert found == (
        *(row[name] for name in ("outcome", "before", "after", "relation")),
        divergence["evaluation"],
    )


@spark
def test_measures(connected):
    """By hand. YABench: a; of b, c one came, c, and d beside it: 1/2 and 1/2; nothing: both empty,
    1 and 1; the mean is 5/6. Delays 5, 1 and 0. LSBench: of a, b, c one, b, is not recorded; of a,
    c, d one, d, was not expected.
    """
    reports = reported(connected, "a", "bc", "")
    came = recorded(connected, "a", "cd", "", instants=(15, 21, 30))
    row = verdict(judge(came, reports))
    assert (row["outcome"], row["relation"], row["measured"], row["delay"]) == ("fail", 2, 3, 1)
    assert [row["precision"], row["recall"]] == [pytest.approx(5 / 6)] * 2
    differs = row["divergence"]
    assert (differs["place"], differs["part"], differs["opens"], differs["elements"]) == (
        2,
        1,
        10,
        3,
    )
    assert [differs["lacking"], differs["too_many"]] == [
        [[("x", "<urn:b>")]],
        [[("x", "<urn:d>")]],
    ]
    for outputs in ((reports, came), (came, reports)):
        found = verdict(mismatch(*outputs))
        assert (found["percent"], found["lost"], found["rows"]) == (pytest.approx(100 / 3), 1, 3)
    of_places = compare_reports(came, reports, missing=0).orderBy("place").toArrow().to_pylist()
    assert [(each["delay"], each["is_equal"]) for each in of_places] == [
        (5, True),
        (1, False),
        (0, True),
    ]


@spark
def test_what_cannot_be_judged_is_refused(connected):
    reports = reported(connected, "a")
    with pytest.raises(
        RefengineError, match="missing: ORA-3: must be an integer >= 0, or a Missing of two, got -1"
    ):
        judge(recorded(connected, "a"), reports, missing=-1)
    with pytest.raises(InvalidStream, match="recorded: IO-2: needs the columns bindings; has "):
        judge(recorded(connected, "a").drop("bindings"), reports)
