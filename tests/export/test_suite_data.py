"""The exported suite: its manifests are of the shapes and its JSON of the schemas, its files say
what the cases say, and the same suite gives the same bytes.

A sample is exported: cases of every kind. `make export` does the same with all of them
(tests/whole_export.py).
"""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import exported
import pytest
import rdflib
import reports
from rdflib.namespace import RDF

import conformance.__main__
from conformance import corpus, schemas
from conformance.corpus.iris import iri
from conformance.export import manifest, suite_folder
from conformance.export.stream_texts import BATCH, messages_text, trig_text
from conformance.harness import engine_file
from conformance.report import earl, source
from refengine import Element, Stream
from refengine.core.semantics import FIELDS
from refengine.model import compare
from refengine.model.errors import RefengineError, Unsupported
from refengine.rdf.sources import Text
from refengine.rdf.streams import read_stream

# one of each kind: what it is about stands in the name of its file
SAMPLE = (
    "adaptive/ada-2-late.toml",
    "bounded/bnd-3-room-for-two.toml",
    "compare/cmp-1-boolean.toml",
    "dialects/dia-4-stated.toml",
    "engine/eng-3-as-many-as-the-bound.toml",
    "model/mod-2-greatest-before.toml",
    "model/mod-5-punctuation.toml",
    "oracle/ora-2-listed.toml",
    "oracle/ora-8-both-confirm.toml",
    "query/qry-1-two-prefixes-of-one-namespace.toml",
    "r2r/r2r-1-blank-node-across-elements.toml",
    "r2r/r2r-8-blank-nodes-of-two-streams.toml",
    "r2s/r2s-2-row-that-comes-back.toml",
    "window/win-2-right-open.toml",
    "window/win-20-of-rows.toml",
)
MF = rdflib.Namespace(manifest.PREFIXES["mf"])
TERMS = rdflib.Namespace(manifest.TERMS)


def sample():
    """The cases of the sample, those of the suite `windows` among them."""
    return [case for case in suite_folder.all_cases() if case.path in SAMPLE]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    found = tmp_path_factory.mktemp("export") / "suite"
    rsp_js = engine_file.engine("rsp-js")
    suite_folder.export_suite(found, sample(), (rsp_js,))
    return found


@pytest.fixture(scope="module")
def cases(folder):
    return exported.cases_in(folder)


@pytest.fixture
def graph(folder):
    return exported.manifests_of(folder)


# Forms


def test_the_sample_has_every_kind_of_case(cases):
    assert {kind for case in cases.values() for kind in case["kinds"]} == set(manifest.CLASSES)
    assert {case["suite"] for case in cases.values()} == {"corpus", "windows", "joins"}
    assert {part for case in cases.values() for part in case["as_written"]} >= {"expect", "query"}


def test_manifests_are_of_the_shapes(graph, folder):
    assert exported.broken_shapes(graph, folder) == set()


def test_a_manifest_that_lacks_something_is_not_of_the_shapes(graph, folder):
    needed = (MF.name, MF.result, TERMS.derivation, TERMS.json, TERMS.semantics, TERMS.outcome)
    removed = {*needed, TERMS.language, TERMS.graphs, TERMS.defect, TERMS.reason}
    for predicate in removed:
        subject = max(graph.subjects(predicate))
        graph.remove((subject, predicate, None))
    semantics = max(graph.objects(None, TERMS.semantics))
    for name in FIELDS:
        removed.add(TERMS[name])
        graph.remove((semantics, TERMS[name], None))
    # what lacks a part is no query or stream of an action, no action and no omission of its test
    query = rdflib.URIRef(manifest.PREFIXES["qt"] + "query")
    wholes = {MF.action, query, TERMS.stream, TERMS.leavesOut}
    assert exported.broken_shapes(graph, folder) == set(map(str, removed | wholes))


def test_json_is_of_the_schemas(cases, folder):
    validators = {name: schemas.validator(name) for name in ("exported-case", "exported-suite")}
    assert not list(validators["exported-suite"].iter_errors(exported.read(folder / "suite.json")))
    for case in cases.values():
        assert not list(validators["exported-case"].iter_errors(case))
        if "evaluations" in case:
            broken = {**case, "evaluations": [{"open": []}]}
            assert list(validators["exported-case"].iter_errors(broken))


