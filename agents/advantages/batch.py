"""What an estimator sees of one training step: the rewards of B groups of G rollouts with m answers each."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from numpy.typing import ArrayLike
from torch import Tensor


@dataclass(frozen=True, init=False, eq=False)
class RewardBatch:
    """Rewards of shape (B, G, m, k) with all that is needed to read them; every default filled in, every entry finite.

    A *group* is the G rollouts of one prompt, a *rollout* is one response with m answers, an answer has k objectives.

    Args:
        rewards: (B, G, m, k) float32 or float64, higher is better. Entries of absent answers and of masked objectives
            are ignored, whatever they hold.
        answered: (B, G, m) bool; False for an answer that is missing or repeats another one. Default: all answered.
        objective_mask: (B, k) bool; False for an objective that the prompt does not have. Default: all real.
        reference_weights: (k,) or (B, k) non-negative weights w* of the fixed scalarization; they are renormalised over
            the real objectives of each group. Default: equal.
        lower_bound: a number or (k,): the reward vector of a rollout that gave no answer at all, that is the lower
            bound of the environment's reward space.
        prompt_weights: (B, k) non-negative weights that were written into each prompt, for `goal_conditioned`;
            renormalised like the reference weights. Default: none, the prompts ask for nothing in particular.

    Raises:
        TypeError: a tensor has the wrong type or dtype.
        ValueError: a shape or device does not fit, a reward that counts is not finite, a group has no objective or no
            weight, or the lower bound is needed and not finite.
    """

    rewards: Tensor
    """(B, G, m, k), zero for absent answers and masked objectives."""
    answered: Tensor
    """(B, G, m) bool."""
    objective_mask: Tensor
    """(B, k) bool."""
    reference_weights: Tensor
    """(B, k), zero for masked objectives, each row sums to 1."""
    lower_bound: Tensor
    """(k,)."""
    prompt_weights: Tensor | None
    """(B, k), zero for masked objectives, each row sums to 1; or None."""

    def __init__(
        self,
        rewards: Tensor,
        answered: Tensor | None = None,
        objective_mask: Tensor | None = None,
        reference_weights: ArrayLike | Tensor | None = None,
        lower_bound: ArrayLike | Tensor = 0.0,
        prompt_weights: ArrayLike | Tensor | None = None,
    ) -> None:
        if not isinstance(rewards, Tensor) or rewards.dtype not in (torch.float32, torch.float64):
            found = rewards.dtype if isinstance(rewards, Tensor) else type(rewards).__name__
            raise TypeError(f"rewards must be a float32 or float64 tensor, not {found}: convert it first")
        if rewards.ndim != 4 or 0 in rewards.shape:
            raise ValueError(
                "rewards must have the shape (prompts, rollouts, answers, objectives), none of them empty, "
                f"not {tuple(rewards.shape)}"
            )
        b, g, m, k = rewards.shape
        rewards = rewards.detach()
        answered = _flags("answered", answered, (b, g, m), rewards.device)
        objective_mask = _flags("objective_mask", objective_mask, (b, k), rewards.device)
        rewards = rewards.masked_fill(~(answered[..., None] & objective_mask[:, None, None, :]), 0.0)
        _check_finite(rewards)

        if reference_weights is None:
            reference_weights = torch.ones(k, dtype=rewards.dtype)
        if prompt_weights is not None:
            prompt_weights = _weights("prompt_weights", prompt_weights, objective_mask, rewards, shapes=((b, k),))
        fields = {
            "rewards": rewards,
            "answered": answered,
            "objective_mask": objective_mask,
            "reference_weights": _weights(
                "reference_weights", reference_weights, objective_mask, rewards, shapes=((k,), (b, k))
            ),
            "lower_bound": _lower_bound(lower_bound, answered, rewards),
            "prompt_weights": prompt_weights,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def silent(self) -> Tensor:
        """(B, G) bool: rollouts that gave no answer at all."""
        return ~self.answered.any(dim=-1)

    def scalars(self) -> Tensor:
        """(B, G, m): s = w* . r of each answer, 0 where the answer is absent."""
        return (self.rewards @ self.reference_weights[:, None, :, None]).squeeze(-1)

    def silent_scalar(self) -> Tensor:
        """(B, 1): what a rollout without any answer scores, w* . lower bound."""
        return self.reference_weights @ self.lower_bound[:, None]

    def one_answer_rewards(self, estimator: str) -> Tensor:
        """(B, G, k): r of each rollout's only answer, the lower bound where it gave none. ValueError unless m = 1."""
        answers = self.rewards.shape[2]
        if answers != 1:
            raise ValueError(
                f"{estimator} needs exactly one answer per rollout and got {answers}: make the environment with "
                "num_answers=1, or use an estimator of answer sets (vpo, multi_rlvr)"
            )
        return self.for_maximum().squeeze(2)

    def one_answer_scalars(self, estimator: str, weights: Tensor | None = None) -> Tensor:
        """(B, G): w . r of each rollout's only answer under weights (B, k), w* by default. ValueError unless m = 1."""
        weights = self.reference_weights if weights is None else weights
        return (self.one_answer_rewards(estimator) @ weights[:, :, None]).squeeze(-1)

    def for_maximum(self) -> Tensor:
        """(B, G, m, k): rewards under which a maximum over all m answers is one over the answers that were given.

        An absent answer repeats the rollout's first answer; a rollout without any has the lower bound throughout.
        """
        first = self.answered.to(torch.uint8).argmax(dim=-1)[..., None, None]  # (B, G, 1, 1)
        stand_in = self.rewards.gather(2, first.expand(-1, -1, -1, self.rewards.shape[-1]))  # (B, G, 1, k)
        bound = self.lower_bound * self.objective_mask[:, None, None, :]  # (B, 1, 1, k)
        stand_in = torch.where(self.silent[..., None, None], bound, stand_in)
        return torch.where(self.answered[..., None], self.rewards, stand_in)


