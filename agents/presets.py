"""Defaults of the command line: the paper's settings, and settings for a laptop."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
    small = LAPTOP.get(config.env.rpartition(":")[2], Laptop())
    return replace(
        config,
        env_args=small.env_args,
        steps=small.steps,
        prompts=16,
        answers_per_prompt=24,
        prompt_tokens=256,
        sampling=SamplingConfig(max_tokens=small.max_tokens),
        # A million weights need a larger step than the paper's billions.
        learner=LearnerConfig(lr=5e-5, mini_batch=16, micro_batch=32, kl_coef=1e-3),
    )


def _paper(config: TrainConfig) -> TrainConfig:
    """The paper's models and batch sizes (arXiv 2605.22817)."""
    paper = PAPER.get(config.env.rpartition(":")[2], PAPER["vpo/Maze-v0"])
    return replace(
        config,
        model=paper.model,
        prompts=paper.prompts,
        prompt_tokens=paper.prompt_tokens,
        epochs=paper.epochs,
        sampling=SamplingConfig(max_tokens=paper.max_tokens, rows=64),
        # The activations of its models would not fit beside the optimizer (`--dry-run` shows both).
        learner=LearnerConfig(mini_batch=paper.mini_batch, micro_batch=paper.micro_batch, gradient_checkpointing=True),
    )


def evaluation_top_p(env: str) -> float:
    """The nucleus mass that the paper evaluates an environment with; 1 for those it does not have."""
    paper = PAPER.get(env.rpartition(":")[2])
    return 1.0 if paper is None else paper.evaluation_top_p


@dataclass(frozen=True)
class Laptop:
    """What the laptop preset sets for an environment: smaller problems, and how long training takes."""

    env_args: tuple[str, ...] = ()
    """Smaller problems; the reward stays the paper's."""
    steps: int = 200
    max_tokens: int = 112
    """Longest response, in tokens of the built-in policy."""


LAPTOP: dict[str, Laptop] = {
    "vpo/Maze-v0": Laptop(("size=5", "slack=4", "num_problems=4000")),
    "vpo/MuSiQue-v0": Laptop(
        ("num_paragraphs=6", "hops=2", "sentences=1", "wordings=1", "names=16", "num_problems=4000"),
        steps=100,
        max_tokens=128,
    ),
    "vpo/EUREQA-v0": Laptop(("countries=48", "num_problems=4000"), max_tokens=96),
    "vpo/ToolRL-v0": Laptop(("tools=3", "calls=1", "parameters=2", "things=6", "num_problems=4000"), max_tokens=96),
    "vpo/Code-v0": Laptop(("problems=rules", "num_problems=4000"), steps=150, max_tokens=144),
}


@dataclass(frozen=True)
class Paper:
    """The paper's settings for an environment."""

    model: str
    prompts: int
    mini_batch: int
    """Prompts."""
    micro_batch: int
    """Rollouts."""
    prompt_tokens: int
    max_tokens: int
    epochs: int
    evaluation_top_p: float = 1.0


PAPER: dict[str, Paper] = {
    "vpo/Maze-v0": Paper("Qwen/Qwen3-4B", 128, 64, 8, 768, 1024, 2),
    "vpo/MuSiQue-v0": Paper("Qwen/Qwen3-1.7B", 128, 64, 8, 5120, 1024, 1),
    "vpo/EUREQA-v0": Paper("Qwen/Qwen3-8B", 64, 32, 2, 1024, 2048, 6, evaluation_top_p=0.95),
    "vpo/ToolRL-v0": Paper("Qwen/Qwen3-1.7B", 128, 64, 8, 4352, 2048, 20, evaluation_top_p=0.95),
    "vpo/Code-v0": Paper("Qwen/Qwen2.5-Coder-7B-Instruct", 64, 32, 2, 1280, 3072, 1),  # the epochs are not given
}
