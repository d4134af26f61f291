"""Bodies in SPARQL, and strings in its four quotings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from hypothesis import strategies as st

from refengine.core.query import Body, Form
from refengine.model.terms import Term
from refengine.strategies.arguments import (
    index_below,
    index_lists,
    pick,
    take_choices,
    take_in_order,
)
from refengine.strategies.payloads import LINKS, NUMBER, SUBJECTS, TEXTS, Strategy

T = TypeVar("T")

_WORDS = (
    "SELECT DISTINCT REDUCED ASK CONSTRUCT WHERE PREFIX FILTER OPTIONAL UNION MINUS BIND AS "
    "VALUES UNDEF GROUP BY HAVING ORDER ASC DESC GRAPH EXISTS NOT COUNT SUM AVG MIN MAX STR "
    "STRLEN BOUND REGEX IN ISIRI IF COALESCE( CONCAT("
)
KEYWORDS = frozenset(_WORDS.split())
CASES: tuple[Callable[[str], str], ...] = (str.upper, str.lower, str.title)
SPACES = (
    " ",
    "\n",
    "  ",
    "\t",
    "\n\n    ",
    " # comment\n",
    " # } ] { [RANGE 1 STEP 1] 'odd \" SELECT ?x\n",
    "\r\n",
)
LISTS_OF_SPACES = st.lists(st.sampled_from(SPACES), min_size=1, max_size=4)
# Subject, object, number, graph, and the stem of new ones: some are called like a keyword of a
# dialect.
VARIABLES = (
    ("x", "y", "n", "g", "v"),
    ("step", "range", "stream", "window", "now"),
    ("s", "o", "slide", "graph", "rows"),
    ("select", "where", "count", "from", "as"),
    ("on", "triples", "every", "register", "unbounded"),
)
PROLOGUES = (
    ((), None),
    (("PREFIX", "e:", "<urn:>"), "e:"),
    (("PREFIX", ":", "<urn:>"), ":"),
    (("PREFIX", "e:", "<urn:>"), None),
    (("PREFIX", "e:", "<urn:>", "PREFIX", "window:", "<urn:>"), "window:"),
    (("PREFIX", "step:", "<http://example.org/#>", "PREFIX", ":", "<urn:>"), ":"),
)


def bodies(
    *,
    names: Sequence[str] = (),
    forms: Iterable[Form | str] = tuple(Form),
    graph_variable: bool = False,
) -> Strategy[Body]:
    """Return bodies in SPARQL 1.1 over the terms of `triples`, each with a single answer: SELECT
    (variables, *, DISTINCT, expressions), ASK and CONSTRUCT; FILTER with and without EXISTS,
    OPTIONAL, UNION, MINUS, BIND, VALUES, GROUP BY, HAVING, the aggregates that have one answer,
    subselects, property paths; GRAPH with the given names and, if asked for, with a variable.
    Prefixes or whole IRIs, no BASE; keywords in any case; WHERE or none; odd white space and
    comments; strings in all four quotings and variables that look like the syntax of windows. There
    is no LIMIT (QRY-3), nothing makes blank nodes (R2R-7), and numbers alone are summed and
    ordered, so that witnesses confirm them.

    >>> from hypothesis import given
    >>> from refengine.strategies import bodies
    >>> @given(bodies(forms=["SELECT"]))
    ... def test_a_select_has_variables(body):
    ...     assert body.variables
    >>> test_a_select_has_variables()
    """
    possible = [Form(form) for form in take_choices("forms", forms)]
    return bodies_of_forms(take_in_order("names", names), possible, graph_variable)


@st.composite
def bodies_of_forms(
    draw: st.DrawFn, names: Sequence[str], forms: Sequence[Form], graph_variable: bool
) -> Body:
    """Draw a body as `bodies` does. The arguments are not checked."""
    prologue, prefix = pick(draw, PROLOGUES)
    writer = _Writer(draw, pick(draw, VARIABLES), prefix, names, graph_variable)
    tokens = [*prologue, *writer.query(pick(draw, forms))]
    case = pick(draw, CASES)
    spaces = draw(LISTS_OF_SPACES)
    words = [case(token) if token in KEYWORDS else token for token in tokens]
    first = pick(draw, ("", "\n", "# SELECT * { } \n"))
    return Body(first + "".join(word + spaces[i % len(spaces)] for i, word in enumerate(words)))


class _Writer:
    """Writes a body as a list of tokens. `visible` are the variables that can be projected."""

    def __init__(
        self,
        draw: st.DrawFn,
        variables: Sequence[str],
        prefix: str | None,
        names: Sequence[str],
        graph_variable: bool,
    ):
        self.draw = draw
        self.prefix = prefix
        self.names = names
        self.graph_variable = graph_variable
        self.s, self.o, self.n, self.g = (f"?{name}" for name in variables[:4])
        self.stem = variables[4]
        self.count = 0  # of the fresh variables
        self.visible: list[str] = []

    def pick(self, *choices: T) -> T:
        return pick(self.draw, choices)

    def choose(self) -> bool:
        return self.pick(False, True)

    def fresh(self) -> str:
        """Return a variable that is nowhere else."""
        self.count += 1
        if self.count % 3 == 0:
            return f"${self.stem}{self.count}"
        return f"?{self.stem}{self.count}"

    def projected_variable(self) -> str:
        """Return a new variable that can be projected."""
        self.visible.append(new := self.fresh())
        return new

    def iri(self, term: Term) -> str:
        """Return an IRI whole, or as a prefixed name."""
        if self.prefix is None:
            return term
        return self.prefix + term.removeprefix("<urn:").removesuffix(">")

    def subject(self) -> str:
        return self.iri(self.pick(*SUBJECTS))

    def link(self) -> str:
        return self.iri(self.pick(*LINKS))

    def text(self) -> str:
        return quoted(self.pick(*TEXTS), self.pick('"', "'", '"""', "'''"))

    def query(self, form: Form) -> list[str]:
        match form:
            case Form.ASK:
                return ["ASK", *self.where()]
            case Form.CONSTRUCT:
                return self.construct()
            case Form.SELECT:
                return self.pick(self.select, self.select, self.select_aggregates)()

    def where(self, *first: str) -> list[str]:
        return [*self.pick((), ("WHERE",)), *self.group(*first)]

    def construct(self) -> list[str]:
        if self.draw(index_below(5)) == 4:
            return _fill("CONSTRUCT WHERE { _ _ _ }", self.s, self.link(), self.o)
        where = self.where()
        template = self.pick(
            _fill("_ <urn:made> _", self.s, self.o),
            _fill("_ _ _", self.s, self.link(), self.text()),
            _fill("_ _ _ . _ a _ .", self.s, self.link(), self.s, self.subject(), self.o),
        )
        return ["CONSTRUCT", "{", *template, "}", *where]

    def select(self) -> list[str]:
        where = self.where()
        head = list(self.pick((), ("DISTINCT",)))
        match self.pick("variables", "all", "expression"):
            case "all":
                head.append("*")
            case "variables":
                head += self.visible[: 1 + self.draw(index_below(len(self.visible)))]
            case "expression":
                head += [self.pick(*self.visible), "(", *self.expression(), "AS", self.fresh(), ")"]
        return ["SELECT", *head, *where, *self.order()]

    def order(self) -> list[str]:
        return self.pick(
            [],
            *(
                _fill(form, self.s)
                for form in ("ORDER BY _", "ORDER BY DESC ( _ )", "ORDER BY ASC ( _ )")
            ),
        )

    def select_aggregates(self) -> list[str]:
        head = []
        tail = []
        if key := self.pick(None, self.s, self.s):
            head = [key]
            tail = ["GROUP", "BY", key, *self.pick([], _fill("HAVING ( COUNT ( * ) > 1 )"))]
        for _ in range(self.pick(1, 2)):
            head += ["(", *self.aggregate(), "AS", self.fresh(), ")"]
        return ["SELECT", *head, *self.where(*self.number()), *tail]

    def aggregate(self) -> list[str]:
        function = self.pick("COUNT", "SUM", "AVG", "MIN", "MAX")
        if function == "COUNT" and self.choose():
            return _fill("COUNT ( * )")
        return [function, "(", *self.pick((), ("DISTINCT",)), self.n, ")"]

    def group(self, *first: str) -> list[str]:
        """Return a group: triples, and up to three more patterns."""
        tokens = ["{", *(first or self.core())]
        self.visible += [
            v for v in (self.s, self.o, self.n) if v in tokens and v not in self.visible
        ]
        patterns = self.patterns()
        for index in self.draw(index_lists(len(patterns), most=3)):
            if tokens[-1] != "}":
                tokens += self.pick((), (".",))
            tokens += patterns[index]()
        return [*tokens, "}"]

    def core(self) -> list[str]:
        """Return the triples that a group begins with, in the default graph or in a window's."""
        triples = self.pick(self.plain, self.several, self.path, self.number)()
        if bool(self.names) and self.choose():
            return ["GRAPH", f"<{self.pick(*self.names)}>", "{", *triples, "}"]
        return triples

    def plain(self) -> list[str]:
        return [self.s, self.link(), self.o]

    def number(self) -> list[str]:
        return [self.s, self.iri(NUMBER), self.n]

    def several(self) -> list[str]:
        more = self.pick(
            (";", self.iri(NUMBER), self.n), (",", self.fresh()), (".", self.o, self.link(), "[ ]")
        )
        return [self.s, self.link(), self.o, *more]

    def path(self) -> list[str]:
        p, q = map(self.iri, LINKS)
        # rdflib does not read `p +`, with a space
        path = self.pick(
            (p, "/", q), ("(", p, "|", q, ")"), ("^", p), (p + "+",), ("!", q), (p, "/", "^", q)
        )
        return [self.s, *path, self.o]

    def patterns(self) -> list[Callable[[], list[str]]]:
        more = []
        if self.names:
            more.append(self.graph)
        if self.graph_variable:
            more.append(self.any_graph)
        return [
            self.filter,
            self.exists,
            self.optional,
            self.union,
            self.minus,
            self.bind,
            self.values,
            self.subselect,
            *more,
        ]

    def filter(self) -> list[str]:
        return ["FILTER", "(", *self.condition(), ")"]

    def condition(self) -> list[str]:
        return self.pick(
            _fill("_ > 1", self.n),
            _fill("_ + 1 <= 3", self.n),
            _fill("_ = _", self.o, self.text()),
            _fill("_ != _", self.o, self.subject()),
            _fill("STR ( _ ) = _", self.o, self.text()),
            _fill("REGEX ( STR ( _ ) , '[ab#]' )", self.s),
            _fill("BOUND ( _ )", self.o),
            _fill("! BOUND ( _ )", self.n),
            _fill("_ IN ( _ , _ )", self.s, self.subject(), self.subject()),
            _fill("ISIRI ( _ ) || _ = _", self.o, self.s, self.subject()),
        )

    def exists(self) -> list[str]:
        return [
            *self.pick(("FILTER",), ("FILTER", "NOT")),
            "EXISTS",
            "{",
            self.s,
            self.link(),
            self.fresh(),
            "}",
        ]

    def optional(self) -> list[str]:
        return _fill("OPTIONAL { _ _ _ }", self.s, self.link(), self.projected_variable())

    def union(self) -> list[str]:
        new = self.projected_variable()
        other = self.pick(
            _fill("_ _ _", self.s, self.link(), new), _fill("BIND ( _ AS _ )", self.text(), new)
        )
        return [*_fill("{ _ _ _ } UNION {", self.s, self.link(), new), *other, "}"]

    def minus(self) -> list[str]:
        return _fill(
            "MINUS { _ _ _ }", self.s, self.link(), self.pick(self.subject(), self.text(), "[ ]")
        )

    def bind(self) -> list[str]:
        return ["BIND", "(", *self.expression(), "AS", self.projected_variable(), ")"]

    def expression(self) -> list[str]:
        return self.pick(
            [self.text()],
            _fill("STR ( _ )", self.s),
            _fill("STRLEN ( STR ( _ ) )", self.s),
            # pyoxigraph reads no space before its bracket, nor before CONCAT's
            _fill("COALESCE( _ , 0 )", self.n),
            _fill("IF ( BOUND ( _ ) , _ , 'b' )", self.o, self.text()),
            _fill("CONCAT( STR ( _ ) , _ )", self.s, self.text()),
        )

    def values(self) -> list[str]:
        return self.pick(
            _fill("VALUES _ { _ _ }", self.s, self.subject(), self.subject()),
            _fill(
                "VALUES ( _ _ ) { ( _ UNDEF ) ( _ _ ) }",
                self.s,
                self.o,
                self.subject(),
                self.subject(),
                self.text(),
            ),
        )

    def subselect(self) -> list[str]:
        inner = _fill("{ _ _ _ }", self.s, self.link(), self.fresh())
        return [
            *_fill("{ SELECT _ ( COUNT ( * ) AS _ ) WHERE", self.s, self.projected_variable()),
            *inner,
            "GROUP",
            "BY",
            self.s,
            "}",
        ]

    def graph(self) -> list[str]:
        return _fill(
            "GRAPH _ { _ _ _ }", f"<{self.pick(*self.names)}>", self.s, self.link(), self.fresh()
        )

    def any_graph(self) -> list[str]:
        return _fill("GRAPH _ { _ _ _ }", self.g, self.s, self.link(), self.fresh())


def _fill(template: str, *words: str) -> list[str]:
    """Return the tokens of a template, with a word in each place that is left open."""
    rest = iter(words)
    return [next(rest) if token == "_" else token for token in template.split()]


def quoted(lexical: str, quote: str) -> str:
    """Return a string in one of SPARQL's four quotings; in the long ones quotes and line ends stand
    as they are.
    """
    text = lexical.replace("\\", "\\\\")
    if len(quote) == 1:
        text = text.replace(quote, "\\" + quote).replace("\n", "\\n")
    return quote + text + quote
