"""§11 The answers that all trials of a verdict share. Each answer is computed once, by the
SPARQL evaluator, a witness or incremental evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from refengine.core import engine, r2r, window
from refengine.core.engine import Plan
from refengine.core.plan import with_horizon_of_windows
from refengine.core.query import Body, Query
from refengine.core.question import Setting
from refengine.core.semantics import Semantics
from refengine.incremental import AnswerCache
from refengine.incremental.coverage import NotCovered
from refengine.incremental.maintained import REQUEST
from refengine.model.compare import Mode
from refengine.model.elements import Dataset, Element, Relation, Triple
from refengine.model.errors import require
from refengine.oracle.derivations import Derivation, derivations, projects
from refengine.oracle.trial import RecordingToJudge

T = TypeVar("T")
# the fields of a semantics that decide a plan for one window, except those of its frame
PLAN_FIELDS = (
    "closure",
    "slide",
    "close_rule",
    "horizon",
    "allowed_lateness",
    "late_for",
    "watermark",
    "watermark_delay",
)


def go_on() -> None:
    """Do nothing, so that a verdict goes on."""


class SharedAnswers:
    """The answers, derivations and plans that all trials of a verdict share. Each is computed when
    it is first asked for. Several verdicts may share them, too. Nothing is decided here.

    `witness` is who answers a search: the SPARQL evaluator, or a witness that repeats the search.
    If the SPARQL evaluator is asked for, nothing is computed incrementally.

    `before_answer` is called before each answer that a verdict looks at. An error that it raises
    ends the verdict: so a caller with a clock can limit its time. What is in the table then may
    still be used.
    """

    def __init__(
        self,
        witness: str = r2r.EVALUATOR,
        is_evaluator_requested: bool = False,
        before_answer: Callable[[], None] = go_on,
    ):
        self.witness = witness
        self.is_evaluator_requested = is_evaluator_requested
        self.before_answer = before_answer
        self.testimonies: dict[tuple[str, Dataset, tuple[str, ...]], r2r.Testimony] = {}
        self.testimonies_used: list[r2r.Testimony] = []  # what a verdict rests on so far
        self.relations: dict[tuple[str, str, Dataset], Relation] = {}
        self.derivation_lists: dict[tuple[str, frozenset[Triple]], list[Derivation]] = {}
        self.objects: dict[Hashable, tuple[Sequence[object], Any]] = {}
        self.may_be_incremental = (
            True  # whether incremental evaluation may answer in a witness's place
        )

    def with_witness(self, witness: str) -> SharedAnswers:
        """Return a table over the same results, in which another witness answers. Incremental
        evaluation does not answer in its place.
        """
        other = SharedAnswers(witness, self.is_evaluator_requested, self.before_answer)
        other.relations = self.relations
        other.derivation_lists = self.derivation_lists
        other.objects = self.objects
        other.testimonies = self.testimonies
        other.may_be_incremental = False
        return other

    def look_at_each(self, answers: Iterable[T]) -> Iterator[T]:
        """Yield some answers, or contents of which the answers are to be looked at. `before_answer`
        is called before each is taken, and once more to find that none is left.
        """
        remaining = iter(answers)
        while True:
            self.before_answer()
            try:
                yield next(remaining)
            except StopIteration:
                return

    def make_once(
        self, kind: str, sources: Sequence[object], key: Hashable, make: Callable[[], T]
    ) -> T:
        """Return `make()`, which is called only if it was not called before for the same `kind`,
        `key` and `sources`.

        Sources are the same if they are the same objects: to compare streams would take too long.
        """
        key = (kind, key, *map(id, sources))
        if key not in self.objects:
            # The sources are kept, too, so that no other object gets the id of one of them.
            self.objects[key] = sources, make()
        made: T = self.objects[key][1]
        return made

    def plan_of(self, recorded: RecordingToJudge, semantics: Semantics) -> Plan:
        """Return the plan of a recording's question under a semantics."""
        return self.plan(recorded.question.under(semantics))

    def plan(self, setting: Setting) -> Plan:
        """Return the plan that `engine.plan` makes.

        For one window and an integer t0, a plan is made once for all semantics that agree in
        PLAN_FIELDS; only the window's frame is computed anew.
        """
        query = setting.query
        streams = setting.streams
        semantics = setting.semantics
        t0 = semantics.t0
        if (
            not isinstance(t0, int)
            or len(query.windows) > 1
            or query.windows[0].stream not in streams
        ):
            return self.with_shared_elements(engine.plan(query, streams, semantics), query)
        engine.check_meaning(query, semantics)  # raises for what contradicts itself
        stream = streams[query.windows[0].stream]
        fields = tuple(getattr(semantics, name) for name in PLAN_FIELDS)
        planned = self.make_once(
            "plan",
            [stream],
            (query, fields),
            lambda: self.with_shared_elements(engine.plan(query, streams, semantics), query),
        )
        (view,) = planned.views
        t0 = require(window.not_earlier(view.spec, t0, semantics.not_before))
        frame = window.frame(view.spec, semantics.closure, t0, semantics.partial)
        moved = replace(planned, semantics=semantics, views=(replace(view, t0=t0, frame=frame),))
        return with_horizon_of_windows(moved)

    def with_shared_elements(self, planned: Plan, query: Query) -> Plan:
        """Return a plan whose windows are over the same sequences of elements as those of an
        earlier plan of the query, where the elements are the same: so the plans share what is kept
        for a sequence.
        """
        views = tuple(
            replace(view, elements=self._shared(view.elements, query)) for view in planned.views
        )
        return replace(planned, views=views)

    def _shared(self, elements: Sequence[Element], query: Query) -> Sequence[Element]:
        """Return the sequence of these elements that was met first in a plan of the query."""
        return self.make_once("elements", elements, query, lambda: elements)

    def incremental_answers(
        self, recorded: RecordingToJudge, planned: Plan, *, for_derivations: bool = False
    ) -> AnswerCache | str:
        """Return the incremental answers over contents of the windows, or the reason in words why
        there are none. All plans over the same elements share them.

        There are none where the SPARQL evaluator is asked for, a witness is to answer, the body is
        not covered, answers are compared as terms, elements are consumed, or rounding decides how
        many rows a set has.

        `for_derivations` asks for them as a source of derivations, which a witness does not
        compute: ORA-5 compares those with its answers.
        """
        if self.is_evaluator_requested:
            return REQUEST
        if not self.may_be_incremental and not for_derivations:
            return "a witness answers"
        if recorded.mode is Mode.TERM:
            return "answers are compared as terms"
        if planned.semantics.is_consuming:
            return f"consumption={planned.semantics.consumption}"
        body = recorded.query.body
        if planned.semantics.collection.drops_equal_rows and not projects(body):
            return "a set of what is computed"

        def make() -> AnswerCache | str:
            try:
                return AnswerCache(recorded.query, planned.views, recorded.static)
            except NotCovered as error:
                return str(error)

        elements = [view.elements for view in planned.views]
        specs = tuple((view.spec.stream, view.spec.name) for view in planned.views)
        return self.make_once("incremental", elements, (body, specs, recorded.static), make)

    def __call__(self, body: Body, graph: Dataset) -> Relation:
        """Return the SPARQL evaluator's answer, or that of the witness that is asked."""
        return self.ask(self.witness, body, graph)

    def ask(self, witness: str, body: Body, graph: Dataset) -> Relation:
        """Return the answer over a graph by the SPARQL evaluator or a witness. Raises NoSay if that
        witness does not answer such a body.
        """
        key = (witness, body.text, graph)
        self.before_answer()
        if key not in self.relations:
            self.relations[key] = r2r.ask_evaluator(witness, body, graph)
        return self.relations[key]

    def confirmed_answer(self, body: Body, graph: Dataset, witnesses: tuple[str, ...]) -> Relation:
        """Return the SPARQL evaluator's answer over a graph, which a witness must confirm (R2R-5).

        What each witness said is added to `testimonies_used`. Raises Disputed if none confirms it.
        """
        key = (body.text, graph, witnesses)
        if key not in self.testimonies:
            self.testimonies[key] = r2r.hear_witnesses(body, graph, witnesses, self.ask)
        self.testimonies_used.append(self.testimonies[key])
        return self.testimonies[key].relation

    def derivations(self, body: Body, graph: frozenset[Triple]) -> list[Derivation]:
        """Return the derivations of the body over a graph."""
        key = (body.text, graph)
        if key not in self.derivation_lists:
            self.derivation_lists[key] = derivations(body, graph)
        return self.derivation_lists[key]
