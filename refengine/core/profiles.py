"""§2 Profiles of engines, each with its source.

Sources: CSRBench = Dell'Aglio et al., ISWC 2013, Table 1; SECRET = Botan et al., PVLDB 2010 and
VLDB Journal 2013, with the t0 formulas of the authors' simulator. Where sources disagree on an
engine, each has a profile, named for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from refengine.core.profile import OneOf, Profile
from refengine.core.semantics import FIELDS, Semantics, parse_field, show
from refengine.core.values import (
    R2S,
    AllowedLateness,
    ChangeBaseline,
    ChangeScope,
    Clock,
    CloseRule,
    Collection,
    Consumption,
    ExactGap,
    ExpiredSession,
    ExpirySeen,
    LateFor,
    MissedInstants,
    Panes,
    Partial,
    ReportedWindows,
    SessionBorder,
    Slide,
    Trigger,
)
from refengine.model.errors import InvalidSemantics
from refengine.model.messages import display, nearest

PLAIN: dict[str, Any] = {  # what the papers presume, and most engines do
    "offset": None,
    "slide": Slide.STATED,
    "partial": Partial.SUPPRESSED,
    "exact_gap": ExactGap.PARTS,
    "expired_session": ExpiredSession.GONE,
    "session_border": SessionBorder.GAP,
    "close_rule": CloseRule.REACHED,
    "period": None,
    "anchor": None,
    "change_baseline": ChangeBaseline.LAST,
    "change_scope": ChangeScope.ELEMENTS,
    "expiry_seen": ExpirySeen.REPLAYED,
    "missed_instants": MissedInstants.ALL,
    "trigger": Trigger.ANY,
    "reported_windows": ReportedWindows.ACTIVE,
    "early_count": None,
    "early_period": None,
    "panes": Panes.ACCUMULATING,
    "collection": Collection.BAG,
    "consumption": Consumption.UNRESTRICTED,
    "r2s": R2S.RSTREAM,
    "base": None,
    "allowed_lateness": AllowedLateness.REJECT,
    "late_for": LateFor.STREAM,
    "watermark": None,
    "watermark_delay": None,
    "expiry_rule": None,
    "clock": Clock.STREAM,
}


class ProfileSource(NamedTuple):
    """Where profiles come from, and the fields that all profiles from there have in common."""

    text: str
    fields: str = ""


SECRET = "closure=(] empty=emit horizon=none instant=trigger"
OF_CSRBENCH = ProfileSource(
    "CSRBench, Table 1",
    "t0=unknown closure=[) tick=tuple horizon=flush",
)
OF_SECRET = ProfileSource(
    "SECRET, VLDB Journal 2013, and its simulator",
    SECRET,
)
OF_SIMULATOR = ProfileSource(
    "SECRET's simulator, later engines",
    SECRET,
)

# Profile, source, and the fields that have no plain value; `a|b` is either, for the oracle to say.
_ROWS = (
    ("csparql", OF_CSRBENCH, "report=window-close,non-empty empty=emit instant=close"),
    (
        "cqels",
        OF_CSRBENCH,
        "report=content-change r2s=Istream base=previous empty=suppress instant=eager",
    ),
    ("sparqlstream", OF_CSRBENCH, "report=window-close,non-empty empty=suppress instant=close"),
    (
        "csparql-observed",
        ProfileSource("C-SPARQL's code, and its start-up in CSRBench's recordings"),
        "t0=first-element closure=[)|(]|[] partial=reported report=window-close,non-empty "
        "tick=tuple empty=emit horizon=flush instant=close",
    ),
    (
        "cqels-observed",
        ProfileSource("the code of CQELS 1.x, and CSRBench's recordings of Q1 to Q5"),
        "t0=first-reach closure=[] slide=ignored report=content-change tick=tuple r2s=append "
        "empty=suppress horizon=flush instant=eager",
    ),
    (
        "yasper",
        ProfileSource("the code of rsp4j's yasper"),
        "t0=0 closure=[) close_rule=passed missed_instants=latest report=window-close,non-empty "
        "tick=time r2s=Rstream|Istream|Dstream base=none|previous collection=set "
        "empty=emit horizon=none instant=close",
    ),
    (
        "csparql-yasper",
        ProfileSource("yasper's preset for C-SPARQL"),
        "t0=0 closure=[) report=window-close,non-empty tick=time "
        "empty=emit horizon=none instant=close",
    ),
    (
        "rsp-js",
        ProfileSource("the code of RSP-JS 1.3.5"),
        "t0=epoch offset=0 closure=[) close_rule=passed missed_instants=latest "
        "report=window-close,non-empty tick=time empty=suppress horizon=none instant=trigger",
    ),
    (
        "esper",
        ProfileSource("Esper's code, its sliding time window"),
        "t0=first-reach closure=(] slide=ignored report=content-change expiry_seen=eager "
        "tick=tuple r2s=Istream base=previous empty=once horizon=flush instant=evaluation",
    ),
    (
        "esper-batch",
        ProfileSource("Esper's code, its time batch"),
        "t0=first-element closure=[) report=window-close tick=tuple "
        "r2s=Istream base=previous empty=once horizon=flush instant=close",
    ),
    (
        "etalis",
        ProfileSource(
            "ETALIS's manual and code: windows of matches; what is derived goes out at once"
        ),
        "t0=first-reach closure=[]|none report=content-change tick=tuple r2s=append "
        "consumption=unrestricted|recent|chronological empty=suppress horizon=flush instant=eager",
    ),
    ("coral8", OF_SECRET, "t0=coral8 report=content-change,non-empty tick=batch"),
    ("streambase", OF_SECRET, "t0=coral8 report=window-close,non-empty tick=tuple"),
    ("oracle-cep", OF_SECRET, "t0=oracle-cep report=content-change,window-close tick=time"),
    ("stream", OF_SECRET, "t0=stream report=content-change,window-close,non-empty tick=time"),
    ("flink", OF_SIMULATOR, "t0=flink report=window-close,non-empty tick=time"),
    ("flink-tuple", OF_SIMULATOR, "t0=flink report=window-close,non-empty tick=tuple"),
    ("dataflow", OF_SIMULATOR, "t0=flink report=window-close,non-empty tick=time"),
    ("storm", OF_SIMULATOR, "t0=storm report=window-close,non-empty tick=time"),
    ("storm-tuple", OF_SIMULATOR, "t0=storm report=window-close,non-empty tick=tuple"),
    (
        "kafka-streams",
        OF_SIMULATOR,
        "t0=kafka-streams report=non-empty,periodic period=1 anchor=0 tick=tuple",
    ),
    ("spark-1.6", OF_SIMULATOR, "t0=flink report=window-close tick=time"),
)


def _profile(name: str, source: ProfileSource, fields: str) -> Profile:
    """Return the profile of a row of the table above."""
    values: dict[str, Any] = {}
    for word in f"{source.fields} {fields}".split():
        field, _, text = word.partition("=")
        values[field] = text
        if "|" in text:
            values[field] = OneOf(tuple(parse_field(field, each) for each in text.split("|")))
    return Profile(name, source.text, {}).but(**PLAIN | values)


PROFILES: Mapping[str, Profile] = MappingProxyType({row[0]: _profile(*row) for row in _ROWS})


def profile(name: str) -> Profile:
    """Return the profile of that name. Raises InvalidSemantics, with the nearest valid name."""
    if not isinstance(name, str) or name not in PROFILES:
        reason = f"unknown profile {display(name)}{nearest(name, PROFILES)}"
        raise InvalidSemantics(reason, rule="SEM-1")
    return PROFILES[name]


def brief(semantics: Semantics) -> str:
    """Return a semantics as text, without the fields that have their plain value."""
    return " ".join(
        f"{name}={show(value)}"
        for name, value in vars(semantics).items()
        if name not in PLAIN or value != PLAIN[name]
    )


def table() -> Iterator[dict[str, str]]:
    """Yield a row for each profile: its name, the text of each field's value (`unknown` for an open
    field, or what it may be), and its source.
    """
    for name, profile in PROFILES.items():
        fields = {field: _cell(profile.fields[field]) for field in FIELDS}
        yield {"profile": name, **fields, "source": profile.source}


def _cell(value: object) -> str:
    """Return a profile's value for a field as the text of a table's cell."""
    if isinstance(value, OneOf):
        return " or ".join(map(show, value.values))
    return show(value)


def markdown(rows: Iterable[dict[str, str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table of `table`'s rows. A field that has its plain value is
    left out of a row; the line below the table lists these values.
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
    without_saying = ", ".join(f"{name}={value}" for name, value in plain.items())
    yield f"Where *others* does not say otherwise: {without_saying}."
