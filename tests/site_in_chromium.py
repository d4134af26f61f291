"""The site in Chromium, with no network but a server on this machine: `make site-test`."""

from __future__ import annotations

import base64
import json
import re
import shutil
import threading
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playground_examples import expected_rows, expected_windows, row_text
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from refengine import dialects
from refengine.rdf.streams import read_stream
from tools.site.playground import answer
from tools.site.questions import examples

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "build" / "site"
AXE = ROOT / "site" / "node_modules" / "axe-core" / "axe.min.js"
SECONDS = 60_000
ONLY_HERE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
EXAMPLES = list(examples())
REPORTS = [example for example in EXAMPLES if "reports" in example["expected"]]
REFUSED = [example for example in EXAMPLES if "error" in example["expected"]]
JUDGED = [
    example
    for example in EXAMPLES
    if "outcome" in example["expected"] and example["id"].partition(":")[2] in ("", "1", "2")
]


class Quiet(SimpleHTTPRequestHandler):
    """A server that prints nothing."""

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def served() -> Iterator[tuple[str, ThreadingHTTPServer]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/playground/", server
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as driver:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        chromium = driver.chromium.launch(executable_path=path, args=["--no-sandbox", ONLY_HERE])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served() as (address, _):
        yield address


def open_page(context: BrowserContext, address: str) -> Page:
    """Open the playground and wait for its first reports."""
    page = context.new_page()
    page.set_default_timeout(SECONDS)
    page.on("pageerror", lambda error: pytest.fail(f"an error in the page: {error}"))
    page.goto(address)
    settle(page)
    return page


def settle(page: Page) -> None:
    """Wait until the page has answered what it was asked."""
    page.wait_for_selector("body[data-state=answered]", timeout=SECONDS)


@pytest.fixture(scope="module")
def page(browser: Browser, address: str) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    yield open_page(context, address)
    context.close()
    foreign = [url for url in asked if not url.startswith((address, "blob:", "data:"))]
    assert not foreign and len(asked) > 8


def go(page: Page, fragment: str) -> None:
    page.evaluate(
        "to => { document.body.dataset.state = 'asked'; location.hash = '#'; location.hash = to; }",
        fragment,
    )
    settle(page)


def shown(page: Page) -> list[tuple[str, Counter[str]]]:
    """Return the reports in the table: where each is, and its rows."""
    lines = page.locator("#reports tbody tr").evaluate_all(
        "lines => lines.map(l => [l.cells[1].innerText, [...l.querySelectorAll('li')]"
        ".map(li => li.innerText)])"
    )
    return [(where, Counter(map(cells, rows))) for where, rows in lines]


def cells(text: str) -> str:
    """Return a row of the page with its cells in the order of their names."""
    if text.startswith("("):
        return ""
    pairs = [cell.split(" = ", 1) for cell in text.removeprefix("?").split(", ?")]
    return row_text(dict(pairs))


def packed(state: dict[str, Any]) -> str:
    """Return the fragment of a link that holds a state."""
    squeeze = zlib.compressobj(wbits=-15)
    data = squeeze.compress(json.dumps(state).encode()) + squeeze.flush()
    return "#q=" + base64.urlsafe_b64encode(data).decode().rstrip("=")


def test_the_first_question(page: Page) -> None:
    """ann and bob are in the hall at 1 and 4; eve, ann and bob in the lab at 10, 13 and 22. So of
    the windows of 10 every 5 there are 2 in the hall before 10, then 2, 2, 1 and 1 in the lab.
    """
    found = [(where.split(" at ")[0], rows) for where, rows in shown(page)]
    assert found == [
        (window, Counter([f"?people = {count}, ?room = {room}"]))
        for window, count, room in [
            ("[0, 10)", 2, ":hall"),
            ("[5, 15)", 2, ":lab"),
            ("[10, 20)", 2, ":lab"),
            ("[15, 25)", 1, ":lab"),
            ("[20, 30)", 1, ":lab"),
        ]
    ]


@pytest.mark.parametrize("example", REPORTS, ids=lambda example: example["id"])
def test_examples_of_the_specification(page: Page, example: dict[str, Any]) -> None:
    go(page, f"#case={example['id']}")
    found, expected = shown(page), example["expected"]["reports"]
    assert [rows for _, rows in found] == list(map(expected_rows, expected))
    for (where, _), report in zip(found, expected, strict=True):
        if (windows := expected_windows(report)) is not None:
            assert [borders for borders in windows if borders] == borders_in(where)


def borders_in(where: str) -> list[list[int]]:
    """Return the borders in `takes back: [0, 10); (5, 15] of "k" at 10`."""
    windows = where.removeprefix("takes back: ").rpartition(" at ")[0].split("; ")
    return [
        [int(word.strip("[]()")) for word in window.split(" of ")[0].split(", ")]
        for window in windows
        if window != "none"
    ]


@pytest.mark.parametrize("example", REFUSED, ids=lambda example: example["id"])
def test_examples_that_are_refused(page: Page, example: dict[str, Any]) -> None:
    go(page, f"#case={example['id']}")
    assert example["expected"]["message"] in page.inner_text("#status")


@pytest.mark.parametrize("example", JUDGED, ids=lambda example: example["id"])
def test_examples_that_are_judged(page: Page, example: dict[str, Any]) -> None:
    go(page, f"#case={example['id']}")
    page.click("#judge")
    expect(page.locator("#verdict .outcome")).to_have_text(example["expected"]["outcome"])


def test_what_one_witness_alone_confirms(page: Page) -> None:
    """Of the average of 1 and 'x', by R2R-5 Oxigraph's reading is right, and rdflib's is wrong."""
    go(page, "#case=r2r/r2r-5-one-witness-is-enough:1")
    caption = page.inner_text("#reports caption")
    assert re.fullmatch(r".* confirmed by oxigraph [0-9.]+ for the web", caption)
    go(page, "#case=window/win-3-t0")
    assert " confirmed by rdflib and oxigraph " in page.inner_text("#reports caption")


def test_a_recording_is_judged_as_on_the_command_line(page: Page) -> None:
    """One that CSRBench's generator made; the second witness is the same in another build."""
    folder = ROOT / "fixtures" / "csrbench"
    text = (ROOT / "conformance" / "queries" / "csrbench" / "Q3.csparql").read_text("utf-8")
    elements = [
        {"at": element.app, "graph": " . ".join(" ".join(t) for t in sorted(element.graph))}
        for element in read_stream(folder)
    ]
    query = {"dialect": "csparql", "text": text}
    name = dialects.read(text.removesuffix("\n"), "csparql").windows[0].stream
    recording = next(folder.glob("answers/*-answer-3.json")).read_text(encoding="utf-8")
    state = {
        "query": query,
        "streams": [{"name": name, "elements": elements, "ordered": False}],
        "semantics": {"profile": "csparql"},
        "recording": recording,
        "missing": "1",
    }
    native = json.loads(answer(json.dumps({**state, "task": "judge"})))
    go(page, packed(state))
    page.locator("#judging").evaluate("box => box.open = true")
    page.click("#judge")
    expect(page.locator("#verdict .outcome")).to_have_text(native["outcome"])
    explained = page.inner_text("#verdict pre")
    explained = re.sub(r"oxigraph [0-9.]+ for the web", "pyoxigraph", explained)
    assert explained == native["explanation"].rstrip()


def test_links_hold_the_whole_question(page: Page, address: str) -> None:
    go(page, "#case=window/win-3-t0")
    before = shown(page)
    page.click("#share")
    page.wait_for_url("**/#q=*")
    link = page.evaluate("location.href")
    assert link.startswith(address)
    go(page, "#case=window/win-2-on-both-borders")
    assert shown(page) != before
    go(page, link.removeprefix(address))
    assert shown(page) == before
    page.evaluate("location.hash = '#q=AAAA'")
    expect(page.locator("#status")).to_contain_text("cannot be read")


def test_two_semantics_by_keyboard(page: Page) -> None:
    """Under (] the elements on a border belong to the window before."""
    go(page, "#case=window/win-2-on-both-borders")
    page.focus("#compare")
    page.keyboard.press("Space")
    page.focus("#other-closure")
    page.evaluate("document.body.dataset.state = 'asked'")
    page.select_option("#other-closure", "(]")
    settle(page)
    assert page.locator("#reports tr.is-different").count() >= 1
    assert "differ" in page.inner_text("#reports caption")
    assert page.locator(".field.is-different .name").all_inner_texts() == ["closure"]
    page.focus("#after")
    page.keyboard.press("Enter")
    assert page.inner_text("#where").startswith("step 2 of")
    assert page.locator("#step h3").all_inner_texts()[0].startswith("A: ")


def test_an_element_is_dragged_in_time(page: Page) -> None:
    """bob goes from the hall at 4 to where the axis has 13, and is then in [5, 15) and [10, 20)."""
    page.evaluate("location.hash = '#'")
    page.select_option("#example", "window/win-3-t0")
    page.evaluate("document.body.dataset.state = 'asked'")
    page.select_option("#example", "")
    settle(page)
    circles = page.locator("#drawing circle.element")
    start, goal = circles.nth(1).bounding_box(), circles.nth(3).bounding_box()
    assert start is not None and goal is not None
    page.evaluate("document.body.dataset.state = 'asked'")
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(goal["x"] + goal["width"] / 2, goal["y"] + goal["height"] / 2, steps=5)
    page.mouse.up()
    settle(page)
    lines = page.locator("#streams textarea").input_value().splitlines()
    assert lines[2:4] == ["13 :bob :in :hall", "13 :ann :in :lab"]
    hall = [where for where, rows in shown(page) if any(":hall" in row for row in rows)]
    assert [where.split(" at ")[0] for where in hall] == ["[0, 10)", "[5, 15)", "[10, 20)"]


def test_what_is_taken_along(page: Page) -> None:
    go(page, "#case=window/win-3-t0")
    page.locator("#exported").locator("xpath=..").evaluate("box => box.open = true")
    for form, word in (("case", "[[streams]]"), ("python", "evaluate("), ("report", "#q=")):
        page.click(f"#{form}")
        expect(page.locator("#exported")).to_have_value(re.compile(re.escape(word)))


def test_no_other_address_is_reached(page: Page) -> None:
    fetched = "fetch('http://127.0.0.2:9/').then(() => 'sent', error => 'refused')"
    assert page.evaluate(f"() => {fetched}") == "refused"
    in_worker = f"""() => new Promise(done => {{
      const text = "{fetched}.then(postMessage)";
      const worker = new Worker(URL.createObjectURL(new Blob([text])));
      worker.onmessage = event => done(event.data);
    }})"""
    assert page.evaluate(in_worker) == "refused"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 800, 1400])
