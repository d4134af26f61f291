"""A wrong engine is a candidate for what a recording shows, so the oracle runs it where t0 is open
and where the horizon depends on windows. Whatever it breaks, it gives a verdict or refuses.
"""

from __future__ import annotations

from contextlib import suppress

import pytest

from conformance.wrong_engines import WRONG_ENGINES
from conformance.wrong_engines.wrong_engine import WrongEngine
from refengine import Question, Relation, from_table, judge, profile, stream
from refengine.core.profile import Profile
from refengine.model.errors import RefengineError

QUERY = from_table(
    windows=[{"stream": "s", "kind": "time", "size": 10, "slide": 4}],
    body="SELECT ?x { ?x <urn:p> ?y }",
)
ELEMENTS = [(("<urn:a>", "<urn:p>", "<urn:b>"), 3), (("<urn:c>", "<urn:p>", "<urn:b>"), 27)]
CLAIMS = {
    "flush": {"horizon": "flush"},
    "last window": {"horizon": "last-window"},
    "last window of an integer t0": {"horizon": "last-window", "t0": 2},
    "every window": {
        "horizon": "last-window",
        "reported_windows": "every",
        "early_period": 3,
        "watermark_delay": 0,
    },
}


@pytest.mark.parametrize(
    ("claim", "length"),
    [
        ("flush", 2),
        ("last window", 1),
        ("last window of an integer t0", 1),
        ("every window", 2),
    ],
)
def test_each_wrong_engine_is_judged_or_refuses(claim: str, length: int) -> None:
    claimed = profile("csparql").but(**CLAIMS[claim])
    question = Question(QUERY, {"s": stream(ELEMENTS[:length])})
    broken = [one.name for one in WRONG_ENGINES if breaks_down(one, question, claimed)]
    assert not broken


def breaks_down(one: WrongEngine, question: Question, claimed: Profile) -> bool:
    """Whether judging under a wrong engine ends in another error than ours."""
    with one.installed(), suppress(RefengineError):
        try:
            judge(question.query, question.streams, claimed, [Relation(("x",), {})])
        except RefengineError:
            raise
        except Exception as error:
            print(one.name, repr(error))
            return True
    return False
