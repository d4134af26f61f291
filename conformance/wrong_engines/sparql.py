"""Wrong engines for the body: QRY-1 to QRY-3, and §7's definition of SPARQL.

Many have a defect that docs/witnesses.md lists of rdflib or of pyoxigraph.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import count
from typing import Any

from lark import Token, Tree

from conformance.wrong_engines import Miniature
from refengine.core import r2r
from refengine.core.query import Body
from refengine.model import compare
from refengine.model.compare import TOLERANCE
from refengine.model.compare import Number as Compared
from refengine.model.compare import near as right_near
from refengine.model.elements import (
    XSD,
    Dataset,
    Quad,
    Relation,
    Triple,
    literal,
    parse_literal,
    row,
)
from refengine.model.errors import Disputed, InvalidQuery, NoSingleAnswer, RefengineError
from refengine.model.terms import Term
from refengine.model.xsd import INTEGER_FORM, date_time
from refengine.sparql.aggregates import _sum as right_sum
from refengine.sparql.aggregates import aggregate as right_aggregate
from refengine.sparql.aggregates import extreme as right_extreme
from refengine.sparql.algebra import (
    Aggregate,
    Exists,
    Expression,
    Filter,
    Group,
    Query,
    Repeated,
    TriplePattern,
    Var,
)
from refengine.sparql.algebra import Sequence as Steps
from refengine.sparql.choices import Choices
from refengine.sparql.evaluation import Evaluation, ask_answer
from refengine.sparql.evaluation.answers import tolerated_slack as right_tolerated
from refengine.sparql.evaluation.duplicates import keep_distinct
from refengine.sparql.evaluation.joining import join
from refengine.sparql.evaluation.matching import match_basic as right_matched
from refengine.sparql.evaluation.run import Run
from refengine.sparql.expressions import Expressions, LabelledNodes
from refengine.sparql.functions import ARITIES_BY_IRI
from refengine.sparql.functions import cast as right_cast
from refengine.sparql.grammar import fault as right_fault
from refengine.sparql.order import compare_in_order as right_compare_in_order
from refengine.sparql.order import extremes as right_extremes
from refengine.sparql.paths import pairs as right_pairs
from refengine.sparql.regex import compile_pattern as right_compile
from refengine.sparql.translate import Reader
from refengine.sparql.translate import read as right_read
from refengine.sparql.unknowns import of_unknown as right_of_unknown
from refengine.sparql.unknowns import unknown as right_unknown
from refengine.sparql.values import (
    ERROR,
    FLOAT,
    Computed,
    Failure,
    Number,
    OtherLiteral,
    Result,
    StringValue,
    Unknown,
    boolean,
    single,
    text,
    value,
)
from refengine.sparql.values import as_binary as right_as_binary
from refengine.sparql.values import calculate as right_calculate
from refengine.sparql.values import compare as right_compare
from refengine.sparql.values import decimal_of as right_decimal_of
from refengine.sparql.values import equal as right_equal
from refengine.sparql.values import number_term as right_number_term
from refengine.sparql.values import read as right_literal
from refengine.sparql.values import same as right_same
from refengine.sparql.values import truth as right_truth

Node = Tree[Token]

NOBODY = "none known"
BOTH = "rdflib 7.6 and pyoxigraph 0.5"
NEW = count(1_000_000)  # of UUIDs that no evaluation has made
right_grouped = Evaluation.group
right_holds = Expressions.holds
right_answer = Evaluation.answer
right_iri, right_resolved, right_refuse = (
    Reader.iri,
    Reader.resolve_iri,
    Reader.refuse_outside_sources,
)
right_node, right_applied, right_choose = Expressions.node, Expressions.apply, Choices.choose


# QRY-1 to QRY-3


def unreadable_is_empty(text: str) -> tuple[Query, str]:
    """A body that cannot be read is one that asks for nothing."""
    try:
        return right_read(text)
    except InvalidQuery:
        return right_read("SELECT * WHERE { }")


def prefixes_are_built_in(reader: Reader, token: Token) -> str:
    """Well-known prefixes need not be declared."""
    prefix, _, local = token.partition(":")
    known = prefix not in reader.prefixes and token.type != "IRIREF"
    return f"http://xmlns.com/foaf/0.1/{local}" if known else right_iri(reader, token)


def names_have_one_dot(text: str) -> tuple[Query, str]:
    """A prefixed name has at most one dot."""
    if found := re.search(r":\w+\.\w+\.\w+", text):
        raise InvalidQuery(f"not SPARQL 1.1: {found[0]!r}", rule="QRY-1", place="body")
    return right_read(text)


def variables_need_no_group(reader: Reader, items: list[Node], outputs: Any, keys: Any) -> None:
    """A variable that is no key is that of some member of the group."""


def relative_iris_are_kept(reader: Reader, token: Token) -> str:
    """An IRI without a scheme is an IRI."""
    return right_resolved(reader, token) if reader.base or ":" in token else str(token[1:-1])


def anything_is_local(reader: Reader, form: Node) -> None:
    """SERVICE and FROM are the evaluator's business, which has what SERVICE names at hand."""
    for service in form.find_data("service"):
        service.data, service.children = "group_or_union", service.children[-1:]


def only_service_is_remote(reader: Reader, form: Node) -> None:
    """SERVICE is refused, but FROM is taken for the name of something local."""
    right_refuse(
        reader,
        Tree(
            "form",
            [child for child in form.children if getattr(child, "data", "") != "dataset_clause"],
        ),
    )


def updates_are_syntax_errors(text: str, error: Any) -> RefengineError:
    """An update is not told from a text that is no SPARQL at all."""
    found = right_fault(text, error)
    return InvalidQuery(found.reason, rule="QRY-1", place=found.place)


def any_answer_will_do(run: Callable[[Choices], Any], same: Callable[[Any, Any], bool]) -> Any:
    """One of the answers that SPARQL allows is as good as another."""
    return run(Choices([]))


def every_choice_is_open(run: Callable[[Choices], Any], same: Callable[[Any, Any], bool]) -> Any:
    """Where an evaluator has a choice there is no answer, whether the choice matters or not."""
    choices = Choices([])
    found = run(choices)
    if choices.next_script() is not None:
        raise NoSingleAnswer("a choice")
    return found


