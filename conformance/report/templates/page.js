"use strict";
// The list of results: filtered, and written as it is shown. Texts become text nodes; details and rules are markup that was escaped when it was made.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const OUTCOMES = ["pass", "fail", "unsupported", "disputed", "error", "unstable"], STEP = 100, OPEN = 3;
  const by = id => document.getElementById(id);
  const list = by("list"), more = by("more"), text = by("text"), known = by("known"), cause = by("cause"), engine = by("engine");
  const outcomeButtons = [...document.querySelectorAll("[data-outcome]")], engineButtons = [...document.querySelectorAll("[data-engine]")];
  const fails = row => row[2] === 1 || row[2] === 4;
  const pressed = button => button.getAttribute("aria-pressed") === "true";
  const press = (button, on) => button.setAttribute("aria-pressed", String(on));
  const haystacks = [];
  let place = {}, found = [], shown = 0, packed;

  // The texts of rules, and after them the details of results, some in each part. A part is unpacked once, when something of it is opened.
  const parts = [];
  const part = number => parts[number] ??= unpack(number);

  async function unpack(number) {
    packed ??= JSON.parse(by("packed").textContent);
    const bytes = Uint8Array.from(atob(packed[number]), char => char.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }

  const haystack = number => haystacks[number] ??= (() => {
    const [who, which, outcome, why, first, , causes] = data.rows[number], [suite, rule, name] = data.cases[which];
    return [data.engines[who], data.suites[suite], rule, name, name.replaceAll("-", " "), OUTCOMES[outcome], data.texts[first], ...why.map(n => data.known[n]), ...causes.map(n => data.causes[n])].join(" ").toLowerCase();
  })();

  function title([, rule, name]) {
    return rule && name.startsWith(rule + "-") ? name.slice(rule.length + 1).replaceAll("-", " ") : name;
  }

  function element(tag, kind, words) {
    const made = document.createElement(tag);
    if (kind) made.className = kind;
    if (words !== undefined) made.textContent = words;
    return made;
  }

  function item(number) {
    const row = data.rows[number], [who, which, outcome, why, first] = row, entry = data.cases[which];
    const li = element("li"), details = element("details"), summary = element("summary");
    const explained = fails(row) && why.length > 0;
    summary.append(
      element("span", "badge " + (explained ? "known" : OUTCOMES[outcome]), (explained ? "known " : "") + OUTCOMES[outcome]),
      element("span", "rule", entry[1] || data.suites[entry[0]]), element("h3", "name", title(entry)), element("span", "who", data.engines[who]));
    if (outcome !== 0 && data.texts[first]) summary.append(element("span", "why", data.texts[first]));
    details.append(summary);
    details.addEventListener("toggle", () => { if (details.open) fill(details, number); });
    li.append(details);
    return li;
  }

  // Writes the details of a result, once; the promise is kept when they are there.
  const filled = new WeakMap();
  function fill(details, number) {
    if (!filled.has(details)) filled.set(details, write(details, number));
    return filled.get(details);
  }

  async function write(details, number) {
    const [who, which, , , first, told] = data.rows[number], [suite, rule, name] = data.cases[which], body = element("div", "body");
    if (told < 0) body.append(element("p", "hint", "Only this line is kept here: " + data.texts[first]));
    else {
      try {
        body.innerHTML = (await part(1 + Math.floor(told / data.part)))[told % data.part];
        await addRule(body, rule);
      } catch {
        body.append(element("p", "hint", "This browser cannot unpack the details; a newer one can: " + data.texts[first]));
      }
    }
    body.prepend(element("p", "full", data.suites[suite] + " / " + name + " · " + data.engines[who]));
    addCommand(body, data.engines[who], name);
    details.append(body);
    showFirstDifference(body);
  }

  // The text of the rule, below the explanation.
  async function addRule(body, rule) {
    const before = body.querySelector(".explanation");
    if (!before || !data.explained.includes(rule)) return;
    const details = element("details", "more rule-text");
    details.innerHTML = (await part(0))[rule];
    details.prepend(element("summary", "", "The rule " + rule));
    before.after(details);
  }

  // The command that runs the item again. A name with other characters would have to be quoted for each shell differently.
  function addCommand(body, who, name) {
    if (![who, name].every(text => /^[A-Za-z0-9][\w.-]*$/.test(text))) return;
    const hint = element("p", "hint", "Add the other options of the run. An engine that is not known by name is given by its engine file: ");
    hint.append(element("code", "whole", "--engine=FILE.toml"));
    body.append(element("h4", "", "Run it again"), element("pre", "command", `pytest conformance/ --engine=${who} -k "[${who}-${name}]"`), hint);
  }

  // On a narrow screen a drawing is wider than its box.
  function showFirstDifference(body) {
    for (const box of body.querySelectorAll(".drawing")) {
      const mark = box.querySelector(".first");
      if (mark) box.scrollLeft = mark.getBoundingClientRect().left - box.getBoundingClientRect().left - 24;
    }
  }

  function show(count) {
    const part = document.createDocumentFragment();
    for (const number of found.slice(shown, shown + count)) part.append(item(number));
    list.append(part);
    shown = Math.min(found.length, shown + count);
    const rest = found.length - shown;
    more.hidden = rest === 0;
    more.textContent = `show ${Math.min(STEP, rest)} more of ${rest.toLocaleString("en")}`;
  }

  function filter() {
    const outcomes = new Set(outcomeButtons.filter(pressed).map(button => Number(button.dataset.outcome)));
    const names = new Set(engineButtons.filter(pressed).map(button => button.dataset.engine));
    if (engine && engine.value) names.add(engine.value);
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean), deviation = known.value, sought = cause ? cause.value : "";
    found = [];
    data.rows.forEach((row, number) => {
      const [suite, rule, name] = data.cases[row[1]];
      if (outcomes.size && !outcomes.has(row[2])) return;
      if (names.size && !names.has(data.engines[row[0]])) return;
      if (place.rule !== undefined && place.rule !== rule) return;
      if (place.suite !== undefined && place.suite !== data.suites[suite]) return;
      if (place.case !== undefined && place.case !== name) return;
      if (deviation === "none" && !(fails(row) && !row[3].length)) return;
      if (deviation === "some" && !row[3].length) return;
      if (deviation.startsWith("=") && !row[3].some(n => data.known[n] === deviation.slice(1))) return;
      if (sought === "none" && !(fails(row) && !row[3].length && !row[6].length)) return;
      if (sought.startsWith("=") && !row[6].some(n => data.causes[n] === sought.slice(1))) return;
      if (words.length && !words.every(word => haystack(number).includes(word))) return;
      found.push(number);
    });
    list.replaceChildren();
    list.classList.toggle("linked", place.case !== undefined);
    shown = 0;
    show(STEP);
    const count = found.length.toLocaleString("en"), all = data.rows.length.toLocaleString("en");
    by("count").textContent = found.length === data.rows.length ? `${all} result${all === "1" ? "" : "s"}` : `${count} of ${all} results`;
    const where = [place.rule, place.suite, place.case].filter(Boolean).join(" ");
    by("where").hidden = !where;
    by("where").textContent = `${where} ✕`;
    by("where").setAttribute("aria-label", `not only ${where}`);
    showVerdict(names);
    by("clear").hidden = found.length === data.rows.length;
    by("open").hidden = by("close").hidden = !found.length;
  }

  // Above the results of a rule: the verdict on it for each engine that is chosen, or for all.
  function showVerdict(names) {
    const ofRule = place.rule === undefined ? [] : data.verdicts.filter(verdict => verdict[1] === place.rule && (!names.size || names.has(data.engines[verdict[0]])));
    by("verdict").hidden = !ofRule.length;
    by("verdict").replaceChildren(...ofRule.slice(0, STEP).map(([who, rule, kind, why]) => {
      const line = element("span");
      line.append(element("b", "", `${data.engines[who]}: ${rule} ${data.kinds[kind]}`), `: ${data.texts[why]}`);
      return line;
    }));
  }

  // A link of the page, such as #rule=WIN-2&engine=mine, is a filter.
  function follow() {
    const words = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"));
    const named = Object.fromEntries(words);
    if (followComparison(named)) return;
    if (!["rule", "suite", "case", "engine", "outcome", "cause"].some(name => name in named)) return;
    reset();
    place = Object.fromEntries(["rule", "suite", "case"].filter(name => name in named).map(name => [name, named[name]]));
    engineButtons.forEach(button => press(button, button.dataset.engine === named.engine));
    if (engine && named.engine) engine.value = named.engine;
    if (cause && named.cause) cause.value = named.cause;
    outcomeButtons.forEach(button => press(button, OUTCOMES[Number(button.dataset.outcome)] === named.outcome));
    filter();
    const opened = found.length <= OPEN ? every(true) : [];
    if (place.case === undefined || !found.length) {
      by("results").scrollIntoView();
      focusResults();
    } else Promise.all(opened).then(showFirstResult);
  }

  // A link to a result leads to its beginning: what it opens is written by now.
  function showFirstResult() {
    if (!list.firstChild) return;
    list.firstChild.scrollIntoView();
    list.querySelector("summary").focus({ preventScroll: true });
  }

  // Two engines beside each other: the rules and the cases in which they differ.
  const left = by("left"), right = by("right"), DIFFERENCES = 500;
  const kindOf = row => (fails(row) && row[3].length ? "known" : OUTCOMES[row[2]]);

  function differing(entries, key, value) {
    const pairs = new Map(), who = [left.value, right.value].map(name => data.engines.indexOf(name));
    for (const entry of entries) {
      const side = who.indexOf(entry[0]);
      if (side < 0) continue;
      if (!pairs.has(entry[key])) pairs.set(entry[key], [null, null]);
      pairs.get(entry[key])[side] = entry;
    }
    return [...pairs].filter(([, [one, other]]) => !one || !other || value(one) !== value(other));
  }

  function showDifferences(id, found, link, cell) {
    const box = by("differing-" + id), heads = box.querySelectorAll("th");
    [left, right].forEach((choice, side) => { heads[side + 1].textContent = choice.value; });
    box.querySelector("tbody").replaceChildren(...found.slice(0, DIFFERENCES).map(([key, sides]) => {
      const line = element("tr"), head = element("th"), to = element("a", "", link(key).pop());
      head.scope = "row";
      to.href = "#" + new URLSearchParams(link(key).slice(0, -1)).toString().replaceAll("+", "%20");
      head.append(to);
      line.append(head, ...sides.map(side => {
        const box = element("td", side ? "" : "none", side ? undefined : "–");
        if (side) box.append(...cell(side));
        return box;
      }));
      return line;
    }));
    box.hidden = !found.length;
  }

  function compare() {
    const chosen = left.value && right.value && left.value !== right.value;
    by("differences").hidden = !chosen;
    if (!chosen) return;
    const unjudged = [left.value, right.value].filter(name => !data.verdicts.some(verdict => data.engines[verdict[0]] === name));
    const rules = unjudged.length ? [] : differing(data.verdicts, 1, verdict => verdict[2]), cases = differing(data.rows, 1, kindOf);
    showDifferences("rules", rules, rule => [["rule", rule], rule],
      ([, , kind, why]) => [element("span", "cell " + data.kinds[kind].replace(",", "").replaceAll(" ", "-"), data.kinds[kind]), element("small", "reason", data.texts[why])]);
    showDifferences("cases", cases, which => [["suite", data.suites[data.cases[which][0]]], ["case", data.cases[which][2]], data.cases[which][2]],
      row => [element("span", "cell " + kindOf(row), kindOf(row)), element("small", "reason", row[2] ? data.texts[row[4]] : "")]);
    const cut = Math.max(rules.length, cases.length) > DIFFERENCES ? ` The first ${DIFFERENCES} are shown.` : "";
    by("difference-note").textContent = (unjudged.length ? `No verdicts on rules of ${unjudged.join(" and ")}: the results were never examined. ` : `Rules with different verdicts: ${rules.length}. `) + `Cases with different outcomes: ${cases.length}.${cut}`;
  }

  function followComparison(named) {
    if (!left || !("compare" in named)) return false;
    left.value = named.compare;
    right.value = named.with ?? "";
    compare();
    by("compare").scrollIntoView();
    return true;
  }

  // What had the focus is far away or hidden now: the next Tab leads to the filters, then to the list.
  const focusResults = () => by("results-title").focus({ preventScroll: true });

  function reset() {
    place = {};
    [...outcomeButtons, ...engineButtons].forEach(button => press(button, false));
    text.value = known.value = "";
    for (const choice of [cause, engine]) if (choice) choice.value = "";
  }

  const every = opened => [...list.querySelectorAll(":scope > li > details")].map((details, number) => {
    details.open = opened;
    return opened && fill(details, found[number]);
  });
  // The same link twice is no change of the place: it is forgotten as soon as something else is chosen.
  const forget = () => { if (location.hash && !location.hash.startsWith("#compare=")) history.replaceState(null, "", location.pathname + location.search); };

  let waiting;
  text.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => { forget(); filter(); }, 120); });
  for (const choice of [known, cause, engine]) if (choice) choice.addEventListener("change", () => { forget(); filter(); });
  for (const button of [...outcomeButtons, ...engineButtons]) button.addEventListener("click", () => { press(button, !pressed(button)); forget(); filter(); });
  by("where").addEventListener("click", () => { place = {}; forget(); filter(); focusResults(); });
  by("clear").addEventListener("click", () => { reset(); forget(); filter(); focusResults(); });
  by("open").addEventListener("click", () => every(true));
  by("close").addEventListener("click", () => every(false));
  more.addEventListener("click", () => {
    const before = list.children.length;
    show(STEP);
    list.children[before].querySelector("summary").focus();
  });
  list.addEventListener("keydown", event => {
    const details = event.key === "Escape" && event.target.closest("details[open]");
    if (!details) return;
    details.open = false;
    details.querySelector("summary").focus();
  });
  for (const choice of [left, right]) if (choice) choice.addEventListener("change", () => {
    history.replaceState(null, "", "#" + new URLSearchParams({ compare: left.value, with: right.value }).toString().replaceAll("+", "%20"));
    compare();
  });
  if (left) by("compare").hidden = false;
  // Where the browser does not let a file use the clipboard, the text is selected.
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const text = button.closest("details").querySelector("pre"), select = () => getSelection().selectAllChildren(text);
      if (navigator.clipboard) navigator.clipboard.writeText(text.textContent).then(() => { button.textContent = "copied"; }, select);
      else select();
    });
  }
  by("filters").addEventListener("submit", event => event.preventDefault());
  window.addEventListener("hashchange", follow);
  filter();
  follow();
  // What nobody has explained yet is open.
  if (!location.hash) [...list.children].slice(0, OPEN).forEach((li, number) => { if (fails(data.rows[found[number]]) && !data.rows[found[number]][3].length) li.firstChild.open = true; });
})();
