"""What the users do: the five streams of the benchmark, each in the order of time.

`posts` has posts and comments, `post_likes` and `photo_likes` who likes them, `photos` photos in
which friends are tagged, and `gps` where users are who attend an event. What is drawn for a user's
day depends on the seed, the user and the day alone. So each stream, and each span of its time,
can be made by itself (`events`), and the spans together are the stream.

Published are the form of the distributions and the figures of GPS: 50 events of 20 to 119
attendees, each with a position every 60 s for 2 to 4 hours, within 0.01° of the place; they are
read as those of 1,000 users in 10 days, and are in proportion to both. How much is published and
liked is decided here, near the sizes of the public generator's streams.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import starmap, takewhile
from operator import itemgetter
from random import Random
from typing import Any, NamedTuple

from conformance.bench.lsbench import terms
from conformance.bench.lsbench.draws import (
    draw_below,
    draw_count,
    draw_power_law,
    draws_for,
)
from conformance.bench.lsbench.network import (
    MOST_FRIENDS,
    PLACES,
    SEED,
    Network,
    check_users,
    make_network,
)

SECOND = 1000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
START = 1_325_376_000_000  # the beginning of 2012 in UTC, when all streams begin

# the most that somebody with MOST_FRIENDS friends publishes a day; others in proportion
MOST_POSTS, MOST_PHOTOS = 1.75, 7.3
COMMENT_SHARE, LIKE_SHARE = 0.006, 0.2  # of the friends of who published something
SOONEST = MINUTE  # after which something is commented on or liked; a day is the latest
MOST_HASHTAGS, MOST_USERTAGS = 3, 4

# 50 events of 1,000 users in 10 days
USERS_OF_AN_EVENT = 200
LEAST_ATTENDEES, MOST_ATTENDEES = 20, 119
LEAST_FIXES, MOST_FIXES = 120, 240  # of each attendee of an event, one a minute
JITTER = 100  # 0.01° in ten-thousandths

STREAMS = ("posts", "post_likes", "photos", "photo_likes", "gps")
POSTS_DRAWS, POST_LIKES_DRAWS, PHOTOS_DRAWS, PHOTO_LIKES_DRAWS, GPS_DRAWS = range(11, 16)

Triple = tuple[str, str, str]


class Event(NamedTuple):
    """What happens at an instant (ms since 1970): its triples. `key` orders the events of an
    instant.
    """

    time: int
    key: tuple[int, ...]
    triples: Sequence[Triple]


@dataclass(frozen=True)
class Parameters:
    """The parameters of the data. Raises ValueError for what no network has."""

    users: int = 1000
    days: int = 10
    seed: int = SEED

    def __post_init__(self) -> None:
        if self.days < 1:
            raise ValueError(f"days must be > 0, got {self.days}")
        check_users(self.users)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what is pickled: not the network, which is made again."""
        return Parameters, (self.users, self.days, self.seed)

    @cached_property
    def network(self) -> Network:
        """The network, which is made once."""
        return make_network(self.users, self.seed)

    @property
    def stop(self) -> int:
        """The instant at which all streams end."""
        return START + self.days * DAY


# What makes the events that a user causes on a day, given the parameters, the user and the day.
Source = Callable[[Parameters, int, int], Iterator[Event]]


class Publication(NamedTuple):
    """A post or a photo: its term, its author, and when it is published."""

    term: str
    author: int
    time: int
    number: int


