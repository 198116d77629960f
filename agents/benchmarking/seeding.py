"""The global random generators, which libraries draw from."""

from __future__ import annotations

import random
import sys
from typing import Any

import numpy as np


def seed_everything(seed: int) -> None:
    """Seed those of Python, NumPy and, where it is loaded, PyTorch."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  # replay buffers of libraries draw from it
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed)
