"""Seconds a step and peak memory of the laptop preset, for VPO and for GRPO with the same number of answers.

python benchmarks/bench_train.py [--steps 5] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TRAIN = Path(__file__).resolve().parents[1] / "agents" / "train_vpo.py"


def measure(method: str, steps: int) -> dict[str, float]:
    """Medians over the steps after the first, of a run in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(TRAIN), "--preset", "laptop", "--method", method, "--steps", str(steps)]
        command += ["--output", folder, "--name", "run", "--no-final-evaluation", "--device", "cpu"]
        subprocess.run(command, check=True, capture_output=True)
        lines = [json.loads(line) for line in (Path(folder) / "run" / "metrics.jsonl").read_text().splitlines()][1:]
    generate = statistics.median(line["time/generate"] + line["time/score_wait"] for line in lines)
    learn = statistics.median(line["time/learn"] for line in lines)
    # The largest of all children so far: in ascending order of need it would hide the smaller ones, which is fine for
    # an upper bound.
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    return {"generate_s": generate, "learn_s": learn, "step_s": generate + learn, "peak_gib": peak}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    figures = {method: measure(method, max(2, options.steps)) for method in ("vpo", "grpo")}
    if options.json:
        options.json.write_text(json.dumps(figures))
    for method, f in figures.items():
        print(
            f"{method}: {f['step_s']:.2f} s a step (generation {f['generate_s']:.2f}, learning {f['learn_s']:.2f}), "
            f"peak memory {f['peak_gib']:.2f} GiB"
        )


if __name__ == "__main__":
    main()
