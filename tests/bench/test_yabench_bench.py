"""YABench as a benchmark: what wrong engines get by its definitions, its files and configurations.
The numbers are derived by hand.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from conformance import schemas
from conformance.bench.benchmark import Choice, Feeding, Run, Workload
from conformance.bench.judging import judge_run, run_of_test
from conformance.bench.yabench import YABENCH, configuration, files
from conformance.bench.yabench.files import OracleEntry
from conformance.bench.yabench.generator import Parameters
from conformance.bench.yabench.tables import group_tests
from conformance.harness.engine_file import command
from conformance.harness.resources import ResourceUse, Sample
from conformance.suite.exchange import Exchange
from conformance.verdict.engine_report import EngineReport
from conformance.verdict.results import BenchmarkRun, Outcome, Result, from_json
from refengine.core.profiles import profile
from refengine.core.question import Question
from refengine.model.elements import Relation, row
from refengine.model.errors import RefengineError
from refengine.rdf.recordings import read_recording

# Of six observations two are at the border of two windows of 10 ms: c and e.
OBSERVATIONS = {"a": 1, "b": 4, "c": 10, "d": 13, "e": 20, "f": 25}
TUMBLING = {"WSIZE": "10ms", "WSLIDE": "10ms"}
SLIDING = {"WSIZE": "10ms", "WSLIDE": "5ms"}


def workload_over(tmp_path, variables, **options) -> Workload:
    """A test over the six observations, from a config.json."""
    lines = (f'<urn:{name}> <urn:p> <urn:q> "{at}" .\n' for name, at in OBSERVATIONS.items())
    (tmp_path / "SG_six").write_text("".join(lines))
    table = {
        "inputstream": "SG_six",
        "vars": variables,
        "tests": [{"name": "six", **options}],
        "query": "SELECT ?x WHERE { ?x <urn:p> ?y }",
    }
    (tmp_path / "config.json").write_text(json.dumps(table))
    [workload] = YABENCH.workloads(Choice(config=tmp_path / "config.json"))
    return workload


def run_of(
    workload: Workload,
    relations: list[str],
    instants: list[int],
    is_fail_explained: bool = False,
    is_configurable: bool = False,
) -> tuple[Run, Result]:
    """The run of an engine that gives these rows at these instants. A configurable one is sent its
    semantics.
    """
    loaded = {name: source.load().stream for name, source in workload.streams.items()}
    answers = [
        EngineReport(Relation(("x",), Counter(row({"x": f"<urn:{name}>"}) for name in names)), at)
        for names, at in zip(relations, instants, strict=True)
    ]
    exchange = Exchange(Question(workload.query, loaded), answers, "the query")
    samples = [Sample(0.0, 2**20, 0.5, 3), Sample(0.5, 2**21, 0.75, 4)]
    feeding = Feeding(exchange, 1_000_000, 0.5, samples, 0.01, False)
    run = Run(workload, "theirs", 1, feeding)
    tested = command("true", "csparql", "csparql")
    if is_configurable:
        tested = replace(tested, profile=None)
    return run, judge_run(YABENCH, tested, run, {}, is_fail_explained=is_fail_explained)


def scores(result: Result) -> list[tuple[float, float]]:
    return [(one["precision"], one["recall"]) for one in result.evidence["metrics"]]


def sizes(result: Result) -> list[tuple[int, int]]:
    """How many rows are expected of each window, and how many are given."""
    return [(one["expected"], one["actual"]) for one in result.evidence["metrics"]]


# The windows are [0, 10) with a and b, [10, 20) with c and d, [20, 30) with e and f.


def test_a_right_engine_is_right_in_each_window(tmp_path):
    _, result = run_of(workload_over(tmp_path, TUMBLING), ["ab", "cd", "ef"], [10, 20, 30])
    assert result.outcome == "pass" and scores(result) == [(1, 1)] * 3


def test_an_engine_that_loses_border_elements_loses_recall(tmp_path):
    """c and e are lost: one of two rows is there, and nothing else."""
    _, result = run_of(workload_over(tmp_path, TUMBLING), ["ab", "d", "f"], [10, 20, 30])
    assert result.outcome == "fail" and scores(result) == [(1, 1), (1, 0.5), (1, 0.5)]
    assert sizes(result) == [(2, 2), (2, 1), (2, 1)]


def test_an_engine_that_repeats_its_rows_loses_precision(tmp_path):
    """Two of four rows pair up."""
    _, result = run_of(workload_over(tmp_path, TUMBLING), ["aabb", "ccdd", "eeff"], [10, 20, 30])
    assert result.outcome == "fail" and scores(result) == [(0.5, 1)] * 3
    assert sizes(result) == [(2, 4)] * 3


def test_an_engine_that_ignores_the_slide_is_right_in_the_first_window(tmp_path):
    """By 10 and 5 the windows are [-5, 5) ab, [0, 10) ab, [5, 15) cd, [10, 20) cd, [15, 25) e,
    [20, 30) ef, [25, 35) f. The three answers stand beside the first three windows, so ab beside
    ab, cd beside ab, ef beside cd; nothing stands beside the others.
    """
    _, result = run_of(workload_over(tmp_path, SLIDING), ["ab", "cd", "ef"], [10, 20, 30])
    assert result.outcome == "fail" and scores(result) == [(1, 1)] + [(0, 0)] * 6
    assert sizes(result) == [(2, 2), (2, 2), (2, 2), (2, 0), (1, 0), (2, 0), (1, 0)]


def test_a_late_engine_is_right_and_late(tmp_path):
    _, result = run_of(workload_over(tmp_path, TUMBLING), ["ab", "cd", "ef"], [13, 23, 33])
    assert result.outcome == "pass"
    assert [one["delay"] for one in result.evidence["metrics"]] == [3, 3, 3]
    assert sizes(result) == [(2, 2)] * 3


def test_a_live_engine_may_miss_no_output(tmp_path):
    """A benchmark may say otherwise (ORA-3): in YABench one may be missing after the last."""
    given = workload_over(tmp_path, TUMBLING)
    default = Workload("e", "t", given.table, given.streams, given.semantics, t0=given.t0)
    strict = replace(given, missing=default.missing)
    for workload, outcomes in [(given, ["fail", "pass"]), (strict, ["fail", "fail"])]:
        _, without_first = run_of(workload, ["cd", "ef"], [20, 30])
        _, without_last = run_of(workload, ["ab", "cd"], [10, 20])
        assert [without_first.outcome, without_last.outcome] == outcomes


def test_as_much_may_be_missing_if_t0_is_left_open(tmp_path):
    """The first answer is missing under every t0."""
    workload = workload_over(tmp_path, TUMBLING)
    _, result = run_of(workload, ["cd", "ef"], [20, 30], is_fail_explained=True)
    assert "  if t0 is left open:\n    fail:" in result.explanation


def test_an_engine_that_is_sent_its_t0_is_not_judged_with_another(tmp_path):
    workload = workload_over(tmp_path, TUMBLING)
    _, result = run_of(
        workload, ["cd", "ef"], [20, 30], is_fail_explained=True, is_configurable=True
    )
    assert result.outcome == "fail" and "if t0 is left open" not in result.explanation


def test_a_run_that_failed_belongs_to_its_test_whatever_its_name():
    """A folder's name may have spaces, and may be the name of a test."""
    for experiment, test in [("my run 01", "small"), ("small", "small")]:
        workload = Workload(experiment, test, {}, {}, profile("csparql").but(t0=0))
        about = run_of_test(workload, 1)
        result = Result(
            engine="e",
            suite="yabench",
            case=workload.name,
            outcome=Outcome.ERROR,
            explanation="it crashed",
            benchmark_run=about,
        )
        assert from_json(json.loads(json.dumps(result.as_json()))) == result
        assert not list(schemas.problems("result", result.as_json()))
        [found] = group_tests([result])
        assert (found.experiment, found.test, found.results) == (experiment, test, [result])


