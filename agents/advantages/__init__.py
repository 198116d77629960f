"""Advantage estimators: pure functions from the rewards of a step, (B, G, m, k), to advantages (B, G).

One estimator per file, all of them in the table below. A new one is a function
`(batch, *, its options, generator=None) -> (B, G)` and a line here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import torch
from torch import Tensor

from agents.advantages.batch import RewardBatch
from agents.advantages.grpo import grpo
from agents.advantages.multi_rlvr import multi_rlvr
from agents.advantages.vpo import vpo
from agents.advantages.weights import sample_weights

ESTIMATORS: dict[str, Callable[..., Tensor]] = {
    "vpo": vpo,
    "grpo": grpo,
    "multi_rlvr": multi_rlvr,
}

ONE_ANSWER = frozenset({"grpo"})
"""The estimators that need environments with `num_answers=1`; the others take any number."""

__all__ = ["ESTIMATORS", "ONE_ANSWER", "RewardBatch", "estimate", "estimator_options", "sample_weights"]


def estimate(name: str, batch: RewardBatch, generator: torch.Generator | None = None, **options: Any) -> Tensor:
    """Advantages (B, G) of the rollouts in `batch`, in its dtype and on its device.

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
