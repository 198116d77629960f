"""Search metrics over pools of answers, and Pareto tools over reward vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def non_dominated(vectors: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Mask (n,) of the vectors (n, k) that no other one dominates (maximisation; repeated vectors all count)."""
    import moocore

    return np.asarray(moocore.is_nondominated(vectors, maximise=True, keep_weakly=True), bool)
