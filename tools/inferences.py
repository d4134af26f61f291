"""Hold inference (`refengine infer`) to what is known: semantics that are drawn, and CSRBench's
recordings.

`python -m tools.inferences --draws 500` draws semantics, queries and streams, and counts how often
the semantics is among those that explain its own answers; of the others some are asked whether
they answer the same. `--csrbench DIR` prints for each recording which values of four fields explain
it, whether they contain the row of CSRBench's Table 1, and what the recordings of an engine that
it passes have in common.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from itertools import islice
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from conformance.bench.recordings import csrbench
from refengine import evaluate
from refengine.core import r2r
from refengine.core.profiles import profile
from refengine.core.question import Question
from refengine.core.semantics import FIELDS, show
from refengine.core.values import Condition
from refengine.model.errors import RefengineError
from refengine.oracle.inference import (
    SemanticsSet,
    every_value,
    explaining,
    make_set,
    values_of_profile,
)
from refengine.oracle.inference.outcomes import are_alike
from refengine.oracle.trial import RecordingToJudge
from refengine.strategies import inputs, queries, semantics

MOST_CANDIDATES = 2_000
MEMBERS = 10  # of a set, that are asked again
MOST_REPORTS = 60
TABLE_1 = ("report", "r2s", "empty", "missed_instants")
DEPENDENT = ("base", "watermark", "watermark_delay", "expiry_rule", "period", "anchor", "offset")


def hold_draws(number: int, chosen: int) -> Counter[str]:
    """Return how many draws were held, in how many the truth was found, and how many members
    answered alike or otherwise.
    """
    counts: Counter[str] = Counter()
    while counts["draws"] < number:  # of some draws nothing is held
        _draw(number - counts["draws"], chosen, counts)
        chosen += 1
    return counts


def _draw(number: int, chosen: int, counts: Counter[str]) -> None:
    @settings(
        max_examples=number,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @seed(chosen)
    @given(st.data())
    def hold(data: st.DataObject) -> None:
        _hold_one(data, counts)

    hold()


def _hold_one(data: st.DataObject, counts: Counter[str]) -> None:
    query = data.draw(queries(sizes=st.integers(1, 12)))
    horizon = data.draw(st.sampled_from(["none", "flush", "last-window"]))
    truth = data.draw(semantics(query, horizon=horizon))
    streams = data.draw(inputs(query, truth))
    try:
        made = evaluate(query, streams, truth, answer=r2r.defined_answer, max_reports=MOST_REPORTS)
        relations = [report.relation for report in made]
    except RefengineError:
        return
    every = every_value(query)
    values = {name: (getattr(truth, name),) for name in FIELDS}
    varied = data.draw(st.lists(st.sampled_from(FIELDS), min_size=2, max_size=5, unique=True))
    for name in (*varied, *DEPENDENT):
        more = every[name][: 2 if name in DEPENDENT else 8]
        values[name] = tuple(dict.fromkeys((*values[name], *(v for v in more if v != "unknown"))))
    candidates = make_set(values, query)
    if candidates.count > MOST_CANDIDATES:
        return
    counts["draws"] += 1
    recorded = RecordingToJudge.of(Question(query, streams), relations, missing=0)
    found = explaining(candidates, recorded)
    counts["truth found"] += truth in found.semantics
    counts["candidates"] += candidates.count
    counts["explaining"] += found.semantics.count
    for member in islice(found.semantics.semantics(), MEMBERS):
        again = [
            report.relation
            for report in evaluate(query, streams, member, answer=r2r.defined_answer)
        ]
        counts["members alike" if are_alike(relations, again) else "members that differ"] += 1


def print_csrbench(folder: Path) -> None:
    """Print what explains each recording of CSRBench, and those of each engine together."""
    left: dict[str, SemanticsSet] = {}
    for file in csrbench.answer_files(folder):
        question = csrbench.question_over(csrbench.query(file.query), folder)
        recorded = RecordingToJudge.of(question, file.recording().relations)
        every = every_value(question.query)
        own = values_of_profile(profile(file.engine))
        values = own | {name: every[name] for name in (*TABLE_1, "base")}
        without = {Condition.PERIODIC, Condition.ARRIVAL}
        values["report"] = tuple(
            report
            for report in every["report"]
            if isinstance(report, frozenset)
            and not report & without
            and report != {Condition.NON_EMPTY}
        )
        found = explaining(make_set(values), recorded)
        row = make_set(own)
        print(f"{file.name}: {_summary(found.semantics)}; Table 1: {bool(found.semantics & row)}")
        sys.stdout.flush()
        if found.semantics & row and not file.suffix:
            before = left.get(file.engine, found.semantics)
            left[file.engine] = before & found.semantics
    for engine, together in left.items():
        print(f"{engine}, all that pass: {_summary(together)}")


def _summary(found: SemanticsSet) -> str:
    shown = (f"{name}={'|'.join(map(show, found.values(name)))}" for name in TABLE_1)
    return f"{found.count} explain" + (f", {' '.join(shown)}" if found else "")


def main() -> int:
    """Run what the command line asks for; the exit code is 1 if a draw is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--csrbench", type=Path)
    options = parser.parse_args()
    counts = hold_draws(options.draws, options.seed)
    print(", ".join(f"{name}: {counts[name]}" for name in sorted(counts)))
    if options.csrbench is not None:
        print_csrbench(options.csrbench)
    is_right = counts["truth found"] == counts["draws"] and not counts["members that differ"]
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
