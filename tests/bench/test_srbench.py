"""SRBench: its stream against the distributions that it states, its static data and the loader of
real dumps by hand, its queries, and its tables.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import islice, pairwise
from statistics import fmean, pvariance

import pytest
from published_queries import kept_streams as kept_streams
from published_queries import relations

from conformance.bench.benchmark import Choice
from conformance.bench.run import check_choice
from conformance.bench.srbench import (
    OF_DAYS,
    OF_HOURS,
    QUERIES,
    SRBENCH,
    STATIONS,
    dumps,
    observations,
    places,
)
from conformance.bench.srbench.observations import (
    CLIMATES,
    EVERYWHERE,
    OM_OWL,
    RAIN,
    SSW,
    STREAM,
    Distribution,
    Parameters,
)
from conformance.verdict.results import BenchmarkRun, Outcome, Result
from refengine.core.query import Form, from_table
from refengine.model.errors import InvalidStream, RefengineError
from refengine.sparql.algebra import walk

MINUTE = 60_000
MANY = Parameters(seed=7, stations=5, duration=400 * MINUTE, interval=MINUTE)


# The stream


@cache
def values():
    """The values of each climate's phenomena, in tenths, of one station each."""
    found = {}
    for station, name in enumerate(CLIMATES):
        for one in observations.observations_of_station(MANY, station):
            found.setdefault((name, one.phenomenon), []).append(one.value)
    return found


def test_values_have_the_stated_triangular_distribution():
    """The sum of two draws from -h to h has the mean 0 and the variance 2h(h+1)/3, and is at most
    2h from it. Of 400 draws the mean is within 5 standard errors, and the variance within 25 %.
    """
    drawn = values()
    assert len(drawn) == sum(len({**EVERYWHERE, **climate}) for climate in CLIMATES.values())
    for (name, phenomenon), found in drawn.items():
        centre, half = {**EVERYWHERE, **CLIMATES[name]}[phenomenon]
        variance = 2 * half * (half + 1) / 3
        assert abs(fmean(found) - centre) < 5 * (variance / len(found)) ** 0.5
        assert 0.75 < pvariance(found) / variance < 1.25
        assert all(abs(value - centre) <= 2 * half for value in found)


def test_the_climates_are_what_the_queries_ask_for():
    """By the greatest distance 2h: the wind of a hurricane is always 74 or more, that of a blizzard
    above 40 in frost, and fog is never seen through as far as 11.
    """

    def least(spread: Distribution) -> float:
        return (spread.centre - 2 * spread.half) / 10

    def most(spread: Distribution) -> float:
        return (spread.centre + 2 * spread.half) / 10

    hurricane, blizzard, fog = (CLIMATES[name] for name in ("hurricane", "blizzard", "fog"))
    assert least(hurricane[observations.WIND]) == 84
    assert least(blizzard[observations.WIND]) == 41 and most(blizzard[observations.AIR]) == 30
    assert most(fog[observations.SIGHT]) == 11
    winds = [name for name, one in CLIMATES.items() if most(one[observations.WIND]) >= 74]
    assert winds == ["hurricane"]


def test_stations_observe_at_their_interval_and_each_fifth_falls_silent():
    """400 instants of each station; the fourth stops at half of the duration, after 200."""
    instants = {}
    for one in observations.observations(MANY):
        instants.setdefault(one.station, set()).add(one.time)
    assert [len(instants[station]) for station in range(5)] == [400, 400, 400, 200, 400]
    for times in instants.values():
        gaps = {later - earlier for earlier, later in pairwise(sorted(times))}
        assert gaps == {MINUTE} and 0 <= min(times) < MINUTE


def test_the_stream_is_in_order_and_a_station_does_not_depend_on_the_others():
    many = list(observations.observations(MANY))
    assert [one.time for one in many] == sorted(one.time for one in many)
    alone = list(observations.observations_of_station(replace(MANY, stations=99), 2))
    assert [one for one in many if one.station == 2] == alone
    other = list(observations.observations(replace(MANY, seed=8)))
    assert other != many


def test_a_stream_of_any_size_begins_at_once():
    endless = replace(MANY, duration=10**15)
    assert len(list(islice(observations.stream_lines(endless), 1000))) == 1000


