"""`refengine infer`: every semantics that explains what an engine answered."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from refengine.core.combinations import Values
from refengine.core.profile import UNKNOWN
from refengine.core.profiles import profile
from refengine.core.question import Question
from refengine.core.semantics import FIELDS, parse_field, show
from refengine.model.errors import InvalidSemantics, InvalidStream
from refengine.model.messages import nearest
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.inference import (
    Explaining,
    Found,
    SemanticsSet,
    every_value,
    find_explaining,
    make_set,
    read_fields,
    usual_values,
    values_of_profile,
)
from refengine.oracle.inference.nearest import NearMisses
from refengine.oracle.inference.semantics_set import ALL_GROUPS, Block
from refengine.oracle.judge import Judgement
from refengine.oracle.trial import Missing, RecordingToJudge
from refengine.rdf.recordings import read_recording

WIDTH = 30  # characters of the progress bar


def candidates_of(words: Sequence[str], among: Path | None, question: Question) -> SemanticsSet:
    """Return the semantics that are looked at: those of an earlier result, or the usual ones. A
    word without `=` is a profile, which takes their place; the other words replace the values of
    fields, as `report=window-close|content-change`, and `unknown` opens a field. Raises
    InvalidSemantics and InvalidStream.
    """
    if among is not None:
        return read_set(among)
    every = every_value(question.query)
    values: dict[str, Values] = usual_values(question.query)
    named = [word for word in words if "=" not in word]
    fields = [word.partition("=")[0] for word in words if "=" in word]
    if len(named) > 1 or len(fields) > len(set(fields)):
        reason = f"must name one profile and each field once, got {' '.join(words)}"
        raise InvalidSemantics(reason, rule="SEM-3", place="--semantics")
    if named:
        values = values_of_profile(profile(named[0]))
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            continue
        if name not in FIELDS:
            raise InvalidSemantics(f"unknown key {name!r}{nearest(name, FIELDS)}", rule="SEM-1")
        values = values | {name: _values(name, text, every[name])}
    return make_set(values)


def _values(name: str, text: str, every: Values) -> Values:
    """Return the values that a text states for a field."""
    if text == UNKNOWN:
        return (UNKNOWN,) if name == "t0" else every
    return tuple(parse_field(name, word) for word in text.split("|"))


@dataclass
class Inference:
    """What is known after some recordings: the semantics that are `left`, and how many were looked
    at of those `asked` about last. `nearest` is the verdict on the nearest one if none is left.
    """

    left: SemanticsSet
    questions: list[Question] = field(default_factory=list)
    untried: SemanticsSet = field(default_factory=SemanticsSet)
    looked_at: int = 0
    asked: int = 0
    nearest: Judgement | None = None

    @property
    def is_whole(self) -> bool:
        """Whether every semantics was looked at."""
        return self.looked_at == self.asked


def infer(
    candidates: SemanticsSet,
    question: Question,
    answers_files: Iterable[Path],
    missing: int | Missing,
    witnesses: tuple[str, ...],
    inferred: Inference,
) -> None:
    """Hold semantics against recordings of one engine, one recording after the other, and keep in
    `inferred` what is known; a KeyboardInterrupt leaves there what was found before it. If nothing
    is left, the nearest is judged, and no further recording is read.
    """
    inferred.left = candidates
    answers = SharedAnswers()
    for path in answers_files:
        recorded = RecordingToJudge.of(question, read_recording(path).relations, missing=missing)
        inferred.questions.append(question)
        near = NearMisses()
        found: list[Found] = []
        before = inferred.left
        inferred.asked, inferred.looked_at = before.count, 0
        bar = ProgressBar(path.name, before.count)
        try:
            for one in find_explaining(before, recorded, answers, near, bar.advance):
                found.append(one)
        finally:
            bar.end()
            explaining = Explaining.of(found)
            inferred.looked_at = bar.done
            inferred.left = explaining.semantics
            inferred.untried = inferred.untried | explaining.untried
        if not inferred.left:
            inferred.nearest = near.judge(recorded, answers, witnesses)
            return


class ProgressBar:
    """A line on standard error, if that is a terminal, which says how much of a work is done."""

    def __init__(self, title: str, whole: int) -> None:
        self.title = title
        self.whole = whole
        self.done = 0
        self.shown = -1

    def advance(self, count: int) -> None:
        """Show that so much more is done."""
        self.done += count
        share = self.done * WIDTH // max(1, self.whole)
        if share != self.shown and sys.stderr.isatty():
            self.shown = share
            bar = "#" * share + "." * (WIDTH - share)
            text = f"\r{self.title} [{bar}] {self.done} of {self.whole} semantics"
            print(text, end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Leave the line."""
        if self.shown >= 0:
            print(file=sys.stderr)