def _flags(name: str, flags: Tensor | None, shape: tuple[int, ...], device: torch.device) -> Tensor:
    if flags is None:
        return torch.ones(shape, dtype=torch.bool, device=device)
    if not isinstance(flags, Tensor) or flags.dtype != torch.bool:
        found = flags.dtype if isinstance(flags, Tensor) else type(flags).__name__
        raise TypeError(f"{name} must be a bool tensor, not {found}")
    if tuple(flags.shape) != shape:
        raise ValueError(f"{name} must have the shape {shape} to fit the rewards, not {tuple(flags.shape)}")
    if flags.device != device:
        raise ValueError(f"{name} is on {flags.device} but the rewards are on {device}")
    return flags


def _check_finite(rewards: Tensor) -> None:
    finite = rewards.isfinite()
    if finite.all():
        return
    bad: list[list[int]] = (~finite).nonzero().tolist()
    raise ValueError(
        f"rewards{bad[0]} (prompt, rollout, answer, objective) is {rewards[tuple(bad[0])].item()}; "
        f"{len(bad)} of {rewards.numel()} rewards are not finite"
    )


def _weights(
    name: str, weights: ArrayLike | Tensor, mask: Tensor, like: Tensor, shapes: tuple[tuple[int, ...], ...]
) -> Tensor:
    """(B, k), zero where masked, rows sum to 1."""
    w = _tensor(weights, like)
    if tuple(w.shape) not in shapes:
        raise ValueError(f"{name} must have the shape {' or '.join(map(str, shapes))}, not {tuple(w.shape)}")
    if not (w.isfinite() & (w >= 0)).all():
        raise ValueError(f"{name} must be finite and not negative, not {w.tolist()}")
    w = w * mask
    total = w.sum(dim=-1, keepdim=True)
    if not (total > 0).all():
        group = int((total <= 0).squeeze(-1).nonzero()[0])
        kind = name.removesuffix("_weights")
        what = "no real objective (objective_mask)" if not mask[group].any() else f"no {kind} weight"
        raise ValueError(f"prompt {group} has {what}: its answers cannot be scored")
    return w / total


def _lower_bound(bound: ArrayLike | Tensor, answered: Tensor, like: Tensor) -> Tensor:
    """(k,); zeros in place of an infinite bound that no rollout needs."""
    k = like.shape[-1]
    lower = _tensor(bound, like)
    if tuple(lower.shape) not in ((), (k,)):
        raise ValueError(f"lower_bound must be a number or have the shape {(k,)}, not {tuple(lower.shape)}")
    lower = lower.expand(k)
    if not lower.isfinite().all():
        silent = (~answered.any(dim=-1)).nonzero().tolist()
        if silent:
            raise ValueError(
                f"rollout {silent[0]} (prompt, rollout) gave no answer and would score the lower bound "
                f"{lower.tolist()}: give a finite lower_bound"
            )
        lower = torch.zeros_like(lower)
    return lower


def _tensor(values: ArrayLike | Tensor, like: Tensor) -> Tensor:
    return torch.as_tensor(values, dtype=like.dtype, device=like.device).detach()