def test_an_observation_is_eleven_triples_and_each_fourth_of_rain_does_not_say_its_unit():
    counts = {}
    for one in observations.observations_of_station(MANY, 0):
        number = len(list(observations.lines(one)))
        counts.setdefault(one.phenomenon, []).append(number)
    assert counts[RAIN][:8] == [11, 11, 11, 10, 11, 11, 11, 10]
    assert {number for kind, found in counts.items() if kind is not RAIN for number in found} == {
        11
    }


def test_the_lines_of_an_observation_by_hand():
    """-0.5 degrees at station 12, 90 s after midnight of the 13th."""
    one = observations.Observation(90_000, 12, observations.AIR, -5)
    found = list(observations.lines(one))
    key = "AirTemperature_S00012_90000"
    assert all(line.endswith(' "90000" .') for line in found)
    assert (
        f"<{SSW}MeasureData_{key}> <{OM_OWL}floatValue> "
        '"-0.5"^^<http://www.w3.org/2001/XMLSchema#float> "90000" .'
    ) in found
    assert (
        f"<{SSW}System_S00012> <{OM_OWL}generatedObservation> <{SSW}Observation_{key}>"
        in (found[-1])
    )
    assert '"2004-08-13T00:01:30+00:00"^^' in found[6]


# Static data


def test_the_places_of_thirteen_stations_by_hand():
    """Two stations a place: places 0 to 6, of which 2 and 5 are in Florida. Places 0 and 3 are of
    county 0, 1 and 4 of county 1, 2 and 5 of county 2, and 6 of county 3.
    """
    found = set(places.describe_places(1, 13))

    def subjects(predicate: str, thing: str) -> list[str]:
        return sorted(s for s, p, o in found if p == f"<{places.GN}{predicate}>" and o == thing)

    assert subjects("featureCode", f"<{places.GN}T.SHOR>") == [
        f"<{places.FEATURE}{number}/>" for number in (7_000_002, 7_000_005)
    ]
    assert subjects("featureCode", f"<{places.GN}S.AIRP>") == [
        f"<{places.FEATURE}{number}/>" for number in (6_300_001, 6_300_003, 6_300_005)
    ]
    counties = {
        number: subjects("parentFeature", f"<{places.FEATURE}{4_500_000 + number}/>")
        for number in range(4)
    }
    assert counties == {
        0: [places.city(0), places.city(3)],
        1: [places.city(1), places.city(4)],
        2: [places.city(2), places.city(5)],
        3: [places.city(6)],
    }
    assert subjects("parentFeature", f"<{places.FEATURE}4000000/>") == [
        f"<{places.FEATURE}{4_500_000 + number}/>" for number in (0, 3)
    ]


def test_cities_are_large_and_small_in_turn():
    inhabitants = [places.population_of(1, place) for place in range(40)]
    assert all(20_000 <= number < 2_000_000 for number in inhabitants[::2])
    assert all(500 <= number < 15_000 for number in inhabitants[1::2])
    assert len(set(inhabitants)) == 40


def test_each_station_is_described_and_the_first_is_where_q8_asks():
    found = set(places.describe_sensors(1, 10))
    count = Counter(predicate for _, predicate, _ in found)
    assert count[f"<{OM_OWL}processLocation>"] == count[f"<{OM_OWL}hasLocation>"] == 10
    assert count[f"<{OM_OWL}parameter>"] == 2 * sum(2 + len(one) for one in CLIMATES.values())
    position = {p: o for s, p, o in found if s == f"<{SSW}point_S00000>"}
    assert position[f"<{places.WGS84}alt>"].startswith('"6300"')


# The real dumps

HEAD = """
@prefix om-owl: <http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#> .
@prefix obs: <http://knoesis.wright.edu/ssw/> .
@prefix owl-time: <http://www.w3.org/2006/time#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
DUMP = """
obs:Instant_2 owl-time:inXSDDateTime
  "2004-08-13T06:05:00-NA^^http://www.w3.org/2001/XMLSchema#dateTime" .
