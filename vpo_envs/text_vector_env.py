"""TextVectorEnv: n copies of a text environment that are scored in one call. `gym.make_vec` returns it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from vpo_envs.answers import check_num_answers, prompt_text
from vpo_envs.scoring import detail_of, score_responses
from vpo_envs.spaces import UnicodeText
from vpo_envs.sub_envs import check_num_envs, one_each, seeded_generators
from vpo_envs.task import Message, Task
from vpo_envs.text_env import (
    MAX_ACTION_LENGTH,
    check_action,
    check_options,
    check_problem_index,
    check_weights,
    make_task,
    reward_space,
)


class TextVectorEnv(VectorEnv[tuple[str, ...], Sequence[str], NDArray[np.float32]]):
    """`num_envs` single-turn text environments over one task, without one Python environment each.

    `reset(seed=[...])` takes one seed per sub-environment (or one int s, meaning s, s+1, ...); sub-environments with
    equal seeds show the same problem, which is how a group of rollouts is made. `options={"problem": [...]}` picks
    problems by index and `options={"weights": (n, k)}` writes weights into the prompts.
    `step(list[str])` returns rewards float32 (n, k), and `infos["rewards"]` (n, m, k), `infos["answered"]` (n, m),
    `infos["answers"]` (n lists of m), and n tuples of m for each name in the task's `answer_details`. Autoreset is
    disabled: call `reset` after every `step`.
    """

    metadata = VectorEnv.metadata | {"autoreset_mode": AutoresetMode.DISABLED}

    def __init__(self, task: Task[Any] | str, num_envs: int = 1, *, num_answers: int = 1, **task_kwargs: Any) -> None:
        if task_kwargs.pop("render_mode", None) is not None:
            raise ValueError("the batched text environment does not render; use gym.make for one that does")
        self.task = make_task(task, task_kwargs)
        self.num_answers = check_num_answers(num_answers, self._name)
        self.num_envs = check_num_envs(num_envs, self._name)
        self.single_observation_space = UnicodeText()
        self.single_action_space = UnicodeText(MAX_ACTION_LENGTH)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.reward_space = reward_space(self.task)
        self.reward_dim = self.task.reward_dim
        self.objectives = self.task.objectives
        self.reference_weights = self.task.reference_weights
        self._rngs: list[np.random.Generator] | None = None
        self._problems: list[int] | None = None

    @property
    def _name(self) -> str:
        return self.spec.id if self.spec is not None else type(self.task).__name__

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Show one problem per sub-environment.

        Raises:
            ValueError: a seed list, problem list or weight matrix whose length is not `num_envs`, or a bad value in it.
                No episodes are open then.
        """
        self._problems = None
        options = check_options(options, self._name)
        self._rngs = seeded_generators(seed, self._rngs, self.num_envs, self._name)
        # Like TextEnv, every reset consumes one draw, so that the two stay in step whatever the options.
        indices = [int(rng.integers(len(self.task))) for rng in self._rngs]
        if "problem" in options:
            chosen = one_each("options['problem']", options["problem"], self.num_envs, self._name)
            indices = [check_problem_index(i, self.task, self._name) for i in chosen]
        weights: list[NDArray[np.float64] | None] = [None] * self.num_envs
        if options.get("weights") is not None:
            rows = one_each("options['weights']", options["weights"], self.num_envs, self._name)
            weights = [check_weights(w, self.task, self._name) for w in rows]
        problems = [self.task[i] for i in indices]
        # Sub-environments that show the same problem with the same weights share one rendering of its prompt, and get a
        # copy each.
        rendered: dict[tuple[int, bytes], list[Message]] = {}
        messages = []
        for i, problem, w in zip(indices, problems, weights, strict=True):
            key = (i, b"" if w is None else w.tobytes())
            if key not in rendered:
                rendered[key] = self.task.messages(problem, self.num_answers, None if w is None else w.tolist())
            messages.append([dict(message) for message in rendered[key]])
        infos: dict[str, Any] = {
            "problem": np.array(indices, np.int64),
            "messages": messages,
            "num_answers": np.full(self.num_envs, self.num_answers, np.int64),
        }
        if options.get("weights") is not None:
            infos["weights"] = np.stack([w for w in weights if w is not None])
        if self.task.has_objective_mask:
            infos["objective_mask"] = np.stack([self.task.objective_mask(p) for p in problems])
        self._problems = indices
        return tuple(prompt_text(m) for m in messages), infos

    def step(  # type: ignore[override]  # Gymnasium types the flags like the rewards
        self, actions: Sequence[str]
    ) -> tuple[tuple[str, ...], NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Score one response per sub-environment and end all episodes.

        Raises:
            TypeError: an action is not a string.
            ValueError: the number of actions is not `num_envs`.
            gymnasium.error.ResetNeeded: there are no open episodes.
        """
        if isinstance(actions, str):
            raise TypeError(f"{self._name}: actions are a list of {self.num_envs} responses, not one string")
        one_each("actions", actions, self.num_envs, self._name)
        checked = [check_action(a, f"{self._name} (environment {i})", MAX_ACTION_LENGTH) for i, a in enumerate(actions)]
        if self._problems is None:
            raise gym.error.ResetNeeded(f"{self._name}: call reset() before step(); an episode is one step")
        problems = [self.task[i] for i in self._problems]
        self._problems = None
        scored = score_responses(self.task, problems, [text for text, _ in checked], self.num_answers)
        infos = {
            "rewards": scored.rewards,
            "answered": scored.answered,
            "answers": scored.answers,
            "truncated_action": np.array([cut for _, cut in checked], bool),
        }
        infos |= {name: [detail_of(row, name) for row in scored.details] for name in self.task.answer_details}
        n = self.num_envs
        return ("",) * n, scored.best, np.ones(n, bool), np.zeros(n, bool), infos
