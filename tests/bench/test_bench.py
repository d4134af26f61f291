"""tools/bench: each benchmark at a tiny size gives its line, and what a line says is what was run.
Nothing timed is asserted.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from refengine import WindowKind
from tools.bench import __main__ as command
from tools.bench import lab as labs
from tools.bench import measure
from tools.bench.lab import Lab
from tools.bench.measure import Job, Result, RunFailed
from tools.bench.queries import csrbench, temperatures
from tools.bench.table import BENCHMARKS, KINDS, run

ENGINE = "definitional"
OTHERS = {
    "by-hand",
    "pushes",
    "constructs",
    "lsbench",
    "srbench",
    "city",
}  # whose lines have keys of their own
KEYS = {
    "name": str,
    "triples": int,
    "reports": int,
    "seconds": float,
    "cpu_seconds": float,
    "triples_per_s": int,
    "peak_mib": float,
    "runs": int,
    "provenance": str,
}
MORE = {
    "small": {"equal": bool},
    "growth": {"points": list, "slope": float, "slope_cpu": float},
    "memory": {"base_mib": float, "ratios": dict},
    "naive": {"ratios": dict},
}


@pytest.fixture
def lab(tmp_path):
    """Runs that share this process: what they give is the same, how much
    memory they take is not.
    """
    return Lab(tmp_path, ENGINE, 1, measure.run_job)


@pytest.mark.parametrize("name", [name for name in BENCHMARKS if name not in OTHERS])
def test_a_benchmark_gives_a_line_with_every_key(lab, name):
    lines = json.loads(json.dumps(list(run(lab, name, tiny=True))))
    assert [line["name"] for line in lines] == (
        [f"kinds/{kind}" for kind in KINDS] if name == "kinds" else [name]
    )
    for line in lines:
        assert {key: type(value) for key, value in line.items()} == KEYS | MORE.get(name, {})
        assert line["reports"] > 0 and line["runs"] == 1 and line["provenance"] == ENGINE
        assert line["triples"] % 7 == 0 and line["seconds"] > 0 and line["peak_mib"] > 0
        assert all(isinstance(ratio, float) for ratio in line.get("ratios", {}).values())


def test_pushes_are_of_the_harness_and_give_all_reports(lab):
    """An element a second, windows of ten: the horizon closes the last."""
    lines = json.loads(json.dumps(list(run(lab, "pushes", tiny=True))))
    assert [line["name"] for line in lines] == ["pushes/definition", "pushes/incremental"]
    for line in lines:
        points = [(point["elements"], point["reports"]) for point in line["points"]]
        assert points == [(10, 1), (20, 2)]


def test_the_sizes_are_those_of_yabench_and_enough():
    def triples(name: str) -> int:
        return BENCHMARKS[name].full["stations"] * BENCHMARKS[name].full["seconds"] * 7

    assert (triples("big"), triples("medium"), triples("small")) == (2_100_000, 210_000, 10_500)
    assert (
        min(map(triples, ("q1", "q4", "q6"))) >= 200_000
        and BENCHMARKS["q6"].full["stations"] == 500
    )
    lengths = [700 * seconds for seconds in BENCHMARKS["growth"].full["seconds"]]
    assert 10_000 <= lengths[0] < 11_000 and lengths[-1] >= 2_000_000 and lengths == sorted(lengths)


def test_every_kind_of_window_is_there():
    assert {asked.query["windows"][0]["kind"] for asked in KINDS.values()} == set(WindowKind)


def test_the_windows_of_csrbench_are_its_own():
    windows = {name: csrbench(name).query["windows"][0] for name in ("Q1", "Q4", "Q6")}
    assert {name: (window["size"], window["slide"]) for name, window in windows.items()} == {
        "Q1": (10_000, 10_000),
        "Q4": (4000, 4000),
        "Q6": (5000, 5000),
    }


def faked(seconds, **values):
    """Runs that take what they say; which ones there were is in `faked.jobs`."""
    jobs: list[Job] = []

    def taken(job: Job) -> Result:
        jobs.append(job)
        result = Result(5, seconds(job, len(jobs)), 1.0, 10.0, 20.0, "fake")
        return result._replace(**{name: value(job) for name, value in values.items()})

    taken.jobs = jobs
    return taken


def length(job: Job) -> int:
    """The seconds of stream that a job reads."""
    return int(Path(job.path).stem.rpartition("x")[2])


def test_runs_take_turns_and_their_median_counts(tmp_path):
    fake = faked(lambda job, number: [1, 10, 3, 50, 2, 30][number - 1])
    lab = Lab(tmp_path, "mine", 3, fake)
    (line,) = run(lab, "naive", tiny=True)
    assert [job.engine for job in fake.jobs] == ["mine", "definitional"] * 3
    assert (line["seconds"], line["ratios"]["naive"], line["runs"]) == (2, 15.0, 3)


def test_what_is_not_cheap_runs_once(tmp_path, monkeypatch):
    monkeypatch.setattr(labs, "CHEAP", 0.0)
    (line,) = run(Lab(tmp_path, "mine", 3, faked(lambda *_: 1.0)), "big", tiny=True)
    assert line["runs"] == 1


def test_runs_that_give_different_reports_are_no_measurement(tmp_path):
    counts = iter([5, 5, 6])
    fake = faked(lambda *_: 1.0, reports=lambda _: next(counts))
    with pytest.raises(RunFailed, match=r"\[5, 6\] reports"):
        list(run(Lab(tmp_path, "mine", 3, fake), "big", tiny=True))


@pytest.mark.parametrize("power", [0.5, 1, 2])
def test_growth_is_the_power_of_the_triples(tmp_path, power):
    (line,) = run(
        Lab(tmp_path, "mine", 1, faked(lambda job, _: length(job) ** power)), "growth", tiny=True
    )
    assert (line["slope"], line["slope_cpu"]) == (power, 0) and [
        point["triples"] for point in line["points"]
    ] == [7, 21]


def test_memory_is_of_ten_times_the_stream_without_its_reports(tmp_path):
    fake = faked(lambda *_: 1.0, peak_mib=lambda job: 10.0 + length(job))
    (line,) = run(Lab(tmp_path, "mine", 1, fake), "memory", tiny=True)
    assert [(length(job), job.keep) for job in fake.jobs] == [(1, False), (10, False)]
    assert (
        line["ratios"] == {"peak": round(20 / 11, 3), "above_base": 10.0} and line["triples"] == 70
    )


def test_a_stream_is_made_once_and_anew_by_another_generator(tmp_path, monkeypatch):
    lab = Lab(tmp_path)
    path, triples = lab.stream(2, 3)
    made = path.stat().st_mtime_ns
    assert lab.stream(2, 3).path == path and path.stat().st_mtime_ns == made
    assert triples == len(path.read_text().splitlines()) == 42
    other = tmp_path / "other.py"
    other.write_text("changed")
    monkeypatch.setattr(labs.sg1, "__file__", str(other))
    assert lab.stream(2, 3).path != path


@cache
def reports(path: str) -> tuple:
    query, semantics = (
        measure.from_table(temperatures().query),
        measure.profile("cqels").but(t0=0).semantics(),
    )
    return tuple(measure.engine(ENGINE)(query, path, semantics))


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (lambda found: found[:-1], "report 3: missing"),
        (lambda found: [*found, found[-1]], "report 4: not due"),
        (
            lambda found: [found[0], replace(found[1], instant=0), found[2]],
            "report 2: instant 0, expected ",
        ),
        (
            lambda found: [found[0], replace(found[1], relation=found[0].relation), found[2]],
            "another relation",
        ),
    ],
)
def test_the_check_finds_a_wrong_report(lab, wrong, reason):
    found = reports(str(lab.stream(2, 3).path))
    assert len(found) == 3
    result = measure.compare_reports(iter(wrong(list(found))), iter(found))
    assert (
        reason in result.difference
        and measure.compare_reports(iter(found), iter(found)).difference is None
    )


def test_a_wrong_engine_fails_the_command(tmp_path, monkeypatch, capsys):
    right = measure.engine

    def engine(name: str) -> measure.Engine:
        return lambda *asked: islice(right(ENGINE)(*asked), 2 if name == "incremental" else None)

    monkeypatch.setattr(measure, "engine", engine)
    monkeypatch.setattr(
        command, "Lab", lambda work, engine, runs: Lab(work, engine, runs, measure.run_job)
    )
    assert command.main(["small", "--tiny", "--runs", "1", "--work", str(tmp_path)]) == 1
    line = json.loads(capsys.readouterr().out)
    assert line["equal"] is False and line["difference"] == "report 3: missing"
    assert (
        command.main(
            ["small", "--tiny", "--runs", "1", "--work", str(tmp_path), "--engine", ENGINE]
        )
        == 0
    )


def test_a_fresh_process_gives_the_same(lab):
    job = lab.job(lab.stream(2, 3), temperatures())
    there, here = measure.run_in_new_process(job), measure.run_job(job)
    assert (
        there.reports == here.reports == 3
        and there.seconds > 0
        and 0 < there.base_mib <= there.peak_mib
    )
    assert measure.run_in_new_process(job._replace(check=True)).difference is None


def test_a_run_that_fails_says_why(lab):
    with pytest.raises(
        RunFailed, match="engine must be one of incremental, definitional, got 'other'"
    ):
        measure.run_in_new_process(lab.job(lab.stream(1, 1), temperatures(), engine="other"))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["bigger"], "no benchmark is named bigger"),
        (["--runs", "0"], "must be an integer > 0, got 0"),
        (["--work", ""], "argument --work: an empty path"),
    ],
)
def test_bad_arguments_are_one_error(capsys, arguments, reason):
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2 and reason in capsys.readouterr().err


def test_a_stream_that_is_not_as_it_was_made_is_made_again(lab):
    """Cut, or changed at the same length."""
    path, right = lab.stream(2, 3).path, lab.stream(2, 3).path.read_bytes()
    for wrong in (right[:100], right.replace(b'"0"', b'"1"', 1), b""):
        path.write_bytes(wrong)
        assert lab.stream(2, 3).path.read_bytes() == right
    (path.with_suffix(".made")).unlink()
    path.write_bytes(b"older than its hash")
    assert lab.stream(2, 3).path.read_bytes() == right


def test_an_interrupt_is_one_line(monkeypatch, capsys, tmp_path):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "run", interrupted)
    with pytest.raises(SystemExit) as ended:
        command.main(["small", "--work", str(tmp_path)])
    assert ended.value.code == 130 and capsys.readouterr().err == "small: interrupted\n"
