"""What the benchmarks of the literature left behind, and the verdict on it: CSRBench's queries and
recorded answers, YABench's folders of results, and SECRET's golden vectors.

Imports refengine and `verdict`. Begin with `csrbench`.
"""
