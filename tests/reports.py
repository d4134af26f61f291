"""Results made by hand, of which the tests of reports make pages."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

from conformance.verdict import results
from conformance.verdict.outcomes import Outcome
from conformance.verdict.results import DiagnosedCause, KnownDeviation, Result

XSD = "http://www.w3.org/2001/XMLSchema#"
QUERY = "PREFIX : <http://example.org/>\nSELECT ?x WHERE { ?x :p ?y }"
BAD = "<script>alert(1)</script>"


def integer(value: str, kind: str = "integer") -> dict[str, str]:
    """A number as SPARQL JSON has it."""
    return {"type": "literal", "value": value, "datatype": XSD + kind}


def report(*values: str, kind: str = "integer", **more: Any) -> dict[str, Any]:
    """A report of one variable."""
    return {"rows": [{"x": integer(value, kind)} for value in values], "total": len(values), **more}


def evidence(
    actual: list[dict[str, Any]], expected: list[dict[str, Any]] | None, **more: Any
) -> dict[str, Any]:
    """Elements at 2, 5 and 12, in windows of 10."""
    graph = '<http://example.org/a> <http://example.org/p> "1" .\n'
    return {
        "query": QUERY,
        "windows": [{"stream": "s", "kind": "time", "size": 10, "slide": 10}],
        "elements": [{"stream": "s", "at": at, "graph": graph} for at in (2, 5, 12)],
        "elements_total": 3,
        "actual": actual,
        "cut": False,
        **({} if expected is None else {"expected": expected}),
        **more,
    }


DUE = [report("1", "2", window=[0, 10], instant=10), report("3", window=[10, 20], instant=20)]
RIGHT = evidence([report("2", "1"), report("3.0", kind="decimal")], DUE)
WRONG = evidence([report("1", "2", window=[0, 10]), report("4", window=[10, 20])], DUE)
KNOWN = (
    KnownDeviation("it answers\nlate", "https://example.org/issues/1"),
    KnownDeviation("no link", "javascript:alert(1)"),
)


def result(
    engine: str = "mine", case: str = "WIN-2-a-border", outcome: str = "pass", **more: Any
) -> Result:
    """A result; without more a pass of a rule."""
    told = {
        "suite": "corpus",
        "rule": "WIN-2",
        "explanation": f"{outcome}: as it is",
        "evidence": RIGHT,
        **more,
    }
    return Result(engine=engine, case=case, outcome=Outcome(outcome), **told)


MIXED = [
    result(),
    result(
        case="WIN-3-a-window",
        rule="WIN-3",
        outcome="fail",
        evidence=WRONG,
        explanation="fail: no\n  first divergence, relation 2 of 2: window [10, 20)",
    ),
    result(case="REP-1-a-close", rule="REP-1", outcome="fail", evidence=WRONG, known=KNOWN),
    result(
        case="R2R-5-witnesses",
        rule="R2R-5",
        outcome="disputed",
        evidence=evidence([report("1")], None),
    ),
    result(case="WIN-12-now", rule="WIN-12", outcome="unsupported", evidence=None),
    result(
        case="Q1",
        rule="",
        suite="csrbench",
        outcome="error",
        evidence=None,
        explanation="register: the process ended",
    ),
    result(engine="other"),
    result(engine="other", case="Q1", rule="", suite="csrbench"),
]


CLOSURE = DiagnosedCause("closure is [] (WIN-2)", ("WIN-2",), True, "[[deviations]]\nclosure")
LATE = DiagnosedCause("close_rule is passed (TICK-6)", ("TICK-6",), True, "[[deviations]]\nlate")
SHIFTED = KnownDeviation("windows are shifted", "https://example.org", ("WIN-3",))
# an engine whose results were examined and diagnosed
EXAMINED = [
    result(case="WIN-1-a", rule="WIN-1", caught_wrong_engine="WIN-1 no window"),
    result(case="WIN-2-a", outcome="fail", evidence=WRONG, causes=(CLOSURE,)),
    result(case="WIN-2-b", outcome="fail", evidence=WRONG, causes=(CLOSURE, LATE)),
    result(case="WIN-3-a", rule="WIN-3", outcome="fail", evidence=WRONG, known=(SHIFTED,)),
    result(
        case="REP-1-a",
        rule="REP-1",
        outcome="unsupported",
        evidence=None,
        caught_wrong_engine="REP-1 x",
    ),
    result(
        case="REP-2-a",
        rule="REP-2",
        outcome="fail",
        evidence={**WRONG, "elements_total": 2},
        causes=(CLOSURE._replace(can_be_granted=False),),
        caught_wrong_engine="REP-2 x",
        caught_when_granted="REP-2 x",
    ),
    result(case="REP-3-a", rule="REP-3"),
    result(case="R2S-1-a", rule="R2S-1", outcome="fail", evidence=WRONG),
]


def hostile(text: str = BAD) -> Result:
    """A result all of whose texts are a script."""
    rows = [
        {
            text: {"type": "literal", "value": text},
            "x": {"type": "uri", "value": f"urn:{text}"},
            "y": {"type": "bnode", "value": text},
        }
    ]
    given = {"rows": rows, "total": 1, "window": [0, 10]}
    told = evidence([given], DUE, semantics={text: text, "closure": text})
    told |= {
        "query": text,
        "windows": [{"stream": text, "kind": text, "size": 10, "slide": 10}],
        "elements": [{"stream": text, "at": 1, "graph": text}],
    }
    links = ("https://example.org/?" + text, "javascript:alert(1)", text)
    known = tuple(KnownDeviation(text, link) for link in links)
    return Result(
        engine=text,
        suite=text,
        case=f"{text}-case",
        rule=text,
        outcome=Outcome.FAIL,
        explanation=text,
        known=known,
        evidence=told,
    )


def page_data(html: str) -> dict[str, Any]:
    """Return the data of a page, with the details of results and the texts of rules, which stand
    packed at its end.
    """
    data, packed = (
        json.loads(re.search(rf'id="{name}">(.*?)</script>', html, re.DOTALL)[1])  # type: ignore
        for name in ("data", "packed")
    )
    rules, *parts = (json.loads(zlib.decompress(base64.b64decode(part))) for part in packed)
    assert [*rules] == data["explained"] and all(len(part) <= data["part"] for part in parts)
    return {**data, "rules": rules, "details": [one for part in parts for one in part]}


def write(path: Path, *found: Result) -> Path:
    """A file of results."""
    results.write(path, found)
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    """What is in a file of results."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def bare(case: str = "c", outcome: str = "pass", **more: Any) -> Result:
    """A result of the corpus without evidence and explanation, unless more is given."""
    told = {"engine": "e", "suite": "corpus", **more}
    return Result(case=case, outcome=Outcome(outcome), **told)
