"""Gracious mode and the steps of YABench's code, which go from one answer to the next by the rows
that come and go: they give what whole answers give.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import permutations, product
from random import Random

import pytest
from conftest import draws
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.bench.metrics import yabench_code
from conformance.bench.metrics.row_pairs import RowPairs
from conformance.bench.metrics.run import Reading, of_run
from conformance.bench.metrics.yabench import (
    EngineOutput,
    ExpectedAnswers,
    Reach,
    ShiftedWindow,
    gracious,
    score,
)
from conformance.bench.metrics.yabench_code import Step, steps_code
from refengine import Mode, evaluate, from_table, literal, profile, row, stream
from refengine.core.question import Question
from refengine.core.values import Closure
from refengine.core.window import borders
from refengine.model import compare
from refengine.model.elements import XSD, Bag, Row
from refengine.model.row_groups import RowGroups

# Each of the first four is near to those beside it, and not to those further away: nearness is not
# transitive. NaN is near to NaN alone.
NUMBERS = ["1", "1.0000006", "1.0000012", "1.0000018", "NaN"]
ROWS = [row({"x": literal(number, XSD + "float")}) for number in NUMBERS]
ROWS += [row({"x": literal("1", XSD + "integer")}), row({"x": "<urn:a>"}), row({"x": "_:a"})]
ROWS += [row({"x": "_:b"}), row({})]
lines = st.sampled_from(ROWS)
bags = st.lists(lines, max_size=6).map(Counter)


@given(st.lists(bags, min_size=1, max_size=4), bags, st.sampled_from(Mode))
@settings(max_examples=draws(200))
def test_pairs_of_rows_that_change_are_those_of_whole_bags(
    answers: list[Bag], fixed_rows: Bag, mode: Mode
) -> None:
    paired = RowPairs(fixed_rows, mode)
    before: Bag = Counter()
    for now in answers:
        paired.change((now - before).elements(), (before - now).elements())
        before = now
        _, extra = compare.difference(now, fixed_rows, mode)
        assert paired.count() == fixed_rows.total() - extra.total()
        assert paired.changing_rows.total == now.total()


@given(bags, bags, st.lists(lines, max_size=4), st.sampled_from(Mode))
@settings(max_examples=draws(200))
def test_rows_without_an_equal_are_those_that_have_no_position(
    before: Bag, now: Bag, wanted: list[Row], mode: Mode
) -> None:
    rows = RowGroups(before.elements(), mode)
    rows.change((now - before).elements(), (before - now).elements())
    positions = compare.find_positions_of_equal_rows(list(now), wanted, mode)
    assert rows.select_without_equal(wanted) == [line for line in wanted if not positions[line]]


def shift_by_definition(
    window: tuple[int, int],
    closure: Closure,
    expects: ExpectedAnswers,
    actual: Bag,
    most: int,
    mode: Mode,
) -> ShiftedWindow:
    """Gracious mode as docs/benchmarks.md defines it: each window is compared as a whole."""
    low, high = borders(closure)
    first, last = window[0] + low, window[1] + high
    time = window[1] - window[0]
    tried = {}
    starts = [first, *(t + d for t in expects.instants for d in (0, 1))]
    ends = [last, *(t + d for t in expects.instants for d in (0, -1))]
    for start, end in product(starts, ends):
        left, right = abs(start - first), abs(end - last)
        overlaps = start <= end and start <= last and end >= first
        if left > time or right > time or not overlaps:
            continue
        content = tuple(t for t in expects.instants if start <= t <= end)
        key = (left + right, left, start, end)
        tried[content] = min(key, tried.get(content, key))
    plain = score(expects.answer(first, last), actual, mode)
    best = ShiftedWindow(plain, window)
    for *_, start, end in sorted(tried.values())[:most]:
        found = score(expects.answer(start, end), actual, mode)
        is_no_worse = found.precision >= plain.precision and found.recall >= plain.recall
        if is_no_worse and sum(found) > sum(best.score):
            best = ShiftedWindow(found, (start - low, end - high))
    return best


def draw_answers(random: Random) -> ExpectedAnswers:
    """Return answers over a drawn stream: a row for each element, and one more for every two that
    are next to each other.
    """
    instants = sorted({random.randrange(14) for _ in range(8)})
    of_element = {t: random.choice(ROWS) for t in instants}
    of_pair = {t: random.choice(ROWS) for t in instants}

    def answer(first: int, last: int) -> Bag:
        held = [t for t in instants if first <= t <= last]
        return Counter([of_element[t] for t in held] + [of_pair[t] for t in held[1:]])

    return ExpectedAnswers(instants, answer)


@pytest.mark.parametrize("seed", range(draws(60)))
def test_gracious_mode_is_its_definition(seed: int) -> None:
    random = Random(seed)
    expects = draw_answers(random)
    for _ in range(4):
        opens = random.randrange(8)
        closure = random.choice(list(Closure))
        least = 2 if closure is Closure.OPEN else 1  # QRY-5
        window = (opens, opens + random.randrange(least, 6))
        low, high = borders(closure)
        actual = expects.answer(
            window[0] + random.randrange(-2, 3), window[1] + random.randrange(3)
        )
        actual.update(random.choices(ROWS, k=random.randrange(3)))
        mode = random.choice(list(Mode))
        most = random.choice((3, 1000))
        expected = expects.answer(window[0] + low, window[1] + high)
        found = gracious(window, closure, expects, expected, actual, Reach(windows=most), mode)
        assert found == shift_by_definition(window, closure, expects, actual, most, mode)


def test_an_answer_with_blank_nodes_is_compared_as_a_whole() -> None:
    """The engine calls the node of instant 1 `_:b`. It is the same node in [1, 1] alone (CMP-4)."""

    def answer(first: int, last: int) -> Bag:
        rows = {1: row({"x": "_:a"}), 2: row({"x": "<urn:a>"})}
        return Counter(rows[t] for t in rows if first <= t <= last)

    actual: Bag = Counter([row({"x": "_:b"})])
    expects = ExpectedAnswers([1, 2], answer)
    assert gracious((1, 2), Closure.CLOSED, expects, answer(1, 2), actual) == ((1, 1), (1, 1))


def steps_by_definition(
    expects: ExpectedAnswers, size: int, slide: int, output: EngineOutput, mode: Mode
) -> Iterator[Step]:
    """Yield the steps of YABench's code (docs/benchmarks.md): each answer is compared whole."""
    relations_left = list(output.rows_with_instants())
    before: Bag = Counter()
    for t in expects.instants:
        opened = next(k for k in range(t + 1) if k * slide + size >= t) * slide
        now = expects.answer(opened, t)
        known = compare.find_positions_of_equal_rows(list(before), list(now), mode)
        due = [line for line in now if not known[line] for _ in range(now[line])]
        if not due or (now.total() == 1 and not any(now)):
            continue
        before = now
        is_found = False
        is_waiting = bool(relations_left)
        if not relations_left:
            yield from (Step(yabench_code.LOST, (opened, t), None, 1, 0) for _ in due)
        while is_waiting and due:  # the next relation is relations_left[0]
            rows, clock = relations_left[0]
            same = [d for d in due if compare.equal(Counter([d]), rows, mode)]
            if rows.total() != 1 or not same:
                yield Step(yabench_code.OTHER, (opened, t), None, 0, rows.total())
                if not is_found:
                    relations_left.pop(0)
                is_waiting = not is_found and bool(relations_left)
                continue
            relations_left.pop(0)
            is_found = True
            [came] = rows
            due.remove(came if came in same else min(same))
            delay = None if clock is None else clock - t
            yield Step(yabench_code.FOUND, (opened, t), delay, 1, 1)
            if due and not relations_left:
                yield from (Step(yabench_code.LOST, (opened, t), None, 1, 0) for _ in due)
                is_waiting = False


