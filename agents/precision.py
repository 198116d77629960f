"""Mixed precision: float32 weights, computation in a smaller type.

A weight of 0.05 in bfloat16 has a resolution of 2e-4, so a step of 1e-6 would be lost. The weights that are trained are
float32, and matrix products run in the smaller type (torch's autocast).
"""

from __future__ import annotations

import torch


def computing_in(dtype: torch.dtype, device: torch.device) -> torch.autocast:
    """A context in which float32 weights compute in `dtype`; float32 changes nothing."""
    return torch.autocast(device.type, dtype=dtype if dtype != torch.float32 else None, enabled=dtype != torch.float32)
