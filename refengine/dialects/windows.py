"""The windows of a dialect's text, read and written: their names, their extents (DIA-3), and the
durations in these (DIA-2).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from lark import Token, Tree

from refengine.core.query import Unit, Window, WindowKind
from refengine.dialects.grammar import child_token
from refengine.dialects.source import DialectText, Unrenderable, end_offset, start_offset
from refengine.model import iris
from refengine.model.elements import require_64_bits
from refengine.model.errors import InvalidWindow, require
from refengine.model.messages import display, integer

UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
LONGEST = 100  # characters of an ISO 8601 duration
ISO = re.compile(
    r"P(?:(?P<W>\d+)W)?(?:(?P<D>\d+)D)?(?:T(?=\d)(?:(?P<H>\d+)H)?(?:(?P<M>\d+)M)?(?:(?P<S>\d+(?:[.,]\d+)?)S)?)?",
    re.IGNORECASE | re.ASCII,
)
PARTS = {"W": 7 * UNITS["d"], "D": UNITS["d"], "H": UNITS["h"], "M": UNITS["m"], "S": UNITS["s"]}


def milliseconds(parts: Iterable[tuple[str, str]]) -> int | None:
    """DIA-2: Return the sum of (number, unit) pairs, with units as any dialect writes them. None if
    the sum is no whole number of milliseconds, which can only happen with nanoseconds.
    """
    return _whole(
        sum(
            (require(integer(number)) * _milliseconds_of_unit(unit) for number, unit in parts),
            Fraction(),
        )
    )


def _milliseconds_of_unit(unit: str) -> Fraction:
    """Return the milliseconds of a unit: `s`, `S`, `SECONDS`; `m` and `MIN` are minutes."""
    word = unit.lower()
    if word == "ns":
        return Fraction(1, 10**6)
    if word == "ms":
        return Fraction(UNITS["ms"])
    return Fraction(UNITS[word[0]])


def iso(text: str) -> int | None:
    """DIA-2: Return the milliseconds of an ISO 8601 duration. None for another text, for years and
    months, and for what is no whole number of milliseconds.

    >>> iso("PT1.5S"), iso("P1D"), iso("P1M")
    (1500, 86400000, None)
    """
    if len(text) > LONGEST:
        return None
    match = ISO.fullmatch(text)
    if match is None:
        return None
    found = {part: value for part, value in match.groupdict().items() if value}
    if not found:
        return None
    return _whole(
        sum(Fraction(value.replace(",", ".")) * PARTS[part] for part, value in found.items())
    )


def _whole(duration: Fraction | int) -> int | None:
    if duration.denominator != 1:
        return None
    return int(duration)


def write_duration(duration: int, forms: Mapping[str, str]) -> str:
    """DIA-2: Return a duration in the greatest unit that divides it. `forms` has the text of each
    unit, greatest first.

    >>> write_duration(90_000, {"m": "{}m", "s": "{}s"})
    '90s'
    """
    unit = next(unit for unit in forms if duration % UNITS[unit] == 0)
    return forms[unit].format(duration // UNITS[unit])


def write_iso_duration(duration: int) -> str:
    """DIA-2: Return a duration as ISO 8601 text, with a fraction of a second where it needs one. It
    has no days, since rsp4j asks for a T, which days come before.

    >>> write_iso_duration(10_000), write_iso_duration(1_500)
    ('PT10S', 'PT1.5S')
    """
    if duration % UNITS["s"]:
        return f"PT{duration // 1000}.{duration % 1000:03}".rstrip("0") + "S"
    return write_duration(duration, {"h": "PT{}H", "m": "PT{}M", "s": "PT{}S"})


RESERVED = "urn:window"  # DIA-5: this name, and those that begin with it and a colon
COUNTED = frozenset({"tuple", "rows", "triples"})  # forms whose lengths are numbers


@dataclass(frozen=True)
class ExtentForms:
    """The forms in which a dialect writes extents: the text of each, with {size}, {slide}, {lag}
    and {begin}, which is size + lag, and how it writes a duration.
    """

    forms: Mapping[str, str]
    duration: Callable[[int], str]

    def write(self, window: Window, title: str) -> str:
        """DIA-3: Return a window's extent as text, without brackets. Raises Unrenderable for a form
        that the dialect has not.
        """
        form = shape(window)
        if form == "time" and window.size == window.slide and "tumbling" in self.forms:
            form = "tumbling"
        if form not in self.forms:
            has = ", ".join(
                sorted(
                    text.format(**_symbols(name)) or "no window"
                    for name, text in self.forms.items()
                )
            )
            raise Unrenderable(
                f"{title} has no window of kind {form}; it has {has}",
                place=f"window on {window.stream!r}",
            )
        length: Callable[[int], str] = self.duration
        if form in COUNTED:
            length = str
        lengths = {
            "size": window.size,
            "slide": window.slide,
            "lag": window.lag,
            "begin": (window.size or 0) + window.lag,
        }
        written = {name: length(value) for name, value in lengths.items() if value}
        return self.forms[form].format(**written)


def _symbols(form: str) -> dict[str, str]:
    if form in COUNTED:
        return {"size": "n", "slide": "m"}
    return {"size": "ω", "slide": "β", "lag": "d", "begin": "(ω+d)"}


def shape(window: Window) -> str:
    """Return the name of a window's form: one word, or one word and `with a lag`, if some dialect
    has such a form.
    """
    if window.lag:
        return f"{shape(replace(window, lag=0))} with a lag"
    match window.kind, window.unit:
        case WindowKind.RANGE | WindowKind.ROWS, _ if window.slide is not None:
            return f"{window.kind} with a slide"
        case WindowKind.ROWS, Unit.TRIPLES:
            return "triples"
        case _, Unit.TRIPLES:
            return f"{window.kind} of triples"
        case kind, _:
            return str(kind)


def read_window(
    source: DialectText, stream: str, extent: Tree[Token] | None, name: str | None = None
) -> Window:
    """DIA-3: Return the window that an extent means, by the form in which it is written. Without an
    extent the window is unbounded.
    """
    if extent is None:
        return Window(stream, WindowKind.UNBOUNDED, name=name)
    lengths = [
        _length(source, node)
        for node in extent.children
        if isinstance(node, Tree) or node.type == "INTEGER"
    ]
    fields: dict[str, object]
    match str(extent.data):
        case "until":  # NOW - (ω+d) TO NOW - d [SLIDE β]
            begin, lag, *slides = lengths
            if begin <= lag:
                source.fail(
                    extent,
                    "expected a window that begins before it ends: the first duration back from "
                    "NOW is greater than the second",
                )
            fields = {"kind": WindowKind.RANGE, "lag": lag}
            if slides:
                fields["kind"] = WindowKind.TIME
            lengths = [begin - lag, *slides]
        case "triples":
            fields = {"kind": WindowKind.ROWS, "unit": Unit.TRIPLES}
        case "tumbling":
            fields = {"kind": WindowKind.TIME}
            lengths = lengths * 2
        case form:
            fields = {"kind": WindowKind(form)}
    fields |= dict(zip(("size", "slide"), lengths, strict=False))
    return source.make(extent, Window, stream, **fields, name=name)


def _length(source: DialectText, node: Tree[Token] | Token) -> int:
    """Return a number of elements, or a duration in milliseconds."""
    if isinstance(node, Token):
        return source.make(
            node, require_64_bits, "a window's extent", integer(str(node)), InvalidWindow, "WIN-1"
        )
    words = [str(token) for token in node.children]
    if child_token(node, 0).type == "ISO":
        found = iso(words[0])
    elif child_token(node, 0).type == "SHORT":
        found = milliseconds(re.findall(r"([0-9]+)(\w+)", words[0]))
    elif len(words) == 1:
        found = integer(words[0])
    else:
        found = milliseconds(zip(words[::2], words[1::2], strict=True))
    if found is None:
        written = display(source.text[start_offset(node) : end_offset(node)])
        reason = (
            "expected a duration of whole milliseconds, such as PT10S, without years and months, "
            f"got {written}"
        )
        source.fail(node, reason, rule="DIA-2")
    return source.make(node, require_64_bits, "a window's extent", found, InvalidWindow, "WIN-1")


def absolute_name(name: str) -> str:
    """DIA-5: Return a window's name as an absolute IRI: a relative one is put under the reserved
    name, so that `w` is `urn:window:w`.
    """
    if iris.has_scheme(name):
        return name
    return f"{RESERVED}:{name}"


def iri_reference(name: str, source: DialectText, what: str) -> str:
    """Return a name as an IRI reference that reads back as the same name. Raises Unrenderable."""
    if not re.fullmatch(r'[^<>"{}|^`\\\x00-\x20]+', name):
        raise Unrenderable("its name must be an IRI", place=f"{what} {name!r}")
    base, _ = source.prologue
    if base and not iris.has_scheme(name):
        raise Unrenderable(
            "its name is relative, and the body's BASE would change it; write an absolute IRI",
            place=f"{what} {name!r}",
        )
    return f"<{name}>"
