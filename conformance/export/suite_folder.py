"""The folder of an exported suite: manifests, the files of each case, what the manifests refer to,
the sums of all files, and an archive of them. The same suite gives the same bytes.
"""

from __future__ import annotations

import gzip
import io
import re
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from conformance import corpus, schemas
from conformance.corpus import Case, window_cases
from conformance.corpus.iris import iri
from conformance.corpus.rule_texts import FOLDERS
from conformance.engines.installation.unfinished import unfinished_folder
from conformance.export import manifest
from conformance.export.caught import find_caught
from conformance.export.expectations import profile_table
from conformance.export.exported_case import ExportedCase, export_case
from conformance.harness.engine_file import Engine
from conformance.verdict.results import check_new_folder, json_text, writing
from conformance.wrong_engines import WRONG_ENGINES, WrongEngine
from refengine import __version__
from refengine.model.errors import RefengineError

TITLE = "Tests of continuous queries over RDF streams"
SUMS = "SHA256SUMS"
PAGE = "docs/suite-as-data.md"
SCHEMAS = ("exported-suite", "exported-case", "command", "case")
# suites of engines that are no cases of these files, with the reason
LEFT_OUT = {
    "csrbench": "its queries have no cases, and its stream and recordings are not ours to "
    "distribute; `python -m conformance csrbench` judges it",
}
Progress = Callable[[Iterable[WrongEngine]], Iterable[WrongEngine]]
Files = dict[str, bytes]


class ExportedSuite(NamedTuple):
    """What an export came to: how many cases and files it has, the archive, and the digest, which
    is that of the sums of all files but the archive.
    """

    cases: int
    files: int
    archive: Path
    digest: str


def all_cases() -> tuple[Case, ...]:
    """Return the cases of all suites: the corpus, with joins, and the suite `windows`."""
    return (*corpus.cases(), *window_cases.window_cases())


def export_suite(
    folder: Path,
    cases: Sequence[Case],
    engines: tuple[Engine, ...] = (),
    progress: Progress = iter,
) -> ExportedSuite:
    """Write cases to a folder, which must be empty or not exist yet. `engines` are those of which
    the cases say what they must report by their own semantics. The files are written to a folder
    beside it, which is renamed at the end: after an error or an interrupt nothing is left of it.
    Raises RefengineError.
    """
    check_new_folder(folder)
    for tested in engines:
        if tested.is_configurable:
            raise RefengineError(
                "is sent its semantics, so every case already says what it must report",
                rule="usage",
                place=f"--engine {tested.name}",
            )
    caught = find_caught(cases, progress)
    exported = [export_case(case, caught.get((case.suite, case.id), ()), engines) for case in cases]
    files = dict(sorted(_all_files(exported, engines).items()))
    sums = "".join(f"{sha256(content).hexdigest()}  {name}\n" for name, content in files.items())
    files[SUMS] = sums.encode()
    name = f"refengine-suite-{__version__}"
    archive = folder / f"{name}.tar.gz"
    with writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with unfinished_folder(folder.parent) as parent:
            draft = parent / "suite"
            _write(draft, files)
            (draft / archive.name).write_bytes(archive_of(files, name))
            with suppress(FileNotFoundError):
                folder.rmdir()  # it is empty: Windows renames to no folder that is there
            draft.rename(folder)
    return ExportedSuite(len(exported), len(files), archive, sha256(files[SUMS]).hexdigest())


