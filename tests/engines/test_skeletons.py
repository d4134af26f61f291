"""The skeletons of harnesses: each speaks the protocol, refuses every query until it is filled in,
and gives the reports of the engine that is filled in.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from conformance.__main__ import main
from conformance.engines.skeletons import LANGUAGES
from conformance.engines.skeletons.writing import HERE, SUFFIX, read_skeleton, write_skeleton
from conformance.harness.client import Harness
from conformance.harness.engine_file import engine
from conformance.harness.pool import Harnesses
from conformance.schemas import problems
from conformance.suite.item import ItemSelection, live_items
from conformance.verdict.results import Outcome
from refengine.model.errors import RefengineError

IN_CI = {"java", "js", "python"}  # the languages whose tools .ci/run asks for
SECONDS = 120  # for a build, and for all bad lines

# What is filled in before the lines that refuse: an engine that answers one query. For each
# element it gives two reports. The first has a row with terms of each kind, and an empty row. It
# prints `not a reply` when it is loaded, where a language runs code then, and at each element.
FILLED_IN = {
    "go": {
        'import "encoding/json"': 'import "fmt"\n',
        "// Unsupported is the error": 'func init() { fmt.Println("not a reply") }\n\n',
        '\treturn nil, Unsupported("fill in: Register': """\
	if registration.Query == "one query" {
		return nil, nil
	}
""",
        '\treturn nil, Unsupported("fill in: Push': """\
	fmt.Println("not a reply")
	window := [2]int64{0, element.At}
	row := Row{"x": IRI(element.Stream), "y": Literal(element.Graph, "", "en"), "z": BlankNode("b")}
	return []Report{{Rows: []Row{row, {}}, Instant: element.End, Window: &window}, {}}, nil
""",
    },
    "rust": {
        '        Err(Failure::Unsupported("fill in: register': """\
        if _registration.query == "one query" {
            return Ok(Vec::new());
        }
""",
        '        Err(Failure::Unsupported("fill in: push': """\
        println!("not a reply");
        let language = Some("en".to_string());
        let literal = Term::Literal { value: _element.graph, datatype: None, language };
        let row = vec![
            ("x".to_string(), Term::Iri(_element.stream)),
            ("y".to_string(), literal),
            ("z".to_string(), Term::BlankNode("b".to_string())),
        ];
        let (rows, window) = (vec![row, Vec::new()], Some((0, _element.at)));
        let report = Report { rows, instant: _element.end, window };
        if _element.at > 0 {
            return Ok(vec![report, Report::default()]);
        }
""",
    },
    "js": {
        "export const NAME": "process.stdout.write('not a reply\\n');\n",
        "  throw new Unsupported('fill in: register": """\
  if (query === 'one query') return [];
""",
        "  throw new Unsupported('fill in: push": """\
  const row = { x: iri(stream), y: literal(graph, { language: 'en' }), z: blankNode('b') };
  console.log('not a reply');
  if (at > 0) return [{ rows: [row, {}], instant: end, window: [0, at] }, { rows: [] }];
""",
    },
    "java": {
        '    static final String NAME = "': """\
    static {
        System.out.println("not a reply");
    }

""",
        '        throw new Unsupported("fill in: register': """\
        if (query.equals("one query")) {
            return List.of();
        }
""",
        '        throw new Unsupported("fill in: push': """\
        Term literal = Term.literal(graph, null, "en");
        Term blankNode = Term.blankNode("b");
        Map<String, Term> row = Map.of("x", Term.iri(stream), "y", literal, "z", blankNode);
        System.out.println("not a reply");
        if (at > 0) {
            Report report = new Report(List.of(row, Map.of()), end, List.of(0L, at));
            return List.of(report, new Report(List.of(), null, null));
        }
""",
    },
    "python": {
        "class Engine:": 'print("not a reply", flush=True)\n\n\n',
        '        raise Unsupported("fill in: register': """\
        if query == "one query":
            return []
""",
        '        raise Unsupported("fill in: push': """\
        row = {"x": iri(stream), "y": literal(graph, language="en"), "z": blank_node("b")}
        print("not a reply", flush=True)
        __import__("os").system("echo not a reply")
        return [Report([row, {}], end, (0, at)), Report([])]
""",
    },
    "c": {
        '    return refuse(answer, "fill in: engine_register': """\
    if (registration->query[0] == 'o')
        return DONE;
""",
        '    return refuse(answer, "fill in: engine_push': """\
    int puts(const char *line);
    puts("not a reply");
    begin_report(answer);
    begin_row(answer);
    add_iri(answer, "x", element->stream);
    add_literal(answer, "y", element->graph, NULL, "en");
    add_blank_node(answer, "z", "b");
    begin_row(answer);
    if (element->has_end)
        set_instant(answer, element->end);
    set_window(answer, 0, element->at);
    begin_report(answer);
    if (element->at > 0)
        return DONE;
