"""A run that computes ground truth, and its folder. The folder has what was asked (run.json), where
the stream is cut (cuts.json), a file for each part that is computed (parts/) and the lines that are
no triples (quarantine.ndjson). If an engine's output is given, it also has the result
(results.ndjson) and the measures (measures.parquet).
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow
from pyarrow import parquet

from conformance.spark import comparison, folder, part_jobs, shard
from conformance.spark.comparison import TruthComparison
from conformance.spark.streams import stream as streams
from conformance.spark.streams.stream import Stream
from conformance.spark.streams.survey import StreamExtent
from conformance.spark.truth_query import TruthQuery
from conformance.verdict import results
from conformance.verdict.explain import count_text
from conformance.verdict.results import Result
from refengine.core import engine
from refengine.core.query import Window
from refengine.core.semantics import End, show
from refengine.model import elements
from refengine.model.errors import InvalidStream, RefengineError, Unsupported
from refengine.model.messages import plain
from refengine.rdf.recordings import Recording

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# files of the folder
CUTS = "cuts.json"
PARTS = "parts"
QUARANTINE = "quarantine.ndjson"
MEASURES = "measures.parquet"
RESULTS = "results.ndjson"
PROVENANCE = b"provenance"
TRIPLES_OF_PART = 500_000  # if --parts is not given
SHOWN_FAULTS = 5  # of a stream, in an error


@dataclass(frozen=True)
class TruthPlan:
    """A plan of a run that computes ground truth.

    `path` is the stream's path. `parts` is into how many parts it is cut, by default one for each
    slot or for each `TRIPLES_OF_PART`. With `quarantine` lines that are no triples are set aside;
    without it they are an error. `recording` is what an engine answered, if its output is to be
    judged; its result is that of `engine` and `case`, and `missing` reports may be absent from it
    at each end (ORA-3).
    """

    truth_query: TruthQuery
    path: str
    parts: int | None = None
    quarantine: bool = False
    recording: Recording | None = None
    engine: str = ""
    case: str = ""
    missing: int = 1

    def check(self) -> None:
        """Raise RefengineError if the query or the recording cannot be evaluated. Nothing has been
        written then.
        """
        query, semantics = self.truth_query.query, self.truth_query.semantics
        if not streams.URL.match(self.path) and not os.path.exists(self.path):
            raise InvalidStream("no such file or folder", rule="IO-1", place=self.path)
        names = {spec.stream for spec in query.windows}
        if len(names) > 1:
            raise Unsupported(
                "ground truth over Spark takes one stream, and the windows are over several",
                rule="QRY-4",
                place="windows",
            )
        if self.recording is not None:
            _check_recording(self.recording, query.body.variables)
        nothing = {name: elements.Stream(()) for name in names}
        engine.plan(query, nothing, replace(semantics, horizon=End.NONE))

    def manifest(self) -> Mapping[str, Mapping[str, Any]]:
        """Return what must be the same when a run is resumed: what was asked, and by which version
        of the project.
        """
        query, semantics = self.truth_query.query, self.truth_query.semantics
        on_error = "stop"
        if self.quarantine:
            on_error = "quarantine"
        what_was_asked = {
            "stream": self.path,
            "body": query.body.text,
            "windows": [_texts(spec) for spec in query.windows],
            "r2s": query.r2s and str(query.r2s),
            "registered": query.registered,
            "semantics": {name: show(value) for name, value in vars(semantics).items()},
            "static": sorted(map(list, self.truth_query.static)),
            "witnesses": list(self.truth_query.witnesses),
            "definition": self.truth_query.is_definition_asked,
            "parts": self.parts,
            "on-error": on_error,
        }
        return {"asked": what_was_asked, "versions": {"refengine": shard.code()}}


def _check_recording(recording: Recording, variables: Sequence[str]) -> None:
    """Raise InvalidStream for a relation that cannot be compared."""
    pairs = zip(recording.relations, recording.timestamps, strict=True)
    for number, (relation, at) in enumerate(pairs, 1):
        others = sorted({name for row in relation.rows for name, _ in row} - {*variables})
        if others:
            reason = f"has ?{others[0]}, which the query has not"
        elif not -elements.TIME_BOUND <= (at or 0) < elements.TIME_BOUND:
            reason = "its timestamp must be within 64 bits"
        else:
            continue
        raise InvalidStream(f"relation {number}: {reason}", rule="IO-2", place="answers")


def _texts(spec: Window) -> dict[str, str | None]:
    """Return the fields of a window as texts, or None for fields without a value."""
    fields: dict[str, str | None] = {}
    for name, value in vars(spec).items():
        fields[name] = None
        if value is not None:
            fields[name] = str(value)
    return fields


class Parts(Sequence[pyarrow.Table]):
    """The reports of some parts of a run. Each file is read when its part is asked for, since all
    of them together may be more than the driver can hold. Raises RefengineError for a file that is
    not of this run.
    """

    def __init__(self, path: Path, numbers: Sequence[int], run: str) -> None:
        self.path = path
        self.numbers = numbers
        self.footers = [_footer(_part(path, number), number, run) for number in numbers]

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(  # type: ignore[override]  # nobody asks for a slice
        self, place: int
    ) -> pyarrow.Table:
        return parquet.read_table(_part(self.path, self.numbers[place]))


@dataclass(frozen=True)
class Truth:
    """The ground truth of a run.

    `parts` has the reports of each part (part_jobs.REPORT) and their provenance. `uncut` says why
    the stream is not cut in time, if it is not. `quarantined` lines were set aside, and
    `unread` files were of other kinds. `comparison` is that with the recording, if there is one.
    """

    triples: int
    parts: Parts
    uncut: str | None
    quarantined: int
    unread: int
    comparison: TruthComparison | None

    @property
    def reports(self) -> int:
        """The number of reports."""
        return sum(footer.num_rows for footer in self.parts.footers)

    @property
    def provenance(self) -> list[str]:
        """What computed the reports, each evaluator named once."""
        return sorted({footer.metadata[PROVENANCE].decode() for footer in self.parts.footers})


@contextmanager
def open_folder(path: Path, plan: TruthPlan, resume: bool) -> Iterator[set[int]]:
    """Open the folder of a run, and give the numbers of the parts that are done. Raises
    RefengineError.
    """
    with folder.claim(path, plan.manifest(), resume):
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
                "has parts but no cuts.json, so it is not the folder of a run; name another one",
                rule="usage",
                place=str(path),
            )
        yield done


def compute_truth(
    spark: SparkSession,
    plan: TruthPlan,
    path: Path,
    done: set[int],
    parallel: int,
    show_progress: Callable[[int, int], None],
) -> Truth:
    """Compute and write the parts that are not `done`, and return the whole ground truth.

    `show_progress` is called with the number of parts that are done and the number of all parts.
    Each file is written at once, so that what is written stays valid if the run is interrupted.
    Raises RefengineError.
    """
    stream = streams.open_stream(spark, plan.path)
    faults = _faults(stream, plan.quarantine)
    extent = stream.extent
    facts = {
        "triples": extent.triples,
        "first": extent.first,
        "last": extent.last,
        "quarantined": len(faults),
        "digest": stream.identity,
    }
    at, uncut = _cuts(path / CUTS, plan, extent, facts, parallel)
    if faults:
        results.replace(
            {path / QUARANTINE: [json.dumps(fault, sort_keys=True) for fault in faults]}
        )
    identity = hashlib.sha256(
        (path / folder.MANIFEST).read_bytes() + (path / CUTS).read_bytes()
    ).hexdigest()
    Parts(path, sorted(done), identity)  # or it is raised now, and not after the rest is done
    total = len(at) + 1
    todo = [number for number in range(total) if number not in done]
    show_progress(total - len(todo), total)
    for number, table, provenance in part_jobs.evaluate(
        plan.truth_query, stream, at, todo, parallel
    ):
        metadata = {PROVENANCE: provenance, b"part": str(number), b"run": identity}
        results.replace({_part(path, number): _bytes(table.replace_schema_metadata(metadata))})
        done.add(number)
        show_progress(len(done), total)
    parts = Parts(path, range(total), identity)
    compared = None
    if plan.recording is not None:
        compared = comparison.compare_recording(
            spark, plan.truth_query, parts, plan.recording, parallel, plan.missing
        )
        _write(path, plan, compared)
    return Truth(extent.triples, parts, uncut, len(faults), stream.unread, compared)


def describe_truth(computed: Truth) -> Iterator[str]:
    """Yield the lines that sum up a run: how much there was, who computed it, how the recording
    compares.
    """
    counts = (
        count_text(computed.triples, "triple"),
        count_text(len(computed.parts), "part"),
        count_text(computed.reports, "report"),
    )
    yield f"{', '.join(counts)}; by {'; or by '.join(computed.provenance)}"
    if computed.uncut:
        yield f"the stream is not cut in time: {computed.uncut}"
    if computed.quarantined == 1:
        yield f"1 line is no triple and was set aside: {QUARANTINE}"
    elif computed.quarantined:
        yield f"{computed.quarantined} lines are no triples and were set aside: {QUARANTINE}"
    if computed.unread:
        yield f"not read: {count_text(computed.unread, 'file')} of other kinds"
    if computed.comparison:
        yield computed.comparison.argument


def _faults(stream: Stream, quarantine: bool) -> list[dict[str, Any]]:
    """Return the lines that are no triples, if they are to be set aside. Otherwise raise
    InvalidStream for the first of them, with the next ones as notes.
    """
    faults = stream.faults()
    if not faults or quarantine:
        return faults
    rule, _, reason = faults[0]["error"].partition(": ")
    error = InvalidStream(reason, rule=rule, place=_place(faults[0]))
    for fault in faults[1:SHOWN_FAULTS]:
        error.add_note(plain(f"{_place(fault)}: {fault['error']}"))
    if len(faults) > 1:
        error.add_note(f"{len(faults)} lines are no triples; --on-error=quarantine sets them aside")
    raise error


def _place(fault: Mapping[str, Any]) -> str:
    return f"{fault['file']}:{fault['line']}"


def _cuts(
    path: Path, plan: TruthPlan, extent: StreamExtent, facts: Mapping[str, Any], parallel: int
) -> tuple[list[int], str | None]:
    """Return where the stream is cut, and why it is not: where it was when the run began, of a
    stream of the same facts. Raises RefengineError if it is another stream.
    """
    parts = (
        plan.parts
        or -(-max(parallel, -(-extent.triples // TRIPLES_OF_PART)) // parallel) * parallel
    )
    at, uncut = part_jobs.cuts(plan.truth_query, extent, parts)
    if path.exists():
        return _cuts_before(path, facts), uncut
    results.replace({path: [json.dumps({**facts, "cuts": at}, sort_keys=True)]})
    return at, uncut


def _cuts_before(path: Path, facts: Mapping[str, Any]) -> list[int]:
    """Return the cuts in a file. Raises RefengineError if it is of a stream with other facts."""
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        is_same = {name: before[name] for name in facts} == facts and all(
            isinstance(cut, int) for cut in before["cuts"]
        )
    except (OSError, ValueError, KeyError, TypeError):
        raise RefengineError(
            "not what a run wrote: name another folder", rule="usage", place=str(path)
        ) from None
    if not is_same:
        raise RefengineError(
            "the stream is not what it was when the run began; name another folder",
            rule="usage",
            place=str(path.parent),
        )
    cuts: list[int] = before["cuts"]
    return cuts


def _part(path: Path, number: int) -> Path:
    return path / PARTS / f"{number:05d}.parquet"


def _footer(path: Path, number: int, run: str) -> parquet.FileMetaData:
    """Return the footer of a part's file. Raises RefengineError if it is not of this run."""
    try:
        footer = parquet.read_metadata(path)
        metadata = footer.metadata or {}
        if (metadata.get(b"part"), metadata.get(b"run")) != (str(number).encode(), run.encode()):
            raise ValueError("it is another one")
    except (OSError, ValueError) as error:  # pyarrow's are of these
        raise RefengineError(
            f"not the part of this run: remove it and --resume ({plain(str(error))[:200]})",
            rule="usage",
            place=str(path),
        ) from None
    return footer


def _bytes(table: pyarrow.Table) -> bytes:
    file = io.BytesIO()
    parquet.write_table(table, file)
    return file.getvalue()


def _write(path: Path, plan: TruthPlan, compared: TruthComparison) -> None:
    """Write the result of a recording and its measures."""
    integers = ("opens", "closes", "elements", "expected", "actual", "delay")
    schema = pyarrow.schema(
        [
            *((name, pyarrow.int64()) for name in integers),
            ("precision", pyarrow.float64()),
            ("recall", pyarrow.float64()),
        ]
    )
    rows = []
    for entry in compared.measures:
        opens, closes = entry["window"] or (None, None)
        row = {**entry, "opens": opens, "closes": closes}
        rows.append({name: row[name] for name in schema.names})
    result = Result(plan.engine, "truth", plan.case, "", compared.outcome, compared.argument)
    results.replace(
        {
            path / MEASURES: _bytes(pyarrow.Table.from_pylist(rows, schema)),
            path / RESULTS: results.lines([result]),
        }
    )
