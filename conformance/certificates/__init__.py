"""Certificates of verdicts: how they are made, and how they are checked without the engine."""
