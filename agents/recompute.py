"""Gradient checkpointing (Chen et al. 2016, arXiv 1604.06174): layers keep their inputs and compute the rest again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from torch import nn
from torch.utils.checkpoint import checkpoint
from transformers.modeling_layers import GradientCheckpointingLayer


@contextmanager
def recomputing(model: nn.Module) -> Iterator[None]:
    """A context for the forward pass; the backward pass may run outside.

    transformers' own switch works in training mode alone, which would turn dropout on.

    Raises:
        ValueError: the model has no layers that transformers marks for it.
    """
    layers: list[Any] = [module for module in model.modules() if isinstance(module, GradientCheckpointingLayer)]
    if not layers:
        raise ValueError(f"--learner.gradient-checkpointing: {type(model).__name__} has no layers that support it")
    before = [vars(layer).get("forward") for layer in layers]
    try:
        for layer in layers:
            # Nothing is random in evaluation mode, so that no random state need be kept.
            layer.forward = partial(checkpoint, layer.forward, use_reentrant=False, preserve_rng_state=False)
        yield
    finally:
        for layer, forward in zip(layers, before, strict=True):
            del layer.forward
            if forward is not None:
                layer.forward = forward
