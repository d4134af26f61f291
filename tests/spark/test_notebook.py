"""The cells of the notebooks run, one after the other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cluster import ROOT, spark

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@spark
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(connected, path: Path, capsys):
    """The session is the one of these tests. Each cell that shows something does."""
    names = {"spark": connected}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        is_session = "session" in cell["metadata"].get("tags", ())
        if cell["cell_type"] == "code" and not is_session:
            text = "".join(cell["source"])
            exec(compile(text, cell["id"], "exec"), names)
            assert (".show(" in text) == bool(capsys.readouterr().out)


def test_notebooks_are_kept_without_outputs():
    assert NOTEBOOKS
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert not any(cell.get("outputs") for cell in cells), path
