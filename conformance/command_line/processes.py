"""Judging in several processes of this machine."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from conformance.command_line.options import progress_bar
from refengine.model.errors import RefengineError

if TYPE_CHECKING:
    from conformance.verdict.results import Result

    Task = tuple[Callable[..., list[Result]], *tuple[Any, ...]]  # a function and its arguments


def run_in_processes(tasks: Sequence[Task], jobs: int) -> Iterator[list[Result]]:
    """Run tasks in several processes, if there are several tasks, and yield their results in
    order.
    """
    bar = progress_bar(total=len(tasks), desc="verdicts", unit="verdict")
    jobs = min(jobs, len(tasks))
    if jobs < 2:
        with bar() as progress:
            for function, *rest in tasks:
                yield function(*rest)
                progress.update()
        return
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(max_workers=jobs, initializer=_leave_signals_to_parent)
    done = False
    try:
        with _uninterrupted():
            # the joins are the last queries and take longest
            futures = [pool.submit(function, *rest) for function, *rest in reversed(tasks)]
        with bar() as progress:
            for future in reversed(futures):
                yield future.result()
                progress.update()
        done = True
    except BaseException as error:
        for worker in set(multiprocessing.active_children()) - others:
            worker.kill()  # it would finish its task first, which may take minutes
        if isinstance(error, BrokenProcessPool):
            raise RefengineError(
                "a worker process was killed; nothing was written", rule="usage"
            ) from None
        raise
    finally:
        # when all is done, so that nothing is left for the end of the interpreter
        pool.shutdown(wait=done, cancel_futures=True)


def _leave_signals_to_parent() -> None:
    """Make a worker ignore Ctrl-C, which reaches the whole process group: its parent ends it, and
    it prints no traceback.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold interrupts back until the context ends. They must not reach a pool that is not fully
    started, nor a worker before it has its handlers.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
