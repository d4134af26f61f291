"""The folders in which engines are kept: installed ones in the user's cache folder, brought ones in
the user's data folder.

The environment variables CONFORMANCE_CACHE and CONFORMANCE_DATA name other folders.
"""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path

import platformdirs

from conformance.engines.installation.pythons import find_version
from conformance.engines.installation.source import Package, Registry
from refengine.model.errors import RefengineError

APPLICATION = "refengine"
CACHE = "CONFORMANCE_CACHE"
DATA = "CONFORMANCE_DATA"
# The digits of a digest that stand in the name of a folder.
DIGITS = 8
# Folders that a build may leave beside a manifest.
OUTPUTS = frozenset({"node_modules", "target", "__pycache__"})


def cache_folder() -> Path:
    """Return the folder in which engines of registries are installed, each in a folder of its own.
    It can be removed at any time: `conformance engines install` makes it again.
    """
    if folder := os.environ.get(CACHE):
        return Path(folder).absolute()
    return platformdirs.user_cache_path(APPLICATION, appauthor=False).absolute() / "engines"


def data_folder() -> Path:
    """Return the folder that has a folder for each engine that the user has brought."""
    if folder := os.environ.get(DATA):
        return Path(folder).absolute()
    return platformdirs.user_data_path(APPLICATION, appauthor=False).absolute() / "engines"


def cannot_write(error: OSError, place: Path, variable: str) -> RefengineError:
    """Return the error that a file or folder of ours cannot be written. It names the environment
    variable with which its user chooses another folder.
    """
    return RefengineError(
        f"cannot write: {error.strerror}; {variable}=FOLDER uses another folder",
        rule="engine",
        place=str(place),
    )


def installed_folder(package: Package) -> Path:
    """Return the folder of an engine in the cache, whether it is there or not.

    Its name has that of the manifest's folder, the version, and the digest of the manifest, such as
    `rsp-js-1.3.5-0f3c9a21`. So if another version of a dependency is pinned, the folder is another
    one; and engines with one manifest share a folder. What PyPI has for one Python may not run on
    another, so there the name ends with its version, such as `py3.12`.
    """
    manifest = package.manifest
    name = f"{manifest.name}-{package.version}-{manifest_digest(manifest)}"
    if package.registry is Registry.PYPI:
        name += f"-py{find_version(package)}"
    return cache_folder() / name


@cache
def manifest_digest(manifest: Path) -> str:
    """Return the first digits of the digest of all files of a manifest, in hexadecimal."""
    digest = hashlib.sha256()
    for path in manifest_files(manifest):
        digest.update(path.relative_to(manifest).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:DIGITS]


def programs_in(folder: Path) -> list[Path]:
    """Return the files of a folder that can be executed, in a fixed order."""
    return [
        path for path in sorted(folder.iterdir()) if path.is_file() and os.access(path, os.X_OK)
    ]


def manifest_files(manifest: Path) -> list[Path]:
    """Return the files of a manifest in a fixed order, without what a build has left beside
    them.
    """
    files = []
    for folder, folders, names in os.walk(manifest):
        folders[:] = [name for name in folders if name not in OUTPUTS]
        files += [Path(folder, name) for name in names]
    return sorted(files)
