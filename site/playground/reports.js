// The answer: a time line, the steps one by one, and a table of the reports.
import { $, clear, make } from "./dom.js";

const borders = (window, semantics) => {
  if (!window) return "none";
  const signs = semantics.closure === "none" ? "[)" : semantics.closure;
  return `${signs[0]}${window[0]}, ${window[1]}${signs[1]}`;
};
const windowsOf = (step, semantics) =>
  step.windows.map((window) => borders(window, semantics)).join("; ");

export function rowText(row) {
  const cells = Object.entries(row).map(([name, term]) => `?${name} = ${term}`);
  return cells.join(", ") || "(a row without values)";
}

export class Reports {
  constructor({ rules }) {
    this.rules = rules;
    this.result = null;
    this.at = 0;
    $("before").onclick = () => this.go(this.at - 1);
    $("after").onclick = () => this.go(this.at + 1);
  }

  // What can be gone through: of one semantics each evaluation, of two each pair of reports.
  get stops() {
    const { runs, pairs } = this.result;
    if (runs.length > 1) return pairs;
    return runs[0].steps.map((step) => [null, step.step, false]);
  }

  show(result) {
    this.result = result;
    $("drawing").innerHTML = result.drawing; // made by the engine, which escapes all texts
    this.marks();
    this.table();
    const notes = result.runs.flatMap((run, number) =>
      run.notes.map((note) => (result.runs.length > 1 ? `${"AB"[number]}: ${note}` : note)),
    );
    clear($("notes"), ...notes.map((note) => make("li", {}, note)));
    this.go(Math.min(this.at, Math.max(0, this.stops.length - 1)));
  }

  // A report in the drawing leads to its step.
  marks() {
    const { runs, pairs } = this.result;
    const sides = [
      [".due", 0],
      [".given", 1],
    ];
    this.drawn = new Map();
    for (const [selector, side] of sides) {
      const shapes = $("drawing").querySelectorAll(`rect${selector}, path${selector}`);
      const stops = pairs.map((pair, number) => [pair, number]).filter(([p]) => p[side] !== null);
      shapes.forEach((shape, number) => {
        const found = stops[number];
        if (!found) return;
        const stop = runs.length > 1 ? found[1] : found[0][1];
        this.drawn.set(stop, [...(this.drawn.get(stop) ?? []), shape]);
        shape.addEventListener("click", () => this.go(stop));
      });
    }
  }

  table() {
    const { runs, pairs } = this.result;
    const two = runs.length > 1;
    const cell = (run, number) => {
      if (number === null) return [make("td", {}, "no report"), make("td", {})];
      const step = run.steps[number];
      const back = step.takes_back ? "takes back: " : "";
      const key = step.key.length ? ` of ${step.key.join(" ")}` : "";
      const rows = step.rows.length
        ? make("ul", {}, ...step.rows.map((row) => make("li", {}, rowText(row))))
        : "no rows";
      const where = `${back}${windowsOf(step, run.semantics)}${key} at ${step.instant}`;
      return [make("td", {}, where), make("td", {}, rows)];
    };
    const line = ([a, b, differs], number) => {
      const stop = two ? number : b;
      const cells = two ? [...cell(runs[0], a), ...cell(runs[1], b)] : cell(runs[0], b);
      const button = make("button", { type: "button", onclick: () => this.go(stop) }, `${number + 1}`);
      button.setAttribute("aria-label", `explain report ${number + 1}`);
      const head = make("th", { scope: "row" }, button, differs ? " ≠" : "");
      return make("tr", { class: differs ? "is-different" : "", "data-stop": `${stop}` }, head, ...cells);
    };
    const heads = two ? ["A: window", "A: rows", "B: window", "B: rows"] : ["window", "rows"];
    clear(
      $("reports"),
      make("caption", {}, this.caption()),
      make(
        "thead",
        {},
        make("tr", {}, ...["report", ...heads].map((text) => make("th", { scope: "col" }, text))),
      ),
      make("tbody", {}, ...pairs.map(line)),
    );
  }

  caption() {
    const { runs, pairs } = this.result;
    const differing = pairs.filter((pair) => pair[2]).length;
    if (runs.length > 1) return `${pairs.length} reports, ${differing} differ`;
    const { steps } = runs[0];
    const emitted = steps.filter((step) => step.emitted);
    const kinds = new Set(emitted.flatMap((step) => step.witnesses));
    const by = kinds.size ? `, confirmed by ${[...kinds].join(" and ")}` : "";
    const suppressed = steps.length - emitted.length;
    return `${emitted.length} reports${suppressed ? `, ${suppressed} evaluations without one` : ""}${by}`;
  }

  go(stop) {
    const { runs } = this.result;
    const { stops } = this;
    this.at = Math.max(0, Math.min(stop, stops.length - 1));
    $("before").disabled = this.at === 0;
    $("after").disabled = this.at >= stops.length - 1;
    $("where").textContent = stops.length ? `step ${this.at + 1} of ${stops.length}` : "no step";
    for (const [number, shapes] of this.drawn) {
      for (const shape of shapes) shape.classList.toggle("chosen", number === this.at);
    }
    for (const line of $("reports").querySelectorAll("tbody tr")) {
      line.classList.toggle("chosen", Number(line.dataset.stop) === this.at);
    }
    if (!stops.length) return clear($("step"));
    const [a, b] = stops[this.at];
    const shown = runs.length > 1 ? [[a, 0, "A"], [b, 1, "B"]] : [[b, 0, ""]];
    return clear($("step"), ...shown.map(([number, side, name]) => this.step(number, side, name)));
  }

  step(number, side, name) {
    const heading = name ? `${name}: ` : "";
    if (number === null) {
      return make("section", {}, make("h3", {}, `${heading}no report`));
    }
    const run = this.result.runs[side];
    const step = run.steps[number];
    const emitted = step.emitted ? "" : ", not emitted";
    const title = `${heading}${windowsOf(step, run.semantics)}, evaluated at ${step.evaluation}${emitted}`;
    const contents = step.contents.map((content) =>
      make(
        "ul",
        { class: "content" },
        ...content.map((element) =>
          make("li", {}, make("b", {}, `${element.at}`), ` ${element.graph}`),
        ),
      ),
    );
    const rows = step.rows.map((row) => make("li", {}, rowText(row)));
    return make(
      "section",
      {},
      make("h3", {}, title),
      make("h4", {}, "Content"),
      ...(step.contents.some((content) => content.length) ? contents : ["empty"]),
      make("h4", {}, "Rows"),
      rows.length ? make("ul", {}, ...rows) : "none",
      make("h4", {}, "Rules"),
      make("ol", { class: "rules" }, ...step.rules.map((line) => make("li", {}, ...this.linked(line)))),
    );
  }

  // Each rule's id in a line is a link to the rule.
  linked(line) {
    return line.split(/([A-Z][A-Z0-9]+-[1-9][0-9]*)/).map((part) => {
      const rule = this.rules[part];
      return rule ? make("a", { href: rule.href, title: rule.title }, part) : part;
    });
  }
}
