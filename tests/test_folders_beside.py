"""Tests that need recordings or vectors beside the checkout are skipped wherever a part of these is
missing.
"""

from __future__ import annotations

import shutil

import pytest
from conftest import PARTS, folder_beside


def write_parts(root, names=PARTS) -> None:
    """Write all parts of some folders."""
    for name in names:
        for part in PARTS[name]:
            path = root / name / part
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")


def reason_to_skip(name, root) -> str:
    """The reason for which a test is skipped that needs a folder."""
    with pytest.raises(pytest.skip.Exception) as skipped:
        folder_beside(name, root)
    return str(skipped.value.msg)


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("there", ["", "shared", "shared/data", "shared/data/NAME"])
def test_whatever_is_empty_the_test_is_skipped(tmp_path, name, there):
    (tmp_path / there.replace("NAME", name)).mkdir(parents=True, exist_ok=True)
    reason = reason_to_skip(name, tmp_path / "shared" / "data")
    assert reason.startswith(f"no shared/data/{name}/{PARTS[name][0]} beside the checkout: ")
    assert "\n" not in reason


@pytest.mark.parametrize(("name", "part"), [(name, part) for name in PARTS for part in PARTS[name]])
def test_whichever_part_is_missing_it_is_named(tmp_path, name, part):
    write_parts(tmp_path)
    assert folder_beside(name, tmp_path) == tmp_path / name
    (tmp_path / name / part).unlink()
    assert f"no shared/data/{name}/{part} beside" in reason_to_skip(name, tmp_path)
    (tmp_path / name / part).mkdir()  # a folder in its place is no file
    assert f"no shared/data/{name}/{part} beside" in reason_to_skip(name, tmp_path)


def test_one_folder_is_enough_for_its_tests(tmp_path):
    write_parts(tmp_path)
    shutil.rmtree(tmp_path / "csrbench")
    assert folder_beside("secret", tmp_path) == tmp_path / "secret"
    reason_to_skip("csrbench", tmp_path)
