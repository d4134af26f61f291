"""What is given to a public door and is of another type: one error of ours, which says what to
write. Most of these were an AttributeError, a TypeError or a ValueError, or were taken for another
value.
"""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy
import pandas
import pytest

from conformance.bench.citybench import measures as citybench
from conformance.bench.metrics import lsbench, yabench
from conformance.spark import compare_reports, mismatch, truth
from conformance.verdict.outcomes import judge_relations
from refengine import (
    Between,
    Body,
    Element,
    Engine,
    OneOf,
    Profile,
    Query,
    Relation,
    Semantics,
    Stream,
    Window,
    WindowKind,
    dialects,
    difference,
    equal,
    evaluate,
    evaluations,
    from_table,
    incremental,
    literal,
    parse_literal,
    plan,
    profile,
    row,
    sparql,
    stream,
    stream_from_dataframe,
    to_arrow,
    to_dicts,
)
from refengine.core.question import Question
from refengine.core.values import R2S
from refengine.joins import BoundedJoin, WindowJoin, bounded_query, join_window, run_join
from refengine.model.errors import RefengineError
from refengine.oracle.judge import judge
from refengine.rdf.documents import read_static
from refengine.rdf.forms.reading import ReadingOptions
from refengine.rdf.recordings import read_recording
from refengine.rdf.streams import read_elements, read_stream, read_stream_and_rest
from refengine.testing import check_windows, compare_windows

WINDOW = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
QUERY = from_table({"windows": [WINDOW], "body": "SELECT ?x { ?x <urn:p> ?y }"})
STREAMS = {"s": stream([(("<urn:a>", "<urn:p>", "<urn:y>"), 3)])}
PROFILE = profile("csparql").but(t0=0)
SEMANTICS = PROFILE.semantics()
QUESTION = Question(QUERY, STREAMS)
BAG = Counter([row({"x": "<urn:a>"})])
TOLD = [Relation(("x",), BAG)]
JOIN = bounded_query(
    from_table(
        {
            "windows": [{"stream": "s", "kind": "unbounded"}],
            "body": "SELECT ?a ?b { ?a <urn:p> ?x . ?b <urn:q> ?x }",
        }
    )
)
COUNTER = 'write Counter([row({"x": "<urn:a>"}), …])'
RELATION = 'write Relation(("x",), Counter([row({"x": "<urn:a>"}), …]))'
A_QUERY = 'from_table({"windows": […], "body": "SELECT …"}) makes one'

