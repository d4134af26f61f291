"""Which rules are in reach depends on what an engine claims and supports, not on its defects."""

from pathlib import Path

import pytest

from conformance.harness.engine_file import engine
from conformance.harness.pool import Harnesses
from conformance.suite import live_items, questions, summarize_run
from conformance.suite.item import ItemSelection
from conformance.verdict.rules import RuleStatus, RuleVerdict

FOLDER = Path(__file__).parent
# rules that are in reach, rules that are not, one that this engine does not support, one of the
# suite
RULES = {"WIN-2", "WIN-4", "REP-3", "REP-12", "R2R-9", "R2S-2", "TICK-2", "WIN-14", "ORA-9"}
DEFECTS = (
    "lower-border-excluded",
    "first-report-lost",
    "only-first-window-reports",
    "upper-border-included",
    "no-report-at-the-end",
    "rows-as-a-set",
)


def verdicts_with(defect: str, folder: Path) -> dict[str, RuleVerdict]:
    """Return the verdicts on `RULES` for the natural engine with a defect, or without any."""
    written = (FOLDER / "csparql.toml").read_text().replace("{here}", str(FOLDER))
    if defect:
        written = written.replace('"close"]', f'"close", "--defect", "{defect}"]')
    file = folder / "natural.toml"
    file.write_text(written)
    chosen = {case.id for case in questions() if case.rule in RULES}
    items = [one for one in live_items(engine(str(file)), ItemSelection()) if one.case in chosen]
    harnesses = Harnesses()
    try:
        results = [item.run(harnesses) for item in items]
    finally:
        harnesses.stop()
    return {verdict.rule: verdict for verdict in summarize_run(results, items).verdicts}


@pytest.fixture(scope="module")
def of_right_engine(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RuleVerdict]:
    """The verdicts for the engine without a defect."""
    return verdicts_with("", tmp_path_factory.mktemp("right"))


def rules_in_reach(verdicts: dict[str, RuleVerdict]) -> set[str]:
    """Return the rules in reach."""
    return {rule for rule, verdict in verdicts.items() if verdict.is_in_reach}


def test_the_rules_in_reach_of_the_right_engine_hold(
    of_right_engine: dict[str, RuleVerdict],
) -> None:
    """Nothing of it is broken, and no rule of the suite is its own."""
    in_reach = rules_in_reach(of_right_engine)
    assert {"WIN-2", "R2R-9", "R2S-2"} <= in_reach
    assert not {"WIN-14", "ORA-9"} & in_reach
    statuses = {of_right_engine[rule].status for rule in in_reach}
    assert statuses <= {RuleStatus.HOLDS, RuleStatus.NOT_SHOWN}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_leaves_the_rules_in_reach_as_they_are(
    of_right_engine: dict[str, RuleVerdict], defect: str, tmp_path: Path
) -> None:
    """And it makes something fail, or nothing would be shown here."""
    verdicts = verdicts_with(defect, tmp_path)
    assert rules_in_reach(verdicts) == rules_in_reach(of_right_engine)
    assert {rule for rule in verdicts if rule.startswith("ORA-")} == set()
    wrong = {RuleStatus.BROKEN, RuleStatus.UNEXPLAINED}
    assert any(verdict.status in wrong for verdict in verdicts.values())