def nothing_is_known_of_a_uuid(name: str, results: Sequence[Term]) -> Result:
    """Of a UUID not even the length is known."""
    raise NoSingleAnswer("UUID has no single answer")


def a_value_is_made_up(name: str, results: Sequence[Term]) -> Result:
    """RAND gives one half, and every other unknown value some example."""
    from refengine.sparql.functions import BY_KEYWORD

    plain = [str(result) for result in results]
    return BY_KEYWORD[name](*plain) if name in BY_KEYWORD else boolean(True)


def one_sample_is_chosen(choices: Choices, key: Any, options: Sequence[Any], reason: str) -> Any:
    """What SAMPLE takes of some values it takes of them wherever it stands, in every group."""
    return right_choose(
        choices, tuple(options) if reason.startswith("SAMPLE") else key, options, reason
    )


def reduced_is_all_or_once(run: Run, solutions: list[dict[str, Term]]) -> list[dict[str, Term]]:
    """REDUCED keeps a solution once or as often as it is there, and nothing in between."""
    once = keep_distinct(run, solutions)
    return (
        run.choices.choose(("REDUCED", len(solutions)), (solutions, once), "REDUCED")
        if len(once) < len(solutions)
        else once
    )


def tags_have_one_form(
    expressions: Expressions, name: str, results: Sequence[Term], nodes: LabelledNodes
) -> Result:
    """LANG gives the tag as the data has it."""
    is_literal = name == "LANG" and results[0].startswith('"')
    return (
        text(parse_literal(results[0]).language)
        if is_literal
        else right_applied(expressions, name, results, nodes)
    )


def each_string_is_another(name: str, results: Sequence[Term]) -> Result:
    """The string of a UUID is a new one each time."""
    return right_unknown("STRUUID", next(NEW)) if name == "STR" else right_of_unknown(name, results)


def uuids_have_one_value(name: str, number: int) -> Unknown:
    """UUID gives one IRI, however often it is called."""
    return right_unknown(name, 1)


def nothing_is_known_of_a_tag(
    expressions: Expressions, name: str, results: Sequence[Term], nodes: LabelledNodes
) -> Result:
    """Of a tag with a region not even the language is known."""
    if name == "LANG" and results[0].startswith('"') and "-" in parse_literal(results[0]).language:
        raise NoSingleAnswer("LANG of a tag with a region")
    return right_applied(expressions, name, results, nodes)


# §7 R2R-2 to R2R-6


def sets_of_solutions(
    variables: tuple[str, ...], mappings: Iterable[Mapping[str, Term]]
) -> Relation:
    """SELECT gives a set: equal rows are one."""
    return Relation(variables, Counter({row(mapping.items()) for mapping in mappings}))


def unbound_is_empty_text(
    variables: tuple[str, ...], mappings: Iterable[Mapping[str, Term]]
) -> Relation:
    """An unbound variable is bound to the empty string."""
    return Relation(
        variables,
        Counter(row({**dict.fromkeys(variables, '""'), **mapping}) for mapping in mappings),
    )


def false_is_no_row(holds: bool) -> Relation:
    """An ASK that does not match has no answer."""
    return Relation(
        ("ask",), Counter([row({"ask": literal("true", XSD + "boolean")})] if holds else [])
    )


def groups_are_not_asked(evaluation: Evaluation) -> Relation:
    """ASK asks for a solution of WHERE, and groups say nothing of it."""
    pattern = evaluation.query.pattern
    while evaluation.query.form == "ASK" and isinstance(pattern, Filter | Group):
        pattern = pattern.pattern
    return (
        ask_answer(bool(evaluation.solutions(pattern)))
        if evaluation.query.form == "ASK"
        else right_answer(evaluation)
    )


def any_triple(graph: Iterable[Triple]) -> Relation:
    """CONSTRUCT gives whatever the template makes, triples that RDF does not allow included."""
    names = ("subject", "predicate", "object")
    return Relation(names, Counter(row(zip(names, triple, strict=True)) for triple in set(graph)))


def only_iris(graph: Iterable[Triple]) -> Relation:
    """CONSTRUCT gives triples of IRIs only."""
    return any_triple(triple for triple in graph if all(term.startswith("<") for term in triple))


def forms_are_fixed(run: Run, triples: Iterable[Triple]) -> Iterable[Triple]:
    """The triples of a computed term are those of one of its forms."""
    return {(str(s), str(p), str(o)): None for s, p, o in triples}


def first_witness_is_right(
    body: Body, graph: Dataset, witnesses: Sequence[str] = ("rdflib",), asked: Any = r2r.ask
) -> r2r.Testimony:
    """What the first witness says is the ground truth."""
    return r2r.Testimony(asked(witnesses[0], body, graph), tuple(witnesses[:1]))


def all_must_confirm(
    body: Body,
    graph: Dataset,
    witnesses: Sequence[str] = ("rdflib", "pyoxigraph"),
    asked: Any = r2r.ask,
) -> r2r.Testimony:
    """An answer that one witness does not confirm is disputed."""
    relation = asked(r2r.DEFINITION, body, graph)
    for name in witnesses:
        if not compare.equal(relation.rows, asked(name, body, graph).rows):
            raise Disputed("a witness differs", rule="R2R-5")
    return r2r.Testimony(relation, tuple(witnesses))


def terms_are_confirmed(
    body: Body,
    graph: Dataset,
    witnesses: Sequence[str] = ("rdflib", "pyoxigraph"),
    asked: Any = r2r.ask,
) -> r2r.Testimony:
    """A witness that writes a number in different digits does not confirm it."""
    relation = asked(r2r.DEFINITION, body, graph)
    if all(asked(name, body, graph).rows != relation.rows for name in witnesses):
        raise Disputed("no witness confirms the definition's answer", rule="R2R-5")
    return r2r.Testimony(relation, tuple(witnesses))


def bodies_are_given_as_written(text: str) -> tuple[Query, str]:
    """The witnesses are given a body as it is written, be it what they read or not."""
    return right_read(text)[0], text


def groups_need_no_members(evaluation: Evaluation, group: Group) -> list[dict[str, Term]]:
    """Grouping no solutions by a key gives one empty group."""
    return right_grouped(evaluation, group) or [{}]


