"""vpo/MazeGrid-v0 is vpo/Maze-v0, one move at a time."""

from __future__ import annotations

import json
import pickle
from random import Random

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from helpers import LinearReward
from mo_gymnasium import wrappers
from mo_gymnasium.wrappers.vector import MOSyncVectorEnv

import vpo_envs  # noqa: F401
from vpo_envs.maze import MazeTask
from vpo_envs.maze.board import MOVE_INDEX, MOVES
from vpo_envs.maze.grid_env import PLANES, MazeGridEnv
from vpo_envs.maze.render import ROUTE_COLORS

NAMES = list(MOVES)


def planes(observation, size: int = 9) -> dict[str, np.ndarray]:
    """Tile -> (size, size) of 0 and 1."""
    return dict(zip(PLANES, observation[:-1].reshape(len(PLANES), size, size), strict=True))


def careless_moves(task: MazeTask, problem: int, rng: Random) -> list[int]:
    """A demonstration with some random moves put in, so that walls are hit and some walks come too late."""
    moves = [MOVE_INDEX[w] for w in task.demonstration(task[problem], rng).split() if w in MOVE_INDEX]
    for _ in range(rng.choice([0, 0, 2, 6])):
        moves.insert(rng.randrange(len(moves) + 1), rng.randrange(4))
    return moves


def play(env: gym.Env, moves: list[int]) -> tuple[list[np.ndarray], bool]:
    """The rewards of the steps until the episode ends, and whether it did."""
    rewards = []
    for move in moves:
        _, reward, terminated, truncated, _ = env.step(move)
        assert not truncated
        rewards.append(reward)
        if terminated:
            return rewards, True
    return rewards, False


@pytest.mark.parametrize("arguments", [{}, {"score_mode": "convex_bonus"}, {"size": 6, "slack": 5, "split": "test"}])
def test_the_reward_is_the_text_environments_for_the_same_walk(arguments):
    text, grid = gym.make("vpo/Maze-v0", **arguments), gym.make("vpo/MazeGrid-v0", **arguments)
    task, rng = MazeTask(**arguments), Random(0)
    arrived = late = 0
    for seed in range(150):
        _, info = text.reset(seed=seed)
        problem = info["problem"]
        assert grid.reset(seed=seed)[1]["problem"] == problem
        moves = careless_moves(task, problem, rng) if seed % 3 else rng.choices(range(4), k=100)
        rewards, ended = play(grid, moves)
        _, expected, *_ = text.step(f"<answer>{' '.join(NAMES[m] for m in moves)}</answer>")
        assert not any(r.any() for r in rewards[:-1])
        assert rewards[-1].dtype == np.float32
        assert np.array_equal(rewards[-1], expected)
        assert ended == (expected[0] == 1 or len(moves) >= task[problem].max_steps)
        arrived += int(expected[0])
        late += ended and expected[0] == 0
    assert arrived > 30
    assert late > 30


@pytest.mark.parametrize("tile", "GDLB")
def test_an_item_beside_the_exit_counts_as_in_the_text_environment(tmp_path, tile):
    path = tmp_path / "beside.jsonl"
    path.write_text(json.dumps({"grid": f"G D . {tile} E\nS G D L .", "max_steps": 9}))
    arguments = {"data": str(path), "score_mode": "convex_bonus"}
    text, grid = gym.make("vpo/Maze-v0", **arguments), gym.make("vpo/MazeGrid-v0", **arguments)
    text.reset(), grid.reset()
    rewards, ended = play(grid, [MOVE_INDEX[m] for m in ("UP", "RIGHT", "RIGHT", "RIGHT", "RIGHT")])
    assert ended
    assert np.array_equal(rewards[-1], text.step("UP RIGHT RIGHT RIGHT RIGHT")[1])


def test_the_two_draw_the_same_mazes_also_without_new_seeds():
    text, grid = gym.make("vpo/Maze-v0"), gym.make("vpo/MazeGrid-v0")
    for seed in (3, None, None, 4, None):
        assert text.reset(seed=seed)[1]["problem"] == grid.reset(seed=seed)[1]["problem"]


def test_the_first_observation_is_the_maze():
    env = gym.make("vpo/MazeGrid-v0")
    observation, info = env.reset(seed=5)
    rows = MazeTask()[info["problem"]].rows
    assert observation in env.observation_space
    for tile, plane in planes(observation).items():
        assert plane.tolist() == [[float(t == tile) for t in row] for row in rows]
    assert observation[-1] == 1.0