def test_commands_are_of_the_protocol(cases):
    """With a seq, and with the semantics that `register` lacks."""
    for case in cases.values():
        for evaluation in [*case.get("evaluations", ()), *case.get("engines", {}).values()]:
            for command in evaluation.get("commands", ()):
                more = {"seq": 1}
                if command["command"] == "register" and "semantics" in evaluation:
                    more["semantics"] = evaluation["semantics"]
                assert not schemas.problems("command", {**command, **more})


def test_every_file_is_listed_and_every_listed_file_is_there(graph, folder):
    listed = {
        line.split("  ")[1]: line.split("  ")[0]
        for line in (folder / "SHA256SUMS").read_text().splitlines()
    }
    there = {
        str(path.relative_to(folder)): path
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("SHA256SUMS", "refengine-suite-0.1.0.tar.gz")
    }
    assert {
        name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in there.items()
    } == (listed)
    named = {
        str(value).removeprefix(folder.as_uri() + "/")
        for value in graph.objects()
        if str(value).startswith("file:")
    }
    assert named <= there.keys()
    used = {name for name in there if name.endswith((".trig", ".srj", ".nq", "case.json"))}
    assert used <= named


def test_the_vocabulary_has_every_term(graph):
    namespace = str(TERMS)
    used = {str(term) for triple in graph for term in triple[1:] if str(term).startswith(namespace)}
    declared = {str(subject) for subject in graph.subjects(RDF.type, None)}
    assert used - declared == set()
    requirements = set(graph.objects(None, MF.requires))
    assert requirements == set(graph.subjects(RDF.type, TERMS.Requirement))


def test_earl_and_the_manifests_name_a_case_alike(graph):
    case = next(case for case in sample() if case.path == "window/win-2-right-open.toml")
    lines = earl.turtle(source.of([reports.result(case=case.id, rule=case.rule)]))
    document = rdflib.Graph().parse(data="\n".join(lines), format="turtle")
    [test] = [
        test
        for test in document.objects(None, earl_term("test"))
        if (test, RDF.type, earl_term("TestCase")) in document
    ]
    assert (test, MF.name, rdflib.Literal(case.name)) in graph


def earl_term(name: str) -> rdflib.URIRef:
    return rdflib.URIRef(earl.PREFIXES["earl"] + name)


def test_files_that_have_iris_as_text_have_those_of_the_setting():
    for path in (manifest.VOCABULARY, manifest.SHAPES):
        assert f"@prefix rspt: <{manifest.TERMS}> ." in path.read_text(encoding="utf-8")
    for path in (manifest.SHAPES, earl.SHAPES):
        assert f"<{iri('shape')}:" in path.read_text(encoding="utf-8")


# What cases say


def test_expected_reports_are_those_of_the_case(cases, folder):
    """By hand in the case's file; in the two forms of SPARQL results here."""
    compared = 0
    for case in sample():
        table = cases[iri("case", suite_of(case), case.id)]
        blocks = [block for block in case.table.get("expect", ()) if "max_reports" not in block]
        found = table.get("evaluations", [])
        assert len(found) == len(blocks)
        for number, (block, evaluation) in enumerate(zip(blocks, found, strict=True), 1):
            section = case.path.partition("/")[0]
            path = folder / table["suite"] / section / case.id / f"reports-{number}.srj"
            [alternative] = evaluation["alternatives"]
            documents = exported.read(path)
            for stated, report, document in zip(
                block["reports"], alternative["reports"], documents, strict=True
            ):
                rows = corpus.relation(stated["rows"], corpus.query_of(case)).rows
                assert compare.equal(rows, exported.bag(report, {}), compare.Mode.TERM)
                assert document["results"]["bindings"] == report["rows"]
                assert document.get("window") == report.get("window") == stated.get("window")
                compared += 1
    assert compared > 15


def suite_of(case) -> str:
    return "joins" if "adaptive" in case.table else case.suite


def test_instants_are_those_of_the_window_by_its_closure(cases):
    """[o, c) has the instants from o to c - 1."""
    [case] = [
        case
        for case in cases.values()
        if case["file"].endswith("win-2-right-open.toml") and case["suite"] == "corpus"
    ]
    for evaluation in case["evaluations"]:
        assert evaluation["semantics"]["closure"] == "[)"
        for report in evaluation["alternatives"][0]["reports"]:
            opens, closes = report["window"]
            assert report["instants"] == [opens, closes - 1]


