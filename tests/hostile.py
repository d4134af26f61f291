"""Hostile bodies with their data, drawn by a seed: deep, long, wide, exponential and broken ones,
by family.

Each is a text, a dataset, and how many rows an answer has where the construction says it (None
where it does not): an evaluation may refuse any of them, but must not answer with other rows.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

from refengine.model.elements import XSD, Dataset, literal

P = "<urn:p>"


class Hostile(NamedTuple):
    """A body, its dataset, and the number of rows of its answer if it is known."""

    family: str
    text: str
    data: Dataset = frozenset()
    rows: int | None = None


Drawn = tuple[str, Dataset, int | None]


def number(value: int) -> str:
    """Return an integer's term."""
    return literal(str(value), XSD + "integer")


def items(count: int, value: Callable[[int], str] = number) -> Dataset:
    """Return one triple for each of so many subjects."""
    return frozenset((f"<urn:s{i}>", P, value(i)) for i in range(count))


def clique(count: int) -> Dataset:
    """Return all edges between so many nodes, loops too."""
    return frozenset((f"<urn:n{i}>", P, f"<urn:n{j}>") for i in range(count) for j in range(count))


def cycle(count: int) -> Dataset:
    """Return a cycle of so many nodes."""
    return frozenset((f"<urn:n{i}>", P, f"<urn:n{(i + 1) % count}>") for i in range(count))


def nested(r: random.Random) -> Drawn:
    """Brackets, groups, OPTIONALs, functions, lists and EXISTS within each other."""
    depth = r.choice([1, 5, 20, 55, 58, 59, 60, 61, 100, 5000])
    opening, inner, closing = r.choice(
        [
            ("FILTER(" + "(" * depth, "true", ")" * depth + ")"),
            ("{" * depth, "", "}" * depth),
            ("OPTIONAL {" * depth, f"?s {P} ?o", "}" * depth),
            ("FILTER(" + "!(" * (2 * depth), "true", ")" * (2 * depth) + ")"),
            ("FILTER(" + "COALESCE(" * depth, "true", ")" * depth + ")"),
            ("FILTER EXISTS {" * depth, "", "}" * depth),
            ("{ SELECT * {" * depth, "", "}}" * depth),
            (f"OPTIONAL {{ ?x {P} " + "(" * depth, "1", ")" * depth + "}"),
            (f"OPTIONAL {{ ?x {P} " + f"[ {P} " * depth, "1", "]" * depth + "}"),
            (f"OPTIONAL {{ ?x {'(' * depth}", P, f"{')?' * depth} ?y }}"),
            ("FILTER(" + "IF(true, " * depth, "true", ", false)" * depth + ")"),
            ("GRAPH ?g {" * depth, "", "}" * depth),
        ]
    )
    return f"ASK {{ {opening}{inner}{closing} }}", items(1), 1


def chain(r: random.Random) -> Drawn:
    """Very long OR, AND, +, UNION, CONCAT, IN, MINUS, BIND and FILTER chains."""
    count = r.choice([2, 50, 400, 2000, 60_000])
    body, rows = r.choice(
        [
            ("FILTER(" + " || ".join(["1 = 2"] * count) + ")", 0),
            ("FILTER(" + " && ".join(["1 = 1"] * count) + ")", 1),
            (f"FILTER({'+'.join(['1'] * count)} = {count})", 1),
            (" UNION ".join(["{}"] * count), count),
            ("{}" * count, 1),
            (f"FILTER(STRLEN(CONCAT({','.join(['?x'] * count)})) >= 0)", 0),
            (f"FILTER(1 IN ({','.join(['2'] * count)}))", 0),
            ("MINUS {} " * count, 1),
            (" ".join(f"BIND({i} AS ?b{i})" for i in range(count)), 1),
            ("FILTER(true) " * count, 1),
            ("OPTIONAL {} " * count, 1),
            (f"<urn:s0> {P} 0 . " * count, 1),
            (f"<urn:s0> {'|'.join([P] * count)} ?o", count),
            (f"<urn:s0> {'/'.join([P] * count)} ?o", 0),
            (f"FILTER({'-'.join(['?x'] * count)} < 0)", 0),
            (f"FILTER({'*'.join(['0.1'] * count)} < 0)", 0),
            (f"FILTER(COALESCE({','.join(['?x'] * count)}, true))", 1),
            (f"VALUES ?v {{ {' '.join(['7'] * count)} }}", count),
            (f"FILTER({'/'.join(['1'] + ['3'] * count)} < 0)", 0),
            (f"FILTER EXISTS {{ FILTER({' || '.join(['?o'] * count)}) }}", 0),
        ]
    )
    return f"SELECT * {{ {body} }}", items(1), rows


