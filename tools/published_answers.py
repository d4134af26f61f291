"""Run CityBench's and LSBench's published query texts, and compare the answers of their languages.

The texts are in FOLDER, as for `tools.published_texts`; the data are those of
`tools.published_data`.

    python -m tools.published_answers FOLDER

Each text is run as it is written, by `python -m refengine run` with `--static IRI=FILE`, under the
profile of its language. Then the texts of a query are compared: each has the windows of the first
text, over the same elements, from t0 = 0, and reports its whole answer at each change. Answers are
compared in the variables that both texts select. What is printed is a row of the table in
docs/published-texts.md. The exit code is 1 if two answers differ, or do not, and DIFFERENCES says
otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from refengine import Query, Report, Semantics, dialects, incremental, profile, stream
from refengine.__main__ import main as run_refengine
from refengine.core import r2r
from refengine.core.query import WindowKind
from refengine.core.static import resolve_static
from refengine.model.elements import Bag, Triple
from refengine.model.errors import RefengineError
from tools.bench.generated import with_times
from tools.published_data import BenchmarkData, city_data, social_data
from tools.published_texts import PublishedText, digest_of, listed_texts, texts_in

ELEMENTS = 300
BASE = "http://example.org/"
SEMANTICS = {
    "csparql": ("csparql", "t0=0"),
    "cqels": ("cqels", "t0=0"),
    "rspql": ("yasper", "r2s=Rstream", "base=none"),
}


class Source(NamedTuple):
    """Where a benchmark's texts in a language are, and the namespace of their services."""

    dialect: str
    repository: str
    path: str
    services: str = ""


class Benchmark(NamedTuple):
    """A benchmark: its queries, and how many milliseconds are between two elements."""

    queries: int
    step: int
    sources: tuple[Source, ...]


INSIGHT = "http://www.insight-centre.org/dataset/SampleEventService#"
LOCAL = "http://localhost/CityBenchDataStream/SampleEventService#"
ALIGNED = "Comparative-Research-in-StreamReasoning/CityBench-Aligned"
BENCHMARKS = {
    "CityBench": Benchmark(
        12,
        100,
        (
            Source("csparql", "CityBench/Benchmark", "csparql_query/Q{}.txt", INSIGHT),
            Source("cqels", "CityBench/Benchmark", "cqels_query/Q{}.txt", INSIGHT),
            Source("rspql", ALIGNED, "rspql_query/Q{}.txt", LOCAL),
        ),
    ),
    "LSBench": Benchmark(
        6,
        250,
        (
            Source("csparql", "danhlephuoc/lsbench", "qe_csparql.md"),
            Source("cqels", "danhlephuoc/lsbench", "qe_cqels.md"),
        ),
    ),
}
# where the text itself asks for something else than the first text of the query
DIFFERENCES: Mapping[tuple[str, int, str], str] = {
    ("CityBench", 3, "rspql"): "binds ?obId2 and ?v2, but selects ?obId3 and ?v3; its window asks "
    "for static data",
    ("CityBench", 4, "rspql"): "places of events, and the FILTER of distance, are commented out",
    ("CityBench", 5, "rspql"): "its window asks for static data",
    ("CityBench", 6, "rspql"): "asks for a property ses:observedProperty, which no sensor measures",
    ("CityBench", 7, "rspql"): "?obId1 is in both windows, but no observation is",
    ("CityBench", 8, "rspql"): "asks for static data in a graph that no FROM NAMED names",
    ("CityBench", 9, "rspql"): "`>` after a prefixed name",
    ("CityBench", 10, "cqels"): "the second stream is another sensor's; also asks for places",
    ("CityBench", 11, "cqels"): "SELECT, without the negation; the first text is ASK",
    ("CityBench", 11, "rspql"): "SELECT, without the negation; the first text is ASK",
    ("CityBench", 12, "rspql"): "selects ?p, which is not grouped",
}


