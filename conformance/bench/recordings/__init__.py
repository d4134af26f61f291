"""What the benchmarks of the literature left behind, and the verdict on it: CSRBench's queries and
recorded answers, YABench's folders of results, and SECRET's golden vectors.

The package `bench` has a similar name: it runs whole benchmarks on engines, by `conformance bench`,
and takes queries and verdicts from here.

Imports refengine and `verdict`. Begin with `csrbench`.
"""
