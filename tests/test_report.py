"""What training calls at its end, on our environment and on one of somebody else."""

from __future__ import annotations

import json
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from evaluation_helpers import MAZE, save_tiny_policy

from agents.config import EvaluationConfig
from agents.policy import Policy, load_policy
from agents.report import evaluate_and_report

CONFIG = EvaluationConfig(problems=2, answers=6, weights=4)


@pytest.fixture(scope="module")
def policy(tmp_path_factory) -> Policy:
    folder = save_tiny_policy(tmp_path_factory.mktemp("policy"))
    return load_policy(str(folder), torch.device("cpu"), torch.float32)


def test_before_and_after(policy, tmp_path, capsys):
    policies = {"before": (policy, 3), "vpo": (policy, 3)}
    comparison = evaluate_and_report(policies, "vpo/Maze-v0", MAZE, CONFIG, 16, 256, tmp_path / "evaluation")
    assert [r.label for r in comparison.results] == ["before", "vpo"]
    assert "Minus before (m=3)" in capsys.readouterr().out
    saved = json.loads((tmp_path / "evaluation" / "evaluation.json").read_text())
    assert saved == comparison.to_dict()
    # One policy against itself: the same noise, the same answers, no difference.
    assert all(e["value"] == e["low"] == e["high"] == 0 for e in saved["differences"][0]["metrics"].values())
    assert (tmp_path / "evaluation" / "answers.png").is_file()


class Shouting(gym.Env[str, str]):
    """Wants few letters and many words; every answer costs something."""

    observation_space = gym.spaces.Text(100)
    action_space = gym.spaces.Text(10_000)
    reward_space = gym.spaces.Box(-2.0, 0.0, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        return f"say {self.np_random.integers(100)}", {}

    def step(self, action: str) -> Any:
        reward = np.array([-len(action) / 1e4 - 0.5, -1 / (1 + len(action.split()))], np.float32)
        return "", reward, True, False, {}


def test_an_environment_of_somebody_else(policy, tmp_path, capsys):
    gym.register("tests/Shouting-v0", entry_point=Shouting, disable_env_checker=True)
    try:
        comparison = evaluate_and_report({"a": (policy, 3)}, "tests/Shouting-v0", (), CONFIG, 12, 256, tmp_path)
    finally:
        del gym.registry["tests/Shouting-v0"]
    (result,) = comparison.results
    assert result.objectives == ["objective_1", "objective_2"]
    # Nobody answers in the tags: every answer is worth the lower bound, and not the zeros that stand for it.
    assert not result.answered.any()
    assert result.metrics()["best@6"].value == -2
    assert comparison.ceiling == {}
    assert "pass@1" not in result.per_prompt
    assert "answers.png was not drawn" in capsys.readouterr().err
    assert not (tmp_path / "answers.png").exists()
    assert (tmp_path / "best_at_k.png").is_file()
