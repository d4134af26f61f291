"""python -m tools.arq: draws queries with data, asks an evaluation of ours and Apache Jena ARQ, and
lists the differences of their answers.
"""

from __future__ import annotations

import argparse
import importlib
import json
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any, TextIO

from tools import sg1
from tools.arq.differ import (
    AGREE,
    Answer,
    Difference,
    Evaluate,
    compare_answers,
    our_answer,
    shrink,
)
from tools.arq.draw import Draw, draw
from tools.arq.explained import class_of_difference, explain, explanations, searched_texts, table
from tools.arq.jena import JARS, Jena, lacks

DEFAULT = "tools.arq.differ:definition"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "arq.md"
EXAMPLES = 3  # of a class that is not explained


def import_function(text: str) -> Evaluate:
    """Return the function that MODULE:FUNCTION names. Raises argparse.ArgumentTypeError if there is
    none.
    """
    module, _, name = text.partition(":")
    try:
        function: Evaluate = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise argparse.ArgumentTypeError(f"no function {text}: {error}") from None
    return function


def compare_draw(number: int, case: Draw, evaluate: Evaluate, jena: Jena) -> dict[str, Any]:
    """Return the result of draw `number` as a line of NDJSON: its outcome, whether the query is
    legal and has rows, and, for a difference, the shrunk case.
    """
    ours = our_answer(evaluate, case.text, case.data)
    theirs = jena.ask(case.text, case.data)
    kind = compare_answers(case.text, ours, theirs)
    result = {
        "draw": number,
        "outcome": kind,
        "legal": theirs.error != "invalid",
        "rows": bool(theirs.relation),
    }
    if kind == "refused":
        result["reason"] = ours.message or "blank nodes too symmetric to compare"
    if kind in AGREE:
        return result

    def difference(draw: Draw, ours: Answer, theirs: Answer) -> Difference:
        data = tuple(" ".join(statement) for statement in sorted(draw.data))
        return Difference(number, kind, draw.text, data, ours.plain(), theirs.plain())

    as_drawn = difference(case, ours, theirs)
    # These are explained by the message of the error, which a smaller case might not have.
    if kind in ("theirs fails", "legality") and explain(as_drawn, explanations()):
        return result | asdict(as_drawn)

    def differs(candidate: Draw) -> bool:
        """Whether a smaller draw has the same outcome."""
        theirs = jena.ask(candidate.text, candidate.data)
        if theirs.error == "invalid" and kind != "legality":
            return False
        ours = our_answer(evaluate, candidate.text, candidate.data)
        return compare_answers(candidate.text, ours, theirs) == kind

    small = shrink(case, differs)
    if small == case:
        return result | asdict(as_drawn)
    ours = our_answer(evaluate, small.text, small.data)
    theirs = jena.ask(small.text, small.data)
    return result | asdict(difference(small, ours, theirs))


def read(path: Path) -> list[dict[str, Any]]:
    """Return the results of an earlier run, none if there is no file. They end before a line that
    was cut short.
    """
    if not path.is_file():
        return []
    results = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            results.append(json.loads(line))
        except ValueError:
            break
    return results


def report(results: Sequence[dict[str, Any]], out: TextIO) -> bool:
    """Print the figures of a run and its differences, by class. Return whether all of them are
    explained.
    """
    _print_figures(results, out)
    explained, classes = _classify(results)
    not_explained = sum(map(len, classes.values()))
    print(f"differences: {explained.total()} explained, {not_explained} not", file=out)
    for name, count in explained.most_common():
        print(f"  explained {count}: {name}", file=out)
    for name, differences in sorted(classes.items(), key=lambda item: (-len(item[1]), item[0])):
        print(f"  not explained {len(differences)}: {name}", file=out)
        for difference in sorted(differences, key=_size)[:EXAMPLES]:
            _print_example(difference, out)
    return not classes


def _print_figures(results: Sequence[dict[str, Any]], out: TextIO) -> None:
    """Print how many draws there are, and how many have each outcome."""
    total = max(len(results), 1)
    legal = sum(result["legal"] for result in results) / total
    rows = sum(result["rows"] for result in results) / total
    print(f"draws: {len(results)}, legal {legal:.1%}, with rows {rows:.1%}", file=out)

    outcomes = Counter(result["outcome"] for result in results)
    counts = ", ".join(f"{name} {count}" for name, count in outcomes.most_common())
    print(f"outcomes: {counts}", file=out)

    reasons = Counter(result["reason"] for result in results if result["outcome"] == "refused")
    for reason, count in reasons.most_common():
        print(f"  refused {count}: {reason}", file=out)


