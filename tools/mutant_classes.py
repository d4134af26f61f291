"""Tell by its change alone that a mutant is one which no input tells apart from the code.

`class_of` compares the two functions as syntax trees. A class must be provable from the change, or
from one sentence in docs/mutation.md, which explains each. When in doubt, a mutant is in none.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

STRICT = "zip without strict"
WORDS = "words of an error"
CAST = "type of a cast"
UNREACHABLE = "unreachable branch"
END = "branch that does nothing at the end"
ASSERTION = "weaker assertion"
CLASSES = (STRICT, WORDS, CAST, UNREACHABLE, END, ASSERTION)

# The errors that are also made without `raise` before them. Their first argument is the reason.
ERRORS = frozenset({"Disputed", "NotCovered", "Unsupported", "InvalidQuery", "InvalidSemantics"})
# Where a reason is put into words before its error is raised.
REASON = "reason"


class Pair(NamedTuple):
    """A node of the original, and the one that stands in its place in the mutant."""

    original: ast.AST
    mutant: ast.AST


def class_of(original: ast.FunctionDef, mutant: ast.FunctionDef) -> str | None:
    """Return the class of the change from a function to a mutant of it; None if it is in none.

    >>> texts = ["def f(): return zip(a, strict=True)", "def f(): return zip(a)"]
    >>> class_of(*(ast.parse(text).body[0] for text in texts))
    'zip without strict'
    """
    path = path_to_change(Pair(original, mutant))
    if not path:
        return None
    if any(_loses_strict(pair) for pair in path):
        return STRICT
    if any(_changes_cast(pair) for pair in path):
        return CAST
    if _changes_words(path):
        return WORDS
    if _is_unreachable(path):
        return UNREACHABLE
    if _does_nothing_at_end(path, original):
        return END
    if _weakens_assertion(path):
        return ASSERTION
    return None


def path_to_change(pair: Pair) -> list[Pair]:
    """Return the pairs of nodes from the functions down to the one node that is changed. The list
    is empty if nothing is.
    """
    if ast.dump(pair.original) == ast.dump(pair.mutant):
        return []
    ours = list(ast.iter_child_nodes(pair.original))
    theirs = list(ast.iter_child_nodes(pair.mutant))
    is_same_kind = type(pair.original) is type(pair.mutant) and len(ours) == len(theirs)
    if not is_same_kind:
        return [pair]
    below = [found for each in map(Pair, ours, theirs) if (found := path_to_change(each))]
    if len(below) != 1:
        return [pair]
    return [pair, *below[0]]


def name_of_call(node: ast.AST) -> str:
    """Return the name of the function that a node calls; the empty text if it is no such call."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id
    return ""


def _loses_strict(pair: Pair) -> bool:
    """Return whether `zip` no longer compares lengths, and takes the same arguments else."""
    if not name_of_call(pair.original) == name_of_call(pair.mutant) == "zip":
        return False
    zipped = []
    is_strict = []
    for call in pair:
        assert isinstance(call, ast.Call)
        keywords = {each.arg: ast.dump(each.value) for each in call.keywords}
        is_strict.append(keywords.pop("strict", None) == ast.dump(ast.Constant(True)))
        zipped.append((keywords, [ast.dump(each) for each in call.args]))
    return zipped[0] == zipped[1] and not is_strict[1]


def _changes_cast(pair: Pair) -> bool:
    """Return whether two casts give the same value. The first argument, a type, is not read."""
    if not name_of_call(pair.original) == name_of_call(pair.mutant) == "cast":
        return False
    values = [call.args[1:] for call in pair if isinstance(call, ast.Call)]
    return [*map(ast.dump, values[0])] == [*map(ast.dump, values[1])] and len(values[0]) == 1


def _changes_words(path: list[Pair]) -> bool:
    """Return whether nothing but letters of a text are changed, and the text is what an error says:
    the first argument of an error, or what is assigned to `reason`.
    """
    if not _changes_letters(path[-1]):
        return False

    place = len(path) - 1
    while isinstance(path[place - 1].original, ast.JoinedStr):  # part of an f-string
        place -= 1
    text = path[place].original
    parent = path[place - 1].original
    if isinstance(parent, ast.Assign):
        (target,) = parent.targets
        return isinstance(target, ast.Name) and target.id == REASON
    is_raised = isinstance(path[place - 2].original, ast.Raise)
    if not isinstance(parent, ast.Call) or not (is_raised or name_of_call(parent) in ERRORS):
        return False
    return parent.args[:1] == [text]


def _changes_letters(pair: Pair) -> bool:
    """Return whether both are texts, and the mutant is the original but for its letters."""
    texts = [one.value for one in pair if isinstance(one, ast.Constant)]
    words = [text for text in texts if isinstance(text, str)]
    if len(words) < 2 or "XX" in words[0]:
        return False
    return is_same_text(*words)


def is_same_text(text: str, other: str) -> bool:
    """Return whether a text is another one but for the case of its letters, or for the XX that
    mutmut writes around it.
    """
    return other.replace("XX", "").casefold() == text.casefold()


def _is_unreachable(path: list[Pair]) -> bool:
    """Return whether the change is in what an AssertionError says, or takes a branch away that only
    raises one: such a branch is never reached.
    """
    if any(_raises_assertion(pair.original) and _raises_assertion(pair.mutant) for pair in path):
        return True
    missing = missing_case(path[-1])
    return missing is not None and len(missing.body) == 1 and _raises_assertion(missing.body[0])


def _raises_assertion(node: ast.AST) -> bool:
    if isinstance(node, ast.Raise) and node.exc is not None:
        return name_of_call(node.exc) == "AssertionError"
    return isinstance(node, ast.Expr) and name_of_call(node.value) == "assert_never"


def missing_case(pair: Pair) -> ast.match_case | None:
    """Return the branch of a `match` that the mutant lacks; None if the change is another."""
    original, mutant = pair
    if not isinstance(original, ast.Match) or not isinstance(mutant, ast.Match):
        return None
    left = [ast.dump(case) for case in mutant.cases]
    for number, case in enumerate(original.cases):
        others = original.cases[:number] + original.cases[number + 1 :]
        if [ast.dump(other) for other in others] == left:
            return case
    return None


def _does_nothing_at_end(path: list[Pair], function: ast.FunctionDef) -> bool:
    """Return whether the last branch of a `match` is taken away that does nothing or returns None,
    and the `match` is the last statement of its function.
    """
    missing = missing_case(path[-1])
    match = path[-1].original
    if missing is None or function.body[-1] is not match:
        return False
    assert isinstance(match, ast.Match)
    if missing is not match.cases[-1] or len(missing.body) != 1:
        return False
    done = missing.body[0]
    if isinstance(done, ast.Return):
        return done.value is None or ast.dump(done.value) == ast.dump(ast.Constant(None))
    return isinstance(done, ast.Pass)


def _weakens_assertion(path: list[Pair]) -> bool:
    """Return whether an assertion of several parts becomes one of any of them."""
    if len(path) < 3 or not isinstance(path[-3].original, ast.Assert):
        return False
    return isinstance(path[-1].original, ast.And) and isinstance(path[-1].mutant, ast.Or)
