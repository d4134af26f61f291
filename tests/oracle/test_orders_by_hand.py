"""The search over arrival orders, step by step: its groups, classes and sums, the orders that give
outputs, and where every order parts from a recording (ORA-5 to ORA-7, ORA-9).
"""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product
from random import Random

import pytest
from small_streams import SELECT, bag, line, name_at, relations

from refengine import Body, Mode, Query, Unsupported, Window, WindowKind, literal, profile, stream
from refengine.core.question import Question
from refengine.core.schedule import Evaluation, WindowContent
from refengine.core.values import Closure
from refengine.model.elements import XSD, Bag, Stream, row
from refengine.oracle import instants
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.comparison import Distance, Divergence
from refengine.oracle.instants import InstantSum
from refengine.oracle.judge import Judgement, judge
from refengine.oracle.orders import are_realisable, groups, realisation, search
from refengine.oracle.orders.groups import OrderSearch, PendingDerivation, group_evaluations
from refengine.oracle.orders.sums import find_fixed_sum, sum_instant_outputs
from refengine.oracle.trial import Missing, RecordingToJudge

QUERY = Query((Window("s", WindowKind.TIME, 10, 10),), SELECT)
CQELS = profile("cqels").but(t0=0)
NONE = Missing(0, 0)


def unordered(*names_and_times: tuple[str, int]) -> dict[str, Stream]:
    """Return a stream of names at their instants, of which the order is unknown."""
    items = [name_at(name, at) for name, at in names_and_times]
    return {"s": Stream(stream(items).elements, ordered=False)}


def searched(streams, query=QUERY, recorded=(), missing=NONE, **fields) -> OrderSearch:
    """Return a search over the orders of a stream, under content change."""
    question = Question(query, streams)
    answers = SharedAnswers()
    recording = RecordingToJudge.of(question, recorded, missing=missing)
    return OrderSearch(
        recording, answers.plan_of(recording, CQELS.but(**fields).semantics()), answers
    )


# Which outputs an instant can have (ORA-6)


def outputs_in_order(order, pending: list[PendingDerivation]) -> list[Bag]:
    """Return what each arrival shows that completes a derivation."""
    shown = []
    arrived: set[int] = set()
    for element in order:
        new = Counter(each.row for each in pending if each.needs - arrived == {element})
        arrived.add(element)
        if new:
            shown.append(new)
    return shown


def test_outputs_are_realisable_if_some_permutation_gives_them():
    rng = Random(0)
    found: Counter[bool] = Counter()
    for _ in range(600):
        size = rng.randint(2, 4)
        pending = [
            PendingDerivation(line(rng.choice("ab")), frozenset(rng.sample(range(size), k=count)))
            for count in rng.choices([1, 1, 2, 2, 3], k=rng.randint(1, 4))
            if count <= size
        ]
        possible = [outputs_in_order(order, pending) for order in permutations(range(size))]
        given = list(rng.choice(possible))
        if rng.random() < 0.8:
            rng.shuffle(given)
        if len(given) > 1 and rng.random() < 0.5:
            given[:2] = [given[0] + given[1]]
        expected = given in possible
        assert are_realisable(given, pending) is expected, (given, pending)
        found[expected] += 1
    assert min(found[True], found[False]) > 60, found


def test_orders_beyond_the_bound_are_out_of_reach(monkeypatch):
    """Of three elements that each show the same row any may be first: with more ways than the bound
    there is no answer.
    """
    pending = [PendingDerivation(line("a"), frozenset({i})) for i in range(3)]
    outputs = [bag("a")] * 2 + [bag("b")]
    for bound, reason in (
        (2, "too many derivations of the rows of one output"),
        (4, "too many ways for simultaneous elements to complete an answer"),
        (7, None),
    ):
        monkeypatch.setattr(realisation, "WAYS_BOUND", bound)
        if reason is None:
            assert not are_realisable(outputs, pending)
        else:
            with pytest.raises(Unsupported) as refused:
                are_realisable(outputs, pending)
            assert (refused.value.reason, refused.value.rule) == (reason, "ORA-7")


