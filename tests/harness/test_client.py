"""The suite's end of the protocol: whatever a harness does ends in a reply, or in Broken with its
reason.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import textwrap
import time
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from conftest import draws
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conformance.harness import client, engine_file
from conformance.harness.client import Broken, Harness, Limits
from conformance.harness.pool import Harnesses

QUICK = Limits(start_seconds=5, reply_seconds=5, line_bytes=1 << 16, case_bytes=1 << 17)
RIGHT = textwrap.dedent("""
    import json, sys
    for line in sys.stdin:
        asked = json.loads(line)
        reply = {"seq": asked["seq"], "reply": "result"}
        if asked["command"] == "start":
            reply |= {"protocol": 1, "engine": "echo", "version": "1"}
        elif asked["command"] != "stop":
            reply["relations"] = [{"rows": [], "instant": asked.get("at", 0)}]
        print(json.dumps(reply), flush=True)
        if asked["command"] == "stop":
            break
""")


def harness(code: str, limits: Limits = QUICK, **options) -> Harness:
    return Harness([sys.executable, "-c", code], limits=limits, **options)


def test_a_conversation():
    running = harness(RIGHT)
    assert running.start() == {
        "seq": 1,
        "reply": "result",
        "protocol": 1,
        "engine": "echo",
        "version": "1",
    }
    running.ask("register", query="q", dialect="csparql", streams=["s"], static="")
    assert running.ask("push", stream="s", at=7, graph="")["relations"] == [
        {"rows": [], "instant": 7}
    ]
    assert running.ask("advance", at=9)["relations"][0]["instant"] == 9
    running.ask("end")
    running.stop()
    assert not running.alive and running.samples[0].rss > 0 and running.samples[0].threads >= 1
    with pytest.raises(Broken, match="the process has ended"):
        running.ask("end")


FIRST = "import sys; sys.stdin.readline(); "
GOOD = '{"seq": 1, "reply": "result", "protocol": 1, "engine": "e", "version": "1"}'
ASKS = r"does your engine print to standard output\?"


def say(text: str) -> str:
    """Code that reads a command, prints a line and waits."""
    return f"{FIRST}print({text!r}, flush=True); input()"


def write_at_once(text: str) -> str:
    """Code that writes a text by one system call, and waits: Python may have no buffer."""
    return f"import os; os.write(1, {text.encode()!r}); input()"


STRAY = r"^start: the harness wrote '[^']*('| …) where a reply was due; " + ASKS + " "


@pytest.mark.parametrize(
    ("code", "context"),
    [
        (
            "import time; time.sleep(60)",
            r"start: no reply within 1 s \(to give it more time: limits = \{ start =",
        ),
        ("raise SystemExit(3)", r"start: the process ended with exit code 3"),
        (
            "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
            r"start: the process ended by signal 9",
        ),
        (
            "import sys; sys.exit('no licence')",
            r"start: the process ended with exit code 1; it said: no licence",
        ),
        (
            "import sys; sys.exit('java.lang.NoClassDefFoundError: org/a/B' + ' at x' * 1000)",
            r"^start: the process ended with exit code 1; Java found no class org\.a\.B; it said: ",
        ),
        ("while True: print('x' * 1000)", r"more than one line|not JSON"),
        ("while True: print('x' * 1000, end='')", r"start: a line of more than 65536 bytes"),
        (say(""), STRAY + r"\(not JSON: Expecting value"),
        (say("[]"), r"the reply is malformed: \$: \[\] is not of type 'object'"),
        (say('{"seq": 2, "reply": "result"}'), r"start: expected seq 1, got 2"),
        (say('{"seq": 1, "reply": "result"}'), r"start: expected protocol 1, got None"),
        (say('{"seq": 1, "seq": 1, "reply": "result"}'), r"key 'seq' stands twice"),
        (say('{"seq": 1, "reply": "result", "rows": []}'), r"unknown key 'rows'; valid: "),
        (say('{"seq": 1, "reply": "unsupported"}'), r"key 'reason' is missing"),
        (say('{"seq": NaN}'), r"NaN is no JSON"),
        (say("[" * 60000), STRAY + r"\(not JSON: nested too deeply\)"),
        (say("9" * 5000), STRAY + r"\(not JSON: an integer of thousands of digits\)"),
        (
            FIRST + "sys.stdout.buffer.write(bytes([255, 10])); sys.stdout.flush(); input()",
            STRAY + r"\(not JSON: 'utf-8' codec",
        ),
        (say("{}\n{}"), STRAY + r"\(the reply is malformed: "),
        (
            FIRST + write_at_once(f"{GOOD}\n{GOOD}\n"),
            r"""^start: more than one line: '\{"seq": 1, """,
        ),
    ],
)
def test_what_is_no_reply_breaks_the_harness(code, context):
    running = harness(code, Limits(start_seconds=1 if "sleep" in code else 5, line_bytes=1 << 16))
    with pytest.raises(Broken, match=context):
        running.start()
    assert not running.alive


