"""Arrival orders that were not recorded (ORA-4 to ORA-7): which outputs some order gives, by hand.

Under content change, the tuple tick and Istream each of the elements of an instant shows its row
when it arrives: of a and b at one instant the outputs are {a} and {b}, in either order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from refengine import (
    Body,
    Query,
    Relation,
    Stream,
    Unsupported,
    Window,
    WindowKind,
    literal,
    profile,
    row,
    stream,
)
from refengine.core import engine
from refengine.model.elements import XSD
from refengine.oracle.judge import judge
from refengine.oracle.orders import are_realisable, order_matters
from refengine.oracle.orders.groups import PendingDerivation
from refengine.oracle.trial import Missing

TUMBLING = Window("s", WindowKind.TIME, 10, 10)
SELECT = Body("SELECT ?x { ?x <urn:p> ?y }")
CQELS = profile("cqels").but(t0=0)
NONE = Missing(0, 0)


def unordered(*names_and_times, predicate: str = "urn:p") -> dict[str, Stream]:
    """A stream of elements of one triple, whose arrival order is not recorded where they are
    simultaneous.
    """
    elements = [
        ((f"<urn:{name}>", f"<{predicate}>", "<urn:o>"), at) for name, at in names_and_times
    ]
    return {"s": replace(stream(elements), ordered=False)}


def rows(*names: str, variable: str = "x") -> Relation:
    """A relation of one row for each name."""
    lines = Counter(row({variable: f"<urn:{name}>"}) for name in names)
    return Relation((variable,), lines)


def passes(streams, recording, missing=NONE, query=None, **fields) -> bool:
    """Whether some order explains a recording."""
    query = query or Query((TUMBLING,), SELECT)
    return judge(query, streams, CQELS.but(**fields), recording, missing=missing).passed


# ORA-4


@pytest.mark.parametrize(
    ("times", "kind", "fields", "expected"),
    [
        ((3, 3), "time", {}, True),
        ((3, 4), "time", {}, False),
        ((3, 3), "time", {"tick": "time"}, False),
        ((3, 3), "rows", {"tick": "time", "closure": "none"}, True),
        ((3, 3), "time", {"report": "window-close"}, False),
        ((3, 3), "time", {"report": "window-close,content-change"}, False),
        (
            (3, 3),
            "time",
            {"report": "window-close,content-change", "change_baseline": "previous-instant"},
            True,
        ),
        (
            (3, 3),
            "time",
            {"report": "window-close,non-empty", "change_baseline": "previous-instant"},
            False,
        ),
        # TICK-6: under [o, c) an arrival is then an instant early, and nothing that is simultaneous
        # with it is in scope yet
        ((3, 3), "time", {"close_rule": "passed"}, False),
        ((3, 3), "time", {"close_rule": "passed", "closure": "(]"}, True),
    ],
)
def test_where_the_order_matters(times, kind, fields, expected):
    spec = Window("s", WindowKind(kind), 10, None if kind == "rows" else 10)
    streams = unordered(*zip("ab", times, strict=True))
    semantics = CQELS.but(**fields).semantics()
    assert order_matters(engine.plan(Query((spec,), SELECT), streams, semantics)) is expected


# ORA-6


def grown(*needs: tuple[str, set[int]]) -> list[PendingDerivation]:
    """Derivations: of each its row, by a name, and the elements that it waits for."""
    return [
        PendingDerivation(row({"x": f"<urn:{name}>"}), frozenset(waits)) for name, waits in needs
    ]


def outputs(*names: str) -> list[Counter]:
    """Outputs, each as the names of its rows: `aab` is a twice and b."""
    return [Counter(row({"x": f"<urn:{name}>"}) for name in each) for each in names]


@pytest.mark.parametrize(
    ("derivations", "given", "expected"),
    [
        # a waits for 1 and 2, b for 2 and 3: 1, 2, 3 or 1, 3, 2
        ([("a", {1, 2}), ("b", {2, 3})], ["a", "b"], True),
        ([("a", {1, 2}), ("b", {2, 3})], ["ab"], True),
        # nothing that a and b both wait for is last
        ([("a", {1}), ("b", {2})], ["ab"], False),
        # b waits for a's element, too: it is never first, but may come with it
        ([("a", {1}), ("b", {1, 2})], ["b", "a"], False),
        ([("a", {1}), ("b", {1, 2})], ["a", "b"], True),
        ([("a", {1}), ("b", {1, 2})], ["ab"], True),
        # two derivations of one row, of an element each, or of the same
        ([("a", {1}), ("a", {2})], ["a", "a"], True),
        ([("a", {1}), ("a", {2})], ["aa"], False),
        ([("a", {1}), ("a", {1})], ["aa"], True),
        ([("a", {1}), ("a", {1})], ["a", "a"], False),
        # b waits for 1 and 2, and when 2 comes after 1 and 3 before it, a has been there
        ([("a", {1}), ("b", {1, 2}), ("c", {2, 3})], ["a", "bc"], True),
        ([("a", {1}), ("b", {1, 2}), ("c", {2, 3})], ["bc", "a"], False),
        ([("a", {1}), ("b", {2}), ("c", {1, 2})], ["c", "ab"], False),
        ([("a", {1})], ["a", "a"], False),
        # 1 shows a, so that it cannot come last of those that b and c wait for
        ([("a", {1}), ("b", {1, 2}), ("c", {1, 3})], ["a", "bc"], False),
        ([("a", {1}), ("b", {1, 2}), ("c", {1, 3})], ["abc"], True),
        ([("a", {1})], ["b"], False),
        # of one row derived twice only one derivation is shown by 2, after 1; both come with 3
        ([("a", {1, 2}), ("a", {1, 3})], ["aa"], True),
        ([("a", {1, 2}), ("a", {1, 3})], ["a", "a"], True),
    ],
)
def test_which_outputs_an_instant_can_have(derivations, given, expected):
    assert are_realisable(outputs(*given), grown(*derivations)) is expected


# ORA-5: sums, and what is missing at the ends


@pytest.mark.parametrize(
    ("recording", "expected"),
    [
        ([rows("a"), rows("b")], True),
        ([rows("b"), rows("a")], True),
        ([rows("a", "b")], False),
        ([rows("a")], False),
        ([rows("a"), rows("b"), rows("a")], False),
        ([rows("a"), rows("c")], False),
    ],
)
def test_each_element_shows_its_row(recording, expected):
    assert passes(unordered(("a", 3), ("b", 3)), recording) is expected


TWO_INSTANTS = unordered(("a", 3), ("b", 3), ("c", 13), ("d", 13))


@pytest.mark.parametrize(
    ("names", "before", "after", "expected"),
    [
        ("bc", 1, 1, True),  # a before, d after
        ("bc", 1, 0, False),
        ("bc", 0, 1, False),
        ("d", 3, 0, True),  # a, b and c before
        ("d", 2, 0, False),
        ("a", 0, 3, True),
        ("a", 0, 2, False),
        ("cd", 2, 0, True),
        ("cd", 1, 0, False),
        ("ab", 0, 2, True),
        ("ab", 0, 1, False),
        ("ad", 1, 1, True),  # b comes before a, and c after d
        ("ad", 0, 4, False),
        ("cb", 4, 4, False),  # c is of the later instant
    ],
)
def test_what_is_missing_at_the_ends_is_counted_over_all_instants(names, before, after, expected):
    recording = [rows(name) for name in names]
    assert passes(TWO_INSTANTS, recording, Missing(before, after)) is expected


@pytest.mark.parametrize(
    ("before", "after", "expected"), [(1, 1, True), (2, 0, True), (1, 0, False), (0, 1, False)]
)
def test_outputs_of_one_instant_are_missing_at_both_ends(before, after, expected):
    """Of a, b and c, in some order, b alone is recorded."""
    streams = unordered(("a", 3), ("b", 3), ("c", 3))
    assert passes(streams, [rows("b")], Missing(before, after)) is expected


@pytest.mark.parametrize(
    ("names", "before", "after", "expected"),
    [("b", 1, 0, True), ("b", 0, 1, False), ("a", 0, 1, True), ("a", 1, 0, False)],
)
def test_what_is_missing_has_a_place_of_its_own(names, before, after, expected):
    """b needs a's element and another: a is shown before b, or both at once."""
    elements = [(("<urn:a>", "<urn:p>", "<urn:o>"), 3), (("<urn:a>", "<urn:q>", "<urn:b>"), 3)]
    streams = {"s": replace(stream(elements), ordered=False)}
    body = "SELECT ?x { { ?x <urn:p> <urn:o> } UNION { ?z <urn:p> <urn:o> . ?z <urn:q> ?x } }"
    query = Query((TUMBLING,), Body(body))
    assert passes(streams, [rows(names)], Missing(before, after), query) is expected


