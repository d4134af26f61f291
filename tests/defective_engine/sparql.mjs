// The SPARQL of the engine: SELECT over triple patterns, GRAPH, comparisons of numbers, COUNT. Everything else is unsupported.

export class Unsupported extends Error {}

const XSD = "http://www.w3.org/2001/XMLSchema#";
const RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const IRI = String.raw`<[^<>"{}|^\x60\s]*>`;
const STRING = String.raw`"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*'`;
const TAG = "@[A-Za-z]+(?:-[A-Za-z0-9]+)*";
const TOKEN = new RegExp(
  String.raw`\s+|#[^\n]*|(${IRI}|${STRING}|${TAG}|\^\^|[?$]\w+|[+-]?(?:\d+\.\d+|\d+)(?![\w.]*:)` +
    String.raw`|[\w-]*:[\w-]*|\w+|&&|\|\||[<>!]=|[{}().;,*=<>])`,
  "y",
);
const DATA = new RegExp(
  String.raw`[ \t]*(?:#.*)?(?:(${IRI})|(_:[^\s<">.]+(?:\.+[^\s<">.]+)*)|("(?:[^"\\]|\\.)*")(?:(${TAG})|\^\^(${IRI}))?|(\.|$))`,
  "y",
);
const NUMBER_FORMS = {
  integer: /^[+-]?\d+$/,
  decimal: /^[+-]?(\d+(\.\d*)?|\.\d+)$/,
  double: /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/,
};
const ESCAPES = { t: "\t", b: "\b", n: "\n", r: "\r", f: "\f" };

// Return a text without its escapes.
function unescape(text) {
  return text.replace(/\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/g, (_, short, long, letter) =>
    letter === undefined ? String.fromCodePoint(parseInt(short ?? long, 16)) : (ESCAPES[letter] ?? letter),
  );
}

const iri = (value) => ({ type: "uri", value, key: `<${value}>` });

function literal(value, datatype, language) {
  if (language) {
    const tag = language.toLowerCase();
    return { type: "literal", value, "xml:lang": tag, key: `${JSON.stringify(value)}@${tag}` };
  }
  if (!datatype || datatype === `${XSD}string`) return { type: "literal", value, key: JSON.stringify(value) };
  return { type: "literal", value, datatype, key: `${JSON.stringify(value)}^^<${datatype}>` };
}

// Return the triples of an N-Triples text. A blank node belongs to its stream.
export function readTriples(text, stream) {
  const triples = [];
  for (const line of text.split("\n")) {
    const terms = [];
    DATA.lastIndex = 0;
    for (;;) {
      const match = DATA.exec(line);
      if (!match) throw new Unsupported(`N-Triples: ${line}`);
      const [, name, node, string, tag, datatype, end] = match;
      if (end !== undefined) break;
      if (name) terms.push(iri(unescape(name.slice(1, -1))));
      else if (node) terms.push({ type: "bnode", value: `${stream}.${node.slice(2)}`, key: `${stream} ${node}` });
      else terms.push(literal(unescape(string.slice(1, -1)), datatype && unescape(datatype.slice(1, -1)), tag?.slice(1)));
    }
    if (terms.length === 3) triples.push(terms);
    else if (terms.length) throw new Unsupported(`N-Triples: ${line}`);
  }
  return triples;
}

// Return the number that a term stands for, or undefined.
function numberOf(term) {
  const type = term?.datatype?.startsWith(XSD) && term.datatype.slice(XSD.length);
  if (!type || !NUMBER_FORMS[type]?.test(term.value)) return undefined;
  const number = Number(term.value);
  return Number.isSafeInteger(Math.trunc(number)) ? number : undefined;
}

// Return the key under which rows are the same by value.
export function rowKey(row) {
  const names = Object.keys(row).sort();
  return JSON.stringify(names.map((name) => [name, numberOf(row[name]) ?? row[name].key]));
}

// Return the tokens of a query's text.
function tokensOf(text) {
  const tokens = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new Unsupported(`SPARQL: ${text.slice(at, at + 20)}`);
    if (match[1] !== undefined) tokens.push(match[1]);
  }
  return tokens;
}

class Parser {
  constructor(text) {
    this.tokens = tokensOf(text);
    this.place = 0;
    this.prefixes = {};
  }

  get next() {
    return this.tokens[this.place] ?? "the end";
  }

  isNext(word) {
    return this.next.toUpperCase() === word;
  }

  take() {
    const token = this.next;
    this.place += 1;
    return token;
  }

  accept(word) {
    if (!this.isNext(word)) return false;
    this.place += 1;
    return true;
  }

  expect(word) {
    if (!this.accept(word)) throw new Unsupported(`SPARQL: ${this.next} where ${word} is expected`);
  }

  query() {
    while (this.accept("PREFIX")) {
      const prefix = this.take();
      this.prefixes[prefix] = this.take().slice(1, -1);
    }
    this.expect("SELECT");
    const isDistinct = this.accept("DISTINCT");
    const columns = this.columns();
    this.accept("WHERE");
    const group = this.group();
    if (this.place < this.tokens.length) throw new Unsupported(`SPARQL: ${this.next}`);
    return { isDistinct, columns, group };
  }

  columns() {
    const columns = [];
    if (this.accept("*")) return columns;
    while (!this.isNext("WHERE") && !this.isNext("{")) {
      columns.push(this.accept("(") ? this.count() : { name: this.variable() });
    }
    return columns;
  }