def _write(folder: Path, files: Files) -> None:
    """Write files to a new folder."""
    for parent in sorted({(folder / name).parent for name in files}):
        parent.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def archive_of(files: Files, name: str) -> bytes:
    """Return an archive of files in a folder of this name, without times and owners."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path, content in files.items():
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size = len(content)
            entry.mode = 0o644
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


# The files


def _all_files(exported: Sequence[ExportedCase], engines: tuple[Engine, ...]) -> Files:
    """Return the content of each file of the suite, but for the sums and the archive."""
    files: Files = {}
    parts = []
    ordered = sorted(exported, key=attrgetter("section", "id"))
    for section, of_section in groupby(ordered, attrgetter("section")):
        listed = list(of_section)
        parts.append(f"{section}/manifest.ttl")
        files[parts[-1]] = _lines(manifest.manifest_lines(f"{TITLE}: {section}", listed))
        for case in listed:
            for name, content in _case_files(case):
                files[f"{section}/{case.id}/{name}"] = content
    requirements = {word for case in exported for word in case.table.get("requires", ())}
    return {
        **files,
        "manifest.ttl": _lines(manifest.index_lines(TITLE, parts)),
        "rules.ttl": _lines(manifest.rule_lines(exported)),
        "wrong-engines.ttl": _lines(manifest.wrong_engine_lines()),
        "vocabulary.ttl": _lines(manifest.vocabulary_lines(requirements)),
        "shapes.ttl": _lines(manifest.shape_lines()),
        "suite.json": _json(_suite_table(exported, engines)),
        **{
            f"schema/{name}.schema.json": (schemas.FOLDER / f"{name}.schema.json").read_bytes()
            for name in SCHEMAS
        },
        **_pages(),
    }


def _pages() -> Files:
    """Return the change log, the licence, and the page about the exported suite without its links,
    of the package or of the checkout around it.
    """
    folder = next(folder for folder in FOLDERS if (folder / PAGE).is_file())
    files = {name: (folder / name).read_bytes() for name in ("CHANGELOG.md", "LICENSE")}
    text = (folder / PAGE).read_text(encoding="utf-8")
    return {**files, "README.md": re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text).encode()}


def _suite_table(exported: Sequence[ExportedCase], engines: tuple[Engine, ...]) -> dict[str, Any]:
    """Return what is said of the suite as a whole."""
    return {
        "title": TITLE,
        "version": __version__,
        "iri": iri("suite"),
        "licence": "Apache-2.0",
        "cases": [
            {
                "iri": case.table["iri"],
                "file": f"{case.section}/{case.id}/case.json",
                "kinds": case.table["kinds"],
                "decided_by": sorted({each["decided_by"] for each in _expected(case)}),
            }
            for case in exported
        ],
        "wrong_engines": [
            {
                "name": one.full_name,
                "rules": list(one.rules),
                "defect": one.defect,
                "seen": one.seen,
            }
            for one in WRONG_ENGINES
        ],
        "engines": {
            tested.name: {
                "title": tested.title,
                "dialect": tested.dialect,
                "profile": tested.profile and profile_table(tested.profile),
            }
            for tested in engines
        },
        "left_out": LEFT_OUT,
    }


def _expected(case: ExportedCase) -> Iterator[Mapping[str, Any]]:
    """Yield what a case expects of engines and judges."""
    yield from case.table.get("evaluations", ())
    yield from case.table.get("judgements", ())


def _case_files(case: ExportedCase) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file of a case."""
    table = case.table
    if case.question is not None:
        query = table["query"]
        contents = {"table": query["table"], "window": query.get("window")}
        for language, name in manifest.query_files(query).items():
            text = query["texts"].get(language)
            yield name, _json(contents[language]) if text is None else f"{text}\n".encode()
        for name, text in case.stream_files.items():
            yield name, text.encode()
        if "static" in table:
            yield "static.nq", table["static"].encode()
        variables = case.question.query.body.variables
        for number, evaluation in enumerate(table["evaluations"], 1):
            [alternative] = evaluation["alternatives"]
            yield f"reports-{number}.srj", _results(alternative["reports"], variables)
        for number, judgement in enumerate(table["judgements"], 1):
            yield f"recording-{number}.srj", _results(judgement["recording"], variables)
    yield "case.json", _json(table)


def _results(reports: Sequence[Mapping[str, Any]], variables: Sequence[str]) -> bytes:
    """Return reports as an array of results in SPARQL 1.1 JSON, each with its window and times."""
    return _json(
        [
            {
                "head": {"vars": list(variables)},
                "results": {"bindings": report["rows"]},
                **{key: value for key, value in report.items() if key != "rows"},
            }
            for report in reports
        ]
    )


def _lines(lines: Iterable[str]) -> bytes:
    """Return lines as the content of a file."""
    return "".join(f"{line}\n" for line in lines).encode()


def _json(value: Any) -> bytes:
    """Return a value as the content of a file of JSON."""
    return f"{json_text(value, indent=1)}\n".encode()
