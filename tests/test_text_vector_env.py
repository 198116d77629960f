"""TextVectorEnv is n single environments, faster: same prompts, same rewards, same infos."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from helpers import demonstrated_response

from vpo_envs.maze import MazeTask
from vpo_envs.registration import TEXT_TASKS

every_task = pytest.mark.parametrize("env_id", TEXT_TASKS)


def make_vec(env_id: str, num_envs: int, **kwargs: Any) -> Any:
    return gym.make_vec(env_id, num_envs=num_envs, **kwargs)


def assert_same_info(batched: Any, i: int, single: Any) -> None:
    """Entry i of every batched info is the single environment's info, and neither has anything that the other lacks."""
    assert set(batched) == set(single)
    for key, value in single.items():
        entry = batched[key][i]
        if isinstance(value, np.ndarray):
            assert entry.dtype == value.dtype, key
            np.testing.assert_array_equal(entry, value, err_msg=key)
        elif isinstance(value, tuple):
            assert tuple(entry) == value, key
        else:
            assert entry == value, key


@every_task
@pytest.mark.parametrize("num_answers", [1, 3])
def test_it_equals_single_environments(env_id: str, num_answers: int) -> None:
    seeds = [3, 3, 5, 8]
    envs = make_vec(env_id, 4, num_answers=num_answers)
    singles: list[Any] = [gym.make(env_id, num_answers=num_answers) for _ in seeds]
    task = envs.task
    for round_ in range(2):  # the second reset goes on with each sub-environment's own generator
        prompts, infos = envs.reset(seed=seeds if round_ == 0 else None)
        shown = [env.reset(seed=seed if round_ == 0 else None) for env, seed in zip(singles, seeds, strict=True)]
        assert prompts == tuple(prompt for prompt, _ in shown)
        assert prompts[0] == prompts[1] != prompts[2]
        for i, (_, info) in enumerate(shown):
            assert_same_info(infos, i, info)

        responses = [demonstrated_response(task, int(p), num_answers, i) for i, p in enumerate(infos["problem"])]
        responses[1] = "nothing to say"
        assert prompts in envs.observation_space
        assert tuple(responses) in envs.action_space
        observations, rewards, terminated, truncated, infos = envs.step(responses)
        assert observations == ("",) * 4
        assert terminated.all()
        assert not truncated.any()
        assert rewards.shape == (4, task.reward_dim)
        assert infos["rewards"].shape == (4, num_answers, task.reward_dim)
        for i, (env, response) in enumerate(zip(singles, responses, strict=True)):
            _, reward, _, _, info = env.step(response)
            np.testing.assert_array_equal(rewards[i], reward)
            # The single environment repeats in step what reset said.
            assert_same_info(infos, i, {key: info[key] for key in infos})


@every_task
def test_options_are_per_environment(env_id: str) -> None:
    envs = make_vec(env_id, 2)
    single: Any = gym.make(env_id)
    weights = np.ones((2, envs.reward_dim)) / envs.reward_dim
    weights[1] = np.eye(envs.reward_dim)[0]
    prompts, infos = envs.reset(options={"problem": [4, 4], "weights": weights})
    for i in range(2):
        prompt, info = single.reset(options={"problem": 4, "weights": weights[i]})
        assert prompts[i] == prompt
        assert_same_info(infos, i, info)
    assert prompts[0] != prompts[1]


def test_one_seed_counts_up_and_groups_share_a_prompt() -> None:
    envs = make_vec("vpo/Maze-v0", 4)
    assert envs.reset(seed=10)[0] == envs.reset(seed=[10, 11, 12, 13])[0]
    assert envs.reset(seed=np.repeat([5, 6], 2))[0][::2] == envs.reset(seed=[5, 5, 6, 6])[0][1::2]


def test_an_environment_without_a_seed_goes_on_with_its_own() -> None:
    envs = make_vec("vpo/Maze-v0", 2)
    envs.reset(seed=[1, 2])
    first = envs.reset(seed=[None, 2])[0]
    single: Any = gym.make("vpo/Maze-v0")
    single.reset(seed=1)
    assert first == (single.reset()[0], envs.reset(seed=[1, 2])[0][1])


def test_it_declares_itself() -> None:
    envs = make_vec("vpo/Maze-v0", 2)
    assert envs.metadata["autoreset_mode"] == AutoresetMode.DISABLED
    assert envs.spec.id == "vpo/Maze-v0"
    assert envs.reward_space.shape == (4,)


