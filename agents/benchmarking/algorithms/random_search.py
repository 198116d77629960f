"""random-search: random episodes of one fixed problem; the actions that earned an undominated vector are played again.

On one deterministic problem a set of action sequences is a set of policies. What learning adds shows against this.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.benchmarking.budget import BudgetSpent
from agents.benchmarking.contract import Policy, Setting, Unsuitable
from vpo_envs.pareto_metrics import non_dominated

OBSERVATION = "any"
DEFAULTS: dict[str, Any] = {}


class Replay:
    """The same actions in every episode."""

    deterministic = True

    def __init__(self, actions: list[int]) -> None:
        self._actions, self._next = actions, 0

    def reset(self, seed: int) -> None:
        """An episode begins."""
        self._next = 0

    def act(self, observation: NDArray[Any], reward: NDArray[np.float32]) -> int:
        """The next action; the last one again if the episode goes on after it."""
        action = self._actions[min(self._next, len(self._actions) - 1)]
        self._next += 1
        return action


def train(setting: Setting) -> list[Policy]:
    """Of the undominated vectors at most as many as there are weightings: the best for each of them first."""
    env = setting.make()
    space: Any = env.action_space
    if env.spec is not None and env.spec.id == "vpo/CandidateAnswers-v0":
        raise Unsuitable("replays actions, but candidates come in another order in every episode")
    rng = np.random.default_rng(setting.seed)
    found: dict[bytes, tuple[NDArray[np.float64], list[int]]] = {}
    problems: set[Any] = set()
    actions: list[int] = []
    try:
        while True:
            _, info = env.reset()
            problems.add(info["problem"])
            actions, total, over = [], np.zeros(setting.weights.shape[1]), False
            while not over:
                actions.append(int(rng.integers(space.n)))
                _, reward, terminated, truncated, _ = env.step(actions[-1])
                total, over = total + np.asarray(reward, np.float64), terminated or truncated
            if len(problems) > 1:
                raise Unsuitable("replays actions, which carry over to no other problem; fix one with --problem 0")
            found.setdefault(total.tobytes(), (total, actions))
    except BudgetSpent:
        pass
    if not found:
        return [Replay(actions)]
    vectors = np.stack([vector for vector, _ in found.values()])
    best = np.flatnonzero(non_dominated(vectors))
    first = dict.fromkeys(best[(setting.weights @ vectors[best].T).argmax(axis=1)].tolist())
    order = [*first, *(i for i in best.tolist() if i not in first)][: len(setting.weights)]
    sequences = [sequence for _, sequence in found.values()]
    return [Replay(sequences[i]) for i in order]
