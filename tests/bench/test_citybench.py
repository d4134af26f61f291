"""CityBench: its generated sensors against what is stated of them, the loader of its files by hand,
its knobs, its queries, its measures and its tables.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import islice, pairwise

import pytest
from published_queries import kept_streams as kept_streams
from published_queries import question_of, relations, small_test

from conformance.bench.benchmark import Choice, Feeding, FeedingTimes, Run
from conformance.bench.citybench import CITYBENCH, configuration, files, generator, schema, sensors
from conformance.bench.citybench.configuration import Knobs, read_experiments
from conformance.bench.citybench.generator import Parameters
from conformance.bench.citybench.measures import measure
from conformance.bench.citybench.queries import QUERIES
from conformance.bench.citybench.schema import CITY, SAO, SERVICES, SSN
from conformance.bench.citybench.tables import published_means
from conformance.bench.metrics.citybench import (
    Completeness,
    completeness,
    latencies,
    observation_variables,
)
from conformance.bench.wordings import make_wordings
from conformance.harness.resources import Sample
from conformance.suite.exchange import Exchange
from conformance.verdict.engine_report import EngineReport
from conformance.verdict.outcomes import judge_relations
from conformance.verdict.results import BenchmarkRun, Outcome, Result
from refengine import dialects
from refengine.core.query import from_table
from refengine.core.question import Question
from refengine.model.elements import literal, row
from refengine.model.errors import InvalidStream, RefengineError
from refengine.oracle.judge import EVERY_WITNESS

ROAD, CAR_PARK = "AarhusTrafficData158505", "AarhusParkingDataSKOLEBAKKEN"
AIR, WEATHER = "AarhusPollutionData201399", "AarhusWeatherData0"
SECOND = 1_000


# The generator


def reports_of(sensor, seconds=600):
    return list(generator.reports(Parameters(sensor, seconds * SECOND, SECOND)))


@pytest.mark.parametrize(
    ("sensor", "name", "least", "most", "step"),
    [
        (ROAD, "vehicleCount", 0, 60, 6),
        (ROAD, "avgSpeed", 5, 90, 5),
        (CAR_PARK, "vehiclecount", 0, 40, 3),
        (AIR, "ozone", 15, 215, 6),
        (WEATHER, "hum", 0, 100, 3),
        (WEATHER, "tempm", 0, 35, 1),
        (sensors.USER, "latitude", 55.65, 56.65, 0.040001),
    ],
)
def test_what_sensors_report_is_a_walk_in_the_stated_bounds(sensor, name, least, most, step):
    """Of two reports one after the other the difference is at most the step, and each size up to
    that comes about as often as any other: of 600 draws none is missing.
    """
    numbered = {report.number: report.columns[name] for _, report in reports_of(sensor)}
    assert all(least <= value <= most for value in numbered.values())
    moves = [
        numbered[number + 1] - value for number, value in numbered.items() if number + 1 in numbered
    ]
    assert max(map(abs, moves)) <= step
    if step >= 1:
        assert {round(move) for move in moves} >= set(range(1 - step, step))


def test_a_sensor_reports_at_its_interval_and_weather_every_other_three_seconds():
    """Of 600 seconds the weather is silent in 300."""
    times = [time for time, _ in reports_of(ROAD)]
    assert len(times) == 600 and {later - one for one, later in pairwise(times)} == {SECOND}
    assert 0 <= times[0] < SECOND
    told = [time for time, _ in reports_of(WEATHER)]
    assert len(told) == 300 and all(time // 3_000 % 2 == 0 for time in told)


def test_sensors_do_not_depend_on_one_another_and_a_stream_begins_at_once():
    first = list(generator.stream_lines(Parameters(ROAD, 3 * SECOND, SECOND)))
    assert first == list(generator.stream_lines(Parameters(ROAD, 3 * SECOND, SECOND)))
    endless = generator.stream_lines(Parameters(ROAD, 10**12, SECOND))
    assert list(islice(endless, len(first))) == first


def test_the_triples_of_reports_by_hand():
    """12 vehicles on 1,200 m at 50 km/h: congestion 0.01, estimated time 24. A car park of 210 with
    115 cars has 95 free. The index of pollution is the greatest.
    """
    columns = {"DISTANCE_IN_METERS": 1200, "avgSpeed": 50, "vehicleCount": 12, "avgMeasuredTime": 9}
    report = sensors.Report(ROAD, 3, columns)
    triples = list(sensors.write_report(report, sensors.properties_of(ROAD)))
    assert len(triples) == 5 * 4
    values = {s: o for s, p, o in triples if p == f"<{SAO}hasValue>"}
    assert values[f"<{SERVICES}{ROAD}-3-CongestionLevel>"] == schema.double(0.01)
    assert values[f"<{SERVICES}{ROAD}-3-EstimatedTime>"] == schema.double(24)
    assert sensors.vacancies({"vehiclecount": 115, "totalspaces": 210}) == 95
    assert sensors.pollution_index(dict.fromkeys(sensors.POLLUTANTS, 4) | {"ozone": 9}) == 9
    assert sensors.estimate_time(columns | {"avgSpeed": 0}) == -1
    assert sensors.congestion_level(columns | {"DISTANCE_IN_METERS": 0}) == -1


def test_a_users_place_is_a_node_with_a_position():
    report = sensors.Report(sensors.USER, 0, {"latitude": 56.1, "longitude": 10.2})
    triples = list(sensors.write_report(report, sensors.properties_of(sensors.USER)))
    place = f"<{SERVICES}{sensors.USER}-0-place>"
    assert (place, f"<{CITY}hasLatitude>", schema.double(56.1)) in triples
    assert len(triples) == 6


def test_the_background_describes_more_sensors_of_traffic():
    """Five properties of each, with three triples, and a position."""
    few = generator.static_data(("sensors",), (ROAD,), 0)
    many = generator.static_data(("sensors",), (ROAD,), 100)
    assert len(few) == 5 * 3 + 2 and len(many) == 101 * 17 and few < many
    events = generator.static_data(("culturalevents",), (), 0)
    titles = sorted(o for _, p, o in events if p == f"<{SAO}value>")
    assert len(titles) == 6 and sum("Price: 0" in title for title in titles) == 2


# CityBench's files

TRAFFIC_CSV = """status,avgMeasuredTime,avgSpeed,extID,TIMESTAMP,vehicleCount,_id,REPORT_ID
OK,141,50,616,2014-08-01T07:50:00,12,1,158505
OK,141,0,616,2014-08-01T07:55:00,0,2,158505
OK,141,60,616,2014-08-01T08:00:00,30,3,158505
"""
ROADS_CSV = "extID,REPORT_ID,DISTANCE_IN_METERS\n615,1,5\n616,158505,1200\n"
REPOSITORY = f"""
@prefix : <{SERVICES}> . @prefix ssn: <{SSN}> . @prefix ct: <{CITY}> .
:{ROAD} ssn:observes :p1 , :p2 .
:p1 a ct:CongestionLevel ; ssn:isPropertyOf :f . :p2 a ct:AvgSpeed ; ssn:isPropertyOf [ a :F ] .
:other ssn:observes :p3 . :p3 a ct:CongestionLevel .
"""


@pytest.fixture
def checkout(tmp_path):
    """A checkout of CityBench's files, in small."""
    (tmp_path / "streams").mkdir()
    (tmp_path / "dataset" / "MetaData").mkdir(parents=True)
    (tmp_path / "streams" / f"{ROAD}.stream").write_text(TRAFFIC_CSV)
    (tmp_path / "dataset" / "MetaData" / "trafficMetaData.csv").write_text(ROADS_CSV)
    (tmp_path / "dataset" / "SensorRepository.n3").write_text(REPOSITORY)
    return tmp_path


