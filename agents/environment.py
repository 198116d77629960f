"""One environment id as the agent uses it: groups of responses in, a reward tensor out.

Our own environments are batched (`TextVectorEnv`), and the responses to some prompts can be scored before those to
others. Any other registered text environment runs in MO-Gymnasium's vector environment, each copy inside the
`MultiAnswer` wrapper; its copies step together, so all responses are scored at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from vpo_envs.answers import answer_spans
from vpo_envs.registration import TEXT_ENV, spec_of
from vpo_envs.scoring import score_responses
from vpo_envs.task import Message, Split
from vpo_envs.text_env import MAX_ACTION_LENGTH
from vpo_envs.text_vector_env import TextVectorEnv
from vpo_envs.wrappers import MultiAnswer

TEST_SEEDS = 1_000_000_000  # foreign environments have no splits: test problems are the seeds from here on

Scores = tuple[NDArray[np.float32], NDArray[np.bool_], Sequence[Sequence[str | None]]]
"""Rewards (n, m, k), which answers were given (n, m), and the answers (n, m) of n responses."""


@dataclass(frozen=True)
class GroupRewards:
    """Rewards of G responses to each of B prompts."""

    rewards: NDArray[np.float32]
    """(B, G, m, k)."""
    answered: NDArray[np.bool_]
    """(B, G, m)."""
    objective_mask: NDArray[np.bool_] | None
    """(B, k), None if all problems have all objectives."""
    answers: list[list[list[str | None]]]
    """B x G x m texts."""


class Environment:
    """An environment id with its arguments and number of answers.

    Raises:
        ValueError: the id is unknown (near names are suggested), or the environment refuses its arguments.
    """

    def __init__(self, env_id: str, args: dict[str, Any], num_answers: int, split: Split = "train") -> None:
        self.id, self.num_answers, self.split = env_id, num_answers, split
        self._spec = spec_of(env_id)
        self.is_ours = self._spec.entry_point == TEXT_ENV
        if self.is_ours and "split" in args:
            raise ValueError("--env-args: the split is chosen by the command (training or evaluation), leave it out")
        self._args = {**self._spec.kwargs, **args, "split": split} if self.is_ours else dict(args)
        self._open: tuple[int, gym.vector.VectorEnv[Any, Any, Any]] | None = None
        self.task: Any = None
        envs = self._envs(1)
        first: Any = envs.envs[0] if hasattr(envs, "envs") else None
        get = first.get_wrapper_attr if first is not None else lambda name: getattr(envs, name)
        self.reference_weights: NDArray[np.float64] = np.asarray(get("reference_weights"), np.float64)
        k = len(self.reference_weights)
        # What a response without any answer earns; the wrapper has a finite value also where rewards are unbounded.
        bound = get("reward_space").low if self.is_ours else get("no_answer_reward")
        self.lower_bound: NDArray[np.float32] = np.broadcast_to(bound, (k,)).astype(np.float32)
        try:
            self.objectives = [objective.name for objective in get("objectives")]
        except AttributeError:
            self.objectives = [f"objective_{i + 1}" for i in range(k)]
        self.task = getattr(envs, "task", None)

    @property
    def num_problems(self) -> int | None:
        """Number of problems in the split, None where problems come from seeds only."""
        return None if self.task is None else len(self.task)

    def _envs(self, num_envs: int) -> gym.vector.VectorEnv[Any, Any, Any]:
        if self._open is None or self._open[0] != num_envs:
            try:
                self._open = (num_envs, self._make(num_envs))
            except (TypeError, OSError, ImportError) as error:
                raise ValueError(f"{self.id} cannot be made: {error}") from error
        return self._open[1]

    def _make(self, num_envs: int) -> gym.vector.VectorEnv[Any, Any, Any]:
        if self.is_ours:
            # The task is built once and shared, so that its problems are loaded or generated once.
            args = self._args if self.task is None else {"task": self.task}
            return TextVectorEnv(**{**args, "num_envs": num_envs, "num_answers": self.num_answers})
        from mo_gymnasium.wrappers.vector import MOSyncVectorEnv

        def make() -> gym.Env[Any, Any]:
            env = gym.make(self.id, disable_env_checker=True, **self._args)
            return MultiAnswer(env, self.num_answers)

        makers: Any = [make] * num_envs  # typed as an iterator, used as a sequence
        return MOSyncVectorEnv(makers)

    def objective_masks(self, problems: Sequence[int]) -> NDArray[np.bool_]:
        """(B, k) which objectives the problems have."""
        if self.task is None or not self.task.has_objective_mask:
            return np.ones((len(problems), len(self.reference_weights)), bool)
        return np.stack([self.task.objective_mask(self.task[p]) for p in problems])

    def ask(
        self, problems: Sequence[int], group_size: int, weights: NDArray[np.float64] | None = None
    ) -> list[list[Message]]:
        """Start B x G episodes, G for each of B problems; returns the B prompts as chat messages.

        Args:
            problems: indices into the split, or seeds for environments without splits.
            group_size: G.
            weights: (B, k), written into the prompts.

        Raises:
            ValueError: weights for an environment that is not ours (`is_ours`).
        """
        ids = [int(p) for p in problems for _ in range(group_size)]
        envs = self._envs(len(ids))
        if self.is_ours:
            options: dict[str, Any] = {"problem": ids}
            if weights is not None:
                options["weights"] = np.repeat(weights, group_size, axis=0)
            observations, infos = envs.reset(seed=0, options=options)
        elif weights is not None:
            raise ValueError(f"{self.id} is a foreign environment: weights cannot be written into its prompts")
        else:
            first = TEST_SEEDS if self.split == "test" else 0
            seeds: Any = [first + i for i in ids]  # the base class is typed for one int, every vector env takes a list
            observations, infos = envs.reset(seed=seeds)
        self._asked = ids[::group_size]
        self._mask = infos.get("objective_mask")
        messages = infos.get("messages")
        if messages is None:
            messages = [[{"role": "user", "content": str(text)}] for text in observations]
        return [list(messages[i]) for i in range(0, len(ids), group_size)]

    def score(self, responses: Sequence[Sequence[str]], places: Sequence[int] | None = None) -> GroupRewards:
        """Score G responses to each of some prompts of the last `ask`: those at `places`, by default all of them.

        Raises:
            ValueError: some prompts only, in an environment that is not ours (`is_ours`).
        """
        places = range(len(self._asked)) if places is None else places
        if not self.is_ours and list(places) != list(range(len(self._asked))):
            raise ValueError(f"{self.id} is a foreign environment: all of its {len(self._asked)} prompts step together")
        b, g = len(responses), len(responses[0])
        texts = [text for group in responses for text in group]
        scored = self._score_ours(texts, places, g) if self.is_ours else self._score_foreign(texts)
        rewards, answered, answers = scored
        masks = None if self._mask is None else np.asarray(self._mask, bool)[::g][list(places)]
        return GroupRewards(
            rewards=rewards.reshape(b, g, *rewards.shape[1:]),
            answered=answered.reshape(b, g, -1),
            objective_mask=masks,
            answers=[[list(answers[i * g + j]) for j in range(g)] for i in range(b)],
        )

    def answer_spans(self, response: str) -> list[tuple[int, int] | None]:
        """Where the m answers of a response stand in it, as `vpo_envs.answers.answer_spans` says."""
        if self.is_ours:
            return answer_spans(self.task, response[:MAX_ACTION_LENGTH], self.num_answers)
        envs: Any = self._envs(1) if self._open is None else self._open[1]
        spans: list[tuple[int, int] | None] = envs.envs[0].answer_spans(response)
        return spans

    def _score_ours(self, texts: list[str], places: Sequence[int], group_size: int) -> Scores:
        problems = [self.task[self._asked[place]] for place in places for _ in range(group_size)]
        scored = score_responses(self.task, problems, [text[:MAX_ACTION_LENGTH] for text in texts], self.num_answers)
        return scored.rewards, scored.answered, scored.answers

    def _score_foreign(self, texts: list[str]) -> Scores:
        _, _, _, _, infos = self._envs(len(texts)).step(texts)
        return np.asarray(infos["rewards"], np.float32), np.asarray(infos["answered"], bool), infos["answers"]