def no_group_without_members(evaluation: Evaluation, group: Group) -> list[dict[str, Term]]:
    """The one group of an aggregate without a key needs a member, too."""
    return right_grouped(evaluation, group) if evaluation.solutions(group.pattern) else []


# §7 R2R-10 to R2R-21


def literals_match_by_value(
    run: Run, triples: Sequence[TriplePattern], condition: Any = None
) -> list[dict[str, Term]]:
    """A literal of a pattern matches every one of its value."""
    if not any(
        isinstance(term, str) and term.startswith('"') for triple in triples for term in triple
    ):
        return right_matched(run, triples)
    found = []
    for other in run.graph.triples:
        if other[2].startswith('"'):
            turned = [
                triple._replace(object=other[2])
                if value(str(triple.object)) == value(other[2])
                else triple
                for triple in triples
            ]
            found += right_matched(run, turned)
    return found


def zero_is_one_term(left: Term, right: Term) -> bool:
    """The two zeros of doubles are one term."""
    one, other = value(left), value(right)
    are_zeros = (
        isinstance(one, Number)
        and isinstance(other, Number)
        and one.rank == other.rank
        and one.value == other.value == 0
    )
    return are_zeros or right_same(left, right)


def nan_is_no_term(left: Term, right: Term) -> bool:
    """What is not equal to itself is no term that is the same as itself."""
    numbers = [found.value for found in map(value, (left, right)) if isinstance(found, Number)]
    return all(number == number for number in numbers) and right_same(left, right)


def any_form_is_a_number(lexical: str, datatype: str) -> Any:
    """A literal is a number if its datatype says so."""
    found = right_literal(lexical, datatype)
    return Number(0, 0) if found is ERROR else found


def integers_are_normalised(term: Term) -> str | Failure:
    """An integer is kept as its value."""
    if not term.startswith('"'):
        return ERROR
    lexical, datatype, _ = parse_literal(term)
    return (
        str(int(lexical))
        if datatype == XSD + "integer" and re.fullmatch("[0-9]+", lexical)
        else lexical
    )


def errors_are_false(result: Result) -> bool | Failure:
    """An error as a condition is false."""
    found = right_truth(result)
    return False if found is ERROR else found


def errors_spread(
    expressions: Expressions,
    arguments: Sequence[Expression],
    solution: Any,
    nodes: Any,
    decisive: bool,
) -> Result:
    """`||` and `&&` give an error of an error."""
    found = [right_truth(expressions.result(argument, solution, nodes)) for argument in arguments]
    return ERROR if ERROR in found else boolean(any(found) if decisive else all(found))


def every_conjunct_must_have_an_answer(
    expressions: Expressions, condition: Expression, solution: Any
) -> bool:
    """A filter asks for the whole condition, also where one conjunct alone decides."""
    return right_truth(expressions.result(condition, solution, LabelledNodes(None))) is True


def first_operand_decides(
    expressions: Expressions,
    arguments: Sequence[Expression],
    solution: Any,
    nodes: Any,
    decisive: bool,
) -> Result:
    """`||` and `&&` stop at the first operand that is an error."""
    for argument in arguments:
        found = right_truth(expressions.result(argument, solution, nodes))
        if found is ERROR or found is decisive:
            return ERROR if found is ERROR else boolean(decisive)
    return boolean(not decisive)


def numbers_are_apart_by_type(left: Term, right: Term) -> int | Failure | None:
    """Numbers of two types are never equal."""
    one, other = value(left), value(right)
    if isinstance(one, Number) and isinstance(other, Number) and one.rank != other.rank:
        return 1
    return right_compare(left, right)


def nan_is_itself(left: Term, right: Term) -> int | Failure | None:
    """NaN is equal to NaN."""
    return 0 if left == right else right_compare(left, right)


def unknown_values_differ(left: Term, right: Term) -> bool | Failure:
    """Two different terms are different values."""
    return left == right if isinstance(value(left), OtherLiteral) else right_equal(left, right)


def floats_are_rounded_twice(number: Number, rank: int) -> float:
    """A decimal becomes a float by way of a double."""
    wide = float(number.value)
    return single(wide) if rank == FLOAT and number.rank < FLOAT else wide


def all_of_a_time_counts(left: Term, right: Term) -> int | Failure | None:
    """Every evaluator has every year, and every digit of a second."""
    forms = [parse_literal(term) for term in (left, right) if term.startswith('"')]
    if [form.datatype for form in forms] == [XSD + "dateTime"] * 2 and all(
        form.lexical.endswith("Z") for form in forms
    ):
        apart = date_time(forms[0].lexical).seconds - date_time(forms[1].lexical).seconds
        return (apart > 0) - (apart < 0)
    return right_compare(left, right)


def years_have_any_digits(left: Term, right: Term) -> int | Failure | None:
    """Every evaluator has every year, though not every digit of a second."""
    is_fine = any(
        "." in parse_literal(term).lexical for term in (left, right) if term.startswith('"')
    )
    return right_compare(left, right) if is_fine else all_of_a_time_counts(left, right)


def tokens_are_unknown(left: Term, right: Term) -> bool | Failure:
    """No evaluator knows a type that SPARQL does not name."""
    kinds = {type(value(term)) for term in (left, right)}
    return ERROR if kinds == {OtherLiteral, StringValue} else right_equal(left, right)


def languages_are_known_to_differ(left: Term, right: Term) -> bool | Failure:
    """Every evaluator knows that a string with a language differs from one without."""
    one, other = value(left), value(right)
    return (
        one == other
        if isinstance(one, StringValue) and isinstance(other, StringValue)
        else right_equal(left, right)
    )


def integers_divide_to_integers(sign: str, left: Result, right: Result) -> Result:
    """A division of integers is cut to an integer."""
    found = right_calculate(sign, left, right)
    return right_cast(found, "integer") if sign == "/" and isinstance(found, str) else found


def numbers_alone_are_multiplied(sign: str, left: Result, right: Result) -> Result:
    """No evaluator multiplies durations."""
    if (
        not isinstance(left, str)
        or not isinstance(right, str)
        or not all(isinstance(value(term), Number) for term in (left, right))
    ):
        return ERROR
    return right_calculate(sign, left, right)


def zero_divides(sign: str, left: Result, right: Result) -> Result:
    """A division by zero gives zero."""
    found = right_calculate(sign, left, right)
    return literal("0", XSD + "integer") if found is ERROR and sign == "/" else found


