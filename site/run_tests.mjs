// run_tests.mjs CHECKOUT PACKAGES WORD…: runs pytest on the checkout under Pyodide, with the pure
// Python packages of a folder. There are no processes and no threads.
import { loadPyodide } from "pyodide";

const [checkout, packages, ...words] = process.argv.slice(2);
const python = await loadPyodide();
python.FS.mkdirTree("/checkout");
python.FS.mkdirTree("/packages");
python.mountNodeFS("/checkout", checkout);
python.mountNodeFS("/packages", packages);
python.globals.set("words", words);
let code = 1;
try {
  code = python.runPython(`
import os, sys
os.chdir("/checkout")
sys.path[:0] = ["/checkout", "/packages"]
sys.dont_write_bytecode = True
import pytest
int(pytest.main(words.to_py()))
`);
} catch (error) {
  console.error(error.message); // without the text of Pyodide's own line
}
process.exit(code);
