"""The pytest plugin: the options of the suite, and a test for each item that they select. Items are
made and judged in the package `suite`.

`refengine_conformance_plugin` has the options, and loads this package where the command line asks
for the suite.

Imports refengine and the packages `verdict`, `harness`, `suite`, `report` and `spark`, all of them
late. Begin with `hooks`, whose functions pytest calls. Before the first test `suite_run` makes the
items. `item_outcome` ends the test of each, and after the last `run_results` writes what is asked.
"""

from conformance.plugin.hooks import (
    conformance_harnesses,
    conformance_settle,
    pytest_cmdline_main,
    pytest_configure,
    pytest_generate_tests,
    pytest_ignore_collect,
    pytest_report_header,
    pytest_runtest_makereport,
    pytest_runtestloop,
    pytest_sessionstart,
    pytest_terminal_summary,
)

__all__ = [
    "conformance_harnesses",
    "conformance_settle",
    "pytest_cmdline_main",
    "pytest_configure",
    "pytest_generate_tests",
    "pytest_ignore_collect",
    "pytest_report_header",
    "pytest_runtest_makereport",
    "pytest_runtestloop",
    "pytest_sessionstart",
    "pytest_terminal_summary",
]
