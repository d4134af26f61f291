"""The files of the playground: the page, Pyodide, the engine with its libraries in one archive, and
what the page reads of rules and examples.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from conformance.corpus import rule_texts
from refengine.drawings.style import style
from tools.site.playground import describe
from tools.site.questions import examples

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "site"
PACKAGES = SITE / "node_modules"
# of our packages, what the page does not use
LEFT_OUT = re.compile(
    r"__pycache__|^refengine/(strategies|formal)/|^refengine/testing\.py"
    r"|^conformance/(?!__init__\.py|schemas\.py|schema/|corpus/|verdict/|wrong_engines/"
    r"|bench/__init__\.py|bench/metrics/)"
)
LIBRARIES = ("lark", "pyparsing", "rdflib", "sortedcontainers")
LEFT_OUT_OF_LIBRARIES = re.compile(r"__pycache__|__pyinstaller|^rdflib/tools/|^pyparsing/diagram/")
# of Python's own library, what no browser runs
NOT_IN_A_BROWSER = re.compile(
    r"^(idlelib|pydoc_data|ensurepip|turtledemo|test|tkinter|lib2to3|sqlite3|curses|venv|xmlrpc|_pyrepl"
    r"|multiprocessing|wsgiref|ctypes|profiling|__phello__)/"
    r"|^(turtle|pdb|doctest|pydoc|mailbox|imaplib|smtplib|ftplib|poplib|optparse|tarfile|cProfile"
    r"|profile|pstats|trace|webbrowser)\.py$"
)
NOT_IN_THE_PAGE = ("@esbuild/", "@types/", "axe-core", "esbuild", "ws")
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
STAMP = (2026, 1, 1, 0, 0, 0)
Json = dict[str, Any]


def write_playground(folder: Path) -> None:
    """Write the playground into a folder. Raises CalledProcessError if npm's tools fail."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "pyodide").mkdir(parents=True)
    for name in ("index.html", "oxigraph.js"):
        shutil.copy(SITE / "playground" / name, folder)
    write_worker(folder)
    own_style = (SITE / "playground" / "style.css").read_text(encoding="utf-8")
    write(folder / "style.css", style() + own_style)
    node(
        "node_modules/esbuild/bin/esbuild",
        "playground/main.js",
        "--bundle",
        "--format=esm",
        "--minify",
        "--target=es2022",
        "--legal-comments=linked",
        f"--outfile={folder / 'main.js'}",
    )
    write_python(folder)
    write(folder / "NOTICE.txt", "".join(notices()))
    write(folder / "described.json", json.dumps(describe({}), ensure_ascii=False))
    write(folder / "rules.json", json.dumps(rules_of_page(), ensure_ascii=False))
    write(
        folder / "examples.json",
        json.dumps([shown(example) for example in examples()], ensure_ascii=False),
    )
    write_service_worker(folder)


def write(path: Path, text: str) -> None:
    """Write a text file."""
    path.write_text(text, encoding="utf-8")


def node(program: str, *words: str) -> None:
    """Run a program for Node.js in the folder of the site."""
    subprocess.run(["node", program, *words], cwd=SITE, check=True)


def write_python(folder: Path) -> None:
    """Write Pyodide and the archive of the engine, both compiled."""
    for name in PYODIDE:
        shutil.copy(PACKAGES / "pyodide" / name, folder / "pyodide")
    lock = json.loads((PACKAGES / "pyodide" / "pyodide-lock.json").read_text(encoding="utf-8"))
    write(folder / "pyodide" / "pyodide-lock.json", json.dumps({**lock, "packages": {}}))
    library = folder / "pyodide" / "python_stdlib.zip"
    with zipfile.ZipFile(library) as read:
        kept = {
            name: read.read(name)
            for name in read.namelist()
            if not name.endswith("/") and not NOT_IN_A_BROWSER.match(name)
        }
    write_archive(library, kept)
    write_archive(folder / "app.zip", dict(modules_of_page()))
    node("compile.mjs", str(library), str(folder / "app.zip"))


def write_archive(path: Path, files: Mapping[str, bytes]) -> None:
    """Write an archive, the same one for the same files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, STAMP), files[name])


def modules_of_page() -> Iterator[tuple[str, bytes]]:
    """Yield the files that the page's Python imports: ours, and those of the libraries."""
    for package in ("refengine", "conformance"):
        for path in sorted((ROOT / package).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.is_file() and not LEFT_OUT.search(name):
                yield name, path.read_bytes()
    for name in ("playground", "exports"):
        yield f"tools/site/{name}.py", (Path(__file__).parent / f"{name}.py").read_bytes()
    yield "pyoxigraph.py", (Path(__file__).parent / "oxigraph.py").read_bytes()
    for library in LIBRARIES:
        for file in metadata.files(library) or ():
            name = file.as_posix()
            if not LEFT_OUT_OF_LIBRARIES.search(name) and not name.startswith(".."):
                yield name, Path(file.locate()).read_bytes()


def notices() -> Iterator[str]:
    """Yield a line for each library that the page is made of, with its version and licence."""
    lock = json.loads((SITE / "package-lock.json").read_text(encoding="utf-8"))
    for path, package in sorted(lock["packages"].items()):
        name = path.removeprefix("node_modules/")
        if name and not name.startswith(NOT_IN_THE_PAGE):
            yield f"{name} {package['version']}: {package.get('license', 'see its package')}\n"
    for library in LIBRARIES:
        about = metadata.metadata(library)
        key = next(key for key in ("License-Expression", "License") if key in about)
        yield f"{library} {about['Version']}: {about[key].splitlines()[0]}\n"


def write_worker(folder: Path) -> None:
    """Write the worker, which knows Oxigraph's version, and Oxigraph."""
    (folder / "oxigraph").mkdir()
    for name in ("web.js", "web_bg.wasm"):
        shutil.copy(PACKAGES / "oxigraph" / name, folder / "oxigraph")
    package = json.loads((PACKAGES / "oxigraph" / "package.json").read_text(encoding="utf-8"))
    text = (SITE / "playground" / "worker.js").read_text(encoding="utf-8")
    write(folder / "worker.js", text.replace("@OXIGRAPH@", package["version"]))


def write_service_worker(folder: Path) -> None:
    """Write the service worker, which names every file of the folder and their digest."""
    names = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "sw.js"
    )
    digest = hashlib.sha256()
    for name in names:
        digest.update(name.encode() + (folder / name).read_bytes())
    text = (SITE / "playground" / "sw.js").read_text(encoding="utf-8")
    text = text.replace('"@FILES@"', json.dumps(["./", *names]))
    write(folder / "sw.js", text.replace("@NAME@", f"playground-{digest.hexdigest()[:16]}"))


def rules_of_page() -> dict[str, Json]:
    """Return the title of each rule, and where the site has it."""
    return {
        rule: {"title": text.title, "href": f"../{text.page.removesuffix('.md')}/#{rule.lower()}"}
        for rule, text in rule_texts.rule_texts().items()
    }


def shown(example: Json) -> Json:
    """Return an example as the page needs it."""
    return {name: example[name] for name in ("id", "rule", "name", "derivation", "state")}
