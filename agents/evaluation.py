"""What test-time search gets out of a policy: a pool of answers to every test problem, and its figures.

Two policies are compared on the same problems, with the same random weightings and the same number of answers, whether
a response holds one answer or several. `agents.comparison` puts policies side by side.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from agents.config import EvaluationConfig, parse_pairs
from agents.config_checks import check_evaluation
from agents.environment import Environment
from agents.generation import Generator, Sampling, TransformersGenerator
from agents.policy import Policy
from agents.presets import evaluation_top_p
from agents.prompt_filter import fitting_problems
from agents.prompt_weights import Written, check_prompt_weights, evaluation_weights, written_weights
from agents.rollout import Rollouts, collect
from agents.schedule import seeds_of
from vpo_envs.bootstrap import bootstrap_interval
from vpo_envs.metrics import (
    best_at_k,
    diversity,
    expected_best_at_k,
    expected_best_of_set,
    front_best,
    hypervolume,
    objective_correlation,
    pareto_count,
    solved,
)
from vpo_envs.scalarization import sample_weights

T = TypeVar("T")
Floats = NDArray[np.float64]

ROWS = 512
"""Responses of one call of the generator."""
SET = 3
"""The k that every table has, to hold single answers against sets of the usual size."""
MAX_HYPERVOLUME_OBJECTIVES = 8
"""Above, the exact hypervolume takes too long."""
BELOW = 0.1
"""How far the hypervolume's reference point lies below the lower bound: an answer that is best in one objective and
worst in another must count, and above the bound itself it would have no volume."""


@dataclass(frozen=True)
class Estimate:
    """A mean over problems with its 95% bootstrap interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ±{(self.high - self.low) / 2:.3f}"


def estimate_mean(per_prompt: Floats) -> Estimate:
    """Mean of (P,) values and its interval; problems with NaN, which lack the quantity, take no part."""
    values = per_prompt[np.isfinite(per_prompt)]
    return Estimate(float(values.mean()), *bootstrap_interval(values))


