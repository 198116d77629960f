"""The algorithms of MORL-Baselines train on a maze within their budget, silently, and twice the same."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("morl_baselines")

from agents.benchmarking.budget import StepBudget
from agents.benchmarking.contract import Unsuitable
from agents.benchmarking.environments import Arena
from agents.benchmarking.evaluation import returns_of
from vpo_envs.scalarization import sample_weights

SMALL = {"learning_starts": 50, "batch_size": 16, "net_arch": [16, 16]}
COMMANDS = {"num_er_episodes": 10, "num_model_updates": 2, "batch_size": 16}
# Name: options, and how many of 600 steps are used.
ALGORITHMS: dict[str, tuple[dict[str, Any], range]] = {
    "pcn": (COMMANDS, range(600, 601)),
    "lcn": (COMMANDS, range(600, 601)),
    "envelope": (SMALL, range(600, 601)),
    "gpi_ls": (SMALL | {"iterations": 3}, range(600, 601)),
    "pql": ({}, range(600, 601)),
    "mpmoq": ({"num_policies": 4}, range(590, 601)),
    "eupg": ({"num_weights": 4}, range(600, 601)),
    "morld": (SMALL | {"pop_size": 4, "rounds": 1}, range(600, 601)),
    "ipro": ({"referents": 3, "num_envs": 2, "num_steps": 16}, range(480, 601)),
    "nlmoppo": ({"num_weights": 3, "num_envs": 2, "num_steps": 16}, range(480, 601)),
}
MAZE = Arena("vpo/MazeGrid-v0", {"size": 5, "slack": 4}, problem=0)
TOKENS = Arena("vpo/TokenActions-v0", {"env_id": "vpo/Maze-v0", "size": 5, "slack": 4}, problem=0)
MAZES = Arena("vpo/MazeGrid-v0", {"size": 5, "slack": 4})


def trained(name: str, arena: Arena, steps: int, options: dict[str, Any]) -> tuple[int, np.ndarray]:
    """Steps used, and what each policy earns (n, 4)."""
    algorithm: Any = import_module(f"agents.benchmarking.algorithms.{name}")
    assert set(options) <= set(algorithm.DEFAULTS)
    budget = StepBudget(steps)
    weights = sample_weights(8, 4, sampler="sobol", rng=1)
    policies = algorithm.train(arena.setting(algorithm.OBSERVATION, budget, 3, 1.0, weights, options))
    assert 1 <= len(policies) <= 8
    env = arena.evaluation_env(algorithm.OBSERVATION)
    return budget.used, returns_of(policies, env, arena.problems, 1)[0]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_trains_within_its_budget_and_twice_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    options, used = ALGORITHMS[name]
    first = trained(name, MAZE, 600, options)
    second = trained(name, MAZE, 600, options)
    assert first[0] in used
    assert first[0] == second[0]
    np.testing.assert_array_equal(first[1], second[1])
    assert capsys.readouterr().out == ""
    assert list(tmp_path.iterdir()) == [], "files were written"


@pytest.mark.parametrize("name", ["pql", "mpmoq"])
@pytest.mark.parametrize("arena", [TOKENS, MAZES], ids=["tokens", "mazes"])
def test_a_table_needs_numbered_states(name: str, arena: Arena) -> None:
    with pytest.raises(Unsuitable, match=r"needs numbered states.*(use vpo/MazeGrid-v0|fix one with --problem 0)"):
        trained(name, arena, 600, {})


@pytest.fixture
def tiny(tmp_path: Path) -> Arena:
    """Three cells a side: gold one way, a diamond the other, and steps for only one of them."""
    path = tmp_path / "tiny.jsonl"
    path.write_text('{"grid": "S.G\\n.#.\\nD.E", "max_steps": 5}\n')
    return Arena("vpo/MazeGrid-v0", {"data": str(path)}, problem=0)


@pytest.mark.parametrize(("name", "options"), [("pql", {}), ("mpmoq", {}), ("pcn", {"num_er_episodes": 400})])
def test_finds_the_exact_front_of_a_tiny_maze(name: str, options: dict[str, Any], tiny: Arena) -> None:
    assert tiny.fronts is not None
    assert len(tiny.fronts[0]) == 2
    _, earned = trained(name, tiny, 4000, options)
    for vector in tiny.fronts[0]:
        assert np.abs(earned - vector).max(axis=1).min() < 1e-6, f"{vector} is missing in {earned}"


def test_backward_updates_bring_a_first_success_to_the_start() -> None:
    """Of the same 3,000 random steps, the library alone learns nothing about the start."""
    random_walk = {"initial_epsilon": 1.0, "final_epsilon": 1.0}
    _, alone = trained("pql", MAZE, 3000, random_walk | {"backward": False})
    _, backward = trained("pql", MAZE, 3000, random_walk)
    assert alone.max() == 0.0
    assert (backward[:, 0] == 1.0).all()
