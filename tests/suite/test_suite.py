"""The suite as a user runs it: engines named, behind a command, in a file, of a package, recorded;
right, wrong and broken.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
import rsp_js_items
from conftest import PROFILE
from suite_run import ROOT, WORDS_ALONE, run_suite, run_suite_alone

import conformance
from conformance import suite
from conformance.bench.recordings import csrbench
from conformance.corpus import cases, question_of, relation, semantics_of, term
from conformance.harness import engine_file
from conformance.harness.pool import Harnesses
from conformance.suite import probe
from conformance.verdict.engine_report import EngineReport
from conformance.verdict.results import from_json
from refengine.core.values import Closure
from refengine.model.errors import RefengineError

REFERENCE = engine_file.engine("reference")
# the cases of the corpus that `--smoke` puts to an engine; those of joins are a suite of their own
SMOKE = [case.id for case in suite.questions() if case.table.get("smoke")]
OVERLAP = "WIN-1-a-slide-less-than-the-size-makes-windows-that-overlap"
RIGHT_OPEN_BORDER = "WIN-2-an-element-on-the-upper-border-of-a-right-open-window"
TUMBLING = "sh " + str(ROOT / "tests" / "harnesses" / "tumbling.sh")


def line_without_detection(line: str) -> str:
    """A result as a line of JSON, without the wrong engine that its case would have caught."""
    return json.dumps({**json.loads(line), "caught_wrong_engine": ""}, sort_keys=True)


def told(path: Path) -> list:
    """The results in a file."""
    return [from_json(json.loads(line)) for line in path.read_text().splitlines()]


def mine(folder: Path, code: str, **more: object) -> Path:
    """An engine's file whose harness is this Python."""
    path = folder / "mine.toml"
    (folder / "mine.py").write_text(textwrap.dedent(code))
    keys = {
        "title": "Mine",
        "command": [sys.executable, "{here}/mine.py"],
        "dialect": "rspql",
        **more,
    }
    semantics = '[semantics]\nprofile = "csparql"\nt0 = 0\n'
    path.write_text(
        "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items()) + semantics
    )
    return path


def known_file(path: Path, cases: list[str]) -> Path:
    """An engine's file, in which something is known of some cases."""
    entry = '[[deviations]]\nreason = "it never answers"\nlink = "https://example.org/1"\n'
    path.write_text(f"{path.read_text()}{entry}cases = {json.dumps(cases)}\n")
    return path


SILENT = """
    import json, sys
    for line in sys.stdin:
        asked = json.loads(line)
        more = {"start": {"protocol": 1, "engine": "mine", "version": "1"}, "stop": {}}.get(asked["command"], {"relations": []})
        CRASH
        print(json.dumps({"seq": asked["seq"], "reply": "result", **more}), flush=True)
        if asked["command"] == "stop":
            break
"""  # noqa: E501


# The reference engine


def test_the_reference_engine_passes_all_and_the_smoke_cases_are_some_of_them(tmp_path):
    """Each case that expects reports, once."""
    whole, few = tmp_path / "whole.ndjson", tmp_path / "few.ndjson"
    found = run_suite("--engine=reference", "-m", "corpus", f"--results={whole}")
    assert found.returncode == 0, found.stdout
    results = told(whole)
    assert {result.outcome for result in results} == {"pass"}
    asked = {
        case.id
        for case in cases()
        if any("max_reports" not in block for block in case.table.get("expect", []))
    }
    assert {result.case for result in results} == asked and len(results) == len(asked)
    assert f"conformance: reference: {len(asked)} pass" in found.stdout
    assert run_suite("--engine=reference", "--smoke", f"--results={few}").returncode == 0
    # Which case is examined for its rule depends on the cases of the run.
    of_all = {line_without_detection(line) for line in whole.read_text().splitlines()}
    of_smoke = {line_without_detection(line) for line in few.read_text().splitlines()}
    assert of_smoke < of_all
    assert {from_json(json.loads(line)).case for line in of_smoke} == asked.intersection(SMOKE)


