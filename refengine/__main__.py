"""`python -m refengine`: run a continuous query over recorded streams, or render it in another
language.

Exit codes: 0 done, 2 bad input, 3 unsupported (no single answer is defined), 4 no witness confirms
an answer, 130 interrupted. Reports are printed as they are computed: after 4 or 130 standard output
holds those before, each with the witnesses that confirm it. The last line on standard error says
who computed them: incremental evaluation, as far as it covers the query, or the SPARQL evaluator
(ENG-6).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any

from refengine import cli
from refengine.model.errors import (
    Disputed,
    InvalidQuery,
    InvalidSemantics,
    RefengineError,
    UnknownField,
    Unsupported,
)
from refengine.model.libraries import HiddenPackage
from refengine.model.messages import plain

# the engine is imported where it is used, within `cli.run`: that takes long enough to be
# interrupted
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from refengine.core.engine import Plan, Report
    from refengine.core.query import Query
    from refengine.core.question import Question
    from refengine.model.elements import Stream
    from refengine.rdf.forms.reading import ReadStream
    from refengine.rdf.sources import Source


# the sub-commands of this package
OWN = ("run", "infer", "profiles", "render", "compile", "completion")
QUERY_FORM = "a TOML file with windows, body and optionally r2s, or a case of the suite"


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    return cli.run("refengine", partial(_main, arguments))


def _main(arguments: list[str] | None) -> int:
    from refengine.rdf.recordings import relation_to_json

    words = sys.argv[1:] if arguments is None else arguments
    command = next((word for word in words if not word.startswith("-")), None)
    added, reasons = _added_commands(command)
    options = cli.parse(_parser(added, reasons), words)
    if options.command in added:
        return added[options.command].run(options)
    if options.command == "infer":
        return _infer(options)
    try:
        {
            "run": _run,
            "profiles": _profiles,
            "render": _render,
            "compile": _compile,
            "completion": _complete,
        }[options.command](options)
    except Disputed as error:
        for name, relation in sorted(error.answers.items()):
            error.add_note(
                f"{name}: {json.dumps(relation_to_json(relation)['results']['bindings'])[:2000]}"
            )
        raise
    return 0


def _added_commands(command: str | None) -> tuple[dict[str, cli.Command], list[str]]:
    """Return the sub-commands that other packages add, as far as they are needed: the one that is
    asked for, or all if it is unknown, with the reasons why some cannot be imported. Raises
    HiddenPackage if that is the one that is asked for.
    """
    if command in OWN and command != "completion":
        return {}, []
    points = cli.find_commands()
    if command in points:
        return {command: cli.load_command(points[command])}, []
    added: dict[str, cli.Command] = {}
    reasons: dict[str, None] = {}  # in order, each once
    for name in sorted(points):
        try:
            added[name] = cli.load_command(points[name])
        except HiddenPackage as error:
            reasons[str(error).removeprefix(f"{name}: ")] = None
    return added, list(reasons)


def _parser(
    added: Mapping[str, cli.Command], reasons: Sequence[str] = ()
) -> argparse.ArgumentParser:
    parser = cli.Parser(
        prog="refengine",
        description="The reference engine for RDF streams: run and translate continuous queries; "
        "and the suite that judges other engines by it.",
        epilog="; ".join(reasons),
    )
    cli.add_version(parser)
    commands = parser.add_subparsers(dest="command", required=True)
    profiles = commands.add_parser(
        "profiles",
        help="print the fields of every profile, with their sources",
        description="Print the fields of every profile, with their sources.",
    )
    profiles.add_argument(
        "--format",
        choices=("markdown", "json"),
        default="markdown",
        help="the form of the table (default: %(default)s)",
    )
    _add_run_options(
        commands.add_parser(
            "run",
            help="run a query over recorded streams, and print its reports",
            description="Run a continuous query over recorded streams. Each report is printed as a "
            "line of JSON, as soon as it is computed. Answers are computed incrementally where "
            "that is covered, and else by the SPARQL evaluator: the last line on standard error "
            "says so. Each report names the witnesses that confirm its answer. Of the incremental "
            "answers only the first are confirmed (ENG-6). If no witness confirms an answer that "
            "one was asked for, the run ends with exit code 4; the reports before it have been "
            "printed.",
        )
    )
    _add_infer_options(
        commands.add_parser(
            "infer",
            help="find every semantics that explains recorded answers",
            description="Find every semantics that explains the recorded answers of an engine to a "
            "query, over all fields. What cannot be told apart by the answers is said to be "
            "undetermined, with the reason. Exit codes: 0 some semantics explains the answers, 1 "
            "none does (the nearest is printed), 130 interrupted (what is known is printed).",
        )
    )
    _add_render_options(
        commands.add_parser(
            "render",
            help="translate a query to another language, or explain it",
            description="Print a query as a text in another language. If that language cannot "
            "express a part of the query, the query is refused and the message names that part. "
            "With --explain, print what each part of the query means.",
        )
    )
    _add_compile_options(
        commands.add_parser(
            "compile",
            help="print the Python module that a query's body is compiled to",
            description="Print the Python module by which incremental evaluation follows the "
            "answers of a query's body (ENG-6). Each of its blocks names the rule that it is of.",
        )
    )
    completion = commands.add_parser(
        "completion",
        help="print what completes these commands in a shell",
        description="Print a script that completes commands and options in a shell: in bash, "
        'eval "$(refengine completion bash)".',
    )
    completion.add_argument("shell", choices=("bash", "tcsh", "zsh"), help="the shell")
    for command in added.values():
        command.add_parser(commands)
    return parser


def _add_run_options(run: argparse.ArgumentParser) -> None:
    from refengine import dialects
    from refengine.core import engine, profiles, r2r

    cli.add_query_in_any_language(run, QUERY_FORM, dialects.DIALECTS)
    _add_base(run)
    _add_stream_options(run)
    run.add_argument(
        "--semantics",
        required=True,
        nargs="+",
        metavar=("PROFILE", "key=value"),
        help="a profile, and values that replace fields of it, such as t0=0. The profiles are "
        f"{', '.join(sorted(profiles.PROFILES))}",
    )
    run.add_argument(
        "--max-reports",
        type=int,
        default=engine.MAX_REPORTS,
        metavar="N",
        help="refuse a run that would give more than N reports (ENG-3; default: %(default)s)",
    )
    run.add_argument(
        "--definition",
        action="store_true",
        help="compute each answer anew, by the SPARQL evaluator, and ask the witnesses for each "
        "(default: incrementally)",
    )
    run.add_argument(
        "--witness",
        choices=sorted(r2r.WITNESSES),
        help="ask this witness only (default: both)",
    )
    run.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        help="give up an evaluation by the SPARQL evaluator that takes longer than S seconds "
        "(R2R-17; default: only the number of its steps is limited)",
    )
    run.add_argument(
        "--trace",
        action="store_true",
        help="print on standard error the rules that produced each report",
    )


def _add_stream_options(run: argparse.ArgumentParser) -> None:
    from refengine.rdf import documents, streams
    from refengine.rdf.forms import reading

    run.add_argument(
        "--stream",
        required=True,
        action="append",
        metavar="[NAME=]FILE",
        help=f"the data of a stream: a file that ends in {', '.join(streams.FORMS)}, also with .gz "
        "or .zst (IO-1); a folder of data_NN.ttl; or - for standard input, with --stdin-format. "
        "NAME is the name of the stream (default: the stream of the query's first window). May be "
        "given several times",
    )
    run.add_argument(
        "--stdin-format",
        metavar="END",
        help="the format of standard input, written as the end of a file's name: n3t, nq, "
        "trig.gz, …",
    )
    run.add_argument(
        "--time-predicate",
        metavar="IRI",
        help="the predicate that states the time of a graph, a subject or a message (IO-1; "
        "default: the ldes:timestampPath of a feed, or else prov:generatedAtTime)",
    )
    run.add_argument(
        "--undated",
        choices=[str(choice) for choice in reading.Undated],
        default=str(reading.Undated.REFUSE),
        help="what becomes of triples and graphs of a stream's file that have no time: an error, "
        "static data beside that of --static, or nothing (IO-1; default: %(default)s)",
    )
    run.add_argument(
        "--data-base",
        default="",
        metavar="IRI",
        help="the base of relative IRIs in the files of --stream and --static that state none "
        "(IO-1; default: such IRIs are refused)",
    )
    run.add_argument(
        "--batch-predicate",
        metavar="IRI",
        help="the predicate that states the batch id there (default: there are no batch ids)",
    )
    run.add_argument(
        "--columns",
        type=cli.path,
        metavar="FILE",
        help="what the columns of each .csv and .tsv mean: a file of TOML (IO-3; default: each row "
        "is a quad and its time)",
    )
    run.add_argument(
        "--static",
        action="append",
        default=[],
        metavar="[IRI=]FILE",
        help=f"a file of static data: {', '.join(documents.LANGUAGES)}, also with .gz or .zst; or "
        "- for standard input. With IRI, it is the graph that FROM or FROM NAMED of the query "
        "names (QRY-2). May be given several times",
    )


def _add_infer_options(infer: argparse.ArgumentParser) -> None:
    from refengine import dialects

    cli.add_query_in_any_language(infer, QUERY_FORM, dialects.DIALECTS)
    _add_base(infer)
    _add_stream_options(infer)
    infer.add_argument(
        "--answers",
        required=True,
        nargs="+",
        type=cli.path,
        metavar="FILE",
        help="recordings of the engine's answers to the query, in CSRBench's JSON or YABench's "
        "form (IO-2); what explains all of them is found",
    )
    space = infer.add_mutually_exclusive_group()
    space.add_argument(
        "--semantics",
        nargs="+",
        metavar=("PROFILE|key=value", "key=value"),
        help="look only at these semantics: those of a profile, and values that fields may have, "
        "such as t0=0 or closure=[)|(]; unknown opens a field (default: every value of each)",
    )
    space.add_argument(
        "--among",
        type=cli.path,
        metavar="FILE",
        help="look only at the semantics that an earlier result in JSON has left, of the same "
        "engine and another query",
    )
    infer.add_argument(
        "--missing",
        type=int,
        default=1,
        metavar="N",
        help="how many outputs may be missing at each end of a recording (ORA-3; default: "
        "%(default)s)",
    )
    infer.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="the form of the output (default: %(default)s)",
    )


def _add_render_options(render: argparse.ArgumentParser) -> None:
    from refengine import dialects

    cli.add_query(
        render,
        help="a TOML file with a query, or a case of the suite; with --from, a text in that "
        "language",
    )
    output = render.add_mutually_exclusive_group(required=True)
    output.add_argument(
        "--dialect",
        choices=sorted(dialects.DIALECTS),
        help="the language to translate to",
    )
    output.add_argument(
        "--explain",
        action="store_true",
        help="print in sentences what the windows, the static graphs and the operator mean, with "
        "the rules",
    )
    render.add_argument(
        "--from",
        dest="source",
        choices=sorted(dialects.DIALECTS),
        help="the language that QUERY is written in, if it is not TOML",
    )
    _add_base(render)
    render.add_argument(
        "--semantics",
        nargs="+",
        metavar=("PROFILE", "key=value"),
        help="a profile, and values that replace fields of it. If the query has no r2s, the r2s of "
        "this semantics is written, where the language can state it (DIA-4)",
    )
    render.add_argument(
        "--static",
        action="store_true",
        help="the query will be run with static data; in some languages windows do not see it, "
        "so it is written in another way (DIA-5)",
    )


def _add_compile_options(parser: argparse.ArgumentParser) -> None:
    from refengine import dialects

    cli.add_query_in_any_language(parser, QUERY_FORM, dialects.DIALECTS)
    _add_base(parser)
    parser.set_defaults(semantics=None)


def _add_base(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--base",
        type=cli.base_iri,
        default="",
        metavar="IRI",
        help="the base of relative IRIs in QUERY, if it is a text in a language, and of the IRIs "
        "of --static (DIA-5)",
    )


def _complete(options: argparse.Namespace) -> None:
    import shtab

    added, _ = _added_commands("completion")
    print(shtab.complete(_parser(added), options.shell))


def _profiles(options: argparse.Namespace) -> None:
    from refengine.core import profiles

    if options.format == "json":
        print(json.dumps(list(profiles.table()), indent=2, ensure_ascii=False))
    else:
        print("\n".join(profiles.markdown(profiles.table())))


def _render(options: argparse.Namespace) -> None:
    from refengine import dialects
    from refengine.core import profiles
    from refengine.core.explain import explain
    from refengine.core.values import R2S
    from refengine.rdf.queries import read_query

    r2s = None
    if options.semantics:
        name, *overrides = options.semantics
        r2s = profiles.profile(name).with_fields(_overrides(overrides)).fields["r2s"]
        if not isinstance(r2s, R2S):
            raise UnknownField(f"profile {name!r} leaves r2s unknown; give r2s=…", rule="SEM-3")
    query = read_query(options.query, options.source, options.static, options.base)
    if options.explain:
        print("\n".join(explain(query, options.static)))
    else:
        print(dialects.render(query, options.dialect, r2s, options.static))


def _compile(options: argparse.Namespace) -> None:
    from refengine.incremental.algebra.body import compile_body
    from refengine.incremental.coverage import NotCovered
    from refengine.rdf.queries import read_query

    query = read_query(options.query, options.dialect, False, options.base)
    try:
        print(compile_body(query.body).source, end="")
    except NotCovered as error:
        reason = f"incremental evaluation does not cover {error}"
        raise Unsupported(reason, rule="ENG-6", place="body") from None


def _infer(options: argparse.Namespace) -> int:
    from refengine.infer_command import Inference, candidates_of, infer, lines, to_json
    from refengine.oracle.judge import EVERY_WITNESS

    question, _ = _read_question(options)
    candidates = candidates_of(options.semantics or (), options.among, question)
    inferred = Inference(candidates)
    try:
        infer(candidates, question, options.answers, options.missing, EVERY_WITNESS, inferred)
    finally:
        if inferred.questions:
            if options.format == "json":
                print(json.dumps(to_json(inferred), ensure_ascii=False))
            else:
                print("\n".join(map(plain, lines(inferred))))
    return 0 if inferred.left else 1


def _read_question(options: argparse.Namespace) -> tuple[Question, list[str]]:
    """Return the question that the options state, and what a user should know of its data."""
    from refengine.core.question import Question
    from refengine.core.static import names_of_graphs, resolve_static
    from refengine.rdf.documents import join_static, read_all_static, read_static
    from refengine.rdf.forms.reading import Undated
    from refengine.rdf.queries import read_query

    graphs, always = cli.graphs_and_files(options.static, options.base)
    source = _sources(options)
    base = options.data_base
    data = [read_static(source(file), base) for file in always]
    has_static = bool(always) or options.undated == Undated.STATIC
    named = names_of_graphs(frozenset().union(*data))
    query = read_query(options.query, options.dialect, has_static, options.base, named)
    read = _read_streams(options, query, source)
    notes = [
        *_notes_on_graphs(query, graphs),
        *(note for one in read.values() for note in one.notes),
    ]
    query, static = resolve_static(
        query,
        {iri: read_all_static(map(source, files), base) for iri, files in graphs.items()},
        join_static([*data, *(found.static for found in read.values() if found.static)]),
    )
    return Question(query, {name: one.stream for name, one in read.items()}, static), notes


def _run(options: argparse.Namespace) -> None:
    from refengine import incremental, sparql, trace
    from refengine.core import engine, profiles, silence
    from refengine.run_with_witnesses import Hearing, RunWithWitnesses

    if options.max_reports < 1:
        raise RefengineError(f"--max-reports must be > 0, got {options.max_reports}", rule="ENG-3")
    if options.seconds is not None and not options.seconds >= 0:  # NaN among them
        raise RefengineError(f"--seconds must be >= 0, got {options.seconds}", rule="R2R-17")
    name, *overrides = options.semantics
    chosen = profiles.profile(name).with_fields(_overrides(overrides)).semantics()
    question, notes = _read_question(options)
    query, streams, static = question.query, question.streams, question.static
    _print_notes(notes)

    planned = engine.plan(query, streams, chosen)
    _print_notes(_notes(query, streams, planned))
    evaluations = incremental.schedule_evaluations(planned, options.max_reports)
    if options.definition:
        evaluations = engine.evaluations(planned, options.max_reports)
    # nothing is printed if this fails
    deque(evaluations, maxlen=0)

    limits = sparql.Limits(seconds=options.seconds, clock=time.monotonic)
    hearing = Hearing(_witnesses(options), limits)
    run = RunWithWitnesses(query, planned, static, hearing, options.max_reports, options.definition)
    counts = silence.EvaluationCounts()
    for step, confirming in run:
        counts.add(step)
        if options.trace:
            for line in trace.lines(query, planned, step):
                print(line, file=sys.stderr)
            print(file=sys.stderr)
        if step.emitted:
            print(json.dumps(_as_json(query, step.report, confirming), ensure_ascii=False))
    _print_notes(filter(None, [silence.why_silent(query, streams, planned, counts)]))
    print(f"refengine: provenance: {run.describe_provenance()}", file=sys.stderr)


def _print_notes(notes: Iterable[str]) -> None:
    for note in notes:
        print(f"refengine: note: {plain(note)}", file=sys.stderr)


def _notes_on_graphs(query: Query, graphs: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield what a user should know of static data that the query does not name."""
    named = {clause.graph for clause in query.body.graphs}
    for iri in sorted(graphs.keys() - named):
        yield f"the static data of <{iri}> is not used: no FROM of the query names it (QRY-2)"


