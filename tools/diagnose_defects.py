"""Hold the diagnosis of the suite to engines with known defects: `make defects`.

The engine in tests/defective_engine is right under two profiles, and has switchable defects. The
corpus is put to it with each defect alone, and with drawn pairs of defects of different kinds. A
diagnosis is right if it names each defect, with its rule. Standard output gets Markdown for
docs/evidence/diagnosis.md: a table of totals, one of the defects, and one of the pairs with
a defect that is not named. Standard error gets the complete diagnoses.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.harness.engine_file import Engine, engine
from conformance.harness.pool import Harnesses
from conformance.suite.item import Item, ItemSelection, live_items
from conformance.suite.summary import summarize_run
from conformance.verdict.results import Outcome, Result
from tools.known_defects import DEFECTS, PROFILES, Defect, draw_pairs, write_engine_file

MOST_SECONDS = 20  # of CPU time that the end of a run may take
CAUSE = re.compile(
    r"\S+: (?P<cause>.*) explains (?P<explained>\d+) of (?P<fails>\d+) fails"
    r" \((?P<rules>[^()]*)\).*"
)
WRONG_ENGINE = re.compile(r"the wrong engine (['\"])(?P<name>.*?)\1 \(")


@dataclass(frozen=True)
class Cause:
    """A line of a diagnosis: the cause that it names, with its rules, and how many of the fails it
    explains.
    """

    text: str
    rules: str
    explained: int
    fails: int

    @property
    def label(self) -> str:
        """The cause with its rules, without the sentence about a wrong engine."""
        if match := WRONG_ENGINE.match(self.text):
            return match["name"]
        return f"{self.text} ({self.rules})"

    def names(self, defect: Defect, report: str) -> bool:
        """Whether the cause is a defect of the engine."""
        return self.label in defect.causes[report]


@dataclass(frozen=True)
class Examination:
    """What a run said about the engine with a --report and some defects. There are no `lines` if
    its end took longer than `MOST_SECONDS`.
    """

    report: str
    defects: tuple[Defect, ...]
    fails: int
    lines: tuple[str, ...]

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The causes of the diagnosis, in its order."""
        found = (CAUSE.fullmatch(line) for line in self.lines)
        return tuple(
            Cause(match["cause"], match["rules"], int(match["explained"]), int(match["fails"]))
            for match in found
            if match
        )

    def is_named(self, defect: Defect) -> bool:
        """Whether the diagnosis names a defect: a single defect first, one of several anywhere."""
        causes = self.causes[: None if len(self.defects) > 1 else 1]
        return any(cause.names(defect, self.report) for cause in causes)


def examine(report: str, defects: Sequence[Defect] = (), *, smoke: bool = False) -> Examination:
    """Put the corpus to the engine with a --report and some defects, with `smoke` a dozen cases.
    Return what is said of it. Raises RefengineError if something is missing.
    """
    with tempfile.TemporaryDirectory() as folder:
        tested = engine(str(write_engine_file(Path(folder), report, [one.name for one in defects])))
        return _examine_engine(tested, report, tuple(defects), smoke)


def _examine_engine(
    tested: Engine, report: str, defects: tuple[Defect, ...], smoke: bool
) -> Examination:
    """Put the corpus to an engine, and return what is said of it."""
    items = live_items(tested, ItemSelection(smoke=smoke))
    harnesses = Harnesses()
    try:
        results = [item.run(harnesses) for item in items]
    finally:
        harnesses.stop()
    fails = sum(result.outcome is Outcome.FAIL for result in results)
    return Examination(report, defects, fails, describe_in_time(results, items, MOST_SECONDS))


