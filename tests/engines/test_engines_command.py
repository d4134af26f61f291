"""`conformance engines`, as its user types it: with package managers that are scripts of this test,
so that nothing is downloaded, and with a folder of its own for what is kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import needs_commands

from conformance.__main__ import main
from conformance.command_line import engines
from conformance.engines.installation import brought_engines, places, pythons, registries
from conformance.engines.installation.source import Package, Registry
from conformance.engines.skeletons import write_skeleton
from conformance.harness import engine_file
from conformance.harness.engine_file import InvalidEngine
from conformance.harness.missing_class import find_missing_class
from conformance.suite import doctor

# What npm does, as far as the command sees it.
NPM = """
import json, pathlib, sys
folder = pathlib.Path(sys.argv[sys.argv.index("--prefix") + 1])
for place in json.loads((folder / "package-lock.json").read_text())["packages"]:
    if place:
        (folder / place).mkdir(parents=True)
        (folder / place / "package.json").write_text("{}")
print("added packages")
"""
FAILS = 'import sys; print("line 1"); print("npm error: no such host"); sys.exit(7)'
HANGS = 'import time; print("waiting", flush=True); time.sleep(600)'


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    """A folder of its own for installed and brought engines."""
    return keep_engines_in(tmp_path / "home", monkeypatch)


def keep_engines_in(folder: Path, monkeypatch) -> Path:
    """Make a folder the one of installed and of brought engines; return it."""
    monkeypatch.setenv(places.CACHE, str(folder / "cache"))
    monkeypatch.setenv(places.DATA, str(folder / "engines"))
    return folder


def put_on_path(monkeypatch, folder: Path, name: str, code: str) -> None:
    """Make a Python text the first program of a name on the path."""
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!{sys.executable}\n{code}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def files_in(folder: Path) -> list[str]:
    """The names in a folder, the hidden ones, too."""
    return sorted(path.name for path in folder.iterdir())


# Installing


@needs_commands("java", "node", "npm")
def test_an_installed_engine_is_found_until_it_is_removed(tmp_path, monkeypatch, capsys, home):
    put_on_path(monkeypatch, tmp_path / "bin", "npm", NPM)
    engine = engine_file.engine("rsp-js")
    assert "python -m conformance engines install rsp-js" in engine.missing

    assert main(["engines", "install", "rsp-js"]) == 0
    installed = Path(engine.place)
    assert installed.parent == home / "cache"
    assert (installed / "node_modules" / "rsp-js" / "package.json").is_file()
    assert str(installed) in engine_file.engine("rsp-js").command
    assert engine_file.engine("rsp-js").missing == ""
    assert engine_file.engine("rsp-js-heartbeat").place == str(installed)
    assert str(installed) in capsys.readouterr().out

    assert main(["engines", "remove", "rsp-js"]) == 0
    assert not installed.exists()
    assert main(["engines", "remove", "rsp-js"]) == 1
    assert "was not installed" in capsys.readouterr().err
    assert files_in(home / "cache") == ["rsp-js.log"]


def test_an_engine_is_installed_once(tmp_path, monkeypatch, capsys):
    put_on_path(monkeypatch, tmp_path / "bin", "npm", NPM)
    assert main(["engines", "install", "rsp-js"]) == 0
    put_on_path(monkeypatch, tmp_path / "other", "npm", FAILS)
    assert main(["engines", "install", "rsp-js"]) == 0


def test_a_changed_manifest_is_another_installation(tmp_path):
    manifest = tmp_path / "mine"
    manifest.mkdir()
    (manifest / "package-lock.json").write_text("1")
    package = Package(Registry.NPM, "1.0", "MIT", manifest)
    places.manifest_digest.cache_clear()
    before = places.installed_folder(package)
    (manifest / "node_modules").mkdir()
    (manifest / "node_modules" / "x").write_text("a build's output is not part of the manifest")
    places.manifest_digest.cache_clear()
    assert places.installed_folder(package) == before
    (manifest / "package-lock.json").write_text("2")
    places.manifest_digest.cache_clear()
    assert places.installed_folder(package) != before


# Pythons


@pytest.fixture
def of_other_pythons(tmp_path):
    """The file of an engine whose package is for two Pythons that nobody has."""
    pythons.is_python.cache_clear()
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "requirements.txt").write_text("a==1 --hash=sha256:0\n")
    file = tmp_path / "mine.toml"
    file.write_text(
        'title = "Mine"\ncommand = ["{python}", "-c", "{adapters}"]\ndialect = "table"\n'
        '[install]\nregistry = "PyPI"\nversion = "1"\nlicence = "MIT"\n'
        'manifest = "requirements"\npythons = ["3.97", "3.98"]\n'
    )
    yield file
    pythons.is_python.cache_clear()


def test_a_package_for_other_pythons_names_them(of_other_pythons, capsys, home):
    """In one line, when it is installed and where it is missing."""
    assert main(["engines", "install", str(of_other_pythons)]) == 2
    assert (
        capsys.readouterr().err.splitlines()[-1].endswith("needs Python 3.97 or 3.98 on the path")
    )
    assert not home.exists()
    missing = engine_file.engine(str(of_other_pythons)).missing
    assert "needs Python 3.97 or 3.98 on the path" in missing and "\n" not in missing


def test_a_package_for_another_python_is_run_by_it(of_other_pythons, tmp_path, monkeypatch):
    """A program that is called Python and starts none is passed over, as a version manager's."""
    put_on_path(monkeypatch, tmp_path / "bin", "python3.97", "import sys; sys.exit(127)")
    put_on_path(monkeypatch, tmp_path / "bin", "python3.98", "")
    engine = engine_file.engine(str(of_other_pythons))
    program = str(tmp_path / "bin" / "python3.98")  # pip wants a path
    assert engine.command[0] == program
    command = registries.Pip().command(engine.package, tmp_path)
    assert f"--python={program}" in command and command[0] == sys.executable
    assert places.installed_folder(engine.package).name.endswith("-py3.98")
    assert "engines install" in engine.missing


