"""Defaults of the command line: the paper's settings, and settings for a laptop."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from agents.config import LearnerConfig, Preset, SamplingConfig, TrainConfig
from agents.run import load_config


def resolve_preset(preset: Preset) -> Preset:
    """ "auto" is "paper" where there is a CUDA device, else "laptop"."""
    if preset != "auto":
        return preset
    return "paper" if torch.cuda.is_available() else "laptop"


def preset_defaults(preset: Preset, env: str) -> TrainConfig:
    """The configuration that the command line starts from.

    Raises:
        ValueError: an unknown preset.
    """
    makers: dict[str, Callable[[TrainConfig], TrainConfig]] = {"laptop": _laptop, "paper": _paper}
    name = resolve_preset(preset)
    if name not in makers:
        raise ValueError(f"--preset must be auto, laptop or paper, not {preset!r}")
    return makers[name](TrainConfig(env=env, preset=name))


def command_line_defaults(arguments: Sequence[str]) -> TrainConfig:
    """The defaults that a command line starts from: of its preset and environment, or those of the run it resumes.

    Raises:
        ValueError: an unknown preset, or a folder to resume that holds no run.
    """
    peek = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    peek.add_argument("--preset", default="auto")
    peek.add_argument("--env", default=TrainConfig.env)
    peek.add_argument("--resume", default=None)
    known, _ = peek.parse_known_args(list(arguments))
    if known.resume not in (None, "None"):
        return replace(load_config(Path(known.resume)), resume=known.resume)
    return preset_defaults(known.preset, known.env)


def _laptop(config: TrainConfig) -> TrainConfig:
    """The built-in policy on two CPU cores, in minutes."""
    return replace(
        config,
        env_args=LAPTOP_ENV_ARGS.get(config.env.rpartition(":")[2], ()),
        steps=200,
        prompts=16,
        answers_per_prompt=24,
        prompt_tokens=256,
        sampling=SamplingConfig(max_tokens=112),
        # A million weights need a larger step than the paper's billions.
        learner=LearnerConfig(lr=5e-5, mini_batch=16, micro_batch=32, kl_coef=1e-3),
    )


def _paper(config: TrainConfig) -> TrainConfig:
    """The paper's models and batch sizes (arXiv 2605.22817)."""
    model, prompts, mini, micro, prompt_tokens, max_tokens, epochs = PAPER.get(
        config.env.rpartition(":")[2], PAPER["vpo/Maze-v0"]
    )
    return replace(
        config,
        model=model,
        prompts=prompts,
        prompt_tokens=prompt_tokens,
        epochs=epochs,
        sampling=SamplingConfig(max_tokens=max_tokens, rows=64),
        learner=LearnerConfig(mini_batch=mini, micro_batch=micro),
    )


LAPTOP_ENV_ARGS: dict[str, tuple[str, ...]] = {"vpo/Maze-v0": ("size=5", "slack=4", "num_problems=4000")}
"""Smaller problems for the laptop preset. The reward stays the paper's."""

PAPER: dict[str, tuple[str, int, int, int, int, int, int]] = {
    "vpo/Maze-v0": ("Qwen/Qwen3-4B", 128, 64, 8, 768, 1024, 2),
}
"""env -> model, prompts, mini-batch, micro-batch, prompt tokens, response tokens, epochs."""
