"""Checks and measurements on a GPU: `scripts/gpu_check.sh FOLDER` runs each part in a process of its own.

checks            log-probabilities in bfloat16 beside float32; one update on the device beside one on the CPU;
                  responses generated on the device beside those of the CPU
qwen              seconds a step, tokens/s and peak memory of the learner on a Qwen3-1.7B with random weights, in
                  bfloat16 with float32 master weights, at ToolRL's paper lengths (4352 + 2048 tokens)
qwen-recompute    the same with gradient checkpointing
maze              seconds a step of training the built-in policy on mazes with ten times the laptop preset's prompts

A part that fails or takes too long does not stop the others. Every figure is printed and written to FOLDER/NAME.json;
FOLDER/summary.json says how each part ended, and the exit code is 1 unless all passed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import subprocess
import sys
import time
import types
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SECONDS = {"checks": 70, "qwen": 75, "qwen-recompute": 75, "maze": 70}
"""Time limits, 290 s together."""
UNUSED = ("peft", "accelerate", "gymnasium", "mo_gymnasium", "tyro", "tensorboard", "moocore", "scipy")
"""Packages of the project that may be missing here: LoRA, several processes, Gymnasium's interface, the command line,
trackers and hypervolume are then left out."""


def prepare_imports() -> list[str]:
    """Make the repository importable without the packages that are missing; returns their names."""
    sys.path.insert(0, str(ROOT))
    missing = [name for name in UNUSED if importlib.util.find_spec(name) is None]
    # The package's own __init__ registers its ids with Gymnasium; tasks and their scores need none of it.
    package = types.ModuleType("vpo_envs")
    package.__path__ = [str(ROOT / "vpo_envs")]
    sys.modules["vpo_envs"] = package
    return missing


# ---- what the parts share -------------------------------------------------------------------------------------------


class Maze:
    """The built-in policy on laptop mazes, without Gymnasium between them."""

    def __init__(self, device: str, dtype: Any) -> None:
        import torch

        from agents.policy import load_policy
        from agents.presets import preset_defaults
        from vpo_envs.maze.task import MazeTask

        self.task = MazeTask(size=5, slack=4, num_problems=4000)
        self.policy = load_policy(str(ROOT / "agents" / "policies" / "Maze-v0"), torch.device(device), dtype)
        self.config = preset_defaults("laptop", "vpo/Maze-v0")

    def rollouts(self, prompts: int, group: int, step: int = 0, temperature: float = 1.0) -> Any:
        """`group` responses of three answers to each of some mazes, with rewards (B, G, 3, 4)."""
        import torch

        from agents.generation import Sampling, TransformersGenerator
        from agents.rollout import Rollouts
        from agents.schedule import prompt_seeds
        from vpo_envs.scoring import score_responses

        problems = [self.task[step * prompts + i] for i in range(prompts)]
        messages = [self.task.messages(problem, 3) for problem in problems]
        sampling = Sampling(self.config.sampling.max_tokens, temperature)
        ids = self.policy.encode_prompts(messages, self.config.prompt_tokens, sampling.max_tokens)
        generator = TransformersGenerator(
            self.policy.model, self.policy.end_ids, self.policy.tokenizer.pad_token_id, 4096, self.policy.dtype
        )
        completions = generator.generate(ids, group, sampling, prompt_seeds(0, step, prompts))
        texts = [self.policy.decode(c.token_ids) for answers in completions for c in answers]
        scored = score_responses(self.task, [p for p in problems for _ in range(group)], texts, 3)
        return Rollouts(
            ids,
            completions,
            [],
            torch.from_numpy(scored.rewards).unflatten(0, (prompts, group)),
            torch.from_numpy(scored.answered).unflatten(0, (prompts, group)),
            None,
        )


def advantages_of(rollouts: Any) -> Any:
    """VPO's advantages (B, G)."""
    import torch

    from agents.advantages import RewardBatch, estimate

    batch = RewardBatch(rollouts.rewards, answered=rollouts.answered)
    return estimate("vpo", batch, generator=torch.Generator().manual_seed(0))


def synchronised(device: str) -> float:
    """The time at which the device has done all its work."""
    import torch

    if device.startswith("cuda"):
        torch.cuda.synchronize()
    return time.perf_counter()


