"""YABench's measures under window close, written out from its definitions alone: nothing of this
project is imported.

An observation is (time, station, degrees), a row (station, time, degrees) of an observation above
50 degrees. Window k, from 1, is from max(0, k·slide − size) to k·slide (WindowFactory); the paper's
lacks its end, the code's has it. It is held against the k-th relation of the engine. TP are the
rows that are found when each that is found is taken out of the answer (FMeasure).
"""

from __future__ import annotations

LIMIT = 50.0


def expected_rows(observations, start, end, both_borders):
    rows = []
    for time, station, degrees in observations:
        if time < start or time > end:
            continue

        if time == end and not both_borders:
            continue

        if degrees > LIMIT:
            rows.append((station, time, degrees))
    return rows


def true_positives(expected, actual):
    left = list(actual)
    found = 0
    for row in expected:
        if row in left:
            left.remove(row)
            found += 1
    return found


def scores(expected, actual):
    if not expected and not actual:
        return 1.0, 1.0

    found = true_positives(expected, actual)
    precision = found / len(actual) if actual else 0.0
    recall = found / len(expected) if expected else 0.0
    return precision, recall


def measure_window(observations, k, size, slide, relation, clock, both_borders):
    end = k * slide
    start = max(0, end - size)
    expected = expected_rows(observations, start, end, both_borders)
    precision, recall = scores(expected, relation)
    return {
        "precision": precision,
        "recall": recall,
        "expected": len(expected),
        "actual": len(relation),
        "delay": None if clock is None else clock - end,
    }


def as_the_paper(observations, size, slide, windows, relations, clocks):
    """Measure every window; one that no relation came for was answered by nothing."""
    found = []
    for k in range(1, windows + 1):
        relation = relations[k - 1] if k <= len(relations) else []
        clock = clocks[k - 1] if k <= len(clocks) else None
        found.append(
            measure_window(observations, k, size, slide, relation, clock, both_borders=False)
        )

    for relation in relations[windows:]:
        precision, recall = scores([], relation)
        found.append(
            {
                "precision": precision,
                "recall": recall,
                "expected": 0,
                "actual": len(relation),
                "delay": None,
            }
        )
    return found


def as_the_code(observations, size, slide, windows, relations, clocks):
    """Measure the windows that a relation came for. Beyond the last window the code ends with an
    exception.
    """
    found = []
    for k in range(1, windows + 1):
        if k > len(relations):
            break
        found.append(
            measure_window(
                observations, k, size, slide, relations[k - 1], clocks[k - 1], both_borders=True
            )
        )
    return found