# Files


def test_the_files_of_a_run(tmp_path):
    """By YABench's code the windows are [0, 10] abc, [10, 20] cde, [20, 30] ef: of the first two a
    right engine gives two of three rows.
    """
    workload = workload_over(tmp_path, TUMBLING, graceful="false")
    run, result = run_of(workload, ["ab", "cd", "ef"], [13, 23, 33])
    written = {name: list(lines) for name, lines in YABENCH.files(run, result).items()}
    assert sorted(written) == ["ORACLE_six", "P_six", "QR_six", "QUERY_six", "SG_six"]
    assert written["ORACLE_six"] == [
        "1.0,0.6666666666666666,2,3,3,0,10,3",
        "1.0,0.6666666666666666,2,3,3,10,20,3",
        "1.0,1.0,2,2,2,20,30,3",
    ]
    assert written["QR_six"] == [
        "1000000",
        "x\t",
        *("1000013", "urn:a\t", "urn:b\t"),
        *("1000023", "urn:c\t", "urn:d\t"),
        *("1000033", "urn:e\t", "urn:f\t"),
    ]
    assert written["P_six"][:2] == ["theirs", "time,rss_mem,cpu_percent,mem_percent,threads"]
    # 0.25 s of CPU in 0.5 s
    cells = [line.split(",") for line in written["P_six"][2:]]
    assert [cell[:3] + cell[4:] for cell in cells] == [
        ["0.0", "1.0", "0.0", "3"],
        ["0.5", "2.0", "50.0", "4"],
    ]


