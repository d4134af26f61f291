"""What `make mutants` is told to change and to run is there."""

from __future__ import annotations

import ast
import os
import re
import tomllib
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from tools import mutant_classes, mutate

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = mutate.packages()


def functions(path: Path) -> set[str]:
    """Return the names of a file's functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_has_files_to_change(package: str) -> None:
    for pattern in PACKAGES[package]["only_mutate"]:
        assert list(ROOT.glob(pattern)), f"pyproject.toml: no {pattern}"


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_has_tests_to_run(package: str) -> None:
    words = PACKAGES[package]["pytest_add_cli_args_test_selection"]
    for word in words[: words.index("-k")]:
        file, _, function = word.partition("::")
        assert (ROOT / file).exists(), f"pyproject.toml: no {file}"
        assert not function or function in functions(ROOT / file), f"pyproject.toml: no {word}"


def planned(words: list[str]) -> list[tuple[str, list[str], str | None]]:
    """Return of each task its folder, the files to change and the mutants to try again."""
    return [(task.name, task.settings["only_mutate"], task.pattern) for task in mutate.tasks(words)]


def test_a_word_is_a_package_a_module_or_mutants() -> None:
    core = ["refengine/core/*.py"]
    assert [name for name, _, _ in planned([])] == list(PACKAGES)
    assert planned(["core"]) == [("core", core, None)]
    assert planned(["core.tick"]) == [("core.tick", ["refengine/core/tick.py"], None)]
    assert planned(["core.tick.x_due*"]) == [("core", core, "refengine.core.tick.x_due*")]


def test_a_word_finds_what_is_in_a_folder_of_a_package() -> None:
    oracle = PACKAGES["oracle"]["only_mutate"]
    search = "oracle.orders.search"
    assert planned([search]) == [(search, ["refengine/oracle/orders/search.py"], None)]
    assert planned([f"{search}.x_a*"]) == [("oracle", oracle, f"refengine.{search}.x_a*")]
    assert planned(["oracle.orders"]) == [("oracle.orders", ["refengine/oracle/orders/*.py"], None)]


def test_every_module_of_a_package_is_changed() -> None:
    for package in ("core", "incremental", "oracle"):
        patterns = PACKAGES[package]["only_mutate"]
        changed = {path for pattern in patterns for path in ROOT.glob(pattern)}
        assert changed == set((ROOT / "refengine" / package).rglob("*.py"))


def test_a_module_is_a_mutants_name_without_its_last_part() -> None:
    assert mutate.module_of("core.tick.x_due__mutmut_1") == "core.tick"
    assert mutate.module_of("oracle.orders.search.x_a__mutmut_1") == "oracle.orders.search"


def test_a_sample_is_every_nth_mutant_by_name() -> None:
    names = ["c", "e", "a", "d", "b"]
    assert mutate.draw_sample(names, 2) == {"a", "c", "e"}
    assert mutate.draw_sample(names, 2, 1) == {"b", "d"}
    assert mutate.draw_sample(names, 1) == set(names)
    codes = {"a": 1, "b": 1, "c": 0, "d": None, "e": None}
    assert mutate.count_results(codes) == mutate.Counter(all=5, done=3, killed=2)
    sample = mutate.draw_sample(names, 2)
    assert mutate.count_results(codes, sample) == mutate.Counter(all=3, done=2, killed=1)


@pytest.mark.parametrize(
    ("pattern", "words", "expected"),
    [
        (None, "", ["d"]),  # those not tried yet
        (None, "--survivors", ["c", "e"]),  # those that survived or took too long
        (None, "--survivors --every 2", ["c", "e"]),  # a, c and e are the sample
        (None, "--survivors --every 2 --skip 1", []),  # b and d are the sample
        (None, "--every 3", ["d"]),
        (None, "--every 3 --skip 2", []),
        ("[ab]", "", ["a", "b"]),  # named ones are tried again
    ],
)
def test_which_mutants_are_tried(
    monkeypatch: pytest.MonkeyPatch,
    pattern: str | None,
    words: str,
    expected: list[str],
) -> None:
    calls: list[tuple[Any, ...]] = []
    codes = {"a": 1, "b": 3, "c": 0, "d": None, "e": 36, "f": 0}
    classes = {"f": mutant_classes.STRICT}  # so it is not tried
    monkeypatch.setattr(mutate, "class_of_mutant", lambda _, name: classes.get(name))
    monkeypatch.setattr(mutate, "run_program", lambda *call: calls.append(call))
    monkeypatch.setattr(mutate, "exit_codes", lambda _: codes)
    task = mutate.Task("core", {}, pattern)
    options = mutate.parser().parse_args(["--jobs", "2", "--seconds", "20", *words.split()])
    mutate.try_mutants(task, Path("copy"), options)
    made, *tried = calls
    assert made[2] == ["-c", mutate.MAKE_MUTANTS, "2"]
    assert [call[2] for call in tried] == [
        ["-m", "tools.try_mutants", "--jobs", "2", "--seconds", "20.0"] for _ in expected[:1]
    ]
    assert [name for call in tried for name in call[4].splitlines()] == expected


def test_the_table_says_that_it_is_a_sample() -> None:
    results = {"core.tick.x_due__mutmut_1": "killed", "core.tick.x_due__mutmut_10": "survived"}
    assert next(mutate.score_table(results, {})).split()[:2] == ["module", "mutants"]
    head, tick, *_ = mutate.score_table(results, {}, 5)
    assert head.startswith("module (1 mutant of 5) ")
    assert tick.split() == ["core.tick", "2", "1", "0", "1", "0", "0", "50.0", "%", "50.0", "%"]


def test_the_score_leaves_out_what_is_in_a_class_and_the_raw_score_does_not():
    statuses = ["killed", "killed", "killed", "survived", "no tests", "timeout", "not checked"]
    results = {f"core.tick.x_due__mutmut_{i}": status for i, status in enumerate(statuses)}
    classes = {"core.tick.x_due__mutmut_3": mutant_classes.STRICT}
    _, tick, total = mutate.score_table(results, classes)
    assert tick.split()[1:] == total.split()[1:]
    # 3 of 5 that have no class, and 3 of 6
    assert tick.split()[1:] == ["7", "3", "1", "2", "1", "1", "60.0", "%", "50.0", "%"]
    assert mutate.percentage(0, 0) == "-"


# The body of a function, what stands in place of a part of it, and the class of the change.
CHANGES = [
    ("zip(a, b, strict=True)", "zip(a, b, )", mutant_classes.STRICT),
    ("zip(a, b, strict=True)", "zip(a, b, strict=None)", mutant_classes.STRICT),
    ("zip(a, b, strict=False)", "zip(a, b, strict=None)", mutant_classes.STRICT),
    ("zip(a, b, strict=False)", "zip(a, b, strict=True)", None),
    ("zip(a, b, strict=True)", "zip(a, strict=True)", None),
    ("zip(a, b, strict=True)", "zip(a, None, strict=True)", None),
    ("pair(a, b, strict=True)", "pair(a, b, )", None),
    ('cast("int", a)', "cast(None, a)", mutant_classes.CAST),
    ('cast("int", a)', 'cast("XXintXX", a)', mutant_classes.CAST),
    ('cast("int", a)', 'cast("int", None)', None),
    ('raise Wrong("no such place")', 'raise Wrong("XXno such placeXX")', mutant_classes.WORDS),
    ('raise Wrong("no such place")', 'raise Wrong("NO SUCH PLACE")', mutant_classes.WORDS),
    ('raise Wrong("no such place")', "raise Wrong(None)", None),
    ('raise Wrong("no", rule="WIN-1")', 'raise Wrong("no", rule="win-1")', None),
    (
        'raise Wrong("no", rule="WIN-1")',
        'raise Wrong("XXnoXX", rule="WIN-1")',
        mutant_classes.WORDS,
    ),
    ('raise Wrong("no", rule="WIN-1")', 'raise Wrong("no", )', None),
    ('raise Wrong(f"no {a}" " here")', 'raise Wrong(f"no {a}" "XX hereXX")', mutant_classes.WORDS),
    ('raise Wrong(f"no {a}")', 'raise Wrong(f"no {b}")', None),
    ('return Disputed("no")', 'return Disputed("NO")', mutant_classes.WORDS),
    ('return Report("no")', 'return Report("NO")', None),
    ('reason = "no"', 'reason = "XXnoXX"', mutant_classes.WORDS),
    ('reason = "no"', "reason = None", None),
    ('name = "no"', 'name = "XXnoXX"', None),
    ("raise AssertionError(a)", "raise AssertionError(None)", mutant_classes.UNREACHABLE),
    (
        "match a:\n  case 1: return 2\n  case _: raise AssertionError(a)",
        "match a:\n  case 1: return 2",
        mutant_classes.UNREACHABLE,
    ),
    (
        "match a:\n  case 1: return 2\n  case _: raise AssertionError(a)",
        "match a:\n  case _: raise AssertionError(a)",
        None,
    ),
    (
        "match a:\n  case 1: return 2\n  case _: return None",
        "match a:\n  case 1: return 2",
        mutant_classes.END,
    ),
    (
        "match a:\n  case 1: return 2\n  case _: return None\nreturn 3",
        "match a:\n  case 1: return 2\nreturn 3",
        None,
    ),
    ("match a:\n  case 1: return 2\n  case _: return 0", "match a:\n  case 1: return 2", None),
    ("assert a and b", "assert a or b", mutant_classes.ASSERTION),
    ("assert a or b", "assert a and b", None),
    ("assert not (a and b)", "assert not (a or b)", None),
    ("assert f(a and b)", "assert f(a or b)", None),
    ("return a and b", "return a or b", None),
    ("a", "a", None),
    ("a + b", "a - b", None),
]


@pytest.mark.parametrize(("original", "mutant", "expected"), CHANGES)
def test_a_class_is_seen_by_the_change_alone(original: str, mutant: str, expected: str | None):
    functions = []
    for body in (original, mutant):
        text = "def function(a, b):\n" + indent(body, "  ")
        (function,) = ast.parse(text).body
        assert isinstance(function, ast.FunctionDef)
        functions.append(function)
    assert mutant_classes.class_of(*functions) == expected


def test_the_class_of_a_survivor_is_found_in_the_mutated_file(tmp_path: Path):
    folder = tmp_path / "mutants" / "refengine" / "core"
    folder.mkdir(parents=True)
    bodies = {"orig": "zip(a, strict=True)", "1": "zip(a, )", "2": "zip(None, strict=True)"}
    lines = [f"  def x_f__mutmut_{name}(a): return {body}" for name, body in bodies.items()]
    (folder / "tick.py").write_text("\n".join(["class C:", *lines]), encoding="utf-8")
    results = {"core.tick.x_f__mutmut_1": "survived", "core.tick.x_f__mutmut_2": "survived"}
    assert mutate.classes_of(tmp_path, results) == {
        "core.tick.x_f__mutmut_1": mutant_classes.STRICT
    }
    assert mutate.classes_of(tmp_path, dict.fromkeys(results, "killed")) == {}


def test_each_class_is_explained():
    text = (ROOT / "docs" / "mutation.md").read_text(encoding="utf-8")
    for name in mutant_classes.CLASSES:
        assert f"`{name}`" in text


@pytest.mark.parametrize("number", ["0", "-1", "x"])
def test_a_sample_of_no_mutant_is_refused(number: str) -> None:
    with pytest.raises(SystemExit):
        mutate.parser().parse_args(["--every", number])


def test_less_than_nothing_is_not_skipped() -> None:
    with pytest.raises(SystemExit):
        mutate.parser().parse_args(["--skip", "-1"])


@pytest.mark.parametrize("word", ["cor", "core.tack", "model.terms", "oracle.orders.x_a*"])
def test_another_word_is_refused(word: str) -> None:
    message = re.escape(f"'{word}' is no package, module or mutant; packages: ")
    with pytest.raises(LookupError, match=message):
        planned([word])


def test_a_file_that_has_changed_is_later_than_its_mutants(tmp_path: Path) -> None:
    """Also if it was changed before they were made: in another branch, say."""
    source, target = tmp_path / "tick.py", tmp_path / "copy.py"
    for path in (source, target):
        path.write_text("before", encoding="utf-8")
        os.utime(path, (1000, 1000))
    mutate.copy_if_changed(source, target)
    assert target.stat().st_mtime == 1000
    source.write_text("after", encoding="utf-8")
    os.utime(source, (900, 900))
    mutate.copy_if_changed(source, target)
    assert target.read_text(encoding="utf-8") == "after" and target.stat().st_mtime > 1000


def test_mutmut_is_told_what_a_package_says() -> None:
    settings: dict[str, Any] = PACKAGES["oracle"]
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    table = tomllib.loads(mutate.add_settings(text, settings))["tool"]["mutmut"]
    assert table == tomllib.loads(text)["tool"]["mutmut"] | settings


def test_progress_counts_what_this_run_has_tried() -> None:
    before = mutate.Counter(all=100, done=40, killed=39)
    now = mutate.Counter(all=100, done=60, killed=58)
    assert (
        mutate.progress(before, now, 10)
        == "60 of 100 done, 2 not killed; 10 min so far, some 20 left"
    )
    assert (
        mutate.progress(before, before, 1)
        == "makes the mutants and runs the tests without one; 1 min so far"
    )
