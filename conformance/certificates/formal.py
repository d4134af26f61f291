"""Checks certificates once more, by the program that Coq extracts from the definitions of SPEC.md
in `refengine/formal`. It says which evaluations there are, over what, and what R2S gives. Bodies
are a parameter of the definitions: the certificate's answers are trusted.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

import refengine
from conformance.certificates.checker import NotCertified, Run, Verdict, demand
from refengine.model.errors import Unsupported

FOLDER = Path(refengine.__file__).parent / "formal"
DEFINITIONS = ("Definitions.v", "Bodies.v", "Firings.v", "Extract.v")
OCAML = ("definitions.mli", "definitions.ml", "main.ml")
COMMANDS = ("coqc", "ocamlfind", "ocamlopt")
MOST_STEPS = 50_000_000  # at each instant the program looks at each arrival: half a minute
SECONDS = 600
Json = Mapping[str, Any]


def build(folder: Path) -> Path:
    """Build the program in a folder, without the proofs; return its path. Raises Unsupported if
    Coq or OCaml is missing.
    """
    lacking = [name for name in COMMANDS if shutil.which(name) is None]
    if lacking:
        reason = f"needs Coq and OCaml (on Debian: coq, ocaml, ocaml-findlib): no {lacking[0]}"
        raise Unsupported(reason, rule="usage", place="--formal")
    for name in (*DEFINITIONS, OCAML[-1]):
        shutil.copy(FOLDER / name, folder)
    for name in DEFINITIONS:
        run(folder, "coqc", "-Q", ".", "RefEngine", name)
    return compile_program(folder)


def compile_program(folder: Path) -> Path:
    """Compile what Coq extracted in a folder; return the path of the program."""
    run(folder, "ocamlfind", "ocamlopt", "-w", "-a", *OCAML, "-o", "formal")
    return folder / "formal"


def run(folder: Path, *command: str) -> None:
    """Run a command in a folder. Raises CalledProcessError if it fails."""
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)


def ask(
    program: Path, cases: Iterable[Json], seconds: float | None = None
) -> Iterator[dict[str, Any]]:
    """Yield what the program replies to each case: its `reports`, or an `error`."""
    lines = "".join(f"{json.dumps(case)}\n" for case in cases)
    ran = subprocess.run(
        [program], input=lines, capture_output=True, text=True, check=True, timeout=seconds
    )
    return map(json.loads, ran.stdout.splitlines())


class ProgramVerdict(Verdict):
    """A certificate that the checker checks first, and the program then."""

    def __init__(self, program: Path, document: Json) -> None:
        super().__init__(document)
        self.program = program
        self.numbers: dict[Any, int] = {}
        self.elements = document["streams"][self.query["window"]["stream"]]["elements"]
        self.graphs = [[[*map(self.number, triple)] for triple in e[4]] for e in self.elements]
        name = self.query["window"]["name"]
        self.graph_name = 0 if name is None else self.number(name)
        self.places = {element[2]: place for place, element in enumerate(self.elements)}

    def check(self) -> str:
        """Check the certificate, and return what it certifies."""
        return f"{super().check()}; {self.check_by_program()}"

    def check_by_program(self) -> str:
        """Hold the evaluations of all attempts to those of the program; return how many there are.

        The program is asked twice. At first each evaluation is a report, whatever its answer: these
        say over which datasets it needs answers.
        """
        runs = [Run(self.document, one["semantics"], one["t0"]) for one in self.attempts]
        begun = [(run.arrivals, run.window.start) for run in runs if run.arrivals]
        if sum((every[-1] - start) * len(every) for every, start in begun) > MOST_STEPS:
            raise NotCertified("too many instants and elements for the program that Coq extracts")
        every = self.ask([self.case(one, "count", is_every=True) for one in self.attempts])
        for attempt, run, reports in zip(self.attempts, runs, every, strict=True):
            compare(
                attempt,
                [
                    (one["t"], run.arrivals[one["arrival"]], one["window"], one["content"])
                    for one in attempt["evaluations"]
                ],
                [(one["t"], one["trigger"], *one["windows"], self.content(one)) for one in reports],
            )
        pairs = zip(self.attempts, every, strict=True)
        emitted = self.ask([self.case(one, self.table(one, reports)) for one, reports in pairs])
        for attempt, reports in zip(self.attempts, emitted, strict=True):
            outputs = [one for one in attempt["evaluations"] if one["emitted"]]
            compare(
                attempt,
                [(one["t"], sorted(self.rows(one["output"]))) for one in outputs],
                [(one["t"], sorted(one["rows"])) for one in reports],
            )
        count = sum(len(attempt["evaluations"]) for attempt in self.attempts)
        return f"the definitions in Coq give the same {count} evaluations"

    def ask(self, cases: list[Json]) -> list[list[Json]]:
        """Return the reports of each case."""
        try:
            return [reply["reports"] for reply in ask(self.program, cases, SECONDS)]
        except subprocess.SubprocessError as error:
            raise NotCertified(f"the program that Coq extracts ended: {error}") from None

    def case(self, attempt: Json, body: Any, *, is_every: bool = False) -> Json:
        """Return the question of an attempt as the program reads it."""
        semantics = {name: "none" if x is None else x for name, x in attempt["semantics"].items()}
        semantics |= {"t0": attempt["t0"], **({"empty": "emit"} if is_every else {})}
        window, stream = self.query["window"], self.number("stream")
        elements = [
            {"stream": stream, "app": app, "end": end, "sys": sys, "batch": batch, "graph": graph}
            for (app, end, sys, batch, _), graph in zip(self.elements, self.graphs, strict=True)
        ]
        return {
            "semantics": semantics,
            "windows": [{**window, "stream": stream, "name": self.graph_name}],
            "registered": self.query["registered"],
            "operator": "Rstream" if is_every else self.query["r2s"],
            "static": [],
            "patterns": [],
            "selected": [],
            "body": body,
            "elements": elements,
        }

    def table(self, attempt: Json, reports: list[Json]) -> list[Any]:
        """Return the datasets of all reports, with the answers that the certificate states. For
        those after the evaluations of an attempt that is cut off it states none: [] stands there.
        """
        contents = [self.content(report) for report in reports]
        kept = [[], *contents][: len(contents)]
        rests = [sorted({*now} & {*before}) for now, before in zip(contents, kept, strict=True)]
        answers: dict[Any, Any] = {self.dataset(places): [] for places in (*contents, *rests)}
        is_append = (self.query["r2s"] or attempt["semantics"]["r2s"]) == "append"
        for said, content, rest in zip(attempt["evaluations"], contents, rests, strict=False):
            answers[self.dataset(content)] = self.rows(self.document["answers"][said["answer"]])
            if is_append:
                answers[self.dataset(rest)] = self.rows(self.document["answers"][said["base"]])
        return [[sorted(dataset), rows] for dataset, rows in answers.items()]

    def dataset(self, places: list[int]) -> frozenset[tuple[int, ...]]:
        """Return the quads of elements. The default graph is 0."""
        triples = [triple for place in places for triple in self.graphs[place]]
        return frozenset((*triple, self.graph_name) for triple in triples)

    def content(self, report: Json) -> list[int]:
        """Return the places of the elements that the window of a report holds."""
        return [self.places[sys] for sys in report["contents"][0]]

    def rows(self, rows: Json) -> list[list[int]]:
        """Return rows by value, each as one number: R2S compares them, and nothing else."""
        return [[self.number(row)] for row in self.bag(rows).elements()]

    def number(self, name: Any) -> int:
        """Return the number that stands for a name, a term or a row."""
        return self.numbers.setdefault(name, len(self.numbers) + 1)


def compare(attempt: Json, said: list[Any], found: list[Any]) -> None:
    """Raise Wrong unless an attempt says what the program found, or begins so and is cut off."""
    most = None if attempt["complete"] else len(said)
    for ours, theirs in zip_longest(said, found[:most]):
        demand(ours == theirs, f"t0={attempt['t0']}: the definitions in Coq give {theirs}")
