// The streams: each as lines of text, or as a table with a row for each element.
import { clear, make } from "./dom.js";
import { elementsOf, lineOf } from "./state.js";

export class Streams {
  constructor({ onChange, onRead }) {
    this.onChange = onChange;
    this.onRead = onRead;
    this.asTable = false;
  }

  show(place, state) {
    this.place = place;
    this.state = state;
    const many = state.streams.length > 1;
    clear(place, ...state.streams.map((stream, number) => this.stream(stream, number, many)));
  }

  again() {
    this.show(this.place, this.state);
    this.onChange();
  }

  stream(stream, number, many) {
    const name = make("input", {
      value: stream.name,
      "aria-label": `name of stream ${number + 1}`,
      spellcheck: "false",
      onchange: (event) => {
        stream.name = event.target.value;
        this.onChange();
      },
    });
    const remove = () => {
      this.state.streams.splice(number, 1);
      this.again();
    };
    const head = make(
      "div",
      { class: "bar" },
      make("label", {}, "stream ", name),
      many ? make("button", { type: "button", onclick: remove }, "remove") : null,
    );
    const body = this.asTable ? this.table(stream) : this.lines(stream);
    return make("div", { class: "stream" }, head, body);
  }

  lines(stream) {
    const problem = make("p", { class: "problem", role: "alert" });
    const area = make("textarea", {
      rows: Math.min(14, Math.max(5, stream.elements.length + 1)),
      spellcheck: "false",
      "aria-label": `elements of ${stream.name}, each a line with a time and triples`,
      oninput: (event) => {
        const { elements, wrong } = elementsOf(event.target.value);
        problem.textContent = wrong[0] ?? "";
        if (wrong.length) return;
        stream.elements = elements;
        this.onChange();
      },
    });
    area.value = stream.elements.map(lineOf).join("\n");
    return make("div", {}, area, problem);
  }

  table(stream) {
    const cell = (element, key, type, label) =>
      make(
        "td",
        {},
        make("input", {
          type,
          value: element[key] === undefined ? "" : String(element[key]),
          "aria-label": label,
          class: type === "number" ? "number" : "graph",
          spellcheck: "false",
          onchange: (event) => {
            const { value } = event.target;
            if (type === "text") element[key] = value;
            else if (value === "" && key !== "at") delete element[key];
            else element[key] = Math.trunc(Number(value));
            this.onChange();
          },
        }),
      );
    const line = (element, number) => {
      const drop = () => {
        stream.elements.splice(number, 1);
        this.again();
      };
      const button = make("button", { type: "button", onclick: drop }, "×");
      button.setAttribute("aria-label", `remove element ${number + 1}`);
      return make(
        "tr",
        {},
        cell(element, "at", "number", `time of element ${number + 1}`),
        cell(element, "graph", "text", `triples of element ${number + 1}`),
        cell(element, "end", "number", `end of element ${number + 1}`),
        cell(element, "batch", "number", `batch of element ${number + 1}`),
        make("td", {}, button),
      );
    };
    const add = () => {
      const last = stream.elements.at(-1);
      stream.elements.push({ at: (last?.at ?? 0) + 1, graph: ":a :p 1" });
      this.again();
    };
    const heads = ["time", "triples", "end", "batch", ""];
    return make(
      "div",
      { class: "scroll" },
      make(
        "table",
        {},
        make("thead", {}, make("tr", {}, ...heads.map((h) => make("th", { scope: "col" }, h)))),
        make("tbody", {}, ...stream.elements.map(line)),
      ),
      make("button", { type: "button", onclick: add }, "add an element"),
    );
  }
}
