"""The errors of the engine, with one base class. Each message names the rule that was broken.

An error is printed as one line, `PLACE: RULE: reason`, and carries the exit code of the command
line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from refengine.model.messages import plain
from refengine.model.relations import Relation

P = ParamSpec("P")
T = TypeVar("T")


class RefengineError(Exception):
    """The base of all errors. `place` says where something is wrong (file:line, element, query),
    `rule` names the rule of SPEC.md, and `reason` says what is wrong.
    """

    exit_code = 2

    def __init__(self, reason: str, *, rule: str, place: str = ""):
        super().__init__(reason, rule, place)
        self.reason, self.rule, self.place = reason, rule, place

    def __str__(self) -> str:
        text = f"{self.rule}: {self.reason}"
        if self.place:
            text = f"{self.place}: {text}"
        return plain(text)

    def __reduce__(self) -> tuple[Callable[..., RefengineError], tuple[Any, ...]]:
        """Return how another process makes the same error, with everything that was added to it."""
        return _rebuild, (type(self), dict(vars(self)))

    def at(self, place: str) -> RefengineError:
        """Return the same error with an outer place in front (a file, a case)."""
        if self.place:
            place = f"{place}: {self.place}"
        self.place = place
        return self


def _rebuild(kind: type[RefengineError], fields: Mapping[str, object]) -> RefengineError:
    error = kind.__new__(kind)
    vars(error).update(fields)
    return error


class InvalidStream(RefengineError):
    """MOD-1, IO-1, IO-2: A stream or a recording that breaks a rule, or that cannot be read."""


class InvalidQuery(RefengineError):
    """QRY-1: A query text or table that cannot be read."""


class InvalidWindow(RefengineError):
    """WIN-1: A window whose size, slide or other keys do not go with its kind."""


class InvalidSemantics(RefengineError):
    """SEM-1, SEM-2: An unknown key or value, or values that contradict each other."""


class UnknownField(RefengineError):
    """SEM-3: A profile that leaves a field open, where a complete semantics is needed."""


class ForbiddenAccess(RefengineError):
    """QRY-2: A query that would reach the network or the disk."""


class TooManyReports(RefengineError):
    """ENG-3: A run with more reports than the caller's bound."""


class Unsupported(RefengineError):
    """An evaluation that has no single answer, or one that is out of reach. Nothing is guessed."""

    exit_code = 3


class NoSingleAnswer(Unsupported):
    """QRY-3: A value at which conforming evaluators of SPARQL may answer differently."""

    def __init__(self, reason: str, *, rule: str = "QRY-3", place: str = "body"):
        super().__init__(reason, rule=rule, place=place)


class Disputed(RefengineError):
    """R2R-5: An answer of the SPARQL evaluator that no witness confirms. `answers` maps the SPARQL
    evaluator, and each witness that differs, to its relation.
    """

    exit_code = 4

    def __init__(
        self,
        reason: str,
        *,
        rule: str,
        place: str = "",
        answers: Mapping[str, Relation] | None = None,
    ):
        super().__init__(reason, rule=rule, place=place)
        self.answers = answers or {}


def require(value: T | None) -> T:
    """Return a value that is not None. Its type allows None, but the caller knows better;
    AssertionError if it does not.
    """
    if value is None:
        raise AssertionError("a value is needed here")
    return value


def refuse_deep_nesting(function: Callable[P, T]) -> Callable[P, T]:
    """Wrap a function that reads or evaluates a body: if the body is nested too deeply for Python,
    raise Unsupported. Whether such a body is valid is not known, so no other error would be right.
    """

    @wraps(function)
    def refusing(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except RecursionError:
            raise Unsupported("nested too deeply", rule="QRY-1", place="body") from None

    return refusing
