// The page: what is asked on the left, what follows from it on the right.
import { Engine } from "./client.js";
import { $, clear, make } from "./dom.js";
import { letDrag } from "./drag.js";
import { makeEditor } from "./editor.js";
import { Fields } from "./fields.js";
import { Reports } from "./reports.js";
import { FIRST, packed, unpacked } from "./state.js";
import { Streams } from "./stream.js";

const LINK = "#q=";
const CASE = "#case=";

let state = structuredClone(FIRST);
let isReady = false;
let asked = 0;
let timer = 0;

const rules = await fetch("./rules.json").then((response) => response.json());
const examples = await fetch("./examples.json").then((response) => response.json());
const described = await fetch("./described.json").then((response) => response.json());
const reports = new Reports({ rules });
const streams = new Streams({ onChange: soon });
const fields = new Fields({ described, rules, onChange: changed });
const editor = makeEditor($("query"), state.query.text, (text) => {
  state.query.text = text;
  soon();
});
const engine = new Engine(begin, (reason) => say(`the engine cannot start: ${reason}`, true));

function say(text, isProblem = false) {
  $("status").textContent = text;
  $("status").classList.toggle("problem", isProblem);
}

async function begin() {
  isReady = true;
  await run();
}

// Showing what is asked

function showAll() {
  editor.text = state.query.text;
  streams.show($("streams"), state);
  $("static").value = state.static;
  $("recording").value = state.recording;
  $("missing").value = state.missing;
  $("compare").checked = state.other !== null;
  $("dialect").value = state.query.dialect;
  fields.show($("fields"), state);
}

function changed() {
  const focused = document.activeElement?.id;
  fields.show($("fields"), state);
  if (focused) $(focused)?.focus();
  soon();
}

// An answer that is still computed is to an older question, and is not shown.
function soon() {
  asked += 1;
  document.body.dataset.state = "asked";
  clearTimeout(timer);
  timer = setTimeout(run, 300);
}

// Asking

async function run() {
  if (!isReady) return;
  clearTimeout(timer);
  asked += 1;
  const mine = asked;
  say("computing…");
  const begun = performance.now();
  const slow = setTimeout(() => ($("stop").hidden = false), 1500);
  const result = await engine.ask("run", state);
  clearTimeout(slow);
  $("stop").hidden = true;
  if (mine !== asked) return;
  document.body.dataset.state = "answered"; // for tests
  const time = `${Math.round(performance.now() - begun)} ms`;
  $("answered").classList.toggle("is-old", Boolean(result.refused));
  if (result.refused) {
    say(result.refused, true);
    return;
  }
  reports.show(result);
  letDrag($("drawing").querySelector("svg"), drawnElements(result.streams), moved);
  say(`${$("reports").caption.textContent}; ${time}`);
}

// The drawing has the elements of the query's streams, one stream after the other.
function drawnElements(names) {
  return names.flatMap((name) => state.streams.find((s) => s.name === name)?.elements ?? []);
}

// What was moved past another element arrives after it.
function moved() {
  for (const stream of state.streams) stream.elements.sort((a, b) => a.at - b.at);
  streams.show($("streams"), state);
  soon();
}

async function judge() {
  say("judging…");
  const result = await engine.ask("judge", state);
  if (result.refused) {
    clear($("verdict"));
    say(result.refused, true);
    return;
  }
  const drawing = make("div");
  drawing.innerHTML = result.drawing; // made by the engine, which escapes all texts
  const outcome = make("p", { class: `outcome ${result.outcome}` }, result.outcome);
  clear($("verdict"), outcome, make("pre", { tabindex: "0" }, result.explanation), drawing);
  say(`verdict: ${result.outcome}`);
}

async function translate(to) {
  const before = state.query.dialect;
  const result = await engine.ask("translate", { query: state.query, to });
  if (result.refused) {
    $("dialect").value = before;
    say(`it cannot be said in ${described.dialects[to]}: ${result.refused}`, true);
    return;
  }
  state.query = { dialect: to, text: result.text };
  editor.text = result.text;
  soon();
}

