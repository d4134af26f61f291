"""ETALIS with EP-SPARQL behind the protocol: `python etalis.py FOLDER POLICY`, with `swipl`.

FOLDER is a checkout of ETALIS, POLICY its consumption policy (R2R-22). Each triple is an event that
is answered at once, by the matches that it completes. WITHIN bounds the time from a match's first
event to its last (WIN-19): a window of kind `range` without a slide; without WITHIN the window is
unbounded. Patterns are joined by AND, as they are written. A millisecond is a second of the engine.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

from conformance.harness.serving import answer_messages
from refengine import Unsupported, from_table
from refengine.core.query import Query, WindowKind
from refengine.model.elements import Relation, row
from refengine.rdf.lines import triples_of
from refengine.rdf.recordings import relation_to_json
from refengine.sparql.algebra import Basic, Project, Variable

PROGRAM = """
:- leash(-all), visible(-all). % its grammar calls the tracer
query(Text) :- atom_codes(Text, Codes), phrase((skip_ws, select_query(Query)), Codes), !,
    ep_sparql_compile(Query, Rules, _), compile_internal_event_rules(main, Rules).
answer(Goal) :- retractall(stored_event(_)), (once(Goal) -> Done = yes ; Done = no),
    findall(Row, stored_event(event(select_event(Row), _)), Rows),
    nl, write(answer(Done, Rows)), nl, flush_output.
serve :- repeat, read(Goal), (Goal == end_of_file -> halt ; answer(Goal), fail).
:- set_etalis_flag(store_fired_events, on), set_etalis_flag(event_consumption_policy, POLICY).
:- assert(external_trigger(select_event/1)), assert(external_trigger(rdf/3)).
"""
LETTERS = str.maketrans("0123456789", "abcdefghij")
BEGINNING = datetime(5000, 1, 1)  # the engine's time at instant 0: before it there are years, too


def window_of(query: Query) -> str:
    """Return the clause for the windows of a query. Raises Unsupported."""
    sizes = {window.size for window in query.windows}
    kinds = {window.kind for window in query.windows}
    if any(window.slide for window in query.windows):
        raise Unsupported("its windows have no slide", rule="WIN-1", place="windows")
    if any(window.name for window in query.windows) or len(kinds) + len(sizes) > 2:
        raise Unsupported("a query has one window", rule="WIN-1", place="windows")
    return f" WITHIN {query.windows[0].size}" if WindowKind.RANGE in kinds else ""


class Etalis:
    """A Prolog with ETALIS in it, and the query that it answers."""

    def __init__(self, folder: str, policy: str, query: Query) -> None:
        node = query.body.algebra.pattern
        if query.r2s or not (isinstance(node, Project) and isinstance(node.pattern, Basic)):
            reason = "here its queries are triple patterns that are joined, without an operator"
            raise Unsupported(reason, rule="QRY-1", place="body")
        self.names: dict[str, str] = {}
        self.variables = query.body.variables
        self.streams = {window.stream for window in query.windows}
        within = window_of(query)
        patterns = [f"{{ {self.names_of(triple)} }}" for triple in node.pattern.triples]
        chosen = self.names_of(map(Variable, self.variables))
        start = ["swipl", "--traditional", "-q", "-g", "['ep_sparql.P'], [user], serve"]
        place = Path(folder, "etalis", "src", "ep_sparql")
        self.prolog = Popen(start, cwd=place, stdin=PIPE, stdout=PIPE, text=True)
        where = " AND ".join(patterns) + within
        program = PROGRAM.replace("POLICY", policy)
        self.ask(f"{program}end_of_file.\nquery('SELECT {chosen} WHERE {where}')")

    def names_of(self, terms: Iterable[object]) -> str:
        """Return the names that stand for terms and variables, with spaces between."""
        return " ".join(map(self.name, terms))

    def name(self, term: object) -> str:
        """Return the name that stands for a term or a variable, such as `tb` and `?vb`."""
        if not isinstance(term, Variable | str):
            raise Unsupported("it has no property paths", rule="QRY-1", place="body")
        kind = "?v" if isinstance(term, Variable) else "t"
        letters = str(len(self.names)).translate(LETTERS)
        return self.names.setdefault(str(term), kind + letters)

    def ask(self, goal: str) -> list[list[str]]:
        """Ask Prolog for a goal, and return the rows that it brings, as names."""
        assert self.prolog.stdin is not None and self.prolog.stdout is not None
        self.prolog.stdin.write(f"{goal}.\n")
        self.prolog.stdin.flush()
        for line in self.prolog.stdout:
            if found := re.fullmatch(r"answer\((yes|no),\[(.*)\]\)\n", line):
                if found[1] == "no":
                    raise RuntimeError(f"it fails at {goal}")
                return [row.split(",") for row in re.findall(r"\[(.*?)\]", found[2])]
        raise RuntimeError(f"Prolog ended at {goal}")

    def push(self, stream: str, at: int, graph: str, batch: int = 0, end: int | None = None) -> Any:
        """Send the triples of an element as events. Return the report, if there is one."""
        if end not in (None, at):
            raise Unsupported("its events have an instant here", rule="MOD-3", place="end")
        try:
            date = BEGINNING + timedelta(seconds=at)
        except OverflowError:
            raise Unsupported("its times are dates", rule="MOD-1", place="at") from None
        stamp = f"datime({','.join(map(str, date.timetuple()[:6]))},1)"
        rows: Counter[Any] = Counter()
        for terms in sorted(triples_of(graph)):
            goal = f"event(rdf({','.join(map(self.name, terms))}),[{stamp},{stamp}])"
            found = self.ask(goal) if stream in self.streams else []
            term_of = {name: term for term, name in self.names.items()}
            for names in found:
                rows[row(zip(self.variables, map(term_of.__getitem__, names), strict=True))] += 1
        relation = relation_to_json(Relation(self.variables, rows))
        return [{"rows": relation["results"]["bindings"]}] if rows else []


def main(folder: str, policy: str) -> None:
    """Answer messages until `stop`. Each case has an engine of its own."""
    engine: Etalis | None = None

    def carry_out(command: str, fields: dict[str, Any]) -> dict[str, Any]:
        nonlocal engine
        if command == "start":
            return {"protocol": 1, "engine": "etalis", "version": "84d5dc1"}
        if command == "push" and engine:
            return {"relations": engine.push(**fields)}
        if command in ("register", "stop") and engine:
            engine.prolog.communicate()
            engine = None
        if command == "stop":
            return {}
        if command == "register":
            if fields.get("static"):
                raise Unsupported("its static data are Prolog", rule="R2R-8", place="static")
            engine = Etalis(folder, policy, from_table(json.loads(fields["query"])))
        return {"relations": []}

    answer_messages(carry_out, os.fdopen(os.dup(1), "w", encoding="utf-8"))


if __name__ == "__main__":
    main(*sys.argv[1:])
