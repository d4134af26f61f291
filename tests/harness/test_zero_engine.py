"""An engine that shares no code with refengine, held to the whole corpus: it is right, however its
t0 is declared.

tests/harnesses/begins_at_zero.py answers; here are the ways to say what it sets out to do. The long
and the full profile try all of them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import PROFILE

import conformance

HARNESS = Path(__file__).parents[1] / "harnesses" / "begins_at_zero.py"
PASSES = 331

# Windows that the oracle would try begin before the least time that there is: it says so, whatever
# the engine answers.
BEYOND = {"MOD-1-the-least-integer-of-64-bits-is-a-time"}


class Variant(NamedTuple):
    """What an engine's file says of it: its semantics, and what it tells."""

    semantics: str
    told: bool
    keys: str = ""


# It answers SPARQL with pyoxigraph, whose known defects are its own (docs/evidence/witnesses.md).
KNOWN = """
[[deviations]]
reason = "pyoxigraph stores values: the form in which a literal is written is lost"
link = "https://github.com/oxigraph/oxigraph/issues/526"
cases = [
  "R2R-10-STR-gives-the-lexical-form-as-it-is-written",
  "R2R-10-a-literal-of-the-body-matches-no-other-lexical-form",
]

[[deviations]]
reason = "pyoxigraph finds no path of length zero from a term that is not in the graph"
link = "https://github.com/oxigraph/oxigraph/pull/1815"
cases = ["R2R-18-a-path-of-length-zero-connects-a-term-that-is-not-in-the-graph-with-itself"]

[[deviations]]
reason = "pyoxigraph gives a pair once that an alternative connects in several ways"
link = "https://github.com/oxigraph/oxigraph/pull/351"
cases = ["R2R-18-an-alternative-gives-a-pair-as-often-as-it-has-ways"]

[[deviations]]
reason = "pyoxigraph rounds a decimal that meets a float to a double first"
link = "https://github.com/oxigraph/oxigraph/blob/v0.5.0/lib/oxsdatatypes/src/decimal.rs"
cases = ["R2R-12-a-decimal-that-is-compared-with-a-float-is-rounded-to-a-float-once"]

[[deviations]]
reason = "pyoxigraph makes one node of BNODE with an argument for the whole query"
link = "https://github.com/oxigraph/oxigraph/blob/v0.5.0/lib/spareval/src/expression.rs"
cases = ["R2R-14-BNODE-with-one-label-makes-two-nodes-of-two-solutions"]

[[deviations]]
reason = "pyoxigraph counts the errors of an expression"
link = "https://github.com/oxigraph/oxigraph/blob/v0.5.0/lib/spareval/src/eval.rs"
cases = ["R2R-16-a-group-that-has-nothing-but-errors-has-the-count-0"]
"""

T0 = {
    "0": "0",
    "unknown": '"unknown"',
    "between": "{ between = [-40, 40] }",
    "one-of": "{ one_of = [0, 7] }",
}
VARIANTS = {
    f"{name}-{'told' if told else 'silent'}": Variant(f'profile = "csparql"\nt0 = {t0}', told)
    for name, t0 in T0.items()
    for told in (False, True)
}
# (-1, 9] is [0, 10) over integers (WIN-2): its windows are told as it calls them.
SHIFTED = 'window_closure = "[)"'
VARIANTS["shifted-told"] = Variant('profile = "csparql"\nclosure = "(]"\nt0 = -1', True, SHIFTED)
VARIANTS["flink-told"] = Variant('profile = "flink"\nt0 = -1\nhorizon = "flush"', True, SHIFTED)

USUAL = ["unknown-told", "flink-told"]


def declared(folder: Path, variant: Variant) -> Path:
    """The engine's file."""
    command = [sys.executable, str(HARNESS), *(["window"] if variant.told else [])]
    path = folder / "begins-at-zero.toml"
    path.write_text(f"""\
title = "begins at zero"
command = {json.dumps(command)}
dialect = "table"
{variant.keys}

[semantics]
{variant.semantics}

[capabilities]
kinds = ["time"]
{KNOWN}""")
    return path


@pytest.mark.parametrize("name", VARIANTS if PROFILE in ("long", "full") else USUAL)
def test_an_engine_whose_windows_begin_at_0_is_right(name, tmp_path):
    """No fail but those known and no error, which check_engine raises; as many passes in each
    variant, but for what t0 cannot be.
    """
    results = conformance.check_engine(declared(tmp_path, VARIANTS[name]))
    assert {result.outcome for result in results if not result.known} == {
        "pass",
        "unsupported",
        "disputed",
    }
    beyond = BEYOND if name.startswith("unknown") else set()
    passed = {result.case for result in results if result.outcome == "pass"}
    assert len(passed | beyond) >= PASSES
