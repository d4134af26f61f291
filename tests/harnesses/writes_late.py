"""An engine that answers nothing, and writes a line 50 ms after its reply to `end`, in the cases of
the queries that its argument is in. To the file that its second argument names it adds the
process that has started it.
"""

import json
import os
import sys
import time

with open(sys.argv[2], "a") as parents:
    print(os.getppid(), file=parents)
is_late = False
for line in sys.stdin:
    asked = json.loads(line)
    command = asked["command"]
    more = {"start": {"protocol": 1, "engine": "late", "version": "1"}, "stop": {}}
    fields = more.get(command, {"relations": []})
    print(json.dumps({"seq": asked["seq"], "reply": "result", **fields}), flush=True)
    if command == "register":
        is_late = sys.argv[1] in asked["query"]
    if command == "end" and is_late:
        time.sleep(0.05)
        print("the stream has ended", flush=True)
    if command == "stop":
        break
