"""What the harnesses in Python share: messages on standard input, and a reply to each."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any, TextIO

from refengine import Unsupported

LONGEST = 2_000  # characters of what is said of an error

# from a command and the fields of its message to the fields of the reply
CarryOut = Callable[[str, dict[str, Any]], dict[str, Any]]


def answer_messages(carry_out: CarryOut, replies: TextIO | None = None) -> None:
    """Answer messages, a line each, until `stop` or the end of standard input. `replies` is where
    the replies are written to; None stands for standard output.
    """
    for line in sys.stdin:
        message = json.loads(line)
        seq = message.pop("seq")
        command = message.pop("command")
        reply = reply_by(carry_out, command, message)
        print(json.dumps({"seq": seq, **reply}), file=replies, flush=True)
        if command == "stop":
            break


def remove_at_end(folder: str) -> subprocess.Popen[bytes]:
    """Remove a folder when this process ends, also if it is killed, and return the process that
    does so, which waits for the end of its input. It is in the background of a shell that ends at
    once: so it is no descendant of this process, and is not killed with it.
    """
    command = ["sh", "-c", 'exec 3<&0; (cat <&3; rm -rf "$0") &', folder]
    return subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)


def reply_by(carry_out: CarryOut, command: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to a command: its result, `unsupported` if it raises Unsupported, or an
    error. Whatever the error is, it is of this case alone.
    """
    try:
        return {"reply": "result", **carry_out(command, fields)}
    except Unsupported as error:
        return {"reply": "unsupported", "reason": str(error)}
    except Exception as error:
        context = f"{type(error).__name__}: {error}"
        return {"reply": "error", "context": context[:LONGEST]}
