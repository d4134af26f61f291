"""§2 Profiles of engines, each with its source.

Sources: CSRBench = Dell'Aglio et al., ISWC 2013, Table 1; SECRET = Botan et al., PVLDB 2010 and
VLDB Journal 2013, with the t0 formulas of the authors' simulator. Where sources disagree on an
engine, each has a profile, named for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from refengine.core.semantics import (
    R2S,
    T0,
    UNKNOWN,
    Against,
    Base,
    Change,
    Closing,
    Closure,
    Collection,
    Disorder,
    Empty,
    End,
    Expiry,
    Gap,
    Instant,
    OneOf,
    Partial,
    Profile,
    Semantics,
    Slide,
    Trigger,
    show,
)
from refengine.model.errors import InvalidSemantics
from refengine.model.messages import nearest

PLAIN = {  # what the papers presume, and most engines do
    "offset": None,
    "slide": Slide.STATED,
    "partial": Partial.SUPPRESSED,
    "closing": Closing.REACHED,
    "period": None,
    "anchor": None,
    "against": Against.LAST,
    "change": Change.ELEMENTS,
    "expiry": Expiry.REPLAYED,
    "gap": Gap.ALL,
    "trigger": Trigger.ANY,
    "collection": Collection.BAG,
    "r2s": R2S.RSTREAM,
    "base": None,
    "disorder": Disorder.REJECT,
}


def _profile(name: str, source: str, **values: Any) -> Profile:
    return Profile(name, source, {}).but(**{**PLAIN, **values})


def _csrbench(name: str, report: str, empty: Empty, instant: Instant, **more: Any) -> Profile:
    source = "CSRBench, Table 1; horizon and output instant decided here"
    common = {"t0": UNKNOWN, "closure": "[)", "tick": "tuple", "horizon": End.FLUSH}
    return _profile(name, source, report=report, empty=empty, instant=instant, **common, **more)


def _secret(name: str, t0: T0, report: str, tick: str, **more: Any) -> Profile:
    paper = name in ("coral8", "streambase", "oracle-cep", "stream")
    source = (
        "SECRET, VLDB Journal 2013, and the authors' simulator"
        if paper
        else "the SECRET simulator's experiments for later engines"
    )
    source += "; what it has no word for decided here"
    common = {"empty": Empty.EMIT, "horizon": End.NONE, "instant": Instant.TRIGGER, "closure": "(]"}
    return _profile(name, source, t0=t0, report=report, tick=tick, **common, **more)


ISTREAM = {"r2s": R2S.ISTREAM, "base": Base.PREVIOUS}
CLOSES = "window-close,non-empty"
PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        profile.name: profile
        for profile in (
            _csrbench("csparql", CLOSES, Empty.EMIT, Instant.CLOSE),
            _csrbench("cqels", "content-change", Empty.SUPPRESS, Instant.EAGER, **ISTREAM),
            _csrbench("sparqlstream", CLOSES, Empty.SUPPRESS, Instant.CLOSE),
            _profile(
                "csparql-observed",
                "C-SPARQL's code, and its start-up in CSRBench's recordings",
                t0=T0.FIRST,
                closure=OneOf(tuple(Closure)),
                partial=Partial.REPORTED,
                report=CLOSES,
                tick="tuple",
                empty=Empty.EMIT,
                horizon=End.FLUSH,
                instant=Instant.CLOSE,
            ),
            _profile(
                "cqels-observed",
                "the code of CQELS 1.x, and CSRBench's recordings of Q1 to Q5",
                t0=T0.REACH,
                closure="[]",
                slide=Slide.IGNORED,
                report="content-change",
                tick="tuple",
                r2s=R2S.APPEND,
                empty=Empty.SUPPRESS,
                horizon=End.FLUSH,
                instant=Instant.EAGER,
            ),
            _profile(
                "yasper",
                "the code of rsp4j's yasper",
                t0=0,
                closure="[)",
                closing=Closing.PASSED,
                gap=Gap.LATEST,
                report=CLOSES,
                tick="time",
                r2s=OneOf((R2S.RSTREAM, R2S.ISTREAM, R2S.DSTREAM)),
                base=OneOf((None, Base.PREVIOUS)),
                collection=Collection.SET,
                empty=Empty.EMIT,
                horizon=End.NONE,
                instant=Instant.CLOSE,
            ),
            _profile(
                "csparql-yasper",
                "yasper's preset for C-SPARQL",
                t0=0,
                closure="[)",
                report=CLOSES,
                tick="time",
                empty=Empty.EMIT,
                horizon=End.NONE,
                instant=Instant.CLOSE,
            ),
            _profile(
                "rsp-js",
                "the code of RSP-JS 1.3.5",
                t0=T0.EPOCH,
                offset=0,
                closure="[)",
                closing=Closing.PASSED,
                gap=Gap.LATEST,
                report=CLOSES,
                tick="time",
                empty=Empty.SUPPRESS,
                horizon=End.NONE,
                instant=Instant.TRIGGER,
            ),
            _profile(
                "esper",
                "Esper's code, its sliding time window",
                t0=T0.REACH,
                closure="(]",
                slide=Slide.IGNORED,
                report="content-change",
                expiry=Expiry.EAGER,
                tick="tuple",
                empty=Empty.ONCE,
                horizon=End.FLUSH,
                instant=Instant.EVALUATION,
                **ISTREAM,
            ),
            _profile(
                "esper-batch",
                "Esper's code, its time batch",
                t0=T0.FIRST,
                closure="[)",
                report="window-close",
                tick="tuple",
                empty=Empty.ONCE,
                horizon=End.FLUSH,
                instant=Instant.CLOSE,
                **ISTREAM,
            ),
            _profile(
                "etalis",
                "ETALIS's manual: no windows, intervals; what is derived goes out at once",
                t0=UNKNOWN,
                closure=None,
                report="content-change",
                tick="tuple",
                r2s=R2S.APPEND,
                empty=Empty.SUPPRESS,
                horizon=End.NONE,
                instant=Instant.EAGER,
            ),
            _secret("coral8", T0.CORAL8, "content-change,non-empty", "batch"),
            _secret("streambase", T0.CORAL8, CLOSES, "tuple"),
            _secret("oracle-cep", T0.ORACLE_CEP, "content-change,window-close", "time"),
            _secret("stream", T0.STREAM, "content-change,window-close,non-empty", "time"),
            _secret("flink", T0.FLINK, CLOSES, "time"),
            _secret("flink-tuple", T0.FLINK, CLOSES, "tuple"),
            _secret("dataflow", T0.FLINK, CLOSES, "time"),
            _secret("storm", T0.STORM, CLOSES, "time"),
            _secret("storm-tuple", T0.STORM, CLOSES, "tuple"),
            _secret(
                "kafka-streams", T0.KAFKA_STREAMS, "non-empty,periodic", "tuple", period=1, anchor=0
            ),
            _secret("spark-1.6", T0.FLINK, "window-close", "time"),
        )
    }
)


def profile(name: str) -> Profile:
    """The profile of that name."""
    if name not in PROFILES:
        raise InvalidSemantics(f"unknown profile {name!r}{nearest(name, PROFILES)}", rule="SEM-1")
    return PROFILES[name]


def brief(semantics: Semantics) -> str:
    """A semantics as text, without the fields that have the plain value."""
    said = {
        name: value
        for name, value in vars(semantics).items()
        if name not in PLAIN or value != PLAIN[name]
    }
    return " ".join(f"{name}={show(value)}" for name, value in said.items())
