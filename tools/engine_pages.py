"""Write the pages of docs/evidence/engines/, one for each engine that was held to the whole corpus
or to the whole suite windows, and the tables of engines in docs/engines.md.

    python -m tools.engine_pages --date 2026-11-23 --on "Linux, two cores" RESULTS...
    python -m tools.engine_pages                    # the pages anew, from what is kept
    python -m tools.engine_pages --check            # only say whether they are up to date

Of the results of each engine, docs/evidence/engines/NAME.json keeps what its page shows, with what
happens in the smallest case of each known deviation. A page is made of that and of the engine's
file alone.
The tables are made of the files of the engines that are held to these suites and of what is kept.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from conformance.corpus import Case, query_of, streams_of, window_cases
from conformance.harness import engine_file
from conformance.harness.engine_file import Deviation, Engine
from conformance.report import source
from conformance.suite import questions
from conformance.suite.deviations import Claim, broken_rules
from conformance.suite.item import find_case
from conformance.suite.probe import expects_reports
from conformance.verdict import results
from conformance.verdict.results import Outcome, Result
from conformance.verdict.rules import CaseResult, RuleStatus, judge_rules
from refengine import cli
from refengine.core.profile import OneOf
from refengine.core.semantics import show
from refengine.model.errors import RefengineError
from refengine.model.messages import display, nearest, nearest_id
from tools.counterexample import LINES, describe_counterexample
from tools.generated_parts import replace_part, write_or_check

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "evidence" / "engines"
OVERVIEW = FOLDER.parents[1] / "engines.md"
PARTS = {"corpus": "table: engines", window_cases.SUITE: "table: libraries"}  # of OVERVIEW
COUNTED = ("pass", "known", "unsupported")  # the columns of its table
# the columns that count rules, by their status
COUNTED_RULES = {
    RuleStatus.HOLDS: "rules hold",
    RuleStatus.BROKEN: "broken",
    RuleStatus.NOT_SHOWN: "not shown",
}
COMMAND = "python -m tools.engine_pages"
NAMED = 5  # cases that a message names, at most
KINDS = ("pass", "silent", "known", "fail", "unsupported", "disputed", "error", "unstable")
# the keys of what is kept of an engine's results, and of what older files do not have
KEYS = {"engine", "date", "machine", "cases", "smallest", "rules"}
NEWER_KEYS = {"beyond_reach"}
MEANINGS = {
    "pass": "right, with rows",
    "silent": "right, but nothing was to be answered or nothing was: this shows little",
    "known": "wrong or broken, as a known deviation explains",
    "fail": "wrong",
    "unsupported": "the engine or its language has no such thing",
    "disputed": "no witness confirms the SPARQL evaluator's answer",
    "error": "the harness broke down",
    "unstable": "not the same verdict each time",
}


def digest(case: Case) -> str:
    """Return the first digits of the digest of what a case asks of an engine. It changes with the
    query, the data and what is expected, and not with the words that explain them.
    """
    asked = {key: case.table.get(key) for key in ("query", "streams", "static", "expect")}
    text = json.dumps(asked, sort_keys=True, default=str)
    return sha256(text.encode()).hexdigest()[:12]


def suite_of(engine: Engine) -> str:
    """Return the suite that an engine's page is about; empty if it is none with pages."""
    return next((suite for suite in engine.suites if suite in PARTS), "")


def kind_of(result: Result) -> str:
    """Return the word for a result in a table: its outcome, or `known`, or `silent`."""
    is_silent = not CaseResult.of(result, result.evidence).has_rows
    if result.outcome is Outcome.PASS and is_silent:
        return "silent"
    return result.kind


def summarize(engine: str, of_engine: Iterable[Result], date: str, machine: str) -> dict[str, Any]:
    """Return what is kept of an engine's results over the corpus.

    `cases` has, by case, its digest and the word for its result. `smallest` has for each known
    deviation, by its reason, the id of a case, and the lines of its block; there are none if the
    block would be too long. Of the cases that show the deviation it is the one that shows the
    fewest others; then one with a block; then the one with the fewest elements; then the one with
    the shortest block. `rules` has the verdict on each rule in reach: by rule its status, and the
    case that shows it, or why it is not shown. `beyond_reach` has those on rules that are broken or
    fail beyond its reach.
    """
    tested = engine_file.engine(engine)
    suite = suite_of(tested)
    asked = {case.id: case for case in questions(suite)}
    cases = {}
    smallest: dict[str, tuple[int, bool, int, int, str, list[str]]] = {}
    of_suite = [result for result in of_engine if result.suite == suite]
    for result in sorted(of_suite, key=lambda result: result.key):
        case = asked[result.case]
        cases[case.id] = [digest(case), kind_of(result)]
        if not result.known:
            continue
        lines = describe_counterexample(case, result, tested)
        length = sum(map(len, lines))
        size = (len(result.known), not lines, count_elements(case, result), length)
        for reason, *_ in result.known:
            shown = (*size, case.id, lines)
            smallest[reason] = min(smallest.get(reason, shown), shown)
    found = judge_rules(CaseResult.of(result, result.evidence) for result in of_suite)
    verdicts = {
        one.rule: (one, [str(one.status.counted_as), one.case or one.reason]) for one in found
    }
    return {
        "engine": engine,
        "date": date,
        "machine": machine,
        "cases": cases,
        "rules": {rule: kept for rule, (one, kept) in verdicts.items() if one.is_in_reach},
        "beyond_reach": {
            rule: kept for rule, (one, kept) in verdicts.items() if one.is_beyond_reach
        },
        "smallest": {
            reason: {"case": case_id, "lines": lines}
            for reason, (*_, case_id, lines) in sorted(smallest.items())
        },
    }


