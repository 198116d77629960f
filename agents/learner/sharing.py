"""Whether the learner computes prompts once for their rollouts (`--learner.share-prompts`)."""

from __future__ import annotations

from transformers import PreTrainedModel

from agents.learner.micro_batches import Limits, computed_tokens, cut
from agents.learner.shared_prompts import why_not_shared
from agents.rollout import Rollouts

WORTH = 0.85
"""Sharing must leave at most this part of the tokens: below it was never slower on a CPU (docs/speed.md)."""


class Sharing:
    """The choice of one learner, made anew for each step.

    Args:
        model: what is trained, whole.
        wanted: None shares on a CPU where the model allows it and it pays. With CUDA the responses' pass needs a mask,
            which the fastest kernels do not take, and what that costs has not been measured: it must be asked for.

    Raises:
        ValueError: sharing is asked for and the model does not allow it.
    """

    def __init__(self, model: PreTrainedModel, wanted: bool | None) -> None:
        self.on = bool(wanted)
        self._by_step = wanted is None and model.device.type == "cpu"
        if self.on or self._by_step:
            why = why_not_shared(model)
            if self.on and why is not None:
                raise ValueError(f"--learner.share-prompts: {why}")
            self._by_step = self._by_step and why is None

    def decide(self, rollouts: Rollouts, limits: Limits) -> None:
        """Set `on` for a step, from the rollouts of all processes, so that these agree."""
        if not self._by_step:
            return
        prompts = range(len(rollouts.prompts))
        plain, shared = (
            sum(computed_tokens(rollouts, where, how) for where in cut(rollouts, prompts, limits, how))
            for how in (False, True)
        )
        self.on = shared <= WORTH * plain
