"""A summary in Markdown, for a pull request or a release: engines by outcomes, and what fails."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from conformance.report import texts
from conformance.report.source import Collected
from conformance.verdict.outcomes import Outcome

NOTHING = "\u200b"
LISTED = 100  # fails and errors of each kind


def markdown(found: Collected) -> Iterator[str]:
    """The lines of the summary."""
    names = sorted({entry.result.engine for entry in found.entries})
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    for entry in found.entries:
        counts[entry.result.engine].update(
            [str(entry.result.outcome), *(["known"] if entry.kind == "known" else [])]
        )
    yield "# Conformance"
    yield ""
    yield f"| engine | {' | '.join(Outcome)} | of these known |"
    yield f"|---|{'---:|' * (len(Outcome) + 1)}"
    for name in names:
        yield (
            f"| {safe(name)} | "
            f"{' | '.join(str(counts[name][outcome]) for outcome in [*Outcome, 'known'])} |"
        )
    for title, kinds in (
        ("Fails and errors that no known deviation explains", ("fail", "error")),
        ("Known to fail", ("known",)),
    ):
        failed = [entry for entry in found.entries if entry.kind in kinds]
        if failed:
            yield from (
                "",
                f"## {title} ({len(failed)})",
                "",
                "| engine | case | outcome | why |",
                "|---|---|---|---|",
            )
        for entry in failed[:LISTED]:
            result = entry.result
            why = "; ".join(reason for reason, _ in result.known) or texts.first_line(
                result.argument
            )
            yield (
                f"| {safe(result.engine)} | {safe(result.case)} | {result.outcome} | "
                f"{safe(why, texts.FIRST)} |"
            )
        if len(failed) > LISTED:
            yield f"\n… {len(failed) - LISTED} more"
    if warnings := list(found.warnings):
        yield from ("", "## Notes", "", *(f"- {safe(line, 400)}" for line in warnings))


def safe(text: str, most: int = texts.NAME) -> str:
    """A text that Markdown shows as it stands, in a table too, and at the beginning of a line. An
    empty space (U+200B) parts what GitHub would follow, entities read: `@name`, `#1`, `GH-1`,
    `https://…`, `www.…`.
    """
    parted = re.sub(
        r"(?<=@)|(?<=#)(?=[0-9])|(?<=\bGH-)(?=[0-9])|(?<=:)(?=//)|(?<=\bwww)(?=\.)",
        NOTHING,
        texts.clean(text, most).strip(),
        flags=re.IGNORECASE,
    )
    parted = re.sub(r"^(?=[#=-]|[0-9]+[.)])", NOTHING, parted)
    plain = (
        parted.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
    )
    return re.sub(r"([\\`*_{}\[\]()+!|~$])", r"\\\1", plain).replace(NOTHING, "&#8203;")
