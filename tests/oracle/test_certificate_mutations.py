"""A mutated certificate is refused. `python test_certificate_mutations.py NUMBER` draws so many."""

from __future__ import annotations

import random
import sys
from collections import Counter
from functools import cache

import pytest
from certified import (
    MUTATIONS,
    Document,
    is_refused,
    mutated,
    of_expectations,
    of_fixture,
    of_judgements,
    says,
)

from conformance import corpus

pytestmark = pytest.mark.xdist_group("certificates")

SEED = 52
EVERY = 3  # of so many cases one is taken
FIXTURES = ("csparql Q1", "csparql Q4", "csparql Q5", "sparqlstream Q4")


@cache
def certificates() -> tuple[Document, ...]:
    """Certificates that are right, of passes and of fails."""
    documents = [of_fixture()[name][1] for name in FIXTURES]
    for case in corpus.cases()[::EVERY]:
        documents += [document for _, document in of_judgements(case)]
        documents += [document for _, document in list(of_expectations(case))[:1]]
    return tuple(document for document in documents if says(document).startswith("OK"))


def draw(count: int) -> tuple[Counter[str], list[str]]:
    """How often each mutation was drawn, and what the checker says of those that it certifies."""
    rng = random.Random(SEED)
    drawn: Counter[str] = Counter()
    accepted = []
    while sum(drawn.values()) < count:
        document = rng.choice(certificates())
        if (found := mutated(rng, document)) is None:
            continue
        name, other = found
        drawn[name] += 1
        if not is_refused(other):
            accepted.append(f"{name}: {says(other)}")
    return drawn, accepted


def test_no_mutated_certificate_is_certified():
    drawn, accepted = draw(1_000)
    assert accepted == []
    assert {*drawn} == {mutation.__name__ for mutation in MUTATIONS}
    verdicts = Counter(document["verdict"] for document in certificates())
    assert verdicts["pass"] > 50 and verdicts["fail"] > 10


if __name__ == "__main__":
    drawn, accepted = draw(int(sys.argv[1]))
    for line in accepted:
        print(line)
    print(f"{sum(drawn.values())} mutated certificates, {len(accepted)} certified")
    sys.exit(bool(accepted))