def test_what_pypi_has_for_a_python_is_not_used_by_another(monkeypatch):
    """Their folders differ. The packages of other registries know no Python."""
    pandas, rsp_js = (engine_file.engine(name).package for name in ("pandas", "rsp-js"))
    before = [places.installed_folder(package) for package in (pandas, rsp_js)]
    monkeypatch.setattr(pythons, "OURS", "3.99")
    after = [places.installed_folder(package) for package in (pandas, rsp_js)]
    assert before[0] != after[0] and before[1] == after[1]


def test_a_failed_installation_leaves_nothing_but_its_log(tmp_path, monkeypatch, capsys, home):
    put_on_path(monkeypatch, tmp_path / "bin", "npm", FAILS)
    assert main(["engines", "install", "rsp-js"]) == 2
    error = capsys.readouterr().err
    assert "npm ended with exit code 7" in error and "no such host" in error
    assert files_in(home / "cache") == ["rsp-js.log"]


def test_an_interrupted_installation_leaves_nothing_but_its_log(tmp_path, monkeypatch, home):
    put_on_path(monkeypatch, tmp_path / "bin", "npm", HANGS)
    command = [sys.executable, "-m", "conformance", "engines", "install", "rsp-js"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    log = home / "cache" / "rsp-js.log"
    while not log.exists() or "waiting" not in log.read_text():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in error
    assert error.splitlines()[-1] == "conformance: interrupted; nothing of rsp-js is installed"
    assert files_in(home / "cache") == ["rsp-js.log"]


def test_an_installation_says_how_far_it_is_where_there_is_no_terminal(
    tmp_path, monkeypatch, capsys
):
    """And nothing of an engine that is installed already."""
    put_on_path(monkeypatch, tmp_path / "bin", "npm", f"{NPM}import time; time.sleep(0.6)")
    monkeypatch.setattr(engines, "SECONDS_BEFORE_LINES", 0)
    monkeypatch.setattr(engines, "SECONDS_BETWEEN_LINES", 0)
    assert main(["engines", "install", "rsp-js"]) == 0
    lines = capsys.readouterr().err.splitlines()
    progress = r"conformance: rsp-js: (\d+) of (\d+) packages after [01] s"
    found = [re.fullmatch(progress, line) for line in lines]
    assert len(found) >= 2 and all(found)
    assert found[-1][1] == found[-1][2] != "0"
    assert main(["engines", "install", "rsp-js"]) == 0
    assert capsys.readouterr().err == ""


def test_lines_about_an_installation_are_seconds_apart(capsys):
    lines = engines.PackageCount("mine")
    for now in range(100, 125):
        lines.show(now - 100, 87, now)
    assert capsys.readouterr().err.splitlines() == [
        "conformance: mine: 2 of 87 packages after 2 s",
        "conformance: mine: 12 of 87 packages after 12 s",
        "conformance: mine: 22 of 87 packages after 22 s",
    ]


def test_on_a_terminal_an_installation_shows_packages_and_seconds(tmp_path, monkeypatch):
    put_on_path(monkeypatch, tmp_path / "bin", "npm", f"{NPM}import time; time.sleep(1.5)")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 100))
    command = [sys.executable, "-m", "conformance", "engines", "install", "rsp-js"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    shown = ""
    with suppress(OSError):  # the end of a terminal
        while piece := os.read(ours, 1 << 16):
            shown += piece.decode()
    os.close(ours)
    assert process.wait(60) == 0
    assert re.search(r"rsp-js: .*\b(\d+)/\1 \[00:01<", shown)
    assert "conformance:" not in shown


def test_a_missing_package_manager_is_named(monkeypatch, capsys, home):
    monkeypatch.setenv("PATH", "")
    assert main(["engines", "install", "rsp-js"]) == 2
    assert "rsp-js: engine: needs the command npm (Node.js 20 or newer)" in capsys.readouterr().err
    assert not home.exists()


def test_a_cache_that_cannot_be_written_is_one_line(tmp_path, monkeypatch, capsys, home):
    put_on_path(monkeypatch, tmp_path / "bin", "npm", NPM)
    home.mkdir()
    (home / "cache").write_text("a file where a folder belongs")
    assert main(["engines", "install", "rsp-js"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@needs_commands("java", "node", "npm")
def test_only_packages_are_installed(capsys):
    assert main(["engines", "install", "cqels"]) == 2
    assert "python -m conformance engines add cqels PATH" in capsys.readouterr().err
    assert main(["engines", "install", "reference"]) == 2
    assert "valid: " in capsys.readouterr().err
    assert main(["engines", "install", "rsp-jss"]) == 2
    assert "did you mean 'rsp-js'?" in capsys.readouterr().err


# What each registry's tool leaves


def test_jars_must_be_those_of_the_manifest(tmp_path):
    jars = tmp_path / registries.JARS
    jars.mkdir()
    (jars / "a.jar").write_bytes(b"a")
    digest = hashlib.sha256(b"a").hexdigest()
    hashes = tmp_path / registries.JAR_HASHES
    hashes.write_text(f"{digest}  a.jar\n")
    registries.Maven().finish(tmp_path)
    (jars / "b.jar").write_bytes(b"b")
    with pytest.raises(registries.RefengineError, match=r"b\.jar: .*of no such jar"):
        registries.Maven().finish(tmp_path)
    hashes.write_text(f"{digest}  a.jar\n{digest}  b.jar\n")
    with pytest.raises(registries.RefengineError, match=r"b\.jar: .*got 3e23e816"):
        registries.Maven().finish(tmp_path)
    (jars / "b.jar").unlink()
    with pytest.raises(registries.RefengineError, match="got no such jar"):
        registries.Maven().finish(tmp_path)


def test_of_what_cargo_builds_the_program_stays(tmp_path):
    release = tmp_path / "target" / "release"
    (release / "deps").mkdir(parents=True)
    (release / "mine.d").write_text("")
    (release / "mine").write_text("a program")
    (release / "mine").chmod(0o755)
    registries.Cargo().finish(tmp_path)
    assert files_in(tmp_path) == [registries.HARNESS]


def test_progress_is_counted_in_packages(tmp_path):
    (tmp_path / "requirements.txt").write_text("a==1 \\\n    --hash=x\nb-c==2 \\\n    --hash=y\n")
    (tmp_path / "Cargo.lock").write_text('[[package]]\nname = "a"\n[[package]]\nname = "b"\n')
    assert registries.Pip().count_packages(tmp_path) == 2
    assert registries.Pip().count_ready(tmp_path, "Collecting a==1\n  Downloading\n") == 1
    assert registries.Cargo().count_packages(tmp_path) == 2
    assert registries.Cargo().count_ready(tmp_path, "   Compiling a v1\n   Compiling b v2\n") == 2


@pytest.mark.parametrize("name", sorted(engine_file.engines()))
def test_the_manifest_of_each_engine_can_be_counted(name):
    package = engine_file.engine(name).package
    if package is not None:
        installer = registries.INSTALLERS[package.registry]
        assert installer.count_packages(package.manifest) > 0
        assert installer.count_ready(package.manifest, "") == 0 or package.registry == Registry.NPM
        assert str(package.manifest) in " ".join(installer.command(package, package.manifest))


# What users bring


@needs_commands("java", "node", "npm")
def test_a_brought_class_path_is_found_by_its_name(tmp_path, capsys):
    jars = tmp_path / "jars"
    jars.mkdir()
    (jars / "cqels.jar").write_bytes(b"")
    assert main(["engines", "add", "cqels", str(jars)]) == 0
    engine = engine_file.engine("cqels").with_classpath("")
    assert str(jars / "*") in engine.command
    assert main(["engines", "remove", "cqels"]) == 0
    assert "engines add cqels PATH" in engine_file.engine("cqels").with_classpath("").missing


def test_a_folder_in_the_users_data_is_found_by_itself(home):
    folder = home / "engines" / "cqels"
    folder.mkdir(parents=True)
    (folder / "cqels.jar").write_bytes(b"")
    assert str(folder / "*") in engine_file.engine("cqels").with_classpath("").command
    with pytest.raises(brought_engines.RefengineError, match="only you can remove"):
        brought_engines.forget_place("cqels")


def test_a_place_without_the_engine_is_refused(tmp_path, capsys, home):
    assert main(["engines", "add", "cqels", str(tmp_path / "nowhere.jar")]) == 2
    assert "expected the jar of CQELS 1.0.0" in capsys.readouterr().err
    assert not home.exists()


def test_what_is_gone_since_it_was_added_is_said(tmp_path, capsys):
    jar = tmp_path / "cqels.jar"
    jar.write_bytes(b"")
    assert main(["engines", "add", "cqels", str(jar)]) == 0
    jar.unlink()
    assert main(["engines", "list"]) == 0
    assert "cqels.jar" in capsys.readouterr().out
    assert main(["engines", "doctor", "cqels"]) == 1


def test_a_folder_needs_the_files_that_the_engine_names(tmp_path):
    wanted = brought_engines.BroughtEngine(
        brought_engines.Kind.FOLDER, "its sources", "1", "MIT", "", ("src/a.pl",)
    )
    with pytest.raises(
        brought_engines.RefengineError, match=r"has no src/a\.pl; expected its sources"
    ):
        brought_engines.check_place("mine", wanted, str(tmp_path))
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.pl").write_text("")
    assert brought_engines.check_place("mine", wanted, str(tmp_path)) == str(tmp_path)


def test_a_program_must_be_executable(tmp_path):
    wanted = brought_engines.BroughtEngine(
        brought_engines.Kind.PROGRAM, "its harness", "1", "MIT", ""
    )
    program = tmp_path / "harness"
    program.write_text("#!/bin/sh\n")
    with pytest.raises(brought_engines.RefengineError, match="cannot be executed"):
        brought_engines.check_place("mine", wanted, str(program))
    program.chmod(0o755)
    assert brought_engines.check_place("mine", wanted, str(program)) == str(program)
    assert brought_engines.check_place("mine", wanted, str(tmp_path)) == str(program)


def test_an_engines_file_is_found_by_the_name_that_it_was_given(tmp_path, capsys, home):
    file = tmp_path / "any.toml"
    file.write_text('title = "Mine"\ncommand = ["{here}/run"]\ndialect = "csparql"\n')
    assert main(["engines", "add", "mine", str(file)]) == 0
    engine = engine_file.engine("mine")
    assert engine.name == "mine" and engine.command == (f"{tmp_path}/run",)
    assert "mine" in engine_file.names()
    assert main(["engines", "remove", "mine"]) == 0
    with pytest.raises(InvalidEngine, match="no engine 'mine'"):
        engine_file.engine("mine")
    folder = home / "engines" / "yours"
    folder.mkdir(parents=True)
    (folder / "engine.toml").write_text(file.read_text())
    assert engine_file.engine("yours").command == (f"{folder}/run",)


@pytest.mark.parametrize("name", ["../mine", "Mine", "a/b", ".hidden", ""])
def test_a_name_is_no_path(tmp_path, capsys, name):
    file = tmp_path / "any.toml"
    file.write_text('title = "Mine"\ncommand = ["x"]\ndialect = "csparql"\n')
    assert main(["engines", "add", name, str(file)]) == 2
    assert "name" in capsys.readouterr().err


def test_a_name_of_the_suite_stays_its_own(tmp_path, capsys):
    file = tmp_path / "any.toml"
    file.write_text('title = "Mine"\ncommand = ["x"]\ndialect = "csparql"\n')
    assert main(["engines", "add", "reference", str(file)]) == 2
    assert "the suite has an engine of this name" in capsys.readouterr().err


def test_an_engine_is_installed_or_brought_and_not_both(tmp_path):
    file = tmp_path / "any.toml"
    file.write_text(
        'title = "Mine"\ncommand = ["x"]\ndialect = "csparql"\n'
        '[install]\nregistry = "npm"\nversion = "1"\nlicence = "MIT"\nmanifest = "m"\n'
        '[bring]\nkind = "folder"\nwhat = "w"\nversion = "1"\nlicence = "MIT"\n'
        'instructions = "https://example.org"\n'
    )
    with pytest.raises(InvalidEngine, match="install"):
        engine_file.read_engine_file(file)


# The list and the examination


@needs_commands("java", "node", "npm")
def test_the_list_has_a_row_for_each_engine(capsys):
    assert main(["engines", "list", "--format", "json"]) == 0
    rows = {row["engine"]: row for row in json.loads(capsys.readouterr().out)}
    assert list(rows) == engine_file.names()
    assert rows["reference"]["state"] == "ready"
    assert rows["rsp-js"]["comes from"] == "npm"
    assert rows["rsp-js"]["state"].endswith("engines install rsp-js")
    assert main(["engines", "list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + len(rows)


def test_the_examination_ends_with_a_query(capsys):
    assert main(["engines", "doctor", "reference"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("ok  ") for line in lines)
    assert lines[-1].startswith("ok  query: pass: ")


def test_an_engine_that_is_not_held_to_the_corpus_is_asked_no_case_of_it():
    tested = replace(engine_file.engine("reference"), suites=("csrbench",))
    *_, last = doctor.examine(tested)
    assert last.found == "none was asked: the engine is held to csrbench alone"
    assert last.is_well


@needs_commands("java", "node", "npm")
def test_the_examination_says_the_one_thing_to_do_next(capsys):
    assert main(["engines", "doctor", "rsp-js"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "    next: python -m conformance engines install rsp-js"
    assert sum(line.startswith("--") for line in lines) == 1


def test_a_harness_that_does_not_start_is_said(tmp_path, capsys):
    file = tmp_path / "broken.toml"
    file.write_text(
        f'title = "Broken"\ncommand = ["{sys.executable}", "-c", "raise SystemExit(3)"]\n'
        'dialect = "csparql"\n[semantics]\nprofile = "csparql"\n'
    )
    assert main(["engines", "doctor", str(file)]) == 1
    out = capsys.readouterr().out
    assert "exit code 3" in out and "next: " in out


def test_the_reason_of_a_harness_that_refuses_every_case_is_said(tmp_path):
    write_skeleton("mine", "python", tmp_path / "mine")
    *_, last = doctor.examine(engine_file.engine(str(tmp_path / "mine" / "mine.toml")))
    assert re.fullmatch(r"it refuses every case; the first one: .*fill in: .*", last.found)
    assert last.next_step == "see what its file and its harness say of queries"


# What `add` finds out


JAVA = """\
import org.example.Window;

class Harness {
    public static void main(String[] words) {
        System.out.println(Window.class);
    }
}
"""
TRACE = """\
Exception in thread "main" java.lang.NoClassDefFoundError: org/example/Window$Inner
    at Harness.main(Harness.java:5)
Caused by: java.lang.ClassNotFoundException: org.example.Window$Inner
    ... 1 more
"""


def engine_text(command: list[str]) -> str:
    """The text of an engine's file."""
    semantics = '[semantics]\nprofile = "csparql"\nt0 = 0\n'
    return f'title = "M"\ncommand = {json.dumps(command)}\ndialect = "table"\n{semantics}'


def test_an_engine_that_is_added_is_examined(tmp_path, capsys):
    file = tmp_path / "mine.toml"
    file.write_text(engine_text(["{python}", "{adapters}/reference.py", "csparql", "t0=0"]))
    assert main(["engines", "add", "mine", str(file)]) == 0
    first, *findings, last = capsys.readouterr().out.splitlines()
    assert "(kept in " in first and last == "mine: ready"
    assert all(line.startswith("ok  ") for line in findings)
    assert findings[-1].startswith("ok  query: pass: ")


def test_an_engine_that_is_added_and_not_ready_is_kept_and_says_what_to_do(tmp_path, capsys):
    file = tmp_path / "mine.toml"
    file.write_text(engine_text([sys.executable, "-c", "raise SystemExit(3)"]))
    assert main(["engines", "add", "mine", str(file)]) == 0
    *_, next_step, last = capsys.readouterr().out.splitlines()
    assert next_step == "    next: start its command by hand to see more"
    assert last == "mine: kept, but not ready: see the next step above"
    assert engine_file.engine("mine").title == "M"


def test_an_interrupted_examination_leaves_the_engine_kept(tmp_path, monkeypatch, capsys):
    def examine(_: object) -> object:
        raise KeyboardInterrupt

    file = tmp_path / "mine.toml"
    file.write_text(engine_text(["nothing"]))
    monkeypatch.setattr(doctor, "examine", examine)
    assert main(["engines", "add", "mine", str(file)]) == 130
    assert "mine is kept; its examination was interrupted" in capsys.readouterr().err
    assert engine_file.engine("mine").title == "M"


@needs_commands("java")
def test_the_class_that_a_compiler_does_not_find_is_named(tmp_path, capsys):
    (tmp_path / "Harness.java").write_text(JAVA)
    file = tmp_path / "mine.toml"
    file.write_text(engine_text(["java", "{here}/Harness.java"]))
    assert main(["engines", "doctor", str(file)]) == 1
    finding, next_step = capsys.readouterr().out.splitlines()[-2:]
    assert finding == (
        "--  harness: Java found no class org.example.Window "
        "(start: the process ended with exit code 1)"
    )
    assert next_step == "    next: put the jar that has it on the class path of its command"


def test_the_class_that_an_engine_lacks_is_named_with_how_to_bring_it(tmp_path, capsys):
    code = f"import sys; sys.exit({TRACE!r} + '\\tat x.y\\n' * 500)"
    bring = '[bring]\nkind = "classpath"\nwhat = "w"\nversion = "1"\nlicence = "MIT"\n'
    file = tmp_path / "mine.toml"
    text = engine_text([sys.executable, "-c", code, "{brought}"])
    file.write_text(f'{text}{bring}instructions = "https://example.org"\n')
    assert main(["engines", "add", "mine", str(file)]) == 0
    (tmp_path / "a.jar").write_bytes(b"")
    capsys.readouterr()
    assert main(["engines", "add", "mine", str(tmp_path / "a.jar")]) == 0
    finding, next_step, last = capsys.readouterr().out.splitlines()[-3:]
    assert finding == (
        "--  harness: Java found no class org.example.Window$Inner "
        "(start: the process ended with exit code 1)"
    )
    assert next_step == (
        "    next: bring the jar that has it, too: python -m conformance engines add mine "
        f"JAR{os.pathsep}JAR (or a folder with all jars)"
    )
    assert last.startswith("mine: kept, but not ready")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("java.lang.NoClassDefFoundError: org/a/B", "org.a.B"),
        ("java.lang.ClassNotFoundException: org.a.B\n\tat x", "org.a.B"),
        (
            "WARN ClassNotFoundException: log.Old\njava.lang.NoClassDefFoundError: org/a/B",
            "org.a.B",
        ),
        ("A.java:1: error: package org.a does not exist\nimport org.a.B;\n   ^", "org.a.B"),
        ("A.java:1: error: package org.a does not exist\n    org.a.B b;", "org.a"),
        ("bad class file\n  class file for org.a.B not found\n", "org.a.B"),
        ("java.lang.NoClassDefFoundError: Could not initialize class org.a.B", ""),
        ("Error: could not open `a.jar'", ""),
        ("NoClassDefFoundError: " + "a/" * 100_000, "a" + ".a" * 40),
        ("package " + "a." * 100_000, ""),
        ("NoClassDefFoundError: \x1b[2J/b", ""),
    ],
)
def test_a_class_that_is_missing_is_read_from_what_java_says(text, name):
    assert find_missing_class(text) == name
