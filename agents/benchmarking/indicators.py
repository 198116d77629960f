"""Indicators of a set of return vectors, each for one problem. All maximise; rewards lie in [0, 1]^k.

`vectors` (n, k) is any set; `front` (f, k) is the exact Pareto front. docs/benchmarking.md has the definitions.
"""

from __future__ import annotations

from collections.abc import Sequence

import moocore
import numpy as np
from numpy.typing import NDArray

from vpo_envs.pareto_metrics import front_best, hypervolume, non_dominated

Floats = NDArray[np.float64]

BELOW = 0.1
"""The hypervolume's reference point is this far below the origin in every objective: above the origin itself, a vector
with a zero in one objective would have no volume."""
MAX_HYPERVOLUME_OBJECTIVES = 8
"""Above, the exact hypervolume takes too long."""
SAME = 1e-5
"""Largest difference in an objective at which a vector counts as one of the exact front."""

INDICATORS = {
    "hypervolume": "hypervolume",
    "eum": "EUM",
    "igd_plus": "IGD+",
    "epsilon": "epsilon",
    "front_found": "front found",
    "sparsity": "sparsity",
    "cardinality": "cardinality",
}
"""Name -> title, in the order of the tables."""
OF_FRONT = ("igd_plus", "epsilon", "front_found")
"""Those that need the exact front."""


def found_front(vectors: Floats) -> Floats:
    """The different vectors that are not zero and that no other one dominates, (m, k) with 0 <= m <= n, sorted."""
    nonzero = np.unique(vectors[(np.abs(vectors) > SAME).any(axis=1)].round(6), axis=0)
    return nonzero[non_dominated(nonzero)] if len(nonzero) else nonzero


def volume(vectors: Floats) -> float:
    """Hypervolume (Zitzler & Thiele 1998) above -0.1 in every objective; 0 of an empty set."""
    return hypervolume(vectors, np.full(vectors.shape[1], -BELOW))


def expected_utility(vectors: Floats, weights: Floats) -> float:
    """EUM (Zintgraf et al. 2015): mean over weights (W, k) of the best w.v; 0 of an empty set."""
    return float(front_best([vectors], weights)[0])


def igd_plus(vectors: Floats, front: Floats) -> float:
    """IGD+ (Ishibuchi et al. 2015): mean over the front of the distance |max(f - v, 0)| to the nearest vector.

    An empty set counts as the origin.
    """
    return float(moocore.igd_plus(_or_origin(vectors), ref=front, maximise=True)) if len(front) else 0.0


def epsilon(vectors: Floats, front: Floats) -> float:
    """Additive epsilon (Zitzler et al. 2003): the least that must be added to cover every vector of the front.

    An empty set counts as the origin.
    """
    return float(moocore.epsilon_additive(_or_origin(vectors), ref=front, maximise=True)) if len(front) else 0.0


def front_found(vectors: Floats, front: Floats) -> float:
    """Share of the front's vectors that are in the set; 1 if there is nothing to find."""
    if not len(front):
        return 1.0
    return float((np.abs(vectors[None] - front[:, None]).max(axis=-1) < SAME).any(axis=1).mean())


def sparsity(vectors: Floats) -> float:
    """Xu et al. 2020: squared gaps between neighbours, summed over objectives, over (n - 1). 0 for less than two."""
    if len(vectors) < 2:
        return 0.0
    return float((np.diff(np.sort(vectors, axis=0), axis=0) ** 2).sum() / (len(vectors) - 1))


def measure(
    vectors: Floats, fronts: Sequence[Floats] | None, weights: Floats, masks: NDArray[np.bool_] | None = None
) -> dict[str, Floats]:
    """Every indicator of `INDICATORS` for each problem.

    Args:
        vectors: (P, n, k), the returns of n policies on P problems.
        fronts: P exact fronts; without them those that need one are left out.
        weights: (W, k) of EUM.
        masks: (P, k), the real objectives of each problem; the others take no part, and weights are renormalised.

    Returns:
        Name -> (P,). NaN where a hypervolume has more than 8 objectives.
    """
    out: dict[str, list[float]] = {name: [] for name in INDICATORS if fronts is not None or name not in OF_FRONT}
    for p, of_problem in enumerate(vectors):
        real = np.ones(vectors.shape[2], bool) if masks is None else masks[p]
        found = found_front(np.asarray(of_problem, np.float64)[:, real])
        share = weights[:, real] / weights[:, real].sum(axis=1, keepdims=True)
        small = real.sum() <= MAX_HYPERVOLUME_OBJECTIVES
        out["hypervolume"].append(volume(found) if small else np.nan)
        out["eum"].append(expected_utility(found, share))
        if fronts is not None:
            exact = found_front(fronts[p][:, real])
            out["igd_plus"].append(igd_plus(found, exact))
            out["epsilon"].append(epsilon(found, exact))
            out["front_found"].append(front_found(found, exact))
        out["sparsity"].append(sparsity(found))
        out["cardinality"].append(float(len(found)))
    return {name: np.array(values, np.float64) for name, values in out.items()}


def _or_origin(vectors: Floats) -> Floats:
    return vectors if len(vectors) else np.zeros((1, vectors.shape[1]))
