"""IRI references: the IRI that one stands for under a base, RFC 3986 §5.2 without any normalisation of absolute ones."""

from __future__ import annotations

import re

PARTS = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)


def has_scheme(iri: str) -> bool:
    """Whether an IRI reference is absolute."""
    return PARTS.fullmatch(iri)[1] is not None


def resolve(base: str, reference: str) -> str:
    """The IRI of a reference; a relative one is kept as it is where there is no base."""
    scheme, authority, path, query, fragment = PARTS.fullmatch(reference).groups()
    if scheme is not None or not base:
        return reference
    scheme, own_authority, own_path, own_query, _ = PARTS.fullmatch(base).groups()
    if authority is None:
        authority = own_authority
        if not path:
            path, query = own_path, own_query if query is None else query
        elif not path.startswith("/"):
            path = _without_dots(own_path[: own_path.rfind("/") + 1] or "/" * (authority is not None)) + path
    path = _without_dots(path)
    pieces = (("", scheme, ":"), ("//", authority, ""), ("", path, ""), ("?", query, ""), ("#", fragment, ""))
    return "".join(f"{before}{part}{after}" for before, part, after in pieces if part is not None)


def _without_dots(path: str) -> str:
    """RFC 3986 §5.2.4, for a path whose segments are parted by slashes."""
    if not re.search(r"(?:^|/)\.\.?(?:/|$)", path):
        return path
    kept: list[str] = []
    segments = path.split("/")
    for number, segment in enumerate(segments):
        if segment == ".." and len(kept) > 1:
            kept.pop()
        if segment in (".", ".."):
            kept += [""] * (number == len(segments) - 1)
        else:
            kept.append(segment)
    return "/".join(kept)
