"""MultiAnswer: any single-turn text environment, answered m times per response."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from vpo_envs.answers import answer_spans, ask_for_answers, check_num_answers, check_seed, split_response
from vpo_envs.spaces import UnicodeText
from vpo_envs.task import Message, Objective
from vpo_envs.text_env import MAX_ACTION_LENGTH, check_action


class _PlainAnswers:
    """How answers are read: the whole response when there is one, else the inside of `<TAG_1>`, `<TAG_2>` ..."""

    def __init__(self, answer_tag: str) -> None:
        self.answer_tag = answer_tag

    def extract(self, response: str) -> str | None:
        return response

    def wrap(self, answer: str) -> str:
        return answer

    def is_answer(self, answer: str) -> bool:
        return True

    def normalise(self, answer: str) -> str:
        return answer.strip()


class MultiAnswer(gym.Wrapper[str, str, Any, Any], gym.utils.RecordConstructorArgs):
    """Asks any single-turn text environment for m answers at once and scores each in an episode of its own.

    ## Description
    `reset` remembers the seed, shows the environment's prompt and, for m > 1, adds the request for m answers in
    numbered tags. `step` splits the response; for every answer the environment is reset with the remembered seed and
    options and stepped once. The environment needs nothing of this package: a text observation, a text action, an
    episode of one step that follows from the seed, and a scalar reward or an MO-Gymnasium vector with its
    `reward_space`. Of the wrappers around it the outermost that declares a `reward_space` counts. One that turns the
    vector into a number, like `LinearReward`, belongs around MultiAnswer. An environment without a `reward_space` is
    given one, k = 1 without bounds: MO-Gymnasium's `MOSyncVectorEnv` and `LinearReward` look for it there.

    ## Observation Space
    `UnicodeText`: the prompt; after `step` the environment's observation for the winning answer.

    ## Action Space
    `UnicodeText(65536)`: the response. For m = 1 all of it is the action, else the inside of `<answer_1>` to
    `<answer_m>`. Longer text is cut and `info["truncated_action"]` is True.

    ## Rewards
    float32 (k,), the row of `info["rewards"]` (m, k) that wins under `reference_weights`; a scalar reward is k = 1.
    Absent and repeated answers have `info["answered"]` False and, so that the table stays inside `reward_space`, a row
    of zeros, or of the lower bound in components where 0 is out of bounds. A response without any answer earns
    `no_answer_reward`: the lower bound of `reward_space` where there is one, else 0.

    ## Info
    The environment's own (after `step`: for the winning answer), and `messages` (its own or one made of the
    observation, with the request added), `num_answers`; after `step` also `rewards`, `answered` bool (m,), `answers`
    (m texts or None), `truncated_action`. A response without an answer has no info of the environment's.

    ## Arguments
    * `num_answers`: m, 1 or more.
    * `reference_weights`: (k,), default the environment's own `reference_weights`, else equal.
    * `answer_tag`: name of the numbered tags. `noun`: what the answers are called in the request.

    ## Errors
    TypeError for observation or action spaces that are not text, a `LinearReward` inside, a prompt that is not a
    string, an action that is not; ValueError for bad arguments, and for a reward that is NaN, has the wrong shape or
    lies outside `reward_space` (naming id, seed and value); RuntimeError for an episode that does not end after one
    step, or that shows another prompt when reset with the same seed.

    ## Version History
    v0: first version.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        num_answers: int = 1,
        reference_weights: ArrayLike | None = None,
        answer_tag: str = "answer",
        noun: str = "answers",
    ) -> None:
        gym.utils.RecordConstructorArgs.__init__(
            self, num_answers=num_answers, reference_weights=reference_weights, answer_tag=answer_tag, noun=noun
        )
        gym.Wrapper.__init__(self, env)
        self.num_answers = check_num_answers(num_answers, self._name)
        for what, space in (("observations", env.observation_space), ("actions", env.action_space)):
            if isinstance(space, spaces.Box | spaces.Discrete | spaces.Dict | spaces.Tuple):
                raise TypeError(f"{self._name}: MultiAnswer needs an environment with text {what}, not {space}")
        self.noun = noun
        self.observation_space = UnicodeText()
        self.action_space = UnicodeText(MAX_ACTION_LENGTH)
        self._reading = _PlainAnswers(answer_tag)

        space = _declared_reward_space(env, self._name)
        inner: Any = env.unwrapped
        if not hasattr(inner, "reward_space"):
            # MO-Gymnasium reads the space from the innermost environment and from nowhere else: MOSyncVectorEnv to
            # make room for the rewards, LinearReward for its weights.
            inner.reward_space = space
        if not isinstance(space, spaces.Box) or len(space.shape) != 1:
            raise TypeError(f"{self._name}: reward_space must be a Box of shape (k,), not {space}")
        self.reward_space = space
        self.reward_dim = space.shape[0]
        named = getattr(inner, "objectives", ())
        unnamed = tuple(Objective(f"objective_{i + 1}", "") for i in range(self.reward_dim))
        self.objectives = named if len(named) == self.reward_dim else unnamed
        self.reference_weights = self._check_reference(
            getattr(inner, "reference_weights", None) if reference_weights is None else reference_weights
        )
        low, high = space.low.astype(np.float32), space.high.astype(np.float32)
        if not np.isfinite(low[high < 0]).all():
            raise ValueError(f"{self._name}: reward_space {space} has no finite value for an answer that is absent")
        self.no_answer_reward: NDArray[np.float32] = np.where(np.isfinite(low), low, 0.0).astype(np.float32)
        """float32 (k,), what a response without any answer earns."""
        self._absent_row = np.where((low <= 0) & (high >= 0), 0.0, low).astype(np.float32)
        self._seeds: np.random.Generator | None = None
        self._seed: int | None = None
        self._options: dict[str, Any] | None = None
        self._observation = ""
        self._messages: list[Message] = []
        self._open = False

    @property
    def _name(self) -> str:
        return self.env.spec.id if self.env.spec is not None else type(self.env.unwrapped).__name__

    def _check_reference(self, weights: ArrayLike | None) -> NDArray[np.float64]:
        if weights is None:
            return np.full(self.reward_dim, 1.0 / self.reward_dim)
        w = np.asarray(weights, np.float64)
        if w.shape != (self.reward_dim,) or not np.isfinite(w).all() or (w < 0).any() or w.sum() <= 0:
            raise ValueError(f"{self._name}: reference_weights needs {self.reward_dim} numbers >= 0, not {weights!r}")
        return w / w.sum()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Show a prompt. Without a seed one is drawn, from the last given seed if there was one.

        Raises:
            TypeError: the environment's observation is not a string.
            ValueError: the seed is not a whole number of at least 0.
        """
        self._open = False
        if seed is not None:
            seed = check_seed(seed, self._name)
        if seed is not None or self._seeds is None:
            self._seeds = np.random.default_rng(seed)
        self._seed = int(self._seeds.integers(2**31)) if seed is None else seed
        self._options = options
        self._observation, info = self._fresh_episode()
        self._messages = self._ask(info)
        self._open = True
        prompt = self._observation
        if self.num_answers > 1:
            prompt = f"{prompt}\n\n{self._request}"
        return prompt, dict(info) | {"messages": self._copied_messages(), "num_answers": self.num_answers}

    def _fresh_episode(self) -> tuple[str, dict[str, Any]]:
        options = None if self._options is None else dict(self._options)
        observation, info = self.env.reset(seed=self._seed, options=options)
        if not isinstance(observation, str):
            raise TypeError(f"{self._name}: MultiAnswer needs text observations, not {type(observation).__name__}")
        return str(observation), info

    @property
    def _request(self) -> str:
        return ask_for_answers(self._reading.answer_tag, self.num_answers, self.noun)

    def _ask(self, info: dict[str, Any]) -> list[Message]:
        messages = [dict(m) for m in info.get("messages") or [{"role": "user", "content": self._observation}]]
        if self.num_answers > 1:
            last = messages[-1]
            if last.get("role") == "user" and isinstance(last.get("content"), str):
                last["content"] = f"{last['content']}\n\n{self._request}"
            else:
                messages.append({"role": "user", "content": self._request})
        return messages

    def _copied_messages(self) -> list[Message]:
        return [dict(m) for m in self._messages]

    def step(self, action: str) -> tuple[str, NDArray[np.float32], bool, bool, dict[str, Any]]:
        """Score every answer in the response and end the episode. Errors: see the class.

        Raises:
            gymnasium.error.ResetNeeded: there is no open episode.
        """
        response, cut = check_action(action, self._name, MAX_ACTION_LENGTH)
        if not self._open:
            raise gym.error.ResetNeeded(f"{self._name}: call reset() before step(); an episode is one step")
        self._open = False
        answers = split_response(self._reading, response, self.num_answers)
        answered = np.array([a is not None for a in answers], bool)
        rewards = np.tile(self._absent_row, (self.num_answers, 1))
        outcomes: dict[int, tuple[Any, dict[str, Any]]] = {}  # observation and info of each answer
        for i, answer in enumerate(answers):
            if answer is not None:
                rewards[i], outcomes[i] = self._answer_once(answer)
        best = self.no_answer_reward.copy()
        observation: Any = ""
        info: dict[str, Any] = {}
        if outcomes:
            winner = int(np.where(answered, rewards @ self.reference_weights, -np.inf).argmax())
            best = rewards[winner].copy()
            observation, info = outcomes[winner]
        info = dict(info) | {
            "messages": self._copied_messages(),
            "num_answers": self.num_answers,
            "rewards": rewards,
            "answered": answered,
            "answers": tuple(answers),
            "truncated_action": cut,
        }
        return observation if isinstance(observation, str) else "", best, True, False, info

    def answer_spans(self, response: str) -> list[tuple[int, int] | None]:
        """Where the m answers of a response stand (`vpo_envs.answers.answer_spans`)."""
        return answer_spans(self._reading, response[:MAX_ACTION_LENGTH], self.num_answers)

    def _answer_once(self, answer: str) -> tuple[NDArray[np.float32], tuple[Any, dict[str, Any]]]:
        """One whole episode: the remembered problem, this answer."""
        observation, _ = self._fresh_episode()
        if observation != self._observation:
            raise RuntimeError(
                f"{self._name}: reset(seed={self._seed}) showed two different prompts; MultiAnswer needs an "
                "environment whose episode follows from its seed"
            )
        observation, reward, terminated, truncated, info = self.env.step(answer)
        if not (terminated or truncated):
            raise RuntimeError(
                f"{self._name}: the episode goes on after one step; MultiAnswer only answers single-turn environments"
            )
        return self._check_reward(reward), (observation, info)

    def _check_reward(self, reward: Any) -> NDArray[np.float32]:
        row = np.atleast_1d(np.asarray(reward, np.float32))
        low, high = self.reward_space.low, self.reward_space.high
        if row.shape != (self.reward_dim,):
            problem = f"needs shape ({self.reward_dim},)"
        elif np.isnan(row).any():
            problem = "is not a number"
        elif (row < low.astype(np.float32)).any() or (row > high.astype(np.float32)).any():
            problem = f"lies outside reward_space, low {_short(low)}, high {_short(high)}"
        else:
            return row
        raise ValueError(f"{self._name}, seed {self._seed}: the reward {_short(reward)} {problem}")


def _declared_reward_space(env: gym.Env[Any, Any], name: str) -> Any:
    """The reward space of the outermost wrapper, or of the environment, that declares one; else that of any number."""
    layer: Any = env
    while not hasattr(layer, "reward_space"):
        if not isinstance(layer, gym.Wrapper):
            return spaces.Box(-np.inf, np.inf, (1,), np.float32)
        # By name: importing MO-Gymnasium is not needed otherwise, and its own space is the only sign of what it does.
        if any(c.__name__ == "LinearReward" for c in type(layer).__mro__):
            raise TypeError(
                f"{name}: MultiAnswer needs the reward vector that LinearReward takes away; use "
                "LinearReward(MultiAnswer(env)), or declare a reward_space of shape (1,) on the wrapper"
            )
        layer = layer.env
    return layer.reward_space


def _short(values: Any) -> str:
    return np.array2string(np.asarray(values), threshold=20, separator=", ")
