"""Terms as a text writes them. A fault in one does not know yet where it stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from refengine.model.elements import Term, Triple
from refengine.model.errors import InvalidStream
from refengine.model.messages import display
from refengine.model.terms import iri_term, literal_term, triple_of

P = ParamSpec("P")
T = TypeVar("T")


class Fault(ValueError):
    """What is wrong with a piece of text, before it is known where the piece stands."""


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
