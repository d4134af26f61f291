"""The windows of a library in Java: `window_function.py window_java.py NAME VERSION JARS PROGRAM`.
JARS and PROGRAM, with its arguments, are those of conformance/harness/java_windows.py.
"""

from __future__ import annotations

import sys

from window_function import Element, Refused, Report, Window

from conformance.harness.java_windows import JavaReport, JavaWindows
from refengine import Unsupported

NAME, VERSION, *PROGRAM = sys.argv[1:]
JAVA = JavaWindows(*PROGRAM)


class Windows:
    """The windows of a case. All reports come at the end, since the library may still refuse an
    element.
    """

    def __init__(self, window: Window) -> None:
        if window.lag:
            raise Refused("its windows have no lag")
        self.window = window
        self.reports: list[Report] = []
        self.elements: list[Element] = []
        self.keys: dict[str, int] = {}  # numbers of the keys
        self._ask(f"query {window.kind} {window.size} {window.slide}")

    def push(self, element: Element) -> None:
        """Give the library an element."""
        if element.end not in (None, element.at):
            raise Refused("its elements have a time, and no interval")
        self.elements.append(element)
        key = self.keys.setdefault(element.key, len(self.keys))
        self._ask(f"element {element.at} {element.number} {key}")

    def end(self) -> list[Report]:
        """Move time on to the horizon of `flush` (ENG-1), and return all reports."""
        if self.elements:
            last = max(element.at for element in self.elements)
            self._ask(f"end {last + 2 + self.window.size}")
        return self.reports

    def _ask(self, line: str) -> None:
        """Send a line, and keep what is reported. Of windows of several keys, for which libraries
        promise no order, those come first whose key came first. Raises Refused.
        """
        try:
            reports = JAVA.ask(line)
        except Unsupported as refused:
            raise Refused(refused.reason) from None
        for numbers, window, takes_back in sorted(reports, key=self._place_of_key):
            key = self.elements[numbers[0]].key if self.window.by else None
            self.reports.append(Report(numbers, window, key=key, takes_back=takes_back))

    def _place_of_key(self, report: JavaReport) -> int:
        """Return the place of a report's key among the keys of the case."""
        return self.keys[self.elements[report.numbers[0]].key]
