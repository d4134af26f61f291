"""The engine in tests/defective_engine: its file, its defects, what a right diagnosis says of each,
and pairs of defects.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "tests" / "defective_engine"
PROFILES = {"close": "csparql", "change": "cqels"}  # that the engine claims, by its --report

FILE = """\
title = "Defective engine"
command = ["node", "{program}", "--report", "{report}"{words}]
commands = ["node"]
dialect = "table"
semantics = {{ profile = "{profile}", t0 = 0 }}
capabilities = {{ kinds = ["time"], forms = ["SELECT"] }}
"""


@dataclass(frozen=True, eq=False)
class Defect:
    """A defect of the engine. `causes` are the words by which a diagnosis names it rightly, by the
    engine's --report: a field with its value, or the name of a wrong engine that does the same. No
    field and no wrong engine does what a defect without causes does. The engine with a --report
    that is not among the keys shows nothing of it.
    """

    name: str
    causes: dict[str, tuple[str, ...]]

    @property
    def kind(self) -> str:
        """The part of the engine that is defective: closure, tick, t0 and so on."""
        return self.name.partition("-")[0]


def both(*causes: str) -> dict[str, tuple[str, ...]]:
    """Return the causes of a defect that the engine shows with each --report."""
    return dict.fromkeys(PROFILES, causes)


# the same where empty outputs are left out
LATE = (
    "the last output never sent, or each one sent an evaluation late (R2S-1)",
    "each output sent one evaluation late, and an empty one first (R2S-1)",
)

DEFECTS = (
    Defect(
        "closure-closed", both("closure=[] (WIN-2)", "WIN-2 both borders belong to every window")
    ),
    Defect("closure-left-open", both("closure=(] (WIN-2)")),
    Defect("closure-open", both("closure=() (WIN-2)", "WIN-2 border elements are lost")),
    Defect("tick-instant", {"change": ("tick=time (TICK-1)", "TICK-1 complete instants only")}),
    Defect("tick-batch", {"change": ("tick=batch (TICK-1)",)}),
    Defect("t0-first", both("t0=first-element (WIN-3)")),
    Defect("t0-reach", both("t0=first-reach (WIN-3)")),
    Defect("t0-three", both("t0=3 (WIN-3)")),
    Defect("slide-size", both("windows that slide by their size (WIN-3)")),
    Defect("slide-ignored", both("slide=ignored (WIN-17)", "WIN-17 the slide is ignored")),
    Defect(
        "r2s-rstream",
        {
            "close": (
                "r2s=Rstream (R2S-2, R2S-3, R2S-6)",
                "R2S-2 every operator is rstream",
                "R2S-6 the text is not asked",
            ),
            "change": ("r2s=Rstream (R2S-2, R2S-3, R2S-6)", "R2S-2 every operator is rstream"),
        },
    ),
    Defect(
        "r2s-istream",
        {
            "close": ("r2s=Istream (R2S-1, R2S-3, R2S-6)", "R2S-1 only news"),
            "change": ("r2s=Istream (R2S-1, R2S-3, R2S-6)", "R2S-6 the text is not asked"),
        },
    ),
    Defect(
        "r2s-swapped",
        {
            "close": ("Istream given as Dstream, and Dstream as Istream (R2S-2, R2S-3)",),
            "change": ("r2s=Dstream (R2S-2, R2S-6)",),
        },
    ),
    Defect(
        "empty-otherwise",
        {
            "close": ("empty=suppress (R2S-5)", "R2S-5 empty is never sent"),
            "change": ("empty=emit (R2S-5)", "R2S-5 empty is always sent"),
        },
    ),
    Defect(
        "border-lost",
        both("WIN-2 border elements are lost", "WIN-2 elements on any border are lost"),
    ),
    Defect("doubled-report", both("each report sent twice (ENG-2)")),
    Defect("doubled-row", both("each row sent twice (R2R-9)")),
    Defect(
        "late-report",
        {
            "close": ("the last output never sent, or each one sent an evaluation late (R2S-1)",),
            "change": LATE,
        },
    ),
    Defect(
        "late-empty",
        {
            "close": ("each output sent one evaluation late, and an empty one first (R2S-1)",),
            # which leaves out empty outputs
            "change": LATE,
        },
    ),
    Defect("late-element", both("WIN-8 an element waits for the next")),
    Defect(
        "latest-element",
        both("WIN-14 a window holds its latest element", "R2R-1 the newest triple"),
    ),
    Defect("latest-row", both("one row sent of each output (R2S-1)")),
    Defect("latest-window", both("missed_instants=latest (REP-10)", "ENG-2 latest of a gap")),
)


def write_engine_file(folder: Path, report: str, defects: Iterable[str] = ()) -> Path:
    """Write the file of the engine with a --report and some defects into a folder, and return its
    path.
    """
    words = "".join(f', "--defect", "{name}"' for name in defects)
    path = folder / "defective.toml"
    program = FOLDER / "engine.mjs"
    path.write_text(
        FILE.format(program=program, report=report, words=words, profile=PROFILES[report])
    )
    return path


def draw_pairs(count: int, seed: int) -> list[tuple[str, Defect, Defect]]:
    """Return drawn pairs of defects of different kinds, each with a --report that shows both."""
    pairs = [
        (report, one, other)
        for report in PROFILES
        for place, one in enumerate(DEFECTS)
        for other in DEFECTS[place + 1 :]
        if one.kind != other.kind and report in one.causes and report in other.causes
    ]
    return random.Random(seed).sample(pairs, count)
