// The fields of a semantics as controls, each with what it says and the rule of its value.
import { clear, make } from "./dom.js";

// The fields that are looked at first; the others are in a box that can be opened.
const FIRST_FIELDS = ["t0", "closure", "report", "tick", "r2s", "empty", "horizon"];

export class Fields {
  constructor({ described, rules, onChange }) {
    this.described = described;
    this.rules = rules;
    this.onChange = onChange;
    this.state = null;
  }

  // The value that a semantics gives a field: its own, else the profile's; null if it is open.
  value(semantics, name) {
    return semantics[name] ?? this.described.profiles[semantics.profile]?.[name] ?? null;
  }

  show(place, state) {
    this.state = state;
    const sides = state.other ? ["semantics", "other"] : ["semantics"];
    const row = (field) => this.row(field, sides);
    const first = FIRST_FIELDS.map((name) => this.described.fields.find((f) => f.name === name));
    const rest = this.described.fields.filter((field) => !FIRST_FIELDS.includes(field.name));
    const changed = rest.filter((field) => sides.some((side) => field.name in state[side])).length;
    const wasOpen = place.querySelector("details")?.open ?? false;
    const summary = make(
      "summary",
      {},
      `${rest.length} more fields${changed ? `, ${changed} changed` : ""}`,
    );
    const more = make("details", { open: wasOpen }, summary, ...rest.map(row));
    clear(place, this.profiles(sides), ...first.map(row), more);
  }

  profiles(sides) {
    const names = Object.keys(this.described.profiles);
    const selects = sides.map((side, number) => {
      const label = sides.length > 1 ? `profile ${"AB"[number]}` : "profile";
      const options = names.map((name) =>
        make("option", { selected: name === this.state[side].profile }, name),
      );
      const select = make(
        "select",
        {
          "aria-label": label,
          id: `${side}-profile`,
          onchange: (event) => {
            this.state[side] = { ...this.state[side], profile: event.target.value };
            this.onChange();
          },
        },
        ...options,
      );
      return make("div", { class: "control" }, select);
    });
    const about = make("p", {}, "whose semantics it is; each field below replaces a value of it");
    const words = make("div", { class: "words" }, make("span", { class: "name" }, "profile"), about);
    return make("div", { class: "field" }, words, ...selects);
  }

  row(field, sides) {
    const differs =
      sides.length > 1 && new Set(sides.map((s) => this.value(this.state[s], field.name))).size > 1;
    const mark = differs ? make("span", { class: "differs" }, "A ≠ B") : null;
    const words = make(
      "div",
      { class: "words" },
      make("span", { class: "name" }, field.name),
      mark,
      make("p", {}, ...this.sentence(field.about)),
    );
    const controls = sides.map((side, number) => {
      const label = sides.length > 1 ? `${field.name} of ${"AB"[number]}` : field.name;
      const control = this.control(field, side, label);
      return make("div", { class: "control" }, control, this.ruleOf(field, side));
    });
    return make("div", { class: `field${differs ? " is-different" : ""}` }, words, ...controls);
  }

  // Words between backticks are code.
  sentence(text) {
    return text.split("`").map((part, number) => (number % 2 ? make("code", {}, part) : part));
  }

  ruleOf(field, side) {
    const value = this.value(this.state[side], field.name);
    if (value === null) return make("span", { class: "rule" }, "left open");
    const words = field.several ? value.split(",") : [value];
    const ids = new Set(words.map((word) => field.values[word] ?? field.integer).filter(Boolean));
    return make("span", { class: "rule" }, ...[...ids].flatMap((id) => [this.link(id), " "]));
  }

  link(id) {
    const rule = this.rules[id];
    if (!rule) return make("span", {}, id);
    return make("a", { href: rule.href, title: rule.title }, id);
  }

  set(side, name, value) {
    const semantics = { ...this.state[side] };
    if (value === "") delete semantics[name];
    else semantics[name] = value;
    this.state[side] = semantics;
    this.onChange();
  }

  control(field, side, label) {
    const semantics = this.state[side];
    const id = `${side}-${field.name}`;
    const inherited = this.described.profiles[semantics.profile]?.[field.name] ?? null;
    const common = { id, "aria-label": label, class: field.name in semantics ? "is-own" : "" };
    if (field.several) return this.checkboxes(field, side, common);
    if (field.integer !== null) {
      const list = make(
        "datalist",
        { id: `${id}-values` },
        ...Object.keys(field.values).map((word) => make("option", { value: word })),
      );
      const input = make("input", {
        ...common,
        type: "text",
        value: semantics[field.name] ?? "",
        placeholder: inherited ?? "open",
        list: `${id}-values`,
        autocomplete: "off",
        spellcheck: "false",
        onchange: (event) => this.set(side, field.name, event.target.value.trim()),
      });
      return make("span", {}, input, list);
    }
    const option = (value, text) =>
      make("option", { value, selected: (semantics[field.name] ?? "") === value }, text);
    const own = semantics[field.name];
    const words = Object.keys(field.values);
    if (own !== undefined && !words.includes(own)) words.push(own);
    return make(
      "select",
      { ...common, onchange: (event) => this.set(side, field.name, event.target.value) },
      option("", `${inherited ?? "open"} (profile)`),
      ...words.map((word) => option(word, word)),
    );
  }

  checkboxes(field, side, common) {
    const now = new Set((this.value(this.state[side], field.name) ?? "").split(",").filter(Boolean));
    const boxes = Object.keys(field.values).map((word) =>
      make(
        "label",
        {},
        make("input", {
          type: "checkbox",
          checked: now.has(word),
          onchange: (event) => {
            if (event.target.checked) now.add(word);
            else now.delete(word);
            const chosen = Object.keys(field.values).filter((each) => now.has(each));
            this.set(side, field.name, chosen.join(","));
          },
        }),
        ` ${word}`,
      ),
    );
    return make("span", { ...common, role: "group" }, ...boxes);
  }
}
