"""The environment of a benchmark: what each kind of algorithm sees of it, and which problems policies are judged on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import FlattenObservation, TransformObservation
from numpy.typing import NDArray

import vpo_envs  # noqa: F401  # registers the ids
from agents.benchmarking.budget import CountSteps, StepBudget
from agents.benchmarking.contract import Setting, Unsuitable
from vpo_envs.registration import spec_of
from vpo_envs.task import Split
from vpo_envs.wrappers.factories import CANDIDATE_OPTIONS, TOKEN_OPTIONS

GRID, TOKENS, CANDIDATES = "vpo/MazeGrid-v0", "vpo/TokenActions-v0", "vpo/CandidateAnswers-v0"
KINDS = ("vector", "table", "any")


@dataclass(frozen=True)
class Arena:
    """An id with numeric spaces, its arguments, and what is played: one problem, or new ones in every episode.

    With a `problem` that one of the training split is trained on and judged. Without, every training episode has a
    problem of the training split, and policies are judged on the first `eval_problems` of the test split.
    """

    env_id: str
    env_args: Mapping[str, Any]
    problem: int | None = None
    eval_problems: int = 20

    def __post_init__(self) -> None:
        """Raises ValueError: an id without numeric spaces, or arguments that are the benchmark's to choose."""
        if self.env_id not in (GRID, TOKENS, CANDIDATES):
            spec_of(self.env_id)  # an unknown id gets near names
            raise ValueError(
                f"--env {self.env_id}: classical algorithms need numeric spaces; choose {GRID}, or {TOKENS} or "
                f"{CANDIDATES} with --env-args env_id={self.env_id}"
            )
        for name, remedy in (
            ("split", "training plays the training split, and policies are judged on the test split"),
            ("observation", "each algorithm names the kind that it reads"),
            ("render_mode", "nothing is drawn"),
            ("num_answers", "an episode is one answer"),
            ("maze", f"say --problem {self.env_args.get('maze')}"),
        ):
            if name in self.env_args:
                raise ValueError(f"--env-args: leave {name} out; {remedy}")
        if self.eval_problems < 1:
            raise ValueError(f"--eval-problems must be at least 1, not {self.eval_problems}")
        size = len(self.task)
        if self.problem is not None and not 0 <= self.problem < size:
            raise ValueError(f"--problem must be 0..{size - 1}, a problem of the training split, not {self.problem}")

    @property
    def split(self) -> Split:
        """Of the problems that policies are judged on."""
        return "test" if self.problem is None else "train"

    @cached_property
    def problems(self) -> list[int]:
        """The problems that policies are judged on, as numbers in `split`."""
        return list(range(min(self.eval_problems, len(self.task)))) if self.problem is None else [self.problem]

    @cached_property
    def judged(self) -> gym.Env[Any, Any]:
        """The environment of the judged problems, with the observation that it has by itself."""
        return self._make(self.split, "any")

    @cached_property
    def task(self) -> Any:
        """The task of the judged problems."""
        return self.judged.get_wrapper_attr("task")

    @property
    def objectives(self) -> list[str]:
        """Names of the k objectives."""
        return [objective.name for objective in self.task.objectives]

    @cached_property
    def masks(self) -> NDArray[np.bool_] | None:
        """(P, k): which objectives the judged problems have; None where all have all."""
        if not self.task.has_objective_mask:
            return None
        return np.stack([self.task.objective_mask(self.task[i]) for i in self.problems])

    @cached_property
    def fronts(self) -> list[NDArray[np.float64]] | None:
        """The exact front (f, k) of each judged problem; None where it is not known.

        Of CandidateAnswers it is the candidates', of the other two the maze's.
        """
        front: Any = None
        if self.env_id == CANDIDATES:
            front = self.judged.get_wrapper_attr("pareto_front")
        elif hasattr(self.task, "pareto_front"):

            def front(i: int) -> Any:
                return self.task.pareto_front(self.task[i])

        if front is None:
            return None
        try:
            return [np.asarray(front(i), np.float64).reshape(-1, len(self.objectives)) for i in self.problems]
        except ValueError:  # a problem of a file that has too many items for it
            return None

    @property
    def deterministic(self) -> bool:
        """Whether a problem and the actions fix what is seen and earned. Candidates come in random order."""
        return self.env_id != CANDIDATES

    @property
    def text_args(self) -> tuple[str, dict[str, Any]]:
        """The text environment with the same problems: its id, and its arguments."""
        if self.env_id == GRID:
            return "vpo/Maze-v0", dict(self.env_args)
        own = TOKEN_OPTIONS if self.env_id == TOKENS else CANDIDATE_OPTIONS
        rest = {k: v for k, v in self.env_args.items() if k not in own}
        return rest.pop("env_id", "vpo/Maze-v0"), rest

    def setting(
        self, kind: str, budget: StepBudget, seed: int, gamma: float, weights: Any, options: Mapping[str, Any]
    ) -> Setting:
        """What an algorithm that reads this kind of observation is given.

        Raises:
            Unsuitable: this environment has no such observations.
        """
        self.check_kind(kind)
        made = 0

        def make() -> gym.Env[Any, Any]:
            nonlocal made
            made += 1
            return CountSteps(self._make("train", kind), budget, seed=1000 * seed + made)

        return Setting(make, budget.steps, seed, gamma, weights, options)

    def evaluation_env(self, kind: str) -> gym.Env[Any, Any]:
        """A new environment that shows the judged problems; `reset(options={"problem": i})` chooses.

        Raises:
            Unsuitable: this environment has no such observations.
        """
        self.check_kind(kind)
        return self._make(self.split, kind)

    def check_kind(self, kind: str) -> None:
        """Raises Unsuitable if there are no observations of this kind, ValueError if it is no kind."""
        if kind not in KINDS:
            raise ValueError(f"OBSERVATION must be one of {', '.join(map(repr, KINDS))}, not {kind!r}")
        if kind != "table":
            return
        if self.env_id != GRID:
            raise Unsuitable(
                f"needs numbered states, which {self.env_id} does not have (they could not be listed); use {GRID}"
            )
        if self.problem is None:
            raise Unsuitable("needs numbered states, and every maze has its own; fix one with --problem 0")

    def _make(self, split: Split, kind: str) -> gym.Env[Any, Any]:
        arguments: dict[str, Any] = {**self.env_args, "split": split}
        if self.env_id == GRID:
            observation = "state_array" if kind == "table" else "planes"
            return self._gym_make(arguments | {"observation": observation, "maze": self.problem})
        if self.env_id == TOKENS:
            arguments |= self._vocabulary
        env = self._gym_make(arguments)
        if self.problem is not None:
            env = OneProblem(env, self.problem)
        return env if kind == "any" or self.env_id == CANDIDATES else _as_floats(FlattenObservation(env))

    @cached_property
    def _vocabulary(self) -> dict[str, Any]:
        """Vocabulary, length and window of the training environment, which the test problems are shown with as well."""
        env = self._gym_make({**self.env_args, "split": "train"})
        unused = dict.fromkeys(("copies", "common", "samples", "spell"))
        found = {name: env.get_wrapper_attr(name) for name in ("vocabulary", "length", "window")}
        return found | {name: None for name in unused if name in self.env_args}

    def _gym_make(self, arguments: dict[str, Any]) -> gym.Env[Any, Any]:
        given = {name: value for name, value in arguments.items() if value is not None}
        try:
            return gym.make(self.env_id, **given)
        except (TypeError, OSError, ImportError, gym.error.Error) as error:
            raise ValueError(f"{self.env_id} cannot be made: {error}") from error


class OneProblem(gym.Wrapper[Any, Any, Any, Any]):
    """The same problem in every episode, whatever the seed."""

    def __init__(self, env: gym.Env[Any, Any], problem: int) -> None:
        super().__init__(env)
        self._problem = problem

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode with the problem."""
        return self.env.reset(seed=seed, options={**(options or {}), "problem": self._problem})


def _as_floats(env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
    """The same observations as float32, which networks take."""
    box: Any = env.observation_space
    space = spaces.Box(0.0, 1.0, box.shape, np.float32)
    return TransformObservation(env, lambda x: np.asarray(x, np.float32), space)