@pytest.mark.parametrize("rest", ["", GOOD], ids=["alone", "and then the reply"])
@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("Loaded 3 rules", "'Loaded 3 rules'"),
        ("", "''"),
        ('{"level": "info", "message": "Loaded"}', """'{"level": "info", "message": "Loaded"}'"""),
        ("42", "'42'"),
        ("null", "'null'"),
        ("Loaded" + GOOD, """'Loaded{"seq": 1, """),
        ("\x1b[2J\u202e" + "A" * 5000, r"'\x1b[2J\u202eAAAA"),
    ],
)
def test_what_an_engine_prints_before_the_reply_is_shown_as_what_it_is(printed, shown, rest):
    """And never the good reply that follows it."""
    written = "\n".join(filter(None, [f"{printed}\n", rest and f"{rest}\n"]))
    running = harness(FIRST + write_at_once(written))
    with pytest.raises(Broken) as broken:
        running.start()
    error = str(broken.value)
    assert error.startswith(f"start: the harness wrote {shown}")
    assert f"where a reply was due; {client.PRINTS} (" in error
    assert "more than one line" not in error
    assert error.isprintable() and len(error) < 400


@pytest.mark.parametrize(
    ("printed", "context"),
    [
        (
            "Loaded 3 rules\n",
            f"the harness wrote 'Loaded 3 rules' after its reply; {client.PRINTS}",
        ),
        ("Load", f"the harness wrote 'Load' after its reply; {client.PRINTS}"),
        (f"{GOOD}\n", """more than one line: '{"seq": 1, """),
    ],
)
def test_what_comes_with_the_reply_is_shown_as_what_it_is(printed, context):
    running = harness(FIRST + write_at_once(f"{GOOD}\n{printed}"))
    with pytest.raises(Broken) as broken:
        running.start()
    assert str(broken.value).startswith(f"start: {context}")


@pytest.mark.parametrize(
    ("ending", "context"),
    [
        ("import time; time.sleep(60)", "start: no reply within 1 s"),
        ("sys.exit(3)", "start: the process ended with exit code 3"),
    ],
)
def test_a_reply_without_a_line_feed_is_shown(ending, context):
    code = FIRST + f"print({GOOD!r}, end='', flush=True); {ending}"
    with pytest.raises(Broken) as broken:
        harness(code, Limits(start_seconds=1)).start()
    assert str(broken.value).startswith(context)
    assert """; it wrote '{"seq": 1, """ in str(broken.value)
    assert "without a line feed after it" in str(broken.value)


@pytest.mark.parametrize(
    "told",
    ["window = [0, 10**400]", "window = [-(10**30), 0]", "instant = 10**400", "instant = 1e300"],
)
def test_no_number_of_a_reply_is_without_bounds(told):
    """It would go into results and pages, which draw it."""
    name, _, value = told.partition(" = ")
    running = harness(
        RIGHT.replace('"rows": []', f'"rows": [], "{name}": {value}').replace(
            ', "instant": asked.get("at", 0)', ""
        )
    )
    running.start()
    with pytest.raises(
        Broken,
        match=r"push: the reply is malformed: "
        rf"\$\.relations\[0\]\.{name}.* (greater|less) than the",
    ):
        running.ask("push", stream="s", at=1, graph="")


def test_a_flood_of_replies_in_one_case():
    """Each line is a reply, and together they are too many."""
    running = harness(RIGHT.replace('"rows": []', '"rows": [{}] * 9000'))
    running.start()
    with pytest.raises(Broken, match="more than 131072 bytes of replies in one case"):
        for at in range(9):
            running.ask("push", stream="s", at=at, graph="")