def test_a_recorded_row_may_be_written_in_another_way():
    """CMP-1: 1.0 is 1."""
    elements = [
        ((f"<urn:{name}>", "<urn:p>", literal(n, XSD + "integer")), 3)
        for name, n in (("a", "1"), ("b", "2"))
    ]
    streams = {"s": replace(stream(elements), ordered=False)}
    query = Query((TUMBLING,), Body("SELECT ?y { ?x <urn:p> ?y }"))

    def recorded(*numbers: str) -> list[Relation]:
        terms = [literal(number, XSD + "decimal") for number in numbers]
        return [Relation(("y",), Counter([row({"y": term})])) for term in terms]

    assert passes(streams, recorded("2.0", "1.0"), query=query)
    assert not passes(streams, recorded("2.0", "3.0"), query=query)


def test_without_an_arrival_after_it_an_instant_is_not_seen_to_its_end():
    """The last of a and b is never evaluated: whichever it is, one output is there."""
    streams = unordered(("a", 3), ("b", 3))
    for recording, expected in (
        ([rows("a")], True),
        ([rows("b")], True),
        ([rows("a"), rows("b")], False),
        ([rows("a", "b")], False),
    ):
        assert passes(streams, recording, horizon="none") is expected


def test_a_kept_element_is_there_whatever_the_order():
    """A row joins the element at 2 with one of those at 3; the first row needs nothing else."""
    elements = [
        (("<urn:a>", "<urn:p>", "<urn:k>"), 2),
        (("<urn:k>", "<urn:q>", "<urn:x>"), 3),
        (("<urn:k>", "<urn:q>", "<urn:y>"), 3),
    ]
    streams = {"s": replace(stream(elements), ordered=False)}
    query = Query((TUMBLING,), Body("SELECT ?x { <urn:a> <urn:p> ?k . ?k <urn:q> ?x }"))
    assert passes(streams, [rows("y"), rows("x")], query=query)
    assert not passes(streams, [rows("x", "y")], query=query)


