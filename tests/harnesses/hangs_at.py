"""An engine that answers nothing, and whose harness hangs at the command that its second argument
names. It starts a child, and one that leads a session of its own; the folder that the first
argument names gets their numbers and then, when it hangs, the file `hangs`.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

folder = Path(sys.argv[1])
sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
children = [subprocess.Popen(sleep), subprocess.Popen(sleep, start_new_session=True)]
with (folder / "children").open("a") as file:
    for child in children:
        print(child.pid, file=file)
for line in sys.stdin:
    asked = json.loads(line)
    command = asked["command"]
    if command == sys.argv[2]:
        (folder / "hangs").touch()
        time.sleep(600)
    more = {"start": {"protocol": 1, "engine": "hangs", "version": "1"}, "stop": {}}
    fields = more.get(command, {"relations": []})
    print(json.dumps({"seq": asked["seq"], "reply": "result", **fields}), flush=True)
