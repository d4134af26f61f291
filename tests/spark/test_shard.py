"""The suite over Spark, classic and Connect, is the suite: whatever is killed on the way, and
however often it is begun again.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from cluster import (
    ROOT,
    alive,
    bound,
    classic,
    lines,
    run,
    shell,
    spark,
    until,
)
from suite_run import WORDS_ALONE

from conformance import suite
from conformance.__main__ import main
from conformance.spark import folder, session, shard
from conformance.suite import SuiteOptions
from refengine.model.errors import RefengineError

SMOKE = SuiteOptions(["reference"], smoke=True, keep=True)

# Answers nothing, and notes which process asks it what. While there is a file `hold` with a number,
# it waits at the question of that number, so that there is a middle to be killed in.
SILENT = """
import json, os, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    if asked["command"] == "register":
        with open(LOG, "a") as log:
            print(os.getpid(), os.getppid(), asked["query"].encode().hex(), file=log)
        while os.path.exists(HOLD) and len(open(LOG).readlines()) >= int(open(HOLD).read()):
            time.sleep(0.02)
    more = {"start": {"protocol": 1, "engine": "silent", "version": "1"}, "stop": {}}.get(asked["command"], {"relations": []})
    print(json.dumps({"seq": asked["seq"], "reply": "result", **more}), flush=True)
    if asked["command"] == "stop":
        break
