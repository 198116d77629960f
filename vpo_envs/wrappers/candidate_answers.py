"""CandidateAnswers: a single-turn text environment as a contextual bandit over n candidate answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from vpo_envs.answers import prompt_text
from vpo_envs.problem_lists import GeneratedProblems, check_whole
from vpo_envs.text_env import check_problem_index
from vpo_envs.wrappers.candidate_pool import Candidates, candidates_of
from vpo_envs.wrappers.text_features import TextFeatures
from vpo_envs.wrappers.token_actions import checked_action, single_answer_task

CACHED_EMBEDDINGS = 1024  # problems


class CandidateAnswers(gym.Wrapper[NDArray[np.float32], int, str, str], gym.utils.RecordConstructorArgs):
    """Chooses one of n candidate answers to the problem of a text environment: a multi-objective contextual bandit.

    ## Description
    The candidates of a problem come from the task's own demonstrations of it, from edits of them, and from
    demonstrations of other problems, so that right, nearly right and wrong ones are among them, with several reward
    vectors (`candidate_pool.candidates_of`). They follow from the problem alone; their order follows from the seed.

    ## Observation Space
    `Box(-1, 1, ((n + 1) * dimension,), float32)`: the prompt, then each candidate in the order of the actions, each
    embedded by signed feature hashing of words, pairs, places and character trigrams (`TextFeatures`).

    ## Action Space
    `Discrete(n)`: the candidate that is given as the answer.

    ## Rewards
    float32 (k,): the text environment's reward vector for that candidate (`reward_space`, `reward_dim`, `objectives`,
    `reference_weights`). `pareto_front(problem)` is the exact front of a problem's candidates. Every candidate is
    scored once, when its problem is first shown.

    ## Starting State
    The problem that the text environment shows for the seed. Options are the text environment's.

    ## Info
    `problem`; after `reset` also all that the text environment says, and `candidates`, the n texts in the order of the
    actions; after `step` also `answer`, the chosen one.

    ## Episode End
    `terminated` after one step; the last observation is zero.

    ## Arguments
    * `n`: number of candidates, 2 or more.
    * `dimension`: components of an embedding, 1 or more.
    * `draws`: demonstrations of the problem that candidates are chosen from, with as many edits and strangers
      (`candidates_of`). For Code they all run once: `time_limit=1` and fewer `draws` keep that short.

    ## Version History
    v0: first version.
    """

    def __init__(self, env: gym.Env[Any, Any], n: int = 8, dimension: int = 64, draws: int = 32) -> None:
        """Errors: those of `single_answer_task`; ValueError for bad arguments."""
        gym.utils.RecordConstructorArgs.__init__(self, n=n, dimension=dimension, draws=draws)
        gym.Wrapper.__init__(self, env)
        self.task = single_answer_task(env, "CandidateAnswers")
        self.n = check_whole("CandidateAnswers: n", n, 2)
        self.dimension = check_whole("CandidateAnswers: dimension", dimension, 1)
        self.draws = check_whole("CandidateAnswers: draws", draws, 1)
        self._embed = TextFeatures(dimension)
        self._candidates = GeneratedProblems(len(self.task), self._make_candidates)
        self._embeddings = GeneratedProblems(len(self.task), self._embed_candidates, CACHED_EMBEDDINGS)
        self.observation_space = spaces.Box(-1.0, 1.0, ((n + 1) * dimension,), np.float32)
        self.action_space = spaces.Discrete(n)  # type: ignore[assignment]  # Discrete is typed for NumPy's integers
        unwrapped: Any = env.unwrapped
        self.reward_space = unwrapped.reward_space
        self.reward_dim = unwrapped.reward_dim
        self.objectives = unwrapped.objectives
        self.reference_weights = unwrapped.reference_weights
        # Not the environment's own generator: its later problems must be those that it shows without this wrapper.
        self._rng: np.random.Generator | None = None
        self._order = np.arange(n)
        self._problem: int | None = None  # None where there is no open episode

    def _make_candidates(self, index: int) -> Candidates:
        return candidates_of(self.task, index, self.n, self.draws)

    def _embed_candidates(self, index: int) -> NDArray[np.float32]:
        """float32 (n + 1, dimension): the prompt, and the candidates in the order in which they were made."""
        prompt = prompt_text(self.task.messages(self.task[index]))
        return np.stack([self._embed(text) for text in (prompt, *self._candidates[index].answers)])

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Show a problem and its candidates. Errors: those of the text environment and of `candidates_of`."""
        self._problem = None
        env: Any = self.env
        prompt, info = env.reset(seed=seed, options=None if options is None else dict(options))
        if seed is not None or self._rng is None:
            self._rng = np.random.default_rng(seed)
        self._order = self._rng.permutation(self.n)
        problem: int = info["problem"]
        answers, embeddings = self._candidates[problem].answers, self._embeddings[problem]
        asked = self._embed(prompt) if "weights" in info else embeddings[0]  # weights are part of the prompt
        observation = np.concatenate([asked, *embeddings[1 + self._order]])
        self._problem = problem
        return observation, info | {"candidates": tuple(answers[i] for i in self._order)}

    def step(self, action: int) -> tuple[NDArray[np.float32], NDArray[np.float32], bool, bool, dict[str, Any]]:
        """Give a candidate as the answer and end the episode.

        Raises:
            TypeError: the action is not a whole number.
            ValueError: the action is outside the action space.
            gymnasium.error.ResetNeeded: there is no open episode.
        """
        action = checked_action(action, self.n, "CandidateAnswers")
        if self._problem is None:
            raise gym.error.ResetNeeded("CandidateAnswers: call reset() before step(); an episode is one step")
        problem, chosen = self._problem, int(self._order[action])
        self._problem = None
        shown = self._candidates[problem]
        if self.render_mode is not None:
            env: Any = self.env
            env.step(self.task.wrap(shown.answers[chosen]))  # so that it renders the answer
        info = {"problem": problem, "answer": shown.answers[chosen]}
        return np.zeros((self.n + 1) * self.dimension, np.float32), shown.rewards[chosen].copy(), True, False, info

    def pareto_front(self, problem: int) -> NDArray[np.float32]:
        """The exact Pareto front of a problem's candidates, float32 (f, k), sorted. For evaluation only.

        Raises:
            ValueError: there is no such problem.
        """
        return self._candidates[check_problem_index(problem, self.task, "CandidateAnswers")].pareto_front()
