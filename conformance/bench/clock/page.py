"""The tables of a sweep, and its page: pure functions of the figures of its runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from statistics import median
from typing import NamedTuple

from conformance.bench.clock.paper import (
    Estimate,
    counts_of_verdicts,
    estimate,
    orderings,
    published_recall,
)
from conformance.bench.clock.sweep import RunFigures
from conformance.bench.table_page import PageSection, PageWords, table_page
from conformance.bench.tables import Cell, Table
from conformance.report import texts
from conformance.report.drawings.sweeps import amount_curve, heat_map, share_curves
from conformance.verdict.explain import count_text
from refengine.drawings.drawing import Drawing

CELL = 80  # the most characters of a name
VERDICTS = {"agrees": "pass", "differs": "fail", "open": "unsupported"}
NOTE = (
    "Recall is the share of the unlimited join's results that were found, after the warm-up; under "
    "stress only while the input rate is above its mean. ± is half of the 95 % confidence interval "
    "over the seeds."
)


class WorkloadOnPage(NamedTuple):
    """What a page shows of a workload beside its runs: its title, the text of its query, and the
    memory that is needed over time.
    """

    title: str
    query: str
    needed: Sequence[tuple[int, int]]


def tables_of(
    runs: Sequence[RunFigures], titles: Mapping[str, str], has_paper: bool
) -> list[Table]:
    """Return the tables of a sweep: for each workload recall over all and under stress, and what
    the runs cost; with the paper's recall, its own beside, and how many orderings agree.
    """
    tables = []
    for name, group in groupby(runs, key=lambda run: run.workload):
        of_workload = list(group)
        published = {}
        if has_paper:
            published = {
                memory: published_recall(name, memory) for memory in _memories(of_workload)
            }
        title = titles.get(name, name)
        tables.append(_table_of_recall(f"{title}: recall", of_workload, False, published))
        tables.append(_table_of_recall(f"{title}: recall under stress", of_workload, True, {}))
        tables.append(_table_of_costs(f"{title}: precision, memory and throughput", of_workload))
    if has_paper:
        tables += _tables_of_orderings(runs)
    return tables


def _policies(runs: Sequence[RunFigures]) -> list[str]:
    return list(dict.fromkeys(run.policy for run in runs))


def _memories(runs: Sequence[RunFigures]) -> list[str]:
    return list(dict.fromkeys(run.memory for run in runs))


def recall_of(
    runs: Sequence[RunFigures], policy: str, memory: str, is_stressed: bool
) -> Estimate | None:
    """Return the recall of a policy with a memory over the seeds; None if it did not run."""
    chosen = [run for run in runs if (run.policy, run.memory) == (policy, memory)]
    if not chosen:
        return None
    return estimate([(run.stressed if is_stressed else run.overall).recall for run in chosen])


def _table_of_recall(
    title: str,
    runs: Sequence[RunFigures],
    is_stressed: bool,
    published: Mapping[str, Mapping[str, float]],
) -> Table:
    """Return a row for each policy, with a column for each memory and, next to it, the paper's."""
    memories = _memories(runs)
    columns = ["policy"]
    for memory in memories:
        columns += [memory, "paper"] if published.get(memory) else [memory]
    rows = []
    for policy in _policies(runs):
        cells = [Cell(texts.clean(policy, CELL))]
        for memory in memories:
            found = recall_of(runs, policy, memory, is_stressed)
            cells.append(Cell("" if found is None else str(found)))
            if published.get(memory):
                of_paper = published[memory].get(policy)
                cells.append(Cell("" if of_paper is None else f"{of_paper:.3f}"))
        rows.append(tuple(cells))
    return Table(title, tuple(columns), tuple(rows), NOTE)


