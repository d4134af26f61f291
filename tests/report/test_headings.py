"""Each cause that a diagnosis can find has one plain sentence."""

from __future__ import annotations

import re

from reports import WRONG, result

from conformance.corpus.rule_texts import rule_texts
from conformance.harness.engine_file import engines
from conformance.report import causes, headings, markdown, page, source
from conformance.report.headings import heading_of, sentence_of
from conformance.report.headline import headlines
from conformance.suite.candidates import (
    WRONG_INSTANTS,
    WRONG_WINDOWS,
    Candidate,
    change_candidates,
    simple_defect_candidates,
    wrong_engine_candidates,
)
from conformance.suite.recorded_case import RecordedCase
from conformance.verdict.results import DiagnosedCause
from conformance.wrong_engines import WRONG_ENGINES


def candidates() -> list[Candidate]:
    """Return every candidate, for any engine that is shipped."""
    profiles = [None, *(one.profile for one in engines().values() if one.profile is not None)]
    found = [
        *(one for profile in profiles for one in change_candidates(profile, ())),
        *simple_defect_candidates(),
        *wrong_engine_candidates(rule_texts()),
        WRONG_WINDOWS,
        WRONG_INSTANTS,
    ]
    return list({one.text: one for one in found}.values())


def name_of(candidate: Candidate) -> str:
    """Return the name by which a sentence is found."""
    if candidate.wrong_engine is not None:
        return candidate.wrong_engine.full_name
    return candidate.text


def test_each_candidate_has_one_sentence_of_its_own():
    names = [name_of(one) for one in candidates()]
    assert len(names) > 200
    sentences = {name: sentence_of(name) for name in names}
    assert [name for name, sentence in sentences.items() if not sentence] == []
    assert len(set(sentences.values())) == len(names), "two have the same"
    of_wrong_engines = {one.full_name for one in WRONG_ENGINES}
    assert headings.SENTENCES.keys() <= {*names, *of_wrong_engines}, "what no candidate is"
    for sentence in sentences.values():
        assert re.fullmatch(r"Its? [^.]*[^. ]", sentence)
        assert len(sentence) <= headings.LONGEST


def test_the_reason_of_each_cause_leads_to_its_sentence():
    """As a diagnosis writes it into the results."""
    for candidate in candidates():
        reason = reason_of(candidate)
        heading = heading_of(reason)
        assert heading.startswith(sentence_of(name_of(candidate)))
        if candidate.defect is None and not candidate.misstates_windows:
            assert name_of(candidate) in heading or candidate.misstates_instants


def reason_of(candidate: Candidate) -> str:
    """Return the reason that a deviation by a candidate has."""
    if candidate.change is not None:
        return f"its semantics is {candidate.text}"  # its fields depend on a case
    cases: list[RecordedCase] = []
    return candidate.deviation(cases).reason


def test_what_no_candidate_is_stays_as_it_is():
    for reason in ("closure is [] (WIN-2)", "its semantics is x=y", "does as the wrong engine 'x'"):
        assert heading_of(reason) == reason


CLOSED = DiagnosedCause("its semantics is closure=[]", ("WIN-2",), True, "")
UNTYPED = DiagnosedCause(
    "does as the wrong engine 'CMP-1 datatypes are not read' (made to read none)",
    ("CMP-1", "ORA-9"),
    False,
    "",
)


def test_every_list_of_causes_has_the_same_headings_in_the_same_order():
    """Of two causes of equally many fails the first by its name stands first."""
    fails = [
        result(case=case, outcome="fail", evidence=WRONG, causes=(cause,))
        for case, cause in (("a", UNTYPED), ("b", UNTYPED), ("c", UNTYPED))
    ]
    fails += [result(case=case, outcome="fail", evidence=WRONG, causes=(CLOSED,)) for case in "def"]
    found = source.of(fails)
    both = "It counts both borders of each window (closure=[])"
    untyped = "It reads no datatypes (CMP-1 datatypes are not read)"
    [diagnosis] = causes.diagnoses(found.entries)
    assert [(cause.reason, cause.rules) for cause in diagnosis.causes] == [
        (both, "WIN-2"),
        (untyped, "CMP-1"),
    ], "no rule of the suite is broken"
    [headline] = headlines(found.entries)
    assert headline.findings == (
        f"3 of 6 fails explained: i{both[1:]}; breaks WIN-2",
        f"3 of 6 fails explained: i{untyped[1:]}; breaks CMP-1",
    )
    html = page.page(found)
    assert html.index(f"<b>{both}</b>") < html.index(f"<b>{untyped}</b>")
    assert f'<option value="={both}">' in html
    assert "does as the wrong engine" not in html
    text = "\n".join(markdown.markdown_lines(found))
    assert "It counts both borders of each window \\(closure=\\[\\]\\)" in text