def test_reports_of_a_file_come_with_the_length_of_the_road(checkout):
    found = list(files.read_reports(checkout, ROAD))
    assert [time for time, _ in found] == [0, 300_000, 600_000]
    assert [report.columns["vehicleCount"] for _, report in found] == [12, 0, 30]
    assert {report.columns["DISTANCE_IN_METERS"] for _, report in found} == {1200}


@pytest.mark.parametrize(
    ("knobs", "times"),
    [
        (Knobs("Q12", duration=3), [0, 1_000, 2_000]),
        (Knobs("Q12", duration=2, frequency=2.0), [0, 500, 1_000]),
        (Knobs("Q12", duration=2), [0, 1_000]),
        (Knobs("Q12", duration=3, rate=600.0), [0, 500, 1_000]),
        (Knobs("Q12", duration=1, rate=300.0), [0]),
    ],
)
def test_a_file_is_sent_at_the_frequency_or_faster_than_it_was_observed(checkout, knobs, times):
    """At rate 1 one report each 1/frequency seconds; at another one the file's five minutes, so
    many times faster. The repository names two properties, with four triples each.
    """
    from conformance.bench.citybench import read_stored_stream

    stream = read_stored_stream(checkout, ROAD, knobs)
    assert sorted({element.app for element in stream}) == times
    assert len(stream) == 8 * len(times)
    observed = {t[2] for one in stream for t in one.graph if t[1] == f"<{SSN}observedProperty>"}
    assert observed == {f"<{SERVICES}p1>", f"<{SERVICES}p2>"}


