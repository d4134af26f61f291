"""The right engine of begins_at_zero.py, whose harness makes one mistake in one case.

    python faulty_once.py FOLDER FAULT COMMAND

The case is the one whose query is the text in FOLDER/query. The mistake is made at the first COMMAND
after `register` (or at `register` itself), and never again: then FOLDER/made exists.
"""

import json
import os
import sys
import time
from pathlib import Path

from begins_at_zero import Query, Refused, done

FOLDER = Path(sys.argv[1])
FAULT = sys.argv[2]
COMMAND = sys.argv[3]
del sys.argv[1:]  # the engine reads its own words there


def write(text):
    """Write a line."""
    print(text, flush=True)


def make_mistake(reply, seq):
    """Write a reply with the mistake, or end before it."""
    (FOLDER / "made").touch()
    match FAULT:
        case "next seq":
            write(json.dumps({**reply, "seq": seq + 1}))
        case "seq before":
            write(json.dumps({**reply, "seq": seq - 1}))
        case "old seq":
            write(json.dumps({**reply, "seq": 2}))
        case "no reply of the protocol":
            write(json.dumps({**reply, "reply": "done"}))
        case "no JSON":
            write("done")
        case "another line":
            write(json.dumps(reply))
            write("done")
        case "two replies at once":
            print(f"{json.dumps(reply)}\n{json.dumps(reply)}", flush=True)
        case "end before the reply":
            os._exit(3)
        case "end after the reply":
            write(json.dumps(reply))
            os._exit(3)
        case "end soon after the reply":
            write(json.dumps(reply))
            time.sleep(0.03)
            os._exit(3)
        case "line soon after the reply":
            write(json.dumps(reply))
            time.sleep(0.03)
            write("done")
        case "reply again soon after":
            write(json.dumps(reply))
            time.sleep(0.03)
            write(json.dumps(reply))


def main():
    """Reply to each line."""
    query = None
    is_marked = False
    for line in sys.stdin:
        asked = json.loads(line)
        command, seq = asked["command"], asked["seq"]
        reply = {"seq": seq, "reply": "result"}
        try:
            if command == "start":
                reply |= {"protocol": 1, "engine": "faulty", "version": "1"}
            elif command == "register":
                is_marked = asked["query"] == (FOLDER / "query").read_text()
                query = Query(json.loads(asked["query"]), asked.get("static", ""))
                reply["relations"] = []
            elif command != "stop":
                reply["relations"] = done(query, asked)
        except Refused as refused:
            query = None
            reply |= {"reply": "unsupported", "reason": str(refused)}
        if is_marked and command == COMMAND and not (FOLDER / "made").exists():
            make_mistake(reply, seq)
        else:
            write(json.dumps(reply))
        if command == "stop":
            return


if __name__ == "__main__":
    main()
