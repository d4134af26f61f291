"""The folder of ground truth: what was asked (run.json), where the stream is cut (cuts.json), a
file a part as soon as it is there (parts/), lines that are no triples (quarantine.ndjson), and,
where an engine's output is given, what comes of it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow
from pyarrow import parquet

from conformance.spark import comparison, folder, shard, streams, truth
from conformance.spark.comparison import Compared
from conformance.spark.streams import Stream
from conformance.spark.survey import Extent
from conformance.spark.truth import Asked
from conformance.verdict import results
from conformance.verdict.explain import counted
from conformance.verdict.results import Result
from refengine.core import engine
from refengine.core.semantics import End, show
from refengine.model import elements
from refengine.model.errors import InvalidStream, RefengineError, Unsupported
from refengine.model.messages import plain
from refengine.rdf.recordings import Recording

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CUTS, PARTS, QUARANTINE, MEASURES, RESULTS = (
    "cuts.json",
    "parts",
    "quarantine.ndjson",
    "measures.parquet",
    "results.ndjson",
)
PROVENANCE = b"provenance"
SOME = 500_000  # triples of a part, if nobody says how many parts there are
SHOWN = 5  # faults of a stream


@dataclass(frozen=True)
class Wanted:
    """What a run is to do. `path` is the stream's; `parts` how many, by default one a slot or
    `SOME` triples; `quarantine`: whether lines that are no triples are set aside, and not an error.
    `recording`: what an engine answered, for a result under the names `engine` and `case`;
    `missing`, how many reports may not be recorded at each end.
    """

    asked: Asked
    path: str
    parts: int | None = None
    quarantine: bool = False
    recording: Recording | None = None
    engine: str = ""
    case: str = ""
    missing: int = 1

    def check(self) -> None:
        """What is wrong with the query is found before anything is written.
        Raises RefengineError.
        """
        query, semantics = self.asked.query, self.asked.semantics
        if not streams.URL.match(self.path) and not os.path.exists(self.path):
            raise InvalidStream("no such file or folder", rule="IO-1", place=self.path)
        names = {spec.stream for spec in query.windows}
        if len(names) > 1:
            raise Unsupported(
                "windows over several streams: ground truth over Spark is of one",
                rule="QRY-4",
                place="windows",
            )
        for number, (relation, at) in enumerate(self._answers(), 1):
            other = sorted(
                {name for row in relation.rows for name, _ in row} - {*query.body.variables}
            )
            if other or not -elements.TIME_BOUND <= (at or 0) < elements.TIME_BOUND:
                reason = (
                    f"has ?{other[0]}, which the query has not"
                    if other
                    else "its timestamp must be within 64 bits"
                )
                raise InvalidStream(f"relation {number}: {reason}", rule="IO-2", place="answers")
        engine.plan(
            query,
            {name: elements.Stream(()) for name in names},
            dataclasses.replace(semantics, horizon=End.NONE),
        )

    def _answers(self) -> Iterable[tuple[elements.Relation, int | None]]:
        return (
            ()
            if self.recording is None
            else zip(self.recording.relations, self.recording.timestamps, strict=True)
        )

    def manifest(self) -> Mapping[str, Mapping[str, Any]]:
        """What two runs that write to one folder have in common."""
        query, semantics = self.asked.query, self.asked.semantics
        windows = [
            {name: None if value is None else str(value) for name, value in vars(spec).items()}
            for spec in query.windows
        ]
        asked = {
            "stream": self.path,
            "body": query.body.text,
            "windows": windows,
            "r2s": query.r2s and str(query.r2s),
            "registered": query.registered,
            "semantics": {name: show(value) for name, value in vars(semantics).items()},
            "static": sorted(map(list, self.asked.static)),
            "witnesses": list(self.asked.witnesses),
            "parts": self.parts,
            "on-error": "quarantine" if self.quarantine else "stop",
        }
        return {"asked": asked, "versions": {"refengine": shard.code()}}


class Parts(Sequence[pyarrow.Table]):
    """The files of so many parts of a run, each read when it is asked for: all together may be more
    than the driver can hold. Raises RefengineError for a file that is not of the run.
    """

    def __init__(self, path: Path, numbers: Sequence[int], run: str) -> None:
        self.path, self.numbers = path, numbers
        self.footers = [_footer(_part(path, number), number, run) for number in numbers]

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(  # type: ignore[override]  # nobody asks for a slice
        self, place: int
    ) -> pyarrow.Table:
        return parquet.read_table(_part(self.path, self.numbers[place]))


@dataclass(frozen=True)
class Found:
    """The truth: of each part its reports (truth.REPORT) and their provenance; why the stream is
    not cut, if it is not; how many lines were set aside, and files not read; and what comes of the
    recording, if there is one.
    """

    triples: int
    parts: Parts
    uncut: str | None
    quarantined: int
    unread: int
    compared: Compared | None

    @property
    def reports(self) -> int:
        """How many reports there are."""
        return sum(one.num_rows for one in self.parts.footers)

    @property
    def provenance(self) -> list[str]:
        """Who computed them, each said once."""
        return sorted({one.metadata[PROVENANCE].decode() for one in self.parts.footers})


@contextmanager
def opened(path: Path, wanted: Wanted, resume: bool) -> Iterator[set[int]]:
    """The folder of a run, and the numbers of the parts that are done
    there. Raises RefengineError.
    """
    with folder.claimed(path, wanted.manifest(), resume):
        with results.writing(path / PARTS):
            (path / PARTS).mkdir(exist_ok=True)
            names = os.listdir(path / PARTS)
        done = {
            int(name.removesuffix(".parquet"))
            for name in names
            if re.fullmatch(r"[0-9]{5,}\.parquet", name)
        }
        if done and not (path / CUTS).exists():
            raise RefengineError(
                "parts, and no cuts: not the folder of a run; name another one",
                rule="usage",
                place=str(path),
            )
        yield done


def run(
    spark: SparkSession,
    wanted: Wanted,
    path: Path,
    done: set[int],
    parallel: int,
    tell: Callable[[int, int], None],
) -> Found:
    """Does what is left to do, and writes it; `tell` is told how many parts are done, of how many.
    What is written stays valid, whatever ends the run. Raises RefengineError.
    """
    stream = streams.read(spark, wanted.path)
    faults, extent = _faults(stream, wanted.quarantine), stream.extent
    facts = {
        "triples": extent.triples,
        "first": extent.first,
        "last": extent.last,
        "quarantined": len(faults),
        "digest": stream.identity,
    }
    at, uncut = _cuts(path / CUTS, wanted, extent, facts, parallel)
    if faults:
        results.replace(
            {path / QUARANTINE: [json.dumps(fault, sort_keys=True) for fault in faults]}
        )
    identity = hashlib.sha256(
        (path / folder.MANIFEST).read_bytes() + (path / CUTS).read_bytes()
    ).hexdigest()
    Parts(path, sorted(done), identity)  # or it is raised now, and not after the rest is done
    todo = [number for number in range(len(at) + 1) if number not in done]
    tell(len(at) + 1 - len(todo), len(at) + 1)
    for number, table, provenance in truth.evaluate(wanted.asked, stream, at, todo, parallel):
        of = {PROVENANCE: provenance, b"part": str(number), b"run": identity}
        results.replace({_part(path, number): _bytes(table.replace_schema_metadata(of))})
        done.add(number)
        tell(len(done), len(at) + 1)
    parts = Parts(path, range(len(at) + 1), identity)
    compared = None
    if wanted.recording is not None:
        compared = comparison.compared(
            spark, wanted.asked, parts, wanted.recording, parallel, wanted.missing
        )
        _write(path, wanted, compared)
    return Found(extent.triples, parts, uncut, len(faults), stream.unread, compared)


def told(found: Found) -> Iterator[str]:
    """What was found, a line each."""
    size = (
        counted(found.triples, "triple"),
        counted(len(found.parts), "part"),
        counted(found.reports, "report"),
    )
    yield f"{', '.join(size)}; by {'; or by '.join(found.provenance)}"
    if found.uncut:
        yield f"not cut in time: {found.uncut}"
    if found.quarantined:
        yield (
            f"{counted(found.quarantined, 'line')} set aside that "
            f"{'is no triple' if found.quarantined == 1 else 'are no triples'}: {QUARANTINE}"
        )
    if found.unread:
        yield f"{counted(found.unread, 'file')} of other kinds not read"
    if found.compared:
        yield found.compared.argument


def _faults(stream: Stream, quarantine: bool) -> list[dict[str, Any]]:
    faults = stream.faults()
    if faults and not quarantine:
        rule, _, reason = faults[0]["error"].partition(": ")
        error = InvalidStream(reason, rule=rule, place=_place(faults[0]))
        for fault in faults[1:SHOWN]:
            error.add_note(plain(f"{_place(fault)}: {fault['error']}"))
        if len(faults) > 1:
            error.add_note(
                f"{len(faults)} lines are no triples; --on-error=quarantine sets them aside"
            )
        raise error
    return faults


def _place(fault: Mapping[str, Any]) -> str:
    return f"{fault['file']}:{fault['line']}"


def _cuts(
    path: Path, wanted: Wanted, extent: Extent, facts: Mapping[str, Any], parallel: int
) -> tuple[list[int], str | None]:
    """Where the stream is cut: where it was when the run began, of a stream of the same facts."""
    parts = wanted.parts or -(-max(parallel, -(-extent.triples // SOME)) // parallel) * parallel
    at, uncut = truth.cuts(wanted.asked, extent, parts)
    if path.exists():
        try:
            before = json.loads(path.read_text(encoding="utf-8"))
            same = {name: before[name] for name in facts} == facts and all(
                isinstance(cut, int) for cut in before["cuts"]
            )
        except (OSError, ValueError, KeyError, TypeError):
            raise RefengineError(
                "not what a run wrote: name another folder", rule="usage", place=str(path)
            ) from None
        if not same:
            raise RefengineError(
                "the stream is not what it was when the run began; name another folder",
                rule="usage",
                place=str(path.parent),
            )
        return before["cuts"], uncut
    results.replace({path: [json.dumps({**facts, "cuts": at}, sort_keys=True)]})
    return at, uncut


def _part(path: Path, number: int) -> Path:
    return path / PARTS / f"{number:05d}.parquet"


def _footer(path: Path, number: int, run: str) -> parquet.FileMetaData:
    """Of a part, which must be that of this run. Raises RefengineError."""
    try:
        found = parquet.read_metadata(path)
        of = found.metadata or {}
        if (of.get(b"part"), of.get(b"run")) != (str(number).encode(), run.encode()):
            raise ValueError("it is another one")
    except (OSError, ValueError) as error:  # pyarrow's are of these
        raise RefengineError(
            f"not the part of this run: remove it and --resume ({plain(str(error))[:200]})",
            rule="usage",
            place=str(path),
        ) from None
    return found


def _bytes(table: pyarrow.Table) -> bytes:
    into = io.BytesIO()
    parquet.write_table(table, into)
    return into.getvalue()


def _write(path: Path, wanted: Wanted, compared: Compared) -> None:
    entries = [
        {
            **entry,
            "opens": (entry["window"] or [None])[0],
            "closes": (entry["window"] or [None])[-1],
        }
        for entry in compared.measures
    ]
    columns = {
        name: pyarrow.int64()
        for name in ("opens", "closes", "elements", "expected", "actual", "delay")
    }
    schema = pyarrow.schema(
        [*columns.items(), ("precision", pyarrow.float64()), ("recall", pyarrow.float64())]
    )
    rows = [{name: entry[name] for name in schema.names} for entry in entries]
    result = Result(wanted.engine, "truth", wanted.case, "", compared.outcome, compared.argument)
    results.replace(
        {
            path / MEASURES: _bytes(pyarrow.Table.from_pylist(rows, schema)),
            path / RESULTS: results.lines([result]),
        }
    )
