"""The card of an engine: which value each field has, by what it answered, and the smallest stream
that shows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from conformance.card.asking import Asker, inquiry_into
from conformance.card.inquiry import Fate, Inquiry, Reply
from conformance.card.prediction import Predictions, Silence
from conformance.card.questions import CardQuestion
from conformance.card.space import Aspect
from conformance.harness.engine_file import Engine
from conformance.verdict.engine_report import EngineReport
from conformance.verdict.window_elements import BODY, numbers_in
from refengine.core.profile import is_open
from refengine.core.question import Question
from refengine.core.semantics import FIELDS, Semantics, show
from refengine.model.elements import Relation
from refengine.model.errors import RefengineError
from refengine.model.terms import parse_literal
from refengine.oracle.inference.reading import read_fields
from refengine.oracle.inference.semantics_set import ALL_GROUPS, Block, SemanticsSet


class Standing(StrEnum):
    """How the value of a field is known."""

    BOTH = "both"  # documented, and observed
    OBSERVED = "observed"
    DOCUMENTED = "documented"
    CONTRADICTING = "contradicting"  # observed is another value than the documented one
    UNDETERMINED = "undetermined"


@dataclass(frozen=True)
class Asked:
    """A question as a card has it, and what became of it. A report is the numbers of its elements,
    or its rows, with the borders and the instant that the engine states.
    """

    window: Mapping[str, Any]
    elements: tuple[Mapping[str, Any], ...]
    fate: Fate
    reports: tuple[Mapping[str, Any], ...] = ()
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the question as JSON."""
        return {
            "window": dict(self.window),
            "elements": list(map(dict, self.elements)),
            "fate": str(self.fate.value),
            "reports": list(map(dict, self.reports)),
            **({"reason": self.reason} if self.reason else {}),
        }

    @staticmethod
    def of_json(table: Mapping[str, Any]) -> Asked:
        """Return the question that JSON of the schema gives."""
        return Asked(
            table["window"],
            tuple(table["elements"]),
            Fate(table["fate"]),
            tuple(table["reports"]),
            table.get("reason", ""),
        )


@dataclass(frozen=True)
class CardField:
    """A field on a card: the values that explain all answers, the first of them the likeliest; the
    value that is documented, as far as one is; and the number of the question that shows the value
    against most others. `why` says why several values are left.
    """

    name: str
    values: tuple[str, ...]
    documented: str = ""
    shown_by: int | None = None
    why: str = ""

    @property
    def standing(self) -> Standing:
        """How its value is known."""
        is_seen = self.shown_by is not None
        if not is_seen and self.documented:
            return Standing.DOCUMENTED
        if not is_seen:
            return Standing.UNDETERMINED
        if not self.documented:
            return Standing.OBSERVED
        return Standing.BOTH if self.documented == self.value else Standing.CONTRADICTING

    @property
    def value(self) -> str:
        """The value in the semantics that is nearest to the documented one, of all that explain the
        answers.
        """
        return self.values[0]

    def joined_with(self, other: CardField | None) -> CardField:
        """Return the field with the values of another aspect, too."""
        if other is None:
            return self
        values = tuple(dict.fromkeys((*other.values, *self.values)))
        shown_by = self.shown_by if other.shown_by is None else other.shown_by
        return replace(other, values=values, shown_by=shown_by, why=other.why or self.why)

    def as_json(self) -> dict[str, Any]:
        """Return the field as JSON."""
        return {
            "field": self.name,
            "values": list(self.values),
            "documented": self.documented,
            "shown_by": self.shown_by,
            "standing": str(self.standing),
            "why": self.why,
        }

    @staticmethod
    def of_json(table: Mapping[str, Any]) -> CardField:
        """Return the field that JSON of the schema gives."""
        return CardField(
            table["field"],
            tuple(table["values"]),
            table["documented"],
            table["shown_by"],
            table["why"],
        )


