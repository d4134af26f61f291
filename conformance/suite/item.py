"""What an engine is held to: items, one a case of the corpus or a query of a benchmark, and what
each becomes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

from conformance import corpus
from conformance.benchmarks import csrbench, yabench
from conformance.corpus import Case
from conformance.harness import engine_file
from conformance.harness.client import Broken, Harness
from conformance.harness.engine_file import Engine, InvalidEngine
from conformance.harness.pool import Harnesses
from conformance.suite import probe
from conformance.verdict.outcomes import Judging, Outcome
from conformance.verdict.results import Result
from refengine import cli
from refengine.core import profiles
from refengine.model.messages import nearest, shown

EMBEDDED = "embedded-"  # before the name of a query over the stream that is embedded here
AS_EVER = Judging()


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
        """`rsp-js-WIN-2-an-element-on-the-upper-border-…`."""
        return f"{self.engine}-{self.case}".replace("/", "-").replace(" ", "-")


@dataclass(frozen=True)
class Chosen:
    """What items are wanted: of which engines, from recordings in `answers`, with CSRBench's stream
    from `csrbench`, the cases for a first look alone (`smoke`); `more` are engines that have no
    name. `keep`: with what verdicts on benchmarks rest on. `classpaths` are of engines on the JVM,
    by name. `missing` is how many outputs may be missing at each end, where that is stated.
    """

    names: tuple[str, ...] = ()
    more: tuple[Engine, ...] = ()
    answers: Path | None = None
    csrbench: Path | None = None
    smoke: bool = False
    keep: bool = False
    classpaths: Mapping[str, str] = field(default_factory=dict)
    missing: int | None = None

    @property
    def judging(self) -> Judging:
        """How recordings are judged."""
        return Judging(missing=self.missing, keep=self.keep)


def classpaths(words: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """The classpaths of engines that are asked for, from NAME=PATH. Raises InvalidEngine."""
    found = dict(engine_file.pair(word, "NAME=PATH") for word in words)
    for name in found:
        if name not in names:
            raise InvalidEngine(
                f"a classpath for {shown(name)}, which is not asked for{nearest(name, names)}",
                rule="engine",
            )
        if not found[name]:
            raise InvalidEngine("an empty classpath", rule="engine", place=name)
    return found


@dataclass(frozen=True)
class Asked:
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
        """See `items`."""
        more = () if self.command is None else (engine_file.command(*self.command),)
        answers, stream = (
            None if folder is None else cli.path(folder) for folder in (self.answers, self.csrbench)
        )
        paths = classpaths(self.classpaths, self.engines)
        return items(
            Chosen(
                tuple(self.engines),
                more,
                answers,
                stream,
                self.smoke,
                self.keep,
                paths,
                self.missing,
            )
        )


def items(chosen: Chosen) -> list[Item]:
    """The items that are wanted, by engine. Raises a RefengineError for what there is not."""
    found = [_named(name, chosen) for name in dict.fromkeys(chosen.names)] + [
        live(engine, chosen) for engine in chosen.more
    ]
    named = Counter(engine for some in found for engine in {item.engine for item in some})
    for engine, count in named.items():
        if count > 1:
            raise InvalidEngine(
                f"{count} engines have this name; name their files otherwise",
                rule="engine",
                place=engine,
            )
    return [item for some in found for item in some]


def _named(name: str, chosen: Chosen) -> list[Item]:
    if chosen.answers is not None:
        return recorded(name, chosen.answers, chosen.judging)
    own = [recorder for recorder in csrbench.recorders() if recorder.name.partition("/")[0] == name]
    try:
        engine = engine_file.engine(name)
    except InvalidEngine as error:
        if own:
            return ours(own, chosen.judging)
        if name in profiles.PROFILES:
            raise InvalidEngine(
                f"{name!r} is judged by its recordings: give --answers=DIR", rule="engine"
            ) from error
        raise
    return live(engine, chosen) + ([] if chosen.smoke else ours(own, chosen.judging))


def live(engine: Engine, chosen: Chosen = Chosen()) -> list[Item]:
    """The items of an engine that is started."""
    asked = {
        "corpus": [case.id for case in questions()],
        "csrbench": [p + query for p in ("", EMBEDDED) for query in csrbench.QUERIES],
    }
    valid = [name for suite in engine.suites for name in asked[suite]]
    for name in (
        name for deviation in engine.deviations for name in deviation.cases if name not in valid
    ):
        raise InvalidEngine(
            f"no case {shown(name)}{nearest(name, valid)}",
            rule="engine",
            place=f"{engine.name}: deviations",
        )
    engine = replace(
        engine.on(chosen.classpaths.get(engine.name, "")), unreported=chosen.missing or 0
    )
    make = {"corpus": _of_corpus, "csrbench": _of_csrbench}
    return [
        replace(item, missing=engine.missing)
        for suite in engine.suites
        for item in make[suite](engine, chosen)
    ]


@cache
def questions() -> tuple[Case, ...]:
    """The cases that ask something of an engine: those that expect reports, or judge an output."""
    return tuple(case for case in corpus.cases() if "expect" in case.table or "judge" in case.table)


def _of_corpus(engine: Engine, chosen: Chosen) -> Iterator[Item]:
    for case in questions():
        if (engine.profile is None and not probe.expects(case)) or (
            chosen.smoke and not case.table.get("smoke")
        ):
            continue
        shows = tuple((one.reason, one.link) for one in engine.deviations if case.id in one.cases)
        yield Item(engine.name, "corpus", case.id, partial(_probed, engine, case), case.rule, shows)


def _probed(engine: Engine, case: Case, harnesses: Harnesses) -> Result:
    def ask(harness: Harness) -> probe.Found:
        found = probe.result(engine, harness, case)
        return probe.Found(
            found.outcome, found.argument, found.deviations, found.evidence, found.witnesses
        )

    return _result(engine, "corpus", case.id, case.rule, harnesses, ask)


def _of_csrbench(engine: Engine, chosen: Chosen) -> Iterator[Item]:
    folder, prefix = (
        (csrbench.embedded(), EMBEDDED) if chosen.csrbench is None else (chosen.csrbench, "")
    )
    csrbench.stream(folder)
    for query in csrbench.QUERIES:
        name = prefix + query
        shows = tuple((one.reason, one.link) for one in engine.deviations if name in one.cases)
        yield Item(
            engine.name,
            "csrbench",
            name,
            partial(_benched, engine, name, query, folder),
            shows=shows,
        )


def _benched(engine: Engine, name: str, query: str, folder: Path, harnesses: Harnesses) -> Result:
    asked = csrbench.query(query)
    streams = {asked.windows[0].stream: csrbench.stream(folder)}
    named = probe.Named(name, "", f"CSRBench's {query}", csrbench.query_table(query))

    def ask(harness: Harness) -> probe.Found:
        before = len(harness.samples)
        found = probe.benchmark(engine, harness, named, asked, streams)
        samples = [sample._asdict() for sample in harness.samples[before:]]
        return (
            found._replace(evidence={**found.evidence, "samples": samples})
            if found.evidence
            else found
        )

    return _result(engine, "csrbench", name, "", harnesses, ask)


def _result(
    engine: Engine,
    suite: str,
    case: str,
    rule: str,
    harnesses: Harnesses,
    ask: Callable[[Harness], probe.Found],
) -> Result:
    try:
        found = ask(harnesses.of(engine))
    except Broken as error:
        found = probe.Found(Outcome.ERROR, str(error))
    known = tuple((one.reason, one.link) for one in found.deviations)
    return Result(
        engine.name,
        suite,
        case,
        rule,
        found.outcome,
        found.argument,
        known,
        found.evidence,
        found.witnesses,
    )


def recorded(name: str, answers: Path, judging: Judging = AS_EVER) -> list[Item]:
    """An engine's recordings in a folder: CSRBench's ENGINE-answer-N.json, or YABench's QR_ files.

    A file that cannot be read costs its own item alone. Raises a RefengineError for a name without
    a profile or recordings, and for CSRBench's stream, which all items need.
    """
    if runs := yabench.runs(name, answers):
        profiles.profile(name)
        return [Item(name, "yabench", run.name, _of_run(run, judging)) for run in runs]
    cells = csrbench.cells(answers)
    chosen = [cell for cell in cells if cell.engine == name]
    if not chosen:
        there = ", ".join(sorted({cell.engine for cell in cells}))
        raise InvalidEngine(
            f"no recording of {name!r}; recorded: {there}", rule="engine", place=str(answers)
        )
    profiles.profile(name)
    csrbench.stream(answers)
    return [
        Item(name, "csrbench", cell.case, _of_cell(answers, cell, judging))
        for cell in chosen
        if not cell.suffix
    ]


def ours(recorders: list[csrbench.Recorder], judging: Judging = AS_EVER) -> list[Item]:
    """Our own engines over CSRBench's queries, recorded here, under the names of their profiles or
    defects.
    """
    return [
        Item(recorder.name, "csrbench", name, _of_recorder(recorder, name, judging))
        for recorder in recorders
        for name in csrbench.QUERIES
    ]


def _of_run(run: yabench.Run, judging: Judging) -> Callable[[Harnesses], Result]:
    return lambda _: yabench.judge_run(run, judging)


def _of_cell(folder: Path, cell: csrbench.Cell, judging: Judging) -> Callable[[Harnesses], Result]:
    return lambda _: csrbench.judge_query(folder, cell.query, (cell,), judging)[0]


def _of_recorder(
    recorder: csrbench.Recorder, name: str, judging: Judging
) -> Callable[[Harnesses], Result]:
    return lambda _: csrbench.judge_ours(name, judging, [recorder])[0]


class NonConformance(AssertionError):
    """An engine fails; the message has every argument. `results` are all results."""

    def __init__(self, wrong: list[str], results: list[Result]) -> None:
        super().__init__("\n\n".join(wrong))
        self.results = results


def unexpected(item: Item, result: Result) -> str:
    """Why a result is a failure of the run, or nothing: a fail or an error that no known deviation
    explains, or a known deviation that does not show where it must.
    """
    if result.outcome in (Outcome.FAIL, Outcome.ERROR) and not result.known:
        return result.argument if result.outcome is Outcome.FAIL else f"error: {result.argument}"
    gone = [reason for reason, link in item.shows if (reason, link) not in result.known]
    return (
        (
            f"{result.outcome}, without what the engine is known for here: "
            f"{'; '.join(gone)}\n{result.argument}"
        )
        if gone
        else ""
    )


def judged(result: Result) -> bool:
    """Whether a result says something of the engine: what is unsupported or disputed does not."""
    return bool(result.known) or result.outcome not in (Outcome.UNSUPPORTED, Outcome.DISPUTED)


def check_engine(engine: Engine | str | Path, *, smoke: bool = False) -> list[Result]:
    """Every result of an engine, by its name, the path of its file, or itself. Raises
    NonConformance if any is unexpected, and a RefengineError if there is no such engine or what it
    needs is not there.
    """
    tested = (engine if isinstance(engine, Engine) else engine_file.engine(str(engine))).on("")
    if tested.missing:
        raise InvalidEngine(tested.missing, rule="engine", place=tested.name)
    harnesses = Harnesses()
    try:
        asked = [(item, item.run(harnesses)) for item in live(tested, Chosen(smoke=smoke))]
    finally:
        harnesses.stop()
    results = [result for _, result in asked]
    wrong = [
        f"{item.id}: {reason}" for item, result in asked if (reason := unexpected(item, result))
    ]
    if wrong:
        raise NonConformance(wrong, results)
    return results
