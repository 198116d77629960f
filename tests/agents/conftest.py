"""Tiny untrained policies: one as a folder on disk, and one model of each family that the agent must work with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from agents_helpers import CONTEXT, FAMILIES, family_model, sharpen
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from agents.builtin import build_model, build_tokenizer
from agents.policy import Policy, load_policy
from vpo_envs.registration import make_task


@pytest.fixture(scope="session")
def maze_task() -> Any:
    """Mazes of the laptop preset's size; so many that the tokenizer and the tests never run out."""
    return make_task("vpo/Maze-v0", size=5, slack=4, num_problems=10**6)


@pytest.fixture(scope="session")
def tokenizer(maze_task: Any) -> PreTrainedTokenizerFast:
    return build_tokenizer(maze_task, samples=1000)


@pytest.fixture(scope="session")
def policy_folder(tokenizer: PreTrainedTokenizerFast, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built-in policy of 2 layers and width 32 that has learned nothing, as a transformers folder."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = sharpen(build_model(tokenizer, layers=2, width=32, heads=4, context=CONTEXT))
    folder = tmp_path_factory.mktemp("policies") / "tiny"
    Policy(model, tokenizer, "tiny").save(folder)
    return folder


@pytest.fixture
def policy(policy_folder: Path) -> Policy:
    """The tiny policy, loaded anew: the test may train it."""
    return load_policy(str(policy_folder), torch.device("cpu"), torch.float32)


@pytest.fixture(scope="session")
def families(tokenizer: PreTrainedTokenizerFast) -> dict[str, PreTrainedModel]:
    """One model of each family over the same vocabulary. Shared: copy one to change it."""
    return {name: family_model(name, len(tokenizer)) for name in FAMILIES}


@pytest.fixture(params=FAMILIES)
def model(request: pytest.FixtureRequest, families: dict[str, PreTrainedModel]) -> PreTrainedModel:
    """Each family in turn. Shared: copy it to change it."""
    return families[request.param]