def test_items_vanish_the_agent_moves_and_steps_run_out(tmp_path):
    path = tmp_path / "row.jsonl"
    path.write_text(json.dumps({"grid": "S G L D B E", "max_steps": 8}))
    env = gym.make("vpo/MazeGrid-v0", data=str(path))
    observation, _ = env.reset()
    seen = [observation]
    for _ in range(5):
        seen.append(env.step(MOVE_INDEX["RIGHT"])[0])
    # One row of planes (wall, gold, diamond, lava, bonus, exit, agent) of 6 cells each.
    left = [[int(o[:-1].reshape(7, 6)[p].sum()) for p in range(7)] for o in seen]
    assert left == [
        [0, 1, 1, 1, 1, 1, 1],
        [0, 0, 1, 1, 1, 1, 1],
        [0, 0, 1, 0, 1, 1, 1],
        [0, 0, 0, 0, 1, 1, 1],
        [0, 0, 0, 0, 0, 1, 1],
        [0, 0, 0, 0, 0, 1, 1],
    ]
    assert [int(o[36:42].argmax()) for o in seen] == [0, 1, 2, 3, 4, 5]
    assert [float(o[-1]) for o in seen] == pytest.approx([1, 7 / 8, 6 / 8, 5 / 8, 4 / 8, 3 / 8])
    env.reset()
    blocked, _, terminated, *_ = env.step(MOVE_INDEX["UP"])
    assert np.array_equal(blocked[:-1], observation[:-1])
    assert blocked[-1] == pytest.approx(7 / 8)
    assert not terminated


def test_the_budget_ends_the_episode_as_terminated():
    env = gym.make("vpo/MazeGrid-v0")
    _, info = env.reset(seed=0)
    budget = MazeTask()[info["problem"]].max_steps
    back_and_forth = [i % 2 for i in range(budget)]
    rewards, ended = play(env, back_and_forth)
    assert ended
    assert len(rewards) == budget
    assert not rewards[-1].any()
    with pytest.raises(gym.error.ResetNeeded, match="call reset"):
        env.unwrapped.step(0)


def test_what_a_step_returns_is_nobody_elses():
    env = gym.make("vpo/MazeGrid-v0")
    first, info = env.reset(seed=0)
    kept = first.copy()
    second, reward, _, _, step_info = env.step(1)
    second[:] = 7
    reward[:] = 7
    info["problem"] = step_info["problem"] = None
    third, another, *_ = env.step(3)
    assert np.array_equal(first, kept)
    assert third.max() == 1
    assert not another.any()
    assert np.array_equal(env.reset(seed=0)[0], kept)


def test_problem_option_and_its_faults():
    env = gym.make("vpo/MazeGrid-v0", split="test")
    assert env.reset(options={"problem": 42})[1] == {"problem": 42}
    with pytest.raises(
        ValueError, match=r"vpo/MazeGrid-v0: options\['problem'\] must be 0..99 \(test split\), not 100"
    ):
        env.reset(options={"problem": 100})
    with pytest.raises(ValueError, match="the reset option is 'problem', not 'weights'"):
        env.reset(options={"weights": [1, 0, 0, 0]})


@pytest.mark.parametrize(("action", "error"), [(4, ValueError), (-1, ValueError), (1.0, TypeError), ("UP", TypeError)])
def test_actions_outside_the_space_are_refused(action, error):
    env = gym.make("vpo/MazeGrid-v0")
    env.reset(seed=0)
    with pytest.raises(error):
        env.step(action)
    env.step(np.int64(2))


def test_facts_about_the_reward():
    env = MazeGridEnv()
    assert env.reward_space == gym.spaces.Box(0, 1, (4,), np.float32)
    assert env.reward_dim == 4
    assert [o.name for o in env.objectives] == ["completion", "gold", "diamond", "avoid_lava"]
    assert env.reference_weights.tolist() == [0.25] * 4
    assert gym.spec("vpo/MazeGrid-v0").max_episode_steps is None


def test_files_with_mazes_of_several_sizes_are_refused(tmp_path):
    path = tmp_path / "mixed.jsonl"
    rows = [{"grid": g, "max_steps": 9} for g in ("S . E", "S . E", "S .\n. E")]
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(ValueError, match=r"mixed.jsonl: maze 2 is 2 x 2, maze 0 is 1 x 3; .* one size"):
        MazeGridEnv(data=str(path))
    assert MazeGridEnv(data=str(path), num_problems=2).observation_space.shape == (22,)


@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
@pytest.mark.filterwarnings("error")
def test_gymnasiums_checker_is_satisfied():
    check_env(LinearReward(gym.make("vpo/MazeGrid-v0", render_mode="rgb_array")))


