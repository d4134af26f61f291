"""Reading streams: a file, a folder or a text in, a stream of the model out (IO-1).

`FORMS` lists the forms of streams by the ends of their files' names. Terms keep the lexical form
that the text gives them. Nothing here reaches the network, and no term takes its text from where a
file lies: an IRI that is not absolute is an error. What a stream says about time is MOD-1.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from refengine.model.canonical import CanonicalIterator
from refengine.model.elements import Element, Stream
from refengine.model.errors import InvalidStream
from refengine.model.messages import did_you_mean
from refengine.rdf import documents, jelly, json_ld, lines, sources
from refengine.rdf.forms.dating import PROV_GENERATED_AT_TIME, DatePredicates
from refengine.rdf.forms.folders import read_instants
from refengine.rdf.forms.graphs import build_stream_of_graphs
from refengine.rdf.forms.items import ReadElement, build_stream
from refengine.rdf.forms.json_lines import read_json_lines
from refengine.rdf.forms.messages import build_stream_of_messages
from refengine.rdf.forms.subjects import build_stream_of_subjects
from refengine.rdf.forms.tables import DELIMITERS, read_table
from refengine.rdf.sources import Piped, Source, Text, TextFolder
from refengine.rdf.statements import Document


def read_stream(
    path: Source | TextFolder,
    time_predicate: str = PROV_GENERATED_AT_TIME,
    batch_predicate: str | None = None,
    columns: Source | None = None,
) -> Stream:
    """IO-1: Return a stream from a folder or a file; t_app is in milliseconds, t_sys the position
    from 1.

    The end of the file's name says its form; IO-1 has the table of forms. `time_predicate` states
    the times in documents, and `batch_predicate` the batch ids. `columns` is a file that says what
    the columns of a table mean.

    A file that ends in `.gz` or `.zst` as well is unpacked; `Piped`, `Text` and `TextFolder` are
    read as a file, or folder, of their name.

    Raises InvalidStream; ForbiddenAccess for a context of JSON-LD that would be fetched. Sources:
    Dell'Aglio et al., On Correctness in RDF Stream Processor Benchmarking, ISWC 2013; Kolchin et
    al., YABench, ICWE 2016; W3C RSP Community Group, RDF Stream Models and RDF Messages.
    """
    dating = DatePredicates(time_predicate, batch_predicate)
    if isinstance(path, TextFolder):
        return read_instants(path)
    if not isinstance(path, Piped | Text):
        path = Path(path)
        if os.path.isdir(path):
            return read_instants(path)

    end = sources.suffix_of(path)
    if sources.name_of(path).startswith("SG_"):
        end = ".n3t"
    if end not in FORMS:
        reason = f"a file of a stream cannot end in {end!r}{did_you_mean(end, FORMS)}; valid: "
        reason += f"a folder of data_NN.ttl, {', '.join(FORMS)}"
        raise InvalidStream(reason, rule="IO-1", place=str(path))
    if columns is not None and not is_table(path):
        reason = f"{end} has no columns; a table ends in {' or '.join(DELIMITERS)}"
        raise InvalidStream(reason, rule="IO-1", place=str(path))
    return FORMS[end](path, dating, columns)


def is_table(source: Source) -> bool:
    """Return whether a file is a table, whose columns may be given a meaning."""
    return sources.suffix_of(source) in DELIMITERS


# Documents


def _read_document(
    source: Source, dating: DatePredicates, read: Callable[[Source], Document]
) -> Stream:
    """IO-1: Return the stream of a document: of its messages if it is a log, or else of its graphs
    if it has any, or else of its subjects.
    """
    document = read(source)
    if document.is_log:
        return build_stream_of_messages(source, document.parts, dating)
    [statements] = document.parts
    if any(statement.graph is not None for statement in statements):
        return build_stream_of_graphs(source, statements, dating)
    return build_stream_of_subjects(source, statements, dating)


def _read_dataset(
    source: Source, dating: DatePredicates, read: Callable[[Source], Document]
) -> Stream:
    """IO-1: Return the stream of a document in a language of datasets: of its messages if it is a
    log, or else of its graphs.
    """
    document = read(source)
    if document.is_log:
        return build_stream_of_messages(source, document.parts, dating)
    [statements] = document.parts
    return build_stream_of_graphs(source, statements, dating)


# Lines with a time (YABench)


def _read_lines_with_times(source: Source) -> Stream:
    """IO-1: Read YABench's lines, a triple and its time in ms."""
    items = []
    for line, number in lines.read_lines(source):
        place = f"{source}:{number}"
        items.append(ReadElement(*lines.parse_statement_with_time(line, place), place))
    return build_stream(items)


def read_elements(source: Source) -> CanonicalIterator:
    """IO-1: Return the elements of a file of YABench's lines, packed or not, one after the other,
    so that a stream needs no memory of its length. What they say about time is checked where they
    are used (MOD-1).

    Raises InvalidStream at the line that is none.
    """
    return CanonicalIterator(_read_elements(source))


def _read_elements(source: Source) -> Iterator[Element]:
    number = position = 0
    try:
        with sources.open_lines(source) as texts:
            for number, line in enumerate(texts, 1):
                # most lines are plain, and this loop is all that they need
                if plain := lines.PLAIN_LINE.match(line):
                    subject, predicate, object_, time = plain.groups()
                    triple, time = (subject, predicate, object_), int(time)
                elif found := lines.parse_line_with_time(line, f"{source}:{number}"):
                    triple, time = found
                else:
                    continue
                position += 1
                yield Element(frozenset((triple,)), time, position)
    except UnicodeDecodeError as error:  # of some line from here on: it is decoded in advance
        raise InvalidStream(
            f"not UTF-8: {error.reason}", rule="IO-1", place=f"{source}, after line {number}"
        ) from None
    except (OSError, sources.Unreadable) as error:
        raise sources.unreadable(error, InvalidStream, "IO-1", source) from None


# What reads a file, by the end of its name: of the file, what dates its elements, and what its
# columns mean.
FORMS: dict[str, Callable[[Source, DatePredicates, Source | None], Stream]] = {
    ".n3t": lambda source, *_: _read_lines_with_times(source),
    ".nt": lambda source, dating, _: _read_document(source, dating, lines.read_quads),
    ".ttl": lambda source, dating, _: _read_document(
        source, dating, documents.read_turtle_document
    ),
    ".nq": lambda source, dating, _: _read_dataset(source, dating, lines.read_quads),
    ".trig": lambda source, dating, _: _read_dataset(source, dating, documents.read_trig_document),
    ".jsonld": lambda source, dating, _: _read_document(source, dating, json_ld.read_json_ld),
    ".ndjsonld": lambda source, dating, _: _read_document(
        source, dating, json_ld.read_json_ld_lines
    ),
    ".jelly": lambda source, dating, _: _read_document(source, dating, jelly.read_jelly),
    ".ndjson": lambda source, *_: read_json_lines(source),
    ".jsonl": lambda source, *_: read_json_lines(source),
    ".csv": lambda source, _, columns: read_table(source, columns),
    ".tsv": lambda source, _, columns: read_table(source, columns),
}
