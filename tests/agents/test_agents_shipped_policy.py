"""The policy that ships with the maze: competent, far from optimal, and what its recipe gives."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
import torch

from agents.config import parse_pairs
from agents.environment import Environment
from agents.generation import Sampling, TransformersGenerator
from agents.policy import Policy, builtin_folder, load_policy
from agents.rollout import collect
from agents.warm_start import WarmStartConfig, warm_start

ENV = "vpo/Maze-v0"
ARGS = {"size": 5, "slack": 4}


@pytest.fixture(scope="module")
def shipped() -> Policy:
    return load_policy(str(builtin_folder(ENV, ARGS)), torch.device("cpu"), torch.float32)


@pytest.fixture(scope="module")
def recipe() -> dict[str, Any]:
    saved: dict[str, Any] = json.loads((builtin_folder(ENV, ARGS) / "recipe.json").read_text())
    return saved


def test_it_is_small(shipped: Policy) -> None:
    assert sum(file.stat().st_size for file in builtin_folder(ENV, ARGS).iterdir()) < 3_000_000
    assert 500_000 < shipped.model.num_parameters() < 1_500_000


@pytest.mark.parametrize("num_answers", [1, 3])
def test_it_walks_well_and_has_trade_offs_left_to_learn(shipped: Policy, num_answers: int) -> None:
    environment = Environment(ENV, ARGS, num_answers, "test")
    generator = TransformersGenerator(shipped.model, shipped.end_ids, shipped.tokenizer.pad_token_id)
    rollouts = collect(shipped, generator, environment, range(60), 6 // num_answers, Sampling(112), 0, 256)
    rewards = rollouts.rewards.numpy().reshape(60, 6, 4)
    completed = rewards[..., 0].mean()
    ceiling = np.mean([environment.task.pareto_front(environment.task[i]).mean(-1).max() for i in range(60)])
    assert completed > 0.78  # of six times sixty answers at temperature 1
    assert rewards.mean() < ceiling - 0.2


def test_the_recipe_still_gives_this_policy(recipe: dict[str, Any]) -> None:
    """The first steps of the recipe have the loss that the shipped policy's first steps had, and it went on to fall."""
    names = {f.name for f in fields(WarmStartConfig)}
    options = {k: tuple(v) if isinstance(v, list) else v for k, v in recipe.items() if k in names}
    again = warm_start(WarmStartConfig(**options), stop_after=50)
    assert again.losses == pytest.approx(recipe["losses"][:1], rel=0.03)
    assert recipe["losses"][-1] < 0.1 * recipe["losses"][0]
    assert parse_pairs(recipe["env_args"], "recipe.json") == ARGS


def test_its_tokenizer_belongs_to_the_prompts_of_today(shipped: Policy) -> None:
    """A change of the prompt's wording makes the shipped policy useless: its constant lines are single tokens."""
    environment = Environment(ENV, ARGS, 3)
    (messages,) = environment.ask([0], 1)
    assert len(shipped.prompt_ids(messages)) < 60