def count_elements(case: Case, result: Result) -> int:
    """Return how many elements an engine was sent: those of the result's evidence, or of the case
    if the engine broke down.
    """
    if result.evidence is not None:
        count: int = result.evidence["elements_total"]
        return count
    return sum(len(stream) for stream in streams_of(case).values())


def page(engine: Engine, kept: Mapping[str, Any]) -> str:
    """Return the page of an engine in Markdown."""
    parts = (
        _head(engine),
        _outcomes(engine, kept),
        _rule_verdicts(kept),
        _deviations(engine, kept),
    )
    return "\n".join(line for part in parts for line in [*part, ""])


def _head(engine: Engine) -> Iterator[str]:
    """Yield what the engine's file says about the engine."""
    yield f"# {engine.title}"
    yield ""
    yield (
        f"<!-- made by {COMMAND} from conformance/engines/{engine.name}.toml and {engine.name}.json"
        " -->"
    )
    yield ""
    yield "| | |"
    yield "|---|---|"
    yield f"| page | {engine.link} |"
    if engine.version:
        yield f"| version of these results | {engine.version} |"
        yield f"| licence | {engine.licence} |"
    if engine.package is not None:
        install = f"`python -m conformance engines install {engine.name}`"
        yield f"| installed from {engine.package.registry} by | {install} |"
    if engine.to_bring is not None:
        add = f"`python -m conformance engines add {engine.name} PATH`"
        yield f"| brought by its user | {add}, where PATH is {engine.to_bring.what} |"
        yield f"| how it is built | {engine.to_bring.instructions} |"
    if engine.commands:
        yield f"| needs on the path | {', '.join(engine.commands)} |"
    yield f"| language of the queries | `{engine.dialect}` |"
    yield f"| kinds of windows | {', '.join(sorted(engine.kinds))} |"
    if suite_of(engine) == "corpus":
        yield f"| query forms | {', '.join(sorted(engine.forms))} |"
    if engine.profile is not None:
        yield f"| semantics that it claims | {_semantics(engine)} |"
    if engine.notes:
        yield ""
        yield "The harness works as follows:"
        yield ""
        yield from (f"- {note}" for note in engine.notes)


def _semantics(engine: Engine) -> str:
    """Return the fields of an engine's profile."""
    assert engine.profile is not None
    fields = engine.profile.fields.items()
    return ", ".join(f"`{name}={_value(value)}`" for name, value in fields)


def _value(value: object) -> str:
    """Return a field's value in a profile as text: that of an open field is what it may be."""
    if isinstance(value, OneOf):
        return " or ".join(map(show, value.values))
    return show(value)


def _outcomes(engine: Engine, kept: Mapping[str, Any]) -> Iterator[str]:
    """Yield the table of outcomes, by the section of SPEC.md that the rules are in."""
    words = {case: word for case, (_, word) in kept["cases"].items()}
    rows: dict[str, Counter[str]] = {}
    for case, word in words.items():
        rows.setdefault(case.split("-")[0], Counter())[word] += 1
    total = Counter(words.values())
    shown = [kind for kind in KINDS if total[kind]]
    suite = suite_of(engine)
    yield f"## Outcomes over the {suite if suite == 'corpus' else f'suite `{suite}`'}"
    yield ""
    yield f"All {len(words)} cases, on {kept['date']}, {kept['machine']}."
    yield ""
    yield f"| rules | {' | '.join(shown)} |"
    yield f"|---|{'---|' * len(shown)}"
    for section, counts in [*sorted(rows.items()), ("**all**", total)]:
        yield f"| {section} | {' | '.join(str(counts[kind] or '') for kind in shown)} |"
    yield ""
    yield from (f"- *{kind}*: {MEANINGS[kind]}" for kind in shown)
    yield from _cases_by_outcome(words)


