"""pql: Pareto Q-learning, a table of sets of value vectors. Policies are the vectors of the start, each tracked."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from morl_baselines.multi_policy.pareto_q_learning.pql import PQL
from numpy.typing import NDArray

from agents.benchmarking.contract import Policy, Setting
from agents.benchmarking.morl import representatives, reproducible

OBSERVATION = "table"
DEFAULTS: dict[str, Any] = {
    "initial_epsilon": 1.0,
    "final_epsilon": 0.3,
    "exploration": 1.0,  # share of the steps over which epsilon falls
    "score": "hypervolume",  # or "pareto_cardinality": what a greedy action has most of
    "backward": True,  # repeat the updates of every episode from its end to its start
}


class Backward(gym.Wrapper[Any, Any, Any, Any]):
    """Repeats the agent's set updates of an episode in reverse order once it is over, without further steps.

    The library updates a set when its action is taken, so what the end of an episode earns moves back by one step a
    visit. Where a state is hardly ever seen twice it does not arrive at the start within a budget.
    """

    agent: PQL

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self._moves: list[tuple[int, int, int]] = []
        self._state = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Repeat the updates, then begin an episode."""
        for state, action, following in reversed(self._moves):
            self.agent.non_dominated[state][action] = self.agent.calc_non_dominated(following)
        self._moves = []
        observation, info = self.env.reset(seed=seed, options=options)
        self._state = int(observation[0])
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Make a step and note it."""
        observation, *rest = self.env.step(action)
        self._moves.append((self._state, int(action), int(observation[0])))
        self._state = int(observation[0])
        return observation, *rest


class Tracked:
    """Follows one value vector of the start: in every state the action whose set has the vector still to be earned.

    The library has the same in `PQL.track_policy`, which only returns what was earned.
    """

    deterministic = True

    def __init__(self, agent: PQL, target: NDArray[np.float64]) -> None:
        self._agent, self._start = agent, target
        self._target = target

    def reset(self, seed: int) -> None:
        """An episode begins."""
        self._target = self._start

    def act(self, observation: NDArray[Any], reward: NDArray[np.float32]) -> int:
        """The action whose set comes closest to the target (L1), which becomes what is left of it."""
        agent, state = self._agent, int(observation[0])
        best, action, left = np.inf, 0, self._target
        for a in range(agent.num_actions):
            later = np.array(sorted(agent.non_dominated[state][a]))
            gaps = np.abs(agent.avg_reward[state, a] + agent.gamma * later - self._target).sum(axis=1)
            if gaps.min() < best - 1e-9:
                best, action, left = gaps.min(), a, later[gaps.argmin()]
        self._target = left
        return action


def train(setting: Setting) -> list[Policy]:
    """Exactly the steps of the setting. Of more vectors than weightings, the best for each weighting are kept."""
    options = {**DEFAULTS, **setting.options}
    env = Backward(setting.make()) if options["backward"] else setting.make()
    k = setting.weights.shape[1]
    with reproducible(setting.seed):
        agent = PQL(
            env,
            # Below zero: with the origin, a vector that lacks one objective altogether has no volume and no attraction.
            ref_point=np.full(k, -1.0),
            gamma=setting.gamma,
            initial_epsilon=options["initial_epsilon"],
            final_epsilon=options["final_epsilon"],
            epsilon_decay_steps=max(1, int(options["exploration"] * setting.steps)),
            seed=setting.seed,
            log=False,
        )
        if isinstance(env, Backward):
            env.agent = agent
        agent.train(setting.steps, eval_env=env, action_eval=options["score"])
    vectors = np.array(sorted(agent.get_local_pcs(0)))
    return [Tracked(agent, vectors[i]) for i in representatives(vectors, setting.weights)]
