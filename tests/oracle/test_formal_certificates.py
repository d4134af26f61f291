"""Certificates that the program extracted from the formal definitions checks."""

from __future__ import annotations

import copy
import json
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import certified
import pytest
from certified import Document, of_expectations, of_fixture, of_judgements, says
from conftest import needs_commands

from conformance import corpus
from conformance.__main__ import main
from conformance.certificates import checker, formal

pytestmark = pytest.mark.xdist_group("formal")
with_coq = needs_commands(*formal.COMMANDS)
# what changes the evaluations and outputs; the rest of a certificate is the checker's alone
MUTATIONS = (
    certified.drop_evaluation,
    certified.repeat_evaluation,
    certified.change_instant,
    certified.change_content,
    certified.change_border,
    certified.change_rows,
    certified.change_emitted,
    certified.change_t0,
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return formal.build(tmp_path_factory.mktemp("formal"))


@pytest.fixture(scope="module")
def right() -> list[Document]:
    """Certificates of the corpus that the checker accepts."""
    made = [
        document
        for case in corpus.cases()[::2]
        for _, document in (*of_judgements(case), *of_expectations(case))
    ]
    return [document for document in made if says(document).startswith("OK")]


def said_by(program: Path, document: Document) -> str:
    """What the program alone says of a certificate: it is not checked otherwise."""
    try:
        return formal.ProgramVerdict(program, document).check_by_program()
    except checker.Wrong as wrong:
        return f"WRONG {wrong}"
    except checker.NotCertified as reason:
        return f"not certified: {reason}"
    except IndexError:  # an arrival that the stream does not have
        return "WRONG"


@with_coq
def test_the_program_agrees_with_certificates_of_the_corpus(program: Path, right: list[Document]):
    """Those of append, of periodic and of far instants are among them."""
    said = Counter[str]()
    for document in right:
        line = said_by(program, document)
        assert not line.startswith("WRONG"), (document["query"], line)
        is_compared = line.startswith("the definitions")
        said["compared" if is_compared else line] += 1
        semantics = document["attempts"][0]["semantics"]
        said[semantics["r2s"]] += is_compared
        said["periodic"] += is_compared and "periodic" in semantics["report"]
    assert said["compared"] > 200
    assert min(said[one] for one in ("append", "periodic", "Istream", "Dstream")) > 0


def is_whole(attempt: Document) -> bool:
    """Whether every evaluation of an attempt is stated, and emitted, at small instants."""
    most = max((abs(one["t"]) for one in attempt["evaluations"]), default=0)
    is_emitted = all(one["emitted"] for one in attempt["evaluations"])
    return attempt["complete"] and is_emitted and most < 10_000


@with_coq
@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_mutated_certificate_is_refused_by_the_program(
    program: Path, right: list[Document], mutation: Callable[[random.Random, Document], bool]
):
    """Where every evaluation is stated and emitted. Another t0 may give the same windows."""
    rng = random.Random(7)
    whole = [one for one in right if all(map(is_whole, one["attempts"]))]
    refused = 0
    for document in rng.sample(whole, 30):
        other = copy.deepcopy(document)
        if mutation(rng, other):
            line = said_by(program, other)
            is_refused = line.startswith("WRONG")
            assert is_refused or mutation is certified.change_t0, (line, other["query"])
            refused += is_refused
    assert refused > 10


@with_coq
def test_the_command_holds_a_certificate_to_the_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """A wrong certificate that a wrong checker lets pass: three evaluations, one of them less."""
    path = tmp_path / "it.json"
    document = copy.deepcopy(of_fixture()["csparql Q1"][1])
    path.write_text(json.dumps(document))
    assert main(["check", "--formal", str(path)]) == 0
    assert "the definitions in Coq give the same 3 evaluations" in capsys.readouterr().out
    del document["attempts"][0]["evaluations"][1]
    path.write_text(json.dumps(document))
    monkeypatch.setattr(checker.Verdict, "check", lambda self: "pass")
    assert main(["check", str(path)]) == 0
    assert main(["check", "--formal", str(path)]) == 1
    assert "WRONG t0=-11000: the definitions in Coq give" in capsys.readouterr().out


def test_without_coq_one_line_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert main(["check", "--formal", "it.json"]) == 3
    said = capsys.readouterr()
    assert said.out == "" and said.err == (
        "conformance: --formal: usage: needs Coq and OCaml (on Debian: coq, ocaml, "
        "ocaml-findlib): no coqc\n"
    )


def test_too_much_for_the_program_is_not_certified(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(formal, "MOST_STEPS", 1_000)
    line = said_by(Path("no program"), of_fixture()["csparql Q1"][1])
    assert line.startswith("not certified: too many instants")
