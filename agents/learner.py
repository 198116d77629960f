"""The policy-gradient step: PPO's clipped objective on group advantages, with a KL penalty to the frozen reference.

What it leaves out of PPO, and why: no critic (the advantage is relative to the group), no entropy bonus and no reward
shaping by KL (the KL is a loss), no value clipping. One step consumes one batch of rollouts.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor
from transformers import PreTrainedModel

from agents.config import LearnerConfig
from agents.faults import Fault
from agents.logprobs import Sequences, check_head, response_logprobs
from agents.lora import adapter_off, has_adapter
from agents.losses import kl_estimate, policy_loss
from agents.master_weights import MasterWeights
from agents.micro_batches import Limits, MicroBatch, micro_batches, one_token
from agents.out_of_memory import free_memory, is_out_of_memory
from agents.precision import computing_in
from agents.processes import ALONE, Processes
from agents.recompute import recomputing
from agents.rollout import Rollouts
from agents.sharding import forward_pass, gathered_state, publish, shard, sharded_moments, take_over
from agents.token_credit import token_advantages
from agents.token_sums import TokenSums

T = TypeVar("T")
Logprobs = dict[tuple[int, int], Tensor]
"""(prompt, place in the group) -> log-probabilities of the response (tokens,)."""


@dataclass(frozen=True)
class StepData:
    """What does not change while a step's updates are made."""

    rollouts: Rollouts
    advantages: Tensor
    """(B, G), or (B, G, 1 + m) by the part of a response that a token belongs to."""
    old: Logprobs | None
    """Of the policy before the first update; None if there is one update, whose own ones they are."""
    reference: Logprobs | None


