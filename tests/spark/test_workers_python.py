"""The Python of Spark's workers: the one that runs us, unless the user has chosen another; and one
line for one that lacks what it needs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from cluster import JAVA, classic, run, shell, spark

from conformance.spark import jobs, session

SMOKE = ("shard", "--engine=reference", "--smoke", "--parallel=1")
NOTEBOOK = """
import sys
from pyspark.sql import SparkSession
from conformance.spark import judge, mismatch, register_formats, truth
from refengine.core.profiles import profile
from refengine.model.errors import RefengineError
from refengine.rdf.queries import read_query

spark = SparkSession.builder.master("local[1]").getOrCreate()
columns = "time bigint, element bigint, subject string, predicate string, object string"
triples = spark.createDataFrame([(0, 0, "<urn:a>", "<urn:p>", "<urn:b>")], columns)
semantics = profile("csparql").but(t0="0").semantics()
calls = {
    "truth": lambda: truth(triples, read_query(sys.argv[1]), semantics),
    "judge": lambda: judge(triples, triples),
    "mismatch": lambda: mismatch(triples, triples),
    "register_formats": lambda: register_formats(spark),
}
for name, call in calls.items():
    try:
        call()
    except RefengineError as error:
        print(f"{name}: {error}")
"""
QUERY = """
body = "SELECT ?s { ?s <urn:p> ?o }"
windows = [{ stream = "s", kind = "time", size = 10, slide = 10 }]
"""


def bare_python(folder: Path) -> Path:
    """Write a Python that has nothing that is installed in this environment."""
    path = folder / "python3"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    path.chmod(0o755)
    return path


def variables(folder: Path, **more: str) -> dict[str, str]:
    """The variables of a shell in which our environment is not activated: the `python3` of the path
    is another one. pyspark is told by none of them which Python its workers run.
    """
    bare_python(folder)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    without = {name: value for name, value in classic().items() if name != session.WORKERS_PYTHON}
    return {**without, "JAVA_TOOL_OPTIONS": JAVA["JAVA_TOOL_OPTIONS"], "PATH": path, **more}


@spark
@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    "more", [{}, {"SPARK_REMOTE": "local[1]"}], ids=["as-configured", "local-connect"]
)
def test_without_an_activated_environment_the_workers_run_our_python(tmp_path, more):
    out = tmp_path / "out"
    run(shell(*SMOKE, "-o", out), 0, env=variables(tmp_path, **more))
    assert len((out / "results.ndjson").read_text().splitlines()) == 9


@spark
@pytest.mark.usefixtures("installed")
def test_a_python_of_the_users_is_kept_and_what_it_lacks_is_one_line(tmp_path):
    """With a master that is named, which makes a classic session as one that is configured does:
    `test_only_workers_of_this_machine_run_our_python` has both.
    """
    python = bare_python(tmp_path)
    env = variables(tmp_path, PYSPARK_PYTHON=str(python))
    words = shell(*SMOKE, "--spark=local[1]", "-o", tmp_path / "out")
    found = run(words, 2, env=env)
    errors = [line for line in found.stderr.splitlines() if "JAVA_TOOL_OPTIONS" not in line]
    assert len(errors) == 1
    assert "the Python of Spark's workers has no " in errors[0]
    assert f"(PYSPARK_PYTHON='{python}')" in errors[0]


@spark
@pytest.mark.usefixtures("installed")
def test_in_a_session_of_the_users_it_is_one_error(tmp_path):
    (tmp_path / "query.toml").write_text(QUERY)
    (tmp_path / "notebook.py").write_text(NOTEBOOK)
    words = [sys.executable, str(tmp_path / "notebook.py"), str(tmp_path / "query.toml")]
    # Spark itself, which is the user's, logs the traceback of the worker as a warning
    found = subprocess.run(
        words, env=variables(tmp_path), capture_output=True, text=True, timeout=300, check=True
    )
    lines = found.stdout.splitlines()
    assert [line.partition(": ")[0] for line in lines] == [
        "truth",
        "judge",
        "mismatch",
        "register_formats",
    ]
    for line in lines:
        assert "spark: a job was given up: the Python of Spark's workers has no " in line
        assert "(PYSPARK_PYTHON is not set here)" in line


def session_of(master: str, configured: str | None = None) -> SimpleNamespace:
    """What is read and set of a classic session."""
    conf = SimpleNamespace(get=lambda key: configured)
    context = SimpleNamespace(master=master, pythonExec="python3", getConf=lambda: conf)
    return SimpleNamespace(sparkContext=context)


@pytest.mark.parametrize(
    ("master", "configured", "variable", "python"),
    [
        ("local[2]", None, None, sys.executable),
        ("local[*]", None, None, sys.executable),
        ("local[2]", "/usr/bin/mine", None, "/usr/bin/mine"),
        ("local[2]", None, "/usr/bin/mine", "python3"),  # pyspark has read the variable itself
        ("spark://host:7077", None, None, "python3"),
        ("yarn", None, None, "python3"),
    ],
)
def test_only_workers_of_this_machine_run_our_python(
    monkeypatch, master, configured, variable, python
):
    """Also those of spark-submit, which chooses the master itself."""
    monkeypatch.delenv(session.WORKERS_PYTHON, raising=False)
    if variable is not None:
        monkeypatch.setenv(session.WORKERS_PYTHON, variable)
    opened = session_of(master, configured)
    session._let_workers_use_own_python(opened)
    assert opened.sparkContext.pythonExec == python


def test_what_a_python_lacks_is_found_in_a_page_of_java():
    page = (
        "An error occurred while calling o61.collect.\n: org.apache.spark.SparkException: Job "
        "aborted\n  at x.y(Z.scala:1)\nCaused by: Traceback (most recent call last):\n"
        "  File \"serializers.py\", line 1\nModuleNotFoundError: No module named 'conformance.x'\n"
        "\tat java.base/java.lang.Thread.run(Thread.java:1)\n"
    )
    line = jobs.explain_lost_job(RuntimeError(page))
    assert line.startswith("the Python of Spark's workers has no conformance.x (PYSPARK_PYTHON")
    assert "\n" not in line