@dataclass(frozen=True)
class BenchmarkText:
    """A published text of a query, and the data that it is asked over."""

    benchmark: str
    number: int
    source: Source
    text: str

    @cached_property
    def query(self) -> Query:
        """What the text means beside static data."""
        return dialects.read(self.text, self.source.dialect, static=True, base=BASE)

    @property
    def data(self) -> BenchmarkData:
        """The data of the benchmark, with the names that this text has for services."""
        if self.benchmark == "CityBench":
            return city_data(self.source.services)
        return social_data()

    def arrivals(self) -> dict[str, list[tuple[Triple, int]]]:
        """Return the elements of each stream, with their times, by the stream's IRI."""
        iris = {last_part(window.stream): window.stream for window in self.query.windows}
        step = BENCHMARKS[self.benchmark].step
        found = with_times(list(iris), self.data.events, ELEMENTS, step)
        return {iris[name]: elements for name, elements in found.items()}

    def graphs(self) -> dict[str, frozenset[Triple]]:
        """Return the static graphs that the text names, by their IRIs."""
        named = {clause.graph for clause in self.query.body.graphs}
        return {iri: self.data.graphs[last_part(iri)] for iri in sorted(named)}

    def default_graph(self) -> frozenset[Triple]:
        """Return the static data that CQELS has loaded beside a text; those of other languages
        name all of theirs.
        """
        if self.source.dialect != "cqels":
            return frozenset()
        return self.data.graphs[self.data.default]


def last_part(iri: str) -> str:
    """Return what stands behind the last `/` or `#` of an IRI."""
    return re.split("[/#]", iri)[-1]


def find_texts(folder: Path, benchmark: str, number: int) -> Iterator[BenchmarkText]:
    """Yield the listed texts of a query. Raises RefengineError for one that is not in the folder as
    it is listed.
    """
    listed = {(one.repository, one.path, one.number): one for one in listed_texts()}
    for source in BENCHMARKS[benchmark].sources:
        path = source.path.format(number)
        position = number
        if path != source.path:
            position = 1
        one = listed[source.repository, path, position]
        yield BenchmarkText(benchmark, number, source, _text_of(one, folder))


def _text_of(listed: PublishedText, folder: Path) -> str:
    file = folder / listed.repository.replace("/", "+") / listed.path
    if file.is_file():
        texts = texts_in(file)
        if len(texts) >= listed.number and digest_of(texts[listed.number - 1]) == listed.digest:
            return texts[listed.number - 1]
    raise RefengineError(f"not the text of commit {listed.commit}", rule="DIA-1", place=str(file))


