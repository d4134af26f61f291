"""EARL: documents are as its vocabulary and our shapes have them, and say what is known of each
rule.
"""

from __future__ import annotations

from collections.abc import Callable

import pyshacl
import pytest
import rdflib
import reports
from rdflib import Literal, URIRef
from rdflib.namespace import RDF, RDFS, SH, XSD
from reports import MIXED, WRONG, result

from conformance.report import earl, source
from conformance.verdict.results import DiagnosedCause
from refengine.model.errors import RefengineError

# The facts are those of the EARL 1.0 Schema and of DOAP: classes, properties with domain and range,
# instances.

EARL = rdflib.Namespace("http://www.w3.org/ns/earl#")
DOAP = rdflib.Namespace("http://usefulinc.com/ns/doap#")
DCT = rdflib.Namespace("http://purl.org/dc/terms/")
SUPER = {EARL.TestRequirement: EARL.TestCriterion, EARL.TestCase: EARL.TestCriterion}
CLASSES = {
    EARL.Assertion,
    EARL.Assertor,
    EARL.Software,
    EARL.TestSubject,
    EARL.TestCriterion,
    EARL.TestResult,
    DOAP.Project,
    *SUPER,
}
INSTANCES = {
    EARL.automatic: EARL.TestMode,
    **dict.fromkeys(
        (EARL.passed, EARL.failed, EARL.cantTell, EARL.inapplicable, EARL.untested),
        EARL.OutcomeValue,
    ),
}
PROPERTIES = {  # domain and range; None: any, "literal": a literal
    EARL.assertedBy: (EARL.Assertion, EARL.Assertor),
    EARL.subject: (EARL.Assertion, EARL.TestSubject),
    EARL.test: (EARL.Assertion, EARL.TestCriterion),
    EARL.result: (EARL.Assertion, EARL.TestResult),
    EARL.mode: (EARL.Assertion, EARL.TestMode),
    EARL.outcome: (EARL.TestResult, EARL.OutcomeValue),
    EARL.info: (EARL.TestResult, "literal"),
    DOAP.name: (DOAP.Project, "literal"),
    DCT.title: (None, "literal"),
    DCT.description: (None, "literal"),
    RDFS.seeAlso: (None, None),
    DCT.date: (None, "literal"),
    DCT.isPartOf: (EARL.TestCriterion, EARL.TestCriterion),
}
ONCE = {
    EARL.Assertion: (EARL.assertedBy, EARL.subject, EARL.test, EARL.result, EARL.mode),
    EARL.TestResult: (EARL.outcome,),
}


def graph(*found, date: str | None = None, spec_iri: str | None = None) -> rdflib.Graph:
    lines = earl.turtle(source.of(found), date, spec_iri)
    return rdflib.Graph().parse(data="\n".join(lines), format="turtle")


def unlike_the_vocabulary(found: rdflib.Graph) -> list[str]:
    """What is not as EARL and DOAP have it."""
    problems = []

    def kinds(node) -> set:
        own = set(found.objects(node, RDF.type)) | (
            {INSTANCES[node]} if node in INSTANCES else set()
        )
        return own | {SUPER[kind] for kind in own if kind in SUPER}

    for s, p, o in found:
        if p == RDF.type:
            problems += [] if o in CLASSES else [f"no class {o}"]
            continue
        if p not in PROPERTIES:
            problems.append(f"no property {p}")
            continue
        domain, range_ = PROPERTIES[p]
        problems += [] if domain is None or domain in kinds(s) else [f"{p} of {s}"]
        if range_ is None:
            continue
        right = isinstance(o, rdflib.Literal) if range_ == "literal" else range_ in kinds(o)
        problems += [] if right else [f"{p} is {o}"]
    for kind, properties in ONCE.items():
        for node in found.subjects(RDF.type, kind):
            problems += [
                f"{p} of {node}, not once"
                for p in properties
                if len(list(found.objects(node, p))) != 1
            ]
    return problems


def outcome_of(found: rdflib.Graph, assertion: str) -> tuple[str, str]:
    """Return the outcome and the information of an assertion, from its IRI without `urn:…:`."""
    told = found.value(URIRef(f"urn:refengine:{assertion}"), EARL.result)
    outcome, information = found.value(told, EARL.outcome), found.value(told, EARL.info)
    return str(outcome).removeprefix(EARL), str(information)


HOSTILE = (reports.hostile(), reports.hostile("\"\\\n\r\t\u0000\ud800'''é>"))
HOLDS = result(caught_wrong_engine="WIN-2 both borders")


