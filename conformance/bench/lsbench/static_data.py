"""The data that never changes: who the users are, whom they know, and to which channels they
subscribe.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.bench.lsbench import terms
from conformance.bench.lsbench.activity import Parameters, Triple
from conformance.bench.lsbench.draws import draw_below, draws_for
from conformance.bench.lsbench.network import PLACES

STATIC_DRAWS = 4
SUBSCRIBER_SHARE = 0.5  # of a user's friends subscribe to the user's channel


def static_triples(parameters: Parameters) -> Iterator[Triple]:
    """Yield the static triples, user by user: the profile, the account, the friends, the interests,
    the channel, and the subscriptions. A friendship has a triple in each direction.
    """
    for user in range(parameters.users):
        yield from triples_of_user(parameters, user)


def triples_of_user(parameters: Parameters, user: int) -> Iterator[Triple]:
    """Yield the static triples about a user. They can be made without those of other users."""
    network = parameters.network
    city, birth, interests = network.profiles[user]
    random = draws_for(parameters.seed, STATIC_DRAWS, user)
    account, person = terms.user_term(user), terms.person_term(user)
    channel = terms.channel_term(user)
    month, date = 1 + draw_below(random, 12), 1 + draw_below(random, 28)
    first, last = draw_below(random, 300), draw_below(random, 1000)
    latitude, longitude = network.places[city * PLACES]
    yield account, terms.TYPE, f"<{terms.SIOC}UserAccount>"
    yield account, terms.ACCOUNT_OF, person
    yield person, terms.TYPE, f"<{terms.FOAF}Person>"
    yield person, f"<{terms.FOAF}firstName>", terms.quote(f"first {first}")
    yield person, f"<{terms.FOAF}lastName>", terms.quote(f"last {last}")
    yield (
        person,
        f"<{terms.FOAF}birthday>",
        terms.typed_literal(f"{birth}-{month:02}-{date:02}", "date"),
    )
    yield person, f"<{terms.FOAF}gender>", terms.quote(("female", "male")[draw_below(random, 2)])
    yield person, f"<{terms.FOAF}based_near>", f"<{terms.SIB}city/c{city}>"
    yield account, terms.HOME_LATITUDE, terms.degrees_term(latitude)
    yield account, terms.HOME_LONGITUDE, terms.degrees_term(longitude)
    for interest in interests:
        yield account, terms.INTEREST, terms.tag_term(interest)
    yield channel, terms.TYPE, f"<{terms.VOCABULARY}Channel>"
    yield channel, terms.TITLE, terms.quote(f"channel of user {user}")
    yield account, terms.MODERATOR_OF, channel
    for friend in network.friends[user]:
        yield account, terms.KNOWS, terms.user_term(friend)
        if random.random() < SUBSCRIBER_SHARE:
            yield terms.user_term(friend), terms.SUBSCRIBER_OF, channel
