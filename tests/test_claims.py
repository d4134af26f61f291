"""docs/trust.md lists every claim of the pages, with a test or a command that there is; and
`make claims` notices a claim that does not hold.
"""

from __future__ import annotations

import ast
import re
import signal
from collections.abc import Iterator
from functools import cache

import pytest

from tools import claims
from tools.claims import ROOT, Claim, compare, section, squeeze

EVIDENCE = ROOT / "docs" / "evidence"
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "SECURITY.md",
        ROOT / "SPEC.md",
        ROOT / "CITATION.cff",
        ROOT / "conformance" / "PROTOCOL.md",
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs" / "evidence").glob("*.md"),
        ROOT
        / "docs"
        / "evidence"
        / "engines"
        / "rmlstreamer.md",  # the other ones are made of results
    )
    if path not in (claims.LIST, ROOT / "docs" / "laws.md", ROOT / "docs" / "values.md")
)
LISTED = list(claims.read_claims(claims.LIST.read_text(encoding="utf-8")))

N = r"(?:\d[\d.]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|sixteen)"
THINGS = (
    "rules?|cases?|engines|dialects|(?:query )?languages|profiles|fields|mutants|survivors|texts"
    "|vectors|verdicts|tests|defects|diagnoses|draws|packages|laws|lines of|of the mutants"
)
# What a claim looks like: an outcome without exception, what is the same, a share, a count.
CLAIM = re.compile(
    rf"""
      \b{N}\ of\ (?:(?:the|its|all|these|those)\ )?{N}\b
    | \d\ ?%
    | \b{N}\ times\ (?:as|the|what)\b | \b(?:half|twice)\ as\b
    | \d,\d{{3}}\b
    | \bof\ CPU\b | \bCPU\ s\b | \b20\d\d-\d\d-\d\d\b | \b(?:November|December)\ 20\d\d
    | \b(?:took|takes)\ (?:some\ )?\d
    | \bequals?\ (?:those|the|that|Table) | \bidentical\b | \bbyte\ for\ byte\b | \brow\ for\ row\b
    | \b(?:no|without\ a|without\ any)\ difference\b
    | \bsame\ (?:reports|results|answers?|verdicts?|bytes|outputs?|matches|bindings|rows)\b
    | \b(?:passes|pass|fails?)\ (?:in\ )?(?:all|every|each|no|none|{N})\b
    | \b(?:none|0|no\ \w+)\ (?:is\ |are\ )?(?:wrong|lost|missing|differs?|fails?|passes|notices)\b
    | \bdisagree|\bagrees?\ with\b | \bis\ compared\ with\b | \b(?:always|never)\ (?:fails|wrong)
    | \b(?:all|every|the)\ {N}\ (?:\w+\ )?(?:{THINGS})\b
    | \b{N}\ (?:[\w-]+\ )?(?:{THINGS})\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
EXAMPLE = re.compile(
    r"(?:- )?\W*(?:A recorded example|An example|Example|For example|Decided here)\b"
)


@cache
def text_of(page: str) -> str:
    """The text of a page, without its blocks of code. Of a page of rules it is what stands before
    the rules, which define and do not claim.
    """
    text = (ROOT / page).read_text(encoding="utf-8").partition("\n## §")[0]
    return re.sub(r"^( *)```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)


def sentences(text: str) -> Iterator[str]:
    """Yield the rows of tables and the sentences of a page. A paragraph that is an example, or says
    what is decided, claims nothing.
    """
    for line in text.splitlines():
        if line.startswith("|"):
            if not line.startswith("|--"):
                yield line
        elif line.strip() and not line.startswith("#") and not EXAMPLE.match(line):
            yield from re.split(r"(?<=[.:;])\**\s+(?=[A-Z`*\[(0-9])", line.strip())


@cache
def listed_rows(page: str) -> frozenset[str]:
    """The rows of the tables that the list has, with their heads."""
    headings = [claim.heading for claim in LISTED if claim.page == page and claim.heading]
    below = [section(text_of(page), name) or "" for name in headings]
    return frozenset(row for text in below for row in text.splitlines() if row.startswith("|"))


def is_listed(sentence: str, page: str) -> bool:
    """Whether the list has a sentence: a claim is in it, or has all of it."""
    if sentence.startswith("|"):
        return sentence in listed_rows(page) or has_words(sentence, page)
    return has_words(sentence, page)


def has_words(sentence: str, page: str) -> bool:
    """Whether words of a claim are in a sentence, or all of it is in them."""
    shown = squeeze(sentence)
    words = [squeeze(claim.words) for claim in LISTED if claim.page == page and not claim.heading]
    return any(one in shown or shown in one for one in words)


# What looks like a claim and is none: what a word, an option, a scale or a measure means, what is
# done with what, what others have, and what follows from the sentence itself. `§` is for the rows
# of a section.
NO_CLAIM: dict[str, tuple[str, ...]] = {
    "CONTRIBUTING.md": ("If the sources disagree", "If the engine disagrees"),
    "conformance/PROTOCOL.md": (
        "§ Replies",
        "more than 1,000",
    ),
    "docs/benchmarks.md": ("is YABench's big test",),
    "docs/evidence/diagnosis.md": (
        "one of two profiles",
        "two wrong engines",
    ),
    "docs/concepts.md": ("no engine fails by it",),
    "docs/evidence/mutation.md": ("*survives*",),
    "docs/test-your-engine.md": (
        "passes every case in which no row is due",
        "§ A verdict on each rule",
    ),
}


@cache
def allowed_rows(page: str) -> str:
    """The text of the sections whose rows are no claims."""
    names = [name[2:] for name in NO_CLAIM.get(page, ()) if name.startswith("§ ")]
    return "\n".join(section(text_of(page), name) or "" for name in names)


def is_allowed(sentence: str, page: str) -> bool:
    """Whether a sentence or a row is one of those that look like claims and are none."""
    if sentence.startswith("|") and sentence in allowed_rows(page):
        return True
    return any(words in sentence for words in NO_CLAIM.get(page, ()))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_makes_no_claim_that_is_not_listed(page: str) -> None:
    found = [sentence for sentence in sentences(text_of(page)) if CLAIM.search(sentence)]
    missing = [one for one in found if not is_listed(one, page) and not is_allowed(one, page)]
    assert not missing, (
        f"{page}: list these in docs/trust.md with what makes them, or leave out:\n"
        + "\n".join(missing)
    )


@pytest.mark.parametrize("page", NO_CLAIM)
def test_what_is_no_claim_is_on_its_page(page: str) -> None:
    for words in NO_CLAIM[page]:
        if words.startswith("§ "):
            assert section(text_of(page), words[2:]) is not None, words
        else:
            assert any(words in one for one in sentences(text_of(page)) if CLAIM.search(one)), words


@pytest.mark.parametrize("claim", LISTED, ids=lambda claim: f"{claim.page} {claim.words[:60]}")
def test_a_page_says_what_is_listed(claim: Claim) -> None:
    assert claims.is_in((ROOT / claim.page).read_text(encoding="utf-8"), claim)


def names_of_tests(path: str) -> set[str]:
    """Return the names of the tests of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("command", sorted({claim.command for claim in LISTED}))
def test_a_command_exists(command: str) -> None:
    """Each target, module, file and test that it names."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = re.findall(
        r"\bmake (\w+)|-m ([\w.]+)|((?:tests|conformance)/[\w./-]*(?:::\w+)?)", command
    )
    assert named or command.startswith(claims.QUICK)
    for target, module, place in named:
        path, _, test = place.partition("::")
        if target:
            assert f"\n{target}:" in makefile
        elif module not in ("", "pytest"):
            base = ROOT / module.replace(".", "/")
            assert base.with_suffix(".py").exists() or (base / "__main__.py").exists(), module
        elif place:
            assert (ROOT / path).exists(), path
            assert not test or test in names_of_tests(path), place


@pytest.mark.parametrize("command", sorted({claim.command for claim in LISTED if claim.is_quick}))
def test_what_is_counted_is_what_the_pages_say(command: str) -> None:
    assert [*claims.try_command(command, [one for one in LISTED if one.command == command])] == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Of the 600 tests 0 are wrong.",
        "It passes all cases.",
        "The reports equal those of the definition.",
        "There are nine dialects.",
        "It is 40 % smaller.",
        "The run took 12 s.",
        "Both give the same answers, without a difference.",
        "It reads 1,300 of them.",
    ],
)
def test_a_new_claim_is_found(sentence: str) -> None:
    assert CLAIM.search(sentence) and not is_listed(sentence, "README.md")


def test_an_example_claims_nothing() -> None:
    text = "*Example* Of the 3 rows 2 are wrong. All 3 rows.\n\nIt passes all cases. It ends.\n"
    assert [*sentences(text)] == ["It passes all cases.", "It ends."]


@pytest.mark.parametrize(
    ("text", "words", "output", "seen"),
    [
        ("{1} of {1} agree", "all 1,270 vectors", "1270 of 1270 agree", None),
        ("{1} of {1} agree", "all 1,270 vectors", "1269 of 1270 agree", "1269, 1270"),
        ("{1} of {1} agree", "all 1,270 vectors", "12700 of 12700 agree", "12700, 12700"),
        ("{1} dialects", "seven dialects", "7 dialects", None),
        ("{1} dialects", "seven dialects", "8 dialects", "8 in"),
        ("{1} dialects", "seven dialects", "7 languages", "nothing like {1} dialects"),
        ("n {1}", "2 or 3", "n 1\nn 2\n", None),
        ("{2} wrong", "5 right, 0 wrong", "5 right, 9 wrong", "9 in"),
        ("ratio {<1}", "less than 1.5", "ratio 1.2", None),
        ("ratio {<1}", "less than 1.5", "ratio 1.2\nratio 1.6", "1.6 in"),
        ("ratio {>1}", "more than 50", "ratio 49.9", "49.9 in"),
        ("Q1 … {1} {2}", "55 % and 40 %", "Q1 fail 20 10 55.00 40.00", None),
    ],
)
def test_figures_are_compared(text: str, words: str, output: str, seen: str | None) -> None:
    found = compare(text, words, output)
    assert found is None if seen is None else found is not None and found.startswith(seen)


@pytest.fixture
def listing(tmp_path, monkeypatch):
    """Write a page with a sentence and a table, and a list of claims about it."""
    monkeypatch.setattr(claims, "ROOT", tmp_path)
    monkeypatch.setattr(claims, "LIST", tmp_path / "trust.md")
    table = "| who | right |\n|---|---|\n| `a` | 3 |\n| b | 4 |\n"
    page = f"# Page\n\nAll 5 cases pass.\n\n## T\n\n{table}"
    (tmp_path / "page.md").write_text(page, encoding="utf-8")

    def write(*rows: str) -> None:
        (tmp_path / "trust.md").write_text("\n".join(["### page.md", *rows]), encoding="utf-8")

    return write


def test_several_words_have_one_command() -> None:
    line = (
        "- 5 pass. · § T ← `tests/a.py` `tests/b.py`\n- 6 ← `sh -c 'x | y'` → `{1}` `z` (sh, hours)"
    )
    text = f"- a ← `b`\n\n### page.md\n\n{line}\n"
    assert [*claims.read_claims(text)] == [
        Claim("a", "docs/trust.md", "b"),
        Claim("5 pass.", "page.md", "tests/a.py` `tests/b.py"),
        Claim("§ T", "page.md", "tests/a.py` `tests/b.py"),
        Claim("6", "page.md", "sh -c 'x | y'", ("{1}", "z"), ("sh", "hours")),
    ]


@pytest.mark.parametrize("line", ["- 5 ← sh", "- 5 ← `sh` `", "- 5 ← `sh` -> `5`"])
def test_a_line_that_cannot_be_read_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="no claim of the form"):
        [*claims.read_claims(line)]


def test_what_holds_is_silent(listing, capsys):
    listing(
        "- All 5 cases pass. ← `echo 5 passed` → `{1} passed` (sh)",
        "- § T ← `printf 'a: 3 right\\nb: 4 right\\n'` → `{1}: {2} right`",
    )
    assert claims.main([]) == 0
    assert capsys.readouterr().out.strip() == ""


def test_what_does_not_hold_is_named_with_what_was_seen(listing, capsys):
    listing(
        "- All 5 cases pass. ← `echo 4 passed` → `{1} passed`",
        "- § T ← `echo a: 3 right` → `{1}: {2} right`",
        "- All 5 cases pass. ← `echo 5 passed; exit 3` → `{1} passed`",
        "- All 6 cases pass. ← `echo 6 passed | cat` → `{1} passed`",
    )
    assert claims.main([]) == 1
    assert capsys.readouterr().out.split("does not hold: ")[1:] == [
        "page.md: All 5 cases pass.\n  echo 4 passed\n  seen: 4 in {1} passed\n",
        "page.md: § T\n  echo a: 3 right\n  seen: no row b: 4 right\n",
        "page.md: All 5 cases pass.\n  echo 5 passed; exit 3\n  seen: exit code 3, '5 passed'\n",
        "page.md: All 6 cases pass.\n  echo 6 passed | cat\n  seen: no such words in the page\n",
    ]


def test_what_is_lacking_is_one_line(listing, capsys, monkeypatch):
    monkeypatch.delenv("NOWHERE", raising=False)
    needs = ("no-such-program", "$NOWHERE", "engine no-such-engine", "hours")
    listing(*(f"- All 5 cases pass. ← `exit 9` → `x` ({need})" for need in needs))
    assert claims.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"not run: needs {need}: page.md: All 5 cases pass." for need in needs]


def test_a_named_claim_is_run_alone_and_gets_hours(listing, capsys):
    listing(
        "- All 5 cases pass. ← `echo mine 4 passed` → `{1} passed` (hours)",
        "- § T ← `exit 9` → `{1}`",
    )
    assert claims.main(["mine"]) == 1
    assert "seen: 4 in {1} passed" in capsys.readouterr().out


def test_an_interrupt_ends_the_run_with_what_was_seen(listing, capsys, monkeypatch):
    def stop(command: str) -> tuple[int, str]:
        if command == "later":
            signal.raise_signal(signal.SIGINT)
        return 0, "4 passed"

    monkeypatch.setattr(claims, "run", stop)
    listing(
        "- All 5 cases pass. ← `first` → `{1} passed`",
        "- All 5 cases pass. ← `later` → `{1} passed`",
    )
    assert claims.main([]) == 130
    assert "seen: 4 in {1} passed" in capsys.readouterr().out


def test_a_name_that_no_claim_has_is_an_error(capsys):
    """A misspelt name is no success in silence."""
    with pytest.raises(SystemExit) as ended:
        claims.main(["nosuchclaim"])
    assert ended.value.code == 2
    assert "no claim of docs/trust.md and no command has 'nosuchclaim'" in capsys.readouterr().err
