"""A social network in the shape of LSBench's, so small that a few hundred elements have answers to
the published texts: LSBench's own (`conformance.bench.lsbench`) has at least fifty users.

Users stand in a circle, and their friends near them. Who likes something is a friend of its author,
and an author publishes in a channel that friends subscribe to. So an event has about as many
answers however many users there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from refengine import literal
from refengine.model.elements import Dataset, Quad, Term, Triple
from tools.bench.generated import Arrival, decimal

SEED = 53
TRIPLES_OF_A_USER = 24
DRAWN_FRIENDS = 6  # that a user chooses; friendship is mutual
REACH = 30  # how far away on the circle a friend may be
TAGS = 20_000
RECENT = 2000  # how many posts or photos back a like may be

SIB = "http://www.ins.cwi.nl/sib/vocabulary/"
SIOC = "http://rdfs.org/sioc/ns#"
FOAF = "http://xmlns.com/foaf/0.1/"
DATA = "http://example.org/social/"
KNOWS = f"<{FOAF}knows>"

POSTS, POST_LIKES, PHOTOS, PHOTO_LIKES, PLACES = "post", "post_like", "photo", "photo_like", "gps"


def user(number: int) -> Term:
    """Return a user's account."""
    return f"<{DATA}user{number}>"


def channel(number: int) -> Term:
    """Return the channel in which a user publishes."""
    return f"<{DATA}channel{number}>"


class SmallNetwork:
    """A network that `static` triples describe: each user's friends, by their numbers."""

    def __init__(self, static: int) -> None:
        self.static = static
        self.users = max(2, static // TRIPLES_OF_A_USER)
        random = Random(SEED)
        friends: list[set[int]] = [set() for _ in range(self.users)]
        for number in range(self.users):
            for _ in range(DRAWN_FRIENDS):
                friend = (number + random.randint(1, REACH)) % self.users
                friends[number].add(friend)
                friends[friend].add(number)
        self.friends = [sorted(each) for each in friends]

    def static_data(self) -> Dataset:
        """Return the accounts, names, friendships and subscriptions, filled up with interests."""
        statements: set[Triple | Quad] = set()
        for number, friends in enumerate(self.friends):
            person = f"<{DATA}person{number}>"
            statements.add((user(number), f"<{SIOC}account_of>", person))
            statements.add((person, f"<{FOAF}name>", literal(f"name {number % 300}")))
            statements.add((person, f"<{FOAF}based_near>", f"<{DATA}city{number % 97}>"))
            statements.update((user(number), KNOWS, user(friend)) for friend in friends)
            statements.update(
                (user(number), f"<{SIOC}subscriber_of>", channel(friend)) for friend in friends[:3]
            )
        number = 0
        while len(statements) < self.static:
            interest = f"<{DATA}topic{number // self.users}>"
            statements.add((user(number % self.users), f"<{SIB}interest>", interest))
            number += 1
        return frozenset(statements)

    def events(self) -> Iterator[Sequence[Arrival]]:
        """Yield what happens, without end: posts, photos, likes of recent ones, and places."""
        random = Random(SEED + 1)
        posts: list[tuple[int, Term]] = []
        photos: list[tuple[int, Term]] = []
        while True:
            author = random.randrange(self.users)
            drawn = random.random()
            if drawn < 0.15 or not posts:
                posts.append((author, f"<{DATA}post{len(posts)}>"))
                yield self.post(random, *posts[-1])
            elif drawn < 0.30 or not photos:
                photos.append((author, f"<{DATA}photo{len(photos)}>"))
                yield self.photo(random, *photos[-1])
            elif drawn < 0.60:
                yield self.like(random, POST_LIKES, posts)
            elif drawn < 0.90:
                yield self.like(random, PHOTO_LIKES, photos)
            else:
                yield self.place(random, author)

    def post(self, random: Random, author: int, post: Term) -> Sequence[Arrival]:
        """Return the triples of a post."""
        tag = int(random.random() ** 2 * TAGS)  # some are frequent
        triples: Sequence[Triple] = (
            (user(author), f"<{SIOC}creator_of>", post),
            (channel(author), f"<{SIOC}container_of>", post),
            (post, f"<{SIB}hashtag>", f"<{DATA}tag{tag}>"),
            (post, f"<{SIOC}content>", literal(f"words {random.randrange(10**6)}")),
        )
        return [(POSTS, triple) for triple in triples]

    def photo(self, random: Random, author: int, photo: Term) -> Sequence[Arrival]:
        """Return the triples of a photo, in which two friends are tagged."""
        triples: Sequence[Triple] = (
            (user(author), f"<{SIOC}creator_of>", photo),
            (photo, f"<{SIB}usertag>", user(random.choice(self.friends[author]))),
            (photo, f"<{SIB}usertag>", user(random.choice(self.friends[author]))),
        )
        return [(PHOTOS, triple) for triple in triples]

    def like(
        self, random: Random, stream: str, published: Sequence[tuple[int, Term]]
    ) -> Sequence[Arrival]:
        """Return the triple by which a friend of its author likes something recent."""
        back = int(random.random() ** 3 * min(len(published), RECENT))
        author, thing = published[-1 - back]
        friend = random.choice(self.friends[author])
        return [(stream, (user(friend), f"<{SIB}like>", thing))]

    def place(self, random: Random, who: int) -> Sequence[Arrival]:
        """Return the triples of where a user is, in millionths of a degree of a town."""
        fix = f"<{DATA}fix{random.randrange(10**9)}>"
        triples: Sequence[Triple] = (
            (fix, f"<{SIB}trackedUser>", user(who)),
            (fix, f"<{SIB}latitude>", decimal(52_000_000 + random.randrange(100_000), 6)),
            (fix, f"<{SIB}longitude>", decimal(4_000_000 + random.randrange(100_000), 6)),
        )
        return [(PLACES, triple) for triple in triples]
