"""Folders of CSRBench (IO-1): each file `data_NN.ttl` is an instant."""

from __future__ import annotations

import re
from pathlib import PurePath

from refengine.model.elements import Stream
from refengine.model.errors import InvalidStream, require
from refengine.rdf import documents, sources
from refengine.rdf.forms.items import ReadElement, build_stream
from refengine.rdf.sources import Folder, Source

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