def events(
    parameters: Parameters, stream: str, start: int | None = None, stop: int | None = None
) -> Iterator[Event]:
    """Yield the events of a stream in the order of time: those with start ≤ time < stop, by default
    all. What happens before `start` − 1 day is not made, and no more than two days are held in
    memory.
    """
    first = max(START, START if start is None else start)
    last = min(parameters.stop, parameters.stop if stop is None else stop)
    if first >= last:
        return iter(())
    days = range(max(0, (first - START) // DAY - 1), (last - START - 1) // DAY + 1)
    if stream == "gps":
        found = _merge_days(parameters, days)
    else:
        found = _sort_days(parameters, SOURCES[stream], days)
    before_last = takewhile(lambda event: event.time < last, found)
    return (event for event in before_last if event.time >= first)


def _sort_days(parameters: Parameters, source: Source, days: range) -> Iterator[Event]:
    """Yield the events that days cause, sorted. A day causes none before it begins and none a day
    after it ends.

    What waits are plain tuples of texts and integers: Python's collector of cyclic garbage goes
    through each of them once, and not again and again as through Events and lists. So an event of
    10,000 users costs no more than one of 1,000.
    """
    waiting: list[tuple[int, tuple[int, ...], tuple[Triple, ...]]] = []
    for day in days:
        for user in range(parameters.users):
            for event in source(parameters, user, day):
                waiting.append((event.time, event.key, tuple(event.triples)))
        waiting.sort()
        ready = bisect_left(waiting, START + (day + 1) * DAY, key=itemgetter(0))
        yield from starmap(Event, waiting[:ready])
        del waiting[:ready]
    yield from starmap(Event, waiting)


def _draw_times(random: Random, day: int, mean: float) -> list[int]:
    """Draw the instants of a day at which something is published, a mean number of them."""
    begin = START + day * DAY
    return sorted(begin + draw_below(random, DAY) for _ in range(draw_count(random, mean)))


def _mean_of_day(network: Network, user: int, most: float, random: Random) -> float:
    """Draw how much a user publishes on a day: uniform, and in proportion to the friends."""
    return random.random() * most * len(network.friends[user]) / MOST_FRIENDS


def _publish(
    parameters: Parameters, stream: int, user: int, day: int
) -> tuple[list[Publication], Random]:
    """Return what a user publishes on a day, and the draws for the rest of it."""
    random = draws_for(parameters.seed, stream, user, day)
    kind, most = "post", MOST_POSTS
    if stream == PHOTOS_DRAWS:
        kind, most = "photo", MOST_PHOTOS
    mean = _mean_of_day(parameters.network, user, most, random)
    times = _draw_times(random, day, mean)
    published = [
        Publication(terms.item_term(kind, user, day, number), user, time, number)
        for number, time in enumerate(times)
    ]
    return published, random


def posts_of_day(parameters: Parameters, user: int, day: int) -> Iterator[Event]:
    """Yield the posts of a user's day, and the comments on them."""
    network = parameters.network
    published, random = _publish(parameters, POSTS_DRAWS, user, day)
    for post in published:
        interests = network.profiles[user].interests
        chosen = 1 + draw_below(random, MOST_HASHTAGS)
        tags = dict.fromkeys(draw_below(random, len(interests)) for _ in range(chosen))
        triples = [
            (terms.user_term(user), terms.CREATOR_OF, post.term),
            (post.term, terms.TYPE, terms.POST),
            (post.term, terms.CREATED, terms.instant_term(post.time)),
            (post.term, terms.CONTENT, _draw_words(random)),
            (terms.channel_term(user), terms.CONTAINER_OF, post.term),
            *((post.term, terms.HASHTAG, terms.tag_term(interests[tag])) for tag in tags),
            *_origin(random, post.term),
        ]
        yield Event(post.time, (user, post.number), triples)
        yield from _comments(network, post, random)


def _comments(network: Network, post: Publication, random: Random) -> Iterator[Event]:
    """Yield the comments on a post, each by a friend of its author."""
    number = 0
    for friend in network.friends[post.author]:
        if random.random() >= COMMENT_SHARE:
            continue
        time = _draw_reaction(post, random)
        comment = f"{post.term[:-1]}-{number}>"
        number += 1
        triples = [
            (terms.user_term(friend), terms.CREATOR_OF, comment),
            (comment, terms.TYPE, terms.COMMENT),
            (comment, terms.CREATED, terms.instant_term(time)),
            (comment, terms.CONTENT, _draw_words(random)),
            (comment, terms.REPLY_OF, post.term),
            *_origin(random, comment),
        ]
        yield Event(time, (post.author, post.number, number), triples)


def photos_of_day(parameters: Parameters, user: int, day: int) -> Iterator[Event]:
    """Yield the photos of a user's day. A photo is taken near a place of the user's city, and has
    different friends tagged.
    """
    network = parameters.network
    friends = network.friends[user]
    published, random = _publish(parameters, PHOTOS_DRAWS, user, day)
    for photo in published:
        latitude, longitude = _draw_position(network, network.profiles[user].city, random)
        chosen = 1 + draw_below(random, MOST_USERTAGS)
        tagged = dict.fromkeys(draw_below(random, len(friends)) for _ in range(chosen))
        triples = [
            (terms.user_term(user), terms.CREATOR_OF, photo.term),
            (photo.term, terms.TYPE, terms.PHOTO),
            (photo.term, terms.CREATED, terms.instant_term(photo.time)),
            (photo.term, terms.LATITUDE, terms.degrees_term(latitude)),
            (photo.term, terms.LONGITUDE, terms.degrees_term(longitude)),
            *((photo.term, terms.USERTAG, terms.user_term(friends[each])) for each in tagged),
            *_origin(random, photo.term),
        ]
        yield Event(photo.time, (user, photo.number), triples)


def _likes_of_day(
    published_by: int, draws: int, parameters: Parameters, user: int, day: int
) -> Iterator[Event]:
    """Yield the likes of what a user published on a day: of posts or photos, by the number of their
    draws. Each friend likes something at most once.
    """
    published, _ = _publish(parameters, published_by, user, day)
    random = draws_for(parameters.seed, draws, user, day)
    for one in published:
        for friend in parameters.network.friends[user]:
            if random.random() < LIKE_SHARE:
                time = _draw_reaction(one, random)
                triple = (terms.user_term(friend), terms.LIKE, one.term)
                yield Event(time, (user, one.number, friend), [triple])


post_likes_of_day = partial(_likes_of_day, POSTS_DRAWS, POST_LIKES_DRAWS)
photo_likes_of_day = partial(_likes_of_day, PHOTOS_DRAWS, PHOTO_LIKES_DRAWS)
SOURCES: dict[str, Source] = {
    "posts": posts_of_day,
    "post_likes": post_likes_of_day,
    "photos": photos_of_day,
    "photo_likes": photo_likes_of_day,
}


def _draw_reaction(publication: Publication, random: Random) -> int:
    """Draw when somebody reacts: after a minute at the soonest and before a day is over, by a power
    law.
    """
    return publication.time + int(draw_power_law(random, SOONEST, DAY))


def _draw_words(random: Random) -> str:
    """Draw some words of a vocabulary of a thousand."""
    words = (f"w{draw_below(random, 1000)}" for _ in range(3 + draw_below(random, 10)))
    return terms.quote(" ".join(words))


def _origin(random: Random, item: str) -> Iterator[Triple]:
    """Yield from where something was sent: the address and the browser."""
    address = ".".join(str(draw_below(random, 256)) for _ in range(3))
    yield item, terms.ADDRESS, terms.quote(f"10.{address}")
    yield item, terms.BROWSER, terms.quote(f"browser {draw_below(random, 5)}")


def _draw_position(network: Network, city: int, random: Random) -> tuple[int, int]:
    """Draw a position near a place of a city: at most 0.01° away from it in either direction."""
    place = city * PLACES + draw_below(random, PLACES)
    return _draw_near(network.places[place], random)


def _draw_near(place: tuple[int, int], random: Random) -> tuple[int, int]:
    """Draw a position near a place."""
    latitude, longitude = place
    return (
        latitude + draw_below(random, 2 * JITTER + 1) - JITTER,
        longitude + draw_below(random, 2 * JITTER + 1) - JITTER,
    )


# GPS


def events_of_day(users: int, day: int) -> int:
    """Return how many events begin on a day: one for each 200 users, on average over the days."""
    return (day + 1) * users // USERS_OF_AN_EVENT - day * users // USERS_OF_AN_EVENT


def _merge_days(parameters: Parameters, days: range) -> Iterator[Event]:
    """Yield the fixes of all events that begin on some days, sorted. Of each event that goes on,
    the next fix is held.
    """
    running: list[tuple[Event, Iterator[Event]]] = []
    for day in days:
        for number in range(events_of_day(parameters.users, day)):
            fixes = fixes_of_event(parameters, day, number)
            heapq.heappush(running, (next(fixes), fixes))
        yield from _run_until(START + (day + 1) * DAY, running)
    yield from _run_until(None, running)


def _run_until(end: int | None, running: list[tuple[Event, Iterator[Event]]]) -> Iterator[Event]:
    """Yield the fixes before an instant (None: all that are left) from a heap of the next fix of
    each event with those that follow.
    """
    while running and (end is None or running[0][0].time < end):
        fix, fixes = running[0]
        yield fix
        following = next(fixes, None)
        if following is None:
            heapq.heappop(running)
        else:
            heapq.heapreplace(running, (following, fixes))


def fixes_of_event(parameters: Parameters, day: int, number: int) -> Iterator[Event]:
    """Yield where the attendees of an event are, minute by minute. Each has an instant of the
    minute at which the position is fixed.
    """
    random = draws_for(parameters.seed, GPS_DRAWS, day, number)
    network = parameters.network
    place = network.places[draw_below(random, len(network.places))]
    begin = START + day * DAY + draw_below(random, DAY)
    attendees = _draw_attendees(parameters.users, random)
    phases = sorted((draw_below(random, MINUTE), user) for user in attendees)
    minutes = LEAST_FIXES + draw_below(random, MOST_FIXES - LEAST_FIXES + 1)
    for minute in range(minutes):
        for phase, user in phases:
            time = begin + minute * MINUTE + phase
            latitude, longitude = _draw_near(place, random)
            fix = f"<{terms.SIB}fix/fix{day}-{number}-{minute}-{user}>"
            triples = [
                (fix, terms.TRACKED_USER, terms.user_term(user)),
                (fix, terms.TRACKED_TIME, terms.instant_term(time)),
                (fix, terms.LATITUDE, terms.degrees_term(latitude)),
                (fix, terms.LONGITUDE, terms.degrees_term(longitude)),
            ]
            yield Event(time, (day, number, minute, user), triples)


def _draw_attendees(users: int, random: Random) -> list[int]:
    """Draw different users who attend an event, all of them at most."""
    most = MOST_ATTENDEES - LEAST_ATTENDEES + 1
    wanted = min(users, LEAST_ATTENDEES + draw_below(random, most))
    attendees: dict[int, None] = {}
    while len(attendees) < wanted:
        attendees[draw_below(random, users)] = None
    return sorted(attendees)
