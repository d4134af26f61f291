"""LSBench's generator: friendships and activity follow the stated distributions, and any part of
the data can be made by itself. Bounds follow from the distributions and the number of draws: a
sound generator breaks one of five standard deviations in one of a million seeds.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from itertools import islice, pairwise
from math import sqrt

import pytest

from conformance.bench.lsbench import activity, network, static_data, terms
from conformance.bench.lsbench.activity import DAY, MINUTE, START, STREAMS, Parameters
from conformance.bench.lsbench.data import lines_of
from conformance.bench.lsbench.draws import draws_for

SIGMAS = 5
USERS = 1000
SEED = network.SEED
LAW = dict(enumerate(network.power_law(), network.LEAST_FRIENDS))


def is_near(count: float, draws: int, share: float) -> bool:
    """Whether a count of hits in independent draws is within SIGMAS of its expectation."""
    return abs(count - draws * share) <= SIGMAS * sqrt(draws * share * (1 - share)) + 1


@pytest.fixture(scope="module")
def made() -> network.Network:
    return network.make_network(USERS)


@pytest.fixture(scope="module")
def meetings(made) -> list[network.Meeting]:
    random = draws_for(SEED, network.FRIENDS_STREAM, 1)
    return list(network.meet(made.profiles, made.targets, random))


# Friendships


def test_the_power_law_has_the_published_mean_and_maximum():
    """Σ k·k⁻² / Σ k⁻² over 12, …, 35 is 19.17."""
    assert round(sum(k * share for k, share in LAW.items()), 1) == 19.2
    assert max(LAW) == 35 and abs(sum(LAW.values()) - 1) < 1e-12
    assert LAW[12] / LAW[24] == pytest.approx(4)  # exponent 2


def chi_square(counts: Counter[int], draws: int) -> float:
    """Return the distance of the counts of draws from the law."""
    return sum((counts[k] - draws * share) ** 2 / (draws * share) for k, share in LAW.items())


def test_targets_follow_the_power_law():
    """With 23 degrees of freedom a distance of 71 is exceeded in one of a million samples."""
    draws = 20_000
    targets = network.draw_targets(draws, SEED)
    assert chi_square(Counter(targets), draws) < 71
    mean = sum(k * share for k, share in LAW.items())
    spread = sqrt(sum((k - mean) ** 2 * share for k, share in LAW.items()))
    assert abs(sum(targets) / draws - mean) <= SIGMAS * spread / sqrt(draws)


def test_the_bound_on_targets_tells_other_exponents_apart():
    for exponent in (1.8, 2.2):
        weights = {k: k**-exponent for k in LAW}
        total = sum(weights.values())
        counts = Counter({k: round(20_000 * weight / total) for k, weight in weights.items()})
        assert chi_square(counts, 20_000) > 71


def test_users_have_the_friends_that_were_drawn_for_them(made):
    """Nobody has more, and fewer than one in a hundred friendships is not made. Friendship is
    mutual, with others, and once.
    """
    degrees = list(map(len, made.friends))
    assert all(degree <= target for degree, target in zip(degrees, made.targets, strict=True))
    assert sum(degrees) >= 0.99 * sum(made.targets)
    for user, friends in enumerate(made.friends):
        assert len({*friends}) == len(friends) and user not in friends
        assert all(user in made.friends[friend] for friend in friends)


def test_the_passes_have_their_shares(made):
    """After a pass a user has at most 0.3, 0.6 and all of the friends, to the nearest integer; of
    these limits the shares of the passes follow, but for the hundredth that is not made in time.
    """
    mean = sum(k * share for k, share in LAW.items())
    after = [sum(network.limit_after(k, n) * s for k, s in LAW.items()) / mean for n in range(3)]
    assert after[:2] == pytest.approx([0.3, 0.6], abs=0.01) and after[2] == 1
    expected = [after[0], after[1] - after[0], after[2] - after[1]]
    passes = Counter(friendship.number for friendship in made.friendships)
    for number, share in enumerate(expected):
        assert abs(passes[number] / passes.total() - share) < 0.01
    reached: Counter[int] = Counter()
    for number in range(3):
        for friendship in made.friendships:
            if friendship.number == number:
                reached.update(friendship[:2])
        limits = (network.limit_after(target, number) for target in made.targets)
        assert all(reached[user] <= limit for user, limit in enumerate(limits))


@pytest.mark.parametrize("number", range(3))
def test_users_at_a_distance_become_friends_with_the_stated_probability(meetings, number):
    """0.8 · 0.8^d of those who meet at a distance of d."""
    met = Counter(one.distance for one in meetings if one.number == number)
    friends = Counter(
        one.distance for one in meetings if one.number == number and one.is_friendship
    )
    assert met[1] > 1000
    for distance, count in met.items():
        assert is_near(friends[distance], count, 0.8 * 0.8**distance), distance


def test_friends_of_the_first_passes_are_alike_and_those_of_the_last_are_not(made):
    """In a city of 10 users, on average, two in a row at a distance d are both in it with a
    probability of about 1 − d/10; a random pair of 100 cities with one of 0.01. A foremost interest
    has one user on average, so neighbours have it as seldom as not.
    """

    def share_of(number: int, is_alike) -> tuple[int, int]:
        pairs = [one[:2] for one in made.friendships if one.number == number]
        return sum(is_alike(*map(made.profiles.__getitem__, pair)) for pair in pairs), len(pairs)

    def share_city(one, other) -> bool:
        return one.city == other.city

    distances = [one.distance for one in made.friendships if one.number == 0]
    expected = sum(max(0.0, 1 - distance / 10) for distance in distances) / len(distances)
    hits, pairs = share_of(0, share_city)
    assert abs(hits / pairs - expected) < 0.1
    hits, pairs = share_of(2, share_city)
    assert hits <= pairs * 0.01 + SIGMAS * sqrt(pairs * 0.01)

    def share_interest(one, other) -> bool:
        return one.interests[0] == other.interests[0]

    by_interest, pairs_by_interest = share_of(1, share_interest)
    at_random, pairs_at_random = share_of(2, share_interest)
    assert by_interest / pairs_by_interest > 20 * max(at_random, 1) / pairs_at_random


def test_a_network_of_too_few_users_is_refused():
    with pytest.raises(ValueError, match="at least 50 users, got 49"):
        Parameters(users=49)


# Activity


def test_posts_are_in_proportion_to_friends(made):
    """A user's day has uniform · 1.75 · friends/35 posts: its mean is half of the most. The count
    of a day has a variance of at most 1/12·most² + 1/4.
    """
    parameters = Parameters(USERS, 4)
    posts = [
        event for event in activity.events(parameters, "posts") if event.triples[1][2] == terms.POST
    ]
    days = USERS * parameters.days
    means = [activity.MOST_POSTS / 2 * len(friends) / 35 for friends in made.friends]
    expected = sum(means) * parameters.days
    assert abs(len(posts) - expected) <= SIGMAS * sqrt(days * (1.75**2 / 12 + 0.25))
    # the half with more friends posts in proportion to the friends
    order = sorted(range(USERS), key=lambda user: (len(made.friends[user]), user))
    upper = {terms.user_term(user) for user in order[USERS // 2 :]}
    count = sum(event.triples[0][0] in upper for event in posts)
    share = sum(sorted(means)[USERS // 2 :]) / sum(means)
    assert is_near(count, len(posts), share)


def test_likes_come_from_friends_by_a_power_law_within_a_day(made):
    """Each friend likes something with 0.2. With an exponent of 2 and at least a minute, the share
    that comes before a time x is (1/a − 1/x) / (1/a − 1/b): a half before two minutes.
    """
    parameters = Parameters(USERS, 4)
    published = {}
    for event in activity.events(parameters, "posts"):
        if event.triples[1][2] == terms.POST:
            published[event.triples[0][2]] = event.time, event.triples[0][0]
    users = {terms.user_term(user): user for user in range(USERS)}
    delays = []
    for event in activity.events(Parameters(USERS, 5), "post_likes"):
        liker, _, post = event.triples[0]
        if post in published:
            time, author = published[post]
            delays.append(event.time - time)
            assert users[liker] in made.friends[users[author]]
    chances = sum(len(made.friends[users[author]]) for _, author in published.values())
    assert is_near(len(delays), chances, 0.2)
    assert min(delays) >= MINUTE and max(delays) < DAY
    for minutes in (2, 10, 60):
        share = (1 - 1 / minutes) / (1 - MINUTE / DAY)
        assert is_near(sum(d < minutes * MINUTE for d in delays), len(delays), share)


def test_photos_are_taken_near_places_of_the_city_and_show_friends(made):
    parameters = Parameters(USERS, 1)
    users = {terms.user_term(user): user for user in range(USERS)}
    tagged = 0
    for event in activity.events(parameters, "photos"):
        owner = users[event.triples[0][0]]
        values = {p: o for _, p, o in event.triples}
        x, y = (
            round(float(values[p].split('"')[1]) * 10_000)
            for p in (terms.LATITUDE, terms.LONGITUDE)
        )
        city = made.profiles[owner].city * network.PLACES
        places = made.places[city : city + network.PLACES]
        assert any(abs(x - u) <= 100 and abs(y - v) <= 100 for u, v in places)
        for _, predicate, friend in event.triples:
            if predicate == terms.USERTAG:
                tagged += 1
                assert users[friend] in made.friends[owner]
    assert tagged > USERS


def test_events_have_20_to_119_attendees_who_are_fixed_every_minute():
    """50 events of 1,000 users in 10 days."""
    parameters = Parameters(USERS, 10)
    numbers = [activity.events_of_day(USERS, day) for day in range(10)]
    assert sum(numbers) == 50
    fixes = list(activity.fixes_of_event(parameters, 0, 0))
    of_users: dict[str, list[int]] = {}
    for event in fixes:
        of_users.setdefault(event.triples[0][2], []).append(event.time)
    assert 20 <= len(of_users) <= 119
    for times in of_users.values():
        assert 120 <= len(times) <= 240
        assert {later - earlier for earlier, later in pairwise(times)} == {MINUTE}
    for axis in (2, 3):
        values = [float(event.triples[axis][2].split('"')[1]) for event in fixes]
        assert max(values) - min(values) <= 0.02 + 1e-9


def test_attendees_are_uniform_from_20_to_119():
    parameters = Parameters(USERS, 1)
    counts = []
    for number in range(300):
        times = activity.fixes_of_event(parameters, 3, number)
        counts.append(len({event.triples[0][2] for event in islice(times, 119)}))
    assert min(counts) < 30 and max(counts) > 109
    assert abs(sum(counts) / 300 - 69.5) <= SIGMAS * sqrt((100**2 - 1) / 12 / 300)


# Parts


@pytest.mark.parametrize("stream", STREAMS)
def test_the_parts_of_a_stream_are_the_stream(stream):
    """Cut at instants with an event, between two, and at the ends of days."""
    parameters = Parameters(200, 3)
    whole = list(activity.events(parameters, stream))
    assert [event.time for event in whole] == sorted(event.time for event in whole)
    times = sorted({event.time for event in whole})
    cuts = [START, times[5], times[len(times) // 2] + 1, START + DAY, START + 2 * DAY + 1]
    borders = [*sorted(cuts), parameters.stop]
    parts = [
        event
        for start, stop in pairwise(borders)
        for event in activity.events(parameters, stream, start, stop)
    ]
    assert parts == whole and len(whole) > 20


def test_a_stream_is_made_while_it_is_read():
    """The first events of a stream of a million days are there at once."""
    for stream in STREAMS:
        assert len(list(islice(activity.events(Parameters(200, 10**6), stream), 10))) == 10
    last = START + (10**6 - 1) * DAY
    assert len(list(islice(activity.events(Parameters(200, 10**6), "gps", last), 10))) == 10


DIGEST_OF_ALL = """
import hashlib
from conformance.bench.lsbench.activity import STREAMS, Parameters
from conformance.bench.lsbench.data import lines_of, static_triples

