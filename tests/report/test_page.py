"""The page in a browser: it opens from a file, asks nobody for anything, filters, draws, and runs
no text of an engine.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import reports
from reports import BAD, EXAMINED, MIXED, WRONG, integer, result

import conformance
from conformance.bench import page as bench_page
from conformance.bench.yabench import YABENCH
from conformance.report import page, source
from conformance.verdict.results import BenchmarkRun, Result

PATIENCE = 120_000  # ms: the machine may be busy
SCHEMES = ("light", "dark")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
HARNESS = """
    import json, sys
    TEXT = %r
    row = {"x": {"type": "literal", "value": TEXT}}
    for line in sys.stdin:
        asked = json.loads(line)
        more = {"start": {"protocol": 1, "engine": TEXT, "version": TEXT}, "stop": {}}.get(asked["command"], {"relations": RELATIONS})
        print(json.dumps({"seq": asked["seq"], "reply": "result", **more}), flush=True)
        if asked["command"] == "stop":
            break
"""  # noqa: E501


def missing(reason: str) -> None:
    """Without a browser there is nothing to see; in CI there must be one."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """Debian's chromium, or whichever is there."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        missing(f"no {BROWSERS[0]}: apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        missing("no playwright: pip install 'refengine[dev]'")
    with sync_playwright() as driver:
        # root has no sandbox
        chromium = driver.chromium.launch(
            executable_path=found, args=["--no-sandbox"], timeout=PATIENCE
        )
        yield chromium
        chromium.close()


class Seen:
    """A page that was opened, and what it did that it should not: requests, errors, dialogs."""

    def __init__(self, browser, path: Path, width: int = 1280, anchor: str = "", **options):
        self.context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.page.on("console", lambda message: self.wrong.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on(
            "dialog",
            lambda dialog: (self.wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()),
        )
        self.page.on(
            "request",
            lambda request: (
                request.url.partition("#")[0] == path.as_uri()
                or request.url.startswith("data:")
                or self.wrong.append(f"asked for {request.url}")
            ),
        )
        self.page.goto(path.as_uri() + anchor)

    def __enter__(self) -> Seen:
        return self

    def __exit__(self, kind, *_: object) -> None:
        self.context.close()
        if kind is None:
            assert self.wrong == []

    @property
    def count(self) -> str:
        """How many results the page says that it lists."""
        return self.page.inner_text("#count")

    @property
    def rows(self) -> list[str]:
        """The names listed."""
        return self.page.locator("#list .name").all_inner_texts()

    def until(self, holds: Callable[[], bool]) -> None:
        """Waits. (The browser cannot be told to: the page forbids code that comes as text.)"""
        for _ in range(PATIENCE // 100):
            if holds():
                return
            self.page.wait_for_timeout(100)
        raise TimeoutError("it never came to be")

    def open_all(self) -> None:
        """Opens what is listed."""
        self.page.get_by_role("button", name="open those shown").click()
        self.until(
            lambda: (
                self.page.locator("#list > li > details .body").count()
                == self.page.locator("#list > li").count()
            )
        )

    def overflow(self) -> int:
        """How much wider the page is than its window."""
        return self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )


def written(path: Path, found: list[Result]) -> Path:
    """The page of results, in a file."""
    path.write_text(page.page(source.of(found)), encoding="utf-8")
    return path


def judged(folder: Path, relations: str, text: str = "mine") -> list[Result]:
    """The results of a wrong engine, asked a dozen cases."""
    (folder / "mine.py").write_text(textwrap.dedent(HARNESS % text).replace("RELATIONS", relations))
    told = {"title": "Mine", "command": [sys.executable, "{here}/mine.py"], "dialect": "rspql"}
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in told.items())
    (folder / "mine.toml").write_text(lines + '[semantics]\nprofile = "csparql"\nt0 = 0\n')
    with pytest.raises(conformance.NonConformance) as caught:
        conformance.check_engine(folder / "mine.toml", smoke=True)
    return caught.value.results


