"""The Python module that a query is compiled to: its statements as a tree, and the printer that
writes them.

A `Program` is a module while the nodes of a query put their code into it. Its function `follow` is
called once for each body: there the nodes keep their *state* in variables, and define the functions
by which solutions go from node to node. What no text can say, such as a condition that the SPARQL
evaluator is asked for, is *given* to the module by name. No text of a query becomes a name: of
variables only those that are plain words, behind `v_`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from re import ASCII, fullmatch, sub
from typing import Any, NamedTuple

from refengine.sparql.algebra import Call, TriplePattern, Variable

# An expression: the name of a variable, a constant, or a call
Code = str

# The expressions of a solution's terms, by the variables of the query
Values = Mapping[str, Code]


class Block(NamedTuple):
    """A compound statement: its head, such as `for x in y:`, and the statements in it."""

    head: Code
    body: Sequence[Statement]


# A simple statement and a comment are their text
Statement = str | Block

Statements = list[Statement]

# What is done with a solution that comes or goes, and with how many there are more
Take = Callable[[Values, Code], Statements]

# Names that functions of a module give to what they compute
LOCAL_NAMES = (
    "before body change copies count found graph has_partner key lone named number partner "
    "presence row solution there triple s p o k"
)


def when(condition: Code, body: Sequence[Statement]) -> Statements:
    """Return statements that are executed where a condition holds."""
    return [Block(f"if {condition}:", body)]


def otherwise(body: Sequence[Statement]) -> Block:
    """Return statements that are executed where the condition before them does not hold."""
    return Block("else:", body)


def for_each(target: Code, items: Code, body: Sequence[Statement]) -> Statements:
    """Return statements that are executed for each of some items."""
    return [Block(f"for {target} in {items}:", body)]


def tuple_of(parts: Iterable[Code]) -> Code:
    """Return the expression of a tuple: "(a, b)", "(a,)", "()"."""
    items = list(parts)
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def key_of(parts: Sequence[Code]) -> Code:
    """Return the expression of a key in a dict: of one part that part, else a tuple."""
    return parts[0] if len(parts) == 1 else tuple_of(parts)


def print_statements(statements: Iterable[Statement], depth: int = 0) -> Iterator[str]:
    """Yield the lines of some statements, with an empty line before and after each function."""
    is_function = False
    for statement in statements:
        if isinstance(statement, Block):
            is_function = statement.head.startswith("def ")
            if is_function:
                yield ""
            yield "    " * depth + statement.head
            yield from print_statements(statement.body, depth + 1)
            if all(isinstance(each, str) and each.startswith("#") for each in statement.body):
                yield "    " * (depth + 1) + "pass"
        else:
            if is_function:
                yield ""
            is_function = False
            yield "    " * depth + statement


class Program:
    """A module while it is being written. `scope` are the statements of the function that nodes put
    their state into: `follow`, or in it that of GRAPH; `routes` are those of its graph. With
    `is_fed` basic graph patterns take solutions in place of triples.
    """

    def __init__(self, is_fed: bool = False) -> None:
        self.is_fed = is_fed
        self.given: dict[str, Any] = {}
        self.scope: Statements = []
        self.routes: list[Any] = []
        self.used = set(LOCAL_NAMES.split())
        self.words: dict[str, str] = {}

    def name(self, hint: str) -> str:
        """Return a name that nothing else of the module has: the hint, or one with a number."""
        return self._unused(hint, self.used)

    def local(self, variable: str, others: Collection[Code] = ()) -> Code:
        """Return the local name of a variable of the query, which is none of some others: `v_x` of
        ?x, or a number where the variable's name is no plain word.
        """
        if variable not in self.words:
            is_word = fullmatch(r"\w{1,40}", variable, ASCII)
            self.words[variable] = f"v_{variable}" if is_word else f"h_{len(self.words)}"
        return self._unused(self.words[variable], set(others))

    def locals(self, variables: Iterable[str], others: Collection[Code] = ()) -> dict[str, Code]:
        """Return local names of several variables, which are none of some others."""
        found: dict[str, Code] = {}
        for variable in variables:
            found[variable] = self.local(variable, {*found.values(), *others})
        return found

    def _unused(self, hint: str, used: set[str]) -> str:
        names = (f"{hint}_{number}" if number > 1 else hint for number in count(1))
        name = next(name for name in names if name not in used)
        used.add(name)
        return name

    def give(self, hint: str, value: Any) -> Code:
        """Give the module a value, such as a function. Return its name there."""
        name = self.name(hint)
        self.given[name] = value
        return name

    def call(self, function: Callable[..., Any]) -> Code:
        """Give the module a function or a class of refengine under its own name. Return that."""
        self.given[function.__name__] = function
        return function.__name__

    def keep(self, hint: str, value: Code, comment: str = "") -> Code:
        """Add a variable of the scope's state, with its first value. Return its name."""
        name = self.name(hint)
        self.scope.append(f"{name} = {value}" + (f"  # {one_line(comment)}" if comment else ""))
        return name

    def define(
        self, hint: str, parameters: Iterable[Code], body: Sequence[Statement], comment: str
    ) -> Code:
        """Add a function to the scope, with a comment that says what it does. Return its name."""
        name = self.name(hint)
        head = f"def {name}({', '.join(parameters)}):"
        self.scope.append(Block(head, [f"# {one_line(comment)}", *body]))
        return name

    def shared(self, hint: str, names: Iterable[str], take: Take, comment: str) -> Take:
        """Add a function of solutions with some variables. Return what calls it, for a node that
        passes solutions on at several places, or in a loop.
        """
        own = self.locals(names)
        called = self.define(hint, [*own.values(), "count"], take(own, "count"), comment)

        def call(values: Values, count: Code) -> Statements:
            arguments = [values.get(name, "None") for name in own]
            return [f"{called}({', '.join([*arguments, count])})"]

        return call

    def emitter(self, hint: str, names: Iterable[str], take: Take, comment: str) -> Code:
        """Add a function of a solution, a tuple of terms, and its count. Return its name, for an
        object that emits solutions.
        """
        own = self.locals(names)
        unpack = [f"{tuple_of(own.values())} = solution"] if own else []
        body = [*unpack, *take(own, "count")]
        return self.define(hint, ["solution", "count"], body, comment)

    @contextmanager
    def within(self, hint: str, parameters: Sequence[Code], comment: str) -> Iterator[Code]:
        """Put what is written within into a function of its own. It is added at the end."""
        name = self.name(hint)
        before = self.scope, self.routes
        self.scope, self.routes = [f"# {one_line(comment)}"], []
        yield name
        block = Block(f"def {name}({', '.join(parameters)}):", self.scope)
        self.scope, self.routes = before
        self.scope.append(block)

    def source(self, comments: Iterable[str] = ()) -> str:
        """Return the module's text."""
        given = ", ".join(sorted(self.given))
        head = [f"# {one_line(line, 200)}" for line in [*comments, f"Given: {given or 'nothing'}"]]
        lines = print_statements([*head, Block("def follow(change, body):", self.scope)])
        return "\n".join(lines) + "\n"

    def load(self, text: str) -> Callable[..., None]:
        """Execute the module's text, and return its function `follow`."""
        place = f"<compiled query {id(self)}>"
        module = dict(self.given)
        exec(compile(text, place, "exec"), module)
        follow: Callable[..., None] = module["follow"]
        return follow


def one_line(text: str, most: int = 90) -> str:
    """Return a text in printable ASCII on one line, cut where it is long."""
    shown = sub(r"[^ -~]+", " ", text)
    return shown if len(shown) <= most else shown[: most - 3] + "..."


def show(part: Any) -> str:
    """Return how a term, a variable, a triple pattern or an expression is shown in comments."""
    match part:
        case Variable(name):
            return f"?{name}"
        case TriplePattern():
            return " ".join(map(show, part))
        case Call(name, (left, right)) if not name[:1].isalpha():
            return f"{show(left)} {name} {show(right)}"
        case Call(name, arguments):
            return f"{name}({', '.join(map(show, arguments))})"
        case _:
            return f":{word}" if (word := word_of(part)) else str(part)


def word_of(term: object) -> str:
    """Return the last word of an IRI, such as "result" of <http://example.org/ns#result>; an empty
    text for anything else.
    """
    found = fullmatch(r"<(?:.*\W)?([A-Za-z]\w{0,39})>", str(term), ASCII)
    return found[1] if found else ""