@dataclass(frozen=True, eq=False)
class PolicyResult:
    """The raw pool of one policy: P problems, n responses to each, m answers in each, k objectives."""

    label: str
    model: str
    """Hub id or folder."""
    env: str
    env_args: tuple[str, ...]
    config: EvaluationConfig
    max_tokens: int
    objectives: list[str]
    reference_weights: Floats
    """(k,)."""
    floor: NDArray[np.float32]
    """(k,): what an absent answer is worth, the lower bound of the reward space."""
    problems: list[int]
    """P indices into the test split."""
    rewards: NDArray[np.float32]
    """(P, n, m, k)."""
    answered: NDArray[np.bool_]
    """(P, n, m)."""
    objective_mask: NDArray[np.bool_] | None
    """(P, k), None if all problems have all objectives."""
    answers: list[list[list[str | None]]]
    """P x n x m texts."""
    tokens: NDArray[np.int64]
    """(P, n) generated tokens."""
    finished: NDArray[np.bool_]
    """(P, n): the response ended by itself, not at the token limit."""
    seconds: float
    fronts: list[NDArray[np.float32]] | None
    """P exact Pareto fronts (f, k), None where the task has none."""
    bounded_by_one: bool
    """Whether 1 is the best value of every objective, so that "solved" means something."""
    prompt_weights: Written = "none"
    """Which weights the prompts asked for."""
    asked_weights: Floats | None = None
    """(P, n, k) those in the prompt of each response; None where there are none."""

    @property
    def num_answers(self) -> int:
        """m."""
        return self.rewards.shape[2]

    @property
    def ks(self) -> list[int]:
        """The k of best@k: those asked for that the pool is large enough for, 3, and all answers."""
        total = self.config.answers
        return sorted({k for k in (*self.config.ks, SET, total) if 1 <= k <= total})

    @cached_property
    def sets(self) -> Floats:
        """Rewards (P, n, m, k) in which an absent answer is worth the floor: it never beats a given one."""
        filled = np.where(self.answered[..., None], self.rewards, self.floor).astype(np.float64)
        if self.objective_mask is not None:
            filled *= self.objective_mask[:, None, None, :]
        return filled

    @cached_property
    def pool(self) -> Floats:
        """`sets` as (P, n * m, k), one pool of answers for each problem."""
        return self.sets.reshape(len(self.sets), -1, self.sets.shape[-1])

    @cached_property
    def weights(self) -> Floats:
        """(W, k) random weightings: a function of the configuration alone, so every policy meets the same ones."""
        return sample_weights(self.config.weights, len(self.objectives), rng=self.config.seed)

    def best(self, k: int) -> Floats:
        """best@k under the reference weights (P,)."""
        return expected_best_at_k(self.pool, self.reference_weights, k, self.objective_mask)

    def expected_best(self, k: int) -> Floats:
        """E_w[best@k] (P,)."""
        return expected_best_at_k(self.pool, self.weights, k, self.objective_mask)

    @cached_property
    def per_prompt(self) -> dict[str, Floats]:
        """Every metric as one value for each problem (P,); NaN where a problem has no such objective."""
        given, mask = np.ones_like(self.answered), self.objective_mask
        out: dict[str, Floats] = {}
        for k in self.ks:
            out[f"best@{k}"] = self.best(k)
        out["best_of_set"] = expected_best_of_set(self.sets, given, self.reference_weights, mask)
        for k in self.ks:
            out[f"ew_best@{k}"] = self.expected_best(k)
        out["ew_best_of_set"] = expected_best_of_set(self.sets, given, self.weights, mask)
        if self.solvable:
            flags = solved(self.pool, mask).astype(np.float64)
            out |= {f"pass@{k}": best_at_k(flags, k) for k in self.ks}
        for i, name in enumerate(self.objectives):
            real = np.ones(len(self.pool), bool) if mask is None else mask[:, i]
            if real.any():
                out[f"objective/{name}"] = np.where(real, self.pool[..., i].mean(-1), np.nan)
        out |= self._variety()
        if self.fronts is not None:
            out["regret"] = front_best(self.fronts, self.reference_weights) - self.best(self.config.answers)
            out["ew_regret"] = front_best(self.fronts, self.weights) - self.expected_best(self.config.answers)
            pairs = zip(self.pool, self.fronts, strict=True)
            out["front_found"] = np.array([_share_found(pool, front) for pool, front in pairs])
        out["answered"] = self.answered.mean((1, 2))
        out["finished"] = self.finished.mean(1)
        out["tokens_per_answer"] = self.tokens.sum(1) / self.config.answers
        return out

    def _variety(self) -> dict[str, Floats]:
        """How different the answers of a problem are, in rewards."""
        # Absent answers are left out of the distances: a policy must not look diverse because half its answers fail.
        flat = self.answered.reshape(len(self.pool), -1)
        distances = [diversity(pool[there]) for pool, there in zip(self.pool, flat, strict=True)]
        counts, shares = pareto_count(self.pool)
        floor = np.broadcast_to(self.floor, (len(self.pool), len(self.floor)))
        floor = floor if self.objective_mask is None else floor * self.objective_mask
        nothing = (self.pool == floor[:, None]).all((1, 2))
        out = {
            "diversity": np.array(distances, np.float64),
            # A pool in which every answer failed has no optimum worth counting.
            "pareto_count": np.where(nothing, 0.0, counts),
            "pareto_share": np.where(nothing, 0.0, shares),
        }
        if len(self.objectives) <= MAX_HYPERVOLUME_OBJECTIVES:
            out["hypervolume"] = np.array([self._volume(i, pool) for i, pool in enumerate(self.pool)])
        return out

    def _volume(self, problem: int, vectors: NDArray[Any]) -> float:
        real = slice(None) if self.objective_mask is None else self.objective_mask[problem]
        return hypervolume(vectors[:, real], (self.floor - BELOW)[real])

    @property
    def correlation(self) -> Floats:
        """How the objectives go together over the given answers to a problem, (k, k); see `objective_correlation`."""
        p, n, m, k = self.rewards.shape
        return objective_correlation(self.rewards.reshape(p, n * m, k), self.answered.reshape(p, n * m))

    @property
    def solvable(self) -> bool:
        """Whether an answer can reach 1 in every objective; an exact front tells, else the reward space does."""
        if self.fronts is None:
            return self.bounded_by_one
        return any(bool(solved(front).any()) for front in self.fronts if len(front))

    def metrics(self) -> dict[str, Estimate]:
        """Every metric's mean over the problems, with its interval.

        Names: `best@k` under the reference weights and `ew_best@k` in expectation over random ones, of k answers drawn
        from the pool; `best_of_set`, `ew_best_of_set`: of the m answers of one response; `pass@k` where a perfect
        answer can exist; `objective/<name>`: mean over answers, absent ones at the lower bound; `diversity`: mean L1
        distance of two given answers; `pareto_count`, `pareto_share`: different Pareto-optimal reward vectors of the
        pool, and the answers that attain one; `hypervolume`: above a point 0.1 below the lower bound; with an exact
        front `regret`, `ew_regret` of the whole pool and `front_found`, the share of the front that it attains;
        `answered`; `finished`: responses that ended before the token limit; `tokens_per_answer`.
        """
        return {name: estimate_mean(values) for name, values in self.per_prompt.items()}

    def ceiling(self) -> dict[str, Estimate]:
        """What the exact fronts allow, under the names of the metrics; empty where the task has no fronts."""
        if self.fronts is None:
            return {}
        best, expected = front_best(self.fronts, self.reference_weights), front_best(self.fronts, self.weights)
        values = {"best_of_set": best, "ew_best_of_set": expected}
        for k in self.ks:
            values |= {f"best@{k}": best, f"ew_best@{k}": expected}
        values["pareto_count"] = np.array([len(front) for front in self.fronts], np.float64)
        if "hypervolume" in self.per_prompt:
            values["hypervolume"] = np.array([self._volume(i, front) for i, front in enumerate(self.fronts)])
        return {name: estimate_mean(v) for name, v in values.items()}


