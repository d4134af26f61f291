"""spark-submit on one machine, and an archive with Python for the executors of a standalone
cluster: `make cluster`, some minutes.
"""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path

import pyarrow.parquet
import pyspark
import pytest
from cluster import ROOT, classic, rows_of_reports, rows_of_spark, run, shell
from killed_processes import Cluster, reports_of, two_workers, write_query_and_make_stream

from conformance.spark import session

__all__ = ["two_workers"]  # a fixture


@pytest.fixture
def words_and_rows(tmp_path) -> tuple[list[object], list[tuple]]:
    """The words of a run of `truth` over lines of `n3t`, and the rows of its reports."""
    texts, elements = write_query_and_make_stream(tmp_path, stations=20)
    (tmp_path / "stream.n3t").write_text("".join(line for some in texts for line in some))
    words = ["truth", tmp_path / "query.toml", "--stream", tmp_path / "stream.n3t", "--parts", 2]
    words += ["--semantics", "cqels", "t0=0", "-o", tmp_path / "out"]
    return words, rows_of_reports(reports_of(tmp_path, elements))


def submit(master: str, words: list[object], code: int) -> str:
    """Run a command by spark-submit, which ends with this exit code. Return what it prints on
    standard output, to which spark-submit sends the errors of the command, too. No variable says
    which Python workers run.
    """
    home = Path(pyspark.__file__).parent
    environment = {**classic(), "JAVA_TOOL_OPTIONS": session.LIGHT, "SPARK_HOME": str(home)}
    environment.pop("PYSPARK_PYTHON", None)
    environment["PYSPARK_DRIVER_PYTHON"] = sys.executable
    script = [home / "bin" / "spark-submit", "--master", master, ROOT / "conformance/__main__.py"]
    return run([*map(str, script), *map(str, words)], code, env=environment).stdout


def write_archive(path: Path, marker: Path) -> None:
    """Write an archive with a Python that is this one, and leaves a file when it is started."""
    script = path.with_suffix(".sh")
    script.write_text(f'#!/bin/sh\ntouch {marker}\nexec {sys.executable} "$@"\n')
    script.chmod(0o755)
    with tarfile.open(path, "w:gz") as archive:
        archive.add(script, "bin/python")


def rows_in(out: Path) -> list[tuple]:
    """Return the rows of the reports of a run."""
    rows = pyarrow.parquet.read_table(out / "reports").to_pylist()
    return rows_of_spark(sorted(rows, key=lambda row: (row["part"], row["number"])))


def test_one_machine_gives_the_reports_of_a_run_without_spark_submit(words_and_rows, tmp_path):
    """And refuses an archive in one line, before anything is written."""
    words, expected = words_and_rows
    archive = tmp_path / "environment.tar.gz"
    write_archive(archive, tmp_path / "started")
    assert submit("local[2]", [*words, "--environment", archive], 2) == (
        f"conformance: {archive}: spark: local[2] has no executors that unpack an archive: unpack "
        "it, and run this command with its bin/python, without --environment\n"
    )
    assert not (tmp_path / "out").exists()
    submit("local[2]", words, 0)
    assert rows_in(tmp_path / "out") == expected


@pytest.mark.parametrize("is_submitted", [True, False])
def test_executors_run_the_python_of_an_archive(
    words_and_rows, two_workers: Cluster, is_submitted, tmp_path
):
    words, expected = words_and_rows
    archive = tmp_path / "environment.tar.gz"
    write_archive(archive, tmp_path / "started")
    words += ["--environment", archive]
    if is_submitted:
        submit(two_workers.url, words, 0)
    else:
        run(shell(*words, "--spark", two_workers.url), 0)
    assert (tmp_path / "started").exists()
    assert rows_in(tmp_path / "out") == expected
