"""The list of published query texts, and the tool that reads them from checkouts."""

from __future__ import annotations

import re

import pytest

from refengine.dialects import DIALECTS, read
from tools import published_texts
from tools.published_texts import (
    PublishedText,
    digest_of,
    listed_texts,
    main,
    outcome_of,
    texts_in,
    why_lost,
)

TEXT = "SELECT ?x FROM STREAM <urn:s> [RANGE 1s TUMBLING] { ?x <urn:p> ?y }"
JAVA = r'''
class Queries {
    String first = "SELECT ?x " // a comment, + "SELECT *"
        + "FROM STREAM <urn:s> [RANGE 1s TUMBLING]\n{ ?x <urn:p> \"y\" }";
    String second = Prefixes.ALL + """
    SELECT ?x FROM STREAM s [NOW] { ?x e:p ?y }
    """;
    String third = "no query";
}
'''


def test_the_list_has_each_text_once_and_none_of_its_words():
    listed = listed_texts()
    keys = [(one.repository, one.path, one.number) for one in listed]
    assert keys == sorted(set(keys)) and len(listed) > 250
    for one in listed:
        assert one.dialect in DIALECTS and re.fullmatch("[0-9a-f]{64}", one.digest), one
        assert re.fullmatch("[0-9a-f]{40}", one.commit) and len(one.note) < 100, one
        assert one.outcome in ("read", "unsupported", "defect"), one
        assert one.note or one.outcome == "read", one


@pytest.mark.parametrize(
    "name, text, expected",
    [
        ("q.csparql", f"\n{TEXT}\n", [TEXT]),
        ("q.md", f"# One\n```\n{TEXT}\n```\n```\nno query\n```\n", [TEXT]),
        ("q.md", f"One:\n\n\t{TEXT}\n\nTwo.\n", [f"\t{TEXT}"]),
        ("q.ts", f"const q = `{TEXT}`; const none = `x`;", [TEXT]),
        ("q.rs", f'let q = r#"{TEXT}"#; let none = r#"x"#;', [TEXT]),
        (
            "q.properties",
            "a.b = SELECT \\n\\\n FROM STREAM <s>\nc = x\n",
            ["SELECT \n FROM STREAM <s>"],
        ),
    ],
)
def test_texts_in_files_of_each_kind(tmp_path, name, text, expected):
    (tmp_path / name).write_text(text)
    assert texts_in(tmp_path / name) == expected


def test_texts_in_java(tmp_path):
    """Literals that are joined are one text; a constant of another class is put before a block."""
    (tmp_path / "Queries.java").write_text(JAVA)
    (tmp_path / "Prefixes.java").write_text('String ALL = """\nPREFIX e: <urn:e:>\n""";')
    assert texts_in(tmp_path / "Queries.java") == [
        'SELECT ?x FROM STREAM <urn:s> [RANGE 1s TUMBLING]\n{ ?x <urn:p> "y" }',
        "PREFIX e: <urn:e:>\n    SELECT ?x FROM STREAM s [NOW] { ?x e:p ?y }\n    ",
    ]


def test_a_text_that_is_read_is_rendered_in_each_dialect_that_can_say_it():
    found = outcome_of(TEXT, "csparql", "")
    assert found.name == "read" and set(found.others) == set(DIALECTS) - {"csparql"}
    of_triples = outcome_of(TEXT.replace("1s TUMBLING", "TRIPLES 3"), "csparql", "")
    assert of_triples.others == ("cqels", "cqels2", "sparqlstream")


def test_a_text_that_does_not_read_back_is_lost(monkeypatch):
    query = read(TEXT, "csparql")
    rendered = {"csparql": TEXT.replace("1s", "2s")}
    monkeypatch.setattr(published_texts.dialects, "render", lambda _, name: rendered[name])
    assert why_lost(query, "csparql") == "reads back as another query"
    rendered["csparql"] = "SELECT"
    assert why_lost(query, "csparql").startswith("not read back: line 1 column 7: DIA-7")
    monkeypatch.setattr(published_texts, "why_lost", lambda _, name: "it is lost")
    assert outcome_of(TEXT, "csparql", "") == ("lost", "csparql: it is lost", ())


def test_an_outcome_that_is_not_the_listed_one_is_told(tmp_path, capsys, monkeypatch):
    (tmp_path / "me+mine").mkdir()
    texts = {"a": TEXT, "b": "SELECT ?x", "c": TEXT.replace("1s", "1s FUTURE 2s"), "d": TEXT}
    for name, text in texts.items():
        (tmp_path / "me+mine" / name).write_text(text + "\nFROM STREAM" * (name == "b"))
    texts["b"] += "\nFROM STREAM"
    outcomes = {"a": "read", "b": "defect", "c": "read", "d": "read", "e": "read"}
    listed = [
        PublishedText("me/mine", "0" * 40, name, 1, "csparql", "", digest, outcome, "")
        for name, outcome in outcomes.items()
        for digest in [digest_of(texts[name] if name in "abc" else "another")]
    ]
    monkeypatch.setattr(published_texts, "listed_texts", lambda: listed)
    assert main([str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[:2]] == ["me/mine c 1", "me/mine d 1"]
    assert lines[-2] == (
        "also rendered in: 1 cqels, 1 cqels2, 1 rsp-js, 1 rsp4j, 1 rspql, 1 sparqlstream"
    )
    assert lines[-1] == (
        "all: 1 absent, 1 changed, 1 defect, 1 read, 1 unsupported; 2 not as listed"
    )