def _share_found(pool: Floats, front: NDArray[np.float32]) -> float:
    """Share of the vectors of a front (f, k) that are in a pool (n, k); 1 if there is nothing to find."""
    if not len(front):
        return 1.0
    return float((np.abs(pool[None] - front[:, None]).max(-1) < 1e-5).any(1).mean())


def evaluate_policy(
    policy: Policy,
    env_id: str,
    env_args: Sequence[str],
    num_answers: int,
    config: EvaluationConfig,
    sampling_max_tokens: int,
    prompt_tokens: int,
    progress: bool = True,
    label: str | None = None,
    rows: int = ROWS,
    problems: Sequence[int] | None = None,
    generator: Generator | None = None,
    method: str | None = None,
) -> PolicyResult:
    """Sample `config.answers` answers to each of `config.problems` test problems and score them.

    Args:
        policy: the model and its tokenizer.
        env_id, env_args: the environment, with name=value words.
        num_answers: m, answers in one response; `config.answers / m` responses are sampled for a problem.
        config: how to evaluate.
        sampling_max_tokens: longest response. prompt_tokens: longest prompt.
        progress: show a bar.
        label: what the policy is called in tables; default where it came from.
        rows: responses that are generated side by side; does not change what is sampled.
        problems: which test problems; default those from `config.first` on (of a data set: those that fit, see
            `agents.prompt_filter`).
        generator: what samples, with the policy's weights; default one of transformers.
        method: what trained the policy, for `config.prompt_weights` "auto".

    Raises:
        ValueError: the numbers do not fit together, the environment refuses its arguments or cannot write weights into
            its prompts, or a prompt is too long.
    """
    check_evaluation(config, num_answers)
    environment = Environment(env_id, parse_pairs(env_args, "--env-args"), num_answers, "test")
    written = written_weights(config.prompt_weights, method)
    check_prompt_weights(environment, written)
    if problems is None:
        problems = fitting_problems(
            [(policy, environment)],
            prompt_tokens,
            sampling_max_tokens,
            config.problems,
            weights=written != "none",
            start=config.first,
        )
    if problems is None:
        available, end = environment.num_problems, config.first + config.problems
        problems = range(config.first, end if available is None else min(end, available))
        if not problems:
            raise ValueError(f"--evaluation.first {config.first}: {env_id} has {available} test problems")
    responses = config.answers // num_answers
    weights = evaluation_weights(written, environment, problems, responses, config.seed)
    prompts = responses if written == "random" else 1  # different ones for a problem
    if generator is None:
        pad_id = policy.tokenizer.pad_token_id
        generator = TransformersGenerator(policy.model, policy.end_ids, pad_id, rows, policy.dtype)
    top_p = evaluation_top_p(env_id) if config.top_p is None else config.top_p
    config = replace(config, top_p=top_p)
    sampling = Sampling(sampling_max_tokens, config.temperature, top_p)
    parts: list[Rollouts] = []
    began = time.perf_counter()
    at_once = max(1, ROWS // responses)
    with tqdm(total=len(problems), desc=label or policy.source, unit="problem", disable=not progress) as bar:
        for first in range(0, len(problems), at_once):
            batch = problems[first : first + at_once]
            seeds = [seed for problem in batch for seed in seeds_of([config.seed, problem], prompts)]
            each = [problem for problem in batch for _ in range(prompts)]
            asked = None if weights is None else weights[first : first + at_once, :prompts].reshape(len(each), -1)
            parts.append(
                collect(
                    policy,
                    generator,
                    environment,
                    each,
                    responses // prompts,
                    sampling,
                    seeds,
                    prompt_tokens,
                    None if asked is None else torch.from_numpy(asked),
                )
            )
            bar.update(len(batch))
    seconds = time.perf_counter() - began
    masks = [part.objective_mask.numpy() for part in parts if part.objective_mask is not None]
    completions = _grouped((c for part in parts for group in part.completions for c in group), responses)
    shape = (len(problems), responses, num_answers)
    floor = environment.lower_bound
    return PolicyResult(
        label=label or policy.source,
        model=policy.source,
        env=env_id,
        env_args=tuple(env_args),
        config=config,
        max_tokens=sampling_max_tokens,
        objectives=environment.objectives,
        reference_weights=environment.reference_weights,
        floor=np.where(np.isfinite(floor), floor, 0.0).astype(np.float32),
        problems=list(problems),
        rewards=np.concatenate([part.rewards.numpy() for part in parts]).reshape(*shape, -1),
        answered=np.concatenate([part.answered.numpy() for part in parts]).reshape(shape),
        objective_mask=np.concatenate(masks)[::prompts] if masks else None,
        answers=_grouped((a for part in parts for group in part.answers for a in group), responses),
        tokens=np.array([[len(c.token_ids) for c in group] for group in completions], np.int64),
        finished=np.array([[c.finish_reason == "stop" for c in group] for group in completions], bool),
        seconds=seconds,
        fronts=_fronts(environment.task, problems),
        bounded_by_one=environment.is_ours,
        prompt_weights=written,
        asked_weights=weights,
    )


def _grouped(items: Iterable[T], size: int) -> list[list[T]]:
    """The items of each problem, `size` of them."""
    flat = list(items)
    return [flat[first : first + size] for first in range(0, len(flat), size)]


def problems_for_all(
    policies: Sequence[tuple[Policy, int]],
    env_id: str,
    env_args: Sequence[str],
    config: EvaluationConfig,
    max_tokens: int,
    prompt_tokens: int,
    weights: bool = False,
) -> list[int] | None:
    """The test problems of a data set whose prompts fit every (policy, m); None where nothing is filtered.

    `weights`: whether some of the prompts ask for weights.
    """
    args = parse_pairs(env_args, "--env-args")
    environments = {m: Environment(env_id, args, m, "test") for m in {m for _, m in policies}}
    pairs = [(policy, environments[m]) for policy, m in policies]
    return fitting_problems(pairs, prompt_tokens, max_tokens, config.problems, weights, config.first)


def _fronts(task: Any, problems: Sequence[int]) -> list[NDArray[np.float32]] | None:
    """The exact fronts (f, k) of the problems, if the task can compute them."""
    if not hasattr(task, "pareto_front"):
        return None
    try:
        return [task.pareto_front(task[i]) for i in problems]
    except ValueError:  # a problem from a file that is too large for the exact front
        return None
