"""The policies that ship with the environments: competent, far from optimal, and what their recipes give."""

from __future__ import annotations

import json
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from agents.config import parse_pairs
from agents.environment import Environment
from agents.generation import Sampling, TransformersGenerator
from agents.policy import Policy, builtin_folder, load_policy
from agents.presets import LAPTOP
from agents.rollout import collect
from agents.schedule import seeds_of
from agents.warm_start import WarmStartConfig, warm_start
from vpo_envs.registration import TEXT_TASKS

# Mean scalar reward at temperature 1 under the reference weights: well above nothing, well below the best there is.
QUALITY = {
    "vpo/Maze-v0": (0.40, 0.62),
    "vpo/MuSiQue-v0": (0.40, 0.90),
    "vpo/EUREQA-v0": (0.40, 0.90),
    "vpo/ToolRL-v0": (0.40, 0.90),
    "vpo/Code-v0": (0.50, 0.85),
}
STUDY_ARGUMENTS = {"size": 6, "slack": 5}
PROBLEMS, ANSWERS = 60, 6


def arguments(env: str) -> dict[str, Any]:
    return parse_pairs(LAPTOP[env].env_args, "laptop")


@cache
def shipped(env: str) -> Policy:
    return load_policy(str(builtin_folder(env, arguments(env))), torch.device("cpu"), torch.float32)


def recipe(env: str) -> dict[str, Any]:
    saved: dict[str, Any] = json.loads((builtin_folder(env, arguments(env)) / "recipe.json").read_text())
    return saved


def test_every_environment_with_a_task_ships_one() -> None:
    assert QUALITY.keys() == TEXT_TASKS.keys() == LAPTOP.keys()


@pytest.mark.parametrize("env", QUALITY)
def test_it_is_small(env: str) -> None:
    assert sum(file.stat().st_size for file in builtin_folder(env, arguments(env)).iterdir()) < 3_000_000
    assert 500_000 < shipped(env).model.num_parameters() < 1_500_000


@pytest.mark.parametrize("num_answers", [1, 3])
@pytest.mark.parametrize("env", QUALITY)
def test_it_answers_well_and_has_something_left_to_learn(env: str, num_answers: int) -> None:
    policy, environment = shipped(env), Environment(env, arguments(env), num_answers, "test")
    generator = TransformersGenerator(policy.model, policy.end_ids, policy.tokenizer.pad_token_id)
    sampling = Sampling(LAPTOP[env].max_tokens)
    seeds = seeds_of([0], PROBLEMS)
    rollouts = collect(policy, generator, environment, range(PROBLEMS), ANSWERS // num_answers, sampling, seeds, 256)
    low, high = QUALITY[env]
    mask = 1.0 if rollouts.objective_mask is None else rollouts.objective_mask.numpy()  # (B, k)
    weight = (mask * environment.reference_weights).sum(-1)  # of the objectives that a problem has
    scalars = (rollouts.rewards.numpy() @ environment.reference_weights).mean((1, 2)) / weight
    assert low < scalars.mean() < high
    assert rollouts.answered.numpy().mean() > 0.85
    completions = [c for group in rollouts.completions for c in group]
    # 3 of MuSiQue's 120 sets are cut off at the preset's length.
    assert np.mean([c.finish_reason == "stop" for c in completions]) > (0.97 if env == "vpo/MuSiQue-v0" else 0.98)


@pytest.mark.parametrize("env", QUALITY)
def test_the_recipe_still_gives_this_policy(env: str) -> None:
    """The first steps of the recipe have the loss that the shipped policy's first steps had, and it went on to fall."""
    saved = recipe(env)
    names = {f.name for f in fields(WarmStartConfig)}
    options = {k: tuple(v) if isinstance(v, list) else v for k, v in saved.items() if k in names}
    # One thread, as when they were made: learning to copy comes suddenly, at a step that depends on rounding.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        again = warm_start(WarmStartConfig(**options), stop_after=50)
    finally:
        torch.set_num_threads(threads)
    assert again.losses == pytest.approx(saved["losses"][:1], rel=0.03)
    assert saved["losses"][-1] < 0.2 * saved["losses"][0]
    made_for = parse_pairs(saved["env_args"], "recipe.json")
    assert made_for == {k: v for k, v in arguments(env).items() if k != "num_problems"}


@pytest.mark.parametrize("env", QUALITY)
def test_its_tokenizer_belongs_to_the_prompts_of_today(env: str) -> None:
    """A change of the prompt's wording makes the shipped policy useless: its constant lines are single tokens."""
    policy, environment = shipped(env), Environment(env, arguments(env), 3)
    (messages,) = environment.ask([0], 1)
    words = sum(len(message["content"].split()) for message in messages)
    assert len(policy.prompt_ids(messages)) < 0.75 * words


def test_the_policy_of_the_studies() -> None:
    """Small and weak on purpose, so that training leaves mistakes; it answers prompts with weights as those without."""
    folder = builtin_folder("vpo/Maze-v0", STUDY_ARGUMENTS)
    assert folder != builtin_folder("vpo/Maze-v0", arguments("vpo/Maze-v0"))
    policy = load_policy(str(folder), torch.device("cpu"), torch.float32)
    assert policy.model.num_parameters() < 60_000
    generator = TransformersGenerator(policy.model, policy.end_ids, policy.tokenizer.pad_token_id)
    weights = torch.full((PROBLEMS, 4), 0.25, dtype=torch.float64)
    for num_answers, asked in ((1, None), (1, weights), (3, None)):
        environment = Environment("vpo/Maze-v0", STUDY_ARGUMENTS, num_answers, "test")
        rollouts = collect(
            policy, generator, environment, range(PROBLEMS), 6 // num_answers, Sampling(120), seeds_of([0], PROBLEMS),
            128, asked,
        )  # fmt: skip
        assert rollouts.answered.numpy().mean() > 0.8
        completed = rollouts.rewards[..., 0].numpy()[rollouts.answered.numpy()]
        assert 0.3 < completed.mean() < 0.6
