"""Speed of scoring and generating on one core for every text task, and what MuSiQue's full training file costs.

    python benchmarks/bench_text_tasks.py [--seconds 1] [--rows 20000] [--json figures.json]

The file is written anew in a temporary folder, in the official format and about as large as the real one (20,000 rows
of 12 kB). It is loaded in a process of its own, whose peak memory is reported.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from timing import rate

from vpo_envs import make_task
from vpo_envs.musique import MuSiQueTask
from vpo_envs.musique.problems import row_of
from vpo_envs.registration import TEXT_TASKS

PROBLEMS, ANSWERS = 256, 4096
FILLER = ("It was noted by several chroniclers of the time, whose accounts differ in detail. " * 8).strip()

LOAD = """
import resource, sys, time
import gymnasium as gym
import vpo_envs
began = time.perf_counter()
env = gym.make("vpo/MuSiQue-v0", data=sys.argv[1])
loaded = time.perf_counter() - began
began = time.perf_counter()
for seed in range(200):
    env.reset(seed=seed)
reset = (time.perf_counter() - began) / 200
print(loaded, reset, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


def measure(seconds: float) -> dict[str, float]:
    """Figures of every task with its default arguments, by name."""
    figures: dict[str, float] = {}
    for env_id in TEXT_TASKS:
        figures |= measure_task(env_id, seconds)
    return figures


def measure_task(env_id: str, seconds: float) -> dict[str, float]:
    """Figures of one task."""
    task, rng = make_task(env_id, num_problems=10**9), Random(0)
    first = iter(range(PROBLEMS, 10**9, 64))  # beyond those that are scored, which the task keeps
    problems = [task[i % PROBLEMS] for i in range(ANSWERS)]
    answers = [task.demonstration(problem, rng) for problem in problems]
    return {
        f"{env_id} new problems/s": rate(lambda: _generate(task, next(first)), 64, seconds),
        f"{env_id} score_batch answers/s": rate(lambda: task.score_batch(problems, answers), ANSWERS, seconds),
    }


def _generate(task: Any, first: int) -> None:
    for index in range(first, first + 64):
        task[index]


def measure_file(rows: int) -> dict[str, float]:
    """What a MuSiQue file of so many rows costs."""
    task = MuSiQueTask(num_problems=rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "musique_ans_v1.0_train.jsonl"
        with path.open("w") as file:
            for index in range(rows):
                row = row_of(task[index])
                for paragraph in row["paragraphs"]:
                    paragraph["paragraph_text"] += f" {FILLER[: 350 + index % 50]}"
                file.write(json.dumps(row) + "\n")
        size = path.stat().st_size / 2**20
        out = subprocess.run([sys.executable, "-c", LOAD, str(path)], capture_output=True, text=True, check=True).stdout
    loaded, reset, peak = map(float, out.split())
    return {
        f"MuSiQue file of {rows} rows, MiB": size,
        "  loading s": loaded,
        "  peak memory GiB": peak,
        "  reset ms": 1e3 * reset,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of the text tasks on one core.")
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each figure")
    parser.add_argument("--rows", type=int, default=20_000, help="rows of the MuSiQue file")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    options = parser.parse_args()
    figures = measure(options.seconds) | measure_file(options.rows)
    for name, value in figures.items():
        print(f"{name:40s} {value:12,.2f}")
    if options.json is not None:
        options.json.write_text(json.dumps({"rows": options.rows, "figures": figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