@dataclass(frozen=True)
class Divergence:
    """The smallest stream to which an engine answers otherwise than its documentation says. `due`
    are the reports that it would have; None if it would refuse the stream.
    """

    asked: Asked
    due: tuple[Mapping[str, Any], ...] | None

    def as_json(self) -> dict[str, Any]:
        """Return the divergence as JSON."""
        due = None if self.due is None else list(map(dict, self.due))
        return {"asked": self.asked.as_json(), "due": due}

    @staticmethod
    def of_json(table: Mapping[str, Any] | None) -> Divergence | None:
        """Return the divergence that JSON of the schema gives; None for none."""
        if table is None:
            return None
        due = None if table["due"] is None else tuple(table["due"])
        return Divergence(Asked.of_json(table["asked"]), due)


def find_divergence(inquiry: Inquiry, documented: Semantics) -> Divergence | None:
    """Return the smallest stream of an inquiry to which another answer was given than a semantics
    has; None if it explains all answers.
    """
    replies = [*inquiry.replies, *inquiry.contradictions]
    wrong = [
        one
        for one in replies
        if one.fate is Fate.ANSWERED and not inquiry.explains(documented, one)
    ]
    if not wrong:
        return None
    reply = min(wrong, key=lambda one: one.asked.size)
    predicted = inquiry.predictions.of(reply.question, documented)
    if isinstance(predicted, Silence):
        return Divergence(asked_of(reply), None)
    due = (
        EngineReport(
            Relation((), Counter(dict(one.rows))), window=one.window, takes_back=one.takes_back
        )
        for one in predicted
    )
    tables = tuple(_report_table(one, reply.asked.body) for one in due)
    return Divergence(asked_of(reply), tables)