"""  # noqa: E501


def command(*words: object) -> list[str]:
    return shell("shard", *words)


def pytest_on(*words: object) -> list[str]:
    return [
        sys.executable,
        "-m",
        "pytest",
        "conformance",
        *WORDS_ALONE,
        *map(str, words),
    ]


# What needs Spark


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("shard")


@pytest.fixture(scope="module")
def engine(place) -> Path:
    """An engine that answers nothing: `log` is what it was asked."""
    (place / "silent.py").write_text(
        SILENT.replace("LOG", repr(str(place / "log"))).replace("HOLD", repr(str(place / "hold")))
    )
    path = place / "silent.toml"
    keys = {
        "title": "Silent",
        "command": ["{python}", "{here}/silent.py"],
        "dialect": "rspql",
        "limits.reply": 300,
    }
    path.write_text(
        "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
        + "[semantics]\nprofile = "
        '"csparql"\nt0 = 0\n'
    )
    return path


@pytest.fixture(scope="module")
def unsharded(place, engine) -> bytes:
    """The results of both engines, by pytest."""
    run(
        pytest_on(
            "-p",
            "no:xdist",
            "--engine=reference",
            f"--engine={engine}",
            "--smoke",
            f"--results={place / 'unsharded.ndjson'}",
        ),
        1,
    )
    return (place / "unsharded.ndjson").read_bytes()


def the_same(out: Path, unsharded: bytes) -> None:
    """As the run that was not sharded, row for row; each item was done once."""
    from pyarrow import parquet

    assert (out / "results.ndjson").read_bytes() == unsharded
    rows = parquet.read_table(out / "results.parquet").to_pylist()
    for row in rows:
        row["evidence"] = row["evidence"] and json.loads(row["evidence"])
    assert rows == [json.loads(line) for line in unsharded.splitlines()]
    assert {
        *Counter(shard.key(json.loads(line)) for line in lines(out / "journal.ndjson")).values()
    } == {1}


def lines_of(engine: str, results: bytes) -> bytes:
    return b"".join(
        line for line in results.splitlines(keepends=True) if json.loads(line)["engine"] == engine
    )


@spark
def test_what_is_sharded_is_the_same(installed, engine, unsharded, tmp_path):
    """On a classic Spark, with what Java is told for such a run."""
    out = tmp_path / "out"
    found = run(
        command(
            "--engine",
            "reference",
            "--engine",
            engine,
            "--smoke",
            "--spark",
            "local[1]",
            "--parallel",
            2,
            "-o",
            out,
        ),
        1,
    )
    the_same(out, unsharded)
    lines = found.stdout.splitlines()
    assert lines[0] == "conformance: reference: 9 pass", "9 arguments are too many"
    assert lines[1].startswith("  nothing is wrong; ")
    assert lines[2:4] == [
        "conformance: silent: 11 fail, 1 unsupported",
        "  it answered no case with a row, so nothing shows what it does",
    ]
    assert [line.split()[0] for line in lines[4:]] == [
        *("smallest", "elements", "expected", "answered", "again", "page"),
    ]
    case = lines[4].split()[1]
    again = f"python -m conformance replay {out}/results.ndjson silent/{case} --engine {engine}"
    assert lines[-2] == f"  again     {again}"
    assert lines[-1] == (
        f"  page      none: python -m conformance report {out}/results.ndjson -o page.html writes "
        "one"
    )
    assert re.fullmatch(r"conformance: 21 items in [0-9.]+ s\n", found.stderr)


@spark
def test_pytest_waits_for_what_executors_find(master, engine, unsharded, tmp_path):
    """Of the items that are left after -k."""
    results = tmp_path / "results.ndjson"
    words = pytest_on(
        "--engine=reference",
        f"--engine={engine}",
        "--smoke",
        f"--spark={master}",
        f"--results={results}",
        "-k",
        "not silent-R2R",
    )
    found = run(words, 1)
    kept = results.read_bytes().splitlines()
    assert [line for line in unsharded.splitlines() if line in kept] == kept and 9 < len(kept) < 21
    counts = f"{len(kept) - 10} failed, 9 passed, 1 skipped, {21 - len(kept)} deselected"
    assert counts in found.stdout, found.stdout


@spark
def test_whatever_is_killed_the_results_are_the_same(
    master,
    engine,
    unsharded,
    place,
    tmp_path,
    monkeypatch,
):
    """A worker, which Spark replaces; the run, by Ctrl-C and by force: with --resume what is done
    is not done again.
    """
    log, out, journal = place / "log", tmp_path / "out", tmp_path / "out" / "journal.ndjson"
    log.unlink(missing_ok=True)

    def hold(questions: int) -> None:
        (place / "hold.new").write_text(str(len(lines(log)) + questions))
        (place / "hold.new").replace(place / "hold")

    # two items a shard
    words = command("--engine", engine, "--smoke", "--spark", master, "--parallel", 6, "-o", out)
    for number, code in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
        before = len(lines(journal)), len(lines(log))
        hold(1)
        running = bound(
            [*words, "--resume"],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=classic(),
        )
        until(lambda: len(lines(log)) > before[1])  # noqa: B023
        if number == signal.SIGINT:
            harness, worker, _ = lines(log)[0].split()
            os.kill(int(worker), signal.SIGKILL)
        hold(5)
        until(lambda: len(lines(journal)) > before[0])  # noqa: B023
        running.send_signal(number)
        said = running.communicate(timeout=60)[1]
        assert running.returncode == code, said
        if number == signal.SIGINT:
            assert re.fullmatch(
                r"conformance: interrupted; ([2-9]|1[01]) of 12 items are "
                r"done: the same command with --resume goes on\n",
                said,
            )
            asked = [line.split() for line in lines(log)]
            assert not alive(harness) and {pid for _, pid, _ in asked} > {worker}, (
                "another worker began anew"
            )
            until(lambda: not any(alive(pid) for pid, _, _ in asked))  # noqa: B023  nothing runs on

    with open(journal, "ab") as torn:
        torn.write(b'{"engine": "sil')
    (place / "hold").unlink()
    workers, done = {line.split()[1] for line in lines(log)}, len(lines(journal)) - 1
    assert 4 <= done < 12
    finished = {json.loads(line)["case"] for line in lines(journal)[:-1]}
    every = map(json.loads, lines_of("silent", unsharded).splitlines())
    unasked = {one["case"] for one in every if one["outcome"] == "unsupported"} - finished
    run([*words, "--resume"], 1)
    asked_now = [line for line in lines(log) if line.split()[1] not in workers]
    assert len(asked_now) == 12 - done - len(unasked)
    the_same(out, lines_of("silent", unsharded))
    monkeypatch.setenv("PATH", "")  # all is done, and needs no Spark
    assert main([*words[3:], "--resume"]) == 1
    until(lambda: not any(alive(line.split()[0]) for line in lines(log)))


# What needs none


@pytest.mark.parametrize("parallel", [1, 2, 7, 500])
def test_shards_are_of_one_engine_and_smaller_towards_the_end(parallel):
    items = SuiteOptions(["reference", "spark", "rsp-js"]).items()
    shards = shard.cut_into_shards(items, parallel)
    assert [item for some in shards for item in some] == items
    assert all(len({item.engine for item in some}) == 1 for some in shards)
    bounds = [
        max(min(shard.LEAST, -(-len(items) // parallel)), -(-len(items[at:]) // (2 * parallel)))
        for at in range(len(items))
    ]
    ends = [sum(map(len, shards[: n + 1])) for n in range(len(shards))]
    for some, end in zip(shards, ends, strict=True):
        assert (
            len(some) == bounds[end - len(some)]
            or end == len(items)
            or items[end].engine != some[0].engine
        )


def task(work: dict) -> list[dict]:
    """What a task gives, here."""
    [batch] = shard._task(json.dumps(work), iter(()))
    return [json.loads(text) for text in batch.column("record").to_pylist()]


def test_an_executor_that_is_not_as_the_driver_says_so(engine, tmp_path):
    """Another version of the project or of an engine's file, what an engine needs, other
    recordings: before anything is run.
    """
    asked = SuiteOptions([str(engine)], smoke=True)
    work = {
        "asked": asdict(asked),
        "versions": shard.versions(asked),
        "folder": str(tmp_path),
        "classpaths": {},
        "keys": [],
    }
    name = socket.gethostname()
    for words, refused in (
        (
            {"versions": {**shard.versions(asked), "refengine": "0"}},
            "its version of refengine is not the driver's",
        ),
        (
            {"versions": {**shard.versions(asked), str(engine): "0"}},
            f"its version of {engine} is not the driver's",
        ),
        (
            {"keys": [["silent", "corpus", "WIN-0"]]},
            "1 item of the driver not found: the files differ",
        ),
        (
            {"asked": asdict(SuiteOptions([f"{tmp_path}/silent.toml"]))},
            f"{tmp_path}/silent.toml: cannot be read: No such file or directory",
        ),
    ):
        [one] = task({**work, **words})
        assert one["executor"] == name and one["refused"].startswith(refused)
    (tmp_path / "mine.toml").write_text(
        'title = "Mine"\ncommand = ["x"]\nneeds = ["/nowhere"]\ndialect = "table"\n'
    )
    lacking = SuiteOptions([f"{tmp_path}/mine.toml"], smoke=True)
    [one] = task(
        {**work, "asked": asdict(lacking), "versions": {}, "keys": [lacking.items()[0].key]}
    )
    assert one["refused"] == "no Mine, which needs /nowhere"


def test_relative_words_are_those_of_the_driver(engine, monkeypatch):
    """And the classpaths of its environment; the worker is left as it was."""
    asked = SuiteOptions([engine.name], smoke=True)
    monkeypatch.chdir(engine.parent)
    [first, *_] = asked.items()
    work = {
        "asked": asdict(asked),
        "versions": shard.versions(asked),
        "folder": os.getcwd(),
        "classpaths": {"CONFORMANCE_CLASSPATH_X": "x"},
    }
    monkeypatch.chdir("/")
    [one] = task({**work, "keys": [first.key]})
    assert shard.key(one) == first.key and shard.result_of(one).outcome == "fail"
    assert os.getcwd() == "/" and "CONFORMANCE_CLASSPATH_X" not in os.environ


def test_an_item_that_ends_with_an_error_has_no_result(tmp_path):
    """As in a run that is not sharded: it fails, and the results are those of the others."""

    def fails(_: object) -> None:
        raise RefengineError("no such thing", rule="CMP-1", place="here")

    one = shard.run_item(suite.Item(engine="mine", suite="corpus", case="case", run=fails), None)
    with pytest.raises(RefengineError, match=r"^here: CMP-1: no such thing$"):
        shard.result_of(one)
    with folder.open_run(tmp_path / "out", SMOKE, False) as run:
        run.add([one])
        run.write(run.results())
    with folder.open_run(tmp_path / "out", SMOKE, True) as run:
        assert run.done == {shard.key(one): one}
    assert (tmp_path / "out" / "results.ndjson").read_bytes() == b""


# Folders


def test_a_folder_is_of_one_run(tmp_path):
    out = tmp_path / "out"
    with (
        folder.open_run(out, SMOKE, True),
        pytest.raises(RefengineError, match="out: usage: another run writes there"),
        folder.open_run(out, SMOKE, True),
    ):
        pass
    for asked, resume, reason in (
        (
            SMOKE,
            False,
            "out: usage: not empty: go on with the run there with --resume, or name another folder",
        ),
        (
            replace(SMOKE, engines=["rsp-js"]),
            True,
            r"out/run.json: usage: this is the folder of another run: "
            r"engines was \['reference'\], and is "
            r"\['rsp-js'\]",
        ),
        (replace(SMOKE, smoke=False), True, "smoke was True, and is False; name another folder"),
    ):
        with pytest.raises(RefengineError, match=reason), folder.open_run(out, asked, resume):
            pass
    manifest = out / "run.json"
    manifest.write_text(manifest.read_text().replace('"refengine": "', '"refengine": "0'))
    with (
        pytest.raises(
            RefengineError,
            match="the folder of another run: refengine has changed since; name another folder",
        ),
        folder.open_run(out, SMOKE, True),
    ):
        pass
    for text in ("", "{}", '{"asked": 1, "versions": 2}'):
        manifest.write_text(text)
        with (
            pytest.raises(
                RefengineError,
                match=r"out/run\.json: usage: not the folder of a run: name another one",
            ),
            folder.open_run(out, SMOKE, True),
        ):
            pass


def test_of_a_journal_nothing_is_lost_but_a_torn_line(tmp_path):
    ended = [
        {
            "engine": "mine",
            "suite": "corpus",
            "case": str(n),
            "error": {"reason": "none", "rule": "usage", "place": ""},
        }
        for n in range(3)
    ]
    with folder.open_run(tmp_path, SMOKE, False) as run:
        run.add(ended)
    journal = tmp_path / "journal.ndjson"
    whole = journal.read_bytes()
    for size in range(whole.index(b"\n") - 1, len(whole) + 1, 9):
        journal.write_bytes(whole[:size])
        with folder.open_run(tmp_path, SMOKE, True) as run:
            assert [*run.done.values()] == ended[: whole[:size].count(b"\n")]
            run.add(ended[len(run.done) :])
        assert journal.read_bytes() == whole
    journal.write_bytes(b"{}\n" + whole)
    with (
        pytest.raises(
            RefengineError,
            match=r"journal\.ndjson:1: usage: not the record of an item: remove the line",
        ),
        folder.open_run(tmp_path, SMOKE, True),
    ):
        pass


def test_a_full_disk_is_told(tmp_path):
    """At once, and nothing is taken for done."""
    full = os.open("/dev/full", os.O_WRONLY)
    run = folder.Folder(tmp_path, full)
    with pytest.raises(
        RefengineError, match=r"journal\.ndjson: usage: cannot write: No space left on device"
    ):
        run.add([{"engine": "mine", "suite": "corpus", "case": "x"}])
    os.close(full)
    assert not run.done


# Wrong words


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            ["--spark=local[0]"],
            "spark: no master 'local[0]'; write local[2], spark://HOST:PORT, sc://HOST:PORT",
        ),
        (
            ["--spark=sc://127.0.0.1:1"],
            "'sc://127.0.0.1:1': spark: no Spark answers at 127.0.0.1:1",
        ),
        (
            ["--spark=spark://127.0.0.1:1"],
            "'spark://127.0.0.1:1': spark: no Spark answers at 127.0.0.1:1",
        ),
        (
            ["--spark=local[2]", f"--environment={__file__}"],
            "spark: local[2] has no executors that unpack an archive: unpack it, and run this "
            "command with its bin/python, without --environment",
        ),
        (["--spark=local[2]", "--environment=no.tar.gz"], "no.tar.gz: spark: no such archive"),
        (["--parallel=0"], "usage: --parallel must be > 0, got 0"),
        (["--engine=referense"], "did you mean 'reference'"),
        (
            ["--resume", "--spark=sc://127.0.0.1:1", "-o/proc/nowhere"],
            "/proc/nowhere: usage: cannot write: No such file or directory",
        ),
        (["--resume", f"-o{__file__}/out"], "usage: cannot write: Not a directory"),
        (["--csrbench="], "IO-1: an empty path"),
    ],
)
def test_what_is_named_wrongly_ends_the_run_in_one_line(
    words, reason, tmp_path, capfd, monkeypatch
):
    monkeypatch.setattr(session, "_check_java", lambda: None)
    out = [] if any(word.startswith("-o") for word in words) else ["-o", str(tmp_path / "out")]
    assert main(["shard", "--engine=reference", "--smoke", *out, *words]) == 2
    told = capfd.readouterr().err
    assert told.startswith("conformance: ") and told.count("\n") == 1 and reason in told
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("lacking", ["java", "a newer java", "pyspark"])
def test_without_java_or_pyspark_one_line_says_so(lacking, tmp_path, monkeypatch, capfd):
    """As on a machine that has not got it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    if lacking == "pyspark":
        monkeypatch.setitem(sys.modules, "pyspark", None)
        monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    else:
        pytest.importorskip("pyspark")
    if lacking == "a newer java":
        (tmp_path / "java").write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
        (tmp_path / "java").chmod(0o755)
    reason = {
        "java": "spark: no Java on the path; Spark needs 17 or newer",
        "a newer java": f"{tmp_path}/java: spark: Java 11; Spark needs 17 or newer",
        "pyspark": "spark: pyspark is not installed: pip install 'refengine[suite,spark]'",
    }[lacking]
    assert main(["shard", "--engine=reference", "--smoke", "-o", str(tmp_path / "out")]) == 2
    assert capfd.readouterr().err == f"conformance: {reason}\n"
    assert not (tmp_path / "out").exists()


