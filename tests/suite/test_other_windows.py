"""An engine that reports the active window alone is not asked about every window."""

from __future__ import annotations

import pytest

from conformance import corpus
from conformance.harness import engine_file
from conformance.suite.exchange import refuse_other_windows
from refengine.dialects import Unrenderable

CASES = {case.path: case for case in corpus.cases()}


def test_it_is_unsupported_in_one_line():
    case = CASES["report/rep-16-three-panes.toml"]
    message = "RSP-JS 1.3.5 reports the active window alone, and the case is about every one"
    with pytest.raises(Unrenderable, match=message) as refused:
        refuse_other_windows(engine_file.engine("rsp-js"), case)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("engine", "path"),
    [
        ("rsp-js", "report/rep-14-every-window-that-holds-it.toml"),  # of both
        ("rsp-js", "window/win-2-closed.toml"),
        ("reference", "report/rep-16-three-panes.toml"),  # is sent the semantics of a case
    ],
)
def test_other_cases_are_asked(engine: str, path: str):
    refuse_other_windows(engine_file.engine(engine), CASES[path])
