"""The page of this project on a package index, made of README.md while a wheel or an sdist is
built.

README.md links to files beside it, which no index has. Where PROJECT_URL names the public
repository of the project, as the workflow of releases does, the links lead to the files there, as
of PROJECT_REF, a tag. Otherwise only their words are left. Either way no link of the page breaks.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<picture>!?)\[(?P<words>[^\]]*)\]\((?P<target>[^)\s]+)\)")


def page_of(text: str, project: str = "", ref: str = "main") -> str:
    """Return a text in Markdown without links to files beside it: they lead to those of a project,
    as of a tag or branch, or are left out if the address of the project is not known.

    >>> page_of("[the rules](SPEC.md#r2s)"), page_of("![a plot](docs/a.svg)")
    ('the rules', '*a plot*')
    >>> page_of("[the rules](SPEC.md#r2s)", "https://example.org/p", "v1.0.0")
    '[the rules](https://example.org/p/blob/v1.0.0/SPEC.md#r2s)'
    >>> page_of("![a plot](docs/a.svg)", "https://example.org/p/", "v1.0.0")
    '![a plot](https://example.org/p/raw/v1.0.0/docs/a.svg)'
    >>> page_of("[W3C](https://www.w3.org/)")
    '[W3C](https://www.w3.org/)'
    """

    def replacement(found: re.Match[str]) -> str:
        picture, words, target = found.group("picture", "words", "target")
        if re.match(r"[a-z]+:", target):
            return found[0]
        if project:
            view = "raw" if picture else "blob"
            return f"{picture}[{words}]({project.rstrip('/')}/{view}/{ref}/{target})"
        return f"*{words}*" if picture else words

    return _LINK.sub(replacement, text)


class IndexPage(MetadataHookInterface):
    """What hatchling asks for the fields of pyproject.toml that are made: the page, and the
    address of the project where it is known.
    """

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the fields to the others."""
        project = os.environ.get("PROJECT_URL", "")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        page = page_of(text, project, os.environ.get("PROJECT_REF") or "main")
        metadata["readme"] = {"content-type": "text/markdown", "text": page}
        if project:
            metadata["urls"] = {
                "Source": project,
                "Documentation": f"{project}/tree/main/docs",
                "Changelog": f"{project}/blob/main/CHANGELOG.md",
                "Issues": f"{project}/issues",
            }
