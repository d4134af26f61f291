"""CLOCK's evaluation: sweeps over joins with bounded memory, policies and memories, each measured
against the unlimited join; streams in the shape of the CLOCK paper's, and its figures beside ours.
Begin with `sweep`.
"""