# ORA-7: other semantics


SAME = Query((TUMBLING,), Body("SELECT ?y { ?x <urn:p> ?y }"))


@pytest.mark.parametrize(
    ("collection", "count", "expected"),
    [("bag", 2, True), ("bag", 1, False), ("set", 1, True), ("set", 2, False)],
)
def test_one_row_of_two_elements(collection, count, expected):
    """As a set the answer has it once, and the second element shows nothing."""
    recording = [rows("o", variable="y")] * count
    streams = unordered(("a", 3), ("b", 3))
    assert passes(streams, recording, query=SAME, collection=collection) is expected


@pytest.mark.parametrize(
    ("recording", "expected"),
    [
        ([rows("a"), rows()], True),
        ([rows(), rows("a")], True),
        ([rows("a")], False),
        ([rows(), rows("a"), rows()], False),
    ],
)
def test_an_element_without_a_row_shows_an_empty_answer(recording, expected):
    """z has none. H = 4 looks at their instant, 3, and at no other."""
    elements = [(("<urn:a>", "<urn:p>", "<urn:o>"), 3), (("<urn:z>", "<urn:q>", "<urn:o>"), 3)]
    streams = {"s": replace(stream(elements), ordered=False)}
    assert passes(streams, recording, empty="emit", horizon=4) is expected


@pytest.mark.parametrize(
    ("operator", "base", "recording", "expected"),
    [
        ("Rstream", "none", [rows("a"), rows("a", "b")], True),
        ("Rstream", "none", [rows("b"), rows("a", "b")], True),
        ("Rstream", "none", [rows("a", "b")], False),
        # when [0, 10) ends, both expire at once
        ("Dstream", "previous", [rows("a", "b")], True),
        ("Dstream", "previous", [rows("a"), rows("b")], False),
        ("append", "none", [rows("b"), rows("a")], True),
        ("append", "none", [rows("b", "a")], False),
    ],
)
def test_other_operators(operator, base, recording, expected):
    streams = unordered(("a", 3), ("b", 3))
    assert passes(streams, recording, r2s=operator, base=base) is expected