def test_earl_is_as_its_vocabulary_has_it():
    found = graph(*MIXED, *HOSTILE, date="2026-02-28", spec_iri="https://example.org/SPEC.md")
    assert unlike_the_vocabulary(found) == []
    cases = len(MIXED) + len(HOSTILE) + 4  # `other` was not asked four cases that `mine` was
    rules = 5 + 5 + len(HOSTILE)
    assert len(list(found.subjects(RDF.type, EARL.Assertion))) == cases + rules
    broken = rdflib.Graph() + found
    broken.add((URIRef("urn:x"), EARL.outcome, EARL.passed))
    broken.add((URIRef("urn:x"), EARL.colour, EARL.passed))
    assert len(unlike_the_vocabulary(broken)) == 2, "the check itself sees what is wrong"


@pytest.mark.parametrize(
    ("outcome", "written"),
    [
        ("pass", "passed"),
        ("fail", "failed"),
        ("unsupported", "inapplicable"),
        ("disputed", "cantTell"),
        ("error", "cantTell"),
        ("unstable", "cantTell"),
    ],
)
def test_every_outcome_of_a_case_has_one_of_earl(outcome, written):
    found = graph(result(case="c", outcome=outcome))
    assert outcome_of(found, "result:mine:corpus:c")[0] == written


def test_a_case_that_only_another_engine_was_asked_is_untested():
    found = graph(result(), result(case="b"), result("other"))
    outcome, information = outcome_of(found, "result:other:corpus:b")
    assert outcome == "untested" and information.startswith("not asked: ")


def test_a_known_crash_is_no_wrong_answer_but_breaks_its_rule():
    crash = (reports.KnownDeviation("it crashes", "https://example.org", ("REP-1",)),)
    crashed = result(case="c", rule="REP-1", outcome="error", evidence=None, known=crash)
    found = graph(HOLDS, crashed)
    outcome, information = outcome_of(found, "result:mine:corpus:c")
    assert outcome == "cantTell"
    assert information.endswith("known: it crashes")
    assert outcome_of(found, "verdict:mine:REP-1") == (
        "failed",
        "REP-1 broken, known: it crashes (c)\nknown: the engine's file states this deviation",
    )


def test_each_status_of_a_rule_has_an_outcome_of_earl():
    unexplained = result(case="b", rule="WIN-3", outcome="fail", evidence=WRONG)
    broken = result(case="g", rule="MOD-1", outcome="fail", causes=(reports.CLOSURE,))
    late = (reports.KnownDeviation("it is late", "https://example.org", ("REP-1",)),)
    known = result(case="c", rule="WIN-4", outcome="fail", known=late)
    silent = result(
        case="d",
        rule="WIN-5",
        caught_wrong_engine="WIN-5 x",
        evidence=reports.evidence([], reports.DUE),
    )
    unsupported = result(
        case="e", rule="WIN-6", outcome="unsupported", caught_wrong_engine="WIN-6 x", evidence=None
    )
    unasked = result(case="f", rule="WIN-7")
    found = graph(HOLDS, unexplained, known, silent, unsupported, unasked, result("other"))
    assert outcome_of(found, "verdict:mine:WIN-2") == (
        "passed",
        "WIN-2 holds: the wrong engine 'WIN-2 both borders' would have failed (WIN-2-a-border)",
    )
    assert outcome_of(found, "verdict:mine:WIN-3") == (
        "cantTell",
        "WIN-3 fails, unexplained: 1 case fails, and no cause is known (b)",
    )
    assert outcome_of(graph(broken), "verdict:mine:WIN-2") == (
        "failed",
        "WIN-2 broken: closure is [] (WIN-2) (g)",
    )
    assert outcome_of(found, "verdict:mine:REP-1") == (
        "failed",
        "REP-1 broken, known: it is late (c)\nknown: the engine's file states this deviation",
    )
    assert outcome_of(found, "verdict:mine:WIN-5") == (
        "untested",
        "WIN-5 not shown: 1 case silent",
    )
    assert outcome_of(found, "verdict:mine:WIN-6") == (
        "inapplicable",
        "WIN-6 not in reach: 1 case unsupported",
    )
    assert outcome_of(found, "verdict:mine:WIN-7") == (
        "untested",
        "WIN-7 not asked: no case of it would catch a wrong engine under this semantics",
    )
    unexamined, without_results = (
        outcome_of(found, f"verdict:other:{rule}") for rule in ("WIN-2", "WIN-3")
    )
    assert unexamined == ("untested", f"WIN-2 not asked: {earl.NOT_EXAMINED}")
    assert without_results == ("untested", f"WIN-3 not asked: {earl.NO_RESULT}")