def test_gracious_mode_is_in_the_oracle_file(tmp_path):
    """The answer d is right for [13, 19]: the start moves to 13. Then the end stays, since
    precision is 1. Gracious mode has no delay.
    """
    workload = workload_over(tmp_path, TUMBLING, graceful="true")
    run, result = run_of(workload, ["abc", "de", "ef"], [10, 20, 30])
    lines = list(YABENCH.files(run, result)["ORACLE_six"])
    assert lines[1] == "1.0,1.0,2,3,3,13,20,-1"


def test_files_are_written_as_yabench_reads_them(tmp_path):
    entries = [
        OracleEntry(1.0, 0.00025, 2, 3, 4, 0, 10, -1),
        OracleEntry(0.5, 1.0, 1, 1, 1, 5, 9, 7),
    ]
    assert list(files.oracle_lines(entries)) == ["1.0,2.5E-4,2,3,4,0,10,-1", "0.5,1.0,1,1,1,5,9,7"]
    samples = [Sample(0.0, 2**20, 0.0, 1), Sample(0.5, 2**20, 0.5, 2)]
    assert list(files.performance_lines(samples, "e", 2**22))[2:] == [
        "0.0,1.0,0.0,25.0,1",
        "0.5,1.0,100.0,25.0,2",
    ]

    path = tmp_path / "QR_x"
    terms = {"x": "<http://a>", "y": '"1.5"^^<http://www.w3.org/2001/XMLSchema#float>'}
    answer = EngineReport(Relation(("x", "y"), Counter([row(terms)])), 12)
    path.write_text("".join(f"{line}\n" for line in files.qr_lines([answer], ("x", "y"), 1000)))
    recording = read_recording(path)
    assert recording.timestamps == (12,) and recording.relations == (answer.relation,)


def test_boxplots_have_the_values_of_all_runs():
    runs = [
        [OracleEntry(1.0, 0.5, 1, 2, 3, 0, 5, 7), OracleEntry(0.25, 1.0, 1, 2, 3, 5, 10, -1)],
        [OracleEntry(0.5, 0.5, 1, 2, 3, 0, 5, 8)],
    ]
    assert list(files.boxplot_lines(runs, "e")) == ["e", "1.0,0.5;0.5,0.5;7.0,8.0", "0.25;1.0;-1.0"]


