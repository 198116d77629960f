"""The policy-gradient step: PPO's clipped objective on group advantages, with a KL penalty to the frozen reference.

What it leaves out of PPO, and why: no critic (the advantage is relative to the group), no entropy bonus and no reward
shaping by KL (the KL is a loss), no value clipping. One step consumes one batch of rollouts.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from agents.config import LearnerConfig
from agents.generation import Completion
from agents.logprobs import Sequences, check_head, pad_sequences, response_logprobs
from agents.precision import computing_in
from agents.rollout import Rollouts


def policy_loss(
    logp: Tensor, old_logp: Tensor, advantage: Tensor, clip_low: float, clip_high: float, dual_clip: float
) -> tuple[Tensor, Tensor]:
    """Per-token loss (tokens,) and whether the clip was active (tokens,).

    Clipped surrogate of Schulman et al. 2017 (arXiv 1707.06347) with the dual clip of Ye et al. 2020 (arXiv
    1912.09729): for a negative advantage the loss is at most `dual_clip * |advantage|`.
    """
    ratio = (logp - old_logp).exp()
    plain = -advantage * ratio
    clipped = -advantage * ratio.clamp(1 - clip_low, 1 + clip_high)
    loss = torch.maximum(plain, clipped)
    bounded = torch.minimum(loss, -advantage * dual_clip)
    return torch.where(advantage < 0, bounded, loss), clipped > plain


def kl_estimate(logp: Tensor, ref_logp: Tensor) -> Tensor:
    """Per-token estimate (tokens,) of KL(policy || reference): exp(d) - d - 1 with d = log p_ref - log p.

    Unbiased, non-negative and of low variance: Schulman 2020, "Approximating KL divergence" (k3).
    """
    d = ref_logp - logp
    return d.expm1() - d  # exp(d) - 1 would lose a small d, and the sign with it, to rounding


class Learner:
    """Owns the optimizer and the frozen reference of one model."""

    def __init__(
        self, model: PreTrainedModel, config: LearnerConfig, temperature: float, dtype: torch.dtype = torch.float32
    ) -> None:
        check_head(model)
        self.model, self.config, self.temperature, self.dtype = model, config, temperature, dtype
        self.reference: PreTrainedModel | None = None
        if config.kl_coef > 0:
            self.reference = copy.deepcopy(model).eval().requires_grad_(False)
        self.optimizer = torch.optim.AdamW(
            model.parameters(), lr=config.lr, betas=config.betas, weight_decay=config.weight_decay
        )

    def step(self, rollouts: Rollouts, advantages: Tensor) -> dict[str, float]:
        """Update the model on one batch of rollouts and their advantages (B, G).

        Returns token-weighted means of the loss, the KL, the clip fraction, the entropy and the engines' ratio, and the
        mean gradient norm.
        """
        self.model.eval()  # the rollouts were sampled without dropout, so that is the distribution to differentiate
        num_prompts = len(rollouts.prompts)
        batches = [
            list(range(first, min(first + self.config.mini_batch, num_prompts)))
            for first in range(0, num_prompts, self.config.mini_batch)
        ]
        # With one update per step the rollouts come from the very weights that are differentiated: the old
        # log-probabilities are the new ones. Otherwise they are computed before the first update.
        updates = len(batches) * self.config.epochs
        old = self._old_logprobs(rollouts) if updates > 1 else None
        totals: dict[str, float] = defaultdict(float)
        for _ in range(self.config.epochs):
            for batch in batches:
                self._update(rollouts, advantages, batch, old, totals)
        tokens = totals.pop("tokens")
        gradient_norm = totals.pop("grad_norm") / updates
        return {name: total / max(1.0, tokens) for name, total in totals.items()} | {"grad_norm": gradient_norm}

    def _update(
        self,
        rollouts: Rollouts,
        advantages: Tensor,
        batch: list[int],
        old: dict[tuple[int, int], Tensor] | None,
        totals: dict[str, float],
    ) -> None:
        tokens = sum(len(c.token_ids) for b in batch for c in rollouts.completions[b])
        self.optimizer.zero_grad(set_to_none=True)
        for where, sequences, completions in self._micro_batches(rollouts, batch):
            loss = self._loss(where, sequences, completions, advantages, old, totals)
            (loss.sum() / tokens).backward()  # token-mean over the whole mini-batch
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.grad_clip)
        if not norm.isfinite():
            raise ValueError(
                f"the gradient norm is {float(norm)}: the weights were not updated. The learning rate may be too high; "
                "go on from the last checkpoint with --resume, or start again with a lower --learner.lr"
            )
        self.optimizer.step()
        totals["grad_norm"] += float(norm)

    def _micro_batches(
        self, rollouts: Rollouts, batch: list[int]
    ) -> Iterator[tuple[list[tuple[int, int]], Sequences, list[Completion]]]:
        """Cut the rollouts of some prompts into forward passes, rollouts of similar length together."""
        where = [(b, g) for b in batch for g in range(len(rollouts.completions[b]))]
        where.sort(key=lambda bg: len(rollouts.prompts[bg[0]]) + len(rollouts.completions[bg[0]][bg[1]].token_ids))
        for first in range(0, len(where), self.config.micro_batch):
            part = where[first : first + self.config.micro_batch]
            completions = [rollouts.completions[b][g] for b, g in part]
            prompts = [rollouts.prompts[b] for b, _ in part]
            yield part, pad_sequences(prompts, completions, self.model.device), completions

    def _loss(
        self,
        where: list[tuple[int, int]],
        sequences: Sequences,
        completions: list[Completion],
        advantages: Tensor,
        old: dict[tuple[int, int], Tensor] | None,
        totals: dict[str, float],
    ) -> Tensor:
        """Per-token loss (tokens,) of one micro-batch; adds its sums to `totals`."""
        config, device = self.config, self.model.device
        logp, entropy = self._logprobs(self.model, sequences)
        old_logp = logp.detach() if old is None else torch.cat([old[bg] for bg in where])
        lengths = torch.tensor([len(c.token_ids) for c in completions])
        rollout_advantages = torch.stack([advantages[b, g] for b, g in where])
        advantage = rollout_advantages.repeat_interleave(lengths).to(device, logp.dtype)
        loss, clipped = policy_loss(logp, old_logp, advantage, config.clip_low, config.clip_high, config.dual_clip)

        sampled = torch.tensor([lp for c in completions for lp in c.logprobs], device=device, dtype=logp.dtype)
        engine_ratio = (old_logp - sampled).exp()
        if config.tis_cap is not None:
            loss = loss * engine_ratio.clamp(max=config.tis_cap)
        if self.reference is not None:
            with torch.no_grad():
                ref, _ = self._logprobs(self.reference, sequences)
            kl = kl_estimate(logp, ref)
            loss = loss + config.kl_coef * kl
            totals["kl"] += float(kl.detach().sum())
        totals["tokens"] += len(logp)
        totals["loss"] += float(loss.detach().sum())
        totals["clip_fraction"] += float(clipped.sum())
        totals["entropy"] += float(entropy.sum())
        totals["engine_ratio"] += float(engine_ratio.sum())
        return loss

    def _logprobs(self, model: PreTrainedModel, sequences: Sequences) -> tuple[Tensor, Tensor]:
        with computing_in(self.dtype, model.device):
            return response_logprobs(model, sequences, self.temperature, self.config.logprob_chunk)

    @torch.no_grad()
    def _old_logprobs(self, rollouts: Rollouts) -> dict[tuple[int, int], Tensor]:
        old: dict[tuple[int, int], Tensor] = {}
        for where, sequences, completions in self._micro_batches(rollouts, list(range(len(rollouts.prompts)))):
            logp, _ = self._logprobs(self.model, sequences)
            parts = logp.split([len(c.token_ids) for c in completions])
            old.update(zip(where, parts, strict=True))
        return old

    def state_dict(self) -> dict[str, Any]:
        """Optimizer state; the model is saved on its own."""
        return {"optimizer": self.optimizer.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.optimizer.load_state_dict(state["optimizer"])
