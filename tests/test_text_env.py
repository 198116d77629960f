"""TextEnv: what reset shows, what step scores, and what bad input does. Over every task of the table."""

from __future__ import annotations

from random import Random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from helpers import demonstrated_response

from vpo_envs import TextEnv
from vpo_envs.registration import TEXT_TASKS
from vpo_envs.text_env import MAX_ACTION_LENGTH

every_task = pytest.mark.parametrize("env_id", TEXT_TASKS)
RESET_KEYS = {"problem", "messages", "num_answers", "weights", "objective_mask"}
STEP_KEYS = RESET_KEYS | {"rewards", "answered", "answers", "truncated_action", "verdicts", "stderr_tail"}


def base(env: gym.Env) -> Any:
    return env.unwrapped


@every_task
def test_an_episode(env_id: str) -> None:
    env = gym.make(env_id, num_answers=3)
    task = base(env).task
    prompt, info = env.reset(seed=0)
    assert prompt in env.observation_space
    assert prompt == "\n\n".join(m["content"] for m in info["messages"])
    assert info["num_answers"] == 3
    assert f"<{task.answer_tag}_3>" in prompt
    response = demonstrated_response(task, info["problem"], 3)
    observation, reward, terminated, truncated, info = env.step(response)
    assert (observation, terminated, truncated) == ("", True, False)
    assert info["rewards"].shape == (3, task.reward_dim)
    assert info["answered"].any()
    assert len(info["answers"]) == 3
    assert reward.dtype == np.float32
    assert reward in base(env).reward_space
    scalars = info["rewards"] @ task.reference_weights
    assert scalars.max() == pytest.approx(float(task.reference_weights @ reward))


@every_task
def test_info_never_contains_the_solution(env_id: str) -> None:
    env = gym.make(env_id)
    task = base(env).task
    for seed in range(5):
        _, info = env.reset(seed=seed)
        assert set(info) <= RESET_KEYS
        assert task.demonstration(task[info["problem"]], Random(0)) not in repr(info)
        *_, info = env.step("no answer in here")
        assert set(info) <= STEP_KEYS


@every_task
def test_reset_options(env_id: str) -> None:
    env = gym.make(env_id)
    task = base(env).task
    last = len(task) - 1
    prompt, info = env.reset(options={"problem": last})
    assert info["problem"] == last
    assert prompt == "\n\n".join(m["content"] for m in task.messages(task[last]))

    weights = np.arange(1, task.reward_dim + 1)
    weighted, info = env.reset(options={"problem": last, "weights": weights})
    assert weighted != prompt
    np.testing.assert_allclose(info["weights"], weights / weights.sum())
    assert "weights" not in env.reset(options={"problem": last})[1]


@every_task
@pytest.mark.parametrize("problem", [-1, 10**9, 1.0, True, "0", None])
def test_a_bad_problem_index(env_id: str, problem: Any) -> None:
    with pytest.raises(ValueError, match=rf"{env_id}: options\['problem'\] must be 0\.\.\d+"):
        gym.make(env_id).reset(options={"problem": problem})


@pytest.mark.parametrize("weights", [[1, 1, 1], [1, 1, 1, -1], [0, 0, 0, 0], [1, 1, 1, np.nan], [1, 1, 1, np.inf], 3])
def test_bad_weights(weights: Any) -> None:
    with pytest.raises(ValueError, match=r"options\['weights'\] needs 4 numbers >= 0 \(completion, gold"):
        gym.make("vpo/Maze-v0").reset(options={"weights": weights})


def test_an_unknown_option() -> None:
    with pytest.raises(ValueError, match="reset options are 'problem' and 'weights', not 'seed'"):
        gym.make("vpo/Maze-v0").reset(options={"seed": 3})


@pytest.mark.parametrize("num_answers", [0, -1, True, 1.5, "3", None, 1001])
def test_a_bad_number_of_answers(num_answers: Any) -> None:
    with pytest.raises(ValueError, match="num_answers must be a whole number from 1 to 1000"):
        gym.make("vpo/Maze-v0", num_answers=num_answers)
    with pytest.raises(ValueError, match="num_answers must be a whole number from 1 to 1000"):
        gym.make_vec("vpo/Maze-v0", num_envs=2, num_answers=num_answers)


@every_task
@pytest.mark.parametrize("action", [None, 3, b"text", ["text"], np.zeros(2)])
def test_an_action_that_is_not_text_names_the_id(env_id: str, action: Any) -> None:
    env = gym.make(env_id)
    env.reset(seed=0)
    with pytest.raises(TypeError, match=f"{env_id}: an action is the response text"):
        env.step(action)


@every_task
def test_a_text_that_is_too_long_is_scored_on_its_prefix(env_id: str) -> None:
    env = gym.make(env_id)
    task = base(env).task
    _, info = env.reset(seed=0)
    response = demonstrated_response(task, info["problem"])
    *_, whole = env.step(response)
    assert not whole["truncated_action"]

    env.reset(seed=0)
    *_, padded = env.step(response + " " * 100_000)
    assert padded["truncated_action"]
    np.testing.assert_array_equal(padded["rewards"], whole["rewards"])

    env.reset(seed=0)
    *_, lost = env.step("x " * 50_000 + response)  # the answer lies beyond the limit
    assert lost["truncated_action"]
    assert len("x " * 50_000) > MAX_ACTION_LENGTH
    assert not lost["answered"].any()


