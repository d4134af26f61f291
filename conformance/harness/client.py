"""The suite's end of the protocol (PROTOCOL.md): a harness runs in a process of its own and is
asked one command after the other.

Each command ends in a reply or in `Broken`, whether the harness hangs, exits, floods its output or
writes garbage. No shell is involved. On POSIX the process leads a session of its own, and is killed
together with all that it started.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

import psutil
from jsonschema import ValidationError

from conformance.corpus.schema_problems import explain_problem
from conformance.installation.child_process import DIE_WITH_PARENT
from conformance.schemas import accepts, place_and_message, problems, validator
from refengine.model.messages import display, plain, why
from refengine.rdf.recordings import refuse_key_twice

PROTOCOL = 1
STDERR_SIZE = 64 * 1024  # bytes at the end of standard error that are kept
CHUNK = 1 << 16  # bytes that are read or written at once
SAMPLE_INTERVAL = 0.5  # seconds between two samples of resources, as in YABench


class Broken(Exception):
    """The error of a harness that hangs, exits, writes too much or writes no valid reply. Its
    process has been killed.
    """


@dataclass(frozen=True)
class Limits:
    """The limits of a harness: seconds for the reply to `start`, for the reply to any other
    command, and for a whole case; bytes of one reply, and of all replies of a case.
    """

    start_seconds: float = 30
    reply_seconds: float = 10
    case_seconds: float = 300
    line_bytes: int = 16 << 20
    case_bytes: int = 64 << 20


class Sample(NamedTuple):
    """A sample of the resources that all processes of a harness use together: seconds since its
    start, resident bytes, CPU seconds, threads.
    """

    at: float
    rss: int
    cpu: float
    threads: int


@dataclass
class Harness:
    """A running harness. `command` is its argument vector. `environment`, if given, replaces the
    environment of the suite.
    """

    command: Sequence[str]
    folder: Path | None = None
    limits: Limits = Limits()
    environment: Mapping[str, str] | None = None
    samples: list[Sample] = field(default_factory=list)

    def __post_init__(self) -> None:
        try:
            self._process = subprocess.Popen(
                list(self.command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self.folder,
                bufsize=0,
                env=self.environment,
                start_new_session=True,
                preexec_fn=DIE_WITH_PARENT,
            )
        except (OSError, ValueError, IndexError) as error:
            program = "".join(map(str, self.command[:1]))
            raise Broken(f"{display(program)} cannot be started: {error}") from None
        self._stdin, self._stdout, self._stderr = _pipes(self._process)
        for stream in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(stream.fileno(), False)
        self._seq = 0  # the number of the last command
        self._reply_bytes = 0  # how many bytes of replies came in this case
        self._output = b""  # what was read of standard output since the last reply
        self._stderr_end = b""  # the last bytes of standard error
        now = time.monotonic()
        self._process_began = now  # when the process was started
        self._case_began = now  # when the case began
        self._last_sampled = now  # when the last sample was taken
        self.alive = True

    def start(self) -> dict[str, Any]:
        """Return the reply to `start`: the engine's name and version. Raises Broken."""
        reply = self.ask("start", protocol=PROTOCOL)
        if reply["reply"] != "result":
            self._break(f"start: {reply['reply']}: {reply.get('context') or reply.get('reason')}")
        if reply.get("protocol") != PROTOCOL:
            self._break(
                f"start: expected protocol {PROTOCOL}, got {display(reply.get('protocol'))}"
            )
        return reply

    def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        """Return the reply to a command. Raises Broken, and then the process has ended."""
        if not self.alive:
            raise Broken("the process has ended")
        self._seq += 1
        if command == "register":
            self._reply_bytes = 0
            self._case_began = time.monotonic()
        request = {"seq": self._seq, "command": command, **fields}
        if not accepts("command")(request):
            validator("command").validate(request)
        line = json.dumps(request, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        try:
            answer = self._exchange(line, self._seconds_left(command), command)
        except KeyboardInterrupt:
            # Otherwise the reply to this command would be read as the reply to the next one.
            self._kill()
            raise
        reply = self._parse_reply(answer, command)
        if reply["reply"] == "error":
            self._kill()
        return reply

    @property
    def usable(self) -> bool:
        """Whether the process runs and can be asked."""
        return self.alive and self._process.poll() is None

    def stop(self) -> None:
        """Stop the harness with the command `stop`, and kill what has not ended then: the harness
        and all that it started. A harness that has exited by itself is not asked to stop.
        """
        if self.usable:
            with suppress(Broken):
                self.ask("stop")
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(1)
        self._kill()

    @property
    def stderr_tail(self) -> str:
        """The end of what the harness wrote to standard error, as one line of bounded length."""
        return plain(self._stderr_end.decode("utf-8", "replace").strip())

    # One exchange

    def _seconds_left(self, command: str) -> float:
        """Return how many seconds are left for the reply to a command. Raises Broken if the case
        has taken too long.
        """
        if command == "start":
            return self.limits.start_seconds
        if command == "stop":
            return self.limits.reply_seconds
        left = self._case_began + self.limits.case_seconds - time.monotonic()
        if left <= 0:
            self._break(f"{command}: the case takes more than {self.limits.case_seconds:g} s")
        return min(left, self.limits.reply_seconds)

    def _exchange(self, line: bytes, seconds: float, command: str) -> bytes:
        """Write a line, and return the line that the harness answers. Raises Broken if no line, or
        more than one, comes within so many seconds.
        """
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdin, selectors.EVENT_WRITE)
            selector.register(self._stdout, selectors.EVENT_READ)
            selector.register(self._stderr, selectors.EVENT_READ)
            while b"\n" not in self._output or line:
                left = deadline - time.monotonic()
                if left <= 0:
                    self._break(f"{command}: no reply within {seconds:.3g} s")
                for key, _ in selector.select(min(left, SAMPLE_INTERVAL)):
                    if key.fileobj is self._stdin:
                        line = self._write(line, selector)
                    elif key.fileobj is self._stderr:
                        self._read_stderr(selector)
                    else:
                        is_at_end = not self._read_stdout(command)
                        if is_at_end:
                            self._read_stderr(selector)
                            self._break(f"{command}: the process ended{self._status()}")
                self._sample()
        answer, _, self._output = self._output.partition(b"\n")
        if self._output:
            self._break(f"{command}: more than one line: {_beginning(self._output)}")
        return answer

    def _write(self, line: bytes, selector: selectors.BaseSelector) -> bytes:
        """Write a piece of a line to standard input; return the rest."""
        try:
            written = self._stdin.write(line[:CHUNK]) or 0
            rest = line[written:]
        except BrokenPipeError:
            rest = b""  # the process has ended, or reads no more: the reply is still waited for
        if not rest:
            selector.unregister(self._stdin)
        return rest

    def _read_stdout(self, command: str) -> bool:
        """Read a piece of standard output, and return whether there was one: False at its end.
        Raises Broken if the reply, or all replies of the case, are too long.
        """
        piece = self._stdout.read(CHUNK) or b""
        self._output += piece
        self._reply_bytes += len(piece)
        if len(self._output) > self.limits.line_bytes:
            self._break(f"{command}: a line of more than {self.limits.line_bytes} bytes")
        if self._reply_bytes > self.limits.case_bytes:
            self._break(
                f"{command}: more than {self.limits.case_bytes} bytes of replies in one case"
            )
        return bool(piece)

    def _read_stderr(self, selector: selectors.BaseSelector) -> None:
        """Read a piece of standard error, and keep its end."""
        piece = self._stderr.read(CHUNK)
        if piece is None:  # nothing has come yet
            return
        if piece:
            self._stderr_end = (self._stderr_end + piece)[-STDERR_SIZE:]
            return
        # The harness has closed its standard error. It may have been unregistered before.
        with suppress(KeyError):
            selector.unregister(self._stderr)

    def _parse_reply(self, answer: bytes, command: str) -> dict[str, Any]:
        """Return the reply that a line holds. Raises Broken for a line that is no reply of the
        protocol.
        """
        try:
            reply: dict[str, Any] = json.loads(
                answer.decode("utf-8"),
                object_pairs_hook=refuse_key_twice,
                parse_constant=_no_constant,
            )
        except (ValueError, RecursionError) as error:
            self._break(f"{command}: not JSON: {why(error)}: {_beginning(answer)}")
        for problem in problems("reply", reply):
            problem = _most_useful(problem)
            [message, *_] = explain_problem(problem)
            self._break(
                f"{command}: the reply is malformed: {problem.json_path}: {_shorten(message)}"
            )
        if reply["seq"] != self._seq:
            self._break(f"{command}: expected seq {self._seq}, got {reply['seq']}")
        return reply

    # The end of a process

    def _status(self) -> str:
        """Return how the process ended, in words, or nothing if it still runs."""
        try:
            code = self._process.wait(1)
        except subprocess.TimeoutExpired:
            return ""
        if code < 0:
            return f" by signal {-code}"
        return f" with exit code {code}"

    def _break(self, context: str) -> NoReturn:
        """Raise Broken with a context and what the harness wrote to standard error, after killing
        it.
        """
        self._kill()
        if self._stderr_end:
            context += f"; it said: {self.stderr_tail}"
        raise Broken(plain(context))

    def _kill(self) -> None:
        """End the process and all that it started, at once."""
        if not self.alive:
            return
        self.alive = False
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._stdin, self._stdout, self._stderr):
            with suppress(OSError):
                stream.close()

    def _sample(self) -> None:
        """Add a sample of resources, if it is time for one."""
        now = time.monotonic()
        if now - self._last_sampled < SAMPLE_INTERVAL and self.samples:
            return
        self._last_sampled = now
        with suppress(psutil.Error):
            leader = psutil.Process(self._process.pid)
            used = [
                (p.memory_info().rss, sum(p.cpu_times()[:2]), p.num_threads())
                for p in (leader, *leader.children(recursive=True))
            ]
            rss, cpu, threads = map(sum, zip(*used, strict=True))
            seconds = round(now - self._process_began, 3)
            self.samples.append(Sample(seconds, rss, round(cpu, 3), threads))


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    """Return the pipes to a process's standard input, and from its standard output and error."""
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    return process.stdin, process.stdout, process.stderr


def _most_useful(problem: ValidationError) -> ValidationError:
    """Return the first error of the branch of the schema's `oneOf` that the reply chose.

    Each branch is for one value of the key `reply`. The chosen one is the branch without an error
    at this key. If there is no such branch, the problem itself is returned.
    """
    errors_by_branch: dict[str | int, list[ValidationError]] = {}
    for error in problem.context or ():
        branch = error.relative_schema_path[0]
        errors_by_branch.setdefault(branch, []).append(error)
    for errors in errors_by_branch.values():
        is_chosen = all(list(error.path) != ["reply"] for error in errors)
        if is_chosen:
            return min(errors, key=place_and_message)
    return problem


def _beginning(line: bytes) -> str:
    """Return the beginning of a line, for a message."""
    return display(line[:200].decode("utf-8", "replace"))


def _shorten(message: str) -> str:
    """Return a message, of a long one the beginning and the end: it begins with the value, and ends
    with what is wrong with it.
    """
    if len(message) <= 300:
        return message
    return f"{message[:200]} … {message[-97:]}"


def _no_constant(word: str) -> float:
    """Raise ValueError for `NaN` and `Infinity`, which Python would read."""
    raise ValueError(f"{word} is no JSON")
