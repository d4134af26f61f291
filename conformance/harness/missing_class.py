"""The class that Java did not find, read from what a harness writes to standard error."""

from __future__ import annotations

import re

NAME = r"[A-Za-z_$][\w$]{0,199}(?:[./][A-Za-z_$][\w$]{0,199}){1,40}"
AT_RUN_TIME = re.compile(rf"\b(?:NoClassDefFoundError|ClassNotFoundException): ({NAME})", re.ASCII)
# The second name is that of the line that the compiler shows: `import org.example.Window;`.
AT_COMPILE_TIME = re.compile(
    rf"\b(?:package ({NAME}) does not exist(?:\s+import (?:static )?({NAME}))?"
    rf"|class file for ({NAME}) not found)",
    re.ASCII,
)


def find_missing_class(text: str) -> str:
    """Return the class that Java did not find, or the package if the compiler names no more; empty
    if the text is of something else. At run time the last one counts, since programs look for
    optional classes first; of a compiler's errors the first.

    >>> find_missing_class("java.lang.NoClassDefFoundError: org/example/Window")
    'org.example.Window'
    >>> find_missing_class("A.java:1: error: package org.example does not exist")
    'org.example'
    """
    if found := AT_RUN_TIME.findall(text):
        return str(found[-1]).replace("/", ".")
    if error := AT_COMPILE_TIME.search(text):
        return error[2] or error[1] or error[3]
    return ""