def whole_decimals_have_a_form(term: Term) -> str | Failure:
    """A computed number has the lexical form in which it is written here."""
    return parse_literal(str(term)).lexical if term.startswith('"') else ERROR


def decimals_have_digits_enough(number: Any) -> Term:
    """A decimal that was rounded is what it is."""
    rank, exact, _ = number
    return Computed(
        literal(str(exact), XSD + ("integer", "decimal", "float", "double")[rank]),
        Number(rank, exact),
    )


def digits_stand_anywhere(exact: Fraction) -> Number:
    """Of a decimal 18 digits are kept, wherever they stand."""
    number = right_decimal_of(exact)
    return number._replace(slack=min(number.slack, abs(exact) / 10**17))


def a_digit_is_rounded_once(rank: int, exact: Any) -> Fraction:
    """What is computed with a rounded decimal, and so rounded twice, has no answer."""
    return right_tolerated(rank, exact) / 2


def decimals_are_near_by_their_size(a: Compared, b: Compared) -> bool:
    """Decimals are the same if they differ by little of their size, however small they are."""
    if {a.tolerance, b.tolerance} != {TOLERANCE["decimal"]}:
        return right_near(a, b)
    one, other = Fraction(a.value), Fraction(b.value)
    return abs(one - other) <= Fraction(TOLERANCE["decimal"]) * max(abs(one), abs(other))


def integers_have_no_bound(left: Term, right: Term) -> int | Failure | None:
    """Every evaluator holds every integer of the data."""
    forms = [
        parse_literal(term)
        for term in (left, right)
        if term.startswith('"') and not isinstance(term, Computed)
    ]
    if [form.datatype for form in forms] == [XSD + "integer"] * 2 and all(
        INTEGER_FORM.fullmatch(form.lexical) for form in forms
    ):
        apart = int(forms[0].lexical) - int(forms[1].lexical)
        return (apart > 0) - (apart < 0)
    return right_compare(left, right)


def casts_round(term: Term, kind: str) -> Result:
    """A cast to an integer rounds."""
    found = value(term)
    return (
        literal(str(round(found.value)), XSD + "integer")
        if kind == "integer" and isinstance(found, Number)
        else right_cast(term, kind)
    )


def nodes_are_of_the_query(
    expressions: Expressions, results: Sequence[Term], nodes: LabelledNodes
) -> Result:
    """BNODE with one label is one node of the whole query."""
    return f"_:label/{parse_literal(results[0]).lexical}" if results else expressions.blank()


def unknown_functions_are_errors(text: str) -> tuple[Query, str]:
    """A function that nobody defines is an error where it is called."""
    names = [iri for iri in re.findall("<([^<>]*)>", text) if iri not in ARITIES_BY_IRI]
    return right_read(re.sub(r":distance\([^()]*\)", "(1 / 0)", text) if names else text)


def times_are_strings_as_written(term: Term, kind: str) -> Result:
    """A dateTime as a string is its lexical form."""
    is_time = kind == "string" and term.endswith(f"^^<{XSD}dateTime>")
    return literal(parse_literal(term).lexical) if is_time else right_cast(term, kind)


def zero_has_no_sign(number: Number) -> Term:
    """A computed zero is positive."""
    return right_number_term(number._replace(value=number.value + 0))


def casts_have_one_form(expressions: Expressions, term: Term, kind: str) -> Result:
    """A cast gives the canonical form, to every evaluator."""
    return right_cast(term, kind)


def strings_alone_are_strings(term: Term) -> StringValue | Failure:
    """A function of strings takes no other type, to every evaluator."""
    found = value(term)
    return found if isinstance(found, StringValue) else ERROR


def zero_is_one_duration(
    expressions: Expressions, name: str, results: Sequence[Term], nodes: LabelledNodes
) -> Result:
    """The zone -00:00 is written PT0S."""
    if name == "TIMEZONE" and results[0].endswith(f'-00:00"^^<{XSD}dateTime>'):
        return literal("PT0S", XSD + "dayTimeDuration")
    return right_applied(expressions, name, results, nodes)


def years_are_of_times(
    expressions: Expressions, name: str, results: Sequence[Term], nodes: LabelledNodes
) -> Result:
    """YEAR takes no type but those that have a day, to every evaluator."""
    is_year = name == "YEAR" and results[0].endswith(f"^^<{XSD}gYear>")
    return ERROR if is_year else right_applied(expressions, name, results, nodes)


def dollar_is_pythons(pattern: str, flags: str) -> Any:
    """`$` matches before a last line feed, too."""
    return right_compile(re.sub(r"\$$", "\\\\n?$", pattern), flags)


def empty_matches_are_replaced(template: str, groups: int) -> Any:
    """A replacement is taken as it is written."""
    return [template]


def repetitions_are_not_nested(pattern: str, flags: str) -> Any:
    """A pattern that could be tried in too many ways is an error."""
    return ERROR if "+)+" in pattern else right_compile(pattern, flags)


def errors_are_counted(function: Aggregate, results: Sequence[Result], choose: Any) -> Result:
    """COUNT counts errors, too, and the other aggregates leave them and what is no number out."""
    if function.name == "COUNT":
        return literal(str(len(results)), XSD + "integer")
    return right_aggregate(
        function,
        [
            result
            for result in results
            if isinstance(result, str) and isinstance(value(result), Number)
        ],
        choose,
    )


def distinct_by_value(function: Aggregate, results: Sequence[Result], choose: Any) -> Result:
    """DISTINCT in an aggregate is by value."""
    if not function.is_distinct:
        return right_aggregate(function, results, choose)
    return right_aggregate(
        function, list({_worth(result): result for result in results}.values()), choose
    )


def _worth(result: Result) -> object:
    found = value(result) if isinstance(result, str) else result
    return found.value if isinstance(found, Number) else found


def errors_are_members(function: Aggregate, results: Sequence[Result], choose: Any) -> Result:
    """COUNT of an error is an error."""
    return (
        ERROR
        if function.name == "COUNT" and ERROR in results
        else right_aggregate(function, results, choose)
    )


def literals_are_ordered_by_text(terms: Sequence[Term], is_least: bool) -> list[Term]:
    """Where `<` does not say which is less, the text does."""
    found = right_extremes(terms, is_least)
    return [min(found) if is_least else max(found)]


