"""The nearest valid word, and lists of valid words in messages."""

from __future__ import annotations

from refengine.model.messages import ALIKE, LISTED, LISTED_LENGTH, MESSAGE, nearest, nearest_id


def test_a_list_of_valid_words_is_bounded_in_number_and_in_length() -> None:
    short = [f"w{number:03}" for number in range(LISTED + 5)]
    assert nearest("?", short) == f"; valid: {', '.join(short[:LISTED])}, … 5 more"

    long = [f"{number:03}" + "x" * (LISTED_LENGTH // 4 - 3) for number in range(9)]
    assert nearest("?", long) == f"; valid: {', '.join(long[:4])}, … 5 more"
    assert nearest("?", ["x" * (MESSAGE - 100)]).endswith("x"), "at least one is listed, and whole"


def test_the_ids_that_begin_alike_are_listed() -> None:
    ids = [f"WIN-3-{letter}-case-of-its-own" for letter in "abcdef"] + [
        "WIN-30-another-rule",
        "REP-1-a",
    ]
    assert nearest_id("WIN-3-a-case-of-its-owm", ids) == f"; did you mean {ids[0]!r}?"
    assert nearest_id("WIN-3-nosuch", ids) == f"; valid: {', '.join(ids[:ALIKE])}, … 2 more"
    assert nearest_id("REP-7-nosuch-at-all", ids) == "; valid: REP-1-a"
    assert nearest_id("nosuch", ids) == nearest("nosuch", ids)
