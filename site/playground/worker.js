// Runs refengine under Pyodide. A message has an id and a request in JSON; the answer has both.
import { loadOxigraph } from "./oxigraph.js";
import { loadPyodide } from "./pyodide/pyodide.mjs";

const OXIGRAPH = "@OXIGRAPH@"; // its version, which the builder writes

const HERE = new URL("./", import.meta.url).href;

async function start() {
  const [python, app, oxigraph] = await Promise.all([
    loadPyodide({ indexURL: `${HERE}pyodide/` }),
    fetch(`${HERE}app.zip`).then((response) => response.arrayBuffer()),
    loadOxigraph(`${HERE}oxigraph/`, OXIGRAPH),
  ]);
  python.registerJsModule("_oxigraph_js", oxigraph);
  python.FS.writeFile("/app.zip", new Uint8Array(app));
  python.runPython("import sys; sys.path.insert(0, '/app.zip')");
  return python.runPython("from tools.site.playground import answer; answer");
}

const answer = start();
answer.then(
  () => postMessage({ ready: true }),
  (error) => postMessage({ failed: String(error) }),
);
onmessage = async ({ data: { id, request } }) => {
  try {
    postMessage({ id, answer: (await answer)(request) });
  } catch (error) {
    postMessage({ id, failed: String(error.message ?? error) });
  }
};
