// Oxigraph's build for the web as the module _oxigraph_js of Python: texts of JSON go in and out.
import init, * as oxigraph from "./oxigraph/web.js";

const made = {
  iri: (value) => oxigraph.namedNode(value),
  blank: (value) => oxigraph.blankNode(value),
  literal: (value, datatype, language) =>
    oxigraph.literal(value, language || oxigraph.namedNode(datatype)),
  default: () => oxigraph.defaultGraph(),
};

function written(term) {
  switch (term?.termType) {
    case "NamedNode":
      return ["iri", term.value];
    case "BlankNode":
      return ["blank", term.value];
    case "Literal":
      return ["literal", term.value, term.datatype.value, term.language];
    case undefined:
      return null;
    default:
      throw new Error(`a term that SPARQL 1.1 has not: ${term.termType}`);
  }
}

// An empty array does not say whether it is of solutions or of triples; only solutions can be
// written as JSON.
function isOfSolutions(store, text, found) {
  if (found.length) return found[0] instanceof Map;
  try {
    return typeof store.query(text, { results_format: "json" }) === "string";
  } catch {
    return false;
  }
}

function answered(store, text) {
  const found = store.query(text);
  if (typeof found === "boolean") return { boolean: found };
  if (!isOfSolutions(store, text, found)) {
    return { triples: found.map((t) => [t.subject, t.predicate, t.object].map(written)) };
  }
  const names = [...new Set(found.flatMap((solution) => [...solution.keys()]))];
  return { names, rows: found.map((solution) => names.map((name) => written(solution.get(name)))) };
}

export async function loadOxigraph(folder, version) {
  await init({ module_or_path: `${folder}web_bg.wasm` });
  return {
    version,
    store: () => new oxigraph.Store(),
    each(store, method, quads) {
      for (const terms of JSON.parse(quads)) {
        store[method](oxigraph.quad(...terms.map(([kind, ...values]) => made[kind](...values))));
      }
    },
    drop: (store, iri) => store.update(`DROP SILENT GRAPH <${iri}>`),
    graphs: (store) =>
      JSON.stringify(
        store.query("SELECT DISTINCT ?g { GRAPH ?g {} }").map((found) => written(found.get("g"))),
      ),
    query(store, text) {
      try {
        return JSON.stringify(answered(store, text));
      } catch (error) {
        return JSON.stringify({ error: String(error.message ?? error) });
      }
    },
  };
}
