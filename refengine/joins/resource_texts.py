"""§14 Resources as text: `clock+gc`, `clock-exp:0.25`, `fifo+shed-rate:100/1000`.

A text is a policy, and after each `+` what is added to it: `gc`, `only:STREAM`, or load shedding.
Parameters come after colons, such as `clock:w0=2:threshold=at-or-below`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

from refengine.joins.bounded_join import Resources
from refengine.joins.policies import (
    TAU_OF_EXPONENTIAL,
    ArrivalCredit,
    Clock,
    Decay,
    Fifo,
    Lru,
    Pointer,
    Policy,
    Random,
    Threshold,
)
from refengine.joins.shedding import (
    NoShedding,
    RandomShedding,
    RateShedding,
    SemanticShedding,
    Shedding,
)
from refengine.model.errors import RefengineError
from refengine.model.messages import display, nearest

POLICIES = ("clock", "clock-exp", "lru", "fifo", "random")
ADDITIONS = ("gc", "only", "shed-random", "shed-rate", "shed-semantics")
# key of clock and clock-exp -> the field that it replaces, and how its value is read
CLOCK_KEYS: dict[str, tuple[str, Any]] = {
    "amount": ("amount", float),
    "w0": ("start_score", float),
    "tau": ("tau", float),
    "threshold": ("threshold", Threshold),
    "pointer": ("pointer", Pointer),
    "credit": ("credit", ArrivalCredit),
    "most": ("most_score", float),
}


def parse_resources(text: str, memory: int | None, seed: int = 0) -> Resources:
    """Return what a join may use, from a text and the number of bindings. `seed` is that of all
    that is drawn and has no seed in the text. Raises RefengineError, which names the nearest valid
    word.

    >>> parse_resources("lru+gc", 100)
    Resources(memory=100, policy=Lru(), collects=True, shedding=NoShedding(), only=frozenset())
    >>> [parse_resources(text, 100, seed=3).policy for text in ("random", "random:7")]
    [Random(seed=3), Random(seed=7)]
    >>> parse_resources("lru+gcc", 100)
    Traceback (most recent call last):
    refengine.model.errors.RefengineError: policy 'lru+gcc': BND-3: unknown addition 'gcc'; did \
you mean 'gc'?
    """
    try:
        first, *additions = text.split("+")
        resources = Resources(memory, _policy(*_split(first), seed))
        for word in additions:
            resources = _add(resources, *_split(word), seed)
    except RefengineError as error:
        raise error.at(f"policy {display(text)}") from None
    return resources


def _split(word: str) -> tuple[str, list[str]]:
    """Return the name and the parameters of `name:a:b`."""
    name, *parameters = word.split(":")
    return name, parameters


def _policy(name: str, parameters: list[str], seed: int) -> Policy:
    """Return the policy of a name and its parameters; `seed` if these have none."""
    match name, parameters:
        case "clock", _:
            return _clock(parameters, {})
        case "clock-exp", [rho, *others]:
            return _clock(others, _exponential(_number(rho)))
        case "clock-exp", []:
            _fail("clock-exp needs its factor, such as clock-exp:0.25")
        case "lru", []:
            return Lru()
        case "fifo", []:
            return Fifo()
        case "random", []:
            return Random(seed)
        case "random", [own_seed]:
            return Random(_whole(own_seed))
        case _, _ if name not in POLICIES:
            _fail(f"unknown policy {display(name)}{nearest(name, POLICIES)}")
        case _:
            _fail(f"{name} has no parameters {':'.join(parameters)}")


def _clock(parameters: list[str], base: dict[str, Any]) -> Clock:
    """Return CLOCK with the fields of `base`, and those that parameters give as `key=value`."""
    keys = {key: one for key, one in CLOCK_KEYS.items() if one[0] != "amount" or not base}
    fields: dict[str, Any] = {}
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key not in keys:
            _fail(f"unknown key {display(key)} of clock{nearest(key, list(keys))}")
        field, read = keys[key]
        if field in fields:
            _fail(f"{key} is given twice; write it once")
        try:
            fields[field] = read(value)
        except ValueError:
            choice = "a number" if read is float else ", ".join(read)
            _fail(f"{key} must be {choice}, got {display(value)}")
    return Clock(**{**base, **fields})


def _exponential(rho: float) -> dict[str, Any]:
    """Return the fields of CLOCK_exp, as yet unchecked, since other keys may change them."""
    return {"decay": Decay.EXPONENTIAL, "amount": rho, "tau": TAU_OF_EXPONENTIAL}


def _add(resources: Resources, name: str, parameters: list[str], seed: int) -> Resources:
    """Return resources with an addition."""
    if name == "gc" and not parameters:
        return replace(resources, collects=True)
    if name == "only" and any(parameters):
        return replace(resources, only=frozenset([":".join(parameters)]) | resources.only)
    if name == "only":
        _fail("only needs the name of a stream, such as only:guide")
    if name not in ADDITIONS:
        _fail(f"unknown addition {display(name)}{nearest(name, ADDITIONS)}")
    if not isinstance(resources.shedding, NoShedding):
        _fail("load is shed in one way; write one shed-… alone")
    return replace(resources, shedding=_shedding(name, parameters, seed))


def _shedding(name: str, parameters: list[str], seed: int) -> Shedding:
    """Return the load shedding of a name and its parameters; `seed` if these have none."""
    match name, parameters:
        case "shed-random", [share]:
            return RandomShedding(_number(share), seed)
        case "shed-random", [share, own_seed]:
            return RandomShedding(_number(share), _whole(own_seed))
        case "shed-rate" | "shed-semantics", [pair] if pair.count("/") == 1:
            limit, period = map(_whole, pair.split("/"))
            kind = RateShedding if name == "shed-rate" else SemanticShedding
            return kind(limit, period)
        case "shed-random", _:
            _fail("shed-random needs the share that is kept, such as shed-random:0.5")
        case "gc", _:
            _fail("gc has no parameters")
        case _:
            _fail(f"{name} needs a limit and a period, such as {name}:100/1000")


def _number(text: str) -> float:
    """Return a finite number from its text."""
    try:
        number = float(text)
    except ValueError:
        _fail(f"expected a number, got {display(text)}")
    if number != number or abs(number) == float("inf"):
        _fail(f"expected a number, got {display(text)}")
    return number


def _whole(text: str) -> int:
    """Return a whole number >= 0 from its text."""
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        _fail(f"expected a whole number, got {display(text)}")
    return int(text)


def _fail(reason: str) -> NoReturn:
    """Raise the error of a text that names no resources."""
    raise RefengineError(reason, rule="BND-3")
