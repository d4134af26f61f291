"""The folders in which engines are kept: installed ones in the user's cache folder, brought ones in
the user's data folder.

The environment variable CONFORMANCE_HOME names another folder for both.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import platformdirs

from conformance.installation.source import Package

APPLICATION = "refengine"
HOME = "CONFORMANCE_HOME"
# The digits of a digest that stand in the name of a folder.
DIGITS = 8


def cache_folder() -> Path:
    """Return the folder in which engines of registries are installed, each in a folder of its own.
    It can be removed at any time: `conformance engines install` makes it again.
    """
    home = os.environ.get(HOME)
    if home:
        return Path(home) / "cache"
    return platformdirs.user_cache_path(APPLICATION, appauthor=False) / "engines"


def data_folder() -> Path:
    """Return the folder that has a folder for each engine that the user has brought."""
    home = os.environ.get(HOME)
    if home:
        return Path(home) / "engines"
    return platformdirs.user_data_path(APPLICATION, appauthor=False) / "engines"


def installed_folder(package: Package) -> Path:
    """Return the folder of an engine in the cache, whether it is there or not.

    Its name has that of the manifest's folder, the version, and the digest of the manifest, such as
    `rsp-js-1.3.5-0f3c9a21`. So if another version of a dependency is pinned, the folder is another
    one; and engines with one manifest share a folder.
    """
    manifest = package.manifest
    return cache_folder() / f"{manifest.name}-{package.version}-{manifest_digest(manifest)}"


def manifest_digest(manifest: Path) -> str:
    """Return the first digits of the digest of all files of a manifest, in hexadecimal."""
    digest = hashlib.sha256()
    for path in manifest_files(manifest):
        digest.update(path.relative_to(manifest).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:DIGITS]


def manifest_files(manifest: Path) -> list[Path]:
    """Return the files of a manifest in a fixed order, without what a build has left beside
    them.
    """
    outputs = {"node_modules", "target", "__pycache__"}
    return sorted(
        path
        for path in manifest.rglob("*")
        if path.is_file() and not outputs & set(path.relative_to(manifest).parts)
    )
