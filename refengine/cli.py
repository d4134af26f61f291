"""What both command lines share: one line and an exit code for whatever ends a run. Nothing heavy
is imported here.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from refengine.model.errors import RefengineError

SUITE = frozenset({"jinja2", "jsonschema", "markupsafe", "tqdm"})  # of the extra `suite`


def path(text: str) -> Path:
    """A path of the command line; an empty one would be the current folder."""
    if not text:
        raise RefengineError("an empty path; write . for the current folder", rule="IO-1")
    return Path(text)


def _nowhere() -> TextIO:
    """Open a stream that drops what is written to it."""
    return open(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8", closefd=False)


def guarded(name: str, run: Callable[[], int], interrupted: str = "interrupted") -> int:
    """The exit code of a run. Bad input, an interrupt and an output that cannot be written end it
    with one line on standard error; the notes of an error follow it.
    """
    for stream in ("stdout", "stderr"):
        # closed: print() would then take standard output for standard error
        if getattr(sys, stream) is None:
            setattr(sys, stream, _nowhere())
    # it logs the literals that it cannot read, with tracebacks
    rdflib = logging.getLogger("rdflib")
    rdflib.addHandler(logging.NullHandler())
    rdflib.propagate = False
    code, lines = 2, []
    try:
        with _terminable():
            code = run()
            sys.stdout.flush()
    except RefengineError as error:
        code, lines = error.exit_code, [str(error), *getattr(error, "__notes__", ())]
    except ModuleNotFoundError as error:
        if error.name not in SUITE:
            raise
        lines = [f"usage: {error.name} is not installed: pip install 'refengine[suite]'"]
    except KeyboardInterrupt:
        code, lines = 130, [interrupted]
    except BrokenPipeError:
        code = 0
    except OSError as error:
        lines = [
            f"{error.filename or 'standard output'}: usage: cannot be written: {error.strerror}"
        ]
    finally:
        with suppress(OSError):
            for line in lines:
                print(f"{name}: {line}", file=sys.stderr)
        for standard in (sys.stdout, sys.stderr):
            _drained(standard)
    return code


def _drained(stream: TextIO) -> None:
    """What cannot be written any more is dropped: the interpreter would try again when it ends, and
    complain.
    """
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM ends a run as an error does, so that what is open is cleaned up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        raise SystemExit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
