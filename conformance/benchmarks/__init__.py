"""The benchmarks of the literature: CSRBench, YABench, LSBench's measures, and SECRET's golden
vectors.

Imports refengine and `verdict`. Begin with `csrbench`.
"""
