"""Engines that their users bring: keeping where they are, so that they are found by their names.

Each has a folder `NAME` in the user's data folder. Either `brought.json` in it says where the
engine is, or the engine's files themselves are in it.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from conformance.installation.places import data_folder
from conformance.installation.source import BroughtEngine, Kind
from refengine.model.errors import RefengineError
from refengine.model.messages import plain

RECORD = "brought.json"


def find_brought(name: str, wanted: BroughtEngine) -> str:
    """Return where a brought engine is: a class path, a folder or a program; empty if the user has
    not brought it. Raises RefengineError if what is kept of it is no longer there.
    """
    folder = data_folder() / name
    record = folder / RECORD
    if record.is_file():
        return check_place(name, wanted, _read_record(record))
    if folder.is_dir() and any(folder.iterdir()):
        return check_place(name, wanted, str(folder))
    return ""


def find_engine_file(name: str) -> Path | None:
    """Return the engine's file that the user has added under a name, or put into its folder as
    `NAME.toml` or `engine.toml`; None if there is none.
    """
    folder = data_folder() / name
    record = folder / RECORD
    if record.is_file():
        place = Path(_read_record(record))
        if place.suffix == ".toml":
            return place
        return None
    files = (folder / f"{name}.toml", folder / "engine.toml")
    return next((path for path in files if path.is_file()), None)


def names_with_file() -> list[str]:
    """Return the names under which the user has added engine's files."""
    try:
        names = sorted(path.name for path in data_folder().iterdir())
    except OSError:
        return []
    return [name for name in names if find_engine_file(name) is not None]


def keep_place(name: str, place: str) -> Path:
    """Keep where a brought engine is; return the file that says so. Paths are made absolute."""
    record = data_folder() / name / RECORD
    entries = [os.path.abspath(entry) for entry in place.split(os.pathsep)]
    text = json.dumps({"place": os.pathsep.join(entries)}, indent=2)
    draft = record.with_name(f".{RECORD}-{os.getpid()}")
    try:
        record.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(f"{text}\n", encoding="utf-8")
        draft.replace(record)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise RefengineError(
            f"cannot write: {error.strerror}", rule="engine", place=str(record)
        ) from None
    return record


def forget_place(name: str) -> bool:
    """Forget where a brought engine is; return whether it was known. The engine itself stays where
    it is. Raises RefengineError if the engine's own files are in the user's data folder, since they
    are not ours to remove.
    """
    folder = data_folder() / name
    record = folder / RECORD
    if record.is_file():
        record.unlink()
        if not any(folder.iterdir()):
            folder.rmdir()
        return True
    if folder.is_dir():
        raise RefengineError(
            "has files of its own, which only you can remove", rule="engine", place=str(folder)
        )
    return False


def _read_record(record: Path) -> str:
    """Return the place that a record has. Raises RefengineError for a malformed one."""
    try:
        place = json.loads(record.read_text(encoding="utf-8"))["place"]
    except (OSError, ValueError, KeyError, TypeError):
        place = None
    if not isinstance(place, str):
        raise RefengineError("is malformed; add the engine again", rule="engine", place=str(record))
    return place


def check_place(name: str, wanted: BroughtEngine, place: str) -> str:
    """Return the class path, folder or program that a place is. Raises RefengineError if there is
    no such thing at that place; the error says what is expected.
    """
    match wanted.kind:
        case Kind.CLASSPATH:
            return _check_classpath(name, wanted, place)
        case Kind.FOLDER:
            return _check_folder(name, wanted, Path(place))
        case Kind.PROGRAM:
            return _check_program(name, wanted, Path(place))


def _check_classpath(name: str, wanted: BroughtEngine, place: str) -> str:
    """Return a class path. A folder with jars stands for all of them."""
    entries = []
    for entry in place.split(os.pathsep):
        path = Path(entry.removesuffix("*") or ".")
        if not entry or not path.exists():
            raise _not_there(name, wanted, entry)
        if path.is_dir() and any(path.glob("*.jar")):
            entry = str(path / "*")
        entries.append(entry)
    return os.pathsep.join(entries)


def _check_folder(name: str, wanted: BroughtEngine, folder: Path) -> str:
    """Return the path of a folder that has the files that the engine's file asks for."""
    if not folder.is_dir():
        raise _not_there(name, wanted, str(folder))
    for file in wanted.has:
        if not (folder / file).exists():
            raise RefengineError(
                f"{plain(str(folder))} has no {file}; expected {wanted.what}",
                rule="engine",
                place=name,
            )
    return str(folder)


def _check_program(name: str, wanted: BroughtEngine, path: Path) -> str:
    """Return the path of a program. A folder stands for the one program in it."""
    if path.is_dir():
        programs = [
            each for each in sorted(path.iterdir()) if each.is_file() and os.access(each, os.X_OK)
        ]
        if len(programs) == 1:
            path = programs[0]
    if not path.is_file():
        raise _not_there(name, wanted, str(path))
    if not os.access(path, os.X_OK) or shutil.which(str(path)) is None:
        raise RefengineError(f"{plain(str(path))} cannot be executed", rule="engine", place=name)
    return str(path)


def _not_there(name: str, wanted: BroughtEngine, place: str) -> RefengineError:
    """Return the error that there is nothing of a kind at a place."""
    return RefengineError(
        f"{plain(place)} is no {wanted.kind}; expected {wanted.what}", rule="engine", place=name
    )
