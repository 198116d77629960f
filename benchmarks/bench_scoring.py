"""Scoring's share of a training step of the laptop preset, for every environment.

python benchmarks/bench_scoring.py [--env vpo/Maze-v0 ...] [--steps 5] [--rows 512] [--json FILE]

generate: from the prompts to the last response; score: the work of scoring, in whichever thread; wait: what the step
waits for scores after the last response; learn: the update. A step takes generate + wait + learn; `share` is wait's
part of it, `work` that of all scoring. With fewer `--rows` than a step has responses the transformers backend
generates in several pieces, and all but the last are scored beside generation.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TRAIN = Path(__file__).resolve().parents[1] / "agents" / "train_vpo.py"
ENVIRONMENTS = ("vpo/Maze-v0", "vpo/MuSiQue-v0", "vpo/EUREQA-v0", "vpo/ToolRL-v0", "vpo/Code-v0")
PARTS = ("generate", "score", "score_wait", "learn")


def measure(env: str, steps: int, rows: int) -> dict[str, float]:
    """Medians over the steps after the first, of a run in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(TRAIN), "--env", env, "--preset", "laptop", "--steps", str(steps + 1)]
        command += ["--sampling.rows", str(rows), "--output", folder, "--name", "run", "--no-final-evaluation"]
        run = subprocess.run([*command, "--device", "cpu"], capture_output=True, text=True)
        if run.returncode:
            raise SystemExit(f"{env}: {run.stderr}")
        lines = [json.loads(line) for line in (Path(folder) / "run" / "metrics.jsonl").read_text().splitlines()][1:]
    figures = {f"{part}_s": statistics.median(line[f"time/{part}"] for line in lines) for part in PARTS}
    step = figures["generate_s"] + figures["score_wait_s"] + figures["learn_s"]
    return figures | {
        "step_s": step,
        "waiting_share": figures["score_wait_s"] / step,
        "scoring_share": figures["score_s"] / step,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", nargs="+", default=ENVIRONMENTS)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--rows", type=int, default=512, help="responses that are generated side by side")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    figures: dict[str, dict[str, float]] = {}
    print("environment       generate   score    wait   learn    step   share    work")
    for env in options.env:
        figures[env] = f = measure(env, options.steps, options.rows)
        seconds = "".join(f"{f[name]:8.3f}" for name in (*(f"{part}_s" for part in PARTS), "step_s"))
        print(f"{env:17} {seconds}{f['waiting_share']:8.1%}{f['scoring_share']:8.1%}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