def test_judgements_are_those_of_a_comparison_with_the_alternatives(cases):
    decided = [
        (judgement["outcome"], exported.is_explained(judgement))
        for case in cases.values()
        for judgement in case.get("judgements", ())
        if judgement["decided_by"] == "comparison"
    ]
    assert {outcome for outcome, _ in decided} == {"pass", "fail"}
    assert all(found is (outcome == "pass") for outcome, found in decided)


def test_a_case_names_wrong_engines_that_it_catches(cases, folder):
    known = {one["name"]: one for one in exported.read(folder / "suite.json")["wrong_engines"]}
    [case] = [
        case for case in cases.values() if case["file"].endswith("r2s-2-row-that-comes-back.toml")
    ]
    assert case["wrong_engines"]
    assert all(case["rule"] in known[name]["rules"] for name in case["wrong_engines"])


# Streams

PLAIN = [(("<urn:a>", "<urn:p>", '"1"'), 3), (("<urn:a>", "<urn:p>", '"é\\n"@en'), -7)]


def drawn_stream() -> Stream:
    """Elements with a batch id, an interval and no triples."""
    [first, second] = [
        Element(frozenset({triple}), at, number) for number, (triple, at) in enumerate(PLAIN, 1)
    ]
    return Stream(
        (
            first._replace(batch=1),
            second._replace(batch=2, end=9),
            Element(frozenset(), 11, 3, 2),
        )
    )


@pytest.mark.parametrize("write", [trig_text, messages_text])
def test_a_stream_is_read_back(write):
    for stream in (drawn_stream(), Stream(())):
        assert read_stream(Text("s.trig", write(stream)), None, BATCH) == stream


def test_a_blank_node_of_several_elements_is_no_message():
    triples = [("_:n", "<urn:p>", "<urn:a>"), ("_:n", "<urn:p>", "<urn:b>")]
    elements = [Element(frozenset({one}), at, at) for at, one in enumerate(triples, 1)]
    [one, other] = read_stream(Text("s.trig", trig_text(Stream(tuple(elements)))))
    assert {*(s for s, _, _ in one.graph)} == {*(s for s, _, _ in other.graph)}
    with pytest.raises(Unsupported, match="_:n is in several elements"):
        messages_text(Stream(tuple(elements)))


# The folder


def test_the_archive_has_the_files_and_no_times(folder):
    with tarfile.open(folder / "refengine-suite-0.1.0.tar.gz") as archive:
        members = archive.getmembers()
        names = {member.name.partition("/")[2] for member in members}
        assert {(member.mtime, member.uid, member.uname) for member in members} == {(0, 0, "")}
    assert names == {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".gz"
    }


def test_the_same_cases_give_the_same_bytes(tmp_path):
    cases = [case for case in sample() if case.rule == "WIN-20"]
    first, second = (
        suite_folder.export_suite(tmp_path / name, cases) for name in ("first", "second")
    )
    assert first.digest == second.digest
    assert first.archive.read_bytes() == second.archive.read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"first", "second"}


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert conformance.__main__.main(["export", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"conformance: {tmp_path}: usage: is not empty, and nothing is overwritten; name a new "
        "folder\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_empty_folder_is_used(tmp_path):
    found = tmp_path / "suite"
    found.mkdir()
    suite_folder.export_suite(found, [case for case in sample() if case.rule == "WIN-20"])
    assert (found / "manifest.ttl").is_file()


def test_a_place_that_cannot_be_written_is_one_line(tmp_path, capsys, monkeypatch):
    """Before the work begins."""
    place = tmp_path / "file"
    place.write_text("mine")
    refused = {place: "Not a directory", place / "suite": "Not a directory"}
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    for target, why in {**refused, tmp_path / "more" / "suite": "Permission denied"}.items():
        assert conformance.__main__.main(["export", str(target)]) == 2
        assert capsys.readouterr().err == (f"conformance: {target}: usage: cannot write: {why}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_interrupt_leaves_nothing(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "conformance", "export", str(tmp_path / "suite")],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("conformance: putting the cases")
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (130, "conformance: interrupted; nothing was written\n")
    assert list(tmp_path.iterdir()) == []


def test_an_engine_that_is_sent_its_semantics_has_no_own(tmp_path):
    with pytest.raises(RefengineError, match="--engine reference: usage: is sent its semantics"):
        suite_folder.export_suite(tmp_path / "suite", [], (engine_file.engine("reference"),))
