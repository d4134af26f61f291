"""Starting an engine on this machine: its command, what the command needs, and what is missing."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from conformance.engines.installation.brought_engines import (
    find_brought,
    is_entry_there,
    split_classpath,
)
from conformance.engines.installation.install import is_installed, missing_tool
from conformance.engines.installation.places import installed_folder
from conformance.engines.installation.registries import PACKAGES
from conformance.engines.installation.source import (
    BroughtEngine,
    InvalidEngine,
    Kind,
    Package,
    Registry,
)
from refengine.model.messages import display

# What stands in a command for what the user brings: a class path, or anything else.
BROUGHT = ("{classpath}", "{brought}")
COMMAND = "python -m conformance engines"


@dataclass(frozen=True)
class StartableEngine:
    """An engine as far as it is started on this machine.

    `name` and `title` are its names for commands and for people. `command` is that of its harness.

    Where it comes from: `package` names a package of a registry, and `to_bring` what its user
    brings; at most one of them is there.

    `needs`, `commands` and `modules` are the paths, commands and Python packages without which it
    cannot be started, and `get` says how to get them.

    `file` is the path of its file, if the user has named it by that and not by its name.
    """

    name: str
    title: str
    command: tuple[str, ...]
    _: KW_ONLY
    get: str = ""
    package: Package | None = None
    to_bring: BroughtEngine | None = None
    needs: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    file: str = ""

    @property
    def _word(self) -> str:
        """The word by which a command finds the engine: its file, if it was named by that."""
        return shlex.quote(self.file or self.name)

    @property
    def version(self) -> str:
        """The version of the engine, if its file states one."""
        source = self.package or self.to_bring
        return source.version if source else ""

    @property
    def licence(self) -> str:
        """The licence of the engine, if its file states one."""
        source = self.package or self.to_bring
        return source.licence if source else ""

    @property
    def comes_from(self) -> str:
        """Where the engine comes from, in words."""
        if self.package is not None:
            return str(self.package.registry)
        if self.to_bring is not None:
            return "you bring it"
        return "its file"

    @property
    def missing(self) -> str:
        """The first thing that the engine needs and that is missing, and what to do about it; empty
        if the engine can be started.
        """
        lacking = next(self._lacking(), None)
        if lacking is None:
            return ""
        what, next_step = lacking
        return f"no {self.title}, which needs {what}: {next_step}".removesuffix(": ")

    @property
    def next_step(self) -> str:
        """What the user does next so that the engine can be started; empty if it can."""
        lacking = next(self._lacking(), None)
        if lacking is None:
            return ""
        what, next_step = lacking
        return next_step or f"needs {what}"

    @property
    def place(self) -> str:
        """Where the engine is on this machine: the folder in which it is installed, or what the
        user has brought. It is empty if there is no such place.
        """
        if self.package is not None and is_installed(self.package):
            return str(installed_folder(self.package))
        if self.to_bring is not None:
            return find_brought(self.name, self.to_bring)
        return ""

    @property
    def environment(self) -> dict[str, str] | None:
        """The environment of the harness's process; None for that of the suite. Python packages
        that are installed for the engine stand behind those of the suite.
        """
        if self.package is None or self.package.registry is not Registry.PYPI or not self.place:
            return None
        paths = [os.environ.get("PYTHONPATH", ""), str(Path(self.place) / PACKAGES)]
        return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}

    def _lacking(self) -> Iterator[tuple[str, str]]:
        """Yield what the engine needs and what is missing, each with what the user does next."""
        for command in self.commands:
            if shutil.which(command) is None:
                yield f"the command {command}", self.get or f"install {command}"
        if self.package is not None and not self._has_package(self.package):
            yield from self._lacking_for_package(self.package)
        if self._takes_what_is_brought:
            yield self._lacking_from_user()
        for place in self.needs:
            if not os.path.exists(place):
                yield place, self.get
        for module in self.modules:
            if self.package is None and find_spec(module) is None:
                yield f"the Python package {module}", self.get

    def _lacking_from_user(self) -> tuple[str, str]:
        """Return what the user has to bring, and what to do next."""
        if self.to_bring is not None:
            return self.to_bring.what, f"{COMMAND} add {self.name} PATH"
        return f"--engine-classpath={self.name}=PATH or {_variable(self.name)}", self.get

    def _lacking_for_package(self, package: Package) -> Iterator[tuple[str, str]]:
        """Yield what is missing to install the engine's package, and the package itself."""
        if tool := missing_tool(package):
            what = tool.removeprefix("the command ")
            yield tool, f"install {what}, then: {COMMAND} install {self._word}"
        yield f"{package.registry}'s package", f"{COMMAND} install {self._word}"

    def _has_package(self, package: Package) -> bool:
        """Whether the package is installed, by us or, if it is one of Python, in the environment
        that runs the suite.
        """
        if is_installed(package):
            return True
        in_environment = package.registry is Registry.PYPI and bool(self.modules)
        return in_environment and all(find_spec(module) for module in self.modules)

    @property
    def _takes_what_is_brought(self) -> bool:
        """Whether the engine's command has a place for what the user brings."""
        return any(name in word for word in self.command for name in BROUGHT)

    def with_classpath(self, classpath: str) -> Self:
        """Return the engine with what its user brings in its command: a class path, or else what is
        given in its place. By default this is that of the environment, or what was kept by
        `engines add`. Raises InvalidEngine for a classpath that does not exist, and for one that is
        given to an engine that takes none.
        """
        if not self._takes_what_is_brought:
            if classpath:
                raise InvalidEngine("takes no classpath", rule="engine", place=self.name)
            return self
        path = classpath or os.environ.get(_variable(self.name), "")
        if not path and self.to_bring is not None:
            path = find_brought(self.name, self.to_bring)
        if not path:
            return self
        entries = [path]
        if self.to_bring is None or self.to_bring.kind is Kind.CLASSPATH:
            entries = split_classpath(self.name, path)
        for entry in entries:
            if not is_entry_there(entry):
                raise InvalidEngine(
                    f"no {display(entry)} for its classpath",
                    rule="engine",
                    place=self.name,
                )
        return replace(self, command=tuple(_with_brought(word, path) for word in self.command))


def _variable(name: str) -> str:
    """Return the name of the environment variable for an engine's classpath, such as
    `CONFORMANCE_CLASSPATH_RSP_JS`.
    """
    return f"CONFORMANCE_CLASSPATH_{re.sub(r'[^A-Z0-9]', '_', name.upper())}"


def _with_brought(word: str, place: str) -> str:
    """Return a word of a command in which what the user brings stands for its name in braces."""
    for name in BROUGHT:
        word = word.replace(name, place)
    return word