def test_rows_with_one_derivation_each_are_one_way_together(monkeypatch):
    """However many rows there are: each choice is 1."""
    monkeypatch.setattr(realisation, "WAYS_BOUND", 1)
    pending = [PendingDerivation(line(name), frozenset({0, 1})) for name in "abc"]
    output = Counter(each.row for each in pending)
    by_row = {each.row: [number] for number, each in enumerate(pending)}
    found = list(realisation._completions(output, by_row, pending, frozenset()))
    assert found == [frozenset({0, 1})]


def test_the_ways_to_derive_the_rows_of_an_output_are_multiplied(monkeypatch):
    """a and b can each be derived from one of three elements, which makes 9 ways."""
    pending = [
        PendingDerivation(line(name), frozenset({3 * place + i}))
        for place, name in enumerate("ab")
        for i in range(3)
    ]
    by_row = {line("a"): [0, 1, 2], line("b"): [3, 4, 5]}
    for bound in (9, 8):
        monkeypatch.setattr(realisation, "WAYS_BOUND", bound)
        ways = realisation._completions(bag("ab"), by_row, pending, frozenset())
        if bound == 9:
            assert len(list(ways)) == 9
        else:
            with pytest.raises(Unsupported, match="too many derivations of the rows of one output"):
                list(ways)


def test_rows_that_were_in_missing_outputs():
    """a and b are dealt to the outputs that are missing, none of which is empty."""
    x = bag("x")

    def dealt(left: str, early: int, late: int) -> list[list[str]]:
        found = realisation._with_missing_outputs([x], bag(left), early, late)
        return [
            ["".join(sorted(each[0][1][5] for each in part.elements())) for part in outputs]
            for outputs in found
        ]

    assert dealt("", 0, 0) == [["x"]] and dealt("a", 0, 0) == [] and dealt("", 1, 0) == []
    assert dealt("ab", 1, 0) == [["ab", "x"]] and dealt("ab", 0, 1) == [["x", "ab"]]
    assert sorted(dealt("ab", 1, 1)) == [["a", "x", "b"], ["b", "x", "a"]]
    assert sorted(dealt("ab", 2, 0)) == [["a", "b", "x"], ["b", "a", "x"]]
    assert sorted(dealt("aa", 0, 2)) == [["x", "a", "a"]] * 2
    assert dealt("aa", 1, 0) == [["aa", "x"]]
    assert dealt("a", 1, 1) == []
    assert sorted(dealt("aab", 1, 1))[:2] == [["a", "x", "ab"], ["a", "x", "ab"]]


def test_too_many_ways_to_deal_rows():
    """2 ** 15 ways are looked at, 2 ** 16 are not; to one output there is one way."""
    for count, parts, refused in ((15, 2, False), (16, 2, True), (99, 1, False)):
        rows = Counter({line("a"): count})
        ways = realisation._with_missing_outputs([], rows, parts, 0)
        if refused:
            with pytest.raises(Unsupported) as error:
                next(ways)
            reason = "too many ways to deal 16 missing rows to 2 outputs at one instant"
            assert str(error.value) == f"ORA-7: {reason}"
        else:
            assert next(ways)


# Groups of evaluations


def described(group: groups.EvaluationGroup) -> tuple:
    return (
        group.last_evaluation.t,
        group.visits,
        group.kept_elements,
        group.arriving_elements,
        group.whole,
        group.content,
    )


