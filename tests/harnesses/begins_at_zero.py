"""Be an RDF stream engine whose windows begin at 0, and its harness.

It is written from conformance/PROTOCOL.md and SPEC.md and shares no code with refengine. Windows
are [0, size), [slide, slide + size), …: each that holds an element is reported when it closes, the
last ones at the end. Refused are other windows, several of them, late elements and too many
reports; so that it can refuse at any element it keeps its reports until the end.

    python begins_at_zero.py [window] [instant]    # what it tells of a report beside its rows
"""

import json
import sys
from decimal import Decimal, InvalidOperation

import pyoxigraph as ox

XSD = "http://www.w3.org/2001/XMLSchema#"
INTEGERS = (
    "integer long int short byte nonNegativeInteger positiveInteger nonPositiveInteger "
    "negativeInteger unsignedLong unsignedInt unsignedShort unsignedByte"
)
TOLERANCES = {XSD + name: Decimal(0) for name in INTEGERS.split()}
TOLERANCES[XSD + "decimal"] = Decimal("1e-17")
TOLERANCES[XSD + "double"] = Decimal("1e-9")
TOLERANCES[XSD + "float"] = Decimal("1e-6")
LEAST = Decimal("1e-18")  # two decimals may differ by so much, however small they are
MOST = 10_000  # reports of a case


class Refused(Exception):
    """What this engine does not have."""


class Query:
    """A registered query, with what it has seen and not yet forgotten."""

    def __init__(self, table, static):
        window = table["windows"][0]
        self.operator = table.get("r2s", "Rstream")
        if self.operator not in ("Rstream", "Istream", "Dstream"):
            raise Refused(f"it has no {self.operator}")
        if window["kind"] != "time" or len(table["windows"]) > 1:
            raise Refused("it has one time-based window a query")
        self.size = window["size"]
        self.slide = window["slide"]
        self.stream = window["stream"]
        self.graph = ox.NamedNode(window["name"]) if "name" in window else ox.DefaultGraph()
        self.body = table["body"]
        self.static = read(static, "static")
        self.elements = []  # (at, end, quads)
        self.time = None
        self.number = 0  # of the first window that is not over
        self.before = []  # the answer before
        self.reports = []

    def push(self, at, end, graph):
        """Report what closes by `at`, then take the element."""
        if self.time is not None and at < self.time:
            raise Refused(f"an element at {at} comes after time {self.time}")
        quads = read(graph, "stream", self.graph)
        self.advance(at)
        self.elements.append((at, end, quads))

    def advance(self, time):
        """Report the windows that hold an element and close by `time`, or ever, in their order."""
        self.time = time
        while (number := self.next_that_holds_one()) is not None:
            if time is not None and number * self.slide + self.size > time:
                return
            if len(self.reports) == MOST:
                raise Refused(f"it reports no more than {MOST} windows")
            self.reports.append(self.report(number))
            self.number = number + 1
            opens = self.number * self.slide
            self.elements = [one for one in self.elements if one[1] >= opens]

    def next_that_holds_one(self):
        """Give the least number, from this one on, of a window that holds an element."""
        found = []
        for at, end, _ in self.elements:
            first = (at - self.size) // self.slide + 1
            number = max(first, self.number)
            if number * self.slide <= end:
                found.append(number)
        return min(found, default=None)

    def report(self, number):
        """Say what the query's operator makes of a window's answer and the one before."""
        opens = number * self.slide
        closes = opens + self.size
        content = [quads for at, end, quads in self.elements if at < closes and end >= opens]
        answer = answered(self.body, self.static, content)
        rows = answer
        if self.operator == "Istream":
            rows = less(answer, self.before)
        if self.operator == "Dstream":
            rows = less(self.before, answer)
        self.before = answer
        return {"rows": rows, "window": [opens, closes], "instant": closes}


