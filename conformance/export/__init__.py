"""The suite as data: cases as manifests in the form of W3C's, and as plain JSON, for those who run
them without this package.

Imports refengine, `corpus`, `verdict`, `harness`, `suite`, and `report` for the texts of rules.
Begin with `exported_case`, what is said of a case; then `suite_folder`, which writes all files.
"""
