"""The items of a run: each puts one case of the corpus, or one query of a benchmark, to one engine.
Running an item gives a result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

from conformance import corpus
from conformance.bench.recordings import csrbench, own_engines, yabench
from conformance.corpus import Case, window_cases
from conformance.harness import engine_file
from conformance.harness.client import Broken, Harness
from conformance.harness.engine_file import Engine, InvalidEngine
from conformance.harness.join_play import JoinQuestion
from conformance.harness.pool import Harnesses, LateFault
from conformance.suite import joins, probe
from conformance.suite.exchange import (
    BenchmarkQuery,
    PreparedQuestion,
    prepare_question,
    refuse_other_windows,
)
from conformance.suite.probe import expects_reports, prepare_blocks
from conformance.verdict.outcomes import Judging
from conformance.verdict.results import Outcome, Result, error_result
from refengine.core import profiles
from refengine.core.question import Question
from refengine.model.messages import display, nearest_id

EMBEDDED = "embedded-"  # stands before the name of a query over the stream that is shipped here
BY_DEFAULT = Judging()


@dataclass(frozen=True)
class ItemSelection:
    """A selection of items.

    `names` are engines by their names, and `unnamed` are engines without a name that could be
    looked up. `answers` is a folder of recordings that are judged instead of live engines, and
    `csrbench` a folder with CSRBench's stream. With `smoke` only the dozen cases for a first look
    are selected. With `keep_evidence` the results of benchmarks have their evidence. `classpaths`
    has the classpaths of engines on the JVM by name. `unreported` is how many outputs may be
    missing at each end (ORA-3), of an engine under test and of a recording; None if that is not
    stated. It is the `missing` of the verdict.
    `certificates` is the folder into which certificates are written, if they are.
    """

    names: tuple[str, ...] = ()
    unnamed: tuple[Engine, ...] = ()
    answers: Path | None = None
    csrbench: Path | None = None
    smoke: bool = False
    keep_evidence: bool = False
    classpaths: Mapping[str, str] = field(default_factory=dict)
    unreported: int | None = None
    certificates: Path | None = None

    @property
    def judging(self) -> Judging:
        """The terms on which recordings are judged."""
        return Judging(
            missing=self.unreported, keep=self.keep_evidence, certificates=self.certificates
        )


ALL = ItemSelection()


@dataclass(frozen=True, kw_only=True)
class Item:
    """One question to one engine.

    `run` asks it, and returns the result. `must_show` has reason and link of each known deviation
    that the result must show. `absent` says what is absent where the engine is not installed, so
    that it cannot be asked; it is empty for an engine that is there. `tested` is the engine if it
    is run; a recorded one has none. `prepare` gives the questions that `run` puts to the engine, in
    the engine's form; it is None for a recorded engine.
    """

    engine: str
    suite: str
    case: str
    run: Callable[[Harnesses], Result]
    rule: str = ""
    must_show: tuple[tuple[str, str], ...] = ()
    absent: str = ""
    tested: Engine | None = None
    prepare: Callable[[], Iterable[PreparedQuestion | JoinQuestion]] | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """The key of its result: engine, suite and case."""
        return self.engine, self.suite, self.case

    @property
    def id(self) -> str:
        """The name of the item, such as `rsp-js-WIN-2-an-element-on-the-upper-border-…`."""
        return f"{self.engine}-{self.case}".replace("/", "-").replace(" ", "-")


def engines_of(items: Iterable[Item]) -> dict[str, Engine]:
    """Return the engines of some items by name, without those that are only recorded."""
    return {item.engine: item.tested for item in items if item.tested is not None}


def files_of_items(items: Iterable[Item]) -> Iterator[Path]:
    """Yield the files and folders from which the engines of items are started and asked."""
    for engine in engines_of(items).values():
        yield from engine_file.files_of_engine(engine)


def asked_repeatedly(item: Item, times: int) -> Item:
    """Return an item whose question is asked a number of times. If the verdicts differ, the result
    is `unstable`, and names all of them.
    """
    if times == 1:
        return item
    return replace(
        item,
        run=lambda harnesses: common_result([_run_settled(item, harnesses) for _ in range(times)]),
    )


def _run_settled(item: Item, harnesses: Harnesses) -> Result:
    """Run an item, and wait for what its harness does after its last reply, so that it is not taken
    for a part of the next run.
    """
    result = item.run(harnesses)
    if item.tested is not None and (fault := harnesses.settle(item.tested)):
        return late_result(result, fault)
    return result


def common_result(runs: Sequence[Result]) -> Result:
    """Return the result of several runs of one item: the first, if all have the same outcome and
    known deviations, or else an unstable one. But an engine that was wrong each time, in one way or
    another, is wrong: then return the first result that no known deviation explains.
    """
    first = runs[0]
    if all((run.outcome, run.known) == (first.outcome, first.known) for run in runs):
        return first
    wrong = (Outcome.FAIL, Outcome.ERROR)
    if all(run.outcome in wrong for run in runs):
        return next((run for run in runs if not run.known), first)
    words = ", ".join(str(run.outcome) for run in runs)
    other = next(run for run in runs if (run.outcome, run.known) != (first.outcome, first.known))
    explanation = f"unstable: {words}\n{first.explanation}\n{other.explanation}"
    return replace(first, outcome=Outcome.UNSTABLE, explanation=explanation, known=(), witnesses=())


def items(selection: ItemSelection) -> list[Item]:
    """Return the items that a selection names, engine by engine. Raises RefengineError for an
    engine, a case or a recording that does not exist.
    """
    by_engine = [_items_of_name(name, selection) for name in dict.fromkeys(selection.names)]
    by_engine += [live_items(engine, selection) for engine in selection.unnamed]
    counts = Counter(
        name for of_engine in by_engine for name in {item.engine for item in of_engine}
    )
    for engine, count in counts.items():
        if count > 1:
            raise InvalidEngine(
                f"{count} engines have this name; rename one of their files",
                rule="engine",
                place=engine,
            )
    return [item for of_engine in by_engine for item in of_engine]


def _items_of_name(name: str, selection: ItemSelection) -> list[Item]:
    """Return the items of the engine with a name. With a folder of recordings they are those of the
    engine's recordings. Otherwise they are those of the engine itself, and of the recordings that
    are made in this run: of the reference engine and of wrong engines.
    """
    if selection.answers is not None:
        return recorded_items(name, selection.answers, selection.judging)
    # a recorder's name is such as `reference/csparql` or `wrong/WIN-1`
    made_here = [each for each in own_engines.recorders() if each.name.startswith(f"{name}/")]
    try:
        engine = engine_file.engine(name)
    except InvalidEngine as error:
        if made_here:
            return own_items(made_here, selection.judging)
        if name in profiles.PROFILES:
            raise InvalidEngine(
                f"{name!r} has no harness: give its recordings with --answers=DIR", rule="engine"
            ) from error
        raise
    if selection.smoke:
        return live_items(engine, selection)
    return live_items(engine, selection) + own_items(made_here, selection.judging)


def live_items(engine: Engine, selection: ItemSelection = ALL) -> list[Item]:
    """Return the items of an engine that is started to answer them."""
    _check_deviations(engine)
    engine = engine.with_classpath(selection.classpaths.get(engine.name, ""))
    engine = replace(engine, unreported=selection.unreported or 0)
    make: dict[str, Callable[[Engine, ItemSelection], Iterator[Item]]] = {
        "corpus": partial(_of_cases, "corpus"),
        "csrbench": _of_csrbench,
        "joins": _of_joins,
        window_cases.SUITE: partial(_of_cases, window_cases.SUITE),
    }
    # what is not installed; asked once for all items, since it looks for programs and files
    absent = engine.missing
    return [
        replace(item, absent=absent)
        for suite in engine.suites
        for item in make[suite](engine, selection)
    ]


def _check_deviations(engine: Engine) -> None:
    """Raise InvalidEngine if a known deviation names a case that the engine is not asked, or a rule
    without a case. Without known deviations no case is read.
    """
    if not engine.deviations:
        return
    cases = [name for suite in engine.suites for name in _names_of_cases(suite)]
    rules = sorted({case.rule for case in corpus.cases()})
    for deviation in engine.deviations:
        _check_names(engine, "rule", deviation.breaks, rules)
        _check_names(engine, "case", deviation.cases, cases)


def _names_of_cases(suite: str) -> list[str]:
    """Return the ids of the cases of a suite."""
    match suite:
        case "csrbench":
            return [prefix + query for prefix in ("", EMBEDDED) for query in csrbench.QUERIES]
        case "joins":
            return [case.id for case in joins.join_cases()]
        case _:
            return [case.id for case in questions(suite)]


def _check_names(engine: Engine, kind: str, names: Iterable[str], valid: Sequence[str]) -> None:
    """Raise InvalidEngine for the first name in a known deviation that is not a valid one. `kind`
    says what the names are those of: `rule` or `case`.
    """
    for name in names:
        if name not in valid:
            raise InvalidEngine(
                f"no {kind} {display(name)}{nearest_id(name, valid)}",
                rule="engine",
                place=f"{engine.file or engine.name}: deviations",
            )


def _shown_deviations(engine: Engine, case: str) -> tuple[tuple[str, str], ...]:
    """Return reason and link of each known deviation that a case must show."""
    return tuple(
        (deviation.reason, deviation.link)
        for deviation in engine.deviations
        if case in deviation.cases
    )


@cache
def questions(suite: str = "corpus") -> tuple[Case, ...]:
    """Return the cases of a suite, the corpus or `windows`, that put a question to an engine: those
    that expect reports, or judge an output.
    """
    if suite == window_cases.SUITE:
        return window_cases.window_cases()
    return tuple(case for case in corpus.cases() if "expect" in case.table or "judge" in case.table)


CASE_SUITES = ("corpus", window_cases.SUITE)


def find_case(suite: str, name: str) -> Case | None:
    """Return the case of the corpus, or of the suite `windows`, with an id; None if there is none,
    as for a query of a benchmark.
    """
    return _by_id(suite).get(name) if suite in CASE_SUITES else None


@cache
def _by_id(suite: str) -> Mapping[str, Case]:
    """Return the cases of a suite that put a question to an engine, by their ids."""
    return {case.id: case for case in questions(suite)}


def _of_cases(suite: str, engine: Engine, selection: ItemSelection) -> Iterator[Item]:
    """Yield an item for each case of the corpus, or of the suite `windows`, that can be put to an
    engine.
    """
    for case in questions(suite):
        if engine.is_configurable and not expects_reports(case):
            continue
        if not selection.smoke or case.table.get("smoke"):
            put = partial(probe.probe_case, engine, case=case, certificates=selection.certificates)
            yield _live_item(engine, suite, case, put, partial(_prepare_case, engine, case))


def _of_joins(engine: Engine, selection: ItemSelection) -> Iterator[Item]:
    """Yield an item for each case of a join over adaptive windows that an engine can be asked."""
    for case in joins.join_cases():
        if not selection.smoke or case.table.get("smoke"):
            put = partial(joins.run_join_case, engine, case=case)
            yield _live_item(engine, joins.SUITE, case, put, partial(joins.join_questions, case))


def _live_item(
    engine: Engine,
    suite: str,
    case: Case | BenchmarkQuery,
    put: Callable[[Harness], Result],
    prepare: Callable[[], Iterable[PreparedQuestion | JoinQuestion]],
) -> Item:
    """Return the item that puts a case to a running engine. Its result is what `put` makes of the
    replies of the engine's harness.
    """
    return Item(
        engine=engine.name,
        suite=suite,
        case=case.id,
        run=partial(_ask, engine, suite, case, put),
        rule=case.rule,
        must_show=_shown_deviations(engine, case.id),
        tested=engine,
        prepare=prepare,
    )


def _prepare_case(engine: Engine, case: Case) -> Iterator[PreparedQuestion]:
    """Yield the questions of a case in the form in which they are put to an engine. An engine that
    is sent its semantics is asked once for each block of expected reports; other engines are asked
    once. Raises RefengineError.
    """
    question = corpus.question_of(case)
    if engine.is_configurable:
        for _, prepared in prepare_blocks(engine, case, question):
            yield prepared
    else:
        refuse_other_windows(engine, case)
        yield prepare_question(engine, question, corpus.query_table(case))


def _ask(
    engine: Engine,
    suite: str,
    case: Case | BenchmarkQuery,
    put: Callable[[Harness], Result],
    harnesses: Harnesses,
) -> Result:
    """Put a case to the harness of an engine, and return the result: an error if the harness does
    not start.

    A harness may write a line, or end, after its last reply about the item before: a late fault of
    that item. It may be noticed only now, while the first query of this item waits for a reply, and
    be taken for this item's own error. So then the case is put once more, to a new process.
    """
    key = engine.name, suite, case.id
    item_before = harnesses.last_items.get(engine.name)
    try:
        harness = harnesses.of(engine, key)
        result = put(harness)
        if item_before is not None and harness.registered == 0:
            # The case was refused before the harness was asked about it. What the harness does now
            # is still about the item before.
            harnesses.last_items[engine.name] = item_before
        explanation = harness.late_fault
        harness.late_fault = ""  # dealt with here: the pool is not to add it
        if not explanation or item_before is None or harness.registered > 1:
            return result  # there is no late fault, or it is this item's own and in the result
        late_fault = LateFault(item_before, explanation)
        return _put_again(engine, key, put, harnesses, late_fault, harness.late_fault_is_certain)
    except Broken as error:
        return error_result(key, case.rule, str(error))


def _put_again(
    engine: Engine,
    key: tuple[str, str, str],
    put: Callable[[Harness], Result],
    harnesses: Harnesses,
    late_fault: LateFault,
    is_certain: bool,
) -> Result:
    """Put a case to a new process, and return the result. A late fault has spoilt the first one.

    If the process had ended (`is_certain`), the item before is to blame. A line may also be about
    this case. It is taken to be so if the new process makes an error as well; otherwise the item
    before is to blame.
    """
    if is_certain:
        harnesses.add_late_fault(*late_fault)
    result = put(harnesses.of(engine, key))
    if not is_certain and result.outcome is not Outcome.ERROR:
        harnesses.add_late_fault(*late_fault)
    return result


def with_late_faults(results: Iterable[Result], late_faults: Iterable[LateFault]) -> list[Result]:
    """Return the results, replacing each one by an error whose harness wrote a line, or ended,
    after its last reply about it.
    """
    explanations = dict(late_faults)
    return [
        late_result(result, explanations[result.key]) if result.key in explanations else result
        for result in results
    ]


def late_result(result: Result, explanation: str) -> Result:
    """Return the error that takes the place of a result when the harness did something after its
    last reply.
    """
    return error_result(result.key, result.rule, explanation)


def _of_csrbench(engine: Engine, selection: ItemSelection) -> Iterator[Item]:
    """Yield an item for each of CSRBench's queries, over its own stream or the embedded one. On the
    wall clock the embedded one takes minutes: a first look leaves it out.
    """
    if selection.smoke and selection.csrbench is None and engine.tolerance:
        return
    source, prefix = selection.csrbench, ""
    if source is None:
        source, prefix = own_engines.embedded(), EMBEDDED
    _check_csrbench_stream(source)
    for query in csrbench.QUERIES:
        name = prefix + query
        case = BenchmarkQuery(name, "", f"CSRBench's {query}", csrbench.table_of_query(query))
        put = partial(_put_csrbench, engine, case, query, source, selection.certificates)
        prepare = partial(_prepare_csrbench, engine, query, source)
        yield _live_item(engine, "csrbench", case, put, prepare)


def _check_csrbench_stream(folder: Path) -> None:
    """Raise RefengineError if CSRBench's stream, which all its items need, cannot be read. What was
    read is not used here.
    """
    csrbench.stream(folder)


def _prepare_csrbench(engine: Engine, query: str, source: Path) -> Iterator[PreparedQuestion]:
    """Yield the question of a query of CSRBench in the form in which it is put to an engine. Raises
    RefengineError.
    """
    yield prepare_question(
        engine, _csrbench_question(query, source), csrbench.table_of_query(query)
    )


def _csrbench_question(query: str, source: Path) -> Question:
    """Return the question of a query of CSRBench over the stream of a folder."""
    benchmark_query = csrbench.query(query)
    return Question(benchmark_query, {benchmark_query.windows[0].stream: csrbench.stream(source)})


def _put_csrbench(
    engine: Engine,
    case: BenchmarkQuery,
    query: str,
    source: Path,
    certificates: Path | None,
    harness: Harness,
) -> Result:
    """Put a query of CSRBench to an engine, and return the result. The evidence has the samples of
    the resources that the engine used.
    """
    before = len(harness.samples)
    question = _csrbench_question(query, source)
    result = probe.probe_benchmark(engine, harness, case, question, certificates)
    if not result.evidence:
        return result
    samples = [sample.as_json() for sample in harness.samples[before:]]
    return replace(result, evidence={**result.evidence, "samples": samples})


def recorded_items(name: str, answers: Path, judging: Judging = BY_DEFAULT) -> list[Item]:
    """Return the items of an engine's recordings in a folder: CSRBench's ENGINE-answer-N.json, or
    YABench's QR_ files.

    A recording that cannot be read makes its own item an error, and no other. Raises RefengineError
    for a name without a profile or without recordings, and if CSRBench's stream, which all items
    need, cannot be read.
    """
    if runs := yabench.recorded_runs(name, answers):
        profiles.profile(name)
        return [
            _recorded_item(
                name, "yabench", run.name, partial(yabench.judge_recorded_run, run, judging)
            )
            for run in runs
        ]
    files = csrbench.answer_files(answers)
    files_of_engine = [file for file in files if file.engine == name]
    if not files_of_engine:
        recorded = ", ".join(sorted({file.engine for file in files}))
        raise InvalidEngine(
            f"no recording of {name!r}; recorded: {recorded}",
            rule="engine",
            place=str(answers),
        )
    profiles.profile(name)
    _check_csrbench_stream(answers)
    return [
        _recorded_item(
            name,
            "csrbench",
            file.case,
            partial(_judge_answer_file, answers, file, judging),
        )
        for file in files_of_engine
        if not file.suffix
    ]


def own_items(recorders: list[own_engines.Recorder], judging: Judging = BY_DEFAULT) -> list[Item]:
    """Return the items of recordings of CSRBench's queries that are made in this run, of our own
    engines: the reference engine and wrong engines. An item's engine is the recorder's name. The
    items of a query share its answers.
    """
    answers = {name: judging.shared_answers() for name in csrbench.QUERIES}
    return [
        _recorded_item(
            recorder.name,
            "csrbench",
            name,
            partial(own_engines.judge_recorder, recorder, name, judging, answers[name]),
        )
        for recorder in recorders
        for name in csrbench.QUERIES
    ]


def _recorded_item(engine: str, suite: str, case: str, judge: Callable[[], Result]) -> Item:
    """Return the item of a recording. It needs no harness."""
    return Item(engine=engine, suite=suite, case=case, run=lambda _: judge())


def _judge_answer_file(folder: Path, file: csrbench.AnswerFile, judging: Judging) -> Result:
    return csrbench.judge_query(folder, file.query, (file,), judging)[0]
