"""Weights in prompts: drawn before asking, written, rewarded, and what an evaluation does about them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from agents_runs import lines_of, tiny_run

from agents import train_vpo, training_loop
from agents.advantages import RewardBatch, estimate
from agents.config import EvaluationConfig, TrainConfig
from agents.environment import Environment
from agents.evaluation import evaluate_policy
from agents.generation import Sampling, TransformersGenerator
from agents.policy import Policy
from agents.prompt_filter import fitting_problems
from agents.prompt_weights import check_prompt_weights, evaluation_weights, weights_of_step, written_weights
from agents.rollout import collect, reward_batch, together
from agents.saved_settings import find_candidate
from agents.train_vpo import train
from vpo_envs.maze import MazeTask
from vpo_envs.registration import register_task

MAZE = {"size": 5, "slack": 4, "num_problems": 50}
CODE = {"problems": "rules", "num_problems": 20}
GOALS = TrainConfig(method="goal_conditioned", seed=3)


class Silent(MazeTask):
    """A task that does not tell its weights."""

    def messages(self, problem: Any, num_answers: int = 1, weights: Any = None) -> Any:
        return super().messages(problem, num_answers)


def percents(prompt: str) -> list[int]:
    """The weights that a prompt asks for."""
    (line,) = re.findall(r"What counts: (.*)\.", prompt)
    return [int(number) for number in re.findall(r"(\d+)%", line)]


def test_the_weights_of_a_step_are_dirichlet_and_follow_from_seed_and_step() -> None:
    environment = Environment("vpo/Maze-v0", MAZE, 1)
    weights = weights_of_step(GOALS, environment, 5, range(2000))
    assert weights is not None
    assert weights.shape == (2000, 4)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2000, dtype=torch.float64))
    # Of Dirichlet(1, 1, 1, 1): means 1/4, variances 3/80.
    assert weights.mean(0).tolist() == pytest.approx([0.25] * 4, abs=0.015)
    assert weights.var(0).tolist() == pytest.approx([3 / 80] * 4, rel=0.15)
    again, later = (weights_of_step(GOALS, environment, step, range(2000)) for step in (5, 6))
    assert torch.equal(weights, again)
    assert not torch.equal(weights, later)
    corners = weights_of_step(replace(GOALS, prompt_alpha=0.01), environment, 5, range(50))
    assert corners.amax(-1).mean() > 0.9
    assert weights_of_step(TrainConfig(method="vpo"), environment, 5, range(3)) is None


def test_only_the_objectives_that_a_problem_has_are_weighed() -> None:
    environment = Environment("vpo/Code-v0", CODE, 1)
    weights = weights_of_step(GOALS, environment, 0, [0, 1])
    masks = environment.objective_masks([0, 1])
    assert not masks.all()
    assert ((weights.numpy() > 0) == masks).all()
    for messages, row, mask in zip(environment.ask([0, 1], 2, weights.numpy()), weights, masks, strict=True):
        assert percents(messages[-1]["content"]) == [round(100 * float(w)) for w in row[mask]]


def test_rollouts_are_asked_for_their_weights_and_judged_by_them(policy: Policy) -> None:
    generator = TransformersGenerator(policy.model, policy.end_ids, policy.tokenizer.pad_token_id)
    weights = torch.tensor([[1.0, 0, 0, 0], [0, 0.5, 0.5, 0], [0.1, 0.2, 0.3, 0.4]], dtype=torch.float64)

    def ask(places: list[int]) -> tuple[Any, Environment]:
        environment = Environment("vpo/Maze-v0", MAZE, 1)
        problems, seeds = [[7, 3, 7][i] for i in places], [[0, 100, 200][i] for i in places]
        rollouts = collect(policy, generator, environment, problems, 4, Sampling(8), seeds, 400, weights[places])
        return rollouts, environment

    rollouts, environment = ask([0, 1, 2])
    assert [percents(policy.decode(prompt)) for prompt in rollouts.prompts] == [
        [100, 0, 0, 0], [0, 50, 50, 0], [10, 20, 30, 40]
    ]  # fmt: skip
    rewards = torch.rand(3, 4, 1, 4, generator=torch.Generator().manual_seed(0))
    judged = replace(rollouts, rewards=rewards, answered=torch.ones(3, 4, 1, dtype=torch.bool))
    advantages = estimate("goal_conditioned", reward_batch(judged, environment))
    for b in range(3):
        alone = RewardBatch(rewards[b : b + 1], reference_weights=weights[b])
        torch.testing.assert_close(advantages[b : b + 1], estimate("grpo", alone))
    joined = together([([1], ask([1])[0]), ([0, 2], ask([0, 2])[0])])
    assert joined.prompts == rollouts.prompts
    assert torch.equal(joined.prompt_weights, weights)


def test_training_asks_anew_in_every_step_and_a_resumed_run_asks_the_same(
    policy_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train_vpo, "plot_training", lambda *_: None)
    seen: list[RewardBatch] = []
    estimated = training_loop.estimate
    monkeypatch.setattr(
        training_loop, "estimate", lambda name, batch, **more: seen.append(batch) or estimated(name, batch, **more)
    )
    config = tiny_run(policy_folder, tmp_path, method="goal_conditioned", samples_every=1, samples_prompts=3)
    whole = lines_of(train(replace(config, name="whole")) / "samples.jsonl")
    asked = [percents(row["prompt"]) for row in whole[::6]]  # six rollouts of a prompt
    assert len({tuple(p) for p in asked}) == 4 * 3
    assert asked == [(100 * w).round().int().tolist() for batch in seen for w in batch.prompt_weights]
    part = train(replace(config, name="part", steps=2))
    train(replace(config, name=None, resume=str(part)))
    assert lines_of(part / "samples.jsonl") == whole


def test_what_the_option_means() -> None:
    assert written_weights("auto", "goal_conditioned") == "random"
    assert written_weights("auto", "vpo") == written_weights("auto", None) == "none"
    assert written_weights("none", "goal_conditioned") == "none"
    assert written_weights("reference", "vpo") == "reference"


def test_weights_of_an_evaluation() -> None:
    code = Environment("vpo/Code-v0", CODE, 1, "test")
    masks = code.objective_masks([4, 0])
    reference = evaluation_weights("reference", code, [4, 0], 3, seed=1)
    random = evaluation_weights("random", code, [4, 0], 3, seed=1)
    for b, problem in enumerate([4, 0]):
        expected = code.task.problem_weights(code.task[problem])
        np.testing.assert_allclose(reference[b], [expected] * 3)
        assert ((random[b] > 0) == masks[b]).all()
    assert len(np.unique(random.reshape(6, -1), axis=0)) == 6
    np.testing.assert_array_equal(evaluation_weights("random", code, [0], 3, seed=1)[0], random[1])
    assert not np.allclose(evaluation_weights("random", code, [0], 3, seed=2)[0], random[1])
    assert evaluation_weights("none", code, [0], 3, seed=1) is None


@pytest.mark.parametrize("written", ["reference", "random"])
def test_an_evaluation_asks_every_response_for_its_weights(policy: Policy, written: Any) -> None:
    prompts: list[str] = []

    class Watched(TransformersGenerator):
        def stream(self, asked: Any, n: int, *more: Any) -> Any:
            prompts.extend(policy.decode(prompt) for prompt in asked for _ in range(n))
            return super().stream(asked, n, *more)

    generator = Watched(policy.model, policy.end_ids, policy.tokenizer.pad_token_id)
    config = EvaluationConfig(problems=3, answers=6, weights=8, prompt_weights=written)
    args = [f"{name}={value}" for name, value in MAZE.items()]
    result = evaluate_policy(policy, "vpo/Maze-v0", args, 2, config, 16, 256, progress=False, generator=generator)
    assert result.prompt_weights == written
    assert result.rewards.shape == (3, 3, 2, 4)
    assert np.shape(result.answers) == (3, 3, 2)
    assert result.tokens.shape == (3, 3)
    expected = [[round(100 * w) for w in row] for row in result.asked_weights.reshape(9, 4).tolist()]
    assert [percents(prompt) for prompt in prompts] == expected
    grids = [prompt[prompt.index("S") :].partition("Tiles")[0] for prompt in prompts]
    assert [grids[i] == grids[i - 1] for i in range(1, 9)] == [True, True, False, True, True, False, True, True]
    again = evaluate_policy(policy, "vpo/Maze-v0", args, 2, config, 16, 256, progress=False)
    np.testing.assert_array_equal(again.rewards, result.rewards)
    assert again.answers == result.answers


def test_the_final_evaluation_of_a_goal_conditioned_run_asks_for_random_weights(
    policy_folder: Path, tmp_path: Path
) -> None:
    config = tiny_run(policy_folder, tmp_path, method="goal_conditioned", steps=1, final_evaluation=True)
    folder = train(replace(config, evaluation=EvaluationConfig(problems=2, answers=3, ks=(1,), weights=4)))
    data = json.loads((folder / "evaluation" / "evaluation.json").read_text())
    assert [policy["prompt_weights"] for policy in data["policies"]] == ["random", "random"]
    assert find_candidate(str(folder)).method == "goal_conditioned"
    for line in lines_of(folder / "evaluation" / "answers.jsonl"):
        assert np.shape(line["prompt_weights"]) == (3, 4)


def test_environments_that_cannot_write_weights_are_refused(policy_folder: Path, tmp_path: Path) -> None:
    class Words(gym.Env[str, str]):
        observation_space = action_space = gym.spaces.Text(100)

        def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, Any]:
            return "Say something.", {}

    register_task("elsewhere/Silent-v0", Silent, **MAZE)
    gym.register("elsewhere/Words-v0", entry_point=Words, disable_env_checker=True)
    config = tiny_run(policy_folder, tmp_path / "runs", env_args=(), steps=1)
    try:
        with pytest.raises(ValueError, match=r"elsewhere/Words-v0 is a foreign environment: weights cannot be written"):
            train(replace(config, env="elsewhere/Words-v0", method="goal_conditioned"))
        asked = EvaluationConfig(prompt_weights="reference", answers=3, ks=(1,))
        with pytest.raises(ValueError, match=r"elsewhere/Words-v0 is a foreign environment: weights cannot be written"):
            train(replace(config, env="elsewhere/Words-v0", method="grpo", evaluation=asked, final_evaluation=True))
        with pytest.raises(ValueError, match=r"prompts do not change with weights: Task\.messages must write"):
            train(replace(config, env="elsewhere/Silent-v0", method="goal_conditioned"))
        with pytest.raises(ValueError, match="is a foreign environment"):
            Environment("elsewhere/Words-v0", {}, 1).ask([1], 2, np.ones((1, 1)))
        check_prompt_weights(Environment("elsewhere/Words-v0", {}, 1), "none")
    finally:
        del gym.registry["elsewhere/Silent-v0"], gym.registry["elsewhere/Words-v0"]
    assert not (tmp_path / "runs").exists()


def test_prompts_of_a_data_set_leave_room_for_the_longest_weights(policy: Policy, tmp_path: Path) -> None:
    (tmp_path / "mazes.jsonl").write_text('{"grid": "S . .\\n. . .\\n. . E", "max_steps": 8}\n')
    environment = Environment("vpo/Maze-v0", {"data": str(tmp_path / "mazes.jsonl")}, 1)

    def length(weights: Any) -> int:
        return len(policy.prompt_ids(environment.ask([0], 1, weights)[0]))

    drawn = [np.random.default_rng(i).dirichlet([1.0] * 4)[None] for i in range(50)]
    longest = max(map(length, [*drawn, np.full((1, 4), 0.25)]))
    assert fitting_problems([(policy, environment)], longest - 1, 20) == [0]  # without weights it is shorter
    with pytest.raises(ValueError, match="none is left; raise --prompt-tokens"):
        fitting_problems([(policy, environment)], longest - 1, 20, weights=True)
    assert fitting_problems([(policy, environment)], longest + 20, 20, weights=True) == [0]