@pytest.mark.parametrize("seed", range(draws(60)))
def test_the_steps_of_yabenchs_code_are_their_definition(seed: int) -> None:
    """The steps up to the stream's last instant are those of `steps_by_definition`. After it there
    is a step for each relation that is left, whose rows are due at no instant.
    """
    random = Random(seed)
    expects = draw_answers(random)
    mode = random.choice(list(Mode))
    size = random.randrange(1, 5)
    slide = random.randrange(1, size + 1)
    rows = [line for t in expects.instants for line in sorted(expects.answer(t - 1, t))]
    sent = [Counter([line]) for line in rows if random.random() < 0.8]
    sent.insert(random.randrange(len(sent) + 1), Counter(random.choices(ROWS, k=2)))
    output = EngineOutput(sent, [random.randrange(20) for _ in sent])
    wanted = list(steps_by_definition(expects, size, slide, output, mode))
    found = list(steps_code(expects, size, slide, output, mode=mode))
    assert found[: len(wanted)] == wanted
    assert all(step.score == yabench_code.UNEXPECTED for step in found[len(wanted) :])


FLOATS = ("1.0", "1.0000006", "1.0000012")  # only those side by side are equal (CMP-2)


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_a_row_is_found_as_it_stands_before_one_that_is_nearly_equal(order: Sequence[int]) -> None:
    """Three rows are due at 1, and the engine sends exactly these, in any order."""
    rows = [row({"v": literal(text, XSD + "float")}) for text in FLOATS]
    expects = ExpectedAnswers([1], lambda _, last: Counter(rows if last >= 1 else []))
    output = EngineOutput([Counter([rows[number]]) for number in order])
    steps = list(steps_code(expects, 5, 5, output))
    assert [step.score for step in steps] == [yabench_code.FOUND] * 3


