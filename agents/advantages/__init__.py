"""Advantage estimators: pure functions from the rewards of a step, (B, G, m, k), to advantages (B, G).

One estimator per file, all of them in the table below. A new one is a function
`(batch, *, its options, generator=None) -> (B, G)` and a line here. Those in `PER_ANSWER` return (B, G, 1 + m).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import torch
from torch import Tensor

from agents.advantages.batch import RewardBatch
from agents.advantages.best_of_set import best_of_set
from agents.advantages.dr_grpo import dr_grpo
from agents.advantages.gdpo import gdpo
from agents.advantages.goal_conditioned import goal_conditioned
from agents.advantages.grpo import grpo
from agents.advantages.max_at_k import max_at_k
from agents.advantages.maxpo import maxpo
from agents.advantages.maxrl import maxrl
from agents.advantages.multi_rlvr import multi_rlvr
from agents.advantages.pass_at_k import pass_at_k
from agents.advantages.poly import poly
from agents.advantages.random_weight import random_weight
from agents.advantages.shape_grpo import shape_grpo
from agents.advantages.vpo import vpo
from agents.advantages.vpo_shapley import vpo_shapley
from agents.advantages.weights import sample_weights

ESTIMATORS: dict[str, Callable[..., Tensor]] = {
    # of answer sets, m >= 1
    "vpo": vpo,
    "vpo_shapley": vpo_shapley,
    "best_of_set": best_of_set,
    "multi_rlvr": multi_rlvr,
    "shape_grpo": shape_grpo,
    # of single answers, m = 1
    "grpo": grpo,
    "dr_grpo": dr_grpo,
    "random_weight": random_weight,
    "goal_conditioned": goal_conditioned,
    "gdpo": gdpo,
    "maxrl": maxrl,
    "max_at_k": max_at_k,
    "pass_at_k": pass_at_k,
    "maxpo": maxpo,
    "poly": poly,
}

PER_ANSWER = frozenset({"vpo_shapley", "shape_grpo"})
"""The estimators that return (B, G, 1 + m): index 0 is for tokens outside of every answer, index j for answer j's."""

ONE_ANSWER = frozenset(ESTIMATORS) - {"vpo", "vpo_shapley", "best_of_set", "multi_rlvr", "shape_grpo"}
"""The estimators that need environments with `num_answers=1`; the others take any number."""

NEEDS_PROMPT_WEIGHTS = frozenset({"goal_conditioned"})
"""The estimators that need prompts which ask for the group's own weights, and those in `RewardBatch.prompt_weights`."""

__all__ = [
    "ESTIMATORS",
    "NEEDS_PROMPT_WEIGHTS",
    "ONE_ANSWER",
    "PER_ANSWER",
    "RewardBatch",
    "estimate",
    "estimator_options",
    "sample_weights",
]


def estimate(name: str, batch: RewardBatch, generator: torch.Generator | None = None, **options: Any) -> Tensor:
    """Advantages of the rollouts in `batch`, in its dtype and on its device.

    (B, G): one for all tokens of a rollout. For the estimators in `PER_ANSWER` (B, G, 1 + m): [b, g, 0] for the tokens
    outside of every answer, [b, g, j] for those of answer j = 1 ... m, in the order of `batch.rewards`.

    Args:
        name: a key of `ESTIMATORS`.
        batch: the rewards.
        generator: source of the weights of the estimators that draw some. Default: torch's global one.
        options: the estimator's own (`estimator_options(name)` lists them).

    Raises:
        ValueError: no such estimator, or it does not apply to this batch.
        TypeError: the estimator has no such option.
    """
    known = estimator_options(name)
    if unknown := sorted(options.keys() - known.keys()):
        has = f"its options are {', '.join(known)}" if known else "it has none"
        raise TypeError(f"{name} has no option {', '.join(map(repr, unknown))}: {has}")
    return ESTIMATORS[name](batch, generator=generator, **options)


def estimator_options(name: str) -> dict[str, Any]:
    """The options of an estimator, name -> default. ValueError if there is no such estimator."""
    if name not in ESTIMATORS:
        near = get_close_matches(name, ESTIMATORS)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise ValueError(f"no estimator {name!r}: there are {', '.join(ESTIMATORS)}{hint}")
    parameters = inspect.signature(ESTIMATORS[name]).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY and p.name != "generator"}
