"""Quix Streams without a broker: a StreamingDataFrame with its state on disk, which is given one
message at a time. `window_quix.py STRATEGY` closes windows by `key` or by `partition`;
`window_quix.py sliding` asks for sliding windows.
"""

from __future__ import annotations

import logging
import shutil
import sys
import tempfile
from typing import Any
from unittest.mock import MagicMock

import quixstreams
from quixstreams.dataframe import DataFrameRegistry, StreamingDataFrame
from quixstreams.models import MessageContext
from quixstreams.models.topics import Topic, TopicAdmin, TopicConfig, TopicManager
from quixstreams.processing import ProcessingContext
from quixstreams.sinks import SinkManager
from quixstreams.state import StateStoreManager
from window_function import Element, Refused, Report, Window

NAME = "quix"
VERSION = quixstreams.__version__
SETTING = sys.argv[1]
logging.disable(logging.CRITICAL)  # it logs each late message
RETENTION = {"retention.ms": "604800000", "retention.bytes": "-1"}


def define(stream: Any, window: Window) -> Any:
    """Return a stream with the reports of its windows. Raises Refused."""
    if window.lag:
        raise Refused("its windows have no lag")
    match SETTING, window.kind:
        case "sliding", "range" if not window.slide:
            return stream.sliding_window(window.size).collect().final()
        case "key" | "partition", "session":
            defined = stream.session_window(window.size)
        case "key" | "partition", "time" if window.size == window.slide:
            defined = stream.tumbling_window(window.size)
        case "key" | "partition", "time":
            try:
                defined = stream.hopping_window(window.size, step_ms=window.slide)
            except ValueError as error:
                raise Refused(str(error)) from None
        case _:
            raise Refused(f"it has no windows of the kind {window.kind}")
    return defined.collect().final(closing_strategy=SETTING)


class Windows:
    """The windows of a case, over a topic with one partition."""

    def __init__(self, window: Window) -> None:
        self.is_keyed = bool(window.by)
        self.folder = tempfile.mkdtemp()
        self.states = StateStoreManager(group_id="group", state_dir=self.folder)
        self.topic = Topic(name="topic", value_deserializer="json")
        self.topic.broker_config = TopicConfig(1, 1, RETENTION)
        context = ProcessingContext(
            commit_interval=0,
            producer=MagicMock(),
            consumer=MagicMock(),
            state_manager=self.states,
            sink_manager=SinkManager(),
            dataframe_registry=DataFrameRegistry(),
        )
        context.init_checkpoint()
        manager = TopicManager(MagicMock(spec=TopicAdmin), "group", auto_create_topics=False)
        stream = StreamingDataFrame(
            self.topic,
            topic_manager=manager,
            registry=context.dataframe_registry,
            processing_context=context,
        )
        context.dataframe_registry.register_root(stream)
        self.stream = define(stream, window)
        self.states.on_partition_assign(
            stream_id=self.stream.stream_id, partition=0, committed_offsets={}
        )

    def push(self, element: Element) -> list[Report]:
        """Give it a message, and return what it reports then."""
        if element.end not in (None, element.at):
            raise Refused("its messages have one time each, and no interval")
        if element.at < 0:
            raise Refused("Kafka has no time before 0")
        replies = self.stream.test(
            value=element.number,
            key=f"key {element.key}".encode(),  # an empty one is none to it
            timestamp=element.at,
            topic=self.topic,
            ctx=MessageContext(topic="topic", partition=0, offset=element.number, size=0),
        )
        return [self.report(value, key) for value, key, _, _ in replies]

    def report(self, value: Any, key: bytes) -> Report:
        """Return what Quix says of a window as a report. A sliding window has no borders before 0,
        so they are not stated.
        """
        borders = None if SETTING == "sliding" else (value["start"], value["end"])
        return Report(value["value"], borders, key=key.decode()[4:] if self.is_keyed else None)

    def end(self) -> None:
        """Remove the state. Quix does nothing at the end: only a later message closes a window."""
        self.states.on_partition_revoke(stream_id=self.stream.stream_id, partition=0)
        shutil.rmtree(self.folder, ignore_errors=True)
