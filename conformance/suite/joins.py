"""The suite `joins`: the cases of docs/joins.md put to an engine whose join has adaptive windows.

The engine is sent the window of each block of a case, and must give exactly the matches that the
block expects. If it fails a block, it is asked again, for a part of the streams of which no step
can be left out. Then a single field is looked for by which its answer to the whole block would be
right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from enum import StrEnum
from functools import cache
from typing import Any

from conformance import corpus
from conformance.corpus import Case
from conformance.corpus.adaptive_case import KEY, steps_of, window_of
from conformance.harness.client import Broken, Harness
from conformance.harness.engine_file import Deviation, Engine
from conformance.harness.join_play import JoinAnswer, JoinQuestion
from conformance.harness.play import Declined
from conformance.suite.deviations import find_crash_deviations, keep_needed
from conformance.verdict.explain import count_text
from conformance.verdict.results import KnownDeviation, Outcome, Result
from refengine.joins.adaptive_join import Match, find_matches
from refengine.joins.join_profiles import CHOICES
from refengine.joins.records import JoinRecord, Step, Watermark
from refengine.joins.window import Adaptation, Emission, JoinWindow
from refengine.model.errors import InvalidWindow
from refengine.model.messages import plain

SUITE = "joins"
SHOWN = 6  # matches that an explanation lists
# the rule of each field that has few values, and that may explain a fail
RULE_OF_FIELD = {
    "opens": "ADA-4",
    "closure": "ADA-4",
    "emits": "ADA-3",
    "late": "ADA-2",
    "update_rule": "ADA-6",
    "updates_at": "ADA-6",
    "clamped": "ADA-5",
    "lower_included": "ADA-5",
    "cleared": "ADA-7",
}


@cache
def join_cases() -> tuple[Case, ...]:
    """Return the cases that put a join to an engine: those that expect matches."""
    return tuple(case for case in corpus.cases() if list(_asked_blocks(case)))


def _asked_blocks(case: Case) -> Iterator[dict[str, Any]]:
    """Yield the blocks of a case that expect matches."""
    for block in case.table.get("adaptive", ()):
        if "matches" in block:
            yield block


def join_questions(case: Case) -> list[JoinQuestion]:
    """Return the joins of a case, as they are put to an engine."""
    return [
        JoinQuestion(window_of(block["window"]), steps_of(block["steps"]))
        for block in _asked_blocks(case)
    ]


def run_join_case(tested: Engine, harness: Harness, case: Case) -> Result:
    """Put a case to an engine, and return the result. There is one whatever the engine does.

    The case passes if the engine does not decline all its blocks, and gives what each of the others
    expects.
    """
    declined: list[str] = []
    lines: list[str] = []
    questions = join_questions(case)
    for number, question in enumerate(questions, 1):
        try:
            lines += _argue(harness, question, number)
        except Declined as error:
            declined.append(f"block {number} is not asked: {plain(str(error))}")
        except Broken as error:
            crashing = _known(find_crash_deviations(tested, case), case)
            return _result(tested, case, Outcome.ERROR, str(error), crashing)
    outcome = Outcome.PASS
    if len(declined) == len(questions):
        outcome = Outcome.UNSUPPORTED
    known: tuple[KnownDeviation, ...] = ()
    if lines:
        outcome = Outcome.FAIL
        listed = [one for one in tested.deviations if case.id in one.cases and not one.crashes]
        known = _known(listed, case)
    return _result(tested, case, outcome, "\n".join([*lines, *declined]), known)


def _result(
    tested: Engine,
    case: Case,
    outcome: Outcome,
    explanation: str,
    known: tuple[KnownDeviation, ...],
) -> Result:
    """Return the result of a case."""
    return Result(
        engine=tested.name,
        suite=SUITE,
        case=case.id,
        rule=case.rule,
        outcome=outcome,
        explanation=explanation,
        known=known,
    )


def _known(deviations: Iterable[Deviation], case: Case) -> tuple[KnownDeviation, ...]:
    """Return deviations as the result of a case has them."""
    return tuple(
        KnownDeviation(one.reason, one.link, one.breaks or (case.rule,), False)
        for one in deviations
    )


# The explanation


def expected_answers(question: JoinQuestion, window: JoinWindow | None = None) -> list[JoinAnswer]:
    """Return the matches that a join has, by the reference, under its own window or another one.
    One that is emitted at the close has no time: an engine may know it later.
    """
    under = window or question.window
    asked = question
    if window is not None:
        # the watermarks stay those of the question
        asked = replace(question, window=replace(question.window, watermarks=window.watermarks))
    matches = find_matches(under, asked.steps)
    return [_answer_of(under, match) for match in matches]


def _answer_of(window: JoinWindow, match: Match) -> JoinAnswer:
    """Return a match of the reference as an engine's."""
    answer = JoinAnswer(match.left.name, match.right.name, match.at)
    if window.emits is Emission.CLOSE:
        return answer._replace(at=None)
    return answer


