"""Engines under test. The file of an engine says how it is started, which query language it reads,
which semantics it sets out to have, and what it is known to do otherwise.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any

from conformance import corpus
from conformance.corpus.schema_problems import explain_problem, unknown_keys_first
from conformance.engines.installation.brought_engines import (
    find_engine_file,
    is_name,
    names_with_file,
)
from conformance.engines.installation.places import installed_folder
from conformance.engines.installation.pythons import find_python
from conformance.engines.installation.source import BroughtEngine, Package
from conformance.engines.installation.source import InvalidEngine as InvalidEngine
from conformance.engines.installation.startable import COMMAND as COMMAND
from conformance.engines.installation.startable import StartableEngine
from conformance.harness.client import Limits
from conformance.schemas import path_text, problems
from conformance.verdict import window_elements
from refengine import dialects
from refengine.core.profile import Profile
from refengine.core.query import Form, Query, WindowKind
from refengine.core.values import R2S, Base, Closure
from refengine.dialects import Unrenderable
from refengine.model.errors import RefengineError
from refengine.model.messages import display, nearest, why
from refengine.rdf.sources import read_text

FILES = Path(__file__).parents[1] / "engines"
ADAPTERS = FILES / "adapters"
# of entry points, each of which is an Engine or the path of an engine's file
GROUP = "conformance.engines"
# keys of an engine's file that are fields of Engine as they stand
AS_THEY_ARE = (
    "title",
    "link",
    "get",
    "dialect",
    "heartbeat",
    "fresh",
    "processes",
    "tolerance",
)
# keys of `limits` in an engine's file -> fields of Limits
LIMITS = {"start": "start_seconds", "reply": "reply_seconds", "whole": "case_seconds"}
# in the list of the kinds of windows, for windows that may have a lag, and for windows of each key
LAG = "lag"
KEYS = "keys"
WINDOWS = "windows"  # the suite of engines that are asked of windows alone
PLACES = {"python": sys.executable, "adapters": str(ADAPTERS), "engines": str(FILES)}


@dataclass(frozen=True)
class Deviation:
    """A known deviation of an engine from the semantics that it sets out to have.

    `reason` and `link` say what it is and where it is documented, and `cases` has the ids of the
    cases that show it. `fields` are fields of the semantics that have other values. `misstates` is
    "window" for an engine that states wrong windows for its answers. A deviation with neither
    explains its own cases and no others: their wrong answers, or, if it `crashes`, their errors.
    `breaks` are the rules that such a deviation breaks; if there are none, it is taken to break the
    rules of its cases.
    """

    reason: str
    link: str
    cases: tuple[str, ...]
    fields: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    misstates: str = ""
    crashes: bool = False
    breaks: tuple[str, ...] = ()

    @property
    def can_be_granted(self) -> bool:
        """Whether the oracle can judge with this deviation, so that it may explain any case."""
        return bool(self.fields or self.misstates)


@dataclass(frozen=True)
class Setting:
    """What a library of windows can be set to, in its own `words`. `arguments` go to its harness;
    without any the words are for what the file's own semantics says. `fields` are what the setting
    makes of fields of the semantics, and `stamp` of the instants of reports, by the `sentence` of
    the library's documentation.
    """

    words: str
    sentence: str
    arguments: tuple[str, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    stamp: str = ""


@dataclass(frozen=True)
class Engine(StartableEngine):
    """An engine as its file describes it.

    How it is started, and where it comes from: `StartableEngine` says that. `dialect` is the
    language of its queries. A `fresh` engine has a new process for each case. `notes` are sentences
    about how its harness works.

    What it claims: `profile` is the semantics that it sets out to have; an engine without a profile
    is sent its semantics with each query. `kinds` and `forms` are the windows and query forms that
    it has, `has_lag` says whether its windows may have a lag, `has_keys` whether a window may stand
    for one of each key (WIN-24), and `deviations` what it is known to do otherwise.

    How it is tested: `suites` are the suites that it is held to. `processes` is how many processes
    ask it side by side, unless the user says otherwise. `window_closure` says which borders belong
    to the windows that it states, if that is not what its semantics says. With a `heartbeat` it is
    sent the time between elements, at instants so many ms apart. If it `has_sentinels`, elements
    follow the stream of each case, so that time goes on. `unreported` outputs may be missing at
    each end (ORA-3). With a `tolerance` it is replayed on the wall clock, and an element may come
    so much of a unit of its time late. `file_for_benchmark` maps the name of a benchmark to the
    engine file that must be used for it in place of this one.

    `settings` are what a library can be set to, for its card.
    """

    dialect: str
    link: str = ""
    notes: tuple[str, ...] = ()
    profile: Profile | None = None
    kinds: frozenset[WindowKind] = frozenset(WindowKind)
    has_lag: bool = True
    has_keys: bool = False
    forms: frozenset[Form] = frozenset(Form)
    deviations: tuple[Deviation, ...] = ()
    suites: tuple[str, ...] = ("corpus",)
    window_closure: Closure | None = None
    heartbeat: int = 0
    has_sentinels: bool = False
    unreported: int = 0
    fresh: bool = False
    processes: int = 1
    tolerance: float = 0
    limits: Limits = field(default_factory=Limits)
    file_for_benchmark: Mapping[str, Path] = field(default_factory=lambda: MappingProxyType({}))
    settings: tuple[Setting, ...] = ()

    @property
    def is_configurable(self) -> bool:
        """Whether the engine has no semantics of its own, and is sent one with each query."""
        return self.profile is None

    def with_setting(self, setting: Setting) -> Engine:
        """Return the engine as it is with a setting: its command has the arguments, and it claims
        what the documentation says of it.
        """
        profile = self.profile and self.profile.with_fields(setting.fields)
        command = (*self.command, *setting.arguments)
        return replace(self, command=command, profile=profile, settings=())

    @property
    def watermark_delay(self) -> int:
        """The delay of its watermark (MOD-5); 0 if it claims none."""
        stated = self.claim("watermark_delay")
        return stated if isinstance(stated, int) else 0

    def claim(self, name: str) -> object:
        """Return what its profile has for a field of the semantics; None if it has no profile."""
        return self.profile and self.profile.fields.get(name)

    def text(
        self,
        query: Query,
        static: bool = False,
        table: Mapping[str, Any] | None = None,
    ) -> str:
        """Return the text of a query in the engine's language. `table` is the table from which the
        query was made, for an engine that reads tables. Raises Unrenderable if the language cannot
        say the query, or the engine has no such windows or form.
        """
        if self.dialect == "table" and table is None:
            raise Unrenderable(
                "the engine reads tables, and the query was not made from one",
                rule="DIA-6",
                place="query",
            )
        for window in query.windows:
            if window.kind not in self.kinds:
                raise Unrenderable(
                    f"{self.title} has no windows of kind {window.kind}",
                    rule="DIA-6",
                    place=f"window on {window.stream!r}",
                )
            if window.lag and not self.has_lag:
                raise Unrenderable(
                    f"{self.title} has no windows with a lag",
                    rule="DIA-6",
                    place=f"window on {window.stream!r}",
                )
            if window.is_keyed and not (self.has_keys or self.is_configurable):
                raise Unrenderable(
                    f"{self.title} has no windows of each key",
                    rule="DIA-6",
                    place=f"window on {window.stream!r}",
                )
        if query.body.form not in self.forms:
            raise Unrenderable(
                f"{self.title} does not answer {query.body.form}",
                rule="DIA-6",
                place="body",
            )
        if self.dialect == "table":
            return json.dumps(table)
        if self.dialect == window_elements.DIALECT:
            if not window_elements.asks_for_contents(query):
                reason = f"{self.title} is asked of windows alone"
                raise Unrenderable(reason, rule="DIA-6", place="body")
            return json.dumps(window_elements.window_table(query.windows[0]))
        return dialects.render(query, self.dialect, self._operator(), static)

    def profile_for(self, query: Query) -> Profile:
        """Return the profile under which the engine is judged on a query. If the query states
        Istream or Dstream and the profile has no baseline for it, that is the previous answer
        (QRY-5).
        """
        assert self.profile is not None  # an engine without one is told its semantics
        is_comparing = query.r2s is not None and query.r2s.needs_base
        if is_comparing and self.profile.fields.get("base") is None:
            return self.profile.with_fields({"r2s": query.r2s, "base": Base.PREVIOUS})
        return self.profile

    def _operator(self) -> R2S | None:
        """Return the R2S operator of its profile, if that has one value."""
        if self.profile is None:
            return None
        operator = self.profile.fields.get("r2s")
        if not isinstance(operator, R2S):
            return None
        return operator


def read_engine_file(path: Path) -> Engine:
    """Return the engine that a file describes. Raises InvalidEngine, which names file and key."""
    text = read_text(path, InvalidEngine, "engine")
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidEngine(f"not TOML: {why(error)}", rule="engine", place=str(path)) from None
    if wrong := sorted(problems("engine", table), key=unknown_keys_first):
        [reason, *_] = explain_problem(wrong[0])
        where = path_text(wrong[0].absolute_path)
        raise InvalidEngine(reason, rule="engine", place=where).at(str(path))
    try:
        return Engine(path.stem, **_fields(table, path))
    except RefengineError as error:
        raise error.at(str(path)) from None


def _fields(table: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return the fields of Engine from the table of a file, which has passed the schema. Raises
    RefengineError for a contradictory semantics.
    """
    _check_suites(table["dialect"], table.get("suites", []))
    fields = {name: entry for name, entry in table.items() if name in AS_THEY_ARE}
    for name in ("commands", "modules", "suites", "notes"):
        if name in table:
            fields[name] = tuple(table[name])
    fields["settings"] = tuple(map(_setting, table.get("settings", ())))
    fields["file_for_benchmark"] = {
        benchmark: path.parent / other for benchmark, other in table.get("instead", {}).items()
    }
    return {
        **fields,
        **_read_meaning(table),
        **_read_start(table, path),
        **_read_capabilities(table.get("capabilities", {})),
    }


