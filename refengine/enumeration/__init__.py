"""SPEC.md in code, by enumeration: when a query is reported, and over which elements.

Every window and every instant is looked at, one after the other, and an instant is in a window if
a comparison with the window's borders says so. Nothing is skipped, so this serves small streams
alone. `refengine.core.engine`, the engine, must give the same reports over the same streams. Tests
compare the two on drawn queries, streams and semantics.

An example: windows of 10 from 0 on, with elements at 3 and 10. The element at 10 closes [0, 10),
whose last instant is 9. Then time goes on to a horizon (`horizon=flush`), which closes [10, 20). A
line has the instant of an evaluation, the index of the arrival that triggers it, the borders of the
window, and the indices of the elements that it holds. An index counts from 0; SPEC.md counts the
arrivals e_k from 1.

>>> from refengine import profile, stream
>>> from refengine.core.query import Window, WindowKind
>>> tumbling = Window("s", WindowKind.TIME, size=10, slide=10)
>>> triple = ("<urn:a>", "<urn:p>", "<urn:o>")
>>> elements = stream([(triple, 3), (triple, 10)]).elements
>>> semantics = profile("csparql").but(t0=0).semantics()
>>> for report in Enumeration([tumbling], {"s": elements}, semantics).reports():
...     print(report.t, report.arrival, report.windows[0].borders, report.windows[0].content)
9 1 (0, 10) (0,)
19 2 (10, 20) (1,)

Read it beside SPEC.md, which shows each function at the first rule that its docstring
names. A module has a chapter of SPEC.md, and its class extends that of the chapter before:

- `inputs`: what is given, and what the rules look up;
- `elements` (§1), `windows` (§4), `ticks` (§5), `reports` (§6);
- `datasets` (§7: R2R-8 and R2R-9; R2R-1 is in `reports`, which compares triples), `relations` (§8);
- `firings` (§16), reports of every window;
- `evaluation` (§9), and `keys` (§16) with the whole, `Enumeration`;
- `matches` (R2R-22), apart from the others: the matches of triple patterns whose elements are
  consumed. `Enumeration` does not read the field `consumption`.

What is left out:

- what a body answers, which the SPARQL evaluator says (`refengine.sparql`); `Enumeration.emitted`
  takes a function instead;
- errors: what the engine refuses (MOD-1, MOD-2, SEM-2, QRY-4, QRY-5, ENG-1, WIN-15) must not be in
  the input;
- other ways to the same reports (WIN-9, ENG-2, ENG-6 to ENG-8), and the bound on reports (ENG-3).

Imports `model`, and of `core` the data types of queries and semantics. Begin with `windows`.
"""

from refengine.enumeration.keys import Enumeration as Enumeration
