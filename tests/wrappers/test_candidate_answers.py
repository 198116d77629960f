"""CandidateAnswers: choosing among right, nearly right and wrong answers."""

from __future__ import annotations

import pickle
from typing import Any

import gymnasium as gym
import mo_gymnasium
import numpy as np
import pytest
from adapter_helpers import TASKS, text_env
from gymnasium.utils.env_checker import check_env
from helpers import LinearReward, outputs_under_hash_seeds

from vpo_envs.answers import prompt_text
from vpo_envs.wrappers import CandidateAnswers, MultiAnswer
from vpo_envs.wrappers.candidate_pool import candidates_of
from vpo_envs.wrappers.text_features import TextFeatures


def bandit(env_id: str = "vpo/Maze-v0", **arguments: Any) -> CandidateAnswers:
    own = {name: arguments.pop(name) for name in ("n", "dimension", "draws") if name in arguments}
    return CandidateAnswers(text_env(env_id, **arguments), **{"draws": 12 if "Code" in env_id else 32} | own)


def table(env: CandidateAnswers, seed: int | None = None, **options: Any) -> tuple[dict[str, Any], np.ndarray]:
    """A problem's info, and the rewards (n, k) of its candidates in the order of the actions."""
    rows = []
    for action in range(env.n):
        _, info = env.reset(seed=seed, options=options or None)
        rows.append(env.step(action)[1])
    return info, np.stack(rows)


@pytest.mark.parametrize("env_id", TASKS)
def test_a_candidate_earns_what_it_earns_as_text(env_id: str) -> None:
    env, text = bandit(env_id), text_env(env_id)
    for problem in range(2 if "Code" in env_id else 6):
        info, rewards = table(env, seed=problem, problem=problem)
        assert len({env.task.normalise(answer) for answer in info["candidates"]}) == env.n
        for answer, reward in zip(info["candidates"], rewards, strict=True):
            text.reset(options={"problem": problem})
            assert np.array_equal(text.step(env.task.wrap(answer))[1], reward)
            assert reward.dtype == np.float32


@pytest.mark.parametrize("env_id", TASKS)
def test_candidates_differ_in_what_they_earn(env_id: str) -> None:
    env = bandit(env_id)
    best = []
    for problem in range(3 if "Code" in env_id else 25):
        rewards = candidates_of(env.task, problem, env.n, env.draws).rewards
        assert len(np.unique(rewards, axis=0)) >= 3
        values = rewards @ env.task.problem_weights(env.task[problem])
        assert (values <= values.max() / 2).sum() >= 2
        best.append(values.max())
    assert np.mean(best) > 0.6


@pytest.mark.parametrize("arguments", [{}, {"size": 5, "slack": 4}, {"split": "test"}])
def test_in_a_maze_the_candidates_conflict(arguments: dict[str, Any]) -> None:
    env = bandit("vpo/Maze-v0", **arguments)
    assert all(len(env.pareto_front(problem)) >= 2 for problem in range(40))


@pytest.mark.parametrize("env_id", ["vpo/Maze-v0", "vpo/ToolRL-v0"])
def test_the_front_is_that_of_the_candidates(env_id: str) -> None:
    env = bandit(env_id)
    for problem in range(15):
        _, rewards = table(env, seed=0, problem=problem)
        free = {
            tuple(r) for r in rewards if not any((o >= r).all() and (o > r).any() for o in rewards)
        }  # nothing dominates it
        assert {tuple(row) for row in env.pareto_front(problem)} == free
    with pytest.raises(ValueError, match=r"must be 0..999 \(train split\), not 1000"):
        env.pareto_front(1000)


def test_the_candidates_follow_from_the_problem_and_their_order_from_the_seed() -> None:
    one, other = bandit(), bandit()
    orders, firsts = [], []
    for seed in range(12):
        _, info = one.reset(seed=seed, options={"problem": 7})
        other.reset(seed=99 + seed)  # what happened before does not matter
        assert other.reset(seed=seed, options={"problem": 7})[1]["candidates"] == info["candidates"]
        orders.append(info["candidates"])
        firsts.append(one.step(0)[1].sum())
    assert len({frozenset(order) for order in orders}) == 1
    assert len(set(orders)) > 10
    assert len(set(firsts)) > 3  # no action is always the good one


def test_the_problems_are_those_of_the_text_environment_also_without_new_seeds() -> None:
    env, text = bandit(), text_env("vpo/Maze-v0")
    for seed in (3, None, None, 4, None):
        assert env.reset(seed=seed)[1]["problem"] == text.reset(seed=seed)[1]["problem"]


def test_the_observation_is_the_prompt_and_the_candidates_in_their_order() -> None:
    env, embed = bandit(dimension=32), TextFeatures(32)
    for options in ({"problem": 3}, {"problem": 3, "weights": [1, 0, 0, 0]}):
        observation, info = env.reset(seed=1, options=options)
        rows = observation.reshape(env.n + 1, 32)
        assert observation in env.observation_space
        assert np.array_equal(rows[0], embed(prompt_text(info["messages"])))
        assert all(np.array_equal(row, embed(c)) for row, c in zip(rows[1:], info["candidates"], strict=True))
    last, _, terminated, truncated, _ = env.step(0)
    assert terminated
    assert not truncated
    assert last in env.observation_space
    assert not last.any()