def _table_of_costs(title: str, runs: Sequence[RunFigures]) -> Table:
    """Return a row for each policy: its precision, the most bindings that it held, its speed."""
    rows = []
    for policy in _policies(runs):
        chosen = [run for run in runs if run.policy == policy]
        speeds = [run.elements / run.cpu_seconds for run in chosen if run.cpu_seconds]
        rows.append(
            (
                Cell(texts.clean(policy, CELL)),
                Cell(f"{min(run.overall.precision for run in chosen):.3f}"),
                Cell(f"{max(run.most_held for run in chosen):,}"),
                Cell(f"{median(speeds):,.0f}" if speeds else ""),
            )
        )
    columns = ("policy", "least precision", "most held", "elements a CPU second")
    return Table(title, columns, tuple(rows))


def _tables_of_orderings(runs: Sequence[RunFigures]) -> Iterator[Table]:
    """Yield how many orderings of two policies agree with the paper's, and those that differ."""
    found = list(orderings(runs))
    counts = [
        (
            Cell(f"{workload}, {memory}"),
            *(Cell(str(of.get(verdict, 0)), VERDICTS[verdict]) for verdict in VERDICTS),
        )
        for (workload, memory), of in counts_of_verdicts(found).items()
    ]
    yield Table(
        "Orderings of the paper's Fig. 5",
        ("workload, memory", "agree", "differ", "open"),
        tuple(counts),
        "Each pair of the paper's six policies. Open: the interval of our difference holds 0, or "
        "the paper's values are the same.",
    )
    rows = [
        (
            Cell(f"{one.workload}, {one.memory}"),
            Cell(f"{one.first} less {one.second}"),
            Cell(f"{one.published:+.3f}"),
            Cell(f"{one.ours.mean:+.3f} ± {one.ours.half_width or 0:.3f}"),
        )
        for one in found
        if one.verdict == "differs"
    ]
    columns = ("workload, memory", "recall of", "paper", "ours")
    yield Table("Orderings that differ", columns, tuple(rows))


def page(
    runs: Sequence[RunFigures], workloads: Mapping[str, WorkloadOnPage], has_paper: bool
) -> str:
    """Return the HTML of the page of a sweep. The same figures give the same page."""
    titles = {name: texts.clean(one.title) for name, one in workloads.items()}
    words = PageWords(
        title="Joins with bounded memory",
        lead=f"{count_text(len(runs), 'run')} of {count_text(len(titles), 'workload')}.",
        source="Recall of eviction policies and load shedding, against the unlimited join.",
        heading="Workloads",
        made_by="python -m conformance bounded",
    )
    return table_page(words, tables_of(runs, titles, has_paper), list(_sections(runs, workloads)))


def _sections(
    runs: Sequence[RunFigures], workloads: Mapping[str, WorkloadOnPage]
) -> Iterator[PageSection]:
    """Yield the plots of each workload."""
    for name, group in groupby(runs, key=lambda run: run.workload):
        of_workload = list(group)
        shown = workloads[name]
        policies = [texts.clean(policy, CELL) for policy in _policies(of_workload)]
        plots = []
        for is_stressed, words in ((False, "Recall"), (True, "Recall under stress")):
            plots += _plots_of_recall(of_workload, policies, is_stressed, words)
        plots.append(
            ("Memory needed over time, in bindings", amount_curve("memory needed", shown.needed))
        )
        yield PageSection(texts.clean(shown.title), plots, texts.block(shown.query))


def _plots_of_recall(
    runs: Sequence[RunFigures], policies: Sequence[str], is_stressed: bool, words: str
) -> list[tuple[str, Drawing]]:
    """Return the heat map and the curves of recall by memory."""
    memories = _memories(runs)
    estimates = {
        (shown, memory): recall_of(runs, policy, memory, is_stressed)
        for shown, policy in zip(policies, _policies(runs), strict=True)
        for memory in memories
    }
    shares = {key: found.mean for key, found in estimates.items() if found is not None}
    series = {
        policy: [
            None
            if (found := estimates[policy, memory]) is None
            else (found.mean, found.half_width or 0.0)
            for memory in memories
        ]
        for policy in policies
    }
    return [
        (f"{words}: policy by memory", heat_map(words, policies, memories, shares)),
        (f"{words} over memory", share_curves(words, memories, series)),
    ]