def test_no_serious_fault_for_screen_readers(
    browser: Browser, address: str, scheme: Any, width: int
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
    )
    page = open_page(context, f"{address}#case=oracle/ora-12-border-row")
    page.check("#compare")
    page.check("#view")
    page.locator("details").evaluate_all("boxes => boxes.forEach(box => box.open = true)")
    page.click("#judge")
    page.wait_for_selector("#verdict .outcome")
    check_for_readers(page, width)
    context.close()


def check_for_readers(page: Page, width: int) -> None:
    """Hold a page to axe's rules, and to its width."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")
    faults = [
        (fault["id"], fault["nodes"][0]["html"][:200])
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
    ]
    assert not faults and len(found["passes"]) > 20
    assert page.evaluate("document.documentElement.scrollWidth") <= width


PAGES = ["", "SPEC/", "fields/", "reference/semantics/", "docs/values/", "docs/concepts/"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_pages_for_screen_readers(browser: Browser, address: str, scheme: Any, path: str) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 900}, color_scheme=scheme, bypass_csp=True
    )
    site = address.removesuffix("playground/")
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page = context.new_page()
    page.goto(site + path, wait_until="load")
    check_for_readers(page, 390)
    assert not [url for url in asked if not url.startswith((site, "data:"))]
    context.close()


def test_the_second_visit_needs_no_server(browser: Browser) -> None:
    context = browser.new_context()
    with served() as (address, _):
        page = open_page(context, address)
        page.evaluate("navigator.serviceWorker.ready.then(() => 1)")
        page.close()
    page = open_page(context, address)
    assert len(shown(page)) == 5
    context.close()