@pytest.mark.xdist_group("browser")
def test_the_page_of_a_run_opens_filters_and_draws(browser, tmp_path):
    """The reference engine and one that never answers."""
    found = [*conformance.check_engine("reference", smoke=True), *judged(tmp_path, "[]")]
    with Seen(browser, written(tmp_path / "page.html", found)) as seen:
        assert seen.count == "21 results" and len(seen.rows) == 21
        first = seen.page.locator("#list > li").first
        assert first.locator("svg rect.due.first").count() == 1, (
            "what nobody explained is open, its first window marked"
        )
        assert first.locator("svg circle.element").count() > 0
        assert first.locator("pre.explanation").inner_text().startswith("fail: ")
        seen.page.get_by_role("button", name="pass 9").click()
        assert (
            seen.count == "9 of 21 results" and seen.page.locator("#list .badge.pass").count() == 9
        )
        passed = seen.page.locator("#list > li").first
        assert passed.locator("svg").count() == 0, "a pass is not open"
        passed.locator("summary").first.click()
        passed.locator("svg rect.given").first.wait_for()
        assert seen.page.evaluate(
            "document.querySelector('.cell.fail').getAttribute('href')"
        ).startswith("#rule=")
        seen.page.locator(".cell.fail").first.click()
        seen.until(lambda: len(seen.rows) < 12)
        assert {text for text in seen.page.locator("#list .badge").all_inner_texts()} == {"fail"}
        seen.page.get_by_role("button", name="show all").click()
        assert seen.count == "21 results"


@pytest.mark.xdist_group("browser")
def test_filters_go_together_and_by_keyboard(browser, tmp_path):
    with Seen(browser, written(tmp_path / "page.html", MIXED)) as seen:
        assert seen.rows[:2] == ["a window", "Q1"]
        button = seen.page.get_by_role("button", name="fail 2")
        assert button.get_attribute("aria-pressed") == "false"
        button.focus()
        seen.page.keyboard.press("Enter")
        assert button.get_attribute("aria-pressed") == "true"
        assert seen.rows == [
            "a window",
            "a close",
        ]
        seen.page.get_by_label("Known deviation").last.select_option("none")
        assert seen.rows == ["a window"]
        seen.page.get_by_label("Known deviation").last.select_option("=it answers\\nlate")
        assert seen.rows == ["a close"]
        seen.page.get_by_role("button", name="show all").click()
        seen.page.get_by_role("button", name="other", exact=True).click()
        assert seen.rows == ["a border", "Q1"]
        seen.page.get_by_label("Text", exact=True).last.fill("BORDER")
        seen.until(lambda: len(seen.rows) == 1)
        assert seen.count == "1 of 8 results"
        seen.page.get_by_role("button", name="show all").click()
        seen.page.locator("#list summary").first.focus()
        opened = seen.page.locator("#list > li > details").first.evaluate("e => e.open")
        seen.page.keyboard.press("Space")
        assert seen.page.locator("#list > li > details").first.evaluate("e => e.open") != opened


@pytest.mark.xdist_group("browser")
def test_what_an_engine_says_runs_nowhere(browser, tmp_path):
    """A harness that answers scripts, and results that are scripts from end to end."""
    answers = '[{"rows": [row], "window": [0, 10]}] if asked["command"] == "push" else []'
    found = judged(tmp_path, answers, BAD)
    assert any(BAD in result.explanation for result in found), "its answers are in the explanations"
    others = [
        "<img src=x onerror=alert(1)>",
        "</script><script>alert(1)</script>",
        "\"'><svg onload=alert(1)>",
        "{{ 7*7 }}",
        "`${alert(1)}`",
    ]
    found += [reports.hostile(text) for text in [BAD, *others]]
    with Seen(browser, written(tmp_path / "page.html", found)) as seen:
        seen.open_all()
        assert seen.page.evaluate("document.querySelectorAll('script').length") == 3
        assert (
            seen.page.evaluate(
                "document.querySelectorAll('img, iframe, object, [onerror], [onload]').length"
            )
            == 0
        )
        links = seen.page.evaluate("[...document.querySelectorAll('#list a')].map(a => a.protocol)")
        assert set(links) <= {"http:", "https:"}
        assert seen.page.get_by_text(BAD).count() > 0
        assert seen.page.get_by_text("{{ 7*7 }}").count() > 0


