// Runs an exported suite (docs/suite-as-data.md) against an engine behind the harness protocol:
//
//   node run.mjs SUITE [--engine NAME] [--seconds N] [--only FILE] -- COMMAND …
//
// With --engine the cases are compared with what this engine must report by its own semantics,
// otherwise it is sent the semantics of each case. FILE has the ids of the cases to run, a line
// each. Prints a line of JSON for each case: its suite and id, the outcome, and why.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { sameRows } from './comparison.mjs';

const end = process.argv.indexOf('--');
const command = process.argv.slice(end + 1);
const { values: options, positionals: [suite] } = parseArgs({
  args: process.argv.slice(2, end),
  allowPositionals: true,
  options: { engine: { type: 'string' }, seconds: { type: 'string', default: '10' }, only: { type: 'string' } },
});

class Harness {
  constructor() {
    this.process = spawn(command[0], command.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
    this.process.on('error', () => {});
    this.process.stdin.on('error', () => {});
    this.lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
    this.seq = 0;
  }

  async ask(message) {
    this.seq += 1;
    this.process.stdin.write(`${JSON.stringify({ seq: this.seq, ...message })}\n`);
    let timer;
    const late = new Promise((resolve) => { timer = setTimeout(resolve, options.seconds * 1000, { done: true }); });
    const { value, done } = await Promise.race([this.lines.next(), late]);
    clearTimeout(timer);
    return done ? { reply: 'error', context: 'no reply' } : JSON.parse(value);
  }
}

let harness = null;
async function started() {
  if (harness === null) {
    harness = new Harness();
    await harness.ask({ command: 'start', protocol: 1 });
  }
  return harness;
}

// The reports that an engine gives, or the outcome with which the question ends.
async function play(evaluation) {
  const reports = [];
  for (const { command: name, ...fields } of evaluation.commands) {
    if (name === 'register' && evaluation.semantics) fields.semantics = evaluation.semantics;
    const reply = await (await started()).ask({ command: name, ...fields });
    if (reply.reply === 'error' || (reply.reply === 'unsupported' && reports.length)) {
      harness.process.kill('SIGKILL');
      harness = null;
      return { outcome: 'error', why: reply.context ?? reply.reason };
    }
    if (reply.reply === 'unsupported') return { outcome: 'unsupported', why: reply.reason };
    for (const relation of reply.relations ?? []) reports.push({ came: name === 'push' ? fields.at : 'end', ...relation });
  }
  return { reports };
}

const CLOSED = { '[': 0, '(': 1, ']': 0, ')': -1 };
function instants([opens, closes], closure) {
  const [low, high] = closure ?? '[]';
  return [opens + CLOSED[low], closes + CLOSED[high]];
}

const ELEMENT = 'urn:refengine:element:'; // of the suite `windows`, in which reports have numbers
const rowsOf = (report) => report.rows ?? report.elements.map((n) => ({ element: { type: 'uri', value: ELEMENT + n } }));
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// Why a report is not the expected one; nothing if it is. What one of both does not state is not compared.
function difference(expected, got, evaluation) {
  if (!sameRows(expected.rows, rowsOf(got), evaluation.mode)) return 'rows';
  if (got.window && expected.instants !== undefined
    && !same(instants(got.window, evaluation.stated_closure), expected.instants)) return 'window';
  if (!evaluation.semantics) return ''; // of a semantics of its own an engine need not state more
  if ('instant' in expected && ![undefined, expected.instant].includes(got.instant)) return 'instant';
  if ('comes_with' in expected && got.came !== expected.comes_with) return 'trigger';
  if ((got.takes_back ?? false) !== expected.takes_back) return 'takes_back';
  return expected.key && got.key && !same(expected.key, got.key) ? 'key' : '';
}

function verdict(evaluation, reports) {
  const whys = evaluation.alternatives.map(({ reports: due }) => {
    if (due.length !== reports.length) return `${due.length} reports are due, ${reports.length} came`;
    const differences = due.map((report, n) => difference(report, reports[n], evaluation));
    const first = differences.findIndex((why) => why);
    return first < 0 ? '' : `report ${first + 1}: ${differences[first]}`;
  });
  return whys.includes('') ? { outcome: 'pass', why: '' } : { outcome: 'fail', why: whys[0] };
}

async function outcome(evaluation) {
  const { decided_by: by, reason: why } = evaluation;
  if (by === 'judge') return { outcome: 'undecided', why };
  if (by === 'nothing' && !evaluation.commands) return { outcome: 'unsupported', why };
  const played = await play(evaluation);
  if (!played.reports) return played;
  if (by === 'nothing') return { outcome: 'unsupported', why };
  return by === 'refusal' ? { outcome: 'fail', why } : verdict(evaluation, played.reports);
}

const only = options.only && new Set(readFileSync(options.only, 'utf8').split('\n'));
for (const { file } of JSON.parse(readFileSync(join(suite, 'suite.json'))).cases) {
  const found = JSON.parse(readFileSync(join(suite, file)));
  const asked = [(options.engine ? found.engines?.[options.engine] : found.evaluations) ?? []].flat();
  if ((only && !only.has(found.id)) || !asked.length) continue;
  let result = { outcome: 'pass', why: '' };
  if (found.requires.includes('integers-beyond-53-bits')) {
    result = { outcome: 'undecided', why: 'JavaScript has no such integers' };
    asked.length = 0;
  }
  for (const evaluation of asked) {
    const next = await outcome(evaluation);
    if (next.outcome !== 'pass' && result.outcome !== 'fail') result = next;
    if (!['pass', 'fail'].includes(next.outcome)) { result = next; break; }
  }
  console.log(JSON.stringify({ suite: found.suite, case: found.id, ...result }));
}
if (harness) {
  await harness.ask({ command: 'stop' });
  harness.process.kill();
}
