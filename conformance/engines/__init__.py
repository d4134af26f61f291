"""Engines under test: the file of each engine, `NAME.toml`, with a folder of pinned versions if a
package registry has the engine; their harnesses (`adapters`); those that some benchmarks need in
place of the usual one (`for_benchmarks`); harnesses without an engine (`skeletons`); and where the
engines are on this machine (`installation`).

Only data are here, and the packages in it. Imports nothing. Begin with a file, such as
`rsp-js.toml`: `conformance.harness.engine_file` reads it.
"""
