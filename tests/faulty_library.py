"""A library of windows with a defect, behind a harness of its own: for tests of what finds it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from conformance.harness import engine_file
from conformance.harness.engine_file import Engine, read_engine_file

# [o, c) from 0 on; DEFECT is what goes wrong
LIBRARY = """\
import os, sys, time
from window_function import Refused, Report
NAME, VERSION = "mine", 2
def run(elements, window):
    if window.kind != "time":
        raise Refused("it has windows over time alone")
    lost = lambda one: False
    DEFECT
    horizon = max((one.at for one in elements), default=-1) + 2 + window.size
    first = min((one.at for one in elements), default=0) - window.size
    start = max(0, first - first % window.slide)
    for opens in range(start, horizon - window.size + 1, window.slide):
        closes = opens + window.size
        inside = [one.number for one in elements if opens <= one.at < closes and not lost(one)]
        if inside:
            yield Report(inside, (opens, closes))
"""
TOP = 'title = "Mine"\ndialect = "window"\nsuites = ["windows"]\n'
MEANING = '[semantics]\nprofile = "csparql"\nt0 = 0\n[capabilities]\nkinds = ["time"]\n'


def library(folder: Path, defect: str, deviation: str = "") -> Engine:
    """The engine whose harness is a file in Python, with a defect."""
    folder.mkdir(exist_ok=True)
    (folder / "asks.py").write_text(LIBRARY.replace("DEFECT", defect), encoding="utf-8")
    command = [sys.executable, "-S", str(engine_file.ADAPTERS / "window_function.py")]
    text = f"{TOP}command = {[*command, str(folder / 'asks.py')]}\n{MEANING}{deviation}"
    path = folder / "mine.toml"
    path.write_text(text.replace("'", '"'), encoding="utf-8")
    return replace(read_engine_file(path), file=str(path))