def widest_is_first(terms: Sequence[Term], is_least: bool) -> list[Term]:
    """Of equal numbers of several types MIN and MAX give the one of the widest."""
    found = right_extremes(terms, is_least)
    numbers = _numbers(found)
    if not found or len(numbers) < len(found):
        return found
    return [found[max(range(len(found)), key=lambda i: numbers[i].rank)]]


def _numbers(terms: Sequence[Term]) -> list[Number]:
    """The values of those terms that are numbers."""
    return [number for number in map(value, terms) if isinstance(number, Number)]


def integers_have_one_type(terms: Sequence[Term], choose: Any, is_least: bool) -> Result:
    """Of equal numbers that are computed with in one type, MIN and MAX give the first."""
    found = right_extremes(terms, is_least)
    numbers = _numbers(found)
    are_of_one_rank = len(numbers) == len(found) and len({number.rank for number in numbers}) == 1
    return (
        Computed(min(found), numbers[0])
        if found and are_of_one_rank
        else right_extreme(terms, choose, is_least)
    )


def partial_sums_are_as_wide_as_the_sum(terms: Sequence[Term]) -> Number | Failure:
    """All members are converted to the type of the sum before they are added."""
    numbers = _numbers(terms)
    if (
        len(numbers) < len(terms)
        or (rank := max((number.rank for number in numbers), default=0)) < FLOAT
    ):
        return right_sum(terms)
    return right_sum(
        [right_number_term(Number(rank, right_as_binary(number, rank))) for number in numbers]
    )


def the_sum_alone_must_fit(terms: Sequence[Term]) -> Number | Failure:
    """Of a sum of integers, 64 bits need hold the whole, and nothing on the way to it."""
    numbers = _numbers(terms)
    are_integers = len(numbers) == len(terms) and all(number.rank == 0 for number in numbers)
    return Number(0, sum(number.value for number in numbers)) if are_integers else right_sum(terms)


def equal_sums_are_one(left: Term, right: Term) -> bool:
    """Two sums that have one value here have it everywhere."""
    are_computed = isinstance(left, Computed) and isinstance(right, Computed)
    return True if are_computed and value(left) == value(right) else right_same(left, right)


def sums_have_one_order(function: Aggregate, results: Sequence[Result], choose: Any) -> Result:
    """A sum is added from the least literal to the greatest."""
    if function.name != "SUM" or function.is_distinct or ERROR in results:
        return right_aggregate(function, results, choose)
    total: Result = literal("0", XSD + "integer")
    for result in sorted(result for result in results if isinstance(result, str)):
        total = right_calculate("+", total, result)
    return total


def nothing_is_too_deep(text: str) -> list[int]:
    """Brackets may be nested as deep as one likes."""
    return []


def nothing_is_too_much(budget: Any, rows: int) -> None:
    """An evaluation may hold any number of solutions, of which a hundred are kept."""
    if rows > 100:
        raise RefengineError("stopped", rule="R2R-5")


def paths_have_a_length(
    graph: Any, path: Any, start: Any, end: Any, spend: Any
) -> Iterator[tuple[Term, Term]]:
    """A path connects nodes of the graph alone."""
    known = set(graph.nodes)
    return (pair for pair in right_pairs(graph, path, start, end, spend) if known.issuperset(pair))


def ways_are_one(
    graph: Any, path: Any, start: Any, end: Any, spend: Any
) -> Iterator[tuple[Term, Term]]:
    """A path gives a pair of nodes once."""
    return iter(dict.fromkeys(right_pairs(graph, path, start, end, spend)))


def a_cycle_is_not_closed(
    graph: Any, path: Any, start: Any, end: Any, spend: Any
) -> Iterator[tuple[Term, Term]]:
    """A repeated path never comes back to where it began."""
    found = right_pairs(graph, path, start, end, spend)
    return ((a, b) for a, b in found if not (isinstance(path, Repeated) and path.least and a == b))


def iris_are_ordered_in_brackets(left: Result, right: Result) -> int | None:
    """IRIs are compared as N-Triples writes them, so that <urn:a1> comes before <urn:a>."""
    if isinstance(left, str) and isinstance(right, str) and left[0] == right[0] == "<":
        return (left > right) - (left < right)
    return right_compare_in_order(left, right)


def case_is_pythons(character: str, function: Callable[[str], str]) -> bool:
    """The case of a letter is what this Python's Unicode has."""
    return True


def labels_are_of_an_operator(
    expressions: Expressions, results: Sequence[Term], nodes: Any
) -> Result:
    """Each operator has blank nodes of its own, whose labels no other has met."""
    expressions.operators.clear()
    return right_node(expressions, results, nodes)


def captures_are_those_of_the_library(pattern: str, flags: str) -> bool:
    """What a group has captured is what RE2 says."""
    return False


def any_term_is_in_the_middle(
    graph: Any, path: Any, start: Any, end: Any, spend: Any
) -> Iterator[tuple[Term, Term]]:
    """The node in the middle of a sequence may be a term that is not in the graph."""
    if not isinstance(path, Steps) or start is not None or end is None:
        yield from right_pairs(graph, path, start, end, spend)
        return
    *before, last = path.steps
    first = Steps(tuple(before)) if len(before) > 1 else before[0]
    for middle, _ in right_pairs(graph, last, None, end, spend):
        yield from (
            (begin, end)
            for begin, _ in any_term_is_in_the_middle(graph, first, None, middle, spend)
        )


def a_bound_variable_is_given(
    run: Run, pattern: TriplePattern, start: Term | None, end: Term | None
) -> Iterator[tuple[Any, ...]]:
    """A path begins and ends at what its variables are bound to, as if
    that stood in their place.
    """
    assert not isinstance(pattern.predicate, Var)  # it is a path
    return (
        (a, None, b)
        for a, b in right_pairs(run.graph, pattern.predicate, start, end, run.budget.spend)
    )


def nothing_is_substituted(node: Any, solution: Mapping[str, Term]) -> Any:
    """EXISTS knows nothing of the current solution."""
    return node


def values_are_substituted(
    evaluation: Evaluation, expression: Exists, solution: Mapping[str, Term]
) -> bool:
    """EXISTS joins its pattern's solutions with the current one, filters within it aside."""
    return bool(join(evaluation.run, [dict(solution)], evaluation.solutions(expression.pattern)))


