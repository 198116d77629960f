"""Mixed precision: computation in a smaller type than the float32 in which weights are updated.

A weight of 0.05 in bfloat16 has a resolution of 2e-4, so a step of 1e-6 would be lost. Either the weights are float32
and matrix products run in the smaller type (torch's autocast), or `agents.master_weights` keeps float32 twins of them.
"""

from __future__ import annotations

import torch


def computing_in(dtype: torch.dtype, device: torch.device) -> torch.autocast:
    """A context in which weights compute in `dtype`; float32 changes nothing."""
    return torch.autocast(device.type, dtype=dtype if dtype != torch.float32 else None, enabled=dtype != torch.float32)
