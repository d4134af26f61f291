"""What a value of a field of `Semantics` needs, and the file that lacks it."""

from __future__ import annotations

import ast
import re
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.corpus.rule_texts import rule_texts
from conformance.corpus.specification import cases_with, row_of_value
from refengine.core.profile import FieldValues
from refengine.core.semantics import ENUMS, Semantics
from refengine.core.values import Condition, NamedValue
from refengine.oracle.explanations import FIELDS_TRIED

ROOT = Path(__file__).resolve().parents[2]
KINDS: dict[str, type[NamedValue]] = {**ENUMS, "report": Condition}
VALUES = [(field, value) for field, kind in KINDS.items() for value in kind]
ENUM = "refengine/core/values.py"


def text_of(path: str) -> str:
    """Return the text of a file."""
    return (ROOT / path).read_text(encoding="utf-8")


def words_of(hint: object) -> set[str]:
    """Return the words that a hint has in its literals."""
    if typing.get_origin(hint) is typing.Literal:
        return {word for word in typing.get_args(hint) if isinstance(word, str)}
    return set().union(*(words_of(part) for part in typing.get_args(hint)))


def what_lacks(field: str, value: NamedValue) -> Iterator[str]:
    """Yield each thing that a value lacks, with the file that needs it."""
    word = f"`{value}`"
    if value.rule not in rule_texts():
        yield f"{ENUM}: no rule of SPEC.md, but {value.rule!r}"
        return

    if value not in words_of(typing.get_type_hints(FieldValues)[field]):
        yield "refengine/core/profile.py: no word in the Literal of FieldValues"
    explained = Semantics.__doc__ or ""
    if word not in explained and field != "t0":
        yield "refengine/core/semantics.py: no word in the docstring of Semantics"
    if field in FIELDS_TRIED and field != "report" and not value.sentence:
        yield f"{ENUM}: no sentence, which a page shows if a diagnosis finds the value"

    (row,) = re.findall(rf"^\| `{field}` \| (.*?) \| [^|]*\|$", text_of("SPEC.md"), re.M)[:1]
    if word not in row and value.rule != "WIN-7":
        yield "SPEC.md: no word in the table of fields in §2"
    is_alone = [one.rule for one in KINDS[field]].count(value.rule) < 2
    if word not in rule_texts()[value.rule].text and not is_alone:
        yield f"SPEC.md: no word in {value.rule}, which says what several values mean"

    if not cases_with(field, value, value.rule):
        yield f"conformance/cases/: no case of {value.rule} that has the value"
    if row_of_value(field, value, value.rule) is None:
        yield f"conformance/wrong_engines/: none of {value.rule} that such a case catches"
    yield from what_lacks_in_coq(value)


def what_lacks_in_coq(value: NamedValue) -> Iterator[str]:
    """Yield what the formal definitions lack: the word that the program reads, or its meaning."""
    program = text_of("refengine/formal/main.ml")
    if f'"{value}"' not in program:
        yield "refengine/formal/main.ml: no word that the program reads"
    files = ("Definitions.v", "Firings.v", "Arriving.v")
    sources = "".join(text_of(f"refengine/formal/{file}") for file in files)
    defined = re.findall(r"\b[A-Z]\w+", sources)
    for constructor in re.findall(rf'"{re.escape(value)}", ([A-Z]\w+)', program):
        if constructor not in (*defined, "None"):
            yield f"refengine/formal/{', '.join(files)}: no {constructor}"
        elif not re.search(rf"\b{constructor}\b", text_of("refengine/formal/Separations.v")):
            yield f"refengine/formal/Separations.v: no example that tells {constructor} apart"


@pytest.mark.parametrize(("field", "value"), VALUES, ids=["=".join(one) for one in VALUES])
def test_a_value_has_all_that_it_needs(field: str, value: NamedValue):
    """mypy names the functions and the questions that a value lacks, and tests/test_trace.py the
    line of a trace.
    """
    lacking = list(what_lacks(field, value))
    assert not lacking, f"{field}={value} lacks:\n" + "\n".join(lacking)