def test_the_smoke_cases_are_a_dozen_and_one_call(capsys):
    """The reference engine is asked those of them that expect reports."""
    results = conformance.check_engine("reference", smoke=True)
    assert len(SMOKE) == 12
    assert len(results) == 9
    assert len({result.rule.partition("-")[0] for result in results}) >= 4


# Other engines


def test_a_shell_script_is_an_engine():
    """20 lines; the case is that of WIN-2's border."""
    assert len((ROOT / "tests" / "harnesses" / "tumbling.sh").read_text().splitlines()) <= 20
    words = [f"--engine-command={TUMBLING}", "--engine-semantics=csparql t0=0"]
    found = run_suite(*words, "-k", RIGHT_OPEN_BORDER)
    assert found.returncode == 0 and "1 passed" in found.stdout, found.stdout
    found = run_suite(*words, "-k", OVERLAP)
    assert (
        found.returncode == 1
        and "window [5, 15) at t=14: the recording ends too early" in found.stdout
    ), found.stdout


def test_a_wrong_engine_is_told_all_that_is_wrong(tmp_path):
    path = mine(tmp_path, SILENT.replace("CRASH", ""))
    with pytest.raises(conformance.NonConformance, match="mine-REP-9-an-element") as caught:
        conformance.check_engine(path, smoke=True)
    outcomes = Counter(result.outcome for result in caught.value.results)
    assert outcomes == {"fail": 11, "unsupported": 1}, (
        "an engine that never answers; no dialect says when a query is registered"
    )


def test_a_crash_is_the_error_of_its_case_alone(tmp_path):
    """It dies at every query with :q, and is started again for the next."""
    crash = 'if ":q" in asked.get("query", ""): sys.exit("no such function")'
    path = mine(tmp_path, SILENT.replace("CRASH", crash))
    results = tmp_path / "results.ndjson"
    found = run_suite(f"--engine={path}", "--smoke", f"--results={results}")
    errors = [result for result in told(results) if result.outcome == "error"]
    assert found.returncode == 1
    assert len(told(results)) == 12
    assert {result.rule for result in errors} == {"ORA-6"}
    assert (
        "register: the process ended with exit code 1; it said: no such function"
        in errors[0].explanation
    )


def test_an_engine_that_does_not_start_is_tried_twice(tmp_path):
    path = mine(tmp_path, f"open({str(tmp_path / 'tries')!r}, 'a').write('x')")
    results = tmp_path / "results.ndjson"
    assert run_suite(f"--engine={path}", "--smoke", f"--results={results}").returncode == 1
    assert {result.outcome for result in told(results)} == {"error"}
    assert (tmp_path / "tries").read_text() == "xx"
    assert "it has failed to start twice: start: the process ended" in told(results)[-1].explanation