@pytest.mark.parametrize(("count", "expected"), [(1, True), (2, False)])
def test_a_row_that_needs_two_elements_comes_with_the_second(count, expected):
    """Whichever it is: at the first the answer is empty, and suppressed."""
    elements = [(("<urn:a>", "<urn:p>", "<urn:k>"), 3), (("<urn:k>", "<urn:q>", "<urn:x>"), 3)]
    streams = {"s": replace(stream(elements), ordered=False)}
    query = Query((TUMBLING,), Body("SELECT ?x { ?a <urn:p> ?k . ?k <urn:q> ?x }"))
    fields = {"r2s": "Rstream", "base": "none"}
    assert passes(streams, [rows("x")] * count, query=query, **fields) is expected


@pytest.mark.parametrize(
    ("operator", "base", "recording"),
    [
        ("Rstream", "none", [rows("a"), rows("a", "b")]),
        ("Istream", "previous", [rows("a"), rows("b")]),
    ],
)
@pytest.mark.parametrize(
    ("windows", "expected"),
    [(((0, 10), (0, 10)), True), (((0, 10), (10, 20)), False), (((10, 20), (0, 10)), False)],
)
def test_windows_that_the_engine_tells(operator, base, recording, windows, expected):
    """ORA-11: both relations are about [0, 10)."""
    found = judge(
        Query((TUMBLING,), SELECT),
        unordered(("a", 3), ("b", 3)),
        CQELS.but(r2s=operator, base=base),
        recording,
        missing=NONE,
        windows=windows,
    )
    assert found.passed is expected


def test_the_first_of_an_instant_meets_what_expires():
    """At 10 a leaves, and b and c come: the first of them with a's expiry, which Dstream tells."""
    streams = unordered(("a", 3), ("b", 10), ("c", 10))
    fields = {"r2s": "Dstream", "base": "previous"}
    assert passes(streams, [rows("a"), rows("b", "c")], **fields)
    assert not passes(streams, [rows("a", "b"), rows("c")], **fields)


AVERAGE = Query((TUMBLING,), Body("SELECT (AVG(?y) AS ?n) { ?x <urn:p> ?y }"))


def average(number: str) -> Relation:
    return Relation(("n",), Counter([row({"n": literal(number, XSD + "decimal")})]))


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [(("1.0", "2.0"), True), (("3.0", "2.0"), True), (("2.0",), False), (("1.0", "3.0"), False)],
)
def test_an_average_in_either_order(numbers, expected):
    """Of 1 and 3: 1 or 3 first, then 2."""
    elements = [((f"<urn:e{n}>", "<urn:p>", literal(n, XSD + "integer")), 3) for n in ("1", "3")]
    streams = {"s": replace(stream(elements), ordered=False)}
    recording = [average(number) for number in numbers]
    # the answer over nothing is 0, which the end of [0, 10) brings back
    missing = Missing(0, 1)
    assert passes(streams, recording, missing, AVERAGE) is expected


ONE_OF_THREE = {
    "s": replace(
        stream(
            [
                (("<urn:a>", "<urn:p>", "<urn:o>"), 3),
                (("<urn:y>", "<urn:q>", "<urn:o>"), 3),
                (("<urn:z>", "<urn:q>", "<urn:o>"), 3),
            ]
        ),
        ordered=False,
    )
}


@pytest.mark.parametrize(
    ("fields", "recording", "expected"),
    [
        ({"empty": "emit"}, [rows(), rows("a"), rows()], True),
        ({"empty": "emit"}, [rows(), rows(), rows("a")], True),
        ({"empty": "emit"}, [rows("a"), rows()], False),
        ({"r2s": "Rstream", "base": "none"}, [rows("a")], True),
        ({"r2s": "Rstream", "base": "none"}, [rows("a")] * 3, True),
        ({"r2s": "Rstream", "base": "none"}, [rows("a")] * 4, False),
    ],
)
def test_two_elements_without_a_row(fields, recording, expected):
    """Of a, y and z, a alone has a row. With empty answers each shows one; as Rstream it is there
    from a on, and before it are empty answers, which are suppressed.
    """
    assert passes(ONE_OF_THREE, recording, horizon=4, **fields) is expected


