"""The errors of the engine. One base; each message starts with the rule that was broken.

Every error renders as one line, `PLACE: RULE: reason`, and carries the exit code of the command
line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from refengine.model.messages import plain

if TYPE_CHECKING:
    from refengine.model.elements import Relation

P = ParamSpec("P")
T = TypeVar("T")


class RefengineError(Exception):
    """Base of all errors. `place` says where (file:line, element, query),
    `rule` which SPEC rule.
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
        """Return how another process makes the same error: with all that was added to it."""
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
    """MOD-1, IO-1, IO-2: a stream or a recording that is none."""


class InvalidQuery(RefengineError):
    """QRY-1: a query text or table that cannot be read."""


class InvalidWindow(RefengineError):
    """WIN-1: a window without extent."""


class InvalidSemantics(RefengineError):
    """SEM-1, SEM-2: an unknown key or value, or values that contradict each other."""


class UnknownField(RefengineError):
    """SEM-3: an evaluation was asked of a profile that leaves a field open."""


class Refused(RefengineError):
    """QRY-2: the query would reach the network or the disk."""


class TooManyReports(RefengineError):
    """ENG-3: there are more reports than the caller's bound."""


class Unsupported(RefengineError):
    """No single answer is defined, or it is out of reach: never a guess."""

    exit_code = 3


class NoSingleAnswer(Unsupported):
    """QRY-3: at this value conforming evaluators of SPARQL may answer differently."""

    def __init__(self, reason: str, *, rule: str = "QRY-3", place: str = "body"):
        super().__init__(reason, rule=rule, place=place)


class Disputed(RefengineError):
    """R2R-5: no witness confirms the definition's answer; `answers` maps the definition and each
    witness to its relation.
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
    """Return a value that may be None in general; whoever asks has made sure that it is not."""
    if value is None:
        raise AssertionError("a value is needed here")
    return value


def refuse_deep_nesting(function: Callable[P, T]) -> Callable[P, T]:
    """Wrap a function of a body: one that is nested too deeply for Python is `Unsupported`.

    Whether such a body is valid is not known, so no other error would do.
    """

    @wraps(function)
    def refusing(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except RecursionError:
            raise Unsupported("nested too deeply", rule="QRY-1", place="body") from None

    return refusing