def expect(value: float, limit: float, what: str) -> float:
    if not value <= limit:
        raise AssertionError(f"{what}: {value:.3g} is more than {limit:.3g}")
    return value


# ---- the parts ------------------------------------------------------------------------------------------------------


def checks(device: str, small: bool) -> dict[str, Any]:
    """Errors of the device and of bfloat16. Raises AssertionError where one is too large, after all were measured."""
    import torch

    from agents.learner import Learner
    from agents.logprobs import pad_sequences, response_logprobs
    from agents.precision import computing_in

    prompts, group = (4, 4) if small else (16, 8)
    here, there = Maze("cpu", torch.float32), Maze(device, torch.float32)
    rollouts = here.rollouts(prompts, group)
    again = there.rollouts(prompts, group)
    ours, theirs = ([c for answers in r.completions for c in answers] for r in (rollouts, again))
    pairs = list(zip(ours, theirs, strict=True))
    same = [(c, d) for c, d in pairs if c.token_ids == d.token_ids]
    off = [abs(a - b) for c, d in same for a, b in zip(c.logprobs, d.logprobs, strict=True)]

    repeated = [prompt for prompt in rollouts.prompts for _ in range(group)]
    sequences = pad_sequences(repeated, ours, there.policy.model.device)
    logprobs = {}
    with torch.no_grad():
        for dtype in (torch.float32, torch.bfloat16):
            with computing_in(dtype, there.policy.model.device):
                logprobs[dtype], _ = response_logprobs(there.policy.model, sequences, 1.0, 1024)
    sampled = torch.tensor([lp for c in ours for lp in c.logprobs])
    half = (logprobs[torch.bfloat16] - logprobs[torch.float32]).abs()

    advantages, gradients = advantages_of(rollouts), []
    for maze in (here, there):
        learner = Learner(maze.policy.model, replace(here.config.learner, mini_batch=prompts), 1.0)
        weights = [p for p in maze.policy.model.parameters()]

        def keep(*_: Any, weights: Any = weights) -> None:
            gradients.append(torch.cat([p.grad.flatten().cpu() for p in weights]))

        learner.optimizer.register_step_pre_hook(keep)
        learner.step(rollouts, advantages)
    figures = {
        "responses_equal": len(same) / len(pairs),
        "generated_logprob_error": max(off, default=float("inf")),
        "float32_logprob_error": float((logprobs[torch.float32].cpu() - sampled).abs().max()),
        "bfloat16_logprob_mean_error": float(half.mean()),
        "bfloat16_logprob_max_error": float(half.max()),
        "gradient_relative_error": float((gradients[0] - gradients[1]).norm() / gradients[0].norm()),
    }
    print(json.dumps(figures), flush=True)
    expect(1 - figures["responses_equal"], 0.05, "share of responses that differ from the CPU's")
    expect(figures["generated_logprob_error"], 1e-3, "log-probabilities of generated tokens, device - CPU")
    expect(figures["float32_logprob_error"], 1e-3, "log-probabilities in float32, learner - generator")
    expect(figures["bfloat16_logprob_mean_error"], 0.03, "log-probabilities, bfloat16 - float32, mean")
    expect(figures["gradient_relative_error"], 1e-3, "gradient, device - CPU, relative")
    return figures


def qwen(device: str, small: bool, recompute: bool) -> dict[str, Any]:
    """One mini-batch of the learner: 8 rollouts of full length, one warm-up step, then two that are timed."""
    import torch
    from transformers import AutoModelForCausalLM, Qwen3Config

    from agents.config import LearnerConfig
    from agents.generation import Completion
    from agents.learner import Learner
    from agents.rollout import Rollouts

    # The sizes of Qwen/Qwen3-1.7B, from its published config.json.
    sizes = {"hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 28, "vocab_size": 151936}
    heads = {"num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128}
    prompt, response = 4352, 2048
    if small:
        sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "vocab_size": 1000}
        heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16}
        prompt, response = 64, 32
    config = Qwen3Config(**sizes, **heads, max_position_embeddings=40960, tie_word_embeddings=True)
    torch.manual_seed(0)
    with torch.device(device):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).eval()
    generator = torch.Generator().manual_seed(0)

    def tokens(count: int) -> list[int]:
        return torch.randint(sizes["vocab_size"], (count,), generator=generator).tolist()

    group = [Completion(tokens(response), [-math.log(sizes["vocab_size"])] * response, "length") for _ in range(8)]
    shape = (1, 8, 1)
    rollouts = Rollouts(
        [tokens(prompt)], [group], [], torch.zeros(*shape, 1), torch.ones(shape, dtype=torch.bool), None
    )
    advantages = torch.randn((1, 8), generator=generator)
    learning = LearnerConfig(micro_batch=8 if recompute else 2, gradient_checkpointing=recompute)
    learner = Learner(model, learning, 1.0, torch.bfloat16)
    learner.step(rollouts, advantages)
    began, steps = synchronised(device), 2
    for _ in range(steps):
        metrics = learner.step(rollouts, advantages)
    seconds = (synchronised(device) - began) / steps
    count = 8 * (prompt + response)
    figures = {
        "parameters": sum(p.numel() for p in model.parameters()),
        "gradient_checkpointing": recompute,
        "passes": str(learner.limits),
        "step_s": seconds,
        "tokens_per_s": count / seconds,
        "metrics": metrics,
    }
    if device.startswith("cuda"):
        figures["peak_memory_gib"] = torch.cuda.max_memory_allocated() / 2**30
    return figures


