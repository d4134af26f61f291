"""Benchmarks of the incremental engine: on YABench's stream SG1 (tools/sg1.py), and on workloads
whose data are made in memory (`workloads`).

    python -m tools.bench [NAME…]

The query and the sizes of `big`, `medium` and `small` are those of YABench's experiment 1 for
CQELS, those of `q6` of its experiment 3 (Kolchin, Wetz et al., ICWE 2016); q1, q4 and q6 are
CSRBench's queries.
"""