def test_an_engine_of_a_package(tmp_path, monkeypatch):
    """The group conformance.engines of entry points: the path of a file."""
    mine(tmp_path, SILENT.replace("CRASH", ""))
    info = tmp_path / "theirs-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[conformance.engines]\ntheirs = theirs:ENGINE\n")
    (tmp_path / "theirs.py").write_text(
        "from pathlib import Path\nENGINE = Path(__file__).with_name('mine.toml')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "theirs", None)  # so that it is forgotten afterwards
    del sys.modules["theirs"]
    found = run_suite("--engine=theirs", "--smoke", "-k", "WIN-10")
    assert "conformance: theirs: " in found.stdout, found.stdout + found.stderr
    (info / "entry_points.txt").write_text("[conformance.engines]\ntheirs = theirs:NONE\n")
    found = run_suite("--engine=theirs")
    assert (
        found.returncode == 4
        and "theirs: engine: its entry point 'theirs:NONE' gives no engine" in found.stderr
    ), found.stderr
    found = run_suite("--engine=their")
    assert found.returncode == 4
    assert "engine: no engine 'their'; did you mean 'theirs'" in found.stderr


# What was judged, and what was not


def test_an_engine_of_which_nothing_was_judged_is_not_green(tmp_path):
    path = mine(tmp_path, "", needs=[str(tmp_path / "engine.jar")], get="make engine.jar")
    found = run_suite(f"--engine={path}", "--engine=reference", "--smoke", "-rs")
    assert found.returncode == 4 and "9 passed, 12 skipped" in found.stdout, found.stdout
    line = "conformance: every item of mine was skipped (exit code 4; 0 with --allow-missing)"
    assert line in found.stdout.splitlines()
    assert f"no Mine, which needs {tmp_path}/engine.jar: make engine.jar" in found.stdout
    assert run_suite(f"--engine={path}", "--smoke", "--allow-missing").returncode == 0
    with pytest.raises(RefengineError, match="mine: engine: no Mine, which needs"):
        conformance.check_engine(path)


BROUGHT = (
    *("cqels", "cqels2", "csparql", "csparql2", "etalis", "etalis-chronological", "etalis-recent"),
    *("janus-live", "janus-log", "kolibrie", "rmlstreamer", "roxi", "yasper"),
)


@pytest.mark.parametrize("name", BROUGHT)
def test_an_engine_that_its_user_brings_is_skipped_without_it(name, monkeypatch):
    """In one line, which says how it is got."""
    monkeypatch.delenv(f"CONFORMANCE_CLASSPATH_{name.upper()}".replace("-", "_"), raising=False)
    monkeypatch.setattr(shutil, "which", lambda program: f"/usr/bin/{program}")
    found = run_suite(f"--engine={name}", "--smoke", "-rs")
    reasons = [line for line in found.stdout.splitlines() if line.startswith("SKIPPED")]
    assert found.returncode == 4 and len(reasons) == 1, found.stdout
    engine = engine_file.engine(name)
    assert f"no {engine.title}, which needs {engine.to_bring.what}: " in reasons[0]
    assert reasons[0].endswith(f"python -m conformance engines add {name} PATH")


def test_an_engine_whose_program_is_nowhere_is_skipped(tmp_path, monkeypatch):
    """A need is a path, or a program on PATH."""
    (tmp_path / "java").write_text("#!/bin/sh\n")
    (tmp_path / "java").chmod(0o755)
    for place, missing in (
        (tmp_path, ""),
        (
            tmp_path / "nowhere",
            "no CQELS 1.0.0, which needs the command java: install a JDK 17",
        ),
    ):
        monkeypatch.setenv("PATH", str(place))
        tested = engine_file.engine("cqels").with_classpath(str(tmp_path))
        assert tested.missing.startswith(missing) and bool(tested.missing) == bool(missing)


def test_a_fresh_engine_has_a_process_a_case(tmp_path):
    """And another one none."""
    code = SILENT.replace("CRASH", "").replace(
        "import json, sys", f"import json, sys; open({str(tmp_path / 'starts')!r}, 'a').write('x')"
    )
    for more, starts in (({"fresh": True}, 12), ({}, 1)):
        (tmp_path / "starts").write_text("")
        with pytest.raises(conformance.NonConformance):
            conformance.check_engine(mine(tmp_path, code, **more), smoke=True)
        assert len((tmp_path / "starts").read_text()) == starts


def test_what_an_engine_is_known_for_explains_its_fails_and_must_show(tmp_path):
    """In the cases that it names: a fail there is expected, a pass is a failure."""
    path = mine(tmp_path, "", command=TUMBLING.split())
    whole = path.read_text()
    overlap, border = (
        [case.id for case in cases() if name in case.id] for name in (OVERLAP, RIGHT_OPEN_BORDER)
    )
    words = [f"--engine={path}", "-rx", "-k", f"{OVERLAP} or {RIGHT_OPEN_BORDER}"]
    known_file(path, overlap)
    found = run_suite(*words)
    assert found.returncode == 0, found.stdout
    assert re.search(r"1 passed, \d+ deselected, 1 xfailed", found.stdout)
    assert "it never answers (https://example.org/1)" in found.stdout
    path.write_text(whole)
    known_file(path, overlap + border)
    found = run_suite(*words)
    assert found.returncode == 1, found.stdout
    assert re.search(r"1 failed, \d+ deselected, 1 xfailed", found.stdout)
    assert "pass, but a known deviation does not show here: it never answers" in found.stdout


def test_the_results_come_from_an_interrupted_run_too(tmp_path):
    """-x ends the run at its first failure; what was judged is written."""
    path = mine(tmp_path, SILENT.replace("CRASH", ""))
    results = tmp_path / "results.ndjson"
    assert run_suite(f"--engine={path}", "--smoke", "-x", f"--results={results}").returncode == 1
    assert 0 < len(told(results)) < 12 and told(results)[-1].outcome == "fail"


# Told windows, and what is asked


def reference_file(folder: Path, semantics: str, *words: str, name: str = "mine") -> Path:
    """The reference engine as one that has a profile, which is told its semantics by its command
    line.
    """
    path = folder / f"{name}.toml"
    command = json.dumps(["{python}", "{adapters}/reference.py", "csparql", *words])
    path.write_text(
        f'title = "Mine"\ncommand = {command}\ndialect = '
        f'"table"\n[semantics]\nprofile = "csparql"\n{semantics}\n'
    )
    return path


def test_an_engine_whose_t0_is_its_own_may_tell_its_windows(tmp_path):
    """Asked in tables: t0 is open, and the windows that are told say which it is."""
    assert conformance.check_engine(reference_file(tmp_path, 't0 = "unknown"', "t0=-5"), smoke=True)
    with pytest.raises(
        conformance.NonConformance,
        match=r"WIN-3 at t=9: answer 1 is about " r"\[0, 10\]; the engine says \[5, 15\]",
    ):
        conformance.check_engine(engine_file_of_a_window_too_late(tmp_path), smoke=True)


def engine_file_of_a_window_too_late(folder: Path) -> Path:
    """Of tumbling.sh, which tells no window, one that tells the next window."""
    script = (ROOT / "tests" / "harnesses" / "tumbling.sh").read_text()
    told = '"rows\\":[$rows],\\"window\\":[$((window * 10 + 5)),$((window * 10 + 15))]}'
    (folder / "late.sh").write_text(script.replace('"rows\\":[$rows]}', told))
    path = mine(folder, "", command=["sh", "{here}/late.sh"])
    return path


def test_what_is_unsupported_is_so_before_an_answer(tmp_path):
    answers = SILENT.replace(
        "CRASH",
        """if asked["command"] == "push":
            more = {"relations": [{"rows": []}]}
        if asked["command"] == "end":
            print(json.dumps({"seq": asked["seq"], "reply": "unsupported", "reason": "too late"}), flush=True)
            continue""",  # noqa: E501
    )
    with pytest.raises(conformance.NonConformance) as caught:
        conformance.check_engine(mine(tmp_path, answers), smoke=True)
    outcomes = Counter(result.outcome for result in caught.value.results)
    assert outcomes == {"error": 11, "unsupported": 1}, "the dialect cannot say one of them"
    assert "unsupported, after 2 reports: too late" in str(caught.value)


def test_a_configurable_engine_may_state_its_windows_by_another_closure():
    """Over integers [0, 10) and (-1, 9] hold the same instants."""
    case = next(case for case in cases() if case.id.startswith(RIGHT_OPEN_BORDER))
    [block] = case.table["expect"]
    setting = question_of(case).under(semantics_of(block["semantics"]))
    assert setting.semantics.closure == "[)"

    def differences(shift: int, window_closure: Closure | None) -> list[str]:
        answers = [
            EngineReport(
                relation(report["rows"], setting.query),
                window=(report["window"][0] + shift, report["window"][1] + shift),
                push_instant=report.get("trigger"),
            )
            for report in block["reports"]
        ]
        lines = probe._differences(setting, block, answers, window_closure)
        return [line for line in lines if "window" in line]

    assert differences(0, None) == differences(0, Closure.RIGHT_OPEN) == []
    assert differences(-1, Closure.LEFT_OPEN) == []
    assert len(differences(-1, None)) == len(block["reports"])
    assert len(differences(0, Closure.LEFT_OPEN)) == len(block["reports"])


def test_a_configurable_engine_says_what_it_takes_back_and_for_which_key():
    """A report that is not marked is wrong where one that takes back is expected, and the other way
    round; a key is compared where it is stated.
    """
    by_path = {case.path: case for case in cases()}

    def differences(path: str, change: Callable[[EngineReport], EngineReport]) -> list[str]:
        case = by_path[path]
        setting = question_of(case)
        block = next(
            block
            for block in case.table["expect"]
            if any("takes_back" in one or "key" in one for one in block["reports"])
        )
        answers = [
            EngineReport(
                relation(report["rows"], setting.query),
                push_instant=report.get("trigger"),
                takes_back=report.get("takes_back", False),
                key=tuple(map(term, report["key"])) if "key" in report else None,
            )
            for report in block["reports"]
        ]
        chosen = setting.under(semantics_of(block["semantics"]))
        return list(probe._differences(chosen, block, [*map(change, answers)], None))

    panes, keys = "report/rep-16-three-panes.toml", "window/win-24-a-beginning-for-each-key.toml"
    by_trigger = [*differences(panes, lambda answer: answer)]
    assert [line for line in by_trigger if "takes back" in line] == []
    unmarked = differences(panes, lambda answer: answer._replace(takes_back=False))
    assert any("expected a report that takes back, got a report" in line for line in unmarked)
    marked = differences(keys, lambda answer: answer._replace(takes_back=True))
    assert any("expected a report, got a report that takes back" in line for line in marked)
    assert not any("key" in line for line in differences(keys, lambda a: a._replace(key=None)))
    other = differences(keys, lambda answer: answer._replace(key=("<urn:other>",)))
    assert "expected the key <http://example.org/b>, got <urn:other>" in other[0]


# What a known deviation does not hide


def test_an_engine_that_does_not_start_is_not_known_for_it(tmp_path):
    says_no = """
        import json, sys
        asked = json.loads(sys.stdin.readline())
        print(json.dumps({"seq": asked["seq"], "reply": "error", "context": "no licence\\udce9\\u001b[2J"}), flush=True)
    """  # noqa: E501
    path = known_file(mine(tmp_path, says_no), SMOKE)
    results = tmp_path / "results.ndjson"
    found = run_suite(f"--engine={path}", "--smoke", f"--results={results}")
    assert found.returncode == 1 and "12 failed" in found.stdout, found.stdout
    assert all(
        "start: error: no licence\\udce9\\x1b[2J" in result.explanation
        for result in told(results)[:2]
    )


def test_what_is_known_is_a_failure_for_who_asks_for_that(tmp_path):
    path = known_file(mine(tmp_path, SILENT.replace("CRASH", "")), SMOKE)
    xml = tmp_path / "junit.xml"
    words = ("--smoke", "-k", "REP-6", f"--junitxml={xml}")
    assert run_suite(f"--engine={path}", *words).returncode == 0
    known = [one.get("value") for one in ElementTree.parse(xml).iterfind(".//*[@name='known']")]
    assert known == ["it never answers (https://example.org/1)"]
    found = run_suite(f"--engine={path}", "--smoke", "-k", "REP-6", "--runxfail")
    assert "1 failed" in found.stdout


def test_a_deviation_of_no_case_is_refused(tmp_path):
    path = known_file(mine(tmp_path, ""), ["WIN-2-x"])
    with pytest.raises(RefengineError, match=r"mine\.toml: deviations: engine: no case 'WIN-2-x'"):
        conformance.check_engine(path)


def test_two_engines_of_one_name_are_refused(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        mine(tmp_path / folder, "")
    with pytest.raises(RefengineError, match="mine: engine: 2 engines have this name"):
        suite.items(
            suite.ItemSelection(
                (str(tmp_path / "a" / "mine.toml"), str(tmp_path / "b" / "mine.toml"))
            )
        )


# Ends


def test_no_harness_is_left_behind(tmp_path):
    """Ctrl-C while it starts, and reads nothing: the suite ends, and so does it."""
    pid = tmp_path / "pid"
    code = f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    path = mine(tmp_path, code)
    words = ("-m", "pytest", "conformance", f"--engine={path}", "--smoke", "-n", "1")
    command = [sys.executable, *words, *WORDS_ALONE]
    running = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while not (pid.exists() and pid.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    running.wait(60)
    harness = int(pid.read_text())
    while os.path.exists(f"/proc/{harness}") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{harness}")


def test_only_a_run_that_asked_replaces_results(tmp_path):
    results = tmp_path / "results.ndjson"
    results.write_text("{}\n")
    words = ("--engine=reference", "--smoke", "--collect-only")
    assert run_suite(*words, f"--results={results}").returncode == 0
    assert results.read_text() == "{}\n"


# Bad words


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--engine=refrence"], "engine: no engine 'refrence'; did you mean 'reference'"),
        (["--engine=../engines/reference"], "engine: no engine '../engines/reference'"),
        (["--engine=nowhere.toml"], "nowhere.toml: engine: cannot be read: "),
        (
            ["--engine=sparqlstream"],
            "'sparqlstream' has no harness: give its recordings with --answers=DIR",
        ),
        (["--engine=cqels", "--engine-classpath=cqels"], "engine: expected NAME=PATH, got 'cqels'"),
        (
            ["--engine=cqels", "--engine-classpath=cqel=x"],
            "engine: a classpath for 'cqel', which is not among the engines; did you mean 'cqels'",
        ),
        (
            ["--engine=cqels", "--engine-classpath=cqels=nowhere.jar"],
            "cqels: engine: no 'nowhere.jar' for its classpath",
        ),
        (
            ["--engine=csparql", "--engine-classpath=csparql=:"],
            "csparql: engine: an empty entry in its classpath ':'",
        ),
        (
            ["--engine=csparql", "--engine-classpath=csparql="],
            "csparql: engine: an empty classpath",
        ),
        (
            ["--engine=reference", "--engine-classpath=reference=/tmp"],
            "reference: engine: takes no classpath",
        ),
        (
            ["--engine=reference", "--report=x", "--results=./x"],
            "usage: two outputs would go to one file",
        ),
        (["--engine-command="], "engine: the engine's command is empty"),
        (["--engine-command='"], "engine: cannot be read: No closing quotation"),
        (["--engine-command=x", "--engine-dialect=sparql"], "DIA-1: no dialect 'sparql'"),
        (["--engine-command=x", "--engine-semantics=csparkl"], "did you mean 'csparql'"),
        (["--engine-command=x", "--engine-semantics=csparql t0"], "expected key=value, got 't0'"),
        (
            ["--engine-command=x", "--engine-semantics="],
            "engine: the engine's semantics is empty; write a profile such as csparql",
        ),
        (
            ["--engine=reference", "--results=no/where/results.ndjson"],
            "usage: cannot write: No such file or directory",
        ),
        (["--engine=rsp-js-heartbeat", "--csrbench=nowhere"], "nowhere: IO-1: "),
        (["--smoke"], "no engine named: give --engine=NAME"),
    ],
)
def test_what_is_named_wrongly_ends_the_run_in_one_line(words, reason):
    found = run_suite(*words)
    assert found.returncode == 4 and reason in found.stderr, found.stdout + found.stderr
    assert "Traceback" not in found.stdout + found.stderr


# The wheel


def test_the_wheel_holds_all_that_the_suite_needs(tmp_path):
    """Unpacked elsewhere, and run in an empty folder."""
    build = [
        sys.executable,
        "-c",
        "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))",
        str(tmp_path),
    ]
    name = subprocess.run(
        build, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    ).stdout.split()[-1]
    place, empty = tmp_path / "place", tmp_path / "empty"
    empty.mkdir()
    with zipfile.ZipFile(tmp_path / name) as wheel:
        wheel.extractall(place)
        held = wheel.namelist()
    assert not [name for name in held if "node_modules" in name or name.startswith("tests")]
    typed = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("*/py.typed")}
    assert "conformance/py.typed" in typed and typed <= {*held}
    assert {
        "conformance/specification/SPEC.md",
        "conformance/specification/docs/judging.md",
        "conformance/report/shapes/earl.ttl",
    } <= {*held}
    found = run_suite_alone(
        "--pyargs",
        "--engine=reference",
        "--smoke",
        f"--report={empty}/page.html",
        folder=empty,
        PYTHONPATH=str(place),
    )
    assert "9 results of 1 engine." in (empty / "page.html").read_text(encoding="utf-8")
    assert found.returncode == 0 and "conformance: reference: 9 pass" in found.stdout, (
        found.stdout + found.stderr
    )