def _witnesses(options: argparse.Namespace) -> Sequence[str]:
    """Return the witnesses to be asked, and say once which are not there. Raises RefengineError if
    none is.
    """
    from refengine.core import r2r
    from refengine.sparql.witnesses import why_absent

    asked = tuple(r2r.WITNESSES)
    if options.witness:
        asked = (options.witness,)
    absent = why_absent(asked)
    if len(absent) == len(asked):
        raise RefengineError(f"no witness is there: {'; '.join(absent.values())}", rule="R2R-5")
    cli.note_absent_witnesses("refengine", asked)
    return tuple(name for name in asked if name not in absent)


def _notes(query: Query, streams: Mapping[str, Stream], planned: Plan) -> Iterator[str]:
    """Yield what a user should know of the streams before the first report."""
    from refengine.core import silence
    from refengine.oracle import orders

    names = {spec.stream for spec in query.windows}
    is_merged = len(names) > 1 or any(not streams[name].ordered for name in names)
    if is_merged and orders.order_matters(planned):
        yield (
            "the arrival order of simultaneous elements was not recorded; they are taken in the "
            "order of their text (ORA-4)"
        )
    if planned.late:
        place = f"the first at {planned.late[0].app}, arrival {planned.late[0].sys}"
        yield f"{len(planned.late)} late elements dropped, {place} (MOD-2)"
    yield from silence.notes_on_hidden_ranges(planned)


