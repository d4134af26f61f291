"""The engines in Rust, live, where they are there: a dozen cases each."""

from __future__ import annotations

import pytest
from suite_run import run_suite

from conformance.harness import engine_file


@pytest.mark.parametrize("name", ["rsp-rs", "roxi", "kolibrie", "janus-live", "janus-log"])
def test_an_engine_in_rust_does_what_it_is_known_for(name):
    """Green with its known deviations, and some cases pass."""
    missing = engine_file.engine(name).with_classpath("").missing
    if missing:
        pytest.skip(missing)
    found = run_suite(f"--engine={name}", "--smoke")
    assert found.returncode == 0, found.stdout
    assert " pass" in found.stdout
