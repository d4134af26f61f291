"""Property paths, maintained: every form between every kind of ends, while triples come and go."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from incremental_trials import P, Q, agree, asked, chosen

from refengine import Body, stream
from refengine.core import r2r
from refengine.incremental.algebra.body import MaintainedBody
from refengine.incremental.algebra.paths import (
    Reachability,
    connects_with_itself,
)
from refengine.incremental.answer_cache import SupportedSolutions
from refengine.model.elements import Triple, row
from refengine.sparql.algebra import (
    Alternative,
    Inverse,
    Repeated,
    Sequence,
)


def link(text: str) -> Triple:
    """Return the triple of a text such as "a p b"."""
    subject, predicate, end = (f"<urn:{name}>" for name in text.split())
    return subject, predicate, end


def pairs(text: str) -> Counter:
    """Return rows of ?x and ?y from a text such as "ab ab bc"."""
    return Counter(row({"x": f"<urn:{x}>", "y": f"<urn:{y}>"}) for x, y in text.split())


class Pairs:
    """The answer of a path between ?x and ?y, maintained."""

    def __init__(self, path: str) -> None:
        self.rows: Counter = Counter()
        self.changes = 0
        self.body = MaintainedBody(Body(f"SELECT ?x ?y {{ ?x {path} ?y }}"), self._change)

    def _change(self, row: tuple, count: int) -> None:
        self.changes += 1
        self.rows[row] += count

    def after(self, *inserted: str, without: tuple[str, ...] = ()) -> Counter:
        """Return the answer after a change of the content."""
        for text in without:
            self.body.retract(link(text))
        for text in inserted:
            self.body.insert(link(text))
        self.body.flush()
        assert min(self.rows.values(), default=0) >= 0
        return +self.rows

    @property
    def reachability(self) -> Reachability:
        (node,) = self.body.flushed_nodes
        assert isinstance(node, Reachability)
        return node


def test_p_plus_gives_each_pair_once():
    answer = Pairs(f"{P}+")
    assert answer.after("a p b", "b p c") == pairs("ab bc ac")
    assert answer.after("a p d", "d p c") == pairs("ab bc ac ad dc")
    assert answer.after(without=("b p c",)) == pairs("ab ac ad dc")  # by d now
    assert answer.after("c p a") == pairs("ab ac aa ad dc da dd db ca cb cc cd")
    assert answer.after(without=("a p b", "a p d", "d p c", "c p a")) == Counter()
    reachability = answer.reachability
    kept = (reachability.successors, reachability.predecessors, reachability.step_counts)
    assert not any((*kept, reachability.ends_of, reachability.starts_of))


def test_steps_that_come_and_go_before_a_flush_change_nothing():
    answer = Pairs(f"{P}+")
    answer.after("a p b")
    changes = answer.changes
    answer.body.insert(link("b p c"))
    answer.body.retract(link("b p c"))
    assert answer.after("a p b") == pairs("ab")
    answer.body.retract(link("a p b"))
    assert answer.after() == pairs("ab")
    assert answer.changes == changes


def test_a_step_beside_another_way_changes_nothing():
    answer = Pairs(f"{P}+")
    answer.after("a p b", "b p c", "c p a")
    changes = answer.changes
    answer.after("a p c")
    answer.after(without=("a p c",))
    answer.after("b p b")
    answer.after(without=("b p b",))
    assert answer.changes == changes


def test_no_start_is_updated_for_a_step_beside_another_way(monkeypatch):
    path = Pairs(f"{P}+")
    path.after("a p b", "b p c", "c p d", "a p d")
    updated = []
    monkeypatch.setattr(path.reachability, "_update", lambda *start: updated.append(start))
    path.after(without=("a p d",))
    path.after("a p d", "a p c")
    assert not updated


FORMS = (
    f"({P}|^{Q})",
    f"({P}/{Q})|{P}",
    f"^({P}/{Q}?)",
    f"!({P}|^{Q})",
    f"!^{Q}",
    f"{P}?",
    f"({P}/^{Q})?",
    f"{P}*",
    f"(^{P})*",
    f"({P}?/{Q}?)*",
    f"{P}+",
    f"({P}|{Q})+",
    f"({P}?)+",
    f"(({P}?)/({P}?))+",
    f"(^({P}?|{Q}))+",
    f"({P}+/{Q}*)?",
    f"!{P}*/{Q}",
)
ENDS = (
    "?x {} ?y",
    "?x {} ?x",
    "<urn:a> {} ?y",
    "?x {} <urn:b>",
    "<urn:z> {} ?y",  # no node of the graph
    "?x {} <urn:z>",
    "?x {} 'x'",
    "<urn:a> {} <urn:b>",
    "<urn:z> {} <urn:b>",
    "_:k {} ?y",
    "?x <urn:p> ?z . ?z {} ?y",
    "?z {} ?y . ?x <urn:q> ?w . ?w {} ?z",
)
LOOPS = ("<urn:a> {} <urn:a>", "<urn:z> {} <urn:z>")
TRIPLES = tuple(
    (f"<urn:{s}>", p, end)
    for s in "abc"
    for p in (P, Q)
    for end in ("<urn:a>", "<urn:b>", "<urn:c>", '"x"')
)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_between_all_kinds_of_ends(form: str):
    """Few triples come and go, so that the graph falls apart and grows again; twice all go."""
    r = Random(form)
    ends = ENDS if "/" in form else ENDS + LOOPS
    for where in ends:
        body = Body(f"SELECT * {{ {where.replace('{}', form)} }}")
        rows: Counter = Counter()
        maintained = MaintainedBody(body, lambda row, count, rows=rows: rows.update({row: count}))
        content: set[Triple] = set()
        for step in range(16):
            changed = r.sample(TRIPLES, r.choice([1, 1, 2, 3]))
            if step % 8 == 7:
                changed = sorted(content)
            for triple in changed:
                if triple in content:
                    content.remove(triple)
                    maintained.retract(triple)
                elif len(content) < 7:
                    content.add(triple)
                    maintained.insert(triple)
            maintained.flush()
            assert min(rows.values(), default=0) >= 0
            defined = r2r.defined_answer(body, frozenset(content)).rows
            assert +rows == defined, (body.text, sorted(content))


def test_a_path_that_connects_a_term_with_itself():
    star = Repeated(P, 0, False)
    assert connects_with_itself(star)
    assert connects_with_itself(Repeated(Inverse(star), 1, False))
    assert connects_with_itself(Alternative((P, star)))
    assert not connects_with_itself(Repeated(Alternative((P, Q)), 1, False))
    assert not connects_with_itself(Sequence((star, star)))


def test_the_elements_of_a_path_are_not_known():
    elements = stream([(link("a p b"), 1), (link("b p c"), 2)]).elements
    for path, has_rows in ((P, True), (f"{P}+", False)):
        body = Body(f"SELECT ?x ?y {{ ?x {path} ?y }}")
        supported = SupportedSolutions(body, elements, [1, 2], span=5)
        assert (supported.supported_rows(range(2)) is not None) is has_rows
        assert supported.answer(range(2)) == pairs("ab bc" if has_rows else "ab bc ac")


MEANINGS = (
    {},
    {"r2s": "Dstream", "base": "previous", "report": "content-change", "tick": "tuple"},
    {"r2s": "Istream", "base": "previous", "report": "content-change", "empty": "suppress"},
    {"r2s": "append", "report": "content-change"},
    {"collection": "set", "report": "non-empty,periodic", "period": 1, "anchor": 0},
)
PATH_BODIES = (
    f"SELECT ?x ?y {{ ?x {P}+ ?y }}",
    f"SELECT ?x ?y {{ ?x {P}* ?y }}",
    f"SELECT ?y (COUNT(*) AS ?n) {{ ?x ({P}|^{Q}) ?y }} GROUP BY ?y",
    f"SELECT ?x {{ ?x {P}/{Q}* <urn:d> }}",
)


@pytest.mark.parametrize("fields", MEANINGS)
def test_reports_are_the_engines(fields: dict):
    """A path leads through the content and the static data. A triple comes twice, and blank nodes
    of the stream and of the static data are two.
    """
    texts = ("a p b", "b p c", "a p b", "c q d", "c p a", "d q b", "b p d")
    items = [(link(text), at) for at, text in enumerate(texts)]
    items += [(("_:k", P, "<urn:a>"), 7), (link("a p c"), 20)]
    static = frozenset([link("c p e"), link("e q d"), ("_:k", P, "<urn:d>")])
    for text in PATH_BODIES:
        query = asked(text, size=4, slide=2)
        streams = {"s": stream(items)}
        for data in (frozenset(), static):
            said = agree(query, streams, chosen(**fields), static=data, answer=r2r.defined_answer)
            assert said == "incremental"