# Recordings


@pytest.fixture
def yabench(tmp_path):
    """A run of YABench: two tumbling windows of 5 s, and what C-SPARQL answers to them, by hand."""
    lines = [("a", 1000), ("b", 4000), ("c", 6000)]
    (tmp_path / "SG_small1").write_text(
        "".join(f'<http://x/{name}> <http://x/p> "1" "{at}" .\n' for name, at in lines)
    )
    query = (
        "REGISTER QUERY q AS SELECT ?x FROM STREAM <http://x/s> [RANGE 5s STEP 5s] WHERE { "
        "?x <http://x/p> ?y }"
    )
    (tmp_path / "QUERY_small1").write_text(query)
    (tmp_path / "QR_small1").write_text(
        "100\nx\t\n5100\nhttp://x/a\t\nhttp://x/b\t\n10100\nhttp://x/c\t\n"
    )
    return tmp_path


def test_a_recording_of_yabench_is_an_item(yabench):
    found = run_suite("--engine=csparql", f"--answers={yabench}")
    assert found.returncode == 0 and "conformance: csparql: 1 pass" in found.stdout, (
        found.stdout + found.stderr
    )
    (yabench / "QR_small1").write_text(
        "100\nx\t\n5100\nhttp://x/a\t\nhttp://x/c\t\n10100\nhttp://x/b\t\n"
    )
    found = run_suite("--engine=csparql", f"--answers={yabench}")
    assert found.returncode == 1 and "test_engine[csparql-small1]" in found.stdout, found.stdout


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "QR_small1:1: IO-2: expected a clock, an integer (ms), got ''"),
        (
            "100\nx y\t\n",
            "QR_small1:2: IO-2: expected the variables' names, each once and followed by a tab",
        ),
        ("100\nx\t\nhttp://x/a\t\n", "QR_small1:3: IO-2: expected a clock, or 1 values after one"),
        (
            "100\nx\t\n5100\nhttp://x/a\thttp://x/b\t\n",
            "QR_small1:4: IO-2: expected a clock, or 1 values",
        ),
        ("100\nx\t\n5100\n9^^nothing\t\n", "QR_small1:4: IO-2: "),
    ],
)
def test_a_malformed_recording_of_yabench_costs_its_item(yabench, text, reason):
    (yabench / "QR_small1").write_text(text)
    [item] = suite.recorded_items("csparql", yabench)
    result = item.run(Harnesses())
    assert result.outcome == "error"
    assert str(yabench) in result.explanation
    assert reason in result.explanation
    assert suite.why_unexpected(item, result) == f"error: {result.explanation}"


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("SG_small2", "<http://x/a> <http://x/p> .\n", "SG_small2:1: IO-1: a line must be s p o"),
        ("SG_small2", None, "SG_small2: IO-1: cannot be read: No such file or directory"),
        ("QUERY_small2", "REGISTER QUERY", "QUERY_small2"),
        (
            "QR_small2",
            "100\nx\t\n5100\nhttp://x/a\t\nhttp://x/b\t\nhttp://x/c",
            "QR_small2:6: IO-2: ",
        ),
    ],
)
def test_a_malformed_run_of_yabench_leaves_the_others_alone(yabench, tmp_path, name, text, reason):
    """The first run passes; the second, of which one file is malformed, is an error, and all is
    written.
    """
    for file in ("SG", "QUERY", "QR"):
        (yabench / f"{file}_small2").write_text((yabench / f"{file}_small1").read_text())
    if text is None:
        (yabench / name).unlink()
    else:
        (yabench / name).write_text(text)
    results = tmp_path / "results.ndjson"
    found = run_suite("--engine=csparql", f"--answers={yabench}", f"--results={results}")
    assert found.returncode == 1 and "1 error, 1 pass" in found.stdout, found.stdout + found.stderr
    good, bad = told(results)
    assert (good.case, good.outcome, bad.case, bad.outcome) == ("small1", "pass", "small2", "error")
    assert reason in bad.explanation and f"error: {yabench}" in found.stdout