@pytest.mark.xdist_group("browser")
def test_a_link_is_a_filter(browser, tmp_path):
    written(tmp_path / "page.html", MIXED)
    with Seen(browser, tmp_path / "page.html") as seen:
        seen.page.locator("a.cell.known").click()
        seen.until(lambda: len(seen.rows) == 1)
        seen.page.locator("#list svg").first.wait_for()
        assert seen.rows == ["a close"] and seen.page.locator("#list svg").count() == 1, (
            "the only one is open"
        )
        assert seen.page.locator("#list a").get_attribute("href") == "https://example.org/issues/1"
        seen.page.get_by_role("button", name="not only REP-1").click()
        assert seen.count == "6 of 8 results", "the engine is still chosen"


TOP_OF_RESULTS = "document.querySelector('#results').getBoundingClientRect().top"
TOP_OF_FIRST = "document.querySelector('#list > li').getBoundingClientRect().top"


@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("width", [390, 1280])
def test_a_link_to_a_result_opens_at_its_beginning(browser, tmp_path, width):
    """Whether it is chosen on the page, or the page is opened by it, and though much stands above
    the result, and little below.
    """
    others = [result(case=f"WIN-2-{n}") for n in range(60)]
    linked = result(case="WIN-3-last", rule="WIN-3", outcome="fail", evidence=WRONG)
    path = written(tmp_path / "page.html", [*EXAMINED, *others, linked])

    def is_at_the_top(seen: Seen) -> bool:
        is_written = seen.page.locator("#list .body .command").count() == 1
        return is_written and abs(seen.page.evaluate(TOP_OF_FIRST)) < 2

    with Seen(browser, path, width) as seen:
        seen.page.evaluate("location.hash = '#suite=corpus&case=WIN-3-last&engine=mine'")
        seen.until(lambda: is_at_the_top(seen))
        assert seen.rows == ["last"]
        focused = seen.page.evaluate("document.activeElement.textContent")
        assert "last" in focused, "the next Tab goes on from there"
        seen.page.evaluate("location.hash = '#rule=WIN-2'")
        seen.until(lambda: abs(seen.page.evaluate(TOP_OF_RESULTS)) < 2)
        assert len(seen.rows) > 1, "a link to several results leads to their filters"
    with Seen(browser, path, width, anchor="#suite=corpus&case=WIN-2-7&engine=mine") as seen:
        seen.until(lambda: is_at_the_top(seen))


@pytest.mark.xdist_group("browser")
def test_details_that_cannot_be_unpacked_leave_the_first_line(browser, tmp_path):
    """As in a browser that is too old."""
    html = page.page(source.of(MIXED))
    packed = html.partition('id="packed">')[2].partition("</script>")[0]
    (tmp_path / "page.html").write_text(html.replace(packed, '["",""]'), encoding="utf-8")
    with Seen(browser, tmp_path / "page.html") as seen:
        seen.open_all()
        first = seen.page.locator("#list .body").first.inner_text()
        assert "cannot unpack" in first and "window [10, 20)" in first


@pytest.mark.xdist_group("browser")
def test_without_javascript_the_page_says_what_is_missing(browser, tmp_path):
    """What is wrong, the causes and the verdicts on rules are there."""
    path = written(tmp_path / "page.html", EXAMINED)
    with Seen(browser, path, java_script_enabled=False) as seen:
        text = seen.page.locator("body").inner_text()
        assert "3 of 4 fails explained: closure is []" in text
        assert "Explains 3 of 4 fails" in text and "in reach" in text
        assert "the details of each need JavaScript" in text


@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_its_window(browser, tmp_path, width):
    """Wide things scroll in their own boxes, on light paper and on dark."""
    long = "x" * 300
    found = [
        *MIXED,
        *EXAMINED,
        *[reports.result(engine=f"engine-{n}-of-many", case=f"WIN-2-{long}") for n in range(20)],
        reports.hostile(long),
    ]
    with Seen(browser, written(tmp_path / "page.html", found), width) as seen:
        seen.page.get_by_label("One engine").select_option("mine")
        seen.page.get_by_label("The other engine").select_option("other")
        seen.open_all()
        for scheme in SCHEMES:
            seen.page.emulate_media(color_scheme=scheme)
            assert seen.overflow() == 0
            ink, paper = seen.page.evaluate(
                "[getComputedStyle(document.body).color, "
                "getComputedStyle(document.body).backgroundColor].map(c "
                "=> c.match(/\\d+/g).map(Number)[0])"
            )
            assert (ink < paper) == (scheme == "light")