def _overrides(words: list[str]) -> dict[str, str]:
    overrides = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise InvalidSemantics(f"expected key=value, such as t0=0, got {word!r}", rule="SEM-1")
        if key in overrides:
            raise InvalidSemantics(f"{key} is given twice", rule="SEM-1")
        overrides[key] = value
    return overrides


def _sources(options: argparse.Namespace) -> Callable[[str], Source]:
    """Return what makes a file, or standard input, of a word. Raises RefengineError where standard
    input cannot be read as the words say.
    """
    from refengine.rdf.sources import Piped

    words = [word.rpartition("=")[2] for word in [*options.stream, *options.static]]
    end: str | None = options.stdin_format
    if end is None and "-" in words:
        reason = "its format is not known; give --stdin-format, such as n3t, nq or trig.gz"
        raise RefengineError(reason, rule="IO-1", place="standard input")
    if end is not None and "-" not in words:
        raise RefengineError(
            "nothing is read from standard input", rule="IO-1", place="--stdin-format"
        )
    if words.count("-") > 1:
        raise RefengineError(
            "can be read only once, but is given twice", rule="IO-1", place="standard input"
        )
    if "-" in words and sys.stdin is None:
        raise RefengineError("is closed", rule="IO-1", place="standard input")

    def source(word: str) -> Source:
        if word == "-":
            return Piped(f"stdin.{(end or '').removeprefix('.')}", sys.stdin.buffer)
        return cli.path(word)

    return source