def test_a_rule_of_the_suite_is_a_criterion_without_a_verdict():
    """Also where only another engine has a result of its case."""
    judged = result(case="ORA-9-a", rule="ORA-9", outcome="fail", evidence=WRONG)
    found = graph(HOLDS, judged, result("other"))
    assert found.value(URIRef("urn:refengine:rule:ORA-9"), DCT.title)
    assert outcome_of(found, "result:mine:corpus:ORA-9-a")[0] == "failed"
    for engine in ("mine", "other"):
        assert (URIRef(f"urn:refengine:verdict:{engine}:ORA-9"), None, None) not in found
    assert unlike_the_vocabulary(found) == []
    assert pyshacl.validate(found, shacl_graph=SHAPES)[0]


def test_a_rule_has_its_text_and_a_link_if_it_is_told_where_the_specification_is():
    rule = URIRef("urn:refengine:rule:WIN-2")
    found = graph(result(), result(case="x", rule="MINE-1"), spec_iri="https://example.org/SPEC.md")
    assert str(found.value(rule, DCT.title)) == (
        "WIN-2 The closure says which of the borders o and c belong to a window [o, c]"
    )
    assert "*Example* o = 0, c = 10." in found.value(rule, DCT.description)
    assert "**WIN-3**" not in found.value(rule, DCT.description)
    assert str(found.value(rule, RDFS.seeAlso)) == (
        "https://example.org/SPEC.md#4-windows-s2r--refenginecorewindowpy-silencepy"
    )
    unknown = URIRef("urn:refengine:rule:MINE-1")
    assert str(found.value(unknown, DCT.description)) == "SPEC.md has no rule of this name."
    assert (unknown, RDFS.seeAlso, None) not in found
    assert (None, RDFS.seeAlso, None) not in graph(result())


@pytest.mark.parametrize("iri", ["SPEC.md", "javascript:x", "https://a.example/#x", "https://a >"])
def test_an_address_that_is_none_is_refused(iri):
    with pytest.raises(RefengineError, match="--spec-iri: usage: an address is https://HOST/PATH"):
        graph(result(), spec_iri=iri)


def test_names_in_iris_are_bounded_and_stay_apart():
    long = "x" * 100_000
    found = graph(result(engine=long + "1", case=long), result(engine=long + "2", case=long))
    subjects = {str(s) for s in found.subjects(RDF.type, EARL.TestSubject)}
    assert len(subjects) == 2
    assert all(len(term) < 2000 for triple in found for term in triple if isinstance(term, URIRef))


def test_earl_says_rule_case_engine_and_no_date_of_its_own():
    found = graph(result(outcome="fail", known=reports.KNOWN[:1]))
    case = URIRef("urn:refengine:case:corpus:WIN-2-a-border")
    rule = URIRef("urn:refengine:rule:WIN-2")
    assert (case, DCT.isPartOf, rule) in found and (None, DCT.date, None) not in found
    assert outcome_of(found, "result:mine:corpus:WIN-2-a-border") == (
        "failed",
        "fail: as it is\nknown: it answers\\nlate",
    )
    engine = URIRef("urn:refengine:engine:mine")
    assert (engine, DOAP.name, Literal("mine")) in found
    dated = graph(result(), date="2026-02-28")
    assert (None, DCT.date, Literal("2026-02-28", datatype=XSD.date)) in dated


def test_a_case_of_no_rule_is_part_of_its_benchmark():
    found = graph(MIXED[5])
    benchmark = URIRef("urn:refengine:benchmark:csrbench")
    assert (URIRef("urn:refengine:case:csrbench:Q1"), DCT.isPartOf, benchmark) in found
    assert not list(found.subjects(RDF.type, EARL.TestRequirement))


def test_a_fail_says_what_the_diagnosis_has_found():
    causes = (DiagnosedCause("closure is [] (WIN-2)", ("WIN-2",), True, ""),)
    found = graph(
        result(outcome="fail", evidence=WRONG, causes=causes, explanation="fail: " + "x" * 9999)
    )
    _, information = outcome_of(found, "result:mine:corpus:WIN-2-a-border")
    assert information.endswith("\nfound by the diagnosis: closure is [] (WIN-2)")


def test_a_pass_says_if_it_shows_nothing():
    silent = result(case="silent", caught_wrong_engine="WIN-2 x", evidence=reports.evidence([], []))
    found = graph(HOLDS, silent, result(case="weak"), MIXED[7])
    lines = {
        case: outcome_of(found, f"result:{case}")[1].splitlines()[1:]
        for case in (
            "mine:corpus:WIN-2-a-border",
            "mine:corpus:silent",
            "mine:corpus:weak",
            "other:csrbench:Q1",
        )
    }
    assert list(lines.values()) == [[], [earl.NO_ROW], [earl.SHOWS_NOTHING], []]


# The shapes of SHACL

