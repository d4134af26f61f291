"""Judge what an engine answered: `python examples/judge_a_recording.py`.

A profile says what is known of the engine. Its t0 is not, so the judge tries every one.
"""

from __future__ import annotations

from collections import Counter

from refengine import Relation, from_table, judge, profile, row, stream

QUERY = from_table(
    windows=[{"stream": "s", "kind": "time", "size": 10, "slide": 10}],
    body="SELECT ?sensor { ?sensor <urn:alarm> ?level FILTER (?level > 2) }",
)


def alarm(sensor: str, level: int) -> tuple[str, str, str]:
    """Return a triple: a sensor has a level of alarm."""
    return (
        f"<urn:{sensor}>",
        "<urn:alarm>",
        f'"{level}"^^<http://www.w3.org/2001/XMLSchema#integer>',
    )


STREAM = stream([(alarm("a", 3), 3), (alarm("b", 1), 5), (alarm("c", 4), 12), (alarm("a", 5), 21)])


def relation(*sensors: str) -> Relation:
    """Return an answer: the sensors, each once."""
    return Relation(("sensor",), Counter(row({"sensor": f"<urn:{name}>"}) for name in sensors))


if __name__ == "__main__":
    # the engine sent three answers; c is missing from the second
    recorded = [relation("a"), relation(), relation("a")]
    verdict = judge(QUERY, {"s": STREAM}, profile("csparql"), recorded, missing=0)
    print(verdict.explain())
    if not verdict.passed and verdict.divergence.window:
        opens, closes = verdict.divergence.window  # a window of C-SPARQL holds its lower border
        number = verdict.divergence.index + 1
        print(f"so relation {number} is wrong, that of the window [{opens}, {closes})")