def test_a_pickled_environment_goes_on_where_it_was():
    env = gym.make("vpo/MazeGrid-v0", size=6)
    env.reset(seed=1)
    env.step(1)
    copy = pickle.loads(pickle.dumps(env))
    for action in (3, 1, 0, 2, 3, 3):
        one, other = env.step(action), copy.step(action)
        assert np.array_equal(one[0], other[0])
        assert np.array_equal(one[1], other[1])
        assert one[2:] == other[2:]
    assert env.reset()[1] == copy.reset()[1]


def test_rendering_shows_the_way_walked_so_far():
    env = gym.make("vpo/MazeGrid-v0", render_mode="ansi")
    env.reset(options={"problem": 0})
    assert "route 1: does not reach E, 0 cells from S" in env.render()
    task = MazeTask()
    moves = [MOVE_INDEX[w] for w in task.demonstration(task[0], Random(4)).split() if w in MOVE_INDEX]
    play(env, moves)
    assert "route 1: reaches E" in env.render()
    assert "completion=1.00" in env.render()
    picture = gym.make("vpo/MazeGrid-v0", render_mode="rgb_array")
    picture.reset(options={"problem": 0})
    play(picture, moves[:5])
    image = picture.render()
    assert image.shape == (288, 288, 3)
    assert (image == np.array(ROUTE_COLORS[0], np.uint8)).all(axis=2).any()
    with pytest.raises(ValueError, match="render_mode must be one of"):
        MazeGridEnv(render_mode="human")
    assert MazeGridEnv().render() is None


def test_a_failed_reset_leaves_no_open_episode():
    env = MazeGridEnv()
    env.reset(seed=0)
    for options in ({"problem": -1}, {"slack": 3}):
        with pytest.raises(ValueError, match="vpo/MazeGrid-v0: "):
            env.reset(options=options)
        with pytest.raises(gym.error.ResetNeeded):
            env.step(0)


@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
def test_the_wrappers_of_mo_gymnasium_fit():
    episode = [MOVE_INDEX[w] for w in MazeTask().demonstration(MazeTask()[0], Random(4)).split() if w in MOVE_INDEX]
    plain = gym.make("vpo/MazeGrid-v0", maze=0)
    plain.reset(seed=0)
    expected = play(plain, episode)[0][-1]
    assert expected[0] == 1
    for observation in ("planes", "state", "state_array"):
        env = gym.make("vpo/MazeGrid-v0", maze=0, observation=observation)
        recorded = wrappers.MORecordEpisodeStatistics(env, gamma=0.9)
        recorded.reset(seed=0)
        for move in episode:
            info = recorded.step(move)[4]
            if "episode" in info:
                break
        assert np.array_equal(info["episode"]["r"], expected)
        assert np.allclose(info["episode"]["dr"], 0.9 ** (info["episode"]["l"] - 1) * expected)
        clipped = wrappers.MOClipReward(env, idx=1, min_r=0.0, max_r=0.1)
        clipped.reset()
        assert play(clipped, episode)[0][-1][1] == min(expected[1], np.float32(0.1))
        normalised = wrappers.MONormalizeReward(env, idx=0)
        normalised.reset()
        assert np.isfinite(play(normalised, episode)[0][-1]).all()
        scalar = wrappers.LinearReward(env, weight=np.array([1.0, 0, 0, 0]))
        scalar.reset()
        assert play(scalar, episode)[0][-1] == 1.0


def test_several_run_in_the_vector_environment_of_mo_gymnasium():
    envs = MOSyncVectorEnv([lambda: gym.make("vpo/MazeGrid-v0")] * 4)
    singles = [gym.make("vpo/MazeGrid-v0") for _ in range(4)]
    observations, infos = envs.reset(seed=[5, 5, 6, 7])
    starts = [env.reset(seed=seed) for env, seed in zip(singles, (5, 5, 6, 7), strict=True)]
    assert np.array_equal(observations, [o for o, _ in starts])
    assert infos["problem"].tolist() == [info["problem"] for _, info in starts]
    task, rng = MazeTask(), Random(0)
    routes = [
        [MOVE_INDEX[w] for w in task.demonstration(task[p], rng).split() if w in MOVE_INDEX] for p in infos["problem"]
    ]
    for moves in zip(*routes, strict=False):  # up to the first that arrives
        _, rewards, ended, *_ = envs.step(np.array(moves))
        steps = [env.step(move) for env, move in zip(singles, moves, strict=True)]
        assert rewards.shape == (4, 4)
        assert np.array_equal(rewards, [step[1] for step in steps])
        assert ended.tolist() == [step[2] for step in steps]
    assert ended.any()
    assert rewards[:, 0].max() == 1
