"""Certificates of verdicts on cases of the corpus and on CSRBench's fixture, and mutations of them
that change what they say.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from conformance import corpus
from conformance.bench.recordings import csrbench
from conformance.certificates import checker, maker
from conformance.corpus import case_file
from conformance.verdict.outcomes import judge_relations
from refengine import RefengineError, evaluate
from refengine.core.profile import Profile
from refengine.core.profiles import profile
from refengine.core.question import Question
from refengine.core.r2r import defined_answer
from refengine.core.values import Closure
from refengine.oracle.answers import SharedAnswers

FIXTURE = Path(__file__).resolve().parents[1] / "fixtures" / "csrbench"
Document = dict[str, Any]


def certificate_of(
    question: Question, claimed: Profile, relations: list[Any], **options: Any
) -> tuple[str, Document]:
    """The outcome of a judgement, and its certificate."""
    answers = SharedAnswers()
    result = judge_relations(
        question, claimed, relations, answers=answers, is_fail_explained=False, **options
    )
    if result.judgement is None:
        return str(result.outcome), {"not_certified": "no verdict"}
    return str(result.outcome), maker.certificate(result.judgement, claimed, answers)


def of_expectations(case: corpus.Case) -> Iterator[tuple[str, Document]]:
    """The certificate of what the engine reports under each semantics for which a case has
    expectations, with its windows.
    """
    for block in case.table.get("expect", ()):
        question = corpus.question_of(case)
        if "max_reports" in block:
            continue
        claimed = corpus.profile_of(block["semantics"])
        setting = claimed.semantics()
        reports = list(
            evaluate(
                question.query,
                question.streams,
                setting,
                static=question.static,
                answer=defined_answer,
            )
        )
        windows = [report.window for report in reports]
        relations = [report.relation for report in reports]
        yield certificate_of(question, claimed, relations, missing=0, windows=windows)


def of_judgements(case: corpus.Case) -> Iterator[tuple[str, Document]]:
    """The certificate of each recording that a case judges."""
    for block in case.table.get("judge", ()):
        options = {"missing": block["missing"]} if "missing" in block else {}
        if "windows" in block:
            options["windows"] = [tuple(borders) or None for borders in block["windows"]]
        if "window_closure" in block:
            options["window_closure"] = Closure(block["window_closure"])
        try:
            question = corpus.question_of(case)
            recorded = case_file.recording(block, question.query)
            yield certificate_of(question, corpus.profile_of(block["profile"]), recorded, **options)
        except RefengineError:
            continue  # the case is about the error


@cache
def of_fixture() -> dict[str, tuple[str, Document]]:
    """Outcome and certificate of each recording of CSRBench's fixture."""
    found = {}
    for name, files in csrbench.group_by_query(csrbench.answer_files(FIXTURE)).items():
        question = csrbench.question_over(csrbench.query(name), FIXTURE)
        for file in files:
            relations = list(file.recording().relations)
            found[file.name] = certificate_of(question, profile(file.engine), relations)
    return found


def says(document: Document) -> str:
    """What the checker says: `OK …`, `WRONG …` or `not certified …`."""
    try:
        return f"OK {checker.Verdict(document).check()}"
    except checker.Wrong as wrong:
        return f"WRONG {wrong}"
    except checker.NotCertified as reason:
        return f"not certified: {reason}"


def is_refused(document: Document) -> bool:
    """Whether the checker does not certify a document; one that is no certificate may raise."""
    try:
        return not says(document).startswith("OK")
    except (KeyError, TypeError, IndexError, ValueError, AttributeError, AssertionError):
        return True


# Mutations. Each changes a copy in place, and returns False if it finds nothing that it can change
# so that the certificate says something else.


def _attempt(rng: random.Random, document: Document) -> Document:
    return rng.choice(document["attempts"])


def _evaluation(rng: random.Random, document: Document) -> Document | None:
    evaluations = _attempt(rng, document)["evaluations"]
    return rng.choice(evaluations) if evaluations else None


def drop_evaluation(rng: random.Random, document: Document) -> bool:
    evaluations = _attempt(rng, document)["evaluations"]
    if not evaluations:
        return False
    del evaluations[rng.randrange(len(evaluations))]
    return True


def repeat_evaluation(rng: random.Random, document: Document) -> bool:
    evaluations = _attempt(rng, document)["evaluations"]
    if not evaluations:
        return False
    place = rng.randrange(len(evaluations))
    evaluations.insert(place, copy.deepcopy(evaluations[place]))
    return True


def change_instant(rng: random.Random, document: Document) -> bool:
    if (evaluation := _evaluation(rng, document)) is None:
        return False
    changed, step = rng.choice(["t", "arrival"]), rng.choice([-1, 1])
    if changed == "arrival" and evaluation[changed] == 0:
        step = 1  # a negative one is no arrival
    evaluation[changed] += step
    return True


