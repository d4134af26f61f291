"""What the tests of benchmarks share."""

import pytest

from conformance.bench import streams


@pytest.fixture(autouse=True)
def kept_streams(tmp_path_factory, monkeypatch):
    """Streams are kept in a folder of the tests."""
    folder = tmp_path_factory.getbasetemp() / "bench-streams"
    monkeypatch.setattr(streams, "cache_folder", lambda: folder)