def test_the_groups_of_a_schedule():
    """a alone is seen at 1; then b and c, which come at 3, one after the other; then d. At 10 their
    window is over.
    """
    streams = unordered(("a", 1), ("b", 3), ("c", 3), ("d", 5), ("e", 12))
    search = searched(streams, horizon="none")
    found = [described(group) for group in group_evaluations(search)]
    none = range(0)
    assert found == [
        (1, 1, range(0, 1), none, none, range(0, 1)),
        (3, 2, range(0, 1), range(1, 3), range(0, 3), range(0, 3)),
        (5, 1, range(0, 4), none, none, range(0, 4)),
        (10, 1, none, none, none, none),
    ]
    borders, closure = search.window_of(list(group_evaluations(search))[1])
    assert (borders, closure) == ((0, 10), Closure.RIGHT_OPEN)


def test_what_append_compares_with_after_an_instant_of_which_one_element_was_seen():
    """Of the elements 0 and 1 of an instant, either may be the one that was seen. That matters
    only while one of them is there.
    """

    def group(content: range, kept: range, arriving: range) -> groups.EvaluationGroup:
        evaluation = Evaluation(3, arriving.stop, (WindowContent(0, content),))
        return groups.EvaluationGroup(evaluation, 1, kept, arriving)

    previous = group(range(1), range(0), range(2))
    assert search._common(previous, group(range(2, 3), range(0), range(2, 3))) == range(0)
    with pytest.raises(Unsupported, match="an answer over only some of an instant's elements"):
        search._common(previous, group(range(1), range(1), range(2, 3)))


def test_what_an_evaluation_group_answers():
    streams = unordered(("a", 1), ("b", 3), ("c", 3), ("d", 5))
    for collection in ("bag", "set"):
        search = searched(streams, collection=collection)
        assert search.answer(range(0, 2)) == bag("ab")
        assert search.answer(range(1, 1)) == search.answer(range(3, 2)) == bag("")
        assert search.answer(range(0, 1), [2, 3]) == bag("acd")
        assert search.answer(range(0), [1]) == bag("b")


def test_a_body_that_asks_for_times_sees_the_latest_of_each_triple():
    """R2R-21: the triple of a comes at 1 and again at 3."""
    streams = unordered(("a", 1), ("b", 2), ("a", 3))
    times = "(<http://larkc.eu/csparql/sparql/jena/ext#timestamp>(?x, <urn:p>, ?y) AS ?t)"
    triples = {(f"<urn:{name}>", "<urn:p>", "<urn:o>") for name in "ab"}
    a, b = sorted(triples)
    for text, more in (
        ("SELECT ?x { ?x <urn:p> ?y }", set()),
        (
            f"SELECT ?x {times} {{ ?x <urn:p> ?y }}",
            {(*a, literal("3", XSD + "integer")), (*b, literal("2", XSD + "integer"))},
        ),
    ):
        search = searched(streams, Query(QUERY.windows, Body(text)))
        assert search.graph(search.elements) == triples | more


def test_a_recorded_row_counts_for_the_row_of_the_sum_that_equals_it():
    """By value 1 and 01 are one row, and as terms two."""
    one, other, two = (row({"x": literal(text, XSD + "integer")}) for text in ("1", "01", "2"))
    output, total = Counter({one: 1, other: 2}), Counter({one: 3})
    assert realisation._as_rows(output, total, Mode.VALUE) == {one: 3}
    assert realisation._as_rows(output, total, Mode.TERM) is None
    assert realisation._as_rows(Counter([two]), total, Mode.VALUE) is None


@pytest.mark.parametrize(("mode", "is_fixed"), [(Mode.VALUE, True), (Mode.TERM, False)])
def test_a_sum_is_fixed_where_the_derivations_add_up_to_it(monkeypatch, mode, is_fixed):
    """ORA-5: here the one row is derived as 01, and the answer has 1."""
    one, other = (row({"x": literal(text, XSD + "integer")}) for text in ("1", "01"))
    streams = unordered(("a", 3), ("b", 3))
    found = searched(streams)
    recording = RecordingToJudge.of(found.recorded.question, [], mode=mode)
    found = OrderSearch(recording, found.planned, found.answers)
    (group, *_) = group_evaluations(found)
    pending = [PendingDerivation(other, frozenset({0}))]
    answers = {range(0): Counter(), range(2): Counter([one])}
    monkeypatch.setattr(OrderSearch, "answer", lambda self, kept: answers[kept])
    total = sum_instant_outputs(found, group, pending, Counter())
    assert total == (Counter([other]) if is_fixed else None)


