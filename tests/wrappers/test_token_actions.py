"""TokenActions: the answer to a text environment, written piece by piece."""

from __future__ import annotations

import pickle
from random import Random
from typing import Any

import gymnasium as gym
import mo_gymnasium
import numpy as np
import pytest
from adapter_helpers import TASKS, text_env, training_vocabulary
from gymnasium.utils.env_checker import check_env
from helpers import LinearReward, outputs_under_hash_seeds

from vpo_envs.answers import prompt_text
from vpo_envs.wrappers import MultiAnswer, TokenActions
from vpo_envs.wrappers.vocabulary import BEGIN, END, FIRST_ACTION, PADDING, Vocabulary

SMALL = {"size": 5, "slack": 4}
MOVES = ["UP ", "DOWN ", "LEFT ", "RIGHT "]


def write(env: gym.Env[Any, Any], actions: list[int]) -> tuple[list[np.ndarray], list[np.ndarray], str]:
    """Rewards and observations up to the end of the episode, and the answer that was written."""
    rewards, observations = [], []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        assert not truncated
        assert observation in env.observation_space
        rewards.append(reward)
        observations.append(observation)
        if terminated:
            return rewards, observations, info["answer"]
    raise AssertionError("the episode did not end")


@pytest.mark.parametrize("split", ["train", "test"])
@pytest.mark.parametrize("env_id", TASKS)
def test_a_demonstration_written_piece_by_piece_earns_what_its_text_earns(env_id: str, split: str) -> None:
    env = TokenActions(text_env(env_id, split=split), training_vocabulary(env_id))
    text = text_env(env_id, split=split)
    earned = []
    for problem in range(6):
        answer = env.task.demonstration(env.task[problem], Random(problem))
        env.reset(options={"problem": problem})
        rewards, _, written = write(env, env.encode(answer))
        text.reset(options={"problem": problem})
        expected = text.step(env.task.wrap(answer))[1]
        assert written == answer
        assert rewards[-1].dtype == np.float32
        assert np.array_equal(rewards[-1], expected)
        assert not any(r.any() for r in rewards[:-1])
        assert len(rewards) > 3
        earned.append(expected.sum())
    assert max(earned) > 0


@pytest.mark.parametrize("split", ["train", "test"])
@pytest.mark.parametrize("env_id", TASKS)
def test_every_demonstration_can_be_written_within_the_length(env_id: str, split: str) -> None:
    env = TokenActions(text_env(env_id, split=split), training_vocabulary(env_id))
    for problem in range(min(len(env.task), 60)):
        ids, slots = env.vocabulary.prompt_tokens(prompt_text(env.task.messages(env.task[problem])))
        answer = env.task.demonstration(env.task[problem], Random(1000 + problem))
        assert len(env.vocabulary.encode(answer, slots)) <= env.length
        assert len(ids) + 1 + env.length <= env.window or split == "test"


def test_names_that_only_the_prompt_knows_are_copied() -> None:
    env = TokenActions(text_env("vpo/ToolRL-v0"), training_vocabulary("vpo/ToolRL-v0"))
    first_slot = 1 + len(env.vocabulary.pieces)
    copied = 0
    for problem in range(20):
        _, info = env.reset(options={"problem": problem})
        _, slots = env.vocabulary.prompt_tokens(prompt_text(info["messages"]))
        actions = env.encode(env.task.demonstration(env.task[problem], Random(0)))
        masks = env.action_masks()
        assert masks[:first_slot].all()
        assert masks[actions].all()
        assert masks.sum() - first_slot == len(slots)
        copied += sum(a >= first_slot for a in actions)
    assert copied > 0


def test_an_empty_slot_writes_nothing_and_costs_a_step() -> None:
    vocabulary = Vocabulary(tuple(MOVES), copies=500)
    env = TokenActions(gym.make("vpo/Maze-v0", **SMALL), vocabulary, length=2, window=9)
    env.reset(seed=0)
    empty = int(np.flatnonzero(~env.action_masks())[0])
    assert env.step(empty)[4]["answer"] == ""
    _, _, terminated, _, info = env.step(1)
    assert terminated
    assert info["answer"] == "UP "


def test_with_the_four_moves_it_walks_the_maze() -> None:
    env = TokenActions(gym.make("vpo/Maze-v0", **SMALL), MOVES, length=14)
    assert env.action_space == gym.spaces.Discrete(5)
    text = gym.make("vpo/Maze-v0", **SMALL)
    rng = np.random.default_rng(0)
    arrived = 0
    for seed in range(300):
        _, info = env.reset(seed=seed)
        assert text.reset(seed=seed)[1]["problem"] == info["problem"]
        actions = [int(a) for a in rng.integers(1, 5, 14)]
        rewards, _, answer = write(env, actions)
        assert len(rewards) == 14  # the length ends it, without an end action
        assert np.array_equal(rewards[-1], text.step(f"<answer>{answer}</answer>")[1])
        assert answer == "".join(MOVES[a - 1] for a in actions)
        arrived += int(rewards[-1][0])
    assert arrived > 3


