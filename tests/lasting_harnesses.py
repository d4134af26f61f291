"""Harnesses whose processes several runs use, one run after the other."""

from __future__ import annotations


class LastingHarnesses:
    """A mixin, which stands before a class of harnesses among the bases of a class. A run calls
    `stop` when it ends. Here that does nothing, so that the next run uses the same processes.
    `stop_all` stops them.
    """

    def stop(self) -> None:
        """Do nothing at the end of a run."""

    def stop_all(self) -> None:
        """Stop the harnesses after the last run."""
        super().stop()  # that of the next base, such as BenchmarkHarnesses
