"""Cards beside one another, as what an engine's file would say, and on the page of windows."""

from __future__ import annotations

import json
import tomllib

import pytest

from conformance import corpus
from conformance.card.card import Asked, Card, CardField, Standing
from conformance.card.inquiry import Fate
from conformance.card.questions import DAY
from conformance.card.side_by_side import engine_block, lines_of, row_of_table_1, side_by_side
from conformance.card.text import time_text
from refengine.core.profiles import PROFILES, profile
from refengine.core.semantics import FIELDS, show
from tools import window_page

ASKED = Asked({"kind": "time", "size": 10, "slide": 10}, ({"at": 3},), Fate.ANSWERED)


def card_of(name: str, semantics, *, documented: bool = True) -> Card:
    """Return the card of an engine whose every field one stream showed."""
    fields = tuple(
        CardField(field, (text,), text if documented else "", 0)
        for field in FIELDS
        for text in [show(getattr(semantics, field))]
    )
    return Card(name, name.title(), "1", fields, (ASKED,))


CSPARQL = profile("csparql").but(t0=0).semantics()
CQELS = profile("cqels").but(t0="first-element").semantics()


@pytest.mark.parametrize(
    ("semantics", "row"),
    [
        (
            CSPARQL,
            [
                "report window close & non-empty content",
                "operator Rstream",
                "empty relations yes",
                "tick tuple",
            ],
        ),
        (
            CQELS,
            ["report content change", "operator Istream", "empty relations no", "tick tuple"],
        ),
    ],
    ids=["C-SPARQL", "CQELS"],
)
def test_the_row_of_table_1_is_that_of_csbench(semantics, row):
    """CSRBench, Table 1, has these rows for C-SPARQL and CQELS."""
    assert row_of_table_1(card_of("it", semantics)) == row


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_the_block_for_an_engines_file_says_what_the_card_says(name):
    values = {
        field: PROFILES[name].choices(field, ("epoch",))[0] for field in FIELDS if field != "offset"
    }
    given = profile(name).with_fields(
        {**values, "offset": 0 if str(values["t0"]) == "epoch" else "none"}
    )
    if show(given.fields["r2s"]) == "Rstream":
        given = given.but(base="none")
    semantics = given.semantics()
    table = tomllib.loads("\n".join(engine_block(card_of(name, semantics))))
    read = corpus.semantics_of(table["semantics"])
    assert {f: show(getattr(read, f)) for f in FIELDS if f != "instant"} == {
        f: show(getattr(semantics, f)) for f in FIELDS if f != "instant"
    }
    assert table["capabilities"]["kinds"] == ["time"]


def test_engines_stand_beside_one_another():
    one, other = card_of("one", CSPARQL), card_of("other", CQELS, documented=False)
    lines = list(side_by_side([one, other]))
    assert lines[0] == "| | one | other |"
    (report,) = (line for line in lines if line.startswith("| `report`"))
    stream = "elements at 3; windows of 10"
    assert report == (
        f"| `report` | `non-empty,window-close`<br>{stream} | `content-change` (observed)"
        f"<br>{stream} |"
    )


def test_cards_are_printed_as_json():
    card = card_of("one", CSPARQL)
    assert Card.of_json(json.loads("\n".join(lines_of([card], "json")))) == card


@pytest.mark.parametrize(
    ("values", "documented", "shown_by", "standing"),
    [
        (("a",), "a", 0, Standing.BOTH),
        (("a",), "", 0, Standing.OBSERVED),
        (("a", "b"), "a", 0, Standing.BOTH),
        (("a", "b"), "b", 0, Standing.CONTRADICTING),
        (("a",), "b", 0, Standing.CONTRADICTING),
        (("a", "b"), "a", None, Standing.DOCUMENTED),
        (("a", "b"), "", None, Standing.UNDETERMINED),
    ],
)
def test_how_a_value_is_known(values, documented, shown_by, standing):
    assert CardField("closure", values, documented, shown_by).standing is standing


def test_what_an_engine_names_itself_cannot_break_the_table():
    card = card_of("a\x1b[2J", CSPARQL)
    assert "\x1b" not in "\n".join(lines_of([card, card]))


@pytest.mark.parametrize(
    ("at", "text"), [(0, "0"), (DAY - 1, "1d-1"), (2 * DAY, "2d"), (-DAY + 4, "-1d+4")]
)
def test_a_long_time_is_written_in_days(at, text):
    assert time_text(at) == text


def test_the_page_of_windows_is_that_of_the_cards(monkeypatch):
    monkeypatch.setattr("sys.argv", ["window_page", "--check"])
    assert window_page.main() == 0


def test_the_cards_that_are_kept_are_of_libraries_that_can_be_asked():
    for card in window_page.read_cards():
        assert card.answered >= 6
        assert card.field("closure").standing in (Standing.BOTH, Standing.OBSERVED)
