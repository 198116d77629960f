"""How long `import vpo_envs` takes in a new process, and what it pulls in.

python benchmarks/bench_import.py [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys, time
began = time.perf_counter()
import {module}
heavy = ("torch", "transformers", "vllm", "matplotlib", "scipy")
print(time.perf_counter() - began, *[name for name in heavy if name in sys.modules])
"""


def measure(module: str, repeats: int) -> tuple[float, list[str]]:
    """Median seconds, and the heavy modules that were loaded."""
    seconds, heavy = [], []
    for _ in range(repeats):
        program = [sys.executable, "-c", PROGRAM.format(module=module)]
        out = subprocess.run(program, capture_output=True, text=True, check=True).stdout.split()
        seconds.append(float(out[0]))
        heavy = out[1:]
    return statistics.median(seconds), heavy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    ours, heavy = measure("vpo_envs", options.repeats)
    gymnasium, _ = measure("gymnasium", options.repeats)
    figures = {"vpo_envs_s": ours, "gymnasium_s": gymnasium, "ratio": ours / gymnasium, "heavy_modules": heavy}
    if options.json:
        options.json.write_text(json.dumps(figures))
    print(f"import vpo_envs: {ours:.2f} s ({ours / gymnasium:.2f} x gymnasium alone); heavy modules: {heavy or 'none'}")


if __name__ == "__main__":
    main()
