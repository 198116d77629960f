"""Problems that differ in their number of objectives: what is padded has no weight and spoils no mean."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from agents.advantages import RewardBatch
from agents.demonstrations import demonstration_facts
from agents.step_metrics import rollout_metrics
from vpo_envs import Objective, Task, TextEnv
from vpo_envs.metrics import expected_best_at_k
from vpo_envs.scoring import score_responses


class Digits(Task[int]):
    """Problem n has n of three objectives; an answer is the reward for each, such as "101"."""

    objectives = tuple(Objective(f"digit_{i}", "") for i in (1, 2, 3))

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> int:
        return index + 1

    def messages(self, problem: int, num_answers: int = 1, weights: Sequence[float] | None = None) -> Any:
        return [{"role": "user", "content": f"{problem} digits"}]

    def objective_mask(self, problem: int) -> Any:
        return np.arange(3) < problem

    @property
    def reference_weights(self) -> Any:
        return np.array([0.2, 0.3, 0.5])

    def score(self, problem: int, answer: str) -> Any:
        return np.array([float(d) for d in answer], np.float32) * self.objective_mask(problem)

    def demonstration(self, problem: int, rng: Any) -> str:
        return rng.choice(("000", "111"))


def test_the_weights_of_a_problem_are_the_reference_weights_of_its_own_objectives() -> None:
    task = Digits()
    assert task.problem_weights(1).tolist() == [1, 0, 0]
    assert task.problem_weights(2) == pytest.approx([0.4, 0.6, 0])
    assert task.problem_weights(3) == pytest.approx([0.2, 0.3, 0.5])


def test_the_answer_that_wins_is_the_best_under_the_weights_of_the_problem() -> None:
    scored = score_responses(Digits(), [2], ["<response_1>101</response_1><response_2>010</response_2>"], 2)
    assert scored.rewards.tolist() == [[[1, 0, 0], [0, 1, 0]]]
    assert scored.best.tolist() == [[0, 1, 0]]


def test_an_answer_that_earns_everything_is_worth_one_everywhere() -> None:
    task = Digits()
    env = TextEnv(task)
    rewards, masks = [], []
    for problem in range(2):
        env.reset(options={"problem": problem})
        _, reward, _, _, info = env.step("<answer>111</answer>")
        rewards.append(reward)
        masks.append(info["objective_mask"])
        assert task.problem_weights(task[problem]) @ reward == pytest.approx(1)
    tensor, mask = torch.from_numpy(np.array(rewards))[:, None, None], torch.from_numpy(np.array(masks))
    batch = RewardBatch(tensor, objective_mask=mask, reference_weights=task.reference_weights)
    assert batch.scalars().flatten().tolist() == pytest.approx([1, 1])
    assert batch.reference_weights.numpy() == pytest.approx(np.array([task.problem_weights(p) for p in (1, 2)]))
    best = expected_best_at_k(np.array(rewards)[:, None], task.reference_weights, 1, np.array(masks))
    assert best == pytest.approx([1, 1])


def test_means_over_an_objective_leave_out_problems_that_lack_it() -> None:
    rewards = torch.tensor([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])[:, None, None]  # (B, G, m, k) = (2, 1, 1, 3)
    mask = torch.tensor([[True, False, False], [True, True, False]])
    completion: Any = SimpleNamespace(token_ids=[1], finish_reason="stop")
    rollouts: Any = SimpleNamespace(completions=[[completion], [completion]])
    batch = RewardBatch(rewards, objective_mask=mask)
    metrics = rollout_metrics(rollouts, batch, torch.zeros(2, 1), ["digit_1", "digit_2", "digit_3"])
    assert metrics["reward/digit_1"] == metrics["reward/digit_2"] == 1
    assert "reward/digit_3" not in metrics
    assert metrics["score/answer"] == 1

    facts = demonstration_facts(Digits(), draws=50)
    assert facts["mean"].keys() == {"digit_1", "digit_2"}
    assert all(0.3 < mean < 0.7 for mean in facts["mean"].values())
    assert facts["perfect"] == pytest.approx(facts["mean"]["digit_1"])