def _classify(
    results: Sequence[dict[str, Any]],
) -> tuple[Counter[str], dict[str, list[Difference]]]:
    """Return how many differences each explanation covers, and the differences that none covers, by
    class.
    """
    known = explanations()
    explained: Counter[str] = Counter()
    classes: dict[str, list[Difference]] = defaultdict(list)
    for result in results:
        if result["outcome"] in AGREE:
            continue
        difference = Difference(**{name: result[name] for name in Difference.__dataclass_fields__})
        entry = explain(difference, known)
        if entry is None:
            classes[class_of_difference(difference)].append(difference)
        else:
            explained[entry.id] += 1
    return explained, classes


def _size(difference: Difference) -> int:
    """Return the number of characters of a difference's query and data."""
    return len(difference.text) + sum(map(len, difference.data))


def _print_example(difference: Difference, out: TextIO) -> None:
    """Print the query, the data and both answers of a difference."""
    print(f"    draw {difference.number}", file=out)
    for part, text in searched_texts(difference).items():
        if part == "all":  # the query and the data again
            continue
        indented = text.replace("\n", "\n" + " " * 14)
        print(f"      {part + ':':8}{indented}", file=out)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0; 1 if a difference is not explained; 2 for
    bad arguments or without ARQ; 130 if interrupted.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.arq", description=__doc__)
    parser.add_argument("--draws", type=int, default=1000, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        metavar="S",
        help="a run of the same seed goes on where it ended; default: %(default)s",
    )
    parser.add_argument(
        "--first",
        type=int,
        default=0,
        metavar="K",
        help="the number of the first draw; default: %(default)s",
    )
    parser.add_argument(
        "--answer",
        default=DEFAULT,
        metavar="MODULE:FUNCTION",
        help="a function of a query's text and a dataset; default: %(default)s",
    )
    parser.add_argument(
        "--results",
        type=Path,
        metavar="FILE",
        help="NDJSON, a line a draw; default: in build/arq, by answer and seed",
    )
    parser.add_argument("--anew", action="store_true", help="forget what FILE holds")
    parser.add_argument(
        "--one",
        type=int,
        metavar="K",
        help="print draw K with both answers, not shrunk, and nothing else",
    )
    parser.add_argument(
        "--table",
        action="store_true",
        help="write the table of explained differences into docs/arq.md, and nothing else",
    )
    options = parser.parse_args(arguments)
    if options.table:
        return write_table()
    try:
        evaluate = import_function(options.answer)
    except argparse.ArgumentTypeError as error:
        parser.error(str(error))
    if lack := lacks():
        parser.exit(2, f"tools.arq: {lack}\n")
    if options.one is not None:
        return show(draw(options.seed, options.one), evaluate)
    default_name = f"{options.answer.replace(':', '-')}-{options.seed}.ndjson"
    path = options.results or JARS.parent / default_name
    path.parent.mkdir(parents=True, exist_ok=True)
    results = []
    if not options.anew:
        results = read(path)
    status = 0
    try:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(result) + "\n" for result in results)
            add_draws(options, results, file, evaluate)
    except KeyboardInterrupt:
        status = 130
    numbers = range(options.first, options.first + options.draws)
    is_explained = report([each for each in results if each["draw"] in numbers], sys.stdout)
    print(f"results: {path}")
    return status or int(not is_explained)


def add_draws(
    options: argparse.Namespace, results: list[dict[str, Any]], file: TextIO, evaluate: Evaluate
) -> None:
    """Compare the draws that are not among the results yet, and add them there and to the file. How
    far it is goes to standard error every five seconds.
    """
    done = {result["draw"] for result in results}
    started = monotonic()
    shown = started
    with Jena() as jena:
        for number in range(options.first, options.first + options.draws):
            if number in done:
                continue
            result = compare_draw(number, draw(options.seed, number), evaluate, jena)
            results.append(result)
            file.write(json.dumps(result) + "\n")
            file.flush()
            if monotonic() - shown > 5:
                shown = monotonic()
                differ = sum(result["outcome"] not in AGREE for result in results)
                print(
                    f"draw {number}: {differ} differ, {shown - started:.0f} s",
                    file=sys.stderr,
                    flush=True,
                )


def write_table() -> int:
    """Write the table of explained differences into docs/arq.md, and return the exit code. It
    replaces the table there, which is the end of the page.
    """
    text = PAGE.read_text(encoding="utf-8")
    above = text[: text.index("| class |")]
    PAGE.write_text(above + table(explanations()), encoding="utf-8")
    return 0


def show(case: Draw, evaluate: Evaluate) -> int:
    """Print a draw with both answers, and return the exit code: 1 if they differ."""
    with Jena() as jena:
        ours = our_answer(evaluate, case.text, case.data)
        theirs = jena.ask(case.text, case.data)
    print(case.text)
    for statement in sorted(case.data):
        print("  " + " ".join(statement))
    for name, answer in (("ours", ours), ("theirs", theirs)):
        print(f"{name}: {json.dumps(answer.plain(), ensure_ascii=False)}")
    kind = compare_answers(case.text, ours, theirs)
    print(kind)
    if kind in AGREE:
        return 0
    return 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, sg1.end_run)
    raise SystemExit(main())
