// The page's side of the worker.

// A worker that is loaded by URL is not bound by the page's policy; one from a blob is.
function makeWorker() {
  const text = `import ${JSON.stringify(new URL("./worker.js", import.meta.url).href)};`;
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  return new Worker(url, { type: "module" });
}

export class Engine {
  constructor(onReady, onFailed) {
    this.onReady = onReady;
    this.onFailed = onFailed;
    this.begin();
  }

  begin() {
    this.waiting = new Map();
    this.next = 0;
    this.worker = makeWorker();
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.onerror = (event) => this.onFailed(event.message || "the worker cannot start");
  }

  hear(data) {
    if (data.ready) this.onReady();
    else if (data.id === undefined) this.onFailed(data.failed);
    else {
      const done = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      done?.(data.failed ? { refused: data.failed, kind: "Error" } : JSON.parse(data.answer));
    }
  }

  ask(task, request = {}) {
    return new Promise((done) => {
      this.waiting.set(++this.next, done);
      this.worker.postMessage({ id: this.next, request: JSON.stringify({ ...request, task }) });
    });
  }

  // A computation cannot be interrupted: its worker ends, and another one begins.
  stop() {
    this.worker.terminate();
    for (const done of this.waiting.values()) done({ refused: "stopped", kind: "Stopped" });
    this.begin();
  }
}