def _ask(harness: Harness, question: JoinQuestion) -> list[JoinAnswer]:
    """Return an engine's matches, without times where the window emits at its close."""
    answers = question.ask(harness)
    if question.window.emits is Emission.CLOSE:
        return [answer._replace(at=None) for answer in answers]
    return answers


def _differs(expected: Sequence[JoinAnswer], got: Sequence[JoinAnswer]) -> bool:
    """Whether matches differ. Their order does not count."""
    return sorted(map(_sorting_key, expected)) != sorted(map(_sorting_key, got))


def _sorting_key(answer: JoinAnswer) -> tuple[int, str, str]:
    return answer.at or 0, answer.left, answer.right


def _argue(harness: Harness, question: JoinQuestion, number: int) -> list[str]:
    """Return the explanation of a fail of a block: a part of its streams that shows it and of which
    no step can be left out, and what would explain it; no lines for a pass. Raises Declined and
    Broken.
    """
    if not _differs(expected_answers(question), _ask(harness, question)):
        return []

    def still_differs(steps: Sequence[Step]) -> bool:
        part = replace(question, steps=steps)
        return _differs(expected_answers(part), _ask(harness, part))

    needed = replace(question, steps=keep_needed(question.steps, still_differs))
    expected = _matches_text(expected_answers(needed))
    got = _matches_text(_ask(harness, needed))
    number_of_steps = count_text(len(needed.steps), "step")
    lines = [
        f"block {number} differs. It takes {number_of_steps}, of which none can be left out:",
        f"  {', '.join(map(_step_text, needed.steps))}",
        f"  expected {expected}, got {got}",
    ]
    whole = _ask(harness, question)
    explaining = [
        words
        for words, window in _other_windows(question.window)
        if not _differs(expected_answers(question, window), whole)
    ]
    if explaining:
        lines.append(f"  with {' or '.join(explaining)} the whole block is right")
    return lines


def _other_windows(window: JoinWindow) -> Iterator[tuple[str, JoinWindow]]:
    """Yield each window that differs in one field of few values, with the change in words."""
    for field in fields(JoinWindow):
        for value in _other_values(field.name, getattr(window, field.name)):
            try:
                yield _change_text(field.name, value), replace(window, **{field.name: value})
            except InvalidWindow:
                continue
    if window.adaptation is None:
        return
    for field in fields(Adaptation):
        for value in _other_values(field.name, getattr(window.adaptation, field.name)):
            changed = replace(window.adaptation, **{field.name: value})
            yield _change_text(field.name, value), replace(window, adaptation=changed)


def _other_values(name: str, own: Any) -> list[Any]:
    """Return the other values of a field that has few; the watermarks are part of the question."""
    if name == "watermarks" or name not in RULE_OF_FIELD:
        return []
    if isinstance(own, bool):
        return [not own]
    choices: type[StrEnum] = CHOICES[name]
    return [value for value in choices if value != own]


def _change_text(name: str, value: Any) -> str:
    """Write a change of a field with its rule: `cleared=true (ADA-7)`."""
    return f"{name}={str(value).lower()} ({RULE_OF_FIELD[name]})"


def _step_text(step: Step) -> str:
    """Write a step: `left l1@1000`, with its key if that is not the usual one."""
    match step:
        case Watermark(at):
            return f"watermark {at}"
        case JoinRecord(side, at, key, name):
            text = f"{side} {name}@{at}"
            if key != KEY:
                text += f" of key {key}"
            return text


def _matches_text(answers: Sequence[JoinAnswer]) -> str:
    """Write matches: `(l1, r1) at 1500`."""
    if not answers:
        return "no match"
    texts = [
        f"({plain(one.left)}, {plain(one.right)})" + ("" if one.at is None else f" at {one.at}")
        for one in answers[:SHOWN]
    ]
    more = len(answers) - len(texts)
    return ", ".join(texts) + (f" and {more} more" if more else "")