def test_the_derivations_that_an_instant_completes():
    """?x ?z rests on two elements: one that is kept, and one of the two that come at 3."""
    items = [
        (("<urn:a>", "<urn:p>", "<urn:k>"), 1),
        (("<urn:b>", "<urn:p>", "<urn:k>"), 3),
        (("<urn:k>", "<urn:q>", "<urn:z>"), 3),
        (("<urn:c>", "<urn:p>", "<urn:k>"), 5),
    ]
    streams = {"s": Stream(stream(items).elements, ordered=False)}
    body = "SELECT ?x { ?x <urn:p> ?y . ?y <urn:q> ?z }"
    expected = [(line("a"), {2}), (line("b"), {1, 2})]
    for text in (body, body.replace("}", "FILTER(STR(?x) != 'x') }")):  # the latter by triples
        search = searched(streams, Query(QUERY.windows, Body(text)))
        group = next(each for each in group_evaluations(search) if each.arriving_elements)
        found = search.derivations(group)
        assert sorted(found) == expected
        assert find_fixed_sum(search, group, bag("")) == bag("ab")
        # a row that goes with the instant's first arrival may come back: its sum is not fixed
        assert find_fixed_sum(search, group, bag("b")) is None
        assert find_fixed_sum(search, group, bag("c")) == bag("ab")
    for more, fields in (
        ("DISTINCT", {}),
        ("", {"r2s": "Rstream", "base": None}),
        ("", {"empty": "emit"}),
    ):
        search = searched(
            streams, Query(QUERY.windows, Body(body.replace("SELECT", f"SELECT {more}"))), **fields
        )
        assert find_fixed_sum(search, group, bag("")) is None


def test_classes_are_of_elements_in_the_same_derivations():
    pending = [
        PendingDerivation(line("a"), frozenset({3, 4})),
        PendingDerivation(line("b"), frozenset({3, 4, 6})),
        PendingDerivation(line("c"), frozenset({7})),
    ]
    group = groups.EvaluationGroup(None, 2, range(0, 3), range(3, 9))
    assert search._classes(group, pending) == [(3, 4), (6,), (7,)]
    assert search._classes(group, None) == [(i,) for i in range(3, 9)]


def test_the_ways_through_an_instant():
    """Of one class with two elements and one with one: the first of the two is a filler."""
    group = groups.EvaluationGroup(None, 3, range(0), range(0, 3))
    prefixes = search._Prefixes(searched(unordered(("a", 1))), group, [(0, 2), (1,)])
    none, first, second, both = (frozenset(each) for each in ((), (0,), (1,), (0, 1)))

    def after(*arguments) -> set:
        return set(prefixes.after(*arguments))

    assert after(none, 1, 1) == {none, second}  # the filler comes, or the class of one
    assert after(none, 2, 1) == {first, second}
    assert after(second, 2, 1) == {second}
    assert after(second, 3, 1) == after(first, 3, 1) == {both}
    assert after(none, 1, 0) == {first, second}  # one filler at most is worth a place, or none
    assert prefixes.visited == 9


def test_too_many_orders_of_one_instant(monkeypatch):
    monkeypatch.setattr(search, "ORDER_BOUND", 5)
    with pytest.raises(Unsupported) as refused:
        judged(
            relations("a", "ab", "abc", "abcd"),
            unordered(*[(name, 3) for name in "abcd"]),
            **RSTREAM,
        )
    reason = "the order of 4 simultaneous elements at 3 is out of reach"
    assert str(refused.value) == f"ORA-7: {reason}"


