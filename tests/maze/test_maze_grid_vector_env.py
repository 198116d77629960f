"""The batched vpo/MazeGrid-v0 is n single ones."""

from __future__ import annotations

import hashlib
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from helpers import LinearReward, outputs_under_hash_seeds
from mo_gymnasium.wrappers.vector import MORecordEpisodeStatistics, MOSyncVectorEnv

import vpo_envs  # noqa: F401
from vpo_envs.maze.grid_vector_env import MazeGridVectorEnv

ID = "vpo/MazeGrid-v0"
KINDS: list[dict[str, Any]] = [
    {},
    {"size": 6, "slack": 5, "split": "test", "score_mode": "convex_bonus"},
    {"size": 5, "slack": 4, "num_problems": 3},
    {"maze": 5},
    {"maze": 5, "observation": "state"},
    {"size": 5, "slack": 4, "maze": 1, "observation": "state_array", "score_mode": "convex_bonus"},
]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda k: ",".join(f"{a}={b}" for a, b in k.items()) or "plain")


def drifting(seed: int, steps: int, n: int) -> np.ndarray:
    """Moves (steps, n): each walk drifts towards a corner, so that some arrive and others do not."""
    rng = np.random.default_rng(seed)
    corners = np.stack([rng.integers(0, 2, n), rng.integers(2, 4, n)], axis=1)
    towards = corners[np.arange(n), rng.integers(0, 2, (steps, n))]
    return np.where(rng.random((steps, n)) < 0.7, towards, rng.integers(0, 4, (steps, n)))