BODIES = (
    "SELECT ?x ?y { ?x <urn:p> ?y }",
    "SELECT ?x ?z { ?x <urn:p> ?y . ?y <urn:p> ?z }",
    "SELECT ?x { ?x <urn:p> ?y . ?x <urn:q> ?z FILTER(?y != ?z) }",
    "SELECT (COUNT(?y) AS ?n) { ?x <urn:p> ?y }",
    "SELECT DISTINCT ?x { ?x <urn:p> ?y }",
)


@pytest.mark.parametrize("seed", range(draws(40)))
def test_measures_are_those_of_answers_by_the_definition(seed: int) -> None:
    """The measures are the same whether the difference of two answers follows from the solutions of
    the stream, or from the two answers.
    """
    random = Random(seed)
    nodes = ["<urn:a>", "<urn:b>", "<urn:c>"]
    triples = list(product(nodes, ["<urn:p>", "<urn:q>"], nodes))
    items = [(triple, random.randrange(25)) for triple in random.sample(triples, 12)]
    size = random.randrange(2, 7)
    slide = random.randrange(1, size + 1)
    window = {"stream": "s", "kind": "time", "size": size, "slide": slide}
    query = from_table({"body": random.choice(BODIES), "windows": [window]})
    question = Question(query, {"s": stream(sorted(items, key=lambda item: item[1]))})
    csparql = profile("csparql")
    for named in (csparql, csparql.but(collection="set"), profile("cqels")):
        setting = question.under(named.but(t0=0).semantics())
        expected = list(evaluate(query, question.streams, setting.semantics))
        sent = [
            Counter(random.sample(rows, len(rows) - random.randrange(min(2, len(rows) + 1))))
            for rows in ([*report.relation.rows.elements()] for report in expected)
        ]
        random.shuffle(sent)
        output = EngineOutput(sent)
        for reading in (Reading.PAPER, Reading.CODE, Reading.CODE_SINGLE_RESULT):
            of_solutions, by_definition = (
                of_run(setting, expected, output, reading=reading, is_incremental=is_incremental)
                for is_incremental in (True, False)
            )
            assert of_solutions == by_definition
