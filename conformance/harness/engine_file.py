"""Engines under test: what each one's file says of how it is started, what it reads, what it sets
out to do, and what it cannot.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from conformance import corpus
from conformance.harness.client import Limits
from conformance.schemas import accepts, validator
from refengine import dialects
from refengine.core.query import Form, Query, WindowKind
from refengine.core.semantics import R2S, Base, Closure, Profile
from refengine.dialects import Unrenderable
from refengine.model.errors import RefengineError
from refengine.model.messages import nearest, shown

HERE = Path(__file__).parent
FILES = HERE.parent / "engines"
# of entry points, each of which is an Engine or the path of an engine's file
GROUP = "conformance.engines"
CLASSPATH = "{classpath}"  # in a command: the user's, who brings the engine
PLACES = {"python": sys.executable, "adapters": str(HERE / "adapters"), "engines": str(FILES)}


class InvalidEngine(RefengineError):
    """An engine's file that is none, or an engine that there is not."""


@dataclass(frozen=True)
class Deviation:
    """What an engine is known to do otherwise: `fields` of its semantics that have other values, or
    what it has wrong to say of its answers (`told`: window), or neither, where no value says it.
    `cases` are the ids of those that show it; what neither fields nor `told` say explains these and
    no others: their wrong answers, or, if it `crashes`, their errors.
    """

    reason: str
    link: str
    cases: tuple[str, ...]
    fields: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    told: str = ""
    crashes: bool = False

    @property
    def grants(self) -> bool:
        """Whether the oracle can be told of it."""
        return bool(self.fields or self.told)


@dataclass(frozen=True)
class Engine:
    """An engine as its file describes it: `profile` is what it sets out to do; an engine without
    one is told its semantics. `kinds` and `forms` are the windows and the queries that it has;
    `deviations`, what it is known to do otherwise; `suites`, what it is held to; `needs`,
    `commands` and `modules` are the paths, commands and Python packages without which it cannot be
    started. `window_closure` says which borders belong to the windows that it tells, where that is
    not what its semantics says. `unreported` outputs may be missing at each end (ORA-3). With a
    `heartbeat` it is told how time goes on every so many ms. A `fresh` one has a process a case.
    With a `tolerance` it is replayed on the wall clock, and may be late by so much of a unit of its
    time.
    """

    name: str
    title: str
    command: tuple[str, ...]
    dialect: str
    link: str = ""
    get: str = ""
    needs: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    profile: Profile | None = None
    kinds: frozenset[WindowKind] = frozenset(WindowKind)
    forms: frozenset[Form] = frozenset(Form)
    deviations: tuple[Deviation, ...] = ()
    suites: tuple[str, ...] = ("corpus",)
    window_closure: Closure | None = None
    heartbeat: int = 0
    unreported: int = 0
    fresh: bool = False
    tolerance: float = 0
    limits: Limits = field(default_factory=Limits)

    @property
    def missing(self) -> str:
        """What it needs, is not there, and how to get it; nothing if it can be started."""
        places = (place for place in self.needs if not os.path.exists(place))
        commands = (f"the command {name}" for name in self.commands if shutil.which(name) is None)
        modules = (f"the Python package {name}" for name in self.modules if find_spec(name) is None)
        classpath = (
            f"--engine-classpath={self.name}=PATH or {_variable(self.name)}"
            for word in self.command
            if CLASSPATH in word
        )
        lacking = next(chain(classpath, places, commands, modules), "")
        return (
            f"no {self.title}, which needs {lacking}: {self.get}".removesuffix(": ")
            if lacking
            else ""
        )

    def on(self, classpath: str) -> Engine:
        """The engine with its classpath, by default that of the environment, if it wants one.
        Raises InvalidEngine for one that is not there, and for one that is given to an engine that
        takes none.
        """
        path = classpath or os.environ.get(_variable(self.name), "")
        if classpath and not any(CLASSPATH in word for word in self.command):
            raise InvalidEngine("takes no classpath", rule="engine", place=self.name)
        if not path or not any(CLASSPATH in word for word in self.command):
            return self
        for place in path.split(os.pathsep):
            if not place:
                raise InvalidEngine(
                    f"an empty entry in its classpath {shown(path)}; write . "
                    "for the current folder",
                    rule="engine",
                    place=self.name,
                )
            if not os.path.exists(place.removesuffix("*") or "."):
                raise InvalidEngine(
                    f"no {shown(place)} for its classpath", rule="engine", place=self.name
                )
        return replace(self, command=tuple(word.replace(CLASSPATH, path) for word in self.command))

    def text(
        self, query: Query, static: bool = False, table: Mapping[str, Any] | None = None
    ) -> str:
        """A query, which a table was, in the engine's language. Raises Unrenderable, also for what
        the engine has not.
        """
        if self.dialect == "table" and table is None:
            raise Unrenderable("the query has no table", rule="DIA-6", place="query")
        for window in query.windows:
            if window.kind not in self.kinds:
                raise Unrenderable(
                    f"{self.title} has no windows of kind {window.kind}",
                    rule="DIA-6",
                    place=f"window on {window.stream!r}",
                )
        if query.body.form not in self.forms:
            raise Unrenderable(f"{self.title} has no {query.body.form}", rule="DIA-6", place="body")
        return (
            json.dumps(table)
            if self.dialect == "table"
            else dialects.render(query, self.dialect, self._operator(), static)
        )

    def claim(self, query: Query) -> Profile:
        """What it sets out to do with a query: the operator that one states, with the base that it
        needs (QRY-5).
        """
        assert self.profile is not None  # an engine without one is told its semantics
        compares = (
            query.r2s in (R2S.ISTREAM, R2S.DSTREAM) and self.profile.fields.get("base") is None
        )
        return self.profile.but(r2s=query.r2s, base=Base.PREVIOUS) if compares else self.profile

    def _operator(self) -> R2S | None:
        stated = self.profile.fields.get("r2s") if self.profile else None
        return stated if isinstance(stated, R2S) else None


