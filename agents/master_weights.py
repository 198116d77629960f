"""Float32 twins of weights in a smaller type, which the optimizer updates in their place.

A weight of 0.05 in bfloat16 has a resolution of 2e-4: steps of 1e-6 would all be lost. Gradients are summed over
micro-batches in float32 too. Weights that are float32 already are their own twins and take no further memory.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from agents.sharding import full_tensor, part_like


class MasterWeights:
    """The trained weights of a model as the optimizer sees them."""

    def __init__(self, model: nn.Module) -> None:
        self.trained = [p for p in model.parameters() if p.requires_grad]
        self.masters = [nn.Parameter(p.detach().float()) if p.itemsize < 4 else p for p in self.trained]
        self._pairs = [(p, m) for p, m in zip(self.trained, self.masters, strict=True) if p is not m]

    def drop_gradients(self) -> None:
        for parameter in (*self.trained, *self.masters):
            parameter.grad = None

    def collect_gradients(self) -> None:
        """After each backward pass: add the gradients to those of the twins."""
        for parameter, master in self._pairs:
            if parameter.grad is not None:
                gradient = parameter.grad.float()
                master.grad = gradient if master.grad is None else master.grad.add_(gradient)
                parameter.grad = None

    def clip_gradients(self, largest: float) -> Tensor:
        """Scale the gradients down to a global norm of at most `largest`; returns the norm () that they had."""
        return full_tensor(torch.nn.utils.clip_grad_norm_(self.masters, largest))

    @torch.no_grad()
    def write_back(self) -> None:
        """After each update: round the twins to the model's weights."""
        for parameter, master in self._pairs:
            parameter.copy_(master)

    def state(self) -> list[Tensor]:
        """The twins that are not the model's own weights."""
        return [master.detach() for _, master in self._pairs]

    @torch.no_grad()
    def load_state(self, state: list[Tensor]) -> None:
        for (_, master), saved in zip(self._pairs, state, strict=True):
            master.copy_(part_like(saved, master))
        self.write_back()
