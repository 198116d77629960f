"""Noise of VPO's advantage: independent weights against scrambled Sobol sets, at equal K.

python benchmarks/bench_weights.py --json weights.json

One batch of uniform rewards, its weights drawn anew each time. The figure is the variance of a rollout's advantage over
the draws, averaged over all rollouts of all groups. That neither sampler is biased is a test
(tests/advantages/test_expected_score.py), not measured here.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import get_args

import torch

from agents.advantages import RewardBatch, estimate
from agents.advantages.weights import Sampler


def variance(batch: RewardBatch, num_weights: int, sampler: Sampler, draws: int, generator: torch.Generator) -> float:
    """Mean over rollouts of the variance of their advantage over draws of the weights."""
    options = {"num_weights": num_weights, "sampler": sampler}
    advantages = torch.stack([estimate("vpo", batch, generator, **options) for _ in range(draws)])
    return float(advantages.var(dim=0).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--shape", type=int, nargs=4, default=(24, 8, 2, 4), help="groups, rollouts, answers, objectives"
    )
    parser.add_argument("--num-weights", type=int, nargs="+", default=[4, 16, 64, 100, 256])
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    args = parser.parse_args()
    generator = torch.Generator().manual_seed(args.seed)
    batch = RewardBatch(torch.rand(tuple(args.shape), dtype=torch.float64, generator=generator))
    print(f"variance of the advantage over {args.draws} draws of the weights, shape {tuple(args.shape)}")
    print(f"{'K':>6} {'iid':>10} {'sobol':>10} {'ratio':>8}")
    rows = []
    for k in args.num_weights:
        row = {name: variance(batch, k, name, args.draws, generator) for name in get_args(Sampler)}
        rows.append({"num_weights": k, **row, "ratio": row["iid"] / row["sobol"]})
        print(f"{k:6d} {row['iid']:10.5f} {row['sobol']:10.5f} {rows[-1]['ratio']:8.1f}")
    if args.json:
        args.json.write_text(json.dumps({"shape": args.shape, "draws": args.draws, "seed": args.seed, "rows": rows}))


if __name__ == "__main__":
    main()
