"""The suite's end of the protocol (PROTOCOL.md): a harness runs in a process of its own and is
asked one command after the other.

Each command ends in a reply or in `Broken`, whether the harness hangs, exits, floods its output or
writes garbage. No shell is involved. On POSIX the process leads a session of its own. It is killed
together with its process group and with all its descendants, also those that lead other groups.
"""

from __future__ import annotations

import fcntl
import json
import os
import selectors
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

import psutil
from jsonschema import ValidationError

from conformance.corpus.schema_problems import explain_problem
from conformance.engines.installation.child_process import DIE_WITH_PARENT, describe_exit
from conformance.harness.missing_class import find_missing_class
from conformance.harness.resources import SAMPLE_INTERVAL, Sample, measure_use
from conformance.schemas import accepts, place_and_message, problems, validator
from refengine.model.messages import display, plain, why
from refengine.rdf.recordings import refuse_key_twice

PROTOCOL = 1
STDERR_SIZE = 64 * 1024  # bytes at the end of standard error that are kept
CHUNK = 1 << 16  # bytes that are read or written at once
GRACE = 0.1  # seconds after the last reply in which a late fault is waited for, before `stop`
HOW_TO_RAISE_START_LIMIT = "to give it more time: limits = { start = SECONDS } in its engine file"
PRINTS = "does your engine print to standard output?"
# A line that comes at most so many seconds after a case's last reply may belong to that case, even
# if the next one has been registered. For the reply behind such a line as long is waited.
STILL_LATE = 1.0


# It is called with `>` or `<` and each line that is sent or that comes back.
Trace = Callable[[str, bytes], None]


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


class TimeLimit(NamedTuple):
    """How many seconds there are for a reply, and the message for a reply that takes longer."""

    seconds: float
    message: str