def kinds_are_ordered(left: Result, right: Result) -> int | None:
    """Where ORDER BY leaves the order open, numbers come before strings."""
    found = right_compare_in_order(left, right)
    return (
        found
        if found is not None
        else (-1 if isinstance(left, str) and isinstance(value(left), Number) else 1)
    )


def literals_come_first(left: Result, right: Result) -> int | None:
    """Literals come before IRIs."""
    found = right_compare_in_order(left, right)
    kinds = {str(result)[:1] for result in (left, right)}
    return -found if found and kinds == {"<", '"'} else found


def any_order_will_do(keys: Any, rows: Any, border: int, descending: Any, spend: Any) -> None:
    """LIMIT takes the first solutions, in whatever order they come."""


def limits_need_a_total_order(
    keys: Any, rows: Any, border: int, descending: Any, spend: Any
) -> None:
    """LIMIT has no answer without ORDER BY."""
    if not descending:
        raise NoSingleAnswer("LIMIT or OFFSET without ORDER BY")


def first_time_counts(dated: Iterable[tuple[Dataset, int]]) -> frozenset[Quad]:
    """A triple has the time of the first element that brought it."""
    times: dict[Triple | Quad, int] = {}
    for graph, time in dated:
        times |= {triple: min(time, times.get(triple, time)) for triple in graph}
    return frozenset(
        (*triple, literal(str(time), XSD + "integer")) for triple, time in times.items()
    )


