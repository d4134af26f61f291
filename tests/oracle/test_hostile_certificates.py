"""Certificates by a hostile author: none is certified that says more than is so."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from certified import Document, is_refused, of_fixture, says

from conformance.certificates import checker
from refengine.core.query import Unit, WindowKind
from refengine.core.semantics import ENUMS, FIELDS
from refengine.core.values import Condition

pytestmark = pytest.mark.xdist_group("certificates")

PASS, FAIL = "csparql Q1", "csparql Q5"


@cache
def right_text(name: str) -> str:
    """The text of a certificate that is right."""
    document = of_fixture()[name][1]
    assert says(document).startswith("OK")
    return json.dumps(document)


def of(name: str) -> Document:
    """A certificate that is right, to change."""
    return json.loads(right_text(name))


def test_the_checker_knows_the_fields_of_a_semantics():
    """`t0` is stated apart."""
    assert {*checker.FIELDS, "t0"} == {*FIELDS}


WORDS = [
    *((name, str(value)) for name, kind in ENUMS.items() if name != "t0" for value in kind),
    *(("report", str(value)) for value in Condition),
]


def known_words(name: str) -> list[str]:
    """The words of a field that the checker knows."""
    shape = checker.FIELDS[name]
    return (shape[0] if isinstance(shape, list) else shape).split("|")


def with_word(document: Document, name: str, word: str) -> Document:
    """The same certificate with a word as a field's value, in the profile and in each attempt."""
    value = [word] if name == "report" else word
    document["profile"]["fields"][name] = [value]
    for attempt in document["attempts"]:
        attempt["semantics"][name] = value
    return document


@pytest.mark.parametrize(("name", "word"), WORDS)
def test_each_word_of_a_field_is_known_or_not_certified(name: str, word: str):
    is_certain = says(with_word(of(PASS), name, word)).startswith("not certified")
    assert is_certain == (word not in known_words(name))


@pytest.mark.parametrize("word", ["first", "null", "int", "count", "text", "bool", "zero", "", "|"])
@pytest.mark.parametrize("name", sorted(checker.FIELDS))
def test_a_made_up_word_is_not_certified(name: str, word: str):
    assert says(with_word(of(PASS), name, word)).startswith("not certified: certificate.profile")


@pytest.mark.parametrize("word", ["first", *map(str, WindowKind), *map(str, Unit)])
def test_each_kind_of_window_is_known_or_not_certified(word: str):
    for key, known in (("kind", ("time", "range")), ("unit", ("elements",))):
        document = of(PASS)
        document["query"]["window"][key] = word
        assert says(document).startswith("not certified") == (word not in known)


def objects(value: Any, place: str = "") -> list[tuple[str, dict[str, Any]]]:
    """All objects of a document whose keys are fixed, with their places."""
    if isinstance(value, list):
        return [found for each in value[:2] for found in objects(each, f"{place}[]")]
    if not isinstance(value, dict):
        return []
    is_free = place.endswith((".streams", ".values", ".rows[]", ".output[]", ".answers[][]"))
    own = [] if is_free else [(place, value)]
    return own + [found for key in value for found in objects(value[key], f"{place}.{key}")]


@pytest.mark.parametrize("name", [PASS, FAIL])
def test_an_unknown_key_and_a_missing_one_are_refused_everywhere(name: str):
    places = {place for place, _ in objects(of(name))}
    assert len(places) > 9
    for place in sorted(places):
        document = of(name)
        next(found for at, found in objects(document) if at == place)["more"] = 0
        with pytest.raises(KeyError, match="more"):
            says(document)
        document = of(name)
        found = next(found for at, found in objects(document) if at == place)
        del found[min(found)]
        with pytest.raises(KeyError):
            says(document)


def integers(value: Any) -> list[tuple[Any, Any]]:
    """The places of integers: a list or an object, and the index or the key."""
    if not isinstance(value, list | dict):
        return []
    keys = [*value] if isinstance(value, dict) else range(min(2, len(value)))
    own = [(value, key) for key in keys if type(value[key]) is int]
    return own + [found for key in keys for found in integers(value[key])]


@pytest.mark.parametrize("name", [PASS, FAIL])
@pytest.mark.parametrize("kind", [float, bool, str, lambda n: float("nan"), lambda n: 10**40])
def test_what_is_no_integer_in_place_of_one_is_refused(name: str, kind: Callable[[int], Any]):
    whole = of(name)
    assert len(integers(whole)) > 20
    for place, key in integers(whole):
        old = place[key]
        place[key] = kind(old)
        assert is_refused(whole), (key, old)
        place[key] = old


def put(*path: Any) -> Callable[[Document], None]:
    """A change: the last of the path is put where the others lead."""

    def change(document: Any) -> None:
        for key in path[:-2]:
            document = document[key]
        document[path[-2]] = path[-1]

    return change


def no_alignment(document: Document) -> None:
    """Fewer than none are missing, so no alignment is tried."""
    document["recording"]["missing"] = [-1, 0]
    for attempt in document["attempts"]:
        attempt["diverges"] = []


def without_conditions(document: Document) -> None:
    document["profile"]["fields"]["report"] = [[]]
    for attempt in document["attempts"]:
        attempt["semantics"]["report"] = []


