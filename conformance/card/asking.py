"""Putting the questions of a card to a running engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from conformance.card.inquiry import Fate, Inquiry, Reply
from conformance.card.prediction import Predictions, View
from conformance.card.questions import CardQuestion, catalogue
from conformance.card.space import COARSE, FINE, OF_RDF, SIMPLE
from conformance.harness import engine_file
from conformance.harness.client import Broken
from conformance.harness.engine_file import WINDOWS, Engine
from conformance.harness.play import Declined
from conformance.harness.pool import Harnesses
from conformance.suite.exchange import PreparedQuestion, prepare_question
from refengine.core.profile import Profile
from refengine.core.profiles import profile
from refengine.core.question import Question
from refengine.core.semantics import Semantics
from refengine.dialects import Unrenderable
from refengine.model.errors import InvalidSemantics, RefengineError
from refengine.model.messages import plain

# that an engine is thought to have, as far as its file claims nothing
USUAL = profile("csparql").but(t0="epoch", offset=0, allowed_lateness=0)


class Asker:
    """An engine that is asked the questions of a card. `harnesses` has the running process."""

    def __init__(self, engine: Engine, harnesses: Harnesses) -> None:
        self.engine = engine
        self.harnesses = harnesses
        self._prepared: dict[CardQuestion, PreparedQuestion | Unrenderable] = {}

    @property
    def is_of_windows_alone(self) -> bool:
        """Whether it has windows, and no RDF."""
        return WINDOWS in self.engine.suites

    def prepare(self, asked: CardQuestion) -> Question:
        """Return a question as it is put to the engine: with sentinels, if it needs some."""
        prepared = self._prepare(asked)
        return asked.question if isinstance(prepared, Unrenderable) else prepared.question

    def _prepare(self, asked: CardQuestion) -> PreparedQuestion | Unrenderable:
        if asked not in self._prepared:
            try:
                found = prepare_question(self.engine, asked.question, asked.table)
            except Unrenderable as error:
                self._prepared[asked] = error
            else:
                self._prepared[asked] = found
        return self._prepared[asked]

    def ask(self, asked: CardQuestion) -> Reply:
        """Put a question to the engine; return what comes of it, whatever that is."""
        prepared = self._prepare(asked)
        if isinstance(prepared, Unrenderable):
            return Reply(asked, asked.question, Fate.REFUSED, reason=str(prepared))
        try:
            reports = prepared.ask(self.harnesses.of(self.engine))
        except Declined as error:
            return Reply(asked, prepared.question, Fate.REFUSED, reason=str(error))
        except Broken as error:
            return Reply(asked, prepared.question, Fate.BROKE, reason=str(error))
        return Reply(asked, prepared.question, Fate.ANSWERED, tuple(reports))


def inquiry_into(asker: Asker, predictions: Predictions) -> Inquiry:
    """Return an inquiry into an engine, of which nothing has been asked."""
    is_of_windows_alone = asker.is_of_windows_alone
    is_simple = asker.engine.profile is None and not is_of_windows_alone
    more = COARSE if is_simple else ()
    return Inquiry(
        asker.ask,
        asker.prepare,
        start_of(asker.engine),
        SIMPLE if is_simple else COARSE,
        [one for one in (*more, *FINE) if not (is_of_windows_alone and one.group in OF_RDF)],
        lambda group: catalogue(group, is_of_windows_alone),
        predictions,
        View(
            has_windows=is_of_windows_alone,
            closure=asker.engine.window_closure,
            has_keys=is_of_windows_alone,
            unreported=asker.engine.unreported,
        ),
    )


def start_of(engine: Engine) -> Semantics:
    """Return the semantics that an engine claims; a usual one in what it leaves open."""
    return first_semantics(engine.profile or USUAL)


def first_semantics(claimed: Profile) -> Semantics:
    """Return the first semantics of a profile that has a meaning, in which windows are aligned with
    0 if it leaves open where they begin. Raises InvalidSemantics.
    """
    if "t0" in claimed.unknown:
        claimed = claimed.but(t0="epoch", offset=0)
    problem = InvalidSemantics("it has no values that mean something together", rule="SEM-2")
    for fields in claimed.assignments(()):
        try:
            return Semantics(**fields)
        except InvalidSemantics as error:
            problem = error
    raise problem


def startable(name: str) -> Engine:
    """Return an engine by its name or file. Raises RefengineError, with what to do, if it cannot
    be started here, or if it has no windows.
    """
    engine = engine_file.engine(name).with_classpath("")
    if not {WINDOWS, "corpus"} & {*engine.suites}:
        raise RefengineError("it has joins, and no windows", rule="engine", place=name)
    if engine.missing:
        raise RefengineError(plain(engine.missing), rule="engine", place=name)
    return engine


@contextmanager
def running(engine: Engine) -> Iterator[Asker]:
    """Give an engine that can be asked, and stop its process at the end."""
    harnesses = Harnesses()
    try:
        yield Asker(engine, harnesses)
    finally:
        harnesses.stop()