obs:Observation_2 om-owl:samplingTime obs:Instant_2 ; om-owl:result obs:MeasureData_2 .
obs:MeasureData_2 om-owl:floatValue "4.0"^^xsd:float .
obs:Observation_1 om-owl:samplingTime obs:Instant_1 .
obs:Instant_1 owl-time:inXSDDateTime "2004-08-13T00:00:00-06:00"^^xsd:dateTime .
obs:System_A om-owl:generatedObservation obs:Observation_1 .
"""
SIX_O_CLOCK = 1_092_376_800_000  # of 13 August 2004 in UTC


def write_dump(folder, text):
    (folder / "observations" / "A").mkdir(parents=True)
    (folder / "observations" / "A" / "A_2004_8_13.n3").write_text(HEAD + text)
    return folder / "observations"


def test_a_dump_is_read_in_the_order_of_sampling_times(tmp_path):
    """Midnight six hours west of Greenwich is six o'clock; a date of no zone is in UTC."""
    stream = dumps.read_observations(write_dump(tmp_path, DUMP))
    times = [element.app - SIX_O_CLOCK for element in stream]
    assert times == [0, 0, 0, 300_000, 300_000, 300_000, 300_000]
    assert sum(len(element.graph) for element in stream) == 7


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("00:00:00-06:00", "noon", "a sampling time must be a date such as .*noon"),
        ("owl-time:inXSDDateTime", "owl-time:at", "no sampling time leads to"),
        (
            "obs:System_A om-owl:generatedObservation",
            "obs:System_A om-owl:ID",
            "the folder sensors",
        ),
        (
            "obs:Observation_1 om-owl:samplingTime",
            "obs:Observation_1 om-owl:samplingTime .",
            "A_2004",
        ),
    ],
)
def test_a_bad_dump_is_one_error_that_names_the_file(tmp_path, old, new, message):
    folder = write_dump(tmp_path, DUMP.replace(old, new))
    with pytest.raises(InvalidStream, match=message) as error:
        dumps.read_observations(folder)
    assert "A_2004_8_13.n3" in str(error.value)


def test_a_folder_without_observations_is_refused(tmp_path):
    with pytest.raises(InvalidStream, match="no such folder"):
        dumps.read_observations(tmp_path / "observations")
    (tmp_path / "observations").mkdir()
    with pytest.raises(InvalidStream, match=r"no observation is in a file that ends in \.n3"):
        dumps.read_observations(tmp_path / "observations")


def test_the_users_data_take_the_place_of_the_generated(tmp_path):
    write_dump(tmp_path, DUMP)
    (tmp_path / "sensors").mkdir()
    (tmp_path / "sensors" / "A.n3").write_text(HEAD + 'obs:System_A om-owl:ID "A" .')
    [workload] = SRBENCH.workloads(Choice(data=tmp_path, only=("Q10",)))
    assert len(workload.static) == 1
    assert len(workload.streams[STREAM].load().stream) == 7


# Queries


def test_the_answers_that_follow_from_the_climates():
    """Of the five stations the second is in a hurricane and the third in a blizzard; the fourth,
    in the fog, falls silent; the fifth has a breeze on the shore of Florida.
    """

    def things(name: str, variable: str) -> set[str]:
        return {
            dict(row)[variable] for relation in relations("srbench", name) for row in relation.rows
        }

    def sensor(station: int) -> str:
        return f"<{SSW}System_{observations.name_of_station(station)}>"

    assert things("Q5", "subject") >= {sensor(2)}
    assert things("Q6", "sensor") == {sensor(1), sensor(2), sensor(3)}
    assert things("Q7", "sensor") == {sensor(3)}
    assert things("Q8", "sensor") == {sensor(0)}
    assert things("Q13", "shore") == {f"<{places.FEATURE}7000002/>"}
    assert things("Q14", "sensor") == {sensor(2), sensor(3)}
    assert things("Q16", "site") == {f"<{places.DBR}Site_0>"}
    assert things("Q17", "city") == {places.resource_of_city(0)}
    assert things("Q11", "sensor") >= {sensor(2), sensor(3)}  # either one of a pair
    assert things("Q11", "neighbour") == things("Q11", "sensor")


