"""The links of the site as it is built: each leads to a file of it, and to a place in that."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page links to, and the places in it that can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: dict[str, None] = {}
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Keep the links and the places of an element."""
        for name, value in attributes:
            if value and name in ("href", "src"):
                self.targets[value] = None
            if value and (name == "id" or (name == "name" and tag == "a")):
                self.places.add(value)


def broken_links(folder: Path) -> list[str]:
    """Return the links of all pages of a folder that lead nowhere, each with its page."""
    pages = {
        path: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))
    }
    return [
        f"{path.relative_to(folder)}: {target}"
        for path, page in pages.items()
        for target in page.targets
        if any(_is_broken(target, path, pages, folder))
    ]


def _is_broken(target: str, path: Path, pages: dict[Path, Page], folder: Path) -> Iterator[bool]:
    """Yield True if a link of a page leads nowhere. Those of other sites are not followed."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return
    found = path
    if parts.path:
        begin = folder if parts.path.startswith("/") else path.parent
        found = (begin / unquote(parts.path).lstrip("/")).resolve()
    if found.is_dir():
        found /= "index.html"
    yield not found.is_file()
    # what a page writes into its own address is no place in it
    is_place = parts.fragment and "=" not in parts.fragment and not parts.fragment.startswith("__")
    if is_place and found in pages:
        yield unquote(parts.fragment) not in pages[found].places