def test_standard_error_may_be_flooded():
    running = harness(
        "import sys; sys.stderr.write('noise\\n' * 300000); sys.stderr.flush()" + RIGHT
    )
    assert running.start()["engine"] == "echo"
    running.stop()
    assert running.stderr_tail.endswith("noise") and len(running.stderr_tail) <= 2000


def test_a_harness_that_does_not_read(monkeypatch):
    """A command that its pipe does not hold waits no longer than the others.

    The clock goes on by a tenth of a second whenever it is looked at. Who waited for the pipe alone
    would not look at it, and would see the process end before the time is over.
    """
    running = harness(
        FIRST + 'print(\'{"seq": 1, "reply": "result", "protocol": 1}\', '
        "flush=True); import time; time.sleep(60)",
        Limits(reply_seconds=1),
    )
    running.start()
    began = time.monotonic()
    instants = (began + look / 10 for look in count())
    monkeypatch.setattr(client, "time", SimpleNamespace(monotonic=lambda: next(instants)))
    with pytest.raises(Broken, match="push: no reply within 1 s"):
        running.ask("push", stream="s", at=1, graph="#" * (4 << 20))


def test_a_big_command_arrives_whole():
    running = harness(RIGHT.replace('asked.get("at", 0)', 'len(asked.get("graph", ""))'))
    running.start()
    assert (
        running.ask("push", stream="s", at=1, graph="é" * (1 << 20))["relations"][0]["instant"]
        == 1 << 20
    )
    running.stop()


@pytest.mark.parametrize("more", ["", ", start_new_session=True"])
def test_what_a_harness_starts_dies_with_it(tmp_path, more):
    """A child that leads a session of its own, too."""
    code = (
        'import subprocess, sys; child = subprocess.Popen([sys.executable, "-c", "import '
        f'time; time.sleep(600)"]{more}); '
    )
    code += f'open({str(tmp_path / "child")!r}, "w").write(str(child.pid))'
    running = harness(code + RIGHT)
    running.start()
    child = psutil.Process(int((tmp_path / "child").read_text()))
    assert child.is_running()
    running.stop()
    deadline = time.monotonic() + 20
    while child.is_running() and child.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, "the child lives on"
        time.sleep(0.05)


def test_near_the_end_of_a_case_the_limit_of_the_case_is_named():
    """The reply would have had 5 s, and the case has none of its 0.2 s left."""
    sleepy = RIGHT.replace('asked["command"] != "stop"', 'asked["command"] == "register"')
    sleepy = sleepy.replace("print(", 'asked["command"] == "end" and time.sleep(60); print(')
    limits = replace(QUICK, case_seconds=0.2)
    running = harness(sleepy.replace("import json, sys", "import json, sys, time"), limits)
    running.start()
    with pytest.raises(Broken, match=r"end: the case takes more than 0\.2 s"):
        running.ask("register", query="q", dialect="csparql", streams=["s"], static="")
        running.ask("end")


def test_what_a_harness_left_behind_dies_before_the_next_one_starts(tmp_path):
    """The harness exits by itself between two cases. Its child lives on, and holds its pipes."""
    child_file = tmp_path / "child"
    code = (
        "import subprocess, sys\n"
        'child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])\n'
        f'open({str(child_file)!r}, "w").write(str(child.pid))\n'
        + RIGHT.replace('if asked["command"] == "stop"', 'if asked["command"] == "end"')
    )
    tested = replace(
        engine_file.engine("reference"), command=(sys.executable, "-c", code), limits=QUICK
    )
    pool = Harnesses()
    first = pool.of(tested)
    child = int(child_file.read_text())
    first.ask("register", query="q", dialect="table", streams=["s"])
    first.ask("end")
    deadline = time.monotonic() + 20
    while first.usable:
        assert time.monotonic() < deadline, "the harness does not exit"
        time.sleep(0.05)
    assert psutil.pid_exists(child)

    began = time.monotonic()
    second = pool.of(tested)
    seconds = time.monotonic() - began
    pool.stop()
    try:
        assert seconds < QUICK.reply_seconds, "a harness that has exited was asked to stop"
        assert second is not first and not first.alive
        while psutil.pid_exists(child) and psutil.Process(child).status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < deadline, "the child lives on"
            time.sleep(0.05)
    finally:
        first.stop()
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def test_no_shell_is_involved(tmp_path):
    """Words are words: nothing of them is expanded or run."""
    words = ["$(touch x)", "; touch x", "`touch x`", "*"]
    running = Harness(
        [sys.executable, "-c", RIGHT.replace('"echo"', "repr(sys.argv[1:])"), *words],
        folder=tmp_path,
    )
    assert running.start()["engine"] == repr(words)
    running.stop()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("command", [["/no/such/harness"], [""], []])
