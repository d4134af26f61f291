"""Tables of the profiles, as the command line prints them and SPEC.md shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from refengine.core.profiles import PLAIN, PROFILES
from refengine.core.semantics import FIELDS, OneOf, show


def profiles() -> Iterator[dict[str, str]]:
    """A row a profile: its name, each field's value as text (an open field: `unknown`, or what it
    may be), its source.
    """
    for name, profile in PROFILES.items():
        fields = {field: _shown(profile.fields[field]) for field in FIELDS}
        yield {"profile": name, **fields, "source": profile.source}


def _shown(value: object) -> str:
    return " or ".join(map(show, value.values)) if isinstance(value, OneOf) else show(value)


def markdown(rows: Iterable[dict[str, str]]) -> Iterator[str]:
    """A Markdown table of the profiles. Fields in which a profile has the plain value go without
    saying: the line below the table lists those.
    """
    plain = {name: show(value) for name, value in PLAIN.items()}
    columns = [name for name in FIELDS if name not in plain]
    yield "| profile | " + " | ".join(columns) + " | others | source |"
    yield "|" + "---|" * (len(columns) + 3)
    for row in rows:
        others = " ".join(
            f"{name}={row[name]}" for name in FIELDS if name in plain and row[name] != plain[name]
        )
        cells = [row["profile"], *(row[name] for name in columns), others, row["source"]]
        yield "| " + " | ".join(cells) + " |"
    yield ""
    yield (
        "Where *others* does not say otherwise: "
        + ", ".join(f"{name}={value}" for name, value in plain.items())
        + "."
    )