CONTRASTS = """
() => {
  const numbers = color => {
    const [r, g, b, a = 1] = color.match(/[0-9.]+/g).map(Number);
    return { rgb: [r, g, b], a };
  };
  const over = (front, back) => front.rgb.map((v, i) => v * front.a + back[i] * (1 - front.a));
  const linear = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const ratio = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const ancestors = e => e ? [...ancestors(e.parentElement), e] : [];
  const behind = e => ancestors(e).reduce(
    (back, e) => over(numbers(getComputedStyle(e).backgroundColor), back), [255, 255, 255]);
  const opacity = e => ancestors(e).reduce((all, e) => all * getComputedStyle(e).opacity, 1);
  const seen = (e, color, back) => {
    const { rgb, a } = numbers(color);
    return ratio(over({ rgb, a: a * opacity(e) }, back), back);
  };
  const found = [];
  const note = (e, what, value) =>
    found.push([`${what} of ${e.tagName} ${e.getAttribute("class")}`, value]);
  for (const e of document.querySelectorAll("body *")) {
    const style = getComputedStyle(e), back = behind(e.closest("svg") ?? e);
    if (!e.getClientRects().length || e.closest("script, option")) continue;
    const hasText = [...e.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    if (e.tagName === "text") note(e, "text", seen(e, style.fill, back));
    else if (e.closest("svg") && e.tagName !== "svg") {
      const colors = e.tagName === "line" ? [style.stroke] : [style.fill, style.stroke];
      const drawn = colors.filter(color => color !== "none");
      note(e, "mark", Math.max(...drawn.map(color => seen(e, color, back))));
    } else if (hasText) note(e, "text", seen(e, style.color, back));
    if (e.matches("button, input, select"))
      note(e, "mark", seen(e, style.borderTopColor, behind(e.parentElement)));
    if (e.matches("i")) note(e, "mark", seen(e, style.backgroundColor, behind(e.parentElement)));
  }
  return found.filter(([what]) => !what.includes("swatch"));
}
"""
FOCUSED = "document.activeElement.id || document.activeElement.tagName"


@pytest.mark.xdist_group("browser")
def test_every_text_and_mark_can_be_told_from_its_background(browser, tmp_path):
    """In both colour schemes. The bounds are those of WCAG 2.2, 1.4.3 and 1.4.11."""
    rests_on = {"row": {"x": integer("4")}, "is_lacking": False, "elements": [2]}
    marked = result(case="WIN-2-marked", outcome="fail", evidence={**WRONG, "rests_on": rests_on})
    found = [*MIXED, *EXAMINED, marked]
    (tmp_path / "page.html").write_text(
        page.page(source.of(found), source.of(EXAMINED).entries), encoding="utf-8"
    )
    with Seen(browser, tmp_path / "page.html") as seen:
        seen.page.get_by_label("One engine").select_option("mine")
        seen.page.get_by_label("The other engine").select_option("other")
        seen.open_all()
        seen.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        bounds = {"text": 4.5, "mark": 3}
        for scheme in SCHEMES:
            seen.page.emulate_media(color_scheme=scheme)
            found = seen.page.evaluate(CONTRASTS)
            assert len(found) > 100
            assert [pair for pair in found if pair[1] < bounds[pair[0].split()[0]]] == [], scheme


@pytest.mark.xdist_group("browser")
def test_the_focus_goes_where_a_choice_leads(browser, tmp_path):
    """Someone without a mouse need not pass what has been chosen again."""
    found = [*MIXED, *[reports.result(case=f"WIN-2-{number}") for number in range(150)]]
    with Seen(browser, written(tmp_path / "page.html", found)) as seen:
        keys = seen.page.keyboard

        def focused() -> str:
            return seen.page.evaluate(FOCUSED)

        keys.press("Tab")
        assert seen.page.evaluate("document.activeElement.textContent") == "To the results"
        keys.press("Enter")
        keys.press("Tab")
        assert seen.page.evaluate("document.activeElement.dataset.outcome") == "0"

        seen.page.locator("#more").focus()
        keys.press("Enter")
        items = "[...document.querySelectorAll('#list > li')]"
        number = f"{items}.findIndex(li => li.contains(document.activeElement))"
        assert seen.page.evaluate(number) == 100, "the first of those that are new"

        seen.page.locator("a.cell.known").focus()
        keys.press("Enter")
        seen.until(lambda: len(seen.rows) == 1)
        assert focused() == "results-title"
        seen.page.get_by_role("button", name="show all").focus()
        keys.press("Space")
        assert focused() == "results-title", "the button is hidden now"


