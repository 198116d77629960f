"""TextEnv: any Task as a single-turn, multi-objective Gymnasium environment."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from vpo_envs.answers import check_num_answers, check_seed, prompt_text
from vpo_envs.scoring import detail_of, score_responses
from vpo_envs.spaces import UnicodeText
from vpo_envs.task import Task

MAX_ACTION_LENGTH = 1 << 16


def make_task(task: Task[Any] | str, task_kwargs: dict[str, Any]) -> Task[Any]:
    """A Task from an instance, or from "module:Class" and its arguments.

    Raises:
        TypeError: the class is not a Task, or arguments for a task that is already built.
        ValueError: not of the form "module:Class".
        ImportError: no such module, or no such class in it.
    """
    if isinstance(task, Task):
        if task_kwargs:
            raise TypeError(
                f"{sorted(task_kwargs)}: arguments for a task that is already built; give them to it instead"
            )
        return task
    module, _, name = task.partition(":")
    if not name:
        raise ValueError(f'a task is given as "module:Class", not {task!r}')
    try:
        build = getattr(import_module(module), name)
    except AttributeError:
        raise ImportError(f"there is no {name!r} in module {module!r}") from None
    built = build(**task_kwargs)
    if not isinstance(built, Task):
        raise TypeError(f"{task} is not a vpo_envs.Task")
    return built


def reward_space(task: Task[Any]) -> spaces.Box:
    """[0, 1]^k."""
    return spaces.Box(0.0, 1.0, (task.reward_dim,), np.float32)


def check_action(action: Any, env_id: str, max_length: int) -> tuple[str, bool]:
    """The text that is scored, and whether it was cut to `max_length`. Raises TypeError for anything but a string."""
    if not isinstance(action, str):
        raise TypeError(f"{env_id}: an action is the response text (str), not {type(action).__name__}")
    return (action[:max_length], True) if len(action) > max_length else (str(action), False)


def check_problem_index(index: Any, task: Task[Any], env_id: str) -> int:
    """Raise ValueError unless `index` names a problem of the task."""
    if isinstance(index, bool) or not isinstance(index, int | np.integer) or not 0 <= index < len(task):
        raise ValueError(f"{env_id}: options['problem'] must be 0..{len(task) - 1} ({task.split} split), not {index!r}")
    return int(index)


def check_weights(weights: Any, task: Task[Any], env_id: str) -> NDArray[np.float64]:
    """Weights as float64 (k,) that sum to 1. Raises ValueError unless they are k finite numbers >= 0, not all zero."""
    w = np.asarray(weights, np.float64)
    if w.shape != (task.reward_dim,) or not np.isfinite(w).all() or (w < 0).any() or w.sum() <= 0:
        names = ", ".join(o.name for o in task.objectives)
        raise ValueError(
            f"{env_id}: options['weights'] needs {task.reward_dim} numbers >= 0 ({names}), not {weights!r}"
        )
    return w / w.sum()


def check_options(options: dict[str, Any] | None, env_id: str) -> dict[str, Any]:
    """Raise ValueError for an option that reset does not know."""
    options = dict(options or {})
    if unknown := sorted(set(options) - {"problem", "weights"}):
        raise ValueError(f"{env_id}: reset options are 'problem' and 'weights', not {', '.join(map(repr, unknown))}")
    return options


class TextEnv(gym.Env[str, str]):
    """Any `Task` as a single-turn MO-Gymnasium environment with text in, text out and a reward vector.

    ## Description
    `reset` shows the prompt of one problem. `step` takes the response of a language model, scores it and ends the
    episode. What is asked and how it is scored is the task's business: see the task's class.

    ## Observation Space
    `UnicodeText`: the prompt as plain text. The same prompt as chat messages is in `info["messages"]`. After `step`
    the observation is the empty string.

    ## Action Space
    `UnicodeText(65536)`: the response. Longer text is scored on its prefix (`info["truncated_action"]` is True).

    ## Rewards
    float32 (k,) in [0, 1]^k, one entry per objective (`objectives`, `reward_space`, `reward_dim`). With m answers it is
    the row of `info["rewards"]` (m, k) that wins under `reference_weights`, so `reference_weights @ reward` is best@m.
    Of a problem that has not all objectives (`info["objective_mask"]`), the others are 0 and have no weight: best@m is
    `task.problem_weights(problem) @ reward`.

    ## Starting State
    The problem follows from the seed alone: two environments that are reset with one seed show the same prompt.
    `reset(options={"problem": i})` picks problem i, `options={"weights": w}` writes weights (k,) into the prompt.

    ## Info
    `reset`: `problem` (index), `messages`, `num_answers`, and `weights` and `objective_mask` where there are any.
    `step` adds `rewards` (m, k), `answered` bool (m,), `answers` (m texts or None), `truncated_action`, and for each
    name in the task's `answer_details` m values, None for absent answers.

    ## Episode End
    `terminated` after one step.

    ## Arguments
    `task`: a Task or "module:Class"; `num_answers` m >= 1; `render_mode`; all others go to the task.

    ## Version History
    v0: first version.
    """

    metadata = gym.Env.metadata | {"render_modes": ["ansi", "rgb_array"], "render_fps": 1}

    def __init__(
        self, task: Task[Any] | str, *, num_answers: int = 1, render_mode: str | None = None, **task_kwargs: Any
    ) -> None:
        self.task = make_task(task, task_kwargs)
        self.num_answers = check_num_answers(num_answers, self._name)
        if render_mode is not None and render_mode not in self.task.render_modes:
            raise ValueError(f"{self._name}: render_mode must be one of {self.task.render_modes}, not {render_mode!r}")
        self.metadata = self.metadata | {"render_modes": list(self.task.render_modes)}
        self.render_mode = render_mode
        self.observation_space = UnicodeText()
        self.action_space = UnicodeText(MAX_ACTION_LENGTH)
        self.reward_space = reward_space(self.task)
        self.reward_dim = self.task.reward_dim
        self.objectives = self.task.objectives
        self.reference_weights = self.task.reference_weights
        self._problem_index: int | None = None
        self._weights: NDArray[np.float64] | None = None
        self._answers: list[str | None] | None = None
        self._rewards: NDArray[np.float32] | None = None
        self._details: list[dict[str, Any]] = []

    @property
    def _name(self) -> str:
        return self.spec.id if self.spec is not None else type(self.task).__name__

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Show a problem: the one in `options["problem"]`, else one drawn from the seed.

        Raises:
            ValueError: a bad seed, an unknown option, a problem index outside the split, or weights that are not k
                numbers >= 0. No episode is open then.
        """
        self._problem_index = self._answers = self._rewards = None
        super().reset(seed=None if seed is None else check_seed(seed, self._name))
        options = check_options(options, self._name)
        drawn = int(self.np_random.integers(len(self.task)))
        index = check_problem_index(options.get("problem", drawn), self.task, self._name)
        weights = options.get("weights")
        self._weights = None if weights is None else check_weights(weights, self.task, self._name)
        info = self._info(index)
        self._problem_index = index
        return prompt_text(info["messages"]), info

    def _info(self, index: int) -> dict[str, Any]:
        problem = self.task[index]
        weights = None if self._weights is None else self._weights.tolist()
        info: dict[str, Any] = {
            "problem": index,
            "messages": self.task.messages(problem, self.num_answers, weights),
            "num_answers": self.num_answers,
        }
        if self._weights is not None:
            info["weights"] = self._weights.copy()
        if self.task.has_objective_mask:
            info["objective_mask"] = self.task.objective_mask(problem).copy()
        return info

    def step(self, action: str) -> tuple[str, NDArray[np.float32], bool, bool, dict[str, Any]]:
        """Score the response and end the episode.

        Raises:
            TypeError: the action is not a string.
            gymnasium.error.ResetNeeded: there is no open episode.
        """
        text, cut = check_action(action, self._name, MAX_ACTION_LENGTH)
        if self._problem_index is None or self._answers is not None:
            raise gym.error.ResetNeeded(f"{self._name}: call reset() before step(); an episode is one step")
        problem = self.task[self._problem_index]
        scored = score_responses(self.task, [problem], [text], self.num_answers)
        self._answers, self._rewards, self._details = scored.answers[0], scored.rewards[0], scored.details[0]
        info = self._info(self._problem_index) | {
            "rewards": scored.rewards[0].copy(),
            "answered": scored.answered[0].copy(),
            "answers": tuple(scored.answers[0]),
            "truncated_action": cut,
        }
        info |= {name: detail_of(self._details, name) for name in self.task.answer_details}
        return "", scored.best[0], True, False, info

    def render(self) -> Any:
        """The problem and, after `step`, the answers with their rewards; None without a render mode."""
        if self.render_mode is None or self._problem_index is None:
            return None
        answers = self._answers or []
        rewards = self._rewards if self._rewards is not None else np.zeros((0, self.reward_dim), np.float32)
        # Only a task that has details needs to know of them.
        more: dict[str, Any] = {"details": self._details if answers else []} if self.task.answer_details else {}
        return self.task.render(self.task[self._problem_index], answers, rewards, self.render_mode, **more)