def test_observations_are_prompt_mark_answer_and_zeros() -> None:
    env = TokenActions(gym.make("vpo/Maze-v0", **SMALL), MOVES, length=6)
    first, info = env.reset(seed=3)
    ids, _ = env.vocabulary.prompt_tokens(info["messages"][0]["content"])
    assert first.dtype == np.int64
    assert first.tolist() == [*ids, BEGIN] + [PADDING] * 6
    words = {FIRST_ACTION + env.vocabulary.num_actions + i: w for i, w in enumerate(env.vocabulary.prompt_words)}
    grid = "".join(words[i] for i in ids if words.get(i, "?") in ".#GDLBSE")
    assert grid == "".join(env.task[info["problem"]].rows)
    env.step(2)
    second = env.step(4)[0]
    assert second.tolist() == [*ids, BEGIN, FIRST_ACTION + 2, FIRST_ACTION + 4] + [PADDING] * 4
    last = env.step(END)[0]
    assert last.tolist() == [*ids, BEGIN, *(FIRST_ACTION + a for a in (2, 4, END))] + [PADDING] * 3


def test_flattened_observations_are_one_hot() -> None:
    env = gym.wrappers.FlattenObservation(TokenActions(gym.make("vpo/Maze-v0", **SMALL), MOVES, length=6))
    ids, _ = env.env.reset(seed=3)
    observation, _ = env.reset(seed=3)
    assert isinstance(env.observation_space, gym.spaces.Box)
    assert np.array_equal(observation.reshape(len(ids), -1).argmax(axis=1), ids)
    assert observation.sum() == len(ids)


def test_a_window_keeps_the_last_tokens() -> None:
    wide = TokenActions(gym.make("vpo/Maze-v0", **SMALL), MOVES, length=6)
    narrow = TokenActions(gym.make("vpo/Maze-v0", **SMALL), MOVES, length=6, window=5)
    wide.reset(seed=3), narrow.reset(seed=3)
    for action in (1, 2, 3):
        one, other = wide.step(action)[0], narrow.step(action)[0]
        assert other.tolist() == one[one != PADDING][-5:].tolist()


def test_what_a_step_returns_is_nobody_elses() -> None:
    env = TokenActions(gym.make("vpo/Maze-v0", **SMALL), MOVES, length=6)
    first, _ = env.reset(seed=0)
    kept = first.copy()
    second, reward, *_ = env.step(1)
    second[:], reward[:] = 1, 7
    third, another, *_ = env.step(2)
    assert np.array_equal(first, kept)
    assert not another.any()
    assert third[-1] == PADDING
    assert np.array_equal(env.reset(seed=0)[0], kept)


def test_info_holds_no_solution() -> None:
    env = TokenActions(text_env("vpo/EUREQA-v0"), training_vocabulary("vpo/EUREQA-v0"))
    _, info = env.reset(seed=1)
    assert set(info) == {"problem", "messages", "num_answers", "answer"}
    assert info["answer"] == ""
    assert set(env.step(5)[4]) == set(env.step(END)[4]) == {"problem", "answer"}


