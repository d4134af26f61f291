"""Hold the reading and writing of logs of RDF messages (IO-3) to the interoperability tests of the
RSP community group of W3C.

    python -m tools.messages FILE     FILE: spec/messages-tests.bs of a checkout of w3c-cg/rsp

The page has the tests as text. A test of parsing is read in every language that its input is in:
TriG, and where it has no more than they can say Turtle, N-Triples and N-Quads. Nothing is fetched
(QRY-2): in tests of JSON-LD a context of the web is replaced by one in which its address is @vocab.
Prints a line for each test, and exits with 1 if one is wrong.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from conformance.export.stream_texts import join_messages
from refengine.model import compare
from refengine.model.elements import Bag, row
from refengine.model.errors import RefengineError
from refengine.rdf.documents import LANGUAGES
from refengine.rdf.lines import parse_quad
from refengine.rdf.sources import Text
from refengine.rdf.streams import DOCUMENTS
from refengine.rdf.terms import Document, Statement

TITLE = re.compile(r"^###? (.+?) ###? \{#.+\}$", re.MULTILINE)
BLOCK = re.compile(r"^([^\n]+:)\n\n```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MESSAGE = re.compile(r"^Message \d+:\n((?:  .*\n)+)", re.MULTILINE)
ORDINALS = ("the", "second", "third", "fourth", "fifth")
OBJECT = re.compile(rf"interpreting (?:the )?({'|'.join(ORDINALS)}) JSON object(?:.* = \"(.*)\")?")
PARTS = ("s", "p", "o", "g")


class MessagesTest(NamedTuple):
    """A test of the page: its title, its input in a language, and what is expected of it."""

    title: str
    language: str
    text: str
    expected: str


def read_tests(page: str) -> Iterator[MessagesTest]:
    """Yield the tests of the page."""
    _, *sections = TITLE.split(page)
    for title, section in zip(sections[::2], sections[1::2], strict=True):
        blocks = BLOCK.findall(section)
        for (_, language, text), (_, _, expected) in zip(blocks[::2], blocks[1::2], strict=True):
            yield MessagesTest(title, language, text, expected)


def is_right(test: MessagesTest) -> bool:
    """Whether a log is read, in each language that it is in, as the test expects it; and whether a
    log that is written of messages is.
    """
    if test.title.startswith("Serialization"):
        messages = [message_text(lines) for lines in MESSAGE.findall(f"{test.text}\n")]
        return are_messages(read(join_messages(messages), ".trig"), test.expected)
    ends = [".ndjsonld"] if test.language == "json" else list(languages_of(test))
    return all(is_right_in(test, end) for end in ends)


def is_right_in(test: MessagesTest, end: str) -> bool:
    """Whether a log is read in a language, by the end of its files' names, as the test expects."""
    try:
        document = read(test.text, end)
    except RefengineError:
        return "Parse error" in test.expected
    if "Parse error" in test.expected:
        return False
    if "must not be the same RDF term" in test.expected:
        [[one], [other]] = document.parts
        return subject_of(one) != subject_of(other)
    return are_messages(document, test.expected, test.text)


def languages_of(test: MessagesTest) -> Iterator[str]:
    """Yield the ends of the names of files that may have the input of a test."""
    if test.language == "text":  # lines of N-Quads are none of TriG
        yield ".nq"
        return
    yield ".trig"
    if "{" not in test.text:
        yield ".ttl"
    if not re.search(r"[{@]|PREFIX", test.text):
        yield from (".nt", ".nq")


def read(text: str, end: str) -> Document:
    """Return the document of a text. Raises RefengineError."""
    if end == ".ndjsonld":
        text = "\n".join(json.dumps(without_web(json.loads(line))) for line in text.splitlines())
    return DOCUMENTS[end](Text(f"log{end}", text), "")


def without_web(message: Any) -> Any:
    """Return an object of JSON-LD with a context in place of one of the web."""
    if isinstance(message.get("@context"), str):
        return {**message, "@context": {"@vocab": message["@context"]}}
    return message


def are_messages(document: Document, expected: str, text: str = "") -> bool:
    """Whether the messages of a log are those that a test expects, in their order."""
    due = [bag_of(lines, text) for lines in MESSAGE.findall(f"{expected}\n")]
    got = [bag(message) for message in document.parts]
    return (
        document.is_log
        and len(due) == len(got)
        and all(compare.equal(*pair, compare.Mode.TERM) for pair in zip(due, got, strict=True))
    )


def bag_of(lines: str, text: str) -> Bag:
    """Return the statements of an expected message, whose lines are N-Quads, `empty`, or words
    about the objects of the input.
    """
    stated = [line.strip() for line in lines.splitlines()]
    if stated == ["empty"]:
        return Bag()
    if stated[0].startswith("<"):
        return bag([Statement(*parse_quad(line), 0) for line in stated])
    if found := OBJECT.search(stated[0]):
        effective = json.loads(text.splitlines()[ORDINALS.index(found[1])])
        if found[2]:
            effective = {"@context": found[2], **effective}
        effective = without_web(effective)
    else:
        effective = json.loads(stated[1])
    [statements] = LANGUAGES[".jsonld"](Text("m.jsonld", json.dumps(effective)), "").parts
    return bag(statements)


def bag(statements: list[Statement]) -> Bag:
    """Return statements as rows, which are compared up to the names of blank nodes."""
    found: Bag = Bag()
    for graph, triple, _ in statements:
        if triple is not None:
            terms = (*triple, graph) if graph is not None else triple
            found[row(zip(PARTS, terms, strict=False))] = 1
    return found


def message_text(lines: str) -> str:
    """Return the text in TriG of a message whose lines are N-Quads, or `empty`."""
    texts = []
    for line in lines.splitlines():
        if line.strip() == "empty":
            continue
        graph, triple = parse_quad(line.strip())
        text = f"{' '.join(triple)} ."
        texts.append(f"{text}\n" if graph is None else f"{graph} {{ {text} }}\n")
    return "".join(texts)


def subject_of(statement: Statement) -> str:
    """Return the subject of a statement."""
    assert statement.triple is not None
    return statement.triple[0]


def main(arguments: list[str] | None = None) -> int:
    """Print what became of each test; return the exit code."""
    parser = argparse.ArgumentParser(description="Interoperability tests of RDF messages.")
    parser.add_argument("file", type=Path, metavar="FILE")
    page = parser.parse_args(arguments).file.read_text(encoding="utf-8")
    wrong = 0
    tests = list(read_tests(page))
    for test in tests:
        right = is_right(test)
        wrong += not right
        print(f"{'right' if right else 'WRONG'}  {test.title}")
    print(f"{len(tests) - wrong} of {len(tests)} tests are right")
    return 1 if wrong or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
