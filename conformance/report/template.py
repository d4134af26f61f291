"""The templates of pages and badges."""

from __future__ import annotations

from functools import cache

import jinja2


@cache
def _environment() -> jinja2.Environment:
    """Return the environment that escapes automatically, whatever a template's name is."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("conformance.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def template(name: str) -> jinja2.Template:
    """Return a template by the name of its file."""
    return _environment().get_template(name)


def read_asset(name: str) -> str:
    """Return a file of ours, which goes into a page as it is."""
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]