def reversed_elements(document: Document) -> None:
    next(iter(document["streams"].values()))["elements"].reverse()


def same_arrival(document: Document) -> None:
    elements = next(iter(document["streams"].values()))["elements"]
    elements[1][2] = elements[0][2]


def early_end(document: Document) -> None:
    next(iter(document["streams"].values()))["elements"][0][1] -= 1


def no_range(document: Document) -> None:
    document["profile"]["t0"] = {"from": 5, "to": 3}
    del document["attempts"][1:]


def another_horizon(document: Document) -> None:
    document["profile"]["fields"]["horizon"] = [-5]
    for attempt in document["attempts"]:
        attempt["semantics"]["horizon"] = -5


def without_base(document: Document) -> None:
    """R2S-6, QRY-5: the query states Istream, and nothing says what it compares with."""
    document["query"]["r2s"] = "Istream"


def without_period(document: Document) -> None:
    """SEM-2: periodic, and no period."""
    document["profile"]["fields"]["report"] = [["periodic"]]
    for attempt in document["attempts"]:
        attempt["semantics"]["report"] = ["periodic"]


def append_without_base(document: Document) -> None:
    """R2S-7: append, and the answer over what was kept is not stated."""
    document["query"]["r2s"] = "append"


def swapped(document: Document) -> None:
    evaluations = document["attempts"][0]["evaluations"]
    evaluations[0], evaluations[1] = evaluations[1], evaluations[0]


def late_class(document: Document) -> None:
    document["attempts"][0]["to"] = document["attempts"][0]["t0"] - 1


ATTACKS = [
    no_alignment,
    without_conditions,
    reversed_elements,
    same_arrival,
    early_end,
    no_range,
    another_horizon,
    without_base,
    without_period,
    append_without_base,
    swapped,
    late_class,
    put("attempts", []),
    put("query", "window", None),
    put("query", "window", "slide", 0),
    put("query", "window", "slide", -1),
    put("query", "window", "size", 0),
    put("recording", "missing", [10**12, 0]),
    put("recording", "missing", [0]),
    put("recording", "missing", [0, 0, 9]),
    put("profile", "t0", "first"),
    put("profile", "t0", None),
    put("profile", "t0", []),
    put("profile", "fields", "empty", []),
    put("profile", "fields", "empty", ["emit", "emit"]),
    put("attempts", 0, "t0", None),
    put("attempts", 0, "t0", -(10**25)),
    put("attempts", 0, "to", 10**29),
    put("attempts", 0, "evaluations", []),
    put("attempts", 0, "evaluations", 0, "answer", -1),
    put("attempts", 0, "evaluations", 0, "answer", 10**6),
    put("attempts", 0, "semantics", "report", "window-close"),
]


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("name", [PASS, FAIL])
def test_an_attack_is_refused(name: str, attack: Callable[[Document], None]):
    document = of(name)
    if attack is late_class and name == PASS:
        attack = put("attempts", 0, "to", -(10**20))
    attack(document)
    assert is_refused(document)


def check_text(tmp_path: Path, text: str) -> int:
    path = tmp_path / "it.json"
    path.write_text(text, encoding="utf-8")
    return checker.main([str(path)])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"verdict": "pass", REST', "a key is there twice"),
        ("[" * 200_000, "RecursionError"),
        ('{"query":' * 200_000, "RecursionError"),
        ('{"not_certified": ' + "1" * 5_000 + "}", "ValueError"),
        ("null", "TypeError"),
        ("", "JSONDecodeError"),
    ],
    ids=["twice", "lists", "objects", "digits", "null", "empty"],
)
def test_text_that_is_no_certificate_is_one_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
):
    """`REST` is a certificate without its first bracket."""
    assert check_text(tmp_path, text.replace("REST", right_text(FAIL)[1:])) == 2
    out = capsys.readouterr().out
    assert said in out and out.count("\n") == 1 and len(out) < 1_000


def test_a_file_is_read_as_far_as_a_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    assert check_text(tmp_path, right_text(FAIL)) == 0
    monkeypatch.setattr(checker, "MOST_BYTES", len(right_text(FAIL)) - 1)
    assert check_text(tmp_path, right_text(FAIL)) == 3
    assert "not certified: more than" in capsys.readouterr().out


def test_what_is_printed_is_one_line_without_control_characters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """A reason, or the name of a file, could write a line that is taken for another verdict."""
    path = tmp_path / "it\nother.json"
    path.write_text(json.dumps({"not_certified": "\x1b[2K\r\nit.json: OK pass \u202e\ud800"}))
    assert checker.main([str(path)]) == 3
    out = capsys.readouterr().out
    assert out[:-1].isprintable() and r"\nother.json" in out and r"\x1b[2K\r\n" in out


def test_no_file_is_no_success(capsys: pytest.CaptureFixture[str]):
    assert checker.main([]) == 2


def test_rows_with_triple_terms_are_not_certified():
    """They may have blank nodes inside, which are not compared here."""
    document = of(PASS)
    document["answers"][0].append({"x": "<<( _:b <urn:p> <urn:o> )>>"})
    assert is_refused(document)
