"""The IRIs of what the suite names: cases, rules, engines, wrong engines and the terms of its
vocabulary. EARL and the exported suite have the same.
"""

from __future__ import annotations

from hashlib import sha256
from urllib.parse import quote

# The one setting: what all IRIs begin with, `urn:NAME:` or `https://HOST/PATH/`. Files in
# conformance/ that have it as text: `report/shapes/`, `export/` and `schema/`.
BASE = "urn:refengine:"
LONGEST = 400  # characters of a name in an IRI


def iri(*parts: str) -> str:
    """Return the IRI of what has a name of one or more parts, such as `case`, its suite and its id.
    Names are percent-encoded, and the end of a long one is replaced by its hash.

    >>> iri("rule", "WIN-2"), iri("wrong-engine", "WIN-8 nothing expires")
    ('urn:refengine:rule:WIN-2', 'urn:refengine:wrong-engine:WIN-8%20nothing%20expires')
    """
    quoted_parts = (quote(_short(part), safe="", errors="backslashreplace") for part in parts)
    return BASE + (":" if BASE.endswith(":") else "/").join(quoted_parts)


def case_iri(suite: str, case: str) -> str:
    """Return the IRI of a case, which is the test of EARL's assertions about it."""
    return iri("case", suite, case)


def _short(name: str) -> str:
    """Return a name; of a long one the beginning and the hash of the whole."""
    if len(name) <= LONGEST:
        return name
    digest = sha256(name.encode(errors="backslashreplace")).hexdigest()
    return f"{name[: LONGEST - 33]}…{digest[:32]}"