@dataclass
class Harness:
    """A running harness. `command` is its argument vector. `environment`, if given, replaces the
    environment of the suite.

    `trace`, if given, is called with each line that is sent or that comes back, and with what came
    of a line when the process ended.

    `late_fault` is empty, or describes what the harness did after its last reply about the case
    before: it ended, it closed its output, or it wrote a line that may belong to that case. Then
    the current case may not be to blame. It is certainly not if the `late_fault_is_certain`. The
    process has been killed.
    """

    command: Sequence[str]
    folder: Path | None = None
    limits: Limits = Limits()
    environment: Mapping[str, str] | None = None
    samples: list[Sample] = field(default_factory=list)
    trace: Trace | None = None

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
            program = str(self.command[0]) if self.command else ""
            raise Broken(f"{display(program)} cannot be started: {error}") from None
        self._stdin, self._stdout, self._stderr = _pipes(self._process)
        for stream in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(stream.fileno(), False)
        # Standard input is registered as well while a line is longer than what its pipe takes.
        self._selector = selectors.DefaultSelector()
        for stream in (self._stdout, self._stderr):
            self._selector.register(stream, selectors.EVENT_READ)
        self._descendants: set[psutil.Process] = set()  # those that were seen
        self._seq = 0  # the number of the last command
        self._seq_of_case = 0  # the number of the last `register` or `stop`
        self._last_command = ""  # the last one that was replied to
        # the last command of the case before: the last that was replied to before `register`
        self._last_command_of_case_before = ""
        self._case_before_ended_at = 0.0  # when that was
        self._last_replied = 0.0  # when the last reply came
        self.late_fault = ""
        self.late_fault_is_certain = False
        self.registered = 0  # how many queries, since the pool gave the harness for an item
        self._written = 0  # how many bytes of the last line were written
        self._reply_bytes = 0  # how many bytes of replies came in this case
        self._output = b""  # what was read of standard output since the last reply
        self._stderr_end = b""  # the last bytes of standard error
        now = time.monotonic()
        self._process_began = now  # when the process was started
        self._case_began = now  # when the case began
        self._last_sampled = now  # when the last sample was taken
        self.named: dict[str, str] = {}  # by the reply to `start`: `engine` and `version`
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
        self.named = {name: plain(str(reply.get(name, ""))) for name in ("engine", "version")}
        return reply

    def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        """Return the reply to a command. Raises Broken, and then the process has ended."""
        if not self.alive:
            raise Broken("the process has ended")
        self._seq += 1
        if command in ("register", "stop"):
            self._seq_of_case = self._seq
            self._last_command_of_case_before = self._last_command
            self._case_before_ended_at = self._last_replied
        if command == "register":
            self.registered += 1
            self._reply_bytes = 0
            self._case_began = time.monotonic()
        line = message_line(self._seq, command, fields)
        self._show(">", line)
        try:
            answer = self._exchange(line, self._time_limit(command), command)
        except (KeyboardInterrupt, SystemExit):  # SIGTERM ends our commands by the latter
            # Otherwise the reply to this command would be read as the reply to the next one.
            self._kill()
            raise
        reply = self._parse_reply(answer, command)
        if reply["reply"] == "error":
            self._kill()
        self._last_command = command
        self._last_replied = time.monotonic()
        return reply

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def usable(self) -> bool:
        """Whether the process runs and can be asked."""
        return self.alive and self._process.poll() is None

    def stop(self) -> None:
        """Stop the harness with the command `stop`, and kill what has not ended then: the harness
        and all that it started. A harness that has exited by itself is not asked to stop.
        """
        self.look_for_late_fault(GRACE)
        if self.usable:
            self._note_descendants()
            with suppress(Broken):
                self.ask("stop")
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(1)
        self._kill()

    def look_for_late_fault(self, grace: float = 0) -> str:
        """Return what the harness has done since its last reply, as a text for the case that this
        reply was about: it has written something, has closed its output, or has ended. The text is
        empty if it has done none of these. A harness that has done one is killed, since it was
        asked nothing.

        What comes within `grace` seconds of the last reply is waited for.
        """
        if not self.alive or self._last_command in ("", "start"):
            return ""
        left = max(0.0, self._last_replied + grace - time.monotonic())
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            piece = self._stdout.read(CHUNK) if selector.select(left) else None
        is_at_end = piece == b""
        self._output += piece or b""
        if self._output:
            self._show("<", self._output)
            self._note_late_fault(_late_line_text(self._last_command, self._output))
            self._kill()
        elif is_at_end or not self.usable:
            self._note_late_fault(self._late_end_text(self._last_command), is_certain=True)
            self._kill()
        return self.late_fault

    def _note_late_fault(self, text: str, *, is_certain: bool = False) -> None:
        """Note what the harness did after its last reply about the case before."""
        self.late_fault = text
        self.late_fault_is_certain = is_certain

    @property
    def stderr_tail(self) -> str:
        """The end of what the harness wrote to standard error, as one line of bounded length."""
        return plain(self._stderr_end.decode("utf-8", "replace").strip())

    @property
    def missing_class(self) -> str:
        """The class that Java did not find, as the end of standard error has it; empty if none."""
        return find_missing_class(self._stderr_end.decode("utf-8", "replace"))

    # One exchange

    def _time_limit(self, command: str) -> TimeLimit:
        """Return the limit for the reply to a command: that of the command itself, or what the case
        has left, if that is less.
        """
        if command == "start":
            seconds = self.limits.start_seconds
            return TimeLimit(
                seconds, f"no reply within {seconds:.3g} s ({HOW_TO_RAISE_START_LIMIT})"
            )
        seconds = self.limits.reply_seconds
        limit = TimeLimit(seconds, f"no reply within {seconds:.3g} s")
        if command == "stop":
            return limit
        left = self._case_began + self.limits.case_seconds - time.monotonic()
        if left >= seconds:
            return limit
        return TimeLimit(left, f"the case takes more than {self.limits.case_seconds:g} s")

    def _exchange(self, line: bytes, limit: TimeLimit, command: str) -> bytes:
        """Write a line, and return the line that comes back. Raises Broken if none comes within the
        limit.
        """
        deadline = time.monotonic() + limit.seconds
        self._written = 0
        line = self._write(line)
        if line:
            self._selector.register(self._stdin, selectors.EVENT_WRITE)
        while b"\n" not in self._output or line:
            left = deadline - time.monotonic()
            if left <= 0:
                if self._has_ended():
                    self._note_end_before(command)
                self._break(f"{command}: {limit.message}{self._unfinished_line()}")
            for key, _ in self._selector.select(min(left, SAMPLE_INTERVAL)):
                if key.fileobj is self._stdin:
                    line = self._write(line)
                    if not line:
                        self._selector.unregister(self._stdin)
                elif key.fileobj is self._stderr:
                    self._read_stderr()
                else:
                    is_at_end = not self._read_stdout(command)
                    if is_at_end:
                        self._read_stderr()
                        self._note_end_before(command)
                        how = f"{self._how_it_ended()}{self._unfinished_line()}"
                        self._break(f"{command}: {how}")
            self._sample()
        answer, _, self._output = self._output.partition(b"\n")
        self._show("<", answer)
        return answer

    def _write(self, line: bytes) -> bytes:
        """Write a piece of a line to standard input; return the rest."""
        try:
            written = self._stdin.write(line[:CHUNK]) or 0
        except BrokenPipeError:
            return b""  # the process has ended, or reads no more: the reply is still waited for
        self._written += written
        return line[written:]

    def _read_stdout(self, command: str) -> bool:
        """Read a piece of standard output, and return whether there was one: False at its end.
        Raises Broken if the reply, or all replies of the case, are too long.
        """
        piece = self._stdout.read(CHUNK) or b""
        self._output += piece
        self._reply_bytes += len(piece)
        if len(self._output) > self.limits.line_bytes:
            self._break(
                f"{command}: a line of more than {self.limits.line_bytes} bytes, which begins with "
                f"{_beginning(self._output)}"
            )
        if self._reply_bytes > self.limits.case_bytes:
            self._break(
                f"{command}: more than {self.limits.case_bytes} bytes of replies in one case"
            )
        return bool(piece)

    def _read_stderr(self) -> None:
        """Read a piece of standard error, and keep its end."""
        piece = self._stderr.read(CHUNK)
        if piece is None:  # nothing has come yet
            return
        if piece:
            self._stderr_end = (self._stderr_end + piece)[-STDERR_SIZE:]
            return
        # The harness has closed its standard error. It may have been unregistered before.
        with suppress(KeyError):
            self._selector.unregister(self._stderr)

    def _parse_reply(self, answer: bytes, command: str) -> dict[str, Any]:
        """Return the reply that a line holds. Raises Broken for a line that is no reply of the
        protocol, and if another line follows it.
        """
        try:
            reply: dict[str, Any] = json.loads(
                answer.decode("utf-8"),
                object_pairs_hook=refuse_key_twice,
                parse_constant=_no_constant,
            )
        except (ValueError, RecursionError) as error:
            self._refuse_line(answer, command, f"not JSON: {why(error)}")
        for problem in problems("reply", reply):
            problem = _most_useful(problem)
            [message, *_] = explain_problem(problem)
            self._refuse_line(
                answer,
                command,
                f"the reply is malformed: {problem.json_path}: {_shorten(message)}",
            )
        if reply["seq"] != self._seq:
            if reply["seq"] < self._seq_of_case or self._output:
                self._suspect_case_before(answer, command)
            self._break(f"{command}: expected seq {self._seq}, got {display(reply['seq'])}")
        if self._output:
            line = self._output.partition(b"\n")[0]
            text = f"more than one line: {_beginning(line)}"
            if not _is_meant_as_reply(line):
                text = _stray_line_text(line, "after its reply")
            self._break(f"{command}: {text}")
        return reply

    def _refuse_line(self, line: bytes, command: str, problem: str) -> NoReturn:
        """Raise Broken for a line in place of the reply to a command. `problem` says what is wrong
        with it as a reply. If nothing in it is of a reply, it is shown as what was printed.
        """
        self._suspect_case_before(line, command)
        if not _is_meant_as_reply(line):
            self._break(f"{command}: {_stray_line_text(line, 'where a reply was due')} ({problem})")
        if problem.startswith("not JSON"):
            problem += f": {_beginning(line)}"
        self._break(f"{command}: {problem}")

    def _unfinished_line(self) -> str:
        """Return what is said of output that does not end with a line feed; empty if there is
        none.
        """
        if not self._output:
            return ""
        return f"; it wrote {_beginning(self._output)} without a line feed after it"

    def _suspect_case_before(self, line: bytes, command: str) -> None:
        """Note a line that is not the reply to a command, if it may belong to the case before.

        It may if it is a line too many, so that the reply follows. A line in place of the reply is
        the current case's own: the harness answers each command once. And it may if it stands
        before the reply to `register`, comes soon after the end of the case before, or has the
        number of one of its commands. While a harness stops, only the number counts.
        """
        is_soon = time.monotonic() - self._case_before_ended_at < STILL_LATE and command != "stop"
        is_possible = is_soon or command == "register" or self._has_old_seq(line)
        has_case_before = self._last_command_of_case_before not in ("", "start")
        if has_case_before and is_possible and self._reply_follows():
            self._note_late_fault(_late_line_text(self._last_command_of_case_before, line))

    def _reply_follows(self) -> bool:
        """Return whether the reply to the last command comes after the line that was read."""
        deadline = time.monotonic() + STILL_LATE
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            while not any(map(self._is_reply, self._output.split(b"\n")[:-1])):
                left = deadline - time.monotonic()
                is_too_long = len(self._output) > self.limits.line_bytes
                if left <= 0 or is_too_long or not selector.select(left):
                    return False
                piece = self._stdout.read(CHUNK)
                if not piece:
                    return False
                self._output += piece
        return True

    def _is_reply(self, line: bytes) -> bool:
        """Whether a line looks like the reply to the last command: it has its number."""
        return _seq_in(line) == self._seq

    def _has_old_seq(self, line: bytes) -> bool:
        """Whether a line has the number of a command of the case before."""
        seq = _seq_in(line)
        return seq is not None and seq < self._seq_of_case

    def _note_end_before(self, command: str) -> None:
        """Note, of a harness that replies no more, that this was so before it read any of
        `register`: since its last reply about the case before.
        """
        before = self._last_command_of_case_before
        if command != "register" or before in ("", "start"):
            return
        if _count_unread(self._stdin) >= self._written:
            self._note_late_fault(self._late_end_text(before), is_certain=True)

    def _late_end_text(self, command: str) -> str:
        """Return what is said of a harness that replies no more after the last reply of a case."""
        return f"{self._how_it_ended()} after the reply to `{command}`"

    # The end of a process

    def _has_ended(self) -> bool:
        """Return whether the process has ended, or ends at once."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        return self._process.poll() is not None

    def _how_it_ended(self) -> str:
        """Return how a harness whose standard output is at its end came to that, in words."""
        try:
            code = self._process.wait(1)
        except subprocess.TimeoutExpired:
            return "its process runs on, but its standard output was closed"
        return f"the process ended {describe_exit(code)}"

    def _break(self, context: str) -> NoReturn:
        """Raise Broken with a context and what the harness wrote to standard error, after killing
        it.
        """
        self._kill()
        if self.trace is not None and self._output:
            self.trace("<", self._output)
        if name := self.missing_class:
            context += f"; Java found no class {name}"
        if self._stderr_end:
            context += f"; it said: {self.stderr_tail}"
        raise Broken(plain(context))

    def _kill(self) -> None:
        """End the process and all that it started, at once."""
        if not self.alive:
            return
        self.alive = False
        self._note_descendants()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for descendant in self._descendants:  # some may have left the group
            with suppress(psutil.Error):
                descendant.kill()
        self._process.wait()
        self._selector.close()
        for stream in (self._stdin, self._stdout, self._stderr):
            with suppress(OSError):
                stream.close()

    def _note_descendants(self) -> None:
        """Record the processes that the harness has started, and those that these have started.
        They are not found any more once their parent has ended.
        """
        with suppress(psutil.Error):
            self._descendants.update(psutil.Process(self._process.pid).children(recursive=True))

    def _show(self, direction: str, line: bytes) -> None:
        """Give a line to the trace, if there is one."""
        if self.trace is not None:
            self.trace(direction, line)

    def _sample(self) -> None:
        """Add a sample of resources, if it is time for one."""
        now = time.monotonic()
        if now - self._last_sampled < SAMPLE_INTERVAL and self.samples:
            return
        self._last_sampled = now
        with suppress(psutil.Error):
            leader = psutil.Process(self._process.pid)
            descendants = leader.children(recursive=True)
            self._descendants.update(descendants)
            seconds = round(now - self._process_began, 3)
            self.samples.append(Sample(seconds, *measure_use([leader, *descendants])))


def message_line(seq: int, command: str, fields: Mapping[str, Any]) -> bytes:
    """Return the line of a command. Raises ValidationError for a command that the protocol does not
    have.
    """
    request = {"seq": seq, "command": command, **fields}
    if not accepts("command")(request):
        validator("command").validate(request)
    return json.dumps(request, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


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
        branch = error.relative_schema_path[0]  # the index of the branch in the list of `oneOf`
        errors_by_branch.setdefault(branch, []).append(error)
    for errors in errors_by_branch.values():
        is_chosen = all(list(error.path) != ["reply"] for error in errors)
        if is_chosen:
            return min(errors, key=place_and_message)
    return problem


def _seq_in(line: bytes) -> int | None:
    """Return the number of the command to which a line says that it is the reply; None if it is no
    reply.
    """
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError):
        return None
    seq = reply.get("seq") if isinstance(reply, dict) and "reply" in reply else None
    return seq if isinstance(seq, int) else None


def _count_unread(pipe: IO[bytes]) -> int:
    """Return how many bytes that were written to a pipe have not been read at its other end; 0 if
    this is not known.
    """
    count = bytearray(4)
    try:
        fcntl.ioctl(pipe.fileno(), termios.FIONREAD, count)
    except OSError:
        return 0
    return int.from_bytes(count, sys.byteorder)


def _is_meant_as_reply(line: bytes) -> bool:
    """Whether a line has something of a reply: it begins as an object, and names a key that every
    reply has.
    """
    return line.lstrip().startswith(b"{") and (b'"seq"' in line or b'"reply"' in line)


def _stray_line_text(line: bytes, where: str) -> str:
    """Return what is said of a line that is no reply. It is most likely what the engine prints."""
    return f"the harness wrote {_beginning(line)} {where}; {PRINTS}"


def _late_line_text(command: str, line: bytes) -> str:
    """Return what is said of a line that came after the last reply of a case."""
    first = line.partition(b"\n")[0]
    text = f"wrote a line after the reply to `{command}`: {_beginning(first)}"
    if not _is_meant_as_reply(first):
        text += f"; {PRINTS}"
    return plain(text)


def _beginning(line: bytes) -> str:
    """Return the beginning of a line, for a message."""
    return display(line[:200].decode("utf-8", "replace"))


def _shorten(message: str) -> str:
    """Return a message of at most 300 characters. A longer one keeps its beginning, which shows the
    value, and its end, which says what is wrong with it.
    """
    if len(message) <= 300:
        return message
    return f"{message[:200]} … {message[-97:]}"


def _no_constant(word: str) -> float:
    """Raise ValueError for `NaN` and `Infinity`, which Python would read."""
    raise ValueError(f"{word} is no JSON")
