"""What is published of CSRBench: the repository of its recordings with the digest of each file, and
the verdicts in Table 2 of its paper.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath
from typing import Any

from conformance.bench.recordings import csrbench
from conformance.bench.recordings.csrbench_table import outcome_table
from conformance.verdict.results import Outcome, Result
from refengine.model.errors import InvalidStream
from refengine.model.messages import count_text, plain
from refengine.rdf.sources import list_sources, unreadable

FILE = Path(__file__).with_name("csrbench_published.toml")
MOST_NAMED = 10  # missing files that an error names


@dataclass(frozen=True)
class Published:
    """The public repository and its commit, the digests of its files by their paths, the digests of
    recordings that were made again by their names, and the queries that each engine failed.
    """

    repository: str
    commit: str
    files: Mapping[str, str]
    again: Mapping[str, str]
    failed: Mapping[str, Sequence[str]]

    @property
    def checkout(self) -> str:
        """The name of the folder that `git clone` makes."""
        return self.repository.rpartition("/")[2]

    @property
    def fetch(self) -> str:
        """The command that fetches the files."""
        return f"git clone {self.repository} && git -C {self.checkout} checkout {self.commit}"

    def outcome(self, engine: str, query: str) -> Outcome:
        """Return the verdict of the paper on an engine's answers to a query."""
        if query in self.failed[engine]:
            return Outcome.FAIL
        return Outcome.PASS

    def digests(self) -> Mapping[str, set[str]]:
        """Return the digests that a file may have, by its name."""
        digests = {PurePath(path).name: {digest} for path, digest in self.files.items()}
        for name, digest in self.again.items():
            digests.setdefault(name, set()).add(digest)
        return digests


@cache
def read_published(path: Path = FILE) -> Published:
    """Read what is published from our file."""
    table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return Published(**table)


def check_files(folder: Path, known: Published) -> None:
    """Check that a folder has CSRBench's stream and recordings as they were published, and nothing
    else that would be read as one of them. Raises InvalidStream.
    """
    if not folder.is_dir():
        reason = "no such folder"
        if folder.exists():
            reason = "not a folder"
        raise InvalidStream(f"{reason}; {_where(known)}", rule="IO-1", place=str(folder))
    files = {
        path.name: path
        for path in [
            *(Path(str(file)) for file in list_sources(folder, "data_*.ttl", "IO-1")),
            *csrbench.recording_paths(folder),
        ]
    }
    missing = [
        path
        for path in known.files
        if PurePath(path).name not in files or not files[PurePath(path).name].is_file()
    ]
    if missing:
        names = ", ".join(missing[:MOST_NAMED])
        if len(missing) > MOST_NAMED:
            names += f" and {len(missing) - MOST_NAMED} more"
        raise InvalidStream(
            f"{count_text(len(missing), 'file')} of {len(known.files)} missing: {names}; "
            f"{_where(known)}",
            rule="IO-2",
            place=str(folder),
        )
    digests = known.digests()
    for name, path in sorted(files.items()):
        _check_digest(path, digests.get(name), known)


def _where(known: Published) -> str:
    """Return the words that say where the files are."""
    return (
        f"CSRBench's recordings are public, but not part of this project: {known.fetch} fetches "
        f"them, and --data {known.checkout} reads them"
    )


def _check_digest(path: Path, expected: set[str] | None, known: Published) -> None:
    """Check the digest of a file. Raises InvalidStream, also if no digest is expected."""
    if expected is None:
        raise InvalidStream(
            f"no file of {known.repository} at commit {known.commit}; remove it, or leave out "
            "--data to judge any recordings",
            rule="IO-2",
            place=str(path),
        )
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise unreadable(error, InvalidStream, "IO-2", path) from None
    if found not in expected:
        raise InvalidStream(
            f"another file than the published one: expected SHA-256 "
            f"{' or '.join(sorted(expected))}, found {found}; check out commit {known.commit} of "
            f"{known.repository}, or leave out --data to judge any recordings",
            rule="IO-2",
            place=str(path),
        )


def differing_cells(results: Iterable[Result], known: Published) -> list[str] | None:
    """Return each cell of Table 2 whose verdict here is another, in words; None if the results lack
    a cell.
    """
    table = outcome_table(results)
    cells = [(engine, query) for engine in known.failed for query in csrbench.QUERIES]
    if any(engine not in table[query] for engine, query in cells):
        return None
    return [
        f"{engine} {query} ({table[query][engine]}, in the paper {known.outcome(engine, query)})"
        for engine, query in cells
        if table[query][engine] is not known.outcome(engine, query)
    ]


def compare_with_paper(results: Iterable[Result], known: Published) -> Iterator[str]:
    """Yield a line that says whether the cells equal Table 2 of the paper; none if the results lack
    a cell.
    """
    differing = differing_cells(results, known)
    if differing is None:
        return
    total = len(known.failed) * len(csrbench.QUERIES)
    if not differing:
        yield f"All {total} cells equal Table 2 of CSRBench's paper."
        return
    verb = "differs" if len(differing) == 1 else "differ"
    yield (
        f"{len(differing)} of {total} cells {verb} from Table 2 of CSRBench's paper: "
        f"{plain(', '.join(differing))}."
    )
