// A small stream engine with switchable defects, for tests of what the suite says about an engine. It is written after SPEC.md
// and conformance/PROTOCOL.md alone and shares no code with refengine.
//
//   node engine.mjs [--report close|change] [--defect NAME]...
//
// It reads the dialect `table`. Without a defect it is right under one of two profiles with t0 = 0:
//   close: csparql (a window that holds something is reported as a whole when it closes);
//   change: cqels (the new rows go out whenever the content of a window has changed).
// Its windows are those of the kind `time`, its queries SELECT over triple patterns. It refuses everything else. As it may refuse
// at any element, it sends all reports of a case at its end. defects.mjs lists the defects. An unknown option ends it with 2.

import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

import { ContinuousQuery, REPORTS } from "./continuous.mjs";
import { DEFECTS } from "./defects.mjs";
import { Unsupported, readTriples } from "./sparql.mjs";

const REPLIES = {
  start: () => ({ protocol: 1, engine: "defective", version: "1" }),
  register: ({ query, static: data }) => {
    if (data) throw new Unsupported("static data");
    state.query = new ContinuousQuery(JSON.parse(query), options.report, defects);
    return { relations: [] };
  },
  push: ({ stream, at, graph, batch, end = at }) => {
    if (![at, end].every(Number.isSafeInteger)) throw new Unsupported("times beyond 2^53");
    state.query.push({ stream, app: at, end, batch, triples: readTriples(graph, stream) });
    return { relations: [] };
  },
  advance: () => ({ relations: [] }),
  end: () => {
    state.query.finish();
    return { relations: state.query.reports.map((rows) => ({ rows: rows.map(rowAsJson) })) };
  },
  stop: () => ({}),
};

function rowAsJson(row) {
  return Object.fromEntries(Object.entries(row).map(([name, { key, ...term }]) => [name, term]));
}

function replyTo(command) {
  try {
    return { result: REPLIES[command.command](command) };
  } catch (error) {
    if (error instanceof Unsupported) return { unsupported: { reason: error.message } };
    return { error: { context: String(error.stack) } };
  }
}

function readOptions() {
  const { values } = parseArgs({
    options: { report: { type: "string", default: "close" }, defect: { type: "string", multiple: true, default: [] } },
  });
  for (const [word, words] of [[[values.report], REPORTS], [values.defect, Object.keys(DEFECTS)]]) {
    const unknown = word.find((name) => !words.includes(name));
    if (unknown !== undefined) throw new Error(`${unknown} is none of ${words.join(", ")}`);
  }
  return values;
}

let options;
try {
  options = readOptions();
} catch (error) {
  console.error(`engine.mjs: ${error.message}`);
  process.exit(2);
}
const defects = new Set(options.defect);
const state = { query: null };

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  const [[reply, fields]] = Object.entries(replyTo(command));
  process.stdout.write(`${JSON.stringify({ seq: command.seq, reply, ...fields })}\n`);
  if (command.command === "stop") break;
}