def test_the_users_files_take_the_place_of_the_generated(checkout):
    [workload] = CITYBENCH.workloads(Choice(data=checkout, only=("Q13",)))
    assert len(workload.static) == 9
    [source] = workload.streams.values()
    assert len(source.load().stream) == 3 * 8
    assert source.fingerprint()


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("streams", "avgSpeed,", "speed,", r"\.stream: IO-1: has no column 'avgSpeed'"),
        ("streams", ",12,", ",many,", r"\.stream:2: IO-1: vehicleCount must be a number, got "),
        ("streams", "2014-08-01T07:55:00", "soon", r"\.stream:3: IO-1: a time must be a date such"),
        ("roads", "158505", "158506", r"trafficMetaData\.csv: IO-1: has no road with REPORT_ID"),
        ("graph", f":{ROAD}", ":some", "says nothing of what AarhusTrafficData158505 observes"),
        ("graph", ":p1 a", ":p1 :p2 a", r"SensorRepository\.n3:4: IO-1"),
    ],
)
def test_a_malformed_file_is_one_error_that_names_its_place(checkout, file, old, new, message):
    paths = {
        "streams": checkout / "streams" / f"{ROAD}.stream",
        "roads": checkout / files.ROADS,
        "graph": checkout / "dataset" / "SensorRepository.n3",
    }
    paths[file].write_text(paths[file].read_text().replace(old, new))
    from conformance.bench.citybench import read_stored_stream

    with pytest.raises(InvalidStream, match=message):
        read_stored_stream(checkout, ROAD, Knobs("Q1"))


def test_a_missing_file_and_a_malformed_place_are_errors(checkout):
    with pytest.raises(InvalidStream, match=r"Data0\.stream: IO-1: cannot be read"):
        list(files.read_reports(checkout, WEATHER))
    path = checkout / "streams" / "UserLocationService.stream"
    path.write_text("user|56.5,10.0\nuser|56.5\n")
    with pytest.raises(InvalidStream, match=r"stream:2: IO-1: expected USER\|LATITUDE,LONGITUDE"):
        list(files.read_reports(checkout, sensors.USER))


# Knobs


def test_two_lists_are_all_pairs_and_a_test_says_its_values(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        '[[experiment]]\nname = "mine"\nquery = ["Q1", "Q5"]\nfrequency = [1.0, 4]\nwindow = 5\n'
    )
    found = read_experiments(file, Knobs("", duration=7))
    assert [(experiment, test) for experiment, test, _ in found] == [
        ("mine", "Q1 frequency 1.0"),
        ("mine", "Q1 frequency 4"),
        ("mine", "Q5 frequency 1.0"),
        ("mine", "Q5 frequency 4"),
    ]
    assert found[3][2] == Knobs("Q5", frequency=4, window=5, duration=7)
    tests = CITYBENCH.workloads(Choice(config=file))
    assert [one.name for one in tests] == [f"mine {test}" for _, test, _ in found]
    assert {window.size for window in tests[0].query.windows} == {5_000}
    for_7_seconds = CITYBENCH.workloads(Choice(config=file, scale=7))
    assert [one.options for one in for_7_seconds] == [knobs for _, _, knobs in found]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "experiment: .*expected a list of experiments"),
        ('[[experiment]]\nquery = "Q1"', r"experiment\[0\]\.name: .*expected the name"),
        ('[[experiment]]\nname = "x"', r"experiment\[0\]\.query: .*expected the name of a query"),
        (
            '[[experiment]]\nname = "x"\nquery = "Q1"\nfrequenzy = 1',
            r"frequenzy: .*unknown key.*'frequency'",
        ),
        (
            '[[experiment]]\nname = "x"\nquery = "Q1"\nwindow = [3, 0]',
            r"window: .*expected a whole number >= 1, got 0",
        ),
        (
            '[[experiment]]\nname = "x"\nquery = "Q1"\nrate = "fast"',
            r"rate: .*expected a number > 0, got 'fast'",
        ),
        ('[[experiment]]\nname = "x"\nquery = "Q14"', "no query 'Q14'; did you mean 'Q"),
        ("[[experiment", "configuration: not TOML: Expected"),
    ],
)
def test_a_malformed_configuration_is_one_error_that_names_the_key(tmp_path, text, message):
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(RefengineError, match=message) as error:
        CITYBENCH.workloads(Choice(config=file))
    assert "mine.toml" in str(error.value)


