"""The oracle (docs/judging.md §11): whether a semantics can give a recorded output, and if not,
where the two part and what would explain it.

A profile says what is known of an engine. It leaves fields of the semantics open, and nobody
records t0, the order in which simultaneous elements arrived, or how many outputs came before the
recording began. A verdict has to hold whatever all these were. Our analysis goes like this:

1. `assignments.every_trial` tries the complete semantics that the profile allows, one after the
   other. Where t0 is open, `beginnings` says with which values an engine may have begun. Each trial
   runs with a t0 that remembers how far it could move (`t0_classes`): it stands for all values up
   to there.
2. `attempts.attempt` evaluates the query under one of them, report by report. `trial.advance` holds
   each report against the recording, and keeps every way to explain the relations so far: outputs
   missing before the first relation, consecutive relations matched, outputs missing after the last.
3. `orders.search_orders` does this for all arrival orders at once, where the order was not recorded
   and `orders.order_matters`.
4. The first assignment that explains all relations makes the verdict a pass, if rdflib or
   pyoxigraph confirms the answers that the verdict rests on (`confirmation.confirm`). If neither
   does, the next assignment is tried. If none makes a pass so, the verdict is `Disputed`.
5. If no assignment explains them, the verdict is a fail. `alignment.nearest_trial` sets the reports
   of each assignment beside the relations, with each value of t0 for which it stands, and chooses
   the one with the fewest differing rows. `divergence.find_divergence` says at which relation the
   two part first, and `divergence.find_border_rows` which rows came one window early or late.
6. `confirmation.confirm_fail` has the answers confirmed that the fail rests on. Contents that
   overlap are confirmed together (`overlaps`).
7. `judge.judge` returns all this as a `judge.Judgement`.
8. Whoever shows a fail asks for its causes: `explanations.find_explanations` for changes of the
   profile that make the recording right, `divergence.find_unreachable_row` for a row that no window
   can give.

All steps share one `answers.SharedAnswers`, so that no answer is computed twice.

Imports `model`, `sparql`, `core` and `incremental`. Begin with `judge.judge`, then `trial`, which
has what is judged and how outputs match it.
"""