def test_a_harness_that_is_not_there(command):
    with pytest.raises(Broken, match="cannot be started"):
        Harness(command)


@pytest.mark.parametrize("reply", ['"error", "context": "no"', '"unsupported", "reason": "no"'])
def test_what_is_no_result_is_no_start(reply):
    running = harness(
        RIGHT.replace('"reply": "result"}', f'"reply": {reply}}}')
        .replace("reply |=", "reply if True else")
        .replace('reply["relations"]', "ignored")
    )
    with pytest.raises(Broken, match=f"start: {reply[1:6]}.*: no"):
        running.start()
    assert not running.alive and not running.usable


# Garbage

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
PARTS = {
    "seq": st.just(1) | JSON,
    "reply": st.sampled_from(["result", "unsupported", "error"]) | JSON,
    "relations": st.lists(
        st.fixed_dictionaries(
            {}, optional={"rows": st.lists(JSON, max_size=2), "instant": JSON, "window": JSON}
        ),
        max_size=3,
    )
    | JSON,
    "reason": JSON,
    "context": JSON,
    "protocol": JSON,
    "link": JSON,
    "more": JSON,
}
REPLIES = st.dictionaries(st.sampled_from(sorted(PARTS)), st.none()).flatmap(
    lambda keys: st.fixed_dictionaries({key: PARTS[key] for key in sorted(keys)})
)
LINES = (
    st.binary(max_size=60)
    | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass"))
    | (REPLIES | JSON).map(lambda value: json.dumps(value).encode())
    | st.builds(
        lambda value, at, piece: json.dumps(value).encode()[:at] + piece,
        REPLIES,
        st.integers(0, 60),
        st.binary(max_size=6),
    )
)


class Deaf(Harness):
    """A harness without a process, for what it would have answered."""

    def __post_init__(self) -> None:
        self._seq, self._stderr_end, self.alive, self._output = 1, b"", True, b""
        self._seq_of_case, self._last_command_of_case_before, self._case_before_ended_at = (
            0,
            "",
            0.0,
        )

    def _kill(self) -> None:
        self.alive = False


@settings(max_examples=draws(1000))
@given(LINES)
@example(
    b'{"seq": 1, "reply": "result", "relations": [{"rows": [{"x": {"type": "uri", '
    b'"value": "urn:a"}}]}]}'
)
@example(b'{"seq": true, "reply": "result"}')
@example(b'{"seq": 1.0, "reply": "result"}')
def test_a_line_is_a_reply_or_breaks(line):
    """What is taken for a reply is one, by its schema, and of this command; everything else is
    Broken.
    """
    deaf = Deaf(["none"])
    try:
        reply = deaf._parse_reply(line, "push")
    except Broken as error:
        assert not deaf.alive and str(error).isprintable() and len(str(error)) <= 2000
        return
    assert deaf.alive and client.validator("reply").is_valid(reply) and reply["seq"] == 1


def test_garbage_of_real_processes():
    """Lines through pipes: each process answers once with what was drawn."""
    # a shell starts in a tenth of the time of a Python
    code = 'read -r command; printf "$0\\n"; read -r command; exit 0'
    broken = []

    @settings(max_examples=draws(200))
    @given(LINES.filter(lambda line: b"\n" not in line))
    def answered(line: bytes) -> None:
        octal = "".join(f"\\{byte:03o}" for byte in line)
        running = Harness(["sh", "-c", code, octal], limits=QUICK)
        try:
            reply = running.ask("start", protocol=1)
            assert client.validator("reply").is_valid(reply) and reply["seq"] == 1
        except Broken as error:
            assert "no reply within" not in str(error)
            broken.append(line)
        finally:
            running.stop()

    answered()
    assert len(broken) >= draws(200) // 2


# The protocol as it is written


