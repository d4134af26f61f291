"""Terms and statements as a text writes them. A fault in one does not know yet where it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, ParamSpec, TypeVar

from refengine.model.elements import Term, Triple
from refengine.model.errors import InvalidStream
from refengine.model.messages import display, nearest
from refengine.model.terms import iri_term, literal_term, triple_of

P = ParamSpec("P")
T = TypeVar("T")


class Fault(ValueError):
    """What is wrong with a piece of text, before it is known where the piece stands."""


MOST_KEPT = 2**16
LONGEST_KEPT = 2**10  # characters


class ReadTexts(dict[str, T]):
    """What `read` makes of texts, kept, so that a text that comes again costs a look-up and gives
    the same object. It holds so many texts, and no long one: the memory for it is bounded.

    Raises KeyError for a text that `read` gives None for.
    """

    def __init__(self, read: Callable[[str], T | None]) -> None:
        super().__init__()
        self.read = read

    def __missing__(self, text: str) -> T:
        found = self.read(text)
        if found is None:
            raise KeyError(text)
        if len(self) >= MOST_KEPT:
            self.clear()
        if len(text) <= LONGEST_KEPT:
            self[text] = found
        return found


@contextmanager
def placed_at(place: str) -> Iterator[None]:
    """Give a fault that is found within its place. Raises InvalidStream for it."""
    try:
        yield
    except Fault as fault:
        raise InvalidStream(str(fault), rule="IO-1", place=place) from None


def make(maker: Callable[P, T], *parts: P.args, **named: P.kwargs) -> T:
    """Return what `maker` makes of the parts. Raises Fault with the reason where it cannot."""
    try:
        return maker(*parts, **named)
    except InvalidStream as error:
        raise Fault(error.reason) from None


def make_iri(text: str) -> Term:
    """Return the term of an absolute IRI. Raises Fault, also for what is no text."""
    if not isinstance(text, str):
        raise Fault(f"must be an absolute IRI, got {display(text)}; write http://example.org/p")
    return make(iri_term, text)


def make_literal(lexical: str, datatype: str | None = None, language: str | None = None) -> Term:
    """Return the term of a literal. Raises Fault."""
    return make(literal_term, lexical, datatype, language)


def make_triple(subject: Term, predicate: Term, object_: Term) -> Triple:
    """Return the triple of terms that may stand where they do. Raises Fault."""
    return make(triple_of, subject, predicate, object_)


# of logs of messages, in the draft of the W3C RSP community group
LOG_VERSIONS = ("1.1-messages", "1.2-basic-messages", "1.2-messages")
NO_LOG = 'MESSAGE, but before it no VERSION "1.1-messages"; only a log of messages has MESSAGE'
VERSIONS = ("1.1", "1.2-basic", "1.2", *LOG_VERSIONS)


class Statement(NamedTuple):
    """A triple, the graph it is in (None: the default graph) and its line; no triple says that the
    graph is there.
    """

    graph: Term | None
    triple: tuple[Term, Term, Term] | None
    line: int


class Document(NamedTuple):
    """The statements of a document. A log of messages has a part for each message, any other
    document has one part.
    """

    parts: list[list[Statement]]
    is_log: bool = False

    @classmethod
    def of_log(cls, parts: list[list[Statement]]) -> Document:
        """IO-3: Return a log of messages, which its delimiters part. One at the end of the log ends
        the message before it, and begins none.
        """
        return cls(parts if parts[-1] else parts[:-1], is_log=True)


def is_log_version(label: str) -> bool:
    """Return whether a version label announces messages. Raises ValueError, with the reason, for a
    label that is none.
    """
    if label not in VERSIONS:
        raise ValueError(f"no version of RDF: {display(label)}{nearest(label, VERSIONS)}")
    return label in LOG_VERSIONS