def run_as_written(text: BenchmarkText) -> tuple[int, int]:
    """Return the number of reports, and that of their rows, which the command line gives for a
    text. Raises RefengineError with what it says, if it refuses.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "query").write_text(text.text, encoding="utf-8")
        words = ["run", str(folder / "query"), "--dialect", text.source.dialect, "--base", BASE]
        for number, (iri, elements) in enumerate(text.arrivals().items()):
            file = folder / f"{number}.n3t"
            lines = [f'{" ".join(triple)} "{time}" .\n' for triple, time in elements]
            file.write_text("".join(lines), encoding="utf-8")
            words += ["--stream", f"{iri}={file}"]
        graphs = {f"{iri}=": graph for iri, graph in text.graphs().items()}
        for number, (prefix, graph) in enumerate({**graphs, "": text.default_graph()}.items()):
            file = folder / f"{number}.nt"
            lines = sorted(f"{' '.join(triple)} .\n" for triple in graph)
            file.write_text("".join(lines), encoding="utf-8")
            words += ["--static", f"{prefix}{file}"]
        words += ["--semantics", *SEMANTICS[text.source.dialect]]
        output, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            code = run_refengine(words)
    if code:
        raise RefengineError(errors.getvalue().strip(), rule="DIA-1", place=text.source.dialect)
    reports = [json.loads(line) for line in output.getvalue().splitlines()]
    return len(reports), sum(map(_count_rows, reports))


def _count_rows(report: Mapping[str, object]) -> int:
    """Return how many rows a report has; an ASK that is true has one."""
    match report:
        case {"boolean": bool(answer)}:
            return int(answer)
        case {"results": {"bindings": list(rows)}}:
            return len(rows)
        case _:
            return 0


def report_whole_answers() -> Semantics:
    """Return a semantics under which each change of a content reports the whole answer."""
    chosen = profile("cqels").but(t0=0, horizon="none", partial="reported", empty="emit")
    return chosen.but(r2s="Rstream", base="none").semantics()


def ask_in_common_windows(text: BenchmarkText, sizes: Mapping[str, int]) -> list[Report]:
    """Return the reports of a text whose windows hold the last `sizes` milliseconds of streams,
    which are known by the last part of their IRIs.
    """
    longest = max(sizes.values())  # for a stream that the first text has not
    windows = [
        replace(
            window,
            kind=WindowKind.RANGE,
            size=sizes.get(last_part(window.stream), longest),
            slide=None,
        )
        for window in text.query.windows
    ]
    query, static = resolve_static(
        replace(text.query, windows=tuple(windows), r2s=None), text.graphs(), text.default_graph()
    )
    streams = {iri: stream(elements) for iri, elements in text.arrivals().items()}
    found = incremental.evaluate(
        query, streams, report_whole_answers(), static=static, answer=r2r.defined_answer
    )
    return list(found)


def compare(ours: list[Report], theirs: list[Report]) -> str:
    """Return `equal`, or why two sequences of reports are not the same answers in the variables
    that both have.
    """
    shared = set(ours[0].relation.variables) & set(theirs[0].relation.variables)
    if not shared:
        return "no variable in common"
    if len(ours) != len(theirs):
        return f"{len(ours)} and {len(theirs)} reports"
    pairs = [
        (_project(one, shared), _project(other, shared))
        for one, other in zip(ours, theirs, strict=True)
    ]
    differing = sum(one != other for one, other in pairs)
    if differing:
        return f"{differing} of {len(pairs)} answers differ"
    return "equal"


def _project(report: Report, variables: set[str]) -> Bag:
    projected: Bag = Counter()
    for row, count in report.relation.rows.items():
        projected[tuple(pair for pair in row if pair[0] in variables)] += count
    return projected


def look_at(folder: Path, benchmark: str, number: int) -> Iterator[tuple[str, bool]]:
    """Yield a row of the table for each text of a query, and whether it is as DIFFERENCES says."""
    first: list[Report] = []
    sizes: dict[str, int] = {}
    for text in find_texts(folder, benchmark, number):
        why = DIFFERENCES.get((benchmark, number, text.source.dialect), "")
        head = f"| {benchmark} Q{number} | {text.source.dialect} "
        try:
            if not sizes:
                sizes = {last_part(one.stream): one.size or 0 for one in text.query.windows}
            written, rows = run_as_written(text)
            reports = ask_in_common_windows(text, sizes)
        except RefengineError as error:
            yield f"{head}| – | – | – | refused: {why or error} |", bool(why)
            continue
        total = sum(report.relation.rows.total() for report in reports)
        outcome = "first"
        if first:
            outcome = compare(first, reports)
        is_listed = (outcome in ("first", "equal")) != bool(why)
        first = first or reports
        if why:
            outcome += f": {why}"
        yield f"{head}| {written} | {rows} | {total} | {outcome} |", is_listed


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="tools.published_answers", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of checkouts")
    options = parser.parse_args(arguments)
    print("| query | language | reports | rows | rows in the same windows | answers |")
    print("|---|---|---|---|---|---|")
    unexplained = 0
    for benchmark, found in BENCHMARKS.items():
        for number in range(1, found.queries + 1):
            for line, is_explained in look_at(options.folder, benchmark, number):
                print(line, flush=True)
                unexplained += not is_explained
    print(f"{unexplained} not as DIFFERENCES says", file=sys.stderr)
    return int(unexplained > 0)


if __name__ == "__main__":
    sys.exit(main())
