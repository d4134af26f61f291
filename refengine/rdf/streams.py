"""Reading streams: a file, a folder or a text in, a stream of the model out (IO-1).

`FORMS` lists the forms of streams by the ends of their files' names. Terms keep the lexical form
that the text gives them. Nothing here reaches the network, and no term takes its text from where a
file lies: an IRI that is not absolute is an error. What a stream says about time is MOD-1.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath

from refengine.model.elements import CanonicalIterator, Element, Stream
from refengine.model.errors import InvalidStream, require
from refengine.model.messages import did_you_mean
from refengine.rdf import documents, jelly, json_ld, lines, sources
from refengine.rdf.forms.dated_documents import (
    build_stream_of_graphs,
    build_stream_of_messages,
    build_stream_of_subjects,
)
from refengine.rdf.forms.reading import (
    ReadElement,
    Reading,
    ReadingOptions,
    ReadStream,
    build_stream,
    refuse_no_options,
)
from refengine.rdf.forms.rows import DELIMITERS, read_json_lines, read_table
from refengine.rdf.sources import Folder, Piped, Source, Text, TextFolder
from refengine.rdf.terms import Document

DEFAULT_OPTIONS = ReadingOptions()


def read_stream(
    path: Source | TextFolder,
    time_predicate: str | None = None,
    batch_predicate: str | None = None,
    columns: Source | None = None,
) -> Stream:
    """IO-1: Return a stream from a folder or a file; t_app is in milliseconds, t_sys the position
    from 1.

    The end of the file's name says its form; IO-1 has the table of forms. The other arguments are
    those of `ReadingOptions`. What has no time is refused: `read_stream_and_rest` takes the user's
    choice for it.

    A file that ends in `.gz` or `.zst` as well is unpacked; `Piped`, `Text` and `TextFolder` are
    read as a file, or folder, of their name.

    Raises InvalidStream; ForbiddenAccess for a context of JSON-LD that would be fetched. Sources:
    Dell'Aglio et al., On Correctness in RDF Stream Processor Benchmarking, ISWC 2013; Kolchin et
    al., YABench, ICWE 2016; W3C RSP Community Group, RDF Stream Models and RDF Messages.
    """
    options = ReadingOptions(time_predicate, batch_predicate, columns=columns)
    return read_stream_and_rest(path, options).stream


def read_stream_and_rest(
    path: Source | TextFolder, options: ReadingOptions = DEFAULT_OPTIONS
) -> ReadStream:
    """IO-1: Return a stream as `read_stream` does, with the static data that stand in its file
    and what a user should know. Raises InvalidStream and ForbiddenAccess.
    """
    sources.refuse_no_source(path, "IO-1")
    refuse_no_options(options)
    if not isinstance(path, Piped | Text | TextFolder):
        path = Path(path)
    reading = Reading(path, options)
    if isinstance(path, TextFolder) or (isinstance(path, Path) and os.path.isdir(path)):
        return reading.result(read_instants(path, options.base))

    end = sources.suffix_of(path)
    if sources.name_of(path).startswith("SG_"):
        end = ".n3t"
    if end not in FORMS:
        reason = f"a file of a stream cannot end in {end!r}{did_you_mean(end, FORMS)}; valid: "
        reason += f"a folder of data_NN.ttl, {', '.join(FORMS)}"
        raise InvalidStream(reason, rule="IO-1", place=str(path))
    if options.columns is not None and not is_table(path):
        reason = f"{end} has no columns; a table ends in {' or '.join(DELIMITERS)}"
        raise InvalidStream(reason, rule="IO-1", place=str(path))
    return reading.result(FORMS[end](path, reading))


def is_table(source: Source) -> bool:
    """Return whether a file is a table, whose columns may be given a meaning."""
    return sources.suffix_of(source) in DELIMITERS


# Documents


def _read_document(source: Source, reading: Reading) -> Stream:
    """IO-1: Return the stream of a document: of its messages if it is a log, or else of its graphs
    if it has any, or else of its subjects.
    """
    document = DOCUMENTS[sources.suffix_of(source)](source, reading.options.base)
    if document.is_log:
        return build_stream_of_messages(reading, document.parts)
    [statements] = document.parts
    is_dataset = sources.suffix_of(source) in DATASETS
    if is_dataset or any(statement.graph is not None for statement in statements):
        return build_stream_of_graphs(reading, statements)
    return build_stream_of_subjects(reading, statements)


# Lines with a time (YABench)


def _read_lines_with_times(source: Source, reading: Reading) -> Stream:
    """IO-1: Read YABench's lines, a triple and its time in ms."""
    return build_stream(_timed_triples(source, reading))