async function takeAlong(form) {
  const result = await engine.ask("export", { ...state, link: await link() });
  if (result.refused) return say(result.refused, true);
  $("exported").value = result[form];
  $("exported").hidden = false;
  $("exported").focus();
  $("exported").select();
  return say("ready to be copied");
}

// Links

async function link() {
  return `${location.href.split("#")[0]}${LINK}${await packed(state)}`;
}

async function share() {
  const address = await link();
  history.replaceState(null, "", address);
  try {
    await navigator.clipboard.writeText(address);
    say("the link is copied; it holds the whole question");
  } catch {
    say("the link is in the address bar; it holds the whole question");
  }
}

async function readLink() {
  const { hash } = location;
  try {
    if (hash.startsWith(LINK)) take(await unpacked(hash.slice(LINK.length)));
    if (hash.startsWith(CASE)) {
      const id = decodeURIComponent(hash.slice(CASE.length));
      const found = examples.find((example) => example.id === id);
      if (!found) throw new Error(`no example ${id}`);
      choose(found);
    }
  } catch (error) {
    say(`this link cannot be read: ${error.message}`, true);
  }
}

function take(found) {
  state = structuredClone(found);
  reports.at = 0;
  clear($("verdict"));
  $("exported").hidden = true;
  showAll();
  soon();
}

function choose(example) {
  $("example").value = example.id;
  const { rule, name, derivation } = example;
  const link = make("a", { href: rules[rule]?.href ?? "#" }, rule);
  clear($("about"), make("p", {}, link, `: ${name}.`), make("p", { class: "soft" }, derivation));
  take({ ...FIRST, ...example.state });
  if (example.state.recording) $("judging").open = true;
}

// The page's own controls

const languages = Object.entries(described.dialects);
clear($("dialect"), ...languages.map(([value, text]) => make("option", { value }, text)));
const groups = new Map();
for (const { id, rule, name } of examples) {
  const group = groups.get(rule) ?? make("optgroup", { label: rule });
  group.append(make("option", { value: id }, name));
  groups.set(rule, group);
}
$("example").append(...groups.values());
$("example").onchange = ({ target }) => {
  const found = examples.find((example) => example.id === target.value);
  if (found) {
    history.replaceState(null, "", `${CASE}${found.id}`);
    choose(found);
  } else {
    history.replaceState(null, "", location.pathname);
    clear($("about"));
    take(FIRST);
  }
};
$("dialect").onchange = ({ target }) => translate(target.value);
$("static").oninput = ({ target }) => {
  state.static = target.value;
  soon();
};
$("recording").oninput = ({ target }) => (state.recording = target.value);
$("missing").oninput = ({ target }) => (state.missing = target.value);
$("compare").onchange = ({ target }) => {
  state.other = target.checked ? { ...state.semantics } : null;
  changed();
};
$("view").onchange = ({ target }) => {
  streams.asTable = target.checked;
  streams.show($("streams"), state);
};
$("add-stream").onclick = () => {
  state.streams.push({ name: `s${state.streams.length + 1}`, elements: [] });
  streams.again();
};
$("read").onclick = async () => {
  const request = { name: `stream.${$("form").value}`, text: $("file").value };
  const result = await engine.ask("read", request);
  if (result.refused) return say(result.refused, true);
  state.streams[0].elements = result.elements;
  streams.show($("streams"), state);
  return run();
};
$("share").onclick = share;
$("judge").onclick = judge;
$("stop").onclick = () => {
  isReady = false;
  engine.stop();
};
for (const form of ["case", "python", "report"]) $(form).onclick = () => takeAlong(form);
addEventListener("hashchange", readLink);

showAll();
await readLink();
if ("serviceWorker" in navigator) navigator.serviceWorker.register("./sw.js");