@pytest.mark.xdist_group("browser")
def test_escape_closes_the_innermost_that_is_open(browser, tmp_path):
    with Seen(browser, written(tmp_path / "page.html", MIXED)) as seen:
        result = seen.page.locator("#list > li > details").first
        elements = result.locator("details").first
        elements.locator("summary").focus()
        seen.page.keyboard.press("Enter")
        assert elements.evaluate("e => e.open") and result.evaluate("e => e.open")
        seen.page.keyboard.press("Escape")
        assert not elements.evaluate("e => e.open") and result.evaluate("e => e.open")
        seen.page.keyboard.press("Escape")
        assert not result.evaluate("e => e.open")
        summary = result.locator("summary").first
        assert summary.evaluate("e => e === document.activeElement")
        seen.open_all()
        seen.page.get_by_role("button", name="close those shown").click()
        assert seen.page.locator("#list details[open]").count() == 0


@pytest.mark.xdist_group("browser")
def test_what_is_read_aloud_makes_sense_alone(browser, tmp_path):
    """Headings without gaps, tables and drawings that say what they are, and links by name."""
    with Seen(browser, written(tmp_path / "page.html", MIXED)) as seen:
        seen.open_all()
        page = seen.page
        levels = page.evaluate(
            "[...document.querySelectorAll('h1,h2,h3,h4')].map(h => +h.tagName[1])"
        )
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        assert page.get_by_role("heading", level=3).all_inner_texts() == seen.rows
        assert page.locator("html").get_attribute("lang") == "en"
        for landmark in ("banner", "main", "search", "contentinfo"):
            assert page.get_by_role(landmark).count() == 1
        tables = "[...document.querySelectorAll('table')].filter(t => !t.caption || !t.tHead)"
        assert page.evaluate(f"{tables}.length") == 0
        drawing = page.get_by_role(
            "img", name="The first difference is report 2: expected [10, 20)"
        )
        assert drawing.count() == 2
        assert page.get_by_role("link", name="WIN-3, mine: fail 1", exact=True).count() == 1
        assert page.get_by_role("img", name="16.67 % fail").count() == 1
        labels = ["Known deviation", "One engine", "The other engine"]
        assert [page.get_by_role("combobox", name=name).count() for name in labels] == [1, 1, 1]
        assert page.get_by_role("combobox").count() == len(labels)


@pytest.mark.xdist_group("browser")
def test_a_narrow_page_shows_the_first_difference(browser, tmp_path):
    with Seen(browser, written(tmp_path / "page.html", MIXED), width=390) as seen:
        first = seen.page.locator("#list > li").first
        box = first.locator(".drawing").bounding_box()
        mark = first.locator("rect.given.first").bounding_box()
        assert box["x"] <= mark["x"] < box["x"] + box["width"] / 2


TWO_ENGINES = [
    result(engine="a", case="WIN-1-x", rule="WIN-1", caught_wrong_engine="WIN-1 x"),
    result(engine="a", case="WIN-2-x", caught_wrong_engine="WIN-2 x"),
    result(engine="b", case="WIN-1-x", rule="WIN-1", caught_wrong_engine="WIN-1 x"),
    result(engine="b", case="WIN-2-x", outcome="fail", evidence=WRONG),
    result(engine="b", case="WIN-2-y"),
    result(engine=BAD, case="WIN-2-y"),
]


def rows_of(seen: Seen, kind: str) -> list[list[str]]:
    """The texts of a table of differences."""
    table = seen.page.locator(f"#differing-{kind} tbody tr").all()
    return [row.locator("th, .cell, .none").all_inner_texts() for row in table]


