"""IO-1: one function reads every time, and a stream in which some times have no zone is noted."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.bench.citybench.files import read_reports
from conformance.bench.srbench.dumps import parse_sampling_time
from refengine.model.elements import XSD, literal
from refengine.model.errors import InvalidStream
from refengine.rdf.forms.reading import ReadingOptions
from refengine.rdf.sources import Text
from refengine.rdf.streams import read_stream, read_stream_and_rest
from refengine.rdf.times import PROV_GENERATED_AT_TIME

ROOT = Path(__file__).parents[2]
DATE = f"<{PROV_GENERATED_AT_TIME}>"
# By XSD 1.1 §3.3.7: hours before 1970-01-01T00:00:00Z for a zone east of it; a fraction is cut.
TIMES = {
    "2014-10-26T02:59:00+02:00": 1_414_285_140_000,  # 00:59 in UTC
    "2014-10-26T02:00:00+01:00": 1_414_285_200_000,  # a minute later: the night summer time ends
    "2014-10-26T01:00:00Z": 1_414_285_200_000,
    "2014-10-26T01:00:00": 1_414_285_200_000,  # without a zone it is UTC
    "2014-10-25T19:30:00-05:30": 1_414_285_200_000,
    "2014-10-26T01:00:00.0009": 1_414_285_200_000,
    "1969-12-31T23:59:59.9999Z": -1,
    "2014-10-26T00:59:60Z": None,  # XSD has no such second
    "2014-10-26": None,
    "20141026T010000": None,
    "2014-W43-7T01:00:00": None,
    "2014-10-26T01:00": None,
    "2014-10-26T01:00:00+0100": None,
    "soon": None,
}


def of_turtle(time: str) -> int:
    text = f"<urn:a> {DATE} {literal(time, XSD + 'dateTime')} ."
    return read_stream(Text("s.ttl", text)).elements[0].app


def json_line(time: str) -> str:
    return '{"subject":"<urn:a>","predicate":"<urn:p>","object":"<urn:b>","time":"%s"}' % time  # noqa: UP031


def of_json_line(time: str) -> int:
    return read_stream(Text("s.ndjson", json_line(time))).elements[0].app


COLUMNS = Text("c.toml", 'subject = "urn:a"\ntime = "t"\n[predicates]\n"urn:p" = {text="{v}"}')


def of_columns(time: str) -> int:
    return read_stream(Text("s.csv", f"t,v\n{time},1\n"), columns=COLUMNS).elements[0].app


def of_sampling_time(time: str) -> int:
    return parse_sampling_time(literal(time, XSD + "dateTime"), Path("f.n3"))


READERS: list[Callable[[str], int]] = [of_turtle, of_json_line, of_columns, of_sampling_time]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("time", TIMES)
def test_each_reader_reads_the_same_time(read, time):
    if TIMES[time] is None:
        with pytest.raises(InvalidStream):
            read(time)
    else:
        assert read(time) == TIMES[time]


def weather(folder: Path, *times: str) -> list[int]:
    (folder / "streams").mkdir(exist_ok=True)
    rows = "".join(f"56,18,7.4,{time}\n" for time in times)
    file = folder / "streams" / "AarhusWeatherData0.stream"
    file.write_text(f"hum,tempm,wspdm,TIMESTAMP\n{rows}")
    return [time for time, _ in read_reports(folder, "AarhusWeatherData0")]


def test_citybench_reads_zones_as_all_readers_do(tmp_path):
    """A report's time counts from the first one's, which is at the epoch here."""
    for time, expected in TIMES.items():
        if expected is None:
            with pytest.raises(InvalidStream, match="a time must be a date such as"):
                weather(tmp_path, "1970-01-01T00:00:00", time)
        else:
            assert weather(tmp_path, "1970-01-01T00:00:00", time) == [0, expected]


def test_a_cell_may_have_a_space_in_place_of_the_t(tmp_path):
    for time in ("1970-01-01 00:00:09.145", "1970-01-01 01:00:09.145+01:00"):
        assert of_columns(time) == of_json_line(time) == 9145
        assert weather(tmp_path, "1970-01-01 00:00:00", time) == [0, 9145]
        with pytest.raises(InvalidStream):  # in RDF it is no xsd:dateTime
            of_turtle(time)


def test_no_other_module_parses_a_time():
    """What is not of a stream may: the day of a run, and a wrong engine that is known for it."""
    others = {"conformance/report/earl.py", "conformance/wrong_engines/comparison.py"}
    found = {
        path.relative_to(ROOT).as_posix()
        for product in ("refengine", "conformance")
        for path in (ROOT / product).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("fromisoformat", "strptime")
    }
    assert found == others


# Times without a zone


def turtle(*times: str) -> str:
    dates = [literal(time, XSD + "dateTime") for time in times]
    return "\n".join(f"<urn:a{n}> {DATE} {date} ." for n, date in enumerate(dates))


def graphs(*times: str) -> str:
    return turtle(*times) + "".join(f"<urn:a{n}> {{ }}" for n, _ in enumerate(times))


def messages(*times: str) -> str:
    return 'VERSION "1.1-messages"\n' + turtle(*times).replace("\n", "\nMESSAGE\n")


def quads(*times: str) -> str:
    return "subject,predicate,object,time\n" + "".join(
        f"<urn:a>,<urn:p>,<urn:b>,{time}\n" for time in times
    )


def json_lines(*times: str) -> str:
    return "\n".join(map(json_line, times))


def rows(*times: str) -> str:
    return "t,v\n" + "".join(f"{time},1\n" for time in times)


FORMS = [
    ("s.ttl", turtle),
    ("s.trig", graphs),
    ("log.ttl", messages),
    ("s.csv", quads),
    ("s.jsonl", json_lines),
    ("rows.csv", rows),
]


def notes(name: str, text: str) -> tuple[str, ...]:
    columns = COLUMNS if name == "rows.csv" else None
    return read_stream_and_rest(Text(name, text), ReadingOptions(columns=columns)).notes


@pytest.mark.parametrize(("name", "write"), FORMS)
def test_times_with_and_without_a_zone_in_one_stream_are_noted_once(name, write):
    unzoned, zoned = "2024-03-01T10:00:00", "2024-03-01T10:00:00Z"
    assert notes(name, write(zoned, unzoned, unzoned)) == (
        f"{name}: 2 of 3 times name no zone and are taken as UTC, the first is '{unzoned}'; the "
        "others name one (IO-1)",
    )
    assert notes(name, write(unzoned, unzoned)) == notes(name, write(zoned, zoned)) == ()
    (note,) = notes(name, write(zoned, *[unzoned] * 999))
    assert note.startswith(f"{name}: 999 of 1000 times name no zone") and len(note) < 200