@dataclass(frozen=True)
class CardSetting:
    """A setting of a library, in its own `words`: the values that the `sentence` of its
    documentation gives to fields, and `stamp` to the instants of reports, and those that were
    observed. It `is_usual` if the card is of the library with it; otherwise `asked` has what it
    answered, by the numbers of the card's questions, and `divergence` where its documentation says
    otherwise.
    """

    words: str
    sentence: str
    documented: Mapping[str, str]
    observed: Mapping[str, str]
    is_usual: bool = False
    asked: Mapping[int, Asked] = field(default_factory=dict)
    divergence: Divergence | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the setting as JSON."""
        return {
            "words": self.words,
            "sentence": self.sentence,
            "documented": dict(self.documented),
            "observed": dict(self.observed),
            "is_usual": self.is_usual,
            "asked": {str(number): one.as_json() for number, one in self.asked.items()},
            "divergence": self.divergence and self.divergence.as_json(),
        }

    @staticmethod
    def of_json(table: Mapping[str, Any]) -> CardSetting:
        """Return the setting that JSON of the schema gives."""
        asked = {int(number): Asked.of_json(one) for number, one in table["asked"].items()}
        divergence = Divergence.of_json(table["divergence"])
        return CardSetting(**{**table, "asked": asked, "divergence": divergence})


@dataclass(frozen=True)
class Card:
    """The card of an engine. `stamp` is what the instants of its reports are, if it states any.
    `contradictions` are the numbers of questions whose answers no semantics explains that was
    thought of; `divergence` is where the documented semantics has another answer. It
    `answers_at_end` if it has no report before the stream has ended.
    """

    engine: str
    title: str
    version: str
    fields: tuple[CardField, ...]
    asked: tuple[Asked, ...]
    contradictions: tuple[int, ...] = ()
    stamp: str = ""
    answers_at_end: bool = False
    settings: tuple[CardSetting, ...] = ()
    divergence: Divergence | None = None

    def field(self, name: str) -> CardField:
        """Return the field of a name."""
        return next(one for one in self.fields if one.name == name)

    @property
    def answered(self) -> int:
        """How many questions the engine answered."""
        return sum(one.fate is Fate.ANSWERED for one in self.asked)

    def as_json(self) -> dict[str, Any]:
        """Return the card as JSON of the schema `card`."""
        return {
            "card": 1,
            "engine": self.engine,
            "title": self.title,
            "version": self.version,
            "stamp": self.stamp,
            "answers_at_end": self.answers_at_end,
            "fields": [one.as_json() for one in self.fields],
            "asked": [one.as_json() for one in self.asked],
            "contradictions": list(self.contradictions),
            "settings": [one.as_json() for one in self.settings],
            "divergence": self.divergence and self.divergence.as_json(),
        }

    @staticmethod
    def of_json(table: Mapping[str, Any]) -> Card:
        """Return the card that JSON of the schema `card` gives."""
        return Card(
            table["engine"],
            table["title"],
            table["version"],
            tuple(map(CardField.of_json, table["fields"])),
            tuple(map(Asked.of_json, table["asked"])),
            tuple(table["contradictions"]),
            table["stamp"],
            table["answers_at_end"],
            tuple(map(CardSetting.of_json, table["settings"])),
            Divergence.of_json(table["divergence"]),
        )


def characterise(asker: Asker, predictions: Predictions) -> Card:
    """Ask a running engine, and return its card."""
    inquiry = inquiry_into(asker, predictions)
    inquiry.run()
    while _ask_what_shows_more(inquiry):
        pass
    return make_card(asker.engine, inquiry)


def _ask_what_shows_more(inquiry: Inquiry) -> bool:
    """Ask the question that shows most values against others that no answer has excluded yet;
    return whether there was one.
    """
    semantics = likeliest(inquiry)
    counts: dict[CardQuestion, int] = {}
    for aspect in inquiry.every_aspect:
        for other in aspect.others(semantics):
            if any(_divides(inquiry, one.asked, semantics, other) for one in inquiry.replies):
                continue
            for question in inquiry.within_reach():
                if _divides(inquiry, question, semantics, other):
                    counts[question] = counts.get(question, 0) + 1
                    break
    if not counts:
        return False
    inquiry.put(max(counts, key=lambda one: counts[one]))
    return True


def _divides(inquiry: Inquiry, question: CardQuestion, one: Semantics, other: Semantics) -> bool:
    """Whether two semantics answer otherwise to a question to which both have an answer."""
    first, second = (inquiry.predicted(each, question) for each in (one, other))
    return first != second and Silence.NO_MEANING not in (first, second)


def likeliest(inquiry: Inquiry) -> Semantics:
    """Return the semantics, of those that explain all answers, that is nearest to the claim."""
    return min(inquiry.left, key=inquiry.distance)


def make_card(engine: Engine, inquiry: Inquiry) -> Card:
    """Return the card of an engine from the inquiry into it."""
    replies = inquiry.every_reply
    semantics = likeliest(inquiry)
    found: dict[str, CardField] = {}
    for aspect in inquiry.every_aspect:
        for one in _fields_of(aspect, inquiry, semantics, engine):
            found[one.name] = one.joined_with(found.get(one.name))
    usual = [
        CardField(name, (show(getattr(semantics, name)),), _documented(engine, name))
        for name in FIELDS
        if name not in found
    ]
    found |= {one.name: one for one in usual}
    return Card(
        engine.name,
        engine.title,
        engine.version,
        tuple(found[name] for name in FIELDS),
        tuple(map(asked_of, replies)),
        tuple(replies.index(one) for one in inquiry.contradictions),
        find_stamp(inquiry.replies),
        _answers_at_end(inquiry.replies),
        divergence=_divergence_from_claim(engine, inquiry, semantics),
    )


def _divergence_from_claim(
    engine: Engine, inquiry: Inquiry, semantics: Semantics
) -> Divergence | None:
    """Return where an engine does otherwise than it claims. What the claim leaves open is as the
    answers show it.
    """
    if engine.profile is None:
        return None
    claimed = inquiry.start
    shown = {name: getattr(semantics, name) for name in engine.profile.unknown}
    with suppress(RefengineError):  # the claim may not go with what is shown
        claimed = claimed.with_values(**shown)
    return find_divergence(inquiry, claimed)


def _fields_of(
    aspect: Aspect, inquiry: Inquiry, semantics: Semantics, engine: Engine
) -> Iterator[CardField]:
    """Yield the fields of an aspect as a card has them."""
    others = list(aspect.others(semantics))
    shown: dict[int, int] = {}  # the number of a reply -> of how many values it shows
    left: list[Semantics] = [semantics]
    for other in others:
        numbers = [
            number
            for number, one in enumerate(inquiry.replies)
            if _divides(inquiry, one.asked, semantics, other)
        ]
        if not numbers:
            left.append(other)
        for number in numbers:
            shown[number] = shown.get(number, 0) + 1
    best = min(
        shown,
        key=lambda number: (-shown[number], inquiry.replies[number].asked.size),
        default=None,
    )
    found = SemanticsSet.of(map(_block_of, left))
    readings = {one.name: one for one in read_fields(found, _questions(inquiry))}
    for name in aspect.fields:
        values = tuple(dict.fromkeys(show(getattr(one, name)) for one in left))
        why = ""
        if len(values) > 1:
            why = _why_refused(aspect, inquiry) or readings[name].why
        yield CardField(name, values, _documented(engine, name), best, why)


def _block_of(semantics: Semantics) -> Block:
    """Return the block of one semantics."""
    return Block(
        tuple((tuple(getattr(semantics, name) for name in group),) for group in ALL_GROUPS)
    )


def _questions(inquiry: Inquiry) -> list[Question]:
    """Return the questions that were answered."""
    return [one.question for one in inquiry.replies]


def _documented(engine: Engine, name: str) -> str:
    """Return the value that an engine claims for a field; nothing if it leaves it open."""
    if engine.profile is None or name not in engine.profile.fields:
        return ""
    value = engine.profile.fields[name]
    return "" if is_open(value) else show(value)


def _why_refused(aspect: Aspect, inquiry: Inquiry) -> str:
    """Return that an engine refuses the questions about an aspect; nothing if it answers one."""
    group = inquiry.catalogue(aspect.group)
    refused = [one.asked for one in inquiry.without_answer]
    is_answered = any(one.asked in group for one in inquiry.replies)
    return f"it refuses {aspect.group}" if not is_answered and {*refused} & {*group} else ""


def asked_of(reply: Reply) -> Asked:
    """Return a question and its reply as a card has them."""
    elements = tuple(
        {
            "at": one.at,
            **({"key": one.key} if one.key else {}),
            **({"number": one.number} if one.number is not None else {}),
            **({"batch": one.batch} if one.batch is not None else {}),
        }
        for one in reply.asked.moments
    )
    reports = tuple(_report_table(one, reply.asked.body) for one in reply.reports)
    return Asked(reply.asked.window_table, elements, reply.fate, reports, reply.reason)


def _report_table(report: EngineReport, body: str) -> dict[str, Any]:
    """Return a report as a card has it."""
    table: dict[str, Any] = {}
    if body == BODY:
        table["elements"] = numbers_in(report.relation.rows.elements())
    else:
        table["rows"] = sorted(
            " ".join(term for _, term in row) for row in report.relation.rows.elements()
        )
    if report.window is not None:
        table["window"] = list(report.window)
    if report.instant is not None:
        table["instant"] = report.instant
    if report.takes_back:
        table["takes_back"] = True
    if report.key:
        table["key"] = " ".join(parse_literal(one).lexical for one in report.key)
    return table


def find_stamp(replies: Iterable[Reply]) -> str:
    """Return what the instants of an engine's reports are, the first that holds of all: the border
    at which the window opens or closes, or its first element. Nothing if it states none.
    """
    stamps: list[tuple[int, int, int, int | None]] = []
    for reply in replies:
        for report in reply.reports:
            if report.instant is None or report.window is None:
                return ""
            times = [reply.asked.moments[n].at for n in numbers_in(report.relation.rows)]
            stamps.append((report.instant, *report.window, min(times, default=None)))
    for name, place in (("opening", 1), ("close", 2), ("first-element", 3)):
        if stamps and all(stamp[0] == stamp[place] for stamp in stamps):
            return name
    return "another" if stamps else ""


def _answers_at_end(replies: Iterable[Reply]) -> bool:
    """Whether all reports came when the stream had ended."""
    reports = [one for reply in replies for one in reply.reports]
    return bool(reports) and all(one.push_instant is None for one in reports)


def as_semantics(card: Card) -> dict[str, str]:
    """Return the fields of a card with their values, as an engine's file states a semantics."""
    return {one.name: one.value for one in card.fields}


def cards_in(tables: Sequence[Mapping[str, Any]]) -> list[Card]:
    """Return cards from JSON of the schema."""
    return list(map(Card.of_json, tables))