@pytest.mark.xdist_group("browser")
def test_two_engines_are_compared(browser, tmp_path):
    written(tmp_path / "page.html", TWO_ENGINES)
    with Seen(browser, tmp_path / "page.html") as seen:
        assert not seen.page.locator("#differences").is_visible()
        seen.page.get_by_label("One engine").select_option("a")
        seen.page.get_by_label("The other engine").select_option("b")
        assert rows_of(seen, "rules") == [["WIN-2", "holds", "fails, unexplained"]]
        assert rows_of(seen, "cases") == [["WIN-2-x", "pass", "fail"], ["WIN-2-y", "–", "pass"]]
        assert seen.page.evaluate("location.hash") == "#compare=a&with=b"
        seen.page.locator("#differing-rules a").click()
        seen.until(lambda: len(seen.rows) == 4)
        assert "b: WIN-2 fails, unexplained" in seen.page.locator("#verdict").inner_text()

        seen.page.go_back()
        seen.page.get_by_label("One engine").select_option(BAD)
        assert "No verdicts on rules of <script>" in seen.page.inner_text("#difference-note")
        assert rows_of(seen, "cases") == [["WIN-2-x", "–", "fail"], ["WIN-1-x", "–", "pass"]]
        assert not seen.page.locator("#differing-rules").is_visible()


@pytest.mark.xdist_group("browser")
def test_a_link_compares_two_engines(browser, tmp_path):
    written(tmp_path / "page.html", TWO_ENGINES)
    with Seen(browser, tmp_path / "page.html") as seen:
        seen.page.evaluate("location.hash = '#compare=b&with=a'")
        seen.until(lambda: seen.page.locator("#differences").is_visible())
        assert rows_of(seen, "rules") == [["WIN-2", "fails, unexplained", "holds"]]


@pytest.mark.xdist_group("browser")
def test_a_cause_is_a_filter_and_a_rule_has_its_verdict(browser, tmp_path):
    with Seen(browser, written(tmp_path / "page.html", EXAMINED)) as seen:
        seen.page.get_by_role("link", name="3 of 4 fails").click()
        seen.until(lambda: len(seen.rows) == 3)
        assert not seen.page.locator("#verdict").is_visible()
        seen.page.get_by_label("Cause found by the diagnosis").select_option("none")
        assert seen.page.locator("#list .rule").all_inner_texts() == ["R2S-1"]
        seen.page.locator("a.cell.not-shown").click()
        seen.until(lambda: seen.page.locator("#list .rule").all_inner_texts() == ["REP-2"])
        assert seen.page.inner_text("#verdict").startswith("mine: REP-2 not shown: 1 case wrong by")
        command = 'pytest conformance/ --engine=mine -k "[mine-REP-2-a]"'
        assert seen.page.locator("#list .command").inner_text() == command
        seen.page.get_by_text("The rule REP-2").click()
        assert "REP-2" in seen.page.locator("#list .rule-text b").first.inner_text()


@pytest.mark.xdist_group("browser")
def test_a_name_that_a_shell_would_read_is_in_no_command(browser, tmp_path):
    found = [result(engine="a;b"), result(engine='$(x)"'), result(engine="a", case="x y")]
    with Seen(browser, written(tmp_path / "page.html", found)) as seen:
        seen.open_all()
        assert seen.page.locator("#list .command").count() == 0


@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_of_a_benchmark_opens_and_runs_no_text_of_an_engine(browser, tmp_path, width):
    """Two runs of one test, so that there are boxplots; nothing is wider than the window."""
    window = {"window": [0, 5], "gracious": None, "delay": 1, "elements": 2}
    entry = {**window, "precision": 1.0, "recall": 0.5, "expected": 2, "actual": 1}
    run = {"seconds": 1.0, "elements": 2, "measures": {}}
    found = [
        result(
            engine=BAD,
            suite="yabench",
            case=f"{BAD} {number}",
            outcome="fail",
            explanation=BAD,
            evidence={"query": BAD, "metrics": [entry], "run": {**run, "sampling_seconds": 0.1}},
            benchmark_run=BenchmarkRun(BAD, BAD, number),
        )
        for number in (1, 2)
    ]
    path = tmp_path / "bench.html"
    path.write_text(bench_page.page(YABENCH, YABENCH.tables(found), found), encoding="utf-8")
    with Seen(browser, path, width) as seen:
        summary = seen.page.locator("details.bench-test summary")
        assert summary.count() == 1 and "2 runs" in summary.inner_text()
        summary.click()
        assert seen.page.locator("svg .box").count() == 3
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