def _read_streams(
    options: argparse.Namespace, query: Query, source: Callable[[str], Source]
) -> dict[str, ReadStream]:
    """Return what is read of the streams by name; one without a name is the stream of the query's
    window.
    """
    from refengine.rdf.forms.reading import ReadingOptions, Undated
    from refengine.rdf.streams import is_table, read_stream_and_rest

    streams: dict[str, ReadStream] = {}
    for word in options.stream:
        name, path = cli.stream_and_file(word)
        if name is None:
            name = query.windows[0].stream
        if name in streams:
            raise InvalidQuery(f"stream {name!r} is given twice", rule="QRY-4")
        file = source(path)
        columns = options.columns
        if len(options.stream) > 1 and not is_table(file):
            columns = None
        chosen = ReadingOptions(
            options.time_predicate,
            options.batch_predicate,
            Undated(options.undated),
            columns,
            options.data_base,
        )
        streams[name] = read_stream_and_rest(file, chosen)
    return streams


def _as_json(query: Query, report: Report, witnesses: Sequence[str]) -> dict[str, Any]:
    from refengine.rdf.recordings import relation_to_json

    shown: dict[str, Any] = {}
    windows = list(map(_borders_as_json, report.windows))
    if len(windows) == 1:
        shown["window"] = windows[0]
    else:
        shown["windows"] = [
            {"stream": spec.stream, "window": borders}
            for spec, borders in zip(query.windows, windows, strict=True)
        ]
    if report.late:
        shown["late"] = report.late
    if report.key:
        shown["key"] = list(report.key)
    if report.takes_back:
        shown["takes_back"] = True
    return {
        **shown,
        "evaluation": report.evaluation,
        "trigger": report.trigger,
        "instant": report.instant,
        "witnesses": list(witnesses),
        **relation_to_json(report.relation),
    }


def _borders_as_json(borders: tuple[int, int] | None) -> dict[str, int] | None:
    if borders is None:
        return None
    return dict(zip(("open", "close"), borders, strict=True))


if __name__ == "__main__":
    sys.exit(main())