def test_the_papers_experiments_and_scales():
    """900 s at one report a second; Q12 at two. The lists of the four experiments have 4 * 3,
    3 * 3, 2 * 3 and 2 * 3 tests.
    """
    tests = CITYBENCH.workloads(Choice(scale="paper"))
    assert Counter(one.experiment for one in tests if one.experiment not in QUERIES) == {
        "frequency": 12,
        "duplicates": 9,
        "background": 6,
        "window": 6,
    }
    knobs = {one.name: one.options for one in tests}
    assert knobs["Q1"] == Knobs("Q1", duration=900, background=449)
    assert {one.witnesses for one in tests if one.options.background} == {("pyoxigraph",)}
    [alone] = CITYBENCH.workloads(Choice(only=("Q1",)))
    assert alone.witnesses == EVERY_WITNESS
    assert knobs["Q12"].frequency == 2.0
    [more] = [one for one in tests if one.test == "Q5 duplicates 20"]
    assert len(more.beside) == 19
    assert [one.options.duration for one in CITYBENCH.workloads(Choice(scale=9))] == [9] * 13
    assert len(CITYBENCH.workloads(Choice(only=("window",)))) == 6
    assert Knobs("Q1", rate=600.0).interval == 500 and Knobs("Q1", frequency=5.0).interval == 200
    assert configuration.small_setup("Q1") == Knobs("Q1")


# Queries


