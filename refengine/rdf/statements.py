"""What a document of RDF says: its statements, in one part or as a log of messages."""

from __future__ import annotations

from typing import NamedTuple

from refengine.model.elements import Term
from refengine.model.messages import display, nearest

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


def is_log_version(label: str) -> bool:
    """Return whether a version label announces messages. Raises ValueError, with the reason, for a
    label that is none.
    """
    if label not in VERSIONS:
        raise ValueError(f"no version of RDF: {display(label)}{nearest(label, VERSIONS)}")
    return label in LOG_VERSIONS
