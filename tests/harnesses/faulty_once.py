"""The right engine of begins_at_zero.py, whose harness makes one mistake in one case.

    python faulty_once.py FOLDER FAULT COMMAND

The case is the one whose query is the text in FOLDER/query. The mistake is made at its first
COMMAND, and never again: then FOLDER/made exists.
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


# fault -> what is written in place of the reply
IN_PLACE = {
    "next seq": lambda reply: [json.dumps({**reply, "seq": reply["seq"] + 1})],
    "seq before": lambda reply: [json.dumps({**reply, "seq": reply["seq"] - 1})],
    "old seq": lambda reply: [json.dumps({**reply, "seq": 2})],
    "no reply of the protocol": lambda reply: [json.dumps({**reply, "reply": "done"})],
    "no JSON": lambda reply: ["done"],
    # in one write: of a line that comes a moment later nobody knows of which case it is
    "another line": lambda reply: [f"{json.dumps(reply)}\ndone"],
    "two replies at once": lambda reply: [f"{json.dumps(reply)}\n{json.dumps(reply)}"],
    "end before the reply": lambda reply: [],
    "closed output before the reply": lambda reply: [],
}
# fault -> what is written soon after the reply
AFTERWARDS = {
    "line soon after the reply": lambda reply: "done",
    "reply again soon after": json.dumps,
}


def make_mistake(reply):
    """Write a reply with the mistake, or end before it or after it."""
    (FOLDER / "made").touch()
    for line in IN_PLACE.get(FAULT, lambda reply: [json.dumps(reply)])(reply):
        write(line)
    if "soon after" in FAULT:
        time.sleep(0.03)
    if FAULT in AFTERWARDS:
        write(AFTERWARDS[FAULT](reply))
    if FAULT.startswith("end"):
        os._exit(3)
    if FAULT.startswith("closed output"):
        os.close(1)
        time.sleep(600)


def main():
    """Reply to each line."""
    query = None
    is_marked = False
    for line in sys.stdin:
        asked = json.loads(line)
        command = asked["command"]
        reply = {"seq": asked["seq"], "reply": "result"}
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
            make_mistake(reply)
        else:
            write(json.dumps(reply))
        if command == "stop":
            return


if __name__ == "__main__":
    main()