def _check_suites(dialect: str, suites: list[str]) -> None:
    """Raise InvalidEngine for an engine of which only one of dialect and suites says that it is
    asked of windows alone.
    """
    is_of_windows = dialect == window_elements.DIALECT
    if is_of_windows != (WINDOWS in suites) or (is_of_windows and len(suites) > 1):
        raise InvalidEngine(
            'suites: an engine that is asked of windows alone has suites = ["windows"] and '
            'dialect = "window", and any other engine neither',
            rule="engine",
        )


def _read_meaning(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that say what the engine's outputs are held to: its semantics, how its
    output ends, and its known deviations. Raises RefengineError for a contradictory semantics.
    """
    fields: dict[str, Any] = {}
    if "semantics" in table:
        fields["profile"] = corpus.profile_of(table["semantics"])
    fields["deviations"] = _deviations(table.get("deviations", ()))
    fields["has_sentinels"] = table.get("end") == "sentinel"
    if fields["has_sentinels"] and "semantics" not in table:
        raise InvalidEngine(
            "end: an engine that is sent its semantics is held to what a case expects, which has "
            "no sentinels; state `semantics`, or leave `end` out",
            rule="engine",
        )
    if "window_closure" in table:
        fields["window_closure"] = Closure(table["window_closure"])
    return fields


def _read_start(table: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return the fields that say where the engine comes from, how its harness is started, and how
    long it may take.
    """
    limits = {LIMITS[key]: seconds for key, seconds in table.get("limits", {}).items()}
    fields: dict[str, Any] = {"limits": Limits(**limits)}
    if "install" in table:
        fields["package"] = Package.of_table(table["install"], path.parent)
    if "bring" in table:
        fields["to_bring"] = BroughtEngine.of_table(table["bring"])
    for name in ("command", "needs"):
        fields[name] = tuple(
            _with_places(word, path, table.get("tolerance", 0), fields.get("package"))
            for word in table.get(name, ())
        )
    return fields


def _read_capabilities(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that say which windows and bodies the engine can be asked about."""
    fields: dict[str, Any] = {}
    if "kinds" in capabilities:
        fields["kinds"] = frozenset(map(WindowKind, {*capabilities["kinds"]} - {LAG, KEYS}))
        fields["has_lag"] = LAG in capabilities["kinds"]
        fields["has_keys"] = KEYS in capabilities["kinds"]
    if "forms" in capabilities:
        fields["forms"] = frozenset(map(Form, capabilities["forms"]))
    return fields


def _deviations(entries: Iterable[Mapping[str, Any]]) -> tuple[Deviation, ...]:
    """Return the known deviations from their tables. Raises RefengineError for unknown fields, and
    for two with one reason, by which results name them.
    """
    deviations = tuple(map(_deviation, entries))
    counts = Counter(deviation.reason for deviation in deviations)
    for reason, count in counts.items():
        if count > 1:
            raise InvalidEngine(
                f"deviations: {count} entries have the reason {display(reason)}; results name a "
                "deviation by its reason, so give each its own",
                rule="engine",
            )
    return deviations


def _deviation(entry: Mapping[str, Any]) -> Deviation:
    """Return a known deviation from its table. Raises RefengineError for unknown fields."""
    fields = corpus.profile_of(entry.get("fields", {})).fields
    return Deviation(
        entry["reason"],
        entry["link"],
        tuple(entry["cases"]),
        fields,
        misstates=entry.get("misstates", ""),
        crashes=entry.get("crashes", False),
        breaks=tuple(entry.get("breaks", ())),
    )


def _setting(entry: Mapping[str, Any]) -> Setting:
    """Return a setting from its table. Raises RefengineError for unknown fields."""
    return Setting(
        entry["words"],
        entry["sentence"],
        tuple(entry.get("arguments", ())),
        corpus.profile_of(entry.get("fields", {})).fields,
        entry.get("stamp", ""),
    )


def _with_places(word: str, path: Path, tolerance: float, package: Package | None) -> str:
    """Return a word of an engine's file in which names in braces, such as {python} or {here}, are
    replaced with their places. Other braces stay, and so does what the user brings.
    """
    places = {**PLACES, "here": str(path.parent), "tolerance": str(tolerance)}
    if package is not None:
        places["installed"] = str(installed_folder(package))
        places["python"] = find_python(package) or sys.executable
    for name, place in places.items():
        word = word.replace(f"{{{name}}}", place)
    return word


def command(text: str, dialect: str, semantics: str) -> Engine:
    """Return the engine behind a command line, which is split into words without a shell.
    `semantics` is the name of a profile and words of the form key=value. With the dialect `window`
    it is asked of windows alone.
    """
    if dialect not in ("table", window_elements.DIALECT):
        dialects.find_dialect(dialect)
    suites = (WINDOWS,) if dialect == window_elements.DIALECT else ("corpus",)
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise InvalidEngine(
            f"cannot be read: {error}",
            rule="engine",
            place=display(text),
        ) from None
    name, *fields = semantics.split() or [""]
    if not words:
        raise InvalidEngine("the engine's command is empty", rule="engine")
    if not name:
        raise InvalidEngine(
            "the engine's semantics is empty; write a profile such as csparql", rule="engine"
        )
    profile = corpus.profile_of(
        {"profile": name, **dict(pair(word, "key=value") for word in fields)}
    )
    return Engine("command", words[0], words, dialect, profile=profile, suites=suites)


def pair(word: str, form: str) -> tuple[str, str]:
    """Split a word at its first `=` into key and value. Raises InvalidEngine, with the expected
    form, for a word without one.
    """
    key, sign, value = word.partition("=")
    if not sign:
        raise InvalidEngine(f"expected {form}, got {display(word)}", rule="engine")
    return key, value


def engines() -> dict[str, Engine]:
    """Return the engines that are shipped with the suite, by name."""
    return {name: read_engine_file(FILES / f"{name}.toml") for name in shipped_names()}


def shipped_names() -> list[str]:
    """Return the names of the engines that are shipped with the suite, in the order of their files.
    No file is read for it.
    """
    return [path.stem for path in sorted(FILES.glob("*.toml"))]


def engine(name: str) -> Engine:
    """Return an engine by the path of its file (*.toml) or by its name: that of an engine shipped
    with the suite, or of an entry point of an installed package. Raises InvalidEngine with the
    nearest valid name.
    """
    if name.endswith(".toml"):
        return replace(read_engine_file(Path(name)), file=name)
    if path := path_of_engine(name):
        return replace(read_engine_file(path), name=name)
    theirs = {point.name: point for point in entry_points(group=GROUP)}
    if name not in theirs:
        raise InvalidEngine(f"no engine {display(name)}{nearest(name, names())}", rule="engine")
    try:
        entry = theirs[name].load()
        if isinstance(entry, Engine):
            return entry
        return replace(read_engine_file(Path(entry)), name=name)
    except RefengineError:
        raise
    except Exception as error:  # it is somebody else's code
        raise InvalidEngine(
            f"its entry point {theirs[name].value!r} gives no engine: {error}",
            rule="engine",
            place=name,
        ) from None


def files_of_engine(tested: Engine) -> Iterator[Path]:
    """Yield what a run of an engine reads: its own file, the files that the command of its harness
    and its needs name, and the folder of the cases.
    """
    yield corpus.CASES
    if (path := path_of_engine(tested.file or tested.name)) is not None:
        yield path
    for word in (*tested.command, *tested.needs):
        for place in (word, *word.partition("=")[2].split(os.pathsep), *word.split(os.pathsep)):
            if os.path.isfile(place):
                yield Path(place)


def path_of_engine(name: str) -> Path | None:
    """Return the path of an engine's file: the name itself if it is one, or else that of an engine
    that is shipped with the suite or that the user has added; None if there is none.
    """
    if name.endswith(".toml"):
        return Path(name)
    if not is_name(name):
        return None
    shipped = FILES / f"{name}.toml"
    if shipped.is_file():
        return shipped
    return find_engine_file(name)


def check_name(name: str) -> None:
    """Raise InvalidEngine for a name under which no engine can be added."""
    if not is_name(name):
        raise InvalidEngine(
            "the name of an engine has small letters, digits, dots, hyphens and underscores, at "
            "most 100, begins with a letter or digit, and does not end in .toml",
            rule="engine",
            place=display(name),
        )


def check_free_name(name: str) -> None:
    """Raise InvalidEngine for a name under which no engine can be added, or which an engine of the
    suite has.
    """
    check_name(name)
    if (FILES / f"{name}.toml").is_file():
        raise InvalidEngine(
            "the suite has an engine of this name; add yours under another",
            rule="engine",
            place=name,
        )


def names() -> list[str]:
    """Return the names of all engines that `engine` finds by name."""
    points = (point.name for point in entry_points(group=GROUP))
    return sorted({*shipped_names(), *points, *names_with_file()})