# Text


def lines(inferred: Inference) -> Iterator[str]:
    """Yield the lines about what is known."""
    if not inferred.is_whole:
        yield (
            f"Interrupted: {inferred.looked_at} of {inferred.asked} semantics were looked at. "
            "Of these:"
        )
    if not inferred.left and not inferred.is_whole:
        yield "None explains the answers so far."
        return
    if not inferred.left:
        yield "No semantics explains the answers."
        if inferred.untried:
            yield f"{inferred.untried.count} could not be tried."
        if inferred.nearest is not None:
            yield "The nearest one:"
            yield from inferred.nearest.explain().splitlines()
        return
    number = inferred.left.count
    yield f"{number} semantics {'explains' if number == 1 else 'explain'} the answers."
    if inferred.untried:
        yield f"{inferred.untried.count} more could not be tried."
    readings = read_fields(inferred.left, inferred.questions)
    yield "Determined: " + " ".join(str(one) for one in readings if one.is_determined)
    yield "Undetermined:"
    yield from (f"- {one}" for one in readings if not one.is_determined)


# JSON


def to_json(inferred: Inference) -> dict[str, Any]:
    """Return what is known as a JSON object, which `read_set` reads."""
    nearest_one = inferred.nearest
    readings = read_fields(inferred.left, inferred.questions) if inferred.left else []
    return {
        "count": inferred.left.count,
        "untried": inferred.untried.count,
        "looked_at": inferred.looked_at,
        "asked": inferred.asked,
        "fields": {
            one.name: {
                "values": [_text(value) for value in one.values],
                "determined": one.is_determined,
                **({"why": one.why} if one.why else {}),
            }
            for one in readings
        },
        "nearest": None if nearest_one is None else nearest_one.explain(),
        "semantics": [_block_to_json(block) for block in inferred.left.blocks],
    }


def _text(value: object) -> str:
    return UNKNOWN if value == UNKNOWN else show(value)


def _block_to_json(block: Block) -> dict[str, list[list[str]]]:
    return {
        " ".join(group): [[_text(value) for value in shape] for shape in shapes]
        for group, shapes in zip(ALL_GROUPS, block.shapes, strict=True)
    }


def read_set(path: Path) -> SemanticsSet:
    """Return the semantics that an earlier result in JSON has left. Raises InvalidStream for a file
    that is no such result.
    """
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
        is_whole = result["looked_at"] == result["asked"]
        found = SemanticsSet(tuple(_block_of_json(block) for block in list(result["semantics"])))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, InvalidSemantics):
        reason = "is no result of `refengine infer --format json`"
        raise InvalidStream(reason, rule="IO-2", place=str(path)) from None
    if not is_whole:
        reason = "its run was interrupted, so it does not have all semantics; run it to the end"
        raise InvalidStream(reason, rule="IO-2", place=str(path))
    return found


def _block_of_json(block: Mapping[str, Any]) -> Block:
    return Block(
        tuple(
            tuple(
                tuple(_value(name, text) for name, text in zip(group, shape, strict=True))
                for shape in block[" ".join(group)]
            )
            for group in ALL_GROUPS
        )
    )


def _value(name: str, text: str) -> object:
    return UNKNOWN if name == "t0" and text == UNKNOWN else parse_field(name, text)