def test_a_malformed_recording_of_csrbench_costs_its_item(tmp_path):
    (tmp_path / "data_00.ttl").write_text("<urn:a> <urn:b> <urn:c> .")
    for name, text in (
        ("sparqlstream-answer-1", '{"relations": []}'),
        ("sparqlstream-answer-2", "{"),
        ("sparqlstream-answer-8", "{}"),
    ):
        (tmp_path / f"{name}.json").write_text(text)
    (tmp_path / "rdfox-answer-1.json").write_text("{}")
    items = suite.recorded_items("sparqlstream", tmp_path)
    found = {result.case: result for result in (item.run(Harnesses()) for item in items)}
    assert {case: str(result.outcome) for case, result in found.items()} == {
        "Q1": "pass",
        "Q2": "error",
        "sparqlstream-answer-8.json": "error",
    }
    assert f"{tmp_path}/sparqlstream-answer-2.json:1: IO-2: not JSON" in found["Q2"].explanation
    with pytest.raises(RefengineError, match="SEM-1: unknown profile 'rdfox'"):
        suite.recorded_items("rdfox", tmp_path)
    csrbench.stream.cache_clear()
    (tmp_path / "data_00.ttl").write_text("<urn:a>")
    with pytest.raises(RefengineError, match=r"data_00\.ttl:1: IO-1: "):
        suite.recorded_items("sparqlstream", tmp_path)