def test_what_is_near_is_within_the_distance_of_the_texts():
    """Q4 by hand: each row is an event and a place whose distance squared is below 0.1, and some
    event is farther from some place of the user.
    """
    rows = [dict(one) for relation in relations("citybench", "Q4") for one in relation.rows]

    def number(written):
        return float(written.split('"')[1])

    def is_near(one, other):
        return (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2 < 0.1

    found = {
        ((number(one["lat1"]), number(one["lon1"])), (number(one["lat2"]), number(one["lon2"])))
        for one in rows
    }
    events = positions(question_of("citybench", "Q4").static)
    users = set()
    for stream in question_of("citybench", "Q4").streams.values():
        users |= positions({triple for element in stream for triple in element.graph})
    assert found == {(one, other) for one in events for other in users if is_near(one, other)}
    assert any(not is_near(one, other) for one in events for other in users)


def positions(triples):
    """The latitudes and longitudes of nodes."""
    north = {s: o for s, p, o in triples if p == f"<{CITY}hasLatitude>"}
    east = {s: o for s, p, o in triples if p == f"<{CITY}hasLongitude>"}
    return {tuple(float(one[node].split('"')[1]) for one in (north, east)) for node in north}


def test_the_nearest_car_park_is_the_one_at_the_smaller_distance():
    """Q9: each row names one of the two car parks, as their positions say."""
    static = question_of("citybench", "Q9").static
    north = {s: o for s, p, o in static if p.endswith("Latitude>")}
    east = {s: o for s, p, o in static if p.endswith("Longitude>")}
    node_of = {s: o for s, p, o in static if p == f"<{CITY}hasFirstNode>"}
    feature_of = {s: o for s, p, o in static if p == f"<{SSN}featureOfInterest>"}

    def square(one, other):
        return sum(
            (float(axis[one].split('"')[1]) - float(axis[other].split('"')[1])) ** 2
            for axis in (north, east)
        )

    car_parks = sorted(node for node in north if node not in node_of.values())
    assert len(car_parks) == 2
    rows = [dict(one) for relation in relations("citybench", "Q9") for one in relation.rows]
    for one in rows:
        event = node_of[feature_of[one["evtId"]]]
        assert one["nearest"] == min(car_parks, key=lambda park: square(park, event))
    assert rows


@pytest.mark.parametrize("dialect", [name for name in dialects.DIALECTS if name != "cqels2"])
@pytest.mark.parametrize("name", QUERIES)
def test_every_query_is_said_in_every_language(name, dialect):
    said = []
    for wording in make_wordings(QUERIES[name].table):
        try:
            said.append(
                dialects.render(from_table(wording), dialect, static=bool(QUERIES[name].graphs))
            )
        except RefengineError:
            continue
    assert said


# Measures


def bag(*names):
    return Counter(row({"obId1": f"<urn:{name}>", "v": literal("1")}) for name in names)


def test_completeness_counts_each_observation_once():
    """Of a, b, c the answers name a and c, and d besides: 2 of 3, and one unexpected."""
    expected = [bag("a", "b"), bag("b", "c")]
    answered = [bag("a"), bag("c", "d", "a")]
    found = completeness(expected, answered, ["obId1"])
    assert found == Completeness(3, 2, 1) and found.share == Fraction(2, 3)
    assert completeness([], [bag("a")], ["obId1"]).share is None


def test_without_a_variable_of_observations_rows_are_counted():
    assert observation_variables(("obId1", "v1", "obCnt")) == ("obId1",)
    assert completeness([bag("a"), bag("a", "b")], [bag("a")], []) == Completeness(2, 1, 0)


def test_latency_is_from_sending_to_the_first_answer():
    """a: 3 - 1, whatever comes later; b: 5 - 2; c was not sent by us."""
    answers = [(bag("a"), 3.0), (bag("a", "b", "c"), 5.0)]
    sent = {"<urn:a>": 1.0, "<urn:b>": 2.0}
    assert latencies(answers, sent, ["obId1"]) == {"<urn:a>": 2.0, "<urn:b>": 3.0}


def run_with(answers, name="Q13"):
    """A run of a query whose engine gave answers, over a stream with elements at 0 and 1000."""
    [workload] = CITYBENCH.workloads(Choice(only=(name,)))
    loaded_streams = {one: source.load().stream for one, source in workload.streams.items()}
    times = FeedingTimes({}, {}, ended=9.0)
    for instant in {element.app for stream in loaded_streams.values() for element in stream}:
        times.sent[instant] = instant / 1000
        times.replied[instant] = instant / 1000 + 0.5
    question = Question(workload.query, loaded_streams, workload.static_source.load())
    samples = [Sample(0.0, 2 << 20, 0.1, 1), Sample(0.5, 4 << 20, 0.2, 1)]
    feeding = Feeding(Exchange(question, answers), 0, 9.0, samples, 0.0, False, times=times)
    return Run(workload, "e", 1, feeding)


def test_the_measures_of_a_run_by_hand():
    """The first two reports of a road are named by an answer that comes with the second, half a
    second after that was sent: latencies 1.5 and 0.5 s. Memory is 3 MiB in the mean.
    """
    right = relations("citybench", "Q5")
    run = run_with([], "Q5")
    first, second = sorted(
        {e.app for s in run.feeding.exchange.question.streams.values() for e in s}
    )[:2]
    rows = Counter(
        row({"obId2": f"<{SERVICES}{ROAD}-{number}-CongestionLevel>"}) for number in (0, 1)
    )
    answer = EngineReport(replace(right[0], rows=rows), push_instant=second)
    measures = measure(run_with([answer], "Q5"), None)
    assert second - first == 1000
    assert measures["latency"] == pytest.approx(1000) and measures["memory"] == 3
    assert measures["knobs"]["query"] == "Q5" and "completeness" not in measures
    assert json.dumps(measures["knobs"])
    at_the_end = EngineReport(replace(right[0], rows=rows))
    late = measure(run_with([at_the_end], "Q5"), None)["latency"]
    assert late == pytest.approx(9000 - (first + second) / 2)
    assert measure(run_with([], "Q5"), None)["latency"] is None


def test_completeness_is_against_what_the_semantics_gives():
    question = question_of("citybench", "Q5")
    semantics = small_test("citybench", "Q5").semantics
    right = relations("citybench", "Q5")
    judged = judge_relations(question, semantics, right[:2], is_fail_explained=False)
    run = run_with([EngineReport(one) for one in right[:2]], "Q5")
    found = measure(run, judged.judgement)["completeness"]
    captured = {dict(one)["obId2"] for relation in right[:2] for one in relation.rows}
    expected = {dict(one)["obId2"] for relation in right for one in relation.rows}
    assert (found["captured"], found["expected"]) == (len(captured), len(expected))
    assert len(captured) < len(expected) and found["is_of_observations"]


def test_feeding_notes_when_instants_are_sent_and_answered(monkeypatch):
    """Two elements at 5 are sent at 0 s and 1 s and answered at 1 s and 3 s, one at 7 is sent at
    3 s and answered at 4 s, and the reply to the end comes at 6 s.
    """
    from conformance.bench import feeding

    now = [100.0]
    monkeypatch.setattr(feeding.time, "monotonic", lambda: now[0])
    pacing = feeding.ImmediatePacing()
    pacing.note_reply_and_tell_time()  # the reply to the registration
    for instant, replied in ((5, 101.0), (5, 103.0), (7, 104.0)):
        pacing.wait_until(instant)
        now[0] = replied
        assert pacing.note_reply_and_tell_time() is None
    now[0] = 106.0
    pacing.note_reply_and_tell_time()
    assert pacing.times.sent == {5: 0.0, 7: 3.0}
    assert pacing.times.replied == {5: 3.0, 7: 4.0} and pacing.times.ended == 6.0


# Tables


def result_of(query, outcome, measures, experiment=""):
    run = {"rows": 1, "seconds": 1, "elements": 1, "measures": measures}
    return Result(
        engine="e",
        suite="citybench",
        case=query,
        outcome=outcome,
        evidence={"run": run},
        benchmark_run=BenchmarkRun(experiment or query, query, 1),
    )


def test_the_table_of_measures_by_hand():
    """4 of 5 observations, beside what was published for one report a second."""
    completeness = {"expected": 5, "captured": 4, "unexpected": 2, "is_of_observations": True}
    measures = {
        "knobs": vars(Knobs("Q10")),
        "latency": 12.34,
        "memory": 50.0,
        "completeness": completeness,
    }
    rows = measures | {
        "completeness": completeness | {"is_of_observations": False},
        "latency": None,
    }
    results = [
        result_of("Q12", Outcome.PASS, rows | {"knobs": vars(Knobs("Q12", frequency=3.0))}),
        result_of("Q10", Outcome.FAIL, measures),
        result_of("Q10 window 5", Outcome.PASS, measures, "window"),
    ]
    first, functional, *_ = CITYBENCH.tables(results)
    assert [[cell.text for cell in one] for one in first.rows] == [
        ["e", "Q10", "fail", "12.3", "50.0", "0.8000", "2", "690.2", "78.9", "–", "–"],
        ["e", "Q12", "pass", "–", "50.0", "0.8000*", "2", "–", "–", "–", "–"],
        [
            "e",
            "window Q10 window 5",
            "pass",
            "12.3",
            "50.0",
            "0.8000",
            "2",
            *["690.2", "78.9"],
            "–",
            "–",
        ],
    ]
    assert [one[1].text for one in functional.rows] == ["–"] * 9 + ["fail", "–", "pass", "–"]
    assert published_means()["Q1", 1.0, 20, "cqels"]["memory"] == 1733.6


@pytest.mark.parametrize(("background", "published"), [(0, "690.2"), (449, "690.2"), (4490, "–")])
def test_more_static_data_than_published_have_no_published_means(background, published):
    measures = {
        "knobs": vars(Knobs("Q10", background=background)),
        "latency": None,
        "memory": 50.0,
    }
    table, *_ = CITYBENCH.tables([result_of("Q10", Outcome.PASS, measures)])
    assert table.rows[0][7].text == published


def test_what_citybench_has_not_is_refused(tmp_path):
    with pytest.raises(RefengineError, match="CityBench has no recordings"):
        CITYBENCH.judge_recordings(tmp_path, [])