@every_task
def test_step_needs_an_open_episode(env_id: str) -> None:
    env = TextEnv(TEXT_TASKS[env_id])
    with pytest.raises(gym.error.ResetNeeded, match=r"call reset\(\) before step\(\)"):
        env.step("")
    env.reset(seed=0)
    env.step("")
    with pytest.raises(gym.error.ResetNeeded, match="an episode is one step"):
        env.step("")


def strange_responses(tag: str) -> list[str]:
    """Texts that a confused or truncated model writes; none of them holds an answer that could score."""
    return [
        "",
        " \n\t",
        "\x00\x01\x7f\ufffd\ud800 \u202e",
        "<answer>",
        "</answer>",
        f"<{tag}_1>",
        f"</{tag}_1><{tag}_1>",
        "<answer><answer><answer>",
        f"<{tag}_1><{tag}_2></{tag}_1></{tag}_2>",
        f"<{tag}_99999999999></{tag}_99999999999>",
        f"<{tag}_0>x</{tag}_0>",
        "<" * 1000,
        "{}[]()\\\"'%s%n${}",
    ]


@every_task
@pytest.mark.parametrize("num_answers", [1, 2])
def test_strange_responses_never_raise(env_id: str, num_answers: int) -> None:
    env = gym.make(env_id, num_answers=num_answers)
    for response in strange_responses(base(env).task.answer_tag):
        env.reset(seed=0)
        _, reward, _, _, info = env.step(response)
        assert reward in base(env).reward_space
        np.testing.assert_array_equal(info["rewards"][~info["answered"]], 0.0)
        if num_answers == 2:
            assert not info["answered"].any(), response
            assert not reward.any(), response


@every_task
def test_the_same_answer_counts_once(env_id: str) -> None:
    env = gym.make(env_id, num_answers=2)
    task = base(env).task
    _, info = env.reset(seed=0)
    answer = task.demonstration(task[info["problem"]], Random(0))
    tag = task.answer_tag
    *_, info = env.step(f"<{tag}_1>{answer}</{tag}_1><{tag}_2>\n{answer} </{tag}_2>")
    assert info["answered"].tolist() == [True, False]
    assert info["answers"][1] is None
    np.testing.assert_array_equal(info["rewards"][1], 0.0)


def test_returned_arrays_are_the_callers_own() -> None:
    env = gym.make("vpo/Maze-v0", num_answers=2, render_mode="ansi")
    _, info = env.reset(seed=0)
    response = demonstrated_response(base(env).task, info["problem"], 2)
    _, reward, _, _, info = env.step(response)
    before = env.render()
    reward[:] = -1
    info["rewards"][:] = -1
    info["messages"][0]["content"] = "changed"
    assert env.render() == before
    assert env.reset(seed=0)[1]["messages"][0]["content"] != "changed"


@every_task
def test_ansi_rendering_shows_the_problem_and_then_the_answer(env_id: str) -> None:
    env = gym.make(env_id, render_mode="ansi")
    _, info = env.reset(seed=0)
    asked = env.render()
    assert isinstance(asked, str)
    assert asked
    env.step(demonstrated_response(base(env).task, info["problem"]))
    assert env.render() != asked
    with pytest.raises(ValueError, match="render_mode must be one of"):
        TextEnv(TEXT_TASKS[env_id], render_mode="human")


def test_errors_of_a_badly_named_task() -> None:
    with pytest.raises(ValueError, match='"module:Class"'):
        TextEnv("vpo_envs.maze.task")
    with pytest.raises(ImportError, match="no 'Nothing' in module"):
        TextEnv("vpo_envs.maze.task:Nothing")
    with pytest.raises(TypeError, match=r"is not a vpo_envs\.Task"):
        TextEnv("builtins:dict")
    task = TextEnv("vpo_envs.maze.task:MazeTask").task
    with pytest.raises(TypeError, match=r"\['size'\]: arguments for a task that is already built"):
        TextEnv(task, size=5)
    assert TextEnv(task).task is task


@pytest.mark.parametrize("seed", [1.5, 1.0, "1", True, -1])
def test_a_bad_seed(seed: Any) -> None:
    with pytest.raises(ValueError, match="vpo/Maze-v0: a seed is a whole number of at least 0, not"):
        gym.make("vpo/Maze-v0").reset(seed=seed)


@pytest.mark.parametrize("reset", [{"seed": 1.5}, {"options": {"problem": -1}}, {"options": {"weights": 3}}])
def test_a_failed_reset_leaves_no_open_episode(reset: dict[str, Any]) -> None:
    env = TextEnv("vpo_envs.maze.task:MazeTask", render_mode="ansi")
    env.reset(seed=0)
    with pytest.raises(ValueError, match="MazeTask: "):
        env.reset(**reset)
    assert env.render() is None
    with pytest.raises(gym.error.ResetNeeded):
        env.step("")


def test_numpys_whole_numbers_are_whole_numbers() -> None:
    env: Any = gym.make("vpo/Maze-v0", num_answers=np.int64(2))
    assert env.reset(seed=np.int64(3))[0] == gym.make("vpo/Maze-v0", num_answers=2).reset(seed=3)[0]
    assert type(env.unwrapped.num_answers) is int
    assert gym.make_vec("vpo/Maze-v0", num_envs=1, num_answers=np.int64(2)).num_answers == 2  # type: ignore[attr-defined]