  count() {
    this.expect("COUNT");
    this.expect("(");
    const counted = this.accept("*") ? "*" : this.variable();
    this.expect(")");
    this.expect("AS");
    const name = this.variable();
    this.expect(")");
    return { name, counted };
  }

  variable() {
    const token = this.take();
    if (!/^[?$]/.test(token)) throw new Unsupported(`SPARQL: ${token} where a variable is expected`);
    return token.slice(1);
  }

  group() {
    const group = { patterns: [], filters: [], graphs: [] };
    this.expect("{");
    while (!this.accept("}")) {
      if (this.accept(".")) continue;
      else if (this.accept("FILTER")) group.filters.push(this.comparison());
      else if (this.accept("GRAPH")) group.graphs.push({ name: this.term(), group: this.group() });
      else this.triples(group.patterns);
    }
    return group;
  }

  comparison() {
    this.expect("(");
    const left = this.term();
    const operator = this.take();
    if (!(operator in COMPARISONS)) throw new Unsupported(`SPARQL: ${operator}`);
    const right = this.term();
    this.expect(")");
    return { left, operator, right };
  }

  triples(patterns) {
    const subject = this.term();
    do {
      const predicate = this.accept("A") ? iri(RDF_TYPE) : this.term();
      do patterns.push([subject, predicate, this.term()]);
      while (this.accept(","));
    } while (this.accept(";"));
  }

  term() {
    const token = this.take();
    if (/^[?$]/.test(token)) return { variable: token.slice(1) };
    if (/^<./.test(token) && token.endsWith(">")) return this.absolute(token.slice(1, -1));
    if (/^["']/.test(token)) return this.stringLiteral(unescape(token.slice(1, -1)));
    if (/^[+-]?\d+$/.test(token)) return literal(token, `${XSD}integer`);
    if (/^[+-]?\d/.test(token)) return literal(token, `${XSD}decimal`);
    if (/:/.test(token)) return this.prefixed(token);
    throw new Unsupported(`SPARQL: ${token} where a term is expected`);
  }

  absolute(value) {
    if (!/^[A-Za-z][\w+.-]*:/.test(value)) throw new Unsupported(`SPARQL: the relative IRI ${value}`);
    return iri(value);
  }

  prefixed(token) {
    const [prefix, local] = token.split(/(?<=:)/);
    if (!(prefix in this.prefixes)) throw new Unsupported(`SPARQL: the prefix ${prefix}`);
    return iri(this.prefixes[prefix] + (local ?? ""));
  }

  stringLiteral(value) {
    if (this.next.startsWith("@")) return literal(value, undefined, this.take().slice(1));
    if (!this.accept("^^")) return literal(value);
    return literal(value, this.term().value);
  }
}

const COMPARISONS = {
  "=": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
};

// Return the query that a body's text means.
export function parseBody(text) {
  return new Parser(text).query();
}

// Return a solution in which a pattern's term is the term of the data, or null if it cannot be.
function bind(solution, pattern, term) {
  if (pattern.variable === undefined) return pattern.key === term.key ? solution : null;
  const bound = solution[pattern.variable];
  if (bound === undefined) return { ...solution, [pattern.variable]: term };
  return bound.key === term.key ? solution : null;
}

function* matchesOf(solution, pattern, triples) {
  for (const triple of triples) {
    const found = pattern.reduce((sofar, term, place) => sofar && bind(sofar, term, triple[place]), solution);
    if (found) yield found;
  }
}

function isTrue({ left, operator, right }, solution) {
  const [a, b] = [left, right].map((term) => (term.variable === undefined ? term : solution[term.variable]));
  const [x, y] = [numberOf(a), numberOf(b)];
  if (x === undefined || y === undefined) throw new Unsupported("SPARQL: FILTER compares numbers alone");
  return COMPARISONS[operator](x, y);
}

function solve(group, triples, named, solutions) {
  for (const pattern of group.patterns) {
    solutions = solutions.flatMap((solution) => [...matchesOf(solution, pattern, triples)]);
  }
  for (const { name, group: inner } of group.graphs) {
    solutions = solutions.flatMap((solution) =>
      [...named].flatMap(([graph, its]) => {
        const found = bind(solution, name, iri(graph));
        return found && its.length ? solve(inner, its, named, [found]) : [];
      }),
    );
  }
  return solutions.filter((solution) => group.filters.every((filter) => isTrue(filter, solution)));
}

// Return the rows that a query gives over triples and named graphs (a map from name to triples).
export function answer({ isDistinct, columns, group }, triples, named) {
  const solutions = solve(group, triples, named, [{}]);
  if (columns.some((column) => column.counted !== undefined)) return [countsOf(columns, solutions)];
  const rows = columns.length ? solutions.map((solution) => project(columns, solution)) : solutions;
  return isDistinct ? [...new Map(rows.map((row) => [termKey(row), row])).values()] : rows;
}

const project = (columns, solution) =>
  Object.fromEntries(columns.filter(({ name }) => solution[name]).map(({ name }) => [name, solution[name]]));

const termKey = (row) =>
  JSON.stringify(Object.keys(row).sort().map((name) => [name, row[name].key]));

function countsOf(columns, solutions) {
  const row = {};
  for (const { name, counted } of columns) {
    if (counted === undefined) throw new Unsupported("SPARQL: a variable beside COUNT");
    const those = counted === "*" ? solutions : solutions.filter((solution) => solution[counted]);
    row[name] = literal(String(those.length), `${XSD}integer`);
  }
  return row;
}
