"""The smallest stream on which an engine's windows are wrong: it is asked again, for parts of the
stream of a case, until no element can be left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from conformance import corpus
from conformance.harness.client import Broken, Harness
from conformance.harness.engine_file import Engine
from conformance.harness.play import Declined
from conformance.suite.deviations import keep_needed
from conformance.suite.exchange import ask_question
from conformance.verdict import explain, outcomes, window_elements
from conformance.verdict.outcomes import Outcome
from conformance.verdict.results import Result
from refengine.core.question import Question
from refengine.model.elements import Element, Stream
from refengine.model.errors import RefengineError

LONGEST = 12  # elements of a stream that is made smaller


def describe_smallest_stream(tested: Engine, harness: Harness, question: Question) -> Iterator[str]:
    """Yield the lines about the smallest part of a question's stream on which an engine fails: its
    elements, and what is wrong. There are none for a long stream. `question` is without sentinels.
    """
    stream = question.streams[window_elements.STREAM]
    elements = list(stream)
    if len(elements) > LONGEST:
        return

    def fails(kept: Sequence[Element]) -> bool:
        failed = _judge(tested, harness, _over(question, stream, kept))
        return failed is not None and failed.outcome is Outcome.FAIL

    needed = keep_needed(elements, fails)
    if len(needed) == len(elements):
        yield "  none of its elements can be left out"
        return
    smaller = _over(question, stream, needed)
    failed = _judge(tested, harness, smaller)
    if failed is None or failed.judgement is None:  # the engine answers otherwise than before
        return
    yield f"  smallest stream that shows it: {explain.stream_text(smaller)}"
    yield from (f"    {line.strip()}" for line in explain.divergence_lines(failed.judgement))


def _over(question: Question, stream: Stream, kept: Sequence[Element]) -> Question:
    """Return a question over some elements of its stream, which have new numbers from 0."""
    smaller = Stream(tuple(_renumbered(kept)), stream.ordered)
    return replace(question, streams={window_elements.STREAM: smaller})


def _renumbered(elements: Sequence[Element]) -> Iterator[Element]:
    """Yield elements with new numbers, from 0."""
    number = 0
    for element in elements:
        found = window_elements.number_and_key(element)
        if found is None:  # a punctuation
            yield element
            continue
        text = window_elements.graph_text(number, found[1])
        yield element._replace(graph=corpus.triples(text))
        number += 1


def _judge(tested: Engine, harness: Harness, question: Question) -> Result | None:
    """Ask an engine, and return the verdict; None if there is none."""
    try:
        exchange = ask_question(tested, harness, question, None)
        return outcomes.judge_relations(
            exchange.question,
            tested.profile_for(question.query),
            exchange.relations,
            is_fail_explained=False,
            **exchange.judgement_options,
        )
    except (RefengineError, Declined, Broken):
        return None
