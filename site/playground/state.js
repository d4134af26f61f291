// What is asked, as one value: it is what examples give, what a link holds, and what is sent.

export const FIRST = {
  query: {
    dialect: "csparql",
    text: `REGISTER QUERY people AS
PREFIX : <http://example.org/>
SELECT ?room (COUNT(*) AS ?people)
FROM STREAM <s> [RANGE 10ms STEP 5ms]
WHERE { ?person :in ?room }
GROUP BY ?room
`,
  },
  streams: [
    {
      name: "s",
      elements: [
        { at: 1, graph: ":ann :in :hall" },
        { at: 4, graph: ":bob :in :hall" },
        { at: 10, graph: ":eve :in :lab" },
        { at: 13, graph: ":ann :in :lab" },
        { at: 22, graph: ":bob :in :lab" },
      ],
    },
  ],
  static: "",
  semantics: { profile: "csparql", t0: "0" },
  other: null,
  recording: "",
  missing: "1",
};

// An element as a line: `3 :a :p 1`, with an end `3..8 :a :p 1`, in a batch `3 #2 :a :p 1`.
const LINE = /^\s*(-?\d+)(?:\.\.(-?\d+))?(?:\s+#(-?\d+))?(?:\s+(.*))?$/;

export function lineOf({ at, end, batch, graph }) {
  const until = end === undefined ? "" : `..${end}`;
  const inBatch = batch === undefined ? "" : ` #${batch}`;
  return `${at}${until}${inBatch} ${graph.replace(/\s*\n\s*/g, " ")}`;
}

export function elementsOf(text) {
  const elements = [];
  const wrong = [];
  text.split("\n").forEach((line, number) => {
    if (!line.trim() || line.trim().startsWith("//")) return;
    const found = LINE.exec(line);
    if (!found) {
      wrong.push(`line ${number + 1}: expected a time and triples, such as "3 :a :p 1"`);
      return;
    }
    const element = { at: Number(found[1]), graph: (found[4] ?? "").trim() };
    if (found[2] !== undefined) element.end = Number(found[2]);
    if (found[3] !== undefined) element.batch = Number(found[3]);
    elements.push(element);
  });
  return { elements, wrong };
}

async function piped(bytes, transform) {
  const stream = new Blob([bytes]).stream().pipeThrough(transform);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function packed(state) {
  const text = new TextEncoder().encode(JSON.stringify(state));
  const bytes = await piped(text, new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

export async function unpacked(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (sign) => sign.charCodeAt(0));
  const json = await piped(bytes, new DecompressionStream("deflate-raw"));
  return checked(JSON.parse(new TextDecoder().decode(json)));
}

// A link comes from somebody else: only what has the form of a state is taken.
function checked(found) {
  const isText = (value) => typeof value === "string";
  const isTable = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  const isElement = (e) =>
    isTable(e) && [e.at, e.end ?? 0, e.batch ?? 0].every(Number.isInteger) && isText(e.graph);
  const isStream = (stream) =>
    isTable(stream) &&
    isText(stream.name) &&
    Array.isArray(stream.elements) &&
    stream.elements.every(isElement);
  const isSemantics = (value) => isTable(value) && Object.values(value).every(isText);
  const state = { ...FIRST, ...found };
  const good =
    isTable(state.query) &&
    isText(state.query.dialect) &&
    isText(state.query.text) &&
    Array.isArray(state.streams) &&
    state.streams.every(isStream) &&
    isText(state.static) &&
    isText(state.recording) &&
    isText(state.missing) &&
    isSemantics(state.semantics) &&
    (state.other === null || isSemantics(state.other));
  if (!good) throw new Error("the link holds no question of this page");
  const names = Object.keys(FIRST);
  return Object.fromEntries(names.map((name) => [name, state[name]]));
}
