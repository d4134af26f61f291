"""An arrival order of simultaneous elements for a pass of which only some order explains the
recording (ORA-5, ORA-6). Whether the order that is made here does is found out afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import inf

from refengine.core.question import Question
from refengine.model.elements import Element, Row, Stream, Triple
from refengine.oracle import derivations
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.trial import RecordingToJudge

Supports = Mapping[Row, Sequence[frozenset[Triple]]]


def with_likely_order(recorded: RecordingToJudge, answers: SharedAnswers) -> Question | None:
    """Return the question with its elements in an order in which they may have arrived: before each
    relation the elements on which its rows rest, and last one on which all of its rows rest. None
    for elements of several triples, and bodies whose rows do not rest on triples.
    """
    query = recorded.query
    stream = recorded.streams[query.windows[0].stream]
    elements = {triple: element for element in stream.elements for triple in element.graph}
    if len(elements) != len(stream.elements):
        return None
    if not derivations.projects(query.body):
        return None
    supports: dict[Row, list[frozenset[Triple]]] = defaultdict(list)
    for derivation in answers.derivations(query.body, frozenset(elements)):
        supports[derivation.row].append(frozenset(derivation.support))
    for each in supports.values():
        each.sort(key=lambda support: max((elements[triple].app for triple in support), default=0))
    places = _places(recorded, supports, elements)
    ordered = sorted(
        ((element.app, *places.get(triple, (inf, 0)), element.sys), element)
        for triple, element in elements.items()
    )
    renumbered = tuple(
        element._replace(sys=number) for number, (_, element) in enumerate(ordered, 1)
    )
    streams = {**recorded.streams, query.windows[0].stream: Stream(renumbered, ordered=False)}
    return Question(query, streams, recorded.static)


def _places(
    recorded: RecordingToJudge, supports: Supports, elements: Mapping[Triple, Element]
) -> dict[Triple, tuple[int, bool]]:
    """Return of each triple on which recorded rows rest the first relation that needs it, and
    whether it comes last of those.
    """
    places: dict[Triple, tuple[int, bool]] = {}
    used: dict[Row, int] = defaultdict(int)
    for number, rows in enumerate(recorded.rows):
        needed = []
        for row in rows.elements():
            if used[row] < len(supports.get(row, ())):
                needed.append(supports[row][used[row]])
                used[row] += 1
        new = {triple for support in needed for triple in support if triple not in places}
        places |= dict.fromkeys(new, (number, False))
        shared = [triple for triple in new if all(triple in support for support in needed)]
        if shared:
            last = max(shared, key=lambda triple: (elements[triple].app, triple))
            places[last] = (number, True)
    return places