def test_pytest_without_spark_says_so_in_one_line(tmp_path):
    """Whatever was configured: no item is run."""
    found = run(pytest_on("--engine=reference", "--smoke", "--spark=local[0]"), 4)
    assert (
        found.stderr.startswith("ERROR: spark: no master 'local[0]'; write local[2], ")
        and found.stderr.count("\n") == 2
    )


def test_pytest_does_not_spread_what_is_spread():
    found = run(pytest_on("--engine=reference", "--smoke", "--spark=local[2]", "-n", "2"), 4)
    assert "ERROR: --spark spreads the items itself: leave out -n" in found.stderr


def test_an_engine_that_is_missing_is_not_green(tmp_path, capsys):
    """Nothing is started for it."""
    (tmp_path / "mine.toml").write_text(
        'title = "Mine"\ncommand = ["x"]\nneeds = '
        '["/nowhere"]\nget = "make it"\ndialect = "table"\n'
    )
    words = ["shard", f"--engine={tmp_path}/mine.toml", "--smoke", "--spark=sc://127.0.0.1:1"]
    assert main([*words, "-o", str(tmp_path / "out")]) == 4
    told = capsys.readouterr()
    assert told.err == "conformance: no Mine, which needs /nowhere: make it\n"
    assert (
        told.out
        == "conformance: every item of mine was skipped (exit code 4; 0 with --allow-missing)\n"
    )
    assert main([*words, "--allow-missing", "-o", str(tmp_path / "other")]) == 0
    assert (tmp_path / "other" / "results.ndjson").read_bytes() == b""
