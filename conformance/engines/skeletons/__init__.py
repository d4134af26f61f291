"""Harness skeletons for the authors of engines: for each language the files of a harness that
speaks the protocol (PROTOCOL.md) and has no engine yet.

The files are templates, `LANGUAGE/FILE.template`, so that no tool takes them for code of this
project. The engine's file and the README are one template each for all languages. Imports
refengine. Begin with `write_skeleton`.
"""

from conformance.engines.skeletons.languages import LANGUAGES
from conformance.engines.skeletons.writing import write_skeleton

__all__ = [
    "LANGUAGES",
    "write_skeleton",
]