# Where every order parts from a recording (ORA-9)


def judged(recorded, streams, missing=NONE, query=QUERY, **fields) -> Judgement:
    return judge(query, streams, CQELS.but(**fields), recorded, missing=missing)


TWO = unordered(("a", 3), ("b", 3))
LATER = unordered(("a", 3), ("b", 3), ("c", 13), ("d", 13))
FIRST_ALONE = unordered(("a", 1), ("b", 3), ("c", 3))
RSTREAM = {"r2s": "Rstream", "base": None}
NO_ORDER = "no order of the simultaneous elements gives this"
AN_INSTANT = "the answers of this instant differ"
NOTHING_MORE = "the semantics reports nothing more"


@pytest.mark.parametrize(
    ("streams", "texts", "fields", "expected"),
    [
        # the rows of the instant 3, summed: b is lacking and x too many
        (TWO, "a x", {}, (0, 3, (0, 10), "ab", "ab", "ax", AN_INSTANT, (2, 2))),
        (TWO, "a", {}, (0, 3, (0, 10), "ab", "ab", "a", AN_INSTANT, (1, 1))),
        (TWO, "", {}, (0, 3, (0, 10), "ab", "ab", "", AN_INSTANT, (2, 2))),
        (LATER, "a b c x", {}, (2, 13, (10, 20), "cd", "cd", "cx", AN_INSTANT, (2, 2))),
        (LATER, "a bx c d", {}, (0, 3, (0, 10), "ab", "ab", "abx", AN_INSTANT, (1, 1))),
        # one instant with two wrong rows, and not two with one each
        (LATER, "a x y c d", {}, (0, 3, (0, 10), "ab", "ab", "axy", AN_INSTANT, (3, 3))),
        # an instant of one element has a sum, too
        (FIRST_ALONE, "a b x", {}, (1, 3, (0, 10), "abc", "bc", "bx", AN_INSTANT, (2, 2))),
        (FIRST_ALONE, "x b c", {}, (0, 1, (0, 10), "a", "a", "x", AN_INSTANT, (2, 2))),
        # the sums are right: it is their parts that no order gives
        (TWO, "ab", {}, (1, 3, (0, 10), "ab", "ab", None, NO_ORDER, (0, 0))),
        # what has no fixed sum: the answers are {a} or {b}, and then {a, b}
        (TWO, "a ax", RSTREAM, (1, 3, (0, 10), "ab", "ab", "ax", NO_ORDER, (1, 0))),
        (TWO, "x ab y", RSTREAM, (0, 3, (0, 10), "ab", "ab", "x", NO_ORDER, (3, 0))),
        (TWO, "a", RSTREAM, (1, 3, (0, 10), "ab", "ab", None, NO_ORDER, (0, 0))),
        (TWO, "", RSTREAM, (0, 3, (0, 10), "ab", "ab", None, NO_ORDER, (0, 0))),
        (TWO, "a ab x", RSTREAM, (2, None, None, "", None, "x", NOTHING_MORE, (1, 0))),
        (FIRST_ALONE, "x", RSTREAM, (0, 1, (0, 10), "a", "a", "x", "the answer differs", (1, 0))),
    ],
)
def test_where_every_order_parts_from_a_recording(streams, texts, fields, expected):
    index, at, window, content, rows, actual, reason, cost = expected
    found = judged(relations(*texts.split()), streams, horizon=60, **fields)
    assert not found.passed and not found.trial.is_order_known
    divergence = found.trial.divergence
    assert divergence == Divergence(
        index,
        at,
        window,
        divergence.content,
        None if rows is None else bag(rows),
        None if actual is None else bag(actual),
        reason,
        cost=Distance(*cost),
    )
    names = [subject[5] for each in divergence.content for subject, _, _ in each.graph]
    assert sorted(names) == list(content)
    assert found.trial.computed_by == "a search over arrival orders"


