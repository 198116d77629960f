"""Rewards are computed while generation goes on, and are the same as if they were computed afterwards."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, cycle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from agents.environment import Environment
from agents.generation import Completion, Generator, Sampling, TransformersGenerator
from agents.policy import Policy
from agents.rollout import Rollouts, collect
from vpo_envs.task import Task

MAZE = {"size": 5, "slack": 4, "num_problems": 50}
PROBLEMS = [7, 3, 11, 40, 3]
SEEDS = [0, 100, 200, 300, 400]
PATIENCE = 30  # seconds until a test that waits for the other thread gives up


class Replay(Generator):
    """Yields the completions of another generator in an order of its own, with something done between two prompts."""

    def __init__(self, inner: Generator, order: Iterable[int], between: Any = lambda place: None) -> None:
        self.inner, self.order, self.between = inner, order, between
        self.closed = False

    def stream(
        self, prompts: Sequence[Sequence[int]], n: int, sampling: Sampling, seeds: Sequence[int]
    ) -> Iterator[tuple[int, list[Completion]]]:
        done = self.inner.generate(prompts, n, sampling, seeds)
        try:
            for place in self.order:
                self.between(place)
                yield place, done[place]
        finally:
            self.closed = True

    def sync(self, model: PreTrainedModel) -> None:
        self.inner.sync(model)


@pytest.fixture
def inner(policy: Policy) -> TransformersGenerator:
    return TransformersGenerator(policy.model, policy.end_ids, policy.tokenizer.pad_token_id)


def ask(policy: Policy, generator: Generator, environment: Environment) -> Rollouts:
    return collect(policy, generator, environment, PROBLEMS, 4, Sampling(24), SEEDS, prompt_tokens=400)


def scored_afterwards(policy: Policy, rollouts: Rollouts, environment: Environment) -> Any:
    environment.ask(PROBLEMS, 4)
    return environment.score([[policy.decode(c.token_ids) for c in group] for group in rollouts.completions])


def scoring_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("scoring")]


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [3, 0, 4, 2, 1]])
@pytest.mark.parametrize("num_answers", [1, 3])
def test_rewards_are_those_of_scoring_afterwards(
    order: list[int], num_answers: int, policy: Policy, inner: Generator
) -> None:
    environment = Environment("vpo/Maze-v0", MAZE, num_answers)
    rollouts = ask(policy, Replay(inner, order), environment)
    assert rollouts.completions == inner.generate(rollouts.prompts, 4, Sampling(24), SEEDS)
    expected = scored_afterwards(policy, rollouts, environment)
    np.testing.assert_array_equal(rollouts.rewards, expected.rewards)
    np.testing.assert_array_equal(rollouts.answered, expected.answered)
    assert rollouts.answers == expected.answers
    if num_answers == 1:
        assert rollouts.answered.any(), "nothing was answered, so the comparison says nothing"
    assert not scoring_threads()


def test_every_problem_keeps_its_own_objectives(policy: Policy, inner: Generator) -> None:
    """Problems of Code differ in their number of tests; the mask follows the prompt, not the order of generation."""
    environment = Environment("vpo/Code-v0", {"problems": "rules", "num_problems": 50}, 1)
    generator = Replay(inner, [4, 1, 3, 0, 2])
    rollouts = collect(policy, generator, environment, PROBLEMS, 2, Sampling(4), SEEDS, prompt_tokens=500)
    assert rollouts.objective_mask is not None
    task: Task[Any] = environment.task
    for problem, mask in zip(PROBLEMS, rollouts.objective_mask, strict=True):
        np.testing.assert_array_equal(mask, task.objective_mask(task[problem]))
    task.close()  # type: ignore[attr-defined]


def test_scoring_runs_beside_generation_and_takes_what_waits(
    monkeypatch: pytest.MonkeyPatch, policy: Policy, inner: Generator
) -> None:
    """The last prompt is generated only once the others are scored; while the first is scored, two others come in."""
    environment = Environment("vpo/Maze-v0", MAZE, 1)
    batches: list[list[int]] = []
    score, two_more, before_last = environment.score, threading.Event(), threading.Event()

    def watched(responses: Any, places: Any = None) -> Any:
        if not batches:
            assert two_more.wait(PATIENCE)
        batches.append(list(places))
        if sum(map(len, batches)) == 4:
            before_last.set()
        return score(responses, places)

    def between(place: int) -> None:
        if place == 3:
            two_more.set()
        if place == 4:
            assert before_last.wait(PATIENCE)

    monkeypatch.setattr(environment, "score", watched)
    rollouts = ask(policy, Replay(inner, range(5), between), environment)
    assert list(chain(*batches)) == [0, 1, 2, 3, 4]
    assert len(batches) < 5
    monkeypatch.undo()
    np.testing.assert_array_equal(rollouts.rewards, scored_afterwards(policy, rollouts, environment).rewards)


def test_an_error_of_the_engine_reaches_the_caller(policy: Policy, inner: Generator) -> None:
    def fail_at_the_third(place: int) -> None:
        if place == 2:
            raise RuntimeError("the engine is gone")

    with pytest.raises(RuntimeError, match="the engine is gone") as caught:
        ask(policy, Replay(inner, range(5), fail_at_the_third), Environment("vpo/Maze-v0", MAZE, 1))
    assert "fail_at_the_third" in [entry.name for entry in caught.traceback]
    assert not scoring_threads()


@pytest.mark.parametrize("failing", [1, 3, 4])
def test_an_error_of_scoring_reaches_the_caller_and_ends_generation(
    failing: int, monkeypatch: pytest.MonkeyPatch, policy: Policy, inner: Generator
) -> None:
    environment = Environment("vpo/Maze-v0", MAZE, 1)
    score = environment.score

    def broken_scorer(responses: Any, places: Any = None) -> Any:
        if failing in places:
            raise ValueError(f"cannot score {failing}")
        return score(responses, places)

    monkeypatch.setattr(environment, "score", broken_scorer)
    generator = Replay(inner, range(5))
    with pytest.raises(ValueError, match=f"cannot score {failing}") as caught:
        ask(policy, generator, environment)
    assert "broken_scorer" in [entry.name for entry in caught.traceback]
    assert generator.closed
    assert not scoring_threads()
    monkeypatch.undo()
    assert len(ask(policy, generator, environment).completions) == 5  # it can be asked again


def test_a_hopeless_step_ends_at_the_next_prompt(
    monkeypatch: pytest.MonkeyPatch, policy: Policy, inner: Generator
) -> None:
    """Generation does not go on for rewards that will never come."""
    environment, end = Environment("vpo/Maze-v0", MAZE, 1), time.monotonic() + PATIENCE

    def broken_scorer(responses: Any, places: Any = None) -> Any:
        raise ValueError("no scores today")

    def between(place: int) -> None:
        time.sleep(0.001)
        assert time.monotonic() < end, "generation went on"

    monkeypatch.setattr(environment, "score", broken_scorer)
    with pytest.raises(ValueError, match="no scores today"):
        ask(policy, Replay(inner, cycle(range(5)), between), environment)


def test_parts_of_a_batch_can_be_scored_in_any_order() -> None:
    environment = Environment("vpo/Maze-v0", MAZE, 1)
    environment.ask(PROBLEMS, 2)
    texts = [[f"<answer>{'DOWN ' * b}</answer>", f"<answer>{'RIGHT ' * b}</answer>"] for b in range(5)]
    whole = environment.score(texts)
    part = environment.score([texts[4], texts[1]], [4, 1])
    np.testing.assert_array_equal(part.rewards, whole.rewards[[4, 1]])
    assert part.answers == [whole.answers[4], whole.answers[1]]


class Echo(gym.Env[str, str]):
    """Somebody else's environment: the reward is the seed's number and the length of the answer."""

    observation_space = gym.spaces.Text(100)
    action_space = gym.spaces.Text(1000)
    reward_space = gym.spaces.Box(np.float32([0, 0]), np.float32([100, 1000]), dtype=np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self.number = int(self.np_random.integers(100))
        return f"Say {self.number}", {}

    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        return "", np.float32([self.number, min(len(action), 1000)]), True, False, {}


@pytest.fixture
def echo() -> Iterator[str]:
    gym.register("elsewhere/Echo-v0", entry_point=Echo, disable_env_checker=True)
    yield "elsewhere/Echo-v0"
    del gym.registry["elsewhere/Echo-v0"]


def test_a_foreign_environment_is_scored_at_the_end_in_the_order_of_its_problems(
    echo: str, policy: Policy, inner: Generator
) -> None:
    environment = Environment(echo, {}, 1)
    rollouts = ask(policy, Replay(inner, [3, 0, 4, 2, 1]), environment)
    for b, prompt in enumerate(rollouts.prompts):
        texts = [policy.decode(c.token_ids) for c in rollouts.completions[b]]
        assert rollouts.answers[b] == [[text] for text in texts]
        assert {f"Say {number:.0f}" in policy.decode(prompt) for number in rollouts.rewards[b, :, 0, 0]} == {True}
        assert rollouts.rewards[b, :, 0, 1].tolist() == [len(text) for text in texts]
    assert rollouts.seconds["score"] <= rollouts.seconds["score_wait"]
    with pytest.raises(ValueError, match="all of its 5 prompts step together"):
        environment.score([["a"] * 4], [2])


def test_where_the_time_went(policy: Policy, inner: Generator) -> None:
    rollouts = ask(policy, inner, Environment("vpo/Maze-v0", MAZE, 1))
    assert set(rollouts.seconds) == {"generate", "score", "score_wait"}
    assert min(rollouts.seconds.values()) > 0
    assert torch.equal(rollouts.rewards, replace(rollouts, seconds={}).rewards)