# what is called, a part of the message, and what must be advised
WRONG: list[tuple[str, Callable[[], object], str]] = [
    # relations and rows
    ("judge: no relations", lambda: judge(QUERY, STREAMS, PROFILE, None), "recording: MOD-4"),
    ("judge: one relation", lambda: judge(QUERY, STREAMS, PROFILE, TOLD[0]), "write a list of"),
    ("judge: a text", lambda: judge(QUERY, STREAMS, PROFILE, "x"), "recording: MOD-4"),
    ("judge: None in it", lambda: judge(QUERY, STREAMS, PROFILE, [None]), RELATION),
    ("judge: a Counter in it", lambda: judge(QUERY, STREAMS, PROFILE, [BAG]), RELATION),
    (
        "judge: rows as dicts",
        lambda: judge(QUERY, STREAMS, PROFILE, [Relation(("x",), [{"x": "<urn:a>"}])]),
        f"relation 1: MOD-4: rows must be a Counter of rows, got [{{'x': '<urn:a>'}}]; {COUNTER}",
    ),
    (
        "judge: rows that are one dict",
        lambda: judge(QUERY, STREAMS, PROFILE, [Relation(("x",), {"x": "<urn:a>"})]),
        "a row must be a tuple of pairs of a variable and a term, got 'x'; write row({",
    ),
    (
        "judge: pairs that are none",
        lambda: judge(QUERY, STREAMS, PROFILE, [Relation(("x",), Counter([("x", "<urn:a>")]))]),
        "relation 1: MOD-4: a row must be a tuple of pairs",
    ),
    (
        "judge: rows None",
        lambda: judge(QUERY, STREAMS, PROFILE, [Relation(("x",), None)]),
        COUNTER,
    ),
    (
        "judge: a variable that is a number",
        lambda: judge(QUERY, STREAMS, PROFILE, [Relation((4,), Counter())]),
        "relation 1: IO-2: a variable must be text, got 4",
    ),
    (
        "judge: variables that are a text",
        lambda: judge(QUERY, STREAMS, PROFILE, [Relation("x", BAG)]),
        'relation 1: MOD-4: variables must be a tuple, got \'x\'; write ("x", "y")',
    ),
    (
        "judge: a variable twice",
        lambda: judge(
            QUERY,
            STREAMS,
            PROFILE,
            [Relation(("x",), Counter([(("x", "<urn:a>"), ("x", "<urn:b>"))]))],
        ),
        "relation 1: MOD-4: a variable stands twice in a row",
    ),
    (
        "judge: a row less than once",
        lambda: judge(QUERY, STREAMS, PROFILE, [Relation(("x",), Counter({next(iter(BAG)): -1}))]),
        "relation 1: MOD-4: a row is there -1 times; write an integer > 0",
    ),
    # query, streams, profile and the options of a verdict
    ("judge: a text as query", lambda: judge("ASK {}", STREAMS, PROFILE, TOLD), A_QUERY),
    (
        "judge: no query",
        lambda: judge(None, STREAMS, PROFILE, TOLD),
        f"query: QRY-1: must be a Query, got None; {A_QUERY}",
    ),
    ("judge: no streams", lambda: judge(QUERY, None, PROFILE, TOLD), "streams: MOD-1"),
    ("judge: a stream", lambda: judge(QUERY, STREAMS["s"], PROFILE, TOLD), '{"s": stream([…])}'),
    (
        "judge: a list as stream",
        lambda: judge(QUERY, {"s": []}, PROFILE, TOLD),
        "stream 's': MOD-1",
    ),
    ("judge: a name", lambda: judge(QUERY, STREAMS, "csparql", TOLD), "write profile('csparql')"),
    ("judge: no profile", lambda: judge(QUERY, STREAMS, None, TOLD), 'write profile("csparql")'),
    (
        "judge: a semantics",
        lambda: judge(QUERY, STREAMS, SEMANTICS, TOLD),
        "leave .semantics() out",
    ),
    ("judge: static", lambda: judge(QUERY, STREAMS, PROFILE, TOLD, static=5), "static data: MOD-4"),
    (
        "judge: an option",
        lambda: judge(QUERY, STREAMS, PROFILE, TOLD, mising=0),
        "did you mean 'missing'?",
    ),
    (
        "judge: a mode",
        lambda: judge(QUERY, STREAMS, PROFILE, TOLD, mode="term"),
        "mode: CMP-1: must be Mode.VALUE or Mode.TERM",
    ),
    (
        "judge: windows",
        lambda: judge(QUERY, STREAMS, PROFILE, TOLD, windows=[5]),
        "window of relation 1: ORA-11: must be (o, c), two integers with o <= c, or None, got 5",
    ),
    (
        "judge: no windows",
        lambda: judge(QUERY, STREAMS, PROFILE, TOLD, windows=None),
        "windows: ORA-11",
    ),
    (
        "judge: a closure",
        lambda: judge(QUERY, STREAMS, PROFILE, TOLD, windows=[(0, 10)], window_closure="["),
        "window_closure: ORA-11: must be one of [), (], [], (), or None, got '['",
    ),
    (
        "judge: a witness",
        lambda: judge(QUERY, STREAMS, PROFILE, TOLD, witnesses=("rdflb",)),
        "did you mean 'rdflib'?",
    ),
    (
        "judge: a witness alone",
        lambda: judge(QUERY, STREAMS, PROFILE, TOLD, witnesses="rdflib"),
        "witnesses: R2R-5",
    ),
    # the same, in judge_relations
    (
        "judge_relations: no question",
        lambda: judge_relations(QUERY, PROFILE, TOLD),
        "write Question(query, streams)",
    ),
    ("judge_relations: a Counter", lambda: judge_relations(QUESTION, PROFILE, [BAG]), RELATION),
    ("judge_relations: None", lambda: judge_relations(QUESTION, PROFILE, [None]), RELATION),
    (
        "judge_relations: no relations",
        lambda: judge_relations(QUESTION, PROFILE, None),
        "recording: MOD-4",
    ),
    (
        "judge_relations: a name",
        lambda: judge_relations(QUESTION, "csparql", TOLD),
        "write profile('csparql')",
    ),
    (
        "judge_relations: a semantics",
        lambda: judge_relations(QUESTION, SEMANTICS, TOLD),
        "leave .semantics() out",
    ),
    (
        "judge_relations: an option",
        lambda: judge_relations(QUESTION, PROFILE, TOLD, mising=0),
        "did you mean 'missing'?",
    ),
    ("Question: a text", lambda: Question("ASK {}", STREAMS), A_QUERY),
    ("Question: no streams", lambda: Question(QUERY, None), "streams: MOD-1"),
    ("Question: no stream", lambda: Question(QUERY, {"s": None}), "stream 's': MOD-1"),
    (
        "Question: no triples",
        lambda: Question(QUERY, STREAMS, ["abc"]),
        "static data: MOD-4: a triple must be three",
    ),
    # evaluations
    ("evaluate: a text", lambda: evaluate("ASK {}", STREAMS, SEMANTICS), A_QUERY),
    (
        "evaluate: a text in a dialect",
        lambda: evaluate("REGISTER …", STREAMS, SEMANTICS),
        'refengine.dialects.read(text, "rspql")',
    ),
    ("evaluate: a body", lambda: evaluate(QUERY.body, STREAMS, SEMANTICS), A_QUERY),
    ("evaluate: no streams", lambda: evaluate(QUERY, None, SEMANTICS), "streams: MOD-1"),
    ("evaluate: a stream", lambda: evaluate(QUERY, STREAMS["s"], SEMANTICS), "streams: MOD-1"),
    (
        "evaluate: a name",
        lambda: evaluate(QUERY, STREAMS, "csparql"),
        "a semantics must be a Semantics",
    ),
    (
        "evaluate: static",
        lambda: evaluate(QUERY, STREAMS, SEMANTICS, static=None),
        "static data: MOD-4",
    ),
    (
        "evaluate: static of lists",
        lambda: evaluate(QUERY, STREAMS, SEMANTICS, static=[["<urn:a>"] * 3]),
        "static data: MOD-4: statements must be triples and quads",
    ),
    (
        "evaluate: one triple",
        lambda: evaluate(QUERY, STREAMS, SEMANTICS, static=("<urn:a>", "<urn:p>", "<urn:b>")),
        "a triple must be three terms",
    ),
    (
        "evaluate: static by IRI",
        lambda: evaluate(
            from_table({"windows": [WINDOW], "body": "ASK FROM <urn:g> {}"}),
            STREAMS,
            SEMANTICS,
            static={"urn:g": None},
        ),
        "static data: MOD-4",
    ),
    ("incremental: a text", lambda: incremental.evaluate("ASK {}", STREAMS, SEMANTICS), A_QUERY),
    (
        "incremental: no streams",
        lambda: incremental.evaluate(QUERY, None, SEMANTICS),
        "streams: MOD-1",
    ),
    (
        "incremental: static",
        lambda: incremental.evaluate(QUERY, STREAMS, SEMANTICS, static=5),
        "static data: MOD-4",
    ),
    ("plan: a text", lambda: plan("ASK {}", STREAMS, SEMANTICS), A_QUERY),
    ("plan: names", lambda: plan(QUERY, ["s"], SEMANTICS), "streams: MOD-1"),
    ("Engine: a text", lambda: Engine("ASK {}", ["s"], SEMANTICS), A_QUERY),
    ("Engine: a name", lambda: Engine(QUERY, "s", SEMANTICS), 'write ["s"]'),
    ("Engine: no names", lambda: Engine(QUERY, None, SEMANTICS), "streams: MOD-1"),
    ("Engine: static", lambda: Engine(QUERY, ["s"], SEMANTICS, static=None), "static data: MOD-4"),
    (
        "push_element: None",
        lambda: Engine(QUERY, ["s"], SEMANTICS).push_element("s", None),
        "an Element must be pushed, got None",
    ),
    (
        "advance: None",
        lambda: Engine(QUERY, ["s"], SEMANTICS).advance(None),
        "time advances to an integer",
    ),
    # makers
    ("stream: None", lambda: stream(None), "write [(graph or triple, t_app), …]"),
    ("stream: a text", lambda: stream("abc"), "stream: MOD-1"),
    ("Stream: None", lambda: Stream(None), "stream([(graph or triple, t_app), …]) makes"),
    ("Stream: a number in it", lambda: Stream((5,)), "element 1: MOD-1"),
    (
        "row: None",
        lambda: row(None),
        'a row must map variables to terms, got None; write row({"x": "<urn:a>"})',
    ),
    ("row: a text", lambda: row("x"), "a row must map variables to terms"),
    (
        "row: of two kinds",
        lambda: row({"x": "<urn:a>", 4: "<urn:b>"}),
        "a row must map variables to terms",
    ),
    ("literal: a number", lambda: literal(4), 'a lexical form must be text, got 4; write "4"^^<'),
    (
        "from_table: a text",
        lambda: from_table("ASK {}"),
        "query: QRY-1: a query must be a table, got 'ASK {}'",
    ),
    ("from_table: None", lambda: from_table(None), "query: QRY-1"),
    (
        "Query: a text as body",
        lambda: Query(QUERY.windows, "ASK {}"),
        "write Query((Window(…),), Body(…))",
    ),
    ("Query: a window", lambda: Query(QUERY.windows[0], QUERY.body), "query: QRY-1"),
    ("Body: None", lambda: Body(None), "body must be a string, got None"),
    ("profile: None", lambda: profile(None), "unknown profile None"),
    ("profile: a list", lambda: profile([]), "unknown profile []"),
    # comparison, SPARQL, dialects
    (
        "equal: None",
        lambda: equal(None, BAG),
        f"first bag: MOD-4: rows must be a Counter of rows, got None; {COUNTER}",
    ),
    ("equal: a relation", lambda: equal(BAG, TOLD[0]), "second bag: MOD-4"),
    ("equal: a list of rows", lambda: equal([*BAG], BAG), "first bag: MOD-4"),
    ("equal: a mode", lambda: equal(BAG, BAG, "term"), "mode: CMP-1"),
    ("difference: None", lambda: difference(BAG, None), "second bag: MOD-4"),
    (
        "sparql.evaluate: a text",
        lambda: sparql.evaluate("ASK {}", frozenset()),
        "body: QRY-1: must be the algebra of a body, got 'ASK {}'; write Body(text).algebra",
    ),
    (
        "sparql.evaluate: a body",
        lambda: sparql.evaluate(QUERY.body, frozenset()),
        "write Body(text).algebra",
    ),
    (
        "sparql.evaluate: no dataset",
        lambda: sparql.evaluate(QUERY.body.algebra, None),
        "dataset: MOD-4",
    ),
    (
        "sparql.evaluate: a stream",
        lambda: sparql.evaluate(QUERY.body.algebra, STREAMS["s"]),
        "dataset: MOD-4",
    ),
    (
        "dialects.read: None",
        lambda: dialects.read(None, "rspql"),
        "query: DIA-1: a query in RSP-QL must be text, got None",
    ),
    (
        "dialects.read: a dialect",
        lambda: dialects.read("ASK {}", None),
        "dialect: DIA-1: no dialect None",
    ),
    (
        "dialects.read: a base",
        lambda: dialects.read("ASK {}", "rspql", base="a b"),
        "base: DIA-5: must be an absolute IRI",
    ),
    ("dialects.render: a text", lambda: dialects.render("ASK {}", "rspql"), A_QUERY),
    # joins
    ("bounded_query: a text", lambda: bounded_query("ASK {}"), A_QUERY),
    (
        "BoundedJoin.push: None",
        lambda: BoundedJoin(JOIN).push("s", None),
        "must be an Element, got None",
    ),
    (
        "BoundedJoin.push: a time",
        lambda: BoundedJoin(JOIN).push("s", Element(frozenset(), "1", 1)),
        "t_app must be an integer, got '1'",
    ),
    ("run_join: a stream", lambda: list(run_join(JOIN, STREAMS["s"])), "streams: MOD-1"),
    (
        "WindowJoin.push: None",
        lambda: WindowJoin(join_window("tumbling")).push(None),
        "ADA-2: a JoinRecord or a Watermark must be pushed, got None",
    ),
    # names of streams, and what is read
    ("evaluate: a number as name", lambda: list(evaluate(QUERY, {4: 4}, SEMANTICS)), 'write "s"'),
    ("Engine: None among the names", lambda: Engine(QUERY, [None], SEMANTICS), "got None; write"),
    ("Engine: bytes", lambda: Engine(QUERY, b"s", SEMANTICS), "the name of a stream must be text"),
    (
        "incremental.evaluate: None as name",
        lambda: list(incremental.evaluate(QUERY, {None: STREAMS["s"]}, SEMANTICS)),
        "streams: MOD-1: the name of a stream must be text, got None",
    ),
    (
        "incremental.evaluate: no stream",
        lambda: list(incremental.evaluate(QUERY, {"s": None}, SEMANTICS)),
        "stream 's': MOD-1: a stream must be a Stream, got None",
    ),
    ("evaluations: a query", lambda: list(evaluations(QUERY)), "write plan(query, streams, "),
    ("read_stream: None", lambda: read_stream(None), "source: IO-1: must be the path of a file"),
    ("read_stream: bytes", lambda: read_stream(b"s.nq"), "source: IO-1: must be the path of a fi"),
    ("read_stream: a predicate", lambda: read_stream("s.nq", 4), "time predicate: IO-1: must be"),
    ("read_stream: a batch", lambda: read_stream("s.nq", None, []), "batch predicate: IO-1: must"),
    ("read_stream: columns", lambda: read_stream("s.csv", columns=4), "columns: IO-1: must be the"),
    ("read_stream_and_rest: None", lambda: read_stream_and_rest("s.nq", None), "options: IO-1"),
    ("ReadingOptions: base", lambda: ReadingOptions(base=None), "base of the data: IO-1: must be"),
    ("ReadingOptions: a list", lambda: ReadingOptions(undated=[]), "undated: IO-1: must be"),
    ("read_elements: a list", lambda: read_elements([]), "source: IO-1: must be the path"),
    ("read_static: a set", lambda: read_static(frozenset()), "source: IO-1: must be the path"),
    ("read_recording: 0", lambda: read_recording(0), "source: IO-2: must be the path of a file"),
    # metrics
    (
        "mm: a bag",
        lambda: lsbench.mm(BAG, [BAG]),
        "relation of the first output: MOD-4: must be bags of rows",
    ),
    ("mm: relations", lambda: lsbench.mm([BAG], TOLD), "relation of the second output 1: MOD-4"),
    ("score: None", lambda: yabench.score(BAG, None), "actual rows: MOD-4"),
    ("slide_score: a list", lambda: yabench.slide_score([*BAG], BAG), "expected rows: MOD-4"),
    (
        "completeness: None",
        lambda: citybench.completeness(None, [BAG], ["x"]),
        "expected answer: MOD-4",
    ),
    (
        "latencies: a relation",
        lambda: citybench.latencies([(TOLD[0], 1.0)], {}, ["x"]),
        "answer 1: MOD-4",
    ),
    # DataFrames
    (
        "truth: None",
        lambda: truth(None, QUERY, SEMANTICS),
        "triples: IO-1: must be a DataFrame of Spark, got None",
    ),
    ("compare_reports: a list", lambda: compare_reports([], None), "recorded: IO-1"),
    ("mismatch: None", lambda: mismatch(None, None), "first: IO-1"),
]


