"""A sweep over Spark has the figures of one without."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

from cluster import spark

from conformance.bench.clock.generators import WindParameters, generate_wind
from conformance.bench.clock.sweep import run_task, tasks_of
from conformance.bench.clock.workloads import WORKLOADS
from conformance.spark import sweep


@spark
def test_a_frame_of_tasks_gives_one_of_figures(connected, monkeypatch):
    monkeypatch.setattr(sweep, "open_session", lambda *_, **__: nullcontext(connected))

    def few_sensors(seed):
        return generate_wind(WindParameters(clusters=(4, 2), rounds=4), seed)

    workload = replace(WORKLOADS["wind"], streams_of=few_sensors)
    tasks = tasks_of(workload, ["clock", "random"], ["5%", "50%"], 2)
    figures = sweep.run_over_spark({"wind": workload}, tasks, "local[1]")
    over_spark = {run.task: timeless(run) for run in figures}
    assert over_spark == {task: timeless(run_task(workload, task)) for task in tasks}


def timeless(run):
    return replace(run, cpu_seconds=0.0)