def maze(device: str, small: bool) -> dict[str, Any]:
    """Steps of sampling, scoring and learning; the first one is not timed."""
    import torch

    from agents.learner import Learner

    laptop = Maze(device, torch.float32 if device == "cpu" else torch.bfloat16)
    prompts, group = (4, 2) if small else (10 * laptop.config.prompts, laptop.config.answers_per_prompt // 3)
    config = replace(laptop.config.learner, mini_batch=prompts, micro_batch=10 * laptop.config.learner.micro_batch)
    learner = Learner(laptop.policy.model, config, 1.0, laptop.policy.dtype)
    sampling, learning, scores = [], [], []
    for step in range(2 if small else 6):
        began = synchronised(device)
        rollouts = laptop.rollouts(prompts, group, step)
        sampled = synchronised(device)
        learner.step(rollouts, advantages_of(rollouts))
        sampling.append(sampled - began)
        learning.append(synchronised(device) - sampled)
        scores.append(float(rollouts.rewards.mean()))
    count = len(sampling) - 1
    figures = {
        "prompts": prompts,
        "responses": prompts * group,
        "generate_and_score_s": sum(sampling[1:]) / count,
        "learn_s": sum(learning[1:]) / count,
        "mean_reward": scores,
    }
    if device.startswith("cuda"):
        figures["peak_memory_gib"] = torch.cuda.max_memory_allocated() / 2**30
    return figures


PARTS: dict[str, Callable[[str, bool], dict[str, Any]]] = {
    "checks": checks,
    "qwen": lambda device, small: qwen(device, small, recompute=False),
    "qwen-recompute": lambda device, small: qwen(device, small, recompute=True),
    "maze": maze,
}


def run_all(options: argparse.Namespace) -> int:
    """Every part in turn; the exit code."""
    summary: dict[str, str] = {}
    for name, limit in SECONDS.items():
        command = [sys.executable, __file__, str(options.folder), "--part", name, "--device", options.device]
        began = time.perf_counter()
        try:
            code = subprocess.run(command + ["--small"] * options.small, timeout=limit).returncode
            summary[name] = "passed" if code == 0 else f"failed (exit code {code})"
        except subprocess.TimeoutExpired:
            summary[name] = f"stopped after {limit} s"
        print(f"== {name}: {summary[name]}, {time.perf_counter() - began:.0f} s", flush=True)
    (options.folder / "summary.json").write_text(json.dumps(summary, indent=1))
    return 0 if set(summary.values()) == {"passed"} else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the figures go")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true", help="tiny sizes, to try the script on a CPU")
    parser.add_argument("--part", choices=tuple(PARTS), help="this part only, in this process")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.part is None:
        return run_all(options)
    missing = prepare_imports()
    import torch

    device = torch.cuda.get_device_name() if options.device.startswith("cuda") else "CPU"
    where = {"device": device, "torch": torch.__version__, "missing_packages": missing}
    print(f"== {options.part} on {device}, without {', '.join(missing) or 'nothing'}", flush=True)
    figures = where | PARTS[options.part](options.device, options.small)
    (options.folder / f"{options.part}.json").write_text(json.dumps(figures, indent=1))
    print(json.dumps(figures, indent=1), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