def _variable(name: str) -> str:
    """The environment variable with an engine's classpath: `CONFORMANCE_CLASSPATH_RSP_JS`."""
    return f"CONFORMANCE_CLASSPATH_{re.sub(r'[^A-Z0-9]', '_', name.upper())}"


def read(path: Path) -> Engine:
    """An engine from its file. Raises InvalidEngine with the file and the key."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidEngine(f"cannot be read: {error}", rule="engine", place=str(path)) from None
    errors = [] if accepts("engine")(table) else validator("engine").iter_errors(table)
    for wrong in sorted(errors, key=lambda one: (one.json_path, one.message)):
        raise InvalidEngine(f"{wrong.json_path}: {wrong.message}", rule="engine", place=str(path))
    capabilities = table.pop("capabilities", {})
    for name, kind in (("kinds", WindowKind), ("forms", Form)):
        if name in capabilities:
            table[name] = frozenset(map(kind, capabilities[name]))
    try:
        table["profile"] = (
            corpus.profile_of(table.pop("semantics")) if "semantics" in table else None
        )
    except RefengineError as error:
        raise error.at(str(path)) from None
    try:
        table["deviations"] = tuple(map(_deviation, table.get("deviations", ())))
    except RefengineError as error:
        raise error.at(str(path)) from None
    for name in ("command", "needs"):
        table[name] = tuple(
            _placed(word, path, table.get("tolerance", 0)) for word in table.get(name, ())
        )
    table |= {
        name: tuple(table[name]) for name in ("commands", "modules", "suites") if name in table
    }
    if "window_closure" in table:
        table["window_closure"] = Closure(table["window_closure"])
    table["limits"] = Limits(**table.get("limits", {}))
    return Engine(path.stem, **table)


def _deviation(entry: Mapping[str, Any]) -> Deviation:
    fields = corpus.profile_of(entry.get("fields", {})).fields
    return Deviation(**{**entry, "cases": tuple(entry["cases"]), "fields": fields})


def _placed(word: str, path: Path, tolerance: float) -> str:
    """A word with the places in it: other braces are the word's own."""
    for name, place in {
        **PLACES,
        "here": str(path.parent),
        "classpath": CLASSPATH,
        "tolerance": tolerance,
    }.items():
        word = word.replace(f"{{{name}}}", str(place))
    return word


def command(text: str, dialect: str, semantics: str) -> Engine:
    """An engine from a command line, which no shell reads; `semantics` is a profile's name and
    key=value words.
    """
    if dialect != "table":
        dialects.find(dialect)
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise InvalidEngine(f"cannot be read: {error}", rule="engine", place=shown(text)) from None
    profile, *fields = semantics.split() or [""]
    if not words or not profile:
        raise InvalidEngine(f"an empty {'semantics' if words else 'command'}", rule="engine")
    stated = corpus.profile_of(
        {"profile": profile, **dict(pair(word, "key=value") for word in fields)}
    )
    return Engine("command", words[0], words, dialect, profile=stated)


def pair(word: str, form: str) -> tuple[str, str]:
    """A key and its value. Raises InvalidEngine for a word that is not of that form."""
    key, sign, value = word.partition("=")
    if not sign:
        raise InvalidEngine(f"{shown(word)} is not {form}", rule="engine")
    return key, value


def engines() -> dict[str, Engine]:
    """The engines that have a file here, by name."""
    return {path.stem: read(path) for path in sorted(FILES.glob("*.toml"))}


def engine(name: str) -> Engine:
    """An engine by its name, here or of the entry points of installed packages, or by the path of
    its file (*.toml). Raises InvalidEngine with the nearest valid name.
    """
    if name.endswith(".toml"):
        return read(Path(name))
    ours, theirs = (
        FILES / f"{name}.toml",
        {point.name: point for point in entry_points(group=GROUP)},
    )
    if ours.parent == FILES and ours.is_file():
        return read(ours)
    if name not in theirs:
        raise InvalidEngine(f"no engine {shown(name)}{nearest(name, names())}", rule="engine")
    try:
        found = theirs[name].load()
        return found if isinstance(found, Engine) else replace(read(Path(found)), name=name)
    except (ImportError, AttributeError, TypeError) as error:
        raise InvalidEngine(
            f"its entry point {theirs[name].value!r} gives none: {error}", rule="engine", place=name
        ) from None


def names() -> list[str]:
    """The names of all engines that `engine` knows."""
    return sorted({*engines(), *(point.name for point in entry_points(group=GROUP))})