""",
    },
}


# how often the engine that is filled in prints when it is loaded and gets one element
PRINTS = {"c": 1, "go": 2, "java": 2, "js": 2, "python": 3, "rust": 1}


class BadLine(NamedTuple):
    """A line that is no command, a part of what the reply must say, and the number it must have."""

    line: bytes
    context: str
    seq: int


BAD_LINES = [
    BadLine(b"not JSON", "not JSON", 2),
    BadLine(b"[]", "a command is a JSON object", 3),
    BadLine(b"", "not JSON", 4),
    BadLine(b"[" * 200_000, "not JSON", 5),
    BadLine(rb'{"seq":9,"command":"l\u00e9' + "é😀".encode() + rb'\ud83d\ude00"}', "léé😀", 9),
    BadLine(b'{"seq":10,"command":"' + b"x" * 100_000 + b'"}', "unknown command", 10),
    BadLine(b'{"seq":11,"command":"end","more":1}', 'end: unknown key "more"', 11),
    BadLine(b'{"seq":12,"command":"register","query":3,"dialect":"","streams":[]}', "query", 12),
    BadLine(b'{"seq":13,"command":"register","query":"q","dialect":"d"}', '"streams"', 13),
    BadLine(
        b'{"seq":14,"command":"register","query":"q","dialect":"d","streams":["s",1]}',
        "streams",
        14,
    ),
    BadLine(
        b'{"seq":15,"command":"register","query":"q","dialect":"d","streams":[],"static":null}',
        "static",
        15,
    ),
    BadLine(b'{"seq":16,"command":"push","stream":"s","at":1,"graph":""}', "no query", 16),
    BadLine(b'{"seq":17,"command":"e\xff"}', "not JSON", 17),
    BadLine(b'{"seq":18,"command":"end"} {}', "not JSON", 18),
    BadLine(b'{"seq":0,"command":"end"}', "seq", 19),
    BadLine(b'{"seq":20,"command":"start","protocol":2}', "protocol 1", 20),
    BadLine(b'{"seq":21}', "unknown command", 21),
    BadLine(b'{"seq":7,"command":"end', "not JSON", 22),
]


def fill_in(folder: Path, language: str) -> None:
    """Fill in the engine that answers one query, in the file that has these lines."""
    for line, code in FILLED_IN[language].items():
        [file] = [path for path in folder.rglob("*") if path.is_file() and line in path.read_text()]
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(line, code + line), encoding="utf-8")


@pytest.fixture(scope="module", params=sorted(LANGUAGES))
def skeleton(request, tmp_path_factory):
    """The engine's file of a skeleton in which one query is filled in. It is skipped without the
    tools of its language; in CI that is a failure for the tools that CI has.
    """
    language = request.param
    build = LANGUAGES[language].build
    for tool in filter(None, (LANGUAGES[language].tool, *build[:1])):
        if shutil.which(tool) is None:
            in_ci = os.environ.get("CI") and language in IN_CI
            (pytest.fail if in_ci else pytest.skip)(f"no {tool}, which {language} needs")
    folder = tmp_path_factory.mktemp("skeletons") / language
    write_skeleton("mine", language, folder)
    fill_in(folder, language)
    file = folder / "mine.toml"
    if build:
        assert "build it with" in engine(str(file)).missing
        built = subprocess.run(
            build, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        assert built.returncode == 0, built.stderr
    return file


def test_a_skeleton_refuses_every_query_and_answers_what_is_filled_in(skeleton):
    """One process: a dozen cases, each unsupported; then the query of the engine that is filled
    in.
    """
    tested = engine(str(skeleton))
    harnesses = Harnesses()
    try:
        results = [item.run(harnesses) for item in live_items(tested, ItemSelection(smoke=True))]
        assert len(results) == 12
        assert {result.outcome for result in results} == {Outcome.UNSUPPORTED}
        assert all("fill in: " in result.explanation for result in results)
        relations = ask_one_query(harnesses.of(tested))
    finally:
        harnesses.stop()
    row = {
        "x": {"type": "uri", "value": "s"},
        "y": {"type": "literal", "value": '<urn:a> <urn:p> "\u0001é😀\t\\"" .\n', "xml:lang": "en"},
        "z": {"type": "bnode", "value": "b"},
    }
    assert relations == [
        [{"rows": [row, {}], "instant": 2**53 - 1, "window": [0, 5]}, {"rows": []}],
        [],
    ]


def ask_one_query(harness: Harness) -> list[object]:
    """Return the relations of the replies to `push` and `advance`."""
    harness.ask("register", query="one query", dialect="table", streams=["s"], static="")
    graph = '<urn:a> <urn:p> "\u0001é😀\t\\"" .\n'
    pushed = harness.ask("push", stream="s", at=5, graph=graph, end=2**53 - 1)
    advanced = harness.ask("advance", at=6)
    assert harness.ask("end")["reply"] == "unsupported"
    return [pushed["relations"], advanced["relations"]]


def test_what_the_engine_prints_goes_to_standard_error(skeleton):
    """From the moment on at which it is loaded."""
    tested = engine(str(skeleton))
    push = {"command": "push", "stream": "s", "at": 5, "graph": "", "end": 5}
    register = {"command": "register", "query": "one query", "dialect": "table", "streams": ["s"]}
    commands = [{"command": "start", "protocol": 1}, register, push, {"command": "stop"}]
    lines = [json.dumps({"seq": seq, **command}) for seq, command in enumerate(commands, 1)]
    run = subprocess.run(
        tested.command,
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    replies = [json.loads(line) for line in run.stdout.splitlines()]
    assert [reply["seq"] for reply in replies] == [1, 2, 3, 4]
    assert {reply["reply"] for reply in replies} == {"result"}
    assert run.stderr.splitlines().count("not a reply") == PRINTS[skeleton.parent.name]


def test_a_skeleton_survives_bad_lines(skeleton):
    """Each line has one reply, an error that follows the schema, and the harness goes on."""
    tested = engine(str(skeleton))
    lines = [b'{"seq":1,"command":"start","protocol":1}', *(bad.line for bad in BAD_LINES)]
    lines.append(b'{"seq":30,"command":"stop"}')
    run = subprocess.run(
        tested.command, input=b"\n".join(lines), capture_output=True, timeout=SECONDS, check=False
    )
    assert run.returncode == 0, run.stderr
    first, *replies, last = [json.loads(line) for line in run.stdout.splitlines()]
    assert (first["engine"], first["protocol"]) == ("mine", 1)
    assert last == {"seq": 30, "reply": "result"}
    assert len(replies) == len(BAD_LINES)
    for bad, reply in zip(BAD_LINES, replies, strict=True):
        assert not list(problems("reply", reply)), reply
        assert reply["reply"] == "error"
        assert bad.context in reply["context"]
        assert reply["seq"] == bad.seq


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_a_skeleton_has_its_files_and_no_word_is_left(language):
    templates = HERE / language
    there = {
        path.relative_to(templates).as_posix().removesuffix(SUFFIX)
        for path in templates.rglob(f"*{SUFFIX}")
    }
    assert there == set(LANGUAGES[language].files)
    contents = read_skeleton("my.engine-2", language)
    for file, text in contents.items():
        assert not re.search("@[A-Z]+@", text), file
        assert text.endswith("\n")
    assert contents["my.engine-2.toml"].count("FILL IN") == 4
    marks = sum(text.count("FILL IN") for text in contents.values())
    assert marks >= 13
    tomllib.loads(contents["my.engine-2.toml"])


def test_the_command_writes_a_skeleton(tmp_path, capsys):
    assert main(["new", "mine", "--language", "python", "--folder", str(tmp_path / "a")]) == 0
    files = ["mine.toml", "README.md", "engine.py", "harness.py"]
    assert capsys.readouterr().out.splitlines() == [str(tmp_path / "a" / file) for file in files]
    assert sorted(os.listdir(tmp_path / "a")) == sorted(files)
    assert engine(str(tmp_path / "a" / "mine.toml")).command[0] == sys.executable


def test_without_a_folder_it_has_the_name_of_the_engine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "mine", "--language", "js"]) == 0
    assert (tmp_path / "mine" / "mine.toml").is_file()


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_two_files_differ_in_capital_letters_alone(tmp_path, language):
    """Names of engines have small letters, and those of other files may have capital ones."""
    others = {Path(file).stem.lower() for file in LANGUAGES[language].files}
    for name in sorted({"mine", *others}):
        try:
            files = [str(path).lower() for path in write_skeleton(name, language, tmp_path / name)]
        except RefengineError as refused:
            clash = f"the engine's file {name}.toml would clash with {name.capitalize()}.toml"
            assert clash in str(refused)
            assert not (tmp_path / name).exists()
        else:
            assert len(set(files)) == len(files)


def test_cargo_is_no_name_for_a_skeleton_in_rust(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "cargo", "--language", "rust"]) == 2
    assert "would clash with Cargo.toml" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    assert main(["new", "cargo", "--language", "go"]) == 0


@pytest.mark.parametrize("is_folder", [True, False])
def test_what_exists_is_never_overwritten(tmp_path, capsys, is_folder):
    place = tmp_path / "mine"
    if is_folder:
        place.mkdir()
    else:
        place.write_text("kept")
    assert main(["new", "mine", "--language", "c", "--folder", str(place)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "exists already, and nothing is overwritten" in error
    if is_folder:
        assert os.listdir(place) == []
    else:
        assert place.read_text() == "kept"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Mine", "small letters"),
        ("../mine", "small letters"),
        ("mine.toml", "does not end in .toml"),
        ("rsp-js", "the suite has an engine of this name"),
    ],
)
def test_a_name_that_is_no_name_of_an_engine_is_refused(
    tmp_path, monkeypatch, capsys, name, reason
):
    monkeypatch.chdir(tmp_path)
    assert main(["new", name, "--language", "c"]) == 2
    assert reason in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


def test_nothing_is_left_of_a_skeleton_that_cannot_be_written(tmp_path, monkeypatch):
    def write_text(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", write_text)
    with pytest.raises(KeyboardInterrupt):
        write_skeleton("mine", "go", tmp_path / "mine")
    assert os.listdir(tmp_path) == []


def test_a_folder_in_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(RefengineError, match=r"cannot be made: No such file or directory$"):
        write_skeleton("mine", "go", tmp_path / "no" / "mine")
