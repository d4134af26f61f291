"""Draw queries with data, and ask refengine.sparql and Apache Jena ARQ: `make arq`.

    python -m tools.arq [--draws N] [--seed S]
    python -m tools.arq --table     write the counts of explained differences (docs/evidence/arq.md)

Prints how many draws had each outcome, and the first difference that is not explained, shrunk. The
exit code is 0, 1 if there is such a difference, and 2 without ARQ.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from refengine.core.query import Body
from refengine.model.elements import XSD, Dataset, Quad, Triple, canonical_dataset
from refengine.sparql.functions import ARITIES, CASTS
from refengine.strategies import bodies, triples
from refengine.strategies.payloads import LITERALS
from tools.arq.comparison import AGREE, Difference, compare_answers, our_answer
from tools.arq.explained import PREFIXES, explain, explanations, searched_texts, table
from tools.arq.jena import Jena, lacks

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evidence" / "arq.md"
DATE = f'"2020-02-29T12:30:45.5-05:00"^^<{XSD}dateTime>'
GRAPHS = ("urn:g", "urn:h")
MOST_STATEMENTS = 12
OPERANDS = ("<urn:a>", "1", "-0.5", "1e0", "true", '"a.b"', '"(b)"', '"$1"', DATE, *LITERALS)
NOT_CALLED = ("RAND", "NOW", "UUID", "STRUUID", "BOUND")  # no answer over literals
CALLED = [
    *((name, arity) for name, arity in ARITIES.items() if name not in NOT_CALLED),
    *((f"<{XSD}{name}>", (1, 1)) for name in CASTS),
]
PHASES = (Phase.generate, Phase.shrink)


@st.composite
def calls(draw: st.DrawFn) -> Body:
    """Draw a body that calls a function or a cast with literals of all kinds."""
    name, (fewest, most) = draw(st.sampled_from(CALLED))
    count = draw(st.integers(fewest, fewest + 1 if most is None else most))
    operands = draw(st.lists(st.sampled_from(OPERANDS), min_size=count, max_size=count))
    call = re.sub(rf"<{XSD}(\w+)>", r"xsd:\1", f"{name}({', '.join(operands)})")
    return Body(f"{PREFIXES}SELECT ({call} AS ?v) {{}}")


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    """Draw a dataset: each triple is in the default graph, or in one of two named ones."""
    drawn = draw(st.lists(triples(), max_size=MOST_STATEMENTS))
    names = st.sampled_from([None, None, *GRAPHS])
    statements: list[Triple | Quad] = []
    for triple in drawn:
        name = draw(names)
        statements.append(triple if name is None else (*triple, f"<{name}>"))
    return canonical_dataset(statements)


class NotExplained(AssertionError):
    """Says that two answers differ, and that no entry of explained.toml says why."""


@dataclass
class Comparing:
    """A run over drawn queries. `outcomes` counts the draws by their outcome, up to the first
    difference that is not explained, and `found` is that difference, the last one that was seen
    while it was shrunk.
    """

    jena: Jena
    outcomes: Counter[str] = field(default_factory=Counter)
    found: Difference | None = None

    def compare(self, body: Body, data: Dataset) -> None:
        """Compare the answers to a body. Raises NotExplained."""
        ours = our_answer(body.text, data)
        theirs = self.jena.ask(body.text, data)
        outcome = compare_answers(body.text, ours, theirs)
        if outcome not in AGREE:
            statements = tuple(" ".join(statement) for statement in sorted(data))
            difference = Difference(outcome, body.text, statements, ours.plain(), theirs.plain())
            entry = explain(difference, explanations())
            if entry is None:
                self.found = difference
                raise NotExplained(outcome)
            outcome = entry.id
        if self.found is None:
            self.outcomes[outcome] += 1

    def run(self, draws: int, number: int) -> None:
        """Compare the answers to so many drawn bodies, by a seed."""

        @seed(number)
        @settings(
            max_examples=draws,
            database=None,
            deadline=None,
            phases=PHASES,
            suppress_health_check=list(HealthCheck),
        )
        @given(bodies(names=GRAPHS, graph_variable=True) | calls(), datasets())
        def draw(body: Body, data: Dataset) -> None:
            self.compare(body, data)

        with suppress(NotExplained):  # `found` is the difference, as far as it was shrunk
            draw()

    def report(self) -> int:
        """Print what was found, and return the exit code."""
        explained = sum(self.outcomes.values()) - sum(self.outcomes[name] for name in AGREE)
        not_explained = int(self.found is not None)
        print(f"draws: {sum(self.outcomes.values()) + not_explained}")
        print(", ".join(f"{name} {count}" for name, count in self.outcomes.most_common()))
        print(f"differences: {explained} explained, {not_explained} not")
        if self.found is None:
            return 0
        print(f"not explained: {self.found.kind}")
        for part, text in searched_texts(self.found).items():
            print(f"{part}: {text}")
        return 1


def main() -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.arq", description=__doc__)
    parser.add_argument("--draws", type=int, default=1000, metavar="N", help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="default: %(default)s")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        text = PAGE.read_text(encoding="utf-8")
        above = text[: text.index("| right |")]
        PAGE.write_text(above + table(explanations()), encoding="utf-8")
        return 0
    if lack := lacks():
        parser.exit(2, f"tools.arq: {lack}\n")
    with Jena() as jena:
        comparing = Comparing(jena)
        comparing.run(options.draws, options.seed)
    return comparing.report()


if __name__ == "__main__":
    sys.exit(main())
