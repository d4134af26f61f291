"""R2R-13: every quotient of small integers has an answer, which no single case can say."""

from __future__ import annotations

from fractions import Fraction

from refengine.model.elements import XSD, parse_literal
from refengine.sparql import evaluate, read_body


def test_every_quotient_has_an_answer():
    """One without end is rounded once, which CMP-2 tolerates."""
    for numerator in range(1, 40):
        for denominator in range(2, 14):
            (row,) = evaluate(
                read_body(f"SELECT ({numerator}/{denominator} AS ?r) {{}}")[0], frozenset()
            ).rows.elements()
            lexical, datatype, _ = parse_literal(dict(row)["r"])
            exact = Fraction(numerator, denominator)
            assert datatype == XSD + "decimal"
            assert abs(Fraction(lexical) - exact) <= exact / 10**17
