"""Where an engine comes from, as its file says: a package of a registry, or something that the user
brings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from refengine.model.errors import RefengineError


class InvalidEngine(RefengineError):
    """The error of a malformed engine's file, or of an engine that does not exist."""


class Registry(StrEnum):
    """A package registry from which an engine can be installed."""

    NPM = "npm"
    PYPI = "PyPI"
    MAVEN = "Maven Central"
    CARGO = "Cargo"


class Kind(StrEnum):
    """What a user brings of an engine: a Java class path, a folder, or a program."""

    CLASSPATH = "classpath"
    FOLDER = "folder"
    PROGRAM = "program"


@dataclass(frozen=True)
class Package:
    """An engine that a package registry has.

    `manifest` is the folder of the files that pin the package and all that it depends on, with
    their hashes. `version` and `licence` are those of the engine. `pythons` are the versions of
    Python that a package of PyPI is for, such as `3.12`; empty if it is for every one.
    """

    registry: Registry
    version: str
    licence: str
    manifest: Path
    pythons: tuple[str, ...] = ()

    @classmethod
    def of_table(cls, table: Mapping[str, Any], here: Path) -> Package:
        """Return the package that the table `install` of an engine's file names. `here` is the
        folder of that file.
        """
        return cls(
            Registry(table["registry"]),
            table["version"],
            table["licence"],
            here / table["manifest"],
            tuple(table.get("pythons", ())),
        )


@dataclass(frozen=True)
class BroughtEngine:
    """An engine that no registry has, so that its user brings it.

    `what` says in words what the user gives, for example "the jar of CQELS with its dependencies".
    `has` names files that a brought folder must have. `version` is the one with which the tables
    of our documentation were made, and `instructions` the address of the engine's own page.
    """

    kind: Kind
    what: str
    version: str
    licence: str
    instructions: str
    has: tuple[str, ...] = ()

    @classmethod
    def of_table(cls, table: Mapping[str, Any]) -> BroughtEngine:
        """Return what the table `bring` of an engine's file asks a user for."""
        return cls(
            Kind(table["kind"]),
            table["what"],
            table["version"],
            table["licence"],
            table["instructions"],
            tuple(table.get("has", ())),
        )