def read(text, scope, graph=None):
    """Read N-Quads, or N-Triples into a graph; blank nodes are named after where they come from."""
    found = []
    for quad in ox.parse(text.encode(), format=ox.RdfFormat.N_QUADS):
        terms = []
        for one in (quad.subject, quad.predicate, quad.object, graph or quad.graph_name):
            terms.append(ox.BlankNode(scope + one.value) if isinstance(one, ox.BlankNode) else one)
        found.append(ox.Quad(*terms))
    return found


def answered(body, static, content):
    """Ask over the union of the elements' graphs, and the static data."""
    store = ox.Store()
    store.extend(static)
    for quads in content:
        store.extend(quads)
    try:
        found = store.query(body)
    except (SyntaxError, RuntimeError, ValueError, OSError) as error:
        raise Refused(f"it cannot evaluate the body: {error}") from None
    if isinstance(found, ox.QueryBoolean):
        value = "true" if found else "false"
        return [{"ask": {"type": "literal", "value": value, "datatype": XSD + "boolean"}}]
    if isinstance(found, ox.QueryTriples):
        made = ox.Store()
        for triple in found:
            made.add(ox.Quad(triple.subject, triple.predicate, triple.object))
        found = made.query("SELECT ?subject ?predicate ?object { ?subject ?predicate ?object }")
    try:
        return json.loads(found.serialize(format=ox.QueryResultsFormat.JSON))["results"]["bindings"]
    except (RuntimeError, ValueError, OSError) as error:
        raise Refused(f"it cannot evaluate the body: {error}") from None


def less(rows, others):
    """Take the other rows away, by value, each as often as it is there."""
    left = list(others)
    kept = []
    for row in rows:
        found = next((one for one in left if same_row(one, row)), None)
        if found is None:
            kept.append(row)
        else:
            left.remove(found)
    return kept


def same_row(one, other):
    """Compare two rows, variable by variable."""
    return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)


def same(one, other):
    """Compare two terms: integers by value, other numbers within the larger tolerance of their
    types; decimals within LEAST.
    """
    types = {one.get("datatype"), other.get("datatype")}
    if one == other or not types <= TOLERANCES.keys():
        return one == other
    try:
        a = Decimal(one["value"])
        b = Decimal(other["value"])
    except InvalidOperation:
        return False
    if a == b or not (a.is_finite() and b.is_finite()):
        return a == b
    tolerance = max(TOLERANCES[name] for name in types)
    if not all(TOLERANCES[name] for name in types):  # an integer is exact
        return False
    least = LEAST if tolerance == TOLERANCES[XSD + "decimal"] else 0
    return abs(a - b) <= max(tolerance * max(abs(a), abs(b)), least)


def done(query, asked):
    """Do a command of a case, and give the relations of the reply."""
    if query is None or asked.get("stream", query.stream) != query.stream:
        return []
    if asked["command"] == "push":
        query.push(asked["at"], asked.get("end", asked["at"]), asked["graph"])
    if asked["command"] == "advance":
        query.advance(asked["at"])
    if asked["command"] == "end":
        query.advance(None)
        return [{key: one[key] for key in ("rows", *sys.argv[1:])} for one in query.reports]
    return []


def main():
    """Reply to each line with one."""
    query = None
    for line in sys.stdin:
        asked = json.loads(line)
        reply = {"seq": asked["seq"], "reply": "result"}
        try:
            if asked["command"] == "start":
                reply |= {"protocol": 1, "engine": "begins at zero", "version": "1"}
            elif asked["command"] == "register":
                query = Query(json.loads(asked["query"]), asked.get("static", ""))
                reply["relations"] = []
            elif asked["command"] != "stop":
                reply["relations"] = done(query, asked)
        except Refused as refused:
            query = None
            reply |= {"reply": "unsupported", "reason": str(refused)}
        print(json.dumps(reply), flush=True)
        if asked["command"] == "stop":
            return


if __name__ == "__main__":
    main()
