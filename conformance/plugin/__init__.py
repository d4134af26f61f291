"""The pytest plugin: the options of the suite, and a test for each item that they select. Items are
made and judged in the package `suite`.

Every pytest run in the environment loads this package. So nothing outside of it is imported, and no
option is registered, unless the command line asks for the suite or for `--help`.

Imports refengine and the packages `verdict`, `harness`, `suite`, `report` and `spark`, all of them
late. Begin with `hooks`, whose functions pytest calls. Before the first test `suite_run` makes the
items. `item_outcome` ends the test of each, and after the last `run_results` writes what is asked.
"""

from conformance.plugin.hooks import conformance_harnesses as conformance_harnesses
from conformance.plugin.hooks import conformance_settle as conformance_settle
from conformance.plugin.hooks import pytest_cmdline_main as pytest_cmdline_main
from conformance.plugin.hooks import pytest_configure as pytest_configure
from conformance.plugin.hooks import pytest_generate_tests as pytest_generate_tests
from conformance.plugin.hooks import (
    pytest_load_initial_conftests as pytest_load_initial_conftests,
)
from conformance.plugin.hooks import pytest_report_header as pytest_report_header
from conformance.plugin.hooks import pytest_runtest_makereport as pytest_runtest_makereport
from conformance.plugin.hooks import pytest_runtestloop as pytest_runtestloop
from conformance.plugin.hooks import pytest_sessionstart as pytest_sessionstart