def result_of_run(number: int, samples: list[Sample]) -> Result:
    """The result of a run in gracious mode. Nothing is in its first window, which gracious mode
    leaves as it is, and in its second one of two rows is there until it is shifted.
    """
    window = {"elements": 2, "delay": 1}
    shifted = {"precision": 1.0, "recall": 1.0, "window": [6, 9]}
    none = {"precision": 0.0, "recall": 0.0, "expected": 0, "actual": 0, "window": [0, 5]}
    half = {"precision": 0.5, "recall": 0.5, "expected": 2, "actual": 2, "window": [5, 10]}
    code = [{**window, **one, "gracious": shifted} for one in (none, half)]
    run = {"seconds": 1.0, "elements": 2, "sampling_seconds": 0.1}
    evidence = {
        "samples": [sample.as_json() for sample in samples],
        "run": {**run, "measures": {"is_gracious": True, "code": code}},
    }
    return Result(
        engine="e",
        suite="yabench",
        case=f"1 t run {number}",
        outcome=Outcome.PASS,
        evidence=evidence,
        benchmark_run=BenchmarkRun("1", "t", number),
    )


def test_tables_have_the_scores_of_the_oracle_file_and_the_cpu_time_of_a_run():
    """The engine took 1 s from the first sample to the last, and 2 s in the second run. Of one core
    the two took 200 % and 300 %.
    """
    results = [
        result_of_run(
            number,
            [
                Sample(0.0, 0, 3.0, 1, ResourceUse(2**20, 2.5, 1)),
                Sample(1.0, 0, 4.0 + number, 1, ResourceUse(2**20, 2.5 + number, 1)),
            ],
        )
        for number in (1, 2)
    ]
    oracle = files.oracle_entries_of(results[0])
    assert [(entry.precision, entry.start) for entry in oracle] == [(0.0, 0), (1.0, 6)]
    scores, _, resources, *_ = YABENCH.tables(results)
    row = dict(zip(scores.columns, scores.rows[0], strict=True))
    assert row["code P"].text == "0.5000"
    row = dict(zip(resources.columns, resources.rows[0], strict=True))
    assert (row["the engine's CPU s"].text, row["CPU %"].text) == ("1.50", "250.0")


# Configurations


def test_the_experiments_are_the_papers():
    tests = configuration.read_experiments_of_paper()
    assert [(test.experiment, test.name, test.parameters.stations) for test in tests] == [
        *(("1", "small", 50), ("1", "medium", 1000), ("1", "big", 10_000)),
        *(("2", "small", 1), ("2", "medium", 1000), ("2", "big", 10_000)),
        *(("3", "small", 50), ("3", "medium", 200), ("3", "big", 500)),
        *(("4", "gracious", 1), ("4", "non-gracious", 1)),
    ]
    assert [test.parameters.seed for test in tests][::3] == [
        1430236906,
        1430237208,
        1430236808,
        1430236808,
    ]
    assert {(test.size, test.slide) for test in tests} == {(5000, 5000)}
    assert [test.runs for test in tests] == [10] * 9 + [1] * 2


def test_the_scale_small_has_few_stations_where_the_paper_has_many():
    """Five, for 6 s. Live they are as many as the paper's, for 30 s, and 20 s of experiment 4."""
    short = {one.name: one.options.parameters for one in YABENCH.workloads(Choice())}
    live = {one.name: one.options.parameters for one in YABENCH.workloads(Choice(is_live=True))}
    names = ["1 small", "2 small", "3 small", "4 gracious", "4 non-gracious"]
    assert [live[name].duration for name in names] == [30_000, 30_000, 30_000, 20_000, 20_000]
    assert [live[name].stations for name in names] == [50, 1, 50, 1, 1]
    few = {name: replace(live[name], stations=5, duration=6_000) for name in ("1 small", "3 small")}
    assert short == {**live, **few}
    assert YABENCH.workloads(Choice(scale=50))[0].options.parameters.duration == 30_000