SHAPES = rdflib.Graph().parse(earl.SHAPES)
SEVERAL = graph(
    *MIXED, *HOSTILE, HOLDS, result("third", caught_wrong_engine="WIN-2 x"), date="2026-02-28"
)
ASSERTION = URIRef("urn:refengine:result:mine:corpus:WIN-2-a-border")
ENGINE = URIRef("urn:refengine:engine:mine")
RULE = URIRef("urn:refengine:rule:WIN-2")
CASE = URIRef("urn:refengine:case:corpus:WIN-2-a-border")
STRANGER = URIRef("urn:stranger")
RESULT = SEVERAL.value(ASSERTION, EARL.result)


def broken_shapes(document: rdflib.Graph) -> set[tuple[URIRef, URIRef]]:
    """Return the property and the kind of constraint of each violation of the shapes."""
    _, report, _ = pyshacl.validate(document, shacl_graph=SHAPES)
    return {
        (
            report.value(violation, SH.resultPath),
            report.value(violation, SH.sourceConstraintComponent),
        )
        for violation in report.subjects(RDF.type, SH.ValidationResult)
    }


def test_a_document_of_several_engines_is_of_the_shapes():
    assert broken_shapes(SEVERAL) == set()
    assert broken_shapes(graph()) == set()


Break = Callable[[rdflib.Graph], object]
MISSING, MANY = SH.MinCountConstraintComponent, SH.MaxCountConstraintComponent
OF_CLASS, ONE_OF = SH.ClassConstraintComponent, SH.InConstraintComponent


def without(subject, path) -> Break:
    return lambda document: document.remove((subject, path, None))


def with_more(subject, path, value) -> Break:
    return lambda document: document.add((subject, path, value))


def instead(subject, path, value) -> Break:
    return lambda document: document.set((subject, path, value))


@pytest.mark.parametrize(
    ("path", "kind", "change"),
    [
        *(
            (path, MISSING, without(ASSERTION, path))
            for path in (EARL.assertedBy, EARL.subject, EARL.test, EARL.mode, EARL.result)
        ),
        (EARL.assertedBy, MANY, with_more(ASSERTION, EARL.assertedBy, STRANGER)),
        (EARL.subject, MANY, with_more(ASSERTION, EARL.subject, STRANGER)),
        (EARL.test, MANY, with_more(ASSERTION, EARL.test, RULE)),
        (EARL.mode, MANY, with_more(ASSERTION, EARL.mode, EARL.manual)),
        (EARL.result, MANY, with_more(ASSERTION, EARL.result, STRANGER)),
        (EARL.assertedBy, OF_CLASS, instead(ASSERTION, EARL.assertedBy, STRANGER)),
        (EARL.subject, OF_CLASS, instead(ASSERTION, EARL.subject, RULE)),
        (EARL.test, SH.OrConstraintComponent, instead(ASSERTION, EARL.test, ENGINE)),
        (EARL.mode, SH.HasValueConstraintComponent, instead(ASSERTION, EARL.mode, EARL.manual)),
        (EARL.result, OF_CLASS, instead(ASSERTION, EARL.result, STRANGER)),
        (EARL.outcome, MISSING, without(RESULT, EARL.outcome)),
        (EARL.outcome, MANY, with_more(RESULT, EARL.outcome, EARL.failed)),
        (EARL.outcome, ONE_OF, instead(RESULT, EARL.outcome, EARL.NotTested)),
        (EARL.info, MISSING, without(RESULT, EARL.info)),
        (DCT.date, SH.DatatypeConstraintComponent, instead(RESULT, DCT.date, Literal("today"))),
        (DCT.isPartOf, MISSING, without(CASE, DCT.isPartOf)),
        (DCT.isPartOf, OF_CLASS, instead(CASE, DCT.isPartOf, STRANGER)),
        (DCT.isPartOf, SH.NotConstraintComponent, instead(CASE, DCT.isPartOf, CASE)),
        (DCT.title, MISSING, without(CASE, DCT.title)),
        (DCT.title, MISSING, without(RULE, DCT.title)),
        (DCT.description, MISSING, without(RULE, DCT.description)),
        (
            DCT.description,
            SH.MinLengthConstraintComponent,
            instead(RULE, DCT.description, Literal("")),
        ),
        (DOAP.name, MISSING, without(ENGINE, DOAP.name)),
        (DOAP.name, MANY, with_more(ENGINE, DOAP.name, Literal("another"))),
    ],
)
def test_a_broken_document_is_not_of_the_shapes(path, kind, change):
    document = rdflib.Graph() + SEVERAL
    change(document)
    assert (path, kind) in broken_shapes(document)


def test_a_rule_without_a_verdict_is_not_of_the_shapes():
    document = rdflib.Graph() + SEVERAL
    document.remove((None, EARL.test, RULE))
    messages = pyshacl.validate(document, shacl_graph=SHAPES)[2]
    assert "A rule has a verdict for some engine." in messages
