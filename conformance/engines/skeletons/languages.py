"""The languages of skeletons: which files each has, how they are built, and how the harness is
started.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    """A language of skeletons.

    `title` is its name for people. `files` maps each file of the skeleton to what the README says
    of it. `command` starts the harness. `program` is the file that has to be built first, and
    `build` has the words of the command that builds it; both are empty if nothing has to be built.
    `tool` is the program that must be on the path. `prints` is a sentence for the README about
    what the engine prints.
    """

    title: str
    files: Mapping[str, str]
    command: tuple[str, ...]
    tool: str
    program: str = ""
    build: tuple[str, ...] = ()
    prints: str = " The harness sees to it."


# what the README says of a file
FILL_IN = "the places to fill in"
PROTOCOL = "the protocol"

LANGUAGES: dict[str, Language] = {
    "go": Language(
        "Go",
        {
            "engine.go": FILL_IN,
            "main.go": PROTOCOL,
            "go.mod": "the module",
        },
        ("{here}/harness",),
        tool="go",
        program="{here}/harness",
        build=("go", "build", "-o", "harness", "."),
        prints=" The harness sees to it, but not for C code, and not for the `init` of packages "
        "that you import.",
    ),
    "rust": Language(
        "Rust",
        {
            "src/engine.rs": FILL_IN,
            "src/main.rs": PROTOCOL,
            "src/json.rs": "reads and writes JSON",
            "Cargo.toml": "the crate",
        },
        ("{here}/target/release/harness",),
        tool="cargo",
        program="{here}/target/release/harness",
        build=("cargo", "build", "--release"),
    ),
    "js": Language(
        "JavaScript (Node.js 18 or newer)",
        {"engine.mjs": FILL_IN, "harness.mjs": PROTOCOL},
        ("node", "{here}/harness.mjs"),
        tool="node",
        prints=" The harness sees to it, but not for programs that the engine starts with "
        "`stdio: 'inherit'`.",
    ),
    "java": Language(
        "Java (17 or newer)",
        {"Harness.java": "the protocol, and the class `Engine` with the places to fill in"},
        ("java", "{here}/Harness.java"),
        tool="java",
        prints=" The harness sees to it, but not for native libraries, and not for programs that "
        "the engine starts with `inheritIO`.",
    ),
    "python": Language(
        "Python (3.11 or newer)",
        {"engine.py": FILL_IN, "harness.py": PROTOCOL},
        ("{python}", "{here}/harness.py"),
        tool="",
    ),
    "c": Language(
        "C (C11 and POSIX)",
        {
            "engine.c": FILL_IN,
            "engine.h": "what each function of `engine.c` does, and how it answers",
            "harness.c": PROTOCOL,
            "json.c": "reads and writes JSON",
            "json.h": "the functions of `json.c`",
            "Makefile": "builds the harness",
        },
        ("{here}/harness",),
        tool="cc",
        program="{here}/harness",
        build=("make",),
    ),
}
