"""What is given to a public door and is of another type: one error of ours, which says what to
write. Most of these were an AttributeError, a TypeError or a ValueError, or were taken for another
value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from conformance.metrics import citybench, lsbench, yabench
from conformance.spark import compare_reports, mismatch, truth
from conformance.verdict.outcomes import judge_relations
from refengine import (
    Body,
    Element,
    Engine,
    Query,
    Relation,
    Stream,
    dialects,
    difference,
    equal,
    evaluate,
    evaluations,
    from_table,
    incremental,
    literal,
    plan,
    profile,
    row,
    sparql,
    stream,
)
from refengine.adaptive import WindowJoin, join_window
from refengine.bounded import BoundedJoin, bounded_query, run_join
from refengine.core.question import Question
from refengine.model.errors import RefengineError
from refengine.oracle.judge import judge
from refengine.rdf.documents import read_static
from refengine.rdf.forms.reading import ReadingOptions
from refengine.rdf.recordings import read_recording
from refengine.rdf.streams import read_elements, read_stream, read_stream_and_rest

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
        "window_closure: ORA-11: must be one of [), (], [], or None, got '['",
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
        "push: None",
        lambda: Engine(QUERY, ["s"], SEMANTICS).push("s", None),
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


@pytest.mark.parametrize(
    ("call", "words"), [entry[1:] for entry in WRONG], ids=[entry[0] for entry in WRONG]
)
def test_a_wrong_argument_is_one_clear_error(call: Callable[[], object], words: str):
    with pytest.raises(RefengineError) as refused:
        call()
    said = str(refused.value)
    assert words in said
    assert said.isprintable() and len(said) < 500