def cross(r: random.Random) -> Drawn:
    """Cross products: n^k rows."""
    count, factors = r.choice([3, 10, 60, 300, 5000]), r.randint(2, 6)
    body = " ".join(f"?s{i} {P} ?o{i} ." for i in range(factors))
    if r.random() < 0.5:
        body = " ".join(f"{{ SELECT ?s{i} {{ ?s{i} {P} ?o{i} }} }}" for i in range(factors))
    return f"SELECT * {{ {body} }}", items(count), count**factors


def self_join(r: random.Random) -> Drawn:
    """Self-joins over one value, by OPTIONAL, by subselects and by FILTER."""
    count = r.choice([10, 100, 400, 3000])
    body, rows = r.choice(
        [
            (f"?a {P} ?v . ?b {P} ?v", count**2),
            (f"{{ SELECT * {{ ?a {P} ?v }} }} {{ SELECT * {{ ?b {P} ?v }} }}", count**2),
            (f"?a {P} ?v OPTIONAL {{ ?b {P} ?v FILTER(?a != ?b && ?a = ?b) }}", count),
            (f"?a {P} ?v MINUS {{ ?a {P} ?w OPTIONAL {{ ?b {P} ?w }} }}", 0),
            (f"?a {P} ?v . ?b {P} ?w FILTER(?a = ?b)", count),
            (
                f"?a {P} ?v OPTIONAL {{ ?z {P} ?none . ?none ?z 1 }} OPTIONAL {{ ?b {P} ?w }}",
                count**2,
            ),
            (f"?a {P} ?v FILTER EXISTS {{ ?b {P} ?v FILTER(?b = ?a) }}", count),
            (f"?a {P} ?v FILTER NOT EXISTS {{ ?b {P} ?v FILTER(?b != ?a) }}", 0),
        ]
    )
    return f"SELECT * {{ {body} }}", items(count, lambda i: number(7)), rows


