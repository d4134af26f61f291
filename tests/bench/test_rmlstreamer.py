"""The measures of joins, with numbers derived by hand, and the workloads."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.bench.rmlstreamer import measures
from conformance.bench.rmlstreamer.measures import PairCounts
from conformance.bench.rmlstreamer.page import page, tables_of
from conformance.bench.rmlstreamer.run import run_workload
from conformance.bench.rmlstreamer.workloads import WORKLOADS, Workload
from refengine.joins import find_evictions, find_matches, join_window
from refengine.joins.records import JoinRecord, Side


def records(*texts):
    """Records such as `l1@3`."""
    sides = {"l": Side.LEFT, "r": Side.RIGHT}
    pairs = [text.split("@") for text in texts]
    return [JoinRecord(sides[name[0]], int(at), "k", name) for name, at in pairs]


SLIDING = join_window("sliding", {"duration": 4, "slide": 2})
OVERLAP = records("l1@3", "r2@3", "r1@5")  # the case of ADA-8: (l1, r2) twice, (l1, r1) once


def test_a_pair_in_two_windows_is_counted_once_in_the_intersection():
    expected = measures.count_whole_join(OVERLAP)
    assert expected == {"k": 2}
    [counts] = measures.count_pairs(
        SLIDING, list(find_evictions(SLIDING, OVERLAP)), expected
    ).values()
    assert counts == PairCounts(whole_join=2, matches=3, different_pairs=2)
    # the bags are {(l1, r2): 2, (l1, r1): 1} and {(l1, r2): 1, (l1, r1): 1}
    assert counts.intersection_over_union == Fraction(2, 3) and counts.completeness == 1


def test_what_is_split_between_windows_is_missing():
    tumbling = join_window("tumbling", {"duration": 4, "slide": 4})
    split = records("l1@1", "r1@3", "r2@4")
    counts = measures.count_pairs(
        tumbling, list(find_evictions(tumbling, split)), measures.count_whole_join(split)
    )
    assert counts["k"].intersection_over_union == Fraction(1, 2) == counts["k"].completeness


def test_without_pairs_nothing_is_missing():
    nothing = measures.sum_pairs([])
    assert nothing == PairCounts(0, 0, 0)
    assert nothing.intersection_over_union == nothing.completeness == 1


def test_latencies_of_a_window_that_emits_at_its_close():
    tumbling = join_window("tumbling", {"duration": 10, "slide": 10})
    waits = measures.count_latencies(
        tumbling, find_evictions(tumbling, records("l1@2", "r1@5", "r2@9"))
    )
    # at 10: (l1, r1) waited 5 and 8, (l1, r2) 1 and 8
    assert waits.since_later == {5: 1, 1: 1}
    assert waits.sum_of_waits == {13: 1, 9: 1}


def test_latencies_of_a_window_that_emits_at_once():
    window = join_window("fixed", {"duration": 10})
    waits = measures.count_latencies(window, find_evictions(window, records("l1@2", "r1@5")))
    assert waits.since_later == {0: 1} and waits.sum_of_waits == {3: 1}


def test_the_median_is_the_lower_one():
    assert measures.median_of(Counter({1: 2, 5: 2})) == 1
    assert measures.median_of(Counter({1: 1, 5: 2})) == 5
    assert measures.median_of(Counter()) is None


def test_records_are_held_until_their_window_ends():
    window = join_window("fixed", {"duration": 10})
    points = list(
        measures.count_held_records(find_evictions(window, records("l1@2", "r1@5", "l2@20")))
    )
    assert points == [(2, 1), (5, 2), (12, 0), (20, 1), (30, 0)]
    # 3 ms of 1, 7 of 2, 8 of 0, 10 of 1: 27 in 28 ms
    assert measures.mean_held(points) == Fraction(27, 28)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(Side), st.integers(0, 3)), max_size=12),
    st.integers(1, 7),
    st.none() | st.integers(1, 7),
    st.sampled_from(["arrival", "close"]),
)
def test_measures_are_those_of_the_listed_matches(drawn, duration, slide, emits):
    now, listed = 0, []
    for number, (side, gap) in enumerate(drawn):
        now += gap
        listed.append(JoinRecord(side, now, "k", f"{side}{number}"))
    changes = {"duration": duration, "emits": emits}
    window = join_window("fixed", changes)
    if slide is not None:
        window = join_window("sliding", {**changes, "slide": slide})

    matches = find_matches(window, listed)
    pairs = Counter((match.left.name, match.right.name) for match in matches)
    evictions = list(find_evictions(window, listed))
    counts = measures.sum_pairs(
        measures.count_pairs(window, evictions, measures.count_whole_join(listed)).values()
    )
    assert (counts.matches, counts.different_pairs) == (pairs.total(), len(pairs))
    waits = Counter(match.at - max(match.left.at, match.right.at) for match in matches)
    assert measures.count_latencies(window, evictions).since_later == waits


# The workloads


def test_the_constant_workload_has_400_records_a_second():
    sent = list(WORKLOADS["constant"].records(3, seed=1))
    assert len(sent) == 1200
    assert [one.at for one in sent] == sorted(one.at for one in sent)
    assert Counter(one.side for one in sent) == {Side.LEFT: 600, Side.RIGHT: 600}


def test_a_key_spans_the_second_to_which_it_is_rounded():
    of_key = [one.at for one in WORKLOADS["constant"].records(4, seed=1) if "at 2000" in one.key]
    assert min(of_key) == 1500 and max(of_key) < 2500


def test_a_burst_has_38000_records_within_its_length():
    sent = [one.at for one in WORKLOADS["periodic"].records(11, seed=3)]
    first = [at for at in sent if at < 1000]
    assert len(first) == 38_000 and 165 < max(first) < 180
    assert len([at for at in sent if 1000 <= at < 2000]) == 380
    assert len([at for at in sent if at >= 10_000]) == 38_000


def test_a_workload_is_the_same_for_the_same_seed_alone():
    first, again, other = (list(WORKLOADS["constant"].records(2, seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_at_the_constant_rate_a_fixed_window_loses_nothing_and_a_tumbling_one_a_quarter():
    """Two keys' span of a second begins half a second before it. [0, 2000) splits the keys of even
    seconds into halves, which lose half of their pairs, and no others.
    """
    small = Workload("constant", "small", lanes=2)
    found = {
        figures.window: figures
        for figures in run_workload(small, ["rmlstreamer", "fixed", "tumbling"], 100, 1)
    }
    assert found["rmlstreamer"].intersection_over_union == 1
    assert found["fixed"].intersection_over_union == 1
    assert abs(found["tumbling"].intersection_over_union - 0.749) < 0.02
    assert found["rmlstreamer"].most_of_a_key == 1  # so that nothing could ever adapt


def test_the_tumbling_window_loses_nothing_if_the_data_come_half_a_second_later():
    sent = [one._replace(at=one.at + 500) for one in WORKLOADS["constant"].records(6, 1)]
    window = join_window("tumbling")
    counts = measures.count_pairs(
        window, list(find_evictions(window, sent)), measures.count_whole_join(sent)
    )
    assert measures.sum_pairs(counts.values()).intersection_over_union == 1


def test_figures_are_shown():
    results = list(run_workload(WORKLOADS["constant"], ["algorithm-1", "tumbling"], 4, 1))
    assert [one.window for one in results] == ["algorithm-1", "tumbling"]
    [table] = tables_of(results)
    assert [row[2].text for row in table.rows] == ["", "0.749"]
    html = page(results)
    assert html == page(results) and "<script" not in html
    assert "algorithm-1: from" in html and "polyline" in html
