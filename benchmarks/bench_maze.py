"""Speed of the maze on one core, beside a plain reference written in this file.

    python benchmarks/bench_maze.py [--size 9] [--seconds 1] [--json figures.json]

The reference is what one would write first: a regular expression for the moves, dictionaries for the grid, one answer
at a time. It gives the same rewards, which is checked before anything is timed. Ratios are taken within one run.
"""

from __future__ import annotations

import argparse
import json
import re
from functools import partial
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from timing import rate

import vpo_envs  # noqa: F401  registers the ids
from vpo_envs.answers import join_answers
from vpo_envs.maze import Maze, MazeTask
from vpo_envs.maze.generator import generate_maze
from vpo_envs.maze.grid_states import state_table

NUM_ENVS = 1024
STEPS = {"UP": (-1, 0), "DOWN": (1, 0), "LEFT": (0, -1), "RIGHT": (0, 1)}


def reference_score(maze: Maze, answer: str) -> NDArray[np.float32]:
    """The reward vector (4,) of an answer, written plainly."""
    tiles = {(r, c): tile for r, row in enumerate(maze.rows) for c, tile in enumerate(row)}
    cell = next(at for at, tile in tiles.items() if tile == "S")
    visited: set[tuple[int, int]] = set()
    for move in re.findall(r"\b(UP|DOWN|LEFT|RIGHT)\b", answer.upper())[: maze.max_steps]:
        there = (cell[0] + STEPS[move][0], cell[1] + STEPS[move][1])
        if tiles.get(there, "#") != "#":
            cell = there
        if tiles[cell] == "E":
            share = {t: _share(tiles, visited, t) for t in "GDL"}
            return np.array([1, share["G"], share["D"], 1 - share["L"]], np.float32)
        visited.add(cell)
    return np.zeros(4, np.float32)


def _share(tiles: dict[tuple[int, int], str], visited: set[tuple[int, int]], tile: str) -> float:
    cells = {at for at, t in tiles.items() if t == tile}
    return len(cells & visited) / len(cells)


def reference_step(problems: list[Maze], responses: list[str]) -> NDArray[np.float32]:
    """Rewards (n, 4) of n responses, one at a time."""
    rewards = []
    for maze, response in zip(problems, responses, strict=True):
        found = re.findall(r"<answer>(.*?)</answer>", response, re.IGNORECASE | re.DOTALL)
        rewards.append(reference_score(maze, found[-1]) if found else np.zeros(4, np.float32))
    return np.stack(rewards)


def measure(size: int, seconds: float) -> dict[str, float]:
    """All figures, by name."""
    task = MazeTask(size=size, num_problems=256)
    rng = Random(0)
    problems = [task[i % len(task)] for i in range(NUM_ENVS)]
    answers = [task.demonstration(maze, rng) for maze in problems]
    responses = [task.wrap(answer) for answer in answers]
    expected = reference_step(problems, responses)
    if not np.allclose(task.score_batch(problems, answers), expected):
        raise SystemExit("the reference and the task disagree; figures would mean nothing")

    figures: dict[str, float] = {}
    figures["score_batch answers/s"] = rate(lambda: task.score_batch(problems, answers), NUM_ENVS, seconds)
    plain = rate(lambda: [reference_score(m, a) for m, a in zip(problems, answers, strict=True)], NUM_ENVS, seconds)
    figures["score_batch / reference"] = figures["score_batch answers/s"] / plain

    for m in (1, 3):
        env = gym.make_vec("vpo/Maze-v0", num_envs=NUM_ENVS, size=size, num_problems=256, num_answers=m)
        texts = [join_answers(task, [task.demonstration(maze, rng) for _ in range(m)]) for maze in problems]
        figures[f"make_vec(num_answers={m}) steps/s"] = _vector_rate(env, texts, seconds)
    plain = rate(lambda: reference_step(problems, responses), NUM_ENVS, seconds)
    figures["make_vec(num_answers=1) / reference"] = figures["make_vec(num_answers=1) steps/s"] / plain

    figures |= grid_rates(size, seconds)
    fronts = rate(lambda: [task.pareto_front(maze) for maze in problems[:20]], 20, seconds)
    figures["pareto_front ms"] = 1e3 / fronts
    figures["new mazes/s"] = rate(lambda: [generate_maze(rng, size) for _ in range(20)], 20, seconds)
    return figures


def grid_rates(size: int, seconds: float) -> dict[str, float]:
    """Random walks step by step, for each kind of observation, single and batched."""
    moves = np.random.default_rng(0).integers(0, 4, 10_000).tolist()
    batches = np.random.default_rng(0).integers(0, 4, (64, NUM_ENVS))
    kinds: dict[str, dict[str, Any]] = {
        "planes": {"num_problems": 256},
        "planes, one maze": {"maze": 0},
        "state": {"maze": 0, "observation": "state"},
        "state_array": {"maze": 0, "observation": "state_array"},
    }
    figures = {}
    for name, kind in kinds.items():
        env = gym.make("vpo/MazeGrid-v0", size=size, **kind)
        figures[f"MazeGrid ({name}) steps/s"] = rate(partial(_walk, env, moves), len(moves), seconds)
    for name, kind in kinds.items():
        envs = gym.make_vec("vpo/MazeGrid-v0", num_envs=NUM_ENVS, size=size, **kind)
        envs.reset(options={"problem": [i % 256 if "maze" not in kind else 0 for i in range(NUM_ENVS)]})
        figures[f"make_vec MazeGrid ({name}) steps/s"] = rate(partial(_walk_all, envs, batches), batches.size, seconds)
    fixed = gym.make("vpo/MazeGrid-v0", size=size, maze=0).unwrapped
    fixed.pareto_front(0.99)
    figures["MazeGrid pareto_front, cached us"] = 1e6 / rate(lambda: fixed.pareto_front(0.99), 1, seconds)
    maze = fixed.task[0]
    figures["MazeGrid state table ms"] = 1e3 / rate(lambda: state_table(maze), 1, seconds)
    return figures


def _walk_all(envs: gym.vector.VectorEnv[Any, Any, Any], batches: NDArray[np.int64]) -> None:
    for moves in batches:
        envs.step(moves)


def _vector_rate(env: Any, texts: list[str], seconds: float) -> float:
    best, end = float("inf"), perf_counter() + seconds
    while best == float("inf") or perf_counter() < end:
        env.reset(options={"problem": [i % 256 for i in range(NUM_ENVS)]})
        begin = perf_counter()
        env.step(texts)
        best = min(best, perf_counter() - begin)
    return NUM_ENVS / best


def _walk(env: gym.Env[Any, Any], moves: list[int]) -> None:
    env.reset(seed=0)
    for move in moves:
        if env.step(move)[2]:
            env.reset()


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of the maze on one core.")
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each figure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    options = parser.parse_args()
    figures = measure(options.size, options.seconds)
    for name, value in figures.items():
        print(f"{name:46s} {value:12,.1f}")
    if options.json is not None:
        options.json.write_text(json.dumps({"size": options.size, "figures": figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
