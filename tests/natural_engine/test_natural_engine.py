"""An engine written from PROTOCOL.md and SPEC.md alone: it is right, until a defect is chosen.

Its defects are those that programmers of stream engines make. They were named and described without
knowing what the diagnosis can name, so that the diagnosis can be judged by them.
"""

import re
from pathlib import Path

import pytest

import conformance

FOLDER = Path(__file__).parent


@pytest.mark.parametrize("file", ["csparql.toml", "cqels.toml"])
def test_the_engine_is_right_without_a_defect(file):
    results = conformance.check_engine(FOLDER / file)
    assert {result.outcome for result in results} == {"pass", "unsupported"}
    assert sum(result.outcome == "pass" for result in results) >= 360


def test_each_defect_is_named_in_one_sentence_of_at_most_15_words_and_is_in_the_code():
    listed = (FOLDER / "defects.py").read_text()
    code = (FOLDER / "engine.py").read_text() + (FOLDER / "query.py").read_text()
    names = re.findall(r'^    "([a-z0-9-]+)":', listed, re.MULTILINE)
    truths = re.findall(r'^(?:    "[a-z0-9-]+": |        )"([A-Z].*\.)",?$', listed, re.MULTILINE)
    assert len(names) == len(set(names)) == len(truths) >= 36
    assert max(len(truth.split()) for truth in truths) <= 15
    assert set(names) == set(re.findall(r'has\(\s*"([a-z0-9-]+)"\s*\)', code))