def test_a_test_environment_gets_the_vocabulary_of_the_training_problems() -> None:
    train = TokenActions(gym.make("vpo/Maze-v0", **SMALL), samples=100)
    test = TokenActions(gym.make("vpo/Maze-v0", split="test", **SMALL), samples=100)
    assert test.vocabulary == train.vocabulary
    assert test.observation_space == train.observation_space
    bare = gym.make("vpo/Maze-v0", split="test").unwrapped
    bare.spec = None
    with pytest.raises(ValueError, match=r"vocabulary=TokenActions\(training_env\).vocabulary"):
        TokenActions(bare)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"vocabulary": MOVES}, ValueError, "give length"),
        ({"vocabulary": []}, ValueError, "different, non-empty texts"),
        ({"vocabulary": "UP"}, ValueError, "different, non-empty texts"),
        ({"vocabulary": ["UP", "UP"]}, ValueError, "different, non-empty texts"),
        ({"vocabulary": MOVES, "length": 0}, ValueError, "TokenActions: length must be a whole number of at least 1"),
        ({"vocabulary": MOVES, "length": 3, "window": 0}, ValueError, "TokenActions: window must be"),
        ({"vocabulary": Vocabulary(("a",)), "length": 3, "spell": True}, TypeError, "still to be made"),
        ({"common": 0}, ValueError, "common must be a share"),
        ({"samples": 0}, ValueError, "samples must be"),
        ({"samples": 30, "copies": -1}, ValueError, "copies must be"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        TokenActions(gym.make("vpo/Maze-v0", **SMALL), **arguments)


def test_environments_it_cannot_wrap() -> None:
    for env in (
        gym.make("vpo/MazeGrid-v0"),
        LinearReward(gym.make("vpo/Maze-v0")),
        MultiAnswer(gym.make("vpo/Maze-v0")),
    ):
        with pytest.raises(TypeError, match="TokenActions: needs a text environment"):
            TokenActions(env, MOVES, 5)
    with pytest.raises(ValueError, match="num_answers=1"):
        TokenActions(gym.make("vpo/Maze-v0", num_answers=3), MOVES, 5)


def test_bad_actions_and_closed_episodes() -> None:
    env = TokenActions(gym.make("vpo/Maze-v0", **SMALL), MOVES, length=6)
    with pytest.raises(gym.error.ResetNeeded):
        env.step(0)
    env.reset(seed=0)
    for action, error in ((5, ValueError), (-1, ValueError), ("UP", TypeError), (1.0, TypeError)):
        with pytest.raises(error, match="TokenActions: an action is"):
            env.step(action)  # type: ignore[arg-type]
    assert env.step(np.int64(2))[4]["answer"] == "DOWN "
    env.step(END)
    with pytest.raises(gym.error.ResetNeeded):
        env.step(1)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="'problem'"):
        env.reset(options={"problem": -1})
    with pytest.raises(gym.error.ResetNeeded):
        env.step(1)


@pytest.mark.filterwarnings("error", "ignore:.*different from the unwrapped version")
def test_gymnasiums_checker_is_satisfied() -> None:
    env = mo_gymnasium.make("vpo/TokenActions-v0", env_id="vpo/Maze-v0", render_mode="ansi", samples=50, **SMALL)
    check_env(LinearReward(env))


def test_the_id_makes_what_the_class_makes() -> None:
    made = gym.make("vpo/TokenActions-v0", env_id="vpo/Maze-v0", vocabulary=MOVES, length=9, **SMALL)
    built = TokenActions(gym.make("vpo/Maze-v0", **SMALL), MOVES, 9)
    assert made.observation_space == built.observation_space
    assert np.array_equal(made.reset(seed=4)[0], built.reset(seed=4)[0])
    assert made.get_wrapper_attr("reward_dim") == made.unwrapped.reward_dim == 4  # type: ignore[attr-defined]
    again = gym.make(made.spec)
    assert np.array_equal(again.reset(seed=4)[0], built.reset(seed=4)[0])


def test_a_pickled_environment_goes_on_where_it_was() -> None:
    env = TokenActions(gym.make("vpo/Maze-v0", **SMALL), MOVES, length=6)
    env.reset(seed=1)
    env.step(1)
    copy = pickle.loads(pickle.dumps(env))
    for action in (2, 4, END):
        one, other = env.step(action), copy.step(action)
        assert np.array_equal(one[0], other[0])
        assert np.array_equal(one[1], other[1])
        assert one[2:] == other[2:]
    assert np.array_equal(env.reset()[0], copy.reset()[0])
    assert len(pickle.dumps(env)) < 1 << 20


def test_rendering_shows_the_answer() -> None:
    env = TokenActions(gym.make("vpo/Maze-v0", render_mode="ansi", **SMALL), MOVES, length=6)
    env.reset(seed=0)
    write(env, [1, END])
    assert "route 1" in env.render()


IN_ANOTHER_PROCESS = """
import sys, hashlib
from random import Random
from adapter_helpers import text_env
from vpo_envs.wrappers import TokenActions
for env_id in sys.argv[1:]:
    env = TokenActions(text_env(env_id), samples=60)
    print(env.vocabulary.pieces, env.vocabulary.prompt_words, env.vocabulary.copies, env.length, env.window)
    for seed in range(3):
        observation, info = env.reset(seed=seed)
        problem = info["problem"]
        actions = env.encode(env.task.demonstration(env.task[problem], Random(0)))
        print(problem, hashlib.sha256(observation.tobytes()).hexdigest(), actions, env.step(actions[0])[0].sum())
"""


def test_processes_with_different_hash_seeds_agree() -> None:
    one, other = outputs_under_hash_seeds(IN_ANOTHER_PROCESS, "vpo/Maze-v0", "vpo/EUREQA-v0")
    assert one == other
    assert one.count("\n") == 8