def test_the_example_of_the_protocol_is_of_its_schemas():
    text = (Path(client.__file__).parents[1] / "PROTOCOL.md").read_text(encoding="utf-8")
    lines = [line.split(None, 1) for line in text.split("```")[1].strip().splitlines()]
    seqs = []
    for speaker, message in lines:
        validator = client.validator("command" if speaker == "suite" else "reply")
        value = json.loads(message)
        assert validator.is_valid(value), message
        seqs.append(value["seq"])
    assert seqs == [n for n in range(1, len(lines) // 2 + 1) for _ in range(2)]


@pytest.mark.parametrize("name", ["case", "command", "engine", "reply", "secret"])
def test_the_schemas_are_schemas(name):
    client.validator(name).check_schema(client.validator(name).schema)


# Lines that come after the last reply about a case

# Echoes, and writes what its first argument says 50 ms after its reply to `end`.
LATE = RIGHT.replace(
    '    if asked["command"] == "stop":',
    '    if asked["command"] == "end":\n'
    "        import time\n"
    "        time.sleep(0.05)\n"
    "        print(LINE, flush=True)\n"
    '    if asked["command"] == "stop":',
)
OLD_REPLY = '{"seq": 3, "reply": "result", "relations": []}'


def asked_a_case(line: str) -> Harness:
    """A harness that writes a line late, after its first case."""
    running = harness(LATE.replace("LINE", repr(line)))
    running.start()
    running.ask("register", query="q", dialect="csparql", streams=["s"])
    running.ask("end")
    return running


@pytest.mark.parametrize("line", ["done", OLD_REPLY])
def test_a_late_line_is_found_before_the_next_case(line):
    running = asked_a_case(line)
    text = f"wrote a line after the reply to `end`: {client.display(line)}"
    if line != OLD_REPLY:
        text += f"; {client.PRINTS}"
    assert running.look_for_late_fault(grace=5) == text
    assert not running.alive


@pytest.mark.parametrize("line", ["done", OLD_REPLY])
def test_a_late_line_that_is_read_as_the_reply_to_register_is_told_apart(line):
    running = asked_a_case(line)
    with pytest.raises(Broken, match=r"^register: "):
        running.ask("register", query="q", dialect="csparql", streams=["s"])
    assert running.late_fault.startswith("wrote a line after the reply to `end`: ")


@pytest.mark.parametrize("line", ["done", OLD_REPLY])
def test_a_late_line_is_found_when_the_harness_is_stopped(line):
    running = asked_a_case(line)
    running.stop()
    assert running.late_fault.startswith("wrote a line after the reply to `end`: ")


def test_garbage_in_the_first_case_is_of_the_first_case():
    running = harness(RIGHT.replace('reply["relations"]', 'print("x"); reply["relations"]'))
    running.start()
    with pytest.raises(Broken, match=r"^register: "):
        running.ask("register", query="q", dialect="csparql", streams=["s"])
    running.stop()
    assert not running.late_fault


def test_a_line_in_the_middle_of_a_case_is_of_that_case(monkeypatch):
    """But for one that comes soon after the case before: of that nobody knows yet."""
    command = RIGHT.replace(
        'reply["relations"]',
        'asked["command"] == "push" and print("x"); reply["relations"]',
    )
    monkeypatch.setattr(client, "STILL_LATE", 0)
    assert not late_line_of_the_second_case(command)

    monkeypatch.setattr(client, "STILL_LATE", 60)
    line = late_line_of_the_second_case(command)
    assert line == f"wrote a line after the reply to `end`: 'x'; {client.PRINTS}"


def late_line_of_the_second_case(command: str) -> str:
    """Return the line that counts as late when a harness breaks down in its second case."""
    running = harness(command)
    running.start()
    for _ in range(2):
        running.ask("register", query="q", dialect="csparql", streams=["s"])
        running.ask("end")
    with pytest.raises(Broken, match=r"^push: "):
        running.ask("push", stream="s", at=1, graph="")
    return running.late_fault


def test_what_a_harness_writes_when_it_is_told_to_stop_is_of_no_case():
    running = harness(RIGHT.replace("        break", '        print("bye"); break'))
    running.start()
    running.ask("register", query="q", dialect="csparql", streams=["s"])
    running.ask("end")
    running.stop()
    assert not running.late_fault
