"""TokenActions: a single-turn text environment as a token-by-token MDP with numeric spaces."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from operator import index
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker
from numpy.typing import NDArray

from vpo_envs.problem_lists import check_whole
from vpo_envs.task import Task
from vpo_envs.text_env import TextEnv, make_task
from vpo_envs.wrappers.vocabulary import BEGIN, END, FIRST_ACTION, Vocabulary, derive_vocabulary, given_vocabulary


class TokenActions(gym.Wrapper[NDArray[np.int64], int, str, str], gym.utils.RecordConstructorArgs):
    """Writes the answer to a text environment piece by piece, for algorithms with numeric spaces.

    ## Description
    An action appends a piece of text to the answer. The end action, or the `length`-th piece, ends the episode; then
    `Task.wrap` puts the answer into the task's format (`<answer>` for Maze) and the text environment scores it. All
    problems share one vocabulary. Names that stand only in one prompt are written by copy actions: slot j stands for
    the j-th distinct word of the prompt that has no id of its own (`Vocabulary`).

    ## Observation Space
    `MultiDiscrete([num_ids] * window)`: the last `window` token ids of prompt, begin mark and answer so far, then
    zeros. A line that all prompts share is one token. With the default window nothing is cut off (unless a prompt is
    longer than all that were looked at), so the process is Markov; with a smaller one it is not. Ids have no order,
    which a Box would claim. Stable-Baselines3 encodes a MultiDiscrete one-hot by itself; for MORL-Baselines, whose
    networks take the numbers as they are, `gymnasium.wrappers.FlattenObservation(env)` is the same one-hot as a Box.

    ## Action Space
    `Discrete(1 + pieces + copies)`.

    | action                | effect                                                                           |
    |-----------------------|----------------------------------------------------------------------------------|
    | 0                     | end of the answer                                                                |
    | 1 ... pieces          | append `vocabulary.pieces[action - 1]`                                           |
    | pieces + 1 ...        | append the word in that copy slot; an empty slot appends nothing and costs a step |

    `action_masks()` is False for empty slots, as sb3-contrib's MaskablePPO wants it.

    ## Rewards
    float32 (k,): zero until the episode ends, then the environment's own vector for the answer (`reward_space`,
    `reward_dim`, `objectives`, `reference_weights`).

    ## Starting State
    An empty answer to the problem that the text environment shows for the seed. Options are the text environment's.

    ## Info
    `problem` and `answer` (the text so far); after `reset` also all that the text environment says.

    ## Episode End
    `terminated` after the end action or `length` pieces.

    ## Arguments
    * `vocabulary`: a `Vocabulary` (of the training environment, say), a list of texts, or None: derived from the
      demonstrations of the training problems.
    * `length`: most pieces in an answer; default a quarter more than the longest demonstration takes. To be given with
      a list of texts.
    * `window`: default the longest prompt, one, and `length`.
    * `**options`: those of `derive_vocabulary` (`given_vocabulary` for a list): `copies`, `common`, `samples`, `spell`.

    ## Version History
    v0: first version.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        vocabulary: Vocabulary | Sequence[str] | None = None,
        length: int | None = None,
        window: int | None = None,
        **options: Any,
    ) -> None:
        """Errors: those of `single_answer_task`; ValueError for bad arguments."""
        gym.utils.RecordConstructorArgs.__init__(self, vocabulary=vocabulary, length=length, window=window, **options)
        gym.Wrapper.__init__(self, env)
        self.task = single_answer_task(env, "TokenActions")
        if not isinstance(vocabulary, Vocabulary):
            training = _training_task(env, self.task)
            vocabulary = (
                derive_vocabulary(training, **options)
                if vocabulary is None
                else given_vocabulary(vocabulary, training, **options)
            )
        elif options:
            raise TypeError(f"TokenActions: {sorted(options)} are for a vocabulary that is still to be made")
        self.vocabulary = vocabulary
        if length is None and not vocabulary.longest_answer:
            raise ValueError("TokenActions: give length, the most pieces in an answer; these pieces do not tell it")
        self.length = ceil(1.25 * vocabulary.longest_answer) if length is None else length
        self.window = vocabulary.longest_prompt + 1 + self.length if window is None else window
        check_whole("TokenActions: length", self.length, 1)
        check_whole("TokenActions: window", self.window, 1)
        self.observation_space = spaces.MultiDiscrete(np.full(self.window, vocabulary.num_ids))
        self.action_space = spaces.Discrete(vocabulary.num_actions)  # type: ignore[assignment]  # as in MazeGridEnv
        unwrapped: Any = env.unwrapped
        self.reward_space = unwrapped.reward_space
        self.reward_dim = unwrapped.reward_dim
        self.objectives = unwrapped.objectives
        self.reference_weights = unwrapped.reference_weights
        self._texts: list[str] = []  # what each action appends in this problem
        self._slots: tuple[str, ...] = ()
        self._ids = np.zeros(0, np.int64)  # prompt, begin mark, and room for the answer
        self._size = 0  # how many of them there are
        self._answer = ""
        self._left = 0  # pieces that may still be written
        self._problem = 0
        self._open = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int64], dict[str, Any]]:
        """Show the problem of the text environment, with an empty answer. Errors: those of the text environment."""
        self._open = False
        env: Any = self.env
        prompt, info = env.reset(seed=seed, options=options)
        ids, self._slots = self.vocabulary.prompt_tokens(prompt)
        empty = [""] * (self.vocabulary.copies - len(self._slots))
        self._texts = ["", *self.vocabulary.pieces, *self._slots, *empty]
        self._size = len(ids) + 1
        self._ids = np.array([*ids, BEGIN] + [0] * (self.length + 1), np.int64)
        self._answer, self._left, self._problem, self._open = "", self.length, info["problem"], True
        return self._observation(), info | {"answer": ""}

    def step(self, action: int) -> tuple[NDArray[np.int64], NDArray[np.float32], bool, bool, dict[str, Any]]:
        """Append a piece, or end the answer.

        Raises:
            TypeError: the action is not a whole number.
            ValueError: the action is outside the action space.
            gymnasium.error.ResetNeeded: there is no open episode.
        """
        action = checked_action(action, len(self._texts) or self.vocabulary.num_actions, "TokenActions")
        if not self._open:
            raise gym.error.ResetNeeded("TokenActions: call reset() before step(); the episode has ended")
        self._ids[self._size] = FIRST_ACTION + action
        self._size += 1
        self._answer += self._texts[action]
        self._left -= 1
        self._open = action != END and self._left > 0
        env: Any = self.env
        reward = np.zeros(self.reward_dim, np.float32) if self._open else env.step(self.task.wrap(self._answer))[1]
        info = {"problem": self._problem, "answer": self._answer}
        return self._observation(), reward, not self._open, False, info

    def _observation(self) -> NDArray[np.int64]:
        tail = self._ids[max(0, self._size - self.window) : self._size]
        observation = np.zeros(self.window, np.int64)
        observation[: len(tail)] = tail
        return observation

    def action_masks(self) -> NDArray[np.bool_]:
        """bool (number of actions,): False for copy slots that this problem does not fill."""
        masks = np.ones(self.vocabulary.num_actions, bool)
        masks[1 + len(self.vocabulary.pieces) + len(self._slots) :] = False
        return masks

    def encode(self, answer: str) -> list[int]:
        """The actions that write an answer to the problem at hand, the end action included.

        Raises:
            ValueError: the vocabulary cannot write it.
        """
        return [*self.vocabulary.encode(answer, self._slots), END]


