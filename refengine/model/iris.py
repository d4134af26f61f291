"""IRI references: the IRI that one stands for under a base, RFC 3986 §5.2 without any normalisation
of absolute ones.
"""

from __future__ import annotations

import re

PARTS = re.compile(
    r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL
)


def _parts(reference: str) -> tuple[str | None, str | None, str, str | None, str | None]:
    """Return scheme, authority, path, query and fragment; a part that is not there is None."""
    found = PARTS.fullmatch(reference)
    if found is None:
        raise AssertionError(reference)  # any text has parts
    scheme, authority, path, query, fragment = found.groups()
    return scheme, authority, path, query, fragment


def has_scheme(iri: str) -> bool:
    """Return whether an IRI reference is absolute."""
    return _parts(iri)[0] is not None


def resolve(base: str, reference: str) -> str:
    """Return the IRI of a reference (§5.2.2, §5.2.3); a relative one is kept as it is where there
    is no base.

    >>> resolve("http://a/b/c", "../g"), resolve("http://a/./b", "#x"), resolve("urn:a/b", "../g")
    ('http://a/g', 'http://a/./b#x', 'urn:/g')
    """
    scheme, authority, path, query, fragment = _parts(reference)
    if scheme is not None or not base:
        return reference
    scheme, base_authority, base_path, base_query, _ = _parts(base)
    if authority is not None:
        path = remove_dot_segments(path)
    elif not path:
        path = base_path
        if query is None:
            query = base_query
    elif path.startswith("/"):
        path = remove_dot_segments(path)
    elif base_authority is not None and not base_path:
        path = remove_dot_segments("/" + path)
    else:
        path = remove_dot_segments(base_path[: base_path.rfind("/") + 1] + path)
    if authority is None:
        authority = base_authority
    pieces = (
        ("", scheme, ":"),
        ("//", authority, ""),
        ("", path, ""),
        ("?", query, ""),
        ("#", fragment, ""),
    )
    return "".join(f"{before}{part}{after}" for before, part, after in pieces if part is not None)


def remove_dot_segments(path: str) -> str:
    """Return a path without the segments `.` and `..` (§5.2.4): step by step what the RFC's loop
    does.

    >>> remove_dot_segments("/a/b/../c/."), remove_dot_segments("a/../g")
    ('/a/c/', '/g')
    """
    kept: list[str] = []  # segments, each with the slash before it
    segments = re.findall(r"/[^/]*|^[^/]+", path)
    for number, segment in enumerate(segments):
        is_last = number == len(segments) - 1
        name = segment.removeprefix("/")
        if name not in (".", ".."):
            kept.append(segment)
            continue
        # at the beginning of a path without a slash it goes, with the slash behind it
        if not segment.startswith("/"):
            following = slice(number + 1, number + 2)
            segments[following] = [other.removeprefix("/") for other in segments[following]]
            continue
        if name == ".." and kept:
            kept.pop()
        if is_last:
            kept.append("/")
    return "".join(kept)
