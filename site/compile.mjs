// compile.mjs ARCHIVE…: replaces each module in the archives by what Pyodide's own Python compiles
// it to, so that the page does not compile it at each visit. A file that is no module stays.
import { readFileSync, writeFileSync } from "node:fs";
import { loadPyodide } from "pyodide";

const python = await loadPyodide();
const compile = python.runPython(`
import importlib.util, zipfile
from importlib._bootstrap_external import _code_to_hash_pyc

STAMP = (2026, 1, 1, 0, 0, 0)  # so that the same modules are the same archive

def compile_archive(path):
    with zipfile.ZipFile(path) as read, zipfile.ZipFile("/out.zip", "w") as written:
        for name in sorted(read.namelist()):
            data = read.read(name)
            if name.endswith(".py"):
                code = compile(data, "/app/" + name, "exec", dont_inherit=True, optimize=0)
                data = _code_to_hash_pyc(code, importlib.util.source_hash(data), False)
                name += "c"
            entry = zipfile.ZipInfo(name, STAMP)
            written.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)

compile_archive
`);
for (const path of process.argv.slice(2)) {
  python.FS.writeFile("/in.zip", readFileSync(path));
  compile("/in.zip");
  writeFileSync(path, python.FS.readFile("/out.zip"));
}