SPARQL = "refengine.sparql"
MINIATURES = (
    Miniature(
        "QRY-1",
        "what cannot be read is empty",
        NOBODY,
        f"{SPARQL}.translate:read",
        unreadable_is_empty,
    ),
    Miniature(
        "QRY-1",
        "well-known prefixes are built in",
        "rdflib 7 resolves foaf: and others undeclared",
        f"{SPARQL}.translate:Reader.iri",
        prefixes_are_built_in,
    ),
    Miniature(
        "QRY-1",
        "relative IRIs are kept",
        "rdflib 7",
        f"{SPARQL}.translate:Reader.resolve_iri",
        relative_iris_are_kept,
    ),
    Miniature(
        "QRY-1",
        "names have one dot",
        "pyoxigraph 0.5",
        f"{SPARQL}.translate:read",
        names_have_one_dot,
    ),
    Miniature(
        "QRY-1",
        "variables need no group",
        "rdflib 7.6",
        f"{SPARQL}.translate:Reader.check_grouped",
        variables_need_no_group,
    ),
    Miniature(
        "QRY-2",
        "anything is local",
        "rdflib 7 fetches what SERVICE and FROM name",
        f"{SPARQL}.translate:Reader.refuse_outside_sources",
        anything_is_local,
    ),
    Miniature(
        "QRY-2",
        "only SERVICE is remote",
        "rdflib 7 fetches what FROM names",
        f"{SPARQL}.translate:Reader.refuse_outside_sources",
        only_service_is_remote,
    ),
    Miniature(
        "QRY-2",
        "updates are syntax errors",
        NOBODY,
        f"{SPARQL}.grammar:fault",
        updates_are_syntax_errors,
    ),
    Miniature(
        "QRY-3", "any answer will do", BOTH, f"{SPARQL}.choices:one_answer", any_answer_will_do
    ),
    Miniature(
        "QRY-3",
        "every choice is open",
        NOBODY,
        f"{SPARQL}.choices:one_answer",
        every_choice_is_open,
    ),
    Miniature(
        "QRY-3",
        "nothing is known of a UUID",
        NOBODY,
        f"{SPARQL}.unknowns:of_unknown",
        nothing_is_known_of_a_uuid,
    ),
    Miniature(
        "QRY-3",
        "each string of a UUID is another",
        NOBODY,
        f"{SPARQL}.unknowns:of_unknown",
        each_string_is_another,
    ),
    Miniature(
        "QRY-3",
        "UUIDs have one value",
        NOBODY,
        f"{SPARQL}.unknowns:unknown",
        uuids_have_one_value,
    ),
    Miniature(
        "QRY-3",
        "a value is made up",
        NOBODY,
        f"{SPARQL}.unknowns:of_unknown",
        a_value_is_made_up,
    ),
    Miniature(
        "QRY-3",
        "one sample is chosen",
        BOTH,
        f"{SPARQL}.choices:Choices.choose",
        one_sample_is_chosen,
    ),
    Miniature(
        "QRY-3",
        "REDUCED is all or once",
        NOBODY,
        f"{SPARQL}.evaluation.duplicates:reduce_solutions",
        reduced_is_all_or_once,
    ),
    Miniature(
        "QRY-3",
        "tags have one form",
        BOTH,
        f"{SPARQL}.expressions:Expressions.apply",
        tags_have_one_form,
    ),
    Miniature(
        "QRY-3",
        "nothing is known of a tag",
        NOBODY,
        f"{SPARQL}.expressions:Expressions.apply",
        nothing_is_known_of_a_tag,
    ),
    Miniature(
        "R2R-2",
        "sets of solutions",
        "yasper and csrbench-oracle compare sets",
        f"{SPARQL}.evaluation:select_answer",
        sets_of_solutions,
    ),
    Miniature(
        "R2R-2",
        "unbound is empty text",
        NOBODY,
        f"{SPARQL}.evaluation:select_answer",
        unbound_is_empty_text,
    ),
    Miniature(
        "R2R-3", "false is no row", NOBODY, f"{SPARQL}.evaluation:ask_answer", false_is_no_row
    ),
    Miniature(
        "R2R-3",
        "groups are not asked",
        NOBODY,
        f"{SPARQL}.evaluation:Evaluation.answer",
        groups_are_not_asked,
    ),
    Miniature("R2R-4", "any triple", NOBODY, f"{SPARQL}.evaluation:construct_answer", any_triple),
    Miniature("R2R-4", "only IRIs", NOBODY, f"{SPARQL}.evaluation:construct_answer", only_iris),
    Miniature(
        "R2R-4",
        "forms are fixed",
        "rdflib 7.6",
        f"{SPARQL}.evaluation.templates:distinct_triples",
        forms_are_fixed,
    ),
    Miniature(
        "R2R-5",
        "the first witness is right",
        NOBODY,
        "refengine.core.r2r:heard",
        first_witness_is_right,
    ),
    Miniature("R2R-5", "all must confirm", NOBODY, "refengine.core.r2r:heard", all_must_confirm),
    Miniature(
        "R2R-5",
        "terms are confirmed, not values",
        NOBODY,
        "refengine.core.r2r:heard",
        terms_are_confirmed,
    ),
    Miniature(
        "R2R-5",
        "bodies are given as written",
        NOBODY,
        f"{SPARQL}.translate:read",
        bodies_are_given_as_written,
    ),
    Miniature(
        "R2R-6",
        "groups need no members",
        "rdflib 7.6: one empty row",
        f"{SPARQL}.evaluation:Evaluation.group",
        groups_need_no_members,
    ),
    Miniature(
        "R2R-6",
        "no group without members",
        "CQELS answers an average over no match with nothing",
        f"{SPARQL}.evaluation:Evaluation.group",
        no_group_without_members,
    ),
    Miniature(
        "R2R-10",
        "literals match by value",
        BOTH,
        f"{SPARQL}.evaluation.matching:match_basic",
        literals_match_by_value,
    ),
    Miniature(
        "R2R-10",
        "any form is a number",
        "rdflib 7.6: isNumeric",
        f"{SPARQL}.values:read",
        any_form_is_a_number,
    ),
    Miniature("R2R-10", "zero is one term", NOBODY, f"{SPARQL}.values:same", zero_is_one_term),
    Miniature("R2R-10", "NaN is no term", NOBODY, f"{SPARQL}.values:same", nan_is_no_term),
    Miniature(
        "R2R-10",
        "integers are normalised",
        BOTH,
        f"{SPARQL}.functions:lexical",
        integers_are_normalised,
    ),
    Miniature("R2R-11", "errors are false", NOBODY, f"{SPARQL}.values:truth", errors_are_false),
    Miniature(
        "R2R-11",
        "errors spread",
        "rdflib 7.6: an error && false",
        f"{SPARQL}.expressions:Expressions.combine_conditions",
        errors_spread,
    ),
    Miniature(
        "R2R-11",
        "every conjunct must have an answer",
        NOBODY,
        f"{SPARQL}.expressions:Expressions.holds",
        every_conjunct_must_have_an_answer,
    ),
    Miniature(
        "R2R-11",
        "the first operand decides",
        NOBODY,
        f"{SPARQL}.expressions:Expressions.combine_conditions",
        first_operand_decides,
    ),
    Miniature(
        "R2R-12",
        "numbers are apart by type",
        NOBODY,
        f"{SPARQL}.values:compare",
        numbers_are_apart_by_type,
    ),
    Miniature("R2R-12", "NaN is itself", NOBODY, f"{SPARQL}.values:compare", nan_is_itself),
    Miniature(
        "R2R-12",
        "unknown values differ",
        "rdflib 7.6",
        f"{SPARQL}.values:equal",
        unknown_values_differ,
    ),
    Miniature(
        "R2R-12",
        "floats are rounded twice",
        "pyoxigraph 0.5",
        f"{SPARQL}.values:as_binary",
        floats_are_rounded_twice,
    ),
    Miniature(
        "R2R-12", "all of a time counts", BOTH, f"{SPARQL}.values:compare", all_of_a_time_counts
    ),
    Miniature(
        "R2R-12",
        "years have any digits",
        "pyoxigraph 0.5",
        f"{SPARQL}.values:compare",
        years_have_any_digits,
    ),
    Miniature("R2R-12", "tokens are unknown", BOTH, f"{SPARQL}.values:equal", tokens_are_unknown),
    Miniature(
        "R2R-12",
        "languages are known to differ",
        BOTH,
        f"{SPARQL}.values:equal",
        languages_are_known_to_differ,
    ),
    Miniature(
        "R2R-13",
        "integers divide to integers",
        NOBODY,
        f"{SPARQL}.values:calculate",
        integers_divide_to_integers,
    ),
    Miniature(
        "R2R-13",
        "numbers alone are multiplied",
        BOTH,
        f"{SPARQL}.values:calculate",
        numbers_alone_are_multiplied,
    ),
    Miniature("R2R-13", "zero divides", NOBODY, f"{SPARQL}.values:calculate", zero_divides),
    Miniature(
        "R2R-13",
        "whole decimals have a form",
        BOTH,
        f"{SPARQL}.functions:lexical",
        whole_decimals_have_a_form,
    ),
    Miniature(
        "R2R-13",
        "decimals have digits enough",
        BOTH,
        f"{SPARQL}.values:number_term",
        decimals_have_digits_enough,
    ),
    Miniature(
        "R2R-13",
        "digits stand anywhere",
        "rdflib 7.6",
        f"{SPARQL}.values:decimal_of",
        digits_stand_anywhere,
    ),
    Miniature(
        "R2R-13",
        "a digit is rounded once",
        NOBODY,
        f"{SPARQL}.evaluation.answers:tolerated_slack",
        a_digit_is_rounded_once,
    ),
    Miniature(
        "R2R-13",
        "decimals are near by their size",
        NOBODY,
        "refengine.model.compare:near",
        decimals_are_near_by_their_size,
    ),
    Miniature(
        "R2R-13",
        "integers have no bound",
        "rdflib 7.6",
        f"{SPARQL}.values:compare",
        integers_have_no_bound,
    ),
    Miniature("R2R-14", "casts round", NOBODY, f"{SPARQL}.functions:cast", casts_round),
    Miniature(
        "R2R-14",
        "nodes are of the query",
        BOTH,
        f"{SPARQL}.expressions:Expressions.node",
        nodes_are_of_the_query,
    ),
    Miniature(
        "R2R-14",
        "unknown functions are errors",
        "rdflib 7.6: no rows",
        f"{SPARQL}.translate:read",
        unknown_functions_are_errors,
    ),
    Miniature(
        "R2R-14",
        "times are strings as written",
        "rdflib 7.6",
        f"{SPARQL}.functions:cast",
        times_are_strings_as_written,
    ),
    Miniature(
        "R2R-14",
        "zero has no sign",
        "rdflib 7.6, of CEIL",
        f"{SPARQL}.values:number_term",
        zero_has_no_sign,
    ),
    Miniature(
        "R2R-14",
        "casts have one form",
        BOTH,
        f"{SPARQL}.expressions:Expressions.cast",
        casts_have_one_form,
    ),
    Miniature(
        "R2R-14",
        "strings alone are strings",
        BOTH,
        f"{SPARQL}.functions:string",
        strings_alone_are_strings,
    ),
    Miniature(
        "R2R-14",
        "zero is one duration",
        "pyoxigraph 0.5",
        f"{SPARQL}.expressions:Expressions.apply",
        zero_is_one_duration,
    ),
    Miniature(
        "R2R-14",
        "the case of a letter is Python's",
        "rdflib 7.6",
        f"{SPARQL}.functions:has_sure_case",
        case_is_pythons,
    ),
    Miniature(
        "R2R-14",
        "labels are of an operator",
        "ARQ 5.6",
        f"{SPARQL}.expressions:Expressions.node",
        labels_are_of_an_operator,
    ),
    Miniature(
        "R2R-14",
        "years are of times",
        "rdflib 7.6",
        f"{SPARQL}.expressions:Expressions.apply",
        years_are_of_times,
    ),
    Miniature(
        "R2R-15",
        "the dollar sign is Python's",
        "rdflib 7.6",
        f"{SPARQL}.regex:compile_pattern",
        dollar_is_pythons,
    ),
    Miniature(
        "R2R-15",
        "captures are those of RE2",
        "pyoxigraph 0.5",
        f"{SPARQL}.regex:has_open_capture",
        captures_are_those_of_the_library,
    ),
    Miniature(
        "R2R-15",
        "a replacement has no groups",
        NOBODY,
        f"{SPARQL}.regex:replacement",
        empty_matches_are_replaced,
    ),
    Miniature(
        "R2R-15",
        "repetitions are not nested",
        NOBODY,
        f"{SPARQL}.regex:compile_pattern",
        repetitions_are_not_nested,
    ),
    Miniature(
        "R2R-16",
        "errors are counted",
        "rdflib 7.6",
        f"{SPARQL}.aggregates:aggregate",
        errors_are_counted,
    ),
    Miniature(
        "R2R-16",
        "COUNT of an error is an error",
        "pyoxigraph 0.5",
        f"{SPARQL}.aggregates:aggregate",
        errors_are_members,
    ),
    Miniature(
        "R2R-16",
        "DISTINCT is by value",
        "pyoxigraph 0.5 stores values",
        f"{SPARQL}.aggregates:aggregate",
        distinct_by_value,
    ),
    Miniature(
        "R2R-16",
        "literals are ordered by text",
        BOTH,
        f"{SPARQL}.order:extremes",
        literals_are_ordered_by_text,
    ),
    Miniature(
        "R2R-16",
        "the widest is first",
        "pyoxigraph 0.5",
        f"{SPARQL}.order:extremes",
        widest_is_first,
    ),
    Miniature(
        "R2R-16",
        "integers have one type",
        NOBODY,
        f"{SPARQL}.aggregates:extreme",
        integers_have_one_type,
    ),
    Miniature(
        "R2R-16",
        "partial sums are as wide as the sum",
        NOBODY,
        f"{SPARQL}.aggregates:_sum",
        partial_sums_are_as_wide_as_the_sum,
    ),
    Miniature(
        "R2R-16",
        "the sum alone must fit",
        "rdflib 7.6",
        f"{SPARQL}.aggregates:_sum",
        the_sum_alone_must_fit,
    ),
    Miniature("R2R-16", "equal sums are one", BOTH, f"{SPARQL}.values:same", equal_sums_are_one),
    Miniature(
        "R2R-16", "sums have one order", BOTH, f"{SPARQL}.aggregates:aggregate", sums_have_one_order
    ),
    Miniature(
        "R2R-17", "nothing is too deep", NOBODY, f"{SPARQL}.grammar:_brackets", nothing_is_too_deep
    ),
    Miniature(
        "R2R-17", "nothing is too much", BOTH, f"{SPARQL}.limits:Budget.hold", nothing_is_too_much
    ),
    Miniature(
        "R2R-18",
        "paths have a length",
        "pyoxigraph 0.5, of a constant that is not in the graph",
        f"{SPARQL}.paths:pairs",
        paths_have_a_length,
    ),
    Miniature(
        "R2R-18", "ways are one", "pyoxigraph 0.5, of p|q", f"{SPARQL}.paths:pairs", ways_are_one
    ),
    Miniature(
        "R2R-18", "a cycle is not closed", NOBODY, f"{SPARQL}.paths:pairs", a_cycle_is_not_closed
    ),
    Miniature(
        "R2R-18",
        "any term is in the middle",
        "rdflib 7.6",
        f"{SPARQL}.paths:pairs",
        any_term_is_in_the_middle,
    ),
    Miniature(
        "R2R-18",
        "a bound variable is given",
        "rdflib 7.6",
        f"{SPARQL}.evaluation.matching:path_ends",
        a_bound_variable_is_given,
    ),
    Miniature(
        "R2R-19",
        "nothing is substituted",
        NOBODY,
        f"{SPARQL}.evaluation.substitution:substitute",
        nothing_is_substituted,
    ),
    Miniature(
        "R2R-19",
        "EXISTS is a join",
        NOBODY,
        f"{SPARQL}.evaluation:Evaluation.exists",
        values_are_substituted,
    ),
    Miniature(
        "R2R-20",
        "IRIs are ordered in brackets",
        NOBODY,
        f"{SPARQL}.order:compare_in_order",
        iris_are_ordered_in_brackets,
    ),
    Miniature(
        "R2R-20", "kinds are ordered", BOTH, f"{SPARQL}.order:compare_in_order", kinds_are_ordered
    ),
    Miniature(
        "R2R-20",
        "literals come first",
        NOBODY,
        f"{SPARQL}.order:compare_in_order",
        literals_come_first,
    ),
    Miniature(
        "R2R-20", "any order will do", BOTH, f"{SPARQL}.order:check_border", any_order_will_do
    ),
    Miniature(
        "R2R-20",
        "a LIMIT needs ORDER BY",
        NOBODY,
        f"{SPARQL}.order:check_border",
        limits_need_a_total_order,
    ),
    Miniature(
        "R2R-21", "the first time counts", NOBODY, "refengine.core.r2r:latest", first_time_counts
    ),
)