class Learner:
    """Owns the optimizer and the frozen reference of one model.

    With several processes each one computes the gradient of its share of a mini-batch, and all make the same updates.

    Args:
        model: what is trained. Where the weights are sharded it stays whole, and `step` leaves the new weights in it.
        config: the objective and the optimizer.
        temperature: that of the sampled responses.
        dtype: what is computed in.
        processes: this process among the others.

    Raises:
        ValueError: a model that the learner does not reproduce, or an option that it cannot honour.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        config: LearnerConfig,
        temperature: float,
        dtype: torch.dtype = torch.float32,
        processes: Processes = ALONE,
    ) -> None:
        if processes.sharded and config.offload_reference:
            raise ValueError("--learner.offload-reference: with FSDP every process keeps a part of the reference only")
        with computing_in(dtype, model.device):
            check_head(model)
        self.config, self.temperature, self.dtype, self.processes = config, temperature, dtype, processes
        processes.same_weights(model)
        self.adapted = has_adapter(model)
        self.reference: PreTrainedModel | None = None
        """A copy of the first policy; none is needed for an adapter, which leaves it when it is off."""
        if config.kl_coef > 0 and not self.adapted:
            self.reference = copy.deepcopy(model).eval().requires_grad_(False)
            if processes.sharded:  # at once, so that no third copy is whole at any time
                shard(self.reference)
        if config.gradient_checkpointing:
            with recomputing(model):  # refuses models that cannot
                pass
        self.whole, self.model = model, model
        if processes.sharded:
            self.model = copy.deepcopy(model)
            shard(self.model, processes.reshard_after_forward)
        self._move_reference(away=True)
        self.weights = MasterWeights(self.model)
        self.optimizer = torch.optim.AdamW(
            self.weights.masters, lr=config.lr, betas=config.betas, weight_decay=config.weight_decay, fused=True
        )
        self.limits = Limits(config.micro_batch, config.micro_batch_tokens)
        self.skipped_in_a_row = 0
        """Updates since the last one that was made."""
        self._halved = False

    def step(self, rollouts: Rollouts, advantages: Tensor) -> dict[str, float]:
        """Update the model on one batch of rollouts and their advantages, (B, G) or (B, G, 1 + m).

        The latter credit the tokens of each answer, and those of none, for themselves (`agents.token_credit`).

        Returns token means of the loss, the KL, the clip fraction, the entropy and the engines' ratio, the largest such
        ratio and the share that was capped, the mean gradient norm, all over the updates that were made; and the number
        of those that were skipped because their loss or gradient was not finite.
        """
        self.model.eval()  # the rollouts were sampled without dropout, so that is the distribution to differentiate
        prompts = range(len(rollouts.prompts))
        size = self.config.mini_batch
        batches = [prompts[first : first + size] for first in range(0, len(prompts), size)]
        # With one update per step the rollouts come from the very weights that are differentiated: the old
        # log-probabilities are the new ones. Otherwise they are computed before the first update.
        several = len(batches) * self.config.epochs > 1
        data = StepData(
            rollouts,
            advantages,
            self._fixed_logprobs(self.model, rollouts, batches) if several else None,
            self._reference_logprobs(rollouts, batches) if self.config.kl_coef > 0 else None,
        )
        sums, norms, skipped = TokenSums(self.model.device), list[float](), 0
        for _ in range(self.config.epochs):
            for batch in batches:
                made, norm = self._update(data, batch)
                if made is None:
                    skipped += 1
                else:
                    sums.merge(made)
                    norms.append(norm)
        if self.processes.sharded:
            publish(self.model, self.whole)
        metrics = sums.means()
        if metrics and self.config.kl_coef == 0:
            del metrics["kl"]
        if metrics and self.config.tis_cap is None:
            del metrics["engine_ratio_capped"]
        if norms:
            metrics["grad_norm"] = sum(norms) / len(norms)
        return metrics | {"skipped_updates": float(skipped)}

    @property
    def exhausted(self) -> bool:
        """Whether so many updates in a row were skipped that going on makes no sense."""
        return self.skipped_in_a_row >= self.config.max_skipped

    def _update(self, data: StepData, batch: Sequence[int]) -> tuple[TokenSums | None, float]:
        """One optimizer update on some prompts: its sums, None if it was skipped, and the gradient norm."""
        tokens = sum(len(c.token_ids) for b in batch for c in data.rollouts.completions[b])
        own = self._with_room(lambda: self._gradients(data, batch, tokens))
        self.processes.sum_gradients(self.weights.masters)
        sums = own.joined(self.processes)
        norm = float(self.weights.clip_gradients(self.config.grad_clip))
        if not (torch.isfinite(torch.tensor(norm)) and sums.finite()):
            self.skipped_in_a_row += 1
            self.weights.drop_gradients()
            return None, norm
        self.skipped_in_a_row = 0
        self.optimizer.step()
        self.weights.write_back()
        return sums, norm

    def _gradients(self, data: StepData, batch: Sequence[int], tokens: int) -> TokenSums:
        """Leave the gradient of the mean loss over the tokens of a batch in the weights; returns its sums.

        This process's share of either: the batch has `tokens` tokens in all processes.
        """
        self.weights.drop_gradients()
        sums = TokenSums(self.model.device)
        for micro in self._passes(data.rollouts, batch):
            loss = self._nothing(data.rollouts) if micro is None else self._loss(data, micro, sums)
            (loss.sum() / tokens * self.processes.loss_factor).backward()  # token-mean over the whole mini-batch
            self.weights.collect_gradients()
        return sums

    def _passes(self, rollouts: Rollouts, batch: Sequence[int]) -> Iterator[MicroBatch | None]:
        """The micro-batches of this process's share of a batch; None is a pass for nothing.

        Sharded processes need one another in every pass, so that all make as many; a process without a prompt in this
        batch makes one in any case, which leaves gradients of zero.
        """
        own = list(micro_batches(rollouts, self.processes.share(batch), self.limits, self.model.device))
        passes = self.processes.most(len(own)) if self.processes.sharded else max(1, len(own))
        yield from own
        yield from [None] * (passes - len(own))

    def _nothing(self, rollouts: Rollouts) -> Tensor:
        """The loss (1,) of a pass for nothing: zero, as are its gradients."""
        logp, _ = self._logprobs(self.model, one_token(rollouts, self.model.device))
        return 0 * logp

    def _loss(self, data: StepData, micro: MicroBatch, sums: TokenSums) -> Tensor:
        """Per-token loss (tokens,) of one micro-batch; adds to `sums`."""
        config, device = self.config, self.model.device
        with recomputing(self.model) if config.gradient_checkpointing else nullcontext():
            logp, entropy = self._logprobs(self.model, micro.sequences)
        old_logp = logp.detach() if data.old is None else torch.cat([data.old[bg] for bg in micro.where])
        advantage = token_advantages(data.advantages, data.rollouts, micro.where).to(device, logp.dtype)
        loss, clipped = policy_loss(logp, old_logp, advantage, config.clip_low, config.clip_high, config.dual_clip)

        sampled = torch.tensor([lp for c in micro.completions for lp in c.logprobs], device=device, dtype=logp.dtype)
        engine_ratio = (old_logp - sampled).exp()
        seen = {"clip_fraction": clipped, "entropy": entropy}
        if config.tis_cap is not None:
            loss = loss * engine_ratio.clamp(max=config.tis_cap)
            seen["engine_ratio_capped"] = engine_ratio > config.tis_cap
        if data.reference is not None:
            seen["kl"] = kl_estimate(logp, torch.cat([data.reference[bg] for bg in micro.where]))
            loss = loss + config.kl_coef * seen["kl"]
        sums.add(engine_ratio, loss=loss, **seen)
        return loss

    def _logprobs(self, model: PreTrainedModel, sequences: Sequences) -> tuple[Tensor, Tensor]:
        with computing_in(self.dtype, model.device):
            return forward_pass(model, response_logprobs, sequences, self.temperature, self.config.logprob_chunk)

    @torch.no_grad()
    def _fixed_logprobs(self, model: PreTrainedModel, rollouts: Rollouts, batches: Sequence[Sequence[int]]) -> Logprobs:
        """Log-probabilities without a gradient, cut like the updates, so that the rounding is the same, too."""

        def compute() -> Logprobs:
            found: Logprobs = {}
            for batch in batches:
                for micro in self._passes(rollouts, batch):
                    if micro is None:
                        self._logprobs(model, one_token(rollouts, model.device))
                        continue
                    logp, _ = self._logprobs(model, micro.sequences)
                    parts = logp.split([len(c.token_ids) for c in micro.completions])
                    found.update(zip(micro.where, parts, strict=True))
            return found

        return self._with_room(compute)

    def _reference_logprobs(self, rollouts: Rollouts, batches: Sequence[Sequence[int]]) -> Logprobs:
        if self.reference is None:
            with adapter_off(self.model):
                return self._fixed_logprobs(self.model, rollouts, batches)
        self._move_reference(away=False)
        try:
            return self._fixed_logprobs(self.reference, rollouts, batches)
        finally:
            self._move_reference(away=True)

    def _move_reference(self, away: bool) -> None:
        if self.reference is not None and self.config.offload_reference:
            placed: Any = self.reference  # its `to` is typed for a model only
            placed.to(torch.device("cpu") if away else self.model.device)

    def _with_room(self, compute: Callable[[], T]) -> T:
        """`compute()`; if the memory does not suffice, once in a learner's life again with half the micro-batch.

        Raises:
            Fault: the memory does not suffice again, or the micro-batch is a single rollout.
        """
        try:
            return compute()
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            what = str(error).partition("\n")[0]
            if self._halved or self.limits.rollouts == 1 or self.processes.sharded:
                raise Fault(
                    f"out of memory {'again, ' if self._halved else ''}with {self.limits} ({what}). Go on from the "
                    "last checkpoint with --resume and a smaller --learner.micro-batch, --learner.micro-batch-tokens "
                    "or --learner.logprob-chunk, or with --learner.gradient-checkpointing"
                ) from error
        # Not in the handler: its traceback holds on to the tensors of the pass that failed.
        self._halved, self.limits = True, self.limits.halved()
        print(f"out of memory ({what}): going on with {self.limits}", file=sys.stderr)
        self.weights.drop_gradients()
        free_memory()
        return self._with_room(compute)

    def state_dict(self) -> dict[str, Any]:
        """Everything but the model, which is saved on its own.

        Where the weights are sharded every process must call it, and the main one gets whole tensors.
        """
        state: dict[str, Any] = {
            "optimizer": self.optimizer.state_dict(),
            "masters": self.weights.state(),
            "skipped_in_a_row": self.skipped_in_a_row,
        }
        return gathered_state(state, keep=self.processes.main) if self.processes.sharded else state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from `state_dict`, after the model's own weights were put back."""
        if self.processes.sharded:
            take_over(self.whole, self.model)
        self.optimizer.load_state_dict(sharded_moments(state["optimizer"], self.optimizer))
        self.weights.load_state(state["masters"])
        self.skipped_in_a_row = state["skipped_in_a_row"]