def test_a_test_counts_before_the_configuration(tmp_path):
    (tmp_path / "x.toml").write_text(
        'seed = 1\nduration = "1m"\nmin_temp = -5\nstations = "3"\nquery = "${A} ${B}"\n'
        '"exec.oracle" = "x.jar"\n'
        'vars = { WSIZE = "4s", A = "a", B = "b" }\n'
        '[[tests]]\nname = "t"\nstations = 7\nvars = { B = "c" }\nruns = 2\n'
    )
    [test] = configuration.read_configuration(tmp_path / "x.toml")
    assert test.query == "a c" and (test.size, test.slide) == (4000, 4000)
    assert test.parameters == Parameters(1, 7, 60_000, 300_000, -5, 100)
    assert (test.runs, test.is_gracious, test.is_single_result) == (2, True, True)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"sed": 1}, r"config.json: sed: configuration: unknown key; did you mean 'seed'"),
        ({"tests": []}, "tests: configuration: expected a list of tests"),
        ({"tests": [{"name": "../x"}]}, r"tests\[0\].name: configuration: expected letters"),
        ({"duration": "5d"}, "duration: configuration: expected a duration such as 5s, got '5d'"),
        ({"runs": "0"}, "runs: configuration: must be > 0, got 0"),
        ({"runs": "10001"}, "runs: configuration: must be <= 10000, got 10001"),
        ({"graceful": "yes"}, "graceful: configuration: expected true or false, got 'yes'"),
        ({"vars": {"WSIZE": "5s"}}, "vars: configuration: the query needs a value for T"),
        ({"vars": {"WSIZE": "5s", "WPOLICY": "x", "T": 1}}, "expected onwindowclose or"),
        ({"generator": "SG2"}, "generator: configuration: there is SG1 alone"),
        ({"vars": "abc"}, "vars: configuration: expected an object, got 'abc'"),
        ({"tests": [{"name": "t"}, {"name": "t"}]}, "each test has a name of its own, got 't'"),
        (
            {"vars": {"WSIZE": "999999999999999h", "T": "1"}},
            "vars.WSIZE: configuration: must be at",
        ),
        ({"max_temp": 2**32}, "max_temp: configuration: must be > min_temp, by at most 2147483647"),
        ({"interval": "600h"}, "interval: configuration: must be at most 2147483647 ms"),
    ],
)
def test_a_bad_configuration_is_one_error(tmp_path, changed, reason):
    table = {
        "seed": "1",
        "duration": "5s",
        "query": "${T}",
        "vars": {"WSIZE": "5s", "T": "50"},
        "tests": [{"name": "t"}],
        **changed,
    }
    (tmp_path / "config.json").write_text(json.dumps(table))
    with pytest.raises(RefengineError, match=reason):
        configuration.read_configuration(tmp_path / "config.json")


def write_configuration(folder: Path, query: str, tests: list[dict[str, object]]) -> Path:
    table = {"seed": "1", "duration": "5s", "vars": {"WSIZE": "5s"}, "query": query, "tests": tests}
    path = folder / "mine.json"
    path.write_text(json.dumps(table))
    return path


def test_two_runs_with_the_same_files_are_refused(tmp_path):
    """The first run of x writes QR_x1, as the only run of x1 does. If x is run once, it writes
    QR_x.
    """
    body = "SELECT ?x { ?x <urn:p> ?y }"
    path = write_configuration(tmp_path, body, [{"name": "x", "runs": 2}, {"name": "x1"}])
    with pytest.raises(RefengineError, match="two runs would have the same files, QR_x1: rename"):
        YABENCH.workloads(Choice(config=path))
    assert len(YABENCH.workloads(Choice(config=path, runs=1))) == 2


def test_a_query_that_is_no_sparql_is_named_by_its_test(tmp_path):
    path = write_configuration(tmp_path, "SELECT ?x { ?x", [{"name": "t"}])
    with pytest.raises(RefengineError, match=r"^mine: test t: query: body line 1"):
        YABENCH.workloads(Choice(config=path))
