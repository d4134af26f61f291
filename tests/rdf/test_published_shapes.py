"""IO-1, IO-3: files in the shapes in which streams are published, written by hand for these tests,
are read by one command line each (docs/command-line.md, "Reading what others publish").
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from jelly_files import PREFIXES

from refengine.__main__ import main

RESULT_TIME = "--time-predicate http://www.w3.org/ns/sosa/resultTime"
COLUMNS = """
subject = "http://example.org/{id}"
time = "at"
[predicates]
"http://example.org/cars" = { text = "{cars}" }
"""


class Published(NamedTuple):
    """A file, the options with which it is read, and of each report its window's begin (minutes
    from the epoch) and the triples of its elements and of the static data.
    """

    end: str
    text: str
    options: str
    reports: list[tuple[int, int]]


PUBLISHED = {
    "graphs with metadata": Published(
        "trig",
        PREFIXES
        + '_:b0 prov:generatedAtTime "1970-01-01T00:00:33Z"^^xsd:dateTime ; :stream :full .\n'
        "_:b0 { _:o1 :value _:v . _:v :unit 'bpm' ; :number 50 . }\n"
        '_:b3 prov:generatedAtTime "1970-01-01T00:01:45Z"^^xsd:dateTime ; :stream :full .\n'
        "_:b3 { _:o2 :value 53 . }\n",
        "",
        [(0, 3), (1, 1)],
    ),
    "JSON-LD with relative IRIs, and times without a zone": Published(
        "jsonld",
        json.dumps(
            {
                "@context": {
                    "@vocab": "http://example.org/",
                    "at": {"@id": "http://example.org/at", "@type": "xsd:dateTime"},
                    "xsd": "http://www.w3.org/2001/XMLSchema#",
                },
                "@graph": [
                    {
                        "@id": f"_:{minute}",
                        "at": f"1970-01-01T00:0{minute}:00",
                        "@graph": [{"@id": "Paris", "degrees": minute}],
                    }
                    for minute in (1, 2)
                ],
            }
        ),
        "--time-predicate http://example.org/at --data-base http://example.org/",
        [(1, 1), (2, 1)],
    ),
    "a page of a feed that names its path": Published(
        "ttl",
        PREFIXES + ":feed a ldes:EventStream ; ldes:timestampPath dct:created ; "
        "tree:shape [ :path dct:created ] ; tree:view :page ; tree:member :a1, :a2 .\n"
        ':a1 dct:isVersionOf :a ; dct:created "1970-01-01T00:00:06Z"^^xsd:dateTime .\n'
        ':a2 dct:isVersionOf :a ; dct:created "1970-01-01T00:01:06Z"^^xsd:dateTime .\n',
        "",
        [(0, 2), (1, 2)],
    ),
    "a page of a feed that does not": Published(
        "ttl",
        PREFIXES + ':a1 dct:created "1970-01-01T00:00:06Z"^^xsd:dateTime ; :at :here .\n'
        ":page a tree:Node ; dct:isPartOf :feed . :feed a ldes:EventStream ; tree:member :a1 .\n",
        "--time-predicate http://purl.org/dc/terms/created",
        [(0, 2)],
    ),
    "observations with instants as nodes, and a platform": Published(
        "ttl",
        PREFIXES + ":phone a sosa:Platform ; sosa:hosts :sensor .\n"
        ':o1 sosa:resultTime "1970-01-01T00:00:12Z"^^xsd:dateTime ; sosa:madeBySensor :sensor .\n'
        ":o2 sosa:madeBySensor :sensor ; sosa:resultTime [ a time:Instant ;\n"
        '  time:inXSDDateTimeStamp "1970-01-01T01:01:13+01:00"^^xsd:dateTimeStamp ] .\n'
        ":sensor a sosa:Sensor .\n",
        f"{RESULT_TIME} --undated static",
        [(0, 5), (1, 7)],  # with the sensor's triple, and the platform's two
    ),
    "graphs with the date inside, and a description of the place": Published(
        "trig",
        PREFIXES + "{ :site a sosa:FeatureOfInterest . }\n:g1 { :o sosa:resultTime "
        '"1970-01-01T00:00:06.448117"^^xsd:dateTime . :r sosa:isResultOf :o ; :value 227 }\n',
        f"{RESULT_TIME} --undated static",
        [(0, 4)],
    ),
    "triples with results that point back": Published(
        "nt",
        "<urn:r> <http://www.w3.org/ns/sosa/isResultOf> <urn:o> .\n"
        '<urn:r> <urn:value> "227" .\n'
        "<urn:o> <http://www.w3.org/ns/sosa/resultTime> "
        '"1970-01-01T00:00:06.448117"^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n',
        RESULT_TIME,
        [(0, 3)],
    ),
    "a table with spaces in its times": Published(
        "csv",
        "id,cars,at\n7,115,1970-01-01 00:00:04.145\n8,121,1970-01-01 00:02:01.803\n",
        "--columns {columns}",
        [(0, 1), (2, 1)],
    ),
}


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("is_piped", [False, True])
def test_a_file_as_it_is_published_is_read(tmp_path, monkeypatch, capsys, name, is_piped):
    published = PUBLISHED[name]
    (tmp_path / "columns.toml").write_text(COLUMNS)
    (tmp_path / "q.toml").write_text(
        'windows = [{ stream = "s", kind = "time", size = 60000, slide = 60000 }]\n'
        'body = "SELECT ?s ?p ?o WHERE { ?s ?p ?o }"\n'
    )
    path = tmp_path / f"s.{published.end}"
    path.write_text(published.text)
    where = ["--stream", str(path)]
    if is_piped:
        stdin = io.TextIOWrapper(io.BytesIO(published.text.encode()))
        monkeypatch.setattr(sys, "stdin", stdin)
        where = ["--stream", "-", "--stdin-format", published.end]
    options = published.options.format(columns=tmp_path / "columns.toml").split()
    words = ["run", str(tmp_path / "q.toml"), *where, *options, "--semantics", "csparql", "t0=0"]
    assert main(words) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [
        (one["window"]["open"] // 60_000, len(one["results"]["bindings"])) for one in found
    ] == published.reports


def test_the_page_names_each_publisher():
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    section = page.partition("### Reading what others publish")[2].partition("\n## ")[0]
    assert section.count("\n| ") - 1 >= len(PUBLISHED)
