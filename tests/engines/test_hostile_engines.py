"""`conformance engines` against what its users, their disks and other people's programs can do to
it: broken files, odd names, killed processes, package managers that flood their logs.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from conftest import needs_commands
from engines.test_engines_command import HANGS, NPM, files_in, keep_engines_in, put_on_path

from conformance.__main__ import main
from conformance.engines.installation import install, places
from conformance.engines.installation.unfinished import unfinished_folder
from conformance.harness import engine_file
from conformance.harness.engine_file import InvalidEngine
from conformance.suite import doctor
from refengine.model.errors import RefengineError

MINE = 'title = "Mine"\ncommand = ["x"]\ndialect = "csparql"\n[semantics]\nprofile = "csparql"\n'


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    """A folder of its own for installed and brought engines."""
    return keep_engines_in(tmp_path / "home", monkeypatch)


def keep(home: Path, name: str, file: str, text: str) -> Path:
    """Put a file into the folder of an engine that the user has added; return the folder."""
    folder = home / "engines" / name
    folder.mkdir(parents=True)
    (folder / file).write_text(text)
    return folder


def listed(capsys) -> dict[str, dict[str, str]]:
    """The rows of the list, by engine."""
    capsys.readouterr()
    assert main(["engines", "list", "--format", "json"]) == 0
    return {row["engine"]: row for row in json.loads(capsys.readouterr().out)}


# Broken files


@pytest.mark.parametrize(
    ("file", "text", "state"),
    [
        ("engine.toml", "title =", "engine: not TOML: Invalid value"),
        ("engine.toml", 'title = "Mine"', "key 'command' is missing"),
        ("engine.json", "{", "is malformed; add the engine again"),
        ("engine.json", "[" * 100_000, "is malformed; add the engine again"),
        ("engine.json", '{"place": "a\\u0000b.toml"}', "is malformed; add the engine again"),
        ("engine.json", '{"place": "mine.toml"}', "expected an absolute path, got 'mine.toml'"),
    ],
)
def test_a_broken_file_does_not_hide_other_engines(capsys, home, file, text, state):
    keep(home, "mine", file, text)
    rows = listed(capsys)
    assert state in rows["mine"]["state"]
    assert rows["reference"]["state"] == "ready"
    with pytest.raises(InvalidEngine, match="did you mean 'reference'"):
        engine_file.engine("referenc")
    assert main(["engines", "install", "reference"]) == 2
    assert "its file names no package" in capsys.readouterr().err


def test_a_folder_whose_name_is_no_engines_is_left_out(capsys, home):
    for name in ("My Engine", ".hidden", "mine.toml"):
        keep(home, name, "engine.toml", MINE)
    (home / "engines" / os.fsdecode(b"\xff")).mkdir()
    assert list(listed(capsys)) == sorted(engine_file.engines())


def test_an_added_engine_is_removed_even_if_its_file_is_broken(tmp_path, capsys, home):
    file = tmp_path / "mine.toml"
    file.write_text(MINE)
    assert main(["engines", "add", "mine", str(file)]) == 0
    file.unlink()
    assert "No such file" in listed(capsys)["mine"]["state"]
    assert main(["engines", "remove", "mine"]) == 0
    assert files_in(home / "engines") == []
    assert main(["engines", "remove", "mine"]) == 2


def test_the_list_does_not_steer_the_terminal(capsys, home):
    bring = '[bring]\nkind = "folder"\nwhat = "w"\nversion = "\\u001b[31m1"\nlicence = "MIT"\n'
    keep(home, "mine", "engine.toml", f'{MINE}{bring}instructions = "https://example.org"\n')
    assert main(["engines", "list"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out and "\\x1b[31m1" in out


# Names and places


@pytest.mark.parametrize("name", ["mine.toml", "x" * 101, "a b", "../x"])
def test_a_name_that_could_not_be_found_again_is_refused(tmp_path, capsys, home, name):
    file = tmp_path / "any.toml"
    file.write_text(MINE)
    assert main(["engines", "add", name, str(file)]) == 2
    assert "the name of an engine has small letters" in capsys.readouterr().err
    assert not home.exists()


def test_a_name_longer_than_those_of_files_is_unknown():
    with pytest.raises(InvalidEngine, match="no engine 'xxx"):
        engine_file.engine("x" * 5000)


def test_a_place_may_have_the_separator_of_paths_in_it(tmp_path, capsys, home):
    folder = tmp_path / f"a{os.pathsep}b"
    folder.mkdir()
    (folder / "mine.toml").write_text(MINE)
    assert main(["engines", "add", "mine", str(folder / "mine.toml")]) == 0
    assert engine_file.engine("mine").title == "Mine"
    bring = '[bring]\nkind = "folder"\nwhat = "w"\nversion = "1"\nlicence = "MIT"\n'
    text = MINE.replace('"x"', '"{brought}/x"') + bring + 'instructions = "https://example.org"\n'
    keep(home, "yours", "engine.toml", text)
    (folder / "yours.toml").write_text(text)
    engine = engine_file.read_engine_file(folder / "yours.toml").with_classpath(str(folder))
    assert engine.command == (f"{folder}/x",)


def test_an_added_engine_that_its_user_brings_keeps_its_file(tmp_path, capsys, home):
    bring = '[bring]\nkind = "folder"\nwhat = "w"\nversion = "1"\nlicence = "MIT"\n'
    text = MINE.replace('"x"', '"{brought}/x"') + bring + 'instructions = "https://example.org"\n'
    file = tmp_path / "mine.toml"
    file.write_text(text)
    assert main(["engines", "add", "mine", str(file)]) == 0
    assert listed(capsys)["mine"]["state"].endswith("engines add mine PATH")
    assert main(["engines", "add", "mine", str(tmp_path)]) == 0
    assert engine_file.engine("mine").with_classpath("").command == (f"{tmp_path}/x",)
    assert main(["engines", "remove", "mine"]) == 0
    assert files_in(home / "engines") == []
    keep(home, "mine", "engine.toml", text)
    assert main(["engines", "add", "mine", str(tmp_path)]) == 0
    assert engine_file.engine("mine").with_classpath("").command == (f"{tmp_path}/x",)


@pytest.mark.parametrize("content", ["{", '{"place": "cqels.jar"}'])
def test_a_malformed_record_of_a_brought_engine_is_its_state(capsys, home, content):
    keep(home, "cqels", "brought.json", content)
    state = listed(capsys)["cqels"]["state"]
    assert "brought.json" in state and "add the engine again" in state


def test_a_class_path_is_kept_with_absolute_places(tmp_path, monkeypatch, capsys):
    (tmp_path / "ö l").mkdir()
    (tmp_path / "ö l" / "a b.jar").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    assert main(["engines", "add", "cqels", f"ö l{os.pathsep}ö l/*{os.pathsep}."]) == 0
    place = os.pathsep.join([f"{tmp_path}/ö l/*", f"{tmp_path}/ö l/*", str(tmp_path)])
    monkeypatch.chdir("/")
    assert place in engine_file.engine("cqels").with_classpath("").command
    assert main(["engines", "add", "cqels", f"a.jar{os.pathsep}"]) == 2
    assert "an empty entry in its classpath 'a.jar:'" in capsys.readouterr().err
    assert main(["engines", "add", "cqels", os.pathsep]) == 2
    assert "write . for the current folder" in capsys.readouterr().err


def test_a_data_folder_that_cannot_be_written_names_the_way_out(tmp_path, capsys, home):
    jar = tmp_path / "a.jar"
    jar.write_bytes(b"")
    home.mkdir()
    (home / "engines").symlink_to("engines")
    assert main(["engines", "add", "cqels", str(jar)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and f"{places.DATA}=FOLDER uses another folder" in error


# Package managers


def test_a_relative_cache_folder_is_that_of_the_current_folder(tmp_path, monkeypatch):
    put_on_path(monkeypatch, tmp_path / "bin", "npm", NPM)
    monkeypatch.setenv(places.CACHE, "cache")
    monkeypatch.chdir(tmp_path)
    assert main(["engines", "install", "rsp-js"]) == 0
    assert Path(engine_file.engine("rsp-js").place).parent == tmp_path / "cache"
    [installed] = (tmp_path / "cache").glob("rsp-js-*/node_modules")
    assert installed.is_dir()


def test_a_log_does_not_steer_the_terminal(tmp_path, monkeypatch, capsys):
    code = r'print("\x1b[2J\x1b]0;title\x07 no\udcff", flush=True); raise SystemExit(1)'
    put_on_path(monkeypatch, tmp_path / "bin", "npm", f"import sys\n{code.replace('udcff', 'x07')}")
    assert main(["engines", "install", "rsp-js"]) == 2
    error = capsys.readouterr().err
    assert "\x1b" not in error and "\\x1b[2J" in error and "rsp-js: engine: npm ended" in error


def test_a_package_manager_that_floods_its_log_is_ended(tmp_path, monkeypatch, capsys, home):
    monkeypatch.setattr(install, "LONGEST_LOG", 1 << 20)
    code = 'import time\nprint("y\\n" * (1 << 20), flush=True)\ntime.sleep(600)'
    put_on_path(monkeypatch, tmp_path / "bin", "npm", code)
    assert main(["engines", "install", "rsp-js"]) == 2
    error = capsys.readouterr().err
    assert "npm wrote more than 1 MiB" in error and error.count("\n") <= 1 + install.LINES_OF_LOG
    assert files_in(home / "cache") == ["rsp-js.log"]


def test_a_package_manager_that_hangs_silently_is_stopped_with_what_it_started(
    tmp_path, monkeypatch, home
):
    """The error is one sentence with the next step, and has the last lines as notes."""
    code = (
        "import subprocess, sys, time\n"
        'child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])\n'
        'print("the last line", child.pid, flush=True)\ntime.sleep(600)'
    )
    put_on_path(monkeypatch, tmp_path / "bin", "npm", code)
    package = engine_file.engine("rsp-js").package
    assert package is not None
    with pytest.raises(RefengineError) as raised:
        install.install("rsp-js", package, lambda ready, total: None, silence=5)
    assert "rsp-js: engine: npm was silent for 5 s and was stopped" in str(raised.value)
    assert "install again, or wait longer with --silence SECONDS" in str(raised.value)
    [line] = raised.value.__notes__
    assert line.startswith("the last line ")
    assert has_ended(line.split()[-1])
    assert files_in(home / "cache") == ["rsp-js.log"]


def test_a_package_manager_that_writes_or_gets_packages_ready_is_not_silent():
    timer = install.SilenceTimer(now=0)
    assert timer.seconds_silent(size_of_log=0, ready=0, now=5) == 5
    assert timer.seconds_silent(size_of_log=1, ready=0, now=9) == 0
    assert timer.seconds_silent(size_of_log=1, ready=1, now=11) == 0
    assert timer.seconds_silent(size_of_log=1, ready=1, now=15) == 4


def test_the_limit_of_silence_is_an_option(tmp_path, monkeypatch, capsys, home):
    put_on_path(monkeypatch, tmp_path / "bin", "npm", HANGS)
    assert main(["engines", "install", "rsp-js", "--silence=1"]) == 2
    error = capsys.readouterr().err
    assert "npm was silent for 1 s and was stopped" in error
    assert main(["engines", "install", "rsp-js", "--silence=0"]) == 2
    assert "--silence" in capsys.readouterr().err


def test_a_full_disk_is_said_even_if_the_log_is_empty(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(install, "LITTLE_SPACE", 1 << 80)
    put_on_path(monkeypatch, tmp_path / "bin", "npm", "raise SystemExit(1)")
    assert main(["engines", "install", "rsp-js"]) == 2
    assert "npm ended with exit code 1; the disk is full" in capsys.readouterr().err


def test_a_package_manager_that_is_no_program_is_one_line(tmp_path, monkeypatch, capsys, home):
    put_on_path(monkeypatch, tmp_path / "bin", "npm", "")
    (tmp_path / "bin" / "npm").write_bytes(b"\0")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert main(["engines", "install", "rsp-js"]) == 2
    error = capsys.readouterr().err
    assert error == "conformance: rsp-js: engine: 'npm' cannot be started: Exec format error\n"
    assert files_in(home / "cache") == ["rsp-js.log"]


@pytest.mark.parametrize(
    ("registry", "file", "text"),
    [
        ("npm", "package-lock.json", "{"),
        ("npm", "package-lock.json", "[]"),
        ("npm", "other", ""),
        ("Maven Central", "jars.sha256", "three words here"),
        ("Cargo", "Cargo.lock", "x"),
        ("npm", "", ""),
    ],
)
def test_a_malformed_manifest_is_one_line(tmp_path, monkeypatch, capsys, registry, file, text):
    for tool in ("npm", "mvn", "cargo"):
        put_on_path(monkeypatch, tmp_path / "bin", tool, HANGS)
    if file:
        (tmp_path / "pinned").mkdir()
        (tmp_path / "pinned" / file).write_text(text)
    engine = tmp_path / "mine.toml"
    engine.write_text(
        f'{MINE}[install]\nregistry = "{registry}"\nversion = "1"\nlicence = "MIT"\n'
        'manifest = "pinned"\n'
    )
    assert main(["engines", "install", str(engine)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "manifest" in error and "pinned" in error


def test_jars_are_not_installed_where_no_class_path_could_name_them(
    tmp_path, monkeypatch, capsys, home
):
    put_on_path(monkeypatch, tmp_path / "bin", "mvn", HANGS)
    monkeypatch.setenv(places.CACHE, f"{home}/a{os.pathsep}b")
    assert main(["engines", "install", "esper"]) == 2
    assert f"{places.CACHE}=FOLDER" in capsys.readouterr().err


def has_ended(pid: str) -> bool:
    """Whether a process ends within some seconds."""
    for _ in range(200):
        try:
            if psutil.Process(int(pid)).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False


@contextmanager
def hanging_installation(pids: Path) -> Iterator[subprocess.Popen[str]]:
    """Start an installation whose package manager hangs, wait until it runs, and end it."""
    before = len(files_in(pids))
    command = [sys.executable, "-m", "conformance", "engines", "install", "rsp-js"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            while len(files_in(pids)) == before:
                assert process.poll() is None
                time.sleep(0.05)
            yield process
        finally:
            process.kill()
            process.communicate(timeout=60)


@pytest.fixture
def pids(tmp_path, monkeypatch) -> Path:
    """Make the package manager one that hangs; give the folder with a file for each that runs,
    which is called like its process.
    """
    folder = tmp_path / "pids"
    folder.mkdir()
    code = f'import os\nopen("{folder}/" + str(os.getpid()), "w")\n{HANGS}'
    put_on_path(monkeypatch, tmp_path / "bin", "npm", code)
    return folder


def test_what_a_killed_installation_has_left_is_removed_by_the_next(
    tmp_path, monkeypatch, home, pids
):
    with hanging_installation(pids) as living:
        with hanging_installation(pids) as killed:
            killed.kill()
            killed.wait(60)
            assert len(list((home / "cache").glob(".unfinished-*"))) == 2
        put_on_path(monkeypatch, tmp_path / "other", "npm", NPM)
        assert main(["engines", "install", "rsp-js"]) == 0
        assert len(list((home / "cache").glob(".unfinished-*"))) == 1  # of the one that lives
        living.send_signal(signal.SIGTERM)
        assert living.wait(60) == 128 + signal.SIGTERM
        assert not list((home / "cache").glob(".unfinished-*"))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells a child")
def test_a_killed_installation_ends_its_package_manager(pids):
    with hanging_installation(pids) as process:
        process.kill()
    [pid] = files_in(pids)
    assert has_ended(pid)


def test_an_unfinished_folder_of_a_living_process_stays(tmp_path):
    with unfinished_folder(tmp_path) as first:
        with unfinished_folder(tmp_path) as second:
            assert first.is_dir() and second.is_dir()
        assert not second.exists() and first.is_dir()
    (tmp_path / ".unfinished-x").mkdir()
    with unfinished_folder(tmp_path) as third:
        assert files_in(tmp_path) == [third.name]
    assert files_in(tmp_path) == []


def test_an_engine_that_cannot_be_put_in_its_place_is_not_said_to_be_installed(
    tmp_path, monkeypatch, capsys, home
):
    put_on_path(monkeypatch, tmp_path / "bin", "npm", NPM)
    engine = engine_file.engine("rsp-js")
    assert engine.package is not None
    folder = places.installed_folder(engine.package)
    folder.parent.mkdir(parents=True)
    folder.write_text("a file where a folder belongs")
    assert main(["engines", "install", "rsp-js"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


# The examination


@needs_commands("npm")
def test_the_next_step_names_the_file_by_which_an_engine_was_named(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "a b"
    folder.mkdir()
    (folder / "pinned").mkdir()
    file = folder / "mine.toml"
    file.write_text(
        f'{MINE}[install]\nregistry = "npm"\nversion = "1"\nlicence = "MIT"\nmanifest = "pinned"\n'
    )
    assert main(["engines", "doctor", str(file)]) == 1
    assert f"next: python -m conformance engines install '{file}'" in capsys.readouterr().out
    monkeypatch.setenv("PATH", "")
    assert main(["engines", "doctor", str(file)]) == 1
    assert "next: install npm (Node.js 20 or newer), then: " in capsys.readouterr().out


def examine(folder: Path, capsys, code: str, more: str = "") -> str:
    """Examine an engine whose harness is a Python text; return what is printed."""
    (folder / "harness.py").write_text(code)
    file = folder / "mine.toml"
    text = MINE.replace('["x"]', json.dumps([sys.executable, "{here}/harness.py"]))
    file.write_text(more + text)
    assert main(["engines", "doctor", str(file)]) == 1
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ('{"seq": 1, "reply": "result", "protocol": 1}', "no 'engine' and 'version'"),
        ('{"seq": 1, "reply": "result", "protocol": 1, "engine": "x"}', "has no 'version'"),
    ],
)
def test_a_reply_without_the_engines_name_is_said(tmp_path, capsys, reply, message):
    out = examine(tmp_path, capsys, f"input()\nprint({reply!r}, flush=True)\ninput()")
    assert message in out and "next: add it: see PROTOCOL.md" in out


def test_a_program_that_says_its_version_for_ever_is_ended(tmp_path, monkeypatch, capsys):
    code = 'import sys\nprint("mine 1")\nwhile True: sys.stdout.write("y" * 4096)'
    put_on_path(monkeypatch, tmp_path / "bin", "mine", code)
    out = examine(tmp_path, capsys, "raise SystemExit(1)", 'commands = ["mine"]\n')
    assert out.startswith(f"ok  mine: mine 1, {tmp_path}/bin/mine\n")


def test_a_program_that_hangs_is_ended_with_all_that_it_started(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(doctor, "SECONDS_FOR_VERSION", 3)
    code = (
        "import subprocess, sys\n"
        'child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])\n'
        f'open("{tmp_path}/pid", "w").write(str(child.pid))\nchild.wait()'
    )
    put_on_path(monkeypatch, tmp_path / "bin", "mine", code)
    out = examine(tmp_path, capsys, "", 'commands = ["mine"]\n')
    assert "--version: no answer within 3 s\n    next: install mine again" in out
    assert has_ended((tmp_path / "pid").read_text())


def test_a_package_that_is_missing_is_not_said_to_be_there(tmp_path, capsys):
    out = examine(tmp_path, capsys, "", 'modules = ["no_such_package"]\n')
    assert out.startswith("--  engine: no Mine, which needs the Python package no_such_package")
