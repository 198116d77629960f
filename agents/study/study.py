"""Several methods with several training seeds each: means over seeds, paired differences and ratios.

A method's values of one measure are an array (S, P): S training seeds, P test problems, the same ones for all. The
intervals are those of the crossed bootstrap (`vpo_envs.bootstrap.crossed_bootstrap_means`): over problems with one
seed, over seeds and problems with several. What one evaluation says is `agents.comparison`'s, and is taken from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from agents.comparison import Comparison
from agents.evaluation import Estimate, PolicyResult
from vpo_envs.bootstrap import crossed_bootstrap_means, percentile_interval

Floats = NDArray[np.float64]

EQUAL_TOKENS, EW_EQUAL_TOKENS = "best@equal_tokens", "ew_best@equal_tokens"
"""best@k and E_w[best@k] at the k that a policy affords on the tokens of its seed's most economical one."""


@dataclass(frozen=True, eq=False)
class Study:
    """The results of every method, one for each seed; those of a method without seeds repeat its only one.

    Raises:
        ValueError: no method or seed, or results that are not of the same evaluation (see `Comparison`).
    """

    seeds: Sequence[int]
    results: Mapping[str, Sequence[PolicyResult]]
    """Label -> S results."""

    def __post_init__(self) -> None:
        if not self.results or not self.seeds:
            raise ValueError("a study needs at least one method and one seed")
        for label, results in self.results.items():
            if len(results) != len(self.seeds):
                raise ValueError(f"{label} has {len(results)} results for {len(self.seeds)} seeds")
        # A comparison checks the results of its seed; that the seeds fit together is checked on the first method.
        Comparison([replace(r, label=str(i)) for i, r in enumerate(next(iter(self.results.values())))])
        _ = self.comparisons

    @property
    def labels(self) -> list[str]:
        """The methods in their order."""
        return list(self.results)

    @property
    def names(self) -> list[str]:
        """The methods as tables name them; see `Comparison.names`."""
        return self.comparisons[0].names

    @cached_property
    def comparisons(self) -> list[Comparison]:
        """All methods side by side, for each seed."""
        return [
            Comparison([replace(results[s], label=label) for label, results in self.results.items()])
            for s in range(len(self.seeds))
        ]

    @property
    def ceiling(self) -> dict[str, Estimate]:
        """What the exact fronts allow; empty where there are none."""
        return self.comparisons[0].ceiling

    @cached_property
    def values(self) -> dict[str, dict[str, Floats]]:
        """Label -> measure -> (S, P'): `PolicyResult.per_prompt` and the two measures at equal tokens.

        P' problems are left where others lack the quantity (an objective that a problem does not have).
        """
        out: dict[str, dict[str, Floats]] = {}
        for label, results in self.results.items():
            rows = {name: [r.per_prompt[name] for r in results] for name in results[0].per_prompt}
            ks = self.equal_token_ks[label]
            rows[EQUAL_TOKENS] = [r.best(k) for r, k in zip(results, ks, strict=True)]
            rows[EW_EQUAL_TOKENS] = [r.expected_best(k) for r, k in zip(results, ks, strict=True)]
            arrays = {name: np.stack(row).astype(np.float64) for name, row in rows.items()}
            out[label] = {name: x[:, np.isfinite(x).all(axis=0)] for name, x in arrays.items()}
        return out

    @cached_property
    def equal_token_ks(self) -> dict[str, list[int]]:
        """Label -> the k of each seed; see `Comparison.equal_token_ks`."""
        by_seed = [comparison.equal_token_ks for comparison in self.comparisons]
        return {label: [ks[i] for ks in by_seed] for i, label in enumerate(self.labels)}

    @property
    def measures(self) -> list[str]:
        """The measures, of which every method has all."""
        return list(self.values[self.labels[0]])

    def mean(self, label: str, measure: str) -> Estimate:
        """Mean over seeds and problems."""
        return _estimate(self.values[label][measure])

    def difference(self, label: str, base: str, measure: str) -> Estimate:
        """Mean of `label` minus that of `base`, paired by seed and problem."""
        a, b = self._pair(label, base, measure)
        return _estimate(a - b)

    def ratio(self, label: str, base: str, measure: str) -> Estimate:
        """Mean of `label` over that of `base`, resampled together; NaN where the base's mean is not positive."""
        a, b = self._pair(label, base, measure)
        if b.mean() <= 0:
            return Estimate(np.nan, np.nan, np.nan)
        means, bases = crossed_bootstrap_means(a), crossed_bootstrap_means(b)
        ratios = means[bases > 0] / bases[bases > 0]
        return Estimate(float(a.mean() / b.mean()), *percentile_interval(ratios))

    def _pair(self, label: str, base: str, measure: str) -> tuple[Floats, Floats]:
        a, b = self.values[label][measure], self.values[base][measure]
        if a.shape != b.shape:
            raise ValueError(f"{label} and {base} have {measure} on different problems")
        return a, b

    @property
    def curve_ks(self) -> list[int]:
        """The k of `curves`."""
        return self.comparisons[0].curve_ks

    @cached_property
    def curves(self) -> list[dict[str, list[Estimate]]]:
        """For each method best@k ("best") and E_w[best@k] ("ew_best") over `curve_ks`."""
        out = []
        for results in self.results.values():
            pools = {
                "best": [np.stack([r.best(k) for r in results]) for k in self.curve_ks],
                "ew_best": [np.stack([r.expected_best(k) for r in results]) for k in self.curve_ks],
            }
            out.append({name: [_estimate(x) for x in arrays] for name, arrays in pools.items()})
        return out


def _estimate(x: Floats) -> Estimate:
    return Estimate(float(x.mean()), *percentile_interval(crossed_bootstrap_means(x)))
