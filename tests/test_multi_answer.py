"""MultiAnswer over environments that know nothing of this package."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import mo_gymnasium as mo_gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from helpers import LinearReward, demonstrated_response
from mo_gymnasium.wrappers.vector import MOSyncVectorEnv

from vpo_envs.wrappers import MultiAnswer

PRINTABLE = "".join(map(chr, range(32, 127)))


class HigherLower(gym.Env):
    """Guess a number from 0 to 9. Plain Gymnasium; rewards are (closeness in [0, 1], minus the guess in [-9, 0])."""

    metadata = gym.Env.metadata

    def __init__(self, bounty: float = 0.0, scalar: bool = False) -> None:
        self.observation_space = spaces.Text(200, charset=PRINTABLE)
        self.action_space = spaces.Text(50, charset=PRINTABLE)
        if not scalar:
            self.reward_space = spaces.Box(np.float32([0, -9]), np.float32([1, 0]), dtype=np.float32)
        self.bounty, self.scalar = bounty, scalar

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self.number = int(self.np_random.integers((options or {}).get("below", 10)))
        return f"A number near {self.number - self.number % 3}?", {"difficulty": 3}

    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        guess = int(action) if action.strip().isdigit() else 9
        closeness = 1 - abs(guess - self.number) / 9 + self.bounty
        reward: Any = closeness if self.scalar else np.array([closeness, -guess], np.float32)
        # The noise shows whether an answer really meets the episode of its own seed.
        return f"It was {self.number}", reward, True, False, {"noise": float(self.np_random.random())}


class ChatEnv(HigherLower):
    """The same, with chat messages of its own and a preference."""

    def __init__(self) -> None:
        super().__init__()
        self.reference_weights = np.array([3.0, 1.0])

    def reset(self, **kwargs: Any) -> tuple[str, dict[str, Any]]:
        text, info = super().reset(**kwargs)
        return text, info | {
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]
        }


class TwoTurns(HigherLower):
    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        observation, reward, _, _, info = super().step(action)
        return observation, reward, False, False, info


class Forgetful(HigherLower):
    """Ignores its seed."""

    calls = 0

    def reset(self, **kwargs: Any) -> tuple[str, dict[str, Any]]:
        self.calls += 1
        super().reset(**kwargs)
        return f"Call {self.calls}", {}


class Numbers(HigherLower):
    """Claims text and shows a number."""

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        return 7, {}


@pytest.fixture(autouse=True)
def _foreign_ids() -> Iterator[None]:
    classes = (HigherLower, ChatEnv, TwoTurns, Forgetful, Numbers)
    for cls in classes:
        gym.register(f"foreign/{cls.__name__}-v0", entry_point=cls, disable_env_checker=True)
    yield
    for cls in classes:
        del gym.registry[f"foreign/{cls.__name__}-v0"]


def make(name: str = "HigherLower", num_answers: int = 1, **kwargs: Any) -> Any:
    return MultiAnswer(gym.make(f"foreign/{name}-v0"), num_answers, **kwargs)


def tagged(*answers: str) -> str:
    return " ".join(f"<answer_{i}>{a}</answer_{i}>" for i, a in enumerate(answers, start=1))


def test_one_answer_is_the_environment_itself() -> None:
    env, plain = make(), gym.make("foreign/HigherLower-v0")
    prompt, info = env.reset(seed=4)
    assert prompt == plain.reset(seed=4)[0]
    assert info == {"difficulty": 3, "messages": [{"role": "user", "content": prompt}], "num_answers": 1}
    observation, reward, terminated, truncated, info = env.step(" 5 ")
    expected = plain.step(" 5 ")
    assert (observation, terminated, truncated) == (expected[0], True, False)
    np.testing.assert_array_equal(reward, expected[1])
    assert info["noise"] == expected[4]["noise"]
    assert info["answers"] == (" 5 ",)


def test_every_answer_meets_the_episode_of_the_same_seed() -> None:
    env, plain = make(num_answers=4), gym.make("foreign/HigherLower-v0")
    guesses = ["0", "3", "8", "nonsense"]
    for seed in range(5):
        prompt, info = env.reset(seed=seed)
        assert "<answer_1>" in prompt
        assert "</answer_4>" in prompt
        assert info["messages"] == [{"role": "user", "content": prompt}]
        _, reward, _, _, info = env.step("I think " + tagged(*guesses))
        rows = []
        for guess in guesses:
            plain.reset(seed=seed)
            rows.append(plain.step(guess))
        np.testing.assert_array_equal(info["rewards"], [row[1] for row in rows])
        best = int(np.argmax([np.mean(row[1]) for row in rows]))
        np.testing.assert_array_equal(reward, info["rewards"][best])
        assert info["noise"] == rows[best][4]["noise"]
        assert info["answered"].all()


def test_options_reach_every_episode() -> None:
    env = make(num_answers=2)
    env.reset(seed=0, options={"below": 1})  # the number is 0
    *_, info = env.step(tagged("0", "9"))
    np.testing.assert_array_equal(info["rewards"], [[1, 0], [0, -9]])


def test_absent_and_repeated_answers() -> None:
    env = make(num_answers=4)
    env.reset(seed=0, options={"below": 1})
    _, reward, _, _, info = env.step("<answer_2>9</answer_2> <answer_3> 9\n</answer_3> <answer_4>0")
    assert info["answered"].tolist() == [False, True, False, False]
    assert info["answers"] == (None, "9", None, None)
    np.testing.assert_array_equal(info["rewards"], [[0, 0], [0, -9], [0, 0], [0, 0]])
    assert reward.tolist() == [0, -9], "an absent row must not win over a given answer"


def test_no_answer_at_all_earns_the_lower_bound() -> None:
    env = make(num_answers=2)
    env.reset(seed=0)
    observation, reward, terminated, _, info = env.step("I do not know")
    assert (observation, terminated) == ("", True)
    assert reward.tolist() == env.no_answer_reward.tolist() == [0, -9]
    assert not info["answered"].any()
    assert reward in env.reward_space
    assert all(row in env.reward_space for row in info["rewards"])


def test_absent_rows_stay_inside_a_reward_space_without_zero() -> None:
    class Penalties(HigherLower):
        def __init__(self) -> None:
            super().__init__()
            self.reward_space = spaces.Box(np.float32([0.5, -9]), np.float32([1.5, -1]), dtype=np.float32)

    env: Any = MultiAnswer(Penalties(), 2)
    env.reset(seed=0)
    *_, info = env.step("")
    np.testing.assert_array_equal(info["rewards"], [[0.5, -9]] * 2)

    class Bottomless(HigherLower):
        def __init__(self) -> None:
            super().__init__()
            self.reward_space = spaces.Box(-np.inf, -1, (2,), np.float32)

    with pytest.raises(ValueError, match="no finite value for an answer that is absent"):
        MultiAnswer(Bottomless(), 2)


def test_messages_of_its_own_are_extended() -> None:
    env = make("ChatEnv", 3)
    prompt, info = env.reset(seed=1)
    assert [m["role"] for m in info["messages"]] == ["system", "user"]
    assert info["messages"][1]["content"] == prompt
    info["messages"][1]["content"] = "changed by the caller"
    *_, info = env.step(tagged("1", "2", "3"))
    assert info["messages"][1]["content"] == prompt
    assert (
        make("ChatEnv", 1).reset(seed=1)[1]["messages"][1]["content"] == gym.make("foreign/ChatEnv-v0").reset(seed=1)[0]
    )


def test_reference_weights_choose_the_winner() -> None:
    response = tagged("0", "9")
    for weights, winner in (([1, 0], [1, -9]), ([0, 1], [0, 0])):
        env = make(num_answers=2, reference_weights=weights)
        for seed in range(100):  # a problem whose number is 9
            env.reset(seed=seed)
            _, reward, _, _, info = env.step(response)
            if info["rewards"][1, 0] == 1:
                assert reward.tolist() == winner
                break
        else:
            pytest.fail("no number was 9")
    np.testing.assert_allclose(make("ChatEnv").reference_weights, [0.75, 0.25])
    np.testing.assert_allclose(make().reference_weights, [0.5, 0.5])


@pytest.mark.parametrize("weights", [[1], [1, -1], [0, 0], [1, np.nan], [[1, 1]]])
def test_bad_reference_weights(weights: Any) -> None:
    with pytest.raises(ValueError, match="foreign/HigherLower-v0: reference_weights needs 2 numbers"):
        make(reference_weights=weights)


@pytest.mark.parametrize("num_answers", [0, True, 1.5])
def test_bad_number_of_answers(num_answers: Any) -> None:
    with pytest.raises(ValueError, match="foreign/HigherLower-v0: num_answers must be"):
        make(num_answers=num_answers)


def test_resets_without_a_seed_are_new_and_follow_from_the_last_seed() -> None:
    def five(seed: int) -> list[str]:
        env = make()
        env.reset(seed=seed)
        return [env.reset()[0] for _ in range(5)]

    assert five(1) == five(1) != five(2)
    assert len(set(five(1))) > 1
    env = make(num_answers=2)
    env.reset()  # never seeded: the answers still meet one and the same problem
    *_, info = env.step(tagged("1", "2"))
    assert info["answered"].all()


def test_a_scalar_reward_is_one_objective() -> None:
    env: Any = MultiAnswer(gym.make("foreign/HigherLower-v0", scalar=True), 2)
    assert env.reward_dim == 1
    assert env.reward_space.shape == (1,)
    env.reset(seed=0, options={"below": 1})
    _, reward, _, _, info = env.step(tagged("9", "0"))
    np.testing.assert_allclose(info["rewards"], [[0], [1]])
    assert reward.tolist() == [1.0]
    env.reset(seed=0)
    assert env.step("")[1].tolist() == [0.0]


@pytest.mark.parametrize(
    ("bounty", "problem"),
    [(np.nan, "is not a number"), (5.0, r"lies outside reward_space, low \[ 0\., -9\.\], high \[1\., 0\.\]")],
)
def test_a_bad_reward_is_an_error(bounty: float, problem: str) -> None:
    env = MultiAnswer(gym.make("foreign/HigherLower-v0", bounty=bounty), 2)
    env.reset(seed=3)
    with pytest.raises(ValueError, match=rf"foreign/HigherLower-v0, seed 3: the reward \[.*\] {problem}"):
        env.step(tagged("0"))


def test_a_reward_of_the_wrong_length_is_an_error() -> None:
    env: Any = gym.make("foreign/HigherLower-v0")
    env.unwrapped.reward_space = spaces.Box(0, 1, (3,), np.float32)
    wrapped = MultiAnswer(env, 1)
    wrapped.reset(seed=0)
    with pytest.raises(ValueError, match=r"seed 0: the reward .* needs shape \(3,\)"):
        wrapped.step("1")


def test_environments_that_cannot_be_answered_this_way() -> None:
    with pytest.raises(TypeError, match="CartPole-v1: MultiAnswer needs an environment with text observations"):
        MultiAnswer(gym.make("CartPole-v1"), 2)
    with pytest.raises(TypeError, match="foreign/Numbers-v0: MultiAnswer needs text observations, not int"):
        make("Numbers").reset(seed=0)
    env = make("TwoTurns")
    env.reset(seed=0)
    with pytest.raises(RuntimeError, match="foreign/TwoTurns-v0: the episode goes on after one step"):
        env.step("1")
    env = make("Forgetful")
    env.reset(seed=0)
    with pytest.raises(RuntimeError, match=r"foreign/Forgetful-v0: reset\(seed=0\) showed two different prompts"):
        env.step("1")


def test_bad_actions() -> None:
    env = make()
    with pytest.raises(gym.error.ResetNeeded, match="foreign/HigherLower-v0"):
        env.step("1")
    env.reset(seed=0)
    with pytest.raises(TypeError, match="foreign/HigherLower-v0: an action is the response text"):
        env.step(3)
    *_, info = env.step("1" + " " * 100_000)
    assert info["truncated_action"]
    with pytest.raises(gym.error.ResetNeeded):
        env.step("1")


def test_it_passes_check_env_and_pickles() -> None:
    env = LinearReward(make(num_answers=2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=r".*different from the unwrapped version")
        check_env(env)
    copy = pickle.loads(pickle.dumps(make(num_answers=2)))
    assert copy.reset(seed=5)[0] == make(num_answers=2).reset(seed=5)[0]


def test_the_spec_rebuilds_it() -> None:
    env = make(num_answers=3, answer_tag="guess", noun="guesses")
    again: Any = gym.make(env.spec)
    assert isinstance(again, MultiAnswer)
    assert again.reset(seed=1)[0] == env.reset(seed=1)[0]
    assert "<guess_3>" in env.reset(seed=1)[0]


@pytest.mark.parametrize("scalar", [False, True])
def test_in_the_vector_environment_of_mo_gymnasium(scalar: bool) -> None:
    n, m = 4, 3

    def one() -> gym.Env:
        return MultiAnswer(mo_gym.make("foreign/HigherLower-v0", scalar=scalar), m)

    envs = MOSyncVectorEnv([one] * n)
    k = envs.reward_space.shape[0]
    assert k == (1 if scalar else 2)
    single = one()
    for seeds in ([1, 1, 2, 2], [5, 6, 7, 8]):  # a reset right after every step, as a training loop does
        prompts, infos = envs.reset(seed=seeds)
        assert (prompts[0] == prompts[1]) == (seeds[0] == seeds[1])
        assert [m[0]["content"] for m in infos["messages"]] == list(prompts)
        responses = (tagged("0", "4", "8"), tagged("9", "9", "5"), "none", tagged("7"))
        _, rewards, terminated, _, infos = envs.step(responses)
        assert terminated.all()
        assert rewards.shape == (n, k)
        assert infos["rewards"].shape == (n, m, k)
        assert infos["answered"].sum(axis=1).tolist() == [3, 2, 0, 1]
        for i, seed in enumerate(seeds):
            single.reset(seed=seed)
            _, reward, _, _, info = single.step(responses[i])
            np.testing.assert_array_equal(rewards[i], reward)
            np.testing.assert_array_equal(infos["rewards"][i], info["rewards"])


def test_over_our_own_environment_it_agrees_with_num_answers() -> None:
    ours: Any = gym.make("vpo/Maze-v0", num_answers=2)
    wrapped: Any = MultiAnswer(gym.make("vpo/Maze-v0"), 2)
    assert wrapped.objectives == ours.unwrapped.objectives
    for seed in range(3):
        _, info = ours.reset(seed=seed)
        assert wrapped.reset(seed=seed)[1]["problem"] == info["problem"]
        task = ours.unwrapped.task
        response = demonstrated_response(task, info["problem"], 2)
        answers = [a or "" for a in ours.step(response)[4]["answers"]]
        ours.reset(seed=seed)
        *_, native = ours.step(response)
        *_, outer = wrapped.step(tagged(*map(task.wrap, answers)))
        np.testing.assert_array_equal(outer["rewards"], native["rewards"])


def test_a_wrapper_that_takes_the_vector_away_belongs_outside() -> None:
    env = gym.make("foreign/HigherLower-v0")
    complaint = r"foreign/HigherLower-v0: MultiAnswer needs the reward vector .* use LinearReward\(MultiAnswer\(env\)\)"
    with pytest.raises(TypeError, match=complaint):
        MultiAnswer(mo_gym.wrappers.LinearReward(env), 2)
    with pytest.raises(TypeError, match=complaint):
        MultiAnswer(LinearReward(env), 2)  # a subclass
    outside = mo_gym.wrappers.LinearReward(MultiAnswer(env, 2), np.array([1.0, 0.0]))
    outside.reset(seed=0, options={"below": 1})
    assert outside.step(tagged("0", "9"))[1] == 1.0


class FirstOnly(gym.RewardWrapper):
    """Leaves one of two objectives and says so."""

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        self.reward_space = spaces.Box(0, 1, (1,), np.float32)

    def reward(self, reward: Any) -> Any:
        return reward[0]


def test_the_reward_space_of_the_outermost_wrapper_counts() -> None:
    plain = gym.make("foreign/HigherLower-v0")
    plain.unwrapped.objectives = ("closeness", "smallness")  # type: ignore[attr-defined]
    before = plain.unwrapped.reward_space  # type: ignore[attr-defined]
    env = MultiAnswer(FirstOnly(plain), 2)
    assert env.reward_space.shape == (1,)
    assert len(env.objectives) == 1
    env.reset(seed=0, options={"below": 1})
    assert env.step(tagged("0", "9"))[4]["rewards"].tolist() == [[1.0], [0.0]]
    assert plain.unwrapped.reward_space is before  # type: ignore[attr-defined]


def test_bad_seeds_and_failed_resets() -> None:
    env = make(num_answers=np.int64(2))
    env.reset(seed=np.int64(1))
    for seed in (1.5, "1", -1, True):
        with pytest.raises(ValueError, match="foreign/HigherLower-v0: a seed is a whole number of at least 0"):
            env.reset(seed=seed)
        with pytest.raises(gym.error.ResetNeeded):
            env.step("")
