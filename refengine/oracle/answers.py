"""§11 Answers that trials share, each computed once: of the definition, of witnesses and of
incremental evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from refengine.core import engine, r2r, window
from refengine.core.engine import Plan
from refengine.core.query import Body
from refengine.core.question import Setting
from refengine.core.semantics import Collection, Semantics
from refengine.incremental import AnswerCache
from refengine.incremental.coverage import NotCovered
from refengine.model.compare import Mode
from refengine.model.elements import Dataset, Relation, Triple
from refengine.oracle.derivations import Derivation, derivations, projects
from refengine.oracle.trial import Recorded

T = TypeVar("T")
# what engine.plan reads of a semantics, beside what it means and the frame
READ = ("closure", "slide", "closing", "horizon", "disorder")


class Answers:
    """A table of the answers of the definition and of witnesses, and of derivations, each computed
    once: results, no decisions.

    `witness` is who answers in a search: the definition, or a witness that repeats it.
    """

    def __init__(self, witness: str = r2r.DEFINITION):
        self.witness = witness
        self.testimonies: dict[tuple[str, Dataset, tuple[str, ...]], r2r.Testimony] = {}
        self.relied_on: list[r2r.Testimony] = []  # what a verdict rests on so far
        self.relations: dict[tuple[str, str, Dataset], Relation] = {}
        self.derivation_lists: dict[tuple[str, frozenset[Triple]], list[Derivation]] = {}
        self.objects: dict[Hashable, tuple[Sequence[object], Any]] = {}
        self.is_quick = True  # whether incremental evaluation may answer in a witness's place

    def by(self, witness: str) -> Answers:
        """Return the same table with another witness to answer, and nothing else."""
        other = Answers(witness)
        other.relations = self.relations
        other.derivation_lists = self.derivation_lists
        other.objects = self.objects
        other.testimonies = self.testimonies
        other.is_quick = False
        return other

    def once(self, kind: str, sources: Sequence[object], key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` makes, and make it once of these sources, which are told apart by
        their identity (a stream is long to compare), and a key.
        """
        key = (kind, key, *map(id, sources))
        if key not in self.objects:
            self.objects[key] = sources, make()  # which keeps the sources, and so their ids
        found: T = self.objects[key][1]
        return found

    def plan_of(self, recorded: Recorded, semantics: Semantics) -> Plan:
        """Return the plan of a recording's question under a semantics."""
        return self.plan(recorded.question.under(semantics))

    def plan(self, setting: Setting) -> Plan:
        """Return engine.plan; one is made for all plans of one window that read the same of their
        semantics but for its frame.
        """
        query, streams, semantics = setting.query, setting.streams, setting.semantics
        t0 = semantics.t0
        if (
            not isinstance(t0, int)
            or len(query.windows) > 1
            or query.windows[0].stream not in streams
        ):
            return engine.plan(query, streams, semantics)
        engine.meaning(query, semantics)
        stream = streams[query.windows[0].stream]
        read = tuple(getattr(semantics, name) for name in READ)
        planned = self.once(
            "plan", [stream], (query, read), lambda: engine.plan(query, streams, semantics)
        )
        (view,) = planned.views
        frame = window.frame(view.spec, semantics.closure, t0, semantics.partial)
        return replace(planned, semantics=semantics, views=(replace(view, t0=t0, frame=frame),))

    def incremental(
        self, recorded: Recorded, planned: Plan, *, for_derivations: bool = False
    ) -> AnswerCache | str:
        """Return incremental answers over contents of the windows, which all plans of the same
        elements share; or say why there are none.

        There are none where a witness is to answer (derivations are no answers, and ORA-5 holds
        them to those), the body is not covered, answers are compared as terms, or rounding decides
        how many there are.
        """
        if not self.is_quick and not for_derivations:
            return "a witness answers"
        if recorded.mode is Mode.TERM:
            return "answers are compared as terms"
        body = recorded.query.body
        if planned.semantics.collection is Collection.SET and not projects(body):
            return "a set of what is computed"

        def make() -> AnswerCache | str:
            try:
                return AnswerCache(recorded.query, planned.views, recorded.static)
            except NotCovered as error:
                return str(error)

        elements = [view.elements for view in planned.views]
        specs = tuple((view.spec.stream, view.spec.name) for view in planned.views)
        return self.once("incremental", elements, (body, specs, recorded.static), make)

    def __call__(self, body: Body, graph: Dataset) -> Relation:
        return self.ask(self.witness, body, graph)

    def ask(self, witness: str, body: Body, graph: Dataset) -> Relation:
        """Return the definition's answer, or one witness's. Raises NoSay where a witness has
        none.
        """
        key = (witness, body.text, graph)
        if key not in self.relations:
            self.relations[key] = r2r.ask(witness, body, graph)
        return self.relations[key]

    def confirmed(self, body: Body, graph: Dataset, witnesses: tuple[str, ...]) -> Relation:
        """Return the definition's answer, which a witness confirms (R2R-5), and keep what each
        said. Raises Disputed.
        """
        key = (body.text, graph, witnesses)
        if key not in self.testimonies:
            self.testimonies[key] = r2r.heard(body, graph, witnesses, self.ask)
        self.relied_on.append(self.testimonies[key])
        return self.testimonies[key].relation

    def derivations(self, body: Body, graph: frozenset[Triple]) -> list[Derivation]:
        """Return the derivations of the body over a graph."""
        key = (body.text, graph)
        if key not in self.derivation_lists:
            self.derivation_lists[key] = derivations(body, graph)
        return self.derivation_lists[key]
