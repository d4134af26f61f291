"""Writing a skeleton into a new folder."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

from conformance.engines.skeletons.languages import LANGUAGES, Language
from refengine.model.errors import RefengineError
from refengine.model.messages import display

HERE = Path(__file__).parent
SUFFIX = ".template"


def read_skeleton(name: str, language: str) -> dict[str, str]:
    """Return the files of a skeleton with their contents, for an engine of a name. Raises
    RefengineError if the engine's file would have the name of another file of the skeleton: capital
    letters make no difference, since on some machines `cargo.toml` and `Cargo.toml` are one file.
    """
    about = LANGUAGES[language]
    for file in about.files:
        if file.lower() == f"{name}.toml".lower():
            raise RefengineError(
                f"the engine's file {name}.toml would clash with {file} of a skeleton in "
                f"{about.title}; choose another name, such as my-{name}",
                rule="usage",
                place=display(name),
            )
    contents = {
        f"{name}.toml": _read("engine.toml"),
        "README.md": _read("README.md"),
        **{file: _read(f"{language}/{file}") for file in about.files},
    }
    words = {"@NAME@": name, **_words(about)}
    for file, text in contents.items():
        for word, replacement in words.items():
            text = text.replace(word, replacement)
        contents[file] = text
    return contents


def write_skeleton(name: str, language: str, folder: Path) -> list[Path]:
    """Write the files of a skeleton into a new folder, all or none, and return their paths in
    order. Raises RefengineError if something of the folder's name exists already, or if the folder
    cannot be made.
    """
    contents = read_skeleton(name, language)
    try:
        folder.mkdir()
    except FileExistsError:
        raise RefengineError(
            "exists already, and nothing is overwritten; name a new folder with --folder",
            rule="usage",
            place=display(str(folder)),
        ) from None
    except (OSError, ValueError) as error:
        raise RefengineError(
            f"cannot be made: {getattr(error, 'strerror', None) or error}",
            rule="usage",
            place=display(str(folder)),
        ) from None
    try:
        for file, text in contents.items():
            path = folder / file
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)  # it is ours: it was made above
        raise
    return [folder / file for file in contents]


def _read(file: str) -> str:
    """Return the text of a template."""
    return (HERE / f"{file}{SUFFIX}").read_text(encoding="utf-8")


def _words(about: Language) -> dict[str, str]:
    """Return what takes the place of each word in the templates, beside the engine's name."""
    build = "Nothing has to be built."
    needs = f"commands = {json.dumps([about.tool])}\n"
    if not about.tool:
        needs = ""
    if about.build:
        command = shlex.join(about.build)
        build = f"Build the harness in this folder: `{command}`"
        needs = (
            f"needs = {json.dumps([about.program])}\n"
            f'get = "build it with `{command}` in the folder of this file"\n'
        )
    return {
        "@LANGUAGE@": about.title,
        "@COMMAND@": json.dumps(list(about.command)),
        "@NEEDS@\n": needs,
        "@BUILD@": build,
        "@FILES@": "\n".join(f"| `{file}` | {what} |" for file, what in about.files.items()),
        "@PRINTS@": about.prints,
    }
