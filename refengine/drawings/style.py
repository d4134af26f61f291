"""The style of drawings, for pages and for notebooks."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

LIGHT = (
    "--paper: #fff; --edge: #7b8694; --ink: #1c2430; --soft: #5a6675; --line: #d9dde3; "
    "--pass: #1d7a46; --pass-bg: #e2f3e8; --fail: #b3261e; --fail-bg: #fbe4e2; "
    "--known: #8a5a00; --known-bg: #fdf0d5; --due: #32619f; --due-bg: #d7e5f8; "
)
DARK = (
    "--paper: #14181e; --edge: #75818f; --ink: #e6eaf0; --soft: #a2adbb; "
    "--line: #353e4a; --pass: #7fd3a0; --pass-bg: #173324; --fail: #ff9d94; "
    "--fail-bg: #45201d; --known: #f0c060; --known-bg: #3b2e12; --due: #8db6ee; "
    "--due-bg: #20344f; "
)


@cache
def style(scope: str = "") -> str:
    """Return the style sheet of drawings, with their colours in light and in dark. `scope` selects
    the box that has the drawings; without it the style is that of a whole page.
    """
    rules = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    if scope:
        rules = f"{scope} {{\n{rules}}}\n"
    root = scope or ":root"
    light = f"{root} {{ color-scheme: light dark; {LIGHT}}}"
    dark = f"@media screen and (prefers-color-scheme: dark) {{ {root} {{ {DARK}}} }}"
    return f"{light}\n{dark}\n{rules}"