def digest(seed):
    parameters = Parameters(60, 1, seed)
    found = hashlib.sha256(repr(list(static_triples(parameters))).encode())
    for stream in STREAMS:
        found.update("\\n".join(lines_of(parameters, stream)).encode())
    return found.hexdigest()
"""


def test_the_same_seed_gives_the_same_bytes_and_another_one_others():
    """In a process with another hash seed, too."""
    here = {}
    exec(DIGEST_OF_ALL, here)
    done = subprocess.run(
        [sys.executable, "-c", f"{DIGEST_OF_ALL}\nprint(digest(1))"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "4221"},
        timeout=60,
    )
    assert done.stdout.strip() == here["digest"](1)
    assert list(lines_of(Parameters(60, 1, 1), "posts")) != list(
        lines_of(Parameters(60, 1, 2), "posts")
    )


def test_static_data_have_each_user_with_friends_and_subscribers():
    parameters = Parameters(60, 1)
    triples = list(static_data.static_triples(parameters))
    assert len({*triples}) == len(triples)
    counts = Counter(predicate for _, predicate, _ in triples)
    knows = sum(map(len, parameters.network.friends))
    assert counts[terms.ACCOUNT_OF] == 60 and counts[terms.KNOWS] == knows
    assert is_near(counts[terms.SUBSCRIBER_OF], knows, 0.5)
    assert (terms.user_term(4), terms.ACCOUNT_OF, terms.person_term(4)) in triples
    assert terms.user_term(4) == "<http://www.ins.cwi.nl/sib/user/u984>"


def test_a_line_of_a_stream_is_a_triple_and_its_time():
    line = next(lines_of(Parameters(60, 1), "post_likes"))
    _, predicate, _, time, dot = line.split(" ")
    assert predicate == terms.LIKE and dot == "."
    assert START <= int(time.strip('"')) < START + 2 * DAY
