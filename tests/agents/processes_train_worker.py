"""What each of two processes does in test_agents_processes_train.py: whole training runs, DDP and FSDP.

python processes_train_worker.py MODEL_FOLDER OUTPUT_FOLDER, started by `agents_helpers.two_processes`.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
import torch.distributed as dist

from agents import train_vpo, training_loop
from agents.config import LearnerConfig, LoraConfig, SamplingConfig, TrainConfig
from agents.processes import Processes, open_processes


class Moves(gym.Env[str, str]):
    """Name the moves that are asked for, in few words: even an untrained policy earns more with some responses."""

    observation_space = gym.spaces.Text(200)
    action_space = gym.spaces.Text(200)
    reward_space = gym.spaces.Box(0.0, 1.0, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self.asked = [str(move) for move in self.np_random.choice(["UP", "DOWN", "LEFT", "RIGHT"], 2, replace=False)]
        return " ".join(self.asked), {}

    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        named = sum(move in action for move in self.asked) / 2
        return "", np.array([named, 1 - min(len(action), 200) / 200], np.float32), True, False, {}


gym.register("two_processes/Moves-v0", entry_point=Moves, disable_env_checker=True)


def config_of(model: str, output: str) -> TrainConfig:
    """Four steps with two updates each, on three and on two prompts; two processes share the three unevenly."""
    return TrainConfig(
        env="two_processes/Moves-v0",
        method="grpo",
        model=model,
        device="cpu",
        steps=4,
        prompts=5,
        answers_per_prompt=6,
        prompt_tokens=256,
        output=output,
        checkpoint_every=2,
        final_evaluation=False,
        trackers=(),
        samples_every=1,
        sampling=SamplingConfig(max_tokens=24),
        learner=LearnerConfig(lr=1e-5, mini_batch=3, micro_batch=2),
    )


def on_mazes(config: TrainConfig, method: str) -> TrainConfig:
    """Two steps of the built-in policy, whose responses hold answers, with prompts that may ask for weights."""
    return replace(
        config,
        env="vpo/Maze-v0",
        env_args=("size=5", "slack=4", "num_problems=50"),
        model="builtin",
        method=method,
        steps=2,
        samples_prompts=5,
        sampling=SamplingConfig(max_tokens=96),
    )


def run(config: TrainConfig, processes: Processes) -> int:
    """Train, with a process group of its own; returns the exit code."""
    meeting = Path(config.output) / f".{config.name or 'resumed'}-{int(processes.sharded)}"
    if not dist.is_initialized():
        dist.init_process_group("gloo", f"file://{meeting}", rank=processes.rank, world_size=processes.count)
    try:
        train_vpo.train(config, processes)
    except SystemExit as stop:
        processes.close()
        return int(stop.code or 0) if isinstance(stop.code, int | None) else 1
    return 0


def terminated_in(step: int) -> Callable[..., Any]:
    """The seeds of a step's prompts, and a SIGTERM to this process when they are asked for."""
    seeds = training_loop.prompt_seeds

    def prompt_seeds(seed: int, at: int, prompts: int) -> list[int]:
        if at == step:
            os.kill(os.getpid(), signal.SIGTERM)
        return seeds(seed, at, prompts)

    return prompt_seeds


def main() -> None:
    torch.set_num_threads(1)
    model, output = sys.argv[1:]
    train_vpo.plot_training = lambda *_: None  # the pictures of nine runs take longer than the runs
    opened = open_processes("cpu")
    config = config_of(model, output)
    for processes, kind in ((opened, "ddp"), (replace(opened, sharded=True), "fsdp")):
        assert run(replace(config, name=f"{kind}-whole"), processes) == 0
        assert run(replace(config, name=f"{kind}-part", steps=2), processes) == 0
        assert run(replace(config, resume=str(Path(output) / f"{kind}-part")), processes) == 0
        lora = replace(config, lora=LoraConfig(rank=2), steps=1, name=f"{kind}-lora")
        assert run(lora, processes) == 0
    for method in ("vpo_shapley", "goal_conditioned"):
        assert run(replace(on_mazes(config, method), name=f"ddp-{method}"), opened) == 0
    if not opened.main:
        training_loop.prompt_seeds = terminated_in(step=1)
    assert run(replace(config, name="terminated"), opened) == 0


if __name__ == "__main__":
    main()
