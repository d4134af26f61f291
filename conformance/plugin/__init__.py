"""The pytest plugin: the options of the suite, and a test for each item that they select. Items are
made and judged in the package `suite`.

`refengine_conformance_plugin` has the options, and loads `hooks` where the command line asks for
the suite.

Imports refengine and the packages `verdict`, `harness`, `suite`, `report` and `spark`, all of them
late. Begin with `hooks`, whose functions pytest calls. Before the first test `suite_run` makes the
items, and it ends the test of each. After the last `run_results` writes what is asked.
"""