@pytest.mark.parametrize(
    ("reset", "message"),
    [
        ({"seed": [1, 2, 3]}, r"vpo/Maze-v0: seed needs one entry for each of 2 environments, not 3"),
        ({"options": {"problem": [1]}}, r"options\['problem'\] needs one entry for each of 2"),
        ({"options": {"problem": 1}}, r"options\['problem'\] needs one entry"),
        ({"options": {"problem": [0, 10**6]}}, r"options\['problem'\] must be 0\.\.999"),
        ({"options": {"weights": [[1, 1, 1, 1]]}}, r"options\['weights'\] needs one entry"),
        ({"options": {"weights": [[1, 1, 1, 1], [0, 0, 0, 0]]}}, r"options\['weights'\] needs 4 numbers"),
        ({"options": {"size": 5}}, "reset options are 'problem' and 'weights', not 'size'"),
    ],
)
def test_bad_resets(reset: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_vec("vpo/Maze-v0", 2).reset(**reset)


def test_bad_steps() -> None:
    envs = make_vec("vpo/Maze-v0", 2)
    with pytest.raises(gym.error.ResetNeeded, match="before step"):
        envs.step(["", ""])
    envs.reset(seed=0)
    with pytest.raises(TypeError, match="a list of 2 responses, not one string"):
        envs.step("UP")
    with pytest.raises(ValueError, match="actions needs one entry for each of 2 environments, not 1"):
        envs.step([""])
    with pytest.raises(TypeError, match=r"vpo/Maze-v0 \(environment 1\): an action is the response text"):
        envs.step(["", None])
    envs.step(["", "x" * 100_000])  # bad actions left the episodes open
    with pytest.raises(gym.error.ResetNeeded):
        envs.step(["", ""])


def test_only_the_long_action_is_marked_as_cut() -> None:
    envs = make_vec("vpo/Maze-v0", 2)
    envs.reset(seed=0)
    assert envs.step(["", "x" * 100_000])[4]["truncated_action"].tolist() == [False, True]


@pytest.mark.parametrize("num_envs", [0, -1, True, 2.0])
def test_a_bad_number_of_environments(num_envs: Any) -> None:
    with pytest.raises(ValueError, match="num_envs must be a whole number of at least 1"):
        make_vec("vpo/Maze-v0", num_envs)


def test_it_does_not_render() -> None:
    with pytest.raises(ValueError, match=r"does not render; use gym\.make"):
        make_vec("vpo/Maze-v0", 2, render_mode="ansi")


def test_environments_with_the_same_problem_have_messages_of_their_own() -> None:
    envs = make_vec("vpo/Maze-v0", 3)
    prompts, infos = envs.reset(options={"problem": [4, 4, 4]})
    infos["messages"][0][0]["content"] = "changed"
    infos["messages"][1].append({"role": "assistant", "content": "so"})
    assert infos["messages"][2] == [{"role": "user", "content": prompts[2]}]
    assert infos["messages"][1][0]["content"] == prompts[1]


@pytest.mark.parametrize("seed", [1.5, [1.5, 2], [0, 1.0], [0, "1"], [True, 1], [0, -1], -1, np.array([0.0, 1.0])])
def test_a_seed_that_is_no_whole_number_is_refused(seed: Any) -> None:
    with pytest.raises(ValueError, match=r"vpo/Maze-v0: (a seed is a whole number of at least 0|seed needs one entry)"):
        make_vec("vpo/Maze-v0", 2).reset(seed=seed)


@pytest.mark.parametrize(
    "reset",
    [{"seed": [0, 1.5]}, {"seed": [1]}, {"options": {"problem": [0, 10**6]}}, {"options": {"weights": 3}}],
)
def test_a_failed_reset_leaves_no_open_episodes(reset: dict[str, Any]) -> None:
    envs = make_vec("vpo/Maze-v0", 2)
    envs.reset(seed=0)
    with pytest.raises(ValueError, match="vpo/Maze-v0: "):
        envs.reset(**reset)
    with pytest.raises(gym.error.ResetNeeded):
        envs.step(["", ""])


def test_a_task_that_cannot_write_its_prompt_leaves_no_open_episodes(monkeypatch: pytest.MonkeyPatch) -> None:
    def speechless(*_: Any) -> Any:
        raise LookupError("no words")

    envs, env = make_vec("vpo/Maze-v0", 2), gym.make("vpo/Maze-v0", disable_env_checker=True)
    monkeypatch.setattr(MazeTask, "messages", speechless)
    for each, action in ((envs, ["", ""]), (env.unwrapped, "")):
        with pytest.raises(LookupError):
            each.reset(seed=0)
        with pytest.raises(gym.error.ResetNeeded):
            each.step(action)
