"""How an engine is installed from each registry: the command that does it, how far it is, and what
is checked afterwards.

Every registry's own tool checks the packages against the hashes of the manifest; only Maven has no
lock, so its jars are checked here.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
import tomllib
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from conformance.engines.installation.places import programs_in
from conformance.engines.installation.pythons import find_python
from conformance.engines.installation.source import Package, Registry
from refengine.model.errors import RefengineError

JAR_HASHES = "jars.sha256"  # a line for each jar: the digest, two spaces, the file's name
JARS = "jars"
PACKAGES = "packages"  # of PyPI
HARNESS = "harness"  # the program that Cargo builds


class Installer(ABC):
    """How packages of one registry are installed in a folder, which has a copy of the manifest."""

    tool: ClassVar[str]
    """The program that must be on the path."""

    comes_with: ClassVar[str]
    """What the user installs to have that program."""

    @abstractmethod
    def command(self, package: Package, folder: Path) -> list[str]:
        """Return the command that installs a package and what it depends on in a folder."""

    @abstractmethod
    def count_packages(self, folder: Path) -> int:
        """Return how many packages the manifest pins."""

    @abstractmethod
    def count_ready(self, folder: Path, log: str) -> int:
        """Return how many of the packages are ready, while the command runs. `log` is what it has
        written so far.
        """

    def finish(self, folder: Path) -> None:
        """Check what the command has installed, and remove what the harness does not need. Raises
        RefengineError.
        """
        return None


class Npm(Installer):
    """The installer npm. It checks each package against `package-lock.json`, and runs no script of
    a package.
    """

    tool = "npm"
    comes_with = "Node.js 20 or newer"

    def command(self, package: Package, folder: Path) -> list[str]:
        """Return the command that installs what the lock pins."""
        quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
        # Without a network npm would wait for minutes before it says so.
        patience = ["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=10000"]
        options = ["--ignore-scripts", "--omit=dev", *quiet, *patience]
        return ["npm", "ci", "--prefix", str(folder), *options]

    def count_packages(self, folder: Path) -> int:
        """Return how many folders of `node_modules` the lock names."""
        return len(self._packages(folder))

    def count_ready(self, folder: Path, log: str) -> int:
        """Return how many of these folders are there, with a package in them."""
        return sum((package / "package.json").is_file() for package in self._packages(folder))

    def _packages(self, folder: Path) -> list[Path]:
        """Return the folders of the packages that the lock names, without those for development."""
        lock = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))
        packages = lock["packages"].items()
        return [
            folder / place for place, package in packages if place and not package.get("dev", False)
        ]


class Pip(Installer):
    """The installer pip. It checks each package against the hashes of `requirements.txt`."""

    tool = sys.executable
    comes_with = "pip"

    def command(self, package: Package, folder: Path) -> list[str]:
        """Return the command that installs what the requirements pin."""
        quiet = ["--disable-pip-version-check", "--no-input", "--progress-bar=off"]
        pinned = ["--require-hashes", "--no-deps", "-r", str(folder / "requirements.txt")]
        return [
            sys.executable,
            "-m",
            "pip",
            f"--python={find_python(package)}",
            "install",
            *quiet,
            "--target",
            str(folder / PACKAGES),
            *pinned,
        ]

    def count_packages(self, folder: Path) -> int:
        """Return how many packages the requirements pin."""
        text = (folder / "requirements.txt").read_text(encoding="utf-8")
        return len(re.findall(r"^[A-Za-z0-9_.-]+==", text, re.MULTILINE))

    def count_ready(self, folder: Path, log: str) -> int:
        """Return how many packages pip has begun to collect."""
        return len(re.findall(r"^Collecting ", log, re.MULTILINE))


class Cargo(Installer):
    """Cargo, which checks each crate against `Cargo.lock`, and builds the harness with them."""

    tool = "cargo"
    comes_with = "Rust 1.80 or newer"

    def command(self, package: Package, folder: Path) -> list[str]:
        """Return the command that builds the harness with what the lock pins."""
        manifest = str(folder / "Cargo.toml")
        target = str(folder / "target")
        return [
            "cargo",
            "build",
            "--release",
            "--locked",
            "--manifest-path",
            manifest,
            "--target-dir",
            target,
        ]

    def count_packages(self, folder: Path) -> int:
        """Return how many crates the lock pins."""
        return len(tomllib.loads((folder / "Cargo.lock").read_text(encoding="utf-8"))["package"])

    def count_ready(self, folder: Path, log: str) -> int:
        """Return how many crates Cargo has begun to compile."""
        return len(re.findall(r"^\s+Compiling ", log, re.MULTILINE))

    def finish(self, folder: Path) -> None:
        """Keep the program alone, under a name that is the same for every engine."""
        release = folder / "target" / "release"
        programs = programs_in(release)
        if len(programs) != 1:
            raise RefengineError(
                f"expected one program, got {len(programs)}",
                rule="engine",
                place=str(release),
            )
        programs[0].rename(folder / HARNESS)
        shutil.rmtree(folder / "target")


class Maven(Installer):
    """Maven. Its jars are checked against `jars.sha256`."""

    tool = "mvn"
    comes_with = "Maven, and a JDK 17 or newer"

    def command(self, package: Package, folder: Path) -> list[str]:
        """Return the command that copies the jars of the dependencies."""
        pom = str(folder / "pom.xml")
        return [
            "mvn",
            "--batch-mode",
            "--file",
            pom,
            "dependency:copy-dependencies",
            f"-DoutputDirectory={folder / JARS}",
        ]

    def count_packages(self, folder: Path) -> int:
        """Return how many jars have a hash."""
        return len(jar_hashes(folder))

    def count_ready(self, folder: Path, log: str) -> int:
        """Return how many jars have been copied."""
        return sum(1 for _ in folder.glob(f"{JARS}/*.jar"))

    def finish(self, folder: Path) -> None:
        """Check that the jars are those of `jars.sha256`, each with its hash."""
        expected = jar_hashes(folder)
        found = {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted((folder / JARS).glob("*.jar"))
        }
        for name in sorted({*expected, *found}):
            if expected.get(name) != found.get(name):
                raise RefengineError(
                    f"expected SHA-256 {expected.get(name, 'of no such jar')}, "
                    f"got {found.get(name, 'no such jar')}",
                    rule="engine",
                    place=name,
                )


def jar_hashes(folder: Path) -> dict[str, str]:
    """Return the digest of each jar, by the jar's name, as `jars.sha256` has them."""
    lines = (folder / JAR_HASHES).read_text(encoding="utf-8").splitlines()
    pairs = (line.split() for line in lines)
    return {name: digest for digest, name in pairs}


INSTALLERS: dict[Registry, Installer] = {
    Registry.NPM: Npm(),
    Registry.PYPI: Pip(),
    Registry.MAVEN: Maven(),
    Registry.CARGO: Cargo(),
}
