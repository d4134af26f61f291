"""A sweep over Spark has the figures of one without."""

from __future__ import annotations

from dataclasses import replace

from conformance.bounded.generators import WindParameters, generate_wind
from conformance.bounded.sweep import run_task, tasks_of
from conformance.bounded.workloads import WORKLOADS
from conformance.spark.sweep import run_over_spark


def test_a_frame_of_tasks_gives_one_of_figures(master):
    def few_sensors(seed):
        return generate_wind(WindParameters(clusters=(4, 2), rounds=4), seed)

    workload = replace(WORKLOADS["wind"], streams_of=few_sensors)
    tasks = tasks_of(workload, ["clock", "random"], ["5%", "50%"], 2)
    over_spark = {
        run.task: timeless(run) for run in run_over_spark({"wind": workload}, tasks, master)
    }
    assert over_spark == {task: timeless(run_task(workload, task)) for task in tasks}


def timeless(run):
    return replace(run, cpu_seconds=0.0)
