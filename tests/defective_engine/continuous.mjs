// A continuous query: its windows (SPEC.md §4), ticks (§5), reports (§6) and R2S (§8), with switchable defects.

import { Unsupported, answer, parseBody, rowKey } from "./sparql.mjs";

const MOST_INSTANTS = 50_000; // that are looked at between two elements

// What the engine claims to do, by the word of --report. All else is as in SPEC.md §2: windows [o, c) from 0 on, the tick by
// tuple, all instants of a gap, Istream and Dstream against the answer before, and time that goes on after the last element.
const CLAIMS = {
  close: { operator: "Rstream", isEmptySent: true }, // the profile csparql
  change: { operator: "Istream", isEmptySent: false }, // the profile cqels
};

export const REPORTS = Object.keys(CLAIMS);

class Window {
  constructor(table, defects) {
    if (table.kind !== "time") throw new Unsupported(`windows of the kind ${table.kind}`);
    this.table = table;
    this.defects = defects;
    this.elements = [];
    this.t0 = defects.has("t0-three") ? 3 : 0;
    this.size = table.size;
    this.slide = table.slide;
    if (defects.has("slide-size")) this.slide = table.size;
    if (defects.has("slide-ignored")) this.slide = 1;
    const hasClosed = defects.has("closure-closed");
    this.hasLower = hasClosed || !(defects.has("closure-left-open") || defects.has("closure-open"));
    this.hasUpper = hasClosed || defects.has("closure-left-open");
    this.hasBegun = !(defects.has("t0-first") || defects.has("t0-reach"));
    this.lastContent = [];
  }

  // Take notice of the first element, where t0 depends on it.
  begin(at) {
    if (this.hasBegun) return;
    this.t0 = this.defects.has("t0-first") ? at : at - this.size;
    this.hasBegun = true;
  }

  firstInstant(number) {
    return this.t0 + number * this.slide + (this.hasLower ? 0 : 1);
  }

  lastInstant(number) {
    return this.t0 + number * this.slide + this.size - (this.hasUpper ? 0 : 1);
  }

  // The first instant at which the query is looked at: just before window 0 (WIN-5).
  get start() {
    return this.firstInstant(0) - 1;
  }

  // The number of the active window at t: the first that is still open (WIN-4).
  activeNumber(t) {
    return Math.max(0, Math.ceil((t - this.lastInstant(0)) / this.slide));
  }

  closesAt(t) {
    return this.lastInstant(this.activeNumber(t)) === t;
  }

  // What the active window holds at t; null before there is one.
  contentAt(t) {
    if (!this.hasBegun || t < this.start) return null;
    const from = this.firstInstant(this.activeNumber(t));
    const there = this.elements.filter(({ app, end }) => app <= t && end >= from && from <= t);
    return this.defects.has("latest-element") ? there.slice(-1) : there;
  }

  // Whether an instant is a border of some window.
  isBorder(at) {
    return [at - this.t0, at - this.t0 - this.size].some((distance) => distance % this.slide === 0);
  }

  add(element) {
    if (this.defects.has("border-lost") && this.isBorder(element.app)) return;
    this.elements.push(element);
  }

  // The instants of [from, to) at which an element comes into scope, the window closes, or another becomes the active one or
  // begins. There are none once all elements have left.
  *turningPoints(from, to) {
    if (!this.hasBegun || !this.elements.length) return;
    yield* this.elements.map(({ app }) => app).filter((app) => app > from && app < to);
    const end = Math.max(...this.elements.map((element) => element.end));
    const until = Math.min(to - 1, end + this.size + this.slide + 1);
    let count = 0;
    for (let number = this.activeNumber(Math.max(from, this.start)); ; number += 1) {
      const close = this.lastInstant(number);
      const points = [close, close + 1, this.firstInstant(number + 1)];
      if (points[0] > until) return;
      yield* points.filter((point) => point >= from && point < to);
      count += 1;
      if (count > MOST_INSTANTS) throw new Unsupported(`more than ${MOST_INSTANTS} windows between two elements`);
    }
  }
}

export class ContinuousQuery {
  constructor(table, report, defects) {
    this.report = report;
    this.claims = CLAIMS[report];
    this.defects = defects;
    this.body = parseBody(table.body);
    this.windows = table.windows.map((window) => new Window(window, defects));
    this.operator = this.operatorFor(table.r2s);
    this.isEmptySent = this.claims.isEmptySent !== defects.has("empty-otherwise");
    this.lastLooked = null; // the arrival that was looked at last
    this.newest = null; // the arrival that came last
    this.waiting = []; // elements that are in no window yet
    this.base = []; // the answer of the evaluation before
    this.held = null; // the output of the evaluation before, if outputs are late
    this.reports = [];
  }

  operatorFor(stated) {
    const operator = stated ?? this.claims.operator;
    if (operator === "append") throw new Unsupported("append");
    if (this.defects.has("r2s-rstream")) return "Rstream";
    if (this.defects.has("r2s-istream")) return "Istream";
    if (this.defects.has("r2s-swapped")) return { Istream: "Dstream", Dstream: "Istream" }[operator] ?? operator;
    return operator;
  }

