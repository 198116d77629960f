"""An environment of somebody else's, written for plain Gymnasium, goes through asking, sampling and scoring."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

from agents.environment import TEST_SEEDS, Environment
from agents.generation import Sampling, TransformersGenerator
from agents.policy import Policy
from agents.rollout import collect, reward_batch

ID = "elsewhere/Haggle-v0"
PROBLEMS = [11, 4, 250]


class Haggle(gym.Env[str, str]):
    """Offer a price for one of a hundred things. Rewards: value kept in [-1, 1], deal in [0, 1], length in [-5, 0]."""

    observation_space = gym.spaces.Text(100)
    action_space = gym.spaces.Text(100)
    reward_space = gym.spaces.Box(np.float32([-1, 0, -5]), np.float32([1, 1, 0]), dtype=np.float32)

    def __init__(self, fault: float = 0.0) -> None:
        self.fault = fault

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self.thing = int(self.np_random.integers(100))
        return f"Thing {self.thing}. Offer?", {}

    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        offer = float(action) if action.strip().isdigit() and len(action) < 4 else 0.0
        kept = (self.thing - offer) / 1000 + self.fault
        reward = np.array([kept, float(offer >= self.thing), -min(len(action), 50) / 10], np.float32)
        return "", reward, True, False, {}


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    gym.register(ID, entry_point=Haggle, disable_env_checker=True)
    yield
    del gym.registry[ID]


def alone(seed: int, action: str) -> tuple[str, np.ndarray]:
    """Prompt and reward of one episode in plain Gymnasium."""
    env = gym.make(ID)
    prompt, _ = env.reset(seed=seed)
    return prompt, np.asarray(env.step(action)[1])


def test_what_is_known_of_the_environment() -> None:
    environment = Environment(ID, {}, 3)
    assert not environment.is_ours
    assert environment.num_problems is None
    assert environment.objectives == ["objective_1", "objective_2", "objective_3"]
    assert environment.reference_weights == pytest.approx([1 / 3] * 3)
    assert environment.lower_bound.tolist() == [-1, 0, -5]


def test_where_the_answers_of_a_response_stand() -> None:
    response = "So: <answer_1>5</answer_1> <answer_3>7</answer_3>"
    environment = Environment(ID, {}, 3)
    assert environment.answer_spans(response) == [(4, 26), None, (27, 49)]
    environment.ask(PROBLEMS, group_size=2)
    assert environment.answer_spans(response) == [(4, 26), None, (27, 49)]


def test_every_response_of_a_group_is_scored_on_the_same_problem() -> None:
    environment = Environment(ID, {}, 1)
    messages = environment.ask(PROBLEMS, group_size=4)
    responses = [["0", "50", "nothing", "99"]] * 3
    scored = environment.score(responses)
    assert scored.rewards.shape == (3, 4, 1, 3)
    assert scored.answered.all()
    assert scored.objective_mask is None
    for b, seed in enumerate(PROBLEMS):
        for g, response in enumerate(responses[b]):
            prompt, reward = alone(seed, response)
            assert messages[b] == [{"role": "user", "content": prompt}]
            np.testing.assert_array_equal(scored.rewards[b, g, 0], reward)
            assert scored.answers[b][g] == [response]


def test_every_answer_of_a_response_is_scored_on_the_same_problem() -> None:
    environment = Environment(ID, {}, 3)
    messages = environment.ask(PROBLEMS, group_size=2)
    full = "<answer_1>10</answer_1> or <answer_2>60</answer_2> or <answer_3>90</answer_3>"
    scored = environment.score([[full, "<answer_2>60</answer_2> and no more"]] * 3)
    assert scored.rewards.shape == (3, 2, 3, 3)
    assert scored.answered.tolist() == [[[True, True, True], [False, True, False]]] * 3
    assert scored.answers == [[["10", "60", "90"], [None, "60", None]]] * 3
    for b, seed in enumerate(PROBLEMS):
        prompt, _ = alone(seed, "")
        assert messages[b][0]["content"].startswith(prompt)
        assert "<answer_3>" in messages[b][0]["content"]
        rows = [alone(seed, offer)[1] for offer in ("10", "60", "90")]
        np.testing.assert_array_equal(scored.rewards[b, 0], rows)
        np.testing.assert_array_equal(scored.rewards[b, 1], [np.zeros(3), rows[1], np.zeros(3)])


def test_test_problems_are_other_seeds() -> None:
    asked = Environment(ID, {}, 1, split="test").ask(PROBLEMS, 1)
    assert [m[0]["content"] for m in asked] == [alone(TEST_SEEDS + seed, "")[0] for seed in PROBLEMS]


@pytest.mark.parametrize("num_answers", [1, 3])
def test_a_policy_collects_rollouts(num_answers: int, policy: Policy) -> None:
    """A policy that has learned nothing babbles: one answer of any text, or no tags and hence no answer at all."""
    environment = Environment(ID, {}, num_answers)
    generator = TransformersGenerator(policy.model, policy.end_ids, policy.tokenizer.pad_token_id)
    seeds = [0, 100, 200]
    rollouts = collect(policy, generator, environment, PROBLEMS, 4, Sampling(12), seeds, prompt_tokens=400)
    assert rollouts.rewards.shape == (3, 4, num_answers, 3)
    assert rollouts.rewards.dtype == torch.float32
    assert rollouts.answered.shape == (3, 4, num_answers)
    assert [len(group) for group in rollouts.completions] == [4] * 3
    assert rollouts.generated_tokens == sum(len(c.token_ids) for group in rollouts.completions for c in group)
    for b, seed in enumerate(PROBLEMS):
        assert f"{alone(seed, '')[0]}" in policy.decode(rollouts.prompts[b])
        for g, completion in enumerate(rollouts.completions[b]):
            text = policy.decode(completion.token_ids)
            if num_answers == 1:
                assert rollouts.answers[b][g] == [text]
                np.testing.assert_array_equal(rollouts.rewards[b, g, 0], alone(seed, text)[1])
    batch = reward_batch(rollouts, environment)
    assert batch.lower_bound.tolist() == [-1, 0, -5]
    if num_answers == 3:
        assert batch.silent.all()
        assert batch.for_maximum()[0, 0, 0].tolist() == [-1, 0, -5]


@pytest.mark.parametrize(("fault", "problem"), [(np.nan, "is not a number"), (5.0, "lies outside reward_space")])
@pytest.mark.parametrize("num_answers", [1, 3])
def test_an_impossible_reward_names_the_environment_and_the_seed(fault: float, problem: str, num_answers: int) -> None:
    environment = Environment(ID, {"fault": fault}, num_answers)
    environment.ask([123], 2)
    with pytest.raises(ValueError, match=rf"{ID}, seed 123: the reward .* {problem}"):
        environment.score([["<answer_1>5</answer_1>"] * 2])


def test_arguments_that_the_environment_does_not_take() -> None:
    with pytest.raises(ValueError, match=rf"{ID} cannot be made: .*'colour'"):
        Environment(ID, {"colour": "red"}, 1)


def test_an_unknown_id() -> None:
    with pytest.raises(ValueError, match="did you mean elsewhere/Haggle-v0"):
        Environment("elsewhere/Hagle-v0", {}, 1)