def _timed_triples(source: Source, reading: Reading) -> Iterator[ReadElement]:
    for line, number in lines.read_lines(source):
        place = f"{source}:{number}"
        triple, time = lines.parse_statement(line, place)
        if time is None:
            reading.set_aside([triple], lines.NO_TIME, place)
        else:
            yield ReadElement(triple, time, place)


def read_elements(source: Source) -> CanonicalIterator:
    """IO-1: Return the elements of a file of YABench's lines, packed or not, one after the other,
    so that a stream needs no memory of its length. What they say about time is checked where they
    are used (MOD-1).

    Raises InvalidStream at the line that is none.
    """
    sources.refuse_no_source(source, "IO-1")
    return CanonicalIterator(_read_elements(source))


def _read_elements(source: Source) -> Iterator[Element]:
    number = position = 0
    parse_plain_line, parse_line = lines.parse_plain_line, lines.parse_line_with_time
    new = tuple.__new__  # takes half the time of Element(…)
    try:
        with sources.open_lines(source) as texts:
            for number, line in enumerate(texts, 1):
                # most lines are plain, and need no place
                found = parse_plain_line(line) or parse_line(line, f"{source}:{number}")
                if found is None:
                    continue
                triple, time = found
                position += 1
                yield new(Element, (frozenset((triple,)), time, position, None, None))
    except UnicodeDecodeError as error:  # of some line from here on: it is decoded in advance
        raise InvalidStream(
            f"not UTF-8: {error.reason}", rule="IO-1", place=f"{source}, after line {number}"
        ) from None
    except (OSError, sources.Unreadable) as error:
        raise sources.unreadable(error, InvalidStream, "IO-1", source) from None


# what reads a document, by the end of its file's name; the base is for its relative IRIs
DOCUMENTS: dict[str, Callable[[Source, str], Document]] = {
    **documents.LANGUAGES,
    ".ndjsonld": json_ld.read_json_ld_lines,
    ".jelly": lambda source, _: jelly.read_jelly(source),
}
DATASETS = (".nq", ".trig")  # languages of which an element is a graph, even if there is none

# what reads a stream, by the end of its file's name
FORMS: dict[str, Callable[[Source, Reading], Stream]] = {
    ".n3t": _read_lines_with_times,
    **dict.fromkeys((".nt", ".ttl", ".nq", ".trig"), _read_document),
    **dict.fromkeys((".jsonld", ".ndjsonld", ".jelly"), _read_document),
    **dict.fromkeys((".ndjson", ".jsonl"), read_json_lines),
    **dict.fromkeys((".csv", ".tsv"), read_table),
}


INSTANT = 1000  # ms between two files of a CSRBench folder


def read_instants(folder: Folder, base: str = "") -> Stream:
    """IO-1: Read CSRBench's files, one an instant. A missing number is an instant at which nothing
    arrived. Relative IRIs are resolved against `base` where a file states none.
    """
    items = []
    for number, file in sorted(_files_by_number(folder).items()):
        statements = documents.read_turtle(file, "Turtle", f"f{number}b", base)
        triples = {require(statement.triple) for statement in statements}
        for triple in sorted(triples, key=" ".join):
            items.append(ReadElement(triple, number * INSTANT, str(file)))
    return build_stream(items, ordered=False)


def _files_by_number(folder: Folder) -> dict[int, Source]:
    files: dict[int, Source] = {}
    for file in sources.list_sources(folder, "data_*.ttl", "IO-1"):
        number = re.fullmatch(r"data_([0-9]+)\.ttl", PurePath(str(file)).name)
        if number is None:
            raise InvalidStream(
                "the name of a stream's file must be data_NN.ttl, with digits for NN",
                rule="IO-1",
                place=str(file),
            )
        other = files.setdefault(int(number[1]), file)
        if other != file:
            reason = f"it has the same instant as {PurePath(str(other)).name}"
            raise InvalidStream(reason, rule="IO-1", place=str(file))

    if not files:
        raise InvalidStream(
            "no data_NN.ttl, neither here nor in data/", rule="IO-1", place=str(folder)
        )
    return files
