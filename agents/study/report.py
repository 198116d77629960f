"""What a comparison of methods leaves behind: `results.json`, `results.csv`, `per_prompt.jsonl`, `table.md`."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agents.comparison import CEILING
from agents.evaluation import Estimate
from agents.files import write_whole
from agents.study.study import EQUAL_TOKENS, EW_EQUAL_TOKENS, Study
from agents.tables import markdown_table, plain

DIGITS = 4
"""Decimals of the values in `per_prompt.jsonl`."""


@dataclass(frozen=True)
class Report:
    """A study, and what else its tables say."""

    study: Study
    facts: dict[str, Any]
    """Configuration, versions and so on, as they go to `results.json`."""
    training: dict[str, list[dict[str, Any]]]
    """Label -> one dict for each seed: training options that are the method's own, seconds of training."""
    baseline: str | None
    """Label that ratios are to."""
    candidate: str | None
    """Label whose differences to the others are shown."""

    def write(self, folder: Path) -> list[str]:
        """Write all files; returns their names.

        Raises:
            Fault: one could not be written.
        """
        folder.mkdir(parents=True, exist_ok=True)
        texts = {
            "results.json": json.dumps(plain(self.to_dict()), indent=1, allow_nan=False) + "\n",
            "results.csv": self.to_csv(),
            "per_prompt.jsonl": self.per_prompt(),
            "table.md": self.tomarkdown_table(),
        }
        for name, text in texts.items():
            write_whole(folder / name, text)
        return list(texts)

    # ---- for programs -------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """All figures, intervals and options in plain types."""
        study = self.study
        methods = []
        for label, curves in zip(study.labels, study.curves, strict=True):
            results = study.results[label]
            runs = [
                {
                    "seed": seed,
                    **self.training[label][s],
                    "generated_tokens": int(results[s].tokens.sum()),
                    "evaluation_seconds": results[s].seconds,
                    "equal_tokens_k": study.equal_token_ks[label][s],
                    "metrics": results[s].metrics(),
                }
                for s, seed in enumerate(study.seeds)
            ]
            entry: dict[str, Any] = {
                "label": label,
                "num_answers": results[0].num_answers,
                "prompt_weights": results[0].prompt_weights,
                "mean": {name: study.mean(label, name) for name in study.measures},
                "curves": curves,
                "runs": runs,
            }
            if self.baseline is not None:
                entry["ratio"] = {n: study.ratio(label, self.baseline, n) for n in study.measures if "best" in n}
            if self.candidate is not None and label != self.candidate:
                entry["candidate_minus_this"] = {
                    name: study.difference(self.candidate, label, name) for name in study.measures
                }
            methods.append(entry)
        first = study.results[study.labels[0]][0]
        return self.facts | {
            "objectives": first.objectives,
            "reference_weights": first.reference_weights.tolist(),
            "problems": first.problems,
            "seeds": list(study.seeds),
            "baseline": self.baseline,
            "candidate": self.candidate,
            "ceiling": study.ceiling,
            "curve_ks": study.curve_ks,
            "methods": methods,
        }

    def to_csv(self) -> str:
        """method, seed, measure, value and the ends of its interval; seed "all" is the mean over seeds."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["method", "seed", "measure", "value", "low", "high"])
        for label, results in self.study.results.items():
            for seed, result in zip(self.study.seeds, results, strict=True):
                for name, e in result.metrics().items():
                    writer.writerow([label, seed, name, e.value, e.low, e.high])
            for name in self.study.measures:
                e = self.study.mean(label, name)
                writer.writerow([label, "all", name, e.value, e.low, e.high])
        return out.getvalue()

    def per_prompt(self) -> str:
        """One JSON line for each method and seed: every measure's value for each problem."""
        lines = []
        for label, results in self.study.results.items():
            for seed, result in zip(self.study.seeds, results, strict=True):
                values = {name: np.round(x, DIGITS).tolist() for name, x in result.per_prompt.items()}
                lines.append(json.dumps(plain({"method": label, "seed": seed, "values": values})) + "\n")
        return "".join(lines)

    # ---- for people ---------------------------------------------------------------------------------------------

    def tomarkdown_table(self) -> str:
        """The tables."""
        study = self.study
        first = study.results[study.labels[0]][0]
        ks, has = first.ks, set(study.measures)
        intervals = "problems" if len(study.seeds) == 1 else "seeds and problems"
        parts = [
            f"# {' '.join([first.env, *first.env_args])}",
            f"{len(study.seeds)} training seed(s) ({', '.join(map(str, study.seeds))}), {len(first.problems)} test "
            f"problems, {first.config.answers} answers to each at temperature {first.config.temperature}, top-p "
            f"{first.config.top_p}. ±: half of the 95% bootstrap interval over {intervals}. The primary measure is "
            f"best@{first.config.answers} under the reference weights, at equal answers.",
            "## Best of k answers, reference weights",
            self._means({f"best@{k}": f"best@{k}" for k in ks} | {"best_of_set": "own set"}, EQUAL_TOKENS),
            f"## Best of k answers, mean over {first.config.weights} random weightings",
            self._means({f"ew_best@{k}": f"best@{k}" for k in ks} | {"ew_best_of_set": "own set"}, EW_EQUAL_TOKENS),
        ]
        if "pass@1" in has:
            parts += ["## Solved", self._means({f"pass@{k}": f"pass@{k}" for k in ks})]
        columns = {
            "diversity": "diversity (L1)",
            "pareto_count": "optimal vectors",
            "hypervolume": "hypervolume",
            "front_found": "front found",
            "regret": "regret",
            "ew_regret": "E_w regret",
            "answered": "answered",
            "tokens_per_answer": "tokens",
        }
        objectives = {f"objective/{name}": name for name in first.objectives}
        parts += [
            f"## The pool of {first.config.answers} answers to a problem",
            self._means({name: title for name, title in columns.items() if name in has}),
            "## The answers, mean values",
            self._means({name: title for name, title in objectives.items() if name in has}),
        ]
        if self.baseline is not None:
            base = self.baseline
            parts += [
                f"## Ratio to {base}, reference weights",
                self._table({f"best@{k}": f"best@{k}" for k in ks}, study.labels, lambda m, n: study.ratio(m, base, n)),
            ]
        if self.candidate is not None and len(study.labels) > 1:
            columns = {f"best@{k}": f"best@{k}" for k in ks} | {
                EQUAL_TOKENS: "equal tokens",
                f"ew_best@{ks[-1]}": f"E_w best@{ks[-1]}",
                "ew_best_of_set": "E_w own set",
                "diversity": "diversity (L1)",
            }
            parts += [
                f"## {self.candidate} minus each other method, paired",
                self._table(columns, self._others, self._gain, sign=True),
            ]
        parts += ["## Seeds", self._seeds(ks[-1])]
        return "\n\n".join(parts) + "\n"

    @property
    def _others(self) -> list[str]:
        return [label for label in self.study.labels if label != self.candidate]

    def _gain(self, label: str, measure: str) -> Estimate:
        assert self.candidate is not None
        return self.study.difference(self.candidate, label, measure)

    def _means(self, columns: dict[str, str], equal: str | None = None) -> str:
        """Means of all methods, and the ceiling; with the measure at equal tokens and its k."""
        study = self.study
        titles = [*columns.values(), *(["equal tokens"] if equal else [])]
        rows = []
        for label in study.labels:
            cells = [_cell(study.mean(label, name)) for name in columns]
            if equal:
                ks = sorted(set(study.equal_token_ks[label]))
                shown = f"{ks[0]}" if len(ks) == 1 else f"{ks[0]}-{ks[-1]}"
                cells.append(f"{_cell(study.mean(label, equal))} (k={shown})")
            rows.append([self._name(label), *cells])
        known = [study.ceiling.get(name) for name in columns]
        if any(known):
            cells = ["" if e is None else f"{e.value:.3f}" for e in known]
            rows.append([CEILING, *cells, *([""] if equal else [])])
        return markdown_table(["method", *titles], rows)

    def _table(
        self,
        columns: dict[str, str],
        labels: Sequence[str],
        value: Callable[[str, str], Estimate],
        sign: bool = False,
    ) -> str:
        rows = []
        for label in labels:
            estimates = [value(label, name) for name in columns]
            rows.append([self._name(label), *(_bracketed(e, sign) for e in estimates)])
        return markdown_table(["method", *columns.values()], rows)

    def _seeds(self, k: int) -> str:
        """best@k of each seed, and what its training took."""
        study = self.study
        rows = []
        for label, results in study.results.items():
            cells = [f"{float(r.best(k).mean()):.3f}" for r in results]
            seconds = [run["training_seconds"] for run in self.training[label] if run["training_seconds"]]
            minutes = f"{sum(seconds) / len(seconds) / 60:.1f}" if seconds else "-"
            own = " ".join(self.training[label][0]["own_options"]) or "-"
            rows.append([self._name(label), *cells, minutes, own])
        titles = [f"best@{k}, seed {seed}" for seed in study.seeds]
        return markdown_table(["method", *titles, "minutes of training", "options of its own"], rows)

    def _name(self, label: str) -> str:
        return self.study.names[self.study.labels.index(label)]


def _bracketed(estimate: Estimate, sign: bool) -> str:
    """The value and its interval; what rounds to zero has no sign of its own."""
    if not math.isfinite(estimate.value):
        return "-"
    form = "+.3f" if sign else ".3f"
    value, low, high = (f"{round(x, 3) + 0.0:{form}}" for x in (estimate.value, estimate.low, estimate.high))
    return f"{value} [{low}, {high}]"


def _cell(estimate: Estimate) -> str:
    return f"{estimate.value:.1f}" if estimate.value >= 10 else str(estimate)
