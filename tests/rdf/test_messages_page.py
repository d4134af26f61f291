"""The messages of a log, those without statements among them; and the tool that holds them to a
page of tests in the form of the RSP community group's (`make messages`).
"""

from __future__ import annotations

import pytest

from refengine.rdf.sources import Text
from refengine.rdf.streams import DOCUMENTS
from tools import messages

LOG = 'VERSION "1.2-messages"\n'
ONE = "<urn:a> <urn:p> <urn:b> .\n"
NEXT = "MESSAGE\n"


@pytest.mark.parametrize("end", [".nt", ".nq", ".ttl", ".trig"])
@pytest.mark.parametrize(
    ("text", "counts"),
    [
        (LOG + ONE, [1]),
        (LOG + NEXT + ONE, [0, 1]),
        (LOG + ONE + NEXT + NEXT + ONE, [1, 0, 1]),
        (LOG + ONE + NEXT, [1]),
        (LOG + ONE + NEXT + NEXT, [1, 0]),
        (LOG + NEXT, [0]),
        (LOG, []),
    ],
)
def test_a_separator_ends_the_message_before_it(end, text, counts):
    """IO-3: it begins another one unless the log ends there."""
    document = DOCUMENTS[end](Text(f"log{end}", text), "")
    assert document.is_log and [len(message) for message in document.parts] == counts


def page(title: str, language: str, given: str, expected: str) -> str:
    """A page with one test, in our words."""
    return (
        f"## Tests ## {{#tests}}\n\nWords.\n\n### {title} ### {{#a-test}}\n\nInput:\n\n"
        f"```{language}\n{given}```\n\nExpected messages:\n\n```text\n{expected}```\n"
    )


MESSAGE_A = "Message 1:\n  <urn:a> <urn:p> <urn:b> .\n"
BOB = '{"@context": {"n": "urn:n"}}\n{"@id": "urn:a", "n": "Bob"}\n'
WEB = '{"@context": "https://vocabulary.example/"}\n{"@id": "urn:a", "n": "Bob"}\n'
BOB_OF_WEB = 'Message 1:\n  interpreting the second JSON object with @context = "https://vocabulary.example/".\n'
RIGHT = {
    "turtle": ("turtle", LOG + ONE, MESSAGE_A),
    "graph": (
        "turtle",
        f"{LOG}<urn:g> {{ {ONE} }}\n",
        "Message 1:\n  <urn:a> <urn:p> <urn:b> <urn:g> .\n",
    ),
    "empty": (
        "turtle",
        LOG + ONE + NEXT + NEXT + ONE,
        f"{MESSAGE_A}\nMessage 2:\n  empty\n\n{MESSAGE_A}",
    ),
    "quads": (
        "text",
        f"{LOG}<urn:a> <urn:p> <urn:b> <urn:g> .\n",
        "Message 1:\n  <urn:a> <urn:p> <urn:b> <urn:g> .\n",
    ),
    "nodes": (
        "turtle",
        f"{LOG}_:n <urn:p> <urn:b> .\n{NEXT}_:n <urn:p> <urn:c> .\n",
        "They must not be the same RDF term.\n",
    ),
    "error": ("turtle", ONE + NEXT, "Parse error.\n"),
    "context": (
        "json",
        BOB,
        'Message 1:\n  of:\n  {"@id": "urn:a", "urn:n": "Bob"}\n',
    ),
    "web": ("json", WEB, BOB_OF_WEB),
}
WRONG = {
    "another statement": ("turtle", LOG + ONE, MESSAGE_A.replace("urn:b", "urn:c")),
    "a message more": ("turtle", LOG + ONE, f"{MESSAGE_A}\nMessage 2:\n  empty\n"),
    "no log": ("turtle", ONE, MESSAGE_A),
    "no error": ("turtle", LOG + ONE, "Parse error.\n"),
    "another context": ("json", BOB, BOB_OF_WEB),
}


@pytest.mark.parametrize("name", [*RIGHT, *WRONG])
def test_what_becomes_of_a_test(name, tmp_path, capsys):
    file = tmp_path / "messages-tests.bs"
    file.write_text(page(name, *{**RIGHT, **WRONG}[name]), encoding="utf-8")
    is_right = name in RIGHT
    assert messages.main([str(file)]) == (0 if is_right else 1)
    word = "right" if is_right else "WRONG"
    assert capsys.readouterr().out == (
        f"{word}  {name}\n{1 if is_right else 0} of 1 tests are right\n"
    )


def test_a_log_that_is_written_is_read_back(tmp_path):
    given = f"{MESSAGE_A}\nMessage 2:\n  empty\n\nMessage 3:\n  <urn:a> <urn:p> <urn:b> <urn:g> .\n"
    file = tmp_path / "messages-tests.bs"
    text = page("x", "text", given, given).replace("### x ###", "## Serialization Tests ##")
    file.write_text(text, encoding="utf-8")
    assert messages.main([str(file)]) == 0
    file.write_text(text.replace("empty", "<urn:a> <urn:p> <urn:c> .", 1), encoding="utf-8")
    assert messages.main([str(file)]) == 1


def test_a_page_without_tests_is_no_success(tmp_path):
    file = tmp_path / "other.bs"
    file.write_text("# Nothing here\n", encoding="utf-8")
    assert messages.main([str(file)]) == 1
