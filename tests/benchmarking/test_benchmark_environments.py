"""What algorithms see: kinds of observations, the budget, the same problems as text, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from agents.benchmarking.budget import BudgetSpent, StepBudget
from agents.benchmarking.contract import Unsuitable
from agents.benchmarking.environments import CANDIDATES, GRID, TOKENS, Arena
from vpo_envs.registration import make_task

MAZE = {"size": 5, "slack": 4}
PIECES = {"vocabulary": ["UP ", "DOWN ", "LEFT ", "RIGHT "], "length": 14}
ARENAS = {
    "maze": Arena(GRID, MAZE, problem=3),
    "mazes": Arena(GRID, MAZE, eval_problems=4),
    "tokens": Arena(TOKENS, {"env_id": "vpo/Maze-v0", **MAZE, **PIECES}, problem=3),
    "tokens of new mazes": Arena(TOKENS, {"env_id": "vpo/Maze-v0", **MAZE, "samples": 20}, eval_problems=2),
    "candidates": Arena(CANDIDATES, {"env_id": "vpo/ToolRL-v0", "num_problems": 40, "draws": 8}, eval_problems=3),
}


def setting(arena, kind, steps=10, seed=0):
    budget = StepBudget(steps)
    return arena.setting(kind, budget, seed, 1.0, np.full((1, 4), 0.25), {}), budget


@pytest.mark.parametrize("name", list(ARENAS))
def test_vectors(name):
    arena = ARENAS[name]
    env = setting(arena, "vector")[0].make()
    space = env.observation_space
    assert isinstance(space, spaces.Box)
    assert space.dtype == np.float32
    assert len(space.shape) == 1
    shown = arena.evaluation_env("vector")
    assert shown.observation_space == space
    for one in (env, shown):
        observation, _ = one.reset()
        assert space.contains(observation)
        observation, reward, *_ = one.step(0)
        assert space.contains(observation)
        assert (reward.dtype, reward.shape) == (np.float32, (4,))
        assert one.unwrapped.reward_space.shape == (4,)


def test_a_table_numbers_the_states_of_a_fixed_maze():
    env = setting(ARENAS["maze"], "table")[0].make()
    assert isinstance(env.observation_space, spaces.MultiDiscrete)
    assert env.reset()[0].tolist() == [0]
    for name, remedy in (("mazes", "--problem 0"), ("tokens", GRID), ("candidates", GRID)):
        with pytest.raises(Unsuitable, match=remedy):
            setting(ARENAS[name], "table")
    with pytest.raises(ValueError, match="OBSERVATION must be one of"):
        setting(ARENAS["maze"], "image")


def test_all_environments_share_the_budget():
    made, budget = setting(ARENAS["maze"], "vector", steps=5)
    first, second = made.make(), made.make()
    first.reset()
    second.reset()
    for env in (first, second, first, second, first):
        env.step(np.array(1))  # some libraries pass actions as arrays
    with pytest.raises(BudgetSpent, match="all 5 environment steps"):
        second.step(1)
    assert budget.used == 5


def test_progress_is_reported_in_full():
    reports = []
    budget = StepBudget(150, reports.append)
    for _ in range(150):
        budget.spend()
    assert sum(reports) == 150
    assert len(reports) < 5


def test_a_training_can_be_repeated_and_seeds_differ():
    def problems(seed):
        env = setting(ARENAS["mazes"], "vector", steps=200, seed=seed)[0].make()
        return [env.reset()[1]["problem"] for _ in range(6)]

    assert problems(0) == problems(0) != problems(1)
    assert len(set(problems(0))) > 3


@pytest.mark.parametrize("name", ["maze", "tokens"])
def test_one_problem_stays(name):
    env = setting(ARENAS[name], "vector")[0].make()
    assert {env.reset()[1]["problem"] for _ in range(5)} == {3}
    assert ARENAS[name].problems == [3]
    assert ARENAS[name].split == "train"


@pytest.mark.parametrize("name", list(ARENAS))
def test_a_language_model_is_asked_the_same_problems(name):
    arena = ARENAS[name]
    env_id, arguments = arena.text_args
    task = make_task(env_id, split=arena.split, **arguments)
    env = arena.evaluation_env("any")
    for problem in arena.problems:
        assert env.reset(options={"problem": problem})[1]["problem"] == problem
        assert task[problem] == arena.task[problem]
    if name == "mazes":  # the boards themselves: walls, gold, diamonds, lava
        planes = env.reset(options={"problem": 2})[0][:-1].reshape(7, 5, 5)
        tiles = np.array([list(row) for row in task[2].rows])
        for plane, tile in zip(planes, "#GDLBES", strict=True):
            assert ((tiles == tile) == plane.astype(bool)).all()


def test_exact_fronts():
    assert ARENAS["maze"].fronts[0].tolist() == ARENAS["tokens"].fronts[0].tolist()
    assert len(ARENAS["mazes"].fronts) == 4
    env = ARENAS["candidates"].evaluation_env("vector")
    earned = []
    for action in range(8):
        env.reset(seed=0, options={"problem": 1})
        earned.append(env.step(action)[1])
    front = ARENAS["candidates"].fronts[1]
    assert all(any(np.allclose(f, e) for e in earned) for f in front)
    musique = {"env_id": "vpo/EUREQA-v0"}
    assert Arena(TOKENS, {**musique, **PIECES}, eval_problems=1).fronts is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("vpo/Maze-v0", {}), "need numeric spaces; choose vpo/MazeGrid-v0, or .* env_id=vpo/Maze-v0"),
        (("vpo/Mazegrid", {}), "did you mean vpo/MazeGrid-v0"),
        ((GRID, {**MAZE, "split": "test"}), "leave split out"),
        ((GRID, {**MAZE, "observation": "state"}), "leave observation out; each algorithm names"),
        ((GRID, MAZE, 1000), r"maze must be 0\.\.999 \(train split\)"),
        ((TOKENS, {**MAZE, **PIECES}, 1000), r"--problem must be 0\.\.999, a problem of the training split, not 1000"),
        ((GRID, MAZE, None, 0), "--eval-problems must be at least 1"),
        ((GRID, {"sized": 5}), "MazeGrid-v0 cannot be made"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Arena(*arguments)