@pytest.mark.parametrize(
    ("recording", "expected"),
    [
        ([rows("a"), rows("b")], True),
        ([rows("a", "b")], True),
        ([rows("b"), rows("a")], False),
        ([rows("a"), rows("a", "b")], False),
    ],
)
def test_a_triple_that_two_simultaneous_elements_have(recording, expected):
    """One element has a, the other a and b: whichever comes first shows a."""
    a, b = (("<urn:" + name + ">", "<urn:p>", "<urn:o>") for name in "ab")
    streams = {"s": replace(stream([((a,), 3), ((a, b), 3)]), ordered=False)}
    assert passes(streams, recording) is expected


def test_blank_nodes_are_renamed_in_each_relation():
    """CMP-4: two rows of a blank node each, recorded under labels of their own."""
    elements = [((f"_:{label}", "<urn:p>", "<urn:o>"), 3) for label in "ab"]
    streams = {"s": replace(stream(elements), ordered=False)}

    def recorded(*labels: str) -> list[Relation]:
        return [Relation(("x",), Counter([row({"x": f"_:{label}"})])) for label in labels]

    assert passes(streams, recorded("m", "n"))
    assert passes(streams, recorded("m", "m"))
    assert not passes(streams, recorded("m"))


def test_two_rows_of_one_value():
    """1 and 1.0 are two terms, and either is right for the other."""
    forms = literal("1", XSD + "integer"), literal("1.0", XSD + "decimal")
    elements = [((f"<urn:e{n}>", "<urn:p>", form), 3) for n, form in enumerate(forms)]
    streams = {"s": replace(stream(elements), ordered=False)}
    one = Relation(("y",), Counter([row({"y": forms[0]})]))
    assert passes(streams, [one, one], query=SAME)
    assert not passes(streams, [one], query=SAME)


def test_an_instant_between_two_windows_shows_nothing():
    """[0, 5) holds c; when it has gone, at 5, a and b come, before [10, 15) opens."""
    hopping = Query((Window("s", WindowKind.TIME, 5, 10),), SELECT)
    streams = unordered(("c", 1), ("a", 5), ("b", 5))
    assert passes(streams, [rows("c")], query=hopping)
    assert not passes(streams, [rows("c"), rows("a"), rows("b")], query=hopping)


def test_empty_answers_between_instants_are_reports():
    """When [0, 10) ends nothing is new."""
    streams = unordered(("a", 3), ("b", 3))
    assert passes(streams, [rows("b"), rows("a"), rows()], empty="emit")
    assert not passes(streams, [rows("b"), rows("a")], empty="emit")


SLIDING = Window("s", WindowKind.TIME, 10, 1)


def test_append_compares_with_what_is_kept():
    """At 10 the element of 0 is gone, and the one that comes derives the same row anew (R2S-7)."""
    query = Query((SLIDING,), Body("SELECT ?y { ?x <urn:p> ?y }"))
    objects = (("o", 0), ("o", 10), ("x", 20), ("y", 20))
    elements = [
        ((f"<urn:s{number}>", "<urn:p>", f"<urn:{name}>"), at)
        for number, (name, at) in enumerate(objects)
    ]
    streams = {"s": replace(stream(elements), ordered=False)}
    fields = {"r2s": "append", "base": "none"}
    recording = [rows(name, variable="y") for name in ("o", "o", "y", "x")]
    assert passes(streams, recording, query=query, **fields)
    assert not passes(streams, recording[1:], query=query, **fields)


def test_append_after_a_part_of_an_instant_is_out_of_reach():
    """Of the gap after b only its last instant, 5, is reported, with a and b; at 3 it was a or b
    alone, and which one is kept from there is not known.
    """
    fields = {
        "r2s": "append",
        "base": "none",
        "missed_instants": "latest",
        "period": 1,
        "anchor": 0,
    }
    with pytest.raises(
        Unsupported, match="append compares with an answer over only some of an instant's elements"
    ):
        passes(
            unordered(("a", 3), ("b", 3), ("c", 6)),
            [rows("a"), rows("b")],
            query=Query((SLIDING,), SELECT),
            report="content-change,periodic",
            **fields,
        )