def change_content(rng: random.Random, document: Document) -> bool:
    if (evaluation := _evaluation(rng, document)) is None:
        return False
    content = evaluation["content"]
    if content and rng.random() < 0.5:
        del content[rng.randrange(len(content))]
    else:
        content.append((content[-1] if content else -1) + 1)
    return True


def change_border(rng: random.Random, document: Document) -> bool:
    if (evaluation := _evaluation(rng, document)) is None:
        return False
    if evaluation["window"] is None:
        evaluation["window"] = [0, 1]
    else:
        evaluation["window"][rng.randrange(2)] += rng.choice([-1, 1])
    return True


def _normal(document: Document, rows: list[dict[str, str]]) -> list[Any]:
    same = document["values"]
    return sorted(
        sorted((name, same.get(term, term)) for name, term in row.items()) for row in rows
    )


def change_answer(rng: random.Random, document: Document) -> bool:
    """Another answer for one evaluation. SPARQL's answers are trusted, so it has to contradict
    something: the output, which Rstream makes of it, or the answer over equal contents elsewhere.
    """
    if (evaluation := _evaluation(rng, document)) is None:
        return False
    answers, every = document["answers"], document["attempts"]
    same = [e for a in every for e in a["evaluations"] if e["answer"] == evaluation["answer"]]
    is_whole = (document["query"]["r2s"] or every[0]["semantics"]["r2s"]) == "Rstream"
    if len(same) == 1 and not is_whole:
        return False
    other = rng.randrange(len(answers))
    if _normal(document, answers[other]) == _normal(document, answers[evaluation["answer"]]):
        return False  # the same answer
    evaluation["answer"] = other
    return True


def change_rows(rng: random.Random, document: Document) -> bool:
    """A row more or a row less in an output."""
    if (evaluation := _evaluation(rng, document)) is None:
        return False
    _change_bag(rng, evaluation["output"])
    return True


def _change_bag(rng: random.Random, rows: list[dict[str, str]]) -> None:
    if rows and rng.random() < 0.5:
        del rows[rng.randrange(len(rows))]
    else:
        rows.append({"x": "<urn:never>"})


def change_relation(rng: random.Random, document: Document) -> bool:
    """Another recording. Of a fail it may fail as well, so that is left alone."""
    relations = document["recording"]["relations"]
    if document["verdict"] == "fail" or not relations:
        return False
    _change_bag(rng, rng.choice(relations)["rows"])
    return True


def change_emitted(rng: random.Random, document: Document) -> bool:
    if (evaluation := _evaluation(rng, document)) is None:
        return False
    evaluation["emitted"] = not evaluation["emitted"]
    return True


def change_base(rng: random.Random, document: Document) -> bool:
    """Another base."""
    if (evaluation := _evaluation(rng, document)) is None:
        return False
    answers, base = document["answers"], evaluation["base"]
    other = rng.choice([None, *range(len(answers))])
    before, after = ([] if b is None else _normal(document, answers[b]) for b in (base, other))
    if before == after:
        return False  # nothing is subtracted either way, or the same
    evaluation["base"] = other
    return True


def change_t0(rng: random.Random, document: Document) -> bool:
    """Another t0."""
    _attempt(rng, document)["t0"] += rng.choice([-1, 1])
    return True


def change_verdict(rng: random.Random, document: Document) -> bool:
    document["verdict"] = "fail" if document["verdict"] == "pass" else "pass"
    return True


def drop_attempt(rng: random.Random, document: Document) -> bool:
    attempts = document["attempts"]
    del attempts[rng.randrange(len(attempts))]
    return True


def change_class(rng: random.Random, document: Document) -> bool:
    """Another last value of a class of a fail: a gap before the next, or values of the next."""
    attempt = _attempt(rng, document)
    if document["verdict"] == "pass" or attempt["to"] is None:
        return False
    attempt["to"] += rng.choice([-1, 1])
    return True


def change_divergence(rng: random.Random, document: Document) -> bool:
    diverges = _attempt(rng, document)["diverges"]
    place = rng.randrange(len(diverges))
    diverges[place] = rng.choice([n for n in (None, 0, 1, 2) if n != diverges[place]])
    return True


def change_field(rng: random.Random, document: Document) -> bool:
    """Another value in the semantics of an attempt than the profile has."""
    fields = _attempt(rng, document)["semantics"]
    name = rng.choice(sorted(fields))
    fields[name] = "another"
    return True


MUTATIONS: tuple[Callable[[random.Random, Document], bool], ...] = (
    drop_evaluation,
    repeat_evaluation,
    change_instant,
    change_content,
    change_border,
    change_answer,
    change_rows,
    change_relation,
    change_emitted,
    change_base,
    change_t0,
    change_verdict,
    drop_attempt,
    change_class,
    change_divergence,
    change_field,
)


def mutated(rng: random.Random, document: Document) -> tuple[str, Document] | None:
    """A mutation's name and the mutated certificate; None if it says the same as before."""
    mutation = rng.choice(MUTATIONS)
    other = copy.deepcopy(document)
    if not mutation(rng, other):
        return None
    return mutation.__name__, other
