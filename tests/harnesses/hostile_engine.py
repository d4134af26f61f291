"""An engine whose every text steers a terminal, imitates our lines, and is very long: a
harness of the protocol. Each query that is registered gets the next kind of reply, by the count
in the file that the first argument names; the second argument, if given, is the kind of all.
"""

import json
import re
import sys
import time
from pathlib import Path

SIZE = 300_000
TEXT = (
    "\x1b[2J\x1b]0;owned\x07\u202e\u2066\0\r\nconformance: owned\x85\u2028\x9b31m\x7f\ufeff\ud800"
    + ("A" * SIZE)
)
BARE = TEXT.replace("\0", "").replace("\ud800", "")  # what a term may hold
XSD = "http://www.w3.org/2001/XMLSchema#"
# in a row: the entry of its term
TERMS = {
    "literal": {"type": "literal", "value": BARE},
    "any literal": {"type": "literal", "value": TEXT},
    "IRI": {"type": "uri", "value": f"urn:{'A' * SIZE}\u202e"},
    "IRI that is none": {"type": "uri", "value": TEXT},
    "blank node": {"type": "bnode", "value": TEXT},
    "datatype": {"type": "literal", "value": "1", "datatype": f"urn:{'A' * SIZE}\u202e"},
    "datatype that is none": {"type": "literal", "value": "1", "datatype": TEXT},
    "language": {"type": "literal", "value": "1", "xml:lang": "en-" + "a" * SIZE},
    "language that is none": {"type": "literal", "value": "1", "xml:lang": TEXT},
    "number": {"type": "literal", "value": "1" * SIZE, "datatype": XSD + "integer"},
    "date": {"type": "literal", "value": BARE, "datatype": XSD + "dateTime"},
    "kind of term": {"type": TEXT, "value": "x"},
    "key of a term": {"type": "literal", "value": "x", TEXT: TEXT},
    "value that is no text": {"type": "literal", "value": [TEXT]},
}
# in a reply: keys of it
REPLIES = {
    "reason": {"reply": "unsupported", "reason": TEXT[:1900]},
    "long reason": {"reply": "unsupported", "reason": TEXT},
    "link": {"reply": "unsupported", "reason": TEXT[:90], "link": "https://" + TEXT[:1900]},
    "context": {"reply": "error", "context": TEXT[:19_000]},
    "long context": {"reply": "error", "context": TEXT},
    "key of a reply": {"relations": [], TEXT: TEXT},
    "reply": {"reply": TEXT},
    "seq": {"relations": [], "seq": TEXT},
    "seq of thousands of digits": {"relations": [], "seq": 10**4000},
    "relations": {"relations": TEXT},
    "variable": {"relations": [{"rows": [{TEXT: {"type": "uri", "value": "urn:a"}}]}]},
    "key of a report": {"relations": [{"rows": [], TEXT: TEXT}]},
    "instant": {"relations": [{"rows": [], "instant": TEXT}]},
    "instant of thousands of digits": {"relations": [{"rows": [], "instant": 10**4000}]},
    "window": {"relations": [{"rows": [], "window": [TEXT, TEXT]}]},
    "far window": {"relations": [{"rows": [], "window": [-(2**64), 2**64], "instant": -(2**64)}]},
    "many reports": {"relations": [{"rows": []}] * 3_000},
    "many variables": {
        "relations": [{"rows": [{f"v{i}": {"type": "uri", "value": "urn:a"} for i in range(3000)}]}]
    },
}
# what is written in place of a reply, or after it
LINES = ("garbage", "another line", "late line", "standard error", "flood")
KINDS = (*TERMS, "many rows", *REPLIES, *LINES)


def variables(query: str) -> list[str]:
    """Give the variables of a query: those after SELECT, or those of a join's match."""
    if "SELECT" not in query:
        return ["left", "right"]
    selected = query.partition("SELECT")[2].partition("WHERE")[0].partition("{")[0]
    return re.findall(r"\?(\w+)", re.sub(r"\([^)]*\([^)]*\) AS (\?\w+)\)", r"\1", selected))


def answer(kind: str, names: list[str]) -> dict[str, object]:
    """Give the keys of the reply to `end`."""
    if kind in TERMS:
        return {"relations": [{"rows": [dict.fromkeys(names, TERMS[kind])]}]}
    if kind == "many rows":
        rows = [
            {name: {"type": "literal", "value": f"\x1b{i}\u202e" * 40} for name in names}
            for i in range(3_000)
        ]
        return {"relations": [{"rows": rows}]}
    return REPLIES.get(kind, {"relations": []})


def next_kind() -> str:
    """Give the kind of the query that is registered now."""
    counter = Path(sys.argv[1])
    number = counter.stat().st_size if counter.exists() else 0
    with counter.open("a") as file:
        file.write(".")
    return sys.argv[2] if len(sys.argv) > 2 else KINDS[number % len(KINDS)]


def write(text: str) -> None:
    """Write a line."""
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass") + b"\n")
    sys.stdout.flush()


def write_lines(kind: str, reply: str) -> None:
    """Write what a kind of lines puts in place of the reply to `end`, or after it."""
    match kind:
        case "garbage":
            write(TEXT.replace("\n", ""))
        case "another line":
            write(f"{reply}\n{TEXT}")
        case "late line":
            write(reply)
            time.sleep(0.05)
            write(TEXT)
        case "standard error":
            sys.stderr.buffer.write(TEXT.encode("utf-8", "surrogatepass"))
            sys.exit(1)
        case "flood":
            sys.stdout.buffer.write(b"\x1b" * (17 << 20))
            sys.stdout.flush()


def main() -> None:
    """Reply to each line."""
    kind = sys.argv[2] if len(sys.argv) > 2 else ""
    names: list[str] = []
    for line in sys.stdin:
        asked = json.loads(line)
        reply: dict[str, object] = {"seq": asked["seq"], "reply": "result"}
        match asked["command"]:
            case "start":
                reply |= {"protocol": 1, "engine": "hostile", "version": "1"}
                if kind == "names":
                    reply |= {"engine": TEXT[:150], "version": TEXT[:150]}
                if kind == "long names":
                    reply |= {"engine": TEXT, "version": TEXT}
                if kind == "protocol":
                    reply |= {"protocol": TEXT}
            case "register":
                kind = next_kind()
                names = variables(asked["query"])
                reply["relations"] = []
            case "end":
                reply |= answer(kind, names)
            case "stop":
                write(json.dumps(reply))
                return
            case _:
                reply["relations"] = []
        text = json.dumps(reply)
        if asked["command"] == "end" and kind in LINES:
            write_lines(kind, text)
        else:
            write(text)


if __name__ == "__main__":
    main()
