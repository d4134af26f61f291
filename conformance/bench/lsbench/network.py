"""The social network: users with their profiles, and who is a friend of whom.

The published figures (docs/evidence/bench.md): the number of a user's friends follows a power law
with exponent 2, with a mean of 19.2 and at most 35; friendships are made in three passes, which
have 0.3, 0.3 and 0.4 of them; in a pass the users stand in an order, and two of them at a distance
d become friends with probability 0.8 · 0.8^d. The orders are by place, by interest, and at random.
The rest is decided here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random
from typing import NamedTuple

from conformance.bench.lsbench.draws import draw_below, draws_for

SEED = 53223436
FIRST_USER = 980  # users are numbered from here, so that each network has u984, of whom queries ask
LEAST_USERS = 50

# A power law on 12, 13, …, 35 has the mean 19.19.
LEAST_FRIENDS, MOST_FRIENDS, EXPONENT = 12, 35, 2
PASSES = ("place", "interest", "random")
LIMITS = (0.3, 0.6, 1.0)  # of a user's friends, how many there may be after each pass
BASE, DECAY = 0.8, 0.8
REACH = 40  # the greatest distance at which friends are made; the probability there is 0.0001
ROUNDS = 10  # how often the users are gone through in a pass

USERS_OF_A_CITY = 10  # on average
PLACES = 5  # of a city
LEAST_INTERESTS, MOST_INTERESTS = 3, 7
USERS_STREAM = 1  # numbers under which draws are made
FRIENDS_STREAM = 2
PLACES_STREAM = 3


class Profile(NamedTuple):
    """What a user is: the number of the city, the year of birth, and the numbers of the tags that
    are the user's interests, the foremost first.
    """

    city: int
    birth: int
    interests: tuple[int, ...]


class Friendship(NamedTuple):
    """Two friends, the pass in which they became friends, and how far apart they stood in it."""

    first: int
    second: int
    number: int
    distance: int


class Meeting(NamedTuple):
    """Two users who may become friends, at a distance in a pass, and whether they do."""

    first: int
    second: int
    number: int
    distance: int
    is_friendship: bool


@dataclass(frozen=True)
class Network:
    """A network. Users are numbered from 0 here, and from FIRST_USER in IRIs.

    `targets` are the numbers of friends that were drawn for the users, and `friends` are the
    friends that they have, in ascending order. `places` are the places of all cities, as latitude
    and longitude in ten-thousandths of a degree.
    """

    profiles: Sequence[Profile]
    targets: Sequence[int]
    friends: Sequence[Sequence[int]]
    friendships: Sequence[Friendship]
    places: Sequence[tuple[int, int]]
    tags: int


def make_network(users: int, seed: int = SEED) -> Network:
    """Make the network of some users. The time is linear in their number. Raises ValueError for
    fewer than 50, among whom not everybody finds as many friends.
    """
    check_users(users)
    tags = max(100, users)
    cities = users // USERS_OF_A_CITY
    profiles = [
        _make_profile(draws_for(seed, USERS_STREAM, user), cities, tags) for user in range(users)
    ]
    targets = draw_targets(users, seed)
    friendships = [
        Friendship(*meeting[:4])
        for meeting in meet(profiles, targets, draws_for(seed, FRIENDS_STREAM, 1))
        if meeting.is_friendship
    ]
    friends: list[list[int]] = [[] for _ in range(users)]
    for friendship in friendships:
        friends[friendship.first].append(friendship.second)
        friends[friendship.second].append(friendship.first)
    return Network(
        profiles,
        targets,
        [sorted(each) for each in friends],
        friendships,
        _places(seed, cities),
        tags,
    )


def check_users(users: int) -> None:
    """Raise ValueError for a number of users that no network has."""
    if users < LEAST_USERS:
        raise ValueError(f"a network has at least {LEAST_USERS} users, got {users}")


def _make_profile(random: Random, cities: int, tags: int) -> Profile:
    """Draw a profile. Cities, years and interests are uniform."""
    city = draw_below(random, cities)
    birth = 1950 + draw_below(random, 46)
    count = LEAST_INTERESTS + draw_below(random, MOST_INTERESTS - LEAST_INTERESTS + 1)
    interests = dict.fromkeys(draw_below(random, tags) for _ in range(count))
    return Profile(city, birth, tuple(interests))


def _places(seed: int, cities: int) -> list[tuple[int, int]]:
    """Draw the places of all cities: a city between 35° and 60° north and between 10° west and 30°
    east, and its places within half a degree of its middle.
    """
    places = []
    for city in range(cities):
        random = draws_for(seed, PLACES_STREAM, city)
        latitude = 350_000 + draw_below(random, 250_000)
        longitude = -100_000 + draw_below(random, 400_000)
        for _ in range(PLACES):
            north = draw_below(random, 10_000) - 5_000
            east = draw_below(random, 10_000) - 5_000
            places.append((latitude + north, longitude + east))
    return places


def power_law() -> list[float]:
    """Return the probabilities of the numbers of friends, from LEAST_FRIENDS to MOST_FRIENDS."""
    weights = [count**-EXPONENT for count in range(LEAST_FRIENDS, MOST_FRIENDS + 1)]
    return [weight / sum(weights) for weight in weights]


def draw_targets(users: int, seed: int) -> list[int]:
    """Draw how many friends each user is to have."""
    random = draws_for(seed, FRIENDS_STREAM, 0)
    bounds = list(accumulate(power_law()))
    targets = []
    for _ in range(users):
        drawn = random.random()
        above = sum(bound <= drawn for bound in bounds[:-1])
        targets.append(LEAST_FRIENDS + above)
    return targets


def limit_after(target: int, number: int) -> int:
    """Return how many friends a user with this target may have after a pass, to the nearest
    integer. After the passes of a user with 15 friends it is 5 (4.5), 9 and 15.
    """
    return int(target * LIMITS[number] + 0.5)


def meet(profiles: Sequence[Profile], targets: Sequence[int], random: Random) -> Iterator[Meeting]:
    """Yield the meetings of all passes in their order.

    In each pass the users stand in its order, and each of them meets those who come after, the
    nearest first. Only users who have fewer friends than the pass allows meet, and friends do not
    meet again. The order is gone through ROUNDS times; that of the random pass is a new one each
    time. Friendships that a pass could not make are left to the next one.
    """
    users = range(len(profiles))
    orders = (
        sorted(users, key=lambda user: (profiles[user].city, profiles[user].birth, user)),
        sorted(users, key=lambda user: (profiles[user].interests[0], user)),
        list(users),
    )
    friends: list[set[int]] = [set() for _ in users]
    for number, order in enumerate(orders):
        limits = [limit_after(target, number) for target in targets]
        for _ in range(ROUNDS):
            if number == PASSES.index("random"):
                order = _shuffle(order, random)
            yield from _go_through(number, order, limits, friends, random)


def _go_through(
    number: int,
    order: Sequence[int],
    limits: Sequence[int],
    friends: Sequence[set[int]],
    random: Random,
) -> Iterator[Meeting]:
    """Yield the meetings of one pass through an order, and add new friends to `friends`.

    A user who has as many friends as the limit is left out, and distances count the others alone.
    """
    waiting = [user for user in order if len(friends[user]) < limits[user]]
    for position, user in enumerate(waiting):
        for distance in range(1, REACH + 1):
            if len(friends[user]) >= limits[user] or position + distance >= len(waiting):
                break
            other = waiting[position + distance]
            if len(friends[other]) >= limits[other] or other in friends[user]:
                continue
            is_friendship = random.random() < BASE * DECAY**distance
            if is_friendship:
                friends[user].add(other)
                friends[other].add(user)
            yield Meeting(user, other, number, distance, is_friendship)


def _shuffle(order: Sequence[int], random: Random) -> list[int]:
    """Return an order at random: that of numbers that are drawn for its members."""
    return sorted(order, key=lambda _: random.random())
