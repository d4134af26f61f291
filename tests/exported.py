"""The exported suite, as tests read it: its files, a runner of another language over it, and what a
plain comparison says.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyshacl
import rdflib
from rdflib.namespace import RDF, SH

from refengine.core.values import Closure
from refengine.model import compare
from refengine.model.elements import Bag
from refengine.oracle.trial import first_and_last_instant
from refengine.rdf.recordings import relation_from_json

RUNNER = Path(__file__).parent / "suite_runner" / "run.mjs"
Table = dict[str, Any]


def cases_in(folder: Path) -> dict[str, Table]:
    """Return what is exported of each case, by its IRI."""
    files = [case["file"] for case in read(folder / "suite.json")["cases"]]
    return {table["iri"]: table for table in (read(folder / file) for file in files)}


def read(path: Path) -> Any:
    """Return the JSON of a file."""
    return json.loads(path.read_text(encoding="utf-8"))


def manifests_of(folder: Path) -> rdflib.Graph:
    """Return what all manifests state, with the IRIs of the files at which they point."""
    graph = rdflib.Graph()
    for path in sorted(folder.rglob("*.ttl")):
        if path.name != "shapes.ttl":
            graph.parse(path, publicID=path.as_uri())
    return graph


def broken_shapes(graph: rdflib.Graph, folder: Path) -> set[str]:
    """Return the properties in which a graph is not of the shapes."""
    shapes = rdflib.Graph().parse(folder / "shapes.ttl")
    _, report, _ = pyshacl.validate(graph, shacl_graph=shapes)
    return {
        str(report.value(violation, SH.resultPath))
        for violation in report.subjects(RDF.type, SH.ValidationResult)
    }


def run(
    folder: Path, command: Sequence[str], *words: str, only: Sequence[str] = ()
) -> dict[tuple[str, str], str]:
    """Return the outcomes that the runner in JavaScript comes to, by suite and case. `only` are the
    ids of the cases to run; all if it is empty.
    """
    chosen: list[str] = []
    if only:
        listed = folder.parent / "only.txt"
        listed.write_text("\n".join(only), encoding="utf-8")
        chosen = ["--only", str(listed)]
    ended = subprocess.run(
        ["node", str(RUNNER), str(folder), *words, *chosen, "--", *command],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    results = [json.loads(line) for line in ended.stdout.splitlines()]
    return {(result["suite"], result["case"]): result["outcome"] for result in results}


# What a plain comparison says of a judgement


def is_explained(judgement: Table) -> bool | None:
    """Whether an alternative of a judgement explains its recording; None if a window is stated that
    no alternative states.
    """
    labels: dict[str, str] = {}
    recorded = [bag(each, labels) for each in judgement["recording"]]
    stated = judgement.get("windows", [])
    found = [
        _explains(alternative, recorded, stated, judgement)
        for alternative in judgement["alternatives"]
    ]
    if True in found:
        return True
    return None if None in found else False


def bag(relation: Mapping[str, Any], labels: dict[str, str]) -> Bag:
    """Return the rows of a report or a relation."""
    variables = tuple({name: None for row in relation["rows"] for name in row})
    return relation_from_json(relation["rows"], variables, "rows", labels).rows


def _explains(
    alternative: Table, recorded: Sequence[Bag], stated: Sequence[Any], judgement: Table
) -> bool | None:
    """Whether the recording is an alternative without as many reports at each end as may be
    missing. Of a recording without relations none may be.
    """
    due = alternative["reports"]
    missing = judgement["missing"] if recorded else 0
    mode = compare.Mode(judgement["mode"])
    undecided = False
    for before in range(min(missing, len(due)) + 1):
        after = len(due) - before - len(recorded)
        if not 0 <= after <= missing:
            continue
        part = due[before : before + len(recorded)]
        if not all(
            compare.equal(bag(report, {}), rows, mode)
            for report, rows in zip(part, recorded, strict=True)
        ):
            continue
        windows = list(_are_windows_right(part, stated, judgement))
        if all(windows):
            return True
        undecided = undecided or (None in windows and False not in windows)
    return None if undecided else False


def _are_windows_right(
    part: Sequence[Table], stated: Sequence[Any], judgement: Table
) -> Iterator[bool | None]:
    """Yield for each window that the engine states whether it is that of the report; None if the
    report's is open.
    """
    closure = judgement.get("window_closure", judgement["profile"]["closure"])
    for report, window in zip(part, stated, strict=False):
        if not window:
            continue
        if "instants" not in report or not isinstance(closure, str):
            yield None
        else:
            instants = first_and_last_instant((window[0], window[1]), Closure(closure))
            yield report["instants"] == (instants and list(instants))
