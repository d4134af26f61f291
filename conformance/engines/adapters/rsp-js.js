'use strict';
// RSP-JS behind the harness protocol: `node rsp-js.js FOLDER`, FOLDER having node_modules with rsp-js and n3.
//
// An element is given triple by triple; one without triples, one that is valid over an interval, and an instant that is no
// JavaScript integer it has not. A reply waits until every query that it caused has ended. One query of the engine is one
// relation; what it finds nothing for it does not tell, so neither does this. `advance` is an element that no pattern asks for.

const fs = require('fs');
const os = require('os');
const path = require('path');
const readline = require('readline');
const { createRequire } = require('module');

const folder = path.resolve(process.argv[2] || '.');
const load = createRequire(path.join(folder, 'package.json'));
for (const name of ['log', 'debug', 'info', 'warn', 'error', 'trace']) console[name] = () => {}; // it writes to standard output
process.chdir(fs.mkdtempSync(path.join(os.tmpdir(), 'rsp-js-'))); // it keeps ./logs
process.on('exit', () => { const here = process.cwd(); process.chdir('/'); fs.rmSync(here, { recursive: true, force: true }); });

const { RSPEngine } = load('rsp-js');
const { Parser } = load('n3');
const [HEARTBEAT] = new Parser().parse('<urn:heartbeat> <urn:heartbeat> <urn:heartbeat> .');
const version = JSON.parse(fs.readFileSync(path.join(folder, 'node_modules', 'rsp-js', 'package.json'))).version;

let engine = null; // of this case
let running = []; // promises of queries that have not ended
let relations = []; // since the last reply
let failure = null;
process.on('unhandledRejection', (reason) => { failure = failure || reason; });

function term(value) {
  switch (value.termType) {
    case 'NamedNode': return { type: 'uri', value: value.value };
    case 'BlankNode': return { type: 'bnode', value: value.value };
    default:
      if (value.language) return { type: 'literal', value: value.value, 'xml:lang': value.language };
      return { type: 'literal', value: value.value, datatype: value.datatype.value };
  }
}

function row(binding) {
  const found = {};
  for (const [variable, value] of binding) found[variable.value] = term(value);
  return found;
}

const commands = {
  start: () => ({ protocol: 1, engine: 'rsp-js', version }),

  register({ query, dialect, static: data }) {
    if (dialect !== 'rsp-js') return unsupported(`RSP-JS reads its own RSP-QL, not ${dialect}`);
    engine = new RSPEngine(query);
    running = [];
    relations = [];
    failure = null;
    let current = null;
    const execute = engine.r2r.execute.bind(engine.r2r);
    engine.r2r.execute = (container) => { // so that its end is known
      const relation = { rows: [] };
      const answer = execute(container);
      running.push(answer.then((found) => new Promise((resolve, reject) => {
        current = relation;
        found.on('end', resolve);
        found.on('error', reject);
      })).then(() => { if (relation.rows.length) relations.push(relation); }));
      return answer;
    };
    engine.register().on('RStream', ({ bindings, timestamp_from: from, timestamp_to: to }) => {
      if (!current.rows.length) current.window = [from, to];
      current.rows.push(row(bindings));
    });
    for (const quad of parsed(data || '', 'static')) engine.addStaticData(quad);
    return { relations: [] };
  },

  async push({ stream, at, graph, end = at }) {
    const target = engine.getStream(stream);
    if (!target) return settled(); // the query does not name it: the engine has nowhere to put it
    const quads = parsed(graph, [...engine.streams.keys()].indexOf(stream));
    if (!Number.isSafeInteger(at)) return unsupported(`its instants are numbers of JavaScript, which has none for ${at}`);
    if (end !== at) return unsupported('its elements have an instant, and no interval');
    if (!quads.length) return unsupported('its elements are triples; this one has none');
    for (const quad of quads) await give(target, quad, at);
    return settled();
  },

  async advance({ at }) { // by an element, which is all that tells it the time
    for (const name of engine.streams.keys()) await give(engine.getStream(name), HEARTBEAT, at);
    return settled();
  },

  end: () => settled(),
  stop: () => ({}),
};

async function give(stream, quad, at) {
  stream.add(quad, at);
  while (running.length) await running.shift();
}

const unsupported = (reason) => ({ reply: 'unsupported', reason });

function failed(error) {
  const [, missing] = String(error).match(/Unknown named operator: '"(.*?)"'/) || [];
  if (missing) return unsupported(`its evaluator has no function <${missing}>`);
  return { reply: 'error', context: String((error && error.stack) || error).slice(0, 2000) };
}

// The labels of blank nodes are those of their stream, not of one text.
function parsed(text, scope) {
  return new Parser({ format: 'N-Quads', blankNodePrefix: `_:${scope}_` }).parse(text);
}

function settled() {
  if (failure) return failed(failure);
  const told = relations;
  relations = [];
  return { relations: told };
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { seq, command, ...fields } = JSON.parse(line);
    let reply;
    try {
      reply = await commands[command](fields);
    } catch (error) {
      reply = failed(error);
    }
    process.stdout.write(`${JSON.stringify({ seq, reply: 'result', ...reply })}\n`);
    if (command === 'stop') return;
  }
}

main().then(() => process.exit(0));
