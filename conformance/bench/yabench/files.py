"""YABench's files: QR_ (what an engine answered), ORACLE_ (the measures of each window), P_ (what
its process used) and BOXPLOTS_ (the measures of all runs), written as YABench's own programs read
them.

Source: the readers and writers of the public repository YABench/yabench.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from conformance.bench.figures import feeding_evidence_of
from conformance.bench.metrics.resources import MEBIBYTE, cpu_percents
from conformance.harness.resources import Sample
from conformance.verdict.engine_report import EngineReport
from conformance.verdict.results import Result
from refengine.model.elements import is_blank, parse_literal
from refengine.model.terms import Term

NO_DELAY = -1
HEADING = "time,rss_mem,cpu_percent,mem_percent,threads"
FIRST_WITHOUT_EXPONENT = 1e-3  # Java writes a smaller number with an exponent


class OracleEntry(NamedTuple):
    """A line of an ORACLE_ file: precision and recall, the numbers of rows that the engine gave and
    that were expected, the triples of the window, its first and last instant, and the delay, all
    times in ms.
    """

    precision: float
    recall: float
    actual: int
    expected: int
    triples: int
    start: int
    end: int
    delay: int


# What an engine answered


def qr_lines(
    answers: Sequence[EngineReport], variables: Sequence[str], started: int
) -> Iterator[str]:
    """Yield the lines of a QR_ file. `started` is the clock at the stream's time 0, in ms since
    1970. An answer without an instant has that of the one before. A file without answers has its
    first line alone.
    """
    yield str(started)
    if not answers:
        return
    yield "".join(f"{name}\t" for name in variables)
    instant = 0
    for answer in answers:
        if answer.instant is not None:
            instant = answer.instant
        yield str(started + instant)
        for row in sorted(answer.relation.rows.elements()):
            terms = dict(row)
            yield "".join(f"{_value(terms.get(name))}\t" for name in variables)


def _value(term: Term | None) -> str:
    """Write a term as Jena does without quotes: the IRI, `value^^datatype`, the label of a blank
    node; nothing for a variable that is not bound. A tab or a line end becomes a space, since the
    form has no escapes.
    """
    if term is None:
        return ""
    if is_blank(term):
        return term[2:]
    if term.startswith("<"):
        return term[1:-1]
    value, datatype, language = parse_literal(term)
    value = value.replace("\t", " ").replace("\n", " ").replace("\r", " ")
    if language:
        return f"{value}@{language}"
    return f"{value}^^{datatype}"


# The measures of each window


def oracle_entries(
    metrics: Iterable[Mapping[str, Any]], is_gracious: bool
) -> Iterator[OracleEntry]:
    """Yield the lines of an ORACLE_ file from the measures of YABench's code
    (`conformance.bench.metrics.run.Reading`). In gracious mode scores and borders are those of the
    shifted window, without a delay. Where both answers are empty, or no shift was tried, they are
    those of the window itself, with its delay.
    """
    for entry in metrics:
        scores, (start, end) = entry, entry["window"]
        delay = entry["delay"]
        is_empty = not entry["expected"] and not entry["actual"]
        if is_gracious and entry["gracious"] is not None and not is_empty:
            scores = entry["gracious"]
            start, end = scores["window"]
            delay = None
        yield OracleEntry(
            scores["precision"],
            scores["recall"],
            entry["actual"],
            entry["expected"],
            entry["elements"],
            max(0, start),
            end,
            NO_DELAY if delay is None else delay,
        )


def oracle_entries_of(result: Result) -> list[OracleEntry]:
    """Return the lines of the ORACLE_ file of a result; none where YABench has no measure."""
    measures = feeding_evidence_of(result).get("measures", {})
    return list(oracle_entries(measures.get("code", ()), measures.get("is_gracious", False)))


def oracle_lines(entries: Iterable[OracleEntry]) -> Iterator[str]:
    """Yield the lines of an ORACLE_ file."""
    for entry in entries:
        scores = (_java(entry.precision), _java(entry.recall))
        yield ",".join((*scores, *map(str, entry[2:])))


def _java(score: float) -> str:
    """Write a score as Java's Double does.

    >>> _java(1.0), _java(0.05), _java(0.00025)
    ('1.0', '0.05', '2.5E-4')
    """
    if score == 0 or score >= FIRST_WITHOUT_EXPONENT:
        return repr(score)
    digits, _, exponent = repr(score).partition("e-")
    if not exponent:  # Python writes 0.0005 without one
        zeros = len(digits) - len(digits[2:].lstrip("0")) - 2
        significant = digits[2:].lstrip("0")
        digits, exponent = f"{significant[0]}.{significant[1:]}", str(zeros + 1)
    if digits[-1] == ".":
        digits += "0"
    if "." not in digits:
        digits += ".0"
    return f"{digits}E-{int(exponent)}"


# What the process used


def performance_lines(samples: Sequence[Sample], engine: str, total_memory: int) -> Iterator[str]:
    """Yield the lines of a P_ file. CPU is in percent of one core since the sample before, 0 in the
    first, and memory in percent of `total_memory`, in bytes.
    """
    yield engine
    yield HEADING
    percents = dict(cpu_percents((sample.at, sample.cpu) for sample in samples))
    for sample in samples:
        yield ",".join(
            map(
                str,
                (
                    round(sample.at, 1),
                    round(sample.rss / MEBIBYTE, 2),
                    round(percents.get(sample.at, 0.0), 1),
                    round(100 * sample.rss / total_memory, 2),
                    sample.threads,
                ),
            )
        )


# The measures of all runs


def boxplot_lines(runs: Sequence[Sequence[OracleEntry]], engine: str) -> Iterator[str]:
    """Yield the lines of a BOXPLOTS_ file: the engine, and for each window the precisions, recalls
    and delays of all runs.
    """
    yield engine
    for number in range(max(map(len, runs), default=0)):
        entries = [run[number] for run in runs if number < len(run)]
        yield ";".join(
            ",".join(str(float(value)) for value in values)
            for values in (
                [entry.precision for entry in entries],
                [entry.recall for entry in entries],
                [entry.delay for entry in entries],
            )
        )