def describe_in_time(
    results: Sequence[Result], items: Sequence[Item], seconds: float
) -> tuple[str, ...]:
    """Return what is said at the end of a run; nothing if that takes more seconds of CPU time."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return tuple(summarize_run(results, items).lines())
    except TimeoutError:
        return ()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def table_of_singles(examinations: Sequence[Examination]) -> Iterator[str]:
    """Yield the lines of the table of single defects. A defect has a row for each profile where its
    diagnoses begin otherwise, else one row.
    """
    rows: dict[str, dict[tuple[str, str], str]] = {}
    for found in examinations:
        (one,) = found.defects
        row = (_show_causes(found, 1), _yes_or_no([found.is_named(one)]))
        rows.setdefault(one.name, {}).setdefault(row, PROFILES[found.report])
    yield "| defect | first cause of the diagnosis | named |"
    yield "|---|---|---|"
    for name, profiles in rows.items():
        for (cause, is_named), profile in profiles.items():
            where = f" ({profile})" if len(profiles) > 1 else ""
            yield f"| `{name}`{where} | {cause} | {is_named} |"


def table_of_pairs(examinations: Sequence[Examination]) -> Iterator[str]:
    """Yield the lines of the table of pairs in which a defect is not named."""
    yield "| profile | defects | causes of the diagnosis | named |"
    yield "|---|---|---|---|"
    for found in examinations:
        if all(map(found.is_named, found.defects)):
            continue
        names = " ".join(f"`{one.name}`" for one in found.defects)
        is_named = ", ".join(_yes_or_no([found.is_named(one)]) for one in found.defects)
        yield f"| {PROFILES[found.report]} | {names} | {_show_causes(found)} | {is_named} |"


def _show_causes(found: Examination, most: int | None = None) -> str:
    """Return the causes of a diagnosis as the cell of a table."""
    if not found.lines:
        return f"not at its end after {MOST_SECONDS} s"
    shown = [f"`{cause.label}`" for cause in found.causes[:most]]
    return ", ".join(shown).replace("|", "\\|") or "no cause"


def _yes_or_no(answers: Iterable[bool]) -> str:
    return "yes" if all(answers) else "no"


def table_of_totals(
    right: Sequence[Examination], singles: Sequence[Examination], pairs: Sequence[Examination]
) -> Iterator[str]:
    """Yield the lines of the table that counts what is named. `right` is the engine without a
    defect.
    """
    alone = {
        (found.report, one.name): found.is_named(one) for found in singles for one in found.defects
    }
    nameable = sum(bool(one.causes[found.report]) for found in singles for one in found.defects)
    counts = [sum(map(pair.is_named, pair.defects)) for pair in pairs]
    easy = [
        count
        for pair, count in zip(pairs, counts, strict=True)
        if all(alone.get((pair.report, one.name)) for one in pair.defects)
    ]
    endless = sum(not found.lines for found in (*singles, *pairs))
    yield "| what was tried | number | named |"
    yield "|---|---|---|"
    yield f"| the engine without a defect | {sum(found.fails for found in right)} fails | – |"
    yield f"| single defects | {len(alone)} | {sum(alone.values())} |"
    yield f"| those that are a value or a wrong engine | {nameable} | {sum(alone.values())} |"
    yield f"| pairs | {len(pairs)} | {counts.count(2)} both, {counts.count(1)} one |"
    yield f"| pairs of defects that are named alone | {len(easy)} | {easy.count(2)} both |"
    yield f"| diagnoses given up after {MOST_SECONDS} s of CPU time | {endless} | – |"


def examine_all(
    chosen: Sequence[tuple[str, tuple[Defect, ...]]],
) -> Iterator[Examination]:
    """Yield what is said of the engine with each choice of a --report and defects."""
    for place, (report, defects) in enumerate(chosen, 1):
        found = examine(report, defects)
        names = " ".join(one.name for one in defects) or "no defect"
        print(f"{place} of {len(chosen)}: {report} {names}: {found.fails} fails", file=sys.stderr)
        for line in found.lines:
            print(f"  {line}", file=sys.stderr)
        yield found


def main(words: Sequence[str] | None = None) -> None:
    """Examine all single defects and drawn pairs, and print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.diagnose_defects", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--pairs", type=int, default=40, help="pairs of defects (40)")
    parser.add_argument("--seed", type=int, default=1, help="of the pairs that are drawn (1)")
    options = parser.parse_args(words)

    alone = [(report, (one,)) for report in PROFILES for one in DEFECTS if report in one.causes]
    drawn = [(report, pair) for report, *pair in draw_pairs(options.pairs, options.seed)]
    right = list(examine_all([(report, ()) for report in PROFILES]))
    singles = list(examine_all(alone))
    pairs = list(examine_all([(report, tuple(pair)) for report, pair in drawn]))

    print(*table_of_totals(right, singles, pairs), "", sep="\n")
    print(*table_of_singles(singles), "", sep="\n")
    print(*table_of_pairs(pairs), sep="\n")


if __name__ == "__main__":
    main()
