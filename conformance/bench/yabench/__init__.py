"""YABench: weather stations, four experiments, and how much of each window is right."""
