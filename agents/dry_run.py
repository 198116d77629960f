"""What a run would do, without doing it: its configuration, its steps, the model's size and the memory it needs."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import asdict
from pathlib import Path

import torch

from agents.config import TrainConfig, parse_pairs
from agents.environment import Environment
from agents.memory_estimate import GIB, Setting, memory_items, peak
from agents.model_facts import find_config, model_size
from agents.run import answers_per_rollout, complete, refuse_changes
from agents.schedule import steps_for


def dry_run(config: TrainConfig) -> str:
    """The report of `--dry-run`. Nothing is downloaded or written.

    Raises:
        ValueError: whatever `train` refuses before it loads a model.
    """
    if config.resume is not None:
        refuse_changes(config)
    config = complete(config)
    sections = [json.dumps(asdict(config), indent=2), _steps(config), _memory(config)]
    return "\n\n".join(sections)


def _steps(config: TrainConfig) -> str:
    m = answers_per_rollout(config)
    group = config.answers_per_prompt // m
    per_step = (
        f"each step: {config.prompts} prompts x {group} responses of {m} answers = {config.prompts * group} responses, "
        f"at most {config.prompts * group * config.sampling.max_tokens:,} generated tokens, "
        f"{-(-config.prompts // config.learner.mini_batch) * config.learner.epochs} update(s)"
    )
    if config.steps is not None:
        return f"steps: {config.steps} (given)\n{per_step}"
    args = parse_pairs(config.env_args, "--env-args")
    if args.get("data") == "hub":
        return f"steps: unknown, for the data set is at the hub ({config.epochs} epochs)\n{per_step}"
    number = Environment(config.env, args, m, "train").num_problems
    if number is None:
        raise ValueError(f"{config.env} has no fixed number of problems: give --steps")
    steps = steps_for(config.epochs, config.prompts, number)
    note = " (fewer if prompts are too long and left out)" if args.get("data") is not None else ""
    return (
        f"steps: {steps} = {config.epochs} epochs x {number:,} problems{note} / {config.prompts} prompts, rounded up\n"
        f"{per_step}"
    )


def _memory(config: TrainConfig) -> str:
    found = find_config(config)
    if found is None:
        if Path(config.model).is_absolute() or config.model.startswith("."):
            raise ValueError(f"model folder {config.model} does not exist")
        return f"memory: unknown, for {config.model} is not a folder here and the hub is not asked in a dry run"
    size = model_size(found, config.lora)
    setting = _setting(config)
    items = memory_items(config, size, setting)
    computed = "bfloat16" if setting.low_precision else "float32"
    engine = "vLLM" if setting.vllm else "transformers"
    lines = [
        f"model: {config.model}, {size.parameters:,} parameters, {size.trained:,} of them trained"
        if not config.lora.rank
        else f"model: {config.model}, {size.parameters:,} parameters, and an adapter of {size.trained:,}",
        f"memory in one process, computing in {computed}, generating with {engine}:",
        *(_line(item.name, item.phase, item.bytes, item.how) for item in items),
        _line("most at one time", "", peak(items), "always + the larger of generation and learning"),
    ]
    return "\n".join(lines)


def _line(name: str, phase: str, size: float, how: str) -> str:
    shown = f"{size / GIB:.2f} GiB" if size >= GIB / 10 else f"{size / 2**20:.1f} MiB"
    return f"  {name:<24}{phase:<12}{shown:>12}  {how}"


def _setting(config: TrainConfig) -> Setting:
    """Of this machine, except that the paper's preset means a CUDA device even where there is none."""
    cuda = config.device.startswith("cuda")
    if config.device == "auto":
        cuda = torch.cuda.is_available() or config.preset == "paper"
    vllm = config.backend == "vllm"
    if config.backend == "auto":
        vllm = cuda and importlib.util.find_spec("vllm") is not None
    return Setting(config.dtype == "bfloat16" or (config.dtype == "auto" and cuda), vllm, cuda)