def test_a_value_without_anything_lacks_all():
    class Unfinished(NamedValue):
        NOWHERE = "nowhere"
        WITHOUT_MORE = "without-more", "R2S-5"

    assert len(list(what_lacks("empty", Unfinished.NOWHERE))) == 1
    files = [text.split(":")[0] for text in what_lacks("empty", Unfinished.WITHOUT_MORE)]
    assert files == [
        "refengine/core/profile.py",
        "refengine/core/semantics.py",
        ENUM,
        "SPEC.md",
        "SPEC.md",
        "conformance/cases/",
        "conformance/wrong_engines/",
        "refengine/formal/main.ml",
    ]


# Code that asks for one value of a field, so that nobody notices what it lacks for a new value

NAMES = {kind.__name__ for kind in KINDS.values()}
# a wrong engine is about one value, and a join has windows of its own
EXEMPT = ("conformance/wrong_engines/", "refengine/joins/")
ASKING = (ast.Is, ast.IsNot, ast.Eq, ast.NotEq, ast.In, ast.NotIn)


def is_member(node: ast.expr) -> bool:
    """Whether an expression is a member of an enum, or several of them."""
    match node:
        case ast.Attribute(ast.Name(name), member):
            return name in NAMES and member.isupper()
        case ast.Tuple(parts) | ast.Set(parts) | ast.List(parts):
            return any(map(is_member, parts))
        case _:
            return False


def single_questions(source: str) -> list[int]:
    """Return the lines with a comparison with a member, or with a match over members in which mypy
    would not miss a new one.
    """
    tree = ast.parse(source)
    last = {id(one.body[-1]) for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and asks_for_members(node):
            lines += [node.lineno for operator in node.ops if isinstance(operator, ASKING)]
        if isinstance(node, ast.Match) and names_members(node):
            lines += [node.lineno] * (not is_complete(node, id(node) in last))
    return lines


def asks_for_members(node: ast.Compare) -> bool:
    """Whether an expression compares with members. It may ask which conditions a report has, since
    another condition does not change that: `Condition.CLOSE in x`, `x == {Condition.CLOSE}`.
    """
    is_about_report = re.match(
        r"Condition\.\w+ (not )?in |.* [!=]= {Condition\.\w+}", ast.unparse(node)
    )
    return not is_about_report and any(map(is_member, [node.left, *node.comparators]))


def names_members(node: ast.Match) -> bool:
    """Whether a match has a branch for a member of an enum."""
    patterns = [part for case in node.cases for part in ast.walk(case.pattern)]
    return any(isinstance(one, ast.MatchValue) and is_member(one.value) for one in patterns)


def is_complete(node: ast.Match, is_last: bool) -> bool:
    """Whether mypy reports a member without a branch: the match ends with `assert_never`, or it
    ends a function, no branch is for whatever is left, and none goes on after the match.
    """
    rest = node.cases[-1]
    is_open = isinstance(rest.pattern, ast.MatchAs) and rest.pattern.pattern is None
    if is_open and rest.guard is None:
        return ast.unparse(rest.body).startswith("assert_never(")
    ends = (ast.Return, ast.Raise, ast.If, ast.Match)
    return is_last and all(isinstance(case.body[-1], ends) for case in node.cases)


def test_no_code_asks_for_one_value_of_a_field():
    """A question about a value is a property of its enum, or a match that names every member."""
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for package in ("refengine", "conformance")
        for path in sorted((ROOT / package).rglob("*.py"))
        if not str(path.relative_to(ROOT)).startswith(EXEMPT)
        for line in single_questions(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


def test_questions_about_one_value_are_found():
    asking = ["x is Tick.TIME", "x != Tick.TIME", "x in (None, Tick.TIME)"]
    asking += ["x == Condition.CHANGE", "x in {Condition.CLOSE, Condition.PERIODIC}"]
    assert [single_questions(line) for line in asking] == [[1]] * 5
    assert single_questions("x.needs_batches; y is Other.TIME; z in x.report") == []
    about_report = "Condition.CLOSE in x.report or Condition.CLOSE not in x or x == {Condition.A}"
    assert single_questions(about_report) == []


def test_a_match_that_misses_a_value_is_found():
    time = "def f(x):\n match x:\n  case Tick.TIME: return 1\n"
    complete = "  case Tick.BATCH | Tick.TUPLE: return 2\n"
    assert single_questions(time + complete) == []
    assert single_questions(time + complete + " return 3") == [2]
    assert single_questions(time + "  case _: return 2") == [2]
    assert single_questions(time + "  case Tick.BATCH: x += 1") == [2]
    assert single_questions(time + "  case never: assert_never(never)\n return 3") == []