  // Take an element, and evaluate what it shows (TICK-4). Elements in disorder are unsupported (MOD-2).
  push(element) {
    const windows = this.windows.filter(({ table }) => table.stream === element.stream);
    if (!windows.length) return;
    if (this.newest && element.app < this.newest.app) throw new Unsupported("elements in disorder");
    for (const window of windows) window.begin(element.app);
    this.arrive(element);
    this.waiting.push({ element, windows });
    if (!this.defects.has("late-element")) this.admitWaiting();
  }

  // Let time go on until each window is over (ENG-1).
  finish() {
    if (!this.newest) return;
    const longest = Math.max(...this.windows.map(({ size }) => size));
    this.arrive({ app: this.greatestEnd + 2 + longest, end: -Infinity, isSentinel: true });
  }

  arrive(arrival) {
    this.greatestEnd = Math.max(this.greatestEnd ?? -Infinity, arrival.end);
    if (this.isLookedAt(arrival)) {
      this.evaluateUntil(arrival.app);
      this.lastLooked = arrival;
    }
    this.newest = arrival;
    this.admitWaiting();
  }

  admitWaiting() {
    for (const { element, windows } of this.waiting) for (const window of windows) window.add(element);
    this.waiting = [];
  }

  get start() {
    return Math.min(...this.windows.filter((window) => window.hasBegun).map((window) => window.start));
  }

  isLookedAt({ app, batch, isSentinel }) {
    if (isSentinel) return true;
    if (this.defects.has("tick-instant")) return app > (this.lastLooked?.app ?? this.start);
    if (this.defects.has("tick-batch") && batch !== undefined) return batch !== this.lastLooked?.batch;
    return true;
  }

  // Evaluate at the instants from that of the last arrival that was looked at up to, without, `to`; at `to` if they are equal.
  evaluateUntil(to) {
    const from = Math.max(this.lastLooked?.app ?? this.start, this.start);
    if (from > to) return;
    const instants = new Set([from]);
    if (from < to) {
      for (const window of this.windows) for (const instant of window.turningPoints(from, to)) instants.add(instant);
    }
    let evaluations = 0;
    const ordered = [...instants].sort((a, b) => a - b);
    const due = this.defects.has("latest-window") ? ordered.reverse() : ordered;
    for (const instant of due) {
      if (this.defects.has("latest-window") && evaluations) break;
      evaluations += this.evaluateAt(instant, to);
    }
  }

  // Evaluate at an instant if a window is to be reported there. Return whether it was.
  evaluateAt(instant, to) {
    const contents = this.windows.map((window) => window.contentAt(instant));
    const isReported = (content, place) => content !== null && this.isDue(this.windows[place], content, instant, to);
    if (!contents.some(isReported)) return false;
    this.windows.forEach((window, place) => {
      window.lastContent = contents[place] ?? [];
    });
    this.emit(answer(this.body, ...this.dataset(contents)));
    return true;
  }

  isDue(window, content, instant, to) {
    if (this.report === "close") return content.length > 0 && instant < to && window.closesAt(instant);
    const before = window.lastContent;
    return content.length !== before.length || content.some((element, place) => element !== before[place]);
  }

  // Return the default graph, and the graphs of the windows with a name. A graph is a set of triples.
  dataset(contents) {
    const graphs = new Map([["", new Map()]]);
    contents.forEach((content, place) => {
      const name = this.windows[place].table.name ?? "";
      if (!graphs.has(name)) graphs.set(name, new Map());
      for (const { triples } of content ?? []) {
        for (const triple of triples) graphs.get(name).set(triple.map(({ key }) => key).join(" "), triple);
      }
    });
    const triples = new Map([...graphs].map(([name, graph]) => [name, [...graph.values()]]));
    const named = new Map([...triples].filter(([name]) => name));
    return [triples.get(""), named];
  }

  emit(rows) {
    let output = rows;
    if (this.operator === "Istream") output = difference(rows, this.base);
    if (this.operator === "Dstream") output = difference(this.base, rows);
    this.base = rows;
    if (this.defects.has("latest-row")) output = output.slice(-1);
    if (this.defects.has("doubled-row")) output = output.flatMap((row) => [row, row]);
    this.send(this.inTurn(output));
  }

  // Return the output that is sent now; null if there is none.
  inTurn(output) {
    if (!this.defects.has("late-report") && !this.defects.has("late-empty")) return output;
    const held = this.held ?? (this.defects.has("late-empty") ? [] : null);
    this.held = output;
    return held;
  }

  send(output) {
    if (output === null || (!output.length && !this.isEmptySent)) return;
    this.reports.push(output);
    if (this.defects.has("doubled-report")) this.reports.push(output);
  }
}

// Return the rows of one bag that are more than those of another.
function difference(rows, others) {
  const counts = new Map();
  for (const row of others) counts.set(rowKey(row), (counts.get(rowKey(row)) ?? 0) + 1);
  return rows.filter((row) => {
    const count = counts.get(rowKey(row)) ?? 0;
    counts.set(rowKey(row), count - 1);
    return count <= 0;
  });
}
