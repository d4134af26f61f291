"""Ask a continuous query of a live stream: `python examples/live_push.py`.

Elements are pushed as they come. What no window can need any more is forgotten, so that a stream
may be as long as it likes. `finish` ends it, and gives the last window.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from refengine import Engine, Report, from_table, parse_literal, profile

MINUTE = timedelta(minutes=1)
QUERY = from_table(
    windows=[{"stream": "s", "kind": "time", "size": MINUTE, "slide": MINUTE}],
    body="SELECT ?room (COUNT(?entry) AS ?entries) { ?entry <urn:into> ?room } GROUP BY ?room",
)
START = datetime(2024, 1, 1, tzinfo=UTC)


def main() -> None:
    """Push an entry every ten seconds, and print each report."""
    engine = Engine(QUERY, ["s"], profile("csparql").but(t0=START).semantics())
    for number in range(20):
        entry = (f"<urn:entry{number}>", "<urn:into>", f"<urn:room{number % 2}>")
        print_all(engine.push(entry, START + timedelta(seconds=10 * number)))
    print_all(engine.finish())


def print_all(reports: list[Report]) -> None:
    """Print the windows of some reports, and how many entries each room has in them."""
    for report in reports:
        entries = {room: parse_literal(n).lexical for (_, n), (_, room) in report.relation.rows}
        print(report.window, dict(sorted(entries.items())))


if __name__ == "__main__":
    main()
