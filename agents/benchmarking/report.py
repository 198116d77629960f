"""All outcomes of a benchmark side by side: means over seeds and problems with intervals, as table, JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.benchmarking.config import BenchmarkConfig
from agents.benchmarking.environments import CANDIDATES, Arena
from agents.benchmarking.indicators import INDICATORS, OF_FRONT, Floats, measure
from agents.benchmarking.registry import LLM
from agents.benchmarking.results import Outcome
from agents.benchmarking.runner import eum_weights
from agents.files import write_whole
from agents.tables import markdown_table, plain
from vpo_envs.bootstrap import crossed_bootstrap_means, percentile_interval

EXACT = "exact front"


class Mean(NamedTuple):
    """A mean over seeds and problems with its 95% interval, which is NaN for a single value."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Floats) -> Mean:
        """Of values (S, P); problems that lack the quantity take no part. NaN where all do."""
        there = values[:, np.isfinite(values).all(axis=0)]
        if not there.size:
            return cls(math.nan, math.nan, math.nan)
        if there.size == 1:  # nothing tells how far it varies
            return cls(float(there.item()), math.nan, math.nan)
        return cls(float(there.mean()), *percentile_interval(crossed_bootstrap_means(there)))

    def __str__(self) -> str:
        if not math.isfinite(self.value):
            return "-"
        digits = 1 if self.value >= 10 else 3
        half = "" if math.isnan(self.low) else f" ±{(self.high - self.low) / 2:.{digits}f}"
        return f"{self.value:.{digits}f}{half}"


@dataclass(frozen=True, eq=False)
class BenchmarkResult:
    """What `benchmark` returns."""

    config: BenchmarkConfig
    arena: Arena
    outcomes: Mapping[str, Sequence[Outcome]]
    """Algorithm -> one outcome for each seed that was run. Algorithms without any are in the notes only."""
    notes: Mapping[str, str]
    """Algorithm -> why it did not run, or what is to be known."""
    versions: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def per_problem(self) -> dict[str, dict[str, Floats]]:
        """Algorithm -> indicator -> (S, P)."""
        out = {}
        for name, outcomes in self.outcomes.items():
            rows = [self._measure(outcome.vectors) for outcome in outcomes]
            out[name] = {indicator: np.stack([row[indicator] for row in rows]) for indicator in rows[0]}
        return out

    @cached_property
    def ceiling(self) -> dict[str, Mean]:
        """The indicators of the exact fronts themselves; empty where they are not known."""
        if self.arena.fronts is None:
            return {}
        most = max(map(len, self.arena.fronts))
        padded = [np.pad(front, ((0, most - len(front)), (0, 0))) for front in self.arena.fronts]  # zeros do not count
        measured = self._measure(np.stack(padded))
        return {name: Mean.of(values[None]) for name, values in measured.items()}

    def _measure(self, vectors: NDArray[np.float64]) -> dict[str, Floats]:
        return measure(vectors, self.arena.fronts, eum_weights(self.config, self.arena), self.arena.masks)

    @property
    def indicators(self) -> list[str]:
        """Those that could be computed."""
        return [name for name in INDICATORS if self.arena.fronts is not None or name not in OF_FRONT]

    def mean(self, algorithm: str, indicator: str) -> Mean:
        """Over the seeds that were run and all judged problems."""
        return Mean.of(self.per_problem[algorithm][indicator])

    @property
    def table(self) -> str:
        """The indicators of every algorithm, in Markdown."""
        rows = [[name, *(str(self.mean(name, i)) for i in self.indicators)] for name in self.outcomes]
        if self.ceiling:
            rows.append([EXACT, *(f"{self.ceiling[i].value:.3f}" for i in self.indicators)])
        return markdown_table(["algorithm", *(INDICATORS[i] for i in self.indicators)], rows)

    @property
    def cost_table(self) -> str:
        """Steps that were really taken, policies, and time, in Markdown."""
        rows = []
        for name, outcomes in self.outcomes.items():
            steps = "-" if outcomes[0].steps is None else f"{np.mean([o.steps for o in outcomes]):,.0f}"
            policies = f"{np.mean([o.vectors.shape[1] for o in outcomes]):.0f}"
            own = " ".join(f"{k}={v}" for k, v in outcomes[0].options.items()) or "-"
            rows.append(
                [name, steps, policies, f"{np.mean([o.seconds for o in outcomes]):.0f}", str(len(outcomes)), own]
            )
        return markdown_table(["algorithm", "steps", "policies", "CPU seconds", "seeds", "options"], rows)

    @property
    def document(self) -> str:
        """All of table.md."""
        config, arena = self.config, self.arena
        words = " ".join([config.env, *config.env_args])
        judged = (
            f"Trained and judged on problem {arena.problem} of the training split."
            if arena.problem is not None
            else f"Trained on the training split, judged on {len(arena.problems)} problems of the test split."
        )
        several = max((len(o) for o in self.outcomes.values()), default=1) > 1
        parts = [
            f"# {words}",
            f"{judged} {config.steps:,} environment steps of training; at most {config.num_solutions} policies. ±: "
            f"half of the 95% bootstrap interval over {'seeds and problems' if several else 'problems'}. Lower is "
            "better for IGD+ and epsilon.",
            self.table,
            self.cost_table,
        ]
        if self.notes:
            parts.append("\n".join(f"* {name}: {note}" for name, note in self.notes.items()))
        return "\n\n".join(parts) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """All of benchmark.json: configuration, versions, every indicator with its interval, every vector."""
        algorithms = {
            name: {
                "indicators": {i: self.mean(name, i)._asdict() for i in self.indicators},
                "seeds": [
                    {
                        "seed": o.seed,
                        "steps": o.steps,
                        "seconds": round(o.seconds, 2),
                        "indicators": {i: float(self.per_problem[name][i][s].mean()) for i in self.indicators},
                    }
                    for s, o in enumerate(outcomes)
                ],
                "options": dict(outcomes[0].options),
            }
            for name, outcomes in self.outcomes.items()
        }
        exact = {i: mean.value for i, mean in self.ceiling.items()}
        data: dict[str, Any] = plain({
            "configuration": asdict(self.config), "versions": dict(self.versions), "problems": self.arena.problems,
            "split": self.arena.split, "objectives": self.arena.objectives, "algorithms": algorithms,
            "exact_front": exact, "notes": dict(self.notes),
        })  # fmt: skip
        return data

    @property
    def csv(self) -> str:
        """One row for each algorithm, seed and problem."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["algorithm", "seed", "problem", *self.indicators])
        for name, outcomes in self.outcomes.items():
            for s, outcome in enumerate(outcomes):
                for p, problem in enumerate(self.arena.problems):
                    values = [f"{self.per_problem[name][i][s, p]:.6g}" for i in self.indicators]
                    writer.writerow([name, outcome.seed, problem, *values])
        return text.getvalue()

    def write(self, folder: Path) -> None:
        """Write table.md, benchmark.json and per_problem.csv.

        Raises:
            Fault: one could not be written.
        """
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / "table.md", self.document)
        write_whole(folder / "benchmark.json", json.dumps(self.to_dict(), indent=1) + "\n")
        write_whole(folder / "per_problem.csv", self.csv)


def standing_notes(arena: Arena, names: Sequence[str]) -> dict[str, str]:
    """What is to be known of algorithms before they run."""
    note = "takes no environment steps; its answers are samples of a policy that was trained elsewhere"
    if arena.env_id == CANDIDATES:
        note += ", and it writes its own answers instead of choosing, so that the exact front is no bound for it"
    return {name: note for name in names if name.startswith(LLM)}
