"""MO-Gymnasium's wrappers and its vector environment do to our environments what they say."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import gymnasium as gym
import mo_gymnasium
import numpy as np
import pytest
from gymnasium.wrappers.utils import RunningMeanStd
from mo_gymnasium.wrappers import LinearReward, MOClipReward, MONormalizeReward, MORecordEpisodeStatistics
from mo_gymnasium.wrappers.vector import MORecordEpisodeStatistics as VectorStatistics
from mo_gymnasium.wrappers.vector import MOSyncVectorEnv

import vpo_envs  # noqa: F401
from vpo_envs.maze.board import MOVE_INDEX
from vpo_envs.wrappers import TokenActions

SMALL = {"size": 5, "slack": 4, "num_problems": 40}
MOVES = [" UP", " DOWN", " LEFT", " RIGHT"]
MAKE: dict[str, Callable[[], gym.Env[Any, Any]]] = {
    "grid": lambda: mo_gymnasium.make("vpo/MazeGrid-v0", **SMALL),
    "text": lambda: mo_gymnasium.make("vpo/Maze-v0", **SMALL),
    "tokens": lambda: mo_gymnasium.make("vpo/TokenActions-v0", vocabulary=MOVES, length=14, **SMALL),
    "candidates": lambda: mo_gymnasium.make("vpo/CandidateAnswers-v0", draws=8, **SMALL),
    "toolrl tokens": lambda: mo_gymnasium.make("vpo/TokenActions-v0", env_id="vpo/ToolRL-v0", samples=40),
}
every_environment = pytest.mark.parametrize("kind", MAKE)
SEEDS = range(8)


def policy(env: gym.Env[Any, Any], kind: str, problem: int) -> list[Any]:
    """The actions of a whole episode, which follow from the problem."""
    task = env.unwrapped.task  # type: ignore[attr-defined]
    answer = task.demonstration(task[problem], Random(problem))
    words = [w for w in answer.split() if w in MOVE_INDEX]
    if kind == "grid":
        return [MOVE_INDEX[w] for w in words]
    if kind == "tokens":
        return [1 + MOVE_INDEX[w] for w in words] + [0]
    if kind == "candidates":
        return [problem % 8]
    if kind == "toolrl tokens":
        return list(env.get_wrapper_attr("encode")(answer))
    return [task.wrap(answer)]


def episode(env: gym.Env[Any, Any], kind: str, seed: int) -> list[tuple[Any, dict[str, Any]]]:
    """Reward and info of every step."""
    _, info = env.reset(seed=seed)
    steps = []
    for action in policy(env, kind, info["problem"]):
        _, reward, terminated, _, info = env.step(action)
        steps.append((reward, info))
        if terminated:
            break
    assert terminated
    return steps


def rewards_of(env: gym.Env[Any, Any], kind: str, seed: int) -> np.ndarray:
    return np.stack([reward for reward, _ in episode(env, kind, seed)])


@every_environment
def test_the_episodes_earn_something(kind: str) -> None:
    returns = np.stack([rewards_of(MAKE[kind](), kind, seed).sum(axis=0) for seed in SEEDS])
    assert returns.max() > 0.5
    assert len(np.unique(returns, axis=0)) > 1


@every_environment
def test_linear_reward(kind: str) -> None:
    plain, env = MAKE[kind](), LinearReward(MAKE[kind](), weight=np.array([0.1, 0.2, 0.3, 0.4]))
    for seed in SEEDS:
        raw = rewards_of(plain, kind, seed)
        for row, (reward, info) in zip(raw, episode(env, kind, seed), strict=True):
            assert reward == pytest.approx(row @ [0.1, 0.2, 0.3, 0.4])
            assert np.array_equal(info["vector_reward"], row)
    env.set_weight(np.array([1.0, 0.0, 0.0, 0.0]))
    assert episode(env, kind, 0)[-1][0] == rewards_of(plain, kind, 0)[-1][0]


@every_environment
def test_normalize_reward_changes_one_component_and_nothing_of_ours(kind: str) -> None:
    plain, env = MAKE[kind](), MONormalizeReward(MAKE[kind](), idx=3, gamma=0.9)
    statistics, discounted = RunningMeanStd(shape=()), np.zeros(1)
    for seed in [
        *SEEDS,
        *SEEDS,
    ]:  # the wrapper writes into the array it is given: a kept one would show
        raw, normalized = rewards_of(plain, kind, seed), rewards_of(env, kind, seed)
        assert np.array_equal(raw[:, :3], normalized[:, :3])
        for t, value in enumerate(raw[:, 3]):
            discounted = discounted * 0.9 * (t < len(raw) - 1) + value
            statistics.update(discounted)
            assert normalized[t, 3] == pytest.approx(value / np.sqrt(statistics.var + 1e-8), rel=1e-4)


@every_environment
def test_clip_reward(kind: str) -> None:
    plain, env = MAKE[kind](), MOClipReward(MAKE[kind](), idx=0, min_r=0.25, max_r=0.5)
    for seed in [*SEEDS, *SEEDS]:
        raw, clipped = rewards_of(plain, kind, seed), rewards_of(env, kind, seed)
        assert np.array_equal(clipped[:, 0], raw[:, 0].clip(0.25, 0.5))
        assert np.array_equal(clipped[:, 1:], raw[:, 1:])


@every_environment
def test_record_episode_statistics(kind: str) -> None:
    plain, env = MAKE[kind](), MORecordEpisodeStatistics(MAKE[kind](), gamma=0.9)
    for seed in SEEDS:
        raw = rewards_of(plain, kind, seed)
        recorded = episode(env, kind, seed)[-1][1]["episode"]
        assert np.allclose(recorded["r"], raw.sum(axis=0))
        assert np.allclose(recorded["dr"], (0.9 ** np.arange(len(raw)) @ raw))
        assert recorded["l"] == len(raw)


@every_environment
def test_the_vector_environment_runs_them_side_by_side(kind: str) -> None:
    singles, envs = [MAKE[kind]() for _ in range(3)], MOSyncVectorEnv([MAKE[kind]] * 3)
    vector: Any = VectorStatistics(envs)
    for _ in range(2):  # the second time after a reset of all
        observations, infos = vector.reset(seed=[1, 1, 2])
        starts = [env.reset(seed=seed) for env, seed in zip(singles, (1, 1, 2), strict=True)]
        assert infos["problem"].tolist() == [info["problem"] for _, info in starts]
        assert all(np.array_equal(one, other) for one, (other, _) in zip(observations, starts, strict=True))
        plans = [policy(env, kind, info["problem"]) for env, (_, info) in zip(singles, starts, strict=True)]
        for actions in zip(*plans, strict=False):  # up to the first that ends
            batch = actions if kind == "text" else np.array(actions)
            observations, rewards, ended, truncated, infos = vector.step(batch)
            steps = [env.step(action) for env, action in zip(singles, actions, strict=True)]
            assert rewards.shape == (3, 4)
            assert rewards.dtype == np.float32
            assert np.array_equal(rewards, [step[1] for step in steps])
            assert all(np.array_equal(one, step[0]) for one, step in zip(observations, steps, strict=True))
            assert ended.tolist() == [step[2] for step in steps]
            assert not truncated.any()
            if ended.any():
                break
        assert ended.any()
        assert np.allclose(infos["episode"]["r"][ended], rewards[ended])


def test_the_vector_environment_starts_new_episodes_by_itself() -> None:
    envs = MOSyncVectorEnv([MAKE["candidates"]] * 2)
    envs.reset(seed=[0, 1])
    single = MAKE["candidates"]()
    single.reset(seed=0)
    for _ in range(6):
        one = envs.step(np.array([3, 3]))
        assert one[2].all()
        assert np.array_equal(one[1][0], single.step(3)[1])
        again = envs.step(np.array([3, 3]))  # Gymnasium's autoreset takes a step of its own
        assert not again[1].any()
        assert np.array_equal(again[0][0], single.reset()[0])


def test_observations_flatten_under_the_wrappers() -> None:
    env: Any = MAKE["tokens"]()
    flat = LinearReward(gym.wrappers.FlattenObservation(env), weight=np.full(4, 0.25))
    inner = env.env
    assert isinstance(inner, TokenActions)
    assert flat.observation_space.shape == (inner.window * inner.vocabulary.num_ids,)
    assert flat.reset(seed=0)[0] in flat.observation_space
    assert episode(flat, "tokens", 0)