def pattern(r: random.Random) -> Drawn:
    """Exponential and polynomial regular expressions, counted repetitions, huge classes."""
    count = r.choice([5, 40, 2000, 200_000])
    expression, text, holds = r.choice(
        [
            ("^(a+)+$", "a" * count + "!", False),
            ("^(a|a)*b$", "a" * count, False),
            ("^(x+x+)+y$", "x" * count, False),
            ("(a*)*(a*)*b", "a" * count, False),
            ("^((a{1,10}){1,10}){1,10}$", "a" * count, count <= 1000),
            ("(a{1,1000}){1,1000}", "a", None),
            ("((a{1000}){1000}){1000}", "a", None),
            ("^(.*a){12}$", "a" * count, count >= 12),
            ("a{,3}", "a", None),
            ("a{1,\u0663}", "aaa", None),
            ("(" * 60 + "a" + ")" * 60, "a", None),
            ("[" + "".join(chr(0x4E00 + i) for i in range(1900)) + "]", "a" * count, False),
            ("\\\\w{1,60}$", "\u00e9" * count, True),
            ("[ab]*a[ab]{300}c", "ab" * (count // 2), False),
            ("a" * 3000, "a", None),
            ("(", "a", None),
            ("(a)\\\\1", "aa", None),
            ("a**", "a", None),
            ("(\\\\p{L}{1,50}){1,20}", "a", None),
            ("^(a?){500}$", "a" * count, count <= 500),
            ("|" * 1500, "", True),
            ("[^-^]" * 300, "b" * count, None),
            ("\\\\p{IsLatin}", "a", None),
            ("a" * 900 + "|" + "b" * 900, "b" * count, count >= 900),
        ]
    )
    data = frozenset({("<urn:s>", P, literal(text))})
    function = r.choice(
        [
            f'REGEX(?t, "{expression}")',
            f'REGEX(?t, "{expression}") || ?none',
            f'REPLACE(?t, "{expression}", "") != ?t',
        ]
    )
    return (
        f"SELECT ?t {{ ?s {P} ?t FILTER({function}) }}",
        data,
        None if holds is None or not function.startswith("REGEX") else int(holds),
    )


def replacing(r: random.Random) -> Drawn:
    """REPLACE that grows, and replacements with numbers of groups."""
    count = r.choice([1, 100, 5000, 300_000])
    by = r.choice(
        [
            "$0$0$0",
            "b" * count,
            "$1" * 500,
            "$" + "9" * 5000,
            "$" + "0" * 5000 + "1",
            "\\\\",
            "$",
            "\\\\$",
        ]
    )
    expression = r.choice(["a", "(a)", "a([^b]*b)?", "(a|b)", "()"])
    return (
        f'SELECT ?r {{ ?s {P} ?t BIND(REPLACE(?t, "{expression}", "{by}") AS ?r) }}',
        items(1, lambda i: literal("a" * count)),
        1,
    )


def doubling(r: random.Random) -> Drawn:
    """Strings and numbers that double with each BIND, SUM or GROUP_CONCAT."""
    steps = r.choice([3, 10, 25, 60])
    start, both = r.choice(
        [
            ('"ab"', "CONCAT(?x{0}, ?x{0})"),
            ('"ab"', 'REPLACE(?x{0}, "(.)", "$1$1")'),
            ("1.000000000000000000001", "?x{0} * ?x{0}"),
            ("1.5", "?x{0} * ?x{0}"),
            ("(1/3)", "?x{0} * ?x{0}"),
            ("(1/3)", "?x{0} / 7"),
            ("1e10", "?x{0} * ?x{0}"),
            ("3", "?x{0} * ?x{0}"),
            ('"%"', "ENCODE_FOR_URI(CONCAT(?x{0}, ?x{0}))"),
            ("(1/3)", "(?x{0} / 3) * 3 * ?x{0}"),
            ("0." + "1" * 3000, "?x{0} * ?x{0}"),
            ("(1/3)", "1 / (?x{0} + 1)"),
            ("-1e-300", "?x{0} / 1e300"),
            ('"urn:a"', 'STR(IRI(CONCAT(?x{0}, "/../")))'),
            ('"a"', "CONCAT(SHA512(?x{0}), ?x{0}, ?x{0})"),
        ]
    )
    binds = " ".join(f"BIND({both.format(i)} AS ?x{i + 1})" for i in range(steps))
    return f"ASK {{ BIND({start} AS ?x0) {binds} FILTER(BOUND(?x0)) }}", frozenset(), 1


def magnitude(r: random.Random) -> Drawn:
    """Numbers with thousands of digits, beyond doubles, and dates far away."""
    long = r.choice([19, 40, 309, 400, 3999, 4001, 20_000])
    numbers = [
        "1" * long,
        "-" + "9" * long,
        "0." + "1" * long,
        "1" * long + "." + "1" * long,
        "1" * long + "e0",
        "1e308",
        "-1e308",
        "1e-400",
        "1e" + "9" * long,
        f'"{"9" * long}"^^<{XSD}double>',
        f'"1{"0" * long}.0"^^<{XSD}decimal>',
        f'"INF"^^<{XSD}double>',
        f'"NaN"^^<{XSD}float>',
        f'"1e39"^^<{XSD}float>',
        f'"2000-01-01T00:00:00.{"1" * long}Z"^^<{XSD}dateTime>',
        f'"{"9" * min(long, 12)}-01-01T00:00:00"^^<{XSD}dateTime>',
        f'"{"9" * long}"^^<{XSD}byte>',
        "(1/3)",
        "(1e0/3)",
        f'"{"0" * long}1"^^<{XSD}integer>',
        "0",
        "?none",
    ]
    a, b, c = (r.choice(numbers) for _ in range(3))
    template = r.choice(
        [
            "{a} * {b} + {c}",
            "{a} / {b} / {c}",
            "{a} - {b} - {c}",
            "ROUND({a} * 10) + CEIL({b})",
            "FLOOR({a}) = {b}",
            "ABS({a}) < {b} || {c}",
            "<" + XSD + "integer>({a})",
            "<" + XSD + "decimal>({a})",
            "<" + XSD + "float>({a} + {b})",
            "<" + XSD + "string>({a})",
            "STR({a} * {b})",
            "{a} IN ({b}, {c})",
            "{a} = {b}",
            "{a} >= {b}",
            "YEAR({a}) + SECONDS({b})",
            "<" + XSD + "dateTime>({a})",
            'SUBSTR("abc", {a}, {b})',
            "-{a} * -{b}",
            "isNumeric({a})",
            "<" + XSD + "boolean>({a} * {b})",
        ]
    )
    expression = template.format(a=a, b=b, c=c)
    if r.random() < 0.4:
        aggregate = r.choice(["SUM", "AVG", "MIN", "MAX", "COUNT", "SUM(DISTINCT", "AVG(DISTINCT"])
        call = f"{aggregate}{' ' if '(' in aggregate else '('}?v)"
        return (
            (
                f"SELECT ({call} AS ?r) {{ {{ BIND({a} AS ?v) }} UNION {{ BIND({b} AS ?v) }} "
                f"UNION {{ "
                f"BIND({c} AS ?v) }} }}"
            ),
            frozenset(),
            1,
        )
    if r.random() < 0.2:
        return (
            (
                f"SELECT ?v {{ {{ BIND({a} AS ?v) }} UNION {{ BIND({b} AS ?v) }} }} ORDER BY "
                "?v LIMIT "
                "1"
            ),
            frozenset(),
            1,
        )
    return f"SELECT ({expression} AS ?r) {{}}", frozenset(), 1


def table(r: random.Random) -> Drawn:
    """VALUES with many rows and many variables, UNDEF among them."""
    wide, long = r.choice(
        [(1, 2000), (1, 10_001), (100, 30), (999, 3), (1001, 1), (3000, 1), (0, 100), (20, 100)]
    )
    names = " ".join(f"?v{i}" for i in range(wide))
    rows = " ".join(
        f"({' '.join(r.choice(['1', 'UNDEF', P]) for _ in range(wide))})" for _ in range(long)
    )
    body = f"VALUES ({names}) {{ {rows} }}"
    if r.random() < 0.4:
        return f"SELECT * {{ {body} {body} }}", frozenset(), None
    return f"SELECT * {{ {body} }}", frozenset(), long


def path(r: random.Random) -> Drawn:
    """Paths over cycles and cliques: nested stars, sequences, negated sets."""
    count = r.choice([1, 4, 12, 40])
    graph, size = r.choice([(clique(count), count), (cycle(count), count)])
    expression, rows = r.choice(
        [
            (f"{P}*", size**2),
            (f"(({P}*)*)*", size**2),
            (f"(({P}?)+)*", size**2),
            (f"({P}+)+", size**2),
            (f"(({P}|^{P})*)+", size**2),
            (
                "!(" + "|".join(f"<urn:q{i}>" for i in range(r.choice([1, 500, 10_000]))) + ")",
                len(graph),
            ),
            (f"!{P}", 0),
            (f"^(^(^{P}))", len(graph)),
            ("/".join([P] * r.choice([2, 5, 30, 300])), None),
            (f"({P}/{P})*", None),
            (f"({P}/^{P})+", None),
            (f"({'|'.join([P] * 200)})*", size**2),
            ("(!(<urn:q>|^<urn:q>))*", size**2),
            (f"{P}?/{P}?/{P}?", None),
            (f"({P}*/{P}*)*", size**2),
            (f"(({P}*)?|({P}+)*)+", size**2),
        ]
    )
    return f"SELECT * {{ ?a {expression} ?b }}", graph, rows


def grouping(r: random.Random) -> Drawn:
    """Many groups, DISTINCT, and ORDER BY with LIMIT over equal keys."""
    count = r.choice([10, 300, 4000, 30_000])
    query, rows = r.choice(
        [
            (f"SELECT ?s (COUNT(DISTINCT *) AS ?c) {{ ?s {P} ?o }} GROUP BY ?s", count),
            (f"SELECT (COUNT(DISTINCT ?o + 0.5) AS ?c) {{ ?s {P} ?o }}", 1),
            (f"SELECT (SUM(1 / (?o + 1)) AS ?c) {{ ?s {P} ?o }}", 1),
            (f"SELECT (MIN(?s) AS ?c) {{ ?s {P} ?o }}", 1),
            (f"SELECT ?k {{ ?s {P} ?o }} GROUP BY (?o * 1e0 AS ?k)", count),
            (f"SELECT ?s {{ ?s {P} ?o }} ORDER BY (?o * 0) LIMIT 1", None),
            (f"SELECT DISTINCT ?o {{ ?s {P} ?o }}", count),
            (f"SELECT DISTINCT (?o * 2e0 AS ?k) {{ ?s {P} ?o }}", count),
            (f"SELECT ?s {{ ?s {P} ?o }} ORDER BY {'?o ' * 500} LIMIT 3", 3),
            (f"SELECT ?s {{ ?s {P} ?o }} ORDER BY DESC(?o) LIMIT 3 OFFSET {count}", 0),
            (f'SELECT (GROUP_CONCAT("x"; SEPARATOR="{"-" * 1000}") AS ?c) {{ ?s {P} ?o }}', 1),
            (f"SELECT (MIN(BNODE()) AS ?c) {{ ?s {P} ?o }}", 1),
            (f'SELECT (MAX(STRLANG(STR(?o), "en")) AS ?c) {{ ?s {P} ?o }}', 1),
            (f"SELECT (SAMPLE(?o + 0.5) AS ?c) {{ ?s {P} ?o }}", 1),
            ("SELECT REDUCED ?p { ?s ?p ?o }", None),
            (
                f"SELECT ?s {{ ?s {P} ?o }} GROUP BY ?s HAVING "
                f"({' && '.join(['COUNT(*) = 1'] * 200)})",
                count,
            ),
            (f"SELECT * {{ ?s {P} ?o }} LIMIT 999999999999999999", count),
        ]
    )
    return query, items(count), rows


def existing(r: random.Random) -> Drawn:
    """EXISTS in EXISTS in EXISTS, with big patterns and expressions within, and MINUS in MINUS."""
    count, depth = r.choice([3, 30, 500]), r.randint(1, 6)
    inner = r.choice(
        [
            f"?s {P} ?o",
            f"FILTER({' || '.join(['?s = 1'] * 2000)})",
            f"VALUES ?z {{ {'1 ' * 3000} }}",
            f"{{ SELECT ?q {{ ?q {P} ?w }} }}",
            f"?z {P} ?y . " * 30,
        ]
    )
    word = r.choice(["FILTER EXISTS", "FILTER NOT EXISTS", f"MINUS {{ ?s {P} ?o }} OPTIONAL"])
    rows = count if word == "FILTER EXISTS" and not inner.startswith("FILTER") else None
    return (
        f"SELECT ?s {{ ?s {P} ?o "
        + f"{word} {{ ?s {P} ?o . " * depth
        + inner
        + " }" * depth
        + " }",
        items(count),
        rows,
    )


def blanks(r: random.Random) -> Drawn:
    """Floods of blank nodes: made by BNODE, by a template, in the data, in the body."""
    count = r.choice([10, 300, 2000, 30_000])
    query, rows = r.choice(
        [
            (f"SELECT (BNODE() AS ?b) {{ ?s {P} ?o }}", count),
            (f"CONSTRUCT {{ _:a {P} _:b . _:b {P} ?o }} {{ ?s {P} ?o }}", 2 * count),
            (f"SELECT (BNODE(STR(?o)) AS ?b) {{ ?s {P} ?o }}", count),
            (
                f"CONSTRUCT {{ ?s {P} {'[ ' + P + ' ' + '1 ]'} {', []' * 200} }} {{ ?s {P} ?o }}",
                None,
            ),
            ("ASK { " + f"[] {P} [] . " * r.choice([2, 100, 600]) + "}", None),
            (f"SELECT DISTINCT (BNODE() AS ?b) {{ ?s {P} ?o }}", count),
            (f"SELECT (BNODE() = BNODE() AS ?b) {{ ?s {P} ?o }}", count),
            (f"SELECT ?o {{ ?s {P} ?o }} ORDER BY (BNODE()) LIMIT 2", None),
        ]
    )
    data = (
        items(count)
        if r.random() < 0.7
        else frozenset((f"_:b{i}", P, number(i)) for i in range(count))
    )
    return query, data, rows


NASTY = [
    "\x00",
    "\x01",
    "\x1b[2J",
    "\x7f",
    "\ud800",
    "\udfff",
    "\u202e",
    "\ufeff",
    "\u2028",
    "\u00a0",
    "\u3000",
    "\x0b",
    "\x0c",
    "\x85",
    "\U0010ffff",
    "\ufffe",
    "e\u0301",
    "\r",
    "\t",
]


def characters(r: random.Random) -> Drawn:
    """Control characters, surrogates, bidi, byte order marks and white space, anywhere in the text
    or the data.
    """
    nasty = "".join(r.choice(NASTY) for _ in range(r.randint(1, 5)))
    plain = f'SELECT * {{ ?s {P} "a" FILTER(REGEX(?o, "a")) }}'
    at = r.randrange(len(plain))
    text = r.choice(
        [
            plain[:at] + nasty + plain[at:],
            nasty + plain,
            plain + nasty,
            f"SELECT (SHA256(?o) AS ?h) {{ ?s {P} ?o }}",
            f'SELECT (REGEX(?o, ".") AS ?h) {{ ?s {P} ?o }}',
            f"SELECT (ENCODE_FOR_URI(?o) AS ?h) {{ ?s {P} ?o }}",
            f"SELECT (UCASE(?o) AS ?h) {{ ?s {P} ?o }}",
            f"SELECT (IRI(?o) AS ?h) {{ ?s {P} ?o }}",
            f"SELECT * {{ ?s {P} ?o }} ORDER BY ?o LIMIT 1",
            f'SELECT (REPLACE(?o, "[^a]", "$0") AS ?h) {{ ?s {P} ?o }}',
            f"SELECT (STRDT(?o, <urn:t>) AS ?h) {{ ?s {P} ?o }}",
            f"SELECT (STRLANG(?o, ?o) AS ?h) {{ ?s {P} ?o }}",
        ]
    )
    return text, items(1, lambda i: literal("a" + nasty)), None


def broken(r: random.Random) -> Drawn:
    """What is no query: unclosed strings of megabytes, binary garbage, comments without end, long
    identifiers.
    """
    count = r.choice([10, 1000, 400_000, 999_000, 1_500_000])
    text = r.choice(
        [
            'ASK { ?s ?p "' + "a" * count,
            'ASK { ?s ?p """' + '"a' * (count // 2),
            "ASK { ?s ?p " + '"\\' * (count // 2),
            "ASK {} #" + "x" * count,
            "ASK { <" + "a" * count,
            "ASK { ?" + "a" * count + " ?p ?o }",
            "ASK { a" + "." * count + ":b ?p ?o }",
            "ASK { a:b" + "." * count + " ?p ?o }",
            "ASK { _:a" + "." * count + " ?p ?o }",
            "ASK " + "{" * count,
            "ASK " + "(" * count,
            "".join(chr(r.randrange(0x250)) for _ in range(min(count, 5000))),
            "ASK { a" + ".b" * (count // 2) + " }",
            "#" * count,
            " " * count,
            "a:" * (count // 2),
            "ASK {} " + "VALUES " * (count // 7),
            "@" * count,
            "ASK { ?s ?p '''" + "\\'''" * (count // 4),
            "ASK { ?s ?p 1" + "0" * count + " }",
            "\\u0041SK {}",
            "ASK { " + "<" * count,
            "?" * count,
            "PREFIX a: <urn:a> " * (count // 18) + "ASK {}",
            "ASK { ?s ?p " + "\\u0022" * (count // 6) + " }",
            "ASK { FILTER(1" + "-1" * (count // 2) + ") }",
            "ASK { ?s ?p " + "'" * count + " }",
        ]
    )
    return text, frozenset(), None


def names(r: random.Random) -> Drawn:
    """Prefixes, variables and labels named like keywords; escapes in names, strings and IRIs."""
    word = r.choice(
        [
            "select",
            "FROM",
            "SERVICE",
            "a",
            "true",
            "load",
            "union",
            "BASE",
            "INSERT",
            "_",
            "filter",
            "é",
        ]
    )
    escape = r.choice(
        [
            "\\u0022",
            "\\ud800",
            "\\U00110000",
            "\\u0000",
            "\\u003e",
            "\\u000a",
            "\\u0061",
            "\\uD83D\\uDE00",
            "\\U0001F600",
            "\\x",
            "\\",
            "%00",
            "%zz",
            "\\u00",
        ]
    )
    text = r.choice(
        [
            f"PREFIX {word}: <urn:{word}#> SELECT * {{ ?{word} {word}:{word} {word}:a }}",
            f"SELECT * {{ ?s <urn:{escape}> ?o }}",
            f'SELECT * {{ ?s ?p "{escape}" }}',
            f"SELECT * {{ ?a{escape} ?p ?o }}",
            f"PREFIX p: <urn:p> SELECT * {{ ?s p:{escape} ?o }}",
            f"SELECT * {{ _:{word} ?p ?{word} }}",
            f"BASE <{escape}> SELECT * {{ ?s <x> ?o }}",
            f"BASE <http://a/b> SELECT * {{ ?s <{'../' * 500}{word}> ?o }}",
            f"PREFIX {word}: <urn:x> PREFIX {word}: <urn:p> SELECT * {{ ?s {word}: ?o }}",
            f"SELECT * {{ ?s ?p '''{escape}''' }}",
            f'SELECT * {{ ?s ?p "a"@{word} }}',
            f"SELECT ({word} AS ?x) {{}}",
        ]
    )
    return text, items(3), None


HIDDEN = ("SERVICE", "LOAD", "FROM")


def leaving(r: random.Random) -> Drawn:
    """SERVICE, FROM and LOAD in odd places: they never leave, and never answer."""
    gap = r.choice([" ", "\n", "\t#c\n", " # FROM <urn:x>\n", "\r\n"])
    service = f"{r.choice(['SERVICE', 'service', 'SeRvIcE'])}{gap}{r.choice(['', 'SILENT' + gap])}{r.choice(['<urn:x>', '?x'])}{gap}{{}}"  # noqa: E501
    text = r.choice(
        [
            f"ASK {{ FILTER{gap}EXISTS{gap}{{ {service} }} }}",
            f"ASK {{ {{ SELECT * {{ {service} }} }} }}",
            f"ASK{gap}FROM{gap}<urn:x>{gap}{{}}",
            f"SELECT *{gap}FROM{gap}NAMED{gap}<urn:x> {{}}",
            f"LOAD{gap}<urn:x>",
            f"ASK {{ OPTIONAL {{ MINUS {{ {service} }} }} }}",
            f"ASK {{ GRAPH ?g {{ {service} }} }}",
            f"CONSTRUCT {{}}{gap}FROM{gap}<urn:x>{gap}WHERE {{}}",
            f"ASK {{ BIND(EXISTS {{ {service} }} AS ?b) }}",
            f"SELECT (EXISTS {{ {service} }} AS ?b) {{}}",
            f"ASK {{}} HAVING (EXISTS {{ {service} }})",
            "ASK {} ; LOAD <urn:x>",
            f"DESCRIBE{gap}*{gap}FROM <urn:x> {{}}",
            f"CLEAR{gap}ALL",
            "CONSTRUCT FROM <urn:x> WHERE {}",
            f"ASK {{ VALUES ?x {{}} {service} }}",
            f"ASK {{}} ORDER BY (NOT EXISTS {{ {service} }})",
            f"ASK {{ FILTER(IF(true, true, EXISTS {{ {service} }})) }}",
            f"SELECT * {{ {{}} UNION {{ {{}} {service} }} }}",
        ]
    )
    return text, frozenset(), -1


def graphs(r: random.Random) -> Drawn:
    """Many named graphs, GRAPH within GRAPH, over patterns without a solution."""
    count, depth = r.choice([3, 50, 2000]), r.randint(1, 4)
    data = frozenset((f"<urn:s{i}>", P, number(i), f"<urn:g{i}>") for i in range(count))
    inner, rows = r.choice(
        [("", count**depth), (f"FILTER(false) {'{} ' * 300}", 0), (f"?s {P} ?o", count**depth)]
    )
    return (
        "SELECT * { "
        + "".join(f"GRAPH ?g{i} {{ " for i in range(depth))
        + inner
        + " }" * depth
        + " }",
        data,
        rows,
    )


def construction(r: random.Random) -> Drawn:
    """Large templates, and what RDF does not allow in them."""
    count, size = r.choice([3, 100, 4000]), r.choice([1, 50, 900])
    template = " ".join(f"?s <urn:q{i}> ?o ." for i in range(size))
    if r.random() < 0.3:
        return (
            f"CONSTRUCT {{ ?o {P} ?s . {'?o ?o ?o . ' * size} }} {{ ?s {P} ?o }}",
            items(count),
            0,
        )
    return f"CONSTRUCT {{ {template} }} {{ ?s {P} ?o }}", items(count), count * size


def texts(r: random.Random) -> Drawn:
    """Functions over long strings, for many solutions."""
    count, long = r.choice([1, 50, 1000]), r.choice([100, 10_000, 400_000])
    function = r.choice(
        [
            'CONTAINS({a}, "b")',
            "STRLEN({a})",
            "UCASE({a})",
            'STRBEFORE({a}, "b")',
            "MD5({a})",
            "ENCODE_FOR_URI({a})",
            "CONCAT({a}, STR(?s))",
            "{a} = STR(?s)",
            "SUBSTR({a}, 2)",
            "{a} || ?none",
            "!{a}",
            "STRDT({a}, <" + XSD + "integer>) = 1",
            "<" + XSD + "double>({a})",
            'IRI(CONCAT("urn:", {a}))',
            "COALESCE({a}, 1)",
            "IF({a}, 1, 2)",
            "{a} IN (1, 2, {a})",
            'LANGMATCHES({a}, "*")',
            "SAMETERM({a}, {a})",
        ]
    )
    return (
        f"SELECT ({function.format(a=chr(34) + 'a' * long + chr(34))} AS ?r) {{ ?s {P} ?o }}",
        items(count),
        count,
    )


FAMILIES: tuple[Callable[[random.Random], Drawn], ...] = (
    nested,
    chain,
    cross,
    self_join,
    pattern,
    replacing,
    doubling,
    magnitude,
    table,
    path,
    grouping,
    existing,
    blanks,
    characters,
    broken,
    names,
    leaving,
    graphs,
    construction,
    texts,
)


def drawn(count: int, seed: int = 1) -> Iterator[Hostile]:
    """Yield so many hostile bodies, from each family in turn."""
    for position in range(count):
        family = FAMILIES[position % len(FAMILIES)]
        yield Hostile(family.__name__, *family(random.Random(f"{seed}/{position}")))
