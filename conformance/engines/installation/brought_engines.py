"""Engines that their users bring: keeping where they are, so that they are found by their names.

Each has a folder `NAME` in the user's data folder. Either `brought.json` in it says where the
engine is, or the engine's files themselves are in it. If the user has added an engine's file, too,
`engine.json` says where that is, unless it is in the folder itself.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from conformance.engines.installation.places import DATA, cannot_write, data_folder, programs_in
from conformance.engines.installation.source import BroughtEngine, InvalidEngine, Kind
from refengine.model.errors import RefengineError
from refengine.model.messages import display, plain

RECORD = "brought.json"
FILE_RECORD = "engine.json"
# of an engine that the user adds; what ends in .toml is the path of an engine's file
NAME = r"(?!.*\.toml\Z)[a-z0-9][a-z0-9._-]{0,99}"


def is_name(text: str) -> bool:
    """Whether an engine can be added under this name."""
    return re.fullmatch(NAME, text) is not None


def find_brought(name: str, wanted: BroughtEngine) -> str:
    """Return where a brought engine is: a class path, a folder or a program; empty if the user has
    not brought it. Raises RefengineError if what is kept of it is no longer there.
    """
    folder = data_folder() / name
    with _reading(folder):
        place = _read_record(folder / RECORD)
        if not place and _has_own_files(folder):
            place = str(folder)
        if not place:
            return ""
        return check_place(name, wanted, place)


def _has_own_files(folder: Path) -> bool:
    """Whether a folder of the user's data has more than records and an engine's file."""
    if not folder.is_dir():
        return False
    return any(path.suffix != ".toml" and path.name != FILE_RECORD for path in folder.iterdir())


def find_engine_file(name: str) -> Path | None:
    """Return the engine's file that the user has added under a name, or put into its folder as
    `NAME.toml` or `engine.toml`; None if there is none.
    """
    folder = data_folder() / name
    with _reading(folder):
        if place := _read_record(folder / FILE_RECORD):
            return Path(place)
        files = (folder / f"{name}.toml", folder / "engine.toml")
        return next((path for path in files if path.is_file()), None)


def names_with_file() -> list[str]:
    """Return the names under which the user has added engine's files, with those of which it cannot
    be read what was added. A folder whose name is no engine's is left out.
    """
    try:
        names = sorted(path.name for path in data_folder().iterdir())
    except OSError:
        return []
    return [name for name in names if is_name(name) and _may_have_file(name)]


def _may_have_file(name: str) -> bool:
    """Whether the user has added an engine's file under a name, or it cannot be read what was."""
    try:
        return find_engine_file(name) is not None
    except RefengineError:
        return True


@contextmanager
def _reading(place: Path) -> Iterator[None]:
    """Raise an OSError of the context as a RefengineError that names a place."""
    try:
        yield
    except OSError as error:
        where = error.filename or place
        raise RefengineError(
            f"cannot be read: {error.strerror}",
            rule="engine",
            place=str(where),
        ) from None


def keep_place(name: str, place: str) -> Path:
    """Keep where a brought engine is, an absolute path or a class path of absolute paths; return
    the file that says so.
    """
    return _keep(data_folder() / name / RECORD, place)


def keep_engine_file(name: str, path: str) -> Path:
    """Keep where an engine's file is, an absolute path; return the file that says so."""
    return _keep(data_folder() / name / FILE_RECORD, path)


def _keep(record: Path, place: str) -> Path:
    """Write a place into a record, and return the record."""
    text = json.dumps({"place": place}, indent=2)
    draft = record.with_name(f".{record.name}-{os.getpid()}")
    try:
        record.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(f"{text}\n", encoding="utf-8")
        draft.replace(record)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        with suppress(OSError):  # if it is empty
            record.parent.rmdir()
        raise cannot_write(error, record, DATA) from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return record


def forget_place(name: str) -> bool:
    """Forget where a brought engine is; return whether it was known. The engine itself stays where
    it is. Raises RefengineError if the engine's own files are in the user's data folder, since they
    are not ours to remove.
    """
    folder = data_folder() / name
    records = [folder / RECORD, folder / FILE_RECORD]
    try:
        known = [record for record in records if record.is_file()]
        for record in known:
            record.unlink()
        if not folder.is_dir():
            return bool(known)
        if not any(folder.iterdir()):
            folder.rmdir()
            return bool(known)
    except OSError as error:
        raise cannot_write(error, folder, DATA) from None
    if not known:
        raise RefengineError(
            "has files of its own, which only you can remove",
            rule="engine",
            place=str(folder),
        )
    return True


def _read_record(record: Path) -> str:
    """Return the place that a record has; empty if there is no record. Raises RefengineError for a
    malformed one, and OSError for one that cannot be read.
    """
    if not record.is_file():
        return ""
    text = record.read_bytes()
    try:
        place = json.loads(text)["place"]
    except (ValueError, KeyError, TypeError, RecursionError):
        place = None
    if not isinstance(place, str) or "\0" in place:
        raise RefengineError("is malformed; add the engine again", rule="engine", place=str(record))
    if not os.path.isabs(place):
        raise RefengineError(
            f"expected an absolute path, got {display(place)}; add the engine again",
            rule="engine",
            place=str(record),
        )
    return place


def check_place(name: str, wanted: BroughtEngine, place: str) -> str:
    """Return the class path, folder or program that a place is, as an absolute path. Raises
    RefengineError if there is no such thing at that place; the error says what is expected.
    """
    match wanted.kind:
        case Kind.CLASSPATH:
            return _check_classpath(name, wanted, place)
        case Kind.FOLDER:
            return _check_folder(name, wanted, Path(os.path.abspath(place)))
        case Kind.PROGRAM:
            return _check_program(name, wanted, Path(os.path.abspath(place)))


def _check_classpath(name: str, wanted: BroughtEngine, place: str) -> str:
    """Return a class path. A folder with jars stands for all of them."""
    entries = []
    for entry in split_classpath(name, place):
        if not is_entry_there(entry):
            raise _not_there(name, wanted, entry)
        folder = Path(entry.removesuffix("*") or ".")
        if folder.is_dir() and any(folder.glob("*.jar")):
            entry = str(folder / "*")
        entries.append(os.path.abspath(entry))
    return os.pathsep.join(entries)


def split_classpath(name: str, classpath: str) -> list[str]:
    """Return the entries of an engine's class path. Raises InvalidEngine for an empty one."""
    entries = classpath.split(os.pathsep)
    if not all(entries):
        raise InvalidEngine(
            f"an empty entry in its classpath {display(classpath)}; write . for the current folder",
            rule="engine",
            place=name,
        )
    return entries


def is_entry_there(entry: str) -> bool:
    """Whether there is what an entry of a class path names. `lib/*` names the folder `lib`."""
    return os.path.exists(entry.removesuffix("*") or ".")


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
        programs = programs_in(path)
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
        f"{plain(place)} is no {wanted.kind}; expected {wanted.what}",
        rule="engine",
        place=name,
    )
