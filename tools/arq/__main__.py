"""python -m tools.arq: draws queries with data, asks an evaluation of ours and Apache Jena ARQ, and
lists where they differ.
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
from tools.arq.differ import AGREE, Answer, Difference, Evaluate, our_answer, outcome, shrink
from tools.arq.draw import Draw, draw
from tools.arq.explained import class_of, explain, explanations, searched_texts, table
from tools.arq.jena import JARS, Jena, lacks

DEFAULT = "tools.arq.differ:definition"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "arq.md"
EXAMPLES = 3  # of a class that is not explained


def named(text: str) -> Evaluate:
    """Return the function of MODULE:FUNCTION."""
    module, _, name = text.partition(":")
    try:
        found: Evaluate = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise argparse.ArgumentTypeError(f"no function {text}: {error}") from None
    return found


def compare_draw(number: int, case: Draw, evaluate: Evaluate, jena: Jena) -> dict[str, Any]:
    """Return the result of one draw, for NDJSON: its outcome, whether it is legal and has rows,
    and, for a difference, the shrunk case.
    """
    ours, theirs = our_answer(evaluate, case.text, case.data), jena.ask(case.text, case.data)
    kind = outcome(case.text, ours, theirs)
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

    def difference(found: Draw, ours: Answer, theirs: Answer) -> Difference:
        data = tuple(" ".join(statement) for statement in sorted(found.data))
        return Difference(number, kind, found.text, data, ours.plain(), theirs.plain())

    as_drawn = difference(case, ours, theirs)
    if kind in ("theirs fails", "legality") and explain(as_drawn, explanations()):  # by its message
        return result | asdict(as_drawn)

    def differs(candidate: Draw) -> bool:
        theirs = jena.ask(candidate.text, candidate.data)
        if theirs.error == "invalid" and kind != "legality":
            return False
        return (
            outcome(candidate.text, our_answer(evaluate, candidate.text, candidate.data), theirs)
            == kind
        )

    small = shrink(case, differs)
    if small == case:
        return result | asdict(as_drawn)
    return result | asdict(
        difference(
            small, our_answer(evaluate, small.text, small.data), jena.ask(small.text, small.data)
        )
    )


def read(path: Path) -> list[dict[str, Any]]:
    """Return the results of a run before; a line that was cut short is left out."""
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
    """Print the figures and the differences by class. Whether every difference is explained."""
    known = explanations()
    outcomes = Counter(result["outcome"] for result in results)
    total = max(len(results), 1)
    legal = sum(result["legal"] for result in results)
    rows = sum(result["rows"] for result in results)
    print(
        f"draws: {len(results)}, legal {legal / total:.1%}, with rows {rows / total:.1%}", file=out
    )
    print(
        "outcomes: " + ", ".join(f"{name} {count}" for name, count in outcomes.most_common()),
        file=out,
    )
    reasons = Counter(result["reason"] for result in results if result["outcome"] == "refused")
    for reason, count in reasons.most_common():
        print(f"  refused {count}: {reason}", file=out)
    classes: dict[str, list[Difference]] = defaultdict(list)
    explained: Counter[str] = Counter()
    for result in results:
        if result["outcome"] in AGREE:
            continue
        difference = Difference(**{name: result[name] for name in Difference.__dataclass_fields__})
        entry = explain(difference, known)
        if entry is None:
            classes[class_of(difference)].append(difference)
        else:
            explained[entry.id] += 1
    print(
        f"differences: {explained.total()} explained, {sum(map(len, classes.values()))} not",
        file=out,
    )
    for name, count in explained.most_common():
        print(f"  explained {count}: {name}", file=out)
    for name, found in sorted(classes.items(), key=lambda item: (-len(item[1]), item[0])):
        print(f"  not explained {len(found)}: {name}", file=out)
        for difference in sorted(found, key=lambda d: len(d.text) + sum(map(len, d.data)))[
            :EXAMPLES
        ]:
            print(f"    draw {difference.number}", file=out)
            for part, text in searched_texts(difference).items():
                if part == "all":
                    continue
                print(f"      {part + ':':8}{text.replace(chr(10), chr(10) + ' ' * 14)}", file=out)
    return not classes


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0; 1 if a difference is not explained; 2 for bad arguments or without ARQ; 130
    if interrupted.
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
        evaluate = named(options.answer)
    except argparse.ArgumentTypeError as error:
        parser.error(str(error))
    if lack := lacks():
        parser.exit(2, f"tools.arq: {lack}\n")
    if options.one is not None:
        return show(draw(options.seed, options.one), evaluate)
    path = (
        options.results or JARS.parent / f"{options.answer.replace(':', '-')}-{options.seed}.ndjson"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    results = []
    if not options.anew:
        results = read(path)
    status = 0
    try:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(result) + "\n" for result in results)
            run(options, results, file, evaluate)
    except KeyboardInterrupt:
        status = 130
    wanted = range(options.first, options.first + options.draws)
    complete = report([result for result in results if result["draw"] in wanted], sys.stdout)
    print(f"results: {path}")
    return status or int(not complete)


def run(
    options: argparse.Namespace, results: list[dict[str, Any]], file: TextIO, evaluate: Evaluate
) -> None:
    """Draw what is not among the results, and add it there and to the file."""
    done = {result["draw"] for result in results}
    shown = started = monotonic()
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
    """Write the table of explained differences at the end of docs/arq.md, in place of what it holds
    from its heading on.
    """
    text = PAGE.read_text(encoding="utf-8")
    above = text[: text.index("| class |")]
    PAGE.write_text(above + table(explanations()), encoding="utf-8")
    return 0


def show(case: Draw, evaluate: Evaluate) -> int:
    """Print a draw and both answers."""
    with Jena() as jena:
        ours, theirs = our_answer(evaluate, case.text, case.data), jena.ask(case.text, case.data)
    print(case.text)
    for statement in sorted(case.data):
        print("  " + " ".join(statement))
    for name, answer in (("ours", ours), ("theirs", theirs)):
        print(f"{name}: {json.dumps(answer.plain(), ensure_ascii=False)}")
    kind = outcome(case.text, ours, theirs)
    print(kind)
    if kind in AGREE:
        return 0
    return 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, sg1.end_run)
    raise SystemExit(main())
