"""tools/bench, by-hand: the loops written by hand give the reports of the definitional engine, and
what the lines, the table and the drawing say is what was run. Nothing timed is asserted.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conformance.harness import engine_file
from tools import sg1
from tools.bench import __main__ as command
from tools.bench import hand_lines, peers
from tools.bench.by_hand import LOOP, QUERIES, READING, HandResult, HandRun, measure_by_hand
from tools.bench.hand_lines import measure_beside_loops
from tools.bench.hand_page import draw, table_lines, write_hand_page
from tools.bench.hand_written import INTEGER, LOOPS
from tools.bench.lab import Lab
from tools.bench.measure import RunFailed
from tools.bench.peers import ABSENT, ENGINES, PeerResult, PeerRun

SSW = "http://knoesis.wright.edu/ssw/"
STREAMS = {
    "two stations": sg1.Parameters(stations=2, interval=1000, duration=9000),
    "times on borders": sg1.Parameters(stations=3, interval=1000, duration=8000, together=True),
    "gaps longer than a window": sg1.Parameters(stations=2, interval=7000, duration=28000),
    "expiry between arrivals": sg1.Parameters(stations=4, interval=3000, duration=12000, seed=5),
}


def lines_of(parameters: sg1.Parameters, shuffled: random.Random | None = None) -> list[str]:
    """The lines of a stream, those of a reading in another order if they are shuffled."""
    every: list[str] = []
    for observation in sg1.observations(parameters):
        its = sg1.lines(observation).splitlines(keepends=True)
        if shuffled is not None:
            shuffled.shuffle(its)
        every += its
    return every


def reading(station: int, time: int, temperature: int) -> str:
    return sg1.lines(sg1.Observation(time, station, temperature))


def sensor(station: int) -> str:
    return f"<{SSW}System_A{station}>"


def observation(station: int, time: int) -> str:
    return f"<{SSW}Observation_AirTemperature_A{station}_{time}>"


@pytest.mark.parametrize("is_shuffled", [False, True])
@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("query", QUERIES)
def test_a_loop_gives_the_reports_of_the_definitional_engine(query, stream, is_shuffled, tmp_path):
    path = tmp_path / "stream.n3t"
    shuffled = random.Random(7) if is_shuffled else None
    path.write_text("".join(lines_of(STREAMS[stream], shuffled)), encoding="utf-8")
    loop, engine = (
        measure_by_hand(HandRun(str(path), query, what)) for what in (LOOP, "definitional")
    )
    assert loop._replace(cpu_seconds=0) == engine._replace(cpu_seconds=0)
    assert loop.rows > 0


# Derived by hand. Station 1 reads 60 at 100 and 90 at 1200, station 2 reads 50 at 400. 60 and 90
# are above 50, and 90 alone is above 80.
STREAM = reading(1, 100, 60) + reading(2, 400, 50) + reading(1, 1200, 90)
BY_HAND = {
    "medium": [
        (100, {(sensor(1), observation(1, 100), f'"60.0"^^<{sg1.FLOAT}>'): 1}),
        (1200, {(sensor(1), observation(1, 1200), f'"90.0"^^<{sg1.FLOAT}>'): 1}),
    ],
    # Windows [0, 5000) and [1000, 6000) hold triples.
    "Q5": [
        (4999, {(sensor(1), observation(1, 1200)): 1}),
        (5999, {(sensor(1), observation(1, 1200)): 1}),
    ],
    # 60 expires at 5100; what is left at 6200 is 0, which is no group.
    "counts": [
        (100, {(sensor(1), f'"1"^^{INTEGER}'): 1}),
        (1200, {(sensor(1), f'"2"^^{INTEGER}'): 1}),
        (5100, {(sensor(1), f'"1"^^{INTEGER}'): 1}),
    ],
}


@pytest.mark.parametrize("query", QUERIES)
def test_a_loop_gives_the_reports_derived_by_hand(query):
    assert list(LOOPS[query](STREAM.splitlines())) == BY_HAND[query]


def fake(run: HandRun) -> HandResult:
    """A reading takes 3 times as long as the loop, and the engine 40 times."""
    seconds = {LOOP: 0.5, READING: 1.5}.get(run.what, 20.0)
    return HandResult(seconds, 4, 9, "" if run.what == READING else "same")


def lines(tmp_path: Path, measure=fake, measure_engine=None, engines=()):
    """The lines of the benchmark on a tiny stream."""
    return list(
        measure_beside_loops(
            Lab(tmp_path, runs=2), "by-hand", 1, 1, engines, measure, measure_engine
        )
    )


def test_a_line_has_the_ratios_to_the_loop(tmp_path):
    first = lines(tmp_path)[0]
    assert first["ratios"] == {"reading": 3.0, "engine": 40.0}
    assert (first["reports"], first["rows"], first["runs"], first["equal"]) == (4, 9, 2, True)


def test_the_run_with_the_least_seconds_counts(tmp_path):
    loops = iter([0.5, 0.25] * len(QUERIES))

    def measure(run: HandRun) -> HandResult:
        found = fake(run)
        return found._replace(cpu_seconds=next(loops)) if run.what == LOOP else found

    assert lines(tmp_path, measure)[0]["ratios"] == {"reading": 6.0, "engine": 80.0}


def test_other_reports_than_those_of_the_loop_are_a_difference(tmp_path):
    def measure(run: HandRun) -> HandResult:
        found = fake(run)
        is_wrong = run.query == "Q5" and run.what == "incremental"
        return found._replace(digest="other", rows=8) if is_wrong else found

    found = {line["name"]: line for line in lines(tmp_path, measure)}
    assert found["by-hand/medium"]["equal"]
    assert not found["by-hand/Q5"]["equal"]
    assert found["by-hand/Q5"]["difference"].startswith("4 reports with 8 rows")


def test_an_engine_that_cannot_be_measured_is_named_with_the_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(
        hand_lines, "why_not_installed", lambda name: "no jars" if name == "esper" else ""
    )

    def measure(run: PeerRun) -> PeerResult:
        if run.engine == "yasper":
            raise RunFailed("Declined: a pattern | it\nignores")
        return PeerResult(5.0, 10, 9)

    found = lines(tmp_path, fake, measure, ("rsp-js", "esper", "yasper"))
    by_name = {line["name"].rpartition("/")[2]: line for line in found}
    assert by_name["rsp-js"]["ratios"] == {"peer": 10.0}
    assert by_name["esper"]["not_installed"] == "no jars"
    assert by_name["yasper"]["failed"].startswith("Declined")
    assert {name for name in by_name if "not_installed" in by_name[name]} == {"esper", *ABSENT}

    table = list(table_lines(found))
    measured = f"rsp-js: {ENGINES['rsp-js']}"
    assert f"| Q5 | 0.500 | {measured} | 10 | 10 | 9 |" in table
    assert "| medium | 0.500 | reading | 3 |  |  |" in table
    assert "- esper: not installed: no jars" in table
    assert "- yasper: failed: Declined: a pattern | it ignores" in table


def test_the_engines_are_those_of_the_suite():
    assert set(ENGINES) <= set(engine_file.names())


def test_the_reference_engine_gives_the_rows_of_the_loop(tmp_path):
    stream = Lab(tmp_path).stream(2, 9)
    found = peers.measure_peer(PeerRun(str(stream.path), "reference"))
    assert found.rows == found.common_rows > 0 and found.cpu_seconds > 0


def test_a_bar_is_as_long_as_the_logarithm_of_its_ratio(tmp_path):
    measured = lines(
        tmp_path,
        lambda run: fake(run)._replace(cpu_seconds={LOOP: 0.5, READING: 5.0}.get(run.what, 50.0)),
    )
    drawing = ElementTree.fromstring(draw(measured))
    widths = [
        float(bar.get("width", "")) for bar in drawing.iter("{http://www.w3.org/2000/svg}rect")
    ]
    assert len(widths) == 2 * len(QUERIES)
    for narrow, wide in zip(widths[::2], widths[1::2], strict=True):
        assert wide == pytest.approx(2 * narrow)


def test_the_command_writes_the_table_and_the_drawing(tmp_path, capsys):
    out = tmp_path / "out"
    arguments = ["by-hand", "--tiny", "--runs", "1", "--work", str(tmp_path), "--out", str(out)]
    assert command.main(arguments) == 0
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    page = (out / "by-hand.md").read_text(encoding="utf-8").splitlines()
    assert page[: len(list(table_lines(printed)))] == list(table_lines(printed))
    assert (out / "by-hand.svg").read_text(encoding="utf-8").strip() == draw(printed)


def test_a_page_keeps_the_ratios_of_earlier_runs(tmp_path):
    for run_name, engine in (("first", 50.0), ("second", 10.0), ("first", 25.0)):
        seconds = {LOOP: 0.5, READING: 5.0}
        measured = lines(
            tmp_path,
            lambda run, seconds=seconds, engine=engine: fake(run)._replace(
                cpu_seconds=seconds.get(run.what, engine)
            ),
        )
        write_hand_page(measured, tmp_path, run_name)
    page = (tmp_path / "by-hand.md").read_text(encoding="utf-8").splitlines()
    assert page[-2:] == ["| second | 20 | 20 | 20 |", "| first | 50 | 50 | 50 |"]


def test_a_history_that_is_none_is_refused(tmp_path):
    (tmp_path / "by-hand.ndjson").write_text('{"run": "first"}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="line 1: must be"):
        write_hand_page([], tmp_path, "second")


def test_out_is_refused_without_the_benchmark(tmp_path, capsys):
    with pytest.raises(SystemExit):
        command.main(["small", "--out", str(tmp_path)])
    assert "--out is for by-hand" in capsys.readouterr().err