# RSP-JS, live


@rsp_js_items.group
def test_rsp_js_does_what_it_is_known_for(rsp_js_run, tmp_path):
    """Green with its known deviations, and the same again, however the items are spread.

    What becomes of the endless case is in tests/harness/test_session.py.
    """
    found, results = rsp_js_run
    assert found.returncode == 0, found.stdout
    again = tmp_path / "again.ndjson"
    words = ["--engine=rsp-js", f"--results={again}", "-k", "rsp-js-REP-1-"]
    assert run_suite(*words, "-n", "2").returncode == 0
    first, second = (
        {(result.case, result.outcome, result.known) for result in each}
        for each in (results, told(again))
    )
    asked = {case.id for case in suite.questions()} - {rsp_js_items.ENDLESS}
    assert second < first and {case for case, _, _ in first} == asked and len(first) == len(asked)


@rsp_js_items.group
def test_rsp_js_with_heartbeats(rsp_js_installed):
    words = ("--engine=rsp-js-heartbeat", "-k", rsp_js_items.BUT_THE_ENDLESS)
    found = rsp_js_items.run_without_causes(*words)
    assert found.returncode == 0, found.stdout


@pytest.mark.needs_shared
@rsp_js_items.group
def test_rsp_js_with_heartbeats_passes_csrbench(rsp_js_installed, csrbench_recordings, tmp_path):
    """Q1, Q2 and Q5 over CSRBench's own stream with the full profile, since each takes 15,188
    pushes; else Q2 over the first files of the stream.
    """
    chosen = ["Q1", "Q2", "Q5"]
    results = tmp_path / "results.ndjson"
    folder = csrbench_recordings
    if PROFILE != "full":
        chosen = ["Q2"]
        beginning = tmp_path / "csrbench" / "data"
        beginning.mkdir(parents=True)
        for file in sorted((folder / "data").iterdir())[:6]:
            (beginning / file.name).symlink_to(file)
        folder = beginning.parent
    found = run_suite(
        "--engine=rsp-js-heartbeat",
        f"--csrbench={folder}",
        f"--results={results}",
        "-k",
        " or ".join(chosen),
    )
    assert found.returncode == 0, found.stdout
    assert [(result.case, result.outcome) for result in told(results)] == [
        (name, "pass") for name in chosen
    ]
