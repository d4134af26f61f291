'use strict';
// RSP-JS behind the harness protocol: `node rsp-js.js FOLDER`, FOLDER having node_modules with rsp-js and n3.
//
// An element is given triple by triple. A reply waits until every query that it caused has ended. One query of the engine is
// one relation; what it finds nothing for it does not tell, so neither does this. No time but that of elements is told to it.

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
    if (dialect !== 'rsp-js') return { reply: 'unsupported', reason: `RSP-JS reads its own RSP-QL, not ${dialect}` };
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
    for (const quad of new Parser({ format: 'N-Quads' }).parse(data || '')) engine.addStaticData(quad);
    return { relations: [] };
  },

  async push({ stream, at, graph }) {
    const target = engine.getStream(stream);
    if (!target) return settled(); // the query does not name it: the engine has nowhere to put it
    for (const quad of new Parser({ format: 'N-Triples' }).parse(graph)) {
      target.add(quad, at);
      while (running.length) await running.shift();
    }
    return settled();
  },

  advance: () => settled(),
  end: () => settled(),
  stop: () => ({}),
};

function settled() {
  if (failure) return { reply: 'error', context: String(failure) };
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
      reply = { reply: 'error', context: String((error && error.stack) || error).slice(0, 2000) };
    }
    process.stdout.write(`${JSON.stringify({ seq, reply: 'result', ...reply })}\n`);
    if (command === 'stop') return;
  }
}

main().then(() => process.exit(0));