def single_answer_task(env: gym.Env[Any, Any], wrapper: str) -> Task[Any]:
    """The task of a text environment that asks for one answer.

    Raises:
        TypeError: no text environment, or a wrapper around it that may change prompts, answers or rewards.
        ValueError: it asks for several answers.
    """
    inner = env
    while isinstance(inner, OrderEnforcing | PassiveEnvChecker):  # those of gym.make
        inner = inner.env
    if not isinstance(inner, TextEnv):
        raise TypeError(
            f"{wrapper}: needs a text environment as gym.make returns it, vpo/Maze-v0 for example, not {env}; "
            "put other wrappers around this one"
        )
    if inner.num_answers != 1:
        raise ValueError(f"{wrapper}: writes one answer; make the environment with num_answers=1")
    return inner.task


def checked_action(action: Any, number: int, wrapper: str) -> int:
    """The action as an int. TypeError unless it is a whole number, ValueError unless it is one of `number`."""
    try:
        action = index(action)
    except TypeError:
        raise TypeError(f"{wrapper}: an action is a whole number, not {type(action).__name__}") from None
    if not 0 <= action < number:
        raise ValueError(f"{wrapper}: an action is 0 to {number - 1}, not {action}")
    return int(action)


def _training_task(env: gym.Env[Any, Any], task: Task[Any]) -> Task[Any]:
    """The task with its training problems, whatever split it shows: a vocabulary must not come from test problems."""
    if task.split == "train":
        return task
    spec = env.unwrapped.spec
    if spec is None or not isinstance(spec.kwargs.get("task"), str):
        raise ValueError(
            "TokenActions: cannot tell the training problems that belong to this test environment; give it "
            "vocabulary=TokenActions(training_env).vocabulary"
        )
    arguments = {k: v for k, v in spec.kwargs.items() if k not in ("task", "num_answers", "render_mode")}
    return make_task(spec.kwargs["task"], arguments | {"split": "train"})
