"""The reference engine's harness, begun as the fork of a process that has imported all of it.

To import the engine and its witnesses takes some 0.7 s, to fork 0.03 s. Each harness still is a
process of its own, with a command line, three pipes and an exit code:

- `adapter` gives the beginning of a command, `python forked.py SOCKET`, which words follow. A
  process of this command hands its pipes and its words to the server, and ends with the exit code
  that the server tells.
- The server forks a guard for each command, and the guard forks the engine. The guard kills the
  engine when the command has been killed.
"""

from __future__ import annotations

import socket
import sys
from contextlib import contextmanager

# what an engine imports when it is first needed
IMPORTED_LATE = (
    "conformance.wrong_engines",
    "refengine.sparql.witnesses.pyoxigraph_witness",
    "refengine.sparql.witnesses.rdflib_witness",
)


@contextmanager
def adapter(folder):
    """Give the beginning of a command; its server's socket is in this folder."""
    import subprocess
    from pathlib import Path

    from conformance.harness import client

    path = str(folder / "socket")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        server = subprocess.Popen(
            [sys.executable, __file__, "--serve", str(listening.fileno())],
            env={**client.os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
            pass_fds=[listening.fileno()],
            stdin=subprocess.DEVNULL,
            preexec_fn=client.DIE_WITH_PARENT,
        )
    try:
        # -I -S: without site-packages it begins in 0.02 s
        yield [sys.executable, "-I", "-S", __file__, path]
    finally:
        server.kill()
        server.wait()


def hand_over(path, *words):
    """Let the server answer on this process's pipes; return its engine's exit code."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        socket.send_fds(server, ["\0".join(words).encode()], [0, 1, 2])
        return int(server.recv(16) or 1)


def serve(listening):
    """Fork a guard for each command that connects."""
    import gc
    import importlib
    import os
    import signal

    from conformance.engines.adapters import reference

    for name in IMPORTED_LATE:
        importlib.import_module(name)
    gc.freeze()  # no fork looks for garbage in what is imported
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no guard stays behind as a zombie

    while True:
        command, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            guard(command, reference)
        command.close()


def guard(command, program):
    """Run an engine for a command; tell its exit code, or kill it when the command has ended."""
    import os
    import select
    import signal

    words, pipes, _, _ = socket.recv_fds(command, 1 << 16, 3)
    running, held_open = os.pipe()  # by the engine, to its end
    engine = os.fork()
    if engine == 0:
        command.close()
        for number, pipe in enumerate(pipes):
            os.dup2(pipe, number)
        run(program, words.decode().split("\0"))

    for pipe in (*pipes, held_open):
        os.close(pipe)
    ready, _, _ = select.select([command, running], [], [])
    if running not in ready:
        os.kill(engine, signal.SIGKILL)
    _, status = os.waitpid(engine, 0)
    if running in ready:
        command.send(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def run(program, words):
    """Run a program as Python does that is given its file and these words."""
    import os
    import traceback

    sys.argv = [program.__file__, *words]
    code = 0
    try:
        program.main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        serve(socket.socket(fileno=int(sys.argv[2])))
    sys.exit(hand_over(*sys.argv[1:]))