T = ("<urn:a>", "<urn:p>", "<urn:b>")
TABLE = {"windows": [WINDOW], "body": "ASK {}"}
FIELDS_OF_ALL = vars(SEMANTICS)
NAIVE = datetime(2024, 1, 2)


class Text(str):
    """A text of another type, as some libraries have it."""


def push(*args, **options):
    return Engine(QUERY, ["s"], SEMANTICS).push(*args, **options)


def timed(**options):
    return Window("s", WindowKind.TIME, **{"size": 10, "slide": 10} | options)


# sixty more, of the doors for live input, for windows and fields, for values of other libraries,
# and for tests of one's own operator
SIXTY: list[tuple[str, Callable[[], object], str]] = [
    ("push: no graph", lambda: push(None, 3), "element 1: MOD-4: a graph must be triples"),
    ("push: a triple after a name", lambda: push("s", T), "tuples of text, got 's'"),
    ("push: a name that is no str", lambda: push(Text("s"), T), "tuples of text, got 's'"),
    ("push: N-Triples", lambda: push("<urn:a> <urn:p> <urn:o> .", 3), "write ('<urn:a>', '<urn:p"),
    ("push: an Element", lambda: push(Element(frozenset([T]), 3, 1), 3), "write push_element(stre"),
    ("push: its time is one", lambda: push("s", Element(frozenset([T]), 3, 1)), "push_element(str"),
    (
        "push_element: a triple",
        lambda: Engine(QUERY, ["s"], SEMANTICS).push_element("s", T),
        "MOD-1: an Element must be pushed, got ('<urn:a>', ",
    ),
    ("push: swapped", lambda: push(3, T), "element 1: MOD-4: a graph must be triples"),
    ("push: two terms", lambda: push(T[:2], 3), "element 1: MOD-4: a triple must be three terms"),
    ("push: lists", lambda: push([list(T)], 3), "which are tuples of text"),
    (
        "push: no time",
        lambda: push(T, None),
        "element 1: MOD-1: t_app must be an integer, got None",
    ),
    ("push: a time as text", lambda: push(T, "3"), "MOD-1: t_app must be an integer, got '3'"),
    ("push: no zone", lambda: push(T, NAIVE), "write .replace(tzinfo=UTC)"),
    ("push: a day", lambda: push(T, NAIVE.date()), "write datetime(2024, 1, 2, tzinfo=UTC)"),
    ("push: another stream", lambda: push(T, 3, stream="x"), "QRY-4: element of undeclared stream"),
    ("push: a stream 4", lambda: push(T, 3, stream=4), "QRY-4: element of undeclared stream 4"),
    ("push: a batch as text", lambda: push(T, 3, batch="1"), "MOD-1: batch must be an integer"),
    ("push: an end before", lambda: push(T, 3, end=1), "MOD-3: end 1 is before t_app 3"),
    (
        "push: of which stream",
        lambda: Engine(QUERY, ["s", "r"], SEMANTICS).push(T, 3),
        "push: ENG-8: the engine has 2 streams; write push(graph, time, stream='s')",
    ),
    ("Engine: a profile", lambda: Engine(QUERY, ["s"], PROFILE), "write .semantics() after it"),
    ("Engine: no semantics", lambda: Engine(QUERY, ["s"], None), "SEM-3: a semantics must be a"),
    (
        "Engine: definition",
        lambda: Engine(QUERY, ["s"], SEMANTICS, definition="yes"),
        "Engine: ENG-8: definition must be True or False, got 'yes'",
    ),
    (
        "Engine: a bound",
        lambda: Engine(QUERY, ["s"], SEMANTICS, max_reports="5"),
        "max_reports: ENG-3: must be an integer >= 0, got '5'; write max_reports=",
    ),
    (
        "Engine: an answer",
        lambda: Engine(QUERY, ["s"], SEMANTICS, answer="x"),
        "answer: R2R-1: must be a function from a body and a dataset to a Relation, got 'x'",
    ),
    ("advance: no zone", lambda: Engine(QUERY, ["s"], SEMANTICS).advance(NAIVE), "tzinfo=UTC"),
    ("evaluate: a bound", lambda: evaluate(QUERY, STREAMS, SEMANTICS, max_reports=None), "ENG-3"),
    ("evaluate: an answer", lambda: evaluate(QUERY, STREAMS, SEMANTICS, answer=None), "R2R-1"),
    (
        "incremental: a bound",
        lambda: incremental.evaluate(QUERY, STREAMS, SEMANTICS, max_reports=1.5),
        "max_reports: ENG-3: must be an integer >= 0, got 1.5",
    ),
    (
        "incremental: an answer",
        lambda: incremental.evaluate(QUERY, STREAMS, SEMANTICS, answer=5),
        "answer: R2R-1: must be a function",
    ),
    (
        "incremental: numbers",
        lambda: list(incremental.evaluate(QUERY, {"s": [1, 2]}, SEMANTICS)),
        "element 1: MOD-1: must be an Element, got 1",
    ),
    (
        "evaluations: a bound",
        lambda: evaluations(plan(QUERY, STREAMS, SEMANTICS), "5"),
        "max_reports: ENG-3",
    ),
    # fields
    ("but: a field", lambda: PROFILE.but(closur="[)"), "SEM-1: unknown key 'closur'; did you mean"),
    (
        "but: a word",
        lambda: PROFILE.but(tick="tupl"),
        "tick must be one of tuple, time, batch, got",
    ),
    ("but: None", lambda: PROFILE.but(tick=None), "SEM-1: tick must be one of"),
    (
        "but: a condition",
        lambda: PROFILE.but(report=["closed"]),
        "unknown report condition 'closed'",
    ),
    ("but: conditions", lambda: PROFILE.but(report=5), "report must name at least one of"),
    ("but: a fraction", lambda: PROFILE.but(t0=0.5), "t0 must be an integer or one of"),
    ("but: no zone", lambda: PROFILE.but(t0=NAIVE), "SEM-1: t0 has no zone"),
    ("but: a range", lambda: PROFILE.but(t0=Between(5, 1)), "write the lower end first, 1 to 5"),
    ("but: texts", lambda: PROFILE.but(t0=Between("1", "5")), "two integers, got Between(lo='1'"),
    ("but: a range of words", lambda: PROFILE.but(tick=Between(1, 2)), "tick has no range, got"),
    ("but: no choices", lambda: PROFILE.but(tick=OneOf(())), "write OneOf((…, …))"),
    ("but: choices", lambda: PROFILE.but(tick=OneOf("tuple")), "OneOf has a tuple with a value"),
    ("but: a choice", lambda: PROFILE.but(tick=OneOf(("tuple", "x"))), "tick must be one of"),
    (
        "with_fields: None",
        lambda: PROFILE.with_fields(None),
        "fields: SEM-1: fields are given by t",
    ),
    ("with_fields: a text", lambda: PROFILE.with_fields("t0=0"), 'write {"t0": 0}'),
    ("Semantics: a field", lambda: Semantics(t0=0), "SEM-1: offset, closure, slide, partial"),
    ("Semantics: another", lambda: Semantics(**FIELDS_OF_ALL, x=1), "SEM-1: unknown key 'x'"),
    ("Semantics: no names", lambda: Semantics(0), "fields are given by their names, got 0"),
    ("Profile: fields", lambda: Profile("x", "y", None), "SEM-1: fields are given by their names"),
    (
        "Profile: a field",
        lambda: Profile("x", "y", {"tik": 1}),
        "SEM-1: unknown key 'tik'; did you",
    ),
    # windows
    ("Window: a kind", lambda: Window("s", "tim", 10, 10), "QRY-1: kind must be one of time"),
    ("Window: a stream", lambda: Window(None, WindowKind.TIME, 10, 10), "stream must be a string"),
    ("Window: a size", lambda: timed(size="10"), "WIN-1: size must be an integer > 0, got '10'"),
    (
        "Window: a fraction",
        lambda: timed(size=10.0),
        "WIN-1: size must be an integer > 0, got 10.0",
    ),
    ("Window: no time", lambda: timed(size=timedelta(0)), "WIN-1: size must be an integer > 0"),
    ("Window: rows", lambda: Window("s", "rows", timedelta(1)), "write a number of elements"),
    ("Window: a unit", lambda: Window("s", "rows", 3, unit="triple"), "did you mean 'triples'?"),
    ("Window: a name", lambda: timed(name=4), "QRY-1: name must be a string, got 4"),
    ("Window: a mark", lambda: timed(triggers="yes"), "triggers must be true or false, got 'yes'"),
    ("Window: a lag", lambda: timed(lag="1"), "WIN-20: lag must be an integer >= 0, got '1'"),
    ("Window: a key", lambda: Window("s", "partition", 3, by="subject"), 'write ("subject",)'),
    ("Query: no window", lambda: Query(("s",), QUERY.body), "must be a Window, got 's'"),
    (
        "Query: an operator",
        lambda: Query(QUERY.windows, QUERY.body, "Rstrem"),
        "did you mean 'Rstr",
    ),
    (
        "Query: its instant",
        lambda: Query(QUERY.windows, QUERY.body, None, "now"),
        "registered must",
    ),
    (
        "from_table: nothing",
        lambda: from_table(),
        "query: QRY-1: a query must be a table, got None",
    ),
    ("from_table: a key", lambda: from_table(windows=[], bdy="ASK {}"), "unknown key 'bdy'"),
    ("from_table: both", lambda: from_table(TABLE, body="ASK {}"), "give one table or keywords"),
    (
        "from_table: a window",
        lambda: from_table(windows=WINDOW, body=""),
        "windows must be an array",
    ),
    # streams and terms
    ("stream: swapped", lambda: stream([(3, T)]), "element 1: MOD-4: a graph must be triples"),
    ("stream: a flat item", lambda: stream([(*T, 3)]), "element 1: MOD-"),
    ("stream: a line", lambda: stream([("<urn:a> <urn:p> <urn:b>", 3)]), "element 1: MOD-4"),
    ("stream: ordered", lambda: stream([(T, 3)], ordered="no"), "ordered must be True or False"),
    (
        "literal: a language",
        lambda: literal("a", language=4),
        "MOD-4: a language must be text, got 4",
    ),
    ("literal: a datatype", lambda: literal("a", 4), "MOD-4: a datatype must be text, got 4"),
    (
        "parse_literal: a text",
        lambda: parse_literal("a"),
        "MOD-4: not a literal: 'a'; write it in q",
    ),
    ("parse_literal: None", lambda: parse_literal(None), "MOD-4: not a literal: None"),
    # verdicts, reports, frames, limits
    ("judge: missing", lambda: judge(QUERY, STREAMS, PROFILE, TOLD, missing="1"), "missing"),
    (
        "judge: answers",
        lambda: judge(QUERY, STREAMS, PROFILE, TOLD, answers=5),
        "answers: ORA-1: must be a table of answers, got 5; write SharedAnswers()",
    ),
    ("to_dicts: a number", lambda: to_dicts(5), "reports: ENG-2: must be Reports, got 5"),
    (
        "stream_from_dataframe: a text",
        lambda: stream_from_dataframe("x"),
        "DataFrame: IO-1: must be",
    ),
    (
        "read_body: None",
        lambda: sparql.read_body(None),
        "body: QRY-1: body must be a string, got No",
    ),
    ("Limits: steps", lambda: sparql.Limits("x"), "limits: R2R-17: steps must be an integer >= 0"),
    ("push: a copy", lambda: copy.deepcopy(Engine(QUERY, ["s"], SEMANTICS)), "Engine: ENG-8: an e"),
    ("push: another copy", lambda: copy.copy(Engine(QUERY, ["s"], SEMANTICS)), "Engine: ENG-8"),
    ("push: a pickle", lambda: pickle.dumps(Engine(QUERY, ["s"], SEMANTICS)), "push them to anoth"),
    ("push: NaT", lambda: push(T, pandas.NaT), "t_app is missing, got NaT; write an integer"),
    ("push: NA", lambda: push(T, pandas.NA), "t_app is missing, got <NA>"),
    ("push: no instant", lambda: push(T, numpy.datetime64("NaT", "s")), "t_app is missing, got "),
    ("push: a duration", lambda: push(T, numpy.timedelta64("NaT", "s")), "t_app is missing, got"),
    ("push: a characters", lambda: stream([("abc", 3)]), "tuples of text, got 'abc'"),
    ("but: NaT", lambda: PROFILE.but(t0=pandas.NaT), "SEM-1: t0 is missing, got NaT"),
    ("Window: NaT", lambda: timed(size=pandas.NaT), "size is missing, got NaT"),
    (
        "static: a text",
        lambda: evaluate(QUERY, STREAMS, SEMANTICS, static="abc"),
        "static data: MOD-4: statements must be triples and quads, which are tuples of text, got '",
    ),
    (
        "to_arrow: a border",
        lambda: to_arrow(
            evaluate(
                from_table(windows=[WINDOW | {"size": 2**62, "slide": 2**62}], body="ASK {}"),
                {"s": stream([(T, 2**63 - 2)])},
                PROFILE.but(t0=2**62).semantics(),
            )
        ),
        "reports: ENG-2: a border is beyond 64 bits, which Arrow's integers have; write to_dicts",
    ),
    (
        "check_windows: make_item",
        lambda: check_windows(list, QUERY, SEMANTICS, make_item=5),
        "make_item: ENG-8: must be a function of an Element, got 5",
    ),
    (
        "check_windows: texts as borders",
        lambda: check_windows(lambda _: [("0", "10", [])], QUERY, SEMANTICS),
        "mine: window 1: ENG-8: opens must be an integer or None, got '0'",
    ),
    (
        "check_windows: arrays as items",
        lambda: compare_windows(
            lambda _: [(0, 10, [numpy.zeros(2)])],
            QUERY,
            SEMANTICS,
            STREAMS["s"],
            lambda _: numpy.zeros(2),
        ),
        "mine: ENG-8: items cannot be compared: The truth value of an array",
    ),
    (
        "check_windows: None",
        lambda: check_windows(None, QUERY, SEMANTICS),
        "mine: ENG-8: must be a",
    ),
]


@pytest.mark.parametrize(
    ("call", "words"),
    [entry[1:] for entry in [*WRONG, *SIXTY]],
    ids=[entry[0] for entry in [*WRONG, *SIXTY]],
)
def test_a_wrong_argument_is_one_clear_error(call: Callable[[], object], words: str):
    with pytest.raises(RefengineError) as refused:
        call()
    said = str(refused.value)
    assert words in said
    assert said.isprintable() and len(said) < 500


def test_a_right_argument_is_not_refused():
    """What the messages advise. A kind and an operator may be given as words."""
    push(T, NAIVE.replace(tzinfo=UTC))
    assert (
        Window("s", "time", 10, 10) == timed() and Window("s", "time", 10, 10).kind is timed().kind
    )
    assert Query(QUERY.windows, QUERY.body, "Istream").r2s is R2S.ISTREAM
    recorded = (relation for relation in [Relation(("x",), BAG)])
    assert judge(QUERY, STREAMS, PROFILE, recorded, missing=0).passed
    assert len(SIXTY) >= 60