def test_info_holds_no_solution() -> None:
    env = bandit("vpo/EUREQA-v0")
    _, info = env.reset(seed=1)
    assert set(info) == {"problem", "messages", "num_answers", "candidates"}
    step_info = env.step(3)[4]
    assert step_info == {"problem": info["problem"], "answer": info["candidates"][3]}


def test_what_a_step_returns_is_nobody_elses() -> None:
    env = bandit()
    observation, _ = env.reset(seed=0)
    kept = observation.copy()
    observation[:] = 1
    reward = env.step(0)[1]
    first = reward.copy()
    reward[:] = 7
    assert np.array_equal(env.reset(seed=0)[0], kept)
    assert np.array_equal(env.step(0)[1], first)


@pytest.mark.parametrize("name", ["n", "dimension", "draws"])
def test_bad_arguments(name: str) -> None:
    for value in (0, 1.5, "3"):
        with pytest.raises(ValueError, match=f"CandidateAnswers: {name} must be a whole number"):
            bandit(**{name: value})
    with pytest.raises(ValueError, match="num_answers=1"):
        bandit(num_answers=2)
    for env in (gym.make("vpo/MazeGrid-v0"), MultiAnswer(gym.make("vpo/Maze-v0"))):
        with pytest.raises(TypeError, match="CandidateAnswers: needs a text environment"):
            CandidateAnswers(env)


def test_too_few_different_answers_are_an_error(tmp_path) -> None:
    path = tmp_path / "short.jsonl"
    path.write_text('{"grid": "S E", "max_steps": 1}\n')
    env = CandidateAnswers(gym.make("vpo/Maze-v0", data=str(path)), n=64, draws=2)
    with pytest.raises(ValueError, match=r"problem 0 has \d+ different candidate answers, not 64; raise draws"):
        env.reset()
    with pytest.raises(gym.error.ResetNeeded):
        env.step(0)


def test_bad_actions_and_closed_episodes() -> None:
    env = bandit()
    with pytest.raises(gym.error.ResetNeeded):
        env.step(0)
    env.reset(seed=0)
    for action, error in ((8, ValueError), (-1, ValueError), ("1", TypeError), (1.0, TypeError)):
        with pytest.raises(error, match="CandidateAnswers: an action is"):
            env.step(action)  # type: ignore[arg-type]
    env.step(np.int64(2))
    with pytest.raises(gym.error.ResetNeeded):
        env.step(2)


@pytest.mark.filterwarnings("error", "ignore:.*different from the unwrapped version")
def test_gymnasiums_checker_is_satisfied() -> None:
    check_env(LinearReward(mo_gymnasium.make("vpo/CandidateAnswers-v0", env_id="vpo/Maze-v0", render_mode="ansi")))


def test_the_id_makes_what_the_class_makes() -> None:
    made = gym.make("vpo/CandidateAnswers-v0", env_id="vpo/Maze-v0", n=5, dimension=16, size=5, slack=4)
    built = CandidateAnswers(gym.make("vpo/Maze-v0", size=5, slack=4), n=5, dimension=16)
    assert made.action_space == gym.spaces.Discrete(5)
    assert np.array_equal(made.reset(seed=4)[0], built.reset(seed=4)[0])
    assert np.array_equal(gym.make(made.spec).reset(seed=4)[0], built.reset(seed=4)[0])


def test_a_pickled_environment_goes_on_where_it_was() -> None:
    env = bandit()
    for seed in range(5):
        env.reset(seed=seed)
    copy = pickle.loads(pickle.dumps(env))
    one, other = env.step(4), copy.step(4)
    assert np.array_equal(one[1], other[1])
    assert one[2:] == other[2:]
    assert np.array_equal(env.reset()[0], copy.reset()[0])
    assert len(pickle.dumps(env)) < 1 << 20


def test_rendering_shows_the_answer() -> None:
    env = bandit(render_mode="ansi")
    env.reset(seed=0)
    assert "route 1" not in env.render()
    env.step(0)
    assert "route 1" in env.render()


def test_features_are_signed_of_length_one_and_know_places() -> None:
    embed = TextFeatures(64)
    vectors = np.stack([embed(f"word{i} other{i}") for i in range(200)])
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert abs(vectors.mean()) < 0.01  # signs cancel
    assert not embed("").any()
    assert np.array_equal(embed("a \ud800"), embed("a \ud800"))
    assert not np.array_equal(embed("G . .\n. . D"), embed("D . .\n. . G"))
    # One word has three features: itself, its place, and one run. Their components are bits of BLAKE2.
    assert np.flatnonzero(embed("RUN")).size <= 3


IN_ANOTHER_PROCESS = """
import sys, hashlib
from adapter_helpers import text_env
from vpo_envs.wrappers import CandidateAnswers
for env_id in sys.argv[1:]:
    env = CandidateAnswers(text_env(env_id))
    for seed in range(4):
        observation, info = env.reset(seed=seed)
        print(info["candidates"], hashlib.sha256(observation.tobytes()).hexdigest(), env.step(seed)[1].tolist())
"""


def test_processes_with_different_hash_seeds_agree() -> None:
    one, other = outputs_under_hash_seeds(IN_ANOTHER_PROCESS, *(env_id for env_id in TASKS if "Code" not in env_id))
    assert one == other
    assert one.count("\n") == 16