def test_the_paper_scale_asks_as_published_and_the_small_one_has_longer_slides_in_faster_time():
    def slides(scale: str) -> dict[str, int]:
        return {
            one.name: one.query.windows[0].slide for one in SRBENCH.workloads(Choice(scale=scale))
        }

    assert slides("paper")["Q8"] == slides("paper")["Q4"] == 10 * MINUTE
    assert slides("paper")["Q1"] == 60 * MINUTE
    # 12 h, 30 min and 1 h; days go 3,600 times faster, and hours 200 times
    assert [slides("small")[name] for name in ("Q8", "Q4", "Q1")] == [12_000, 9_000, 18_000]


FEATURES = {
    "distinct": "Distinct",
    "optional": "LeftJoin",
    "union": "Union",
    "having": "",
    "filter": "Filter",
}


@pytest.mark.parametrize("name", QUERIES)
def test_the_stated_features_are_those_of_the_query(name):
    query = QUERIES[name]
    body = query.table["body"]
    parsed = from_table(query.table).body
    kinds = {type(node).__name__ for node in walk(parsed.algebra.pattern)}
    for feature in ("distinct", "optional", "union"):
        assert (FEATURES[feature] in kinds) == (feature in query.features)
    assert ("HAVING" in body) == ("having" in query.features)
    assert (body.count("SELECT") > (parsed.form is Form.SELECT)) == ("subquery" in query.features)
    assert (parsed.form is Form.ASK) == ("ask" in query.features)
    assert (parsed.form is Form.CONSTRUCT) == ("construct" in query.features)
    assert ("AVG(" in body or "MIN(" in body) == ("aggregate" in query.features)
    assert (query.table.get("r2s") == "Dstream") == ("dstream" in query.features)
    assert bool(query.graphs) == ("static" in query.features)


# Tables


def result_of(engine, query, outcome, rows=1, explanation=""):
    return Result(
        engine=engine,
        suite="srbench",
        case=query,
        rule="",
        outcome=outcome,
        explanation=explanation,
        evidence={"run": {"rows": rows, "seconds": 1, "elements": 1}},
        benchmark_run=BenchmarkRun(query, query, 1),
    )


def test_the_functional_table_by_hand():
    """Two engines; of two runs the worse is shown; a pass without a row says less."""
    results = [
        result_of("a", "Q1", Outcome.PASS),
        result_of("a", "Q1", Outcome.FAIL, explanation="first divergence: x"),
        result_of("a", "Q2", Outcome.PASS, rows=0),
        result_of("b", "Q2", Outcome.PASS, rows=3),
    ]
    functional, reasons, queries, runs = SRBENCH.tables(results)
    assert functional.columns == (
        "query",
        "a",
        "b",
        "SPARQLstream, published",
        "CQELS, published",
        "C-SPARQL, published",
    )
    texts = [[cell.text for cell in row] for row in functional.rows]
    assert texts[0] == ["Q1", "fail", "–", "ok", "ok", "ok"]
    assert texts[1] == ["Q2", "pass, no row", "pass", "PP", "PP", "PP"]
    assert texts[16] == ["Q17", "–", "–", "PP, SD", "PP", "PP"]
    assert [[cell.text for cell in row] for row in reasons.rows] == [
        ["a", "Q1", "fail", "–", "first divergence: x"]
    ]
    assert len(queries.rows) == 17 and len(runs.rows) == 4


def test_what_srbench_has_not_is_refused(tmp_path):
    with pytest.raises(RefengineError, match="SRBench has no configuration"):
        check_choice(SRBENCH, Choice(config=tmp_path))
    with pytest.raises(RefengineError, match="SRBench has no recordings"):
        SRBENCH.judge_recordings(tmp_path, [])


def test_the_scale_is_the_number_of_stations():
    [workload] = SRBENCH.workloads(Choice(scale=7, only=("Q1",)))
    assert workload.streams[STREAM].fingerprint().startswith("srbench-2012-7-")
    assert STATIONS["small"] == len(CLIMATES)
    assert OF_DAYS.interval < OF_DAYS.duration and OF_HOURS.interval < 60 * MINUTE