# ORA-7: what is out of reach


def batches() -> dict[str, Stream]:
    streams = unordered(("a", 3), ("b", 3))
    elements = tuple(each._replace(batch=n) for n, each in enumerate(streams["s"].elements, 1))
    return {"s": Stream(elements, ordered=False)}


def intervals() -> dict[str, Stream]:
    streams = unordered(("a", 3), ("b", 3))
    elements = tuple(each._replace(end=each.app + 2) for each in streams["s"].elements)
    return {"s": Stream(elements, ordered=False)}


@pytest.mark.parametrize(
    ("reason", "windows", "body", "fields", "streams"),
    [
        ("several windows, a named one, or static data", [TUMBLING] * 2, SELECT, {}, None),
        (
            "several windows, a named one, or static data",
            [replace(TUMBLING, name="urn:w")],
            Body("SELECT ?x { GRAPH <urn:w> { ?x <urn:p> ?y } }"),
            {},
            None,
        ),
        (
            "elements dropped as late",
            [TUMBLING],
            SELECT,
            {"allowed_lateness": 0},
            unordered(("a", 3), ("b", 3), ("c", 2)),
        ),
        (
            "windows of kind rows",
            [Window("s", WindowKind.ROWS, 2)],
            SELECT,
            {"closure": "none"},
            None,
        ),
        ("elements with intervals", [TUMBLING], SELECT, {}, intervals()),
        ("the batch tick", [TUMBLING], SELECT, {"tick": "batch"}, batches()),
        (
            "window close with content change against the instant before",
            [TUMBLING],
            SELECT,
            {"report": "window-close,content-change", "change_baseline": "previous-instant"},
            None,
        ),
        ("content change of the graph", [TUMBLING], SELECT, {"change_scope": "graph"}, None),
        (
            "base=previous-new",
            [TUMBLING],
            SELECT,
            {"base": "previous-new"},
            None,
        ),
        ("empty=once", [TUMBLING], SELECT, {"empty": "once"}, None),
        (
            "a body that makes blank nodes",
            [TUMBLING],
            Body("SELECT (BNODE() AS ?x) { ?s <urn:p> ?y }"),
            {},
            None,
        ),
    ],
)
def test_what_is_out_of_reach_is_said(reason, windows, body, fields, streams):
    """The order matters, and is not searched."""
    streams = streams or unordered(("a", 3), ("b", 3))
    said = (
        "ORA-7: the arrival order of simultaneous elements was not recorded, and is not searched "
        f"for with {reason}"
    )
    with pytest.raises(Unsupported) as error:
        judge(Query(tuple(windows), body), streams, CQELS.but(**fields), [rows("a")])
    assert said in str(error.value)


def test_static_data_are_out_of_reach():
    static = frozenset({("<urn:a>", "<urn:p>", "<urn:o>")})
    with pytest.raises(Unsupported, match="several windows, a named one, or static data"):
        judge(
            Query((TUMBLING,), SELECT),
            unordered(("a", 3), ("b", 3)),
            CQELS,
            [rows("a")],
            static=static,
        )


def test_stated_windows_that_a_refused_assignment_might_explain_have_no_verdict():
    """ORA-11: with change_scope=elements the relations are right, and the stated windows are wrong.
    With change_scope=graph orders are not searched (ORA-7): so nobody knows whether it explains the
    windows, too, and the engine does not fail.
    """
    question = Query((TUMBLING,), SELECT), unordered(("a", 3), ("b", 3))
    recording = [rows("b"), rows("a")]
    wrong_windows = {"windows": [(5, 15), (5, 15)], "missing": NONE}
    closed = judge(*question, CQELS, recording, **wrong_windows)
    assert not closed.passed and closed.is_right_but_for_windows
    open_scope = CQELS.but(change_scope="unknown")
    with pytest.raises(Unsupported, match="content change of the graph"):
        judge(*question, open_scope, recording, **wrong_windows)
    right_windows = {"windows": [(0, 10), (0, 10)], "missing": NONE}
    assert judge(*question, open_scope, recording, **right_windows).passed
