"""Speed of the VPO estimator: against a NumPy loop over groups, and with masked objectives against without.

python benchmarks/bench_estimators.py --json estimators.json

All times are taken in turn within each repeat, and the ratios are medians over repeats, so that a busy machine slows
both sides of a ratio alike. Aims: at least 10 times the loop, masks free (ratio at most 1.1).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import torch
from numpy.typing import NDArray

from agents.advantages import RewardBatch, estimate, sample_weights

Draw = Callable[[int], NDArray[np.float32]]  # group -> its weights (K, k)


def numpy_vpo(rewards: NDArray[np.float32], draw: Draw) -> NDArray[np.float64]:
    """The straightforward version: rewards (B, G, m, k) -> advantages (B, G), one group and one rollout at a time."""
    advantages = np.zeros(rewards.shape[:2])
    for i, group in enumerate(rewards):
        weights = draw(i)
        scores = np.array([(weights @ rollout.T).max(axis=1).mean() for rollout in group])
        if scores.std() >= 1e-6:
            advantages[i] = (scores - scores.mean()) / (scores.std() + 1e-6)
    return advantages


def timed(run: Callable[[], object], calls: int) -> float:
    """Seconds per call, after one that brings the data back into the caches."""
    run()
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - start) / calls


def measure(threads: int, shape: tuple[int, int, int, int], num_weights: int, repeats: int) -> dict[str, float]:
    torch.set_num_threads(threads)
    # glibc hands freed pages straight back to the system until it has seen a large block freed, as any training process
    # soon has. In a bare process like this one a third of the estimator's time would be page faults.
    torch.empty(2**24, dtype=torch.uint8).fill_(1)
    b, _, _, k = shape
    numpy_rng = np.random.default_rng(0)
    rewards = numpy_rng.random(shape, dtype=np.float32)
    tensor = torch.from_numpy(rewards)
    generator = torch.Generator().manual_seed(0)
    mask = torch.rand(b, k, generator=generator) < 0.7
    mask[:, 0] = True
    answered = torch.rand(shape[:3], generator=generator) < 0.8
    plain = RewardBatch(tensor)
    masked = RewardBatch(tensor, answered, mask)

    weights = sample_weights(plain.objective_mask, num_weights, generator=torch.Generator().manual_seed(1))
    ours = estimate("vpo", plain, torch.Generator().manual_seed(1), num_weights=num_weights)
    np.testing.assert_allclose(ours.numpy(), numpy_vpo(rewards, lambda i: weights[i].numpy()), atol=1e-3)

    def loop() -> object:
        return numpy_vpo(rewards, lambda _: numpy_rng.dirichlet(np.ones(k), num_weights).astype(np.float32))

    def vpo(batch: RewardBatch) -> Callable[[], object]:
        return lambda: estimate("vpo", batch, generator, num_weights=num_weights)

    def with_construction() -> object:
        return estimate("vpo", RewardBatch(tensor, answered, mask), generator, num_weights=num_weights)

    runs = {"loop": (loop, 1), "plain": (vpo(plain), 10), "masked": (vpo(masked), 10), "total": (with_construction, 10)}
    times: dict[str, list[float]] = {name: [] for name in runs}
    for repeat in range(repeats + 1):
        for name, (run, calls) in runs.items():
            seconds = timed(run, calls)
            if repeat:  # the first one warms up
                times[name].append(seconds)

    def ratio(slow: str, fast: str) -> float:
        return median(s / f for s, f in zip(times[slow], times[fast], strict=True))

    return {
        "torch_threads": torch.get_num_threads(),
        "numpy_loop_ms": 1e3 * median(times["loop"]),
        "vpo_ms": 1e3 * median(times["plain"]),
        "vpo_masked_ms": 1e3 * median(times["masked"]),
        "vpo_masked_with_validation_ms": 1e3 * median(times["total"]),
        "speedup_over_loop": ratio("loop", "plain"),
        "speedup_over_loop_with_validation": ratio("loop", "total"),
        "masked_over_unmasked": ratio("masked", "plain"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--shape", type=int, nargs=4, default=(128, 8, 3, 16), help="groups, rollouts, answers, objectives"
    )
    parser.add_argument("--num-weights", type=int, default=100)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="torch threads, one run each")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    args = parser.parse_args()
    b, g, m, k = args.shape
    print(f"VPO, {b} groups x {g} rollouts x {m} answers x {k} objectives, K = {args.num_weights}")
    results = []
    for threads in args.threads:
        result = measure(threads, (b, g, m, k), args.num_weights, args.repeats)
        results.append(result)
        for name, value in result.items():
            print(f"  {name:34} {value:8.2f}")
    if args.json:
        args.json.write_text(json.dumps({"shape": [b, g, m, k], "num_weights": args.num_weights, "runs": results}))


if __name__ == "__main__":
    main()
