"""What an engine is held to: items, one a case of the corpus or a query of a benchmark, and what
each becomes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from conformance import corpus
from conformance.benchmarks import csrbench, own_engines, yabench
from conformance.corpus import Case
from conformance.harness import engine_file
from conformance.harness.client import Broken, Harness
from conformance.harness.engine_file import Engine, InvalidEngine
from conformance.harness.pool import Harnesses
from conformance.suite import probe
from conformance.suite.chosen import ItemSelection, classpaths_of, folder
from conformance.suite.exchange import BenchmarkQuery
from conformance.suite.expectations import expects_reports
from conformance.verdict.outcomes import Judging
from conformance.verdict.results import Outcome, Result
from refengine.core import profiles
from refengine.core.question import Question
from refengine.model.messages import nearest, shown

EMBEDDED = "embedded-"  # before the name of a query over the stream that is embedded here
AS_EVER = Judging()
ALL = ItemSelection()


@dataclass(frozen=True)
class Item:
    """One question to one engine. `shows` are the known deviations that it must show; `missing`,
    why it cannot be asked.
    """

    engine: str
    suite: str
    case: str
    run: Callable[[Harnesses], Result]
    rule: str = ""
    shows: tuple[tuple[str, str], ...] = ()
    missing: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """That of its result."""
        return self.engine, self.suite, self.case

    @property
    def id(self) -> str:
        """The name of the item: `rsp-js-WIN-2-an-element-on-the-upper-border-…`."""
        return f"{self.engine}-{self.case}".replace("/", "-").replace(" ", "-")


@dataclass(frozen=True)
class SuiteOptions:
    """What a command line asks for, word by word, in values that JSON has: other processes,
    elsewhere, make the same items of it. `command` is a harness's, with its dialect and its
    semantics; `classpaths` are NAME=PATH; `missing` is a bound of ORA-3.
    """

    engines: Sequence[str] = ()
    command: Sequence[str] | None = None
    answers: str | None = None
    csrbench: str | None = None
    smoke: bool = False
    keep: bool = False
    classpaths: Sequence[str] = ()
    missing: int | None = None

    def items(self) -> list[Item]:
        """Return the items. Raises what `items` raises."""
        more: tuple[Engine, ...] = ()
        if self.command is not None:
            more = (engine_file.command(*self.command),)
        chosen = ItemSelection(
            tuple(self.engines),
            more,
            folder(self.answers),
            folder(self.csrbench),
            self.smoke,
            self.keep,
            classpaths_of(self.classpaths, self.engines),
            self.missing,
        )
        return items(chosen)


def items(chosen: ItemSelection) -> list[Item]:
    """Return the items that are wanted, by engine. Raises a RefengineError for what there is
    not.
    """
    of_engines = [_items_of_name(name, chosen) for name in dict.fromkeys(chosen.names)]
    of_engines += [live_items(engine, chosen) for engine in chosen.more]
    counts = Counter(
        engine for of_engine in of_engines for engine in {item.engine for item in of_engine}
    )
    for engine, count in counts.items():
        if count > 1:
            raise InvalidEngine(
                f"{count} engines have this name; name their files otherwise",
                rule="engine",
                place=engine,
            )
    return [item for of_engine in of_engines for item in of_engine]


def _items_of_name(name: str, chosen: ItemSelection) -> list[Item]:
    """Return the items of an engine by its name: of its recordings, of the engine itself, or of one
    of ours.
    """
    if chosen.answers is not None:
        return recorded_items(name, chosen.answers, chosen.judging)
    own = [
        recorder for recorder in own_engines.recorders() if recorder.name.partition("/")[0] == name
    ]
    try:
        engine = engine_file.engine(name)
    except InvalidEngine as error:
        if own:
            return own_items(own, chosen.judging)
        if name in profiles.PROFILES:
            raise InvalidEngine(
                f"{name!r} is judged by its recordings: give --answers=DIR", rule="engine"
            ) from error
        raise
    if chosen.smoke:
        return live_items(engine, chosen)
    return live_items(engine, chosen) + own_items(own, chosen.judging)


def live_items(engine: Engine, chosen: ItemSelection = ALL) -> list[Item]:
    """Return the items of an engine that is started."""
    _check_deviations(engine)
    engine = engine.with_classpath(chosen.classpaths.get(engine.name, ""))
    engine = replace(engine, unreported=chosen.missing or 0)
    make = {"corpus": _of_corpus, "csrbench": _of_csrbench}
    return [
        replace(item, missing=engine.missing)
        for suite in engine.suites
        for item in make[suite](engine, chosen)
    ]


def _check_deviations(engine: Engine) -> None:
    """Raise InvalidEngine if a deviation is of a case that the engine is not asked."""
    names = {
        "corpus": [case.id for case in questions()],
        "csrbench": [prefix + query for prefix in ("", EMBEDDED) for query in csrbench.QUERIES],
    }
    valid = [name for suite in engine.suites for name in names[suite]]
    for deviation in engine.deviations:
        for name in deviation.cases:
            if name not in valid:
                raise InvalidEngine(
                    f"no case {shown(name)}{nearest(name, valid)}",
                    rule="engine",
                    place=f"{engine.name}: deviations",
                )


def _shown_deviations(engine: Engine, case: str) -> tuple[tuple[str, str], ...]:
    """Return the known deviations that an item must show."""
    return tuple(
        (deviation.reason, deviation.link)
        for deviation in engine.deviations
        if case in deviation.cases
    )


@cache
def questions() -> tuple[Case, ...]:
    """Return the cases that ask something of an engine: those that expect reports, or judge an
    output.
    """
    return tuple(case for case in corpus.cases() if "expect" in case.table or "judge" in case.table)


def _of_corpus(engine: Engine, chosen: ItemSelection) -> Iterator[Item]:
    """Yield the items of the corpus."""
    for case in questions():
        if engine.profile is None and not expects_reports(case):
            continue
        if chosen.smoke and not case.table.get("smoke"):
            continue
        run = partial(_run_case, engine, case)
        shows = _shown_deviations(engine, case.id)
        yield Item(engine.name, "corpus", case.id, run, case.rule, shows)


def _run_case(engine: Engine, case: Case, harnesses: Harnesses) -> Result:
    """Ask an engine a case."""
    try:
        return probe.probe_case(engine, harnesses.of(engine), case)
    except Broken as error:
        return Result(engine.name, "corpus", case.id, case.rule, Outcome.ERROR, str(error))


def _of_csrbench(engine: Engine, chosen: ItemSelection) -> Iterator[Item]:
    """Yield the items of CSRBench's queries, over its own stream or the embedded one."""
    source, prefix = chosen.csrbench, ""
    if source is None:
        source, prefix = own_engines.embedded(), EMBEDDED
    csrbench.stream(source)
    for query in csrbench.QUERIES:
        name = prefix + query
        run = partial(_run_csrbench, engine, name, query, source)
        yield Item(engine.name, "csrbench", name, run, shows=_shown_deviations(engine, name))


