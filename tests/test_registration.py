"""Every id in the table keeps the promises that Gymnasium, MO-Gymnasium and a group of rollouts rely on."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import warnings
from typing import Any

import gymnasium as gym
import mo_gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from helpers import LinearReward, demonstrated_response, outputs_under_hash_seeds

import vpo_envs
from vpo_envs import Objective, Task
from vpo_envs.registration import OTHERS, TEXT_TASKS, make_task, register_task, spec_of, suggest

every_task = pytest.mark.parametrize("env_id", TEXT_TASKS)


class EchoTask(Task[str]):
    """Repeat the word. A task that a user might register."""

    objectives = (Objective("exact", "the word itself"), Objective("length", "as long as the word"))

    def __init__(self, split: Any = "train", data: str | None = None, words: tuple[str, ...] = ("ox", "cat")) -> None:
        super().__init__(split, data)
        self.words = words

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, index: int) -> str:
        return self.words[index]

    def messages(self, problem: str, num_answers: int = 1, weights: Any = None) -> list[dict[str, str]]:
        return [{"role": "user", "content": f"Say {problem}"}]

    def score(self, problem: str, answer: str) -> Any:
        return np.array([answer == problem, len(answer) == len(problem)], np.float32)


@every_task
def test_check_env_finds_nothing_to_complain_about(env_id: str) -> None:
    env = LinearReward(gym.make(env_id, num_answers=2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=r".*different from the unwrapped version")  # LinearReward is wanted
        check_env(env)


@every_task
def test_make_gives_no_warning(env_id: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        env = gym.make(env_id)
        env.reset(seed=0)
        env.step("")
        env.close()
        gym.make_vec(env_id, num_envs=2).close()
    assert not [str(warning.message) for warning in caught]


@every_task
def test_mo_gymnasium_makes_it(env_id: str) -> None:
    env = mo_gymnasium.make(env_id)
    env.reset(seed=0)
    _, reward, terminated, _, _ = env.step("")
    unwrapped: Any = env.unwrapped
    assert terminated
    assert reward.shape == unwrapped.reward_space.shape == (unwrapped.reward_dim,) == (len(unwrapped.objectives),)
    assert unwrapped.reference_weights.sum() == pytest.approx(1.0)


@every_task
def test_a_pickled_environment_goes_on_as_the_original(env_id: str) -> None:
    env = gym.make(env_id)
    env.reset(seed=7)
    copy = pickle.loads(pickle.dumps(env))
    assert copy.reset()[0] == env.reset()[0]  # both draw from the generator of seed 7
    assert len(pickle.dumps(env)) < 1 << 20


@every_task
def test_one_seed_is_one_prompt(env_id: str) -> None:
    a, b = gym.make(env_id), gym.make(env_id)
    b.reset(seed=99)  # what happened before does not matter
    b.step("")
    assert [a.reset(seed=s)[0] for s in range(4)] == [b.reset(seed=s)[0] for s in range(4)]
    assert len({a.reset(seed=s)[0] for s in range(20)}) > 10


IN_ANOTHER_PROCESS = """
import hashlib, json, sys
import gymnasium as gym
from helpers import demonstrated_response
import vpo_envs

seen = {}
for env_id in sys.argv[1:]:
    env = gym.make(env_id, num_answers=2)
    task = env.unwrapped.task
    rows = []
    for seed in range(3):
        prompt, info = env.reset(seed=seed)
        response = demonstrated_response(task, info["problem"], 2, seed)
        _, reward, _, _, info = env.step(response)
        rows.append([hashlib.sha256((prompt + response).encode()).hexdigest(), info["rewards"].tolist()])
    seen[env_id] = rows
print(json.dumps(seen))
"""


def test_processes_with_different_hash_seeds_agree() -> None:
    outputs = outputs_under_hash_seeds(IN_ANOTHER_PROCESS, *TEXT_TASKS)
    assert outputs[0] == outputs[1]
    rewards = {env_id: [row[1] for row in rows] for env_id, rows in json.loads(outputs[0]).items()}
    assert set(rewards) == set(TEXT_TASKS)
    assert all(np.sum(r) > 0 for r in rewards.values()), "demonstrations that score nothing compare nothing"


def test_importing_the_package_is_light() -> None:
    heavy = ["torch", "transformers", "vllm", "matplotlib", "scipy.stats", "moocore", "pandas"]
    code = f"import sys, vpo_envs; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@every_task
def test_make_task_is_the_task_of_the_environment(env_id: str) -> None:
    task = make_task(env_id, split="test")
    env = gym.make(env_id, split="test", num_answers=2)
    prompt, info = env.reset(seed=3)
    assert info["messages"] == task.messages(task[info["problem"]], 2)
    assert prompt


@pytest.mark.parametrize("typed", ["vpo/Maz-v0", "vpo/maze-v0", "Maze-v0", "maze", "vpo/Maze", "vpo/Maze-v1"])
def test_a_mistyped_id_is_answered_with_the_near_one(typed: str) -> None:
    assert suggest(typed)[0] == "vpo/Maze-v0"
    with pytest.raises(ValueError, match=r"did you mean vpo/Maze-v0"):
        spec_of(typed)
    with pytest.raises(ValueError, match=r"did you mean vpo/Maze-v0"):
        make_task(typed)


def test_gymnasium_itself_suggests_the_near_id() -> None:
    with pytest.raises(gym.error.NameNotFound, match="Maze"):
        gym.make("vpo/Maz-v0")


def test_spec_of_imports_a_named_module() -> None:
    assert spec_of("vpo_envs:vpo/Maze-v0") is spec_of("vpo/Maze-v0")
    with pytest.raises(ValueError, match="cannot import 'no_such_module'"):
        spec_of("no_such_module:vpo/Maze-v0")
    with pytest.raises(ValueError, match='"module:id"'):
        spec_of("xyz")
    assert suggest("xyz") == []


def test_make_task_refuses_environments_that_are_not_ours() -> None:
    for env_id in ["CartPole-v1", *OTHERS]:
        with pytest.raises(ValueError, match=r"no task of vpo_envs; these are: .*vpo/Maze-v0"):
            make_task(env_id)


def test_a_registered_task_runs_single_and_batched() -> None:
    register_task("test/Echo-v0", EchoTask, words=("owl",))
    try:
        env = gym.make("test/Echo-v0")
        assert env.reset(seed=0)[0] == "Say owl"
        assert env.step("<answer>owl</answer>")[1].tolist() == [1.0, 1.0]
        assert gym.make_vec("test/Echo-v0", num_envs=3, words=("elk",)).reset(seed=0)[0] == ("Say elk",) * 3
        assert make_task("test/Echo-v0").words == ("owl",)
        assert gym.spec("test/Echo-v0").to_json()
    finally:
        del gym.registry["test/Echo-v0"]


def test_register_task_refuses_what_cannot_be_found_again() -> None:
    class Local(EchoTask):
        pass

    for bad in (Local, "EchoTask"):
        with pytest.raises(ValueError, match="top level of a module"):
            register_task("test/Bad-v0", bad)
    assert "test/Bad-v0" not in gym.registry


def test_public_names_exist() -> None:
    assert all(hasattr(vpo_envs, name) for name in vpo_envs.__all__)


@every_task
def test_demonstrations_score(env_id: str) -> None:
    env = gym.make(env_id)
    task = env.unwrapped.task  # type: ignore[attr-defined]
    total = 0.0
    for seed in range(5):
        _, info = env.reset(seed=seed)
        total += float(np.sum(env.step(demonstrated_response(task, info["problem"]))[1]))
    assert total > 0
