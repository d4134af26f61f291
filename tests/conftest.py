"""How many draws a property gets, and where the recordings and vectors kept beside the checkout are."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from hypothesis import settings

PROFILE = os.environ.get("REFENGINE_HYPOTHESIS_PROFILE", "ci")

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=1500, database=None)
settings.register_profile("full", derandomize=False, deadline=None, max_examples=10_000, database=None, print_blob=True)
settings.register_profile("fuzz", settings.get_profile("full"), max_examples=20_000)
settings.load_profile(PROFILE)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Outside of CI draws are new each time: the seed is chosen here, so that it can be printed and given again."""
    if PROFILE != "ci" and config.getoption("--hypothesis-seed") is None:
        config.option.hypothesis_seed = str(random.SystemRandom().randrange(2**32))


def pytest_report_header(config: pytest.Config) -> str:
    """The profile and, if the draws are not fixed, the seed that repeats them."""
    seed = config.getoption("--hypothesis-seed")
    return f"draws: profile {PROFILE}" + ("" if seed is None else f", repeat with --hypothesis-seed={seed}")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder beside the checkout with the recordings and vectors; without it the test is skipped."""
    folder = Path(__file__).parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("no folder shared/ beside the checkout: its recordings and vectors are not part of this repository")
    return folder