def _cases_by_outcome(words: Mapping[str, str]) -> Iterator[str]:
    """Yield the cases of each outcome that is no verdict for the engine, after an empty line."""
    for kind in ("fail", "error", "unstable"):
        cases = sorted(case for case, word in words.items() if word == kind)
        if cases:
            yield ""
            yield f"Cases that are *{kind}*: {', '.join(f'`{case}`' for case in cases)}."


def _rule_verdicts(kept: Mapping[str, Any]) -> Iterator[str]:
    """Yield the verdicts on the rules in the engine's reach."""
    rules: Mapping[str, Sequence[str]] = kept["rules"]
    yield "## Rules"
    yield ""
    yield (
        f"{len(rules)} rules of SPEC.md are in its reach. "
        "[What the verdicts mean](../../test-your-engine.md#a-verdict-on-each-rule)."
    )
    yield from _rules_by_status(rules)
    if beyond := kept.get("beyond_reach"):
        yield ""
        yield "Beyond its reach, so not counted above:"
        yield from _rules_by_status(beyond)


def _rules_by_status(rules: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield an item of a list for each status that a rule has, with its rules."""
    for status in RuleStatus:
        found = [(rule, why) for rule, (verdict, why) in sorted(rules.items()) if verdict == status]
        if not found:
            continue
        yield ""
        if status is RuleStatus.NOT_SHOWN:
            listed = "; ".join(f"{rule} ({why})" for rule, why in found)
        else:
            listed = ", ".join(rule for rule, _ in found)
        yield f"- *{status}*, {len(found)}: {listed}"


def _deviations(engine: Engine, kept: Mapping[str, Any]) -> Iterator[str]:
    """Yield the known deviations, each with the smallest case that shows it, and what happens in
    that case.
    """
    yield "## Known deviations"
    yield ""
    if not engine.deviations:
        yield "None."
        return
    yield (
        "Each with the smallest case that shows it. Its block has the elements by their instants, "
        "the reports that are expected under the semantics above, with their windows, and what the "
        "engine reported. Elements of the suite come after those of the case, so that time goes "
        "on. `:` stands for `http://example.org/`, and integers stand without their datatype."
    )
    for deviation in engine.deviations:
        smallest = kept["smallest"].get(deviation.reason)
        yield ""
        yield from _deviation(engine, deviation, smallest)


def _deviation(
    engine: Engine, deviation: Deviation, smallest: Mapping[str, Any] | None
) -> Iterator[str]:
    """Yield a deviation of an engine as an item of a list. `smallest` is what is kept of its
    smallest case; None if no result shows the deviation.
    """
    case = deviation.cases[0]
    lines = []
    if smallest is not None:
        case = smallest["case"]
        lines = smallest["lines"]
    yield f"- [{_one_line(deviation.reason)}]({deviation.link})"
    yield ""
    note = ""
    if smallest is not None and not lines:
        note = f", which is too large to be shown in {LINES} lines"
    rules = ", ".join(_rules(engine, deviation, case))
    yield f"  {rules}: `{case}`{note}"
    if lines:
        fence = _fence(lines)
        yield ""
        yield f"  {fence}text"
        yield from (f"  {line}" for line in lines)
        yield f"  {fence}"


def _fence(lines: Iterable[str]) -> str:
    """Return a fence of backticks that no line can close: longer than any run of them."""
    runs = [len(run) for line in lines for run in re.findall("`+", line)]
    return "`" * max([3, *(run + 1 for run in runs)])


def _rules(engine: Engine, deviation: Deviation, case_id: str) -> tuple[str, ...]:
    """Return the rules that an engine breaks by a deviation in a case."""
    case = find_case(suite_of(engine), case_id)
    assert case is not None  # known deviations name cases of the suite
    claim = Claim.of(engine, query_of(case))
    return broken_rules(deviation, case.rule, claim)


def _one_line(text: str) -> str:
    """Return a text on one line."""
    return text.replace("\n", " ")


def overview() -> str:
    """Return the text of docs/engines.md with new tables of engines."""
    text = OVERVIEW.read_text(encoding="utf-8")
    for suite, part in PARTS.items():
        text = replace_part(text, part, "\n".join(_engine_table(suite)))
    return text


def _engine_table(suite: str) -> Iterator[str]:
    """Yield the lines of the table of a suite's engines: a row for each engine that is shipped and
    held to the suite, whose cases the table counts. One that has a page is linked to it, with the
    numbers of its results.
    """
    columns = [*COUNTED, *COUNTED_RULES.values()]
    yield f"| name | engine | {' | '.join(columns)} |"
    yield f"|---|---|{'---|' * len(columns)}"
    for name, engine in engine_file.engines().items():
        if suite_of(engine) != suite:
            continue
        cells = [f"`{name}`", engine.title]
        kept_file = FOLDER / f"{name}.json"
        counts: Counter[str] = Counter()
        rule_counts: Counter[str] = Counter()
        if kept_file.exists():
            cells[0] = f"[`{name}`](evidence/engines/{name}.md)"
            kept = json.loads(kept_file.read_text(encoding="utf-8"))
            counts.update(word for _, word in kept["cases"].values())
            rule_counts.update(status for status, _ in kept["rules"].values())
        cells += [str(counts[kind] or "") for kind in COUNTED]
        cells += [str(rule_counts[status] or "") for status in COUNTED_RULES]
        yield f"| {' | '.join(cells)} |"


def shorten(cases: Sequence[str]) -> str:
    """Return how many cases there are, with the names of the first few."""
    more = ""
    if len(cases) > NAMED:
        more = ", …"
    return f"{len(cases)}: {', '.join(cases[:NAMED])}{more}"


def kept_files() -> list[Path]:
    """Return the files of what is kept of each engine's results."""
    return sorted(FOLDER.glob("*.json"))


def outdated_cases(kept: Mapping[str, Any]) -> list[str]:
    """Return the cases that are new or have changed since an engine's results, and those that are
    gone.
    """
    tested = engine_file.engine(kept["engine"])
    is_configurable = tested.is_configurable
    now = {
        case.id: digest(case)
        for case in questions(suite_of(tested))
        if expects_reports(case) or not is_configurable  # as the suite asks it
    }
    then = {case: entry[0] for case, entry in kept["cases"].items()}
    return sorted(case for case in {*now, *then} if now.get(case) != then.get(case))


def results_by_engine(paths: Iterable[Path]) -> dict[str, list[Result]]:
    """Return the results in files, by engine. Raises RefengineError for a malformed file, for an
    engine that is not shipped here, and for a case that the corpus does not have.
    """
    shipped = engine_file.engines()
    by_engine: dict[str, list[Result]] = {}
    for entry in source.read_results(paths).entries:
        engine, suite, case = entry.result.key
        if engine not in shipped:
            raise RefengineError(
                f"no engine {display(engine)}{nearest(engine, shipped)}", rule="results"
            )
        if suite in PARTS and find_case(suite, case) is None:
            cases = [question.id for question in questions(suite)]
            raise RefengineError(
                f"no case {display(case)}{nearest_id(case, cases)}", rule="results", place=engine
            )
        result = replace(entry.result, evidence=entry.evidence)
        by_engine.setdefault(engine, []).append(result)
    return by_engine


def read_kept(path: Path) -> dict[str, Any]:
    """Return what is kept of an engine's results. Raises RefengineError for a malformed file."""
    try:
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        is_whole = kept["engine"] == path.stem and kept.keys() - NEWER_KEYS == KEYS
        is_whole = is_whole and all(
            entry.keys() == {"case", "lines"} for entry in kept["smallest"].values()
        )
    except (ValueError, LookupError, TypeError, AttributeError):
        is_whole = False
    if not is_whole:
        raise RefengineError(
            f"is malformed; make it again with {COMMAND} --date … --on … RESULTS",
            rule="results",
            place=str(path),
        )
    return kept


def _day(text: str) -> str:
    """Return a date of the form YYYY-MM-DD. Raises ValueError for any other text."""
    return datetime.date.fromisoformat(text).isoformat()


def main() -> int:
    """Run the command line and return its exit code."""
    return cli.run("engine_pages", _main)


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--date", type=_day, help="when the results were made: YYYY-MM-DD")
    parser.add_argument("--on", help="on what machine, in a few words")
    parser.add_argument("results", nargs="*", type=Path, metavar="RESULTS")
    options = parser.parse_args()
    if options.results and not (options.date and options.on):
        parser.error("results need --date and --on")

    texts: dict[Path, Iterable[str]] = {}
    for name, of_engine in sorted(results_by_engine(options.results).items()):
        kept = summarize(name, of_engine, options.date, options.on)
        text = json.dumps(kept, indent=1, ensure_ascii=False, sort_keys=True)
        texts[FOLDER / f"{name}.json"] = [text]
    FOLDER.mkdir(exist_ok=True)
    results.replace(texts)

    codes = []
    for path in kept_files():
        kept = read_kept(path)
        text = page(engine_file.engine(kept["engine"]), kept)
        codes.append(write_or_check(path.with_suffix(".md"), text, options.check, COMMAND))
        if outdated := outdated_cases(kept):
            print(f"{path.name}: cases that have changed since: {shorten(outdated)}")
            codes.append(1)
    codes.append(write_or_check(OVERVIEW, overview(), options.check, COMMAND))
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