def same(one: Any, other: Any) -> bool:
    """Equal arrays of equal type, or dictionaries of them."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if one.dtype == object:
        return other.dtype == object and all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    return one.dtype == other.dtype and one.shape == other.shape and np.array_equal(one, other)


@every_kind
def test_the_next_step_mode_is_mo_gymnasiums_vector_of_single_environments(kind):
    n = 32
    batch = gym.make_vec(ID, num_envs=n, **kind)
    singles = MOSyncVectorEnv([lambda: gym.make(ID, **kind)] * n)
    assert batch.observation_space == singles.observation_space
    assert batch.action_space == singles.action_space
    assert batch.reward_space == singles.reward_space
    assert batch.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    arrivals = episodes = 0
    for seed in (3, None):  # the second goes on with the generators of the first
        for mine, theirs in zip(batch.reset(seed=seed), singles.reset(seed=seed), strict=True):
            assert same(mine, theirs)
        for moves in drifting(0, 150, n):
            mine, theirs = batch.step(moves), singles.step(moves)
            assert all(same(a, b) for a, b in zip(mine, theirs, strict=True))
            arrivals += int(mine[1][:, 0].sum())
            episodes += int(mine[2].sum())
    assert arrivals > 10
    assert episodes > arrivals + 10


@every_kind
def test_the_same_step_mode_is_gymnasiums_vector_of_single_environments(kind):
    n = 32
    batch = gym.make_vec(ID, num_envs=n, autoreset_mode="SameStep", **kind)
    # Gymnasium's has room for one number as a reward; the vectors are in info.
    singles = SyncVectorEnv([lambda: LinearReward(gym.make(ID, **kind))] * n, autoreset_mode=AutoresetMode.SAME_STEP)
    assert batch.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    for mine, theirs in zip(batch.reset(seed=9), singles.reset(seed=9), strict=True):
        assert same(mine, theirs)
    arrivals = 0
    for moves in drifting(1, 200, n):
        observations, rewards, ended, cut, infos = batch.step(moves)
        expected, _, expected_end, expected_cut, expected_infos = singles.step(moves)
        assert same(observations, expected)
        assert same(ended, expected_end)
        assert same(cut, expected_cut)
        vectors = np.zeros((n, 4), np.float32)
        for info, rows in ((expected_infos, ~ended), (expected_infos.get("final_info", {}), ended)):
            if rows.any():
                vectors[rows] = info["vector_reward"][rows]
            for name in ("vector_reward", "reward_weights"):
                info.pop(name, None), info.pop(f"_{name}", None)
        assert same(rewards, vectors)
        assert same(infos, expected_infos)
        arrivals += int(rewards[:, 0].sum())
    assert arrivals > 5


def test_equal_seeds_show_equal_mazes_and_problems_can_be_chosen():
    env = gym.make_vec(ID, num_envs=3)
    assert env.reset(seed=[4, 4, 5])[1]["problem"].tolist() == [
        gym.make(ID).reset(seed=seed)[1]["problem"] for seed in (4, 4, 5)
    ]
    assert env.reset(options={"problem": [7, 0, 999]})[1]["problem"].tolist() == [7, 0, 999]


def test_what_a_step_returns_is_nobody_elses():
    env = gym.make_vec(ID, num_envs=4, maze=0)
    kept, other = env.reset(seed=0)[0], gym.make_vec(ID, num_envs=4, maze=0)
    other.reset(seed=0)
    copy = kept.copy()
    for moves in drifting(2, 60, 4):
        mine, theirs = env.step(moves), other.step(moves)
        assert all(same(a, b) for a, b in zip(mine, theirs, strict=True))
        for array in (*mine[:4], *mine[4].values()):
            array[:] = 1  # must not be seen by the next step
    assert np.array_equal(kept, copy)


def test_a_pickled_environment_goes_on_where_it_was():
    for kind in KINDS:
        env = gym.make_vec(ID, num_envs=5, **kind)
        env.reset(seed=1)
        moves = drifting(3, 90, 5)
        for move in moves[:45]:
            env.step(move)
        copy = pickle.loads(pickle.dumps(env))
        for move in moves[45:]:
            assert all(same(a, b) for a, b in zip(env.step(move), copy.step(move), strict=True))


def test_action_masks_are_those_of_the_single_environments():
    env, singles = MazeGridVectorEnv(6), [gym.make(ID) for _ in range(6)]
    with pytest.raises(gym.error.ResetNeeded):
        env.action_masks()
    env.reset(seed=0)
    for i, single in enumerate(singles):
        single.reset(seed=i)
    for moves in drifting(4, 8, 6):  # too few to end
        masks = [single.get_wrapper_attr("action_masks")() for single in singles]
        assert env.action_masks().dtype == np.bool_
        assert env.action_masks().tolist() == np.array(masks).tolist()
        env.step(moves)
        for single, move in zip(singles, moves, strict=True):
            single.step(int(move))


def test_faults_are_told():
    env = MazeGridVectorEnv(2)
    with pytest.raises(gym.error.ResetNeeded, match=r"vpo/MazeGrid-v0: call reset\(\) before step\(\)"):
        env.step(np.array([0, 0]))
    env.reset(seed=0)
    for actions, error, message in [
        ([0.0, 1.0], TypeError, "actions are whole numbers, not float64"),
        (np.array([True, False]), TypeError, "actions are whole numbers, not bool"),
        ([0], ValueError, r"actions must have shape \(2,\), not \(1,\)"),
        ([0, 4], ValueError, r"not 4 \(environment 1\)"),
        ([-1, 0], ValueError, r"not -1 \(environment 0\)"),
    ]:
        with pytest.raises(error, match=message):
            env.step(actions)
    env.step([1, 3])
    for arguments, message in [
        ({"seed": [1]}, "seed needs one entry for each of 2 environments, not 1"),
        ({"options": {"problem": [0]}}, "needs one entry for each of 2 environments, not 1"),
        ({"options": {"problem": [0, 1000]}}, "must be 0..999"),
        ({"options": {"weights": 1}}, "the reset option is 'problem', not 'weights'"),
    ]:
        with pytest.raises(ValueError, match=message):
            env.reset(**arguments)
        with pytest.raises(gym.error.ResetNeeded):
            env.step([0, 0])
    for arguments, message in [
        ({"num_envs": 0}, "num_envs must be a whole number of at least 1, not 0"),
        ({"autoreset_mode": "Disabled"}, r"autoreset_mode must be one of \['NextStep', 'SameStep'\], not 'Disabled'"),
        ({"autoreset_mode": AutoresetMode.DISABLED}, "autoreset_mode must be one of"),
        ({"render_mode": "ansi"}, "does not render"),
    ]:
        with pytest.raises(ValueError, match=message):
            MazeGridVectorEnv(**arguments)


def test_the_episode_statistics_of_mo_gymnasium_fit():
    n = 4
    env = MORecordEpisodeStatistics(gym.make_vec(ID, num_envs=n, maze=3, observation="state"))
    env.reset(seed=0)
    returns, lengths = np.zeros((n, 4)), np.zeros(n)
    ended = np.zeros(n, bool)
    seen = 0
    for moves in drifting(5, 120, n):
        returns[ended], lengths[ended] = 0, -1  # the next step only resets
        _, rewards, ended, _, infos = env.step(moves)
        returns += rewards
        lengths += 1
        if ended.any():
            assert np.array_equal(infos["episode"]["r"][ended], returns[ended])
            assert np.array_equal(infos["episode"]["l"][ended], lengths[ended])
            seen += int(ended.sum())
    assert seen > n


IN_ANOTHER_PROCESS = """
import hashlib
import gymnasium as gym, numpy as np
import vpo_envs

digest = hashlib.sha256()
for kind in ({}, {"maze": 2, "observation": "state"}):
    env = gym.make_vec("vpo/MazeGrid-v0", num_envs=8, **kind)
    digest.update(env.reset(seed=0)[0].tobytes())
    for moves in np.random.default_rng(0).integers(0, 4, (60, 8)):
        for array in env.step(moves)[:3]:
            digest.update(array.tobytes())
    if kind:
        digest.update(np.array(env.pareto_front(0.9)).tobytes())
print(digest.hexdigest())
"""


def test_processes_with_different_hash_seeds_agree():
    digests = set(outputs_under_hash_seeds(IN_ANOTHER_PROCESS))
    assert len(digests) == 1
    assert len(digests.pop().strip()) == hashlib.sha256().digest_size * 2