@pytest.mark.parametrize("fields", [{}, RSTREAM])
def test_where_no_order_gives_the_first_relation_none_is_matched(fields):
    assert judged(relations("x"), TWO, **fields).trial.most_matched == 0


@pytest.mark.parametrize("fields", [{}, RSTREAM])
def test_of_a_recording_without_relations_no_output_may_be_missing(fields):
    """ORA-3: both bounds are 0 for it, whatever `missing` is."""
    strict, lenient = (judged([], TWO, missing, **fields) for missing in (NONE, Missing(2, 2)))
    assert not lenient.passed
    assert lenient.trial.divergence == strict.trial.divergence


def test_relations_are_dealt_to_instants():
    """The fewest rows differ, then the fewest instants; what is missing at an end costs nothing."""
    found = searched(LATER, horizon=60)
    sums = instants.sum_each_instant(found)
    assert [(each.group.last_evaluation.t, each.rows) for each in sums] == [
        (3, bag("ab")),
        (13, bag("cd")),
    ]

    def dealt(*texts: str, missing: Missing = NONE) -> tuple:
        recorded = RecordingToJudge.of(Question(QUERY, LATER), relations(*texts), missing=missing)
        shares, cost = instants._deal_relations(recorded, sums)
        return [(share.first, share.stop, share.cost) for share in shares], cost

    assert dealt("a", "b", "c", "d") == ([(0, 2, 0), (2, 4, 0)], 0)
    assert dealt("a", "cd") == ([(0, 1, 1), (1, 2, 0)], 1)
    assert dealt("b", "c", missing=Missing(1, 1)) == ([(0, 1, 0), (1, 2, 0)], 0)
    assert dealt("b", "c", missing=Missing(1, 0)) == ([(0, 1, 0), (1, 2, 1)], 1)
    assert dealt("b", "c", missing=Missing(0, 1)) == ([(0, 1, 1), (1, 2, 0)], 1)
    assert dealt("ab", "cd", "x") == ([(0, 1, 0), (1, 3, 1)], 1)
    assert dealt("ab", "cd", "vwxyz", "uvwxyz")[1] == 5 + 7
    assert dealt() == ([(0, 0, 2), (0, 0, 2)], 4)
    assert dealt("a", "x") in (([(0, 1, 1), (1, 2, 3)], 4), ([(0, 2, 2), (2, 2, 2)], 4))


def test_relations_are_dealt_as_cheaply_as_can_be():
    """Beside every way to cut a recording in two, or in three: what is left costs one more each."""
    rng = Random(0)
    sums = [InstantSum(None, bag(text)) for text in ("ab", "cd")]
    for _ in range(60):
        texts = ["".join(rng.choices("abcdx", k=rng.randint(0, 2))) for _ in range(4)]
        missing = Missing(rng.randint(0, 1), rng.randint(0, 1))
        recorded = RecordingToJudge.of(Question(QUERY, LATER), relations(*texts), missing=missing)
        costs = []
        for first, second in product(range(5), repeat=2):
            if first <= second:
                parts = [texts[:first], texts[first:second]]
                cost = sum(1 + len(text) for text in texts[second:])
                for number, (part, each) in enumerate(zip(parts, sums, strict=True)):
                    actual = bag("".join(part))
                    cost += (actual - each.rows).total()
                    is_begin = number == 0 and missing.before
                    is_end = number == 1 and second == 4 and missing.after
                    if not is_begin and not is_end:
                        cost += (each.rows - actual).total()
                costs.append(cost)
        assert instants._deal_relations(recorded, sums)[1] == min(costs)


def test_too_many_ways_to_deal_relations(monkeypatch):
    monkeypatch.setattr(instants, "STATES_BOUND", 2)
    found = judged(relations("a", "b", "c", "x"), LATER)
    assert found.trial.divergence.reason == NO_ORDER
