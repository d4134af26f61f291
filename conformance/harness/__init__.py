"""Engines under test: their files, the processes that stand before them, and the protocol that is
spoken with these.

Imports refengine and `conformance.schemas`. Begin with PROTOCOL.md and `client`.
"""
