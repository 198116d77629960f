"""The policy-gradient step spelled out: one token, one sequence and one AdamW update at a time."""

from __future__ import annotations

import math
from copy import deepcopy

import torch
from agents_helpers import full_logits
from torch import Tensor
from transformers import PreTrainedModel

from agents.config import LearnerConfig
from agents.rollout import Rollouts


def token_loss(logp: float, old: float, advantage: float, low: float, high: float, dual: float) -> float:
    """PPO's clipped loss of one token, with the dual clip."""
    ratio = math.exp(logp - old)
    surrogate = min(ratio * advantage, min(max(ratio, 1 - low), 1 + high) * advantage)
    if advantage < 0:
        surrogate = max(surrogate, dual * advantage)
    return -surrogate


def surrogate_tensor(ratio: Tensor, advantage: float, config: LearnerConfig) -> Tensor:
    """`token_loss` with a graph."""
    surrogate = torch.min(ratio * advantage, ratio.clamp(1 - config.clip_low, 1 + config.clip_high) * advantage)
    if advantage < 0:
        surrogate = surrogate.clamp(min=config.dual_clip * advantage)
    return -surrogate


def sequence_logprobs(model: PreTrainedModel, prompt: list[int], tokens: list[int], temperature: float) -> Tensor:
    """(tokens,) from all logits of one unpadded sequence."""
    logp = (full_logits(model, prompt, tokens) / temperature).log_softmax(-1)
    return logp.gather(-1, torch.tensor(tokens)[:, None]).squeeze(-1)


def reference_step(
    model: PreTrainedModel,
    frozen: PreTrainedModel,
    rollouts: Rollouts,
    advantages: Tensor,
    config: LearnerConfig,
    temperature: float,
) -> PreTrainedModel:
    """A copy of `model` after one `Learner.step` by an optimizer that starts afresh; `frozen` is the KL reference."""
    start, model = model, deepcopy(model)
    trained = [p for p in model.parameters() if p.requires_grad]
    moments = [(torch.zeros_like(p), torch.zeros_like(p)) for p in trained]
    updates = 0
    for _ in range(config.epochs):
        for first in range(0, len(rollouts.prompts), config.mini_batch):
            losses = []
            for b in range(len(rollouts.prompts))[first : first + config.mini_batch]:
                for g, completion in enumerate(rollouts.completions[b]):
                    where = (rollouts.prompts[b], completion.token_ids, temperature)
                    logp = sequence_logprobs(model, *where)
                    with torch.no_grad():
                        old, ref = sequence_logprobs(start, *where), sequence_logprobs(frozen, *where)
                    ratios, given = (logp - old).exp(), advantages[b, g]
                    parts = rollouts.parts[b][g] if rollouts.parts is not None else [()] * len(ratios)
                    tokens = zip(ratios, parts, strict=True)
                    loss = torch.stack([surrogate_tensor(ratio, float(given[part]), config) for ratio, part in tokens])
                    if config.tis_cap is not None:
                        engine = (old - torch.tensor(completion.logprobs, dtype=old.dtype)).exp()
                        loss = loss * engine.clamp(max=config.tis_cap)
                    d = ref - logp
                    losses.append(loss + config.kl_coef * (d.exp() - d - 1))
            gradients = torch.autograd.grad(torch.cat(losses).mean(), trained)
            updates += 1
            _adamw(trained, gradients, moments, updates, config)
    return model


@torch.no_grad()
def _adamw(
    parameters: list[Tensor],
    gradients: tuple[Tensor, ...],
    moments: list[tuple[Tensor, Tensor]],
    updates: int,
    config: LearnerConfig,
) -> None:
    """Loshchilov & Hutter 2019 (arXiv 1711.05101), after clipping the global norm."""
    norm = math.sqrt(sum(float((g * g).sum()) for g in gradients))
    scale = min(1.0, config.grad_clip / (norm + 1e-6))
    beta1, beta2 = config.betas
    for p, gradient, (first, second) in zip(parameters, gradients, moments, strict=True):
        g = gradient * scale
        first.mul_(beta1).add_((1 - beta1) * g)
        second.mul_(beta2).add_((1 - beta2) * g * g)
        mean, square = first / (1 - beta1**updates), second / (1 - beta2**updates)
        p.sub_(config.lr * (config.weight_decay * p + mean / (square.sqrt() + 1e-8)))
