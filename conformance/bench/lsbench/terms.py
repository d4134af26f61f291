"""The terms of the data, as N-Triples write them, and the vocabularies."""

from __future__ import annotations

from datetime import UTC, datetime

from conformance.bench.lsbench.network import FIRST_USER

SIB = "http://www.ins.cwi.nl/sib/"
VOCABULARY = SIB + "vocabulary/"
SIOC = "http://rdfs.org/sioc/ns#"
FOAF = "http://xmlns.com/foaf/0.1/"
DC = "http://purl.org/dc/terms/"
GEO = "http://www.w3.org/2003/01/geo/wgs84_pos#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"

TYPE = f"<{RDF}type>"
CREATOR_OF = f"<{SIOC}creator_of>"
CONTAINER_OF = f"<{SIOC}container_of>"
SUBSCRIBER_OF = f"<{SIOC}subscriber_of>"
ACCOUNT_OF = f"<{SIOC}account_of>"
MODERATOR_OF = f"<{SIOC}moderator_of>"
REPLY_OF = f"<{SIOC}reply_of>"
CONTENT = f"<{SIOC}content>"
ADDRESS = f"<{SIOC}ip_address>"
TITLE = f"<{DC}title>"
CREATED = f"<{DC}created>"
KNOWS = f"<{FOAF}knows>"
HASHTAG = f"<{VOCABULARY}hashtag>"
USERTAG = f"<{VOCABULARY}usertag>"
LIKE = f"<{VOCABULARY}like>"
BROWSER = f"<{VOCABULARY}browser>"
INTEREST = f"<{VOCABULARY}interest>"
TRACKED_USER = f"<{VOCABULARY}trackedUser>"
TRACKED_TIME = f"<{VOCABULARY}trackedTime>"
HOME_LATITUDE = f"<{VOCABULARY}homeLatitude>"
HOME_LONGITUDE = f"<{VOCABULARY}homeLongitude>"
LATITUDE = f"<{GEO}lat>"
LONGITUDE = f"<{GEO}long>"
POST, COMMENT, PHOTO = (f"<{VOCABULARY}{name}>" for name in ("Post", "Comment", "Photo"))


def user_term(user: int) -> str:
    """Return the account of a user, who is numbered from 0 in a network: u980 for 0."""
    return f"<{SIB}user/u{FIRST_USER + user}>"


def person_term(user: int) -> str:
    """Return the person who has a user's account."""
    return f"<{SIB}person/p{FIRST_USER + user}>"


def channel_term(user: int) -> str:
    """Return the channel in which a user publishes posts."""
    return f"<{SIB}channel/ch{FIRST_USER + user}>"


def tag_term(tag: int) -> str:
    """Return a tag."""
    return f"<{SIB}tag/t{tag}>"


def item_term(kind: str, user: int, day: int, number: int) -> str:
    """Return what a user published on a day, such as `photo`: its number counts from 0 there."""
    return f"<{SIB}{kind}/{kind}{FIRST_USER + user}-{day}-{number}>"


def quote(text: str) -> str:
    """Return a literal whose text has nothing to escape."""
    return f'"{text}"'


def typed_literal(text: str, name: str) -> str:
    """Return a literal of a datatype of XML Schema."""
    return f'"{text}"^^<{XSD}{name}>'


def degrees_term(value: int) -> str:
    """Return ten-thousandths of a degree as an xsd:decimal: 525001 as 52.5001."""
    sign = "-" * (value < 0)
    whole, rest = divmod(abs(value), 10_000)
    return typed_literal(f"{sign}{whole}.{rest:04}", "decimal")


def instant_term(instant: int) -> str:
    """Return an instant, in ms since 1970, as an xsd:dateTime."""
    seconds, rest = divmod(instant, 1000)
    moment = datetime.fromtimestamp(seconds, UTC)
    return typed_literal(f"{moment:%Y-%m-%dT%H:%M:%S}.{rest:03}Z", "dateTime")
