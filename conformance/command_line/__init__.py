"""The sub-commands of `python -m conformance`, a module each: its options, and its run.

Imports refengine and all that it runs, each where it is used, within `cli.run`: that takes long
enough to be interrupted. Begin with `csrbench`.
"""