def _run_csrbench(
    engine: Engine, name: str, query: str, source: Path, harnesses: Harnesses
) -> Result:
    """Ask an engine a query of CSRBench; its evidence has the resources that were used."""
    benchmark_query = csrbench.query(query)
    question = Question(
        benchmark_query, {benchmark_query.windows[0].stream: csrbench.stream(source)}
    )
    about = BenchmarkQuery(name, "", f"CSRBench's {query}", csrbench.query_table(query))
    try:
        return _with_samples(harnesses.of(engine), engine, about, question)
    except Broken as error:
        return Result(engine.name, "csrbench", name, "", Outcome.ERROR, str(error))


def _with_samples(
    harness: Harness, engine: Engine, about: BenchmarkQuery, question: Question
) -> Result:
    """Ask an engine a benchmark's query, and add the samples of resources to the evidence."""
    before = len(harness.samples)
    result = probe.probe_benchmark(engine, harness, about, question)
    if not result.evidence:
        return result
    samples = [sample._asdict() for sample in harness.samples[before:]]
    return replace(result, evidence={**result.evidence, "samples": samples})


def recorded_items(name: str, answers: Path, judging: Judging = AS_EVER) -> list[Item]:
    """Return the items of an engine's recordings in a folder: CSRBench's ENGINE-answer-N.json, or
    YABench's QR_ files.

    A file that cannot be read costs its own item alone. Raises a RefengineError for a name without
    a profile or recordings, and for CSRBench's stream, which all items need.
    """
    if runs := yabench.recorded_runs(name, answers):
        profiles.profile(name)
        return [Item(name, "yabench", run.name, _of_run(run, judging)) for run in runs]
    files = csrbench.answer_files(answers)
    chosen = [file for file in files if file.engine == name]
    if not chosen:
        there = ", ".join(sorted({file.engine for file in files}))
        raise InvalidEngine(
            f"no recording of {name!r}; recorded: {there}", rule="engine", place=str(answers)
        )
    profiles.profile(name)
    csrbench.stream(answers)
    return [
        Item(name, "csrbench", file.case, _of_answer_file(answers, file, judging))
        for file in chosen
        if not file.suffix
    ]


def own_items(recorders: list[own_engines.Recorder], judging: Judging = AS_EVER) -> list[Item]:
    """Return the items of our own engines over CSRBench's queries, recorded here, under the names
    of their profiles or defects.
    """
    return [
        Item(recorder.name, "csrbench", name, _of_recorder(recorder, name, judging))
        for recorder in recorders
        for name in csrbench.QUERIES
    ]


def _of_run(run: yabench.RecordedRun, judging: Judging) -> Callable[[Harnesses], Result]:
    return lambda _: yabench.judge_run(run, judging)


def _of_answer_file(
    folder: Path, file: csrbench.AnswerFile, judging: Judging
) -> Callable[[Harnesses], Result]:
    return lambda _: csrbench.judge_query(folder, file.query, (file,), judging)[0]


def _of_recorder(
    recorder: own_engines.Recorder, name: str, judging: Judging
) -> Callable[[Harnesses], Result]:
    return lambda _: own_engines.judge_ours(name, judging, [recorder])[0]
